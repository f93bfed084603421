#include "page.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>
#include "escape.h"

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

int
page_close(struct page *page)
{
	if (page_flush(page) == 0 && close(page->to) == -1)
		page->error = errno;
	return page->error;
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

/*
 * A newline or an escape sequence in a quote would forge lines of ours, and a
 * long one would be more than one write can keep together.
 */
void
page_put_quoted(struct page *page, const char *text, size_t length)
{
	bool cut = length > QUOTE_MOST;
	size_t most = cut ? QUOTE_MOST : length;

	page_put(page, "'");
	while (most > 0) {
		char shown[ESCAPE_ROOM], *end = shown;
		size_t size = escape_next(ESCAPE_LINE, &end, text, most);

		page_put_bytes(page, shown, (size_t)(end - shown));
		text += size;
		most -= size;
	}
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
