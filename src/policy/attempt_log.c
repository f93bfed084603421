#include "policy/attempt_log.h"

#include <stddef.h>
#include "text/number.h"

#define KEPT (ATTEMPT_LOG_FIRST + ATTEMPT_LOG_LAST)

/* Where the entry of the attempt after n others is, or was. */
static int
place(int64_t n)
{
	return n < ATTEMPT_LOG_FIRST ? (int)n
				     : ATTEMPT_LOG_FIRST +
		(int)((n - ATTEMPT_LOG_FIRST) % ATTEMPT_LOG_LAST);
}

void
attempt_log_start(struct attempt_log *attempt_log)
{
	/* The entries stay untouched: most invocations need one of them. */
	attempt_log->count = 0;
	attempt_log->slept = 0;
}

struct entry *
attempt_log_add(struct attempt_log *attempt_log)
{
	struct entry *entry;

	attempt_log->slept = attempt_log_slept(attempt_log);
	entry = &attempt_log->entries[place(attempt_log->count++)];
	*entry = (struct entry){
		.attempt = attempt_log->count, .planned = -1, .slept = -1
	};
	return entry;
}

struct entry *
attempt_log_latest(struct attempt_log *attempt_log)
{
	return attempt_log->count == 0
	    ? NULL
	    : &attempt_log->entries[place(attempt_log->count - 1)];
}

int
attempt_log_kept(const struct attempt_log *attempt_log)
{
	return attempt_log->count < KEPT ? (int)attempt_log->count : KEPT;
}

const struct entry *
attempt_log_at(const struct attempt_log *attempt_log, int i)
{
	int64_t lost = attempt_log->count - attempt_log_kept(attempt_log);

	return &attempt_log
		    ->entries[place(i < ATTEMPT_LOG_FIRST ? i : lost + i)];
}

nanos
attempt_log_slept(const struct attempt_log *attempt_log)
{
	const struct entry *latest;

	if (attempt_log->count == 0)
		return 0;
	latest = &attempt_log->entries[place(attempt_log->count - 1)];
	return number_add(
	    attempt_log->slept, latest->slept > 0 ? latest->slept : 0);
}

void
attempt_log_wake(struct attempt_log *attempt_log, nanos now)
{
	struct entry *entry = attempt_log_latest(attempt_log);

	if (entry != NULL && entry->planned >= 0 && entry->slept < 0)
		entry->slept = now - entry->began - entry->elapsed;
}
