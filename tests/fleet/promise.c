#include "promise.h"

#include <err.h>
#include "budget/window.h"

void
promise_clear(struct promise *promise)
{
	promise->granted = promise->succeeded = 0;
}

static void
add(struct promise_event *events, size_t *length, int64_t at, int64_t count)
{
	if (*length == PROMISE_EVENTS)
		errx(1, "more events than PROMISE_EVENTS");
	events[(*length)++] = (struct promise_event){ at, count };
}

void
promise_success(struct promise *promise, int64_t at, int64_t count)
{
	add(promise->successes, &promise->succeeded, at, count);
}

/* Successes are told in any order, so all of them are looked at. */
static int64_t
successes_after(const struct promise *promise, int64_t at)
{
	int64_t sum = 0;

	for (size_t i = 0; i < promise->succeeded; i++) {
		if (promise->successes[i].at > at)
			sum += promise->successes[i].count;
	}
	return sum;
}

static int64_t
grants_after(const struct promise *promise, int64_t at)
{
	int64_t sum = 0;

	for (size_t i = promise->granted; i-- > 0;) {
		if (promise->grants[i].at <= at)
			break;
		sum += promise->grants[i].count;
	}
	return sum;
}

bool
promise_grant(struct promise *promise, int64_t at, int64_t count, int64_t slice,
    int64_t ratio, int64_t min)
{
	const struct terms limits = { ratio, min, 0 };
	int64_t window = slice * WINDOW_SLICES;
	int64_t retries, successes;

	add(promise->grants, &promise->granted, at, count);
	promise->checks += count;
	/*
	 * The worst case: the oldest retries of the window were made a slice
	 * after their grant; and the last one is made a slice after its grant,
	 * when the oldest successes have left the window.
	 */
	retries = grants_after(promise, at - window - slice);
	successes = successes_after(promise, at - window + slice);
	return retries <= window_limit(&limits, successes);
}
