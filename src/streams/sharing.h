/*
 * sharing: which other processes may move the offset of a file that is open.
 *
 * Processes that inherited a descriptor, from a common ancestor, share one open
 * file description, and so one offset. They are found in /proc, which takes a
 * while: never before the first attempt.
 */
#ifndef SHARING_H
#define SHARING_H

#include <stdbool.h>

/*
 * Whether another process may have moved the offset of fd during an attempt,
 * which is over now: true if any other process has the same open file, except
 * our ancestors that wait for us, as a shell does for a foreground command.
 * Processes of other users cannot be seen, and are taken not to have it. True
 * if there is no /proc.
 */
bool sharing_suspects(int fd);

#endif
