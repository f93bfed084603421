/*
 * automaton: finds the matches of some texts in a stream, byte by byte.
 *
 * To try one path through the nodes (ere.h) after the other takes exponential
 * time for some texts, so all paths are followed at once: after each byte there
 * is a set of the nodes that a match could have reached, and the next byte
 * leads to the next set. Thompson, "Regular Expression Search Algorithm"
 * (CACM 11:6, 1968).
 *
 * To compute a set takes long, but the same few sets occur again and again. So
 * each set becomes a state of a deterministic automaton: a row of a table, with
 * the next state for every class of bytes. An entry is computed when it is
 * needed for the first time (Cox, "Regular Expression Matching Can Be Simple
 * And Fast", 2007). Then a byte costs one look into the table. A table that is
 * full is emptied. So memory is fixed and time is linear, whatever the texts
 * and the stream.
 *
 * Whether an anchor holds depends on the byte before and the byte behind. So
 * only the next byte decides what a set leads to without a byte, and a match is
 * found with the byte behind it.
 *
 * In a table each byte has to wait for the state that the byte before leads to.
 * So a long chunk is cut into lanes, which are run side by side. A lane but the
 * first begins as if no match had begun before. Where a lane ends in another
 * state than that in which the next one began, it goes on until both are in the
 * same state: mostly a few bytes later. A lane finds nothing that is not there,
 * because a match may begin at any byte.
 */
#ifndef AUTOMATON_H
#define AUTOMATON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "match/ere.h"

#define AUTOMATON_CELLS 32768 /* a row and a flag fit in 16 bits */
#ifndef AUTOMATON_STATES /* a test has fewer, so that the table gets full */
#define AUTOMATON_STATES 1024
#endif
#define AUTOMATON_SLOTS (2 * AUTOMATON_STATES)
#define AUTOMATON_POOL 16384 /* nodes of all states */

/* A set of nodes, and what is known of the byte that led there. */
struct automaton_state {
	uint64_t found; /* bit n: a match of text n ended before the byte */
	uint8_t before; /* the kind of the byte */
	uint16_t count, first; /* nodes, in the pool */
};

/* All but ere and seen is private. */
struct automaton {
	struct ere ere;
	uint64_t seen; /* bit n: text n has matched */
	uint64_t all; /* the bits of all texts */
	uint32_t row; /* of the current state */
	uint32_t states, pooled; /* how many are in use */
	bool emptied; /* the table was full, since lanes were run */
	uint32_t classes; /* of bytes; the length of a row */
	uint8_t class[256], kind[256];
	uint16_t slots[AUTOMATON_SLOTS]; /* hash table: a state, plus 1 */
	uint16_t next[AUTOMATON_CELLS];
	struct automaton_state state[AUTOMATON_STATES];
	uint16_t pool[AUTOMATON_POOL];
};

/* Makes the automaton for the texts in ere, and begins a stream. */
void automaton_prepare(struct automaton *dfa);

/* Begins a new stream. */
void automaton_start(struct automaton *dfa);

/* The next bytes of the stream. True once every text has matched. */
bool automaton_feed(
    struct automaton *dfa, const unsigned char *bytes, size_t length);

/*
 * Goes on, in place of automaton_feed(), behind the next byte before which a
 * match ends. Returns how many bytes that took: all of them, with *found false,
 * if there is none.
 */
size_t automaton_next(struct automaton *dfa, const unsigned char *bytes,
    size_t length, bool *found);

#endif
