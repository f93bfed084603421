/*
 * retry_after: reads from a response's header fields how long to wait.
 *
 * The fields, and their sources:
 *
 *	retry-after		RFC 9110 section 10.2.3
 *	retry-after-ms		the same in milliseconds, from API gateways
 *	x-ms-retry-after-ms	the same in milliseconds, from Azure
 *	x-amz-retry-after	the same in milliseconds, from AWS
 *	grpc-retry-pushback-ms	gRPC proposal A6, "Pushback"
 *	ratelimit		draft-ietf-httpapi-ratelimit-headers
 *	ratelimit-reset		that draft up to 06, with ratelimit-remaining
 *	x-ratelimit-reset	GitHub and others, with x-ratelimit-remaining
 *	date			RFC 9110 section 6.6.1: dates are relative to it
 */
#ifndef RETRY_AFTER_H
#define RETRY_AFTER_H

#include <stdbool.h>
#include "text/duration.h"
#include "text/strview.h"

enum field {
	FIELD_DATE,
	FIELD_RETRY_AFTER,
	FIELD_RETRY_AFTER_MS,
	FIELD_X_MS_RETRY_AFTER_MS,
	FIELD_X_AMZ_RETRY_AFTER,
	FIELD_PUSHBACK,
	FIELD_RATELIMIT,
	FIELD_REMAINING, /* each is before its reset */
	FIELD_RESET,
	FIELD_X_REMAINING,
	FIELD_X_RESET,
	FIELD_COUNT
};

/* The most dates in the Retry-After of one response. */
#define RETRY_AFTER_DATES 4

/* What the fields of a response say together. */
struct retry_after {
	bool given; /* the response names a wait */
	bool never; /* the server wants no other attempt at all */
	bool doubtful; /* some field is malformed, and was ignored */
	nanos wait; /* from the moment of the response, >= 0 */
};

/* The fields of one response. The views point into the text that was read. */
struct retry_after_fields {
	struct strview values[FIELD_COUNT]; /* the first of each */
	struct retry_after sum; /* of all, but its wait not of the dates */
	int dated; /* so many valid dates are in Retry-After */
	struct strview dates[RETRY_AFTER_DATES];
	bool exhausted; /* a RateLimit says that nothing is left */
	nanos reset; /* the longest wait that an exhausted RateLimit names */
};

/* The field with that name, in upper or lower case; FIELD_COUNT: any other. */
enum field retry_after_find(struct strview name);

/*
 * Adds a field of the response. FIELD_COUNT and a field without a value are
 * ignored. Of a Date, a Remaining or a Reset that is repeated the first one
 * counts. Each of the others may be a list, in one field or in several (RFC
 * 9110 section 5.3), and all items count.
 */
void retry_after_add(
    struct retry_after_fields *fields, enum field field, struct strview value);

/*
 * What the fields say together. Of several waits the longest counts. RateLimit
 * and the resets count only if none of the other fields names a wait, because
 * in the draft Retry-After takes precedence. now is in nanoseconds of Unix
 * time; dates are relative to now if there is no valid Date.
 *
 * Fractions of seconds and milliseconds are rounded up; a date in the past is
 * 0; a wait that is too long saturates at NANOS_MAX. A reset counts if
 * remaining is 0. It is a number of seconds below 1e9, a moment in seconds of
 * Unix time from 1e9 on, and a moment in milliseconds from 1e12 on. A negative
 * or malformed value is ignored and sets doubtful; but a negative or malformed
 * pushback means never (A6).
 */
struct retry_after
retry_after_read(const struct retry_after_fields *fields, nanos now);

#endif
