/*
 * writer: text and JSON in a buffer, written to a descriptor in few writes.
 *
 * printf is not used because its buffers and tables touch some 200 kB of
 * memory.
 */
#ifndef WRITER_H
#define WRITER_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "text/escape.h"

/* Strings that are put one after the other, up to a NULL. */
#define STRINGS(...) ((const char *const[]){ __VA_ARGS__, NULL })

/*
 * Begins as { .to = a descriptor }, which is written to whenever the buffer is
 * full; or as { .to = -1, .most = a number of bytes }, at most that of the
 * buffer: what is more than that is dropped, and nothing is written.
 */
struct writer {
	int to;
	int error; /* errno of the first write that failed, or 0 */
	size_t most;
	size_t column; /* characters since the last newline */
	size_t used;
	bool compact; /* JSON without blanks */
	const char *comma; /* before the next value of JSON, or NULL */
	char bytes[PIPE_BUF]; /* other writers could tear a larger write */
};

void writer_put(struct writer *writer, const char *text);
void writer_put_all(struct writer *writer, const char *const strings[]);
void writer_put_bytes(struct writer *writer, const char *bytes, size_t length);

/* Escapes text as the style has it; text may hold any bytes. */
void writer_put_escaped(
    struct writer *writer, enum escape style, const char *text, size_t length);

/* The same between double quotes. */
void writer_put_string(
    struct writer *writer, enum escape style, const char *text, size_t length);

/*
 * Puts text between single quotes, with control bytes escaped as in a log line,
 * and cuts it so that two such texts fit into a line.
 */
void writer_put_quoted(struct writer *writer, const char *text, size_t length);

/* Puts blanks up to a column, none where that is reached already. */
void writer_pad(struct writer *writer, size_t column);

/* Puts text after as many blanks as make it end at a column. */
void writer_put_right(struct writer *writer, size_t column, const char *text);

/*
 * JSON (RFC 8259). Each of these puts a comma where one is needed, then the
 * name, which needs no escapes (NULL: an element of an array), then the value.
 *
 * An object or an array begins or ends with a bracket: '{', '}', '[' or ']'.
 */
void writer_json_begin(struct writer *writer, const char *name, char bracket);
void writer_json_end(struct writer *writer, char bracket);

/* A string; NULL is null. */
void
writer_json_string(struct writer *writer, const char *name, const char *string);

/* A number. */
void
writer_json_number(struct writer *writer, const char *name, int64_t number);

/* A value that is JSON already: true, 0.25; "" where the caller puts it. */
void writer_json_raw(struct writer *writer, const char *name, const char *json);

/* Writes what is in the buffer. Returns writer->error; after an error, and of a
 * writer without a descriptor, what was put is dropped. */
int writer_flush(struct writer *writer);

/*
 * Writes what is in the buffer to standard output and closes that. False where
 * not all of it was written; a message says so on standard error.
 */
bool writer_deliver(struct writer *writer);

#endif
