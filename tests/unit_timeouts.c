/*
 * timeouts: which attempt has which limit, and what all limits add up to.
 */
#include "unit.h"
#include "policy/timeouts.h"

static const struct row {
	const char *name;
	struct timeouts timeouts;
	int64_t attempt; /* the last one of those that are summed */
	nanos limit; /* of that attempt */
	bool any, all;
	nanos sum;
} table[] = {
	{ "none is given", { { 0 }, 0 }, 1, 0, false, false, NANOS_MAX },
	{ "0 is none", { { 0 }, 1 }, 3, 0, false, false, NANOS_MAX },
	{ "one for all, first", { { 7 }, 1 }, 1, 7, true, true, 7 },
	{ "one for all, third", { { 7 }, 1 }, 3, 7, true, true, 21 },
	{ "a list, first", { { 1, 3, 6 }, 3 }, 1, 1, true, true, 1 },
	{ "a list, second", { { 1, 3, 6 }, 3 }, 2, 3, true, true, 4 },
	{ "a list, last", { { 1, 3, 6 }, 3 }, 3, 6, true, true, 10 },
	{ "the last repeats", { { 1, 3, 6 }, 3 }, 5, 6, true, true, 22 },
	{ "it may shrink", { { 6, 3 }, 2 }, 4, 3, true, true, 15 },
	{ "0 within", { { 1, 0, 6 }, 3 }, 3, 6, true, false, NANOS_MAX },
	{ "before the 0", { { 1, 0 }, 2 }, 1, 1, true, true, 1 },
	{ "0 repeats", { { 1, 0 }, 2 }, 9, 0, true, false, NANOS_MAX },
	{ "the sum saturates", { { NANOS_MAX - 1, 2 }, 2 }, 2, 2, true, true,
	    NANOS_MAX },
	{ "many saturate", { { 2 }, 1 }, INT64_MAX - 1, 2, true, true,
	    NANOS_MAX },
};

static void
test_limits(void)
{
	for (size_t i = 0; i < LENGTH(table); i++) {
		const struct row *row = &table[i];
		const struct timeouts *timeouts = &row->timeouts;

		EQUAL(
		    row->name, timeouts_of(timeouts, row->attempt), row->limit);
		EQUAL(row->name, timeouts_any(timeouts), row->any);
		EQUAL(
		    row->name, timeouts_all(timeouts, row->attempt), row->all);
		EQUAL(
		    row->name, timeouts_sum(timeouts, row->attempt), row->sum);
	}
}

static void (*const tests[])(void) = {
	test_limits,
};

int
main(void)
{
	return unit_run(tests, LENGTH(tests));
}
