/*
 * line: a line of 64 kB without a match on which a backtracking matcher, or one
 * that starts anew at each byte, takes forever: "[a-z]+: error" on letters.
 * Prints name, median time in microseconds, and that divided by the first's;
 * glibc's, which takes seconds, is run but once.
 */
#include <err.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "match/pattern.h"

enum { LENGTH = 65536, TIMES = 101 };

static const char text[] = "[a-z]+: error";
static char line[LENGTH + 1];
static struct pattern pattern;
static regex_t regex;

static double
now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec * 1e6 + (double)ts.tv_nsec / 1e3;
}

static double
time_ours(void)
{
	double began = now();

	pattern_start(&pattern);
	if (pattern_feed(&pattern, line, LENGTH) || pattern_end(&pattern))
		errx(1, "ours finds what is not there");
	return now() - began;
}

static double
time_glibc(void)
{
	double began = now();

	if (regexec(&regex, line, 0, NULL, 0) != REG_NOMATCH)
		errx(1, "glibc finds what is not there");
	return now() - began;
}

static int
ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

int
main(void)
{
	struct pattern_error error;
	double times[TIMES], glibc, ours;

	memset(line, 'a', LENGTH);
	if (!pattern_compile(&pattern, text, strlen(text), &error) ||
	    regcomp(&regex, text, REG_EXTENDED | REG_NOSUB) != 0)
		errx(1, "not a pattern: %s", text);
	for (size_t i = 0; i < TIMES; i++)
		times[i] = time_ours();
	qsort(times, TIMES, sizeof times[0], ascending);
	ours = times[TIMES / 2];
	glibc = time_glibc();
	printf("regexec\t%.0f\t1.000\n", glibc);
	printf("pattern\t%.1f\t%.6f\n", ours, ours / glibc);
	regfree(&regex);
	return 0;
}
