#include "streams/tempfile.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>
#include "sys/sys.h"
#include "sys/procfs.h"

/* The buffer, for files between which the kernel cannot move bytes. */
#define ROOM 16384

/* The most bytes that one call moves: meanwhile no signal is handled. */
#define MOST ((size_t)1 << 24)

const char *
tempfile_directory(bool *chosen)
{
	const char *name = getenv("TMPDIR");

	*chosen = name != NULL && name[0] != '\0';
	return *chosen ? name : "/tmp";
}

int
tempfile_create(const char *directory, char *path, size_t size)
{
	int length = snprintf(path, size, "%s/retry-XXXXXX", directory);

	if ((size_t)length >= size) {
		errno = ENAMETOOLONG;
		return -1;
	}
	return sys_move_up(mkostemp(path, O_CLOEXEC));
}

int
tempfile_open(void)
{
	char path[PATH_MAX];
	bool chosen;
	const char *directory = tempfile_directory(&chosen);
	int fd = open(directory, O_TMPFILE | O_EXCL | O_RDWR | O_CLOEXEC,
	    S_IRUSR | S_IWUSR);
	int error;

	/* Not every file system can make a file without a name. */
	if (fd == -1) {
		fd = tempfile_create(directory, path, sizeof path);
		if (fd != -1)
			unlink(path);
	}
	/*
	 * A read-only root may have no /tmp. A user who chose a directory wants
	 * the bytes there and nowhere else. Of two errors errno is the first.
	 */
	if (fd == -1 && !chosen) {
		error = errno;
		fd = memfd_create("retry", MFD_CLOEXEC);
		errno = error;
	}
	/* Whatever the umask is, tempfile_reopen() must be able to open it. */
	if (fd != -1)
		fchmod(fd, S_IRUSR | S_IWUSR);
	return sys_move_up(fd);
}

int
tempfile_reopen(int fd, int flags)
{
	char name[PROCFS_NAME];

	return sys_move_up(open(procfs_name(name, fd), flags | O_CLOEXEC));
}

int
tempfile_again(int fd)
{
	int other = tempfile_reopen(fd, O_RDONLY);
	off_t offset = 0;
	ssize_t sent;

	if (other != -1 || (errno != ENOENT && errno != EACCES))
		return other;
	other = tempfile_open();
	if (other == -1)
		return -1;
	do
		sent = tempfile_send(fd, &offset,
		    &(struct nonblock){ NONBLOCK_PLAIN, other }, MOST);
	while (sent > 0);
	if (sent == 0 && lseek(other, 0, SEEK_SET) == 0)
		return other;
	close(other);
	return -1;
}

/* Whether the kernel cannot move bytes in this way between these files. */
static bool
unsupported(void)
{
	return errno == EINVAL || errno == EXDEV || errno == EBADF ||
	    errno == EOPNOTSUPP || errno == ENOSYS || errno == EPERM ||
	    errno == ETXTBSY || errno == EISDIR || errno == EOVERFLOW;
}

ssize_t
tempfile_send(int fd, off_t *offset, const struct nonblock *to, size_t most)
{
	char bytes[ROOM];
	ssize_t got, sent;

	if (to->way == NONBLOCK_PLAIN) {
		if (most > MOST)
			most = MOST;
		sent = copy_file_range(fd, offset, to->fd, NULL, most, 0);
		if (sent == 0 || (sent == -1 && unsupported()))
			sent = sendfile(to->fd, fd, offset, most);
		if (sent > 0 || (sent == -1 && !unsupported()))
			return sent;
	}
	/*
	 * 0 need not mean the end, because the kernel returns 0 for other
	 * reasons, too. Only a read shows the end.
	 */
	got = pread(fd, bytes, most < ROOM ? most : ROOM, *offset);
	if (got <= 0)
		return got;
	sent = nonblock_put(to, bytes, (size_t)got);
	if (sent > 0)
		*offset += sent;
	return sent;
}
