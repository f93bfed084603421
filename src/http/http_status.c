#include "http/http_status.h"

#include <string.h>
#include "text/date.h"
#include "text/number.h"
#include "text/strview.h"

/*
 * Fields that name a wait, and their sources:
 *
 *	retry-after		RFC 9110 section 10.2.3
 *	retry-after-ms		the same in milliseconds, from API gateways
 *	x-ms-retry-after-ms	the same in milliseconds, from Azure
 *	x-amz-retry-after	the same in milliseconds, from AWS
 *	grpc-retry-pushback-ms	gRPC proposal A6, "Pushback"
 *	ratelimit		draft-ietf-httpapi-ratelimit-headers
 *	ratelimit-reset		that draft up to 06, with ratelimit-remaining
 *	x-ratelimit-reset	GitHub and others, with x-ratelimit-remaining
 *	date			RFC 9110 section 6.6.1: dates are relative to it
 */

enum field {
	FIELD_DATE,
	FIELD_RETRY_AFTER,
	FIELD_RETRY_AFTER_MS,
	FIELD_X_MS_RETRY_AFTER_MS,
	FIELD_X_AMZ_RETRY_AFTER,
	FIELD_PUSHBACK,
	FIELD_RATELIMIT,
	FIELD_REMAINING, /* each is before its reset */
	FIELD_RESET,
	FIELD_X_REMAINING,
	FIELD_X_RESET,
	FIELD_COUNT
};

/* A date with a year of two digits is one near to this, in the year 2027. */
#define RECENT INT64_C(1800000000)

/* The fields of one response. The views point into the text that was read. */
struct fields {
	struct strview values[FIELD_COUNT]; /* the first of each */
	struct retry_after sum; /* of all, but its wait not of the dates */
	int64_t latest; /* of the dates in Retry-After, in Unix time */
	bool exhausted; /* a RateLimit says that nothing is left */
	nanos reset; /* the longest wait that an exhausted RateLimit names */
};

/* From these values on a reset is a moment in Unix time, not a length of time.
 */
#define EPOCH_SECONDS INT64_C(1000000000)
#define EPOCH_MS INT64_C(1000000000000)

static const char field_names[FIELD_COUNT][24] = {
	[FIELD_DATE] = "date",
	[FIELD_RETRY_AFTER] = "retry-after",
	[FIELD_RETRY_AFTER_MS] = "retry-after-ms",
	[FIELD_X_MS_RETRY_AFTER_MS] = "x-ms-retry-after-ms",
	[FIELD_X_AMZ_RETRY_AFTER] = "x-amz-retry-after",
	[FIELD_PUSHBACK] = "grpc-retry-pushback-ms",
	[FIELD_RATELIMIT] = "ratelimit",
	[FIELD_REMAINING] = "ratelimit-remaining",
	[FIELD_RESET] = "ratelimit-reset",
	[FIELD_X_REMAINING] = "x-ratelimit-remaining",
	[FIELD_X_RESET] = "x-ratelimit-reset",
};

/* The field with that name, in upper or lower case; FIELD_COUNT: any other. */
static enum field
find_field(struct strview name)
{
	int field = 0;

	while (field < FIELD_COUNT && !strview_is(name, field_names[field]))
		field++;
	return (enum field)field;
}

/* Reads a decimal number, and rounds it up to a whole one. */
static bool
read_number(struct strview value, int64_t *number)
{
	return value.length > 0 &&
	    number_decimal(value.at, value.length, 1, number, NULL);
}

static bool
is_zero(struct strview value)
{
	int64_t number;

	return read_number(value, &number) && number == 0;
}

/*
 * The new form has all in one member of the list, "burst";r=0;t=5. The old form
 * has two members, remaining=0 and reset=5.
 */
static void
add_ratelimit(struct fields *fields, struct strview list)
{
	struct strview member, remaining = { NULL, 0 }, reset = { NULL, 0 };
	int64_t number;

	while (strview_cut(&list, ',', &member)) {
		struct strview value, key;

		if (member.length > 0 &&
		    memchr(member.at, ';', member.length) != NULL)
			remaining = reset = (struct strview){ NULL, 0 };
		while (strview_cut(&member, ';', &value)) {
			key = strview_trim(strview_part(&value, '='));
			value = strview_trim(value);
			if (strview_is(key, "r") ||
			    strview_is(key, "remaining"))
				remaining = value;
			else if (strview_is(key, "t") ||
			    strview_is(key, "reset"))
				reset = value;
		}
		if (!is_zero(remaining) || reset.length == 0)
			continue;
		if (read_number(reset, &number)) {
			fields->reset = number_greater(fields->reset,
			    number_multiply(number, NANOS_SECOND));
			fields->exhausted = true;
		} else {
			fields->sum.doubtful = true;
		}
	}
}

/* Adds a date. False if text is none. */
static bool
add_date(struct fields *fields, struct strview text)
{
	int64_t moment;

	if (!date_parse(text, RECENT, &moment))
		return false;
	fields->sum.given = true;
	fields->latest = number_greater(fields->latest, moment);
	return true;
}

/*
 * Adds a field of the response. FIELD_COUNT and a field without a value are
 * ignored. Of a Date, a Remaining or a Reset that is repeated the first one
 * counts. Each of the others may be a list, in one field or in several (RFC
 * 9110 section 5.3), and all items count.
 */
static void
add_value(struct fields *fields, enum field field, struct strview value)
{
	nanos unit = field == FIELD_RETRY_AFTER ? NANOS_SECOND : NANOS_MS;
	struct retry_after *sum = &fields->sum;
	struct strview item, more;
	int64_t number;

	value = strview_trim(value);
	if (field == FIELD_COUNT || value.length == 0)
		return;
	if (fields->values[field].length == 0)
		fields->values[field] = value;
	if (field == FIELD_RATELIMIT)
		add_ratelimit(fields, value);
	if (field < FIELD_RETRY_AFTER || field > FIELD_PUSHBACK)
		return;
	/* These are lists. */
	while (strview_cut(&value, ',', &item)) {
		struct strview rest = value;

		if (read_number(item, &number)) {
			sum->wait = number_greater(
			    sum->wait, number_multiply(number, unit));
			sum->given = true;
		} else if (field == FIELD_PUSHBACK) {
			/* gRPC A6: negative or no number, it is a refusal. */
			sum->never = true;
		} else if (field != FIELD_RETRY_AFTER) {
			sum->doubtful |= item.length > 0;
		} else if (item.length > 0 && !add_date(fields, item)) {
			/* Most dates have a comma themselves. */
			if (strview_cut(&rest, ',', &more))
				item.length =
				    (size_t)(more.at - item.at) + more.length;
			if (add_date(fields, item))
				value = rest;
			else
				sum->doubtful = true;
		}
	}
}

/*
 * What the fields say together. Of several waits the longest counts. RateLimit
 * and the resets count only if none of the other fields names a wait, because
 * in the draft Retry-After takes precedence. now is in nanoseconds of Unix
 * time; dates are relative to now if there is no valid Date.
 *
 * Fractions of seconds and milliseconds are rounded up; a date in the past is
 * 0; a wait that is too long saturates at NANOS_MAX. A reset counts if
 * remaining is 0. It is a number of seconds below 1e9, a moment in seconds of
 * Unix time from 1e9 on, and a moment in milliseconds from 1e12 on. A negative
 * or malformed value is ignored and sets doubtful; but a negative or malformed
 * pushback means never (A6).
 */
static struct retry_after
read_waits(const struct fields *fields, nanos now)
{
	const struct strview *values = fields->values;
	int64_t second = now / NANOS_SECOND, from, number;
	struct retry_after result = fields->sum;

	if (!date_parse(values[FIELD_DATE], second, &from))
		from = second;
	result.wait =
	    number_greater(result.wait, date_until(from, fields->latest));
	if (result.given)
		return result;
	if (fields->exhausted) {
		result.wait = fields->reset;
		result.given = true;
	}
	for (int field = FIELD_REMAINING; field <= FIELD_X_REMAINING;
	     field += 2) {
		struct strview reset = values[field + 1];
		nanos wait;

		if (!is_zero(values[field]) || reset.length == 0)
			continue;
		if (!read_number(reset, &number) &&
		    date_read(reset, from, &number) != reset.length) {
			result.doubtful = true;
			continue;
		}
		if (number >= EPOCH_MS)
			number = number / 1000 + (number % 1000 > 0);
		wait = number < EPOCH_SECONDS
		    ? number_multiply(number, NANOS_SECOND)
		    : date_until(from, number);
		result.wait = number_greater(result.wait, wait);
		result.given = true;
	}
	return result;
}

/* What is known of one response. */
struct response {
	bool bodied; /* the head describes a body */
	int code; /* 0: curl's 000, no response; -1: unknown */
	struct fields fields;
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
	field = find_field(name);
	response->bodied |= (strview_is(name, "content-length") ||
				strview_is(name, "content-type") ||
				strview_is(name, "transfer-encoding")) &&
	    !strview_is(strview_trim(line), "0");
	if (!trailer || field == FIELD_PUSHBACK)
		add_value(&response->fields, field, line);
}

/* Cuts off rest the head at its start, which begins with a status line. */
static struct response
read_head(struct strview *rest)
{
	struct response head = { 0 };
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
 * False if there is no head; then the response is untouched.
 */
static bool
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
		} else if (!dump && (line.length > 0 || head.code >= 0)) {
			break;
		} else if (head.code >= 200) {
			add_field(response, line, &rest, true);
		}
	}
	return head.code >= 0;
}

/*
 * What -w writes
 */

/* Reads the last line that is not blank. False if it has no code. */
static bool
read_last_line(struct strview rest, struct response *response)
{
	struct strview line = { NULL, 0 }, next, code;
	struct response read = { 0 };
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
	add_value(&read.fields, FIELD_RETRY_AFTER, line);
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
 * a list; of several transfers the last ones count.
 */
static void
read_json(struct strview rest, struct response *response)
{
	struct strview text, key = { NULL, 0 };
	struct fields fields = { 0 };
	bool list = false, listed = false;
	int64_t number;
	char token;

	do {
		token = next_token(&rest, &text);
		if (token == '[' || token == ']') {
			list = token == '[';
		} else if (token == '"' && list) {
			add_value(&fields, find_field(key), text);
			listed = true;
		} else if (token == '"') {
			key = text;
		} else if (token != '}' && token != '\0') {
			if ((strview_is(key, "http_code") ||
				strview_is(key, "response_code")) &&
			    number_whole(text.at, text.length, &number) &&
			    number < 1000)
				response->code = (int)number;
		} else {
			if (listed)
				response->fields = fields;
			fields = (struct fields){ 0 };
			listed = false;
		}
	} while (token != '\0');
}

struct http_status
http_status_parse(const char *bytes, size_t length, bool dump, nanos now)
{
	struct strview all = { bytes, length }, text = strview_trim(all);
	struct response response = { .code = -1 };
	struct http_status http = { 0 };

	if (!read_heads(all, dump, &response) && !dump &&
	    !read_last_line(text, &response) && strview_starts(text, "{"))
		read_json(text, &response);
	http.code = response.code;
	/* No server has answered: a number beside 000 means something else. */
	if (http.code != 0)
		http.after = read_waits(&response.fields, now);
	return http;
}

enum http_status_meaning
http_status_judge(const struct http_status *http)
{
	int code = http->code;
	bool retry = code >= 500;

	if (code < 400)
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
