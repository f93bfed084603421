/*
 * attempt_log: which attempts are kept, however many there were.
 */
#include "unit.h"
#include "report/attempt_log.h"
#include "text/number.h"

#define FIRST ATTEMPT_LOG_FIRST
#define KEPT (ATTEMPT_LOG_FIRST + ATTEMPT_LOG_LAST)

/* A log of count attempts, of which attempt n ended with status n % 256. */
static void
fill(struct attempt_log *attempt_log, int64_t count)
{
	memset(attempt_log, 0xff, sizeof *attempt_log);
	attempt_log_start(attempt_log);
	for (int64_t n = 1; n <= count; n++) {
		struct entry *entry = attempt_log_add(attempt_log);

		entry->status = (int)(n % 256);
		entry->slept = n < count ? n : -1;
	}
}

static void
test_an_empty_log(void)
{
	struct attempt_log attempt_log;

	fill(&attempt_log, 0);
	EQUAL("empty", attempt_log.count, 0);
	EQUAL("empty", attempt_log_kept(&attempt_log), 0);
	EQUAL("empty", attempt_log_slept(&attempt_log), 0);
	HOLDS("empty", attempt_log_latest(&attempt_log) == NULL);
}

static void
test_a_new_entry_has_nothing_of_an_old_one(void)
{
	struct attempt_log attempt_log;
	struct entry *entry;

	fill(&attempt_log, KEPT);
	entry = attempt_log_add(&attempt_log);
	EQUAL("new", entry->attempt, KEPT + 1);
	EQUAL("new", entry->status, 0);
	EQUAL("new", entry->signal, 0);
	EQUAL("new", entry->http, 0);
	EQUAL("new", entry->planned, -1);
	EQUAL("new", entry->slept, -1);
	HOLDS("new", entry->rule == NULL && !entry->budget_exhausted);
	EQUAL("new", entry->fleet, FLEET_VERDICT_NONE);
	HOLDS("new", attempt_log_latest(&attempt_log) == entry);
}

/* The first 10 and the last 90, in their order. */
static void
check_kept(int64_t count)
{
	int64_t lost = count > KEPT ? count - KEPT : 0;
	struct attempt_log attempt_log;
	char row[NUMBER_ROOM];

	number_put(row, count);
	fill(&attempt_log, count);
	EQUAL(row, attempt_log.count, count);
	EQUAL(row, attempt_log_kept(&attempt_log), count - lost);
	for (int i = 0; i < attempt_log_kept(&attempt_log); i++) {
		const struct entry *entry = attempt_log_at(&attempt_log, i);
		int64_t n = i < FIRST ? i + 1 : lost + i + 1;

		EQUAL(row, entry->attempt, n);
		EQUAL(row, entry->status, n % 256);
	}
	EQUAL(row, attempt_log_latest(&attempt_log)->attempt, count);
	EQUAL(row, attempt_log_slept(&attempt_log), count * (count - 1) / 2);
}

static void
test_the_first_and_the_last_are_kept(void)
{
	static const int64_t counts[] = { 1, 2, FIRST - 1, FIRST, FIRST + 1,
		KEPT - 1, KEPT, KEPT + 1, 150, KEPT + ATTEMPT_LOG_LAST - 1,
		KEPT + ATTEMPT_LOG_LAST, KEPT + ATTEMPT_LOG_LAST + 1, 1000,
		12345 };

	for (size_t i = 0; i < LENGTH(counts); i++)
		check_kept(counts[i]);
}

static void
test_what_was_slept_saturates(void)
{
	struct attempt_log attempt_log;

	fill(&attempt_log, 1);
	attempt_log_latest(&attempt_log)->slept = NANOS_MAX - 1;
	EQUAL("long", attempt_log_slept(&attempt_log), NANOS_MAX - 1);
	attempt_log_add(&attempt_log)->slept = 5;
	EQUAL("longer", attempt_log_slept(&attempt_log), NANOS_MAX);
	attempt_log_add(&attempt_log)->slept = 0;
	EQUAL("the same", attempt_log_slept(&attempt_log), NANOS_MAX);
}

static void
test_each_verdict_of_the_fleet_counts_once(void)
{
	struct attempt_log attempt_log;

	fill(&attempt_log, 0);
	attempt_log_fleet(&attempt_log, FLEET_VERDICT_DENIED);
	EQUAL("before the first", attempt_log.fleet[FLEET_VERDICT_DENIED], 0);
	attempt_log_add(&attempt_log);
	attempt_log_fleet(&attempt_log, FLEET_VERDICT_DENIED);
	attempt_log_fleet(&attempt_log, FLEET_VERDICT_DENIED);
	attempt_log_fleet(&attempt_log, FLEET_VERDICT_GRANTED);
	EQUAL("latest", attempt_log_latest(&attempt_log)->fleet,
	    FLEET_VERDICT_GRANTED);
	attempt_log_add(&attempt_log);
	attempt_log_fleet(&attempt_log, FLEET_VERDICT_DENIED);
	EQUAL("denied", attempt_log.fleet[FLEET_VERDICT_DENIED], 2);
	EQUAL("granted", attempt_log.fleet[FLEET_VERDICT_GRANTED], 1);
	EQUAL("alone", attempt_log.fleet[FLEET_VERDICT_ALONE], 0);
}

int
main(void)
{
	static void (*const tests[])(void) = {
		test_an_empty_log,
		test_a_new_entry_has_nothing_of_an_old_one,
		test_the_first_and_the_last_are_kept,
		test_what_was_slept_saturates,
		test_each_verdict_of_the_fleet_counts_once,
	};

	return unit_run(tests, LENGTH(tests));
}
