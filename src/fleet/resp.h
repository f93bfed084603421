/*
 * resp: writes requests and reads replies of Redis and Valkey (RESP2).
 *
 * A request is an array of words, each of any bytes. A reply is a line, or an
 * array of numbers of 0 or more, each in a line. It comes from a server that
 * may be hostile, or no Redis at all, and may be cut off anywhere. The source
 * is "Redis serialization protocol specification", version 2.
 */
#ifndef RESP_H
#define RESP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "text/strview.h"

/* The longest reply. */
#define RESP_REPLY 4096

/* The most numbers in an array. */
#define RESP_NUMBERS 16

/* Requests that are being written, one after the other, into a buffer. */
struct resp_request {
	char *bytes;
	size_t size;
	size_t length; /* more than size: not all of it fitted */
};

/* The values are the marks by which a server tells them. */
enum resp_type {
	RESP_SIMPLE = '+', /* a line: text */
	RESP_ERROR = '-', /* a line: text, without the "-" in front */
	RESP_INTEGER = ':', /* numbers[0] */
	RESP_ARRAY = '*', /* numbers, each sent as an integer */
};

struct resp_reply {
	enum resp_type type;
	struct strview text; /* in the bytes that were read */
	int64_t numbers[RESP_NUMBERS];
	size_t count; /* of numbers */
	size_t length; /* of the whole reply */
};

enum resp_state {
	RESP_PARTIAL, /* all bytes so far may begin a reply */
	RESP_WHOLE,
	RESP_INVALID, /* too long, or nothing that retry asks for */
};

/* Begins a request of count words, which must be added next. */
void resp_open(struct resp_request *request, size_t count);

void resp_add(struct resp_request *request, struct strview word);
void resp_add_number(struct resp_request *request, int64_t number);

/* Writes a request of words that are strings. */
void
resp_put(struct resp_request *request, const char *const words[], size_t count);

/* How many bytes have been written; 0 if not all of it fitted. */
size_t resp_length(const struct resp_request *request);

/*
 * Reads the first reply in bytes. *reply is set only if the reply is whole; the
 * next one begins reply->length bytes later. Reads the bytes from the start
 * each time.
 */
enum resp_state resp_read(struct strview bytes, struct resp_reply *reply);

#endif
