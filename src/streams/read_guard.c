#include "streams/read_guard.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>
#include "sys/sys.h"

/* What a look at the input has found. */
enum sight {
	SIGHT_BYTES, /* if there is a head, it is still in front */
	SIGHT_EMPTY,
	SIGHT_END,
	SIGHT_GONE, /* there were bytes that are not there now, or there may
		       have been some */
	SIGHT_ERROR, /* an error waits for a reader, and nothing else */
	SIGHT_RESET, /* the end, after an error that a reader has taken */
	SIGHT_NOTHING, /* a pipe could not be peeked at */
	SIGHTS
};

/* What is known after a look, by what was known before. */
static const enum guard after_look[][SIGHTS] = {
	/* Bytes that are gone before the first attempt are no loss. */
	[GUARD_NONE] = { [SIGHT_BYTES] = GUARD_HEAD,
	    [SIGHT_EMPTY] = GUARD_UNSEEN,
	    [SIGHT_END] = GUARD_WATCHED,
	    [SIGHT_GONE] = GUARD_WATCHED,
	    [SIGHT_ERROR] = GUARD_RESET,
	    [SIGHT_RESET] = GUARD_WATCHED,
	    [SIGHT_NOTHING] = GUARD_WATCHED },
	[GUARD_UNSEEN] = { [SIGHT_BYTES] = GUARD_HEAD,
	    [SIGHT_EMPTY] = GUARD_UNSEEN,
	    [SIGHT_END] = GUARD_WATCHED,
	    [SIGHT_GONE] = GUARD_EATEN,
	    [SIGHT_ERROR] = GUARD_RESET,
	    [SIGHT_RESET] = GUARD_RESET,
	    [SIGHT_NOTHING] = GUARD_WATCHED },
	[GUARD_HEAD] = { [SIGHT_BYTES] = GUARD_HEAD,
	    [SIGHT_EMPTY] = GUARD_EATEN,
	    [SIGHT_END] = GUARD_EATEN,
	    [SIGHT_GONE] = GUARD_EATEN,
	    [SIGHT_ERROR] = GUARD_EATEN,
	    [SIGHT_RESET] = GUARD_EATEN,
	    [SIGHT_NOTHING] = GUARD_HEAD },
};

struct read_guard
read_guard_of(bool socket)
{
	return (struct read_guard){
		.known = GUARD_NONE, .socket = socket, .watch = -1
	};
}

/* Whether a socket has a pending error. Peeking would take the error away. */
static bool
has_error(void)
{
	struct pollfd some = { .fd = STDIN_FILENO };

	return poll(&some, 1, 0) == 1 && (some.revents & POLLERR) != 0;
}

/* Whether a pending error is all that a reader of the socket would get. */
static bool
is_reset(const struct read_guard *guard, short revents)
{
	int waiting = 0;

	return guard->socket && ((revents & POLLERR) != 0 || has_error()) &&
	    ioctl(STDIN_FILENO, FIONREAD, &waiting) == 0 && waiting == 0;
}

/*
 * Whether a socket that is at its end was reset by its other end, even if a
 * reader has taken the error already. TCP keeps that in its state. A Unix
 * socket is reset if its other end closes it before it has read all that was
 * sent to it.
 */
static bool
was_reset(const struct read_guard *guard)
{
	struct tcp_info info;
	socklen_t size = sizeof info;

	if (!guard->socket)
		return false;
	if (getsockopt(STDIN_FILENO, IPPROTO_TCP, TCP_INFO, &info, &size) == 0)
		return info.tcpi_state == TCP_CLOSE;
	return guard->unread;
}

/* Whether the head is in front of got bytes. */
static bool
has_head(const struct read_guard *guard, const char *bytes, ssize_t got)
{
	return got >= (ssize_t)guard->length_of_head &&
	    memcmp(bytes, guard->head, guard->length_of_head) == 0;
}

/*
 * What a look has found: bytes, got and error are from read_watch_peek(). If
 * poll promised bytes that are not there now, a process has read them; but for
 * a socket poll promises the end of the stream in the same way.
 */
static enum sight
judge(const struct read_guard *guard, const char *bytes, ssize_t got, int error,
    bool promised)
{
	/* Without a free descriptor, peeking at a pipe shows nothing. */
	if (got == -1 && error != EAGAIN && !guard->socket)
		return SIGHT_NOTHING;
	if (guard->known == GUARD_HEAD && !has_head(guard, bytes, got))
		return SIGHT_GONE;
	if (got > 0)
		return SIGHT_BYTES;
	if (promised && (got == -1 || !guard->socket))
		return SIGHT_GONE;
	if (got == -1 && error == EAGAIN)
		return SIGHT_EMPTY;
	if (was_reset(guard))
		return SIGHT_RESET;
	/* Bytes may have come before the end, and been read. A watch would have
	 * reported the read. */
	return guard->watch == -1 ? SIGHT_GONE : SIGHT_END;
}

/* Peeks at the input, and keeps what it finds: a later look may see more. */
static enum sight
peek(struct read_guard *guard, bool promised)
{
	char bytes[READ_WATCH_PEEK];
	ssize_t got = read_watch_peek(STDIN_FILENO, guard->socket, bytes);
	int error = errno, unread = 0;
	enum sight sight;

	if (got != 0 && guard->socket)
		guard->unread =
		    ioctl(STDIN_FILENO, TIOCOUTQ, &unread) == 0 && unread > 0;
	sight = judge(guard, bytes, got, error, promised);
	if (sight == SIGHT_BYTES) {
		memcpy(guard->head, bytes, (size_t)got);
		guard->length_of_head = (size_t)got;
	}
	return sight;
}

void
read_guard_look(struct read_guard *guard, short revents)
{
	enum sight sight = is_reset(guard, revents)
	    ? SIGHT_ERROR
	    : peek(guard, (revents & POLLIN) != 0);

	guard->known = after_look[guard->known][sight];
}

/*
 * inotify reports each read(2), of a pipe as of a file, but not recv(2), and
 * splice(2) only in newer kernels. And there may be no watch, because the
 * number of a user's inotify instances is limited. In these cases retry peeks
 * as well. If splice is reported, the watch alone is enough, and a peek by
 * tee(2) would be reported as a read.
 */
void
read_guard_begin(struct read_guard *guard)
{
	guard->watch = sys_move_up(read_watch_open(STDIN_FILENO));
	if (guard->socket || guard->watch == -1 || !read_watch_tells_of_tee())
		read_guard_look(guard, 0);
	else
		guard->known = GUARD_WATCHED;
}

bool
read_guard_waits(const struct read_guard *guard)
{
	return guard->known == GUARD_UNSEEN;
}

enum reason
read_guard_lost(struct read_guard *guard)
{
	if (read_watch_told(guard->watch))
		guard->known = GUARD_EATEN;
	else if (guard->known == GUARD_UNSEEN || guard->known == GUARD_HEAD)
		read_guard_look(guard, 0);
	if (guard->known == GUARD_EATEN)
		return REASON_INPUT_CONSUMED;
	/* If no reader has taken the error, the next attempt gets it, too. */
	return guard->known == GUARD_RESET && !has_error() ? REASON_INPUT_RESET
							   : REASON_NONE;
}
