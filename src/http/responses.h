/*
 * responses: responses one after the other, their bodies among them (curl -i,
 * wget --save-headers, HTTPie, xh) or not (curl -D). A body may quote a
 * response: a status line is one only where a head can be.
 */
#ifndef RESPONSES_H
#define RESPONSES_H

#include <stdbool.h>
#include <stdint.h>
#include "http/retry_after.h"
#include "text/strview.h"

/*
 * Reads the last final response of a text that starts with a head, empty lines
 * aside. Behind a head another one is believed
 *
 *	at once, where the first has no body (1xx, 204, 205, 304,
 *	Content-Length: 0), is a redirect, 401 or 407, or looks like what a
 *	proxy answers to CONNECT: a 2xx that tells nothing of a body, with a
 *	whole head behind it;
 *	behind a body whose length the first one tells, to the byte;
 *	where all that follows is heads, to the last byte.
 *
 * What ends where the first one's length says is a body. Where the length is
 * not told, or is that of an encoded body, heads behind a final response may
 * be a page that quotes them: the first has to have all that servers send.
 *
 * What is behind the last head is trailers if it is fields alone. False, with
 * the response untouched, where the text starts with something else.
 */
bool responses_read(struct strview all, struct response *response);

/* Whether a text starts with a head, empty lines aside. */
bool responses_start(struct strview all);

/* Whether that head has a field, and an empty line that ends it. */
bool responses_whole(struct strview all);

/* Whether it is heads and declared trailers alone, as far as it goes: it may
 * be cut off anywhere. */
bool responses_only(struct strview start);

/*
 * Given the start of a longer text: how far behind it the response that follows
 * the last one in it starts, as the lengths that are told have it. It may be
 * one that start has only a part of. 0 where nobody tells.
 */
int64_t responses_next(struct strview start);

#endif
