/*
 * budget_client: an invocation's part in a budget: asks before a retry,
 * tells how attempts ended, and keeps the lease while it is the breaker's
 * probe. Where the segment cannot be used, it goes on with one of its own, in
 * its own memory, and says so once.
 */
#ifndef BUDGET_CLIENT_H
#define BUDGET_CLIENT_H

#include <stdbool.h>
#include "policy/admission.h"
#include "output/log.h"
#include "store/segment_store.h"

struct budget_client {
	const struct share *share; /* its key NULL: no budget */
	struct log *log;
	struct segment_store store;
	struct segment own; /* used instead of the store's, once alone */
	struct caller caller;
	bool alone;
	int turns; /* how often somebody else was waited for */
	bool warned; /* once is enough */
};

/*
 * Opens nothing before it is needed. admitted: the key of the breaker that has
 * let an outer retry's attempt through, or NULL. What happens within it is that
 * attempt's, and is not held by its own probe.
 */
void budget_client_start(struct budget_client *budget,
    const struct share *share, const char *admitted, struct log *log);

/*
 * To be asked before budget_client_ready, budget_client_admit and
 * budget_client_tell, none of which waits: 0, or how long to wait and ask
 * again, because another process puts a new segment in the place of an old one.
 * Opens it.
 */
nanos budget_client_settle(struct budget_client *budget);

/* Whether budget_client_admit is going to look at the segment. */
bool
budget_client_concerned(struct budget_client *budget, bool retry, nanos now);

/*
 * Opens it now, where it is required: false, and a line said, if it cannot be
 * used.
 */
bool budget_client_ready(struct budget_client *budget);

/*
 * Whether the next attempt may begin, a retry (which is counted then) or a
 * first one (which only the breaker may hold). Counts nothing where it is
 * denied.
 */
struct admission
budget_client_admit(struct budget_client *budget, bool retry, nanos now);

/*
 * How an attempt ended, and what it would end the series for: REASON_NONE is a
 * retry. deposits: a success pays for retries.
 */
void budget_client_tell(struct budget_client *budget, enum reason reason,
    const struct outcome *outcome, bool deposits, nanos now);

/* How long the lease may be left alone; NANOS_MAX where there is none. */
nanos budget_client_nap(const struct budget_client *budget, nanos now);

/* Renews the lease if it is time. */
void budget_client_renew(struct budget_client *budget, nanos now);

#endif
