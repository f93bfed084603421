#include "budget/ramp.h"

#include "text/number.h"

/* The model check has fewer. */
#ifndef STEP_BITS
#define BEGAN_BITS 18
#define STEP_BITS 11
#define COUNT_BITS 9
#define SERVED_BITS 8
#define FAILED_BITS 5
#define QUIET_BITS 3

/* More failures than this, and a part of the rate, are too many. */
#define BORNE 1
#endif
#define SHARE 16

#define MOST(bits) ((INT64_C(1) << (bits)) - 1)

/* From the right; began takes what is left. */
enum {
	MET_AT = 0,
	QUIET_AT = 1,
	FAILED_AT = QUIET_AT + QUIET_BITS,
	SERVED_AT = FAILED_AT + FAILED_BITS,
	TAKEN_AT = SERVED_AT + SERVED_BITS,
	RATE_AT = TAKEN_AT + COUNT_BITS,
	STEP_AT = RATE_AT + COUNT_BITS,
	BEGAN_AT = STEP_AT + STEP_BITS,
};

static int64_t
part(uint64_t word, int at, int bits)
{
	return (int64_t)(word >> at) & MOST(bits);
}

static int64_t
mark(nanos began)
{
	return began / NANOS_MS & MOST(BEGAN_BITS);
}

/* What the word of this recovery says, or how one begins. */
static struct pace
unpack(uint64_t word, nanos began)
{
	struct pace pace = {
		.began = began,
		.step = part(word, STEP_AT, STEP_BITS),
		.rate = part(word, RATE_AT, COUNT_BITS),
		.taken = part(word, TAKEN_AT, COUNT_BITS),
		.served = part(word, SERVED_AT, SERVED_BITS),
		.failed = part(word, FAILED_AT, FAILED_BITS),
		.quiet = part(word, QUIET_AT, QUIET_BITS),
		.news = PACE_HEARD,
		.met = part(word, MET_AT, 1) != 0,
	};

	if (pace.rate == 0 && pace.taken + pace.step > 0) {
		pace.rate = PACE_FIRST;
		pace.news = PACE_AWAITED;
	}
	if (part(word, BEGAN_AT, BEGAN_BITS) != mark(began) ||
	    pace.rate < PACE_LEAST)
		return (struct pace){ .began = began, .rate = PACE_FIRST };
	return pace;
}

/* Of the fastest, as many are borne as can be counted and one more told. */
static bool
is_cut(const struct pace *pace)
{
	int64_t borne = BORNE + pace->rate / SHARE;

	return pace->failed > number_lesser(borne, MOST(FAILED_BITS) - 1);
}

static bool
is_quiet(const struct pace *pace)
{
	return 2 * pace->taken <= pace->rate && !is_cut(pace) &&
	    pace->news != PACE_AWAITED;
}

/* The rate of the next step. */
static int64_t
next_rate(const struct pace *pace)
{
	int64_t rate = pace->rate;
	int64_t most = rate + (pace->met ? 1 + rate / 16 : (rate + 1) / 2);

	if (is_cut(pace))
		return number_greater(PACE_LEAST,
		    number_greater(
			rate / 2, number_lesser(pace->served, rate * 3 / 4)));
	if (2 * pace->served <= rate || is_quiet(pace))
		return rate;
	return number_lesser(
	    number_lesser(most, 2 * pace->served), MOST(COUNT_BITS));
}

static void
end_step(struct pace *pace)
{
	pace->quiet = is_quiet(pace) ? pace->quiet + 1 : 0;
	if (pace->quiet == PACE_QUIET)
		pace->over = true;
	/* No faster than it began it has met nothing yet. */
	if (is_cut(pace) && pace->rate > PACE_FIRST)
		pace->met = true;
	pace->rate = next_rate(pace);
	pace->step++;
	pace->taken = pace->served = pace->failed = 0;
}

struct pace
pace_read(uint64_t word, nanos began, nanos now)
{
	struct pace pace = unpack(word, began);
	int64_t step = now > began ? (now - began) / PACE_STEP : 0;

	if (step > MOST(STEP_BITS))
		pace.over = true;
	while (pace.step < step && !pace.over)
		end_step(&pace);
	return pace;
}

uint64_t
pace_word(const struct pace *pace)
{
	int64_t rate = pace->news == PACE_AWAITED ? 0 : pace->rate;

	return (uint64_t)mark(pace->began) << BEGAN_AT |
	    (uint64_t)pace->step << STEP_AT | (uint64_t)rate << RATE_AT |
	    (uint64_t)pace->taken << TAKEN_AT |
	    (uint64_t)pace->served << SERVED_AT |
	    (uint64_t)pace->failed << FAILED_AT |
	    (uint64_t)pace->quiet << QUIET_AT | (uint64_t)pace->met << MET_AT;
}

nanos
pace_next(const struct pace *pace, nanos now)
{
	int64_t waits = pace->taken - (PACE_LEAST - 1);
	nanos at = pace->began + pace->step * PACE_STEP;

	if (pace->taken >= pace->rate ||
	    (pace->taken >= PACE_LEAST && is_cut(pace)))
		at += PACE_STEP;
	else if (waits > 0)
		at += PACE_STEP * waits / pace->rate;
	return at > now ? at - now : 0;
}

void
pace_take(struct pace *pace)
{
	pace->taken = number_lesser(pace->taken + 1, MOST(COUNT_BITS));
	if (pace->news == PACE_NONE)
		pace->news = PACE_AWAITED;
}

void
pace_succeed(struct pace *pace)
{
	pace->served = number_lesser(pace->served + 1, MOST(SERVED_BITS));
	pace->news = PACE_HEARD;
}

void
pace_fail(struct pace *pace)
{
	pace->failed = number_lesser(pace->failed + 1, MOST(FAILED_BITS));
	pace->news = PACE_HEARD;
}
