#include "text/escape.h"

#include <stdbool.h>
#include <string.h>

/* Whether the style is one of the two for workflow commands. */
static bool
is_github(enum escape style)
{
	return style == ESCAPE_GITHUB || style == ESCAPE_GITHUB_TITLE;
}

/* The length of the UTF-8 character at the start of text; 0: there is none. */
static size_t
character(const char *text, size_t length)
{
	const unsigned char *at = (const unsigned char *)text;
	unsigned char least = 0x80, most = 0xbf;
	size_t size = at[0] < 0x80 ? 1
	    : at[0] < 0xc2         ? 0
	    : at[0] < 0xe0         ? 2
	    : at[0] < 0xf0         ? 3
	    : at[0] < 0xf5         ? 4
				   : 0;

	if (size > length)
		return 0;
	/* Not overlong, not a surrogate, not above U+10FFFF. */
	if (at[0] == 0xe0)
		least = 0xa0;
	else if (at[0] == 0xf0)
		least = 0x90;
	else if (at[0] == 0xed)
		most = 0x9f;
	else if (at[0] == 0xf4)
		most = 0x8f;
	for (size_t i = 1; i < size; i++) {
		if (at[i] < least || at[i] > most)
			return 0;
		least = 0x80;
		most = 0xbf;
	}
	return size;
}

size_t
escape_cut(const char *text, size_t length, size_t most)
{
	if (length <= most)
		return length;
	for (size_t back = 1; back < 4 && back <= most; back++) {
		size_t at = most - back;
		size_t size = character(text + at, length - at);

		if (size > 0)
			return size > back ? at : most;
	}
	return most;
}

/* Whether a terminal could act on the character instead of showing it. */
static bool
control(const char *text, size_t size)
{
	const unsigned char *at = (const unsigned char *)text;

	return (size == 1 && (at[0] < 0x20 || at[0] == 0x7f)) ||
	    (size == 2 && at[0] == 0xc2 && at[1] < 0xa0);
}

static char *
append(char *at, const char *text)
{
	size_t length = strlen(text);

	memcpy(at, text, length);
	return at + length;
}

static char *
put_code(char *at, const char *before, char byte)
{
	static const char digits[] = "0123456789abcdef";

	at = append(at, before);
	*at++ = digits[(unsigned char)byte >> 4];
	*at++ = digits[(unsigned char)byte & 15];
	return at;
}

/* Writes \xff for a byte. Within quotes the backslash is doubled, because a
 * single one would begin an escape of the format. */
static char *
put_byte(enum escape style, char *at, char byte)
{
	bool quoted = style == ESCAPE_JSON || style == ESCAPE_PROM;

	return put_code(at, quoted ? "\\\\x" : "\\x", byte);
}

static char *
put_control(enum escape style, char *at, const char *text, size_t size)
{
	/* U+0080 to U+009F are two bytes; the second one is the number. */
	if (style == ESCAPE_JSON)
		return put_code(at, "\\u00", text[size - 1]);
	if (is_github(style) && (*text == '\n' || *text == '\r'))
		return append(at, *text == '\n' ? "%0A" : "%0D");
	if (*text == '\n')
		return append(at, "\\n");
	if (*text == '\t' && style != ESCAPE_PROM)
		return append(at, "\\t");
	for (size_t i = 0; i < size; i++)
		at = put_byte(style, at, text[i]);
	return at;
}

/*
 * Whether text could begin a workflow command of the old form, "##[name]".
 * GitHub's runner finds it anywhere in a line: ActionCommand.cs, TryParse().
 */
static bool
begins_command(enum escape style, const char *text, size_t length)
{
	static const char prefix[] = "##[";

	return style == ESCAPE_GITHUB_LINE && length >= sizeof prefix - 1 &&
	    memcmp(text, prefix, sizeof prefix - 1) == 0;
}

/* The escape of a byte that is special in this format, or NULL. */
static const char *
special(enum escape style, char byte)
{
	if (is_github(style) && byte == '%')
		return "%25";
	if (style == ESCAPE_GITHUB_TITLE && (byte == ':' || byte == ','))
		return byte == ':' ? "%3A" : "%2C";
	if (style != ESCAPE_JSON && style != ESCAPE_PROM)
		return NULL;
	return byte == '"' ? "\\\"" : byte == '\\' ? "\\\\" : NULL;
}

size_t
escape_next(enum escape style, char **at, const char *text, size_t length)
{
	size_t size = character(text, length);

	if ((size == 0 && style > ESCAPE_GITHUB_TITLE) ||
	    begins_command(style, text, length)) {
		*at = put_byte(style, *at, *text);
		return 1;
	}
	if (size == 0)
		size = 1;
	if (control(text, size)) {
		*at = put_control(style, *at, text, size);
	} else if (special(style, *text) != NULL) {
		*at = append(*at, special(style, *text));
	} else {
		memcpy(*at, text, size);
		*at += size;
	}
	return size;
}

char *
escape_put(enum escape style, char *at, const char *limit, const char *text,
    size_t length)
{
	while (length > 0) {
		char shown[ESCAPE_ROOM], *end = shown;
		size_t size = escape_next(style, &end, text, length);

		if (end - shown > limit - at)
			break;
		memcpy(at, shown, (size_t)(end - shown));
		at += end - shown;
		text += size;
		length -= size;
	}
	return at;
}
