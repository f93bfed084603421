/*
 * segment_store: where segments live. A directory, in memory as a rule, with a
 * file a segment: of this user alone, or of a group where the directory says
 * so.
 *
 * A file is never half made: it gets its name when it is complete. Whatever
 * is not exactly what we would have made is not used.
 */
#ifndef SEGMENT_STORE_H
#define SEGMENT_STORE_H

#include <stdbool.h>
#include <sys/types.h>
#include "store/segment_file.h"
#include "budget/segment.h"

/* One segment, mapped. */
struct segment_store {
	int fd; /* -1: none is open */
	struct segment
	    *segment; /* only to be touched within segment_store_use */
	struct header header; /* a copy that was checked */
};

/* A file that segment_store_walk has come upon. */
struct found {
	const char *name;
	const struct segment_dir *place; /* where it is */
	bool leftover; /* of somebody who was killed while he made one */
	const char *refused; /* it could not be opened: in words; or NULL */
	int error; /* errno of that */
	enum segment_state state; /* what it is worth otherwise */
	struct segment_store store; /* to be used where that is GOOD */
};

/*
 * Opens the segment of a key in a directory. One that is not there, or that is
 * of an earlier boot, is made by the terms where make, and else it is ENOENT.
 * Terms that it has already are left as they are. Returns NULL, or why it
 * cannot be used, in words, with errno (0 where the words say it all; EAGAIN
 * where somebody else takes an old one away at this moment, which is to be
 * asked again then). Never waits.
 */
const char *
segment_store_open(struct segment_store *store, const char *directory,
    const char *key, const struct terms *terms, bool make);

/*
 * Calls work with the segment. False if the file was removed, truncated or
 * overwritten, before or meanwhile: then work may have been broken off
 * anywhere, or was not called, and the store is closed.
 */
bool segment_store_use(struct segment_store *store,
    void (*work)(
	struct segment *segment, const struct header *header, void *with),
    void *with);

void segment_store_close(struct segment_store *store);

/*
 * Removes the segment of a key, or what the user has in its place, as
 * segment_file_judge_removal allows. Words as from segment_store_open.
 */
const char *segment_store_remove(const char *directory, const char *key);

/*
 * Calls each for every file in a directory that is named as a segment of ours,
 * be it one or not, and for the leftovers that may be removed. Of what the
 * kernel does not let us look at nothing is known. What is open is closed
 * afterwards.
 * False, with errno, if the directory cannot be read.
 */
bool segment_store_walk(const char *directory,
    void (*each)(struct found *found, void *with), void *with);

/*
 * Before a file is removed: sees that its name still leads to it, and keeps
 * others from removing it until it is closed. False, with errno, ENOENT where
 * it has been removed already.
 */
bool segment_store_claim(struct found *found);

/*
 * Removes a file that is claimed. Whoever uses it finds that out the next time:
 * what he was granted meanwhile is forgotten, and that is one retry at most.
 * False, with errno, if it is still there.
 */
bool segment_store_unlink(const struct found *found);

#endif
