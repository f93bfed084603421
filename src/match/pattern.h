/*
 * pattern: tells whether any line of a stream matches, chunk by chunk.
 *
 * Time is linear in the length of the stream, and memory is this one struct,
 * whatever the pattern and the text. NUL and bytes that are not UTF-8 are bytes
 * like any other. The syntax is in ere.h.
 *
 * Several texts can be gathered in one pattern, which knows whether each of
 * them has matched, and takes hardly more time than one text.
 *
 * To try one path through the nodes (ere.h) after the other takes exponential
 * time for some texts, so all paths are followed at once: after each byte there
 * is a set of the nodes that a match could have reached, and the next byte
 * leads to the next set. Thompson, "Regular Expression Search Algorithm"
 * (CACM 11:6, 1968).
 *
 * To compute a set takes long, but the same few sets occur again and again. So
 * each set becomes a state of a deterministic automaton: a row of a table, with
 * the next state for every class of bytes. An entry is computed when it is
 * needed for the first time (Cox, "Regular Expression Matching Can Be Simple
 * And Fast", 2007). Then a byte costs one look into the table. A table that is
 * full is emptied.
 *
 * Whether an anchor holds depends on the byte before and the byte behind. So
 * only the next byte decides what a set leads to without a byte, and a match is
 * found with the byte behind it.
 *
 * In a table each byte has to wait for the state that the byte before leads to.
 * So a long chunk is cut into lanes, which are run side by side. A lane but the
 * first begins as if no match had begun before. Where a lane ends in another
 * state than that in which the next one began, it goes on until both are in the
 * same state: mostly a few bytes later. A lane finds nothing that is not there,
 * because a match may begin at any byte.
 *
 * If each match begins with the same bytes, memmem(3) finds where.
 */
#ifndef PATTERN_H
#define PATTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "match/ere.h"
#include "text/clock.h"
#include "text/duration.h"

#define PATTERN_CELLS 32768 /* a row and a flag fit in 16 bits */
#ifndef PATTERN_STATES /* a test has fewer, so that the table gets full */
#define PATTERN_STATES 1024
#endif
#define PATTERN_SLOTS (2 * PATTERN_STATES)
#define PATTERN_POOL 16384 /* nodes of all states */
#ifndef PATTERN_TOIL /* a test has less, so that a call ends early */
#define PATTERN_TOIL 262144 /* nodes that a call follows: milliseconds */
#endif
#define PATTERN_PREFIX 32

/* A set of nodes, and what is known of the byte that led there. */
struct pattern_state {
	uint64_t found; /* bit n: a match of text n ended before the byte */
	uint8_t before; /* the kind of the byte */
	uint16_t count, first; /* nodes, in the pool */
};

/*
 * Large, some 300 kB: allocate it so that untouched pages cost nothing (a
 * pattern of ordinary size touches less than 64 kB). It need not be zeroed. All
 * of it is private.
 */
struct pattern {
	bool ready; /* the table is that of the texts */
	bool unended; /* the last byte was not a newline */
	uint64_t seen, all; /* bit n: text n has matched; of all texts */
	uint32_t row; /* of the current state */
	uint32_t states, pooled; /* how many are in use */
	uint32_t toil; /* how many nodes the latest call may have followed */
	uint32_t prefixed; /* how many bytes of the prefix are known */
	unsigned char prefix[PATTERN_PREFIX]; /* each match begins with it */
	uint32_t classes; /* of bytes; the length of a row */
	uint8_t class[256], kind[256];
	uint16_t slots[PATTERN_SLOTS]; /* hash table: a state, plus 1 */
	struct ere ere;
	uint16_t next[PATTERN_CELLS];
	struct pattern_state state[PATTERN_STATES];
	uint16_t pool[PATTERN_POOL];
};

/*
 * Compiles text, to be matched from the start of a stream. False, with error
 * filled, if it is malformed or too large.
 */
bool pattern_compile(struct pattern *pattern, const char *text, size_t length,
    struct pattern_error *error);

/* Makes it a pattern of several texts, none so far. */
void pattern_gather(struct pattern *pattern);

/*
 * Adds a text, before the first byte. As pattern_compile(); if there is no
 * room, the pattern stays as it was. For the first two texts there always is.
 */
bool pattern_add(struct pattern *pattern, const char *text, size_t length,
    struct pattern_error *error);

/* Begins a new stream. */
void pattern_start(struct pattern *pattern);

/*
 * The next bytes of the stream. Returns true once every text has matched some
 * line; further calls then cost nothing. A match is found with the byte behind
 * it, because an anchor such as $ depends on that.
 */
bool pattern_feed(struct pattern *pattern, const void *bytes, size_t length);

/*
 * As pattern_feed(), but returns after some milliseconds, even if the table has
 * to be computed for each byte: how many bytes it has taken, one at least.
 */
size_t
pattern_feed_some(struct pattern *pattern, const void *bytes, size_t length);

/*
 * The stream ends here, and with it a last line without a newline: true if
 * every text has matched some line. A stream without a byte has no lines.
 */
bool pattern_end(struct pattern *pattern);

/* Whether text number n has matched some line. */
bool pattern_seen(const struct pattern *pattern, uint32_t n);

/* The most bytes of a hint: no date has more. */
#define PATTERN_HINT 64

/*
 * A hint is a time directly behind a match of a pattern, such as "20s" behind
 * "try again in ". Blanks, quotes and "~" may be before it. It is one of these:
 *
 *	20s, 1.5 seconds, 6m0s	numbers with units, the larger unit first
 *	20			a number; from 1e9 seconds on, a moment in Unix
 *				time
 *	2026-11-22T10:00:00Z	a moment (date.h)
 *	8pm, 14:30 (Asia/Tokyo)	a time of the day (clock.h); but "14:30" may be
 *				a length of time behind "in" and "after"
 *
 * Not a hint: a number that a word which is no unit follows, or that may be a
 * part of something else, such as "50%".
 *
 * Chunks may be cut anywhere, and memory is this struct. Where a match may end
 * in several places, as with "after:?", each of them counts. Within a time that
 * begins with a number no other one begins.
 *
 * It is as large as its pattern, and to be allocated like that.
 */
struct pattern_hint {
	struct pattern pattern; /* compiled by the caller */
	nanos unit; /* of a number alone, set by the caller */
	/* From here on private: */
	bool matched; /* so a hint was expected */
	bool reads; /* a hint may begin, or go on, at the next byte */
	char before[16]; /* the bytes before the next one */
	bool spans, told_spans; /* "in" or "after" is before these texts */
	size_t length, told; /* of these texts */
	char text[PATTERN_HINT]; /* what follows a match */
	char time[PATTERN_HINT]; /* the last hint, with the bytes behind it */
};

/* Begins a new stream. */
void pattern_hint_start(struct pattern_hint *hint);

/* The next bytes of the stream. Returns after some milliseconds how many it has
 * taken, one at least. */
size_t
pattern_hint_feed(struct pattern_hint *hint, const void *bytes, size_t length);

enum pattern_told {
	PATTERN_NOTHING, /* nothing has matched */
	PATTERN_VAGUE, /* no time was behind any match */
	PATTERN_WAIT,
	PATTERN_CLOCK,
};

/*
 * The stream ends here, and with it its last line. What the last hint tells:
 * *wait from now on, in nanoseconds of Unix time; or the time of the day, which
 * is still to be found in its zone.
 */
enum pattern_told pattern_hint_end(
    struct pattern_hint *hint, nanos now, nanos *wait, struct clock *clock);

#endif
