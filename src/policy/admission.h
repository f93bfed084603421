/*
 * admission: whether an attempt may begin, and what its end means for those
 * that come after it: what one invocation asks of a segment, and tells it. The
 * breaker holds back any attempt, the allowance a retry.
 *
 * What the breaker lets in, the breaker limits: its probe, and whoever has a
 * turn of a recovery, is not charged to the allowance, and need not have one.
 * So the retries are, in any window, at most
 *
 *   - those that the ring grants: max(min, ratio * successes);
 *   - probes: one at a time, and at most one after each pause, which doubles,
 *     but for those that follow one that had no news or was killed;
 *   - while the gate recovers, what its pace lets in.
 */
#ifndef ADMISSION_H
#define ADMISSION_H

#include <stdbool.h>
#include "policy/policy.h"

/* What an invocation and its segment have agreed upon. */
struct effective_limits {
	struct window_limits limits;
	nanos window;
	bool differs; /* from what this invocation asked for */
	bool spoilt; /* there is no sense in the words: nothing was done */
};

/* What the budget says of the next attempt. */
struct admission {
	enum reason denied; /* REASON_NONE: go; REASON_BREAKER, REASON_BUDGET */
	nanos next; /* when denied: until it is worth asking again;
		       NANOS_MAX: a success would have to come first */
	bool never; /* no success makes an allowance */
	bool cooling; /* the pause after a denial */
	struct effective_limits effective;
	struct window_sums sums; /* of the budget */
	struct breaker_view
	    breaker; /* what holds it, where that is the breaker */
};

/* Where one invocation stands. What is here is for admission to change. */
struct caller {
	const struct share *share;
	bool uses_breaker; /* asks the breaker, and tells it */
	bool counted; /* its first attempt is */
	bool waits; /* was denied, and asks again */
	bool outrun; /* is no longer the probe: another took the lease */
	uint64_t lease; /* as the probe; 0: it is not */
	nanos renewal; /* of the lease: when it is due */
	nanos began; /* the attempt */
};

/* What an attempt's end means to others. */
struct attempt_effect {
	enum attempt_result breaker;
	bool succeeded;
	bool deposits; /* a success pays for retries */
};

/* Only looks whether there is sense in a segment. */
struct effective_limits admission_look(const struct caller *caller,
    struct segment *segment, const struct header *header, nanos now);

/*
 * Whether there is anything to ask before the next attempt: a first one is
 * nobody's business but the breaker's. If not, it begins now.
 */
bool admission_concerns(struct caller *caller, bool retry, nanos now);

/*
 * Whether the next attempt may begin, a retry (which is counted then, by the
 * ring or as one that the breaker let in) or a first one (which only the
 * breaker may hold). Counts nothing where it is denied.
 */
struct admission admission_ask(struct caller *caller, struct segment *segment,
    const struct header *header, bool retry, nanos now);

/*
 * How an attempt ended, and what it would end the series for: REASON_NONE is a
 * retry. deposits: a success would pay.
 */
struct attempt_effect admission_effect(
    enum reason reason, const struct outcome *outcome, bool deposits);

struct effective_limits
admission_tell(struct caller *caller, struct segment *segment,
    const struct header *header, const struct attempt_effect *news, nanos now);

/* Until a probe has to renew its lease; NANOS_MAX: it has none. */
nanos admission_nap(const struct caller *caller, nanos now);

/* Renews it. Who was outrun meanwhile has no news any more. */
void admission_renew(struct caller *caller, struct segment *segment,
    const struct header *header, nanos now);

#endif
