#include "http/responses.h"

#include <string.h>
#include "text/number.h"

/*
 * The code of a status line, "HTTP/1.1 503 Reason" or "HTTP/2 503 ", from 100
 * to 999; -1 if line is no status line.
 */
static int
read_code(struct strview line)
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

/* Whether a line is "Name: value", without a blank before the colon. */
static bool
is_field(struct strview line)
{
	size_t name = 0;

	while (name < line.length && line.at[name] != ':' &&
	    !strview_blank(line.at[name]))
		name++;
	return name > 0 && name < line.length && line.at[name] == ':';
}

bool
responses_only(struct strview rest, bool cut)
{
	struct strview status = strview_of("HTTP/"), line;
	bool begun = false, inside = false;

	while (strview_line(&rest, &line)) {
		bool head = read_code(line) >= 0;

		/* The last line may be a status line, cut off. */
		if (cut && rest.length == 0)
			return inside || strview_begins(line, status) ||
			    strview_begins(status, line);
		begun |= head;
		inside = line.length > 0 && (inside || head);
		if (line.length > 0 && !head &&
		    (!begun || !(is_field(line) || strview_blank(line.at[0]))))
			return false;
	}
	return begun;
}

/*
 * Adds a header line; any line but "Name: value" is ignored. Cuts off rest the
 * lines that start with a blank: they belong to the value (obsolete line
 * folding, RFC 9112 section 5.2).
 */
static void
add_field(struct response *response, struct strview line, struct strview *rest,
    bool trailer)
{
	struct strview more;
	enum field field;

	while (
	    rest->length > 0 && (rest->at[0] == ' ' || rest->at[0] == '\t')) {
		strview_line(rest, &more);
		line.length = (size_t)(more.at - line.at) + more.length;
	}
	field = retry_after_find(strview_part(&line, ':'));
	response->bodied |= field >= FIELD_WAITS && field < FIELD_COUNT &&
	    !strview_is(strview_trim(line), "0");
	if (!trailer || field == FIELD_PUSHBACK)
		retry_after_add(&response->fields, field, line);
}

/* Cuts off rest the head at its start, which begins with a status line. */
static struct response
read_head(struct strview *rest)
{
	struct response head = { .known = true };
	struct strview next, line;

	strview_line(rest, &line);
	head.code = read_code(line);
	for (next = *rest; strview_line(&next, &line); next = *rest) {
		/* The next head ends this one, without an empty line. */
		if (read_code(line) >= 0)
			break;
		*rest = next;
		if (line.length == 0)
			break;
		add_field(&head, line, rest, false);
	}
	return head;
}

/* Whether another head may be directly behind this one, and no body. */
static bool
is_bodiless(const struct response *head)
{
	int code = head->code;

	return code < 200 || (code < 300 && !head->bodied) ||
	    (code >= 300 && code < 400) || code == 401 || code == 407;
}

bool
responses_read(struct strview rest, bool dump, struct response *response)
{
	struct strview line, at = rest;
	struct response head = { .code = -1 };

	dump |= responses_only(rest, false);
	for (; strview_line(&rest, &line); at = rest) {
		if (read_code(line) >= 0 && (dump || is_bodiless(&head))) {
			rest = at;
			head = read_head(&rest);
			if (head.code >= 200)
				*response = head;
		} else if (!dump && (line.length > 0 || head.known)) {
			break;
		} else if (head.code >= 200) {
			add_field(response, line, &rest, true);
		}
	}
	return head.known;
}
