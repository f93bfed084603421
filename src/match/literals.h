/*
 * literals: finds short strings of which each match of a pattern contains one.
 *
 * "connection (refused|reset)" cannot match a line without "refused" or
 * "reset". The parser builds a pattern from pieces; for each piece this module
 * keeps what is known about its matches: all of them, if they are few; else
 * strings with which the matches end, and the best (rarest) set so far of which
 * each match contains one string. Strings at the end of a piece grow when the
 * next piece follows. search.h looks for the strings of the last best set
 * before any automaton is run. The idea is that of GNU grep's "must" (Haertel,
 * 1989) and of Cox, "Regular Expression Matching with a Trigram Index" (2012).
 */
#ifndef LITERALS_H
#define LITERALS_H

#include <stdbool.h>
#include <stdint.h>
#include "match/byteset.h"
#include "match/search.h"

/* What is known about the matches of one piece of a pattern. */
struct literals {
	bool exact; /* suffixes are all matches of the piece */
	uint32_t longest; /* length of a match, at most, or SEARCH_FAR */
	struct search_set suffixes; /* each match ends with one; maybe "" */
	struct search_set best; /* each match contains one; empty: unknown */
};

/* The piece that matches only the empty string. */
void literals_nothing(struct literals *literals);

/*
 * The piece that matches one byte of a set; with fold, only the lower case of
 * a letter is kept.
 */
void
literals_bytes(struct literals *literals, const struct byteset *set, bool fold);

/* Makes it the piece followed by next. */
void literals_join(struct literals *literals, const struct literals *next);

/* Makes it a choice between the piece and other. */
void literals_either(struct literals *literals, const struct literals *other);

/* Makes it the piece least to most times; most is SEARCH_FAR: no limit. */
void literals_repeat(struct literals *literals, uint32_t least, uint32_t most);

/* The piece is complete: makes best the better one of best and suffixes. */
void literals_finish(struct literals *literals);

/* Does the same as literals_finish(), and adds best to the union. */
void literals_collect(struct literals *literals, struct search_union *strings);

#endif
