/*
 * admission: whether an attempt may begin, and what its end means for later
 * ones.
 *
 * An invocation asks its budget before an attempt, and tells the budget how the
 * attempt ended. The breaker can deny any attempt, the window only a retry.
 *
 * A retry that the breaker itself limits, as its probe or as a turn of its
 * recovery, is not counted in the window and needs no permission of the window.
 * So in any window the retries of all processes are at most the sum of
 *
 *   - those that the window grants: max(min, ratio * successes);
 *   - probes: one at a time, and at most one after each pause, which doubles;
 *     and one more for each probe that was ignored or killed;
 *   - turns: what the ramp admits while the breaker recovers.
 *
 * As the probe, a retry that waits comes before any first attempt. If only some
 * items of the work fail, then the retry of an item is more likely to succeed
 * than the first attempt for another one.
 *
 * If the budget is that of a fleet, a retry that the window would grant needs a
 * grant of the fleet before. Probes and turns need none.
 */
#ifndef ADMISSION_H
#define ADMISSION_H

#include <stdbool.h>
#include "budget/fleet_caller.h"
#include "policy/policy.h"

/*
 * For how long a retry that the breaker has held back counts as one that waits.
 * It asks more often than that.
 */
#define ADMISSION_WAITING (2 * NANOS_SECOND)

/* The limits in force: the stricter of the segment's and the invocation's. */
struct effective_limits {
	struct terms limits;
	bool
	    differs; /* the segment had others than this invocation asked for */
	bool corrupt; /* the segment is corrupt, so nothing was done */
};

/* What the budget says about the next attempt. */
struct admission {
	enum reason denied; /* REASON_NONE (it may begin), _BREAKER, _BUDGET */
	nanos next; /* if denied: how long until it may be admitted;
		       NANOS_MAX: only after a success */
	bool never; /* the limits never allow a retry */
	bool cooling; /* the pause after a denial is not over */
	struct effective_limits effective;
	struct window_sums sums;
	struct breaker_view breaker; /* its state, if it denied the attempt */
	struct host_step fleet; /* what the fleet says, if it was asked */
	bool by_fleet; /* the retry may begin, with a grant of the fleet */
	struct host_view view; /* what is known of the fleet, if it denied */
	const char *silence; /* why the server gave this invocation no answer,
				or NULL; only its first time */
};

/* An invocation, as its budget sees it. Only admission changes it. */
struct caller {
	const struct budget_config *config;
	bool uses_breaker; /* asks the breaker, and tells it results */
	bool counted; /* its first attempt has been counted */
	bool waits; /* its last question was denied */
	bool lost_lease; /* its attempt was the probe, another one is now */
	uint64_t lease; /* of the probe; 0: it is not the probe */
	nanos renewal; /* when to renew the lease */
	nanos began; /* when its attempt began */
	struct fleet_caller *fleet; /* NULL: no fleet shares the budget */
};

/* What the end of an attempt means for the budget. */
struct attempt_effect {
	enum attempt_result result; /* for the breaker */
	bool succeeded; /* the attempt, for the breaker */
	bool completed; /* the invocation succeeded with it */
	bool deposits; /* its success is counted in the window */
};

/* Finds out the limits in force, and whether the segment is corrupt. */
struct effective_limits admission_look(const struct caller *caller,
    struct segment *segment, const struct header *header, nanos now);

/*
 * Whether the next attempt has to be admitted: every retry, and a first attempt
 * if there is a breaker. If not, the attempt begins now.
 */
bool admission_concerns(struct caller *caller, bool retry, nanos now);

/*
 * Whether the next attempt may begin. A retry that may begin is counted: in the
 * window, or as a probe or a turn. Only the breaker can deny a first attempt.
 */
struct admission admission_ask(struct caller *caller, struct segment *segment,
    const struct header *header, bool retry, nanos now);

/*
 * Denies, and counts so, a retry that has been planned for the end of delay if
 * the window has none left and will have none then: no slice that leaves it
 * frees one, and successes do not pay for one if they come as often as in the
 * window. Admits and counts nothing else. A caller that may wait for the
 * budget, or that asks the breaker, is never denied here.
 */
struct admission
admission_foresee(const struct caller *caller, struct segment *segment,
    const struct header *header, nanos delay, nanos now);

/* Whether nothing is decided yet: the fleet has to be asked, or waited for. */
bool admission_is_open(const struct admission *admission);

/*
 * What the outcome of an attempt, judged so, means for the budget. Successes in
 * a row that an invocation wants are one success.
 */
struct attempt_effect admission_effect(const struct judgement *judgement,
    const struct outcome *outcome, bool deposits);

/* Counts the end of an attempt. */
struct effective_limits admission_tell(struct caller *caller,
    struct segment *segment, const struct header *header,
    const struct attempt_effect *effect, nanos now);

/* How long until the lease has to be renewed; NANOS_MAX without a lease. */
nanos admission_nap(const struct caller *caller, nanos now);

/* Renews the lease. If it is lost, the attempt's result will be ignored. */
void admission_renew(struct caller *caller, struct segment *segment,
    const struct header *header, nanos now);

#endif
