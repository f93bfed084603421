#include "limiter.h"

#include "text/hash.h"
#include "text/number.h"

#define REFUSAL (30 * NANOS_MS)

/* From 0 to 1. */
static double
draw(struct limiter_state *state)
{
	return (double)(hash_draw(&state->chance) >> 11) * 0x1p-53;
}

static nanos
round_up(nanos time, nanos unit)
{
	return (time + unit - 1) / unit * unit;
}

/* In whole seconds, and one of them at least. */
static nanos
whole(nanos rest)
{
	return number_greater(round_up(rest, NANOS_SECOND), NANOS_SECOND);
}

/* Each function says whether a request is served now. If not, the wait is what
 * it would name. */

static bool
ask_window(const struct limiter *limiter, struct limiter_state *state,
    nanos now, nanos *wait)
{
	int64_t window = now / limiter->period;
	int64_t broad = limiter->wide > 0 ? now / limiter->breadth : 0;

	if (state->window != window)
		state->used = 0;
	if (state->broad != broad)
		state->most = 0;
	state->window = window;
	state->broad = broad;
	if (limiter->wide > 0 && state->most >= limiter->wide) {
		*wait = whole((broad + 1) * limiter->breadth - now);
		return false;
	}
	*wait = whole((window + 1) * limiter->period - now);
	if (state->used >= limiter->quota)
		return false;
	state->used++;
	state->most++;
	return true;
}

static bool
ask_sliding(const struct limiter *limiter, struct limiter_state *state,
    nanos now, nanos *wait)
{
	size_t quota = (size_t)limiter->quota;
	nanos *oldest = &state->log[state->logged % quota];

	if (state->logged >= quota && *oldest > now - limiter->period) {
		*wait = whole(*oldest + limiter->period - now);
		return false;
	}
	*oldest = now;
	state->logged++;
	return true;
}

static bool
ask_penalty(const struct limiter *limiter, struct limiter_state *state,
    nanos now, nanos *wait)
{
	if (now >= state->until) {
		state->used = 0;
		state->until = now + limiter->period;
	}
	if (++state->used <= limiter->quota)
		return true;
	state->until = number_greater(state->until, now + limiter->period / 2);
	*wait = whole(state->until - now);
	return false;
}

static bool
ask_bucket(const struct limiter *limiter, struct limiter_state *state,
    nanos now, nanos *wait)
{
	size_t which = limiter->backends > 0
	    ? hash_draw(&state->chance) % (uint64_t)limiter->backends
	    : 0;
	bool half = limiter->halves > 0 && now >= limiter->halves;
	int64_t rate = half ? limiter->rate / 2 : limiter->rate, *used;
	int64_t lacks;

	/* Of a token a nanosecond gives rate parts in NANOS_SECOND. */
	used = &state->buckets[which].used;
	*used -= (now - state->buckets[which].at) * rate;
	*used = number_greater(*used, 0);
	state->buckets[which].at = now;
	lacks = *used - (limiter->burst - 1) * NANOS_SECOND;
	if (lacks > 0) {
		*wait = round_up((lacks + rate - 1) / rate, NANOS_MS);
		return false;
	}
	*used += NANOS_SECOND;
	return true;
}

/* The place of the request is when it is served. */
static bool
ask_queue(const struct limiter *limiter, struct limiter_state *state, nanos now,
    nanos *place)
{
	nanos next = number_greater(state->next, now);

	if (next - now > limiter->period)
		return false;
	state->next = next + NANOS_SECOND / limiter->rate;
	*place = next;
	return true;
}

static bool
ask(const struct limiter *limiter, struct limiter_state *state, nanos now,
    int64_t client, nanos *wait)
{
	switch (limiter->kind) {
	case LIMITER_WINDOW:
		return ask_window(limiter, state, now, wait);
	case LIMITER_SLIDING:
		return ask_sliding(limiter, state, now, wait);
	case LIMITER_PENALTY:
		return ask_penalty(limiter, state, now, wait);
	case LIMITER_AT_ONCE:
		return state->running < limiter->quota;
	case LIMITER_BUCKET:
		return ask_bucket(limiter, state, now, wait);
	case LIMITER_QUEUE:
		return ask_queue(limiter, state, now, wait);
	case LIMITER_CHANCE:
		return draw(state) * 100 >= (double)limiter->percent;
	case LIMITER_ONE:
		if (state->asked == limiter->client)
			state->client = client;
		return state->asked < limiter->client ||
		    client != state->client;
	}
	return true;
}

struct limiter_answer
limiter_begin(const struct limiter *limiter, struct limiter_state *state,
    nanos now, int64_t client)
{
	nanos wait = 0, takes = limiter->takes;
	struct limiter_answer answer = { .status = 200 };
	bool served;

	state->asked++;
	served = ask(limiter, state, now, client, &wait);
	if (!served) {
		answer.status = limiter->status > 0 ? limiter->status : 429;
		answer.wait =
		    limiter->says == LIMITER_REST ? wait : limiter->says;
		answer.wait = number_greater(answer.wait, 0);
		takes = limiter->refuses > 0 ? limiter->refuses
					     : number_lesser(takes, REFUSAL);
	}
	answer.takes = (nanos)((double)takes * (.5 + draw(state)));
	if (served)
		state->running++;
	if (served && limiter->kind == LIMITER_QUEUE)
		answer.takes += wait - now;
	return answer;
}

void
limiter_end(struct limiter_state *state)
{
	state->running--;
}
