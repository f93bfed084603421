/*
 * segment_file: finds, checks and makes the files of segments.
 *
 * A segment belongs to one user, except in a directory that has the setgid bit,
 * is owned by root or by the user, and is not writable by all: there it belongs
 * to the directory's group.
 */
#ifndef SEGMENT_FILE_H
#define SEGMENT_FILE_H

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <sys/types.h>
#include "budget/segment.h"

/* Why something failed; why is NULL if it succeeded. */
struct failure {
	const char *why;
	int error; /* an errno, or 0 if why is the whole explanation */
};

#define NO_FAILURE ((struct failure){ NULL, 0 })
#define REFUSED(why) ((struct failure){ (why), 0 })
#define FAILED(why) ((struct failure){ (why), errno })

/* In the place of a key, in the name of a file that segment_file_make has not
 * completed. No encoded key begins with "~". */
#define SEGMENT_LEFTOVER "~tmp"

struct segment_dir {
	const char *directory;
	bool shared; /* the segments belong to the directory's group */
	uid_t user; /* the effective user of this process */
	gid_t group; /* of the files, if shared */
	mode_t mode; /* the most that a file may permit */
	size_t stem, key; /* where the file name begins in path, and its part
			     for a key */
	char path[PATH_MAX];
};

/* Examines a directory, and sets dir; path ends with the prefix of all names
 * of segments. */
struct failure
segment_file_find(struct segment_dir *dir, const char *directory);

/* Sets path to the file of a key. */
void segment_file_name(struct segment_dir *dir, const char *key);

/*
 * Whether a file may be used as a segment: its owner, mode, size and so on must
 * be as segment_file_make() makes them. Root uses only its own files. ENOENT if
 * the file was removed after it had been opened.
 */
struct failure
segment_file_judge(const struct segment_dir *dir, const struct stat *file);

/*
 * Whether a file may be removed, whatever it contains: it is a regular file of
 * this user with a single name, or segment_file_judge accepts it. file must
 * come from lstat, so that no symbolic link is followed.
 */
struct failure segment_file_judge_removal(
    const struct segment_dir *dir, const struct stat *file);

/*
 * Sets *here to the time and the boot, for the file that is open as fd. boot
 * stays "" if the file cannot survive a reboot, unless always.
 */
struct failure segment_file_origin(int fd, bool always, struct origin *here);

/*
 * Makes the file of a key at path. The file gets its name when it is complete,
 * so that a process which is killed here leaves no partial segment. Succeeds as
 * well if another process made that file first.
 */
struct failure segment_file_make(
    const struct segment_dir *dir, const char *key, const struct terms *terms);

#endif
