/*
 * record: a few hundred bytes that any number of processes replace as a whole.
 *
 * A process reads the contents, makes the next ones from them, and publishes
 * these by one compare-and-swap of the head. It succeeds only if nobody has
 * published anything since the contents were read. Nothing is locked, so a
 * process may be killed or stopped at any instruction, and go on later.
 *
 *     head  [change:40 | words:16 | slot:8]
 *     word  [change:32 | contents:32]
 *
 * The contents are in one of a few slots, or are all zero (slot 0). Each change
 * of the record has a number, which is in the head and, without its upper bits,
 * in each word of the slot. So a reader sees whether all words are of one
 * change, and need not trust a sum.
 *
 * A writer fills a slot that is not the one in the head. It replaces only words
 * of changes before its own, each by a compare-and-swap. So
 *
 *   - of several writers of the same change, the one that replaces the first
 *     word of a slot has this slot, and the others take other slots;
 *   - a writer that was stopped and goes on later finds words of a later
 *     change, and writes nothing more: never into contents that are valid.
 *
 * A writer that is killed uses up its slot until the next change is published.
 * If all slots are used up so, then the next change is that the contents are
 * forgotten. Words of a slot that do not fit the head are corrupt, and are read
 * as zero; words of a change that is still to come are replaced. A writer that
 * is stopped for 2^31 changes may take words for those of a change before its
 * own: at ten thousand changes a second, that is in two and a half days, and
 * what it damages is read as zero.
 *
 * tests/models/record_check.c tries all interleavings of a few processes.
 */
#ifndef RECORD_H
#define RECORD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* tests/models/record_check.c has fewer of both. */
#ifndef RECORD_SLOTS
#define RECORD_SLOTS 6
#define RECORD_WORDS 192 /* of four bytes */
#endif

/* All zero: the contents are all zero. */
struct record {
	_Atomic uint64_t head;
	_Atomic uint64_t slots[RECORD_SLOTS][RECORD_WORDS];
};

/*
 * Copies the contents to room: count words at most, and zeros where there are
 * fewer. Returns the head, of which record_publish() makes the next one.
 */
uint64_t record_read(const struct record *record, uint32_t *room, size_t count);

/*
 * Replaces the contents by count words, RECORD_WORDS at most, unless another
 * process has replaced them since record_read() returned head: then this
 * returns false, and has changed nothing, but for contents that are forgotten.
 */
bool record_publish(struct record *record, uint64_t head,
    const uint32_t *contents, size_t count);

#endif
