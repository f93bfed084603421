/*
 * dfa: the automaton of nfa.h made deterministic as it goes (Thompson's
 * cache in the QED of CTSS; Cox, "Regular Expression Matching Can Be Simple And
 * Fast", 2007): a state is a row of a table, and one that was not needed yet is
 * worked out when it is. A full table is emptied; where it fills too fast the
 * automaton is run without one for a while.
 *
 * A member that has matched is dropped, and the table begins anew: that is once
 * for each member.
 */
#ifndef DFA_H
#define DFA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "match/nfa.h"

#define DFA_CELLS 65536
#ifndef DFA_MOST /* a test may want to see the table full */
#define DFA_MOST 1024
#endif
#define DFA_SLOTS 2048 /* a power of two, twice the states */
#define DFA_WORDS 4096

#define DFA_UNKNOWN 0 /* the row that stands for none */

struct dfa {
	uint32_t state; /* where its row begins; 0: the set is in now */
	uint64_t walked; /* bytes since the table was emptied or given up */
	uint64_t seen; /* bit n: member n has matched */
	bool dropped; /* some member has */
	struct nfa_set now;

	uint32_t classes; /* of bytes that no set tells apart; a row's length */
	uint32_t last_start; /* rows up to this one are where matches start */
	uint8_t class[256];

	/* The table: row 0 is unknown, row 1 a match, then the starts. */
	uint32_t used;
	uint32_t start[3]; /* by enum nfa_before */
	uint16_t slots[DFA_SLOTS]; /* states by their sets; 0: free */
	uint16_t next[DFA_CELLS];
	uint64_t sets[DFA_WORDS];
	struct nfa nfa;
};

/* The row of a match of all members. */
static inline uint32_t
dfa_match(const struct dfa *states)
{
	return states->classes;
}

/* Makes the table for the program, which is finished, and starts. */
void dfa_prepare(struct dfa *states);

/* Begins a new stream. */
void dfa_start(struct dfa *states);

/* The row of a set; unknown if it has none and the table is full. */
uint32_t dfa_row(struct dfa *states, const struct nfa_set *set);

/*
 * The row to go on from where some members have matched in the set: that of a
 * match if these were the last, and else one without them.
 */
uint32_t dfa_conclude(struct dfa *states, struct nfa_set *set);

/*
 * Without the table, from an unknown row to the end of the line or until the
 * table is worth a try. These two return where they stopped.
 */
const unsigned char *dfa_crawl(
    struct dfa *states, const unsigned char *at, const unsigned char *end);

/* With the table, until behind a byte that leads to a row up to floor. */
const unsigned char *dfa_walk(struct dfa *states, const unsigned char *at,
    const unsigned char *end, uint32_t floor);

/* The last line ends here: true if all members have matched. */
bool dfa_end(struct dfa *states);

#endif
