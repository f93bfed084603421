/*
 * literals: finds short strings of which each match of a pattern contains one.
 *
 * "connection (refused|reset)" cannot match a line without "refused" or
 * "reset". While the parser puts a pattern together from its pieces, this
 * module does the same with what is known of each piece's matches: all of them,
 * if they are few; else strings with which they end, and the best (rarest) set
 * of strings so far of which each match contains one. Strings at the end of a
 * piece grow when the next piece follows. The best set in the end is what
 * search.h looks for before any automaton is run. The idea is that of GNU
 * grep's "must" (Haertel, 1989) and of Cox, "Regular Expression Matching with a
 * Trigram Index" (2012).
 */
#ifndef LITERALS_H
#define LITERALS_H

#include <stdbool.h>
#include <stdint.h>
#include "match/byteset.h"
#include "match/search.h"

/* What is known of the matches of one piece of a pattern. */
struct literals {
	bool exact; /* suffixes are all its matches */
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

/* The piece, and then next. */
void literals_join(struct literals *literals, const struct literals *next);

/* The piece, or other. */
void literals_either(struct literals *literals, const struct literals *other);

/* The piece least to most times; most is SEARCH_FAR if there is no limit. */
void literals_repeat(struct literals *literals, uint32_t least, uint32_t most);

/* The piece is complete: makes best the better one of best and suffixes. */
void literals_finish(struct literals *literals);

/* The same, and adds best to the union. */
void literals_collect(struct literals *literals, struct search_union *strings);

#endif
