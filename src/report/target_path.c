#include "report/target_path.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>
#include "sys/procfs.h"

/* The number of symbolic links that the kernel follows in a path. */
#define LINKS_MOST 40

/* The type of the file system proc: statfs(2). */
#define PROC_MAGIC 0x9fa0

/*
 * Functions that return false set errno.
 */

size_t
target_path_directory(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash == NULL ? 0 : (size_t)(slash + 1 - path);
}

bool
target_path_trusted(const char *path, const struct stat *file)
{
	size_t directory = target_path_directory(path);
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
	    file->st_uid == geteuid() || file->st_uid == stat_of_parent.st_uid;
}

int
target_path_descriptor(const char *file)
{
	return strcmp(file, "-") == 0 ? STDERR_FILENO : procfs_descriptor(file);
}

/*
 * Replaces the path of a symbolic link, open as fd, by the path that it leads
 * to.
 */
static bool
follow(char path[PATH_MAX], int fd, const struct stat *link)
{
	size_t directory = target_path_directory(path);
	char text[PATH_MAX];
	ssize_t length = readlinkat(fd, "", text, sizeof text - 1);

	if (length == -1)
		return false;
	if (!target_path_trusted(path, link)) {
		errno = EACCES;
		return false;
	}
	text[length] = '\0';
	if (*text == '/')
		directory = 0;
	if (directory + (size_t)length >= PATH_MAX) {
		errno = ENAMETOOLONG;
		return false;
	}
	memcpy(path + directory, text, (size_t)length + 1);
	return true;
}

/* The text of a link in /proc is not always the path that it leads to. */
static bool
is_in_proc(int fd)
{
	struct statfs statfs;

	return fstatfs(fd, &statfs) == 0 && statfs.f_type == PROC_MAGIC;
}

bool
target_path_resolve(char path[PATH_MAX], const char *file)
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

		if (target_path_descriptor(path) != -1)
			return true;
		fd = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
		/* If that is an error, writing will fail with it. */
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
