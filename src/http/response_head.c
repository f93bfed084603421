#include "http/response_head.h"

#include <string.h>
#include "text/number.h"

int
response_head_code(struct strview line)
{
	struct strview rest, reason;
	size_t digits;
	int64_t code = -1;

	if (!strview_starts(line, "HTTP/"))
		return -1;
	rest = strview_after(line, strlen("HTTP/"));
	digits = strview_digits(rest);
	rest = strview_after(rest, digits);
	if (digits > 0 && strview_starts(rest, "."))
		rest = strview_after(
		    rest, 1 + strview_digits(strview_after(rest, 1)));
	reason = strview_skip(rest, " ");
	if (digits == 0 || reason.length == rest.length ||
	    strview_digits(reason) != 3 ||
	    (reason.length > 3 && !strview_blank(reason.at[3])))
		return -1;
	number_whole(reason.at, 3, &code);
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

/* Cuts the name off a header line. False if the line has none. */
static bool
cut_name(struct strview *line, struct strview *name)
{
	const char *colon =
	    line->length == 0 ? NULL : memchr(line->at, ':', line->length);

	if (colon == NULL)
		return false;
	*name = (struct strview){ line->at, (size_t)(colon - line->at) };
	*line = strview_trim(strview_after(*line, name->length + 1));
	return true;
}

void
response_head_add(struct response *response, struct strview line)
{
	struct strview name;
	enum field field;

	if (!cut_name(&line, &name))
		return;
	field = retry_after_find(name);
	retry_after_add(&response->fields, field, line);
	response->has |= UINT32_C(1) << field;
	if (field == FIELD_CONNECTION)
		response->lasts &= !strview_is(line, "close");
	if (field == FIELD_CONTENT_LENGTH &&
	    !number_whole(line.at, line.length, &response->length))
		response->length = -1;
}

bool
response_head_has(const struct response *response, enum field field)
{
	return (response->has >> field & 1) != 0;
}

void
response_head_trail(struct response *response, struct strview line)
{
	struct strview name;

	if (cut_name(&line, &name) && retry_after_find(name) == FIELD_PUSHBACK)
		retry_after_add(&response->fields, FIELD_PUSHBACK, line);
}

struct response
response_head_begin(struct strview line)
{
	return (struct response){ .known = true,
		.code = response_head_code(line),
		.length = -1,
		.lasts = strview_starts(line, "HTTP/1.1"),
		.established = line.length >= 12 &&
		    strview_starts(strview_after(line, 12), " Connection ") };
}

struct response
response_head_read(struct strview *rest)
{
	struct response head;
	struct strview line;

	strview_line(rest, &line);
	head = response_head_begin(line);
	while (!head.ended && rest->length > 0) {
		struct strview next = *rest;

		strview_line(&next, &line);
		head.cut = response_head_code(line) >= 0;
		if (head.cut)
			break;
		*rest = next;
		head.ended = line.length == 0;
		if (!head.ended) {
			response_head_unfold(&line, rest);
			response_head_add(&head, line);
		}
	}
	return head;
}

bool
response_head_dump(struct strview rest, struct response *response)
{
	struct strview line, at = rest;
	struct response head = { .code = -1 };

	while (strview_line(&rest, &line)) {
		if (response_head_code(line) >= 0) {
			head = response_head_read(&at);
			if (head.code >= 200)
				*response = head;
			rest = at;
			continue;
		}
		if (head.code >= 200) {
			response_head_unfold(&line, &rest);
			response_head_trail(response, line);
		}
		at = rest;
	}
	return head.code >= 0;
}
