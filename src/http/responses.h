/*
 * responses: finds the last of several responses in a text.
 *
 * curl -i, wget --save-headers, HTTPie and xh write bodies, too; curl -D does
 * not. A body may quote a response, so a status line counts only where the
 * head of another response can begin.
 */
#ifndef RESPONSES_H
#define RESPONSES_H

#include <stdbool.h>
#include <stdint.h>
#include "http/response_head.h"
#include "text/strview.h"

/*
 * Reads the last final response of a text that starts with a head. Empty lines
 * may be before that head. A status line behind head A begins head B in these
 * places:
 *
 *	in head A, if no empty line ends A before;
 *	exactly behind the body of A, if A gives the length of the body;
 *	directly behind A, if A has no body (1xx, 204, 205, 304,
 *	Content-Length: 0), or if A is a redirect, 401 or 407, or a 2xx with
 *	which a proxy may have answered CONNECT;
 *	directly behind A, or behind the trailers that A declares, if the
 *	whole rest of the text is heads.
 *
 * The end of A's body is unknown if A gives no length, or if the body is
 * encoded. Then B may be a quotation in the body. Except behind a response that
 * has no body, B counts in the last two places only if B has the fields that
 * all servers send, or if something else shows that B is no quotation: trailers
 * before B, the reason "Connection established" in A or B, a further head
 * directly behind a 2xx B, or a redirect A without a Date.
 *
 * If all that follows the last head is fields, they are its trailers. If all
 * responses are interim, the result is true and the response untouched. False,
 * with the response untouched, if the text does not start with a head.
 */
bool responses_read(struct strview all, struct response *response);

/*
 * Reads the last final response of a file that contains heads and trailers and
 * nothing else, as curl -D writes it, of any HTTP version. An interim response
 * (1xx; RFC 9110 section 15.2) changes nothing. False, with the response
 * untouched, if there is no status line at all.
 */
bool responses_dump(struct strview all, struct response *response);

/*
 * Reads the last final response of a client's verbose output. The lines of a
 * head begin with "< " (curl -v), are indented (wget -S, also that of BusyBox),
 * or are as the server sent them (wget2 -S). A status line counts only in these
 * places, because elsewhere it may belong to a page that quotes a response:
 *
 *	in the first line that is not empty;
 *	curl: behind a request, or behind an interim response;
 *	wget: directly behind a line that ends in "..." or starts with
 *	"Connecting to ", or among the indented lines behind another head;
 *	wget2: directly behind a line that starts with "# got header ".
 *
 * Behind a final response that is not a redirect, 401 or 407, a request of curl
 * and such a line of wget count only if the client has also announced a new
 * request: curl prints the connection, wget the date and the URL. If curl has
 * printed the end of a transfer, and the rest of the log is as long as the
 * response's body, the rest is that body and is not read.
 *
 * If all responses are interim, the result is true and the response untouched.
 * False, with the response untouched, if there is no head.
 */
bool responses_log(struct strview all, struct response *response);

/* Whether a text starts with a head. Empty lines may be before the head. whole:
 * it has to have a field, and to end in an empty line. */
bool responses_start(struct strview all, bool whole);

/* What the rest of a long text is, judged by how the text starts. */
enum responses_rest {
	RESPONSES_REST_ANY, /* unknown: its end counts if it has a response */
	RESPONSES_REST_HEADS, /* more heads, and the trailers they declare */
	RESPONSES_REST_BODY /* a body: the start counts */
};

/* What the rest of a text is. start, its beginning, may be cut off anywhere. */
enum responses_rest responses_rest(struct strview start);

/*
 * start is the beginning of a longer text. Returns the offset, in bytes from
 * start, of the first response that start does not contain as a whole: that of
 * the last head if start ends within this head, else the end of its body. 0 if
 * the end of that body is unknown.
 */
int64_t responses_next(struct strview start);

#endif
