/*
 * response_head: the head of a response (RFC 9112 sections 4 and 5), line by line:
 * status line, header fields, an empty line. And files of nothing else.
 */
#ifndef RESPONSE_HEAD_H
#define RESPONSE_HEAD_H

#include <stdbool.h>
#include "http/retry_after.h"
#include "text/strview.h"

/* Where a line is. */
enum head_place {
	HEAD_OUTSIDE, /* in noise, or in an interim response */
	HEAD_WITHIN, /* in the head of a final response */
	HEAD_AFTER /* in its body or trailers */
};

/* A status line, "HTTP/1.1 503 Reason" or "HTTP/2 503 ": its code, or -1. */
int head_code(struct text line);

/*
 * A response of that code begins: it takes the place of the one before, unless
 * it is an interim one (1xx; RFC 9110 section 15.2), which is passed over with
 * its fields.
 */
enum head_place head_begin(struct response *response, int code);

/*
 * Makes a header line as long as its value, which goes on in the lines that
 * start with a blank (obsolete line folding, RFC 9112 section 5.2).
 */
void head_unfold(struct text *line, struct text *rest);

/*
 * Takes a line that is at place; returns where the next one will be. Trailers
 * (RFC 9110 section 6.5) are fields behind the empty line: of those only
 * grpc-retry-pushback-ms is taken, since there is where gRPC puts it.
 */
enum head_place
head_take(struct text line, enum head_place place, struct fields *fields);

/*
 * Reads the last final response of a file that holds heads and trailers and
 * nothing else, as curl -D writes it, whatever HTTP version each claims. False,
 * with the response untouched, where there is no status line at all.
 */
bool head_dump(struct text all, struct response *response);

#endif
