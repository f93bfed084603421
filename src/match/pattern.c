#include "match/pattern.h"

#include <string.h>

enum {
	LEAST_WORTH = 6, /* of needles: one byte in 64 */
	CROWDED = 64, /* bytes: needles this near each other are no help */
	CROWD = 16, /* so many in a row are enough */
};

/*
 * Ways from one place in the stream to where a match can begin
 */

/* Over bytes that lead from a start to a start, and the next one. */
static const unsigned char *
skim(struct pattern *pattern, const unsigned char *at, const unsigned char *end)
{
	struct dfa *states = &pattern->states;
	const unsigned char *from = at;
	const uint8_t *idle = pattern->idle;

	while (end - at >= 4 &&
	    (idle[at[0]] & idle[at[1]] & idle[at[2]] & idle[at[3]]) != 0)
		at += 4;
	while (at < end && idle[*at] != 0)
		at++;
	if (at > from)
		states->state = states->start[nfa_before(at[-1])];
	return dfa_walk(states, at, at < end ? at + 1 : end, dfa_match(states));
}

/*
 * Where a match can begin at the earliest that has its needle at hit or, where
 * hit is the end, from the last bytes on into the next chunk.
 */
static const unsigned char *
earliest(const struct pattern *pattern, const unsigned char *at,
    const unsigned char *hit, const unsigned char *end)
{
	size_t length = (size_t)(hit - at);
	uint64_t back = pattern->search.before;

	if (pattern->search.before == SEARCH_FAR) {
		const unsigned char *newline = memrchr(at, '\n', length);

		return newline != NULL ? newline + 1 : at;
	}
	if (hit == end)
		back += pattern->search.length - 1;
	return back < length ? hit - back : at;
}

/* From a start to the next needle, and past its first byte. */
static const unsigned char *
seek(struct pattern *pattern, const unsigned char *at, const unsigned char *end,
    unsigned *crowd)
{
	struct dfa *states = &pattern->states;
	const unsigned char *hit = search_find(&pattern->search, at, end);
	const unsigned char *from = earliest(pattern, at, hit, end);

	*crowd = hit - at < CROWDED ? *crowd + 1 : 0;
	if (from > at)
		states->state = states->start[nfa_before(from[-1])];
	return dfa_walk(
	    states, from, hit < end ? hit + 1 : end, dfa_match(states));
}

/*
 * Compiling
 */

/* Whether byte leads from every start to the one that is behind it. */
static bool
is_idle(struct pattern *pattern, unsigned char byte)
{
	struct dfa *states = &pattern->states;
	const struct nfa *nfa = &states->nfa;

	for (int before = NFA_LINE; before <= NFA_WORD; before++) {
		struct nfa_set set;

		nfa_start(nfa, &set, (enum nfa_before)before);
		if (nfa_step(nfa, &set, byte) ||
		    dfa_row(states, &set) != states->start[nfa_before(byte)])
			return false;
	}
	return true;
}

/* Finds the bytes that can be skipped, and whether they are common enough. */
static void
find_idle(struct pattern *pattern)
{
	const unsigned all = 1 << 9; /* bytes: as many of 2^rarity */
	unsigned busy = 0;

	for (int b = 0; b < 256; b++) {
		unsigned char byte = (unsigned char)b;

		pattern->idle[b] = is_idle(pattern, byte);
		if (!pattern->idle[b])
			busy += all >> search_rarity(byte);
	}
	pattern->skims = busy <= all / 8;
}

/* What is made ready once all texts are in the program. */
static void
finish(struct pattern *pattern, struct search_sum *needles)
{
	struct nfa *nfa = &pattern->states.nfa;
	struct nfa_set set;

	nfa_finish(nfa);
	if (search_sum_worth(needles) < LEAST_WORTH)
		needles->count = 0;
	search_prepare(&pattern->search, needles);
	dfa_prepare(&pattern->states);
	pattern->at_once = nfa_start(nfa, &set, NFA_LINE);
	pattern->skims = false;
	if (needles->count == 0 && !pattern->at_once)
		find_idle(pattern);
	pattern->ready = true;
	pattern_start(pattern);
}

bool
pattern_compile(struct pattern *pattern, const char *text, size_t length,
    struct pattern_error *error)
{
	struct search_sum needles = { .count = 0 };

	pattern->count = 1;
	nfa_clear(&pattern->states.nfa);
	if (!ere_add(&pattern->states.nfa, &needles, text, length, error))
		return false;
	finish(pattern, &needles);
	return true;
}

/*
 * Several texts
 */

/*
 * How many nodes a text makes at most: one a byte, two for what branches, and
 * its own. What is counted is not foreseen.
 */
static uint32_t
count_nodes(const char *text)
{
	uint32_t nodes = 2;

	for (; *text != '\0'; text++) {
		if (*text == '{')
			return NFA_NODES;
		if (*text == '\\' && text[1] != '\0') {
			text++;
			nodes++;
		} else if (*text == '|' || *text == '*')
			nodes += 2;
		else
			nodes += *text != '(' && *text != ')';
	}
	return nodes;
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
	uint32_t nodes = count_nodes(text);

	if (pattern->count == PATTERN_TEXTS ||
	    (pattern->count > 0 && pattern->nodes + nodes > NFA_NODES - 2))
		return false;
	pattern->nodes += nodes;
	pattern->text[pattern->count++] = text;
	return true;
}

/* They are known to be patterns that fit. */
static void
compile_all(struct pattern *pattern)
{
	struct search_sum needles = { .count = 0 };
	struct pattern_error error;

	nfa_clear(&pattern->states.nfa);
	for (uint32_t n = 0; n < pattern->count; n++)
		if (!ere_add(&pattern->states.nfa, &needles, pattern->text[n],
			strlen(pattern->text[n]), &error))
			break;
	finish(pattern, &needles);
}

/*
 * The stream
 */

void
pattern_start(struct pattern *pattern)
{
	pattern->matched = false;
	pattern->open = false;
	pattern->states.seen = 0;
	if (pattern->ready)
		dfa_start(&pattern->states);
}

/* At the first byte of a stream: texts that match the empty line. */
static void
match_at_once(struct pattern *pattern)
{
	struct dfa *states = &pattern->states;
	struct nfa_set set;

	if (nfa_start(&states->nfa, &set, NFA_LINE))
		states->state = dfa_conclude(states, &set);
}

static void
run(struct pattern *pattern, const unsigned char *at, const unsigned char *end)
{
	struct dfa *states = &pattern->states;
	unsigned crowd = pattern->search.count > 0 ? 0 : CROWD;

	while (at < end && states->state != dfa_match(states)) {
		if (states->state == DFA_UNKNOWN)
			at = dfa_crawl(states, at, end);
		else if (states->state > states->last_start)
			at = dfa_walk(states, at, end, states->last_start);
		else if (crowd < CROWD)
			at = seek(pattern, at, end, &crowd);
		else if (pattern->skims)
			at = skim(pattern, at, end);
		else
			at = dfa_walk(states, at, end, dfa_match(states));
	}
}

bool
pattern_feed(struct pattern *pattern, const void *bytes, size_t length)
{
	const unsigned char *at = bytes;

	if (pattern->matched || length == 0)
		return pattern->matched;
	if (!pattern->ready)
		compile_all(pattern);
	pattern->open = at[length - 1] != '\n';
	if (pattern->at_once)
		match_at_once(pattern);
	run(pattern, at, at + length);
	pattern->matched = pattern->states.state == dfa_match(&pattern->states);
	return pattern->matched;
}

bool
pattern_end(struct pattern *pattern)
{
	if (!pattern->matched && pattern->open)
		pattern->matched = dfa_end(&pattern->states);
	return pattern->matched;
}

bool
pattern_seen(const struct pattern *pattern, uint32_t n)
{
	return pattern->states.seen >> n & 1;
}
