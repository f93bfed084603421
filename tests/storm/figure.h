/*
 * figure: storms to look at. Requests per second over time as histograms in
 * plain characters, totals as a table, and all of it as an SVG file. The runs
 * of a scenario have one scale and one axis of time.
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
	const struct variant *variant;
	const struct tally *tally; /* NULL: only its totals are known */
	struct totals totals;
};

/* One below the other; coloured if out is a terminal and NO_COLOR not set. */
void figure_histograms(FILE *out, const struct scenario *scenario,
    const struct result *results, size_t count);

/* The physical limit and what is published for them stand beside. */
void figure_table(FILE *out, const struct scenario *scenario,
    const struct result *results, size_t count);

/* Replaces the file. False, with errno, if it cannot be written. */
bool figure_svg(const char *path, const struct scenario *scenario,
    const struct result *results, size_t count);

#endif
