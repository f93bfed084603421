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
	log->policy = policy;
	log->id = id;
	log->open = false;
	log->holding = policy->hold_err;
	log->concluded = false;
	log->length = 0;
	log->held = 0;
	log->kept = 0;
}

/* Removes the first bytes of what is pending. */
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
		/* Without a reader the line is dropped. That is no failure of
		 * retry. */
		drop(log, put > 0 ? (size_t)put : log->length);
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

/* A text may be cut; a fact for which there is no room at all is left out. */
static void
put_fact(struct writer *writer, const struct fact *fact)
{
	size_t least = sizeof ",\"\":\"\"" + strlen(fact->name) + NUMBER_ROOM;

	if (writer->used + least > writer->most)
		return;
	if (fact->text == NULL)
		writer_json_number(writer, fact->name, fact->number);
	else
		put_text(writer, fact->name, fact->text, STRING_MOST);
}

/* Puts the words of the command; of many words only the first ones. */
static void
put_command(struct writer *writer, char *const *word)
{
	size_t limit = writer->used + COMMAND_ROOM;

	writer_json_begin(writer, "command", '[');
	for (; *word != NULL && writer->used + WORD_ROOM <= limit; word++)
		put_text(writer, NULL, *word, WORD_MOST);
	if (*word != NULL)
		writer_json_string(writer, NULL, "...");
	writer_json_end(writer, ']');
}

/* Puts which invocation the line is of. */
static void
put_identity(struct writer *writer, const struct log *log)
{
	writer_json_string(writer, "id", log->id);
	writer_json_number(writer, "pid", getpid());
	put_command(writer, log->policy->command);
	writer_json_string(writer, "label", log->policy->label);
}

/* A failed attempt is a warning; the end without a success is an error. */
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

static void
put_json(struct writer *writer, const struct log *log, const struct line *line)
{
	const struct fact *fact = line->facts;
	char time[DATE_ROOM];

	writer->compact = true;
	writer_json_begin(writer, NULL, '{');
	date_put(time, sys_now(CLOCK_REALTIME) / NANOS_MS);
	writer_json_string(writer, "time", time);
	writer_json_string(writer, "level", level(line));
	writer_json_raw(writer, "message", "\"");
	writer->most -= FACTS_ROOM;
	put_strings(writer, ESCAPE_JSON, line->strings);
	writer->most += FACTS_ROOM;
	writer_put(writer, "\"");
	writer->most--;
	put_identity(writer, log);
	for (; fact != NULL && fact->name != NULL; fact++)
		put_fact(writer, fact);
	writer->most++;
	writer_json_end(writer, '}');
}

/* Puts what makes the line an annotation, whose title names the command. */
static void
put_annotation(struct writer *writer, const struct policy *policy)
{
	size_t limit = writer->most;

	writer_put(writer, "::warning title=");
	writer->most = writer->used + TITLE_MOST;
	if (policy->label != NULL)
		writer_put_escaped(writer, ESCAPE_GITHUB_TITLE, policy->label,
		    strlen(policy->label));
	for (char **word = policy->command;
	     policy->label == NULL && *word != NULL; word++) {
		writer_put(writer, word == policy->command ? "" : " ");
		writer_put_escaped(
		    writer, ESCAPE_GITHUB_TITLE, *word, strlen(*word));
	}
	writer->most = limit;
	writer_put(writer, "::");
}

/* Puts the line in the format that was asked for, without its newline. */
static void
put_line(const struct log *log, struct writer *writer, const struct line *line)
{
	enum log_format format = log->policy->log_format;
	const char *label = log->policy->label;
	enum escape style =
	    format == LOG_GITHUB ? ESCAPE_GITHUB_LINE : ESCAPE_LINE;

	if (format == LOG_JSON) {
		put_json(writer, log, line);
		return;
	}
	if (format == LOG_GITHUB && line->last && !log->concluded) {
		put_annotation(writer, log->policy);
		style = ESCAPE_GITHUB;
	}
	writer_put(writer, "retry: ");
	if (label != NULL)
		put_strings(writer, style, STRINGS(label, ": "));
	put_strings(writer, style, line->strings);
}

static void
open_stderr(struct log *log)
{
	if (!log->open)
		log->nonblock = nonblock_open(STDERR_FILENO);
	log->open = true;
}

void
log_tell(struct log *log, const struct line *line)
{
	/* A held line overwrites the one before it, unless that is kept. */
	char *start = log->pending + log->length + log->kept;
	/* A write of more than PIPE_BUF bytes is not atomic: a line of another
	 * process could get into the middle. */
	struct writer writer = { .to = -1, .most = PIPE_BUF - 1 };
	bool stays = line->last || line->least == LOUDNESS_QUIET;

	if (log->policy->loudness < line->least)
		return;
	open_stderr(log);
	if (start + PIPE_BUF > log->pending + sizeof log->pending)
		return;
	put_line(log, &writer, line);
	writer.bytes[writer.used++] = '\n';
	memcpy(start, writer.bytes, writer.used);
	log->concluded = log->concluded || line->last;
	if (log->holding) {
		log->held = log->kept + writer.used;
		if (stays)
			log->kept = log->held;
		return;
	}
	log->length += writer.used;
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
	if (log->holding)
		return;
	open_stderr(log);
	for (; *strings != NULL; strings++) {
		size_t length = strlen(*strings);

		if (length > sizeof log->pending - log->length)
			continue;
		memcpy(log->pending + log->length, *strings, length);
		log->length += length;
	}
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
