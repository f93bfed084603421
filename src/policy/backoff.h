/*
 * backoff: how long to wait before each retry. A schedule of delays (the
 * envelope) grows, is capped, and is then randomised (the jitter), so that
 * clients that failed together do not come back together.
 */
#ifndef BACKOFF_H
#define BACKOFF_H

#include <stdbool.h>
#include <stdint.h>
#include "text/duration.h"

/* The most elements of an explicit schedule. */
#define BACKOFF_DELAYS 64

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
	enum backoff_kind kind;
	bool grows; /* the last element is n = 1 of kind; else it repeats (one
		alone always grows) */
	enum jitter jitter;
	int64_t factor; /* in millionths, at least BACKOFF_FACTOR_ONE */
	nanos delays[BACKOFF_DELAYS];
	int count; /* elements of delays, 1 or more */
	nanos floor, cap; /* floor <= cap */
};

/* Where one series of retries stands. */
struct schedule {
	uint64_t random; /* state of the generator */
	int64_t n; /* retries so far since the start or the last reset */
	nanos previous; /* the last delay, for decorrelated jitter */
};

/* The start of a series whose delays are a function of seed. */
struct schedule schedule_start(uint64_t seed);

/* The first delay is the next one again; the generator goes on. */
void schedule_reset(struct schedule *schedule);

/* The base delay: the first that is not 0, or 0. */
nanos backoff_base(const struct backoff *backoff);

/*
 * The envelope before the n-th retry, n >= 1, in [floor, cap]: with one delay
 * or a list that grows, base * factor^(n-1), base * n, base or base * fib(n)
 * (fib(1) = fib(2) = 1), where the last element is n = 1; else the n-th
 * element or the last. Saturates: no n gives less than a smaller one.
 */
nanos backoff_envelope(const struct backoff *backoff, int64_t n);

/*
 * The most that a delay may be instead of most, so that a series uses the time
 * to its deadline: left, the nanoseconds to the deadline (NANOS_MAX: none),
 * less one base delay, but not below floor. Just most if that leaves less than
 * the base delay, or if there is no jitter.
 */
nanos backoff_trim(const struct backoff *backoff, nanos most, nanos left);

/*
 * The delay before the next retry, and the schedule moves on. Full, equal and
 * decorrelated jitter: Brooker, "Exponential Backoff and Jitter" (AWS, 2015).
 *   full          uniform in [floor, e]
 *   equal         e/2 + uniform in [0, e/2], but not below floor
 *   decorrelated  min(cap, uniform in [base, 3 * previous]), previous = base
 *                 at first, but not below floor
 *   none          e
 * A jittered envelope e is first trimmed to left less one base delay where
 * that is at least the base (the first delay that is not 0), so that a series
 * uses the time to its deadline; left is the time to the deadline in
 * nanoseconds, NANOS_MAX for none.
 */
nanos backoff_next(
    const struct backoff *backoff, struct schedule *schedule, nanos left);

/*
 * The delay where the server asked for one: the greater of delay and wait, and
 * a random time in [0, max(base, wait / 10)] above it, unless the jitter is
 * none. That much less than left, if it need be and can be, but never less
 * than wait.
 */
nanos backoff_after(const struct backoff *backoff, struct schedule *schedule,
    nanos delay, nanos wait, nanos left);

/* A wait uniform in [0, most]; most >= 0. */
nanos backoff_splay(struct schedule *schedule, nanos most);

#endif
