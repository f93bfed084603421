/*
 * response_head: reads the head of an HTTP response, line by line.
 *
 * A head is a status line, header fields and an empty line (RFC 9112 sections 4
 * and 5). A file of heads alone can be read as a whole.
 */
#ifndef RESPONSE_HEAD_H
#define RESPONSE_HEAD_H

#include <stdbool.h>
#include "http/retry_after.h"
#include "text/strview.h"

/* Where a line is. */
enum response_head_place {
	RESPONSE_HEAD_OUTSIDE, /* before any head, or in an interim response */
	RESPONSE_HEAD_WITHIN, /* in the head of a final response */
	RESPONSE_HEAD_AFTER /* in its body or trailers */
};

/* A status line, "HTTP/1.1 503 Reason" or "HTTP/2 503 ": its code, or -1. */
int response_head_code(struct strview line);

/*
 * A response with that code begins, and replaces the one before. An interim one
 * (1xx; RFC 9110 section 15.2) is skipped with its fields.
 */
enum response_head_place
response_head_begin(struct response *response, int code);

/*
 * Adds to a header line the lines after it that start with a blank: they belong
 * to its value (obsolete line folding, RFC 9112 section 5.2).
 */
void response_head_unfold(struct strview *line, struct strview *rest);

/*
 * Reads a line that is at place, and returns where the next one is. Of the
 * fields behind the empty line (trailers, RFC 9110 section 6.5) only
 * grpc-retry-pushback-ms counts, because gRPC sends it there.
 */
enum response_head_place response_head_take(struct strview line,
    enum response_head_place place, struct retry_after_fields *fields);

/*
 * Reads the last final response of a file that contains heads and trailers and
 * nothing else, as curl -D writes it, of any HTTP version. False, with the
 * response untouched, if there is no status line at all.
 */
bool response_head_dump(struct strview all, struct response *response);

#endif
