/*
 * journal: which attempts are kept, however many there were.
 */
#include "unit.h"
#include "policy/attempt_log.h"
#include "text/number.h"

#define FIRST JOURNAL_FIRST
#define KEPT (JOURNAL_FIRST + JOURNAL_LAST)

/* A journal of count attempts, where attempt n ended with status n % 256. */
static void
fill(struct journal *journal, int64_t count)
{
	memset(journal, 0xff, sizeof *journal);
	journal_start(journal);
	for (int64_t n = 1; n <= count; n++) {
		struct entry *entry = journal_add(journal);

		entry->status = (int)(n % 256);
		entry->slept = n < count ? n : -1;
	}
}

static void
test_an_empty_journal(void)
{
	struct journal journal;

	fill(&journal, 0);
	EQUAL("empty", journal.count, 0);
	EQUAL("empty", journal_kept(&journal), 0);
	EQUAL("empty", journal_slept(&journal), 0);
	HOLDS("empty", journal_latest(&journal) == NULL);
}

static void
test_a_new_entry_has_nothing_of_an_old_one(void)
{
	struct journal journal;
	struct entry *entry;

	fill(&journal, KEPT);
	entry = journal_add(&journal);
	EQUAL("new", entry->attempt, KEPT + 1);
	EQUAL("new", entry->status, 0);
	EQUAL("new", entry->signal, 0);
	EQUAL("new", entry->http, 0);
	EQUAL("new", entry->planned, -1);
	EQUAL("new", entry->slept, -1);
	HOLDS("new", entry->rule == NULL && !entry->budget_exhausted);
	HOLDS("new", journal_latest(&journal) == entry);
}

/* The first 10 and the last 90, in their order. */
static void
check_kept(int64_t count)
{
	int64_t lost = count > KEPT ? count - KEPT : 0;
	struct journal journal;
	char row[NUMBER_ROOM];

	number_put(row, count);
	fill(&journal, count);
	EQUAL(row, journal.count, count);
	EQUAL(row, journal_kept(&journal), count - lost);
	for (int i = 0; i < journal_kept(&journal); i++) {
		const struct entry *entry = journal_at(&journal, i);
		int64_t n = i < FIRST ? i + 1 : lost + i + 1;

		EQUAL(row, entry->attempt, n);
		EQUAL(row, entry->status, n % 256);
	}
	EQUAL(row, journal_latest(&journal)->attempt, count);
	EQUAL(row, journal_slept(&journal), count * (count - 1) / 2);
}

static void
test_the_first_and_the_last_are_kept(void)
{
	static const int64_t counts[] = { 1, 2, FIRST - 1, FIRST, FIRST + 1,
		KEPT - 1, KEPT, KEPT + 1, 150, KEPT + JOURNAL_LAST - 1,
		KEPT + JOURNAL_LAST, KEPT + JOURNAL_LAST + 1, 1000, 12345 };

	for (size_t i = 0; i < LENGTH(counts); i++)
		check_kept(counts[i]);
}

static void
test_what_was_slept_saturates(void)
{
	struct journal journal;

	fill(&journal, 1);
	journal_latest(&journal)->slept = NANOS_MAX - 1;
	EQUAL("long", journal_slept(&journal), NANOS_MAX - 1);
	journal_add(&journal)->slept = 5;
	EQUAL("longer", journal_slept(&journal), NANOS_MAX);
	journal_add(&journal)->slept = 0;
	EQUAL("the same", journal_slept(&journal), NANOS_MAX);
}

int
main(void)
{
	static void (*const tests[])(void) = {
		test_an_empty_journal,
		test_a_new_entry_has_nothing_of_an_old_one,
		test_the_first_and_the_last_are_kept,
		test_what_was_slept_saturates,
	};

	return unit_run(tests, LENGTH(tests));
}
