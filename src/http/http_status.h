/*
 * http_status: reads from a status file what a server answered, and how long it
 * asks to wait.
 *
 * curl writes the file, in one of some forms, and any bytes may be in it.
 */
#ifndef HTTP_STATUS_H
#define HTTP_STATUS_H

#include <stdbool.h>
#include <stddef.h>
#include "text/duration.h"

/* What the fields of a response say together. */
struct retry_after {
	bool given; /* the response names a wait */
	bool never; /* the server wants no other attempt at all */
	bool doubtful; /* some field is malformed, and was ignored */
	nanos wait; /* from the moment of the response, >= 0 */
};

struct http_status {
	bool unread; /* there was a file, but it could not be read */
	/* Of the last response; 0 is curl's 000: there was none; -1: it is not
	 * known, and only the exit status counts. */
	int code;
	struct retry_after after; /* the wait that the server named */
};

enum http_status_meaning {
	HTTP_STATUS_SAYS_NOTHING, /* the exit status stands */
	HTTP_STATUS_SAYS_RETRY,
	HTTP_STATUS_SAYS_STOP
};

/*
 * Reads a status file, or a part of one. now is the time when it was read, in
 * nanoseconds of Unix time; it matters only if a response names a moment and
 * has no Date. dump: curl -D wrote it, so there are heads and nothing else.
 *
 * Of several responses the last final one counts, with its own fields alone. A
 * body is not searched, because it may quote a response. If there was no
 * response (000), no wait is read either, because a number beside 000 means
 * something else.
 *
 * The code of %{http_code} is the last line that is not blank: 000, or 200 to
 * 599, because no transfer ends with an interim response. Behind a blank there
 * may be a Retry-After that can be understood. The objects of %{json} and
 * %{header_json} may stand in any order.
 */
struct http_status
http_status_parse(const char *bytes, size_t length, bool dump, nanos now);

/*
 * What the response means for another attempt. To be retried are 408, 425 and
 * 429 (RFC 9110 section 15.5.9, RFC 8470, RFC 6585), all 5xx except those that
 * will not change by themselves (501 505 506 508 510 511), and 403 and 413 if
 * the server names a wait (RFC 9110 section 15.5.14). Other 4xx and those six
 * stop. A code above 599 counts as 5xx (RFC 9110 section 15). The meaning is
 * HTTP_STATUS_SAYS_NOTHING for 2xx, 3xx, no response and no code.
 *
 * If after.never is set, a code that would be retried stops. With gRPC's 200,
 * it changes nothing here: the caller has to check it.
 */
enum http_status_meaning http_status_judge(const struct http_status *http);

#endif
