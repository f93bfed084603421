#include "http/http_status.h"

#include <string.h>
#include "text/date.h"
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

bool
http_status_heads(struct strview rest, bool cut)
{
	struct strview status = strview_of("HTTP/"), line;
	bool begun = false, inside = false;

	while (strview_line(&rest, &line)) {
		bool head = read_status_line(line) >= 0;

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
 * False, with the response untouched, if there is no head.
 */
static bool
read_heads(struct strview rest, bool dump, struct response *response)
{
	struct strview line, at = rest;
	struct response head = { .code = -1 };

	dump |= http_status_heads(rest, false);
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
	return head.known;
}

/*
 * A code, and what curl writes beside it for %{http_code}: a Retry-After, or an
 * exit status and a message.
 */

/* Reads all of text as a code, 0 to 999. */
static bool
read_number(struct strview text, int *code)
{
	int64_t number;

	if (text.length > 3 || !number_whole(text.at, text.length, &number))
		return false;
	*code = (int)number;
	return true;
}

/*
 * Reads a code as %{http_code} prints it: exactly three digits, 000 or 100 to
 * 599. A number outside of this range may mean anything.
 */
static bool
read_bare(struct strview text, int *code)
{
	return text.length == 3 && read_number(text, code) &&
	    (*code == 0 || (*code >= 100 && *code <= 599));
}

/* Whether text may be meant as a Retry-After, valid or not. */
static bool
may_be_retry_after(struct strview text)
{
	int64_t moment;

	if (text.length == 0 || date_parse(text, 0, &moment))
		return text.length > 0;
	for (size_t i = 0; i < text.length; i++) {
		if (strview_blank(text.at[i]))
			return false;
	}
	return memchr("0123456789+-.", text.at[0], 13) != NULL;
}

/*
 * Whether text is %{exitcode} %{errormsg}, as in "22 The requested ...", with a
 * status with which curl can exit after a response with this code (its manual,
 * "EXIT CODES"). The statuses in redirected mean that the last transfer got no
 * response: then the code is that of the redirect before it.
 */
static bool
is_error(struct strview text, int code)
{
	static const unsigned char after[] = { 8, 16, 18, 22, 23, 26, 27, 28,
		33, 42, 43, 47, 52, 55, 56, 61, 63, 65, 81, 91, 92, 94, 95 };
	static const unsigned char redirected[] = { 1, 3, 5, 6, 7, 35, 60 };
	size_t digits = strview_digits(text);
	int64_t status;

	if (digits == 0 || digits > 2 || digits == text.length ||
	    !strview_blank(text.at[digits]) ||
	    !number_whole(text.at, digits, &status) || status == 0)
		return false;
	if (code >= 300 && code < 400 &&
	    memchr(redirected, (int)status, sizeof redirected) != NULL)
		return true;
	return code == 0 || memchr(after, (int)status, sizeof after) != NULL;
}

/*
 * Cuts the code off a line, and leaves in the line what may be a Retry-After. A
 * curl exit status and message behind the code are cut off as well. False, with
 * the line unchanged, if there is anything else.
 */
static bool
cut_code(struct strview *line, int *code)
{
	struct strview number = { line->at,
		line->length < 3 ? line->length : 3 };
	struct strview rest = strview_after(*line, number.length);
	bool blank = rest.length > 0 && strview_blank(rest.at[0]);

	if (!read_bare(number, code) || (rest.length > 0 && !blank))
		return false;
	rest = strview_trim(rest);
	if (rest.length > 0 && !may_be_retry_after(rest)) {
		if (!is_error(rest, *code))
			return false;
		rest.length = 0;
	}
	*line = rest;
	return true;
}

/*
 * Reads a text of one or more lines. The last line that is not blank has the
 * code, or it has a Retry-After and the line above it the code. False, with the
 * response untouched, if there is no code.
 */
static bool
read_code(struct strview rest, struct response *response)
{
	struct strview line, last = { NULL, 0 }, above = last, wait;
	int code, code_above;
	bool found, blank = false;

	while (strview_line(&rest, &line)) {
		struct strview trimmed = strview_trim(line);

		if (trimmed.length == 0)
			continue;
		blank = strview_blank(line.at[line.length - 1]);
		above = last;
		last = trimmed;
	}
	wait = last;
	found = cut_code(&wait, &code);
	/* "0 " is %{exitcode} %{errormsg} of a success. */
	if (found && blank && strview_is(wait, "0"))
		wait.length = 0;
	if ((!found || (code > 0 && code < 200 && wait.length == 0)) &&
	    read_bare(above, &code_above) && code_above >= 200 &&
	    may_be_retry_after(last)) {
		wait = last;
		code = code_above;
		found = true;
	}
	if (!found)
		return false;
	*response = (struct response){ .known = true, .code = code };
	retry_after_add(&response->fields, FIELD_RETRY_AFTER, wait);
	return true;
}

/*
 * JSON (RFC 8259). Nobody checks whether the bytes are valid, because curl's
 * output is not always valid (7.88 prints the byte 0xE9 as "uffffffe9") and may
 * be cut off at any point.
 */

enum token {
	TOKEN_END,
	TOKEN_OPEN, /* { */
	TOKEN_CLOSE, /* } */
	TOKEN_LIST, /* [ */
	TOKEN_LIST_END, /* ] */
	TOKEN_KEY, /* a string that a colon follows */
	TOKEN_STRING,
	TOKEN_WORD /* a number, true, null, or anything else without quotes */
};

/*
 * Cuts the next token off rest. *text becomes the bytes of the token: for a key
 * or a string the bytes between the quotes, with escapes as they are.
 */
static enum token
next_token(struct strview *rest, struct strview *text)
{
	static const char marks[] = "{}[]";
	const char *mark, *at;
	size_t end = 0;

	*rest = strview_skip(*rest, STRVIEW_BLANKS ",:");
	*text = (struct strview){ rest->at, 0 };
	if (rest->length == 0)
		return TOKEN_END;

	mark = memchr(marks, rest->at[0], strlen(marks));
	if (mark != NULL) {
		*rest = strview_after(*rest, 1);
		return (enum token)(TOKEN_OPEN + (mark - marks));
	}

	at = rest->at;
	if (at[0] == '"') {
		at++;
		*text = *rest = strview_after(*rest, 1);
		while (end < rest->length && at[end] != '"')
			/* The byte after a backslash may be a quote. */
			end +=
			    at[end] == '\\' && end + 1 < rest->length ? 2 : 1;
		text->length = end;
		*rest = strview_after(*rest, end + (end < rest->length));
		return strview_starts(strview_skip(*rest, STRVIEW_BLANKS), ":")
		    ? TOKEN_KEY
		    : TOKEN_STRING;
	}

	while (end < rest->length && !strview_blank(at[end]) &&
	    memchr("{}[],:\"", at[end], 7) == NULL)
		end++;
	text->length = end;
	*rest = strview_after(*rest, end);
	return TOKEN_WORD;
}

/*
 * Reads the next JSON object that no other one contains, or the next code
 * beside such objects. HTTP_STATUS_EMPTY: rest has no other one.
 */
static enum http_status_form
read_part(struct strview *rest, struct response *part)
{
	struct strview after = strview_skip(*rest, STRVIEW_BLANKS), line;
	struct strview text, key = { NULL, 0 };
	bool list = false, named = false;
	enum token token;
	size_t depth = 0;

	*part = (struct response){ 0 };
	/* A line of the code form. The digits are checked first: to look for
	 * the end of the line before each part would take quadratic time. */
	if (strview_digits(after) == 3 && strview_line(&after, &line)) {
		line = strview_trim(line);
		part->known = cut_code(&line, &part->code);
		if (part->known) {
			*rest = after;
			part->has_fields = line.length > 0;
			retry_after_add(&part->fields, FIELD_RETRY_AFTER, line);
			return part->has_fields ? HTTP_STATUS_HEADER_JSON
						: HTTP_STATUS_CODE;
		}
	}
	while ((token = next_token(rest, &text)) != TOKEN_END) {
		if (token == TOKEN_OPEN) {
			depth++;
		} else if (token == TOKEN_CLOSE && depth > 0) {
			depth--;
		} else if (token == TOKEN_LIST || token == TOKEN_LIST_END) {
			list = token == TOKEN_LIST;
		} else if (token == TOKEN_KEY) {
			key = text;
		} else if (token == TOKEN_STRING && list) {
			retry_after_add(
			    &part->fields, retry_after_find(key), text);
			part->has_fields = true;
		} else if (token == TOKEN_WORD && depth == 0) {
			part->known |= read_bare(text, &part->code);
		} else if (token == TOKEN_WORD &&
		    (strview_is(key, "http_code") ||
			strview_is(key, "response_code")) &&
		    read_number(text, &part->code)) {
			part->known = named = true;
		}
		if (depth == 0)
			break;
	}
	return named             ? HTTP_STATUS_JSON
	    : part->has_fields   ? HTTP_STATUS_HEADER_JSON
	    : part->known        ? HTTP_STATUS_CODE
	    : token == TOKEN_END ? HTTP_STATUS_EMPTY
				 : HTTP_STATUS_UNRECOGNISED;
}

/*
 * Reads the JSON forms. The code and the fields of each part go into the
 * response. If the response has them already, the part belongs to the next
 * transfer. A JSON body with a code behind it is read here, too; its form is
 * HTTP_STATUS_CODE.
 */
static enum http_status_form
read_json(struct strview rest, struct response *response)
{
	enum http_status_form form = HTTP_STATUS_UNRECOGNISED, of_part;
	struct response part;

	while ((of_part = read_part(&rest, &part)) != HTTP_STATUS_EMPTY) {
		if ((part.known && response->known) ||
		    (part.has_fields && response->has_fields))
			*response = (struct response){ 0 };
		if (part.known) {
			response->known = true;
			response->code = part.code;
		}
		if (part.has_fields) {
			response->has_fields = true;
			response->fields = part.fields;
		}
		if (form == HTTP_STATUS_UNRECOGNISED ||
		    (form == HTTP_STATUS_CODE &&
			of_part == HTTP_STATUS_HEADER_JSON) ||
		    of_part == HTTP_STATUS_JSON)
			form = of_part;
	}
	return form;
}

struct http_status
http_status_parse(
    const char *bytes, size_t length, enum http_status_source source, nanos now)
{
	struct strview all = { bytes, length }, start = strview_trim(all);
	struct response response = { 0 };
	struct http_status http = { .form = HTTP_STATUS_UNRECOGNISED };

	if (start.length == 0) {
		http.form = HTTP_STATUS_EMPTY;
		return http;
	}
	/* A JSON object, or a code and then one. */
	start = strview_trim(strview_after(start, strview_digits(start)));
	if (read_heads(all, source == HTTP_STATUS_FROM_DUMP, &response)) {
		http.form = HTTP_STATUS_HEADERS;
	} else if (source != HTTP_STATUS_FROM_DUMP) {
		if (strview_starts(start, "{"))
			http.form = read_json(all, &response);
		if (http.form == HTTP_STATUS_UNRECOGNISED &&
		    read_code(all, &response))
			http.form = HTTP_STATUS_CODE;
	}
	http.known = response.known;
	http.code = response.code;
	/* No server has answered: a number beside 000 means something else. */
	if (http.known && http.code == 0)
		return http;
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
