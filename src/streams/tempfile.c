#include "streams/tempfile.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "sys/sys.h"
#include "sys/procfs.h"

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
	/* Whatever the umask is, procfs_reopen() must be able to open it. */
	if (fd != -1)
		fchmod(fd, S_IRUSR | S_IWUSR);
	return sys_move_up(fd);
}
