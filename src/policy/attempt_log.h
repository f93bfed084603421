/*
 * attempt_log: what became of each attempt, for reports: the first few and the
 * last many, in a fixed amount of memory however many there were.
 */
#ifndef ATTEMPT_LOG_H
#define ATTEMPT_LOG_H

#include <stdbool.h>
#include <stdint.h>
#include "policy/plan.h"

#define ATTEMPT_LOG_FIRST 10
#define ATTEMPT_LOG_LAST 90

/* One attempt. Times are nanoseconds since retry began. */
struct entry {
	int64_t attempt; /* from 1 */
	nanos began, elapsed;
	enum end end;
	int status; /* as verdict_status has it */
	int signal; /* that killed it, or 0 */
	int http; /* 0: none known */
	const char *rule; /* which decided, as verdict_of names it */
	enum verdict verdict;
	nanos planned; /* the delay before the next; -1: none follows */
	nanos slept; /* what it became, admission included; -1: none */
	bool budget_exhausted; /* the next was denied for want of budget */
};

struct attempt_log {
	int64_t count; /* of all attempts */
	nanos slept; /* after all of them but the latest */
	struct entry entries[ATTEMPT_LOG_FIRST + ATTEMPT_LOG_LAST];
};

void attempt_log_start(struct attempt_log *attempt_log);

/*
 * A new entry, the latest; to be filled in. What was there of the one before
 * is counted now, and should not change any more.
 */
struct entry *attempt_log_add(struct attempt_log *attempt_log);

/* The latest; NULL before the first. */
struct entry *attempt_log_latest(struct attempt_log *attempt_log);

/*
 * The delay after the latest is over, after so long since retry began: whatever
 * was planned, this is what it became.
 */
void attempt_log_wake(struct attempt_log *attempt_log, nanos now);

/* How many are kept, and the i-th of them, 0 the oldest. */
int attempt_log_kept(const struct attempt_log *attempt_log);
const struct entry *
attempt_log_at(const struct attempt_log *attempt_log, int i);

/* How long was slept after all attempts, those that are not kept included. */
nanos attempt_log_slept(const struct attempt_log *attempt_log);

#endif
