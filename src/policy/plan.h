/*
 * plan: decides whether and when there is another attempt, or why retry ends.
 *
 * The decisions depend on values only: the policy, the history of this
 * invocation, the outcome of an attempt and the time.
 */
#ifndef PLAN_H
#define PLAN_H

#include <stdbool.h>
#include <stdint.h>
#include "budget/admission.h"
#include "policy/policy.h"

/* One invocation so far. Instants are on CLOCK_BOOTTIME. */
struct history {
	int64_t made; /* attempts begun */
	nanos began;
	nanos deadline; /* NANOS_MAX: none */
	struct request request; /* of each attempt */
	struct outcome last; /* of attempt number made; unset if made is 0 */
	int status; /* of retry, if the last attempt stays the last one */
	int exhausted; /* its status if a limit is why; 0: the same */
	struct judgement judgement; /* of the last outcome */
	int64_t successes; /* in a row, up to the last attempt */
	int64_t limited[POLICY_LIMITS]; /* retries after what each names */
	int64_t preset_limits; /* since the last success (known_wait.h) */
	bool vague; /* a hint without a time was noted: that is said once */
	const struct limit *limit; /* that allows no more, or NULL */
	nanos waits_until; /* for admission; 0: not waiting */
	nanos held; /* how long it has waited for a closed key */
	bool paced; /* the budget knew of a limit when the attempt began */
	struct admission admission; /* while waiting: why it was denied */
	struct schedule schedule;
};

/* What happens next. */
struct step {
	bool again; /* another attempt, at the instant at; false: the end */
	nanos at;
	nanos delay; /* at - now; of the end: what does not fit the deadline */
	bool asked; /* the delay is the wait that the server or the output asked
		       for, with jitter */
	int status; /* the exit status of retry */
	int signal; /* that retry dies of in place of an exit, or 0 */
	enum reason reason; /* of the end; REASON_NONE if again */
};

/*
 * The history of an invocation that began at the instant began. inherited is
 * the instant at which the deadline of an outer retry ends (NANOS_MAX: none).
 * The earlier one of this deadline and the policy's counts.
 */
struct history plan_start(
    const struct policy *policy, nanos began, nanos inherited, uint64_t seed);

/*
 * What happens first: the first attempt, after a splay that takes at most half
 * of the time to the deadline; or the end, if the deadline is already past.
 */
struct step
plan_first(const struct policy *policy, struct history *history, nanos now);

/*
 * Notes the outcome of the latest attempt and what it means: as verdict_of()
 * says, but a success is VERDICT_REPEAT as long as the policy wants more
 * successes in a row.
 */
void plan_judge(const struct policy *policy, struct history *history,
    const struct outcome *outcome);

/*
 * What happens after an attempt that was judged: computes the delay if a retry
 * or a repetition makes sense. If the delay would not end before the deadline,
 * or if the attempts that are left are fewer than the successes that are
 * wanted, this is the end.
 */
struct step
plan_next(const struct policy *policy, struct history *history, nanos now);

/* What happens when --retry-if does not want the retry that was planned. */
struct step plan_refused(struct history *history);

/*
 * What happens when the wait for an attempt is over: step itself, or the end if
 * the deadline has passed meanwhile (because the machine slept).
 */
struct step
plan_wake(struct history *history, const struct step *step, nanos now);

/*
 * What the budget is told of the last attempt, which this step follows.
 */
struct attempt_end plan_tell(const struct policy *policy,
    const struct history *history, const struct step *step);

/*
 * Whether the invocation ends without a success although it wanted another
 * attempt: none was made, the last one failed and could be retried, or more
 * successes in a row were wanted.
 */
bool plan_gives_up(const struct history *history, const struct step *step);

/*
 * What happens when the budget denies the next attempt: retry asks again after
 * the nap of the admission. If the breaker or the budget has denied it, this is
 * the end when the policy's wait is over. A closed key, a pace and --rate are
 * waited for without such a wait, up to the deadline, but for these: a place at
 * --rate that is free only after the deadline; and what is waited for a closed
 * key before one attempt, if it adds up to max_retry_after, and the server has
 * named a longer wait, or there is a limit of attempts and no deadline.
 */
struct step plan_denied(const struct policy *policy, struct history *history,
    const struct admission *admission, nanos now);

/* Whether a retry has turned a failure into this success. */
bool plan_is_rescued(const struct history *history, enum reason reason);

/* The end, for this reason. */
struct step plan_end(const struct history *history, enum reason reason);

/*
 * Whether the next attempt is a retry: neither the first one, nor a repetition
 * of a success.
 */
bool plan_is_retry(const struct history *history);

/* The time limit of attempt number attempt, from 1; 0: it has none. */
nanos plan_timeout(const struct policy *policy, int64_t attempt);

/* Counts an attempt that is about to begin. */
void plan_begin(struct history *history);

#endif
