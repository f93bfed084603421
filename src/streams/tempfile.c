#include "streams/tempfile.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
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
	static const char name[TEMPFILE_NAME] = "/retry-XXXXXX";
	size_t length = strlen(directory);

	if (length + sizeof name > size) {
		errno = ENAMETOOLONG;
		return -1;
	}
	memcpy(path, directory, length);
	memcpy(path + length, name, sizeof name);
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

/* A new file with the same content, for a system without /proc. */
static int
copy(int fd)
{
	int other = tempfile_open();
	off_t offset = 0;
	ssize_t sent;

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

int
tempfile_reopen(int fd, int flags)
{
	char name[PROCFS_NAME];

	return sys_move_up(open(procfs_name(name, fd), flags | O_CLOEXEC));
}

int
tempfile_again(int fd, int flags)
{
	int own = tempfile_reopen(fd, flags);

	if (own == -1 && (flags & O_ACCMODE) == O_RDONLY &&
	    (errno == ENOENT || errno == EACCES))
		return copy(fd);
	return own;
}

/* The kernel grants a read lease only if no process has it open to write. */
bool
tempfile_written(int fd)
{
	if (fcntl(fd, F_SETLEASE, F_RDLCK) == -1)
		return errno == EAGAIN;
	fcntl(fd, F_SETLEASE, F_UNLCK);
	return false;
}

off_t
tempfile_size(int fd)
{
	struct stat stat;

	return fstat(fd, &stat) == -1 ? -1 : stat.st_size;
}

/* Whether the kernel cannot move bytes in this way between these files. */
static bool
unsupported(void)
{
	return errno == EINVAL || errno == EXDEV || errno == EBADF ||
	    errno == EOPNOTSUPP || errno == ENOSYS || errno == EPERM ||
	    errno == ETXTBSY || errno == EISDIR || errno == EOVERFLOW;
}

/* Returns what was sent, or 0 if only a buffer can be used. */
static ssize_t
send_by_kernel(int fd, off_t *offset, int to, size_t most)
{
	ssize_t sent = copy_file_range(fd, offset, to, NULL, most, 0);

	if (sent > 0 || (sent == -1 && !unsupported()))
		return sent;
	sent = sendfile(to, fd, offset, most);
	return sent == -1 && unsupported() ? 0 : sent;
}

ssize_t
tempfile_send(int fd, off_t *offset, const struct nonblock *to, size_t most)
{
	bool direct = to->way == NONBLOCK_PLAIN || to->way == NONBLOCK_PRIVATE;
	char bytes[ROOM];
	ssize_t got, sent = 0;

	if (direct)
		sent = send_by_kernel(
		    fd, offset, to->fd, most < MOST ? most : MOST);
	/*
	 * 0 need not mean the end, because the kernel returns 0 for other
	 * reasons, too. Only a read shows the end.
	 */
	if (sent != 0)
		return sent;
	got = pread(fd, bytes, most < ROOM ? most : ROOM, *offset);
	if (got <= 0)
		return got;
	sent = nonblock_put(to, bytes, (size_t)got);
	if (sent > 0)
		*offset += sent;
	return sent;
}
