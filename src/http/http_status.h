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
#include <stdint.h>
#include "text/duration.h"

/* What the fields of a response say together. */
struct retry_after {
	bool given; /* the response names a wait */
	bool never; /* the server wants no other attempt at all */
	bool wanted; /* it wants one */
	nanos wait; /* from the moment of the response, >= 0 */
	/* The first field that is malformed, and was ignored, or NULL; and its
	 * value, of a long one the beginning and "...". */
	const char *doubtful;
	char doubt[48];
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

/* How many fields are kept until the head ends, because one that follows may
 * say what they mean. */
#define HTTP_KEPT 5

/* What a status file has. */
enum http_form {
	HTTP_FORM_ANY,
	HTTP_FORM_HEADS, /* curl -D wrote it: heads and nothing else */
	HTTP_FORM_SEVERAL, /* so did a curl with several URLs */
};

struct http_fields {
	struct http_value {
		size_t length;
		char bytes[40]; /* the longest date has 33 */
	} kept[HTTP_KEPT]; /* the first of each */
	struct retry_after sum; /* of all, but its wait not of the dates */
	bool dated; /* a Retry-After is a date */
	int64_t latest; /* of these dates, in Unix time */
	bool exhausted; /* a RateLimit says that nothing is left */
	nanos reset; /* the longest wait that an exhausted RateLimit names */
};

/* The waits that the responses to several URLs name. */
struct http_waits {
	bool given;
	nanos longest;
	/* Heads that curl -Z has mixed: how many have not ended, the greatest
	 * of their codes, and the fields of all. */
	int open, code;
	struct http_fields fields;
};

struct http_response {
	bool bodied; /* the head describes a body */
	int code; /* 0: curl's 000, no response; -1: unknown */
	struct http_fields fields;
};

/* Bytes of a line of a head; what a field has more is not understood. */
#define HTTP_LINE 8192

/* What has been read of a status file. */
struct http_reader {
	enum http_form form;
	nanos now; /* in nanoseconds of Unix time */
	bool begun; /* a head has begun */
	bool inside; /* it has not ended */
	bool interim; /* it is that of a 1xx response */
	bool mixed; /* the file is not only heads */
	bool body; /* one may have begun behind the first responses */
	struct http_response response; /* the last final one of heads alone */
	struct http_response first; /* the one before the first body */
	struct http_waits waits; /* of all, if there are several URLs */
	bool ended; /* the line has ended */
	size_t length; /* of the line, as far as it has been read */
	char line[HTTP_LINE]; /* and those that continue it */
};

/*
 * Reads a status file in parts, in linear time. add() gets all bytes from the
 * start on, cut anywhere, and returns false if those that follow cannot matter.
 * end() gets the last bytes of the file, in which what curl -w writes is found,
 * and returns what the file says. now is the time when it is read, in
 * nanoseconds of Unix time; it matters only if a response names a moment and
 * has no Date.
 *
 * Of several responses the last final one counts, with its own fields alone;
 * but of those to several URLs the longest wait of all that are errors. curl -Z
 * may mix their heads: then each field counts as one of each of them. A body is
 * not searched, because it may quote a response. If there was no
 * response (000), no wait is read either, because a number beside 000 means
 * something else.
 *
 * In a file that does not begin with a head, the code of %{http_code} is the
 * last line that is not blank: 000, or 200 to 599, because no transfer ends
 * with an interim response. Behind a blank there may be a Retry-After that can
 * be understood. The objects of %{json} and %{header_json} may stand in any
 * order.
 */
void
http_status_begin(struct http_reader *reader, enum http_form form, nanos now);
bool
http_status_add(struct http_reader *reader, const char *bytes, size_t length);
struct http_status
http_status_end(struct http_reader *reader, const char *end, size_t length);

/*
 * What the response means for another attempt. To be retried are 408, 425 and
 * 429 (RFC 9110 section 15.5.9, RFC 8470, RFC 6585), all 5xx except those that
 * will not change by themselves (501 505 506 508 510 511), and 403 and 413 if
 * the server names a wait (RFC 9110 section 15.5.14). Other 4xx and those six
 * stop. A code above 599 counts as 5xx (RFC 9110 section 15). The meaning is
 * HTTP_STATUS_SAYS_NOTHING for 2xx, 3xx, no response and no code.
 *
 * after.wanted makes each code of 400 or more one to be retried, and
 * after.never makes it one to stop. With gRPC's 200, it changes nothing here:
 * the caller has to check it.
 */
enum http_status_meaning http_status_judge(const struct http_status *http);

#endif
