#include "match/ere.h"

#include <string.h>
#include "match/literals.h"

enum { AT_END = -1 };

/* The pattern, how far it is parsed, and the automaton made of it. */
struct reading {
	const unsigned char *text;
	size_t length, at;
	struct nfa *nfa;
	struct search_union *strings;
	bool fold;
	unsigned depth; /* of parentheses */
	struct pattern_error *error;
};

static const struct {
	unsigned char letter, op;
} anchors[] = {
	{ 'b', NFA_WORD_EDGE },
	{ 'B', NFA_WORD_INSIDE },
	{ '<', NFA_WORD_START },
	{ '>', NFA_WORD_END },
};

static bool alternatives(struct reading *reading, struct literals *literals);

static bool
refuse(struct reading *reading, size_t at, const char *why)
{
	*reading->error = (struct pattern_error){ why, at };
	return false;
}

/* The byte at this distance from the current one, or AT_END. */
static int
ahead(const struct reading *reading, size_t by)
{
	size_t left = reading->length - reading->at;

	return by < left ? reading->text[reading->at + by] : AT_END;
}

static bool
within(int byte, int first, int last)
{
	return byte >= first && byte <= last;
}

/* Refuses the pattern if the program has no room for a node: done is false. */
static bool
fits(struct reading *reading, bool done)
{
	return done || refuse(reading, reading->at, "the pattern is too large");
}

static bool
append(struct reading *reading, enum nfa_op op, uint32_t argument)
{
	struct nfa *nfa = reading->nfa;

	return fits(
	    reading, nfa_insert(nfa, nfa->count, op, (int32_t)argument));
}

static bool
append_set(struct reading *reading, const struct byteset *set,
    struct literals *literals)
{
	literals_bytes(literals, set, reading->fold);
	return fits(reading, nfa_take(reading->nfa, set));
}

static bool
literal(struct reading *reading, int byte, struct literals *literals)
{
	struct byteset set = { { 0 } };

	byteset_add(&set, (unsigned char)byte, (unsigned char)byte);
	if (reading->fold)
		byteset_fold(&set);
	return append_set(reading, &set, literals);
}

static bool
bracket(struct reading *reading, struct literals *literals)
{
	struct byteset set;

	return byteset_bracket(&set, reading->fold, (const char *)reading->text,
		   reading->length, &reading->at, reading->error) &&
	    append_set(reading, &set, literals);
}

/* Parses a backslash and the byte after it. They are not an anchor. */
static bool
escape(struct reading *reading, struct literals *literals)
{
	size_t at = reading->at;
	int c = ahead(reading, 1);
	struct byteset set = { { 0 } };

	if (c == AT_END)
		return refuse(reading, at, "a backslash with nothing after it");
	if (within(c, '1', '9'))
		return refuse(reading, at, "back-references are not supported");
	if (c == 'n' || c == '\n')
		return refuse(reading, at, "a newline never matches");
	reading->at += 2;
	if (byteset_shorthand(&set, c))
		return append_set(reading, &set, literals);
	if (c == 't' || c == 'r')
		return literal(reading, c == 't' ? '\t' : '\r', literals);
	/* \` and \' are anchors in other programs. */
	if (c == '`' || c == '\'' ||
	    (c != '_' && byteset_is_word((unsigned char)c)))
		return refuse(reading, at, "unknown escape");
	return literal(reading, c, literals);
}

/* The length of the UTF-8 character that follows; 1 if it is malformed. */
static size_t
character_length(const struct reading *reading)
{
	int c = ahead(reading, 0);
	size_t length = 1;

	if (within(c, 0xc2, 0xf4))
		length = c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : 2;
	for (size_t i = 1; i < length; i++)
		if (!within(ahead(reading, i), 0x80, 0xbf))
			return 1;
	return length;
}

static bool
character(struct reading *reading, struct literals *literals)
{
	size_t length = character_length(reading);

	literals_nothing(literals);
	for (; length > 0; length--) {
		struct literals next;

		if (!literal(reading, ahead(reading, 0), &next))
			return false;
		literals_join(literals, &next);
		reading->at++;
	}
	return true;
}

static bool
any_byte(struct reading *reading, struct literals *literals)
{
	struct byteset set = { { 0 } };

	byteset_negate(&set);
	reading->at++;
	return append_set(reading, &set, literals);
}

static bool
group(struct reading *reading, struct literals *literals)
{
	size_t start = reading->at;

	if (ahead(reading, 1) == '?')
		return refuse(reading, start,
		    "(? is not supported, but for (?i) at the start");
	if (reading->depth == ERE_NESTING)
		return refuse(reading, start, "parentheses nested too deeply");
	reading->depth++;
	reading->at++;
	if (!alternatives(reading, literals))
		return false;
	if (ahead(reading, 0) != ')')
		return refuse(reading, start, "( without )");
	reading->depth--;
	reading->at++;
	return true;
}

static bool
atom(struct reading *reading, struct literals *literals)
{
	switch (ahead(reading, 0)) {
	case '(':
		return group(reading, literals);
	case ')':
		return refuse(reading, reading->at, ") without (");
	case '[':
		return bracket(reading, literals);
	case '.':
		return any_byte(reading, literals);
	case '\\':
		return escape(reading, literals);
	case '\n':
		return refuse(reading, reading->at, "a newline never matches");
	case '*':
	case '+':
	case '?':
	case '{':
		return refuse(reading, reading->at, "nothing to repeat");
	}
	return character(reading, literals);
}

/* Parses digits, if there are any, into count. */
static bool
take_count(struct reading *reading, uint32_t *count)
{
	size_t at = reading->at;

	if (within(ahead(reading, 0), '0', '9'))
		*count = 0;
	for (; within(ahead(reading, 0), '0', '9'); reading->at++) {
		*count = *count * 10 + (uint32_t)(ahead(reading, 0) - '0');
		if (*count > ERE_COUNT)
			return refuse(reading, at, "a count above 1000");
	}
	return true;
}

/* Parses {n}, {n,}, {n,m} or {,m}. */
static bool
take_counts(struct reading *reading, uint32_t *least, uint32_t *most)
{
	size_t start = reading->at++;
	bool comma;

	*least = 0;
	*most = NFA_ENDLESS;
	if (!take_count(reading, least))
		return false;
	comma = ahead(reading, 0) == ',';
	if (comma) {
		reading->at++;
		if (!take_count(reading, most))
			return false;
	} else
		*most = *least;
	if (ahead(reading, 0) != '}' || reading->at == start + 1)
		return refuse(
		    reading, start, "not a count: for a brace write \\{");
	if (*most < *least)
		return refuse(reading, start, "counts that run backwards");
	reading->at++;
	return true;
}

/* Parses * + ? or {}, if there is one of them. */
static bool
take_repetition(
    struct reading *reading, uint32_t *least, uint32_t *most, bool *any)
{
	int c = ahead(reading, 0);

	*any = c == '*' || c == '+' || c == '?' || c == '{';
	if (c == '{')
		return take_counts(reading, least, most);
	if (*any)
		reading->at++;
	*least = c == '+' ? 1 : 0;
	*most = c == '?' ? 1 : NFA_ENDLESS;
	return true;
}

/* Parses an anchor; NFA_MATCH: there is none. */
static enum nfa_op
take_anchor(struct reading *reading)
{
	int c = ahead(reading, 0);

	if (c == '^' || c == '$') {
		reading->at++;
		return c == '^' ? NFA_LINE_START : NFA_LINE_END;
	}
	for (size_t i = 0; i < sizeof anchors / sizeof anchors[0]; i++)
		if (c == '\\' && ahead(reading, 1) == anchors[i].letter) {
			reading->at += 2;
			return anchors[i].op;
		}
	return NFA_MATCH;
}

/* Parses an anchor, or an atom and its repetitions. */
static bool
piece(struct reading *reading, struct literals *literals)
{
	struct nfa *nfa = reading->nfa;
	uint32_t place = nfa->count, sets = nfa->sets, least, most;
	enum nfa_op anchor = take_anchor(reading);
	bool any;

	literals_nothing(literals);
	if (anchor != NFA_MATCH)
		return append(reading, anchor, 0);
	if (!atom(reading, literals))
		return false;
	for (;;) {
		if (!take_repetition(reading, &least, &most, &any))
			return false;
		if (!any)
			return true;
		literals_repeat(literals, least, most);
		if (most == 0) {
			nfa->count = place;
			nfa->sets = sets;
		} else if (nfa->count > place &&
		    !fits(reading, nfa_repeat(nfa, place, least, most)))
			return false;
	}
}

/* Skips a leading .*: it would cost time and change nothing, because a match
 * may begin anywhere. */
static void
skip_anything(struct reading *reading)
{
	while (ahead(reading, 0) == '.' && ahead(reading, 1) == '*') {
		int next = ahead(reading, 2);

		if (next == '*' || next == '+' || next == '?' || next == '{')
			return;
		reading->at += 2;
	}
}

static bool
branch(struct reading *reading, struct literals *literals)
{
	literals_nothing(literals);
	if (reading->depth == 0)
		skip_anything(reading);
	for (;;) {
		int c = ahead(reading, 0);
		struct literals next;

		if (c == AT_END || c == '|' || (c == ')' && reading->depth > 0))
			return true;
		if (!piece(reading, &next))
			return false;
		literals_join(literals, &next);
	}
}

/*
 * Makes the jumps at the ends of branches lead to the end. Before this call the
 * argument of a jump is the distance back to the previous jump, 0 for the
 * first.
 */
static void
resolve_jumps(struct nfa *nfa, uint32_t last)
{
	while (last != 0) {
		struct nfa_node *jump = &nfa->nodes[last - 1];
		uint32_t back = (uint32_t)jump->argument;

		jump->argument = (int16_t)(nfa->count - (last - 1));
		last = back == 0 ? 0 : last - back;
	}
}

static bool
alternatives(struct reading *reading, struct literals *literals)
{
	struct nfa *nfa = reading->nfa;
	uint32_t start = nfa->count, last = 0; /* jump, plus 1 */

	if (!branch(reading, literals))
		return false;
	if (reading->depth == 0)
		literals_collect(literals, reading->strings);
	while (ahead(reading, 0) == '|') {
		uint32_t length = nfa->count - start;
		struct literals other;

		if (!fits(reading,
			nfa_insert(
			    nfa, start, NFA_SPLIT, (int32_t)length + 2)) ||
		    !append(reading, NFA_JUMP,
			last == 0 ? 0 : nfa->count + 1 - last))
			return false;
		last = nfa->count;
		start = nfa->count;
		reading->at++;
		if (!branch(reading, &other))
			return false;
		if (reading->depth == 0)
			literals_collect(&other, reading->strings);
		else
			literals_either(literals, &other);
	}
	resolve_jumps(nfa, last);
	return true;
}

bool
ere_add(struct nfa *nfa, struct search_union *strings, const char *text,
    size_t length, struct pattern_error *error)
{
	struct reading reading = { .text = (const unsigned char *)text,
		.length = length,
		.nfa = nfa,
		.strings = strings,
		.fold = length >= 4 && memcmp(text, "(?i)", 4) == 0,
		.error = error };
	struct literals literals;

	if (reading.fold)
		reading.at = 4;
	strings->fold |= reading.fold;
	if (reading.at == length)
		return refuse(&reading, reading.at, "the pattern is empty");
	if (!fits(&reading, nfa_open(nfa)) ||
	    !alternatives(&reading, &literals))
		return false;
	nfa_close(nfa);
	return true;
}
