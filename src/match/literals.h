/*
 * literals: what must stand in the text wherever a piece of a pattern matches.
 * The parser joins the hints of pieces as it joins the pieces; in the end
 * there is a set of needles to look for before any automaton is stepped. The
 * idea is that of GNU grep's "must" (Haertel, 1989) and of Cox, "Regular
 * Expression Matching with a Trigram Index" (2012).
 */
#ifndef LITERALS_H
#define LITERALS_H

#include <stdbool.h>
#include <stdint.h>
#include "match/byteset.h"
#include "match/search.h"

struct literals {
	bool whole; /* run is all that the piece can match */
	uint32_t longest; /* of its matches, or SEARCH_FAR */
	struct needles run; /* every match ends with one, "" perhaps */
	struct needles best; /* every match holds one; none: unknown */
};

/* Of the empty piece. */
void literals_nothing(struct literals *literals);

/* Of one byte of a set; with fold, capitals go without saying. */
void
literals_bytes(struct literals *literals, const struct byteset *set, bool fold);

/* The hint, and then next. */
void literals_join(struct literals *literals, const struct literals *next);

/* The hint, or other. */
void literals_either(struct literals *literals, const struct literals *other);

/* The hint least times, up to most, or SEARCH_FAR for no limit. */
void literals_repeat(struct literals *literals, uint32_t least, uint32_t most);

/* Makes best what is best of all. */
void literals_finish(struct literals *literals);

/* The same, and adds that to a sum. */
void literals_sum(struct literals *literals, struct search_sum *sum);

#endif
