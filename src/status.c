#include "status.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "context.h"
#include "number.h"

bool
status_open(struct status *status, const char *path)
{
	status->path = path;
	status->fd = -1;
	status->temporary = false;
	status->bytes = malloc(STATUS_MOST);
	return status->bytes != NULL;
}

static char *
append(char *at, const char *text)
{
	size_t length = strlen(text);

	memcpy(at, text, length + 1);
	return at + length;
}

/*
 * Whether path leads to the file behind fd, and can be opened. Where /proc
 * shows other processes than ours, our number is somebody else's there: to
 * open what it has could do anything.
 */
static bool
leads_to(const char *path, int fd)
{
	struct stat there, here;
	int try;

	if (stat(path, &there) == -1 || fstat(fd, &here) == -1 ||
	    there.st_dev != here.st_dev || there.st_ino != here.st_ino)
		return false;
	try = open(path, O_WRONLY | O_CLOEXEC);
	if (try == -1)
		return false;
	close(try);
	return true;
}

/* By our number, for in the command "self" is another. */
static bool
make_in_memory(struct status *status)
{
	char digits[NUMBER_ROOM], *at = status->own;

	status->fd = context_move_up(memfd_create("retry", MFD_CLOEXEC));
	if (status->fd == -1)
		return false;
	at = append(append(at, "/proc/"), number_put(digits, getpid()));
	append(append(at, "/fd/"), number_put(digits, status->fd));
	if (leads_to(status->own, status->fd))
		return true;
	close(status->fd);
	status->fd = -1;
	return false;
}

static bool
make_temporary(struct status *status)
{
	const char *directory = getenv("TMPDIR");
	static const char name[] = "/retry-XXXXXX";

	if (directory == NULL || directory[0] != '/' ||
	    strlen(directory) + sizeof name > sizeof status->own)
		directory = "/tmp";
	append(append(status->own, directory), name);
	status->fd = context_move_up(mkostemp(status->own, O_CLOEXEC));
	status->temporary = status->fd != -1;
	return status->temporary;
}

bool
status_make(struct status *status)
{
	return status_open(status, status->own) &&
	    (make_in_memory(status) || make_temporary(status));
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
	if (fstat(fd, &stat) == 0 && S_ISREG(stat.st_mode))
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

/* What STATUS_MOST bytes of the file say, from an offset on. */
static struct http
parse(const struct status *status, int fd, off_t from)
{
	ssize_t got = pread(fd, status->bytes, STATUS_MOST, from);

	return http_parse(status->bytes, got > 0 ? (size_t)got : 0,
	    context_now(CLOCK_REALTIME));
}

/* The last response is at the end, unless its own header is that long. */
static struct http
parse_file(const struct status *status, int fd)
{
	struct stat stat;
	struct http http;

	if (fstat(fd, &stat) == -1 || stat.st_size <= STATUS_MOST)
		return parse(status, fd, 0);
	http = parse(status, fd, stat.st_size - STATUS_MOST);
	return http.known ? http : parse(status, fd, 0);
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
	http = parse_file(status, fd);
	if (http.form == HTTP_EMPTY)
		say_useless(status, lines, "it is empty");
	if (http.form == HTTP_UNRECOGNISED)
		say_useless(status, lines, "in no form that is known");
	if (http.doubtful)
		lines_say(lines, LOUDNESS_VERBOSE,
		    STRINGS("status file '", status->path,
			"': a Retry-After was not understood"));
	if (fd != status->fd)
		close(fd);
	return http;
}

void
status_close(const struct status *status)
{
	if (status->path != NULL && status->temporary)
		unlink(status->path);
}
