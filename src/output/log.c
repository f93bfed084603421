#include "output/log.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>
#include "sys/sys.h"
#include "text/date.h"
#include "text/number.h"

/* Bytes of one string: a longer one would leave no room for the rest. */
#define STRING_MOST 1000

/* Bytes of a word of the command in JSON, and of the title of an annotation. */
#define WORD_MOST 150
#define TITLE_MOST 150

/*
 * Bytes that are kept free for what follows the message in JSON, and how many
 * of them are for the command. A word may become six times as long by escapes.
 */
#define FACTS_ROOM 2500
#define COMMAND_ROOM 1500
#define WORD_ROOM (6 * WORD_MOST + 10)

void
log_open(struct log *log, const struct policy *policy, const char *id)
{
	static char pending[LOG_PENDING];

	log->policy = policy;
	log->id = id;
	log->pending = pending;
	log->nonblock.fd = -1;
	log->late = policy->hold_err && !policy->chronic &&
	    policy->loudness == LOUDNESS_VERBOSE;
	log->holding = policy->hold_err && !log->late;
	log->concluded = log->midline = false;
	log->length = 0;
	log->held = 0;
	log->kept = 0;
}

void
log_flush(struct log *log)
{
	while (log->length > 0) {
		/* With the newline that may stand before it. */
		char *end = memchr(log->pending + 1, '\n', log->length - 1);
		size_t line = end == NULL ? log->length
					  : (size_t)(end + 1 - log->pending);
		ssize_t put;

		if (log->nonblock.fd == -1)
			log->nonblock = nonblock_open(STDERR_FILENO);
		put = nonblock_put(&log->nonblock, log->pending, line);
		if (put == -1 && errno == EINTR)
			continue;
		if (put == -1 && errno == EAGAIN)
			return;
		/* Without a reader all is dropped. That is no failure of
		 * retry. */
		if (put <= 0)
			put = (ssize_t)log->length;
		log->length -= (size_t)put;
		memmove(
		    log->pending, log->pending + put, log->length + log->held);
	}
}

/* Puts a string, as much as fits; of one above longest only the beginning. */
static void
put_string(
    struct writer *writer, enum escape style, const char *text, size_t longest)
{
	size_t length = strlen(text), most = writer->most;
	bool cut = length > longest;

	if (cut && writer->used + longest < most)
		writer->most = writer->used + longest;
	writer_put_escaped(writer, style, text, length);
	writer->most = most;
	if (cut)
		writer_put_escaped(writer, style, "...", 3);
}

static void
put_strings(
    struct writer *writer, enum escape style, const char *const strings[])
{
	while (*strings != NULL)
		put_string(writer, style, *strings++, STRING_MOST);
}

/* Puts a string of JSON, which may be cut. */
static void
put_text(
    struct writer *writer, const char *name, const char *text, size_t longest)
{
	writer_json_raw(writer, name, "\"");
	writer->most--;
	put_string(writer, ESCAPE_JSON, text, longest);
	writer->most++;
	writer_put(writer, "\"");
}

static void
put_json(struct writer *writer, const struct log *log, const struct line *line)
{
	/* A failed attempt is a warning; the end without a success an error. */
	bool error =
	    line->least == LOUDNESS_QUIET ? !line->warning : line->last;
	const char *level = line->least == LOUDNESS_VERBOSE ? "info"
	    : error                                         ? "error"
							    : "warning";
	const struct fact *fact = line->facts;
	char *const *word = log->policy->command;
	char time[DATE_ROOM];
	size_t limit;

	writer->compact = true;
	writer_json_begin(writer, NULL, '{');
	date_put(time, sys_now(CLOCK_REALTIME) / NANOS_MS);
	writer_json_string(writer, "time", time);
	writer_json_string(writer, "level", level);
	writer_json_raw(writer, "message", "\"");
	writer->most -= FACTS_ROOM;
	put_strings(writer, ESCAPE_JSON, line->strings);
	writer->most += FACTS_ROOM;
	writer_put(writer, "\"");

	/* Which invocation the line is of; of many words the first ones. */
	writer->most--;
	writer_json_string(writer, "id", log->id);
	writer_json_number(writer, "pid", getpid());
	limit = writer->used + COMMAND_ROOM;
	writer_json_begin(writer, "command", '[');
	for (; *word != NULL && writer->used + WORD_ROOM <= limit; word++)
		put_text(writer, NULL, *word, WORD_MOST);
	if (*word != NULL)
		writer_json_string(writer, NULL, "...");
	writer_json_end(writer, ']');
	writer_json_string(writer, "label", log->policy->label);

	/* A text may be cut; a fact without any room is left out. */
	for (; fact != NULL && fact->name != NULL; fact++) {
		if (writer->used + sizeof ",\"\":\"\"" + strlen(fact->name) +
			NUMBER_ROOM >
		    writer->most)
			continue;
		if (fact->text == NULL)
			writer_json_number(writer, fact->name, fact->number);
		else
			put_text(writer, fact->name, fact->text, STRING_MOST);
	}
	writer->most++;
	writer_json_end(writer, '}');
}

/*
 * Puts the line as text, without its newline. An annotation has to begin its
 * line, and only the command knows if its own last one has ended, so an empty
 * line may come of it, as of those that Jest writes. The command is named
 * without its arguments: everybody who sees the run sees its annotations.
 */
static void
put_line(struct writer *writer, const struct log *log, const struct line *line)
{
	bool github = log->policy->log_format == LOG_GITHUB;
	enum escape style = github ? ESCAPE_GITHUB_LINE : ESCAPE_LINE;
	const char *label = log->policy->label;
	const char *title = label;
	size_t limit = writer->most;

	if (github && line->last && !log->concluded) {
		style = ESCAPE_GITHUB;
		if (writer->used == 0)
			writer_put(writer, "\n");
		writer_put_all(writer,
		    STRINGS(
			"::", line->rescued ? "warning" : "error", " title="));
		writer->most = writer->used + TITLE_MOST;
		if (title == NULL)
			title = log->policy->program;
		writer_put_escaped(
		    writer, ESCAPE_GITHUB_TITLE, title, strlen(title));
		writer->most = limit;
		writer_put(writer, "::");
	}
	writer_put(writer, "retry: ");
	if (label != NULL)
		put_strings(writer, style, STRINGS(label, ": "));
	put_strings(writer, style, line->strings);
}

void
log_tell(struct log *log, const struct line *line)
{
	/* A held line overwrites the one before it, unless that is kept. */
	char *start = log->pending + log->length + log->kept;
	/* A write of more than PIPE_BUF bytes is not atomic: a line of another
	 * process could get into the middle. */
	struct writer writer = { .to = -1, .most = PIPE_BUF - 1 };

	if (log->policy->loudness < line->least)
		return;
	if (start + PIPE_BUF > log->pending + LOG_PENDING)
		return;
	if (log->midline && !log->holding)
		writer_put(&writer, "\n");
	if (log->policy->log_format == LOG_JSON)
		put_json(&writer, log, line);
	else
		put_line(&writer, log, line);
	writer.bytes[writer.used++] = '\n';
	memcpy(start, writer.bytes, writer.used);
	log->concluded |= line->last && !line->rescued;
	/* The error output of the last attempt comes before this line. */
	log->holding |= log->late && line->last;
	if (log->holding) {
		log->held = log->kept + writer.used;
		if (line->last || line->least == LOUDNESS_QUIET)
			log->kept = log->held;
		return;
	}
	log->length += writer.used;
	log->midline = false;
	log_flush(log);
}

void
log_say(struct log *log, enum loudness least, const char *const strings[])
{
	log_tell(log, &(struct line){ .least = least, .strings = strings });
}

void
log_warn(struct log *log, const char *const strings[])
{
	log_say(log, LOUDNESS_PLAIN, strings);
}

void
log_note(struct log *log, const char *const strings[])
{
	log_say(log, LOUDNESS_VERBOSE, strings);
}

void
log_put(struct log *log, const char *text)
{
	size_t length = strlen(text);
	char *at = log->pending + log->length;

	if (length > LOG_PENDING - log->length - log->held)
		return;
	memmove(at + length, at, log->held);
	memcpy(at, text, length);
	log->length += length;
	log_flush(log);
}

void
log_release(struct log *log, bool drop_held)
{
	bool shown = log->held > 0 && (!drop_held || log->late);

	if (shown && log->midline && log->pending[log->length] != '\n')
		log_put(log, "\n");
	if (shown)
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
