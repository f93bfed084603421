#include "target.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>
#include "context.h"
#include "proc.h"

/* How long a reader that takes nothing is waited for. */
#define PATIENCE (2 * NANOS_SECOND)

/* As many links does the kernel follow. */
#define LINKS_MOST 40

/* The type of the file system proc, see statfs(2). */
#define PROC_MAGIC 0x9fa0

/*
 * Functions that return a bool leave errno where it is false.
 */

static bool
fill(int fd, const struct target *target)
{
	struct page page = { .to = fd };

	target->put(&page, target->with);
	errno = page_flush(&page);
	return errno == 0;
}

/* Who may read a file that was there already is the user's choice. */
static bool
set_mode(int fd, const struct target *target, const struct stat *old)
{
	if (target->mode != 0)
		return fchmod(fd, target->mode) == 0;
	return old == NULL || fchmod(fd, old->st_mode & 0777) == 0;
}

/* A name in the same directory that nobody else has. */
static bool
name_beside(char path[PATH_MAX], const char *file)
{
	static const char prefix[] = ".retry-", suffix[] = ".tmp";
	const char *slash = strrchr(file, '/');
	size_t length = slash == NULL ? 0 : (size_t)(slash + 1 - file);

	if (length + sizeof prefix + CONTEXT_UUID + sizeof suffix > PATH_MAX) {
		errno = ENAMETOOLONG;
		return false;
	}
	memcpy(path, file, length);
	memcpy(path + length, prefix, sizeof prefix);
	length += sizeof prefix - 1;
	context_uuid(path + length);
	length += CONTEXT_UUID - 1;
	memcpy(path + length, suffix, sizeof suffix);
	return true;
}

/* old is the regular file of that name, which is no link, or NULL. */
static bool
replace(const struct target *target, const char *file, const struct stat *old)
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
	/* A disk may say as late as that that it is full. */
	if (close(fd) == -1 && error == 0)
		error = errno;
	if (error == 0 && rename(path, file) == -1)
		error = errno;
	if (error != 0)
		unlink(path);
	errno = error;
	return error == 0;
}

/* What was said already comes first. */
static void
let_lines_go(struct pump *pump)
{
	nanos until = context_now(CLOCK_MONOTONIC) + PATIENCE;

	while (lines_pollfd(&pump->lines).fd != -1) {
		nanos left = until - context_now(CLOCK_MONOTONIC);
		struct wakeup wakeup = pump_wait(pump, left);

		if (left <= 0 || signals_end_series(wakeup.signal))
			return;
	}
}

/* False: it takes too long, or somebody wants us to end. */
static bool
await_room(struct pump *pump, const struct outlet *outlet, nanos until)
{
	struct pollfd fds[] = { { .fd = -1 },
		{ .fd = outlet->fd, .events = POLLOUT } };
	nanos left = until - context_now(CLOCK_MONOTONIC);
	struct wakeup wakeup = signals_wait(&pump->signals, fds, 2, left);

	errno = ETIMEDOUT;
	return left > 0 && !signals_end_series(wakeup.signal);
}

static bool
write_out(struct pump *pump, const struct outlet *outlet, const char *bytes,
    size_t length)
{
	nanos until = context_now(CLOCK_MONOTONIC) + PATIENCE;

	while (length > 0) {
		ssize_t put = outlet_put(outlet, bytes, length);

		if (put > 0) {
			bytes += put;
			length -= (size_t)put;
			until = context_now(CLOCK_MONOTONIC) + PATIENCE;
			continue;
		}
		if (put == 0 || (errno != EAGAIN && errno != EINTR) ||
		    !await_room(pump, outlet, until))
			return false;
	}
	return true;
}

/* Whole before it is written, so that it goes in as few pieces as can be. */
static bool
deliver(
    const struct target *target, const struct outlet *outlet, struct pump *pump)
{
	int fd = memfd_create("retry", MFD_CLOEXEC), error;
	bool done = fd != -1 && fill(fd, target);
	off_t length = done ? lseek(fd, 0, SEEK_CUR) : 0;
	char *bytes = MAP_FAILED;

	if (length > 0)
		bytes =
		    mmap(NULL, (size_t)length, PROT_READ, MAP_SHARED, fd, 0);
	done = bytes != MAP_FAILED &&
	    write_out(pump, outlet, bytes, (size_t)length);
	error = errno;
	if (bytes != MAP_FAILED)
		munmap(bytes, (size_t)length);
	if (fd != -1)
		close(fd);
	errno = error;
	return done;
}

/* The descriptor that a file is another name of, or -1. */
static int
descriptor(const char *file)
{
	return strcmp(file, "-") == 0 ? STDERR_FILENO : proc_descriptor(file);
}

static bool
write_to_descriptor(const struct target *target, int fd, struct pump *pump)
{
	int flags = fcntl(fd, F_GETFD);
	struct outlet outlet;

	/* Nobody gave us what is closed for the command: it is our own. */
	if (flags == -1 || (flags & FD_CLOEXEC) != 0) {
		errno = EBADF;
		return false;
	}
	let_lines_go(pump);
	outlet = outlet_open(fd);
	return deliver(target, &outlet, pump);
}

static bool
write_to_file(const struct target *target, const char *file, struct pump *pump)
{
	struct outlet outlet = { .way = OUTLET_PRIVATE };
	struct stat old;
	bool found = stat(file, &old) == 0, done;
	int error;

	if (!found || S_ISREG(old.st_mode))
		return replace(target, file, found ? &old : NULL);
	/* A FIFO without a reader is not waited for. */
	outlet.fd = open(file, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (outlet.fd == -1)
		return false;
	done = deliver(target, &outlet, pump);
	error = errno;
	close(outlet.fd);
	errno = error;
	return done;
}

/*
 * Whether the kernel itself would follow this link: one that somebody else has
 * left in a directory like /tmp may lead to any file of ours.
 */
static bool
is_trusted(const char *path, size_t directory, const struct stat *link)
{
	char parent[PATH_MAX] = ".";
	struct stat stat_of_parent;

	if (directory > 0) {
		memcpy(parent, path, directory);
		parent[directory] = '\0';
	}
	if (stat(parent, &stat_of_parent) == -1)
		return false;
	return (stat_of_parent.st_mode & S_ISVTX) == 0 ||
	    (stat_of_parent.st_mode & S_IWOTH) == 0 ||
	    link->st_uid == geteuid() || link->st_uid == stat_of_parent.st_uid;
}

/*
 * Puts what a link says, which is looked at by fd, in the place of its name.
 * False, with errno.
 */
static bool
follow(char path[PATH_MAX], int fd, const struct stat *link)
{
	const char *slash = strrchr(path, '/');
	size_t directory = slash == NULL ? 0 : (size_t)(slash + 1 - path);
	char said[PATH_MAX];
	ssize_t length = readlinkat(fd, "", said, sizeof said - 1);

	if (length == -1)
		return false;
	if (!is_trusted(path, directory, link)) {
		errno = EACCES;
		return false;
	}
	said[length] = '\0';
	if (*said == '/')
		directory = 0;
	if (directory + (size_t)length >= PATH_MAX) {
		errno = ENAMETOOLONG;
		return false;
	}
	memcpy(path + directory, said, (size_t)length + 1);
	return true;
}

/* The kernel's own links there lead elsewhere than to what they say. */
static bool
is_in_proc(int fd)
{
	struct statfs statfs;

	return fstatfs(fd, &statfs) == 0 && statfs.f_type == PROC_MAGIC;
}

/*
 * The name that no link stands for any more, whether or not there is such a
 * file; or that of a descriptor. False, with errno.
 */
static bool
resolve(char path[PATH_MAX], const char *file)
{
	size_t length = strlen(file);
	struct stat stat;

	errno = ENAMETOOLONG;
	if (length >= PATH_MAX)
		return false;
	memcpy(path, file, length + 1);
	for (int links = 0; links < LINKS_MOST; links++) {
		int fd, error;
		bool done;

		if (descriptor(path) != -1)
			return true;
		fd = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
		/* What is wrong with it is found when it is written. */
		if (fd == -1)
			return true;
		done = fstat(fd, &stat) == -1 || !S_ISLNK(stat.st_mode) ||
		    is_in_proc(fd);
		if (done || !follow(path, fd, &stat)) {
			error = errno;
			close(fd);
			errno = error;
			return done;
		}
		close(fd);
	}
	errno = ELOOP;
	return false;
}

bool
target_write(const struct target *target, struct pump *pump)
{
	char path[PATH_MAX];
	int fd;

	if (!resolve(path, target->file))
		return false;
	fd = descriptor(path);
	return fd != -1 ? write_to_descriptor(target, fd, pump)
			: write_to_file(target, path, pump);
}
