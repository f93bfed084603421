/*
 * worded: reads a duration from a message for people, byte by byte.
 *
 * The message goes on behind the duration, in any words: "20s.", "1.5 seconds",
 * "6m0s", "1 minute and 30 seconds", "~2 min, please", "\"30\"". A number
 * without a unit is in seconds. Memory is this struct, whatever the message.
 */
#ifndef WORDED_H
#define WORDED_H

#include <stdbool.h>
#include <stddef.h>
#include "text/duration.h"

/* The longest number and the longest word that are read. */
#define WORDED_DIGITS 24
#define WORDED_LETTERS 16

enum worded_place {
	WORDED_IDLE, /* outside of a duration: bytes mean nothing */
	WORDED_START, /* before the first number */
	WORDED_NUMBER,
	WORDED_COMMA, /* behind "20,": a digit would belong to the number */
	WORDED_GAP, /* blanks behind a number */
	WORDED_UNIT,
	WORDED_BETWEEN, /* behind a unit */
	WORDED_AND, /* in the word "and" */
};

/* A reader; all zero is idle. All but place is private. */
struct worded {
	enum worded_place place;
	bool digit; /* at the start: the byte before is a digit */
	nanos span; /* of the parts so far, such as "1h" of "1h30m" */
	nanos unit; /* of the last part; 0: there is none yet */
	size_t digits, letters;
	char number[WORDED_DIGITS], word[WORDED_LETTERS];
};

/*
 * A duration may begin at the next byte, behind blanks, quotes and "~". before
 * is the byte before: a number does not begin behind a digit.
 */
void worded_start(struct worded *worded, unsigned char before);

/* Whether it is within a duration, and not only before one. */
bool worded_began(const struct worded *worded);

/*
 * Takes the next byte. True if a duration, *span, ended before this byte. A
 * newline ends every duration. The units are those of duration.h, weeks,
 * microseconds and nanoseconds, and their names in English, in upper or lower
 * case. Each unit must be smaller than the one before; what follows the last
 * such part does not belong to the duration.
 *
 * Not a duration: a number that a word which is no unit follows, or that may be
 * a part of something else, such as of a date, a time of day, or "50%".
 */
bool worded_take(struct worded *worded, unsigned char byte, nanos *span);

#endif
