/*
 * hint: finds how long to wait, as the lines of a stream tell it in words.
 *
 * A hint is a time directly behind a match of a pattern, such as "20s" behind
 * "try again in ". Blanks, quotes and "~" may be before it. It is one of these:
 *
 *	20s, 1.5 seconds, 6m0s	numbers with units, the larger unit first
 *	20			a number; from 1e9 seconds on, a moment in Unix
 *				time
 *	2026-11-22T10:00:00Z	a moment (date.h)
 *
 * Not a hint: a number that a word which is no unit follows, or that may be a
 * part of something else, such as of a time of day, or "50%".
 *
 * Chunks may be cut anywhere, and memory is this struct. Where a match may end
 * in several places, as with "after:?", each of them counts. Within a time that
 * begins with a number no other one begins.
 */
#ifndef HINT_H
#define HINT_H

#include <stdbool.h>
#include <stddef.h>
#include "match/pattern.h"
#include "text/duration.h"
#include "text/strview.h"

/* The most bytes of a hint: no date has more. */
#define HINT_TIME 64

/* As large as its pattern, and to be allocated like that. */
struct hint {
	struct pattern pattern; /* compiled by the caller */
	nanos unit; /* of a number alone, set by the caller */
	/* From here on private: */
	bool reads; /* a hint may begin, or go on, at the next byte */
	unsigned char last; /* the byte before the next one */
	size_t length, told; /* of these texts */
	char text[HINT_TIME]; /* what follows a match */
	char time[HINT_TIME]; /* the last hint, with the bytes behind it */
};

/* Begins a new stream. */
void hint_start(struct hint *hint);

/* The next bytes of the stream. Returns after some milliseconds how many it has
 * taken, one at least. */
size_t hint_feed(struct hint *hint, const void *bytes, size_t length);

/*
 * The stream ends here, and with it its last line. True if there was a hint:
 * *wait is that of the last one, from now on, in nanoseconds of Unix time.
 */
bool hint_end(struct hint *hint, nanos now, nanos *wait);

#endif
