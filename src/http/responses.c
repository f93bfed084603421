#include "http/responses.h"

#include <stdint.h>
#include <string.h>
#include "http/framing.h"
#include "http/response_head.h"

/* Whether a line is "Name: value", without a blank before the colon. */
static bool
is_field(struct strview line)
{
	size_t name = 0;

	while (name < line.length && line.at[name] != ':') {
		if (strview_blank(line.at[name]))
			return false;
		name++;
	}
	return name > 0 && name < line.length;
}

/* Whether the last line of a text may be a status line that is cut off. */
static bool
may_be_status(struct strview line)
{
	static const char start[] = "HTTP/";

	return strview_starts(line, start) ||
	    strview_begins(strview_of(start), line);
}

/*
 * Whether a text is only heads, and the trailers that a head declares. The last
 * head must end in an empty line, unless the text is known to be cut off.
 */
static bool
only_heads(struct strview rest, bool cut)
{
	bool inside = false, trails = false;
	struct strview line;

	while (strview_line(&rest, &line)) {
		bool last = rest.length == 0;
		bool folded =
		    line.length > 0 && strview_blank(line.at[0]) && inside;

		if (response_head_code(line) >= 0) {
			inside = true;
			trails = false;
		} else if (inside && line.length == 0) {
			inside = false;
		} else if (!(inside || trails) || !(folded || is_field(line))) {
			return cut && last && (inside || may_be_status(line));
		}
		trails |= inside && framing_is_trailer(line);
	}
	return cut || !inside;
}

static bool
starts_head(struct strview text)
{
	struct strview line;

	return strview_line(&text, &line) && response_head_code(line) >= 0;
}

/* Whether a text starts with a head that has a field and an empty line. */
static bool
starts_whole_head(struct strview text)
{
	struct strview line;
	bool fields = false;

	if (!strview_line(&text, &line) || response_head_code(line) < 0)
		return false;
	while (strview_line(&text, &line) && response_head_code(line) < 0) {
		if (line.length == 0)
			return fields;
		fields |= is_field(line);
	}
	return false;
}

/* Cuts off the first final head of text, and the interim ones before it. */
static struct framing
read_final_head(struct strview *text)
{
	struct response unused = { .known = false };
	struct framing head;

	do
		head = framing_read(text, &unused);
	while (head.code < 200 && starts_head(*text));
	return head;
}

/*
 * Whether this head may be a proxy's answer to CONNECT (RFC 9110 section 9.3.6)
 * and rest starts with the head of the next response, not with a body that
 * quotes a head.
 */
static bool
answers_connect(const struct framing *framing, struct strview rest)
{
	struct framing next;

	if (framing->code >= 300 || framing->length >= 0 || framing->coded ||
	    framing->typed || !starts_whole_head(rest))
		return false;
	next = read_final_head(&rest);
	return framing->established ||
	    (framing->lasts && framing_complete(&next));
}

/*
 * Whether the head at the start of rest belongs to the request that the client
 * has sent after this redirect, 401 or 407. If the end of the body is unknown,
 * that head may be a quotation in the body. Behind a redirect without a Date it
 * counts even so: there, a quotation cannot turn an error into a success.
 */
static bool
answers_redirect(const struct framing *framing, struct strview rest)
{
	struct framing next;

	if (framing_tells_end(framing, rest))
		return true;
	next = read_final_head(&rest);
	if (framing_complete(&next) || next.established ||
	    (next.code < 300 && starts_head(rest)))
		return true;
	return framing->code < 400 && !framing->dated;
}

/*
 * Whether the head at the start of rest may follow this one directly: the
 * response has no body (RFC 9110 sections 15.2, 15.3.5, 15.3.6, 15.4.5); or it
 * is a redirect or asks for a password, and the client has sent the next
 * request without writing this body; or the response may be a proxy's answer to
 * CONNECT (section 9.3.6).
 */
static bool
may_precede_head(const struct framing *framing, struct strview rest)
{
	int code = framing->code;

	if (framing_bodiless(code) || code == 205 || framing->length == 0)
		return true;
	if (framing_renews(code))
		return answers_redirect(framing, rest);
	return answers_connect(framing, rest);
}

/*
 * Skips a body of known length, and empty lines behind the body. True if the
 * body is there: the text ends behind it, or a head starts behind it. Looks at
 * few bytes behind the body: many heads may give a length that ends in the same
 * place, and the time must stay linear.
 */
static bool
skip_body(struct strview *rest, const struct framing *framing)
{
	struct strview after, start;

	if (framing_bodiless(framing->code) ||
	    !framing_tells_end(framing, *rest) || framing->length == 0 ||
	    (uint64_t)framing->length > rest->length)
		return false;
	after = strview_after(*rest, (size_t)framing->length);
	for (int i = 0; i < 16 && after.length > 0 &&
	     (after.at[0] == '\r' || after.at[0] == '\n');
	     i++)
		after = strview_after(after, 1);
	start = after;
	if (start.length > 64)
		start.length = 64;
	if (after.length > 0 && !starts_head(start))
		return false;
	*rest = after;
	return true;
}

static void
skip_trailers(struct strview *rest)
{
	struct strview next = *rest, line;

	while (strview_line(&next, &line) && response_head_code(line) < 0 &&
	    is_field(line))
		*rest = next;
}

/*
 * Whether the heads in after are responses, and not a body of this one that
 * quotes them. There is nothing but heads in after. They are responses if the
 * body, whose end is known, is missing; if trailers are between rest and after;
 * or if the first of these heads has the fields that all servers send.
 */
static bool
shows_no_body(
    const struct framing *framing, struct strview rest, struct strview after)
{
	struct framing next;

	if (framing_tells_end(framing, rest) || after.length < rest.length)
		return true;
	next = read_final_head(&after);
	return framing_complete(&next);
}

/*
 * Moves rest to the next head. False if there is none: what follows is nothing,
 * or a body with an unknown end. *only is set once it is known that the whole
 * rest is heads.
 */
static bool
find_next(struct strview *rest, const struct framing *framing, bool *only)
{
	struct strview after = *rest;

	if (framing->cut)
		return true;
	if (skip_body(&after, framing)) {
		*rest = after;
		return after.length > 0;
	}
	if (starts_head(after) && may_precede_head(framing, after))
		return true;
	if (framing->trails)
		skip_trailers(&after);
	/* only_heads() reads all of the rest, so it is called once: if the rest
	 * is heads, each later rest is heads as well. */
	if (!starts_head(after) || !(*only || only_heads(after, false)))
		return false;
	if (!*only && !shows_no_body(framing, *rest, after))
		return false;
	*only = true;
	*rest = after;
	return true;
}

/* Reads the lines behind the last head, if all of them are fields. */
static void
read_trailers(struct strview rest, struct response *response)
{
	struct strview look = rest, line;

	while (strview_line(&look, &line)) {
		if (!is_field(line))
			return;
	}
	while (strview_line(&rest, &line))
		response_head_take(
		    line, RESPONSE_HEAD_AFTER, &response->fields);
}

static struct strview
skip_empty(struct strview rest)
{
	struct strview next = rest, line;

	while (strview_line(&next, &line) && line.length == 0)
		rest = next;
	return rest;
}

bool
responses_start(struct strview all)
{
	return starts_head(skip_empty(all));
}

bool
responses_only(struct strview start)
{
	return only_heads(skip_empty(start), true);
}

bool
responses_whole(struct strview all)
{
	return starts_whole_head(skip_empty(all));
}

bool
responses_read(struct strview all, struct response *response)
{
	struct strview rest = skip_empty(all);
	struct framing framing = { .code = 0 };
	bool only = false;

	if (!starts_head(rest))
		return false;
	do {
		int before = framing.code;

		framing = framing_read(&rest, response);
		/* The 407 before this response came from a proxy. */
		framing.established |= before == 407;
	} while (find_next(&rest, &framing, &only));
	if (framing.code >= 200)
		read_trailers(rest, response);
	return true;
}

int64_t
responses_next(struct strview start)
{
	struct strview rest = skip_empty(start), head, body;
	struct response unused = { .known = false };
	struct framing framing;
	bool only = false;
	int64_t at;

	if (!starts_head(rest))
		return 0;
	do {
		head = rest;
		framing = framing_read(&rest, &unused);
		body = rest;
	} while (find_next(&rest, &framing, &only));
	if (!framing.ended)
		return head.at - start.at;
	at = body.at - start.at;
	if (framing_bodiless(framing.code) ||
	    !framing_tells_end(&framing, body) ||
	    framing.length > INT64_MAX - at)
		return 0;
	at += framing.length;
	if ((uint64_t)at >= start.length)
		return at;
	/* No whole status line is behind the body, but start may end within
	 * one. */
	rest = skip_empty(strview_after(start, (size_t)at));
	return rest.length > 0 && memchr(rest.at, '\n', rest.length) ? 0 : at;
}
