/*
 * writer: text on its way out to a descriptor, in as few writes as possible:
 * help, tables, and what is said before there are lines. Not printf, which
 * touches some 200 kB of memory.
 */
#ifndef WRITER_H
#define WRITER_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include "text/escape.h"

/* Begins as { .to = a descriptor }. */
struct page {
	int to;
	int error; /* errno of the first write that failed, or 0 */
	size_t column; /* characters since the last newline */
	size_t used;
	char bytes[PIPE_BUF]; /* a larger write could be torn */
};

void page_put(struct page *page, const char *text);
void page_put_bytes(struct page *page, const char *bytes, size_t length);

/* With what the style escapes; text may hold any bytes. */
void page_put_escaped(
    struct page *page, enum escape style, const char *text, size_t length);

/*
 * Within quotes, control bytes escaped as in a line, and cut where it is
 * so long that two of them would not fit in a line.
 */
void page_put_quoted(struct page *page, const char *text, size_t length);

/* Blanks up to a column, none where that is reached already. */
void page_pad(struct page *page, size_t column);

/* Text after as many blanks as make it end at a column. */
void page_put_right(struct page *page, size_t column, const char *text);

/* Writes what is waiting. Returns page->error. After an error it is dropped. */
int page_flush(struct page *page);

/*
 * Writes what is waiting for standard output and closes that. False where not
 * all of it has arrived, which is told on standard error.
 */
bool page_deliver(struct page *page);

#endif
