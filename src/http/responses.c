#include "http/responses.h"

#include <stdint.h>
#include <string.h>
#include "http/response_head.h"
#include "text/number.h"

/* What a head says of what is behind it. */
struct behind {
	int code;
	int64_t length; /* of the body; less than 0: not told */
	bool coded, typed; /* there is a Transfer-Encoding, a Content-Type */
	bool trails; /* there is a Trailer */
	bool cut; /* no empty line ends it, but the next head */
};

/* Whether a line is "Name: value" and no sentence with a colon in it. */
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

/* Whether a line that is cut off may be, or become, a status line. */
static bool
may_be_status(struct strview line)
{
	static const char start[] = "HTTP/";

	return strview_starts(line, start) ||
	    strview_begins(strview_of(start), line);
}

/*
 * Whether it is heads, and trailers where they were declared, and nothing else.
 * The last one is whole, unless the text is known to be cut off.
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

/* A field that says what is behind the head. */
static void
note(struct behind *behind, struct strview line)
{
	static const char length[] = "Content-Length:";
	struct strview value;

	behind->coded |= strview_starts(line, "Transfer-Encoding:");
	behind->typed |= strview_starts(line, "Content-Type:");
	behind->trails |= is_trailer_field(line);
	if (!strview_starts(line, length))
		return;
	value = strview_trim(strview_after(line, strlen(length)));
	if (!number_whole(value.at, value.length, &behind->length))
		behind->length = -1;
}

/* Cuts the head that rest starts with off it. */
static struct behind
read_head(struct strview *rest, struct response *response)
{
	struct behind behind = { .code = 0, .length = -1 };
	enum response_head_place place;
	struct strview line;

	strview_line(rest, &line);
	behind.code = response_head_code(line);
	place = response_head_begin(response, behind.code);
	while (rest->length > 0) {
		struct strview next = *rest;

		strview_line(&next, &line);
		behind.cut = response_head_code(line) >= 0;
		if (behind.cut)
			break;
		*rest = next;
		if (line.length == 0)
			break;
		response_head_unfold(&line, rest);
		note(&behind, line);
		response_head_take(line, place, &response->fields);
	}
	return behind;
}

static bool
starts_head(struct strview text)
{
	struct strview line;

	return strview_line(&text, &line) && response_head_code(line) >= 0;
}

/* Whether it starts with a head that has a field and an empty line. */
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
 * Whether another head may follow one at once, although a body may come in the
 * end: it has no body (RFC 9110 sections 15.2, 15.3.5, 15.3.6, 15.4.5), it is
 * a redirect or asks for a password, and the client goes on without showing its
 * body, or it may be how a proxy answers CONNECT (section 9.3.6).
 */
static bool
explains(const struct behind *behind, struct strview rest)
{
	int code = behind->code;

	if (code < 200 || (code >= 300 && code < 400) || behind->length == 0)
		return true;
	if (code == 204 || code == 205 || code == 401 || code == 407)
		return true;
	return code < 300 && behind->length < 0 && !behind->coded &&
	    !behind->typed && starts_whole_head(rest);
}

/*
 * Passes over a body whose length is told, and empty lines behind it. True
 * where it is there: it ends with the text, or where a head starts.
 */
static bool
pass_body(struct strview *rest, const struct behind *behind)
{
	struct strview after;

	if (behind->length <= 0 || (uint64_t)behind->length > rest->length)
		return false;
	after = strview_after(*rest, (size_t)behind->length);
	while (after.length > 0 && (after.at[0] == '\r' || after.at[0] == '\n'))
		after = strview_after(after, 1);
	if (after.length > 0 && !starts_head(after))
		return false;
	*rest = after;
	return true;
}

static void
pass_trailers(struct strview *rest)
{
	struct strview next = *rest, line;

	while (strview_line(&next, &line) && response_head_code(line) < 0 &&
	    is_field(line))
		*rest = next;
}

/*
 * Finds the head behind another, at the start of rest then. False where what
 * follows is a body, of which nobody knows where it ends, or nothing.
 */
static bool
find_next(struct strview *rest, const struct behind *behind, bool *only)
{
	struct strview after = *rest;

	if (behind->cut)
		return true;
	if (starts_head(after) && explains(behind, after))
		return true;
	if (pass_body(&after, behind)) {
		*rest = after;
		return after.length > 0;
	}
	if (behind->trails)
		pass_trailers(&after);
	/* Looked for once: what holds of all holds of each part. */
	if (!starts_head(after) || !(*only || only_heads(after, false)))
		return false;
	*only = true;
	*rest = after;
	return true;
}

/* What is behind the last head: trailers, if it is nothing but fields. */
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

/* Without the empty lines that it starts with. */
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
	struct behind behind;
	bool only = false;

	if (!starts_head(rest))
		return false;
	do {
		behind = read_head(&rest, response);
	} while (find_next(&rest, &behind, &only));
	if (behind.code >= 200)
		read_trailers(rest, response);
	return true;
}
