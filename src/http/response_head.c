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
response_head_add(struct response *response, struct strview line,
    struct strview *rest, bool trailer)
{
	struct strview more, name;
	enum field field;
	const char *colon;

	while (rest != NULL && rest->length > 0 &&
	    (rest->at[0] == ' ' || rest->at[0] == '\t')) {
		strview_line(rest, &more);
		line.length = (size_t)(more.at - line.at) + more.length;
	}
	colon = line.length == 0 ? NULL : memchr(line.at, ':', line.length);
	if (colon == NULL)
		return;
	name = (struct strview){ line.at, (size_t)(colon - line.at) };
	field = retry_after_find(name);
	if (trailer && field != FIELD_PUSHBACK)
		return;
	line = strview_trim(strview_after(line, name.length + 1));
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
		if (!head.ended)
			response_head_add(&head, line, rest, false);
	}
	return head;
}
