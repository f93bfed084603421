/*
 * rate: a number of attempts that the user allows in a time.
 *
 * In any such time at most so many attempts begin: all at once if none has
 * begun, then as places fall free. Attempts are counted in slices, rounded to
 * the safe side: a place is taken until a slice that is wholly behind it has
 * gone by, which makes at most a fiftieth more. An attempt keeps its place
 * whatever becomes of it, also if its process is killed.
 *
 * All times are ages in nanoseconds, never negative.
 */
#ifndef RATE_H
#define RATE_H

#include <stdbool.h>
#include <stdint.h>
#include "text/duration.h"
#include "text/number.h"

#define RATE_SLICES 60

/* What a user can ask for. */
#define RATE_NUMBER_MOST 1000000
#define RATE_TIME_LEAST NANOS_MS
#define RATE_TIME_MOST NANOS_DAY

/* So many attempts in this time; number 0: no limit. */
struct rate_terms {
	int64_t number;
	nanos time;
};

/* All zero: there is no limit. */
struct rate {
	struct rate_terms terms;
	int64_t slice; /* the present one, since the segment was made */
	uint32_t begun[RATE_SLICES + 1]; /* in slice n at n mod the words */
	uint32_t unused;
};

/* Room for terms, as people write them. */
#define RATE_ROOM (NUMBER_ROOM + DURATION_ROOM)

/*
 * Reads terms as people write them: "10/s", "40/5s", "5000/h"; "": no limit.
 * Returns NULL, or what is wrong.
 */
const char *rate_parse(const char *text, struct rate_terms *terms);

/* Writes them so into room, and returns it. */
char *rate_put(char room[RATE_ROOM], const struct rate_terms *terms);

/*
 * Makes the limit the smaller of those that have been asked for: the one that
 * admits fewer attempts in the long run. What has begun under another limit
 * counts as if it had begun now. Returns whether another one is in force than
 * the user's.
 */
bool rate_agree(struct rate *rate, const struct rate_terms *terms, nanos now);

/* How long until an attempt may begin; 0: it may, and is counted. */
nanos rate_take(struct rate *rate, nanos now);

/* How many places are taken. */
int64_t rate_used(const struct rate *rate, nanos now);

/* Whether no process can have written this at such an age. */
bool rate_is_corrupt(const struct rate *rate, nanos now);

#endif
