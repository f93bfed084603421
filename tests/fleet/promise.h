/*
 * promise: counts every grant and success, to check what question.h says.
 *
 * All times are real ones, in microseconds, and never decrease.
 */
#ifndef PROMISE_H
#define PROMISE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PROMISE_EVENTS (1 << 18)

struct promise_event {
	int64_t at, count;
};

struct promise {
	struct promise_event grants[PROMISE_EVENTS];
	struct promise_event successes[PROMISE_EVENTS];
	size_t granted, succeeded; /* how many events there are */
	int64_t checks;
};

void promise_clear(struct promise *promise);

/* Successes of which the server has been told. */
void promise_success(struct promise *promise, int64_t at, int64_t count);

/*
 * Retries that the server grants. False if a window of length window that ends
 * with one of them may have more retries than max(min, ratio * successes): each
 * retry may be made up to a slice after it was granted.
 */
bool promise_grant(struct promise *promise, int64_t at, int64_t count,
    int64_t slice, int64_t ratio, int64_t min);

#endif
