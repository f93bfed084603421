#include "http/client_log.h"

#include <string.h>
#include "http/responses.h"

/* How each line of a response's head begins. */
enum margin {
	MARGIN_NONE,
	MARGIN_ARROW, /* "< ", of curl -v */
	MARGIN_BLANKS /* of wget -S; a line without them ends the head */
};

/* The margin of a line, if it is a status line. */
static enum margin
margin_of(struct strview line)
{
	if (strview_starts(line, "< "))
		return MARGIN_ARROW;
	return strview_starts(line, " ") ? MARGIN_BLANKS : MARGIN_NONE;
}

/* Cuts the margin off a line. False if the line has none. */
static bool
take_margin(struct strview *line, enum margin margin)
{
	struct strview trimmed = strview_trim(*line);

	switch (margin) {
	case MARGIN_NONE:
		return true;
	case MARGIN_ARROW:
		if (!strview_starts(*line, "<"))
			return false;
		*line =
		    strview_after(*line, strview_starts(*line, "< ") ? 2 : 1);
		return true;
	case MARGIN_BLANKS:
		if (!strview_starts(*line, " ") || trimmed.length == 0)
			return false;
		*line = trimmed;
		return true;
	}
	return false;
}

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
	bool open; /* 1xx, a redirect, 401 or 407: a response may follow */
	bool renewed; /* the client has announced a new request since */
	struct response head;
	struct strview before; /* the line before the next one */
};

/* Whether wget may print a head directly after this line. */
static bool
precedes_head(struct strview before)
{
	static const char *const ends[] = { "...", "\xe2\x80\xa6" };
	struct strview line = strview_trim(before);

	for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
		size_t length = strlen(ends[i]);

		if (line.length >= length &&
		    memcmp(line.at + line.length - length, ends[i], length) ==
			0)
			return true;
	}
	return strview_starts(before, "Connecting to ");
}

/* Whether curl -v prints this line before it sends another request. */
static bool
precedes_request(struct strview line)
{
	static const char *const starts[] = { "CONNECT ", "Connected to ",
		"Established ", "Found bundle", "Issue another request",
		"Proxy replied ", "Re-using ", "Reusing ", "Trying ",
		"using HTTP" };
	const char *mark = memmem(line.at, line.length, "* ", 2);

	if (mark == NULL)
		return false;
	line = strview_trim(strview_after(line, (size_t)(mark - line.at) + 2));
	for (size_t i = 0; i < sizeof starts / sizeof starts[0]; i++) {
		if (strview_starts(line, starts[i]))
			return true;
	}
	return false;
}

/* Whether wget -S prints this line before it sends a request:
 * "--2026-08-22 14:00:00--  http://". */
static bool
is_wget_request(struct strview line)
{
	return strview_starts(line, "--") &&
	    strview_digits(strview_after(line, 2)) == 4;
}

/* Whether curl -v prints this line at the end of a transfer. The body may be
 * behind such a line. */
static bool
ends_transfer(struct strview line)
{
	return strview_starts(line, "* Connection #") ||
	    strview_starts(line, "* Closing connection") ||
	    strview_starts(line, "* shutting down connection");
}

/*
 * Whether rest, all that follows the line raw, is the body of the last
 * response: it has exactly the length that the head gives, and after such a
 * line curl may write a body.
 */
static bool
is_body(const struct log *log, struct strview raw, struct strview rest)
{
	return log->found && log->margin == MARGIN_ARROW &&
	    log->head.length > 0 && !log->head.encoded &&
	    (uint64_t)log->head.length == rest.length &&
	    (ends_transfer(raw) || strview_starts(raw, "{ ["));
}

/* Whether a status line counts here, by the lines before it. */
static bool
is_announced(const struct log *log, enum margin margin)
{
	switch (margin) {
	case MARGIN_NONE:
		return strview_starts(log->before, "# got header "); /* wget2 */
	case MARGIN_ARROW:
		return log->asked || (log->found && log->head.code < 200);
	case MARGIN_BLANKS:
		return log->inside ||
		    (precedes_head(log->before) &&
			(!log->found || log->open || log->renewed));
	}
	return false;
}

/* Whether curl -v shows a request in this line: "> GET / HTTP/1.1". Before the
 * "> " there may be curl's progress meter. */
static bool
is_request(struct strview line)
{
	static const char mark[] = "> ", version[] = " HTTP/";
	const char *start, *end = line.at + line.length;

	start = memmem(line.at, line.length, mark, strlen(mark));
	return start != NULL &&
	    memmem(start, (size_t)(end - start), version, strlen(version)) !=
	    NULL;
}

/* Reads a line that has the margin of the head. The lines that continue it are
 * cut off rest. */
static void
read_field(struct log *log, struct strview line, struct strview *rest,
    struct response *response)
{
	if (log->head.code < 200 || log->left)
		return;
	if (line.length == 0) {
		log->ended = true;
		return;
	}
	if (log->margin == MARGIN_NONE)
		response_head_unfold(&line, rest);
	if (log->ended) {
		response_head_trail(response, line);
	} else {
		response_head_add(&log->head, line);
		*response = log->head;
	}
}

/* Notes whether the client announces or shows a request in this line. */
static void
note_request(struct log *log, struct strview raw)
{
	log->renewed |= precedes_request(raw) || is_wget_request(raw);
	log->asked |=
	    is_request(raw) && (!log->found || log->open || log->renewed);
}

static void
read_log_line(struct log *log, struct strview *rest, struct response *response)
{
	struct strview raw, line;
	enum margin margin;
	bool inside;
	int code;

	strview_line(rest, &raw);
	line = raw;
	/* All heads have the margin of the first. */
	margin = log->found ? log->margin : margin_of(line);
	inside = take_margin(&line, margin);
	code = inside ? response_head_code(line) : -1;
	if (code >= 0 && (!log->begun || is_announced(log, margin))) {
		*log = (struct log){ .begun = true,
			.margin = margin,
			.found = true,
			.inside = true,
			.open = code < 200 || responses_renew(code),
			.head = response_head_begin(line) };
		if (code >= 200)
			*response = log->head;
	} else if (log->found && inside) {
		read_field(log, line, rest, response);
	} else {
		log->inside = false;
		log->left |= log->margin == MARGIN_BLANKS;
	}
	note_request(log, raw);
	log->begun |= raw.length > 0 && raw.at[0] != '\r';
	log->before = raw;
	if (is_body(log, raw, *rest))
		rest->length = 0;
}

bool
client_log_read(struct strview all, struct response *response)
{
	struct log log = { .found = false };

	while (all.length > 0)
		read_log_line(&log, &all, response);
	return log.found;
}
