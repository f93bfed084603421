#include "report/atomic_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include "sys/sys.h"
#include "text/number.h"
#include "report/target_path.h"

/*
 * Functions that return false set errno.
 */

static bool
fill(int fd, const struct atomic_file *target)
{
	struct writer writer = { .to = fd };

	target->put(&writer, target->with);
	errno = writer_flush(&writer);
	return errno == 0;
}

/* A file that is replaced keeps its mode, which the user has chosen. */
static bool
set_mode(int fd, const struct atomic_file *target, const struct stat *old)
{
	if (target->mode != 0)
		return fchmod(fd, target->mode) == 0;
	return old == NULL || fchmod(fd, old->st_mode & 0777) == 0;
}

/* The whole text of a file, in memory, before any of it is written. */
struct document {
	int fd;
	char *bytes;
	size_t length;
};

/* The document has to be discarded even if this fails. */
static bool
compose(struct document *document, const struct atomic_file *target)
{
	off_t length;

	*document = (struct document){ .fd = memfd_create("retry", MFD_CLOEXEC),
		.bytes = MAP_FAILED };
	if (document->fd == -1 || !fill(document->fd, target))
		return false;
	length = lseek(document->fd, 0, SEEK_CUR);
	if (length <= 0)
		return false;
	document->length = (size_t)length;
	document->bytes = mmap(
	    NULL, document->length, PROT_READ, MAP_SHARED, document->fd, 0);
	return document->bytes != MAP_FAILED;
}

/* Keeps errno. */
static void
discard(struct document *document)
{
	int error = errno;

	if (document->bytes != MAP_FAILED)
		munmap(document->bytes, document->length);
	if (document->fd != -1)
		close(document->fd);
	errno = error;
}

/* A new name in the same directory, for a temporary file. */
static bool
name_beside(char path[PATH_MAX], const char *file)
{
	static const char prefix[] = ".retry-", suffix[] = ".tmp";
	size_t length = target_path_directory(file);

	if (length + sizeof prefix + SYS_UUID + sizeof suffix > PATH_MAX) {
		errno = ENAMETOOLONG;
		return false;
	}
	memcpy(path, file, length);
	memcpy(path + length, prefix, sizeof prefix);
	length += sizeof prefix - 1;
	sys_uuid(path + length);
	length += SYS_UUID - 1;
	memcpy(path + length, suffix, sizeof suffix);
	return true;
}

/*
 * Writes a temporary file and renames it to file. old is the regular file that
 * has this name, or NULL.
 */
static bool
replace(
    const struct atomic_file *target, const char *file, const struct stat *old)
{
	char path[PATH_MAX];
	int fd, error = 0;

	if (!name_beside(path, file))
		return false;
	fd = open(
	    path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
	if (fd == -1)
		return false;
	if (!set_mode(fd, target, old) || !fill(fd, target))
		error = errno;
	/* Some file systems report a full disk or quota only on close(2). */
	if (close(fd) == -1 && error == 0)
		error = errno;
	if (error == 0 && rename(path, file) == -1)
		error = errno;
	if (error != 0)
		unlink(path);
	errno = error;
	return error == 0;
}

/*
 * Reserves room for the document from the offset at on: what is written to a
 * file in place cannot be undone.
 */
static bool
reserve(int fd, const struct document *document, off_t at)
{
	struct rlimit limit;

	errno = EFBIG;
	if (getrlimit(RLIMIT_FSIZE, &limit) == 0 &&
	    (rlim_t)at + document->length > limit.rlim_cur)
		return false;
	return fallocate(
		   fd, FALLOC_FL_KEEP_SIZE, at, (off_t)document->length) == 0 ||
	    (errno != ENOSPC && errno != EDQUOT);
}

/*
 * The first byte destroys the old text. If writing fails nevertheless, the file
 * is made empty: half a text could be mistaken for a whole one.
 */
static bool
write_over(int fd, const struct document *document)
{
	size_t done = 0;
	ssize_t put = 0;
	int error;

	if (!reserve(fd, document, 0))
		return false;
	while (done < document->length) {
		put =
		    write(fd, document->bytes + done, document->length - done);
		if (put == -1)
			break;
		done += (size_t)put;
	}
	if (put != -1 && ftruncate(fd, (off_t)document->length) == 0)
		return true;
	error = errno;
	if (done > 0 && ftruncate(fd, 0) == -1)
		error = errno;
	errno = error;
	return false;
}

/*
 * Adds to the end of a file of this size, in one write(2). If the disk is full
 * nevertheless, the line is cut off. It stays, because another process may have
 * added a line behind it; and it gets a newline, if there is room for one, so
 * that it does not spoil the next line. Whether an old line lacks its newline
 * cannot be known: while another process writes, the file ends anywhere.
 */
static bool
write_behind(int fd, const struct document *document, off_t size)
{
	ssize_t put;

	if (!reserve(fd, document, size))
		return false;
	do
		put = write(fd, document->bytes, document->length);
	while (put == -1 && errno == EINTR);
	if (put == -1 || (size_t)put == document->length)
		return put != -1;
	if (write(fd, "\n", 1) != -1)
		errno = ENOSPC;
	return false;
}

/* Whether a file may be written to in place after this error of rename(2). */
static bool
is_fixed(int error)
{
	return error == EBUSY || error == EACCES || error == EPERM ||
	    error == EROFS;
}

/*
 * Writes to the file itself: behind its text, or over its text if the file
 * could not be replaced, because it is a mount point or its directory is not
 * writable. why is the error of the replacement; unless it is EBUSY, the file
 * must be trusted.
 */
static bool
write_in_place(const struct atomic_file *target, const char *file, int why)
{
	int flags = O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
	struct document document;
	struct stat stat;
	int fd = -1, error;
	bool done = compose(&document, target);

	if (target->append)
		flags |= O_APPEND | O_CREAT;
	if (done)
		fd = open(file, flags, 0666);
	done = fd != -1 && fstat(fd, &stat) == 0;
	/* This is the error if the file must not be written to. */
	if (done)
		errno = why;
	/* Only a privileged user can have made a mount point. */
	done = done && S_ISREG(stat.st_mode) &&
	    (why == EBUSY || target_path_trusted(file, &stat)) &&
	    (target->append ? write_behind(fd, &document, stat.st_size)
			    : write_over(fd, &document));
	error = errno;
	if (fd != -1 && close(fd) == -1 && done) {
		error = errno;
		done = false;
	}
	discard(&document);
	errno = error;
	return done;
}

/*
 * Waits for a reader, until event_loop_now() is until. False if the reader
 * takes too long, or if a signal has ended this wait or one before.
 */
static bool
await_reader(struct atomic_file_wait *wait, int fd, nanos until)
{
	nanos left = until - event_loop_now(wait->loop);

	errno = wait->ended ? EINTR : ETIMEDOUT;
	if (wait->ended || left <= 0)
		return false;
	wait->ended = !event_loop_wait_room(wait->loop, fd, left);
	errno = EINTR;
	return !wait->ended;
}

static bool
write_out(struct atomic_file_wait *wait, const struct nonblock *nonblock,
    const char *bytes, size_t length)
{
	nanos until = event_loop_now(wait->loop) + wait->patience;

	while (length > 0) {
		ssize_t put = nonblock_put(nonblock, bytes, length);

		if (put > 0) {
			bytes += put;
			length -= (size_t)put;
			until = event_loop_now(wait->loop) + wait->patience;
			continue;
		}
		if (put == 0 || (errno != EAGAIN && errno != EINTR) ||
		    !await_reader(wait, nonblock->fd, until))
			return false;
	}
	return true;
}

/* Writes the whole text with as few calls as possible. */
static bool
deliver(const struct atomic_file *target, const struct nonblock *nonblock,
    struct atomic_file_wait *wait)
{
	struct document document;
	bool done = compose(&document, target) &&
	    write_out(wait, nonblock, document.bytes, document.length);

	discard(&document);
	return done;
}

static bool
write_to_descriptor(
    const struct atomic_file *target, int fd, struct atomic_file_wait *wait)
{
	int flags = fcntl(fd, F_GETFD);
	struct nonblock nonblock;

	/* A close-on-exec descriptor is retry's own, not an inherited one. */
	if (flags == -1 || (flags & FD_CLOEXEC) != 0) {
		errno = EBADF;
		return false;
	}
	/* Lines of the log that still wait to be written come first. */
	if (!wait->ended)
		wait->ended = !event_loop_await(wait->loop, event_loop_log,
		    sys_now(CLOCK_BOOTTIME) + wait->patience);
	nonblock = nonblock_open(fd);
	return deliver(target, &nonblock, wait);
}

static bool
write_to_file(const struct atomic_file *target, const char *file,
    struct atomic_file_wait *wait)
{
	struct nonblock nonblock = { .way = NONBLOCK_PRIVATE };
	struct stat old;
	bool found = stat(file, &old) == 0, done;
	int error;

	/* Anybody may have put a file there: it has to be trusted. */
	if (target->append && (!found || S_ISREG(old.st_mode)))
		return write_in_place(target, file, EACCES);
	if (!found || S_ISREG(old.st_mode)) {
		done = replace(target, file, found ? &old : NULL);
		return done || !found || !is_fixed(errno)
		    ? done
		    : write_in_place(target, file, errno);
	}
	/* With O_NONBLOCK a FIFO without a reader is an error: ENXIO. */
	nonblock.fd = open(file, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (nonblock.fd == -1)
		return false;
	done = deliver(target, &nonblock, wait);
	error = errno;
	close(nonblock.fd);
	errno = error;
	return done;
}

bool
atomic_file_write(
    const struct atomic_file *target, struct atomic_file_wait *wait)
{
	char path[PATH_MAX];
	int fd;

	if (!target_path_resolve(path, target->file))
		return false;
	fd = target_path_descriptor(path);
	return fd != -1 ? write_to_descriptor(target, fd, wait)
			: write_to_file(target, path, wait);
}
