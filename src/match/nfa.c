#include "match/nfa.h"

#include <string.h>

/* The byte after a place in the text. */
enum after { AFTER_UNKNOWN, AFTER_OTHER, AFTER_WORD, AFTER_LINE };

enum answer { NO, YES, LATER };

static bool
make_room(struct nfa *nfa, uint32_t place, uint32_t length)
{
	struct nfa_node *nodes = nfa->nodes;

	if (nfa->count + length > NFA_NODES - 2)
		return false;
	memmove(nodes + place + length, nodes + place,
	    (nfa->count - place) * sizeof nodes[0]);
	nfa->count += length;
	return true;
}

bool
nfa_insert(struct nfa *nfa, uint32_t place, enum nfa_op op, int32_t argument)
{
	if (!make_room(nfa, place, 1))
		return false;
	nfa->nodes[place] = (struct nfa_node){ (uint8_t)op, (int16_t)argument };
	return true;
}

static bool
append(struct nfa *nfa, enum nfa_op op, int32_t argument)
{
	return nfa_insert(nfa, nfa->count, op, argument);
}

static bool
append_copy(struct nfa *nfa, uint32_t place, uint32_t length)
{
	uint32_t end = nfa->count;

	if (!make_room(nfa, end, length))
		return false;
	memcpy(nfa->nodes + end, nfa->nodes + place,
	    length * sizeof nfa->nodes[0]);
	return true;
}

void
nfa_clear(struct nfa *nfa)
{
	nfa->count = 0;
	nfa->sets = 0;
	nfa->members = 0;
}

bool
nfa_open(struct nfa *nfa)
{
	if (nfa->members == NFA_MEMBERS)
		return false;
	nfa->begins[nfa->members] = (uint16_t)nfa->count;
	return append(nfa, NFA_SPLIT, 0);
}

void
nfa_close(struct nfa *nfa)
{
	uint32_t begin = nfa->begins[nfa->members];

	nfa->nodes[nfa->count++] = (struct nfa_node){ .op = NFA_MATCH,
		.argument = (int16_t)nfa->members++ };
	nfa->nodes[begin].argument = (int16_t)(nfa->count - begin);
	nfa->begins[nfa->members] = (uint16_t)nfa->count;
}

bool
nfa_take(struct nfa *nfa, const struct byteset *set)
{
	uint32_t number = 0;

	while (number < nfa->sets &&
	    memcmp(&nfa->set[number], set, sizeof *set) != 0)
		number++;
	if (number == NFA_NODES)
		return false;
	nfa->set[number] = *set;
	if (number == nfa->sets)
		nfa->sets++;
	return append(nfa, NFA_BYTES, (int32_t)number);
}

/* Appends a piece times times, each behind a split that skips the rest. */
static bool
append_optional(
    struct nfa *nfa, uint32_t place, uint32_t length, uint32_t times)
{
	for (; times > 0; times--) {
		int32_t rest = (int32_t)(times * (length + 1));

		if (length + 1 > NFA_NODES / times ||
		    !append(nfa, NFA_SPLIT, rest) ||
		    !append_copy(nfa, place, length))
			return false;
	}
	return true;
}

bool
nfa_repeat(struct nfa *nfa, uint32_t place, uint32_t least, uint32_t most)
{
	uint32_t length = nfa->count - place;

	if (length == 0)
		return true;
	if (least == 0 && most == NFA_ENDLESS)
		return nfa_insert(nfa, place, NFA_SPLIT, (int32_t)length + 2) &&
		    append(nfa, NFA_JUMP, -(int32_t)length - 1);
	if (least == 0) {
		/* The nodes at place become the first that can be skipped. */
		if (length + 1 > NFA_NODES / most ||
		    !nfa_insert(
			nfa, place, NFA_SPLIT, (int32_t)(most * (length + 1))))
			return false;
		return append_optional(nfa, place + 1, length, most - 1);
	}
	for (uint32_t copies = 1; copies < least; copies++)
		if (!append_copy(nfa, place, length))
			return false;
	if (most == NFA_ENDLESS)
		return append(nfa, NFA_SPLIT, -(int32_t)length);
	return append_optional(nfa, place, length, most - least);
}

static void
add(struct nfa_set *set, uint32_t node)
{
	set->words[node / 64] |= UINT64_C(1) << node % 64;
}

static bool
has(const struct nfa_set *set, uint32_t node)
{
	return set->words[node / 64] >> node % 64 & 1;
}

static void
drop(struct nfa_set *set, uint32_t node)
{
	set->words[node / 64] &= ~(UINT64_C(1) << node % 64);
}

void
nfa_finish(struct nfa *nfa)
{
	nfa->nodes[nfa->count++] = (struct nfa_node){ .op = NFA_NOWHERE };
	nfa->width = (nfa->count + 2 + 63) / 64;
	nfa->words = false;
	memset(nfa->anchors, 0, sizeof nfa->anchors);
	memset(nfa->stops, 0, sizeof nfa->stops);
	memset(nfa->matches, 0, sizeof nfa->matches);
	for (uint32_t n = 0; n < nfa->count; n++) {
		uint8_t op = nfa->nodes[n].op;

		if (op >= NFA_LINE_START)
			nfa->anchors[n / 64] |= UINT64_C(1) << n % 64;
		if (op != NFA_SPLIT && op != NFA_JUMP && op != NFA_NOWHERE)
			nfa->stops[n / 64] |= UINT64_C(1) << n % 64;
		if (op == NFA_MATCH)
			nfa->matches[n / 64] |= UINT64_C(1) << n % 64;
		nfa->words |= op >= NFA_WORD_START;
	}
}

/* Whether an anchor holds between before and after; LATER if that depends on an
 * unknown byte. */
static enum answer
judge(uint8_t op, enum nfa_before before, enum after after)
{
	bool left = before == NFA_WORD, right = after == AFTER_WORD;
	bool known = after != AFTER_UNKNOWN;

	switch ((enum nfa_op)op) {
	case NFA_LINE_START:
		return before == NFA_LINE ? YES : NO;
	case NFA_LINE_END:
		return !known ? LATER : after == AFTER_LINE ? YES : NO;
	case NFA_WORD_START:
		return left ? NO : !known ? LATER : right ? YES : NO;
	case NFA_WORD_END:
		return !left ? NO : !known ? LATER : right ? NO : YES;
	case NFA_WORD_EDGE:
		return !known ? LATER : left != right ? YES : NO;
	case NFA_WORD_INSIDE:
		return !known ? LATER : left == right ? YES : NO;
	case NFA_BYTES:
	case NFA_SPLIT:
	case NFA_JUMP:
	case NFA_MATCH:
	case NFA_NOWHERE:
		break;
	}
	return YES;
}

/* Adds a node. True if the match leaves the node without taking a byte. */
static bool
enter(const struct nfa *nfa, struct nfa_set *set, uint32_t node,
    enum nfa_before before, enum after after)
{
	uint8_t op = nfa->nodes[node].op;
	enum answer answer = op <= NFA_JUMP && op != NFA_BYTES ? YES : NO;

	if (has(set, node))
		return false;
	if (op >= NFA_LINE_START) {
		answer = judge(op, before, after);
		if (answer != LATER)
			return answer == YES;
	}
	add(set, node);
	return answer == YES;
}

/* Adds node, and all that can be reached from it without taking a byte. */
static void
follow(const struct nfa *nfa, struct nfa_set *set, uint32_t node,
    enum nfa_before before, enum after after)
{
	uint16_t todo[NFA_NODES]; /* each split is entered once */
	size_t waiting = 0;

	for (;;) {
		struct nfa_node here = nfa->nodes[node];

		if (enter(nfa, set, node, before, after)) {
			if (here.op == NFA_SPLIT)
				todo[waiting++] =
				    (uint16_t)((int)node + here.argument);
			node = (uint32_t)((int)node +
			    (here.op == NFA_JUMP ? here.argument : 1));
		} else if (waiting > 0)
			node = todo[--waiting];
		else
			return;
	}
}

/*
 * Removes the nodes that do not wait for a byte, and if there are anchors adds
 * the bit for the byte before them. Then two sets that have the same future are
 * equal.
 */
static void
reduce(const struct nfa *nfa, struct nfa_set *set, enum nfa_before before)
{
	uint64_t anchors = 0;

	for (uint32_t i = 0; i < nfa->width; i++) {
		set->words[i] &= nfa->stops[i];
		anchors |= set->words[i] & nfa->anchors[i];
	}
	if (anchors != 0 && before != NFA_OTHER)
		add(set, nfa->count + (before == NFA_WORD));
}

static enum nfa_before
before_of(const struct nfa *nfa, const struct nfa_set *set)
{
	if (has(set, nfa->count))
		return NFA_LINE;
	return has(set, nfa->count + 1) ? NFA_WORD : NFA_OTHER;
}

static bool
matched(const struct nfa *nfa, const struct nfa_set *set)
{
	uint64_t found = 0;

	for (uint32_t i = 0; i < nfa->width; i++)
		found |= set->words[i] & nfa->matches[i];
	return found != 0;
}

static uint32_t
lowest_bit(uint64_t bits)
{
#ifdef __GNUC__
	return (uint32_t)__builtin_ctzll(bits);
#else
	uint32_t n = 0;

	while ((bits >> n & 1) == 0)
		n++;
	return n;
#endif
}

/* Follows the anchors of a set, when the next byte is known. */
static bool
settle(const struct nfa *nfa, struct nfa_set *set, enum after after)
{
	enum nfa_before before = before_of(nfa, set);

	for (uint32_t i = 0; i < nfa->width; i++) {
		uint64_t bits = set->words[i] & nfa->anchors[i];

		for (; bits != 0; bits &= bits - 1) {
			uint32_t node = i * 64 + lowest_bit(bits);
			uint8_t op = nfa->nodes[node].op;

			if (judge(op, before, after) == YES)
				follow(nfa, set, node + 1, before, after);
		}
	}
	return matched(nfa, set);
}

enum nfa_before
nfa_before(unsigned char byte)
{
	if (byte == '\n')
		return NFA_LINE;
	return byteset_is_word(byte) ? NFA_WORD : NFA_OTHER;
}

static enum after
after_of(unsigned char byte)
{
	if (byte == '\n')
		return AFTER_LINE;
	return byteset_is_word(byte) ? AFTER_WORD : AFTER_OTHER;
}

bool
nfa_start(const struct nfa *nfa, struct nfa_set *set, enum nfa_before before)
{
	memset(set->words, 0, nfa->width * sizeof set->words[0]);
	follow(nfa, set, 0, before, AFTER_UNKNOWN);
	reduce(nfa, set, before);
	return matched(nfa, set);
}

/* Adds what follows node if it takes the byte. */
static void
take(const struct nfa *nfa, struct nfa_set *to, uint32_t node,
    unsigned char byte)
{
	struct nfa_node here;

	if (node >= nfa->count)
		return;
	here = nfa->nodes[node];
	if (here.op == NFA_BYTES && byteset_has(&nfa->set[here.argument], byte))
		follow(nfa, to, node + 1, nfa_before(byte), AFTER_UNKNOWN);
}

unsigned
nfa_step(const struct nfa *nfa, struct nfa_set *set, unsigned char byte)
{
	struct nfa_set from;
	bool found = settle(nfa, set, after_of(byte));
	unsigned ends = found ? NFA_ENDS_BEFORE : 0;

	memcpy(from.words, set->words, nfa->width * sizeof from.words[0]);
	memset(set->words, 0, nfa->width * sizeof set->words[0]);
	for (uint32_t i = 0; i < nfa->width && byte != '\n'; i++)
		for (uint64_t b = from.words[i]; b != 0; b &= b - 1)
			take(nfa, set, i * 64 + lowest_bit(b), byte);
	follow(nfa, set, 0, nfa_before(byte), AFTER_UNKNOWN);
	reduce(nfa, set, nfa_before(byte));
	if (matched(nfa, set))
		ends |= NFA_ENDS_BEHIND;
	for (uint32_t i = 0; i < nfa->width && found; i++)
		set->words[i] |= from.words[i] & nfa->matches[i];
	return ends;
}

uint64_t
nfa_found(const struct nfa *nfa, const struct nfa_set *set)
{
	uint64_t members = 0;

	for (uint32_t m = 0; m < nfa->members; m++)
		if (has(set, nfa->begins[m + 1] - 1))
			members |= UINT64_C(1) << m;
	return members;
}

void
nfa_forget(const struct nfa *nfa, struct nfa_set *set)
{
	for (uint32_t i = 0; i < nfa->width; i++)
		set->words[i] &= ~nfa->matches[i];
}

void
nfa_drop(struct nfa *nfa, struct nfa_set *set, uint32_t member)
{
	nfa->nodes[nfa->begins[member]].op = NFA_JUMP;
	for (uint32_t n = nfa->begins[member]; n < nfa->begins[member + 1]; n++)
		drop(set, n);
}

void
nfa_restore(struct nfa *nfa)
{
	for (uint32_t m = 0; m < nfa->members; m++)
		nfa->nodes[nfa->begins[m]].op = NFA_SPLIT;
}

bool
nfa_end(const struct nfa *nfa, struct nfa_set *set)
{
	return settle(nfa, set, AFTER_LINE);
}
