/*
 * figure: the totals of storms as a table, and their numbers as words.
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
void figure_table(FILE *out, const struct scenario *scenario,
    const struct result *results, size_t count);

/* Into room, which is returned: "8,468"; "0.35s", "15.2s"; "never". */
#define FIGURE_ROOM 32
char *figure_count(char room[FIGURE_ROOM], int64_t value);
char *figure_time(char room[FIGURE_ROOM], nanos time);

#endif
