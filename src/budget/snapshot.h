/*
 * snapshot: the state and totals of a budget, read without changing its
 * segment.
 *
 * The segment is not trusted: for any contents of its words, the numbers here
 * are 0 or more, or SNAPSHOT_NONE.
 */
#ifndef SNAPSHOT_H
#define SNAPSHOT_H

#include <stdbool.h>
#include "budget/segment.h"

/* Stands for a number that does not exist at present. */
#define SNAPSHOT_NONE (-1)

struct snapshot {
	char file[SEGMENT_NAME]; /* its name in the directory, if known */
	char key[SEGMENT_KEY];
	size_t length; /* of the key */
	bool idle; /* to remove the segment would change nothing */
	int64_t retries, successes; /* in the window */
	int64_t limit, left; /* of retries */
	nanos next; /* until a retry is allowed; NONE: only after a success */
	nanos window;
	nanos cooldown; /* what is left of the pause after a denial */
	nanos held; /* what is left of a server's hold */
	int64_t ratio, min; /* as in struct terms */
	/* Since the segment was made. */
	int64_t all_firsts, all_successes, all_denied;
	int64_t all_retries; /* granted by the window */
	int64_t all_probes, all_turns; /* retries admitted by the breaker */
	int64_t all_limited; /* retries after a limit of a server */
	int64_t all_throttled; /* attempts that waited for a hold */
	int64_t all_rescued; /* invocations that a retry made succeed */
	int64_t all_gave_up; /* invocations that wanted another attempt */
	int64_t all_attempts; /* firsts, and retries of all kinds */
	int64_t amplification; /* attempts / firsts in millionths, or NONE */
	bool guarded; /* somebody has asked the breaker */
	int64_t breaker; /* enum breaker_state */
	int64_t failures; /* in a row */
	nanos probe; /* breaker_view's next; NONE unless open or half-open */
	int64_t rate; /* breaker_view's rate; NONE unless recovering */
	int64_t hosts; /* that share the budget, if it is a fleet's; or NONE */
	struct host_view fleet; /* what this host knows of its fleet */
};

/* No number exists: nothing is known of the budget of key. */
void snapshot_clear(struct snapshot *snapshot, const char *key);

/* Whether anything is known of the budget. */
bool snapshot_is_known(const struct snapshot *snapshot);

/*
 * Fills in all but file. now is on CLOCK_BOOTTIME. False if the limits or the
 * window are corrupt: then read the clock and try once more, as with
 * WINDOW_CORRUPT.
 */
bool snapshot_take(struct snapshot *snapshot, const struct segment *segment,
    const struct header *header, nanos now);

/* For qsort: by key, then by file. */
int snapshot_compare(const void *a, const void *b);

#endif
