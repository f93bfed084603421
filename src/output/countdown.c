#include "output/countdown.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include "sys/sys.h"
#include "text/number.h"

/* Of a terminal that does not say how wide it is. */
#define COLUMNS 80

/* To the first column; the rest of the line away. ECMA-48: CR, EL. */
#define RETURN "\r"
#define ERASE "\033[K"

void
countdown_open(
    struct countdown *countdown, const struct policy *policy, struct log *log)
{
	bool bare = policy->loudness != LOUDNESS_QUIET && !policy->hold_err &&
	    policy->log_format == LOG_TEXT;

	countdown->log = log;
	countdown->showing = bare ? policy->progress : SHOWING_NEVER;
	countdown->shown = false;
	countdown->next = NANOS_MAX;
}

/* Whether there is a terminal that is meant for us and can erase. */
static bool
possible(enum showing showing)
{
	const char *kind = getenv("TERM");

	if (!isatty(STDERR_FILENO) || kind == NULL || kind[0] == '\0' ||
	    strcmp(kind, "dumb") == 0)
		return false;
	/* Runners of jobs have terminals, too, and write down what comes. */
	return showing == SHOWING_ALWAYS || getenv("CI") == NULL;
}

/* A job in the background stays out of what a person types meanwhile. */
static bool
in_front(const struct countdown *countdown)
{
	return countdown->showing == SHOWING_ALWAYS ||
	    tcgetpgrp(STDERR_FILENO) == getpgrp();
}

/* How finely a time is shown. */
static nanos
grain(nanos left)
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

/* Puts it over what is there; but not behind what the terminal does not take.
 */
static void
draw(struct countdown *countdown, const char *label, nanos left)
{
	char room[DURATION_ROOM];
	const char *span = duration_format(room, left);

	if (countdown->log->length > 0 ||
	    !fits(STRINGS("retry: attempt ", label, " in ", span)))
		return;
	log_put(countdown->log,
	    STRINGS(RETURN, "retry: attempt ", label, " in ", span, ERASE));
	countdown->shown = true;
}

void
countdown_show(struct countdown *countdown, const char *label, nanos left)
{
	nanos now, step = grain(left), rest;

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
	/* For good: the terminal may have gone while it stood there. */
	if (!possible(countdown->showing)) {
		countdown->showing = SHOWING_NEVER;
		countdown->shown = false;
		countdown->next = NANOS_MAX;
		return;
	}
	/* Up to a whole step, so that it never says 0s. */
	rest = left % step == 0 ? step : left % step;
	countdown->next = number_add(now, rest);
	if (in_front(countdown))
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
	if (countdown->shown && in_front(countdown))
		log_put(countdown->log, STRINGS(RETURN, ERASE));
	countdown->shown = false;
	countdown->next = NANOS_MAX;
}
