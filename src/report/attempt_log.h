/*
 * attempt_log: keeps how each attempt ended, for reports and traces.
 *
 * Of many attempts the first ten and the last ninety are kept, so memory is
 * fixed.
 */
#ifndef ATTEMPT_LOG_H
#define ATTEMPT_LOG_H

#include <stdbool.h>
#include <stdint.h>
#include "policy/plan.h"

#define ATTEMPT_LOG_FIRST 10
#define ATTEMPT_LOG_LAST 90

/* What came of asking the fleet about the next attempt. */
enum fleet_verdict {
	FLEET_VERDICT_NONE, /* it was not asked */
	FLEET_VERDICT_GRANTED,
	FLEET_VERDICT_DENIED,
	FLEET_VERDICT_ALONE, /* no answer: the host made the retry alone */
	FLEET_VERDICTS,
};

/* One attempt. Times are nanoseconds since retry began. */
struct entry {
	int64_t attempt; /* from 1 */
	nanos began, elapsed;
	enum end end;
	int status; /* by verdict_status() */
	int signal; /* that killed it, or 0 */
	int http; /* the code; 0: unknown */
	nanos asked; /* the wait by verdict_wait() */
	const char *rule; /* the rule by which verdict_of() decided */
	enum verdict verdict;
	nanos
	    planned; /* the delay before the next attempt; -1: there is none */
	nanos slept; /* the real delay, with admission; -1: not over */
	bool budget_exhausted; /* the budget denied the next attempt */
	enum fleet_verdict fleet;
	int64_t failed; /* attempts that failed in a row directly before it */
	uint64_t span; /* the id of its span; 0: it is not traced */
};

struct attempt_log {
	int64_t count; /* of all attempts */
	nanos slept; /* all delays, but for that after the latest attempt */
	int64_t fleet[FLEET_VERDICTS]; /* how many of each */
	struct entry entries[ATTEMPT_LOG_FIRST + ATTEMPT_LOG_LAST];
};

void attempt_log_start(struct attempt_log *log);

/*
 * Adds an entry, which the caller fills in. The delay of the entry before is
 * added to log->slept now, so that entry must not change any more.
 */
struct entry *attempt_log_add(struct attempt_log *log);

/* The latest entry; NULL before the first one. */
struct entry *attempt_log_latest(struct attempt_log *log);

/*
 * Notes how long the delay after the latest attempt really was. The delay is
 * over now; now is the time since retry began.
 */
void attempt_log_wake(struct attempt_log *log, nanos now);

/* Notes what came of asking the fleet about the attempt after the latest one.
 * The same verdict counts once, however often it was asked. */
void attempt_log_fleet(struct attempt_log *log, enum fleet_verdict verdict);

/* How many entries are kept; and the i-th of them. 0 is the oldest. */
int attempt_log_kept(const struct attempt_log *log);
const struct entry *attempt_log_at(const struct attempt_log *log, int i);

/* The sum of all delays, those of entries that are not kept included. */
nanos attempt_log_slept(const struct attempt_log *log);

#endif
