#include "http/response_head.h"

#include <string.h>
#include "text/number.h"

int
response_head_code(struct strview line)
{
	struct strview rest;
	size_t version, blanks = 0;
	int64_t code = -1;

	if (!strview_starts(line, "HTTP/"))
		return -1;
	rest = strview_after(line, strlen("HTTP/"));
	version = strview_digits(rest);
	rest = strview_after(rest, version);
	if (version > 0 && strview_starts(rest, "."))
		rest = strview_after(
		    rest, 1 + strview_digits(strview_after(rest, 1)));
	while (blanks < rest.length && rest.at[blanks] == ' ')
		blanks++;
	rest = strview_after(rest, blanks);
	if (version == 0 || blanks == 0 || strview_digits(rest) != 3)
		return -1;
	if (rest.length > 3 && !strview_blank(rest.at[3]))
		return -1;
	number_whole(rest.at, 3, &code);
	return code < 100 ? -1 : (int)code;
}

void
response_head_unfold(struct strview *line, struct strview *rest)
{
	struct strview more;

	while (
	    rest->length > 0 && (rest->at[0] == ' ' || rest->at[0] == '\t')) {
		strview_line(rest, &more);
		line->length = (size_t)(more.at - line->at) + more.length;
	}
}

/* Cuts the name off a header line, "Name: value", and returns the field. */
static enum field
cut_name(struct strview *line)
{
	const char *colon =
	    line->length == 0 ? NULL : memchr(line->at, ':', line->length);
	struct strview name = *line;

	if (colon == NULL)
		return FIELD_COUNT;
	name.length = (size_t)(colon - name.at);
	*line = strview_after(*line, name.length + 1);
	return retry_after_find(name);
}

enum response_head_place
response_head_take(struct strview line, enum response_head_place place,
    struct retry_after_fields *fields)
{
	enum field field;

	if (line.length == 0)
		return place == RESPONSE_HEAD_WITHIN ? RESPONSE_HEAD_AFTER
						     : place;
	field = cut_name(&line);
	if (place == RESPONSE_HEAD_WITHIN ||
	    (place == RESPONSE_HEAD_AFTER && field == FIELD_PUSHBACK))
		retry_after_add(fields, field, line);
	return place;
}

enum response_head_place
response_head_begin(struct response *response, int code)
{
	if (code < 200)
		return RESPONSE_HEAD_OUTSIDE;
	*response = (struct response){ .known = true, .code = code };
	return RESPONSE_HEAD_WITHIN;
}

bool
response_head_dump(struct strview rest, struct response *response)
{
	enum response_head_place place = RESPONSE_HEAD_OUTSIDE;
	bool found = false;
	struct strview line;

	while (strview_line(&rest, &line)) {
		int code = response_head_code(line);

		if (code >= 0) {
			place = response_head_begin(response, code);
			found = true;
			continue;
		}
		if (place != RESPONSE_HEAD_OUTSIDE && line.length > 0)
			response_head_unfold(&line, &rest);
		place = response_head_take(line, place, &response->fields);
	}
	return found;
}
