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
page_flush(struct page *page)
{
	size_t done = 0;

	while (done < page->used && page->error == 0) {
		ssize_t n =
		    write(page->to, page->bytes + done, page->used - done);

		if (n >= 0)
			done += (size_t)n;
		else if (errno != EINTR)
			page->error = errno;
	}
	page->used = 0;
	return page->error;
}

bool
page_deliver(struct page *page)
{
	struct page line = { .to = STDERR_FILENO };

	/* A disk may say as late as that that it is full. */
	if (page_flush(page) == 0 && close(page->to) == -1)
		page->error = errno;
	if (page->error == 0)
		return true;
	/* Whether or not anybody reads it, the status is what counts. */
	sigaction(SIGPIPE, &(struct sigaction){ .sa_handler = SIG_IGN }, NULL);
	page_put(&line, "retry: cannot write to standard output: ");
	page_put(&line, strerror(page->error));
	page_put(&line, "\n");
	page_flush(&line);
	return false;
}

void
page_put_bytes(struct page *page, const char *bytes, size_t length)
{
	for (size_t i = 0; i < length; i++) {
		if (page->used == sizeof page->bytes)
			page_flush(page);
		page->bytes[page->used++] = bytes[i];
		page->column += begins(bytes[i]);
		if (bytes[i] == '\n')
			page->column = 0;
	}
}

void
page_put(struct page *page, const char *text)
{
	page_put_bytes(page, text, strlen(text));
}

void
page_put_escaped(
    struct page *page, enum escape style, const char *text, size_t length)
{
	while (length > 0) {
		char shown[ESCAPE_ROOM], *end = shown;
		size_t size = escape_next(style, &end, text, length);

		page_put_bytes(page, shown, (size_t)(end - shown));
		text += size;
		length -= size;
	}
}

/*
 * A newline or an escape sequence in a quote would forge lines of ours, and a
 * long one would be more than one write can keep together.
 */
void
page_put_quoted(struct page *page, const char *text, size_t length)
{
	bool cut = length > QUOTE_MOST;

	page_put(page, "'");
	page_put_escaped(page, ESCAPE_LINE, text, cut ? QUOTE_MOST : length);
	page_put(page, cut ? "...'" : "'");
}

void
page_pad(struct page *page, size_t column)
{
	while (page->column < column)
		page_put(page, " ");
}

void
page_put_right(struct page *page, size_t column, const char *text)
{
	size_t width = 0;

	for (const char *c = text; *c != '\0'; c++)
		width += begins(*c);
	if (width < column)
		page_pad(page, column - width);
	page_put(page, text);
}
