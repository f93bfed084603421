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
is_field(struct text line)
{
	size_t name = 0;

	while (name < line.length && line.at[name] != ':') {
		if (text_blank(line.at[name]))
			return false;
		name++;
	}
	return name > 0 && name < line.length;
}

static bool
is_trailer_field(struct text line)
{
	return text_starts(line, "Trailer:");
}

/* Whether a line that is cut off may be, or become, a status line. */
static bool
may_be_status(struct text line)
{
	static const char start[] = "HTTP/";

	return text_starts(line, start) || text_begins(text_of(start), line);
}

/*
 * Whether it is heads, and trailers where they were declared, and nothing else.
 * The last one is whole, unless the text is known to be cut off.
 */
static bool
only_heads(struct text rest, bool cut)
{
	bool inside = false, trails = false;
	struct text line;

	while (text_line(&rest, &line)) {
		bool last = rest.length == 0;
		bool folded =
		    line.length > 0 && text_blank(line.at[0]) && inside;

		if (head_code(line) >= 0) {
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
note(struct behind *behind, struct text line)
{
	static const char length[] = "Content-Length:";
	struct text value;

	behind->coded |= text_starts(line, "Transfer-Encoding:");
	behind->typed |= text_starts(line, "Content-Type:");
	behind->trails |= is_trailer_field(line);
	if (!text_starts(line, length))
		return;
	value = text_trim(text_after(line, strlen(length)));
	if (!number_whole(value.at, value.length, &behind->length))
		behind->length = -1;
}

/* Cuts the head that rest starts with off it. */
static struct behind
read_head(struct text *rest, struct response *response)
{
	struct behind behind = { .code = 0, .length = -1 };
	enum head_place place;
	struct text line;

	text_line(rest, &line);
	behind.code = head_code(line);
	place = head_begin(response, behind.code);
	while (rest->length > 0) {
		struct text next = *rest;

		text_line(&next, &line);
		behind.cut = head_code(line) >= 0;
		if (behind.cut)
			break;
		*rest = next;
		if (line.length == 0)
			break;
		head_unfold(&line, rest);
		note(&behind, line);
		head_take(line, place, &response->fields);
	}
	return behind;
}

static bool
starts_head(struct text text)
{
	struct text line;

	return text_line(&text, &line) && head_code(line) >= 0;
}

/* Whether it starts with a head that has a field and an empty line. */
static bool
starts_whole_head(struct text text)
{
	struct text line;
	bool fields = false;

	if (!text_line(&text, &line) || head_code(line) < 0)
		return false;
	while (text_line(&text, &line) && head_code(line) < 0) {
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
explains(const struct behind *behind, struct text rest)
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
pass_body(struct text *rest, const struct behind *behind)
{
	struct text after;

	if (behind->length <= 0 || (uint64_t)behind->length > rest->length)
		return false;
	after = text_after(*rest, (size_t)behind->length);
	while (after.length > 0 && (after.at[0] == '\r' || after.at[0] == '\n'))
		after = text_after(after, 1);
	if (after.length > 0 && !starts_head(after))
		return false;
	*rest = after;
	return true;
}

static void
pass_trailers(struct text *rest)
{
	struct text next = *rest, line;

	while (text_line(&next, &line) && head_code(line) < 0 && is_field(line))
		*rest = next;
}

/*
 * Finds the head behind another, at the start of rest then. False where what
 * follows is a body, of which nobody knows where it ends, or nothing.
 */
static bool
find_next(struct text *rest, const struct behind *behind, bool *only)
{
	struct text after = *rest;

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
read_trailers(struct text rest, struct response *response)
{
	struct text look = rest, line;

	while (text_line(&look, &line)) {
		if (!is_field(line))
			return;
	}
	while (text_line(&rest, &line))
		head_take(line, HEAD_AFTER, &response->fields);
}

/* Without the empty lines that it starts with. */
static struct text
skip_empty(struct text rest)
{
	struct text next = rest, line;

	while (text_line(&next, &line) && line.length == 0)
		rest = next;
	return rest;
}

bool
answers_start(struct text all)
{
	return starts_head(skip_empty(all));
}

bool
answers_only(struct text start)
{
	return only_heads(skip_empty(start), true);
}

bool
answers_whole(struct text all)
{
	return starts_whole_head(skip_empty(all));
}

bool
answers_read(struct text all, struct response *response)
{
	struct text rest = skip_empty(all);
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
