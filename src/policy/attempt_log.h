/*
 * attempt_log: what became of each attempt, for reports: the first few and the
 * last many, in a fixed amount of memory however many there were.
 */
#ifndef ATTEMPT_LOG_H
#define ATTEMPT_LOG_H

#include <stdbool.h>
#include <stdint.h>
#include "policy/plan.h"

#define JOURNAL_FIRST 10
#define JOURNAL_LAST 90

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

struct journal {
	int64_t count; /* of all attempts */
	nanos slept; /* after all of them but the latest */
	struct entry entries[JOURNAL_FIRST + JOURNAL_LAST];
};

void journal_start(struct journal *journal);

/*
 * A new entry, the latest; to be filled in. What was there of the one before
 * is counted now, and should not change any more.
 */
struct entry *journal_add(struct journal *journal);

/* The latest; NULL before the first. */
struct entry *journal_latest(struct journal *journal);

/*
 * The delay after the latest is over, after so long since retry began: whatever
 * was planned, this is what it became.
 */
void journal_wake(struct journal *journal, nanos now);

/* How many are kept, and the i-th of them, 0 the oldest. */
int journal_kept(const struct journal *journal);
const struct entry *journal_at(const struct journal *journal, int i);

/* How long was slept after all attempts, those that are not kept included. */
nanos journal_slept(const struct journal *journal);

#endif
