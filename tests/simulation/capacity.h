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

/* The properties of a server. */
struct capacity {
	int64_t rate; /* requests a second; 0: no limit */
	nanos begin, end; /* of the outage, when all are refused at once */
	/* It hangs before the outage: what comes fails when that begins, all at
	 * once. */
	bool hangs;
	/* 0: what is over the rate is refused at once. Else requests queue, and
	 * a client that is not served within this gives up, while its request
	 * is worked on all the same. */
	nanos patience;
	nanos takes; /* any request, until the client knows */
	int64_t flaky; /* one request in so many fails for nothing; 0: none */
};

/* The state of a server; all zero at first. */
struct load {
	nanos used; /* the capacity there was up to this instant is used */
	int64_t count; /* of requests outside of the outage */
};

/* How a request is answered. */
struct answer {
	bool served;
	nanos at; /* when the client knows; never earlier for later requests,
		     but for those that are refused at once */
};

/*
 * Without patience it is a bucket of tokens that holds those of one second, and
 * is empty when the outage ends, so that after it nobody can serve clients in
 * less than clients / rate. Jitter hardly notices the size of the bucket. But
 * with one of a tenth of a second, 1,000 clients without jitter would need 50
 * rounds of 10 s: what is published for them (9,000 wasted, p99 52 s) can only
 * have been served 200 at a time.
 *
 * With patience each request takes 1 / rate, and up to a tenth longer the more
 * of them wait; when a queue of twice the patience has built up, the rest is
 * refused at once. Clients that never retry would always let it recover.
 */
struct answer
capacity_request(const struct capacity *capacity, struct load *load, nanos now);

#endif
