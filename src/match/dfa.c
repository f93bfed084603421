#include "match/dfa.h"

#include <string.h>

enum {
	FIRST_STATE = 2, /* after the match */
	CRAWL = 4096, /* bytes without the table, once it fills too fast */
	LEAST_USE = 16, /* bytes a state must serve, or it fills too fast */
};

/* Of the members, all that can be found. */
static uint64_t
all_members(const struct dfa *states)
{
	return UINT64_MAX >> (NFA_MEMBERS - states->nfa.members);
}

static uint64_t *
words_of(struct dfa *states, uint32_t row)
{
	size_t state = row / states->classes;

	return states->sets + state * states->nfa.width;
}

static bool
full(const struct dfa *states)
{
	uint32_t more = states->used + 1;

	return more > DFA_MOST || more * states->classes > DFA_CELLS ||
	    more * states->nfa.width > DFA_WORDS;
}

/* The slot of a set, or the free one where it would go. */
static uint16_t *
find_slot(struct dfa *states, const struct nfa_set *set)
{
	uint32_t width = states->nfa.width;
	uint64_t hash = 0;
	size_t slot;

	for (uint32_t i = 0; i < width; i++)
		hash = (hash ^ set->words[i]) * UINT64_C(0x9e3779b97f4a7c15);
	slot = hash >> 40 & (DFA_SLOTS - 1);
	for (;; slot = (slot + 1) & (DFA_SLOTS - 1)) {
		size_t state = states->slots[slot];

		if (state == 0 ||
		    memcmp(states->sets + state * width, set->words,
			width * sizeof set->words[0]) == 0)
			return &states->slots[slot];
	}
}

/* The row of a set; DFA_UNKNOWN if it has none and the table is full. */
uint32_t
dfa_row(struct dfa *states, const struct nfa_set *set)
{
	uint32_t width = states->nfa.width, row;
	uint16_t *slot = find_slot(states, set);

	if (*slot != 0)
		return *slot * states->classes;
	if (full(states))
		return DFA_UNKNOWN;
	*slot = (uint16_t)states->used++;
	row = *slot * states->classes;
	memset(states->next + row, 0, states->classes * sizeof states->next[0]);
	memcpy(words_of(states, row), set->words, width * sizeof set->words[0]);
	return row;
}

/* Leaves the starts, which get the same rows each time. */
static void
empty(struct dfa *states)
{
	states->used = FIRST_STATE;
	states->walked = 0;
	memset(states->slots, 0, sizeof states->slots);
	for (int before = NFA_LINE; before <= NFA_WORD; before++) {
		struct nfa_set set;

		nfa_start(&states->nfa, &set, (enum nfa_before)before);
		states->start[before] = dfa_row(states, &set);
	}
	states->last_start = (states->used - 1) * states->classes;
}

/* Goes on without the table. */
static uint32_t
without_row(struct dfa *states, const struct nfa_set *set)
{
	memcpy(states->now.words, set->words,
	    states->nfa.width * sizeof set->words[0]);
	return DFA_UNKNOWN;
}

/* Empties the full table for the sake of set; DFA_UNKNOWN if it fills too
 * fast. */
static uint32_t
row_of_more(struct dfa *states, const struct nfa_set *set)
{
	bool used = states->walked >= LEAST_USE * (uint64_t)states->used;

	empty(states);
	return used ? dfa_row(states, set) : without_row(states, set);
}

/*
 * The row of a set in which some texts have matched. Unless they all have now
 * these are dropped, which changes what every row means.
 */
uint32_t
dfa_conclude(struct dfa *states, struct nfa_set *set)
{
	struct nfa *nfa = &states->nfa;
	uint64_t found = nfa_found(nfa, set);
	uint32_t row;

	states->seen |= found;
	if (states->seen == all_members(states))
		return dfa_match(states);
	for (uint32_t n = 0; n < nfa->members; n++)
		if (found >> n & 1)
			nfa_drop(nfa, set, n);
	states->dropped = true;
	empty(states);
	row = dfa_row(states, set);
	return row != DFA_UNKNOWN ? row : without_row(states, set);
}

/* Works out where byte leads to from the state, and keeps it. */
static uint32_t
learn(struct dfa *states, unsigned char byte)
{
	const struct nfa *nfa = &states->nfa;
	uint32_t from = states->state, to;
	struct nfa_set set;

	memcpy(set.words, words_of(states, from),
	    nfa->width * sizeof set.words[0]);
	if (nfa_step(nfa, &set, byte))
		return dfa_conclude(states, &set);
	to = dfa_row(states, &set);
	if (to == DFA_UNKNOWN)
		return row_of_more(states, &set);
	states->next[from + states->class[byte]] = (uint16_t)to;
	return to;
}

static uint32_t
next_row(struct dfa *states, unsigned char byte)
{
	uint32_t row = states->next[states->state + states->class[byte]];

	return row != DFA_UNKNOWN ? row : learn(states, byte);
}

/* Numbers the classes anew, those apart that are in set and not in it. */
static void
divide(struct dfa *states, const struct byteset *set)
{
	int number[2][256];

	memset(number, -1, sizeof number);
	states->classes = 0;
	for (int b = 0; b < 256; b++) {
		bool in = byteset_has(set, (unsigned char)b);
		int *known = &number[in][states->class[b]];

		if (*known == -1)
			*known = (int)states->classes++;
		states->class[b] = (uint8_t)*known;
	}
}

static void
classify(struct dfa *states)
{
	const struct nfa *nfa = &states->nfa;
	struct byteset set = { { 0 } };

	memset(states->class, 0, sizeof states->class);
	byteset_negate(&set);
	divide(states, &set);
	for (uint32_t i = 0; i < nfa->sets; i++)
		divide(states, &nfa->set[i]);
	if (nfa->words) {
		set = (struct byteset){ { 0 } };
		byteset_add_class(&set, "word", strlen("word"));
		divide(states, &set);
	}
}

/*
 * Two ways through a stream, the slower one first
 */

/* Without the table, to the end of the line or until it is worth a try. */
const unsigned char *
dfa_crawl(struct dfa *states, const unsigned char *at, const unsigned char *end)
{
	while (at < end) {
		unsigned char byte = *at++;

		if (nfa_step(&states->nfa, &states->now, byte)) {
			states->state = dfa_conclude(states, &states->now);
			break;
		}
		if (byte == '\n' || ++states->walked >= CRAWL) {
			states->state = dfa_row(states, &states->now);
			states->walked = 0;
			break;
		}
	}
	return at;
}

/* As far as the table is known and no row up to floor is met. */
static const unsigned char *
dash(struct dfa *states, const unsigned char *at, const unsigned char *end,
    uint32_t floor)
{
	const unsigned char *from = at;
	const uint16_t *next = states->next;
	const uint8_t *class = states->class;
	uint32_t state = states->state;

	for (; at < end; at++) {
		/* The column first, which does not wait for the state. */
		const uint16_t *column = next + class[*at];
		uint32_t to = column[state];

		if (to <= floor)
			break;
		state = to;
	}
	states->state = state;
	states->walked += (size_t)(at - from);
	return at;
}

/* With the table, until behind a byte that leads to a row up to floor. */
const unsigned char *
dfa_walk(struct dfa *states, const unsigned char *at, const unsigned char *end,
    uint32_t floor)
{
	while ((at = dash(states, at, end, floor)) < end) {
		states->state = next_row(states, *at);
		at++;
		if (states->state <= floor)
			break;
	}
	return at;
}

void
dfa_prepare(struct dfa *states)
{
	classify(states);
	empty(states);
	states->dropped = false;
	dfa_start(states);
}

void
dfa_start(struct dfa *states)
{
	states->seen = 0;
	if (states->dropped) {
		nfa_restore(&states->nfa);
		empty(states);
	}
	states->dropped = false;
	states->state = states->start[NFA_LINE];
}

bool
dfa_end(struct dfa *states)
{
	const struct nfa *nfa = &states->nfa;

	if (states->state == dfa_match(states))
		return true;
	if (states->state != DFA_UNKNOWN)
		memcpy(states->now.words, words_of(states, states->state),
		    nfa->width * sizeof states->now.words[0]);
	if (nfa_end(nfa, &states->now))
		states->seen |= nfa_found(nfa, &states->now);
	return states->seen == all_members(states);
}
