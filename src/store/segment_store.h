/*
 * segment_store: makes, opens, uses, lists and removes the segments in a
 * directory.
 *
 * The directory is in memory as a rule. It has one file for each segment. A
 * file is used only if it is exactly as retry would have made it for this user.
 *
 * A segment belongs to one user, except in a directory that has the setgid bit,
 * is owned by root or by the user, and is not writable by all: there it belongs
 * to the directory's group.
 */
#ifndef SEGMENT_STORE_H
#define SEGMENT_STORE_H

#include <errno.h>
#include <stdbool.h>
#include "budget/segment.h"

/* Why something failed; why is NULL if it succeeded. */
struct failure {
	const char *why;
	int error; /* an errno, or 0 if why is the whole explanation */
};

#define NO_FAILURE ((struct failure){ NULL, 0 })
#define REFUSED(why) ((struct failure){ (why), 0 })
#define FAILED(why) ((struct failure){ (why), errno })

/* One segment: of a mapped file, or in the memory of this process alone. */
struct segment_store {
	int fd; /* -1: no file is open */
	struct segment *segment; /* see segment_store_enter() */
	struct header header; /* a checked copy */
};

/* A file that segment_store_walk has found. store is open if the segment can be
 * used, or is stale. */
struct found {
	const char *name, *path;
	struct failure refused; /* why the segment cannot be used */
	struct segment_store store;
};

/*
 * Opens the segment of a key in a directory; an existing segment keeps its own
 * terms. If there is none, or one of an earlier boot, the function makes a
 * segment with these terms. EAGAIN: another process is just replacing an old
 * segment; try again later. Never waits.
 */
struct failure segment_store_open(struct segment_store *store,
    const char *directory, const char *key, const struct terms *terms);

/*
 * Between these two calls, and only there, store->segment may be used, with the
 * checked copy of its header. False if the file was removed, truncated or
 * overwritten before or meanwhile: then the store is closed, and what was read
 * or changed since segment_store_enter() means nothing. If the file is
 * truncated, the segment becomes zeros at any instruction.
 */
bool segment_store_enter(struct segment_store *store);
bool segment_store_leave(struct segment_store *store);

void segment_store_close(struct segment_store *store);

/* Removes the file that has the name of a key's segment, whatever it is. ENOENT
 * if there is none. */
struct failure segment_store_remove(const char *directory, const char *key);

/*
 * Calls each for the file of a key, if there is one. Without a key for every
 * file in a directory that has the name of a segment of this user's, valid or
 * not. Closes found->store afterwards. False, with errno, if the directory
 * cannot be read.
 */
bool segment_store_walk(const char *directory, const char *key,
    void (*each)(struct found *found, void *with), void *with);

/*
 * Locks a file before its removal, so that no other process removes it until
 * found->store is closed. False if another process removes it, has done so, or
 * has replaced it.
 */
bool segment_store_claim(const struct found *found);

#endif
