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
#include "text/strview.h"

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

/*
 * The size of the unit that a message for people calls by this word, in upper
 * or lower case: one of duration_parse(), a week, a microsecond or a
 * nanosecond, by its symbol or its English name. 0: it is none.
 */
nanos duration_unit(struct strview word);

#endif
