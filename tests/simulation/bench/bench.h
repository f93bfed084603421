/*
 * What the benchmarks of a gigabyte share: its writer, a clock, a median and
 * the memory of a process.
 */
#ifndef BENCH_H
#define BENCH_H

#include <err.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* A gigabyte is so many bytes, so many times. */
enum { CHUNK = 65536, WRITES = 1 << 14 };

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

/* Writes a gigabyte to standard output. */
static inline int
write_all(void)
{
	static char bytes[CHUNK];

	memset(bytes, '.', sizeof bytes);
	for (int i = 0; i < WRITES; i++)
		for (size_t at = 0; at < CHUNK;) {
			ssize_t put = write(1, bytes + at, CHUNK - at);

			if (put == -1)
				err(1, "write");
			at += (size_t)put;
		}
	return 0;
}

/* The most memory that the parent has used, in kB. */
static inline long
parent_peak(void)
{
	char path[64], line[256];
	long peak = 0;
	FILE *status;

	snprintf(path, sizeof path, "/proc/%d/status", (int)getppid());
	status = fopen(path, "r");
	while (status != NULL && fgets(line, sizeof line, status) != NULL)
		if (sscanf(line, "VmHWM: %ld", &peak) == 1)
			break;
	if (status != NULL)
		fclose(status);
	return peak;
}

#endif
