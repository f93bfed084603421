/*
 * pattern: whether any line of a stream matches, told chunk by chunk. Time is
 * linear in the stream and memory is this one struct, whatever the pattern
 * and whatever the text; NUL and bytes that are no UTF-8 are bytes like
 * others. What a pattern can be says ere.h.
 *
 * Where a match must hold one of a few strings, those are searched for, and
 * only what is near one is matched. The matcher is the automaton of states.h.
 *
 * Several texts can be one pattern, which tells each that has matched, and
 * costs hardly more than one text: there is one search and one automaton. What
 * has matched is dropped from the automaton. These texts are known to be
 * patterns, so that they need not be parsed before there is a byte to look at:
 * most commands say nothing.
 */
#ifndef PATTERN_H
#define PATTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "match/ere.h"
#include "match/search.h"
#include "match/dfa.h"

#define PATTERN_TEXTS NFA_MEMBERS

/*
 * To be mapped rather than allocated: of some 256 kB a pattern of ordinary
 * size touches less than 64, and nothing need be zero. All of it is private.
 */
struct pattern {
	bool ready; /* the texts have been compiled */
	bool matched; /* all of them */
	bool open; /* the last byte was no newline */
	bool at_once; /* every line matches some text */
	bool skims; /* the bytes of idle are worth skipping */
	uint32_t count, nodes; /* of texts; of the automaton, at most */
	const char *text[PATTERN_TEXTS]; /* where there are several */
	uint8_t idle[256]; /* bytes that lead from start to start */
	struct search_search search;
	struct dfa states;
};

/*
 * Makes text a pattern, at the start of a stream. False, with error filled, if
 * it is none.
 */
bool pattern_compile(struct pattern *pattern, const char *text, size_t length,
    struct pattern_error *error);

/* Makes the pattern one of several texts, of none so far. */
void pattern_gather(struct pattern *pattern);

/*
 * Adds a text that is known to be a pattern, and lives as long as this one:
 * text number count - 1. False if there is no room; for the first there is.
 */
bool pattern_add(struct pattern *pattern, const char *text);

/* Begins a new stream. */
void pattern_start(struct pattern *pattern);

/*
 * The next bytes of the stream: true once a line has matched, or one for each
 * of several texts, which is cheap
 * to be told again. A match is seen at its last byte; where an anchor looks
 * further, as $ does, at the next one.
 */
bool pattern_feed(struct pattern *pattern, const void *bytes, size_t length);

/*
 * The stream ends here: true if a line has matched, or one for each, a last one
 * without a newline included. A stream without a byte has no lines.
 */
bool pattern_end(struct pattern *pattern);

/* Whether a line has matched text number n. */
bool pattern_seen(const struct pattern *pattern, uint32_t n);

#endif
