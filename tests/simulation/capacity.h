/*
 * capacity: how much a server can do, and when it is down, as a pure state
 * machine, which both the server of the storms and their simulation use.
 *
 * Times are nanoseconds since the storm began.
 */
#ifndef CAPACITY_H
#define CAPACITY_H

#include <stdbool.h>
#include <stdint.h>
#include "text/duration.h"

struct capacity {
	int64_t rate; /* requests a second; 0: no limit */
	nanos begin, end; /* of the outage, when all are refused */
	nanos takes; /* any request, until the client knows */
	int64_t flaky; /* one request in so many fails for nothing; 0: none */
};

/* The state of a server; all zero at first. */
struct load {
	nanos used; /* the capacity there was up to this instant is used */
	int64_t count; /* of requests outside of the outage */
};

/*
 * Whether a request is served, or refused. The capacity is a bucket of tokens
 * that holds those of one second, and is empty when the outage ends, so that
 * after it nobody can serve clients in less than clients / rate. Jitter hardly
 * notices the size of the bucket. But with one of a tenth of a second, 1,000
 * clients without jitter would need 50 rounds of 10 s: what is published for
 * them (9,000 wasted, p99 52 s) can only have been served 200 at a time.
 */
bool
capacity_serves(const struct capacity *capacity, struct load *load, nanos now);

#endif
