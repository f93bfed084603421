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

struct hint {
	bool whole; /* run is all that the piece can match */
	uint32_t longest; /* of its matches, or NEEDLE_FAR */
	struct needles run; /* every match ends with one, "" perhaps */
	struct needles best; /* every match holds one; none: unknown */
};

/* Of the empty piece. */
void hint_nothing(struct hint *hint);

/* Of one byte of a set; with fold, capitals go without saying. */
void hint_bytes(struct hint *hint, const struct bytes *set, bool fold);

/* The hint, and then next. */
void hint_join(struct hint *hint, const struct hint *next);

/* The hint, or other. */
void hint_either(struct hint *hint, const struct hint *other);

/* The hint least times, up to most, or NEEDLE_FAR for no limit. */
void hint_repeat(struct hint *hint, uint32_t least, uint32_t most);

/* Makes best what is best of all. */
void hint_finish(struct hint *hint);

/* The same, and adds that to a sum. */
void hint_sum(struct hint *hint, struct needle_sum *sum);

#endif
