#include "http/response_head.h"

#include <string.h>
#include "text/number.h"

int
head_code(struct text line)
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

void
head_unfold(struct text *line, struct text *rest)
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

enum head_place
head_take(struct text line, enum head_place place, struct fields *fields)
{
	enum field field;

	if (line.length == 0)
		return place == HEAD_WITHIN ? HEAD_AFTER : place;
	field = cut_name(&line);
	if (place == HEAD_WITHIN ||
	    (place == HEAD_AFTER && field == FIELD_PUSHBACK))
		fields_add(fields, field, line);
	return place;
}

enum head_place
head_begin(struct response *response, int code)
{
	if (code < 200)
		return HEAD_OUTSIDE;
	*response = (struct response){ .known = true, .code = code };
	return HEAD_WITHIN;
}

bool
head_dump(struct text rest, struct response *response)
{
	enum head_place place = HEAD_OUTSIDE;
	bool found = false;
	struct text line;

	while (text_line(&rest, &line)) {
		int code = head_code(line);

		if (code >= 0) {
			place = head_begin(response, code);
			found = true;
			continue;
		}
		if (place != HEAD_OUTSIDE && line.length > 0)
			head_unfold(&line, &rest);
		place = head_take(line, place, &response->fields);
	}
	return found;
}
