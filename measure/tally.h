/*
 * tally: counts the requests of a storm in bins of time as they arrive, and the
 * clients when they end, with the latency of each client that was served.
 *
 * Times are nanoseconds since the storm began.
 */
#ifndef TALLY_H
#define TALLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include "text/duration.h"

/* Where the totals of real runs are kept, for comparisons. */
#define TALLY_FILE "build/storm/totals"

/* Later requests are counted in the last of so many bins. */
#define TALLY_BINS (1 << 20)

/* Requests that arrived within one width. */
struct bin {
	int64_t served, rejected;
};

struct tally {
	nanos width; /* of a bin */
	struct bin *bins;
	size_t count; /* of bins used */
	nanos *latencies; /* of the clients that were served */
	size_t clients, room; /* such clients, and allocated */
	int64_t lost; /* clients that gave up, which the caller counts */
	int64_t firsts; /* first attempts that were rejected, if counted */
};

struct totals {
	int64_t clients, lost; /* all of them; those never served */
	int64_t served, wasted; /* requests; wasted: rejected */
	int64_t after; /* of those that were wasted, after the outage */
	int64_t retries; /* of those that were wasted */
	int64_t peak; /* most arrivals in a bin */
	/* The latency that 50 %, 99 % and 100 % of all clients do not exceed.
	 * NANOS_MAX: fewer of them were served. */
	nanos p50, p99, max;
};

/* Memory that cannot be had ends the program. */
void tally_start(struct tally *tally, nanos width);
void tally_end(struct tally *tally);

/* A request has arrived at the server, at >= 0, and was answered like this. */
void tally_request(struct tally *tally, nanos at, bool served);

/* A client has got what it wanted, so long after it began. */
void tally_client(struct tally *tally, nanos latency);

/* All of it together; recovery: when the outage was over. Sorts the latencies.
 */
struct totals tally_sum(struct tally *tally, nanos recovery);

/* The mean of several runs. NANOS_MAX in one of them stays. */
struct totals tally_mean(const struct totals *all, size_t count);

/*
 * Totals as a line of text, "scenario/variant key=value ..." with '-' for
 * blanks in the names, and back: the last such line of a file. Times are in
 * nanoseconds. False: there is none.
 */
void tally_put(FILE *file, const char *scenario, const char *variant,
    const struct totals *totals);
bool tally_find(FILE *file, const char *scenario, const char *variant,
    struct totals *totals);

#endif
