/*
 * admission: whether an attempt may begin, and what its end means for later
 * ones.
 *
 * An invocation asks its budget before an attempt, and tells the budget how the
 * attempt ended. The pace, the breaker and --rate can deny any attempt, the
 * window only a retry.
 *
 * A retry that the breaker itself limits, as its probe or as a turn of its
 * recovery, is not counted in the window and needs no permission of the window.
 * A server that limits its clients (429) is well. So a retry after such a
 * limit, which waits for the pace, is not counted in the window and needs no
 * permission of it, and the limit tells the breaker nothing.
 *
 * The pace is asked first: nothing is counted for an attempt that waits for it.
 * --rate is asked last, since its places are given to attempts that begin. An
 * attempt takes its turn of the pace and its place at the same instant. If
 * another process was faster then, what the breaker and the window have granted
 * is given back.
 *
 * A retry that succeeds is paid back. So in any window the retries of all
 * processes that have not succeeded are at most the sum of
 *
 *   - those that the window grants: max(min, ratio * successes);
 *   - probes: one at a time, and at most one after each pause, which doubles;
 *     and one more for each probe that was ignored or killed;
 *   - turns: what the ramp admits while the breaker recovers;
 *   - those after a limit: what the server itself admits.
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
#include "budget/breaker.h"
#include "budget/fleet_host.h"
#include "budget/pace.h"
#include "budget/rate.h"
#include "budget/segment.h"
#include "budget/window.h"

/*
 * For how long a retry that the breaker has held back counts as one that waits.
 * It asks more often than that.
 */
#define ADMISSION_WAITING (2 * NANOS_SECOND)

/* What the user asked of the budget that is shared with other processes. */
struct budget_config {
	const char *key; /* NULL: no budget */
	const char *directory;
	struct terms terms;
	nanos wait; /* for admission, if denied; NANOS_MAX: no limit */
	nanos cooldown; /* after a denial; 0: none */
	struct breaker_config breaker;
	struct rate_terms rate;
	bool required; /* do not run without the budget */
};

enum admission_answer {
	ADMISSION_GRANTED,
	ADMISSION_CLOSED, /* no: the server limits, and has asked to wait */
	ADMISSION_PACE, /* no: no turn is free at the pace of the server */
	ADMISSION_BREAKER, /* no: the breaker is open, or has no turn left */
	ADMISSION_BUDGET, /* no: the budget or its fleet denies the retry */
	ADMISSION_RATE, /* no: --rate has no place free until next */
	ADMISSION_PENDING, /* the fleet has to be asked, or waited for */
};

/* What the budget says about the next attempt. */
struct admission {
	enum admission_answer answer;
	nanos next; /* if not: how long until it may be admitted; NANOS_MAX:
		       only after a success; by the pace about so long */
	nanos nap; /* if not: when to ask again */
	bool paced; /* the server limits: the key is closed, or has a pace */
	struct pace_view pace; /* if the server limits */
	struct rate_terms rate; /* in force */
	bool never; /* the limits never allow a retry */
	bool cooling; /* the pause after a denial is not over */
	struct terms terms; /* in force */
	struct window_sums sums;
	struct breaker_view breaker; /* its state, if it said no */
	struct host_step fleet; /* what the fleet says, if it was asked */
	struct host_view view; /* what is known of the fleet, if it denied */
	const char *silence; /* why the server gave this invocation no answer,
				or NULL; only its first time */
};

/* An invocation, as its budget sees it. Only admission changes it. */
struct caller {
	const struct budget_config *config;
	struct fleet_caller *fleet; /* NULL: no fleet shares the budget */
	bool uses_breaker; /* asks the breaker, and tells it results */
	bool counted; /* its first attempt has been counted */
	bool nested; /* a part of an attempt with the same key, which has begun
			with its first attempt */
	bool limited; /* its last attempt met a limit */
	bool throttled; /* its attempt has waited for the pace or --rate */
	bool outpaced; /* others have asked for a smaller --rate */
	struct rate_terms rate; /* which is in force then */
	struct pace_attempt attempt;
	uint64_t random;
	bool waits; /* the answer to its last question was no */
	bool lost_lease; /* its attempt was the probe until it lost the lease:
			    the breaker is not told how it ends */
	int64_t paid; /* 1 + the epoch of the slice that counts its attempt as a
			 retry; 0: none does */
	uint64_t lease; /* of the probe; 0: it is not the probe */
	nanos renewal; /* when to renew the lease */
	nanos began; /* when its attempt began */
};

/* An invocation uses a segment, which is not corrupt, at one moment. */
struct visit {
	struct caller *caller;
	struct segment *segment;
	const struct header *header; /* a checked copy */
	struct terms terms; /* in force: of segment_agree() */
	nanos now; /* CLOCK_BOOTTIME */
	nanos age; /* segment_age() now */
	nanos next; /* window_next() then */
	struct window_sums sums;
};

/* How an attempt ended, as the budget is told. */
struct attempt_end {
	enum attempt_result result;
	bool completed; /* the invocation has succeeded with it */
	bool rescued; /* it has, after an attempt that failed */
	enum pace_event_kind pace; /* what the server said */
	nanos wait; /* how long it wants to be left alone; 0: it did not say */
	bool strict; /* and it punishes who does not leave it alone */
	nanos own; /* how long the command itself waits now */
	nanos delay; /* of the retry that is planned; -1: none is, or it is not
			certain yet */
};

/*
 * Whether the next attempt may begin. A retry that may begin is counted: in the
 * window, or as a probe or a turn. granted: the fleet has granted this retry.
 */
struct admission
admission_ask(const struct visit *visit, bool retry, bool granted);

/*
 * Counts the end of an attempt, pays back a retry that has succeeded, and tells
 * the pace. Returns what admission_foresee() says of the retry that is
 * planned.
 */
struct admission
admission_tell(const struct visit *visit, const struct attempt_end *end);

/*
 * Whether a retry that is planned for the end of delay (-1: none is) is denied
 * already, and counted so, because the window will have none left then.
 */
struct admission admission_foresee(const struct visit *visit, nanos delay);

/* How long until the lease has to be renewed; NANOS_MAX without a lease. */
nanos admission_nap(const struct caller *caller, nanos now);

/* Renews the lease. If it is lost, the attempt's result will be ignored. */
void admission_renew(const struct visit *visit);

#endif
