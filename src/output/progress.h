/*
 * progress: shows a countdown on a terminal.
 *
 * It is one line, which is erased when the wait is over. If standard error is
 * not a terminal, nothing is shown.
 */
#ifndef PROGRESS_H
#define PROGRESS_H

#include <stdbool.h>
#include "text/duration.h"
#include "output/log.h"
#include "policy/policy.h"

struct progress {
	struct log *log;
	enum showing showing; /* SHOWING_NEVER also if it is not possible */
	bool shown; /* the line is on the terminal */
	/* When the line changes, on CLOCK_BOOTTIME; NANOS_MAX: no wait. */
	nanos next;
};

/* Sets up what the policy asks for. The terminal is not examined yet. */
void progress_open(
    struct progress *progress, const struct policy *policy, struct log *log);

/*
 * Shows what happens in left: "attempt " to this label ("2/4"). A wait that
 * was never longer than a second is not shown, and while messages are held, one
 * of a tenth of a second.
 */
void progress_show(
    struct progress *progress, const char *what, const char *label, nanos left);

/* The lesser of nap and the time until progress_show has to be called. */
nanos progress_nap(const struct progress *progress, nanos nap);

/* Erases the line. Call this before any line of the log. */
void progress_clear(struct progress *progress);

#endif
