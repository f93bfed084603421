/*
 * framing: what the head of a response says about the body behind it.
 */
#ifndef FRAMING_H
#define FRAMING_H

#include <stdbool.h>
#include <stdint.h>
#include "http/retry_after.h"
#include "text/strview.h"

struct framing {
	int code;
	int64_t length; /* of the body; below 0: unknown */
	bool coded, typed; /* there is a Transfer-Encoding, a Content-Type */
	bool encoded, dated; /* there is a Content-Encoding, a Date */
	bool lasts; /* HTTP/1.1, and the connection stays open */
	bool established; /* "Connection established", or the head before is a
			     407: a proxy has answered CONNECT */
	bool trails; /* there is a Trailer */
	bool cut; /* the next head ends this one, without an empty line */
	bool ended; /* an empty line ends this head */
};

/* Cuts off the head at the start of rest, and reads it into the response. */
struct framing framing_read(struct strview *rest, struct response *response);

/* Notes what a header field says about the body. */
void framing_note(struct framing *framing, struct strview line);

/* Whether a line is the header field that announces trailers. */
bool framing_is_trailer(struct strview line);

/* Whether such a response has no body, whatever length it gives (RFC 9110
 * section 6.4.1). */
bool framing_bodiless(int code);

/*
 * Whether the client may send another request because of such a response: a
 * redirect, or one that asks for a password.
 */
bool framing_renews(int code);

/*
 * Whether the length gives the end of the body at the start of rest. If the
 * body is encoded, curl --compressed may have decoded it, and then the length
 * is wrong; only a body that still starts like gzip has not been decoded.
 */
bool framing_tells_end(const struct framing *framing, struct strview rest);

/*
 * Whether a head has the fields that all servers send: a Date (RFC 9110 section
 * 6.6.1) or, because some proxies send none, fields that describe the body. A
 * head that a page quotes seldom has them.
 */
bool framing_complete(const struct framing *framing);

#endif
