/*
 * countdown: shows on a terminal how long a wait still takes.
 *
 * The countdown is one line, which is erased when the wait is over. If standard
 * error is not a terminal, nothing is shown.
 */
#ifndef COUNTDOWN_H
#define COUNTDOWN_H

#include <stdbool.h>
#include "text/duration.h"
#include "output/log.h"
#include "policy/policy.h"

struct countdown {
	struct log *log;
	enum showing showing; /* SHOWING_NEVER also if it is not possible */
	bool shown; /* the line is on the terminal */
	/* When the line changes, on CLOCK_BOOTTIME; NANOS_MAX: no wait. */
	nanos next;
};

/* Sets up what the policy asks for. The terminal is not examined yet. */
void countdown_open(
    struct countdown *countdown, const struct policy *policy, struct log *log);

/*
 * Shows that the attempt with this label ("2/4") begins in left. A wait that
 * was never longer than a second is not shown, and while messages are held, one
 * of a tenth of a second.
 */
void countdown_show(struct countdown *countdown, const char *label, nanos left);

/* The lesser of nap and the time until countdown_show has to be called. */
nanos countdown_nap(const struct countdown *countdown, nanos nap);

/* Erases the line. Call this before any line of the log. */
void countdown_clear(struct countdown *countdown);

#endif
