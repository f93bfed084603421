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

/* What passes through us at a time, where it has to. */
#define ROOM 16384

/* Of one call: a signal must not wait for more. */
#define MOST ((size_t)1 << 24)

const char *
tempfile_directory(bool *named)
{
	const char *name = getenv("TMPDIR");

	*named = name != NULL && name[0] != '\0';
	return *named ? name : "/tmp";
}

static const char *
directory(void)
{
	bool named;

	return tempfile_directory(&named);
}

/* For file systems that cannot make a file without a name. */
static int
make_named(void)
{
	static const char name[] = "/retry-XXXXXX";
	char path[PATH_MAX];
	size_t length = strlen(directory());
	int fd;

	if (length + sizeof name > sizeof path) {
		errno = ENAMETOOLONG;
		return -1;
	}
	memcpy(path, directory(), length);
	memcpy(path + length, name, sizeof name);
	fd = mkostemp(path, O_CLOEXEC);
	if (fd != -1)
		unlink(path);
	return fd;
}

/*
 * A root that is read-only may have no /tmp. Who named a directory wants what
 * is kept to be there, and nowhere else. Keeps the errno of that.
 */
static int
make_in_memory(void)
{
	int error = errno, fd = memfd_create("retry", MFD_CLOEXEC);

	errno = error;
	return fd;
}

int
tempfile_open(void)
{
	int fd = open(directory(), O_TMPFILE | O_EXCL | O_RDWR | O_CLOEXEC,
	    S_IRUSR | S_IWUSR);

	bool named;

	if (fd == -1)
		fd = make_named();
	tempfile_directory(&named);
	if (fd == -1 && !named)
		fd = make_in_memory();
	/* A umask must not keep us from opening it once more. */
	if (fd != -1)
		fchmod(fd, S_IRUSR | S_IWUSR);
	return sys_move_up(fd);
}

/* Where nothing shows our descriptors: a file of the same content. */
static int
copy(int fd)
{
	int other = tempfile_open();
	off_t offset = 0;
	ssize_t sent;

	if (other == -1)
		return -1;
	do
		sent = tempfile_send(fd, &offset, other, MOST);
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

/* The kernel grants a lease for reading only where nobody can write. */
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

/* Whether this way to move bytes is none between these two descriptors. */
static bool
no_way(void)
{
	return errno == EINVAL || errno == EXDEV || errno == EBADF ||
	    errno == EOPNOTSUPP || errno == ENOSYS || errno == EPERM ||
	    errno == ETXTBSY || errno == EISDIR || errno == EOVERFLOW;
}

static ssize_t
send_through(int fd, off_t *offset, int to, size_t most)
{
	char bytes[ROOM];
	ssize_t got = pread(fd, bytes, most < ROOM ? most : ROOM, *offset);
	ssize_t put;

	if (got <= 0)
		return got;
	put = write(to, bytes, (size_t)got);
	if (put > 0)
		*offset += put;
	return put;
}

/*
 * What moves nothing is asked no more: a kernel's short cut may have reasons of
 * its own, and only reading tells the end.
 */
ssize_t
tempfile_send(int fd, off_t *offset, int to, size_t most)
{
	ssize_t sent;

	if (most > MOST)
		most = MOST;
	sent = copy_file_range(fd, offset, to, NULL, most, 0);
	if (sent > 0 || (sent == -1 && !no_way()))
		return sent;
	sent = sendfile(to, fd, offset, most);
	if (sent > 0 || (sent == -1 && !no_way()))
		return sent;
	return send_through(fd, offset, to, most);
}
