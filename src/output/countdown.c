#include "output/countdown.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include "sys/sys.h"
#include "text/number.h"

/* The width that is assumed where the terminal does not report one. */
#define COLUMNS 80

/* To the first column; erase the rest of the line: ECMA-48, CR and EL. */
#define RETURN "\r"
#define ERASE "\033[K"

void
countdown_open(
    struct countdown *countdown, const struct policy *policy, struct log *log)
{
	bool allowed = policy->loudness != LOUDNESS_QUIET &&
	    !policy->hold_err && policy->log_format == LOG_TEXT;

	countdown->log = log;
	countdown->showing = allowed ? policy->progress : SHOWING_NEVER;
	countdown->shown = false;
	countdown->next = NANOS_MAX;
}

/* Whether standard error is a terminal that can erase a line. */
static bool
is_possible(enum showing showing)
{
	const char *kind = getenv("TERM");

	if (!isatty(STDERR_FILENO) || kind == NULL || kind[0] == '\0' ||
	    strcmp(kind, "dumb") == 0)
		return false;
	/* A CI runner may give the job a terminal, but it logs each write. */
	return showing == SHOWING_ALWAYS || getenv("CI") == NULL;
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

/* How long the time that is shown stays the same. */
static nanos
step_of(nanos left)
{
	if (left > NANOS_DAY)
		return NANOS_HOUR;
	return left > NANOS_HOUR ? NANOS_MINUTE : NANOS_SECOND;
}

static bool
fits(const char *const strings[])
{
	struct winsize size;
	size_t columns = COLUMNS, length = 0;

	if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
		columns = size.ws_col;
	for (; *strings != NULL; strings++)
		length += strlen(*strings);
	return length < columns;
}

/*
 * Draws the line over the last one, unless lines of the log still wait to be
 * written. The cursor stays in the first column, so that a line of another
 * process, such as another retry of "make -j", is written over the countdown
 * and not behind it.
 */
static void
draw(struct countdown *countdown, const char *label, nanos left)
{
	char room[DURATION_ROOM];
	const char *span = duration_format(room, left);
	const char *command = countdown->log->policy->label;
	const char *colon = command == NULL ? "" : ": ";

	if (command == NULL)
		command = "";
	if (countdown->log->length > 0 ||
	    !fits(STRINGS(
		"retry: ", command, colon, "attempt ", label, " in ", span)))
		return;
	log_put(countdown->log,
	    STRINGS(RETURN, "retry: ", command, colon, "attempt ", label,
		" in ", span, ERASE, RETURN));
	countdown->shown = true;
}

void
countdown_show(struct countdown *countdown, const char *label, nanos left)
{
	nanos now, step = step_of(left), rest;

	if (countdown->showing == SHOWING_NEVER ||
	    (left <= NANOS_SECOND && countdown->next == NANOS_MAX))
		return;
	if (left <= 0) {
		countdown_clear(countdown);
		return;
	}
	now = sys_now(CLOCK_BOOTTIME);
	if (countdown->next != NANOS_MAX && now < countdown->next)
		return;
	/* No countdown any more in this invocation: the terminal may be gone.
	 */
	if (!is_possible(countdown->showing)) {
		countdown->showing = SHOWING_NEVER;
		countdown->shown = false;
		countdown->next = NANOS_MAX;
		return;
	}
	/* Rounded up to a whole step, so that "0s" is never shown. */
	rest = left % step == 0 ? step : left % step;
	countdown->next = number_add(now, rest);
	if (is_foreground(countdown))
		draw(countdown, label, number_add(left - rest, step));
	else
		countdown->shown = false;
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
		log_put(countdown->log, STRINGS(RETURN, ERASE));
	countdown->shown = false;
	countdown->next = NANOS_MAX;
}
