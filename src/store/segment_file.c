#include "store/segment_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>
#include "sys/procfs.h"
#include "sys/sys.h"
#include "text/number.h"

/* RENAME_NOREPLACE of linux/fs.h, which not every libc comes with. */
#define NO_REPLACE 1

void
segment_file_name(struct segment_dir *dir, const char *key)
{
	segment_name(
	    dir->path + dir->stem, dir->shared ? -1 : (int64_t)dir->user, key);
}

struct failure
segment_file_find(struct segment_dir *dir, const char *directory)
{
	struct stat status = { .st_uid = 0 };
	size_t length = strlen(directory);

	dir->directory = directory;
	dir->user = geteuid();
	dir->mode = 0600;
	dir->stem = length + 1;
	if (dir->stem + SEGMENT_NAME > sizeof dir->path) {
		errno = ENAMETOOLONG;
		return FAILED("cannot use the directory");
	}
	memcpy(dir->path, directory, length);
	dir->path[length] = '/';
	/* stat(2) is saved: the default directory is one for all users. */
	if (strcmp(directory, SEGMENT_DIRECTORY) != 0 &&
	    stat(directory, &status) == -1)
		return FAILED("cannot use the directory");
	dir->shared = (status.st_uid == 0 || status.st_uid == dir->user) &&
	    (status.st_mode & (S_ISGID | S_IWOTH)) == S_ISGID;
	if (dir->shared) {
		dir->group = status.st_gid;
		dir->mode = 0660;
	}
	segment_file_name(dir, "");
	dir->key = strlen(dir->path);
	return NO_FAILURE;
}

struct failure
segment_file_judge(const struct segment_dir *dir, const struct stat *file)
{
	if (file->st_nlink == 0)
		return (struct failure){ "has just been removed", ENOENT };
	if (!S_ISREG(file->st_mode))
		return REFUSED("not a regular file");
	if (file->st_uid != dir->user && (!dir->shared || dir->user == 0))
		return REFUSED("owned by another user");
	if (file->st_nlink > 1)
		return REFUSED("has other links");
	if (dir->shared && file->st_gid != dir->group)
		return REFUSED("of another group");
	if ((file->st_mode & 07777 & ~dir->mode) != 0)
		return REFUSED(
		    dir->shared ? "mode is not 0660" : "mode is not 0600");
	if (file->st_size != sizeof(struct segment))
		return REFUSED("of another size");
	return NO_FAILURE;
}

struct failure
segment_file_judge_removal(
    const struct segment_dir *dir, const struct stat *file)
{
	if (S_ISREG(file->st_mode) && file->st_uid == dir->user &&
	    file->st_nlink == 1)
		return NO_FAILURE;
	return segment_file_judge(dir, file);
}

struct failure
segment_file_origin(int fd, bool always, struct origin *here)
{
	struct statfs system;
	bool in_memory = false;

	*here = (struct origin){ .base = sys_now(CLOCK_BOOTTIME) };
	if (fstatfs(fd, &system) == -1)
		return FAILED("cannot tell the file system");
	/* The numbers of linux/magic.h, which not every libc comes with. */
	switch ((uint32_t)system.f_type) {
	case 0x01021994: /* tmpfs */
	case 0x858458f6: /* ramfs */
		in_memory = true;
		break;
	/* Each host would take the segments of the others for segments of an
	 * earlier boot. */
	case 0x6969: /* NFS */
	case 0x517b: /* SMB */
	case 0xff534d42: /* CIFS */
	case 0xfe534d42: /* SMB2 */
	case 0x5346414f: /* AFS */
	case 0x73757245: /* Coda */
	case 0x00c36400: /* Ceph */
	case 0x0bd00bd0: /* Lustre */
		return REFUSED("on a network file system");
	default:
		break;
	}
	if ((in_memory && !always) || sys_boot(here->boot))
		return NO_FAILURE;
	memset(here->boot, 0, sizeof here->boot);
	if (in_memory)
		return NO_FAILURE;
	/* To a caller, ENOENT would mean that there is no segment. */
	return errno == ENOENT ? REFUSED("cannot tell one boot from another")
			       : FAILED("cannot tell one boot from another");
}

/* Writes a whole segment to an empty file, so that all its pages exist. */
static struct failure
fill(int fd, const struct segment_dir *dir, const char *key,
    const struct terms *terms)
{
	struct origin origin;
	struct failure failure = segment_file_origin(fd, true, &origin);
	struct segment segment;
	struct stat file;
	ssize_t wrote;

	if (failure.why != NULL)
		return failure;
	if (dir->shared &&
	    (fstat(fd, &file) == -1 ||
		(file.st_gid != dir->group &&
		    fchown(fd, (uid_t)-1, dir->group) == -1)))
		return FAILED("cannot set the group");
	if (fchmod(fd, dir->mode) == -1)
		return FAILED("cannot set the mode");
	segment_make(&segment, key, terms, &origin);
	wrote = write(fd, &segment, sizeof segment);
	if (wrote == sizeof segment)
		return NO_FAILURE;
	if (wrote != -1)
		errno = ENOSPC;
	return FAILED("cannot write");
}

/* The first call needs a capability, the second needs /proc. */
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

/* For file systems without O_TMPFILE: under a name that no key has at first. */
static struct failure
make_named(
    const struct segment_dir *dir, const char *key, const struct terms *terms)
{
	struct segment_dir temporary = *dir;
	char *end = temporary.path + dir->key;
	struct failure failure;
	int fd;

	memcpy(end, SEGMENT_LEFTOVER, strlen(SEGMENT_LEFTOVER));
	number_put(end + strlen(SEGMENT_LEFTOVER), (int64_t)(sys_seed() >> 1));
	fd = open(temporary.path,
	    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd == -1)
		return FAILED("cannot make");
	failure = fill(fd, dir, key, terms);
	if (failure.why == NULL &&
	    syscall(SYS_renameat2, AT_FDCWD, temporary.path, AT_FDCWD,
		dir->path, NO_REPLACE) == -1)
		failure = FAILED("cannot name");
	close(fd);
	if (failure.why != NULL)
		unlink(temporary.path);
	return failure;
}

struct failure
segment_file_make(
    const struct segment_dir *dir, const char *key, const struct terms *terms)
{
	int fd = open(dir->directory, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
	struct failure failure = NO_FAILURE;

	if (fd == -1) {
		failure = FAILED("cannot make");
	} else {
		failure = fill(fd, dir, key, terms);
		if (failure.why == NULL && !give_name(fd, dir->path))
			failure = FAILED("cannot name");
		close(fd);
	}
	if (failure.error == EOPNOTSUPP || failure.error == EISDIR ||
	    failure.error == ENOENT)
		failure = make_named(dir, key, terms);
	return failure.error == EEXIST ? NO_FAILURE : failure;
}
