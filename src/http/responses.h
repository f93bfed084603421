/*
 * responses: finds the last of several responses in a text.
 *
 * The head of a response is a status line, header fields and an empty line (RFC
 * 9112 sections 4 and 5). curl -D writes heads and nothing else, curl -i writes
 * a body behind them. A body is not searched, because it may quote a response.
 */
#ifndef RESPONSES_H
#define RESPONSES_H

#include <stdbool.h>
#include "http/retry_after.h"
#include "text/strview.h"

/* What is known of one response. */
struct response {
	bool known; /* the code is */
	bool has_fields; /* %{header_json} is there, perhaps an empty one */
	bool bodied; /* the head describes a body */
	int code; /* 0: curl's 000, no response */
	struct retry_after_fields fields;
};

/*
 * Whether a text is heads and nothing else, but trailers, the fields behind a
 * body (RFC 9110 section 6.5). Empty lines may be before. cut: it is the
 * beginning of a longer text, and may end within a line.
 */
bool responses_only(struct strview rest, bool cut);

/*
 * Reads the last final response of a text. An interim response (1xx; RFC 9110
 * section 15.2) changes nothing. If dump, or if the text is heads alone, each
 * status line begins a head, and of the trailers grpc-retry-pushback-ms counts,
 * as gRPC sends this field there. Else the text has to start with a head, and
 * another one counts only directly behind a head that has no body: that of an
 * interim response, of a redirect, of one that asks for a password, or of a 2xx
 * that describes none, such as a proxy's answer to CONNECT.
 *
 * False, with the response untouched, if there is no head.
 */
bool responses_read(struct strview rest, bool dump, struct response *response);

#endif
