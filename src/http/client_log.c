#include "http/client_log.h"

#include <string.h>
#include "http/responses.h"

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
	bool open; /* 1xx, a redirect, 401 or 407: a response may follow */
	bool renewed; /* the client has announced a new request since */
	struct response head;
	struct strview before; /* the line before the next one */
};

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

	switch (margin) {
	case MARGIN_NONE:
		return strview_starts(log->before, "# got header "); /* wget2 */
	case MARGIN_ARROW:
		return log->asked || (log->found && log->head.code < 200);
	case MARGIN_BLANKS:
		if (log->inside)
			return true;
		if (log->found && !log->open && !log->renewed)
			return false;
		return ends_in(before, "...") ||
		    ends_in(before, "\xe2\x80\xa6") ||
		    strview_starts(log->before, "Connecting to ");
	}
	return false;
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

/*
 * Whether rest, all that follows the line raw, is the body of the last
 * response: it has exactly the length that the head gives, and after such a
 * line curl may write a body.
 */
static bool
is_body(const struct log *log, struct strview raw, struct strview rest)
{
	return log->found && log->margin == MARGIN_ARROW &&
	    log->head.length > 0 &&
	    !response_head_has(&log->head, FIELD_CONTENT_ENCODING) &&
	    (uint64_t)log->head.length == rest.length &&
	    (strview_starts(raw, "* Connection #") ||
		strview_starts(raw, "* Closing connection") ||
		strview_starts(raw, "* shutting down connection") ||
		strview_starts(raw, "{ ["));
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

bool
client_log_read(struct strview all, struct response *response)
{
	struct log log = { .found = false };
	struct strview raw;

	while (strview_line(&all, &raw)) {
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
				.open = code < 200 || responses_renew(code),
				.head = response_head_begin(line) };
			if (code >= 200)
				*response = log.head;
		} else if (log.found && inside) {
			read_field(&log, line, &all, response);
		} else {
			log.inside = false;
			log.left |= log.margin == MARGIN_BLANKS;
		}
		log.renewed |= announces_request(raw);
		log.asked |=
		    is_request(raw) && (!log.found || log.open || log.renewed);
		log.begun |= raw.length > 0 && raw.at[0] != '\r';
		log.before = raw;
		if (is_body(&log, raw, all))
			all.length = 0;
	}
	return log.found;
}
