/*
 * child: processes of a storm, of which none outlives the driver for long.
 */
#ifndef CHILD_H
#define CHILD_H

#include <sys/types.h>

/* As fork, but the child gets the signal when the driver ends, however it
 * ends. If there can be no child, the program ends. */
pid_t child_fork(int signal);

/*
 * Starts a process that removes a directory when the driver has no more use for
 * it, or has ended, even by SIGKILL: when nobody has the second end of life, a
 * pipe, open any more. The caller has blocked the signals that end a storm. If
 * there can be no such process, the program ends, and the directory, which must
 * be empty, has been removed.
 */
pid_t child_keep(const char *directory, const int life[2]);

#endif
