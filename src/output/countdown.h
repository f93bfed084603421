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

struct countdown {
	struct log *log;
	enum showing showing; /* NEVER as well where it cannot be */
	bool shown; /* it stands there */
	/* On CLOCK_BOOTTIME: when to look again; NANOS_MAX: never. */
	nanos next;
};

/* Looks what is wanted, but not yet at any terminal. */
void countdown_open(
    struct countdown *countdown, const struct policy *policy, struct log *log);

/*
 * Shows that the attempt with this label ("2/4") begins in left, where that is
 * over a second to begin with.
 */
void countdown_show(struct countdown *countdown, const char *label, nanos left);

/* The lesser of nap and the time until countdown_show has something to do. */
nanos countdown_nap(const struct countdown *countdown, nanos nap);

/* Clears what is shown. To be called before any line is said. */
void countdown_clear(struct countdown *countdown);

#endif
