/*
 * limiter: the limits of servers, as pure functions of the time and of what has
 * been asked before. The measurement of the pace runs them with real processes.
 *
 * Times are nanoseconds since the server began, and never go back.
 */
#ifndef LIMITER_H
#define LIMITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "text/duration.h"

enum limiter_kind {
	LIMITER_WINDOW, /* quota requests in each period, by the clock */
	LIMITER_SLIDING, /* quota served in any period */
	LIMITER_PENALTY, /* a window that each refused request makes longer */
	LIMITER_AT_ONCE, /* quota requests at the same time */
	LIMITER_BUCKET, /* rate tokens a second, and burst of them at most */
	LIMITER_QUEUE, /* rate a second; who comes early waits for up to a
			period, and is refused if that is too short */
	LIMITER_CHANCE, /* percent of the requests are refused */
	LIMITER_ONE, /* each request of one client is refused */
};

enum { LIMITER_BACKENDS = 2, LIMITER_LOG = 128 };

/* What a refusal names. */
#define LIMITER_REST 0 /* of a window in whole seconds, of a bucket in ms */
#define LIMITER_SILENT (-1) /* nothing */

struct limiter {
	enum limiter_kind kind;
	int64_t quota; /* LIMITER_SLIDING: at most LIMITER_LOG */
	nanos period;
	int64_t wide; /* LIMITER_WINDOW: so many in each breadth, too; 0: any */
	nanos breadth;
	int64_t rate, burst;
	int64_t backends; /* each has a bucket of its own, and chance decides
			     which is asked; 0: one */
	nanos halves; /* the rate, at that instant; 0: never */
	int64_t percent;
	int64_t client; /* the one whose first request is that number */
	nanos says; /* what a refusal names: LIMITER_REST, LIMITER_SILENT, a
		       time */
	int status; /* of a refusal; 0: 429 */
	/* A request that is served takes about so long, and one that is
	 * refused as long, but at most 30 ms; or as long as refuses. */
	nanos takes, refuses;
};

/* All zero at first, but for the chance, which may be any number. */
struct limiter_state {
	uint64_t chance;
	int64_t asked; /* requests */
	int64_t window, broad; /* the numbers of the present windows */
	int64_t used, most; /* of their quotas */
	nanos until; /* the window that was made longer ends */
	int64_t running;
	struct {
		int64_t used; /* of the burst, in parts of NANOS_SECOND */
		nanos at; /* then */
	} buckets[LIMITER_BACKENDS];
	nanos next; /* the place in the queue that is free */
	int64_t client; /* who is refused */
	nanos log[LIMITER_LOG]; /* when the last ones were served */
	size_t logged;
};

struct limiter_answer {
	int status; /* 200: served */
	nanos wait; /* that a refusal names; 0: none */
	nanos takes; /* until it is known */
};

/* A request arrives, from the client of that number. One that is served ends
 * with limiter_end. */
struct limiter_answer limiter_begin(const struct limiter *limiter,
    struct limiter_state *state, nanos now, int64_t client);
void limiter_end(struct limiter_state *state);

#endif
