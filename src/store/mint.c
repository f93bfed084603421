#include "store/mint.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "sys/sys.h"
#include "sys/procfs.h"

/* RENAME_NOREPLACE of linux/fs.h, which not every libc comes with. */
#define NO_REPLACE 1

/* Makes an empty file into a segment; what is not written now never faults. */
static const char *
fill(int fd, const struct segment_dir *place, const char *key,
    const struct terms *terms)
{
	struct origin origin;
	const char *why = segment_file_origin(fd, true, &origin);
	struct segment segment;
	struct stat file;
	ssize_t wrote;

	if (why != NULL)
		return why;
	if (place->shared &&
	    (fstat(fd, &file) == -1 ||
		(file.st_gid != place->group &&
		    fchown(fd, (uid_t)-1, place->group) == -1)))
		return "cannot set the group";
	if (fchmod(fd, place->mode) == -1)
		return "cannot set the mode";
	origin.space = sys_space();
	segment_make(&segment, key, terms, &origin);
	wrote = write(fd, &segment, sizeof segment);
	if (wrote == sizeof segment)
		return NULL;
	if (wrote != -1)
		errno = ENOSPC;
	return "cannot write";
}

/* Without a capability the first does not go, without /proc the second. */
static bool
give_name(int fd, const char *path)
{
	char name[PROCFS_NAME];

	if (linkat(fd, "", AT_FDCWD, path, AT_EMPTY_PATH) == 0)
		return true;
	if (errno == EEXIST)
		return false;
	if (linkat(AT_FDCWD, procfs_name(name, fd), AT_FDCWD, path,
		AT_SYMLINK_FOLLOW) == 0)
		return true;
	if (errno != EEXIST)
		errno = EOPNOTSUPP;
	return false;
}

/* EOPNOTSUPP, EISDIR, ENOENT: it may go otherwise. */
static const char *
make_nameless(
    const struct segment_dir *place, const char *key, const struct terms *terms)
{
	int fd = open(place->directory, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
	const char *why;
	int error;

	if (fd == -1)
		return "cannot make";
	why = fill(fd, place, key, terms);
	if (why == NULL && !give_name(fd, place->path))
		why = "cannot name";
	error = errno;
	close(fd);
	errno = error;
	return why;
}

/* For file systems on which a file has a name from the beginning. */
static const char *
make_named(
    const struct segment_dir *place, const char *key, const struct terms *terms)
{
	struct segment_dir beside = *place;
	const char *why;
	int fd, error;

	segment_file_leftover(&beside);
	fd = open(beside.path,
	    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd == -1)
		return "cannot make";
	why = fill(fd, place, key, terms);
	if (why == NULL &&
	    syscall(SYS_renameat2, AT_FDCWD, beside.path, AT_FDCWD, place->path,
		NO_REPLACE) == -1)
		why = "cannot name";
	error = errno;
	close(fd);
	if (why != NULL)
		unlink(beside.path);
	errno = error;
	return why;
}

const char *
segment_file_make(
    const struct segment_dir *place, const char *key, const struct terms *terms)
{
	const char *why = make_nameless(place, key, terms);

	if (why != NULL &&
	    (errno == EOPNOTSUPP || errno == EISDIR || errno == ENOENT))
		why = make_named(place, key, terms);
	return why != NULL && errno == EEXIST ? NULL : why;
}
