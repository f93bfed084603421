#include "http/responses.h"

#include <string.h>

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
 * Whether a text is only heads, and the trailers that a head declares. The last
 * head must end in an empty line, unless the text is known to be cut off.
 */
static bool
only_heads(struct strview rest, bool cut)
{
	struct strview status = strview_of("HTTP/"), line;
	bool inside = false, trails = false;

	while (strview_line(&rest, &line)) {
		bool folded =
		    line.length > 0 && strview_blank(line.at[0]) && inside;

		if (response_head_code(line) >= 0) {
			inside = true;
			trails = false;
		} else if (inside && line.length == 0) {
			inside = false;
		} else if (!(inside || trails) || !(folded || is_field(line))) {
			/* The last line may be a status line, cut off. */
			return cut && rest.length == 0 &&
			    (inside || strview_begins(line, status) ||
				strview_begins(status, line));
		}
		trails |= inside && strview_starts(line, "Trailer:");
	}
	return cut || !inside;
}

/* Whether a text starts with a head; whole: one that has a field and an empty
 * line. */
static bool
starts_head(struct strview text, bool whole)
{
	struct strview line;
	bool fields = false;

	if (!strview_line(&text, &line) || response_head_code(line) < 0)
		return false;
	while (whole && strview_line(&text, &line) &&
	    response_head_code(line) < 0) {
		if (line.length == 0)
			return fields;
		fields |= is_field(line);
	}
	return !whole;
}

/* Whether such a response has no body, whatever length it gives (RFC 9110
 * section 6.4.1). */
static bool
is_bodiless(int code)
{
	return code < 200 || code == 204 || code == 304;
}

/*
 * Whether the length gives the end of the body at the start of rest. If the
 * body is encoded, curl --compressed may have decoded it, and then the length
 * is wrong; only a body that still starts like gzip has not been decoded.
 */
static bool
tells_end(const struct response *head, struct strview rest)
{
	return head->length >= 0 &&
	    !response_head_has(head, FIELD_TRANSFER_ENCODING) &&
	    (!response_head_has(head, FIELD_CONTENT_ENCODING) ||
		strview_starts(rest, "\x1f\x8b"));
}

/*
 * Whether a head has the fields that all servers send: a Date (RFC 9110 section
 * 6.6.1) or, because some proxies send none, fields that describe the body. A
 * head that a page quotes seldom has them.
 */
static bool
is_complete(const struct response *head)
{
	return response_head_has(head, FIELD_DATE) ||
	    (response_head_has(head, FIELD_CONTENT_TYPE) &&
		(response_head_has(head, FIELD_TRANSFER_ENCODING) ||
		    head->length >= 0));
}

/* Whether the client may send another request because of a response with this
 * code: a redirect, or one that asks for a password. */
static bool
renews(int code)
{
	return (code >= 300 && code < 400) || code == 401 || code == 407;
}

/* Cuts off the first final head of text, and the interim ones before it. */
static struct response
read_final_head(struct strview *text)
{
	struct response head;

	do
		head = response_head_read(text);
	while (head.code < 200 && starts_head(*text, false));
	return head;
}

/*
 * Whether the head at the start of rest may follow this one directly: the
 * response has no body (RFC 9110 sections 15.2, 15.3.5, 15.3.6, 15.4.5); or it
 * is a redirect or asks for a password, and the client has sent the next
 * request without writing this body; or the response may be a proxy's answer to
 * CONNECT (section 9.3.6).
 */
static bool
may_precede_head(const struct response *head, struct strview rest)
{
	struct strview after = rest;
	struct response next;
	int code = head->code;

	if (is_bodiless(code) || code == 205 || head->length == 0)
		return true;

	/*
	 * If the end of the body is unknown, the head at the start of rest may
	 * be a quotation in the body. Behind a redirect without a Date it
	 * counts even so: there, a quotation cannot turn an error into a
	 * success.
	 */
	if (renews(code)) {
		if (tells_end(head, rest))
			return true;
		next = read_final_head(&after);
		return is_complete(&next) || next.established ||
		    (next.code < 300 && starts_head(after, false)) ||
		    (code < 400 && !response_head_has(head, FIELD_DATE));
	}

	/* The answer to CONNECT describes no body. The next head must not be a
	 * quotation in a body. */
	if (code >= 300 || head->length >= 0 ||
	    response_head_has(head, FIELD_TRANSFER_ENCODING) ||
	    response_head_has(head, FIELD_CONTENT_TYPE) ||
	    !starts_head(rest, true))
		return false;
	next = read_final_head(&after);
	return head->established || (head->lasts && is_complete(&next));
}

/* How far the heads of a text are read. */
struct reader {
	struct strview rest; /* behind the head that was read last */
	struct response head; /* that head */
	bool only; /* it is known that the whole rest is heads */
};

/* Reads the head at which the reader is. */
static void
read_next(struct reader *reader, struct response *response)
{
	int before = reader->head.code;

	reader->head = response_head_read(&reader->rest);
	if (reader->head.code >= 200)
		*response = reader->head;
	/* The 407 before this response came from a proxy. */
	reader->head.established |= before == 407;
}

/*
 * Moves the reader to the next head. False if there is none: what follows is
 * nothing, or a body with an unknown end.
 */
static bool
find_next(struct reader *reader)
{
	const struct response *head = &reader->head;
	bool ends = tells_end(head, reader->rest);
	struct strview after = reader->rest, next, line;

	if (head->cut)
		return true;

	/*
	 * A body of known length is there if the text ends behind it, or if a
	 * head starts behind it or behind empty lines. Few bytes are looked at:
	 * many heads may give a length that ends in the same place, and the
	 * time must stay linear.
	 */
	if (!is_bodiless(head->code) && ends && head->length > 0 &&
	    (uint64_t)head->length <= after.length) {
		after = strview_after(after, (size_t)head->length);
		for (int i = 0; i < 16 && after.length > 0 &&
		     (after.at[0] == '\r' || after.at[0] == '\n');
		     i++)
			after = strview_after(after, 1);
		next = after;
		if (next.length > 64)
			next.length = 64;
		if (after.length == 0 || starts_head(next, false)) {
			reader->rest = after;
			return after.length > 0;
		}
	}
	if (starts_head(reader->rest, false) &&
	    may_precede_head(head, reader->rest))
		return true;

	/*
	 * Behind the trailers that the head declares, the whole text may be
	 * heads. These are responses, and no body that quotes them, if the
	 * body, whose end is known, is missing; if there are trailers; or if
	 * the first of these heads has the fields that all servers send.
	 *
	 * only_heads() reads all of the text, so it is called once: if the rest
	 * is heads, each later rest is heads as well.
	 */
	after = next = reader->rest;
	while (response_head_has(head, FIELD_TRAILER) &&
	    strview_line(&next, &line) && response_head_code(line) < 0 &&
	    is_field(line))
		after = next;
	if (!starts_head(after, false))
		return false;
	if (!reader->only && only_heads(after, false)) {
		struct response first;

		next = after;
		first = read_final_head(&next);
		reader->only = ends || after.length < reader->rest.length ||
		    is_complete(&first);
	}
	if (reader->only)
		reader->rest = after;
	return reader->only;
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
responses_read(struct strview all, struct response *response)
{
	struct reader reader = { .rest = skip_empty(all) };
	struct strview look, line;

	if (!starts_head(reader.rest, false))
		return false;
	do
		read_next(&reader, response);
	while (find_next(&reader));
	if (reader.head.code < 200)
		return true;
	/* The lines behind the last head are trailers if all are fields. */
	look = reader.rest;
	while (strview_line(&look, &line))
		if (!is_field(line))
			return true;
	while (strview_line(&reader.rest, &line))
		response_head_add(response, line, NULL, true);
	return true;
}

bool
responses_dump(struct strview rest, struct response *response)
{
	struct strview line, at = rest;
	struct response head = { .code = -1 };

	while (strview_line(&rest, &line)) {
		if (response_head_code(line) >= 0) {
			rest = at;
			head = response_head_read(&rest);
			if (head.code >= 200)
				*response = head;
		} else if (head.code >= 200) {
			response_head_add(response, line, &rest, true);
		}
		at = rest;
	}
	return head.code >= 0;
}

bool
responses_start(struct strview all, bool whole)
{
	return starts_head(skip_empty(all), whole);
}

enum responses_rest
responses_rest(struct strview start)
{
	if (!responses_start(start, false))
		return RESPONSES_REST_ANY;
	return only_heads(skip_empty(start), true) ? RESPONSES_REST_HEADS
						   : RESPONSES_REST_BODY;
}

int64_t
responses_next(struct strview start)
{
	struct reader reader = { .rest = skip_empty(start) };
	struct response unused = { .known = false };
	struct strview head, body, rest;
	int64_t at;

	if (!starts_head(reader.rest, false))
		return 0;
	do {
		head = reader.rest;
		read_next(&reader, &unused);
		body = reader.rest;
	} while (find_next(&reader));
	if (!reader.head.ended)
		return head.at - start.at;
	at = body.at - start.at;
	if (is_bodiless(reader.head.code) || !tells_end(&reader.head, body) ||
	    reader.head.length > INT64_MAX - at)
		return 0;
	at += reader.head.length;
	if ((uint64_t)at >= start.length)
		return at;
	/* No whole status line is behind the body, but start may end within
	 * one. */
	rest = skip_empty(strview_after(start, (size_t)at));
	return rest.length > 0 && memchr(rest.at, '\n', rest.length) ? 0 : at;
}

/*
 * The verbose output of clients
 */

/* How each line of a response's head begins. */
enum margin {
	MARGIN_NONE,
	MARGIN_ARROW, /* "< ", of curl -v */
	MARGIN_BLANKS /* of wget -S; a line without them ends the head */
};

/* What the lines read so far say. All but begun and before is about the last
 * head. */
struct log {
	bool begun; /* a line that is not empty was read */
	enum margin margin;
	bool found; /* there is a head */
	bool inside; /* each line since its status line has the margin */
	bool ended; /* an empty line has ended its fields */
	bool left; /* no line of it can follow any more */
	bool asked; /* curl has shown a request since this head */
	bool renewable; /* 1xx, a redirect, 401 or 407: a response may follow */
	bool renewed; /* the client has announced a new request since */
	struct response head;
	struct strview before; /* the line before the next one */
};

/* Cuts the margin off a line. False if the line has none. */
static bool
take_margin(struct strview *line, enum margin margin)
{
	if (margin == MARGIN_ARROW && strview_starts(*line, "<"))
		*line =
		    strview_after(*line, strview_starts(*line, "< ") ? 2 : 1);
	else if (margin == MARGIN_BLANKS && strview_starts(*line, " ") &&
	    strview_trim(*line).length > 0)
		*line = strview_trim(*line);
	else
		return margin == MARGIN_NONE;
	return true;
}

static bool
ends_in(struct strview line, const char *word)
{
	size_t length = strlen(word);

	return line.length >= length &&
	    memcmp(line.at + line.length - length, word, length) == 0;
}

/* Whether a status line counts here, by the lines before it. */
static bool
is_announced(const struct log *log, enum margin margin)
{
	struct strview before = strview_trim(log->before);

	if (margin == MARGIN_NONE)
		return strview_starts(log->before, "# got header "); /* wget2 */
	if (margin == MARGIN_ARROW)
		return log->asked || (log->found && log->head.code < 200);
	if (log->inside)
		return true;
	if (log->found && !log->renewable && !log->renewed)
		return false;
	return ends_in(before, "...") || ends_in(before, "\xe2\x80\xa6") ||
	    strview_starts(log->before, "Connecting to ");
}

/* Whether the client prints this line before it sends another request. */
static bool
announces_request(struct strview line)
{
	static const char starts[][24] = { "CONNECT ", "Connected to ",
		"Established ", "Found bundle", "Issue another request",
		"Proxy replied ", "Re-using ", "Reusing ", "Trying ",
		"using HTTP" };
	const char *mark = memmem(line.at, line.length, "* ", 2);

	/* wget -S: "--2026-08-22 14:00:00--  http://". */
	if (strview_starts(line, "--") &&
	    strview_digits(strview_after(line, 2)) == 4)
		return true;
	/* curl -v. */
	if (mark == NULL)
		return false;
	line = strview_trim(strview_after(line, (size_t)(mark - line.at) + 2));
	for (size_t i = 0; i < sizeof starts / sizeof starts[0]; i++) {
		if (strview_starts(line, starts[i]))
			return true;
	}
	return false;
}

bool
responses_log(struct strview all, struct response *response)
{
	struct log log = { .found = false };
	struct strview raw;

	while (strview_line(&all, &raw)) {
		const char *arrow = memmem(raw.at, raw.length, "> ", 2);
		struct strview line = raw;
		/* All heads have the margin of the first. */
		enum margin margin = log.found  ? log.margin
		    : strview_starts(raw, "< ") ? MARGIN_ARROW
		    : strview_starts(raw, " ")  ? MARGIN_BLANKS
						: MARGIN_NONE;
		bool inside = take_margin(&line, margin);
		int code = inside ? response_head_code(line) : -1;

		if (code >= 0 && (!log.begun || is_announced(&log, margin))) {
			log = (struct log){ .begun = true,
				.margin = margin,
				.found = true,
				.inside = true,
				.renewable = code < 200 || renews(code),
				.head = response_head_begin(line) };
			if (code >= 200)
				*response = log.head;
		} else if (!log.found || !inside) {
			log.inside = false;
			log.left |= log.margin == MARGIN_BLANKS;
		} else if (log.head.code >= 200 && !log.left) {
			struct strview *rest =
			    margin == MARGIN_NONE ? &all : NULL;

			if (line.length == 0) {
				log.ended = true;
			} else if (log.ended) {
				response_head_add(response, line, rest, true);
			} else {
				response_head_add(&log.head, line, rest, false);
				*response = log.head;
			}
		}

		/* curl -v shows a request: "> GET / HTTP/1.1". Before the "> "
		 * there may be curl's progress meter. */
		log.renewed |= announces_request(raw);
		log.asked |= arrow != NULL &&
		    memmem(arrow, raw.length - (size_t)(arrow - raw.at),
			" HTTP/", 6) != NULL &&
		    (!log.found || log.renewable || log.renewed);
		log.begun |= raw.length > 0 && raw.at[0] != '\r';
		log.before = raw;

		/* The rest is the body of the last response if it is as long as
		 * the head says, and behind a line after which curl may write
		 * a body. */
		if (log.found && log.margin == MARGIN_ARROW &&
		    log.head.length > 0 &&
		    !response_head_has(&log.head, FIELD_CONTENT_ENCODING) &&
		    (uint64_t)log.head.length == all.length &&
		    (strview_starts(raw, "* Connection #") ||
			strview_starts(raw, "* Closing connection") ||
			strview_starts(raw, "* shutting down connection") ||
			strview_starts(raw, "{ [")))
			break;
	}
	return log.found;
}
