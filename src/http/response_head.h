/*
 * response_head: the head of a response (RFC 9112 sections 4 and 5), line by
 * line: status line, header fields, an empty line. And files of nothing else.
 */
#ifndef RESPONSE_HEAD_H
#define RESPONSE_HEAD_H

#include <stdbool.h>
#include "http/retry_after.h"
#include "text/strview.h"

/* Where a line is. */
enum response_head_place {
	RESPONSE_HEAD_OUTSIDE, /* in noise, or in an interim response */
	RESPONSE_HEAD_WITHIN, /* in the head of a final response */
	RESPONSE_HEAD_AFTER /* in its body or trailers */
};

/* A status line, "HTTP/1.1 503 Reason" or "HTTP/2 503 ": its code, or -1. */
int response_head_code(struct strview line);

/*
 * A response of that code begins: it takes the place of the one before, unless
 * it is an interim one (1xx; RFC 9110 section 15.2), which is passed over with
 * its fields.
 */
enum response_head_place
response_head_begin(struct response *response, int code);

/*
 * Makes a header line as long as its value, which goes on in the lines that
 * start with a blank (obsolete line folding, RFC 9112 section 5.2).
 */
void response_head_unfold(struct strview *line, struct strview *rest);

/*
 * Takes a line that is at place; returns where the next one will be. Trailers
 * (RFC 9110 section 6.5) are fields behind the empty line: of those only
 * grpc-retry-pushback-ms is taken, since there is where gRPC puts it.
 */
enum response_head_place response_head_take(struct strview line,
    enum response_head_place place, struct retry_after *fields);

/*
 * Reads the last final response of a file that holds heads and trailers and
 * nothing else, as curl -D writes it, whatever HTTP version each claims. False,
 * with the response untouched, where there is no status line at all.
 */
bool response_head_dump(struct strview all, struct response *response);

#endif
