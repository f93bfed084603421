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
	int spool = spool_open();

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
hold_open(struct hold *hold, int fd, off_t most)
{
	/* What is closed stays closed. */
	bool closed = fd == -1 || fcntl(fd, F_GETFD) == -1;

	*hold =
	    (struct hold){ .fd = closed ? -1 : fd, .spool = -1, .most = most };
	if (closed)
		return true;
	hold->spool = make_spool(fd);
	hold->fresh = hold->spool != -1;
	return hold->fresh;
}

bool
hold_lacks_file(const struct hold *hold)
{
	return hold->fd != -1 && hold->spool == -1;
}

bool
hold_begin(struct hold *hold)
{
	if (hold->fd == -1)
		return true;
	if (!hold->fresh) {
		if (hold->spool != -1)
			close(hold->spool);
		hold->spool = make_spool(hold->fd);
	}
	hold->fresh = false;
	return hold->spool != -1;
}

bool
hold_attach(const struct hold *hold)
{
	return hold->fd == -1 || dup2(hold->spool, hold->fd) != -1;
}

/* What we keep must not look like somebody who goes on writing. */
void
hold_forked(struct hold *hold)
{
	int own;

	if (hold->fd == -1 || hold->spool == -1 || hold->fresh)
		return;
	own = spool_reopen(hold->spool, O_RDONLY);
	if (own == -1)
		return;
	close(hold->spool);
	hold->spool = own;
}

/* Bytes of the latest attempt; 0 where there is none. */
static off_t
length(const struct hold *hold)
{
	if (hold->fd == -1 || hold->spool == -1 || hold->fresh)
		return 0;
	return spool_size(hold->spool);
}

bool
hold_overrun(const struct hold *hold)
{
	return length(hold) > hold->most;
}

/* The time in which what is left could be filled. */
nanos
hold_nap(const struct hold *hold)
{
	nanos left;

	if (hold->fd == -1)
		return NANOS_MAX;
	left = (hold->most - length(hold)) / FASTEST;
	if (left < LOOK_LEAST)
		return LOOK_LEAST;
	return number_lesser(left, LOOK_MOST);
}

bool
hold_written(const struct hold *hold)
{
	return hold->fd != -1 && hold->spool != -1 && !hold->fresh &&
	    (fcntl(hold->spool, F_GETFL) & O_ACCMODE) == O_RDONLY &&
	    spool_written(hold->spool);
}

/* Even a write that fails for want of room is one to the file's clock. */
static bool
is_untouched(const struct hold *hold)
{
	struct stat stat;

	return fstat(hold->spool, &stat) == 0 && stat.st_size == 0 &&
	    stat.st_mtim.tv_sec == 0;
}

/*
 * Why the spool may have been too small for the command, which need not have
 * noticed; 0 if it was not. What it wrote last went through whole if there is
 * room behind it, and there always is unless it ends where a block does.
 */
static int
too_small(const struct hold *hold)
{
	struct rlimit limit;
	int own, error = 0;

	if (is_untouched(hold))
		return 0;
	if (hold->length > hold->most)
		return EFBIG;
	if (getrlimit(RLIMIT_FSIZE, &limit) == 0 &&
	    (rlim_t)hold->length >= limit.rlim_cur)
		return EFBIG;
	own = spool_reopen(hold->spool, O_WRONLY);
	if (fallocate(own == -1 ? hold->spool : own, FALLOC_FL_KEEP_SIZE,
		hold->length, 1) == -1)
		error = errno;
	if (own != -1)
		close(own);
	return error == ENOSPC || error == EDQUOT ? error : 0;
}

static void
end(struct hold *hold, int error)
{
	hold->delivering = false;
	if (hold->error == 0)
		hold->error = error;
}

/* Some file systems say as late as at close(2) that they are full. */
static void
end_well(struct hold *hold)
{
	int again = hold->outlet.way == OUTLET_PLAIN
	    ? fcntl(hold->fd, F_DUPFD_CLOEXEC, 0)
	    : -1;

	end(hold, again != -1 && close(again) == -1 ? errno : 0);
}

void
hold_release(struct hold *hold, int error)
{
	if (hold->fd == -1 || hold->spool == -1 || hold->fresh)
		return;
	hold->length = spool_size(hold->spool);
	hold->error = error;
	if (hold->length == -1)
		hold->error = errno;
	else if (error == 0)
		hold->error = too_small(hold);
	if (hold->length <= 0 ||
	    (hold->error != 0 && hold->fd == STDOUT_FILENO))
		return;
	hold->outlet = outlet_open(hold->fd);
	hold->delivering = true;
	hold_serve(hold, POLLOUT);
}

struct pollfd
hold_pollfd(const struct hold *hold)
{
	return (struct pollfd){ .fd = hold->delivering ? hold->outlet.fd : -1,
		.events = POLLOUT };
}

/* Sends through us what no short cut of the kernel's may be used for. */
static ssize_t
send_through(struct hold *hold, size_t most)
{
	char bytes[ROOM];
	ssize_t got =
	    pread(hold->spool, bytes, most < ROOM ? most : ROOM, hold->sent);
	ssize_t put;

	if (got <= 0)
		return got;
	put = outlet_put(&hold->outlet, bytes, (size_t)got);
	if (put > 0)
		hold->sent += put;
	return put;
}

static ssize_t
send_some(struct hold *hold)
{
	off_t left = hold->length - hold->sent;
	size_t most = left < MOST ? (size_t)left : MOST;

	switch (hold->outlet.way) {
	case OUTLET_SOCKET:
	case OUTLET_CAREFUL:
		return send_through(hold, most);
	case OUTLET_PLAIN:
	case OUTLET_PRIVATE:
		break;
	}
	return spool_send(hold->spool, &hold->sent, hold->outlet.fd, most);
}

void
hold_serve(struct hold *hold, short revents)
{
	for (int turn = 0; turn < TURNS; turn++) {
		ssize_t sent;

		if (!hold->delivering || revents == 0)
			return;
		sent = send_some(hold);
		if (sent == -1 && (errno == EAGAIN || errno == EINTR))
			return;
		if (sent == -1)
			end(hold, errno);
		else if (sent == 0 || hold->sent == hold->length)
			end_well(hold);
	}
}

bool
hold_done(const struct hold *hold)
{
	return !hold->delivering;
}
