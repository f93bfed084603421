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
 * Whether path leads to the file behind fd. Where /proc shows other processes
 * than ours, our number is somebody else's there.
 */
static bool
leads_to(const char *path, int fd)
{
	struct stat there, here;
	int try = open(path, O_WRONLY | O_CLOEXEC);
	bool same = try != -1 && fstat(try, &there) == 0 &&
	    fstat(fd, &here) == 0 && there.st_dev == here.st_dev &&
	    there.st_ino == here.st_ino;

	if (try != -1)
		close(try);
	return same;
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
status_empty(const struct status *status, struct lines *lines)
{
	struct stat stat;
	int fd = status->fd;

	if (status->path == NULL)
		return;
	/* That there is none yet is how it begins. */
	if (fd == -1 && lstat(status->path, &stat) == -1 && errno == ENOENT)
		return;
	if (fd == -1)
		fd = open_regular(status, O_WRONLY, lines);
	if (fd != -1 && ftruncate(fd, 0) == -1)
		say_useless(status, lines, strerror(errno));
	if (fd != -1 && fd != status->fd)
		close(fd);
}

static ssize_t
read_end(int fd, char *bytes)
{
	struct stat stat;
	off_t from = 0;

	if (fstat(fd, &stat) == 0 && stat.st_size > STATUS_MOST)
		from = stat.st_size - STATUS_MOST;
	return pread(fd, bytes, STATUS_MOST, from);
}

struct http
status_read(const struct status *status, struct lines *lines)
{
	struct http http = { .form = HTTP_EMPTY };
	int fd = status->fd;
	ssize_t got;

	if (status->path == NULL)
		return http;
	if (fd == -1)
		fd = open_regular(status, O_RDONLY, lines);
	if (fd == -1)
		return http;
	got = read_end(fd, status->bytes);
	if (got == -1)
		say_useless(status, lines, strerror(errno));
	else
		http = http_parse(
		    status->bytes, (size_t)got, context_now(CLOCK_REALTIME));
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
