/*
 * http_status: what a status file says, that curl or another client wrote: how
 * the server answered, and when to come back. Any bytes may be in it.
 */
#ifndef HTTP_STATUS_H
#define HTTP_STATUS_H

#include <stdbool.h>
#include <stddef.h>
#include "text/duration.h"

/* What the file holds, told by its content alone. */
enum http_status_form {
	HTTP_STATUS_EMPTY, /* nothing but blanks */
	HTTP_STATUS_UNRECOGNISED,
	HTTP_STATUS_HEADERS, /* curl -D, -i and -v; wget -S; HTTPie and xh */
	HTTP_STATUS_CODE, /* %{http_status_code}, alone or with what
			     http_status_parse names */
	HTTP_STATUS_KEY_VALUE, /* lines such as http_status_code=503 and
				  retry_after=5 */
	HTTP_STATUS_JSON, /* %{json}, with or without %{header_json} */
	HTTP_STATUS_HEADER_JSON /* %{header_json} */
};

/* Who wrote it. */
enum http_status_source {
	HTTP_STATUS_FROM_ANYBODY,
	HTTP_STATUS_FROM_DUMP /* curl -D: heads and nothing else */
};

/* What follows in a long file, told by how it starts. */
enum http_status_rest {
	HTTP_STATUS_REST_ANY, /* whatever counts most at the end */
	HTTP_STATUS_REST_HEADS, /* more heads */
	HTTP_STATUS_REST_BODY /* what a server wrote: the start counts */
};

struct http_status {
	enum http_status_form form;
	bool unread; /* there was a file, and it could not be looked into */
	bool known; /* code is; without, only the exit status can judge */
	int code; /* of the last response; 0 is curl's 000: there was none */
	bool hinted; /* the server named a wait */
	nanos hint; /* that wait, from the moment of its response */
	bool never; /* the server asked not to be tried again */
	bool doubtful; /* a wait that could not be understood was ignored */
};

enum http_status_meaning {
	HTTP_STATUS_SAYS_NOTHING, /* the exit status stands */
	HTTP_STATUS_SAYS_RETRY,
	HTTP_STATUS_SAYS_STOP
};

/*
 * Reads a status file; now is the time it was read, in nanoseconds of Unix
 * time, and matters only where a response without a Date names a moment.
 *
 * Of several responses the last final one counts, with its own fields alone
 * (head.h, fields.h). A status line in a body is none: bodies may stand in all
 * files but those that are known to be dumps. Without a response (000) there is
 * no hint: a number beside that is some other one.
 *
 * A number of three digits from 100 to 599 that ends the last line alone is a
 * code, never a Retry-After, unless it is 1xx below a line that is a code by
 * itself: no transfer ends with an interim response. What follows a code and a
 * blank is a Retry-After if it is a date, or one word that starts with a
 * digit, a sign or a point. It is passed over if it is one of curl's exit
 * statuses and a message (%{exitcode} %{errormsg}), or a 0 and a blank, which
 * is the same of a success. A code may stand beside a JSON form too.
 */
struct http_status http_status_parse(const char *bytes, size_t length,
    enum http_status_source source, nanos now);

/* What follows, given the bytes that a file starts with, but not all of it. */
enum http_status_rest http_status_rest(const char *bytes, size_t length);

/*
 * What the response means for another attempt. Retried are 408, 425 and 429
 * (RFC 9110 section 15.5.9, RFC 8470, RFC 6585), all 5xx but those that will
 * not change by themselves (501 505 506 508 510 511), and 403 and 413 where
 * the server names a wait (RFC 9110 section 15.5.14). Other 4xx and those six
 * stop. What is above 599 counts as 5xx (RFC 9110 section 15). 2xx and 3xx, no
 * response and no code say nothing. Where never is set, retry becomes stop;
 * what says nothing still does, and a caller that finds a failure by other
 * means, as with gRPC's 200, has to ask for never itself.
 */
enum http_status_meaning http_status_judge(const struct http_status *http);

/* The form's name: "empty", "unrecognised", "headers", "code", "key=value",
 * "json" or "header_json". */
const char *http_status_form_name(enum http_status_form form);

#endif
