#include "streams/stdin_source.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>
#include "streams/tempfile.h"
#include "sys/procfs.h"

/* The most reads in one call: meanwhile no signal is handled. */
#define TURNS 16

/* The most bytes that one system call takes. */
#define CHUNK 1048576

/* The buffer, where the kernel cannot move the bytes by itself. */
#define ROOM 16384

/* An option of the socket that standard input is; 0 if it has no such one. */
static int
socket_option(int name)
{
	int value = 0;
	socklen_t size = sizeof value;

	getsockopt(STDIN_FILENO, SOL_SOCKET, name, &value, &size);
	return value;
}

/* Opens the file with an offset for the next attempt alone, which no other
 * process can move. */
static bool
reopen(struct stdin_source *input)
{
	int flags = fcntl(STDIN_FILENO, F_GETFL) & (O_ACCMODE | O_DIRECT);

	if (input->sink == -1)
		input->sink = procfs_reopen(STDIN_FILENO, flags);
	return input->sink != -1 &&
	    lseek(input->sink, input->start, SEEK_SET) != -1;
}

static enum stdin_source_kind
classify(struct stdin_source *input, bool replay)
{
	/* Of mem(4): null, zero, full, random and urandom. */
	static const unsigned endless[] = { 3, 5, 7, 8, 9 };
	struct stat stat, output;
	int flags, mode;
	bool one;

	if (fstat(STDIN_FILENO, &stat) == -1) {
		/* A closed descriptor has no bytes to lose. After another
		 * error it may have. */
		input->error = errno == EBADF ? 0 : errno;
		return STDIN_SOURCE_UNTOUCHED;
	}
	flags = fcntl(STDIN_FILENO, F_GETFL);
	mode = flags & O_ACCMODE;
	if (flags == -1 || (flags & O_PATH) != 0 ||
	    (mode != O_RDONLY && mode != O_RDWR))
		return STDIN_SOURCE_UNTOUCHED;

	/*
	 * The caller may have given retry one pipe for input and output: retry
	 * would read its own output, without end. Of one file, the next attempt
	 * would overwrite what the last one has written. A file that is opened
	 * twice has two offsets: reading it is safe.
	 */
	one = S_ISFIFO(stat.st_mode) ||
	    (mode == O_RDWR &&
		(S_ISREG(stat.st_mode) || S_ISBLK(stat.st_mode)));
	for (int fd = STDOUT_FILENO; one && fd <= STDERR_FILENO; fd++)
		if (fstat(fd, &output) == 0 && output.st_dev == stat.st_dev &&
		    output.st_ino == stat.st_ino)
			return STDIN_SOURCE_UNTOUCHED;

	switch (stat.st_mode & S_IFMT) {
	case S_IFREG:
	case S_IFBLK:
	case S_IFDIR:
		input->start = lseek(STDIN_FILENO, 0, SEEK_CUR);
		input->ended = input->start;
		if (input->start == -1)
			return STDIN_SOURCE_UNKNOWN;
		if (!replay)
			return STDIN_SOURCE_FILE;
		if (reopen(input))
			return STDIN_SOURCE_REOPENED;
		return S_ISREG(stat.st_mode) ? STDIN_SOURCE_COPIED
					     : STDIN_SOURCE_FILE;
	case S_IFSOCK:
		if (socket_option(SO_ACCEPTCONN) != 0)
			return STDIN_SOURCE_UNTOUCHED;
		input->socket = true;
		/* A file would not keep where each message ends. */
		return replay && socket_option(SO_TYPE) == SOCK_STREAM
		    ? STDIN_SOURCE_COPIED
		    : STDIN_SOURCE_GUARDED;
	case S_IFIFO:
		return replay ? STDIN_SOURCE_COPIED : STDIN_SOURCE_GUARDED;
	case S_IFCHR:
		/* Every reader gets the same, or anything at random. */
		for (size_t i = 0; i < sizeof endless / sizeof *endless; i++)
			if (stat.st_rdev == makedev(1, endless[i]))
				return STDIN_SOURCE_UNTOUCHED;
		/* A terminal whose line is closed answers EIO. */
		if (isatty(STDIN_FILENO) == 1 || errno == EIO)
			return STDIN_SOURCE_UNTOUCHED;
		break;
	}
	return STDIN_SOURCE_UNKNOWN;
}

void
stdin_source_open(struct stdin_source *input, const struct policy *policy)
{
	bool replay = policy->replay;

	*input = (struct stdin_source){
		.from = -1,
		.file = -1,
		.sink = -1,
		.start = -1,
		.inotify = -1,
	};
	/* If there is only one attempt, no other can miss what it reads. */
	if (!replay && policy->attempts == 1)
		return;
	input->most = policy->stdin_max;
	input->kind = classify(input, replay);
	if (replay && input->kind == STDIN_SOURCE_GUARDED)
		input->unreplayed = "a socket for messages";
	else if (replay && input->kind == STDIN_SOURCE_UNKNOWN)
		input->unreplayed = "a special file";
	else if (replay && isatty(STDIN_FILENO) == 1)
		input->unreplayed = "a terminal";
	if (input->kind != STDIN_SOURCE_COPIED)
		return;
	input->file = tempfile_open();
	if (input->file == -1)
		input->error = errno;
	else
		input->from = STDIN_FILENO;
}

struct pollfd
stdin_source_pollfd(const struct stdin_source *input)
{
	int fd = input->from;

	if (input->kind == STDIN_SOURCE_GUARDED && input->known == GUARD_UNSEEN)
		fd = STDIN_FILENO;
	return (struct pollfd){ .fd = fd, .events = POLLIN };
}

/*
 * Copies the bytes that the next read would get; 0 at the end, -1 with errno. A
 * pipe has no MSG_PEEK: tee(2) copies its bytes into a second pipe.
 */
static ssize_t
peek(int fd, bool socket, char bytes[STDIN_SOURCE_PEEK])
{
	int ends[2], error;
	ssize_t got;

	if (socket)
		return recv(
		    fd, bytes, STDIN_SOURCE_PEEK, MSG_PEEK | MSG_DONTWAIT);
	if (pipe2(ends, O_CLOEXEC) == -1)
		return -1;
	got = tee(fd, ends[1], STDIN_SOURCE_PEEK, SPLICE_F_NONBLOCK);
	if (got > 0)
		got = read(ends[0], bytes, STDIN_SOURCE_PEEK);
	error = errno;
	close(ends[0]);
	close(ends[1]);
	errno = error;
	return got;
}

/*
 * Whether inotify reports tee(2), too: kernels that report splice(2) do. True
 * if that cannot be found out.
 */
static bool
inotify_reports_tee(void)
{
	char bytes[STDIN_SOURCE_PEEK];
	int ends[2], inotify;
	bool reported = true;

	if (pipe2(ends, O_CLOEXEC) == -1)
		return true;
	inotify = procfs_watch(ends[0], IN_ACCESS);
	if (inotify != -1 && write(ends[1], "", 1) == 1 &&
	    peek(ends[0], false, bytes) == 1)
		reported = procfs_noticed(inotify);
	if (inotify != -1)
		close(inotify);
	close(ends[0]);
	close(ends[1]);
	return reported;
}

/* Whether a socket has a pending error. Peeking would take the error away. */
static bool
has_error(void)
{
	struct pollfd some = { .fd = STDIN_FILENO };

	return poll(&some, 1, 0) == 1 && (some.revents & POLLERR) != 0;
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
	return input->backlog;
}

/* Peeks. revents is from poll(2), or 0. */
static void
look(struct stdin_source *input, short revents)
{
	bool socket = input->socket, has_head = input->known == GUARD_HEAD;
	char bytes[STDIN_SOURCE_PEEK];
	bool lost; /* bytes that were there at an earlier look */
	int waiting = 0, unread = 0, error;
	ssize_t got;

	/* A pending error may be all that a reader of the socket would get. */
	if (socket && ((revents & POLLERR) != 0 || has_error()) &&
	    ioctl(STDIN_FILENO, FIONREAD, &waiting) == 0 && waiting == 0) {
		input->known = has_head ? GUARD_EATEN : GUARD_RESET;
		return;
	}
	got = peek(STDIN_FILENO, socket, bytes);
	error = errno;
	if (got != 0 && socket)
		input->backlog =
		    ioctl(STDIN_FILENO, TIOCOUTQ, &unread) == 0 && unread > 0;

	lost = has_head &&
	    (got < (ssize_t)input->length_of_head ||
		memcmp(bytes, input->head, input->length_of_head) != 0);

	if (got == -1 && error != EAGAIN && !socket) {
		/* Without a free descriptor, a peek at a pipe shows nothing. */
		input->known = has_head ? GUARD_HEAD : GUARD_INOTIFY;
	} else if (got > 0 && !lost) {
		/* A later look may see more. */
		memcpy(input->head, bytes, (size_t)got);
		input->length_of_head = (size_t)got;
		input->known = GUARD_HEAD;
	} else if (lost ||
	    ((revents & POLLIN) != 0 && (got == -1 || !socket))) {
		/* A process has read the bytes that poll promised; but for a
		 * socket poll promises the end of the stream, too. */
		input->known = GUARD_EATEN;
	} else if (got == -1 && error == EAGAIN) {
		input->known = GUARD_UNSEEN;
	} else if (input->known == GUARD_NONE) {
		/* Bytes that were read before the first attempt are no loss. */
		input->known = GUARD_INOTIFY;
	} else if (was_reset(input)) {
		input->known = GUARD_RESET;
	} else {
		/* Bytes may have come before the end, and been read. inotify
		 * would have reported the read. */
		input->known =
		    input->inotify == -1 ? GUARD_EATEN : GUARD_INOTIFY;
	}
}

/*
 * inotify reports each read(2), of a pipe as of a file, but not recv(2), and
 * splice(2) only in newer kernels. And the number of a user's inotify
 * descriptors is limited. In these cases retry peeks as well. If splice is
 * reported, inotify alone is enough, and a peek by tee(2) would be reported as
 * a read.
 */
static void
begin_guard(struct stdin_source *input)
{
	input->inotify = procfs_watch(STDIN_FILENO, IN_ACCESS | IN_ONESHOT);
	if (input->socket || input->inotify == -1 || !inotify_reports_tee())
		look(input, 0);
	else
		input->known = GUARD_INOTIFY;
}

/* The reason why a retry could not read the same, or REASON_NONE. */
static enum reason
guard_lost(struct stdin_source *input)
{
	if (procfs_noticed(input->inotify))
		input->known = GUARD_EATEN;
	else if (input->known == GUARD_UNSEEN || input->known == GUARD_HEAD)
		look(input, 0);
	if (input->known == GUARD_EATEN)
		return REASON_INPUT_CONSUMED;
	/* If no reader has taken the error, the next attempt gets it, too. */
	return input->known == GUARD_RESET && !has_error() ? REASON_INPUT_RESET
							   : REASON_NONE;
}

/*
 * Copies up to room bytes without blocking; returns their number, 0 at the end
 * of the input, -1 with errno. The offset of a file stays where it is.
 */
static ssize_t
take(struct stdin_source *input, size_t room)
{
	struct pollfd some = { .fd = input->from, .events = POLLIN };
	off_t offset = input->length;
	char bytes[ROOM];
	ssize_t got;

	if (!input->socket && input->start == -1) {
		got = splice(input->from, NULL, input->file, &offset, room,
		    SPLICE_F_MOVE | SPLICE_F_NONBLOCK);
		if (got != -1 || (errno != EINVAL && errno != ENOSYS))
			return got;
	}
	if (room > ROOM)
		room = ROOM;
	if (input->start != -1) {
		got = pread(input->from, bytes, room, input->start + offset);
	} else if (input->socket) {
		got = recv(input->from, bytes, room, MSG_DONTWAIT);
	} else if (poll(&some, 1, 0) == 0) {
		errno = EAGAIN;
		return -1;
	} else {
		got = read(input->from, bytes, room);
	}
	input->unread = got == -1;
	for (ssize_t done = 0, put; done < got; done += put) {
		put = pwrite(input->file, bytes + done, (size_t)(got - done),
		    offset + done);
		if (put == -1)
			return -1;
	}
	return got;
}

void
stdin_source_serve(struct stdin_source *input, short revents)
{
	if (revents == 0 || stdin_source_pollfd(input).fd == -1)
		return;
	if (input->kind != STDIN_SOURCE_COPIED) {
		look(input, revents);
		return;
	}
	for (int turn = 0; turn < TURNS && input->from != -1; turn++) {
		/* One byte more than may be copied shows that there are more.
		 */
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
		if (got <= 0 || input->too_long)
			input->from = -1;
	}
}

bool
stdin_source_ready(const struct stdin_source *input)
{
	return input->from == -1;
}

bool
stdin_source_begin(struct stdin_source *input)
{
	if (input->kind == STDIN_SOURCE_FILE)
		return input->ended == input->start ||
		    lseek(STDIN_FILENO, input->start, SEEK_SET) != -1;
	if (input->kind == STDIN_SOURCE_REOPENED)
		return reopen(input);
	if (input->kind == STDIN_SOURCE_GUARDED && input->known == GUARD_NONE)
		begin_guard(input);
	if (input->kind == STDIN_SOURCE_COPIED)
		input->sink = tempfile_again(input->file);
	return input->kind != STDIN_SOURCE_COPIED || input->sink != -1;
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

enum reason
stdin_source_lost(struct stdin_source *input)
{
	if (input->kind == STDIN_SOURCE_GUARDED)
		return guard_lost(input);
	if (input->kind == STDIN_SOURCE_UNKNOWN)
		return REASON_INPUT_CONSUMED;
	if (input->kind != STDIN_SOURCE_FILE)
		return REASON_NONE;
	/*
	 * The offset is moved back only if the attempt alone has moved it. If
	 * it moves after the attempt's end, another process reads the file: a
	 * shell's loop that reads it line by line, or a process that the
	 * attempt has left behind.
	 */
	if (lseek(STDIN_FILENO, 0, SEEK_CUR) != input->ended)
		return REASON_INPUT_CONSUMED;
	if (input->ended == input->start || input->judged)
		return REASON_NONE;
	input->judged = true;
	return procfs_shares_offset(STDIN_FILENO) ? REASON_INPUT_CONSUMED
						  : REASON_NONE;
}
