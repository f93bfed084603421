#include "http/json.h"

#include <string.h>

static const char marks[] = "{}[]";

/* Skips blanks, commas and colons. */
static void
skip_gap(struct strview *rest)
{
	while (rest->length > 0 &&
	    (strview_blank(rest->at[0]) || rest->at[0] == ',' ||
		rest->at[0] == ':'))
		*rest = strview_after(*rest, 1);
}

/* Cuts off a string and its closing quote; the opening quote is cut already. */
static struct strview
cut_string(struct strview *rest)
{
	struct strview string = *rest;
	size_t end = 0;

	while (end < rest->length && rest->at[end] != '"') {
		/* The byte after a backslash may be a quote. */
		if (rest->at[end] == '\\' && end + 1 < rest->length)
			end++;
		end++;
	}
	string.length = end;
	*rest = strview_after(*rest, end < rest->length ? end + 1 : end);
	return string;
}

static struct strview
cut_word(struct strview *rest)
{
	struct strview word = *rest;
	size_t end = 0;

	while (end < rest->length && !strview_blank(rest->at[end]) &&
	    memchr("{}[],:\"", rest->at[end], 7) == NULL)
		end++;
	word.length = end;
	*rest = strview_after(*rest, end);
	return word;
}

static bool
colon_follows(struct strview rest)
{
	while (rest.length > 0 && strview_blank(rest.at[0]))
		rest = strview_after(rest, 1);
	return rest.length > 0 && rest.at[0] == ':';
}

enum json_token
json_next(struct strview *rest, struct strview *text)
{
	const char *mark;

	skip_gap(rest);
	*text = (struct strview){ rest->at, 0 };
	if (rest->length == 0)
		return JSON_END;
	if (rest->at[0] == '"') {
		*rest = strview_after(*rest, 1);
		*text = cut_string(rest);
		return colon_follows(*rest) ? JSON_KEY : JSON_STRING;
	}
	mark = memchr(marks, rest->at[0], strlen(marks));
	if (mark == NULL) {
		*text = cut_word(rest);
		return JSON_WORD;
	}
	*rest = strview_after(*rest, 1);
	return (enum json_token)(JSON_OPEN + (mark - marks));
}
