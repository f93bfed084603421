#include "budget/ramp.h"

#include "text/number.h"

/* tests/models/breaker_check.c has fewer bits. */
#ifndef STEP_BITS
#define BEGAN_BITS 18
#define STEP_BITS 11
#define COUNT_BITS 9
#define SERVED_BITS 8
#define FAILED_BITS 5
#define QUIET_BITS 3

/* A step is cut by more failures than this and a share of its rate. */
#define TOLERATED 1
#endif
#define SHARE 16

/* Where the fields begin, from the right. */
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
	return (int64_t)(word >> at & NUMBER_MOST(bits));
}

/* What a word has of the instant in which the recovery began. */
static int64_t
mark(nanos began)
{
	return (
	    int64_t)((uint64_t)(began / NANOS_MS) & NUMBER_MOST(BEGAN_BITS));
}

int64_t
ramp_slowdown(int64_t hosts)
{
	return number_lesser(
	    number_greater(hosts / RAMP_HOSTS, 1) - 1, RAMP_SLOWEST);
}

nanos
ramp_step(const struct ramp *ramp)
{
	return (1 + ramp->slowdown) * RAMP_STEP;
}

/* Whether the step is cut. The field must be able to count one failure more
 * than is tolerated. */
static bool
is_cut(const struct ramp *ramp)
{
	int64_t tolerated = TOLERATED + ramp->rate / SHARE;

	return ramp->failed >
	    number_lesser(tolerated, NUMBER_MOST(FAILED_BITS) - 1);
}

static bool
is_quiet(const struct ramp *ramp)
{
	return 2 * ramp->taken <= ramp->rate && !is_cut(ramp) &&
	    ramp->outcomes != RAMP_AWAITED;
}

/* The step after this one, before anything happens in it. */
static struct ramp
next_step(const struct ramp *ramp)
{
	int64_t rate = ramp->rate, most;
	struct ramp next = { .began = ramp->began,
		.slowdown = ramp->slowdown,
		.step = ramp->step + 1,
		.rate = rate,
		.quiet = is_quiet(ramp) ? ramp->quiet + 1 : 0,
		.outcomes = ramp->outcomes,
		/* Failures at the first rate do not show a limit. */
		.met = ramp->met || (is_cut(ramp) && rate > RAMP_FIRST) };

	next.over = next.quiet == RAMP_QUIET;
	if (is_cut(ramp)) {
		most = number_lesser(ramp->served, rate * 3 / 4);
		next.rate =
		    number_greater(RAMP_LEAST, number_greater(rate / 2, most));
	} else if (2 * ramp->served > rate && !is_quiet(ramp)) {
		most = rate + (ramp->met ? 1 + rate / 16 : (rate + 1) / 2);
		most = number_lesser(most, 2 * ramp->served);
		next.rate = number_lesser(most, NUMBER_MOST(COUNT_BITS));
	}
	return next;
}

struct ramp
ramp_read(uint64_t word, nanos began, int64_t slowdown, nanos now)
{
	const struct ramp first = {
		.began = began, .slowdown = slowdown, .rate = RAMP_FIRST
	};
	struct ramp ramp = {
		.began = began,
		.slowdown = slowdown,
		.step = part(word, STEP_AT, STEP_BITS),
		.rate = part(word, RATE_AT, COUNT_BITS),
		.taken = part(word, TAKEN_AT, COUNT_BITS),
		.served = part(word, SERVED_AT, SERVED_BITS),
		.failed = part(word, FAILED_AT, FAILED_BITS),
		.quiet = part(word, QUIET_AT, QUIET_BITS),
		.outcomes = RAMP_KNOWN,
		.met = part(word, MET_AT, 1) != 0,
	};
	nanos passed = now > began ? now - began : 0;
	int64_t present = passed / ramp_step(&first);

	if (ramp.rate == 0 && (ramp.taken > 0 || ramp.step > 0)) {
		ramp.rate = RAMP_FIRST;
		ramp.outcomes = RAMP_AWAITED;
	}
	/* The word is of another recovery, or corrupt. */
	if (part(word, BEGAN_AT, BEGAN_BITS) != mark(began) ||
	    ramp.rate < RAMP_LEAST)
		ramp = first;
	ramp.over = passed >= RAMP_LONGEST;
	while (ramp.step < present && !ramp.over)
		ramp = next_step(&ramp);
	return ramp;
}

uint64_t
ramp_word(const struct ramp *ramp)
{
	int64_t rate = ramp->outcomes == RAMP_AWAITED ? 0 : ramp->rate;

	return (uint64_t)mark(ramp->began) << BEGAN_AT |
	    (uint64_t)ramp->step << STEP_AT | (uint64_t)rate << RATE_AT |
	    (uint64_t)ramp->taken << TAKEN_AT |
	    (uint64_t)ramp->served << SERVED_AT |
	    (uint64_t)ramp->failed << FAILED_AT |
	    (uint64_t)ramp->quiet << QUIET_AT | (uint64_t)ramp->met << MET_AT;
}

nanos
ramp_next(const struct ramp *ramp, nanos now)
{
	int64_t waits = ramp->taken - (RAMP_LEAST - 1);
	nanos step = ramp_step(ramp), at = ramp->began + ramp->step * step;

	if (ramp->taken >= ramp->rate ||
	    (ramp->taken >= RAMP_LEAST && is_cut(ramp)))
		at += step;
	else if (waits > 0)
		at += step * waits / ramp->rate;
	return at > now ? at - now : 0;
}

void
ramp_take(struct ramp *ramp)
{
	ramp->taken = number_lesser(ramp->taken + 1, NUMBER_MOST(COUNT_BITS));
	if (ramp->outcomes == RAMP_NONE)
		ramp->outcomes = RAMP_AWAITED;
}

void
ramp_end(struct ramp *ramp, bool success)
{
	if (success)
		ramp->served =
		    number_lesser(ramp->served + 1, NUMBER_MOST(SERVED_BITS));
	else
		ramp->failed =
		    number_lesser(ramp->failed + 1, NUMBER_MOST(FAILED_BITS));
	ramp->outcomes = RAMP_KNOWN;
}
