#include "http/client_log.h"

#include <string.h>
#include "http/response_head.h"

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

struct log {
	enum margin margin;
	enum response_head_place place;
	bool found; /* a head */
	bool inside; /* every line since that head had the margin */
	bool interim; /* the last head was an interim response's */
	bool asked; /* a request has been shown since that head */
	struct strview before; /* the line before this one */
};

/* Whether wget prints a head after this line. */
static bool
awaits(struct strview before)
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

/* Whether what looks like a status line is one, and not part of a body. */
static bool
believed(const struct log *log, enum margin margin)
{
	switch (margin) {
	case MARGIN_NONE:
		return strview_starts(log->before, "# got header "); /* wget2 */
	case MARGIN_ARROW:
		return log->asked || log->interim;
	case MARGIN_BLANKS:
		return log->inside || awaits(log->before);
	}
	return false;
}

/* Whether curl -v shows a request in this line, "> GET / HTTP/1.1", perhaps
 * after its progress meter. */
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

/* Reads the next line. first: a head here need not be announced. */
static void
read_log_line(struct log *log, struct strview *rest, bool first,
    struct response *response)
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
	if (code >= 0 && (first || believed(log, margin))) {
		*log = (struct log){ .margin = margin,
			.place = response_head_begin(response, code),
			.found = true,
			.inside = true,
			.interim = code < 200 };
	} else if (log->found && inside) {
		if (margin == MARGIN_NONE &&
		    log->place != RESPONSE_HEAD_OUTSIDE && line.length > 0)
			response_head_unfold(&line, rest);
		log->place =
		    response_head_take(line, log->place, &response->fields);
	} else {
		log->inside = false;
		if (margin == MARGIN_BLANKS)
			log->place = RESPONSE_HEAD_OUTSIDE;
	}
	log->asked |= is_request(raw);
	log->before = raw;
}

bool
client_log_read(struct strview all, struct response *response)
{
	struct log log = { .place = RESPONSE_HEAD_OUTSIDE };
	bool first = true;

	while (all.length > 0) {
		bool blank = all.at[0] == '\r' || all.at[0] == '\n';

		read_log_line(&log, &all, first, response);
		first &= blank;
	}
	return log.found;
}
