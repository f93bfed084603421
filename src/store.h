/*
 * store: where segments live. A directory, in memory as a rule, with a file a
 * segment: of this user alone, or of a group where the directory says so.
 *
 * A file is never half made: it gets its name when it is complete. Whatever
 * is not exactly what we would have made is not used.
 */
#ifndef STORE_H
#define STORE_H

#include <stdbool.h>
#include <sys/types.h>
#include "place.h"
#include "segment.h"

/* One segment, mapped. */
struct store {
	int fd; /* -1: none is open */
	struct segment *segment; /* only to be touched within store_use */
	struct header header; /* a copy that was checked */
};

/*
 * Opens the segment of a key in a directory, and makes it if there is none
 * (make: else NULL is not success, errno ENOENT) or if it is of an earlier
 * boot. Returns NULL, or why it cannot be used, in words, with errno (0 where
 * the words say it all).
 */
const char *store_open(struct store *store, const char *directory,
    const char *key, const struct terms *terms, bool make);

/*
 * Calls work with the segment. False if the file was removed, truncated or
 * overwritten, before or meanwhile: then work may have been broken off
 * anywhere, or was not called, and the store is closed.
 */
bool store_use(struct store *store,
    void (*work)(
	struct segment *segment, const struct header *header, void *with),
    void *with);

void store_close(struct store *store);

/* Removes the segment of a key. Words as from store_open. */
const char *store_remove(const char *directory, const char *key);

/*
 * Calls each for every file of ours in a directory that is named as a segment:
 * state says what it is worth. The store is open where that is GOOD, and closed
 * afterwards. each returns true to have the file removed. Leftovers of
 * those who were killed while making one are removed where sweep. False, with
 * errno, if the directory cannot be read.
 */
bool store_walk(const char *directory, bool sweep,
    bool (*each)(struct store *store, const char *name,
	enum segment_state state, void *with),
    void *with);

#endif
