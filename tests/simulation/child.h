/*
 * child: processes of a storm, of which none outlives the driver for long, and
 * their clock.
 */
#ifndef CHILD_H
#define CHILD_H

#include <sys/resource.h>
#include <sys/types.h>
#include <time.h>
#include "text/duration.h"

/* As fork, but the child gets the signal when the driver ends, however it
 * ends. If there can be no child, the program ends. */
pid_t child_fork(int signal);

/* The CPU time in a usage. */
nanos child_cpu(const struct rusage *usage);

/* CLOCK_MONOTONIC; and a span or an instant, as the kernel takes it. */
nanos clock_now(void);
struct timespec clock_span(nanos span);

#endif
