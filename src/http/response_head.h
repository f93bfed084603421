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
	RESPONSE_HEAD_OUTSIDE, /* before all heads, or in an interim response */
	RESPONSE_HEAD_WITHIN, /* in the head of a final response */
	RESPONSE_HEAD_AFTER /* in its body or trailers */
};

/* The code of a status line, "HTTP/1.1 503 Reason" or "HTTP/2 503 ", from 100
 * to 999; -1 if line is no status line. */
int response_head_code(struct strview line);

/*
 * Begins a response with this code, which replaces the response before, and
 * returns the place of the next line. An interim response (1xx; RFC 9110
 * section 15.2) changes nothing, and its fields are skipped.
 */
enum response_head_place
response_head_begin(struct response *response, int code);

/*
 * Cuts off rest the lines that start with a blank and adds them to the header
 * line before: they belong to the value of that field (obsolete line folding,
 * RFC 9112 section 5.2).
 */
void response_head_unfold(struct strview *line, struct strview *rest);

/*
 * Reads a line that is at place, and returns the place of the next line. Of the
 * trailers, the fields behind the body (RFC 9110 section 6.5), only
 * grpc-retry-pushback-ms counts, because gRPC sends this field there.
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
