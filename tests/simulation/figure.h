/*
 * figure: what storms have come to, as tables and words.
 */
#ifndef FIGURE_H
#define FIGURE_H

#include <stddef.h>
#include <stdio.h>
#include "scenario.h"
#include "tally.h"

/* One run. */
struct result {
	const struct variant *variant;
	const struct tally *tally; /* for the picture; or NULL */
	struct totals totals;
	int64_t questions; /* that the fleet's server was asked */
	nanos redis; /* CPU time of the fleet's server */
};

/* Has columns for the physical limit and for what was published. */
void figure_table(const struct scenario *scenario, const struct result *results,
    size_t count);

/*
 * A table of any rows. What is printed to the stream, cells with tabs between
 * them, comes out as columns at the end: the first one aligned to the left, and
 * one that has nothing but its heading, the first two lines, left out.
 */
FILE *figure_begin(void);
void figure_end(FILE *table);

/* "8,468"; "0.35s", "15.2s"; "never". A text lasts for 15 more calls. */
const char *figure_count(int64_t value);
const char *figure_time(nanos time);

/* NANOS_MAX: infinity. */
double figure_seconds(nanos time);

#endif
