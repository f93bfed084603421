/*
 * retry_after: the fields of one response that say when to come back, and what
 * they say together. Their sources:
 *
 *	retry-after		RFC 9110 section 10.2.3
 *	retry-after-ms		the same in milliseconds, as API gateways send
 *	x-ms-retry-after-ms	it; Azure's name for that
 *	grpc-retry-pushback-ms	gRPC proposal A6, "Pushback"
 *	ratelimit		draft-ietf-httpapi-ratelimit-headers
 *	ratelimit-reset		its drafts up to 06, with ratelimit-remaining
 *	x-ratelimit-reset	GitHub and others, with x-ratelimit-remaining
 *	date			RFC 9110 section 6.6.1: what dates count from
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
	FIELD_PUSHBACK,
	FIELD_RATELIMIT,
	FIELD_REMAINING,
	FIELD_RESET,
	FIELD_X_REMAINING,
	FIELD_X_RESET,
	FIELD_COUNT
};

/* All zero: a response without any of them. Values point to what was read. */
struct retry_after {
	struct strview values[FIELD_COUNT];
	bool exhausted; /* a RateLimit says that nothing is left... */
	nanos reset; /* ...for so long: the longest of them */
	bool doubtful; /* a RateLimit could not be understood */
};

/* What is known of one response. */
struct response {
	bool known; /* code is */
	int code; /* 0: there was none */
	struct retry_after fields;
};

struct asked {
	bool given; /* the response says how long to wait */
	bool never; /* it says not to try again at all */
	bool doubtful; /* something in it was not understood, and ignored */
	nanos wait; /* from the moment of the response, >= 0 */
};

/*
 * The field called name, in either case and with - or _; FIELD_COUNT if it is
 * none of them.
 */
enum field retry_after_find(struct strview name);

/*
 * Adds a field of the response. A value without bytes counts as no field. Of
 * a field that is repeated the first counts, as in curl's %header{}, but of
 * RateLimit, which is a list, every one.
 */
void retry_after_add(
    struct retry_after *fields, enum field field, struct strview value);

/*
 * What the fields say. Of several fields that name a wait the longest counts,
 * but RateLimit and the resets only where none of the four others gives one:
 * the draft has Retry-After take precedence. now is in nanoseconds of Unix
 * time, and is what dates count from where there is no valid Date.
 *
 * Seconds and milliseconds with a fraction are rounded up; a date that is
 * past is 0; too long saturates at NANOS_MAX. A reset counts where remaining
 * is 0; from 1e9 it is a moment in seconds of Unix time, from 1e12 in
 * milliseconds. What is negative or cannot be read is ignored and makes the
 * hint doubtful, but for the pushback: A6 has it mean "never".
 */
struct asked retry_after_hint(const struct retry_after *fields, nanos now);

#endif
