/*
 * What the benchmarks of a gigabyte share: a clock, and a middle.
 */
#ifndef BENCH_H
#define BENCH_H

#include <stddef.h>
#include <stdlib.h>
#include <time.h>

/* Microseconds on a clock that never steps. */
static inline double
now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec * 1e6 + (double)ts.tv_nsec / 1e3;
}

static inline int
ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Sorts the values. */
static inline double
median(double *values, size_t count)
{
	qsort(values, count, sizeof *values, ascending);
	return (values[(count - 1) / 2] + values[count / 2]) / 2;
}

#endif
