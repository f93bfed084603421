/*
 * keeper: a process that removes the directory of a storm.
 *
 * It does so when the driver has no more use for the directory, or has ended,
 * even by SIGKILL.
 */
#ifndef KEEPER_H
#define KEEPER_H

#include <sys/types.h>

/*
 * Starts the keeper of a directory. life: both ends of a pipe. The directory is
 * removed when nobody has its second end open any more. The caller has blocked
 * the signals that end a storm. If there can be no keeper, the program ends,
 * and the directory, which must be empty, has been removed.
 */
pid_t keeper_start(const char *directory, const int life[2]);

#endif
