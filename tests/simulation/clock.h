/*
 * clock: the clock of the storms, which never steps.
 */
#ifndef CLOCK_H
#define CLOCK_H

#include <time.h>
#include "text/duration.h"

static inline nanos
clock_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (nanos)ts.tv_sec * NANOS_SECOND + ts.tv_nsec;
}

/* A span or an instant, as the kernel takes it. */
static inline struct timespec
clock_span(nanos span)
{
	return (struct timespec){ (time_t)(span / NANOS_SECOND),
		(long)(span % NANOS_SECOND) };
}

#endif
