#include "text/strview.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

struct strview
strview_of(const char *string)
{
	return (struct strview){ string, strlen(string) };
}

struct strview
strview_after(struct strview text, size_t count)
{
	/* NULL + 0 has no meaning in C, and an empty text may be at NULL. */
	if (count > 0) {
		text.at += count;
		text.length -= count;
	}
	return text;
}

struct strview
strview_skip(struct strview text, const char *bytes)
{
	size_t count = 0;

	while (count < text.length && text.at[count] != '\0' &&
	    strchr(bytes, text.at[count]) != NULL)
		count++;
	return strview_after(text, count);
}

bool
strview_blank(char c)
{
	return c != '\0' && strchr(STRVIEW_BLANKS, c) != NULL;
}

struct strview
strview_trim(struct strview text)
{
	text = strview_skip(text, STRVIEW_BLANKS);
	while (text.length > 0 && strview_blank(text.at[text.length - 1]))
		text.length--;
	return text;
}

bool
strview_begins(struct strview text, struct strview start)
{
	return start.length == 0 ||
	    (text.length >= start.length &&
		strncasecmp(text.at, start.at, start.length) == 0);
}

bool
strview_starts(struct strview text, const char *word)
{
	return strview_begins(text, strview_of(word));
}

bool
strview_is(struct strview text, const char *word)
{
	return text.length == strlen(word) && strview_starts(text, word);
}

bool
strview_cut(struct strview *rest, char separator, struct strview *piece)
{
	bool quoted = false;
	size_t end = 0;

	if (rest->length == 0)
		return false;
	while (end < rest->length && (quoted || rest->at[end] != separator)) {
		if (rest->at[end] == '"')
			quoted = !quoted;
		end++;
	}
	*piece = strview_trim((struct strview){ rest->at, end });
	*rest = strview_after(*rest, end < rest->length ? end + 1 : end);
	return true;
}

struct strview
strview_part(struct strview *rest, char separator)
{
	const char *at =
	    rest->length > 0 ? memchr(rest->at, separator, rest->length) : NULL;
	struct strview part = *rest;

	part.length = at == NULL ? rest->length : (size_t)(at - rest->at);
	*rest = strview_after(*rest, part.length + (at != NULL));
	return part;
}

bool
strview_line(struct strview *rest, struct strview *line)
{
	if (rest->length == 0)
		return false;
	*line = strview_part(rest, '\n');
	if (line->length > 0 && line->at[line->length - 1] == '\r')
		line->length--;
	return true;
}

size_t
strview_digits(struct strview text)
{
	size_t n = 0;

	while (n < text.length && isdigit((unsigned char)text.at[n]))
		n++;
	return n;
}

int
strview_hex(char c)
{
	if (!isxdigit((unsigned char)c))
		return -1;
	return isdigit((unsigned char)c) ? c - '0' : tolower(c) - 'a' + 10;
}

bool
strview_unescape(struct strview text, char *room, size_t size, size_t *length)
{
	*length = 0;
	for (size_t i = 0; i < text.length; i++) {
		char byte = text.at[i];

		if (byte == '%') {
			int high, low;

			if (text.length - i < 3)
				return false;
			high = strview_hex(text.at[i + 1]);
			low = strview_hex(text.at[i + 2]);
			if (high < 0 || low < 0)
				return false;
			byte = (char)(high << 4 | low);
			i += 2;
		}
		if (*length == size)
			return false;
		room[(*length)++] = byte;
	}
	return true;
}
