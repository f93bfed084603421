#include "policy/backoff.h"

#include "text/number.h"
#include "text/hash.h"

/*
 * Uniform in [low, high], 0 <= low <= high. Random numbers below 2^64 mod range
 * are not used: the count of the others is a multiple of range, so no value is
 * more likely than another.
 */
static nanos
uniform(uint64_t *state, nanos low, nanos high)
{
	uint64_t range = (uint64_t)(high - low) + 1;
	uint64_t excess = (0 - range) % range;
	uint64_t random;

	do
		random = hash_draw(state);
	while (random < excess);
	return low + (nanos)(random % range);
}

/*
 * base * factor^exponent by squaring, because pow() would need libm. The
 * relative error grows with the exponent, by some 2^-52 for each step. But a
 * factor above 1 is at least 1.000001, so its power passes 2^63 before the
 * exponent is 2^26: the error is never so large that a later delay could be
 * shorter than an earlier one.
 */
static nanos
exponential(nanos base, int64_t factor, int64_t exponent)
{
	double square = (double)factor / BACKOFF_FACTOR_ONE;
	double result = (double)base;
	nanos whole;

	/* Not computed as a double, which would round a large base. A base of
	 * 0 never grows. */
	if (base == 0 || exponent == 0 || factor <= BACKOFF_FACTOR_ONE)
		return base;
	for (; exponent > 0; exponent /= 2) {
		if (exponent % 2 == 1)
			result *= square;
		if (result >= 0x1p63)
			return NANOS_MAX;
		square *= square;
	}
	/* Rounds to the nearest. Adding 0.5 would be inexact above 2^52. */
	whole = (nanos)result;
	return result - (double)whole < 0.5 ? whole : whole + 1;
}

/* base * fib(n). fib(93) is above 2^63, so the loop ends for every n. */
static nanos
fibonacci(nanos base, int64_t n)
{
	nanos sum = base, before = 0;

	for (; n > 1 && before < NANOS_MAX && base > 0; n--) {
		nanos next = number_add(sum, before);

		before = sum;
		sum = next;
	}
	return sum;
}

/* The n-th of the delays that grow from base. */
static nanos
grown(const struct backoff *backoff, nanos base, int64_t n)
{
	if (backoff->kind == BACKOFF_EXPONENTIAL)
		return exponential(base, backoff->factor, n - 1);
	if (backoff->kind == BACKOFF_LINEAR)
		return number_multiply(base, n);
	return backoff->kind == BACKOFF_FIBONACCI ? fibonacci(base, n) : base;
}

nanos
backoff_envelope(const struct backoff *backoff, int64_t n)
{
	const struct spans *delays = &backoff->delays;
	int64_t last = delays->count;
	nanos delay = n < last
	    ? delays->list[n - 1]
	    : grown(backoff, delays->list[last - 1], n - last + 1);

	return number_lesser(
	    number_greater(delay, backoff->floor), backoff->cap);
}

nanos
backoff_base(const struct backoff *backoff)
{
	for (int i = 0; i < backoff->delays.count; i++)
		if (backoff->delays.list[i] > 0)
			return number_lesser(
			    backoff->delays.list[i], backoff->cap);
	return 0;
}

nanos
backoff_trim(const struct backoff *backoff, nanos most, nanos left)
{
	nanos base = backoff_base(backoff), room = left - base;

	if (backoff->jitter == JITTER_NONE || room < base)
		return most;
	return number_lesser(most, number_greater(room, backoff->floor));
}

nanos
backoff_next(
    const struct backoff *backoff, struct schedule *schedule, nanos left)
{
	nanos base = backoff_base(backoff), most, delay;
	uint64_t *random = &schedule->random;

	schedule->n = number_add(schedule->n, 1);
	if (backoff->jitter == JITTER_DECORRELATED)
		most = number_multiply(
		    schedule->n == 1 ? base : schedule->previous, 3);
	else
		most = backoff_envelope(backoff, schedule->n);
	most = backoff_trim(backoff, most, left);
	if (backoff->jitter == JITTER_FULL)
		delay = uniform(random, backoff->floor, most);
	else if (backoff->jitter == JITTER_EQUAL)
		delay = most - most / 2 + uniform(random, 0, most / 2);
	else if (backoff->jitter == JITTER_DECORRELATED)
		delay = number_lesser(backoff->cap,
		    uniform(random, base, number_greater(most, base)));
	else
		delay = most;
	schedule->previous = number_greater(delay, backoff->floor);
	return schedule->previous;
}

nanos
backoff_after(const struct backoff *backoff, struct schedule *schedule,
    nanos delay, nanos wait, nanos left)
{
	nanos least = number_greater(delay, wait);
	nanos above = number_greater(backoff_base(backoff), wait / 10);

	if (backoff->jitter == JITTER_NONE)
		return least;
	if (left > least)
		above = number_lesser(above, (left - least) / 2);
	return number_add(least, uniform(&schedule->random, 0, above));
}

nanos
backoff_paced(struct schedule *schedule, nanos wait)
{
	nanos above = wait > 0 ? wait / 10 : NANOS_SECOND;

	return number_add(wait, uniform(&schedule->random, 0, above));
}

nanos
backoff_splay(struct schedule *schedule, nanos most)
{
	return uniform(&schedule->random, 0, most);
}
