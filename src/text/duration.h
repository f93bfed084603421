/*
 * duration: lengths of time, in nanoseconds, and how people write them.
 *
 * A duration is a 64-bit number that saturates at NANOS_MAX, about 292 years.
 * NANOS_MAX stands for "for ever".
 */
#ifndef DURATION_H
#define DURATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef int64_t nanos;

#define NANOS_MAX INT64_MAX
#define NANOS_MS INT64_C(1000000)
#define NANOS_SECOND (1000 * NANOS_MS)
#define NANOS_MINUTE (60 * NANOS_SECOND)
#define NANOS_HOUR (60 * NANOS_MINUTE)
#define NANOS_DAY (24 * NANOS_HOUR)

/* Why a text is refused as a duration. */
#define DURATION_REFUSAL "not a time in ms, s, m, h or d"

/* Room for any formatted duration and the closing NUL. */
#define DURATION_ROOM 40

/*
 * Reads exactly length bytes of text as a duration: a decimal number with an
 * optional unit (ms, s, m, h, d; none: seconds), or several numbers with units,
 * each unit smaller than the one before ("1h30m"). False for anything else: a
 * sign, an exponent, hexadecimal, blanks, "inf", "nan", nothing at all. Too
 * large a duration becomes NANOS_MAX; a positive one below 1 ns becomes 1 ns.
 */
bool duration_parse(const char *text, size_t length, nanos *span);

/*
 * Writes a duration for people to read, and returns room: "0s", "12ms",
 * "0.8s", "1.2s", "5s", "1m30s", "2h5m", "3d4h"; rounded to
 * the nearest of these, but a positive one is never "0s".
 */
char *duration_format(char room[DURATION_ROOM], nanos span);

/* The most bytes of a duration in a message. */
#define DURATION_MOST 400

/*
 * Reads a duration from a message for people, byte by byte. The message goes on
 * behind the duration, in any words: "20s.", "1.5 seconds", "6m0s", "1 minute
 * and 30 seconds", "~2 min, please", "\"30\"". All zero is idle. All but reads
 * is private.
 */
struct duration_reader {
	bool reads; /* if not, bytes mean nothing */
	bool digit; /* at the start: the byte before is a digit */
	size_t length; /* 0: before the first number */
	char text[DURATION_MOST];
};

/*
 * A duration may begin at the next byte, behind blanks, quotes and "~". before
 * is the byte before: a number does not begin behind a digit.
 */
void duration_start(struct duration_reader *reader, unsigned char before);

/* Whether it is within a duration, and not only before one. */
bool duration_began(const struct duration_reader *reader);

/*
 * Takes the next byte. True if a duration, *span, ended before this byte. A
 * newline ends every duration. The units are those of duration_parse(), weeks,
 * microseconds and nanoseconds, and their names in English, in upper or lower
 * case; a number without a unit is in seconds. Each unit must be smaller than
 * the one before; what follows the last such part does not belong to the
 * duration.
 *
 * Not a duration: a number that a word which is no unit follows, or that may be
 * a part of something else, such as of a date, a time of day, or "50%".
 */
bool
duration_take(struct duration_reader *reader, unsigned char byte, nanos *span);

#endif
