/*
 * figure: what storms have come to, as a table and words, and whether they miss
 * a bar.
 */
#ifndef FIGURE_H
#define FIGURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include "scenario.h"
#include "tally.h"

/* One run. */
struct result {
	const struct scenario *scenario;
	const struct variant *variant;
	const char *name; /* in the table, if it is not the variant's */
	struct totals totals;
	/* Of the fleet's server, if it was asked. */
	struct {
		int64_t questions, peak; /* all, and the most in a second */
		int64_t awaited, silent; /* of a process that waits, and those
					    without an answer in time */
		int64_t told, served; /* successes, and all that there were */
		int64_t open; /* connections at most */
		nanos cpu; /* time of a real one */
	} asked;
};

/*
 * Prints a text, cells with tabs between them, as columns: the first one
 * aligned to the left, and one that has nothing but its two lines of heading
 * left out.
 */
void figure_columns(const char *text);

/* A row for each result. */
void figure_table(const struct result *results, size_t count);

/* Whether the last one of some results keeps to its bars. Says each bar, and
 * what it is compared with. */
bool figure_judge(const struct result *results, size_t count);

/* "8,468", at least 0; "0.35s", "15.2s"; "never". A text lasts for ten more
 * calls. */
const char *figure_count(int64_t value);
const char *figure_time(nanos time);

/* NANOS_MAX: infinity. */
double figure_seconds(nanos time);

#endif
