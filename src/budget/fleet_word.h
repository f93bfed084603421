/*
 * fleet_word: the two parts that many words of a fleet have in common.
 *
 *     [tag:16 | ... | until:40]
 *
 * The tag is a hash of the server's name. A word with another tag is of another
 * server, and counts as empty. Commands that give the fleet other limits share
 * the words: the server's least limits hold for all of them. until is an
 * instant in milliseconds since the segment was made. All times are nanoseconds
 * since then, never negative.
 */
#ifndef FLEET_WORD_H
#define FLEET_WORD_H

#include <stdint.h>
#include "text/duration.h"

/* Where the other parts of a word begin and end. */
#define FLEET_UNTIL_BITS 40
#define FLEET_TAG_AT 48

/* The greatest number of so many bits. */
#define FLEET_MOST(bits) ((UINT64_C(1) << (bits)) - 1)

/* The tag of a server's words. */
uint16_t fleet_word_tag(const char *server);

/* A word with a tag. rest has at most FLEET_TAG_AT bits. */
uint64_t fleet_word_tagged(uint16_t tag, uint64_t rest);

/* The word without its tag; 0 if it has another tag. */
uint64_t fleet_word_rest(uint16_t tag, uint64_t word);

/* The greatest number of so many bits, or number >= 0 if that is less. */
uint64_t fleet_word_number(int64_t number, int bits);

/* The until of an instant, rounded up; and the instant of a word's until. */
uint64_t fleet_word_until(nanos instant);
nanos fleet_word_instant(uint64_t word);

/*
 * How long it is from now to the instant of a word; 0 if it is past. An instant
 * that is later than any process could have written, by more than a minute, is
 * corrupt and counts as past, so that nobody waits for ever. longest: how far
 * from its present a process writes an instant at most.
 */
nanos fleet_word_left(uint64_t word, nanos longest, nanos now);

/* The epoch of an instant. */
int64_t fleet_word_epoch(nanos slice, nanos now);

#endif
