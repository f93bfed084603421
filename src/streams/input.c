#include "streams/input.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>
#include "streams/tempfile.h"
#include "sys/procfs.h"
#include "sys/sys.h"
#include "text/number.h"

/* The most reads in one call: meanwhile no signal is handled. */
#define TURNS 16

/* The most bytes that one system call takes. */
#define CHUNK 1048576

/* The buffer, where the kernel cannot move the bytes by itself. */
#define ROOM 16384

/* An option of a socket; 0 if it has no such one. */
static int
socket_option(int fd, int name)
{
	int value = 0;
	socklen_t size = sizeof value;

	getsockopt(fd, SOL_SOCKET, name, &value, &size);
	return value;
}

/* Opens the file with an offset for the next attempt alone, which no other
 * process can move. */
static bool
reopen(struct input *input)
{
	int flags = fcntl(input->fd, F_GETFL) & (O_ACCMODE | O_DIRECT);

	if (input->sink == -1)
		input->sink = procfs_reopen(input->fd, flags);
	return input->sink != -1 &&
	    lseek(input->sink, input->start, SEEK_SET) != -1;
}

static enum input_kind
classify(struct input *input, bool replay)
{
	/* Of mem(4): null, zero, full, random and urandom. */
	static const unsigned endless[] = { 3, 5, 7, 8, 9 };
	struct stat stat, output;
	int flags, mode;
	bool one;

	if (fstat(input->fd, &stat) == -1) {
		/* A closed descriptor has no bytes to lose. After another
		 * error it may have. */
		input->error = errno == EBADF ? 0 : errno;
		return INPUT_UNTOUCHED;
	}
	flags = fcntl(input->fd, F_GETFL);
	mode = flags & O_ACCMODE;
	if (flags == -1 || (mode != O_RDONLY && mode != O_RDWR))
		return INPUT_UNTOUCHED;

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
			return INPUT_UNTOUCHED;

	switch (stat.st_mode & S_IFMT) {
	case S_IFREG:
	case S_IFBLK:
		input->start = lseek(input->fd, 0, SEEK_CUR);
		input->ended = input->start;
		if (input->start == -1)
			return INPUT_UNKNOWN;
		if (!replay)
			return INPUT_FILE;
		if (reopen(input))
			return INPUT_REOPENED;
		return S_ISREG(stat.st_mode) ? INPUT_COPIED : INPUT_FILE;
	case S_IFSOCK:
		if (socket_option(input->fd, SO_ACCEPTCONN) != 0)
			return INPUT_UNTOUCHED;
		/* A file would not keep where each message ends. */
		if (socket_option(input->fd, SO_TYPE) != SOCK_STREAM)
			return INPUT_UNKNOWN;
		input->socket = true;
		return replay ? INPUT_COPIED : INPUT_GUARDED;
	case S_IFIFO:
		return replay ? INPUT_COPIED : INPUT_GUARDED;
	case S_IFCHR:
		/* Every reader gets the same, or anything at random. */
		for (size_t i = 0; i < sizeof endless / sizeof *endless; i++)
			if (stat.st_rdev == makedev(1, endless[i]))
				return INPUT_UNTOUCHED;
		/* A terminal whose line is closed answers EIO. */
		if (isatty(input->fd) == 1 || errno == EIO)
			return INPUT_UNTOUCHED;
		break;
	default:
		break;
	}
	return INPUT_UNKNOWN;
}

static void
name(struct input *input, int fd)
{
	input->fd = fd;
	if (fd == STDIN_FILENO)
		stpcpy(input->name, "standard input");
	else
		number_put(stpcpy(input->name, "/dev/fd/"), fd);
}

void
input_open(struct input *input, int fd, const struct policy *policy)
{
	bool replay = policy->replay;

	*input = (struct input){
		.from = -1,
		.file = -1,
		.sink = -1,
		.start = -1,
		.inotify = -1,
		.waiting.bytes = -1,
	};
	name(input, fd);
	/* If there is only one attempt, no other can miss what it reads. */
	if (!replay && policy->attempts == 1)
		return;
	input->most = policy->stdin_max;
	input->kind = classify(input, replay);
	if (replay && input->kind == INPUT_UNKNOWN)
		input->unreplayed = "a special file";
	else if (replay && isatty(fd) == 1)
		input->unreplayed = "a terminal";
	if (input->kind != INPUT_COPIED)
		return;
	input->file = tempfile_open();
	if (input->file == -1)
		input->error = errno;
	else
		input->from = fd;
}

void
input_share(struct input *input, int fd, const struct input *pipe)
{
	*input = *pipe;
	input->from = -1;
	name(input, fd);
}

struct pollfd
input_pollfd(const struct input *input)
{
	return (struct pollfd){ .fd = input->from, .events = POLLIN };
}

/* What waits in a pipe or socket. */
static struct waiting
look(int fd)
{
	struct pollfd one = { .fd = fd, .events = POLLRDHUP };
	struct waiting now = { 0 };

	ioctl(fd, FIONREAD, &now.bytes);
	poll(&one, 1, 0);
	now.ended = (one.revents & (POLLHUP | POLLRDHUP)) != 0;
	return now;
}

/*
 * Whether a process has read from a pipe or socket since the first attempt
 * began. inotify reports each read(2), and splice(2) from Linux 6.6 on, but not
 * recv(2): after these fewer bytes wait. The number of a user's inotify
 * descriptors is limited: without one, bytes may be lost if anything differs.
 */
static bool
was_read(struct input *input)
{
	struct waiting before = input->waiting, now = look(input->fd);

	input->waiting = now;
	if (procfs_noticed(input->inotify) || now.bytes < before.bytes ||
	    (input->inotify == -1 &&
		(now.bytes > before.bytes || now.ended != before.ended)))
		input->consumed = true;
	return input->consumed;
}

/*
 * Copies up to room bytes without blocking; returns their number, 0 at the end
 * of the input, -1 with errno. The offset of a file stays where it is.
 */
static ssize_t
take(struct input *input, size_t room)
{
	off_t offset = input->length;
	char bytes[ROOM];
	ssize_t got;

	if (!input->socket && input->start == -1)
		return splice(input->from, NULL, input->file, &offset, room,
		    SPLICE_F_MOVE | SPLICE_F_NONBLOCK);
	if (room > ROOM)
		room = ROOM;
	if (input->socket)
		got = recv(input->from, bytes, room, MSG_DONTWAIT);
	else
		got = pread(input->from, bytes, room, input->start + offset);
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
input_serve(struct input *input, short revents)
{
	if (revents == 0)
		return;
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
		else
			input->length += got;
		if (input->length > input->most)
			input->error = EFBIG;
		if (got == 0 || input->error != 0)
			input->from = -1;
	}
}

bool
input_begin(struct input *input)
{
	if (input->kind == INPUT_FILE)
		return input->ended == input->start ||
		    lseek(input->fd, input->start, SEEK_SET) != -1;
	if (input->kind == INPUT_REOPENED)
		return reopen(input);
	if (input->kind == INPUT_GUARDED && input->waiting.bytes == -1) {
		input->inotify = procfs_watch(input->fd, IN_ACCESS);
		input->waiting = look(input->fd);
	}
	if (input->kind != INPUT_COPIED)
		return true;
	input->sink = procfs_reopen(input->file, O_RDONLY);
	/* Without /proc all attempts share one offset. */
	if (input->sink == -1)
		input->sink =
		    sys_move_up(fcntl(input->file, F_DUPFD_CLOEXEC, 0));
	return input->sink != -1 && lseek(input->sink, 0, SEEK_SET) == 0;
}

bool
input_attach(const struct input *input)
{
	return input->sink == -1 || sys_attach(input->sink, input->fd) != -1;
}

void
input_forked(struct input *input)
{
	if (input->sink != -1)
		close(input->sink);
	input->sink = -1;
}

void
input_ended(struct input *input)
{
	if (input->kind == INPUT_FILE)
		input->ended = lseek(input->fd, 0, SEEK_CUR);
	input->judged = false;
}

bool
input_lost(struct input *input)
{
	if (input->kind == INPUT_UNKNOWN)
		return true;
	if (input->kind == INPUT_GUARDED)
		return was_read(input);
	if (input->kind != INPUT_FILE)
		return false;
	/*
	 * The offset is moved back only if the attempt alone has moved it. If
	 * it moves after the attempt's end, another process reads the file: a
	 * shell's loop that reads it line by line, or a process that the
	 * attempt has left behind.
	 */
	if (lseek(input->fd, 0, SEEK_CUR) != input->ended)
		return true;
	if (input->ended == input->start || input->judged)
		return false;
	input->judged = true;
	return procfs_shares_offset(input->fd);
}
