/*
 * writer: text and JSON in a buffer, written to a descriptor in few writes.
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
 * Begins as { .to = a descriptor }: the buffer is written to it when it is
 * full. Or begins as { .to = -1, .most = a number of bytes }, at most the size
 * of the buffer: bytes beyond that number are dropped, and nothing is written.
 */
struct writer {
	int to;
	int error; /* errno of the first write that failed, or 0 */
	size_t most;
	size_t column; /* characters since the last newline */
	size_t used;
	bool compact; /* JSON without blanks */
	const char *comma; /* before the next value of JSON, or NULL */
	char bytes[PIPE_BUF]; /* a larger write would not be atomic */
};

void writer_put(struct writer *writer, const char *text);
void writer_put_all(struct writer *writer, const char *const strings[]);
void writer_put_bytes(struct writer *writer, const char *bytes, size_t length);

/* Puts what printf(3) makes of the format, 1000 bytes at most. */
void writer_format(struct writer *writer, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Puts text, escaped as the style says. The text may contain any bytes. */
void writer_put_escaped(
    struct writer *writer, enum escape style, const char *text, size_t length);

/* Puts text, escaped, between double quotes. */
void writer_put_string(
    struct writer *writer, enum escape style, const char *text, size_t length);

/* Puts blanks up to a column, none if that column is reached already. */
void writer_pad(struct writer *writer, size_t column);

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

/* A value that is JSON already: true, 0.25; "" if the caller puts the value. */
void writer_json_raw(struct writer *writer, const char *name, const char *json);

/*
 * The text format of Prometheus: the HELP and TYPE of a metric, whose name is
 * the prefix and the rest; and a label of a sample, after "{" or ",".
 */
void writer_prom_metric(struct writer *writer, const char *prefix,
    const char *metric, const char *type, const char *help);
void writer_prom_label(struct writer *writer, char before, const char *name,
    const char *text, size_t length);

/* Writes what is in the buffer. Returns writer->error. After an error, or
 * without a descriptor, the bytes in the buffer are dropped. */
int writer_flush(struct writer *writer);

/* Writes a message to standard error. Without a reader it is lost, and SIGPIPE
 * does not change the exit status. */
void writer_say(struct writer *writer);

/*
 * Writes the buffer to standard output, which it closes. False, after a message
 * on standard error, if not all bytes could be written.
 */
bool writer_deliver(struct writer *writer);

#endif
