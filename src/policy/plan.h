/*
 * plan: the whole retry logic as a function of values: policy, history,
 * outcome and the time, to what happens next.
 */
#ifndef PLAN_H
#define PLAN_H

#include <stdbool.h>
#include <stdint.h>
#include "policy/admission.h"
#include "policy/policy.h"

/* One invocation so far. Times are instants on the clock of the deadline. */
struct history {
	int64_t made; /* attempts begun */
	nanos began;
	nanos deadline; /* NANOS_MAX: none */
	struct outcome last; /* of attempt number made; none yet while 0 */
	int status; /* its exit status, 1 where a failure exited with 0 */
	struct judgement judgement; /* on it */
	nanos patience; /* until when to wait for admission; 0: not waiting */
	struct admission admission; /* while waiting: why */
	struct schedule schedule;
};

/* What happens next. */
struct step {
	bool again; /* another attempt, at the instant at; else the end */
	nanos at;
	nanos delay; /* at - now */
	int status; /* what to exit with */
	int signal; /* what to die of instead, or 0 */
	enum reason reason; /* why it ends; REASON_NONE while again */
	int64_t attempt; /* which was judged just now; 0: none */
};

/*
 * The history of an invocation that began at the instant began. inherited is
 * an outer retry's deadline, an instant too (NANOS_MAX: none): the lesser of
 * it and the policy's own counts.
 */
struct history plan_start(
    const struct policy *policy, nanos began, nanos inherited, uint64_t seed);

/*
 * What happens first: the first attempt, after a splay that takes at most
 * half of the time to the deadline, or the end where that is past already.
 */
struct step
plan_first(const struct policy *policy, struct history *history, nanos now);

/*
 * What happens after an attempt that ended in outcome: judges it, and where a
 * retry makes sense finds its delay. A delay that would end at the deadline or
 * later is not begun.
 */
struct step plan_next(const struct policy *policy, struct history *history,
    const struct outcome *outcome, nanos now);

/*
 * What happens when the wait for an attempt is over: step itself, or the end
 * where the wait overran the deadline (the machine slept).
 */
struct step
plan_wake(struct history *history, const struct step *step, nanos now);

/*
 * What happens when the budget does not admit the next attempt: it is asked
 * again after a while, jittered lest all who wait come back together, until
 * the policy's wait is over; then the end.
 */
struct step plan_denied(const struct policy *policy, struct history *history,
    const struct admission *admission, nanos now);

/*
 * The end, because what a retry could read is lost since the last attempt:
 * somebody has taken it meanwhile, say.
 */
struct step plan_lost(const struct history *history, enum reason lost);

/* Counts an attempt that is about to begin. */
void plan_begin(struct history *history);

#endif
