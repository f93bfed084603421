/*
 * snapshot: what a budget has come to, read from its segment without changing
 * it. Nothing there is trusted: whatever the words hold, the numbers here are
 * 0 or more, unless it says otherwise.
 */
#ifndef SNAPSHOT_H
#define SNAPSHOT_H

#include <stdbool.h>
#include "budget/segment.h"

/* For a number that is not there. */
#define SNAPSHOT_NONE (-1)

struct snapshot {
	char file[SEGMENT_NAME]; /* its name in the directory, if known */
	char key[SEGMENT_KEY];
	size_t length; /* of the key */
	bool idle; /* nobody would miss it */
	int64_t retries, successes; /* in the window */
	int64_t limit, left; /* of retries */
	nanos
	    next; /* until one is allowed; SNAPSHOT_NONE: never, as it stands */
	nanos window;
	nanos cooldown; /* what is left of it */
	int64_t ratio, min; /* as in struct window_limits */
	/* Since the segment was made. */
	int64_t all_firsts, all_successes, all_denied;
	int64_t all_retries; /* that the allowance paid for */
	int64_t all_probes, all_turns; /* retries that the breaker let in */
	int64_t all_attempts; /* firsts and retries of each kind */
	int64_t
	    amplification; /* attempts a first one, in millionths, or NONE */
	int64_t breaker; /* enum breaker_state */
	int64_t failures; /* in a row */
	nanos
	    probe; /* struct breaker_view's next; NONE where none is to come */
	int64_t rate; /* the same; NONE where it is not recovering */
};

/*
 * Fills in all but the file. False if there is no sense in the limits or in the
 * ring, and so nobody can use them; that is to be believed only the second
 * time, as WINDOW_SPOILT is. now: CLOCK_BOOTTIME.
 */
bool snapshot_take(struct snapshot *snapshot, const struct segment *segment,
    const struct header *header, nanos now);

/* Orders them by key, as qsort asks. */
int snapshot_compare(const void *a, const void *b);

#endif
