/*
 * sharing: which other processes may move the offset of a file that is open.
 *
 * Processes that inherited a descriptor, from a common ancestor, share one open
 * file description, and so one offset. sharing finds these processes in /proc.
 * That takes long, so it is never done before the first attempt.
 */
#ifndef SHARING_H
#define SHARING_H

#include <stdbool.h>

/*
 * Whether another process may have moved the offset of fd during an attempt
 * that is over now: true if any other process has the same open file, except
 * ancestors that wait for retry, as a shell waits for a foreground command.
 * Processes of other users cannot be seen, and count as not having it. True if
 * there is no /proc.
 */
bool sharing_suspects(int fd);

#endif
