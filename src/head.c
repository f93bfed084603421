#include "head.h"

#include <string.h>
#include "number.h"

/* What stands before each line of a response's head. */
enum margin {
	MARGIN_NONE,
	MARGIN_ARROW, /* "< ", of curl -v */
	MARGIN_BLANKS /* of wget -S; a line without them ends the head */
};

/* Where in the headers form a line is. */
enum place {
	PLACE_OUTSIDE, /* in noise, or in an interim response */
	PLACE_HEAD, /* in the head of a final response */
	PLACE_AFTER /* in its body or trailers */
};

/* A status line, "HTTP/1.1 503 Reason" or "HTTP/2 503 ": its code, or -1. */
static int
status_code(struct text line)
{
	struct text rest;
	size_t version, blanks = 0;
	int64_t code = -1;

	if (!text_starts(line, "HTTP/"))
		return -1;
	rest = text_after(line, strlen("HTTP/"));
	version = text_digits(rest);
	rest = text_after(rest, version);
	if (version > 0 && text_starts(rest, "."))
		rest = text_after(rest, 1 + text_digits(text_after(rest, 1)));
	while (blanks < rest.length && rest.at[blanks] == ' ')
		blanks++;
	rest = text_after(rest, blanks);
	if (version == 0 || blanks == 0 || text_digits(rest) != 3)
		return -1;
	if (rest.length > 3 && !text_blank(rest.at[3]))
		return -1;
	number_whole(rest.at, 3, &code);
	return code < 100 ? -1 : (int)code;
}

/* The margin that a line has if it is a status line. */
static enum margin
margin_of(struct text line)
{
	if (text_starts(line, "< "))
		return MARGIN_ARROW;
	return text_starts(line, " ") ? MARGIN_BLANKS : MARGIN_NONE;
}

/* Takes the margin off a line. False where the line has none. */
static bool
take_margin(struct text *line, enum margin margin)
{
	struct text trimmed = text_trim(*line);

	switch (margin) {
	case MARGIN_NONE:
		return true;
	case MARGIN_ARROW:
		if (!text_starts(*line, "<"))
			return false;
		*line = text_after(*line, text_starts(*line, "< ") ? 2 : 1);
		return true;
	case MARGIN_BLANKS:
		if (!text_starts(*line, " ") || trimmed.length == 0)
			return false;
		*line = trimmed;
		return true;
	}
	return false;
}

/*
 * Makes a header line as long as its value, which goes on in the lines that
 * start with a blank (obsolete line folding, RFC 9112 section 5.2).
 */
static void
unfold(struct text *line, struct text *rest)
{
	struct text more;

	while (
	    rest->length > 0 && (rest->at[0] == ' ' || rest->at[0] == '\t')) {
		text_line(rest, &more);
		line->length = (size_t)(more.at - line->at) + more.length;
	}
}

/* The field of a header line, "Name: value"; its value stays in line. */
static enum field
cut_name(struct text *line)
{
	const char *colon =
	    line->length == 0 ? NULL : memchr(line->at, ':', line->length);
	struct text name = *line;

	if (colon == NULL)
		return FIELD_COUNT;
	name.length = (size_t)(colon - name.at);
	*line = text_after(*line, name.length + 1);
	return fields_find(name);
}

/* A line of a response's head, or below it; where the next one will be. */
static enum place
read_line(struct text line, enum place place, struct fields *fields)
{
	enum field field;

	if (line.length == 0)
		return place == PLACE_HEAD ? PLACE_AFTER : place;
	field = cut_name(&line);
	if (place == PLACE_HEAD ||
	    (place == PLACE_AFTER && field == FIELD_PUSHBACK))
		fields_add(fields, field, line);
	return place;
}

/* A response starts anew, unless it is an interim one. */
static enum place
start(struct response *response, int code)
{
	if (code < 200)
		return PLACE_OUTSIDE;
	*response = (struct response){ .known = true, .code = code };
	return PLACE_HEAD;
}

bool
head_read(struct text rest, struct response *response)
{
	enum place place = PLACE_OUTSIDE;
	enum margin margin = MARGIN_NONE;
	bool found = false;
	struct text line;

	while (text_line(&rest, &line)) {
		bool inside;
		int code;

		/* The first status line has the margin of all others. */
		if (!found)
			margin = margin_of(line);
		inside = take_margin(&line, margin);
		code = inside ? status_code(line) : -1;
		found |= code >= 0;
		if (code >= 0) {
			place = start(response, code);
		} else if (inside) {
			if (margin == MARGIN_NONE && place != PLACE_OUTSIDE &&
			    line.length > 0)
				unfold(&line, &rest);
			place = read_line(line, place, &response->fields);
		} else if (margin == MARGIN_BLANKS) {
			place = PLACE_OUTSIDE;
		}
	}
	return found;
}
