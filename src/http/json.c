#include "http/json.h"

#include <string.h>

static const char marks[] = "{}[]";

/* Blanks, and the commas and colons that say nothing of their own. */
static void
skip_gap(struct text *rest)
{
	while (rest->length > 0 &&
	    (text_blank(rest->at[0]) || rest->at[0] == ',' ||
		rest->at[0] == ':'))
		*rest = text_after(*rest, 1);
}

/* Cuts off a string, whose opening quote is already gone. */
static struct text
cut_string(struct text *rest)
{
	struct text string = *rest;
	size_t end = 0;

	while (end < rest->length && rest->at[end] != '"') {
		/* What a backslash escapes may be a quote. */
		if (rest->at[end] == '\\' && end + 1 < rest->length)
			end++;
		end++;
	}
	string.length = end;
	*rest = text_after(*rest, end < rest->length ? end + 1 : end);
	return string;
}

static struct text
cut_word(struct text *rest)
{
	struct text word = *rest;
	size_t end = 0;

	while (end < rest->length && !text_blank(rest->at[end]) &&
	    memchr("{}[],:\"", rest->at[end], 7) == NULL)
		end++;
	word.length = end;
	*rest = text_after(*rest, end);
	return word;
}

static bool
colon_follows(struct text rest)
{
	while (rest.length > 0 && text_blank(rest.at[0]))
		rest = text_after(rest, 1);
	return rest.length > 0 && rest.at[0] == ':';
}

enum json_token
json_next(struct text *rest, struct text *text)
{
	const char *mark;

	skip_gap(rest);
	*text = (struct text){ rest->at, 0 };
	if (rest->length == 0)
		return JSON_END;
	if (rest->at[0] == '"') {
		*rest = text_after(*rest, 1);
		*text = cut_string(rest);
		return colon_follows(*rest) ? JSON_KEY : JSON_STRING;
	}
	mark = memchr(marks, rest->at[0], strlen(marks));
	if (mark == NULL) {
		*text = cut_word(rest);
		return JSON_WORD;
	}
	*rest = text_after(*rest, 1);
	return (enum json_token)(JSON_OPEN + (mark - marks));
}
