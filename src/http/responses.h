/*
 * responses: finds the last of several responses in a text, bodies included.
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

/* Whether the client may send another request because of a response with this
 * code: a redirect, or one that asks for a password. */
bool responses_renew(int code);

/* Whether a text starts with a head. Empty lines may be before the head. */
bool responses_start(struct strview all);

/* Whether a text starts with a head that has a field and ends in an empty line.
 */
bool responses_whole(struct strview all);

/* Whether a text, which may be cut off anywhere, is only heads and the trailers
 * that they declare. */
bool responses_only(struct strview start);

/*
 * start is the beginning of a longer text. Returns the offset, in bytes from
 * start, of the first response that start does not contain as a whole: that of
 * the last head if start ends within this head, else the end of its body. 0 if
 * the end of that body is unknown.
 */
int64_t responses_next(struct strview start);

#endif
