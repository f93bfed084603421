/*
 * dfa: runs a pattern's automaton with a table that is filled as it goes.
 *
 * nfa.h keeps, after each byte, the set of nodes that the pattern can be in. To
 * compute the next set takes long, but the same few sets occur again and again.
 * So each set becomes a state of a deterministic automaton: a row of a table,
 * with the next state for every byte. An entry that is not known yet is
 * computed when it is needed, and kept ("lazy DFA": Thompson's cache in the QED
 * of CTSS; Cox, "Regular Expression Matching Can Be Simple And Fast", 2007).
 * Then a byte costs one look into the table.
 *
 * A table that is full is emptied. If it fills up too fast to be of use, the
 * nodes are followed without it for a while. So memory is fixed and time is
 * linear, whatever the pattern and the text.
 *
 * Bytes that are in the same sets of the pattern are one class and share a
 * column of the table. When a member of the program (see nfa.h) has matched,
 * the member is dropped and the table is emptied: at most once for each member.
 */
#ifndef DFA_H
#define DFA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "match/nfa.h"

#define DFA_CELLS 65536
#ifndef DFA_MOST /* a test makes the table small, so that it gets full */
#define DFA_MOST 1024
#endif
#define DFA_SLOTS 2048 /* a power of two, twice the states */
#define DFA_WORDS 4096

#define DFA_UNKNOWN 0 /* this row stands for an entry that is not known */

struct dfa {
	uint32_t state; /* where its row begins; DFA_UNKNOWN: see now */
	uint64_t walked; /* bytes since the table was emptied or not used */
	uint64_t seen; /* bit n: member n has matched */
	bool dropped; /* at least one member is */
	bool each; /* every end of a match counts, and no member is dropped */
	unsigned ends; /* each: where a match ended (nfa_step); 0: nowhere */
	struct nfa_set now; /* the set, if state is DFA_UNKNOWN */

	uint32_t classes; /* of bytes; the length of a row */
	uint32_t last_start; /* rows up to this one: no match has begun */
	uint8_t class[256];

	/* The table: row 0 is unknown, row 1 a match, then the starts. */
	uint32_t used;
	uint32_t start[3]; /* by enum nfa_before */
	uint16_t slots[DFA_SLOTS]; /* hash table: a set's state; 0: free */
	uint16_t next[DFA_CELLS];
	uint64_t sets[DFA_WORDS];
	struct nfa nfa;
};

/* The row to which the last match of all members leads. */
static inline uint32_t
dfa_match(const struct dfa *dfa)
{
	return dfa->classes;
}

/* Makes the table for the program, which must be finished, and starts. */
void dfa_prepare(struct dfa *dfa);

/* Begins a new stream. */
void dfa_start(struct dfa *dfa);

/* The row of a set, a new one if needed; DFA_UNKNOWN if the table is full. */
uint32_t dfa_row(struct dfa *dfa, const struct nfa_set *set);

/*
 * Notes the members that match in this set, and drops them from the program and
 * the set. Returns the row of the next state: dfa_match() if all members have
 * matched by now. With each, the caller has set ends, and the run goes on from
 * DFA_UNKNOWN.
 */
uint32_t dfa_accept(struct dfa *dfa, struct nfa_set *set);

/*
 * Both functions match the bytes from at to end, and return where they stopped;
 * with each, behind the first byte for which there is something in ends.
 * dfa_run() uses the table, and stops behind a byte that leads to a row up to
 * floor. dfa_run_nfa() does not use the table: it begins in state DFA_UNKNOWN,
 * and stops at the end of the line, or when the table is to be used again.
 */
const unsigned char *dfa_run(struct dfa *dfa, const unsigned char *at,
    const unsigned char *end, uint32_t floor);
const unsigned char *
dfa_run_nfa(struct dfa *dfa, const unsigned char *at, const unsigned char *end);

/* The last line ends here: true if all members have matched. */
bool dfa_end(struct dfa *dfa);

#endif
