#include "output/writer.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "sys/error.h"
#include "text/number.h"

/* Whether a byte begins a character: UTF-8, RFC 3629. */
static bool
begins(char byte)
{
	return ((unsigned char)byte & 0xc0) != 0x80;
}

int
writer_flush(struct writer *writer)
{
	size_t done = 0;

	while (done < writer->used && writer->error == 0) {
		ssize_t n = write(
		    writer->to, writer->bytes + done, writer->used - done);

		if (n >= 0)
			done += (size_t)n;
		else if (errno != EINTR)
			writer->error = errno;
	}
	writer->used = 0;
	return writer->error;
}

void
writer_say(struct writer *writer)
{
	struct sigaction was;

	sigaction(SIGPIPE, &(struct sigaction){ .sa_handler = SIG_IGN }, &was);
	writer_flush(writer);
	sigaction(SIGPIPE, &was, NULL);
}

bool
writer_deliver(struct writer *writer)
{
	struct writer message = { .to = STDERR_FILENO };

	/* Some file systems report a full disk or quota only on close(2). */
	if (writer_flush(writer) == 0 && close(writer->to) == -1)
		writer->error = errno;
	if (writer->error == 0)
		return true;
	writer_put_all(&message,
	    STRINGS("retry: cannot write to standard output: ",
		error_words(writer->error), "\n"));
	writer_say(&message);
	return false;
}

/* Whether length more bytes may be put. */
static bool
fits(const struct writer *writer, size_t length)
{
	return writer->most == 0 ||
	    (writer->used <= writer->most &&
		length <= writer->most - writer->used);
}

void
writer_put_bytes(struct writer *writer, const char *bytes, size_t length)
{
	for (size_t i = 0; i < length && fits(writer, 1); i++) {
		if (writer->used == sizeof writer->bytes)
			writer_flush(writer);
		writer->bytes[writer->used++] = bytes[i];
		writer->column += begins(bytes[i]);
		if (bytes[i] == '\n')
			writer->column = 0;
	}
}

void
writer_put(struct writer *writer, const char *text)
{
	writer_put_bytes(writer, text, strlen(text));
}

void
writer_put_all(struct writer *writer, const char *const strings[])
{
	while (*strings != NULL)
		writer_put(writer, *strings++);
}

void
writer_format(struct writer *writer, const char *format, ...)
{
	char text[1001];
	va_list values;

	va_start(values, format);
	vsnprintf(text, sizeof text, format, values);
	va_end(values);
	writer_put(writer, text);
}

void
writer_put_escaped(
    struct writer *writer, enum escape style, const char *text, size_t length)
{
	while (length > 0) {
		char shown[ESCAPE_ROOM], *end = shown;
		size_t size = escape_next(style, &end, text, length);

		/* A character is put whole or not at all. */
		if (!fits(writer, (size_t)(end - shown)))
			return;
		writer_put_bytes(writer, shown, (size_t)(end - shown));
		text += size;
		length -= size;
	}
}

void
writer_put_string(
    struct writer *writer, enum escape style, const char *text, size_t length)
{
	writer_put(writer, "\"");
	writer_put_escaped(writer, style, text, length);
	writer_put(writer, "\"");
}

void
writer_pad(struct writer *writer, size_t column)
{
	while (writer->column < column)
		writer_put(writer, " ");
}

/* Puts the comma and the name before a value. */
static void
begin_value(struct writer *writer, const char *name)
{
	if (writer->comma != NULL)
		writer_put(writer, writer->comma);
	writer->comma = writer->compact ? "," : ", ";
	if (name == NULL)
		return;
	writer_put_all(
	    writer, STRINGS("\"", name, writer->compact ? "\":" : "\": "));
}

void
writer_json_begin(struct writer *writer, const char *name, char bracket)
{
	begin_value(writer, name);
	writer_put_bytes(writer, &bracket, 1);
	writer->comma = NULL;
}

void
writer_json_end(struct writer *writer, char bracket)
{
	writer_put_bytes(writer, &bracket, 1);
	writer->comma = writer->compact ? "," : ", ";
}

void
writer_json_string(struct writer *writer, const char *name, const char *string)
{
	begin_value(writer, name);
	if (string == NULL)
		writer_put(writer, "null");
	else
		writer_put_string(writer, ESCAPE_JSON, string, strlen(string));
}

void
writer_json_number(struct writer *writer, const char *name, int64_t number)
{
	char digits[NUMBER_ROOM];

	writer_json_raw(writer, name, number_put(digits, number));
}

void
writer_json_raw(struct writer *writer, const char *name, const char *json)
{
	begin_value(writer, name);
	writer_put(writer, json);
}

void
writer_prom_metric(struct writer *writer, const char *prefix,
    const char *metric, const char *type, const char *help)
{
	writer_format(writer, "# HELP %s%s %s\n# TYPE %s%s %s\n", prefix,
	    metric, help, prefix, metric, type);
}

void
writer_prom_label(struct writer *writer, char before, const char *name,
    const char *text, size_t length)
{
	writer_format(writer, "%c%s=", before, name);
	writer_put_string(writer, ESCAPE_PROM, text, length);
}
