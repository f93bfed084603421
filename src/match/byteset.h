/*
 * byteset: a set of bytes, built from ranges, classes or a pattern's [].
 *
 * Sets are the same in every locale, and classes are ASCII only. No set
 * contains the newline: a newline ends the line, and no match contains it.
 */
#ifndef BYTESET_H
#define BYTESET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct byteset {
	uint8_t bits[32]; /* byte b is in the set: bit b % 8 of bits[b / 8] */
};

/* Why a pattern is refused, as a phrase, and the offset of the fault. */
struct pattern_error {
	const char *why;
	size_t at;
};

bool byteset_has(const struct byteset *set, unsigned char byte);

/* Adds first to last, except the newline. */
void byteset_add(struct byteset *set, unsigned char first, unsigned char last);

/*
 * Adds the class of that name: one of POSIX ("alpha"), or "word" for letters,
 * digits and _. False if there is no such class.
 */
bool byteset_add_class(struct byteset *set, const char *name, size_t length);

/*
 * Makes set the class that a letter behind a backslash stands for: \d \s \w,
 * or all bytes outside of such a class for \D \S \W. False, with set
 * untouched, for any other byte.
 */
bool byteset_shorthand(struct byteset *set, int letter);

/* Adds the capital to each small letter and the other way round. */
void byteset_fold(struct byteset *set);

/* Makes set the set of all bytes that were not in it, without the newline. */
void byteset_negate(struct byteset *set);

/*
 * Parses the bracket expression that begins at text[*at], and moves *at behind
 * the closing bracket. With fold, upper and lower case are the same. False,
 * with error filled, if the expression is malformed.
 */
bool byteset_bracket(struct byteset *set, bool fold, const char *text,
    size_t length, size_t *at, struct pattern_error *error);

/* Whether byte is a letter, a digit or _. */
bool byteset_is_word(unsigned char byte);

#endif
