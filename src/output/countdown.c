#include "output/countdown.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include "sys/sys.h"
#include "text/number.h"

/* The width that is assumed where the terminal does not report one. */
#define COLUMNS 80

/* Too short to be read. */
#define BLINK (100 * NANOS_MS)

/* To the first column; erase the rest of the line: ECMA-48, CR and EL. */
#define RETURN "\r"
#define ERASE "\033[K"

void
countdown_open(
    struct countdown *countdown, const struct policy *policy, struct log *log)
{
	bool allowed = policy->loudness != LOUDNESS_QUIET && !policy->chronic &&
	    policy->log_format == LOG_TEXT;

	countdown->log = log;
	countdown->showing = allowed ? policy->progress : SHOWING_NEVER;
	countdown->shown = false;
	countdown->next = NANOS_MAX;
}

/*
 * Whether retry is in the foreground: a background job must not write over what
 * the user types meanwhile.
 */
static bool
is_foreground(const struct countdown *countdown)
{
	return countdown->showing == SHOWING_ALWAYS ||
	    tcgetpgrp(STDERR_FILENO) == getpgrp();
}

void
countdown_show(struct countdown *countdown, const char *label, nanos left)
{
	nanos step = left > NANOS_DAY ? NANOS_HOUR
	    : left > NANOS_HOUR       ? NANOS_MINUTE
				      : NANOS_SECOND;
	const char *command = countdown->log->policy->label;
	const char *kind = getenv("TERM");
	char line[PIPE_BUF], span[DURATION_ROOM];
	struct winsize size;
	/* Where messages are held, nothing else tells of a short wait. */
	nanos least = countdown->log->policy->hold_err ? BLINK : NANOS_SECOND;
	nanos now, rest;
	int columns = COLUMNS, length;

	if (countdown->showing == SHOWING_NEVER ||
	    (left <= least && countdown->next == NANOS_MAX))
		return;
	if (left <= 0) {
		countdown_clear(countdown);
		return;
	}
	now = sys_now(CLOCK_BOOTTIME);
	if (countdown->next != NANOS_MAX && now < countdown->next)
		return;

	/*
	 * Only a terminal can erase a line. A CI runner may give the job one,
	 * but it logs each write. If the terminal is gone, there is no
	 * countdown any more in this invocation.
	 */
	if (!isatty(STDERR_FILENO) || kind == NULL || kind[0] == '\0' ||
	    strcmp(kind, "dumb") == 0 ||
	    (countdown->showing != SHOWING_ALWAYS && getenv("CI") != NULL)) {
		countdown->showing = SHOWING_NEVER;
		countdown->shown = false;
		countdown->next = NANOS_MAX;
		return;
	}

	/* Rounded up to a whole step, so that "0s" is never shown. */
	rest = left % step == 0 ? step : left % step;
	countdown->next = number_add(now, rest);
	if (!is_foreground(countdown)) {
		countdown->shown = false;
		return;
	}

	/*
	 * The line is drawn over the last one, unless lines of the log still
	 * wait to be written. The cursor stays in the first column, so that a
	 * line of another process, such as another retry of "make -j", is
	 * written over the countdown and not behind it.
	 */
	length = snprintf(line, sizeof line,
	    RETURN "retry: %s%sattempt %s in %s" ERASE RETURN,
	    command == NULL ? "" : command, command == NULL ? "" : ": ", label,
	    duration_format(span, number_add(left - rest, step)));
	if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
		columns = size.ws_col;
	if (countdown->log->length > 0 || length >= (int)sizeof line ||
	    length - (int)(sizeof RETURN ERASE RETURN - 1) >= columns)
		return;
	log_put(countdown->log, line);
	countdown->shown = true;
}

nanos
countdown_nap(const struct countdown *countdown, nanos nap)
{
	if (countdown->next == NANOS_MAX)
		return nap;
	return number_lesser(nap, countdown->next - sys_now(CLOCK_BOOTTIME));
}

void
countdown_clear(struct countdown *countdown)
{
	if (countdown->shown && is_foreground(countdown))
		log_put(countdown->log, RETURN ERASE);
	countdown->shown = false;
	countdown->next = NANOS_MAX;
}
