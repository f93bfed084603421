#include "output/progress.h"

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

/* The fewest bytes of a label that is cut to the width of the terminal. */
#define SHORTEST 8

/* Too short to be read. */
#define BLINK (100 * NANOS_MS)

/* To the first column; erase the rest of the line: ECMA-48, CR and EL. */
#define RETURN "\r"
#define ERASE "\033[K"

void
progress_open(
    struct progress *progress, const struct policy *policy, struct log *log)
{
	bool allowed = policy->loudness != LOUDNESS_QUIET && !policy->chronic &&
	    policy->log_format == LOG_TEXT;

	progress->log = log;
	progress->showing = allowed ? policy->progress : SHOWING_NEVER;
	progress->shown = false;
	progress->next = NANOS_MAX;
}

/*
 * Whether retry is in the foreground: a background job must not write over what
 * the user types meanwhile.
 */
static bool
is_foreground(const struct progress *progress)
{
	return progress->showing == SHOWING_ALWAYS ||
	    tcgetpgrp(STDERR_FILENO) == getpgrp();
}

void
progress_show(
    struct progress *progress, const char *what, const char *label, nanos left)
{
	nanos step = left > NANOS_DAY ? NANOS_HOUR
	    : left > NANOS_HOUR       ? NANOS_MINUTE
				      : NANOS_SECOND;
	const char *name = progress->log->policy->label;
	const char *kind = getenv("TERM");
	char line[PIPE_BUF], span[DURATION_ROOM];
	struct winsize size;
	/* Where messages are held, nothing else tells of a short wait. */
	nanos least = progress->log->policy->hold_err ? BLINK : NANOS_SECOND;
	nanos now, rest;
	int columns = COLUMNS, wide = (int)strlen(label), over = 0;

	if (progress->showing == SHOWING_NEVER ||
	    (left <= least && progress->next == NANOS_MAX))
		return;
	if (left <= 0) {
		progress_clear(progress);
		return;
	}
	now = sys_now(CLOCK_BOOTTIME);
	if (progress->next != NANOS_MAX && now < progress->next)
		return;

	/*
	 * Only a terminal can erase a line. A CI runner may give the job one,
	 * but it logs each write. If the terminal is gone, there is no
	 * countdown any more in this invocation.
	 */
	if (!isatty(STDERR_FILENO) || kind == NULL || kind[0] == '\0' ||
	    strcmp(kind, "dumb") == 0 ||
	    (progress->showing != SHOWING_ALWAYS && getenv("CI") != NULL)) {
		progress->showing = SHOWING_NEVER;
		progress->shown = false;
		progress->next = NANOS_MAX;
		return;
	}

	/* Rounded up to a whole step, so that "0s" is never shown. */
	rest = left % step == 0 ? step : left % step;
	progress->next = number_add(now, rest);
	if (!is_foreground(progress)) {
		progress->shown = false;
		return;
	}

	/*
	 * The line is drawn over the last one, unless lines of the log still
	 * wait to be written. The cursor stays in the first column, so that a
	 * line of another process, such as another retry of "make -j", is
	 * written over the countdown and not behind it.
	 */
	if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
		columns = size.ws_col;
	duration_format(span, number_add(left - rest, step));
	do {
		wide -= over;
		while (wide > 0 && (label[wide] & 0xc0) == 0x80)
			wide--;
		over = snprintf(line, sizeof line,
			   RETURN "retry: %s%s%s%.*s%s in %s" ERASE RETURN,
			   name == NULL ? "" : name, name == NULL ? "" : ": ",
			   what, wide, label, label[wide] == '\0' ? "" : "...",
			   span) -
		    (int)(sizeof RETURN ERASE RETURN - 1) - (columns - 1);
	} while (over > 0 && wide - over >= SHORTEST);
	if (progress->log->length > 0 || over > 0)
		return;
	log_put(progress->log, line);
	progress->shown = true;
}

nanos
progress_nap(const struct progress *progress, nanos nap)
{
	if (progress->next == NANOS_MAX)
		return nap;
	return number_lesser(nap, progress->next - sys_now(CLOCK_BOOTTIME));
}

void
progress_clear(struct progress *progress)
{
	if (progress->shown && is_foreground(progress))
		log_put(progress->log, RETURN ERASE);
	progress->shown = false;
	progress->next = NANOS_MAX;
}
