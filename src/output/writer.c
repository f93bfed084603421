#include "output/writer.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

/* Of a quoted text; two of them fit in a line, escaped. */
#define QUOTE_MOST 400

/* Of UTF-8 only the first byte of a character counts. */
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

bool
writer_deliver(struct writer *writer)
{
	struct writer line = { .to = STDERR_FILENO };

	/* A disk may say as late as that that it is full. */
	if (writer_flush(writer) == 0 && close(writer->to) == -1)
		writer->error = errno;
	if (writer->error == 0)
		return true;
	/* Whether or not anybody reads it, the status is what counts. */
	sigaction(SIGPIPE, &(struct sigaction){ .sa_handler = SIG_IGN }, NULL);
	writer_put(&line, "retry: cannot write to standard output: ");
	writer_put(&line, strerror(writer->error));
	writer_put(&line, "\n");
	writer_flush(&line);
	return false;
}

void
writer_put_bytes(struct writer *writer, const char *bytes, size_t length)
{
	for (size_t i = 0; i < length; i++) {
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
writer_put_escaped(
    struct writer *writer, enum escape style, const char *text, size_t length)
{
	while (length > 0) {
		char shown[ESCAPE_ROOM], *end = shown;
		size_t size = escape_next(style, &end, text, length);

		writer_put_bytes(writer, shown, (size_t)(end - shown));
		text += size;
		length -= size;
	}
}

/*
 * A newline or an escape sequence in a quote would forge lines of ours, and a
 * long one would be more than one write can keep together.
 */
void
writer_put_quoted(struct writer *writer, const char *text, size_t length)
{
	bool cut = length > QUOTE_MOST;

	writer_put(writer, "'");
	writer_put_escaped(
	    writer, ESCAPE_LINE, text, cut ? QUOTE_MOST : length);
	writer_put(writer, cut ? "...'" : "'");
}

void
writer_pad(struct writer *writer, size_t column)
{
	while (writer->column < column)
		writer_put(writer, " ");
}

void
writer_put_right(struct writer *writer, size_t column, const char *text)
{
	size_t width = 0;

	for (const char *c = text; *c != '\0'; c++)
		width += begins(*c);
	if (width < column)
		writer_pad(writer, column - width);
	writer_put(writer, text);
}
