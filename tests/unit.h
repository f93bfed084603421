/*
 * What the unit programs share: checks that count, and say what failed.
 *
 *     HOLDS(row, value)       value is true
 *     EQUAL(row, got, want)   two whole numbers are equal
 *     SAME(row, got, want)    two strings are equal, or both NULL
 *
 * row says to which row of a table the check belongs.
 */
#ifndef UNIT_H
#define UNIT_H

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LENGTH(array) (sizeof(array) / sizeof(array)[0])

static int unit_passed, unit_failed;

/* Where a check is in the source, and its row. */
struct unit_place {
	const char *file;
	int line;
	const char *row, *what;
};

/* Counts a check; true if it failed and the caller has more to say of it. */
static inline bool
unit_fails(bool value, const struct unit_place *at)
{
	if (value) {
		unit_passed++;
		return false;
	}
	unit_failed++;
	printf("%s:%d: [%s] %s", at->file, at->line, at->row, at->what);
	return true;
}

static inline void
unit_holds(struct unit_place at, bool value)
{
	if (unit_fails(value, &at))
		printf(": does not hold\n");
}

static inline void
unit_equal(struct unit_place at, int64_t got, int64_t want)
{
	if (unit_fails(got == want, &at))
		printf(": got %" PRId64 ", want %" PRId64 "\n", got, want);
}

static inline void
unit_same(struct unit_place at, const char *got, const char *want)
{
	got = got == NULL ? "(none)" : got;
	want = want == NULL ? "(none)" : want;
	if (unit_fails(strcmp(got, want) == 0, &at))
		printf(": got \"%s\", want \"%s\"\n", got, want);
}

#define UNIT_PLACE(row, what) \
	((struct unit_place){ __FILE__, __LINE__, row, what })
#define HOLDS(row, value) unit_holds(UNIT_PLACE(row, #value), value)
#define EQUAL(row, got, want) unit_equal(UNIT_PLACE(row, #got), got, want)
#define SAME(row, got, want) unit_same(UNIT_PLACE(row, #got), got, want)

/* Runs all tests of a program; what its main() returns. */
static inline int
unit_run(void (*const tests[])(void), size_t count)
{
	for (size_t i = 0; i < count; i++)
		tests[i]();
	printf("unit: %d passed, %d failed\n", unit_passed, unit_failed);
	return unit_failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

#endif
