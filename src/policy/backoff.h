/*
 * backoff: how long to wait before each retry.
 *
 * A delay grows from retry to retry up to a cap: the envelope. The delay itself
 * is random within the envelope (jitter), so that clients that failed together
 * do not come back together.
 */
#ifndef BACKOFF_H
#define BACKOFF_H

#include <stdbool.h>
#include <stdint.h>
#include "text/duration.h"

/* A list of times, which people give separated by commas. */
#define SPANS_MOST 64
struct spans {
	nanos list[SPANS_MOST];
	int count;
};

/* Parts of one in struct backoff's factor. */
#define BACKOFF_FACTOR_ONE 1000000

enum backoff_kind {
	BACKOFF_EXPONENTIAL,
	BACKOFF_LINEAR,
	BACKOFF_CONSTANT,
	BACKOFF_FIBONACCI,
};

enum jitter {
	JITTER_FULL,
	JITTER_EQUAL,
	JITTER_DECORRELATED,
	JITTER_NONE,
};

/* What the user asked for. */
struct backoff {
	enum backoff_kind kind; /* how the last delay grows */
	enum jitter jitter;
	int64_t factor; /* in millionths, at least BACKOFF_FACTOR_ONE */
	struct spans delays; /* 1 or more */
	nanos floor, cap; /* floor <= cap */
	bool given; /* the user has set delays or floor */
};

/* How far one series of retries has got. */
struct schedule {
	uint64_t random; /* state of the generator, at first the seed */
	int64_t n; /* retries so far; with 0 the first delay is next */
	nanos previous; /* the last delay, for decorrelated jitter */
};

/* The base delay: the first one that is not 0, but at most cap; 0 if all are 0.
 */
nanos backoff_base(const struct backoff *backoff);

/*
 * The envelope before the n-th retry, n >= 1, in [floor, cap]: the n-th element
 * of delays. After the last element, base, the envelopes are base *
 * factor^(n-1), base * n, base, or base * fib(n) (fib(1) = fib(2) = 1), where n
 * is 1 at the place of base. Saturates: the envelope never gets smaller as n
 * grows.
 */
nanos backoff_envelope(const struct backoff *backoff, int64_t n);

/*
 * Trims most, the longest delay, so that a series uses the time to its
 * deadline: to left, the nanoseconds to the deadline (NANOS_MAX: none), less
 * one base delay, but not below floor. Returns most unchanged if that leaves
 * less than the base delay, or if there is no jitter.
 */
nanos backoff_trim(const struct backoff *backoff, nanos most, nanos left);

/*
 * The delay before the next retry; the schedule moves on. Full, equal and
 * decorrelated jitter: Brooker, "Exponential Backoff and Jitter" (AWS, 2015).
 *
 *   full          uniform in [floor, e]
 *   equal         e/2 + uniform in [0, e/2], but not below floor
 *   decorrelated  min(cap, uniform in [base, 3 * previous]), previous = base
 *                 at first, but not below floor
 *   none          e
 *
 * e is the envelope, after backoff_trim(); so is 3 * previous.
 */
nanos backoff_next(
    const struct backoff *backoff, struct schedule *schedule, nanos left);

/*
 * The delay if the server asked for a wait: the greater of delay and wait, and
 * a random time in [0, max(base, wait / 10)] on top, unless there is no jitter.
 * That random time takes at most half of what is left then, if anything is.
 */
nanos backoff_after(const struct backoff *backoff, struct schedule *schedule,
    nanos delay, nanos wait, nanos left);

/*
 * The delay after a limit of a server whose pace the budget knows, which
 * decides when the next attempt begins: the wait that was named and a tenth of
 * it at most; of no named wait (0) a random part of a second.
 */
nanos backoff_paced(struct schedule *schedule, nanos wait);

/* A wait uniform in [0, most]; most >= 0. */
nanos backoff_splay(struct schedule *schedule, nanos most);

#endif
