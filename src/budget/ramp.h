/*
 * ramp: at which rate a recovering breaker admits attempts.
 *
 * When a dependency works again, all processes that waited for it would come at
 * once and overload it. Instead they are admitted at a rate that grows while
 * attempts succeed and falls when attempts fail. This is TCP's congestion
 * control, with slow start and with additive growth after a loss (RFC 5681),
 * but by the clock in place of acknowledgements; and the rate grows only if it
 * is used, as in RFC 7661.
 *
 * Time is counted in steps since the recovery began. The rate is the number of
 * attempts in one step: the first RAMP_LEAST of them may begin at once, the
 * others are spread evenly over the step.
 *
 * A step lasts RAMP_STEP. But if many hosts share a budget, then each of them
 * has a ramp, and all of these begin at nearly the same time. So that hosts in
 * a fleet do not overload the dependency together, their steps are longer: by
 * one RAMP_STEP for each RAMP_HOSTS hosts but the first, up to RAMP_SLOWEST.
 * This is the slowdown of a recovery, and stays the same until its end.
 *
 * At the end of each step:
 *
 *   - A step is cut if more than one attempt failed in it, and more than a
 *     sixteenth of its rate: fewer failures do not show an overload. Then the
 *     next rate is the number of successes in the step, but at least half of
 *     the old rate and at most three quarters of it.
 *   - A step is quiet if at most half of its attempts were taken and it was not
 *     cut. But if attempts of the recovery have begun and none has ended, no
 *     step is quiet, because commands may take long to fail. After RAMP_QUIET
 *     quiet steps in a row the recovery is over. It is over after RAMP_LONGEST
 *     in any case.
 *   - Otherwise the rate grows by half. After a cut step with a rate above
 *     RAMP_FIRST the rate has met its limit, and from then on it grows by a
 *     sixteenth and one. The rate does not grow beyond twice the successes of
 *     the step, so that it waits for slow commands; nor does it grow after a
 *     quiet step.
 *
 * The ramp is one word. Attempts are not given back: a process that is killed
 * has used up one attempt, and no more.
 *
 *     [began:18 | step:11 | rate:9 | taken:9 | served:8 | failed:5 |
 *      quiet:3 | met:1]
 *
 * began: the low bits of the millisecond in which the recovery began. The word
 * of another recovery is read as that of a recovery that just begins. rate 0
 * stands for RAMP_FIRST while no outcome is known.
 */
#ifndef RAMP_H
#define RAMP_H

#include <stdbool.h>
#include <stdint.h>
#include "text/duration.h"

/* tests/models/breaker_check.c has other numbers. */
#ifndef RAMP_STEP
#define RAMP_STEP (200 * NANOS_MS)

#define RAMP_FIRST 12 /* the rate of the first step */
#define RAMP_LEAST 4 /* the least rate, and how many may begin at once */

/*
 * In steps. This is longer than a process that waits for the breaker sleeps
 * before it asks again: so all such processes have asked when the recovery is
 * over.
 */
#define RAMP_QUIET 8

#define RAMP_LONGEST (2048 * RAMP_STEP) /* the word has room for 2048 steps */
#endif

#define RAMP_HOSTS 12
#ifndef RAMP_SLOWEST
#define RAMP_SLOWEST 7 /* times RAMP_STEP */
#endif

/* What is known about the attempts of a recovery. */
enum ramp_outcomes {
	RAMP_NONE, /* no attempt has begun */
	RAMP_AWAITED, /* some attempts have begun, none has ended */
	RAMP_KNOWN, /* at least one has ended */
};

struct ramp {
	nanos began; /* when the recovery began, to the millisecond */
	int64_t slowdown; /* a step lasts RAMP_STEP * (1 + slowdown) */
	int64_t step;
	int64_t rate; /* attempts available in this step */
	int64_t taken; /* attempts begun in this step */
	int64_t served; /* successes in this step */
	int64_t failed; /* failures in this step */
	int64_t quiet; /* quiet steps in a row, just before this step */
	enum ramp_outcomes outcomes;
	bool met; /* the rate has met its limit before */
	bool over; /* the recovery is over */
};

/*
 * The slowdown of a recovery, 0 to RAMP_SLOWEST, on each of so many hosts. 0
 * hosts: there is no fleet, or their number is not known.
 */
int64_t ramp_slowdown(int64_t hosts);

/*
 * Reads the word of a recovery that began at the instant began, and returns its
 * present step. Steps that ended since the word was written are accounted for.
 */
struct ramp ramp_read(uint64_t word, nanos began, int64_t slowdown, nanos now);

/* The word that holds a ramp, without its slowdown. */
uint64_t ramp_word(const struct ramp *ramp);

/* How long a step lasts. */
nanos ramp_step(const struct ramp *ramp);

/*
 * How long until the next attempt may begin; 0: now. At most RAMP_LEAST
 * attempts begin in a step that is cut.
 */
nanos ramp_next(const struct ramp *ramp, nanos now);

/* Counts an attempt that begins, or ends. */
void ramp_take(struct ramp *ramp);
void ramp_end(struct ramp *ramp, bool success);

#endif
