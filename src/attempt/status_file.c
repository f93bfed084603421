#include "attempt/status_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "sys/sys.h"

bool
status_open(struct status *status, const char *path)
{
	status->path = path;
	status->fd = -1;
	status->dump = false;
	status->own.path = NULL;
	status->bytes = malloc(STATUS_MOST);
	return status->bytes != NULL;
}

bool
status_make(struct status *status)
{
	if (!status_open(status, NULL) || !handout_make(&status->own))
		return false;
	status->path = status->own.path;
	status->fd = status->own.fd;
	return true;
}

static void
say_useless(const struct status *status, struct lines *lines, const char *why)
{
	lines_say(lines, LOUDNESS_VERBOSE,
	    STRINGS("status file '", status->path, "' tells nothing: ", why));
}

/*
 * Opens the user's file, if it is a regular one. Without O_NONBLOCK a FIFO
 * would keep us; without O_NOFOLLOW a link would choose what is emptied.
 */
static int
open_regular(const struct status *status, int flags, struct lines *lines)
{
	struct stat stat;
	int fd = open(status->path,
	    flags | O_NONBLOCK | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC);

	if (fd == -1) {
		say_useless(status, lines, strerror(errno));
		return -1;
	}
	if (fstat(fd, &stat) == -1) {
		say_useless(status, lines, strerror(errno));
		close(fd);
		return -1;
	}
	if (S_ISREG(stat.st_mode))
		return fd;
	say_useless(status, lines, "not a regular file");
	close(fd);
	return -1;
}

void
status_empty(struct status *status, struct lines *lines)
{
	struct stat stat;
	int fd = status->fd;

	status->stale = false;
	if (status->path == NULL)
		return;
	/* There may be none yet; what is no file is told of once it is read,
	 * and not so much as opened for writing. */
	if (fd == -1 &&
	    (lstat(status->path, &stat) == -1 || !S_ISREG(stat.st_mode)))
		return;
	if (fd == -1)
		fd = open_regular(status, O_WRONLY, lines);
	status->stale = fd == -1;
	if (fd != -1 && ftruncate(fd, 0) == -1) {
		status->stale = true;
		say_useless(status, lines, strerror(errno));
	}
	if (fd != -1 && fd != status->fd)
		close(fd);
}

/*
 * What STATUS_MOST bytes of the file say, from an offset on. False, with errno,
 * if they cannot be read.
 */
static bool
parse(struct http *http, const struct status *status, int fd, off_t from,
    enum http_source source)
{
	ssize_t got;

	do
		got = pread(fd, status->bytes, STATUS_MOST, from);
	while (got == -1 && errno == EINTR);
	if (got == -1)
		return false;
	*http = http_parse(
	    status->bytes, (size_t)got, source, context_now(CLOCK_REALTIME));
	return true;
}

/*
 * The last response is at the end, unless its own header is that long, or what
 * is there is the body of one that the file starts with. False, with errno.
 */
static bool
parse_file(struct http *http, const struct status *status, int fd)
{
	enum http_source source =
	    status->dump ? HTTP_FROM_DUMP : HTTP_FROM_ANYBODY;
	enum http_rest rest;
	struct stat stat;
	struct http end;

	if (fstat(fd, &stat) == -1 || !parse(http, status, fd, 0, source))
		return false;
	if (stat.st_size <= STATUS_MOST)
		return true;
	rest = http_rest(status->bytes, STATUS_MOST);
	if (source == HTTP_FROM_ANYBODY && rest == HTTP_REST_BODY)
		return true;
	if (rest == HTTP_REST_HEADS)
		source = HTTP_FROM_DUMP;
	if (!parse(&end, status, fd, stat.st_size - STATUS_MOST, source))
		return false;
	if (end.known)
		*http = end;
	return true;
}

/* Says what a reader would want to know of what was read. */
static void
say_doubts(
    const struct status *status, struct lines *lines, const struct http *http)
{
	if (http->form == HTTP_EMPTY)
		say_useless(status, lines, "it is empty");
	if (http->form == HTTP_UNRECOGNISED)
		say_useless(status, lines, "in no form that is known");
	if (http->doubtful)
		lines_say(lines, LOUDNESS_VERBOSE,
		    STRINGS("status file '", status->path,
			"': a Retry-After was not understood"));
}

struct http
status_read(const struct status *status, struct lines *lines)
{
	struct http http = { .form = HTTP_EMPTY };
	struct stat there;
	int fd = status->fd;

	if (status->path == NULL)
		return http;
	http.unread = status->stale;
	if (status->stale)
		return http;
	if (fd == -1)
		fd = open_regular(status, O_RDONLY, lines);
	/* That there is none says that nobody has answered. */
	http.unread = fd == -1 && lstat(status->path, &there) == 0;
	if (fd == -1)
		return http;
	/* What cannot be read may say anything: that is not nothing. */
	if (parse_file(&http, status, fd)) {
		say_doubts(status, lines, &http);
	} else {
		http = (struct http){ .form = HTTP_EMPTY, .unread = true };
		say_useless(status, lines, strerror(errno));
	}
	if (fd != status->fd)
		close(fd);
	return http;
}

void
status_close(const struct status *status)
{
	if (status->path != NULL)
		handout_close(&status->own);
}
