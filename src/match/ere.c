#include "match/ere.h"

#include <string.h>

enum {
	AT_END = -1,
	NESTING = 250,
	MOST_COUNT = 1000, /* in {} */
	ENDLESS = MOST_COUNT + 1, /* instead of a count: no limit */
};

/* A text, how far it is read, and the nodes made of it. */
struct parse {
	const char *text;
	size_t length, at;
	struct ere *ere;
	bool fold; /* upper and lower case are the same */
	int depth; /* of parentheses */
	struct pattern_error *error;
};

static const struct {
	char name[7], ranges[11]; /* pairs of first and last */
} classes[] = {
	{ "alnum", "azAZ09" },
	{ "alpha", "azAZ" },
	{ "blank", "  \t\t" },
	{ "cntrl", "\0\37\177\177" },
	{ "digit", "09" },
	{ "graph", "!~" },
	{ "lower", "az" },
	{ "print", " ~" },
	{ "punct", "!/:@[`{~" },
	{ "space", "  \t\r" },
	{ "upper", "AZ" },
	{ "xdigit", "09afAF" },
	{ "word", "azAZ09__" },
};

static bool alternatives(struct parse *parse);

static bool
refuse(struct parse *parse, size_t at, const char *why)
{
	*parse->error = (struct pattern_error){ why, at };
	return false;
}

/* The byte at this distance from the current one, or AT_END. */
static int
ahead(const struct parse *parse, size_t by)
{
	if (by >= parse->length - parse->at)
		return AT_END;
	return (unsigned char)parse->text[parse->at + by];
}

/* Moves behind the current byte, if it is this one. */
static bool
skip(struct parse *parse, int byte)
{
	if (ahead(parse, 0) != byte)
		return false;
	parse->at++;
	return true;
}

static bool
within(int byte, int first, int last)
{
	return byte >= first && byte <= last;
}

/*
 * Nodes
 */

static bool
append_nodes(struct parse *parse, const struct ere_node *nodes, uint32_t length)
{
	struct ere *ere = parse->ere;

	/* One node is left for the match. */
	if (ere->count + length - ere->begin[ere->texts] > ERE_LARGEST ||
	    ere->count + length > ERE_NODES - 1)
		return refuse(parse, parse->at, "the pattern is too large");
	for (uint32_t i = 0; i < length; i++)
		ere->nodes[ere->count++] = nodes[i];
	return true;
}

static bool
append(struct parse *parse, enum ere_op op, uint32_t argument)
{
	struct ere_node node = { (uint8_t)op, (int16_t)argument };

	return append_nodes(parse, &node, 1);
}

/*
 * Repeats the nodes from place to the end least to most times. Jumps are
 * relative, so the nodes can be copied. A split that leads behind the rest is
 * before each copy that can be left out.
 */
static bool
repeat(struct parse *parse, uint32_t place, uint32_t least, uint32_t most)
{
	struct ere_node piece[ERE_LARGEST];
	uint32_t length = parse->ere->count - place;
	bool endless = most == ENDLESS;

	memcpy(piece, parse->ere->nodes + place, length * sizeof *piece);
	parse->ere->count = place;
	for (uint32_t n = 0; length > 0 && n < most; n++) {
		uint32_t rest =
		    endless ? length + 2 : (most - n) * (length + 1);

		/* A jump that is too long for its node is one over too many. */
		if ((n >= least && !append(parse, ERE_SPLIT, rest)) ||
		    !append_nodes(parse, piece, length))
			return false;
		if (endless && n + 1 >= least)
			return append(parse, ERE_SPLIT, 0U - length);
	}
	return true;
}

/*
 * Sets of bytes
 */

static void
add_range(struct ere_set *set, int first, int last)
{
	for (int byte = first; byte <= last; byte++)
		if (byte != '\n')
			set->bits[byte / 8] |= (uint8_t)(1U << byte % 8);
}

/* Adds the class of that name. False if there is none. */
static bool
add_class(struct ere_set *set, const char *name, size_t length)
{
	for (size_t i = 0; i < sizeof classes / sizeof *classes; i++) {
		const char *class = classes[i].name;

		if (strlen(class) != length || memcmp(class, name, length) != 0)
			continue;
		for (const char *r = classes[i].ranges; r[1] != '\0'; r += 2)
			add_range(set, r[0], r[1]);
		return true;
	}
	return false;
}

/* Adds the capital to each small letter and the other way round. */
static void
fold(struct ere_set *set)
{
	for (int small = 'a'; small <= 'z'; small++) {
		int capital = small - 'a' + 'A';

		if (ere_has(set, (unsigned char)small))
			add_range(set, capital, capital);
		if (ere_has(set, (unsigned char)capital))
			add_range(set, small, small);
	}
}

/* Makes it the set of all bytes that were not in it, without the newline. */
static void
negate(struct ere_set *set)
{
	for (size_t i = 0; i < sizeof set->bits; i++)
		set->bits[i] = (uint8_t)~set->bits[i];
	set->bits['\n' / 8] &= (uint8_t)(~(1U << '\n' % 8));
}

static bool
append_set(struct parse *parse, const struct ere_set *set)
{
	struct ere *ere = parse->ere;
	uint32_t number = 0;

	while (number < ere->sets &&
	    memcmp(&ere->set[number], set, sizeof *set) != 0)
		number++;
	if (!append(parse, ERE_SET, number))
		return false;
	ere->set[number] = *set;
	if (number == ere->sets)
		ere->sets++;
	return true;
}

/* Appends a node for one byte, which stands for itself. */
static bool
literal(struct parse *parse, int byte)
{
	struct ere_set set;

	if (!parse->fold || !within(byte | 0x20, 'a', 'z'))
		return append(parse, ERE_BYTE, (uint32_t)byte);
	set = (struct ere_set){ { 0 } };
	add_range(&set, byte, byte);
	fold(&set);
	return append_set(parse, &set);
}

/*
 * Brackets
 */

/* The length of "[:name:" here, if "]" follows; else 0. */
static size_t
class_length(const struct parse *parse)
{
	size_t length = 2;

	if (ahead(parse, 1) != ':')
		return 0;
	while (within(ahead(parse, length), 'a', 'z'))
		length++;
	if (length == 2 || ahead(parse, length) != ':' ||
	    ahead(parse, length + 1) != ']')
		return 0;
	return length + 1;
}

/* Whether "[:", "[." or "[=" is here, which begins more than a byte. */
static bool
is_class(const struct parse *parse)
{
	int next = ahead(parse, 1);

	return ahead(parse, 0) == '[' &&
	    (next == ':' || next == '.' || next == '=');
}

/* Whether a dash here stands for a range, and not for itself. */
static bool
is_range(const struct parse *parse)
{
	int next = ahead(parse, 1);

	return ahead(parse, 0) == '-' && next != ']' && next != AT_END;
}

/* Reads a byte that is an element of the set, or the first or last of a range.
 */
static bool
take_byte(struct parse *parse, int *byte)
{
	*byte = ahead(parse, 0);
	if (*byte == '\n')
		return refuse(parse, parse->at, "a newline never matches");
	if (*byte >= 0x80)
		return refuse(parse, parse->at, "only ASCII in []");
	/* In [] a backslash is an escape for most languages, but a byte for
	 * POSIX. Neither meaning is safe, so refuse it. */
	if (*byte == '\\' && ahead(parse, 1) != '\\')
		return refuse(parse, parse->at,
		    "in [] a backslash is \\\\, and there are no escapes");
	parse->at += *byte == '\\' ? 2 : 1;
	return true;
}

static bool
bracket(struct parse *parse)
{
	struct ere_set set = { { 0 } };
	size_t start = parse->at++, initial;
	bool negated = skip(parse, '^');

	initial = parse->at;
	while (parse->at == initial || ahead(parse, 0) != ']') {
		size_t at = parse->at, length = class_length(parse);
		int first, last;

		if (ahead(parse, 0) == AT_END)
			return refuse(parse, start, "[ without ]");
		if (is_class(parse)) {
			if (length == 0 ||
			    !add_class(&set, parse->text + at + 2, length - 3))
				return refuse(parse, at, "no such class");
			parse->at += length + 1;
			continue;
		}
		if (at > initial && is_range(parse))
			return refuse(parse, at, "a range without a start");
		if (!take_byte(parse, &first))
			return false;
		last = first;
		if (is_range(parse)) {
			parse->at++;
			if (is_class(parse))
				return refuse(
				    parse, at, "a range without an end");
			if (!take_byte(parse, &last))
				return false;
		}
		if (first > last)
			return refuse(parse, at, "a range that runs backwards");
		add_range(&set, first, last);
	}
	parse->at++;
	if (parse->fold)
		fold(&set);
	if (negated)
		negate(&set);
	return append_set(parse, &set);
}

/*
 * The rest of the syntax
 */

/* Reads a backslash and the byte after it. They are not an anchor. */
static bool
escape(struct parse *parse)
{
	size_t at = parse->at;
	int byte = ahead(parse, 1), small = byte | 0x20;
	struct ere_set set = { { 0 } };

	if (byte == AT_END)
		return refuse(parse, at, "a backslash with nothing after it");
	if (within(byte, '1', '9'))
		return refuse(parse, at, "back-references are not supported");
	if (byte == 'n' || byte == '\n')
		return refuse(parse, at, "a newline never matches");
	parse->at += 2;
	if (byte == 't' || byte == 'r')
		return literal(parse, byte == 't' ? '\t' : '\r');
	if (small == 'd' || small == 's' || small == 'w') {
		add_class(&set,
		    small == 'd'       ? "digit"
			: small == 's' ? "space"
				       : "word",
		    small == 'w' ? 4 : 5);
		if (byte != small)
			negate(&set);
		return append_set(parse, &set);
	}
	/* \` and \' are anchors in other programs. */
	if (byte == '`' || byte == '\'' || byte == '0' ||
	    within(small, 'a', 'z'))
		return refuse(parse, at, "unknown escape");
	return literal(parse, byte);
}

/* Reads an atom: one of these, or a character of UTF-8, or a byte. */
static bool
atom(struct parse *parse)
{
	struct ere_set any;
	size_t start = parse->at, length = 1;
	int byte = ahead(parse, 0);

	switch (byte) {
	case '(':
		parse->at++;
		if (ahead(parse, 0) == '?')
			return refuse(parse, start,
			    "(? is not supported, but for (?i) at the start");
		if (parse->depth == NESTING)
			return refuse(
			    parse, start, "parentheses nested too deeply");
		parse->depth++;
		if (!alternatives(parse))
			return false;
		if (!skip(parse, ')'))
			return refuse(parse, start, "( without )");
		parse->depth--;
		return true;
	case ')':
		return refuse(parse, start, ") without (");
	case '[':
		if (class_length(parse) > 0)
			return refuse(
			    parse, start, "[:class:] belongs inside of []");
		return bracket(parse);
	case '.':
		parse->at++;
		any = (struct ere_set){ { 0 } };
		negate(&any);
		return append_set(parse, &any);
	case '\\':
		return escape(parse);
	case '\n':
		return refuse(parse, start, "a newline never matches");
	case '*':
	case '+':
	case '?':
	case '{':
		return refuse(parse, start, "nothing to repeat");
	default:
		break;
	}

	if (within(byte, 0xc2, 0xf4))
		length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
	for (size_t i = 1; i < length; i++)
		if (!within(ahead(parse, i), 0x80, 0xbf))
			length = 1;
	for (; length > 0; length--, parse->at++)
		if (!literal(parse, ahead(parse, 0)))
			return false;
	return true;
}

/* Reads digits into count, if there are any. */
static bool
take_count(struct parse *parse, uint32_t *count)
{
	size_t at = parse->at;

	if (within(ahead(parse, 0), '0', '9'))
		*count = 0;
	for (; within(ahead(parse, 0), '0', '9'); parse->at++) {
		*count = *count * 10 + (uint32_t)(ahead(parse, 0) - '0');
		if (*count > MOST_COUNT)
			return refuse(parse, at, "a count above 1000");
	}
	return true;
}

/* Reads {n}, {n,}, {n,m} or {,m}. */
static bool
take_counts(struct parse *parse, uint32_t *least, uint32_t *most)
{
	size_t start = parse->at++;

	if (!take_count(parse, least))
		return false;
	if (!skip(parse, ','))
		*most = *least;
	else if (!take_count(parse, most))
		return false;
	if (parse->at == start + 1 || !skip(parse, '}'))
		return refuse(
		    parse, start, "not a count: for a brace write \\{");
	if (*most < *least)
		return refuse(parse, start, "counts that run backwards");
	return true;
}

/* Reads an anchor, or an atom and its repetitions. */
static bool
piece(struct parse *parse)
{
	static const char letters[] = "bB<>";
	static const uint8_t anchors[] = { ERE_WORD_EDGE, ERE_WORD_INSIDE,
		ERE_WORD_START, ERE_WORD_END };
	uint32_t place = parse->ere->count;
	int byte = ahead(parse, 0), next = ahead(parse, 1);
	const char *letter = byte == '\\' && next > 0
	    ? memchr(letters, next, strlen(letters))
	    : NULL;

	if (byte == '^' || byte == '$') {
		parse->at++;
		parse->ere->lines = true;
		return append(
		    parse, byte == '^' ? ERE_LINE_START : ERE_LINE_END, 0);
	}
	if (letter != NULL) {
		parse->at += 2;
		parse->ere->words = true;
		return append(parse, anchors[letter - letters], 0);
	}
	if (!atom(parse))
		return false;
	for (;;) {
		uint32_t least = 0, most = ENDLESS;

		if (ahead(parse, 0) == '{') {
			if (!take_counts(parse, &least, &most))
				return false;
		} else if (skip(parse, '?'))
			most = 1;
		else if (skip(parse, '+'))
			least = 1;
		else if (!skip(parse, '*'))
			return true;
		if (!repeat(parse, place, least, most))
			return false;
	}
}

/*
 * Each branch but the last begins with a split, which leads to the next branch,
 * too, and ends with a jump to the end.
 */
static bool
alternatives(struct parse *parse)
{
	struct ere *ere = parse->ere;
	uint32_t start = ere->count, last = start, length;

	for (;;) {
		int byte = ahead(parse, 0);

		if (byte == AT_END || (byte == ')' && parse->depth > 0))
			break;
		if (byte != '|') {
			if (!piece(parse))
				return false;
			continue;
		}
		length = ere->count - last;
		/* Room for a split before them, and a jump behind. */
		for (int i = 0; i < 2; i++)
			if (!append(parse, ERE_JUMP, 0))
				return false;
		memmove(ere->nodes + last + 1, ere->nodes + last,
		    length * sizeof *ere->nodes);
		ere->nodes[last] =
		    (struct ere_node){ ERE_SPLIT, (int16_t)(length + 2) };
		parse->at++;
		last = ere->count;
	}
	while (start < last) {
		start += (uint16_t)ere->nodes[start].argument;
		ere->nodes[start - 1].argument =
		    (int16_t)(ere->count - start + 1);
	}
	return true;
}

void
ere_clear(struct ere *ere)
{
	ere->count = 0;
	ere->sets = 0;
	ere->texts = 0;
	ere->lines = false;
	ere->words = false;
}

bool
ere_add(struct ere *ere, const char *text, size_t length,
    struct pattern_error *error)
{
	struct parse parse = { .text = text,
		.length = length,
		.ere = ere,
		.fold = length >= 4 && memcmp(text, "(?i)", 4) == 0,
		.error = error };

	parse.at = parse.fold ? 4 : 0;
	if (parse.at == length)
		return refuse(&parse, parse.at, "the pattern is empty");
	if (ere->texts == ERE_TEXTS)
		return refuse(&parse, 0, "too many patterns");
	ere->begin[ere->texts] = (uint16_t)ere->count;
	if (!alternatives(&parse)) {
		ere->count = ere->begin[ere->texts];
		return false;
	}
	ere->nodes[ere->count++] =
	    (struct ere_node){ ERE_MATCH, (int16_t)ere->texts++ };
	return true;
}
