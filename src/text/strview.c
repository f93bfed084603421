#include "text/strview.h"

#include <string.h>

struct text
text_of(const char *string)
{
	return (struct text){ string, strlen(string) };
}

struct text
text_after(struct text text, size_t count)
{
	/* NULL + 0 has no meaning in C, and an empty text may be at NULL. */
	if (count > 0) {
		text.at += count;
		text.length -= count;
	}
	return text;
}

bool
text_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

struct text
text_trim(struct text text)
{
	size_t blanks = 0;

	while (blanks < text.length && text_blank(text.at[blanks]))
		blanks++;
	text = text_after(text, blanks);
	while (text.length > 0 && text_blank(text.at[text.length - 1]))
		text.length--;
	return text;
}

/* By hand: tolower() and strncasecmp() depend on the locale. */
char
text_lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

bool
text_begins(struct text text, struct text start)
{
	size_t i = 0;

	if (text.length < start.length)
		return false;
	while (i < start.length &&
	    text_lower(text.at[i]) == text_lower(start.at[i]))
		i++;
	return i == start.length;
}

bool
text_starts(struct text text, const char *word)
{
	return text_begins(text, text_of(word));
}

bool
text_is(struct text text, const char *word)
{
	return text.length == strlen(word) && text_starts(text, word);
}

bool
text_cut(struct text *rest, char separator, struct text *piece)
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
	*piece = text_trim((struct text){ rest->at, end });
	*rest = text_after(*rest, end < rest->length ? end + 1 : end);
	return true;
}

bool
text_line(struct text *rest, struct text *line)
{
	const char *end;

	if (rest->length == 0)
		return false;
	*line = *rest;
	end = memchr(rest->at, '\n', rest->length);
	if (end != NULL)
		line->length = (size_t)(end - rest->at);
	*rest = text_after(*rest, line->length + (end != NULL));
	if (line->length > 0 && line->at[line->length - 1] == '\r')
		line->length--;
	return true;
}

size_t
text_digits(struct text text)
{
	size_t n = 0;

	while (n < text.length && text.at[n] >= '0' && text.at[n] <= '9')
		n++;
	return n;
}
