#include "report/report_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <unistd.h>
#include "sys/procfs.h"
#include "sys/sys.h"

/* The number of symbolic links that the kernel follows in a path. */
#define LINKS_MOST 40

/* The size of every page is a multiple of this one. */
#define PAGE 4096

/* The type of the file system proc: statfs(2). */
#define PROC_MAGIC 0x9fa0

/*
 * Functions that return false set errno.
 */

/*
 * Paths
 */

/* The length of a path up to and with its last slash. */
static int
directory_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash == NULL ? 0 : (int)(slash + 1 - path);
}

/* The descriptor that a path such as "-" or /dev/fd/3 names, or -1. */
static int
descriptor_of(const char *file)
{
	return strcmp(file, "-") == 0 ? STDERR_FILENO : procfs_descriptor(file);
}

/*
 * Whether a link or file may be followed or written to: not one of another user
 * in a directory like /tmp, where the link may lead to any file of this user.
 * The rule is that of protected_symlinks in proc_sys_fs(5).
 */
static bool
is_trusted(const char *path, const struct stat *file)
{
	int length = directory_of(path);
	char parent[PATH_MAX];
	struct stat directory;

	snprintf(parent, sizeof parent, "%.*s", length, path);
	if (stat(length == 0 ? "." : parent, &directory) == -1)
		return false;
	return (directory.st_mode & S_ISVTX) == 0 ||
	    (directory.st_mode & S_IWOTH) == 0 || file->st_uid == geteuid() ||
	    file->st_uid == directory.st_uid;
}

/*
 * Follows symbolic links up to a path that is none, whether or not a file has
 * it, or up to one that names a descriptor. False if a link may not be
 * followed.
 */
static bool
resolve(char path[PATH_MAX], const char *file)
{
	size_t size = strlen(file) + 1;

	errno = ENAMETOOLONG;
	if (size > PATH_MAX)
		return false;
	memcpy(path, file, size);
	for (int links = 0; links < LINKS_MOST; links++) {
		size_t directory = (size_t)directory_of(path);
		char text[PATH_MAX];
		struct statfs system;
		struct stat stat;
		ssize_t length = 0;
		bool follows;
		int fd, error;

		if (descriptor_of(path) != -1)
			return true;
		fd = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
		/* If that is an error, writing will fail with it. */
		if (fd == -1)
			return true;
		/* The text of a link in /proc is not always the path that it
		 * leads to. */
		follows = fstat(fd, &stat) == 0 && S_ISLNK(stat.st_mode) &&
		    (fstatfs(fd, &system) == -1 || system.f_type != PROC_MAGIC);
		if (follows)
			length = readlinkat(fd, "", text, sizeof text - 1);
		error = errno;
		close(fd);
		errno = error;
		if (!follows || length == -1)
			return !follows;
		errno = EACCES;
		if (!is_trusted(path, &stat))
			return false;
		text[length] = '\0';
		if (*text == '/')
			directory = 0;
		errno = ENAMETOOLONG;
		if (directory + (size_t)length >= PATH_MAX)
			return false;
		memcpy(path + directory, text, (size_t)length + 1);
	}
	errno = ELOOP;
	return false;
}

/*
 * Regular files
 */

/* Writes the text from where the descriptor is. Returns how much of it; if that
 * is not all, errno tells why. */
static size_t
put_text(const struct report_file *target, int fd)
{
	size_t done = 0;

	while (done < target->length) {
		ssize_t put =
		    write(fd, target->bytes + done, target->length - done);

		if (put != -1)
			done += (size_t)put;
		else if (errno != EINTR)
			break;
	}
	return done;
}

/*
 * Writes a temporary file in the same directory and renames it to file. old is
 * the regular file that has this name, or NULL. It keeps its mode, which the
 * user has chosen.
 */
static bool
replace(
    const struct report_file *target, const char *file, const struct stat *old)
{
	char path[PATH_MAX], uuid[SYS_UUID];
	mode_t mode = target->mode;
	int fd, error = 0;

	if (snprintf(path, sizeof path, "%.*s.retry-%s.tmp", directory_of(file),
		file, sys_uuid(uuid)) >= (int)sizeof path) {
		errno = ENAMETOOLONG;
		return false;
	}
	fd = open(
	    path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
	if (fd == -1)
		return false;
	if (mode == 0 && old != NULL)
		mode = old->st_mode & 0777;
	if (((target->mode != 0 || old != NULL) && fchmod(fd, mode) == -1) ||
	    put_text(target, fd) < target->length)
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
 * The first byte destroys the old text. If writing fails nevertheless, the file
 * is made empty: half a text could be mistaken for a whole one.
 */
static bool
write_over(const struct report_file *target, int fd)
{
	size_t done = put_text(target, fd);
	int error;

	if (done == target->length && ftruncate(fd, (off_t)done) == 0)
		return true;
	error = errno;
	if (done > 0 && ftruncate(fd, 0) == -1)
		error = errno;
	errno = error;
	return false;
}

/*
 * Adds to the end of a file, in one write(2). If the disk is full nevertheless,
 * the line is cut off. It stays, because another process may have added a line
 * behind it; and it gets a newline, if there is room for one, so that it does
 * not spoil the next line. An old line without a newline gets one first, unless
 * it ends with a page: there the file also ends while another process writes.
 */
static bool
write_behind(const struct report_file *target, int fd, off_t at)
{
	char newline = '\n', last = newline;
	struct iovec parts[] = { { &newline, 1 },
		{ target->bytes, target->length } };
	size_t length = target->length;
	ssize_t put;

	/* A file that may not be read ends as it should. */
	if (at % PAGE != 0 && pread(fd, &last, 1, at - 1) == 1 &&
	    last != newline)
		length++;
	do
		put = length > target->length
		    ? writev(fd, parts, 2)
		    : write(fd, target->bytes, length);
	while (put == -1 && errno == EINTR);
	if (put == -1 || (size_t)put == length)
		return put != -1;
	if (write(fd, "\n", 1) != -1)
		errno = ENOSPC;
	return false;
}

/* Writes a text to an open file, behind its text or over it. If the file must
 * not be written to, the error is why. */
static bool
write_open(const struct report_file *target, const char *file, int fd, int why)
{
	struct rlimit limit;
	struct stat stat;
	off_t at;

	if (fstat(fd, &stat) == -1)
		return false;
	/* Only a privileged user can have made a mount point. */
	errno = why;
	if (!S_ISREG(stat.st_mode) ||
	    (why != EBUSY && !is_trusted(file, &stat)))
		return false;
	/* What is written in place cannot be undone: is there room for it? */
	at = target->append ? stat.st_size : 0;
	errno = EFBIG;
	if (getrlimit(RLIMIT_FSIZE, &limit) == 0 &&
	    (rlim_t)at + target->length > limit.rlim_cur)
		return false;
	if (fallocate(fd, FALLOC_FL_KEEP_SIZE, at, (off_t)target->length) ==
		-1 &&
	    (errno == ENOSPC || errno == EDQUOT))
		return false;
	return target->append ? write_behind(target, fd, at)
			      : write_over(target, fd);
}

/*
 * Writes to the file itself: behind its text, or over its text if the file
 * could not be replaced, because it is a mount point or its directory is not
 * writable. why is the error of the replacement; unless it is EBUSY, the file
 * must be trusted.
 */
static bool
write_in_place(const struct report_file *target, const char *file, int why)
{
	int flags = O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
	bool done;
	int fd, error;

	if (target->append)
		flags |= O_APPEND | O_CREAT;
	fd = open(file, flags | (target->append ? O_RDWR : O_WRONLY), 0666);
	if (fd == -1 && target->append && errno == EACCES)
		fd = open(file, flags | O_WRONLY, 0666);
	if (fd == -1)
		return false;
	done = write_open(target, file, fd, why);
	error = errno;
	if (close(fd) == -1 && done) {
		error = errno;
		done = false;
	}
	errno = error;
	return done;
}

/*
 * Other files
 */

/* Writes the whole text with as few calls as possible, as long as the reader
 * takes it, and as no signal has ended a wait. */
static bool
write_slowly(struct report_file *target, const struct nonblock *nonblock)
{
	struct event_loop *loop = target->loop;
	nanos until = event_loop_now(loop) + target->patience;

	for (size_t done = 0; done < target->length;) {
		ssize_t put = nonblock_put(
		    nonblock, target->bytes + done, target->length - done);
		nanos left;

		if (put > 0) {
			done += (size_t)put;
			until = event_loop_now(loop) + target->patience;
			continue;
		}
		if (put == 0)
			errno = EIO;
		if (errno != EAGAIN && errno != EINTR)
			return false;
		left = until - event_loop_now(loop);
		errno = ETIMEDOUT;
		if (!target->ended && left <= 0)
			return false;
		if (!target->ended)
			target->ended =
			    !event_loop_wait(loop, nonblock->fd, left);
		errno = EINTR;
		if (target->ended)
			return false;
	}
	return true;
}

/* Writes the text to a path that is no link. */
static bool
write_to(struct report_file *target, const char *path)
{
	struct nonblock nonblock = { .way = NONBLOCK_PLAIN };
	struct stat old;
	int fd = descriptor_of(path), flags, error;
	bool found, done;

	if (fd != -1) {
		flags = fcntl(fd, F_GETFD);
		/* A close-on-exec descriptor is retry's own, no inherited one.
		 */
		errno = EBADF;
		if (flags == -1 || (flags & FD_CLOEXEC) != 0)
			return false;
		/* Lines of the log that still wait to be written come first. */
		if (!target->ended)
			target->ended =
			    !event_loop_await(target->loop, event_loop_log,
				sys_now(CLOCK_BOOTTIME) + target->patience);
		nonblock = nonblock_open(fd);
		return write_slowly(target, &nonblock);
	}

	found = stat(path, &old) == 0;
	if (!found || S_ISREG(old.st_mode)) {
		/* Anybody may have put a file there: it has to be trusted. */
		if (target->append)
			return write_in_place(target, path, EACCES);
		if (replace(target, path, found ? &old : NULL))
			return true;
		error = errno;
		/* Is it a mount point, or its directory not writable? */
		if (!found ||
		    (error != EBUSY && error != EACCES && error != EPERM &&
			error != EROFS))
			return false;
		return write_in_place(target, path, error);
	}
	/* With O_NONBLOCK a FIFO without a reader is an error: ENXIO. */
	nonblock.fd = open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (nonblock.fd == -1)
		return false;
	done = write_slowly(target, &nonblock);
	error = errno;
	close(nonblock.fd);
	errno = error;
	return done;
}

bool
report_file_write(struct report_file *target)
{
	struct writer writer = { .to = memfd_create("retry", MFD_CLOEXEC) };
	char path[PATH_MAX];
	bool done = false;
	int error;

	if (writer.to == -1)
		return false;
	target->put(&writer, target->with);
	target->bytes = MAP_FAILED;
	errno = writer_flush(&writer);
	if (errno == 0) {
		target->length = (size_t)lseek(writer.to, 0, SEEK_CUR);
		target->bytes = mmap(
		    NULL, target->length, PROT_READ, MAP_SHARED, writer.to, 0);
	}
	error = errno;
	close(writer.to);
	errno = error;
	if (target->bytes == MAP_FAILED)
		return false;

	done = resolve(path, target->file) && write_to(target, path);
	error = errno;
	munmap(target->bytes, target->length);
	errno = error;
	return done;
}
