#include "pattern.h"

#include <string.h>

enum {
	UNKNOWN = 0, /* the row that stands for none */
	FIRST_STATE = 2, /* after the match */
	CRAWL = 4096, /* bytes without the table, once it fills too fast */
	LEAST_USE = 16, /* bytes a state must serve, or it fills too fast */
	LEAST_WORTH = 6, /* of needles: one byte in 64 */
	CROWDED = 64, /* bytes: needles this near each other are no help */
	CROWD = 16, /* so many in a row are enough */
};

static uint32_t
match_row(const struct pattern *pattern)
{
	return pattern->classes;
}

static uint64_t *
words_of(struct pattern *pattern, uint32_t row)
{
	size_t state = row / pattern->classes;

	return pattern->sets + state * pattern->ere.nfa.width;
}

/*
 * The table
 */

static bool
full(const struct pattern *pattern)
{
	uint32_t more = pattern->states + 1;

	return more > PATTERN_STATES ||
	    more * pattern->classes > PATTERN_CELLS ||
	    more * pattern->ere.nfa.width > PATTERN_WORDS;
}

/* The slot of a set, or the free one where it would go. */
static uint16_t *
find_slot(struct pattern *pattern, const struct nfa_set *set)
{
	uint32_t width = pattern->ere.nfa.width;
	uint64_t hash = 0;
	size_t slot;

	for (uint32_t i = 0; i < width; i++)
		hash = (hash ^ set->words[i]) * UINT64_C(0x9e3779b97f4a7c15);
	slot = hash >> 40 & (PATTERN_SLOTS - 1);
	for (;; slot = (slot + 1) & (PATTERN_SLOTS - 1)) {
		size_t state = pattern->slots[slot];

		if (state == 0 ||
		    memcmp(pattern->sets + state * width, set->words,
			width * sizeof set->words[0]) == 0)
			return &pattern->slots[slot];
	}
}

/* The row of a set; UNKNOWN if it has none and the table is full. */
static uint32_t
row_of(struct pattern *pattern, const struct nfa_set *set)
{
	uint32_t width = pattern->ere.nfa.width, row;
	uint16_t *slot = find_slot(pattern, set);

	if (*slot != 0)
		return *slot * pattern->classes;
	if (full(pattern))
		return UNKNOWN;
	*slot = (uint16_t)pattern->states++;
	row = *slot * pattern->classes;
	memset(
	    pattern->next + row, 0, pattern->classes * sizeof pattern->next[0]);
	memcpy(
	    words_of(pattern, row), set->words, width * sizeof set->words[0]);
	return row;
}

/* Leaves the starts, which get the same rows each time. */
static void
empty_table(struct pattern *pattern)
{
	pattern->states = FIRST_STATE;
	pattern->walked = 0;
	memset(pattern->slots, 0, sizeof pattern->slots);
	for (int before = NFA_LINE; before <= NFA_WORD; before++) {
		struct nfa_set set;

		nfa_start(&pattern->ere.nfa, &set, (enum nfa_before)before);
		pattern->start[before] = row_of(pattern, &set);
	}
	pattern->last_start = (pattern->states - 1) * pattern->classes;
}

/* Empties the full table for the sake of set; UNKNOWN if it fills too fast. */
static uint32_t
row_of_more(struct pattern *pattern, const struct nfa_set *set)
{
	bool used = pattern->walked >= LEAST_USE * (uint64_t)pattern->states;

	empty_table(pattern);
	if (used)
		return row_of(pattern, set);
	memcpy(pattern->now.words, set->words,
	    pattern->ere.nfa.width * sizeof set->words[0]);
	return UNKNOWN;
}

/* Works out where byte leads to from the state, and keeps it. */
static uint32_t
learn(struct pattern *pattern, unsigned char byte)
{
	const struct nfa *nfa = &pattern->ere.nfa;
	uint32_t from = pattern->state, to = match_row(pattern);
	struct nfa_set set;

	memcpy(set.words, words_of(pattern, from),
	    nfa->width * sizeof set.words[0]);
	if (!nfa_step(nfa, &set, byte))
		to = row_of(pattern, &set);
	if (to == UNKNOWN)
		return row_of_more(pattern, &set);
	pattern->next[from + pattern->class[byte]] = (uint16_t)to;
	return to;
}

static uint32_t
next_row(struct pattern *pattern, unsigned char byte)
{
	uint32_t row = pattern->next[pattern->state + pattern->class[byte]];

	return row != UNKNOWN ? row : learn(pattern, byte);
}

/*
 * Four ways through the stream, from the slowest to the fastest
 */

/* Without the table, to the end of the line or until it is worth a try. */
static const unsigned char *
crawl(
    struct pattern *pattern, const unsigned char *at, const unsigned char *end)
{
	while (at < end) {
		unsigned char byte = *at++;

		if (nfa_step(&pattern->ere.nfa, &pattern->now, byte)) {
			pattern->state = match_row(pattern);
			break;
		}
		if (byte == '\n' || ++pattern->walked >= CRAWL) {
			pattern->state = row_of(pattern, &pattern->now);
			pattern->walked = 0;
			break;
		}
	}
	return at;
}

/* As far as the table is known and no row up to floor is met. */
static const unsigned char *
dash(struct pattern *pattern, const unsigned char *at, const unsigned char *end,
    uint32_t floor)
{
	const unsigned char *from = at;
	const uint16_t *next = pattern->next;
	const uint8_t *class = pattern->class;
	uint32_t state = pattern->state;

	for (; at < end; at++) {
		uint32_t to = next[state + class[*at]];

		if (to <= floor)
			break;
		state = to;
	}
	pattern->state = state;
	pattern->walked += (size_t)(at - from);
	return at;
}

/* With the table, until behind a byte that leads to a row up to floor. */
static const unsigned char *
walk(struct pattern *pattern, const unsigned char *at, const unsigned char *end,
    uint32_t floor)
{
	while ((at = dash(pattern, at, end, floor)) < end) {
		pattern->state = next_row(pattern, *at);
		at++;
		if (pattern->state <= floor)
			break;
	}
	return at;
}

/* Over bytes that lead from a start to a start, and the next one. */
static const unsigned char *
skim(struct pattern *pattern, const unsigned char *at, const unsigned char *end)
{
	const unsigned char *from = at;
	const uint8_t *idle = pattern->idle;

	while (end - at >= 4 &&
	    (idle[at[0]] & idle[at[1]] & idle[at[2]] & idle[at[3]]) != 0)
		at += 4;
	while (at < end && idle[*at] != 0)
		at++;
	if (at > from)
		pattern->state = pattern->start[nfa_before(at[-1])];
	return walk(pattern, at, at < end ? at + 1 : end, match_row(pattern));
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

	if (pattern->search.before == NEEDLE_FAR) {
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
	const unsigned char *hit = needle_find(&pattern->search, at, end);
	const unsigned char *from = earliest(pattern, at, hit, end);

	*crowd = hit - at < CROWDED ? *crowd + 1 : 0;
	if (from > at)
		pattern->state = pattern->start[nfa_before(from[-1])];
	return walk(
	    pattern, from, hit < end ? hit + 1 : end, match_row(pattern));
}

/*
 * Compiling
 */

/* Numbers the classes anew, those apart that are in set and not in it. */
static void
divide(struct pattern *pattern, const struct bytes *set)
{
	int number[2][256];

	memset(number, -1, sizeof number);
	pattern->classes = 0;
	for (int b = 0; b < 256; b++) {
		bool in = bytes_has(set, (unsigned char)b);
		int *known = &number[in][pattern->class[b]];

		if (*known == -1)
			*known = (int)pattern->classes++;
		pattern->class[b] = (uint8_t)*known;
	}
}

static void
classify(struct pattern *pattern)
{
	const struct nfa *nfa = &pattern->ere.nfa;
	struct bytes set = { { 0 } };

	memset(pattern->class, 0, sizeof pattern->class);
	bytes_negate(&set);
	divide(pattern, &set);
	for (uint32_t i = 0; i < nfa->sets; i++)
		divide(pattern, &nfa->set[i]);
	if (nfa->words) {
		set = (struct bytes){ { 0 } };
		bytes_add_class(&set, "word", strlen("word"));
		divide(pattern, &set);
	}
}

/* Whether byte leads from every start to the one that is behind it. */
static bool
is_idle(struct pattern *pattern, unsigned char byte)
{
	for (int before = NFA_LINE; before <= NFA_WORD; before++) {
		pattern->state = pattern->start[before];
		if (next_row(pattern, byte) != pattern->start[nfa_before(byte)])
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
			busy += all >> needle_rarity(byte);
	}
	pattern->skims = busy <= all / 8;
}

bool
pattern_compile(struct pattern *pattern, const char *text, size_t length,
    struct pattern_error *error)
{
	struct ere *ere = &pattern->ere;
	struct nfa_set set;

	if (!ere_parse(ere, text, length, error))
		return false;
	if (needle_worth(&ere->needles) < LEAST_WORTH)
		ere->needles.count = 0;
	needle_prepare(&pattern->search, &ere->needles, ere->fold);
	classify(pattern);
	empty_table(pattern);
	pattern->at_once = nfa_start(&ere->nfa, &set, NFA_LINE);
	pattern->skims = false;
	if (ere->needles.count == 0 && !pattern->at_once)
		find_idle(pattern);
	pattern_start(pattern);
	return true;
}

/*
 * The stream
 */

void
pattern_start(struct pattern *pattern)
{
	pattern->matched = false;
	pattern->open = false;
	pattern->state = pattern->start[NFA_LINE];
}

static void
run(struct pattern *pattern, const unsigned char *at, const unsigned char *end)
{
	unsigned crowd = pattern->search.count > 0 ? 0 : CROWD;

	while (at < end && pattern->state != match_row(pattern)) {
		if (pattern->state == UNKNOWN)
			at = crawl(pattern, at, end);
		else if (pattern->state > pattern->last_start)
			at = walk(pattern, at, end, pattern->last_start);
		else if (crowd < CROWD)
			at = seek(pattern, at, end, &crowd);
		else if (pattern->skims)
			at = skim(pattern, at, end);
		else
			at = walk(pattern, at, end, match_row(pattern));
	}
}

bool
pattern_feed(struct pattern *pattern, const void *bytes, size_t length)
{
	const unsigned char *at = bytes;

	if (pattern->matched || length == 0)
		return pattern->matched;
	pattern->open = at[length - 1] != '\n';
	if (pattern->at_once)
		pattern->state = match_row(pattern);
	run(pattern, at, at + length);
	pattern->matched = pattern->state == match_row(pattern);
	return pattern->matched;
}

bool
pattern_end(struct pattern *pattern)
{
	const struct nfa *nfa = &pattern->ere.nfa;

	if (pattern->matched || !pattern->open)
		return pattern->matched;
	if (pattern->state != UNKNOWN)
		memcpy(pattern->now.words, words_of(pattern, pattern->state),
		    nfa->width * sizeof pattern->now.words[0]);
	pattern->matched = nfa_end(nfa, &pattern->now);
	return pattern->matched;
}
