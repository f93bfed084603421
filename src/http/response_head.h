/*
 * response_head: reads the head of an HTTP response.
 *
 * A head is a status line, header fields and an empty line (RFC 9112 sections 4
 * and 5).
 */
#ifndef RESPONSE_HEAD_H
#define RESPONSE_HEAD_H

#include <stdbool.h>
#include <stdint.h>
#include "http/retry_after.h"
#include "text/strview.h"

/* What is known of one response. */
struct response {
	bool known; /* the code is */
	int code; /* 0: curl's 000, no response */
	struct retry_after_fields fields;
	/* What the head says about the body behind it: */
	int64_t length; /* below 0: unknown */
	uint32_t has; /* bit n: the head has field n, even if it is empty */
	bool lasts; /* HTTP/1.1, and the connection stays open */
	bool established; /* "Connection established", or the head before is a
			     407: a proxy has answered CONNECT */
	bool cut; /* the next head ends this one, without an empty line */
	bool ended; /* an empty line ends this head */
};

/* The code of a status line, "HTTP/1.1 503 Reason" or "HTTP/2 503 ", from 100
 * to 999; -1 if line is no status line. */
int response_head_code(struct strview line);

/* A response of which only the status line is read. */
struct response response_head_begin(struct strview line);

/*
 * Adds a header line, "Name: value"; any other line is ignored. Of the
 * trailers, the fields behind the body (RFC 9110 section 6.5), only
 * grpc-retry-pushback-ms counts, as gRPC sends this field there.
 *
 * Cuts off rest the lines that start with a blank: they belong to the value
 * (obsolete line folding, RFC 9112 section 5.2). NULL: there are none.
 */
void response_head_add(struct response *response, struct strview line,
    struct strview *rest, bool trailer);

/* Whether the head has this field, even if it is empty. */
bool response_head_has(const struct response *response, enum field field);

/* Cuts off rest the head at its start, which begins with a status line. */
struct response response_head_read(struct strview *rest);

#endif
