#include "report/forecast.h"

#include "policy/plan.h"
#include "text/number.h"

/* The retries that are added one by one; the others are added in that many
 * parts.
 */
#define STEPS 1000

/* How many random delays the means are computed from. */
#define DRAWS (INT64_C(1) << 20)

/*
 * After that many retries the mean of decorrelated jitter does not change any
 * more. Most series grow by a factor of 1.1 at each retry (the mean of its
 * logarithm is ln 3 - 1), so a nanosecond grows to 292 years in 450 retries.
 */
#define STEADY 500

static struct span
sum(struct span a, struct span b)
{
	return (struct span){ number_add(a.least, b.least),
		number_add(a.mean, b.mean), number_add(a.most, b.most) };
}

/* The n-th delay; for decorrelated jitter its mean is left at 0. */
static struct span
delay(const struct backoff *backoff, int64_t n)
{
	nanos envelope = backoff_envelope(backoff, n), floor = backoff->floor;
	nanos half = envelope / 2, least, most;
	double above;

	switch (backoff->jitter) {
	case JITTER_FULL:
		return (struct span){ floor, floor + (envelope - floor) / 2,
			envelope };
	case JITTER_EQUAL:
		if (half == 0)
			break;
		/* Uniform between half the envelope and the envelope, but a
		 * value below the floor becomes the floor, also in the mean. */
		least = number_greater(envelope - half, floor);
		above = (double)(envelope - least);
		return (struct span){ least,
			least + (nanos)(above * above / 2 / (double)half),
			envelope };
	case JITTER_DECORRELATED:
		/* At most three times the one before; the cap is reached after
		 * at most 64 times. */
		most = backoff_base(backoff);
		least =
		    number_greater(number_lesser(most, backoff->cap), floor);
		for (int64_t i = 0; i < number_lesser(n, 64); i++)
			most = number_greater(
			    number_lesser(
				number_multiply(most, 3), backoff->cap),
			    floor);
		return (struct span){ least, 0, most };
	case JITTER_NONE:
		break;
	}
	return (struct span){ envelope, envelope, envelope };
}

/* The sum of count delays that grow evenly from one to the other. */
static struct span
stretch(struct span from, struct span to, int64_t count)
{
	return (struct span){
		number_multiply(
		    from.least + (to.least - from.least) / 2, count),
		number_multiply(from.mean + (to.mean - from.mean) / 2, count),
		number_multiply(from.most + (to.most - from.most) / 2, count),
	};
}

/* The sum of the first count delays. Lists of delays are shorter than STEPS. */
static struct span
total(const struct backoff *backoff, int64_t count)
{
	struct span all = { 0, 0, 0 };
	int64_t rest = count - STEPS, from = STEPS;

	for (int64_t n = 1; n <= number_lesser(count, STEPS); n++)
		all = sum(all, delay(backoff, n));
	for (int64_t i = 1; i <= STEPS && rest > 0; i++) {
		int64_t to =
		    STEPS + rest / STEPS * i + rest % STEPS * i / STEPS;

		if (to > from)
			all = sum(all,
			    stretch(delay(backoff, from + 1),
				delay(backoff, to), to - from));
		from = to;
	}
	return all;
}

static nanos
whole(double span)
{
	return span >= 0x1p63 ? NANOS_MAX : (nanos)span;
}

/* The means of decorrelated jitter, from a sample of many series. */
static void
draw_means(struct forecast *forecast, const struct backoff *backoff)
{
	bool endless = forecast->retries == POLICY_UNLIMITED;
	int64_t count = endless ? forecast->rows : forecast->retries;
	/* The delay between two successes is the first one of a series. */
	int64_t steps = number_lesser(number_greater(count, 1), STEADY);
	double sums[STEADY] = { 0 }, all = 0;
	int64_t series = DRAWS / steps;
	struct schedule schedule = schedule_start(0);

	for (int64_t i = 0; i < series; i++) {
		schedule_reset(&schedule);
		for (int64_t n = 0; n < steps; n++)
			sums[n] +=
			    (double)backoff_next(backoff, &schedule, NANOS_MAX);
	}
	forecast->between.mean = whole(sums[0] / (double)series);
	for (int64_t n = 0; n < steps && count > 0; n++) {
		double mean = sums[n] / (double)series;

		if (n < forecast->rows)
			forecast->delay[n].mean = whole(mean);
		all += n + 1 < steps ? mean
				     : mean * (double)(forecast->retries - n);
	}
	forecast->total.mean = whole(all);
	forecast->drawn = true;
}

/* Goes through the worst case, attempt by attempt, up to the deadline. */
static void
find_cut(struct forecast *forecast, const struct policy *policy)
{
	nanos left = policy->deadline, wait;
	int64_t attempt = 1;

	forecast->quick =
	    forecast->attempts == POLICY_UNLIMITED && !forecast->limited;
	left -= number_lesser(policy->splay, left / 2);
	while (attempt <= FORECAST_ATTEMPTS) {
		int64_t n = attempt <= forecast->retries ? attempt : 1;
		nanos timeout = plan_timeout(policy, attempt);

		if (forecast->quick)
			timeout = 0;
		else if (timeout == 0 || timeout > left)
			break;
		if (attempt == forecast->attempts)
			return;
		left -= timeout;
		wait = backoff_trim(
		    &policy->backoff, delay(&policy->backoff, n).most, left);
		attempt++;
		if (wait >= left) {
			forecast->cut = attempt;
			return;
		}
		left -= wait;
	}
	forecast->cut = attempt;
	forecast->begun = true;
}

void
forecast_make(struct forecast *forecast, const struct policy *policy)
{
	const struct backoff *backoff = &policy->backoff;
	const struct timeouts *timeouts = &policy->timeouts;
	int64_t retries = POLICY_UNLIMITED, attempts, listed;
	bool endless;

	/* A limit for any failure is a limit of all retries. Each failure may
	 * end a row that lacks one success. */
	if (policy->attempts != POLICY_UNLIMITED)
		retries = policy->attempts - policy->consecutive;
	for (int i = 0; i < policy->limits; i++)
		if (policy->limit[i]->failures.fail)
			retries =
			    number_lesser(retries, policy->limit[i]->retries);
	attempts = number_lesser(policy->attempts,
	    number_multiply(number_add(retries, 1), policy->consecutive));
	endless = attempts == POLICY_UNLIMITED;
	listed = number_lesser(attempts, timeouts->count);
	*forecast = (struct forecast){
		.attempts = attempts,
		.retries = endless ? POLICY_UNLIMITED : retries,
		.repetitions = endless
		    ? number_multiply(attempts, policy->consecutive - 1)
		    : attempts - 1 - retries,
		.between = delay(backoff, 1),
		.splay = { 0, policy->splay / 2, policy->splay },
		.limited = listed > 0,
		.worst = NANOS_MAX,
	};
	if (listed > 0)
		forecast->timeouts = number_multiply(
		    timeouts->list[timeouts->count - 1], attempts - listed);
	for (int64_t i = 0; i < listed; i++) {
		forecast->limited &= timeouts->list[i] > 0;
		forecast->timeouts =
		    number_add(forecast->timeouts, timeouts->list[i]);
	}
	if (!forecast->limited)
		forecast->timeouts = NANOS_MAX;
	forecast->rows = forecast->retries > FORECAST_ROWS
	    ? FORECAST_FIRST
	    : (int)forecast->retries;
	for (int i = 0; i < forecast->rows; i++)
		forecast->delay[i] = delay(backoff, i + 1);
	if (!endless)
		forecast->total = total(backoff, forecast->retries);
	if (backoff->jitter == JITTER_DECORRELATED)
		draw_means(forecast, backoff);
	/* That is repetitions times the delay between two successes. */
	forecast->total = sum(sum(forecast->total, forecast->splay),
	    stretch(
		forecast->between, forecast->between, forecast->repetitions));
	if (!endless)
		forecast->worst =
		    number_add(forecast->total.most, forecast->timeouts);
	forecast->slo = number_multiply(forecast->worst, 3);
	forecast->fits =
	    policy->deadline == 0 || forecast->worst <= policy->deadline;
	if (!forecast->fits)
		find_cut(forecast, policy);
}
