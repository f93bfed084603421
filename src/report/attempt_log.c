#include "report/attempt_log.h"

#include <stddef.h>
#include "text/number.h"

#define KEPT (ATTEMPT_LOG_FIRST + ATTEMPT_LOG_LAST)

/* The index of the entry of attempt number n + 1. */
static int
index_of(int64_t n)
{
	return n < ATTEMPT_LOG_FIRST ? (int)n
				     : ATTEMPT_LOG_FIRST +
		(int)((n - ATTEMPT_LOG_FIRST) % ATTEMPT_LOG_LAST);
}

void
attempt_log_start(struct attempt_log *log)
{
	/* The entries are not cleared: most invocations use a single one. */
	log->count = 0;
	log->slept = 0;
	for (int i = 0; i < FLEET_VERDICTS; i++)
		log->fleet[i] = 0;
}

struct entry *
attempt_log_add(struct attempt_log *log)
{
	struct entry *entry;

	log->slept = attempt_log_slept(log);
	entry = &log->entries[index_of(log->count++)];
	*entry =
	    (struct entry){ .attempt = log->count, .planned = -1, .slept = -1 };
	return entry;
}

struct entry *
attempt_log_latest(struct attempt_log *log)
{
	return log->count == 0 ? NULL : &log->entries[index_of(log->count - 1)];
}

int
attempt_log_kept(const struct attempt_log *log)
{
	return log->count < KEPT ? (int)log->count : KEPT;
}

const struct entry *
attempt_log_at(const struct attempt_log *log, int i)
{
	int64_t lost = log->count - attempt_log_kept(log);

	return &log->entries[index_of(i < ATTEMPT_LOG_FIRST ? i : lost + i)];
}

nanos
attempt_log_slept(const struct attempt_log *log)
{
	const struct entry *latest;

	if (log->count == 0)
		return 0;
	latest = &log->entries[index_of(log->count - 1)];
	return number_add(log->slept, latest->slept > 0 ? latest->slept : 0);
}

void
attempt_log_wake(struct attempt_log *log, nanos now)
{
	struct entry *entry = attempt_log_latest(log);

	if (entry != NULL && entry->planned >= 0 && entry->slept < 0)
		entry->slept = now - entry->began - entry->elapsed;
}

void
attempt_log_fleet(struct attempt_log *log, enum fleet_verdict verdict)
{
	struct entry *entry = attempt_log_latest(log);

	if (entry == NULL || entry->fleet == verdict)
		return;
	entry->fleet = verdict;
	log->fleet[verdict]++;
}
