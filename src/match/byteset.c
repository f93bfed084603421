#include "match/byteset.h"

#include <string.h>

enum {
	AT_END = -1,
	FOLD = 0x20, /* the bit between a capital and its small letter */
};

/* The pattern, and how far it is parsed. */
struct reading {
	const char *text;
	size_t length, at;
	struct pattern_error *error;
};

/* By hand: isalpha() and its like depend on the locale. */
static const struct {
	const char *name, *ranges; /* pairs of first and last */
} classes[] = {
	{ "alnum", "azAZ09" },
	{ "alpha", "azAZ" },
	{ "blank", "  \t\t" },
	{ "cntrl", "\1\37\177\177" }, /* and NUL */
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

static const struct {
	char letter;
	const char *class;
} shorthands[] = {
	{ 'd', "digit" },
	{ 's', "space" },
	{ 'w', "word" },
};

bool
byteset_has(const struct byteset *set, unsigned char byte)
{
	return set->bits[byte / 8] >> byte % 8 & 1;
}

void
byteset_add(struct byteset *set, unsigned char first, unsigned char last)
{
	for (unsigned byte = first; byte <= last; byte++)
		if (byte != '\n')
			set->bits[byte / 8] |= (uint8_t)(1U << byte % 8);
}

bool
byteset_add_class(struct byteset *set, const char *name, size_t length)
{
	for (size_t i = 0; i < sizeof classes / sizeof classes[0]; i++) {
		const char *class = classes[i].name;

		if (strlen(class) != length || memcmp(class, name, length) != 0)
			continue;
		for (const char *r = classes[i].ranges; *r != '\0'; r += 2)
			byteset_add(
			    set, (unsigned char)r[0], (unsigned char)r[1]);
		if (strcmp(class, "cntrl") == 0)
			byteset_add(set, 0, 0);
		return true;
	}
	return false;
}

bool
byteset_shorthand(struct byteset *set, int letter)
{
	for (size_t i = 0; i < sizeof shorthands / sizeof shorthands[0]; i++) {
		const char *class = shorthands[i].class;

		if (shorthands[i].letter != (letter | 0x20))
			continue;
		*set = (struct byteset){ { 0 } };
		byteset_add_class(set, class, strlen(class));
		if (letter != shorthands[i].letter)
			byteset_negate(set);
		return true;
	}
	return false;
}

void
byteset_fold(struct byteset *set)
{
	for (unsigned letter = 'a'; letter <= 'z'; letter++) {
		unsigned char small = (unsigned char)letter;
		unsigned char capital = small & (unsigned char)~FOLD;

		if (byteset_has(set, small) || byteset_has(set, capital)) {
			byteset_add(set, small, small);
			byteset_add(set, capital, capital);
		}
	}
}

void
byteset_negate(struct byteset *set)
{
	struct byteset all = { { 0 } };

	byteset_add(&all, 0, 255);
	for (size_t i = 0; i < sizeof set->bits; i++)
		set->bits[i] = all.bits[i] & (uint8_t)~set->bits[i];
}

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
	if (by >= reading->length - reading->at)
		return AT_END;
	return (unsigned char)reading->text[reading->at + by];
}

/* The length of ":name:" behind the current [, if "]" follows; else 0. */
static size_t
class_length(const struct reading *reading)
{
	size_t length = 1;

	if (ahead(reading, 1) != ':')
		return 0;
	while (ahead(reading, length + 1) >= 'a' &&
	    ahead(reading, length + 1) <= 'z')
		length++;
	if (length == 1 || ahead(reading, length + 1) != ':' ||
	    ahead(reading, length + 2) != ']')
		return 0;
	return length + 1;
}

/* Parses [:name:]. */
static bool
take_class(struct reading *reading, struct byteset *set)
{
	const char *name = reading->text + reading->at + 2;
	size_t length = class_length(reading);

	if (ahead(reading, 1) != ':')
		return refuse(reading, reading->at,
		    "collating symbols are not supported");
	if (length == 0 || !byteset_add_class(set, name, length - 2))
		return refuse(reading, reading->at, "no such class");
	reading->at += length + 2;
	return true;
}

static bool
is_class(const struct reading *reading)
{
	int next = ahead(reading, 1);

	return ahead(reading, 0) == '[' &&
	    (next == ':' || next == '.' || next == '=');
}

/* Parses a byte that is an element of the set, or the first or last of a range.
 */
static bool
take_byte(struct reading *reading, unsigned char *byte)
{
	int c = ahead(reading, 0);

	if (c == '\n')
		return refuse(reading, reading->at, "a newline never matches");
	if (c >= 0x80)
		return refuse(reading, reading->at, "only ASCII in []");
	/* In [] a backslash is an escape for most languages, but a byte for
	 * POSIX. Neither meaning is safe, so refuse it. */
	if (c == '\\' && ahead(reading, 1) != '\\')
		return refuse(reading, reading->at,
		    "in [] a backslash is \\\\, and there are no escapes");
	reading->at += c == '\\' ? 2 : 1;
	*byte = (unsigned char)c;
	return true;
}

/* Parses one byte, range or class. */
static bool
take_item(struct reading *reading, struct byteset *set, bool initial)
{
	size_t at = reading->at;
	unsigned char first, last;

	if (is_class(reading))
		return take_class(reading, set);
	if (!initial && ahead(reading, 0) == '-' && ahead(reading, 1) != ']' &&
	    ahead(reading, 1) != AT_END)
		return refuse(reading, at, "a range without a start");
	if (!take_byte(reading, &first))
		return false;
	last = first;
	if (ahead(reading, 0) == '-' && ahead(reading, 1) != ']' &&
	    ahead(reading, 1) != AT_END) {
		reading->at++;
		if (is_class(reading))
			return refuse(reading, at, "a range without an end");
		if (!take_byte(reading, &last))
			return false;
	}
	if (first > last)
		return refuse(reading, at, "a range that runs backwards");
	byteset_add(set, first, last);
	return true;
}

bool
byteset_bracket(struct byteset *set, bool fold, const char *text, size_t length,
    size_t *at, struct pattern_error *error)
{
	struct reading reading = { text, length, *at, error };
	bool negated = ahead(&reading, 1) == '^';
	size_t first = *at + (negated ? 2 : 1);

	*set = (struct byteset){ { 0 } };
	if (class_length(&reading) > 0)
		return refuse(&reading, *at, "[:class:] belongs inside of []");
	reading.at = first;
	while (reading.at == first || ahead(&reading, 0) != ']') {
		if (ahead(&reading, 0) == AT_END)
			return refuse(&reading, *at, "[ without ]");
		if (!take_item(&reading, set, reading.at == first))
			return false;
	}
	*at = reading.at + 1;
	if (fold)
		byteset_fold(set);
	if (negated)
		byteset_negate(set);
	return true;
}

bool
byteset_is_word(unsigned char byte)
{
	unsigned char small = byte | FOLD;

	return (small >= 'a' && small <= 'z') || (byte >= '0' && byte <= '9') ||
	    byte == '_';
}
