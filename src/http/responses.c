#include "http/responses.h"

#include <stdint.h>
#include <string.h>
#include "http/response_head.h"
#include "text/number.h"

/* What a head says of the body behind it. */
struct framing {
	int code;
	int64_t length; /* of the body; below 0: unknown */
	bool coded, typed; /* there is a Transfer-Encoding, a Content-Type */
	bool trails; /* there is a Trailer */
	bool cut; /* the next head ends it, not an empty line */
};

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

static bool
is_trailer_field(struct strview line)
{
	return strview_starts(line, "Trailer:");
}

/* Whether a line that is cut off may be the start of a status line. */
static bool
may_be_status(struct strview line)
{
	static const char start[] = "HTTP/";

	return strview_starts(line, start) ||
	    strview_begins(strview_of(start), line);
}

/*
 * Whether a text is only heads, and trailers where a head declares them. The
 * last head must be whole, unless the text is known to be cut off.
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
		trails |= inside && is_trailer_field(line);
	}
	return cut || !inside;
}

/* Notes a field that says something of the body. */
static void
note(struct framing *framing, struct strview line)
{
	static const char length[] = "Content-Length:";
	struct strview value;

	framing->coded |= strview_starts(line, "Transfer-Encoding:");
	framing->typed |= strview_starts(line, "Content-Type:");
	framing->trails |= is_trailer_field(line);
	if (!strview_starts(line, length))
		return;
	value = strview_trim(strview_after(line, strlen(length)));
	if (!number_whole(value.at, value.length, &framing->length))
		framing->length = -1;
}

/* Cuts off the head with which rest starts. */
static struct framing
read_head(struct strview *rest, struct response *response)
{
	struct framing framing = { .code = 0, .length = -1 };
	enum response_head_place place;
	struct strview line;

	strview_line(rest, &line);
	framing.code = response_head_code(line);
	place = response_head_begin(response, framing.code);
	while (rest->length > 0) {
		struct strview next = *rest;

		strview_line(&next, &line);
		framing.cut = response_head_code(line) >= 0;
		if (framing.cut)
			break;
		*rest = next;
		if (line.length == 0)
			break;
		response_head_unfold(&line, rest);
		note(&framing, line);
		response_head_take(line, place, &response->fields);
	}
	return framing;
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

/*
 * Whether the next head may follow this one at once: the response has no body
 * (RFC 9110 sections 15.2, 15.3.5, 15.3.6, 15.4.5); or it is a redirect or asks
 * for a password, and clients go on without showing its body; or it may be a
 * proxy's answer to CONNECT (section 9.3.6).
 */
static bool
may_precede_head(const struct framing *framing, struct strview rest)
{
	int code = framing->code;

	if (code < 200 || (code >= 300 && code < 400) || framing->length == 0)
		return true;
	if (code == 204 || code == 205 || code == 401 || code == 407)
		return true;
	return code < 300 && framing->length < 0 && !framing->coded &&
	    !framing->typed && starts_whole_head(rest);
}

/*
 * Skips a body whose length is known, and empty lines behind it. False if the
 * text is shorter, or if what follows is not a head.
 */
static bool
skip_body(struct strview *rest, const struct framing *framing)
{
	struct strview after;

	if (framing->length <= 0 || (uint64_t)framing->length > rest->length)
		return false;
	after = strview_after(*rest, (size_t)framing->length);
	while (after.length > 0 && (after.at[0] == '\r' || after.at[0] == '\n'))
		after = strview_after(after, 1);
	if (after.length > 0 && !starts_head(after))
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
 * Moves rest to the next head. False if nothing follows, or a body whose end
 * cannot be known.
 */
static bool
find_next(struct strview *rest, const struct framing *framing, bool *only)
{
	struct strview after = *rest;

	if (framing->cut)
		return true;
	if (starts_head(after) && may_precede_head(framing, after))
		return true;
	if (skip_body(&after, framing)) {
		*rest = after;
		return after.length > 0;
	}
	if (framing->trails)
		skip_trailers(&after);
	/* Checked once: if all of rest is heads, each later part of it is. */
	if (!starts_head(after) || !(*only || only_heads(after, false)))
		return false;
	*only = true;
	*rest = after;
	return true;
}

/* Reads what is behind the last head, if that is only fields. */
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
	struct framing framing;
	bool only = false;

	if (!starts_head(rest))
		return false;
	do {
		framing = read_head(&rest, response);
	} while (find_next(&rest, &framing, &only));
	if (framing.code >= 200)
		read_trailers(rest, response);
	return true;
}
