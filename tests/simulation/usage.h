/*
 * usage: how much of the machine a storm uses. Where no CPU time is left for
 * the clients, a storm measures the machine and not retry.
 */
#ifndef USAGE_H
#define USAGE_H

#include "text/duration.h"

struct usage {
	nanos elapsed, cpu; /* of all that has been waited for */
	double busiest; /* part of the machine, its most in a second */
	/* what was seen last */
	nanos began, looked, spent;
	long long busy, all; /* ticks of all processors */
	long long busy_before, all_before; /* when it began */
	int64_t others; /* percent of the machine that others used */
};

void usage_start(struct usage *usage);

/* To be called at least once a second. */
void usage_look(struct usage *usage);

void usage_end(struct usage *usage);

/* How many processors this process may use. */
long usage_cores(void);

#endif
