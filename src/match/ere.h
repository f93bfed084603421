/*
 * ere: reads the text of a pattern into nodes of an automaton.
 *
 * The syntax is that of POSIX extended regular expressions over bytes, ASCII
 * only, the same in every locale, plus \d \D \w \W \s \S \b \B \< \> \t \r and
 * a leading (?i). Lines end at \n, ^ and $ are the ends of a line, and nothing
 * matches \n. A character of UTF-8 outside of [] counts as one for * + ? {}; a
 * dot is a byte. An escaped byte that is neither a letter nor a digit stands
 * for itself. Where POSIX leaves a meaning open, the meaning is glibc's: an
 * empty alternative matches the empty string, a** is (a*)*, {,3} is {0,3}.
 *
 * Refused, because programs disagree on the meaning: back-references, (?:,
 * an unmatched ) or {, a repetition of nothing or of an anchor, other escaped
 * letters, a single backslash in [] (there \\ is one), bytes outside of ASCII
 * in [], [.x.], [=x=].
 */
#ifndef ERE_H
#define ERE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ERE_LARGEST 2047 /* nodes that a text may need, without its match */
#define ERE_NODES 4096 /* of all texts, with their matches */
#define ERE_TEXTS 64

enum ere_op {
	ERE_BYTE, /* takes the byte argument */
	ERE_SET, /* takes a byte of set number argument */
	ERE_SPLIT, /* leads to the next node, and argument nodes further */
	ERE_JUMP, /* leads argument nodes further */
	ERE_MATCH, /* of text number argument */
	ERE_LINE_START, /* from here on: leads on if the anchor holds */
	ERE_LINE_END,
	ERE_WORD_START,
	ERE_WORD_END,
	ERE_WORD_EDGE,
	ERE_WORD_INSIDE,
};

/* A node leads to the next one in the array, where its op does not say more. */
struct ere_node {
	uint8_t op; /* enum ere_op */
	int16_t argument;
};

/* A set of bytes, never with the newline, which no match contains. */
struct ere_set {
	uint8_t bits[32]; /* byte b is in the set: bit b % 8 of bits[b / 8] */
};

/* The nodes of some texts, one text after the other. */
struct ere {
	uint32_t count, sets, texts;
	bool lines, words; /* there are anchors of this kind */
	uint16_t begin[ERE_TEXTS]; /* the first node of each text */
	struct ere_node nodes[ERE_NODES];
	struct ere_set set[ERE_NODES];
};

/* Why a pattern is refused, as a phrase, and the offset of the fault. */
struct pattern_error {
	const char *why;
	size_t at;
};

/* Makes it the nodes of no text. It need not be initialized. */
void ere_clear(struct ere *ere);

/*
 * Adds the nodes of text. False, with error filled, if text is malformed or the
 * nodes have no room; then there are none of it.
 */
bool ere_add(struct ere *ere, const char *text, size_t length,
    struct pattern_error *error);

static inline bool
ere_has(const struct ere_set *set, unsigned char byte)
{
	return set->bits[byte / 8] >> byte % 8 & 1;
}

#endif
