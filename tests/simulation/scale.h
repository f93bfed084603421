/*
 * scale: the axes that the runs of a scenario have in common, and what their
 * columns hold.
 */
#ifndef SCALE_H
#define SCALE_H

#include "figure.h"

struct scale {
	nanos column; /* of time: a multiple of every bin's width */
	size_t columns;
	double top; /* of the other axis, in requests per second */
	bool cut; /* some columns are higher than that */
};

/* Requests per second, on average over a column. */
struct flow {
	double served, arrived;
};

/*
 * At most so many columns, each of a round time. Columns of more than five
 * times the capacity are cut off, so that the others are high enough to be
 * seen.
 */
struct scale scale_fit(const struct scenario *scenario,
    const struct result *results, size_t count, size_t most);

struct flow
scale_flow(const struct scale *scale, const struct tally *tally, size_t column);

/* Into room, which is returned: "8,468"; "0.35s", "15.2s"; "never". */
#define SCALE_ROOM 32
char *scale_count(char room[SCALE_ROOM], int64_t value);
char *scale_time(char room[SCALE_ROOM], nanos time);

#endif
