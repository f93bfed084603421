#include "output/log.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>
#include "sys/sys.h"
#include "text/date.h"
#include "text/escape.h"
#include "text/number.h"

/* Of a string: a long one must not push the rest of the line out of it. */
#define STRING_MOST 1000

/* For what follows the message in JSON. */
#define FACTS_ROOM 1000

void
lines_open(struct lines *lines, const struct policy *policy)
{
	lines->loudness = policy->loudness;
	lines->format = policy->log_format;
	lines->open = false;
	lines->holding = policy->hold_err;
	lines->concluded = false;
	lines->length = 0;
	lines->held = 0;
	lines->kept = 0;
}

/* Takes the first bytes of what is pending away. */
static void
drop(struct lines *lines, size_t count)
{
	lines->length -= count;
	memmove(lines->pending, lines->pending + count,
	    lines->length + lines->held);
}

void
lines_flush(struct lines *lines)
{
	while (lines->length > 0) {
		char *end = memchr(lines->pending, '\n', lines->length);
		size_t line = end == NULL ? lines->length
					  : (size_t)(end + 1 - lines->pending);
		ssize_t put = outlet_put(&lines->outlet, lines->pending, line);

		if (put == -1 && errno == EINTR)
			continue;
		if (put == -1 && errno == EAGAIN)
			return;
		/* Nobody is there to read it: not our failure. */
		drop(lines, put > 0 ? (size_t)put : lines->length);
	}
}

static char *
put_string(enum escape style, char *at, const char *limit, const char *text)
{
	size_t length = strlen(text);
	bool cut = length > STRING_MOST;
	const char *most = limit;

	if (cut && limit - at > STRING_MOST)
		most = at + STRING_MOST;
	at = escape_put(style, at, most, text, length);
	return cut ? escape_put(style, at, limit, "...", 3) : at;
}

static char *
put_strings(
    enum escape style, char *at, const char *limit, const char *const strings[])
{
	while (*strings != NULL)
		at = put_string(style, at, limit, *strings++);
	return at;
}

/* Text that is ours, and for which there is room. */
static char *
put_own(char *at, const char *text)
{
	size_t length = strlen(text);

	memcpy(at, text, length);
	return at + length;
}

/* The value may be cut; a fact with no room for any is left out. */
static char *
put_fact(char *at, const char *limit, const struct fact *fact)
{
	char digits[NUMBER_ROOM];
	size_t least = sizeof ",\"\":\"\"" + strlen(fact->name) + NUMBER_ROOM;

	if ((size_t)(limit - at) < least)
		return at;
	at = put_own(put_own(put_own(at, ",\""), fact->name), "\":");
	if (fact->text == NULL)
		return put_own(at, number_put(digits, fact->number));
	*at++ = '"';
	at = put_string(ESCAPE_JSON, at, limit - 1, fact->text);
	*at++ = '"';
	return at;
}

/* A failure is one of the command's until there is no more hope for it. */
static const char *
level(const struct line *line)
{
	switch (line->least) {
	case LOUDNESS_PLAIN:
		return line->last ? "error" : "warning";
	case LOUDNESS_VERBOSE:
		return "info";
	case LOUDNESS_QUIET:
		break;
	}
	return line->warning ? "warning" : "error";
}

static char *
put_json(char *at, const char *limit, const struct line *line)
{
	const struct fact *fact = line->facts;
	char time[DATE_ROOM];

	date_put(time, context_now(CLOCK_REALTIME) / NANOS_MS);
	at = put_own(put_own(at, "{\"time\":\""), time);
	at = put_own(put_own(at, "\",\"level\":\""), level(line));
	at = put_own(at, "\",\"message\":\"");
	at = put_strings(ESCAPE_JSON, at, limit - FACTS_ROOM, line->strings);
	*at++ = '"';
	for (; fact != NULL && fact->name != NULL; fact++)
		at = put_fact(at, limit - 1, fact);
	*at++ = '}';
	return at;
}

/* The line as the format has it, without its newline. */
static char *
put_line(const struct lines *lines, char *at, const char *limit,
    const struct line *line)
{
	enum escape style = ESCAPE_LINE;

	if (lines->format == LOG_JSON)
		return put_json(at, limit, line);
	if (lines->format == LOG_GITHUB && line->last && !lines->concluded) {
		at = put_own(at, "::warning::");
		style = ESCAPE_GITHUB;
	}
	return put_strings(style, put_own(at, "retry: "), limit, line->strings);
}

static void
open_outlet(struct lines *lines)
{
	if (!lines->open)
		lines->outlet = outlet_open(STDERR_FILENO);
	lines->open = true;
}

void
lines_tell(struct lines *lines, const struct line *line)
{
	/* Of what is held, the line takes the place of the one before it. */
	char *start = lines->pending + lines->length + lines->kept;
	/* A line of more than PIPE_BUF bytes could be torn by another's. */
	char *limit = start + PIPE_BUF - 1, *end;
	bool stays = line->last || line->least == LOUDNESS_QUIET;

	if (lines->loudness < line->least)
		return;
	open_outlet(lines);
	if (limit > lines->pending + sizeof lines->pending - 1)
		return;
	end = put_line(lines, start, limit, line);
	*end++ = '\n';
	lines->concluded = lines->concluded || line->last;
	if (lines->holding) {
		lines->held = lines->kept + (size_t)(end - start);
		if (stays)
			lines->kept = lines->held;
		return;
	}
	lines->length += (size_t)(end - start);
	lines_flush(lines);
}

void
lines_say(struct lines *lines, enum loudness least, const char *const strings[])
{
	lines_tell(lines, &(struct line){ .least = least, .strings = strings });
}

void
lines_put(struct lines *lines, const char *const strings[])
{
	char *at = lines->pending + lines->length;
	const char *limit = lines->pending + sizeof lines->pending;

	if (lines->holding)
		return;
	open_outlet(lines);
	for (; *strings != NULL; strings++)
		if ((size_t)(limit - at) >= strlen(*strings))
			at = put_own(at, *strings);
	lines->length = (size_t)(at - lines->pending);
	lines_flush(lines);
}

void
lines_release(struct lines *lines, bool drop_held)
{
	if (!drop_held)
		lines->length += lines->held;
	lines->held = 0;
	lines->kept = 0;
	lines->holding = false;
	lines_flush(lines);
}

struct pollfd
lines_pollfd(const struct lines *lines)
{
	return (struct pollfd){ .fd = lines->length > 0 ? lines->outlet.fd : -1,
		.events = POLLOUT };
}
