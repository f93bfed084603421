#include "streams/stdin_source.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>
#include "sys/sys.h"
#include "streams/sharing.h"
#include "streams/tempfile.h"
#include "streams/read_watch.h"

/* The most reads in one call: meanwhile no signal is handled. */
#define TURNS 16

/* The most bytes that one system call takes. */
#define CHUNK 1048576

/* The buffer, where the kernel cannot move the bytes by itself. */
#define ROOM 16384

/* Datagrams cannot be copied: a file would not keep where each one ends. */
static bool
is_stream(void)
{
	int type = 0, listens = 0;
	socklen_t size = sizeof type;

	return getsockopt(STDIN_FILENO, SOL_SOCKET, SO_TYPE, &type, &size) ==
	    0 &&
	    type == SOCK_STREAM &&
	    getsockopt(STDIN_FILENO, SOL_SOCKET, SO_ACCEPTCONN, &listens,
		&size) == 0 &&
	    listens == 0;
}

/*
 * Whether standard input is the same file as standard output or error, such as
 * one pipe that the caller has given to retry for all three. retry would read
 * its own output, without end.
 */
static bool
is_output(const struct stat *input)
{
	struct stat output;

	for (int fd = STDOUT_FILENO; fd <= STDERR_FILENO; fd++)
		if (fstat(fd, &output) == 0 && output.st_dev == input->st_dev &&
		    output.st_ino == input->st_ino)
			return true;
	return false;
}

/* Whether standard input can be read, and is not also an output. */
static bool
is_read(void)
{
	int flags = fcntl(STDIN_FILENO, F_GETFL);
	struct stat stat;

	if (flags == -1 || (flags & O_ACCMODE) == O_WRONLY)
		return false;
	if (fstat(STDIN_FILENO, &stat) == -1)
		return (flags & O_ACCMODE) == O_RDONLY;
	/* A file that is opened twice has two offsets: reading it is safe. */
	return (S_ISFIFO(stat.st_mode) || (flags & O_ACCMODE) == O_RDWR)
	    ? !is_output(&stat)
	    : true;
}

static enum stdin_source_kind
classify(struct stdin_source *input, bool replay)
{
	struct stat stat;

	if (fstat(STDIN_FILENO, &stat) == -1) {
		/* A closed descriptor has no bytes to lose. After another
		 * error it may have. */
		input->error = errno == EBADF ? 0 : errno;
		return STDIN_SOURCE_UNTOUCHED;
	}
	if (S_ISREG(stat.st_mode) || S_ISBLK(stat.st_mode)) {
		input->start = lseek(STDIN_FILENO, 0, SEEK_CUR);
		if (input->start == -1)
			return STDIN_SOURCE_UNTOUCHED;
		return replay && is_read() ? STDIN_SOURCE_REOPENED
					   : STDIN_SOURCE_FILE;
	}
	input->socket = S_ISSOCK(stat.st_mode);
	if (input->socket ? !is_stream()
			  : !S_ISFIFO(stat.st_mode) || !is_read())
		return STDIN_SOURCE_UNTOUCHED;
	return replay ? STDIN_SOURCE_COPIED : STDIN_SOURCE_WATCHED;
}

void
stdin_source_open(
    struct stdin_source *input, bool replay, int64_t most, bool *terminal)
{
	input->from = input->file = input->sink = input->watch = -1;
	input->begun = input->too_long = false;
	input->guard = GUARD_NONE;
	input->error = 0;
	input->kind = classify(input, replay);
	*terminal = replay && input->kind == STDIN_SOURCE_UNTOUCHED &&
	    isatty(STDIN_FILENO) == 1;
	if (input->kind != STDIN_SOURCE_COPIED)
		return;
	input->most = most;
	input->length = 0;
	input->file = tempfile_open();
	if (input->file == -1)
		input->error = errno;
	else
		input->from = STDIN_FILENO;
}

struct pollfd
stdin_source_pollfd(const struct stdin_source *input)
{
	int fd = -1;

	if (input->kind == STDIN_SOURCE_COPIED)
		fd = input->from;
	else if (input->kind == STDIN_SOURCE_WATCHED &&
	    input->guard == GUARD_UNSEEN)
		fd = STDIN_FILENO;
	return (struct pollfd){ .fd = fd, .events = POLLIN };
}

/* One read that does not block, even if the descriptor is set to block. */
static ssize_t
get(const struct stdin_source *input, char *bytes, size_t length)
{
	struct pollfd some = { .fd = input->from, .events = POLLIN };

	if (input->socket)
		return recv(input->from, bytes, length, MSG_DONTWAIT);
	if (poll(&some, 1, 0) == 0) {
		errno = EAGAIN;
		return -1;
	}
	return read(input->from, bytes, length);
}

static ssize_t
take_by_buffer(const struct stdin_source *input, size_t room)
{
	char bytes[ROOM];
	ssize_t got = get(input, bytes, room < ROOM ? room : ROOM);

	for (ssize_t done = 0, put; done < got; done += put) {
		put = pwrite(input->file, bytes + done, (size_t)(got - done),
		    input->length + done);
		if (put == -1)
			return -1;
	}
	return got;
}

/* Copies; returns the bytes, 0 at the end of the input, -1 with errno. */
static ssize_t
take(const struct stdin_source *input, size_t room)
{
	off_t offset = input->length;
	ssize_t got;

	if (input->socket)
		return take_by_buffer(input, room);
	got = splice(input->from, NULL, input->file, &offset, room,
	    SPLICE_F_MOVE | SPLICE_F_NONBLOCK);
	if (got == -1 && (errno == EINVAL || errno == ENOSYS))
		return take_by_buffer(input, room);
	return got;
}

/* Takes one byte more than may be copied, to see whether there are more. */
static void
fill(struct stdin_source *input)
{
	for (int turn = 0; turn < TURNS; turn++) {
		int64_t left = input->most - input->length;
		ssize_t got = take(
		    input, left < CHUNK ? (size_t)left + 1 : (size_t)CHUNK);

		if (got == -1 && (errno == EAGAIN || errno == EINTR))
			return;
		if (got == -1)
			input->error = errno;
		if (got > 0)
			input->length += got;
		input->too_long = input->length > input->most;
		if (got <= 0 || input->too_long) {
			input->from = -1;
			return;
		}
	}
}

/* Adds what a look has seen to the head: a later look may see more bytes. */
static enum guard
remember(struct stdin_source *input, const char *bytes, ssize_t got)
{
	memcpy(input->head, bytes, (size_t)got);
	input->length_of_head = (size_t)got;
	return GUARD_HEAD;
}

/*
 * Whether a socket that is at its end was reset by its other end, even if a
 * reader has taken the error already. TCP keeps that in its state. A Unix
 * socket is reset if its other end closes it before it has read all that was
 * sent to it.
 */
static bool
was_reset(const struct stdin_source *input)
{
	struct tcp_info info;
	socklen_t size = sizeof info;

	if (!input->socket)
		return false;
	if (getsockopt(STDIN_FILENO, IPPROTO_TCP, TCP_INFO, &info, &size) == 0)
		return info.tcpi_state == TCP_CLOSE;
	return input->unread;
}

/*
 * The guard after a look: bytes and got are what read_watch_peek() returned. If
 * poll promised bytes that are not there now, a process has read them; but for
 * a socket poll promises the end of the stream in the same way.
 */
static enum guard
next_guard(
    struct stdin_source *input, const char *bytes, ssize_t got, bool promised)
{
	/* Without a free descriptor, peeking at a pipe shows nothing. */
	bool blind = got == -1 && errno != EAGAIN && !input->socket;
	int error = errno, unread = 0;

	if (input->guard == GUARD_HEAD) {
		if (blind)
			return GUARD_HEAD;
		if (got < (ssize_t)input->length_of_head ||
		    memcmp(bytes, input->head, input->length_of_head) != 0)
			return GUARD_EATEN;
	}
	if (got != 0 && input->socket)
		input->unread =
		    ioctl(STDIN_FILENO, TIOCOUTQ, &unread) == 0 && unread > 0;
	errno = error;
	if (got > 0)
		return remember(input, bytes, got);
	if (blind)
		return GUARD_WATCHED;
	if (promised && (got == -1 || !input->socket))
		return GUARD_EATEN;
	if (got == -1 && errno == EAGAIN)
		return GUARD_UNSEEN;
	if (input->guard != GUARD_NONE && was_reset(input))
		return GUARD_RESET;
	/*
	 * The input is at its end. If that was so before the first attempt,
	 * there are no bytes to lose. If it has ended since, bytes may have
	 * come and been read, unless a watch would have reported the read.
	 */
	return input->guard == GUARD_NONE || input->watch != -1 ? GUARD_WATCHED
								: GUARD_EATEN;
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
is_reset(const struct stdin_source *input, short revents)
{
	int waiting = 0;

	return input->socket && ((revents & POLLERR) != 0 || has_error()) &&
	    ioctl(STDIN_FILENO, FIONREAD, &waiting) == 0 && waiting == 0;
}

/* Peeks, and sets the guard. revents is from poll(2), or 0. */
static void
look(struct stdin_source *input, short revents)
{
	char bytes[READ_WATCH_PEEK];

	if (is_reset(input, revents))
		input->guard =
		    input->guard == GUARD_HEAD ? GUARD_EATEN : GUARD_RESET;
	else
		input->guard = next_guard(input, bytes,
		    read_watch_peek(STDIN_FILENO, input->socket, bytes),
		    (revents & POLLIN) != 0);
}

void
stdin_source_serve(struct stdin_source *input, short revents)
{
	if (revents == 0 || stdin_source_pollfd(input).fd == -1)
		return;
	if (input->kind == STDIN_SOURCE_COPIED)
		fill(input);
	else
		look(input, revents);
}

bool
stdin_source_ready(const struct stdin_source *input)
{
	return input->kind != STDIN_SOURCE_COPIED || input->from == -1;
}

/* Moves the offset back, but not if the output goes to the same open file: the
 * next attempt would overwrite it. */
static bool
rewind_file(const struct stdin_source *input)
{
	if (input->ended == input->start || !is_read())
		return true;
	return lseek(STDIN_FILENO, input->start, SEEK_SET) != -1;
}

/*
 * Opens the file with an offset for this attempt alone, which no other process
 * can move. If the file cannot be opened again, the offset is moved back, as
 * without -I.
 */
static bool
reopen(struct stdin_source *input, bool first)
{
	int flags = fcntl(STDIN_FILENO, F_GETFL) & (O_ACCMODE | O_DIRECT);

	input->sink = tempfile_reopen(STDIN_FILENO, flags);
	if (input->sink == -1 && first) {
		input->kind = STDIN_SOURCE_FILE;
		return true;
	}
	return input->sink != -1 &&
	    lseek(input->sink, input->start, SEEK_SET) != -1;
}

/*
 * inotify reports each read(2), of a pipe as of a file, but not recv(2), and
 * splice(2) only in newer kernels. And there may be no watch, because the
 * number of a user's inotify instances is limited. In these cases retry peeks
 * as well. If splice is reported, the watch alone is enough, and a peek by
 * tee(2) would be reported as a read.
 */
static void
begin_guard(struct stdin_source *input)
{
	input->watch = sys_move_up(read_watch_open(STDIN_FILENO));
	if (input->socket || input->watch == -1 || !read_watch_tells_of_tee())
		look(input, 0);
	else
		input->guard = GUARD_WATCHED;
}

bool
stdin_source_begin(struct stdin_source *input)
{
	bool first = !input->begun;

	input->begun = true;
	switch (input->kind) {
	case STDIN_SOURCE_UNTOUCHED:
		break;
	case STDIN_SOURCE_FILE:
		return first || rewind_file(input);
	case STDIN_SOURCE_REOPENED:
		return reopen(input, first);
	case STDIN_SOURCE_WATCHED:
		if (first)
			begin_guard(input);
		break;
	case STDIN_SOURCE_COPIED:
		input->sink = tempfile_again(input->file, O_RDONLY);
		return input->sink != -1;
	}
	return true;
}

bool
stdin_source_attach(const struct stdin_source *input)
{
	return input->sink == -1 || dup2(input->sink, STDIN_FILENO) != -1;
}

void
stdin_source_forked(struct stdin_source *input)
{
	if (input->sink != -1)
		close(input->sink);
	input->sink = -1;
}

void
stdin_source_ended(struct stdin_source *input)
{
	if (input->kind == STDIN_SOURCE_FILE)
		input->ended = lseek(STDIN_FILENO, 0, SEEK_CUR);
	input->judged = false;
}

/*
 * The offset is moved back only if the attempt alone has moved it. If it moves
 * after the attempt's end, another process reads the file: a shell's loop that
 * reads it line by line, or a process that the attempt has left behind.
 */
static enum reason
file_lost(struct stdin_source *input)
{
	if (!is_read())
		return REASON_NONE;
	if (lseek(STDIN_FILENO, 0, SEEK_CUR) != input->ended)
		return REASON_INPUT_CONSUMED;
	if (input->ended == input->start || input->judged)
		return REASON_NONE;
	input->judged = true;
	return sharing_suspects(STDIN_FILENO) ? REASON_INPUT_CONSUMED
					      : REASON_NONE;
}

static enum reason
guarded_lost(struct stdin_source *input)
{
	if (read_watch_told(input->watch))
		input->guard = GUARD_EATEN;
	else if (input->guard == GUARD_UNSEEN || input->guard == GUARD_HEAD)
		look(input, 0);
	if (input->guard == GUARD_EATEN)
		return REASON_INPUT_CONSUMED;
	/* If no reader has taken the error, the next attempt gets it, too. */
	return input->guard == GUARD_RESET && !has_error() ? REASON_INPUT_RESET
							   : REASON_NONE;
}

enum reason
stdin_source_lost(struct stdin_source *input)
{
	switch (input->kind) {
	case STDIN_SOURCE_FILE:
		return file_lost(input);
	case STDIN_SOURCE_WATCHED:
		return guarded_lost(input);
	case STDIN_SOURCE_UNTOUCHED:
	case STDIN_SOURCE_REOPENED:
	case STDIN_SOURCE_COPIED:
		break;
	}
	return REASON_NONE;
}
