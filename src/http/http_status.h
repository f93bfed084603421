/*
 * http_status: reads from a status file what a server answered.
 *
 * curl writes the file, in one of some forms, and any bytes may be in it.
 */
#ifndef HTTP_STATUS_H
#define HTTP_STATUS_H

#include <stdbool.h>
#include <stddef.h>
#include "http/retry_after.h"
#include "text/strview.h"

/* What the file contains, recognised by its content alone. */
enum http_status_form {
	HTTP_STATUS_EMPTY, /* nothing but blanks */
	HTTP_STATUS_UNRECOGNISED,
	HTTP_STATUS_HEADERS, /* curl -D and -i */
	HTTP_STATUS_CODE, /* %{http_code}, perhaps with a Retry-After or an
			     exit status, as http_status_parse() reads it */
	HTTP_STATUS_JSON, /* %{json}, with or without %{header_json} */
	HTTP_STATUS_HEADER_JSON /* %{header_json} */
};

/* What wrote the file. */
enum http_status_source {
	HTTP_STATUS_FROM_UNKNOWN, /* it may be any of these */
	HTTP_STATUS_FROM_DUMP /* curl -D: heads and nothing else */
};

struct http_status {
	enum http_status_form form;
	bool unread; /* there was a file, but it could not be read */
	bool known; /* the code is; if not, only the exit status counts */
	int code; /* of the last response; 0 is curl's 000: there was none */
	struct retry_after after; /* the wait that the server named */
};

/*
 * Whether a text is heads and nothing else, but trailers, the fields behind a
 * body (RFC 9110 section 6.5). Empty lines may be before. cut: it is the
 * beginning of a longer text, and may end within a line.
 */
bool http_status_heads(struct strview rest, bool cut);

enum http_status_meaning {
	HTTP_STATUS_SAYS_NOTHING, /* the exit status stands */
	HTTP_STATUS_SAYS_RETRY,
	HTTP_STATUS_SAYS_STOP
};

/*
 * Reads a status file. now is the time when it was read, in nanoseconds of Unix
 * time; it matters only if a response names a moment and has no Date.
 *
 * Of several responses the last final one counts, with its own fields alone
 * (retry_after.h). Any file may contain bodies, except a dump: a
 * status line in a body does not count. If there was no response (000), no
 * wait is read either, because a number beside 000 means something else.
 *
 * If the last line is just a number of three digits from 100 to 599, that is a
 * code, never a Retry-After; but a number from 100 to 199 below a code is a
 * Retry-After, because no transfer ends with an interim response. What follows
 * a code and a blank is a Retry-After if it is a date, or one word that starts
 * with a digit, a sign or a point. What curl writes for %{exitcode} %{errormsg}
 * is skipped: an exit status and a message, or "0 " after a success. A code may
 * also stand before, between or behind the objects of a JSON form.
 */
struct http_status http_status_parse(const char *bytes, size_t length,
    enum http_status_source source, nanos now);

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
