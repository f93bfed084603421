/*
 * countdown: on a terminal, and only there, what is left of a long wait, on one
 * line that is gone when the wait is over.
 */
#ifndef COUNTDOWN_H
#define COUNTDOWN_H

#include <stdbool.h>
#include "text/duration.h"
#include "output/log.h"
#include "policy/policy.h"

struct progress {
	struct lines *lines;
	enum showing showing; /* NEVER as well where it cannot be */
	bool shown; /* it stands there */
	/* On CLOCK_BOOTTIME: when to look again; NANOS_MAX: never. */
	nanos next;
};

/* Looks what is wanted, but not yet at any terminal. */
void progress_open(struct progress *progress, const struct policy *policy,
    struct lines *lines);

/*
 * Shows that the attempt with this label ("2/4") begins in left, where that is
 * over a second to begin with.
 */
void progress_show(struct progress *progress, const char *label, nanos left);

/* The lesser of nap and the time until progress_show has something to do. */
nanos progress_nap(const struct progress *progress, nanos nap);

/* Clears what is shown. To be called before any line is said. */
void progress_clear(struct progress *progress);

#endif
