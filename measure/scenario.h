/*
 * scenario: the storms: when clients begin, what the server can do, and the
 * options of retry. The driver runs them with processes, the simulation in
 * virtual time.
 */
#ifndef SCENARIO_H
#define SCENARIO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "text/duration.h"
#include "limiter.h"
#include "redis.h"

/* How much a server can do, and when it is down, since the storm began. */
struct capacity {
	int64_t rate; /* requests a second; 0: no limit */
	nanos begin, end; /* of the outage, when all are refused */
	nanos takes; /* any request, until the client knows */
	int64_t flaky; /* one request in so many fails for nothing; 0: none */
	int64_t percent; /* of the requests fail so, by chance */
	int64_t quota; /* requests in each window; 0: no limit */
	nanos window;
};

/* The state of a server; all zero at first. */
struct load {
	nanos used; /* the capacity there was up to this instant is used */
	int64_t count; /* of requests outside of the outage */
	uint64_t chance;
	nanos window; /* the present one began */
	int64_t taken; /* of its quota */
};

enum { SCENARIO_OPTIONS = 24, SCENARIO_VARIANTS = 8 };

/* A run is near a published number if it differs by so many percent at most. */
#define SCENARIO_NEAR 25

/* Stands in the options for the address of the fleet's server. */
#define SCENARIO_FLEET "redis://fleet"

/* What one run of a scenario has of its own. */
struct variant {
	const char *name;
	const char *options; /* of retry: words without a quote */
	const char *inner; /* the command is a build, each of whose targets has
			      a retry with these options; NULL: a client */
	const char *drawn; /* its name in the picture; NULL: it is not there */
	/* What others have published for it; 0: nothing. */
	int64_t published_wasted;
	nanos published_p99;
	bool near; /* that has to be within SCENARIO_NEAR percent */
	/* The bars, 0 for none: most that may be wasted, and of that by
	 * retries; and clients that give up. */
	int64_t most_wasted, most_retries, most_lost;
	/* An earlier variant that is shown beside each bar. The retries that
	 * are wasted, and when everybody is served, in percent of those. */
	const char *beside;
	int64_t most_beside, most_longer;
	/* The p99, and when everybody is served, in percent of the limit. */
	int64_t most_p99, most_max;
	nanos most_time; /* when everybody is served */
	/* Percent of the fleet's questions that get no answer in time. */
	int64_t most_silent;
	nanos until; /* watching ends then, though clients wait; 0: it does when
			all have ended */
	enum redis_fault fault; /* of the fleet's server */
	bool hurt; /* processes are killed, or stopped for a while */
	bool slow; /* it is more than processes can do: not what the simulation
		      says, which has an ideal machine */
};

struct scenario {
	const char *name, *title;
	int64_t clients;
	int64_t at_once; /* so many clients at most; 0: all */
	int64_t hosts; /* which clients take in turns; 0: there is one host */
	/* Only simulated: one client after the other; and so many, who are not
	 * counted, at once, and that much before all others. */
	nanos apart;
	int64_t scouts;
	nanos lead;
	struct capacity capacity;
	const struct limiter *limiter; /* the server has it; NULL: a capacity */
	uint64_t chance; /* of the limiter */
	nanos width; /* of the bins in which requests are counted */
	nanos most; /* who has not ended by then is counted as lost */
	/* The last has no name. */
	struct variant variants[SCENARIO_VARIANTS + 1];
};

/* The last has no name. */
extern const struct scenario scenarios[];

/* Adds the words of the options to the count that there are. Their memory is
 * never freed. Returns how many there are then. */
size_t
scenario_words(const struct variant *variant, char *words[], size_t count);

/* Whether the clients share a budget with other hosts. */
bool scenario_has_fleet(const struct variant *variant);

/*
 * How a request is answered, as the status of HTTP: 200 if it is served, 429 if
 * its window has no more, 503 if it fails otherwise. The capacity is a bucket
 * of tokens that holds those of one second, and is empty when the outage ends,
 * so that after it nobody can serve clients in less than clients / rate. Jitter
 * hardly notices the size of the bucket. But with one of a tenth of a second,
 * 1,000 clients without jitter would need 50 rounds of 10 s: what is published
 * for them (9,000 wasted, p99 52 s) can only have been served 200 at a time.
 */
int
capacity_answer(const struct capacity *capacity, struct load *load, nanos now);

/* What a 429 asks a client to wait: for the rest of the window, in whole
 * seconds. */
nanos capacity_wait(const struct capacity *capacity, nanos now);

/*
 * The physical limit: when the last of the clients is served if no request is
 * wasted after the outage, and no capacity. 0: there is none to speak of.
 */
nanos scenario_limit(const struct scenario *scenario);

#endif
