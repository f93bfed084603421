#include "budget/rate.h"

#include <string.h>
#include "text/number.h"

#define WORDS (RATE_SLICES + 1)

/* Rounded up, so that the slices together are no shorter than the time. */
static nanos
slice_of(const struct rate *rate)
{
	return (rate->terms.time + RATE_SLICES - 1) / RATE_SLICES;
}

/* Goes on to the present slice, and clears those that have gone by. If the
 * clock is behind, the last slice is the present one. */
static void
advance(struct rate *rate, nanos now)
{
	int64_t slice = now / slice_of(rate);

	if (slice - rate->slice >= WORDS)
		memset(rate->begun, 0, sizeof rate->begun);
	for (int i = 0; i < WORDS && rate->slice < slice; i++)
		rate->begun[++rate->slice % WORDS] = 0;
	rate->slice = number_greater(rate->slice, slice);
}

static int64_t
begun(const struct rate *rate)
{
	int64_t sum = 0;

	for (int i = 0; i < WORDS; i++)
		sum += rate->begun[i];
	return sum;
}

bool
rate_agree(struct rate *rate, const struct rate_terms *terms, nanos now)
{
	const struct rate_terms *old = &rate->terms;
	int64_t count = old->number;
	double first = (double)terms->number * (double)old->time;
	double second = (double)old->number * (double)terms->time;

	if (terms->number == 0)
		return false;
	if (old->number == terms->number && old->time == terms->time)
		return false;
	if (old->number != 0 &&
	    (first > second ||
		(first >= second && old->number <= terms->number)))
		return true;
	if (count > 0) {
		advance(rate, now);
		count = begun(rate);
	}
	rate->terms = *terms;
	memset(rate->begun, 0, sizeof rate->begun);
	rate->slice = now / slice_of(rate);
	rate->begun[rate->slice % WORDS] = (uint32_t)count;
	return false;
}

nanos
rate_take(struct rate *rate, nanos now)
{
	int64_t oldest, over;

	if (rate->terms.number == 0)
		return 0;
	advance(rate, now);
	over = begun(rate) - rate->terms.number;
	if (over < 0) {
		rate->begun[rate->slice % WORDS]++;
		return 0;
	}
	/* Until the slice has gone by with which a place falls free. */
	oldest = rate->slice - RATE_SLICES;
	for (; oldest < rate->slice; oldest++) {
		if (oldest >= 0)
			over -= rate->begun[oldest % WORDS];
		if (over < 0)
			break;
	}
	return number_greater((oldest + WORDS) * slice_of(rate) - now, 1);
}

bool
rate_is_corrupt(const struct rate *rate, nanos now)
{
	const struct rate_terms *terms = &rate->terms;

	if (terms->number == 0)
		return false;
	if (terms->number < 0 || terms->number > RATE_NUMBER_MOST ||
	    terms->time < RATE_TIME_LEAST || terms->time > RATE_TIME_MOST)
		return true;
	return rate->slice < 0 ||
	    rate->slice > (now + NANOS_MINUTE) / slice_of(rate) + 1;
}
