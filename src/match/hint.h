/*
 * hint: finds how long to wait, as the lines of a stream tell it in words.
 *
 * A hint is a duration (duration.h) directly behind a match of a pattern, such
 * as "20s" behind "try again in ". Chunks may be cut anywhere, and memory is
 * this struct. Where a match may end in several places, as with "after:?", each
 * of them counts. Within a duration no other one begins.
 */
#ifndef HINT_H
#define HINT_H

#include <stdbool.h>
#include <stddef.h>
#include "match/pattern.h"
#include "text/duration.h"

/* As large as its pattern, and to be allocated like that. */
struct hint {
	struct pattern pattern; /* compiled by the caller */
	struct duration_reader reader; /* private, as last is */
	unsigned char last; /* the byte before the next one */
	bool given; /* there was a hint in this stream */
	nanos wait; /* by the last one */
};

/* Begins a new stream. */
void hint_start(struct hint *hint);

/* The next bytes of the stream. Returns after some milliseconds how many it has
 * taken, one at least. */
size_t hint_feed(struct hint *hint, const void *bytes, size_t length);

/* The stream ends here, and with it its last line. */
void hint_end(struct hint *hint);

#endif
