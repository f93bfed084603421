#include "attempt/status_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "http/responses.h"
#include "sys/sys.h"

/* The most parts of a long file that follow() parses. */
#define PARTS_MOST 4096

bool
status_file_open(struct status_file *status, const char *path)
{
	status->path = path;
	status->fd = -1;
	status->dump = false;
	status->own.path = NULL;
	status->bytes = malloc(STATUS_FILE_MOST);
	return status->bytes != NULL;
}

bool
status_file_make(struct status_file *status)
{
	if (!status_file_open(status, NULL) || !private_file_make(&status->own))
		return false;
	status->path = status->own.path;
	status->fd = status->own.fd;
	return true;
}

static void
say_ignored(const struct status_file *status, struct log *log, const char *why)
{
	log_say(log, LOUDNESS_VERBOSE,
	    STRINGS("status file '", status->path, "' ignored: ", why));
}

/*
 * Opens the user's file, if it is a regular one. Without O_NONBLOCK a FIFO
 * would block; without O_NOFOLLOW a link would choose what is emptied.
 */
static int
open_regular(const struct status_file *status, int flags, struct log *log)
{
	struct stat stat;
	int fd = open(status->path,
	    flags | O_NONBLOCK | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC);
	bool known = fd != -1 && fstat(fd, &stat) == 0;

	if (known && S_ISREG(stat.st_mode))
		return fd;
	say_ignored(
	    status, log, known ? "not a regular file" : strerror(errno));
	if (fd != -1)
		close(fd);
	return -1;
}

void
status_file_empty(struct status_file *status, struct log *log)
{
	struct stat stat;
	int fd = status->fd;

	status->stale = false;
	if (status->path == NULL)
		return;
	/* There may be no file yet. Only a regular file is opened for writing;
	 * status_file_read() logs that another one is ignored. */
	if (fd == -1 &&
	    (lstat(status->path, &stat) == -1 || !S_ISREG(stat.st_mode)))
		return;
	if (fd == -1)
		fd = open_regular(status, O_WRONLY, log);
	status->stale = fd == -1;
	if (fd != -1 && ftruncate(fd, 0) == -1) {
		status->stale = true;
		say_ignored(status, log, strerror(errno));
	}
	if (fd != -1 && fd != status->fd)
		close(fd);
}

/*
 * Parses at most STATUS_FILE_MOST bytes of the file, from an offset on. False,
 * with errno, if they cannot be read.
 */
static bool
parse(struct http_status *http, const struct status_file *status, int fd,
    off_t from, enum http_status_source source)
{
	ssize_t got;

	do
		got = pread(fd, status->bytes, STATUS_FILE_MOST, from);
	while (got == -1 && errno == EINTR);
	if (got == -1)
		return false;
	*http = http_status_parse(
	    status->bytes, (size_t)got, source, sys_now(CLOCK_REALTIME));
	return true;
}

/*
 * Skips bodies of known length and reads the responses behind them, until there
 * is no other one. status->bytes has the first part of the file. False, with
 * errno, if the file cannot be read.
 */
static bool
follow(struct http_status *http, const struct status_file *status, int fd,
    off_t size)
{
	struct strview part = { status->bytes, STATUS_FILE_MOST };
	struct http_status next;
	off_t at = 0;

	for (int i = 0; i < PARTS_MOST; i++) {
		int64_t step = responses_next(part);

		if (step == 0 || step >= size - at)
			return true;
		at += step;
		part.length = size - at < STATUS_FILE_MOST ? (size_t)(size - at)
							   : STATUS_FILE_MOST;
		/* If the file has become shorter, the part before must not stay
		 * in the buffer. */
		memset(status->bytes, '\0', STATUS_FILE_MOST);
		if (!parse(&next, status, fd, at, HTTP_STATUS_FROM_UNKNOWN))
			return false;
		if (!responses_start(part))
			return true;
		if (next.known)
			*http = next;
	}
	/* There are too many parts, so the last response is unknown. */
	*http = (struct http_status){ .form = HTTP_STATUS_UNRECOGNISED };
	return true;
}

/*
 * Parses the file. The last response is at the end of a long file, unless its
 * head or its body is longer than STATUS_FILE_MOST. False, with errno, if the
 * file cannot be read.
 */
static bool
parse_file(struct http_status *http, const struct status_file *status, int fd)
{
	enum http_status_source source =
	    status->dump ? HTTP_STATUS_FROM_DUMP : HTTP_STATUS_FROM_UNKNOWN;
	enum http_status_rest rest;
	struct stat stat;
	struct http_status end;

	if (fstat(fd, &stat) == -1 || !parse(http, status, fd, 0, source))
		return false;
	if (stat.st_size <= STATUS_FILE_MOST)
		return true;
	rest = http_status_rest(status->bytes, STATUS_FILE_MOST);
	if (source == HTTP_STATUS_FROM_UNKNOWN && rest == HTTP_STATUS_REST_BODY)
		return follow(http, status, fd, stat.st_size);
	if (rest == HTTP_STATUS_REST_HEADS)
		source = HTTP_STATUS_FROM_DUMP;
	if (!parse(&end, status, fd, stat.st_size - STATUS_FILE_MOST, source))
		return false;
	if (end.known)
		*http = end;
	return true;
}

/* Logs what was not understood. */
static void
say_doubts(const struct status_file *status, struct log *log,
    const struct http_status *http)
{
	if (http->form == HTTP_STATUS_EMPTY)
		say_ignored(status, log, "it is empty");
	if (http->form == HTTP_STATUS_UNRECOGNISED)
		say_ignored(status, log, "unrecognised format");
	if (http->doubtful)
		log_say(log, LOUDNESS_VERBOSE,
		    STRINGS("status file '", status->path,
			"': a Retry-After was not understood"));
}

struct http_status
status_file_read(const struct status_file *status, struct log *log)
{
	struct http_status http = { .form = HTTP_STATUS_EMPTY };
	struct stat there;
	int fd = status->fd;

	if (status->path == NULL)
		return http;
	http.unread = status->stale;
	if (status->stale)
		return http;
	if (fd == -1)
		fd = open_regular(status, O_RDONLY, log);
	/* If there is no file, no client has got a response. */
	http.unread = fd == -1 && lstat(status->path, &there) == 0;
	if (fd == -1)
		return http;
	/* A file that cannot be read may contain a response. */
	if (parse_file(&http, status, fd)) {
		say_doubts(status, log, &http);
	} else {
		http = (struct http_status){ .form = HTTP_STATUS_EMPTY,
			.unread = true };
		say_ignored(status, log, strerror(errno));
	}
	if (fd != status->fd)
		close(fd);
	return http;
}

void
status_file_close(const struct status_file *status)
{
	if (status->path != NULL)
		private_file_close(&status->own);
}
