#include "match/pattern.h"

#include <string.h>

enum {
	LEAST_RARITY = 6, /* 1 byte in 64: search only for rarer hits */
	NEAR = 64, /* bytes; a search does not pay for nearer hits */
	MOST_NEAR = 16, /* near hits in a row that end the search of a chunk */
};

/* Skips idle bytes, and takes the byte behind them. */
static const unsigned char *
skim(struct pattern *pattern, const unsigned char *at, const unsigned char *end)
{
	struct dfa *dfa = &pattern->dfa;
	const unsigned char *from = at;
	const uint8_t *idle = pattern->idle;

	while (end - at >= 4 &&
	    (idle[at[0]] & idle[at[1]] & idle[at[2]] & idle[at[3]]) != 0)
		at += 4;
	while (at < end && idle[*at] != 0)
		at++;
	if (at > from)
		dfa->state = dfa->start[nfa_before(at[-1])];
	return dfa_run(dfa, at, at < end ? at + 1 : end, dfa_match(dfa));
}

/*
 * The earliest place where a match can begin that contains the string at hit,
 * or, if hit is the end, a string that goes on in the next chunk.
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

/* Searches for the next hit, and runs the table from where its match may begin.
 */
static const unsigned char *
seek(struct pattern *pattern, const unsigned char *at, const unsigned char *end,
    unsigned *near)
{
	struct dfa *dfa = &pattern->dfa;
	const unsigned char *hit = search_find(&pattern->search, at, end);
	const unsigned char *from = earliest(pattern, at, hit, end);

	*near = hit - at < NEAR ? *near + 1 : 0;
	if (from > at)
		dfa->state = dfa->start[nfa_before(from[-1])];
	return dfa_run(dfa, from, hit < end ? hit + 1 : end, dfa_match(dfa));
}

/* Whether byte leads from every start to the start for the place behind it. */
static bool
is_idle(struct pattern *pattern, unsigned char byte)
{
	struct dfa *dfa = &pattern->dfa;
	const struct nfa *nfa = &dfa->nfa;

	for (int before = NFA_LINE; before <= NFA_WORD; before++) {
		struct nfa_set set;

		nfa_start(nfa, &set, (enum nfa_before)before);
		if (nfa_step(nfa, &set, byte) ||
		    dfa_row(dfa, &set) != dfa->start[nfa_before(byte)])
			return false;
	}
	return true;
}

/* Finds the idle bytes, and whether they are common enough to skip. */
static void
find_idle(struct pattern *pattern)
{
	const unsigned all = 1 << 9; /* a byte of rarity r: 2^(9 - r) of it */
	unsigned busy = 0;

	for (int b = 0; b < 256; b++) {
		unsigned char byte = (unsigned char)b;

		pattern->idle[b] = is_idle(pattern, byte);
		if (!pattern->idle[b])
			busy += all >> search_byte_rarity(byte);
	}
	pattern->skims = busy <= all / 8;
}

/* Prepares the search and the automaton, when all texts are in the program. */
static void
finish(struct pattern *pattern, struct search_union *strings)
{
	struct nfa *nfa = &pattern->dfa.nfa;
	struct nfa_set set;

	nfa_finish(nfa);
	if (search_union_rarity(strings) < LEAST_RARITY)
		strings->count = 0;
	search_prepare(&pattern->search, strings);
	dfa_prepare(&pattern->dfa);
	pattern->at_once = nfa_start(nfa, &set, NFA_LINE);
	pattern->skims = false;
	if (strings->count == 0 && !pattern->at_once)
		find_idle(pattern);
	pattern->ready = true;
	pattern_start(pattern);
}

bool
pattern_compile(struct pattern *pattern, const char *text, size_t length,
    struct pattern_error *error)
{
	struct search_union strings = { .count = 0 };

	pattern->count = 1;
	nfa_clear(&pattern->dfa.nfa);
	if (!ere_add(&pattern->dfa.nfa, &strings, text, length, error))
		return false;
	finish(pattern, &strings);
	return true;
}

/*
 * The most nodes that a text needs: one for a byte, two for a branch, and two
 * for the text. A text with counts in {} may need all nodes.
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

/* Compiles the gathered texts. They are valid and fit: see pattern_add(). */
static void
compile_all(struct pattern *pattern)
{
	struct search_union strings = { .count = 0 };
	struct pattern_error error;

	nfa_clear(&pattern->dfa.nfa);
	for (uint32_t n = 0; n < pattern->count; n++)
		if (!ere_add(&pattern->dfa.nfa, &strings, pattern->text[n],
			strlen(pattern->text[n]), &error))
			break;
	finish(pattern, &strings);
}

void
pattern_start(struct pattern *pattern)
{
	pattern->matched = false;
	pattern->open = false;
	pattern->dfa.seen = 0;
	if (pattern->ready)
		dfa_start(&pattern->dfa);
}

/* Finds the texts that match an empty line, before the first byte of a chunk.
 */
static void
match_at_once(struct pattern *pattern)
{
	struct dfa *dfa = &pattern->dfa;
	struct nfa_set set;

	if (nfa_start(&dfa->nfa, &set, NFA_LINE))
		dfa->state = dfa_accept(dfa, &set);
}

/* Stops where all texts have matched, or with each, where a match ended. */
static const unsigned char *
run(struct pattern *pattern, const unsigned char *at, const unsigned char *end)
{
	struct dfa *dfa = &pattern->dfa;
	unsigned near = pattern->search.count > 0 ? 0 : MOST_NEAR;

	while (at < end && dfa->state != dfa_match(dfa) &&
	    !(dfa->each && dfa->ends != 0)) {
		if (dfa->state == DFA_UNKNOWN)
			at = dfa_run_nfa(dfa, at, end);
		else if (dfa->state > dfa->last_start)
			at = dfa_run(dfa, at, end, dfa->last_start);
		else if (near < MOST_NEAR)
			at = seek(pattern, at, end, &near);
		else if (pattern->skims)
			at = skim(pattern, at, end);
		else
			at = dfa_run(dfa, at, end, dfa_match(dfa));
	}
	return at;
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
	pattern->matched = pattern->dfa.state == dfa_match(&pattern->dfa);
	return pattern->matched;
}

bool
pattern_end(struct pattern *pattern)
{
	if (!pattern->matched && pattern->open)
		pattern->matched = dfa_end(&pattern->dfa);
	return pattern->matched;
}

size_t
pattern_next(
    struct pattern *pattern, const void *bytes, size_t length, unsigned *ends)
{
	const unsigned char *from = bytes, *at;

	pattern->dfa.each = true;
	pattern->dfa.ends = 0;
	at = run(pattern, from, from + length);
	*ends = pattern->dfa.ends;
	return (size_t)(at - from);
}

bool
pattern_seen(const struct pattern *pattern, uint32_t n)
{
	return pattern->dfa.seen >> n & 1;
}
