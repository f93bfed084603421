#include "streams/capture.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include "text/number.h"
#include "streams/tempfile.h"

/* What goes out at a time, and how often in a row: signals must not wait. */
#define MOST (1 << 20)
#define TURNS 16

/* What goes through us where it has to. */
#define ROOM 16384

/*
 * How often the size of what is held is looked at: where there is room for
 * long, in which nobody could fill it with this many bytes in a nanosecond,
 * seldom.
 */
#define LOOK_LEAST (50 * NANOS_MS)
#define LOOK_MOST NANOS_SECOND
#define FASTEST 2

/*
 * A program that goes back in its output (an archiver, a dump) must find its
 * bytes where it wrote them. Nobody does that on standard error; but there
 * scripts open /dev/stderr, with an offset of its own, in between.
 */
static int
make_spool(int fd)
{
	static const struct timespec never[2];
	int spool = tempfile_open();

	if (spool == -1)
		return -1;
	/* So that we see whether anybody has tried to write. */
	futimens(spool, never);
	if (fd != STDERR_FILENO || fcntl(spool, F_SETFL, O_APPEND) != -1)
		return spool;
	close(spool);
	return -1;
}

bool
capture_open(struct capture *capture, int fd, off_t most)
{
	/* What is closed stays closed. */
	bool closed = fd == -1 || fcntl(fd, F_GETFD) == -1;

	*capture = (struct capture){
		.fd = closed ? -1 : fd, .spool = -1, .most = most
	};
	if (closed)
		return true;
	capture->spool = make_spool(fd);
	capture->fresh = capture->spool != -1;
	return capture->fresh;
}

bool
capture_lacks_file(const struct capture *capture)
{
	return capture->fd != -1 && capture->spool == -1;
}

bool
capture_begin(struct capture *capture)
{
	if (capture->fd == -1)
		return true;
	if (!capture->fresh) {
		if (capture->spool != -1)
			close(capture->spool);
		capture->spool = make_spool(capture->fd);
	}
	capture->fresh = false;
	return capture->spool != -1;
}

bool
capture_attach(const struct capture *capture)
{
	return capture->fd == -1 || dup2(capture->spool, capture->fd) != -1;
}

/* What we keep must not look like somebody who goes on writing. */
void
capture_forked(struct capture *capture)
{
	int own;

	if (capture->fd == -1 || capture->spool == -1 || capture->fresh)
		return;
	own = tempfile_reopen(capture->spool, O_RDONLY);
	if (own == -1)
		return;
	close(capture->spool);
	capture->spool = own;
}

/* Bytes of the latest attempt; 0 where there is none. */
static off_t
length(const struct capture *capture)
{
	if (capture->fd == -1 || capture->spool == -1 || capture->fresh)
		return 0;
	return tempfile_size(capture->spool);
}

bool
capture_overrun(const struct capture *capture)
{
	return length(capture) > capture->most;
}

/* The time in which what is left could be filled. */
nanos
capture_nap(const struct capture *capture)
{
	nanos left;

	if (capture->fd == -1)
		return NANOS_MAX;
	left = (capture->most - length(capture)) / FASTEST;
	if (left < LOOK_LEAST)
		return LOOK_LEAST;
	return number_lesser(left, LOOK_MOST);
}

bool
capture_written(const struct capture *capture)
{
	return capture->fd != -1 && capture->spool != -1 && !capture->fresh &&
	    (fcntl(capture->spool, F_GETFL) & O_ACCMODE) == O_RDONLY &&
	    tempfile_written(capture->spool);
}

/* Even a write that fails for want of room is one to the file's clock. */
static bool
is_untouched(const struct capture *capture)
{
	struct stat stat;

	return fstat(capture->spool, &stat) == 0 && stat.st_size == 0 &&
	    stat.st_mtim.tv_sec == 0;
}

/*
 * Why the spool may have been too small for the command, which need not have
 * noticed; 0 if it was not. What it wrote last went through whole if there is
 * room behind it, and there always is unless it ends where a block does.
 */
static int
too_small(const struct capture *capture)
{
	struct rlimit limit;
	int own, error = 0;

	if (is_untouched(capture))
		return 0;
	if (capture->length > capture->most)
		return EFBIG;
	if (getrlimit(RLIMIT_FSIZE, &limit) == 0 &&
	    (rlim_t)capture->length >= limit.rlim_cur)
		return EFBIG;
	own = tempfile_reopen(capture->spool, O_WRONLY);
	if (fallocate(own == -1 ? capture->spool : own, FALLOC_FL_KEEP_SIZE,
		capture->length, 1) == -1)
		error = errno;
	if (own != -1)
		close(own);
	return error == ENOSPC || error == EDQUOT ? error : 0;
}

static void
end(struct capture *capture, int error)
{
	capture->delivering = false;
	if (capture->error == 0)
		capture->error = error;
}

/* Some file systems say as late as at close(2) that they are full. */
static void
end_well(struct capture *capture)
{
	int again = capture->nonblock.way == NONBLOCK_PLAIN
	    ? fcntl(capture->fd, F_DUPFD_CLOEXEC, 0)
	    : -1;

	end(capture, again != -1 && close(again) == -1 ? errno : 0);
}

void
capture_release(struct capture *capture, int error)
{
	if (capture->fd == -1 || capture->spool == -1 || capture->fresh)
		return;
	capture->length = tempfile_size(capture->spool);
	capture->error = error;
	if (capture->length == -1)
		capture->error = errno;
	else if (error == 0)
		capture->error = too_small(capture);
	if (capture->length <= 0 ||
	    (capture->error != 0 && capture->fd == STDOUT_FILENO))
		return;
	capture->nonblock = nonblock_open(capture->fd);
	capture->delivering = true;
	capture_serve(capture, POLLOUT);
}

struct pollfd
capture_pollfd(const struct capture *capture)
{
	return (struct pollfd){ .fd = capture->delivering ? capture->nonblock.fd
							  : -1,
		.events = POLLOUT };
}

/* Sends through us what no short cut of the kernel's may be used for. */
static ssize_t
send_through(struct capture *capture, size_t most)
{
	char bytes[ROOM];
	ssize_t got = pread(
	    capture->spool, bytes, most < ROOM ? most : ROOM, capture->sent);
	ssize_t put;

	if (got <= 0)
		return got;
	put = nonblock_put(&capture->nonblock, bytes, (size_t)got);
	if (put > 0)
		capture->sent += put;
	return put;
}

static ssize_t
send_some(struct capture *capture)
{
	off_t left = capture->length - capture->sent;
	size_t most = left < MOST ? (size_t)left : MOST;

	switch (capture->nonblock.way) {
	case NONBLOCK_SOCKET:
	case NONBLOCK_CAREFUL:
		return send_through(capture, most);
	case NONBLOCK_PLAIN:
	case NONBLOCK_PRIVATE:
		break;
	}
	return tempfile_send(
	    capture->spool, &capture->sent, capture->nonblock.fd, most);
}

void
capture_serve(struct capture *capture, short revents)
{
	for (int turn = 0; turn < TURNS; turn++) {
		ssize_t sent;

		if (!capture->delivering || revents == 0)
			return;
		sent = send_some(capture);
		if (sent == -1 && (errno == EAGAIN || errno == EINTR))
			return;
		if (sent == -1)
			end(capture, errno);
		else if (sent == 0 || capture->sent == capture->length)
			end_well(capture);
	}
}

bool
capture_done(const struct capture *capture)
{
	return !capture->delivering;
}
