#include "match/dfa.h"

#include <string.h>

enum {
	FIRST_STATE = 2, /* after the match */
	WITHOUT = 4096, /* bytes not to use a table that filled too fast */
	LEAST_USE = 16, /* a table fills too fast with fewer bytes a state */
};

/* The bits of all members. */
static uint64_t
all_members(const struct dfa *dfa)
{
	return UINT64_MAX >> (NFA_MEMBERS - dfa->nfa.members);
}

static uint64_t *
words_of(struct dfa *dfa, uint32_t row)
{
	size_t state = row / dfa->classes;

	return dfa->sets + state * dfa->nfa.width;
}

static bool
full(const struct dfa *dfa)
{
	uint32_t more = dfa->used + 1;

	return more > DFA_MOST || more * dfa->classes > DFA_CELLS ||
	    more * dfa->nfa.width > DFA_WORDS;
}

/* The slot of a set, or the free slot for a set that has none. */
static uint16_t *
find_slot(struct dfa *dfa, const struct nfa_set *set)
{
	uint32_t width = dfa->nfa.width;
	uint64_t hash = 0;
	size_t slot;

	for (uint32_t i = 0; i < width; i++)
		hash = (hash ^ set->words[i]) * UINT64_C(0x9e3779b97f4a7c15);
	slot = hash >> 40 & (DFA_SLOTS - 1);
	for (;; slot = (slot + 1) & (DFA_SLOTS - 1)) {
		size_t state = dfa->slots[slot];

		if (state == 0 ||
		    memcmp(dfa->sets + state * width, set->words,
			width * sizeof set->words[0]) == 0)
			return &dfa->slots[slot];
	}
}

uint32_t
dfa_row(struct dfa *dfa, const struct nfa_set *set)
{
	uint32_t width = dfa->nfa.width, row;
	uint16_t *slot = find_slot(dfa, set);

	if (*slot != 0)
		return *slot * dfa->classes;
	if (full(dfa))
		return DFA_UNKNOWN;
	*slot = (uint16_t)dfa->used++;
	row = *slot * dfa->classes;
	memset(dfa->next + row, 0, dfa->classes * sizeof dfa->next[0]);
	memcpy(words_of(dfa, row), set->words, width * sizeof set->words[0]);
	return row;
}

/* Empties the table, except for the starts, which get the same rows again. */
static void
empty(struct dfa *dfa)
{
	dfa->used = FIRST_STATE;
	dfa->walked = 0;
	memset(dfa->slots, 0, sizeof dfa->slots);
	for (int before = NFA_LINE; before <= NFA_WORD; before++) {
		struct nfa_set set;

		nfa_start(&dfa->nfa, &set, (enum nfa_before)before);
		dfa->start[before] = dfa_row(dfa, &set);
	}
	dfa->last_start = (dfa->used - 1) * dfa->classes;
}

/* Goes on from set without the table. */
static uint32_t
without_row(struct dfa *dfa, const struct nfa_set *set)
{
	memcpy(
	    dfa->now.words, set->words, dfa->nfa.width * sizeof set->words[0]);
	return DFA_UNKNOWN;
}

/* Empties the full table, and makes a row for set unless the table fills too
 * fast. */
static uint32_t
row_of_more(struct dfa *dfa, const struct nfa_set *set)
{
	bool used = dfa->walked >= LEAST_USE * (uint64_t)dfa->used;

	empty(dfa);
	return used ? dfa_row(dfa, set) : without_row(dfa, set);
}

uint32_t
dfa_accept(struct dfa *dfa, struct nfa_set *set)
{
	struct nfa *nfa = &dfa->nfa;
	uint64_t found = nfa_found(nfa, set);
	uint32_t row;

	if (dfa->each) {
		nfa_forget(nfa, set);
		return without_row(dfa, set);
	}
	dfa->seen |= found;
	if (dfa->seen == all_members(dfa))
		return dfa_match(dfa);
	for (uint32_t n = 0; n < nfa->members; n++)
		if (found >> n & 1)
			nfa_drop(nfa, set, n);
	/* A row now means another set of nodes. */
	dfa->dropped = true;
	empty(dfa);
	row = dfa_row(dfa, set);
	return row != DFA_UNKNOWN ? row : without_row(dfa, set);
}

/* Computes where byte leads to from the current state, and stores it. */
static uint32_t
learn(struct dfa *dfa, unsigned char byte)
{
	const struct nfa *nfa = &dfa->nfa;
	uint32_t from = dfa->state, to;
	struct nfa_set set;

	memcpy(
	    set.words, words_of(dfa, from), nfa->width * sizeof set.words[0]);
	dfa->ends = nfa_step(nfa, &set, byte);
	if (dfa->ends != 0)
		return dfa_accept(dfa, &set);
	to = dfa_row(dfa, &set);
	if (to == DFA_UNKNOWN)
		return row_of_more(dfa, &set);
	dfa->next[from + dfa->class[byte]] = (uint16_t)to;
	return to;
}

static uint32_t
next_row(struct dfa *dfa, unsigned char byte)
{
	uint32_t row = dfa->next[dfa->state + dfa->class[byte]];

	return row != DFA_UNKNOWN ? row : learn(dfa, byte);
}

/* Divides each class into its bytes in set and those not in it. */
static void
divide(struct dfa *dfa, const struct byteset *set)
{
	int number[2][256];

	memset(number, -1, sizeof number);
	dfa->classes = 0;
	for (int b = 0; b < 256; b++) {
		bool in = byteset_has(set, (unsigned char)b);
		int *known = &number[in][dfa->class[b]];

		if (*known == -1)
			*known = (int)dfa->classes++;
		dfa->class[b] = (uint8_t)*known;
	}
}

static void
classify(struct dfa *dfa)
{
	const struct nfa *nfa = &dfa->nfa;
	struct byteset set = { { 0 } };

	memset(dfa->class, 0, sizeof dfa->class);
	byteset_negate(&set);
	divide(dfa, &set);
	for (uint32_t i = 0; i < nfa->sets; i++)
		divide(dfa, &nfa->set[i]);
	if (nfa->words) {
		set = (struct byteset){ { 0 } };
		byteset_add_class(&set, "word", strlen("word"));
		divide(dfa, &set);
	}
}

const unsigned char *
dfa_run_nfa(struct dfa *dfa, const unsigned char *at, const unsigned char *end)
{
	while (at < end) {
		unsigned char byte = *at++;

		dfa->ends = nfa_step(&dfa->nfa, &dfa->now, byte);
		if (dfa->ends != 0) {
			dfa->state = dfa_accept(dfa, &dfa->now);
			break;
		}
		if (byte == '\n' || ++dfa->walked >= WITHOUT) {
			dfa->state = dfa_row(dfa, &dfa->now);
			dfa->walked = 0;
			break;
		}
	}
	return at;
}

/* Stops behind a byte that leads to a row up to floor, DFA_UNKNOWN included. */
static const unsigned char *
run_table(struct dfa *dfa, const unsigned char *at, const unsigned char *end,
    uint32_t floor)
{
	const unsigned char *from = at;
	const uint16_t *next = dfa->next;
	const uint8_t *class = dfa->class;
	uint32_t state = dfa->state;

	for (; at < end; at++) {
		/* The column is computed first: it does not depend on the
		 * state, so the processor need not wait for the byte before. */
		const uint16_t *column = next + class[*at];
		uint32_t to = column[state];

		if (to <= floor)
			break;
		state = to;
	}
	dfa->state = state;
	dfa->walked += (size_t)(at - from);
	return at;
}

const unsigned char *
dfa_run(struct dfa *dfa, const unsigned char *at, const unsigned char *end,
    uint32_t floor)
{
	while ((at = run_table(dfa, at, end, floor)) < end) {
		dfa->state = next_row(dfa, *at);
		at++;
		if (dfa->state <= floor)
			break;
	}
	return at;
}

void
dfa_prepare(struct dfa *dfa)
{
	classify(dfa);
	empty(dfa);
	dfa->dropped = false;
	dfa->each = false;
	dfa_start(dfa);
}

void
dfa_start(struct dfa *dfa)
{
	dfa->seen = 0;
	if (dfa->dropped) {
		nfa_restore(&dfa->nfa);
		empty(dfa);
	}
	dfa->dropped = false;
	dfa->state = dfa->start[NFA_LINE];
}

bool
dfa_end(struct dfa *dfa)
{
	const struct nfa *nfa = &dfa->nfa;

	if (dfa->state == dfa_match(dfa))
		return true;
	if (dfa->state != DFA_UNKNOWN)
		memcpy(dfa->now.words, words_of(dfa, dfa->state),
		    nfa->width * sizeof dfa->now.words[0]);
	if (nfa_end(nfa, &dfa->now))
		dfa->seen |= nfa_found(nfa, &dfa->now);
	return dfa->seen == all_members(dfa);
}
