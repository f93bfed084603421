#include "match/pattern.h"

#include <string.h>

bool
pattern_compile(struct pattern *pattern, const char *text, size_t length,
    struct pattern_error *error)
{
	ere_clear(&pattern->automaton.ere);
	if (!ere_add(&pattern->automaton.ere, text, length, error))
		return false;
	automaton_prepare(&pattern->automaton);
	pattern->ready = true;
	pattern_start(pattern);
	return true;
}

void
pattern_gather(struct pattern *pattern)
{
	pattern->ready = false;
	pattern->count = 0;
	pattern->nodes = 0;
	pattern_start(pattern);
}

bool
pattern_add(struct pattern *pattern, const char *text)
{
	uint32_t nodes = 1; /* the match */

	/* The most nodes that the text needs: one for a byte, two for a branch.
	 * With counts in {} it may need all nodes. */
	for (const char *at = text; *at != '\0'; at++) {
		if (*at == '{')
			nodes += ERE_NODES;
		else if (*at == '|' || *at == '*')
			nodes += 2;
		else if (*at != '(' && *at != ')')
			nodes++;
		if (*at == '\\' && at[1] != '\0')
			at++;
	}
	if (pattern->count == PATTERN_TEXTS ||
	    (pattern->count > 0 && pattern->nodes + nodes > ERE_NODES))
		return false;
	pattern->nodes += nodes;
	pattern->text[pattern->count++] = text;
	return true;
}

void
pattern_start(struct pattern *pattern)
{
	pattern->open = false;
	pattern->automaton.seen = 0;
	if (pattern->ready)
		automaton_start(&pattern->automaton);
}

bool
pattern_feed(struct pattern *pattern, const void *bytes, size_t length)
{
	const unsigned char *at = bytes;
	struct pattern_error error;

	if (length > 0 && !pattern->ready) {
		/* The texts are valid and fit: see pattern_add(). */
		ere_clear(&pattern->automaton.ere);
		for (uint32_t n = 0; n < pattern->count; n++)
			if (!ere_add(&pattern->automaton.ere, pattern->text[n],
				strlen(pattern->text[n]), &error))
				break;
		automaton_prepare(&pattern->automaton);
		pattern->ready = true;
	}
	if (length > 0)
		pattern->open = at[length - 1] != '\n';
	return pattern->ready &&
	    automaton_feed(&pattern->automaton, at, length);
}

bool
pattern_end(struct pattern *pattern)
{
	return pattern_feed(pattern, "\n", pattern->open ? 1 : 0);
}

size_t
pattern_next(
    struct pattern *pattern, const void *bytes, size_t length, bool *found)
{
	return automaton_next(&pattern->automaton, bytes, length, found);
}

bool
pattern_seen(const struct pattern *pattern, uint32_t n)
{
	return pattern->automaton.seen >> n & 1;
}
