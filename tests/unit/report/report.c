/*
 * report: which attempts are kept, however many there were, and what is summed
 * up over all of them.
 */
#include "unit.h"
#include "report/report.h"
#include "text/number.h"

#define FIRST REPORT_FIRST
#define KEPT (REPORT_FIRST + REPORT_LAST)

static const struct policy policy;
static const struct trace trace;
static struct history history;
static struct report report;

/* An attempt that ends with this status at once, before a wait. */
static void add(int status) {
	history.last = (struct outcome){ .end = END_EXITED, .code = status };
	report_attempt(&report, &(struct step){ .again = true }, 0);
}

/* A report of count attempts. Number n ends with status n % 256, and is
 * followed by a wait of n ns, but for the last one. */
static void fill(int64_t count) {
	history = (struct history){ .judgement = { .rule = "old" } };
	memset(&report, 0, sizeof report);
	memset(report.entries, 0xff, sizeof report.entries);
	report.policy = &policy;
	report.history = &history;
	report.trace = &trace;
	for (int64_t n = 1; n <= count; n++) {
		add((int)(n % 256));
		if (n < count)
			report_wake(&report, n);
	}
}

/* What is said about the fleet before the next attempt. */
static void ask(enum host_decision decision, enum admission_answer answer) {
	report_admission(&report,
	    &(struct admission){ .fleet = { .decision = decision }, .answer = answer });
}

TEST(an_empty_report) {
	fill(0);
	report_wake(&report, 7);
	EQUAL("empty", report.count, 0);
	EQUAL("empty", report.slept, 0);
	HOLDS("empty", report_entry(&report, 0) == NULL);
}

TEST(a_new_entry_has_nothing_of_an_old_one) {
	const struct entry *entry;

	fill(KEPT);
	history.judgement = (struct judgement){ .rule = "new" };
	add(0);
	entry = report_entry(&report, KEPT - 1);
	EQUAL("new", entry->attempt, KEPT + 1);
	EQUAL("new", entry->outcome.code, 0);
	EQUAL("new", entry->planned, 0);
	EQUAL("new", entry->slept, -1);
	SAME("new", entry->judgement.rule, "new");
	HOLDS("new", !entry->budget_exhausted);
	EQUAL("new", entry->fleet, HOST_UNASKED);
	report_attempt(&report, &(struct step){ .delay = 5 }, 0);
	EQUAL("the end", report_entry(&report, KEPT - 1)->planned, -1);
	report_wake(&report, 7);
	EQUAL("the end", report_entry(&report, KEPT - 1)->slept, -1);
}

TEST(failures_in_a_row_count_from_the_last_other_verdict) {
	static const struct {
		enum verdict verdict;
		int64_t failed;
	} rows[] = { { VERDICT_RETRY, 0 }, { VERDICT_RETRY, 1 }, { VERDICT_REPEAT, 2 },
		{ VERDICT_RETRY, 0 }, { VERDICT_DONE, 1 } };

	fill(0);
	for (size_t i = 0; i < LENGTH(rows); i++) {
		history.judgement.verdict = rows[i].verdict;
		add(1);
		EQUAL("row", report_entry(&report, (int)i)->failed, rows[i].failed);
	}
}

/* The first 10 and the last 90, in their order. */
TEST(the_first_and_the_last_are_kept) {
	static const int64_t counts[] = { 1, 2, FIRST - 1, FIRST, FIRST + 1, KEPT - 1, KEPT,
		KEPT + 1, 150, KEPT + REPORT_LAST - 1, KEPT + REPORT_LAST, KEPT + REPORT_LAST + 1,
		1000, 12345 };

	for (size_t c = 0; c < LENGTH(counts); c++) {
		int64_t count = counts[c];
		int64_t lost = count > KEPT ? count - KEPT : 0;
		const struct entry *entry;
		char row[NUMBER_ROOM];
		int i = 0;

		number_put(row, count);
		fill(count);
		EQUAL(row, report.count, count);
		for (; (entry = report_entry(&report, i)) != NULL; i++) {
			int64_t n = i < FIRST ? i + 1 : lost + i + 1;

			EQUAL(row, entry->attempt, n);
			EQUAL(row, entry->outcome.code, n % 256);
		}
		EQUAL(row, i, count - lost);
		EQUAL(row, report.slept, count * (count - 1) / 2);
	}
}

TEST(what_was_slept_saturates) {
	fill(1);
	report_wake(&report, NANOS_MAX - 1);
	EQUAL("long", report.slept, NANOS_MAX - 1);
	report_wake(&report, NANOS_MAX);
	EQUAL("over already", report.slept, NANOS_MAX - 1);
	add(1);
	report_wake(&report, 5);
	EQUAL("longer", report.slept, NANOS_MAX);
	add(1);
	report_wake(&report, 0);
	EQUAL("the same", report.slept, NANOS_MAX);
}

TEST(each_verdict_of_the_fleet_counts_once) {
	fill(0);
	ask(HOST_DENIED, ADMISSION_BUDGET);
	EQUAL("before the first", report.fleet[HOST_DENIED], 0);
	add(1);
	ask(HOST_WAIT, ADMISSION_PENDING);
	EQUAL("open", report_entry(&report, 0)->fleet, HOST_UNASKED);
	ask(HOST_DENIED, ADMISSION_BUDGET);
	ask(HOST_DENIED, ADMISSION_BUDGET);
	ask(HOST_UNASKED, ADMISSION_GRANTED);
	EQUAL("nobody asked it", report.fleet[HOST_GRANTED], 0);
	ask(HOST_GRANTED, ADMISSION_BUDGET);
	EQUAL("not by the window", report.fleet[HOST_GRANTED], 0);
	ask(HOST_GRANTED, ADMISSION_GRANTED);
	EQUAL("latest", report_entry(&report, 0)->fleet, HOST_GRANTED);
	HOLDS("denied", report_entry(&report, 0)->budget_exhausted);
	add(1);
	ask(HOST_ALONE, ADMISSION_BUDGET);
	EQUAL("no share", report.fleet[HOST_ALONE], 0);
	ask(HOST_ALONE, ADMISSION_GRANTED);
	ask(HOST_DENIED, ADMISSION_GRANTED);
	EQUAL("denied", report.fleet[HOST_DENIED], 2);
	EQUAL("granted", report.fleet[HOST_GRANTED], 1);
	EQUAL("alone", report.fleet[HOST_ALONE], 1);
}
