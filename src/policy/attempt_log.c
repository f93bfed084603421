#include "policy/attempt_log.h"

#include <stddef.h>
#include "text/number.h"

#define KEPT (JOURNAL_FIRST + JOURNAL_LAST)

/* Where the entry of the attempt after n others is, or was. */
static int
place(int64_t n)
{
	return n < JOURNAL_FIRST
	    ? (int)n
	    : JOURNAL_FIRST + (int)((n - JOURNAL_FIRST) % JOURNAL_LAST);
}

void
journal_start(struct journal *journal)
{
	/* The entries stay untouched: most invocations need one of them. */
	journal->count = 0;
	journal->slept = 0;
}

struct entry *
journal_add(struct journal *journal)
{
	struct entry *entry;

	journal->slept = journal_slept(journal);
	entry = &journal->entries[place(journal->count++)];
	*entry = (struct entry){
		.attempt = journal->count, .planned = -1, .slept = -1
	};
	return entry;
}

struct entry *
journal_latest(struct journal *journal)
{
	return journal->count == 0
	    ? NULL
	    : &journal->entries[place(journal->count - 1)];
}

int
journal_kept(const struct journal *journal)
{
	return journal->count < KEPT ? (int)journal->count : KEPT;
}

const struct entry *
journal_at(const struct journal *journal, int i)
{
	int64_t lost = journal->count - journal_kept(journal);

	return &journal->entries[place(i < JOURNAL_FIRST ? i : lost + i)];
}

nanos
journal_slept(const struct journal *journal)
{
	const struct entry *latest;

	if (journal->count == 0)
		return 0;
	latest = &journal->entries[place(journal->count - 1)];
	return number_add(
	    journal->slept, latest->slept > 0 ? latest->slept : 0);
}

void
journal_wake(struct journal *journal, nanos now)
{
	struct entry *entry = journal_latest(journal);

	if (entry != NULL && entry->planned >= 0 && entry->slept < 0)
		entry->slept = now - entry->began - entry->elapsed;
}
