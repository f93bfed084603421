#include "http/http_status.h"

#include <stdio.h>
#include <string.h>
#include "text/date.h"
#include "text/escape.h"
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
 *
 * Fields that say whether the server wants a retry, true or false:
 *
 *	x-should-retry		Anthropic, OpenAI; their clients obey it
 *	stripe-should-retry	Stripe, likewise
 */

enum field {
	FIELD_DATE,
	FIELD_REMAINING, /* each is before its reset */
	FIELD_RESET,
	FIELD_X_REMAINING,
	FIELD_X_RESET,
	FIELD_RETRY_AFTER, /* those before it are kept until the head ends */
	FIELD_RETRY_AFTER_MS,
	FIELD_X_MS_RETRY_AFTER_MS,
	FIELD_X_AMZ_RETRY_AFTER,
	FIELD_PUSHBACK,
	FIELD_RATELIMIT,
	FIELD_SHOULD_RETRY,
	FIELD_STRIPE_SHOULD_RETRY,
	FIELD_COUNT
};

_Static_assert(FIELD_RETRY_AFTER == HTTP_KEPT, "fields that are kept");

/* A date with a year of two digits is one near to this, in the year 2027. */
#define RECENT INT64_C(1800000000)

/* From these values on a number of seconds is a moment in Unix time, not a
 * length of time. */
#define EPOCH_SECONDS INT64_C(1000000000)
#define EPOCH_MS INT64_C(1000000000000)

static const char field_names[FIELD_COUNT][24] = {
	[FIELD_DATE] = "Date",
	[FIELD_REMAINING] = "RateLimit-Remaining",
	[FIELD_RESET] = "RateLimit-Reset",
	[FIELD_X_REMAINING] = "X-RateLimit-Remaining",
	[FIELD_X_RESET] = "X-RateLimit-Reset",
	[FIELD_RETRY_AFTER] = "Retry-After",
	[FIELD_RETRY_AFTER_MS] = "Retry-After-Ms",
	[FIELD_X_MS_RETRY_AFTER_MS] = "X-Ms-Retry-After-Ms",
	[FIELD_X_AMZ_RETRY_AFTER] = "X-Amz-Retry-After",
	[FIELD_PUSHBACK] = "Grpc-Retry-Pushback-Ms",
	[FIELD_RATELIMIT] = "RateLimit",
	[FIELD_SHOULD_RETRY] = "X-Should-Retry",
	[FIELD_STRIPE_SHOULD_RETRY] = "Stripe-Should-Retry",
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

/* A value of this field is malformed. The first one is shown. */
static void
doubt(struct retry_after *after, enum field field, struct strview value)
{
	size_t most = sizeof after->doubt - sizeof "...";
	size_t shown = escape_cut(value.at, value.length, most);

	if (after->doubtful != NULL)
		return;
	snprintf(after->doubt, sizeof after->doubt, "%.*s%s", (int)shown,
	    value.at, shown < value.length ? "..." : "");
	after->doubtful = field_names[field];
}

/*
 * The new form has all in one member of the list, "burst";r=0;t=5. The old form
 * has two members, remaining=0 and reset=5.
 */
static void
add_ratelimit(struct http_fields *fields, struct strview list)
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
			doubt(&fields->sum, FIELD_RATELIMIT, reset);
		}
	}
}

/* Keeps a value, unless there is one. None that makes sense is too long. */
static void
keep(struct http_value *kept, struct strview value)
{
	if (kept->length > 0 || value.length > sizeof kept->bytes)
		return;
	memcpy(kept->bytes, value.at, value.length);
	kept->length = value.length;
}

static struct strview
kept(const struct http_fields *fields, int field)
{
	const struct http_value *value = &fields->kept[field];

	return (struct strview){ value->bytes, value->length };
}

/* Whether a number of seconds is a moment. If it is in milliseconds, makes it
 * one in seconds. */
static bool
is_moment(int64_t *number)
{
	if (*number >= EPOCH_MS)
		*number = *number / 1000 + (*number % 1000 > 0);
	return *number >= EPOCH_SECONDS;
}

static void
add_moment(struct http_fields *fields, int64_t moment)
{
	if (!fields->dated || fields->latest < moment)
		fields->latest = moment;
	fields->sum.given = fields->dated = true;
}

/* Adds a date. False if text is none. */
static bool
add_date(struct http_fields *fields, struct strview text)
{
	int64_t moment;

	if (!date_parse(text, RECENT, &moment))
		return false;
	add_moment(fields, moment);
	return true;
}

/*
 * Adds a field of the response. FIELD_COUNT and a field without a value are
 * ignored. Of a Date, a Remaining or a Reset that is repeated the first one
 * counts. Each of the others may be a list, in one field or in several (RFC
 * 9110 section 5.3), and all items count.
 */
static void
add_value(struct http_fields *fields, enum field field, struct strview value)
{
	nanos unit = field == FIELD_RETRY_AFTER ? NANOS_SECOND : NANOS_MS;
	struct retry_after *sum = &fields->sum;
	struct strview item, more;
	int64_t number;

	value = strview_trim(value);
	if (field == FIELD_COUNT || value.length == 0)
		return;
	if (field < HTTP_KEPT) {
		keep(&fields->kept[field], value);
		return;
	}
	if (field == FIELD_RATELIMIT) {
		add_ratelimit(fields, value);
		return;
	}
	if (field >= FIELD_SHOULD_RETRY) {
		if (strview_is(value, "false"))
			sum->never = true;
		else if (strview_is(value, "true"))
			sum->wanted = true;
		else
			doubt(sum, field, value);
		return;
	}
	/* These are lists. */
	while (strview_cut(&value, ',', &item)) {
		struct strview rest = value;

		if (read_number(item, &number) && field == FIELD_RETRY_AFTER &&
		    is_moment(&number)) {
			add_moment(fields, number);
		} else if (read_number(item, &number)) {
			sum->wait = number_greater(
			    sum->wait, number_multiply(number, unit));
			sum->given = true;
		} else if (field == FIELD_PUSHBACK) {
			/* gRPC A6: negative or no number, it is a refusal. */
			sum->never = true;
		} else if (field != FIELD_RETRY_AFTER) {
			if (item.length > 0)
				doubt(sum, field, item);
		} else if (item.length > 0 && !add_date(fields, item)) {
			/* Most dates have a comma themselves. */
			if (strview_cut(&rest, ',', &more))
				item.length =
				    (size_t)(more.at - item.at) + more.length;
			if (add_date(fields, item))
				value = rest;
			else
				doubt(sum, field, item);
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
 * remaining is 0. As Retry-After it is a number of seconds below 1e9, a moment
 * in seconds of Unix time from 1e9 on, and a moment in milliseconds from 1e12
 * on. A negative or malformed value is ignored and sets doubtful; but a
 * negative or malformed pushback means never (A6).
 */
static struct retry_after
read_waits(const struct http_fields *fields, nanos now)
{
	int64_t second = now / NANOS_SECOND, from, number;
	struct retry_after result = fields->sum;

	if (!date_parse(kept(fields, FIELD_DATE), second, &from))
		from = second;
	if (fields->dated)
		result.wait = number_greater(
		    result.wait, date_until(from, fields->latest));
	if (result.given)
		return result;
	if (fields->exhausted) {
		result.wait = fields->reset;
		result.given = true;
	}
	for (int i = FIELD_REMAINING; i <= FIELD_X_REMAINING; i += 2) {
		struct strview reset = kept(fields, i + 1);
		nanos wait;

		if (!is_zero(kept(fields, i)) || reset.length == 0)
			continue;
		if (!read_number(reset, &number) &&
		    !date_parse(reset, from, &number)) {
			doubt(&result, (enum field)(i + 1), reset);
			continue;
		}
		wait = is_moment(&number)
		    ? date_until(from, number)
		    : number_multiply(number, NANOS_SECOND);
		result.wait = number_greater(result.wait, wait);
		result.given = true;
	}
	return result;
}

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

/* Notes the waits of heads to several URLs that have all ended. */
static void
note_waits(struct http_reader *reader)
{
	struct http_waits *waits = &reader->waits;
	struct retry_after after = read_waits(&waits->fields, reader->now);

	if (waits->code >= 400 && after.given) {
		waits->longest = number_greater(waits->longest, after.wait);
		waits->given = true;
	}
	waits->fields = (struct http_fields){ 0 };
	waits->code = waits->open = 0;
}

/* Adds a header line; any line but "Name: value" is ignored. */
static void
add_field(struct http_reader *reader, struct strview line)
{
	struct http_response *response = &reader->response;
	struct strview name = strview_part(&line, ':');
	enum field field = find_field(name);

	line = strview_trim(line);
	if (reader->waits.open > 0 && reader->length < sizeof reader->line)
		add_value(&reader->waits.fields, field, line);
	response->bodied |= (strview_is(name, "content-length") ||
				strview_is(name, "content-type") ||
				strview_is(name, "transfer-encoding")) &&
	    !strview_is(line, "0");
	if (!reader->inside && field != FIELD_PUSHBACK)
		return;
	if (reader->length < sizeof reader->line)
		add_value(&response->fields, field, line);
	else if (field >= HTTP_KEPT && field < FIELD_COUNT)
		doubt(&response->fields.sum, field, line);
}

/* Whether another head may be directly behind this one, and no body. */
static bool
is_bodiless(const struct http_reader *reader)
{
	int code = reader->response.code;

	return reader->interim || (code < 300 && !reader->response.bodied) ||
	    (code >= 300 && code < 400) || code == 401 || code == 407;
}

/*
 * Reads a line, and those that continue it. last: the text ends behind it, so
 * it may be cut off.
 */
static void
take_line(struct http_reader *reader, bool last)
{
	struct strview line = { reader->line, reader->length };
	struct strview protocol = strview_of("HTTP/");
	int code;

	if (line.length > 0 && line.at[line.length - 1] == '\n')
		line.length--;
	if (line.length > 0 && line.at[line.length - 1] == '\r')
		line.length--;
	code = read_status_line(line);
	if (line.length > 0 && code < 0 &&
	    !(reader->begun && (is_field(line) || strview_blank(line.at[0]))) &&
	    !(last &&
		(reader->inside || strview_begins(line, protocol) ||
		    strview_begins(protocol, line))))
		reader->mixed = true;
	if (reader->begun && !reader->body &&
	    !(code < 0 ? reader->inside : is_bodiless(reader))) {
		reader->body = true;
		reader->first = reader->response;
	}
	if (code >= 0) {
		reader->begun = reader->inside = true;
		reader->interim = code < 200;
		if (reader->form == HTTP_FORM_SEVERAL) {
			reader->waits.open++;
			if (reader->waits.code < code)
				reader->waits.code = code;
		}
		if (!reader->interim)
			reader->response =
			    (struct http_response){ .code = code };
	} else if (line.length == 0) {
		reader->inside = false;
		if (reader->waits.open > 0 && --reader->waits.open == 0)
			note_waits(reader);
	} else if (reader->begun && !reader->interim) {
		add_field(reader, line);
	}
}

/* Whether the line that was read last is empty. */
static bool
is_empty(const struct http_reader *reader)
{
	return reader->line[0] == '\n' ||
	    (reader->line[0] == '\r' && reader->line[1] == '\n');
}

/* Whether no line that follows can change what has been read. */
static bool
is_over(const struct http_reader *reader)
{
	return reader->form == HTTP_FORM_ANY && reader->mixed &&
	    (reader->body || !reader->begun);
}

void
http_status_begin(struct http_reader *reader, enum http_form form, nanos now)
{
	*reader = (struct http_reader){
		.form = form, .now = now, .response.code = -1
	};
}

bool
http_status_add(struct http_reader *reader, const char *bytes, size_t length)
{
	struct strview rest = { bytes, length };

	while (rest.length > 0 && !is_over(reader)) {
		const char *end = memchr(rest.at, '\n', rest.length);
		size_t part =
		    end == NULL ? rest.length : (size_t)(end + 1 - rest.at);
		size_t room = sizeof reader->line - reader->length;
		size_t fit = part < room ? part : room;

		/* A line that starts with a blank belongs to the one before it
		 * (obsolete line folding, RFC 9112 section 5.2). */
		if (reader->ended &&
		    (is_empty(reader) ||
			(rest.at[0] != ' ' && rest.at[0] != '\t'))) {
			if (room > 0)
				take_line(reader, false);
			reader->length = 0;
			reader->ended = false;
			continue;
		}
		/* Of a long line the beginning is taken at once, for it may
		 * have no end. */
		if (room > 0) {
			memcpy(reader->line + reader->length, rest.at, fit);
			reader->length += fit;
			if (fit == room)
				take_line(reader, false);
		}
		reader->ended = end != NULL;
		rest = strview_after(rest, part);
	}
	return !is_over(reader);
}

/*
 * What -w writes
 */

/* Reads the last line that is not blank. False if it has no code. */
static bool
read_last_line(struct strview rest, struct http_response *response)
{
	struct strview line = { NULL, 0 }, next, code;
	struct http_response read = { 0 };
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
read_json(struct strview rest, struct http_response *response)
{
	struct strview text, key = { NULL, 0 };
	struct http_fields fields = { 0 };
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
			fields = (struct http_fields){ 0 };
			listed = false;
		}
	} while (token != '\0');
}

struct http_status
http_status_end(struct http_reader *reader, const char *end, size_t length)
{
	bool any = reader->form == HTTP_FORM_ANY;
	struct strview text = strview_trim((struct strview){ end, length });
	struct http_status http = { 0 };
	struct http_response response;

	if (reader->length > 0 && reader->length < sizeof reader->line)
		take_line(reader, true);
	response = any && reader->body && reader->mixed ? reader->first
							: reader->response;
	if (any && !reader->begun && !read_last_line(text, &response) &&
	    strview_starts(text, "{"))
		read_json(text, &response);
	http.code = response.code;
	/* No server has answered: a number beside 000 means something else. */
	if (http.code != 0)
		http.after = read_waits(&response.fields, reader->now);
	if (reader->waits.open > 0)
		note_waits(reader);
	if (reader->waits.given) {
		http.after.given = true;
		http.after.wait =
		    number_greater(http.after.wait, reader->waits.longest);
	}
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
	return (retry || http->after.wanted) && !http->after.never
	    ? HTTP_STATUS_SAYS_RETRY
	    : HTTP_STATUS_SAYS_STOP;
}
