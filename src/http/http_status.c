#include "http/http_status.h"

#include <string.h>
#include "text/number.h"
#include "text/strview.h"

/* What is known of one response. */
struct response {
	bool known; /* the code is */
	bool has_fields; /* %{header_json} is there, perhaps an empty one */
	bool bodied; /* the head describes a body */
	int code; /* 0: curl's 000, no response */
	struct retry_after_fields fields;
};

/*
 * Heads: a status line, header fields and an empty line (RFC 9112 sections 4
 * and 5). curl -D writes heads and nothing else, curl -i writes a body behind
 * them. A body is not searched, because it may quote a response.
 */

/*
 * The code of a status line, "HTTP/1.1 503 Reason" or "HTTP/2 503 ", from 100
 * to 999; -1 if line is no status line.
 */
static int
read_status_line(struct strview line)
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

/*
 * Whether a text is heads and nothing else, but trailers, the fields behind a
 * body (RFC 9110 section 6.5). Empty lines may be before, and the last line may
 * be cut off.
 */
static bool
is_heads(struct strview rest)
{
	struct strview status = strview_of("HTTP/"), line;
	bool begun = false, inside = false;

	while (strview_line(&rest, &line)) {
		bool head = read_status_line(line) >= 0;
		bool cut = rest.length == 0 &&
		    (inside || strview_begins(line, status) ||
			strview_begins(status, line));

		if (line.length > 0 && !head && !cut &&
		    (!begun || !(is_field(line) || strview_blank(line.at[0]))))
			return false;
		begun |= head;
		inside = line.length > 0 && (inside || head);
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
	struct strview more, name;
	enum field field;

	while (
	    rest->length > 0 && (rest->at[0] == ' ' || rest->at[0] == '\t')) {
		strview_line(rest, &more);
		line.length = (size_t)(more.at - line.at) + more.length;
	}
	name = strview_part(&line, ':');
	field = retry_after_find(name);
	response->bodied |= (strview_is(name, "content-length") ||
				strview_is(name, "content-type") ||
				strview_is(name, "transfer-encoding")) &&
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
	head.code = read_status_line(line);
	for (next = *rest; strview_line(&next, &line); next = *rest) {
		/* The next head ends this one, without an empty line. */
		if (read_status_line(line) >= 0)
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

/*
 * Reads the last final response of a text. An interim response (1xx; RFC 9110
 * section 15.2) changes nothing. If dump, or if the text is heads alone, each
 * status line begins a head, and of the trailers grpc-retry-pushback-ms counts,
 * as gRPC sends this field there. Else the text has to start with a head, and
 * another one counts only directly behind a head that has no body: that of an
 * interim response, of a redirect, of one that asks for a password, or of a 2xx
 * that describes none, such as a proxy's answer to CONNECT.
 *
 * Returns the form; if there is no head, the response is untouched.
 */
static enum http_status_form
read_heads(struct strview rest, bool dump, struct response *response)
{
	struct strview line, at = rest;
	struct response head = { .code = -1 };

	dump |= is_heads(rest);
	for (; strview_line(&rest, &line); at = rest) {
		if (read_status_line(line) >= 0 &&
		    (dump || is_bodiless(&head))) {
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
	return !head.known ? HTTP_STATUS_UNRECOGNISED
	    : dump         ? HTTP_STATUS_HEADS
			   : HTTP_STATUS_PAGE;
}

/* Reads the last line that is not blank. False if it has no code. */
static bool
read_last_line(struct strview rest, struct response *response)
{
	struct strview line = { NULL, 0 }, next, code;
	struct response read = { .known = true };
	int64_t number;

	while (strview_line(&rest, &next)) {
		next = strview_trim(next);
		if (next.length > 0)
			line = next;
	}
	code = strview_part(&line, ' ');
	if (code.length != 3 || !number_whole(code.at, 3, &number) ||
	    (number > 0 && number < 200) || number > 599)
		return false;
	read.code = (int)number;
	retry_after_add(&read.fields, FIELD_RETRY_AFTER, line);
	if (line.length > 0 &&
	    (!read.fields.sum.given || read.fields.sum.doubtful))
		return false;
	*response = read;
	return true;
}

/*
 * Cuts the next token of JSON (RFC 8259) off rest, and returns its first byte:
 * a brace, a bracket, the quote of a string, any other byte of a word; NUL at
 * the end. *text becomes the token, of a string what is between the quotes,
 * with escapes as they are. Nobody checks whether the bytes are valid, because
 * curl's output is not always valid (7.88 prints the byte 0xE9 as "uffffffe9")
 * and may be cut off at any point.
 */
static char
next_token(struct strview *rest, struct strview *text)
{
	size_t end = 1;
	char first;

	*rest = strview_skip(*rest, STRVIEW_BLANKS ",:");
	*text = *rest;
	if (rest->length == 0)
		return '\0';
	first = rest->at[0];
	if (first == '"') {
		while (end < rest->length && rest->at[end] != '"')
			/* The byte after a backslash may be a quote. */
			end += rest->at[end] == '\\' && end + 1 < rest->length
			    ? 2
			    : 1;
		*text = strview_after((struct strview){ rest->at, end }, 1);
		end += end < rest->length;
	} else {
		while (strchr("{}[]", first) == NULL && end < rest->length &&
		    !strview_blank(rest->at[end]) &&
		    memchr("{}[],:\"", rest->at[end], 7) == NULL)
			end++;
		text->length = end;
	}
	*rest = strview_after(*rest, end);
	return first;
}

/*
 * Reads %{json}, which has the code, and %{header_json}, in which each value is
 * a list. If the response has already what an object says, the object belongs
 * to the next transfer. False if they say nothing.
 */
static bool
read_json(struct strview rest, struct response *response)
{
	struct strview text, key = { NULL, 0 };
	struct response part = { 0 };
	bool list = false;
	int64_t number;
	char token;

	do {
		token = next_token(&rest, &text);
		if (token == '[' || token == ']') {
			list = token == '[';
		} else if (token == '"' && list) {
			retry_after_add(
			    &part.fields, retry_after_find(key), text);
			part.has_fields = true;
		} else if (token == '"') {
			key = text;
		} else if (token != '}' && token != '\0') {
			if ((strview_is(key, "http_code") ||
				strview_is(key, "response_code")) &&
			    number_whole(text.at, text.length, &number) &&
			    number < 1000) {
				part.known = true;
				part.code = (int)number;
			}
		} else {
			if ((part.known && response->known) ||
			    (part.has_fields && response->has_fields))
				*response = (struct response){ 0 };
			if (part.known)
				response->code = part.code;
			if (part.has_fields)
				response->fields = part.fields;
			response->known |= part.known;
			response->has_fields |= part.has_fields;
			part = (struct response){ 0 };
		}
	} while (token != '\0');
	return response->known || response->has_fields;
}

struct http_status
http_status_parse(const char *bytes, size_t length, bool dump, nanos now)
{
	struct strview all = { bytes, length }, text = strview_trim(all);
	struct response response = { 0 };
	struct http_status http = { .form = HTTP_STATUS_EMPTY };

	if (text.length == 0)
		return http;
	http.form = read_heads(all, dump, &response);
	if (http.form == HTTP_STATUS_UNRECOGNISED && !dump &&
	    (read_last_line(text, &response) ||
		(strview_starts(text, "{") && read_json(text, &response))))
		http.form = HTTP_STATUS_WRITTEN;
	if (http.form == HTTP_STATUS_UNRECOGNISED)
		return http;
	http.known = response.known;
	http.code = response.code;
	/* No server has answered: a number beside 000 means something else. */
	if (!http.known || http.code != 0)
		http.after = retry_after_read(&response.fields, now);
	return http;
}

enum http_status_meaning
http_status_judge(const struct http_status *http)
{
	int code = http->code;
	bool retry = code >= 500;

	if (!http->known || code < 400)
		return HTTP_STATUS_SAYS_NOTHING;
	if (code == 408 || code == 425 || code == 429)
		retry = true;
	else if (code == 403 || code == 413)
		retry = http->after.given;
	else if (code == 501 || code == 505 || code == 506 || code == 508 ||
	    code == 510 || code == 511)
		retry = false;
	return retry && !http->after.never ? HTTP_STATUS_SAYS_RETRY
					   : HTTP_STATUS_SAYS_STOP;
}
