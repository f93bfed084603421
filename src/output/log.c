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
log_open(struct log *log, const struct policy *policy)
{
	log->loudness = policy->loudness;
	log->format = policy->log_format;
	log->open = false;
	log->holding = policy->hold_err;
	log->concluded = false;
	log->length = 0;
	log->held = 0;
	log->kept = 0;
}

/* Takes the first bytes of what is pending away. */
static void
drop(struct log *log, size_t count)
{
	log->length -= count;
	memmove(log->pending, log->pending + count, log->length + log->held);
}

void
log_flush(struct log *log)
{
	while (log->length > 0) {
		char *end = memchr(log->pending, '\n', log->length);
		size_t line = end == NULL ? log->length
					  : (size_t)(end + 1 - log->pending);
		ssize_t put = nonblock_put(&log->nonblock, log->pending, line);

		if (put == -1 && errno == EINTR)
			continue;
		if (put == -1 && errno == EAGAIN)
			return;
		/* Nobody is there to read it: not our failure. */
		drop(log, put > 0 ? (size_t)put : log->length);
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

	date_put(time, sys_now(CLOCK_REALTIME) / NANOS_MS);
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
put_line(
    const struct log *log, char *at, const char *limit, const struct line *line)
{
	enum escape style = ESCAPE_LINE;

	if (log->format == LOG_JSON)
		return put_json(at, limit, line);
	if (log->format == LOG_GITHUB && line->last && !log->concluded) {
		at = put_own(at, "::warning::");
		style = ESCAPE_GITHUB;
	}
	return put_strings(style, put_own(at, "retry: "), limit, line->strings);
}

static void
open_outlet(struct log *log)
{
	if (!log->open)
		log->nonblock = nonblock_open(STDERR_FILENO);
	log->open = true;
}

void
log_tell(struct log *log, const struct line *line)
{
	/* Of what is held, the line takes the place of the one before it. */
	char *start = log->pending + log->length + log->kept;
	/* A line of more than PIPE_BUF bytes could be torn by another's. */
	char *limit = start + PIPE_BUF - 1, *end;
	bool stays = line->last || line->least == LOUDNESS_QUIET;

	if (log->loudness < line->least)
		return;
	open_outlet(log);
	if (limit > log->pending + sizeof log->pending - 1)
		return;
	end = put_line(log, start, limit, line);
	*end++ = '\n';
	log->concluded = log->concluded || line->last;
	if (log->holding) {
		log->held = log->kept + (size_t)(end - start);
		if (stays)
			log->kept = log->held;
		return;
	}
	log->length += (size_t)(end - start);
	log_flush(log);
}

void
log_say(struct log *log, enum loudness least, const char *const strings[])
{
	log_tell(log, &(struct line){ .least = least, .strings = strings });
}

void
log_put(struct log *log, const char *const strings[])
{
	char *at = log->pending + log->length;
	const char *limit = log->pending + sizeof log->pending;

	if (log->holding)
		return;
	open_outlet(log);
	for (; *strings != NULL; strings++)
		if ((size_t)(limit - at) >= strlen(*strings))
			at = put_own(at, *strings);
	log->length = (size_t)(at - log->pending);
	log_flush(log);
}

void
log_release(struct log *log, bool drop_held)
{
	if (!drop_held)
		log->length += log->held;
	log->held = 0;
	log->kept = 0;
	log->holding = false;
	log_flush(log);
}

struct pollfd
log_pollfd(const struct log *log)
{
	return (struct pollfd){ .fd = log->length > 0 ? log->nonblock.fd : -1,
		.events = POLLOUT };
}
