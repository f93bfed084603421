/*
 * byteset: sets of bytes, by range, by class or as [] of a pattern has them.
 * ASCII only and the same in every locale. No set holds the newline: it ends
 * the line, and nothing matches across it.
 */
#ifndef BYTESET_H
#define BYTESET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct byteset {
	uint8_t bits[32]; /* bit b % 8 of bits[b / 8] for each byte b in it */
};

/* Why a pattern is refused, as a phrase, and the offset of what is wrong. */
struct pattern_error {
	const char *why;
	size_t at;
};

bool byteset_has(const struct byteset *set, unsigned char byte);

/* Adds first to last, but for the newline. */
void byteset_add(struct byteset *set, unsigned char first, unsigned char last);

/*
 * Adds the class of that name as POSIX has them, "alpha", or "word": letters,
 * digits and _. False if there is none.
 */
bool byteset_add_class(struct byteset *set, const char *name, size_t length);

/* Adds the capital to each small letter and the other way round. */
void byteset_fold(struct byteset *set);

/* Makes the set all that was not in it. */
void byteset_negate(struct byteset *set);

/*
 * Takes the bracket expression that begins at text[*at] and leaves *at behind
 * it; folded before it is negated. False, with error filled, if it is none.
 */
bool byteset_bracket(struct byteset *set, bool fold, const char *text,
    size_t length, size_t *at, struct pattern_error *error);

/* Whether byte is a letter, a digit or _. */
bool byteset_is_word(unsigned char byte);

#endif
