#include "text/escape.h"

#include <stdbool.h>
#include <stdio.h>
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

/* Writes the number of a byte behind a prefix; returns how many bytes that are.
 */
static size_t
put_byte(char *at, const char *prefix, char byte)
{
	return (size_t)snprintf(
	    at, strlen(prefix) + 3, "%s%02x", prefix, (unsigned char)byte);
}

/* The escape of a byte that is special in this format, or NULL. */
static const char *
special(enum escape style, char byte)
{
	if (is_github(style) && byte == '%')
		return "%25";
	if (style == ESCAPE_GITHUB_TITLE && (byte == ':' || byte == ','))
		return byte == ':' ? "%3A" : "%2C";
	if (is_github(style) && (byte == '\n' || byte == '\r'))
		return byte == '\n' ? "%0A" : "%0D";
	if (style != ESCAPE_JSON && byte == '\n')
		return "\\n";
	if (style != ESCAPE_JSON && style != ESCAPE_PROM && byte == '\t')
		return "\\t";
	if (style != ESCAPE_JSON && style != ESCAPE_PROM)
		return NULL;
	return byte == '"' ? "\\\"" : byte == '\\' ? "\\\\" : NULL;
}

size_t
escape_next(enum escape style, char **at, const char *text, size_t length)
{
	static const char command[] = "##[";
	/* Within quotes the backslash is doubled, because a single one would
	 * begin an escape of the format. */
	const char *prefix =
	    style == ESCAPE_JSON || style == ESCAPE_PROM ? "\\\\x" : "\\x";
	size_t size = character(text, length), shown = size;
	unsigned char first = (unsigned char)text[0];
	const char *escaped;
	bool control;

	/*
	 * A workflow command of the old form, "##[name]": GitHub's runner finds
	 * it anywhere in a line (ActionCommand.cs, TryParse()).
	 */
	if ((size == 0 && style > ESCAPE_GITHUB_TITLE) ||
	    (style == ESCAPE_GITHUB_LINE && length >= sizeof command - 1 &&
		memcmp(text, command, sizeof command - 1) == 0)) {
		*at += put_byte(*at, prefix, *text);
		return 1;
	}
	if (size == 0)
		size = shown = 1;
	escaped = size == 1 ? special(style, *text) : NULL;
	/* A terminal could act on it instead of showing it. U+0080 to U+009F
	 * are two bytes; the second is the number. */
	control = size == 1 ? first < 0x20 || first == 0x7f
			    : first == 0xc2 && (unsigned char)text[1] < 0xa0;
	if (escaped != NULL) {
		shown = strlen(escaped);
		memcpy(*at, escaped, shown);
	} else if (!control) {
		memcpy(*at, text, size);
	} else if (style == ESCAPE_JSON) {
		shown = put_byte(*at, "\\u00", text[size - 1]);
	} else {
		shown = 0;
		for (size_t i = 0; i < size; i++)
			shown += put_byte(*at + shown, prefix, text[i]);
	}
	*at += shown;
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
