/*
 * ramp: how fast a dependency that has just recovered is given work again. Who
 * waited for it would come all at once; instead they are let in at a rate,
 * which grows while all goes well. Slow start, and what follows a loss: RFC
 * 5681, with the clock in place of acknowledgements; and it grows only where it
 * is used, as in RFC 7661.
 *
 * Time is counted in steps since the recovery began. In each step there are
 * rate attempts to be had, the first few at once, the others one by one. So
 * nothing is held or given back: whoever is killed with what he took was one
 * attempt, and no more.
 *
 *     [began:18 | step:11 | rate:9 | taken:9 | served:8 | failed:5 |
 *      quiet:3 | met:1]
 *
 * began: the low bits of the millisecond in which the recovery began. A word of
 * another recovery is void, and stands for one that begins. rate: 0 is that of
 * the beginning, while news is awaited.
 */
#ifndef RAMP_H
#define RAMP_H

#include <stdbool.h>
#include <stdint.h>
#include "text/duration.h"

/* The model check has a step of its own. */
#ifndef RAMP_STEP
#define RAMP_STEP (200 * NANOS_MS)

/* Attempts in the first step; in any step at least, and at once. */
#define RAMP_FIRST 12
#define RAMP_LEAST 4

/*
 * So many steps in a row have to be quiet: longer than anybody who waits for an
 * open gate sleeps before he asks again. So nobody is left behind who waited.
 */
#define RAMP_QUIET 8
#endif

/* Whether anybody knows how the attempts of a recovery end. */
enum ramp_news {
	RAMP_NONE, /* none has begun */
	RAMP_AWAITED, /* some have, none has ended */
	RAMP_HEARD,
};

struct ramp {
	nanos began; /* the recovery, to the millisecond */
	int64_t step;
	int64_t rate; /* attempts in this step */
	int64_t taken; /* of them */
	int64_t served; /* successes in this step */
	int64_t failed; /* failures in it */
	int64_t quiet; /* steps before it, one after the other */
	enum ramp_news news;
	bool met; /* its limit, once: it grows by addition since */
	bool over; /* there is nobody left to hold back, or no need to */
};

/*
 * Where a recovery that began at the instant began is now, from its word. A
 * step is cut if more than one attempt failed in it, and more than a sixteenth
 * of its rate: what fails now and then all the time is not overloaded. It is
 * quiet if no more than half of the attempts were taken, it was not cut, and it
 * is known how at least one attempt has ended, if any has begun: commands may
 * be slow to fail. At the end of a step
 *   - the rate grows by half, or by a sixteenth and one where it has met its
 *     limit before (a step that was cut, at more than RAMP_FIRST), but to no
 *     more than twice the successes of that step: so slow commands are waited
 *     for; and it does not grow after a quiet step;
 *   - if it was cut, the rate is what succeeded in it, but no more than three
 *     quarters of what it was, and no less than half;
 *   - it is over if it was quiet, and so were RAMP_QUIET - 1 before it; or
 *     after seven minutes.
 */
struct ramp ramp_read(uint64_t word, nanos began, nanos now);

uint64_t ramp_word(const struct ramp *ramp);

/*
 * Until the next attempt is to be had; 0: now. A step that is cut has no more
 * than RAMP_LEAST to give.
 */
nanos ramp_next(const struct ramp *ramp, nanos now);

/* An attempt begins, has succeeded, or has failed. */
void ramp_take(struct ramp *ramp);
void ramp_succeed(struct ramp *ramp);
void ramp_fail(struct ramp *ramp);

#endif
