#include "streams/capture.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include "sys/procfs.h"
#include "sys/sys.h"
#include "text/number.h"
#include "streams/tempfile.h"

/* The most sends of one call. No signal is handled during a call. */
#define TURNS 16

/* The most bytes of a send: what a pipe holds. */
#define ROOM 65536

/*
 * The time between two looks at the file's size, within these bounds: a command
 * that writes FASTEST bytes a nanosecond needs that time to pass the limit.
 */
#define LOOK_LEAST (50 * NANOS_MS)
#define LOOK_MOST NANOS_SECOND
#define FASTEST 2

/*
 * Standard output is not O_APPEND: a program that seeks back in its output (an
 * archiver, a dump) must be able to overwrite it. Standard error is: no program
 * seeks there, but scripts open /dev/stderr again, with an offset of its own. A
 * file for both is that of standard error.
 */
static int
make_file(int fd)
{
	static const struct timespec never[2];
	int file = tempfile_open();

	if (file == -1)
		return -1;
	/* too_small() sees by this time whether a process tried to write. */
	futimens(file, never);
	if (fd != STDERR_FILENO || fcntl(file, F_SETFL, O_APPEND) != -1)
		return file;
	close(file);
	return -1;
}

bool
capture_open(
    struct capture *capture, int fd, enum capture_kind kind, off_t most)
{
	/* A descriptor that is closed stays closed. */
	bool closed = fd == -1 || fcntl(fd, F_GETFD) == -1;

	*capture = (struct capture){ .fd = closed ? -1 : fd,
		.kind = kind,
		.file = -1,
		.most = most,
		.ended = -1,
		.before = -1 };
	if (closed)
		return true;
	capture->file = make_file(fd);
	capture->fresh = capture->file != -1;
	return capture->fresh;
}

bool
capture_begin(struct capture *capture)
{
	if (capture->fd == -1)
		return true;
	if (!capture->fresh) {
		int old = capture->keeps ? capture->before : capture->file;

		if (capture->keeps)
			capture->before = capture->file;
		if (old != -1)
			close(old);
		capture->file = make_file(capture->fd);
	}
	capture->fresh = false;
	capture->ended = -1;
	return capture->file != -1;
}

bool
capture_attach(const struct capture *capture)
{
	if (capture->fd == -1)
		return true;
	return sys_attach(capture->file, capture->fd) != -1 &&
	    (capture->kind != CAPTURE_BOTH ||
		sys_attach(capture->file, STDOUT_FILENO) != -1);
}

/*
 * capture_written() asks the kernel for processes that could write to the file:
 * retry must not be one of them, unless it relays.
 */
void
capture_forked(struct capture *capture)
{
	int read_only;

	if (capture->file == -1 || capture->relayed)
		return;
	read_only = procfs_reopen(capture->file, O_RDONLY);
	if (read_only == -1)
		return;
	close(capture->file);
	capture->file = read_only;
}

/* The bytes in the file, 0 if there is none; -1 with errno. */
static off_t
length(const struct capture *capture)
{
	struct stat stat;

	if (capture->file == -1)
		return 0;
	return fstat(capture->file, &stat) == -1 ? -1 : stat.st_size;
}

bool
capture_overrun(const struct capture *capture)
{
	return length(capture) > capture->most;
}

bool
capture_ended(struct capture *capture)
{
	if (capture->ended == -1)
		capture->ended = length(capture);
	return capture->ended > capture->most;
}

void
capture_fall_back(struct capture *capture)
{
	if (capture->before == -1 || length(capture) != 0)
		return;
	close(capture->file);
	capture->file = capture->before;
	capture->before = -1;
	/* What that attempt has left behind may have written since. */
	capture->ended = number_lesser(length(capture), capture->most);
}

nanos
capture_nap(const struct capture *capture)
{
	nanos left;

	if (capture->fd == -1)
		return NANOS_MAX;
	left = (capture->most - length(capture)) / FASTEST;
	return number_greater(number_lesser(left, LOOK_MOST), LOOK_LEAST);
}

/* The kernel grants a read lease only if no process has it open to write. */
bool
capture_written(const struct capture *capture)
{
	if (capture->file == -1 ||
	    (fcntl(capture->file, F_GETFL) & O_ACCMODE) != O_RDONLY)
		return false;
	if (fcntl(capture->file, F_SETLEASE, F_RDLCK) == -1)
		return errno == EAGAIN;
	fcntl(capture->file, F_SETLEASE, F_UNLCK);
	return false;
}

/*
 * The error with which a write to the file may have failed, unnoticed by the
 * command; 0 if no write can have failed. If there is room for one more byte,
 * the last write was not cut short. There always is room unless the file ends
 * at the end of a block.
 */
static int
too_small(const struct capture *capture)
{
	struct rlimit limit;
	struct stat stat;
	int own, error = 0;

	/* A write changes the file's time even if there is no room for it. */
	if (fstat(capture->file, &stat) == 0 && stat.st_size == 0 &&
	    stat.st_mtim.tv_sec == 0)
		return 0;
	if (capture->length > capture->most)
		return EFBIG;
	if (getrlimit(RLIMIT_FSIZE, &limit) == 0 &&
	    (rlim_t)capture->length >= limit.rlim_cur)
		return EFBIG;
	own = procfs_reopen(capture->file, O_WRONLY);
	if (fallocate(own == -1 ? capture->file : own, FALLOC_FL_KEEP_SIZE,
		capture->length, 1) == -1)
		error = errno;
	if (own != -1)
		close(own);
	return error == ENOSPC || error == EDQUOT ? error : 0;
}

void
capture_release(struct capture *capture, int error)
{
	if (capture->file == -1)
		return;
	capture->length = length(capture);
	if (capture->length > capture->most && !capture_ended(capture))
		capture->length = capture->ended;
	capture->error = error;
	if (capture->length == -1)
		capture->error = errno;
	else if (error == 0)
		capture->error = too_small(capture);
	if (capture->length <= 0 ||
	    (capture->error != 0 && capture->kind == CAPTURE_WHOLE))
		return;
	capture->output = nonblock_open(capture->fd);
	capture->output.midline = capture->midline;
	capture->delivering = true;
	capture_serve(capture, POLLOUT);
}

struct pollfd
capture_pollfd(const struct capture *capture)
{
	return (
	    struct pollfd){ .fd = capture->delivering ? capture->output.fd : -1,
		.events = POLLOUT };
}

void
capture_serve(struct capture *capture, short revents)
{
	static char bytes[ROOM]; /* the stack may be small */
	int error = 0, again;

	for (int turn = 0; turn < TURNS; turn++) {
		off_t left = capture->length - capture->sent;
		ssize_t sent;

		if (!capture->delivering || revents == 0)
			return;
		sent = pread(capture->file, bytes,
		    (size_t)number_lesser(left, ROOM), capture->sent);
		if (sent > 0)
			sent =
			    nonblock_put(&capture->output, bytes, (size_t)sent);
		if (sent == -1 && (errno == EAGAIN || errno == EINTR))
			return;
		if (sent > 0)
			capture->sent += sent;
		if (sent > 0 && capture->sent < capture->length)
			continue;
		if (sent == -1) {
			error = errno;
		} else if (capture->output.way == NONBLOCK_PLAIN) {
			/* Some file systems report a full disk only here. */
			again = fcntl(capture->fd, F_DUPFD_CLOEXEC, 0);
			if (again != -1 && close(again) == -1)
				error = errno;
		}
		if (capture->error == 0)
			capture->error = error;
		capture->delivering = false;
	}
}
