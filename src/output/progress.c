#include "output/progress.h"

#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include "sys/sys.h"
#include "text/escape.h"
#include "text/number.h"

/* The width that is assumed where the terminal does not report one. */
#define COLUMNS 80

/* Too short to be read. */
#define BLINK (100 * NANOS_MS)

/* To the first column; erase the rest of the line: ECMA-48, CR and EL. */
#define RETURN "\r"
#define ERASE "\033[K"

/* systemctl shows the status on one line, so a longer status is cut. */
#define STATUS_ROOM 512

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
progress_show(struct progress *progress, const char *label, nanos left)
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
	int columns = COLUMNS, length;

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
	length = snprintf(line, sizeof line,
	    RETURN "retry: %s%sattempt %s in %s" ERASE RETURN,
	    name == NULL ? "" : name, name == NULL ? "" : ": ", label,
	    duration_format(span, number_add(left - rest, step)));
	if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
		columns = size.ws_col;
	if (progress->log->length > 0 || length >= (int)sizeof line ||
	    length - (int)(sizeof RETURN ERASE RETURN - 1) >= columns)
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

void
progress_tell(const char *const strings[])
{
	static const char prefix[] = "STATUS=";
	char status[STATUS_ROOM], *at = status + sizeof prefix - 1;
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	const char *name = getenv("NOTIFY_SOCKET");
	size_t length = name == NULL ? 0 : strlen(name);
	int fd;

	/* A path, or an abstract name after "@". */
	if (length < 2 || length >= sizeof address.sun_path ||
	    (name[0] != '/' && name[0] != '@'))
		return;
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd == -1)
		return;
	memcpy(address.sun_path, name, length);
	if (name[0] == '@')
		address.sun_path[0] = '\0';
	length += offsetof(struct sockaddr_un, sun_path) + (name[0] == '/');
	memcpy(status, prefix, sizeof prefix - 1);
	for (; *strings != NULL; strings++)
		at = escape_put(ESCAPE_LINE, at, status + sizeof status,
		    *strings, strlen(*strings));
	sendto(fd, status, (size_t)(at - status), MSG_DONTWAIT | MSG_NOSIGNAL,
	    (const struct sockaddr *)&address, (socklen_t)length);
	close(fd);
}
