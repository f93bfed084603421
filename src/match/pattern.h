/*
 * pattern: tells whether any line of a stream matches, chunk by chunk.
 *
 * Time is linear in the length of the stream, and memory is this one struct,
 * whatever the pattern and the text. NUL and bytes that are not UTF-8 are bytes
 * like any other. The syntax is in ere.h.
 *
 * Several texts can be gathered in one pattern, which knows whether each of
 * them has matched, and takes hardly more time than one text: there is one
 * automaton. Gathered texts must be valid. They are compiled only when the
 * first byte comes, because most commands print nothing.
 */
#ifndef PATTERN_H
#define PATTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "match/automaton.h"

#define PATTERN_TEXTS ERE_TEXTS

/*
 * Large, some 200 kB: allocate it so that untouched pages cost nothing (a
 * pattern of ordinary size touches less than 64 kB). It need not be zeroed. All
 * of it is private.
 */
struct pattern {
	bool ready; /* the texts have been compiled */
	bool open; /* the last byte was not a newline */
	uint32_t count, nodes; /* texts; the most nodes of the automaton */
	const char *text[PATTERN_TEXTS]; /* the texts that were gathered */
	struct automaton automaton;
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
 * Adds a valid text, which must live as long as the pattern, as text number
 * count - 1. False if there is no room; for the first text there always is.
 */
bool pattern_add(struct pattern *pattern, const char *text);

/* Begins a new stream. */
void pattern_start(struct pattern *pattern);

/*
 * The next bytes of the stream. Returns true once every text has matched some
 * line; further calls then cost nothing. A match is found with the byte behind
 * it, because an anchor such as $ depends on that.
 */
bool pattern_feed(struct pattern *pattern, const void *bytes, size_t length);

/*
 * The stream ends here, and with it a last line without a newline: true if
 * every text has matched some line. A stream without a byte has no lines.
 */
bool pattern_end(struct pattern *pattern);

/*
 * Goes on, in place of pattern_feed(), behind the next byte before which a
 * match ends. Returns how many bytes that took: all of them, with *found false,
 * if there is none. Of each match all ends count, not only the longest. The
 * pattern must have been compiled by pattern_compile().
 */
size_t pattern_next(
    struct pattern *pattern, const void *bytes, size_t length, bool *found);

/* Whether text number n has matched some line. */
bool pattern_seen(const struct pattern *pattern, uint32_t n);

#endif
