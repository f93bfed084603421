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
struct writer {
	int to;
	int error; /* errno of the first write that failed, or 0 */
	size_t column; /* characters since the last newline */
	size_t used;
	char bytes[PIPE_BUF]; /* a larger write could be torn */
};

void writer_put(struct writer *writer, const char *text);
void writer_put_bytes(struct writer *writer, const char *bytes, size_t length);

/* With what the style escapes; text may hold any bytes. */
void writer_put_escaped(
    struct writer *writer, enum escape style, const char *text, size_t length);

/*
 * Within quotes, control bytes escaped as in a line, and cut where it is
 * so long that two of them would not fit in a line.
 */
void writer_put_quoted(struct writer *writer, const char *text, size_t length);

/* Blanks up to a column, none where that is reached already. */
void writer_pad(struct writer *writer, size_t column);

/* Text after as many blanks as make it end at a column. */
void writer_put_right(struct writer *writer, size_t column, const char *text);

/* Writes what is waiting. Returns page->error. After an error it is dropped. */
int writer_flush(struct writer *writer);

/*
 * Writes what is waiting for standard output and closes that. False where not
 * all of it has arrived, which is told on standard error.
 */
bool writer_deliver(struct writer *writer);

#endif
