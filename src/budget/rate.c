#include "budget/rate.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "text/strview.h"

#define WORDS (RATE_SLICES + 1)

const char *
rate_parse(const char *text, struct rate_terms *terms)
{
	const char *time = strchr(text, '/');
	size_t length;

	*terms = (struct rate_terms){ .number = 0 };
	if (*text == '\0')
		return NULL;
	if (time == NULL)
		return "not N/DUR, as in 10/s";
	if (!number_whole(text, (size_t)(time - text), &terms->number) ||
	    terms->number < 1 || terms->number > RATE_NUMBER_MOST)
		return "not a number from 1 to 1000000, and a time";
	time++;
	length = strlen(time);
	/* One of a unit: its number may be left out. */
	if (isalpha((unsigned char)*time))
		terms->time = duration_unit((struct strview){ time, length });
	else if (!duration_parse(time, length, &terms->time))
		terms->time = 0;
	return terms->time < RATE_TIME_LEAST || terms->time > RATE_TIME_MOST
	    ? "not a number and a time from 1ms to 24h"
	    : NULL;
}

char *
rate_put(char room[RATE_ROOM], const struct rate_terms *terms)
{
	char span[DURATION_ROOM];
	const char *time = duration_format(span, terms->time);

	if (time[0] == '1' && isalpha((unsigned char)time[1]) &&
	    strpbrk(time + 1, "0123456789") == NULL)
		time++;
	snprintf(room, RATE_ROOM, "%" PRId64 "/%s", terms->number, time);
	return room;
}

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

int64_t
rate_used(const struct rate *rate, nanos now)
{
	struct rate copy = *rate;

	if (rate->terms.number == 0)
		return 0;
	advance(&copy, now);
	return begun(&copy);
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
