/*
 * segment_file: where segments live, whose they are there, and what has to hold
 * of their files. A segment is a user's alone, but in a directory that is owned
 * by root or by us, has the setgid bit and is not for the world to write: there
 * it is its group's.
 *
 * Functions that say why something is not so return NULL where it is, and
 * errno besides: 0 where the words say it all.
 */
#ifndef SEGMENT_FILE_H
#define SEGMENT_FILE_H

#include <limits.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <sys/types.h>
#include "budget/segment.h"

struct segment_dir {
	const char *directory;
	bool shared; /* among the directory's group */
	uid_t user; /* whom we act for */
	gid_t group; /* of the files, where shared */
	mode_t mode; /* of the files, or less */
	size_t stem; /* where the name begins in path */
	char path[PATH_MAX];
};

/* Looks at a directory. */
const char *segment_file_find(struct segment_dir *place, const char *directory);

/* Sets path to where the segment of a key is; key "": how all of them begin. */
void segment_file_name(struct segment_dir *place, const char *key);

/*
 * Sets path to a new file that no key can have, for what is to be a segment
 * but is not yet whole; and whether path is one.
 */
void segment_file_leftover(struct segment_dir *place);
bool segment_file_is_leftover(const struct segment_dir *place);

/*
 * Whether this may be the file of a segment. Root trusts nobody but itself.
 * ENOENT where it was removed since it was opened.
 */
const char *
segment_file_judge(const struct segment_dir *place, const struct stat *file);

/*
 * Whether this, not followed where it is a link, may be removed, whatever it
 * holds: a file of the user's own that has no other name, or one of a segment.
 */
const char *segment_file_judge_removal(
    const struct segment_dir *place, const struct stat *file);

/*
 * What time and which boot it is, for a file that is open there. boot stays ""
 * where the file cannot outlive one, unless always, and space is not asked for.
 */
const char *segment_file_origin(int fd, bool always, struct origin *here);

#endif
