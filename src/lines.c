#include "lines.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>
#include "context.h"

void
lines_open(struct lines *lines, enum loudness loudness)
{
	lines->loudness = loudness;
	lines->way = LINES_UNKNOWN;
	lines->fd = STDERR_FILENO;
	lines->length = 0;
}

/*
 * O_NONBLOCK belongs to the open file description, which we share with the
 * command and whoever started us. A pipe or a terminal can be opened once more
 * through /proc; only one that was open for writing is, because the new
 * description would not care, and would write to what was to be read.
 */
static void
find_way(struct lines *lines)
{
	struct stat stat;
	int flags = fcntl(STDERR_FILENO, F_GETFL);
	int fd;

	lines->way = LINES_PLAIN;
	if (flags == -1 || (flags & O_ACCMODE) == O_RDONLY ||
	    fstat(STDERR_FILENO, &stat) == -1 || S_ISREG(stat.st_mode))
		return;
	lines->way = LINES_SOCKET;
	if (S_ISSOCK(stat.st_mode))
		return;
	lines->way = LINES_CAREFUL;
	if (!S_ISFIFO(stat.st_mode) && !S_ISCHR(stat.st_mode))
		return;
	fd = open(
	    "/proc/self/fd/2", O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd == -1)
		return;
	lines->way = LINES_PRIVATE;
	lines->fd = context_move_up(fd);
}

/* One write that does not block; EAGAIN where it would. */
static ssize_t
put(const struct lines *lines, const char *text, size_t length)
{
	struct pollfd room = { .fd = lines->fd, .events = POLLOUT };

	switch (lines->way) {
	case LINES_SOCKET:
		return send(
		    lines->fd, text, length, MSG_DONTWAIT | MSG_NOSIGNAL);
	case LINES_CAREFUL:
		if (poll(&room, 1, 0) == 0) {
			errno = EAGAIN;
			return -1;
		}
		break;
	case LINES_UNKNOWN:
	case LINES_PLAIN:
	case LINES_PRIVATE:
		break;
	}
	return write(lines->fd, text, length);
}

void
lines_flush(struct lines *lines)
{
	while (lines->length > 0) {
		char *end = memchr(lines->pending, '\n', lines->length);
		size_t line = end == NULL ? lines->length
					  : (size_t)(end + 1 - lines->pending);
		ssize_t put_there = put(lines, lines->pending, line);

		if (put_there == -1 && errno == EINTR)
			continue;
		if (put_there == -1 && errno == EAGAIN)
			return;
		if (put_there <= 0) {
			/* Nobody is there to read it: not our failure. */
			lines->length = 0;
			return;
		}
		lines->length -= (size_t)put_there;
		memmove(
		    lines->pending, lines->pending + put_there, lines->length);
	}
}

char *
lines_escape(char *at, const char *limit, const char *text)
{
	static const char digits[] = "0123456789abcdef";

	for (; *text != '\0' && limit - at >= 4; text++) {
		unsigned char byte = (unsigned char)*text;

		if (byte >= 0x20 && byte != 0x7f) {
			*at++ = *text;
			continue;
		}
		*at++ = '\\';
		if (byte == '\n' || byte == '\t') {
			*at++ = byte == '\n' ? 'n' : 't';
			continue;
		}
		*at++ = 'x';
		*at++ = digits[byte >> 4];
		*at++ = digits[byte & 15];
	}
	return at;
}

void
lines_say(struct lines *lines, enum loudness least, const char *const strings[])
{
	char *start = lines->pending + lines->length, *at = start;
	/* A line of more than PIPE_BUF bytes could be torn by another's. */
	char *limit = start + PIPE_BUF - 1;

	if (lines->loudness < least)
		return;
	if (lines->way == LINES_UNKNOWN)
		find_way(lines);
	if (limit > lines->pending + sizeof lines->pending - 1)
		return;
	at = lines_escape(at, limit, "retry: ");
	while (*strings != NULL)
		at = lines_escape(at, limit, *strings++);
	*at++ = '\n';
	lines->length += (size_t)(at - start);
	lines_flush(lines);
}

struct pollfd
lines_pollfd(const struct lines *lines)
{
	return (struct pollfd){ .fd = lines->length > 0 ? lines->fd : -1,
		.events = POLLOUT };
}
