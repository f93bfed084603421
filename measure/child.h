/*
 * child: processes of a storm, of which none outlives the driver for long, and
 * their clock.
 */
#ifndef CHILD_H
#define CHILD_H

#include <sys/types.h>
#include "text/duration.h"

/* The name of the abstract socket of a client: the pid of its retry, and the
 * number of the attempt. */
#define CHILD_NAME "retry-storm-client %d %d"

/* As fork, but the child gets the signal when the driver ends, however it
 * ends. If there can be no child, the program ends. */
pid_t child_fork(int signal);

/* The CPU time of RUSAGE_SELF, or of RUSAGE_CHILDREN, all that were awaited. */
nanos child_cpu(int whose);

/* CLOCK_MONOTONIC. */
nanos clock_now(void);

#endif
