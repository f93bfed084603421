/*
 * Checks that count, and say what failed; and which tests a file has.
 *
 *     HOLDS(row, value)       value is true
 *     EQUAL(row, got, want)   two whole numbers are equal
 *     SAME(row, got, want)    two strings are equal, or both NULL
 *
 *     UNIT(tests);            the file has these tests
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

/* Where a check is in the source, and its row. */
struct unit_place {
	const char *file;
	int line;
	const char *row, *what;
};

void unit_holds(struct unit_place at, bool value);
void unit_equal(struct unit_place at, int64_t got, int64_t want);
void unit_same(struct unit_place at, const char *got, const char *want);

#define UNIT_PLACE(row, what) \
	((struct unit_place){ __FILE__, __LINE__, row, what })
#define HOLDS(row, value) unit_holds(UNIT_PLACE(row, #value), value)
#define EQUAL(row, got, want) unit_equal(UNIT_PLACE(row, #got), got, want)
#define SAME(row, got, want) unit_same(UNIT_PLACE(row, #got), got, want)

typedef void (*unit_test)(void);

/* A file of tests, in a list of all files of a program. */
struct unit_file {
	const char *path;
	const unit_test *tests;
	size_t count;
	struct unit_file *next;
};

void unit_add(struct unit_file *file);

#define UNIT(tests) \
	static void __attribute__((constructor)) unit_register(void) \
	{ \
		static struct unit_file file = { __FILE__, tests, \
			LENGTH(tests), NULL }; \
\
		unit_add(&file); \
	} \
	struct unit_file

/*
 * Runs the files whose paths contain one of the words, or all of them, and
 * prints the totals; what main() returns.
 */
int unit_run(char **words);

/* How many checks have failed so far. */
int unit_failures(void);

#endif
