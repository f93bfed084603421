/*
 * Checks that count, and say what failed; and the tests of a program.
 *
 *     HOLDS(row, value)       value is true
 *     EQUAL(row, got, want)   two whole numbers are equal
 *     SAME(row, got, want)    two strings are equal, or both NULL
 *     ALIKE(rows, show)       rows of texts, char *const rows[][N]: the first
 *                             of a row is what show makes of each other one
 *
 *     TEST(name) { ... }      a test, which runs behind those above it
 *     TEST_ROWS(name) { ... } one that runs for each text, row, of array name
 *
 * row says to which row of a table the check belongs. What fails is told with the
 * file and line that have the row.
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
void unit_alike(struct unit_place at, const char *const *texts, size_t most,
    const char *(*show)(const char *text));

/*
 * Reads a member of a line of JSON into room, which is large enough: a number, or
 * a text without its escapes; empty if there is none. Returns its length.
 */
size_t unit_member(const char *line, const char *name, char *room);

#define UNIT_PLACE(row, what) ((struct unit_place){ __FILE__, __LINE__, row, what })
#define HOLDS(row, value) unit_holds(UNIT_PLACE(row, #value), value)
#define EQUAL(row, got, want) unit_equal(UNIT_PLACE(row, #got), got, want)
#define SAME(row, got, want) unit_same(UNIT_PLACE(row, #got), got, want)
#define ALIKE(rows, show) \
	for (size_t unit_i = 0; unit_i < LENGTH(rows); unit_i++) \
	unit_alike(UNIT_PLACE(NULL, #show), rows[unit_i], LENGTH(*(rows)), show)

/* A test, in the list of all tests of a program. */
struct unit_test {
	const char *file;
	int line;
	void (*run)(void);
	struct unit_test *next;
};

void unit_add(struct unit_test *test);

/* The row to which checks belong whose own row is not in the source; NULL: none. */
void unit_begin_row(const char *file, const char *row);

#define TEST(name) \
	static void test_##name(void); \
	static void __attribute__((constructor)) add_##name(void) { \
		static struct unit_test test = { __FILE__, __LINE__, test_##name, NULL }; \
\
		unit_add(&test); \
	} \
	static void test_##name(void)

#define TEST_ROWS(name) \
	static void check_##name(const char *row); \
	TEST(name) { \
		for (size_t i = 0; i < LENGTH(name); i++) { \
			unit_begin_row(__FILE__, name[i]); \
			check_##name(name[i]); \
		} \
		unit_begin_row(NULL, NULL); \
	} \
	static void check_##name(const char *row)

/*
 * Runs the tests of files whose paths contain one of the words, or all of them,
 * and prints the totals; what main() returns.
 */
int unit_run(char **words);

/* How many checks have failed so far. */
int unit_failures(void);

#endif
