/*
 * responses: finds the last of several responses in a text, bodies included.
 *
 * curl -i, wget --save-headers, HTTPie and xh write bodies, too, curl -D does
 * not. A body may quote a response, so a status line counts only where a head
 * can follow.
 */
#ifndef RESPONSES_H
#define RESPONSES_H

#include <stdbool.h>
#include <stdint.h>
#include "http/retry_after.h"
#include "text/strview.h"

/*
 * Reads the last final response of a text that starts with a head, after empty
 * lines perhaps. After a head another one counts
 *
 *	at once, if the first has no body (1xx, 204, 205, 304,
 *	Content-Length: 0), is a redirect, 401 or 407, or may be a proxy's
 *	answer to CONNECT: a 2xx that says nothing of a body, with a whole
 *	head behind it;
 *	exactly behind a body whose length the first one gives;
 *	anywhere, if all that follows, to the last byte, is heads.
 *
 * What ends where the first one's length says is a body. Where the length is
 * not told, or is that of an encoded body, heads behind a final response may
 * be a page that quotes them: the first has to have all that servers send.
 *
 * What is behind the last head is trailers if it is fields alone. False, with
 * the response untouched, where the text starts with something else.
 */
bool responses_read(struct strview all, struct response *response);

/* Whether a text starts with a head, after empty lines perhaps. */
bool responses_start(struct strview all);

/* Whether that head has a field, and an empty line that ends it. */
bool responses_whole(struct strview all);

/* Whether a text, which may be cut off anywhere, is only heads and the trailers
 * that they declare. */
bool responses_only(struct strview start);

/*
 * Given the start of a longer text: how far behind it the response that follows
 * the last one in it starts, as the lengths that are told have it. It may be
 * one that start has only a part of. 0 where nobody tells.
 */
int64_t responses_next(struct strview start);

#endif
