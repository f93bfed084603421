/*
 * nfa: a pattern as a small program, run over text as a set of its nodes.
 *
 * A node takes one byte of a set, leads to two nodes (for | * + ?), jumps,
 * checks an anchor (^ $ \b ...), or is a match. To try one path after the other
 * takes exponential time for some patterns, so all paths are followed at once:
 * after each byte there is a set of the nodes that a match could have reached,
 * and the next byte leads to the next set. Thompson, "Regular Expression Search
 * Algorithm" (CACM 11:6, 1968), laid out as in Cox, "Regular Expression
 * Matching: the Virtual Machine Approach" (2009).
 *
 * A node is followed by the next one in the array, and jumps are relative, so
 * that a piece is repeated by copying its nodes.
 *
 * A program may hold several texts, its members, each with a match of its own.
 * The members are one after the other in the array, and each begins with a
 * split that also leads to the next member. To drop a member that has matched,
 * its split becomes a jump.
 *
 * An anchor that depends on the next byte stays in the set until that byte is
 * known: Cox, "Regular Expression Matching in the Wild" (2010).
 */
#ifndef NFA_H
#define NFA_H

#include <stdbool.h>
#include <stdint.h>
#include "match/byteset.h"

/* 2047 for a member alone; its split, its match and the end are three more. */
#define NFA_NODES 2050
#define NFA_MEMBERS 64
/* A bit for each node, and two for the byte before an anchor. */
#define NFA_WORDS ((NFA_NODES + 2 + 63) / 64)
#define NFA_ENDLESS UINT32_MAX

enum nfa_op {
	NFA_BYTES, /* takes a byte of set number argument */
	NFA_SPLIT, /* goes on at the next node, and argument nodes further */
	NFA_JUMP, /* goes on argument nodes further */
	NFA_MATCH, /* of member number argument */
	NFA_NOWHERE, /* the end of the program */
	NFA_LINE_START, /* from here on: leads on if the anchor holds */
	NFA_LINE_END,
	NFA_WORD_START,
	NFA_WORD_END,
	NFA_WORD_EDGE,
	NFA_WORD_INSIDE,
};

/* The byte before a place in the text: a newline or none, another byte, or a
 * byte of a word. */
enum nfa_before { NFA_LINE, NFA_OTHER, NFA_WORD };

struct nfa_node {
	uint8_t op; /* enum nfa_op */
	int16_t argument;
};

struct nfa {
	uint32_t count; /* of nodes; the last one leads nowhere */
	uint32_t members;
	uint32_t sets;
	uint32_t width; /* how many words of a struct nfa_set are in use */
	bool words; /* there is an anchor for words */
	uint64_t anchors[NFA_WORDS]; /* which nodes are anchors */
	uint64_t stops[NFA_WORDS]; /* which wait for the next byte */
	uint64_t matches[NFA_WORDS];
	uint16_t begins[NFA_MEMBERS + 1]; /* where each member's split is */
	struct nfa_node nodes[NFA_NODES];
	struct byteset set[NFA_NODES];
};

/* A set of nodes. */
struct nfa_set {
	uint64_t words[NFA_WORDS];
};

/* Building. These return false if the program is full. */

/* Makes the program empty. */
void nfa_clear(struct nfa *nfa);

/* Begins and ends a member. */
bool nfa_open(struct nfa *nfa);
void nfa_close(struct nfa *nfa);

/* Inserts a node at place; the nodes from place on move up. */
bool
nfa_insert(struct nfa *nfa, uint32_t place, enum nfa_op op, int32_t argument);

/* Appends a node that takes one byte of set. */
bool nfa_take(struct nfa *nfa, const struct byteset *set);

/*
 * Repeats the nodes from place to the end least to most times; most is at least
 * 1, NFA_ENDLESS for no limit.
 */
bool nfa_repeat(struct nfa *nfa, uint32_t place, uint32_t least, uint32_t most);

/* Ends the program: there is always room for the last node. */
void nfa_finish(struct nfa *nfa);

/* Takes a member out of the program, and out of a set of its nodes. */
void nfa_drop(struct nfa *nfa, struct nfa_set *set, uint32_t member);

/* Brings all members back. */
void nfa_restore(struct nfa *nfa);

/*
 * Running. A match may begin anywhere, so each set also contains the start. A
 * newline is passed in like any byte: the line ends before it, and a new one
 * begins behind it. These return whether the set contains a match.
 */

/* Where a match ends, as bits: a step finds both kinds. */
enum { NFA_ENDS_BEFORE = 1, NFA_ENDS_BEHIND = 2 };

/* Makes the first set, at a place with this byte before it. */
bool
nfa_start(const struct nfa *nfa, struct nfa_set *set, enum nfa_before before);

/* Returns whether a match ends before or behind the byte, or 0. */
unsigned
nfa_step(const struct nfa *nfa, struct nfa_set *set, unsigned char byte);

/* Makes the set at the end of the line. */
bool nfa_end(const struct nfa *nfa, struct nfa_set *set);

/* The members whose match is in the set, as bits. */
uint64_t nfa_found(const struct nfa *nfa, const struct nfa_set *set);

/* Takes the matches out of the set, so that later ones can be told apart. */
void nfa_forget(const struct nfa *nfa, struct nfa_set *set);

/* The kind of a byte, for the place behind it. */
enum nfa_before nfa_before(unsigned char byte);

#endif
