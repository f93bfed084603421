/*
 * pattern: whether any line of a stream matches, told chunk by chunk. Time is
 * linear in the stream and memory is this one struct, whatever the pattern
 * and whatever the text; NUL and bytes that are no UTF-8 are bytes like
 * others. What a pattern can be says ere.h.
 *
 * Where a match must hold one of a few strings, those are searched for, and
 * only what is near one is matched. The matcher is the automaton of nfa.h
 * made deterministic as it goes (Thompson's cache in the QED of CTSS; Cox,
 * "Regular Expression Matching Can Be Simple And Fast", 2007): a state is a
 * row of a table, and one that was not needed yet is worked out when it is.
 * A full table is emptied; where it fills too fast the automaton is run
 * without one for a while.
 */
#ifndef PATTERN_H
#define PATTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "ere.h"

#define PATTERN_CELLS 65536
#ifndef PATTERN_STATES /* a test may want to see the table full */
#define PATTERN_STATES 1024
#endif
#define PATTERN_SLOTS 2048 /* a power of two, twice the states */
#define PATTERN_WORDS 4096

/*
 * To be mapped rather than allocated: of some 240 kB a pattern of ordinary
 * size touches less than 64, and nothing need be zero. All of it is private.
 */
struct pattern {
	/* The stream. */
	bool matched;
	bool open; /* the last byte was no newline */
	uint32_t state; /* where its row begins; 0: the set is in now */
	uint64_t walked; /* bytes since the table was emptied or given up */
	struct nfa_set now;

	/* What the pattern is. */
	bool at_once; /* every line matches */
	bool skims; /* the bytes of idle are worth skipping */
	uint32_t classes; /* of bytes that no set tells apart; a row's length */
	uint32_t last_start; /* rows up to this one are where matches start */
	uint8_t class[256];
	uint8_t idle[256]; /* bytes that lead from start to start */
	struct needle_search search;

	/* The table: row 0 is unknown, row 1 a match, then the starts. */
	uint32_t states;
	uint32_t start[3]; /* by enum nfa_before */
	uint16_t slots[PATTERN_SLOTS]; /* states by their sets; 0: free */
	uint16_t next[PATTERN_CELLS];
	uint64_t sets[PATTERN_WORDS];
	struct ere ere;
};

/*
 * Makes text a pattern, at the start of a stream. False, with error filled, if
 * it is none.
 */
bool pattern_compile(struct pattern *pattern, const char *text, size_t length,
    struct pattern_error *error);

/* Begins a new stream. */
void pattern_start(struct pattern *pattern);

/*
 * The next bytes of the stream: true once a line has matched, which is cheap
 * to be told again. A match is seen at its last byte; where an anchor looks
 * further, as $ does, at the next one.
 */
bool pattern_feed(struct pattern *pattern, const void *bytes, size_t length);

/*
 * The stream ends here: true if a line has matched, a last one without a
 * newline included. A stream without a byte has no lines.
 */
bool pattern_end(struct pattern *pattern);

#endif
