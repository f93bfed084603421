#include "match/automaton.h"

#include <string.h>

/* An entry of the table is the row of a state, with FOUND if a match ends
 * before the byte; or UNKNOWN, in which FOUND is set, too. */
#define FOUND 0x8000U
#define UNKNOWN 0xffffU

enum {
	LANES = 4,
	LONG = 1024, /* bytes of a chunk that is cut into lanes */
	BLOCK = 8192,
	WORDS = ERE_NODES / 64,
};

/* The kind of a byte, for the anchors beside it. */
enum kind { LINE, OTHER, WORD, KINDS };

/* What follows from a set of nodes and a byte. */
struct step {
	enum kind before, after;
	unsigned char byte;
	uint64_t found; /* bit n: text n has matched before the byte */
	uint64_t passed[WORDS], to[WORDS]; /* bit n: node n; before, behind */
};

static void
add_node(uint64_t *set, uint32_t node)
{
	set[node / 64] |= UINT64_C(1) << node % 64;
}

static bool
has_node(const uint64_t *set, uint32_t node)
{
	return set[node / 64] >> node % 64 & 1;
}

static bool
holds(uint8_t anchor, enum kind before, enum kind after)
{
	bool left = before == WORD, right = after == WORD;

	switch ((enum ere_op)anchor) {
	case ERE_LINE_START:
		return before == LINE;
	case ERE_LINE_END:
		return after == LINE;
	case ERE_WORD_START:
		return !left && right;
	case ERE_WORD_END:
		return left && !right;
	case ERE_WORD_EDGE:
		return left != right;
	case ERE_WORD_INSIDE:
		return left == right;
	case ERE_BYTE:
	case ERE_SET:
	case ERE_SPLIT:
	case ERE_JUMP:
	case ERE_MATCH:
		break;
	}
	return false;
}

static bool
takes(const struct ere *ere, struct ere_node node, unsigned char byte)
{
	if (node.op == ERE_BYTE)
		return node.argument == byte;
	return node.op == ERE_SET && ere_has(&ere->set[node.argument], byte);
}

/* Follows all paths from node: to matches, and behind the byte. */
static void
follow(const struct ere *ere, struct step *step, uint32_t node)
{
	uint16_t todo[ERE_NODES];
	size_t count = 0;

	todo[count++] = (uint16_t)node;
	while (count > 0) {
		node = todo[--count];
		while (!has_node(step->passed, node)) {
			struct ere_node here = ere->nodes[node];
			uint32_t other = (uint32_t)((int)node + here.argument);

			add_node(step->passed, node);
			if (here.op == ERE_SPLIT)
				todo[count++] = (uint16_t)other;
			else if (here.op == ERE_MATCH)
				step->found |= UINT64_C(1) << here.argument;
			else if (takes(ere, here, step->byte))
				add_node(step->to, node + 1);

			if (here.op == ERE_JUMP)
				node = other;
			else if (here.op == ERE_SPLIT ||
			    holds(here.op, step->before, step->after))
				node++;
		}
	}
}

/* Whether there is room for what learn() adds: two states of any nodes. */
static bool
has_room(const struct automaton *dfa)
{
	return dfa->states + 2 <= AUTOMATON_STATES &&
	    (dfa->states + 2) * dfa->classes <= AUTOMATON_CELLS &&
	    dfa->pooled + 2 * dfa->ere.count <= AUTOMATON_POOL;
}

/* The row of a state, a new one if needed. Its nodes are behind the pool. */
static uint32_t
row_of(struct automaton *dfa, struct automaton_state state)
{
	const uint16_t *nodes = dfa->pool + dfa->pooled;
	uint64_t hash = state.found * 3 + state.before;
	uint16_t *slot;
	uint32_t row;

	for (uint32_t i = 0; i < state.count; i++)
		hash = (hash ^ nodes[i]) * UINT64_C(0x9e3779b97f4a7c15);
	for (uint32_t at = (uint32_t)(hash >> 40);; at++) {
		const struct automaton_state *known;

		slot = &dfa->slots[at % AUTOMATON_SLOTS];
		if (*slot == 0)
			break;
		known = &dfa->state[*slot - 1];
		if (known->found == state.found &&
		    known->before == state.before &&
		    known->count == state.count &&
		    memcmp(dfa->pool + known->first, nodes,
			state.count * sizeof *nodes) == 0)
			return (*slot - 1U) * dfa->classes;
	}
	row = dfa->states * dfa->classes;
	state.first = (uint16_t)dfa->pooled;
	dfa->pooled += state.count;
	dfa->state[dfa->states] = state;
	*slot = (uint16_t)++dfa->states;
	memset(dfa->next + row, 0xff, dfa->classes * sizeof *dfa->next);
	return row;
}

/* Empties the table. The first rows are states in which no match has begun. */
static void
empty(struct automaton *dfa)
{
	dfa->states = 0;
	dfa->pooled = 0;
	memset(dfa->slots, 0, sizeof dfa->slots);
	for (int kind = 0; kind < KINDS; kind++)
		row_of(
		    dfa, (struct automaton_state){ .before = (uint8_t)kind });
}

/* The row of the state at a place behind this byte, if no match has begun. */
static uint32_t
start_behind(const struct automaton *dfa, unsigned char byte)
{
	return dfa->kind[byte] * dfa->classes;
}

/* Computes the entry for byte in a row, and keeps it. There must be room. */
static uint32_t
learn(struct automaton *dfa, uint32_t row, unsigned char byte)
{
	const struct automaton_state *from = &dfa->state[row / dfa->classes];
	uint32_t start = from->before * dfa->classes, column = dfa->class[byte];
	struct automaton_state to = { .before = dfa->kind[byte] };
	struct step step = {
		.before = from->before, .after = dfa->kind[byte], .byte = byte
	};

	if (row == start) {
		for (uint32_t n = 0; n < dfa->ere.texts; n++)
			follow(&dfa->ere, &step, dfa->ere.begin[n]);
	} else {
		/* A match may also begin here, as it does from the start. */
		uint32_t begun = dfa->next[start + column];
		const struct automaton_state *state;

		if (begun == UNKNOWN)
			begun = learn(dfa, start, byte);
		state = &dfa->state[(begun & ~FOUND) / dfa->classes];
		step.found = state->found;
		for (uint32_t i = 0; i < state->count; i++)
			add_node(step.to, dfa->pool[state->first + i]);
	}
	for (uint32_t i = 0; i < from->count; i++)
		follow(&dfa->ere, &step, dfa->pool[from->first + i]);

	to.found = step.found;
	for (uint32_t word = 0; word < WORDS; word++)
		for (uint64_t bits = step.to[word]; bits != 0; bits &= bits - 1)
			dfa->pool[dfa->pooled + to.count++] =
			    (uint16_t)(word * 64 +
				(uint32_t)__builtin_ctzll(bits));
	dfa->next[row + column] =
	    (uint16_t)(row_of(dfa, to) | (to.found != 0 ? FOUND : 0));
	return dfa->next[row + column];
}

/* Takes a byte. False, with nothing changed, if the table is too full for it.
 */
static bool
take(struct automaton *dfa, uint32_t *row, unsigned char byte)
{
	uint32_t to = dfa->next[*row + dfa->class[byte]];

	if (to == UNKNOWN && !has_room(dfa))
		return false;
	if (to == UNKNOWN)
		to = learn(dfa, *row, byte);
	if ((to & FOUND) != 0)
		dfa->seen |= dfa->state[(to & ~FOUND) / dfa->classes].found;
	*row = to & ~FOUND;
	return true;
}

/* Empties the table, but for the state of a row. Returns its new row. */
static uint32_t
make_room(struct automaton *dfa, uint32_t row)
{
	struct automaton_state state = dfa->state[row / dfa->classes];
	uint16_t nodes[ERE_NODES];

	memcpy(nodes, dfa->pool + state.first, state.count * sizeof *nodes);
	empty(dfa);
	dfa->emptied = true;
	memcpy(dfa->pool, nodes, state.count * sizeof *nodes);
	return row_of(dfa, state);
}

/* Runs up to end, or behind a byte before which a match ends. */
static const unsigned char *
run(struct automaton *dfa, const unsigned char *at, const unsigned char *end,
    bool *found)
{
	uint32_t row = dfa->row;

	for (*found = false; at < end && !*found; at++) {
		/* The column is computed first: it does not depend on the
		 * state, so the processor need not wait for the byte before. */
		const uint16_t *column = dfa->next + dfa->class[*at];
		uint32_t to = column[row];

		if ((to & FOUND) == 0) {
			row = to;
			continue;
		}
		if (!take(dfa, &row, *at)) {
			row = make_room(dfa, row);
			take(dfa, &row, *at);
		}
		*found = dfa->state[row / dfa->classes].found != 0;
	}
	dfa->row = row;
	return at;
}

/*
 * Moves all lanes on, from this byte of each, up to a byte that take() has to
 * take in one of them. Returns which byte that is, length if there is none.
 */
static size_t
run_abreast(const struct automaton *dfa, const unsigned char *bytes,
    size_t from, size_t length, uint32_t *row)
{
	const unsigned char *at = bytes + from, *end = bytes + length;
	const uint16_t *next = dfa->next;
	const uint8_t *class = dfa->class;
	size_t row0 = row[0], row1 = row[1], row2 = row[2], row3 = row[3];

	for (; at < end; at++) {
		size_t to0 = (next + class[at[0]])[row0];
		size_t to1 = (next + class[at[length]])[row1];
		size_t to2 = (next + class[at[2 * length]])[row2];
		size_t to3 = (next + class[at[3 * length]])[row3];

		if (((to0 | to1 | to2 | to3) & FOUND) != 0)
			break;
		row0 = to0;
		row1 = to1;
		row2 = to2;
		row3 = to3;
	}
	row[0] = (uint32_t)row0;
	row[1] = (uint32_t)row1;
	row[2] = (uint32_t)row2;
	row[3] = (uint32_t)row3;
	return (size_t)(at - bytes);
}

/*
 * Runs lanes of this length side by side. Returns up to where the stream has
 * been taken: not to the end of the lanes if the table is full, or if it was
 * since the last call. Then lanes would only fill it sooner.
 */
static const unsigned char *
run_lanes(struct automaton *dfa, const unsigned char *bytes, size_t length)
{
	uint32_t row[LANES] = { dfa->row };
	bool emptied = dfa->emptied;

	dfa->emptied = false;
	if (emptied)
		return bytes;
	for (size_t n = 1; n < LANES; n++)
		row[n] = start_behind(dfa, bytes[n * length - 1]);
	for (size_t at = 0;
	     (at = run_abreast(dfa, bytes, at, length, row)) < length; at++)
		for (size_t n = 0; n < LANES; n++)
			if (!take(dfa, &row[n], bytes[n * length + at])) {
				dfa->row = row[0];
				return bytes + at + (n > 0);
			}

	dfa->row = row[0];
	for (size_t n = 1; n < LANES; n++) {
		const unsigned char *at = bytes + n * length;
		const unsigned char *end = at + length;
		uint32_t other = start_behind(dfa, at[-1]);

		for (; at < end && dfa->row != other; at++)
			if (!take(dfa, &other, *at) ||
			    !take(dfa, &dfa->row, *at))
				return at;
		if (dfa->row == other)
			dfa->row = row[n];
	}
	return bytes + LANES * length;
}

bool
automaton_feed(struct automaton *dfa, const unsigned char *bytes, size_t length)
{
	const unsigned char *at = bytes, *end = bytes + length;
	bool found;

	if (length >= LONG && dfa->seen != dfa->all)
		at = run_lanes(dfa, at, length / LANES);
	while (at < end && dfa->seen != dfa->all)
		at = run(dfa, at, end, &found);
	return dfa->seen == dfa->all;
}

size_t
automaton_next(struct automaton *dfa, const unsigned char *bytes, size_t length,
    bool *found)
{
	const unsigned char *at = bytes, *end = bytes + length;

	/* Lanes do not tell where a match ends, but mostly there is none. */
	while (end - at >= BLOCK) {
		const unsigned char *from = at;
		uint32_t row = dfa->row;

		dfa->seen = 0;
		at = run_lanes(dfa, from, BLOCK / LANES);
		if (dfa->seen != 0) {
			at = from;
			dfa->row = row;
		}
		if (at < from + BLOCK)
			break;
	}
	return (size_t)(run(dfa, at, end, found) - bytes);
}

/* Divides each class into its bytes in set and those not in it. Returns how
 * many classes there are then. */
static uint32_t
divide(uint16_t *class, const struct ere_set *set)
{
	uint16_t number[2][KINDS + 256] = { { 0 } }; /* plus 1 */
	uint16_t classes = 0;

	for (int byte = 0; byte < 256; byte++) {
		bool in = ere_has(set, (unsigned char)byte);
		uint16_t *known = &number[in][class[byte]];

		if (*known == 0)
			*known = ++classes;
		class[byte] = (uint16_t)(*known - 1);
	}
	return classes;
}

/* Finds the kinds of bytes, and the classes, whose bytes no node tells apart.
 */
static void
classify(struct automaton *dfa)
{
	const struct ere *ere = &dfa->ere;
	const struct ere_set none = { { 0 } };
	uint16_t class[256];

	for (int byte = 0; byte < 256; byte++) {
		uint8_t kind = OTHER;

		if (ere->lines && byte == '\n')
			kind = LINE;
		if (ere->words && ere_is_word((unsigned char)byte))
			kind = WORD;
		dfa->kind[byte] = kind;
		class[byte] = kind;
	}
	for (uint32_t n = 0; n < ere->count; n++)
		if (ere->nodes[n].op == ERE_BYTE)
			class[ere->nodes[n].argument] =
			    (uint16_t)(KINDS + ere->nodes[n].argument);
	dfa->classes = divide(class, &none);
	for (uint32_t n = 0; n < ere->sets; n++)
		dfa->classes = divide(class, &ere->set[n]);
	for (int byte = 0; byte < 256; byte++)
		dfa->class[byte] = (uint8_t) class[byte];
}

void
automaton_prepare(struct automaton *dfa)
{
	dfa->all = UINT64_MAX >> (ERE_TEXTS - dfa->ere.texts);
	dfa->emptied = false;
	classify(dfa);
	empty(dfa);
	automaton_start(dfa);
}

void
automaton_start(struct automaton *dfa)
{
	dfa->seen = 0;
	dfa->row = start_behind(dfa, '\n');
}
