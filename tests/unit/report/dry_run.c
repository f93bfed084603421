/*
 * dry_run: bounds and means must be those of delays that are really drawn,
 * totals and deadlines those of playing the whole policy.
 */
#include "unit.h"
#include "policy/plan.h"
#include "report/dry_run.h"
#include "text/number.h"

#define MS(n) ((nanos)(n)*NANOS_MS)
#define SECONDS(n) ((nanos)(n)*NANOS_SECOND)

/* Draws of each delay; a mean is then right to a few hundredths. */
#define SERIES 20000

#define RETRIES 12

static struct policy
make(const struct backoff *backoff, int64_t attempts)
{
	struct policy policy = {
		.attempts = attempts, .consecutive = 1, .backoff = *backoff
	};

	return policy;
}

/* One limit for all attempts. */
static struct timeouts
limit(nanos timeout)
{
	return (struct timeouts){ .list = { timeout }, .count = 1 };
}

static struct backoff
single(enum backoff_kind kind, enum jitter jitter, nanos delay)
{
	return (struct backoff){ .kind = kind,
		.grows = true,
		.jitter = jitter,
		.factor = 2 * BACKOFF_FACTOR_ONE,
		.delays = { delay },
		.count = 1,
		.cap = SECONDS(30) };
}

/* Two times that differ by at most this share of the larger one. */
static bool
near(nanos a, nanos b, double share)
{
	double apart = a > b ? (double)a - (double)b : (double)b - (double)a;

	return apart <= share * (double)(a > b ? a : b) + 1;
}

static const struct drawn {
	const char *name;
	struct backoff backoff;
} table[] = {
	{ "full",
	    { BACKOFF_EXPONENTIAL, true, JITTER_FULL, 2000000, { MS(500) }, 1,
		0, SECONDS(30) } },
	{ "full, floor",
	    { BACKOFF_EXPONENTIAL, true, JITTER_FULL, 1500000, { MS(500) }, 1,
		MS(800), SECONDS(5) } },
	{ "full, linear",
	    { BACKOFF_LINEAR, true, JITTER_FULL, 2000000, { MS(300) }, 1, 0,
		SECONDS(2) } },
	{ "full, fibonacci",
	    { BACKOFF_FIBONACCI, true, JITTER_FULL, 2000000, { MS(100) }, 1,
		MS(10), SECONDS(3) } },
	{ "full, constant",
	    { BACKOFF_CONSTANT, true, JITTER_FULL, 2000000, { SECONDS(2) }, 1,
		0, SECONDS(30) } },
	{ "full, list",
	    { BACKOFF_EXPONENTIAL, false, JITTER_FULL, 2000000,
		{ SECONDS(3), 0, SECONDS(1) }, 3, 0, SECONDS(30) } },
	{ "full, list that grows",
	    { BACKOFF_EXPONENTIAL, true, JITTER_FULL, 2000000,
		{ 0, SECONDS(1) }, 2, 0, SECONDS(30) } },
	{ "full, cap below the delay",
	    { BACKOFF_EXPONENTIAL, true, JITTER_FULL, 2000000, { SECONDS(9) },
		1, 0, SECONDS(1) } },
	{ "full, nothing",
	    { BACKOFF_EXPONENTIAL, true, JITTER_FULL, 2000000, { 0 }, 1, 0,
		SECONDS(30) } },
	{ "equal",
	    { BACKOFF_EXPONENTIAL, true, JITTER_EQUAL, 2000000, { MS(500) }, 1,
		0, SECONDS(30) } },
	{ "equal, floor within the upper half",
	    { BACKOFF_CONSTANT, true, JITTER_EQUAL, 2000000, { SECONDS(4) }, 1,
		SECONDS(3), SECONDS(30) } },
	{ "equal, floor above",
	    { BACKOFF_CONSTANT, true, JITTER_EQUAL, 2000000, { SECONDS(4) }, 1,
		SECONDS(6), SECONDS(30) } },
	{ "equal, a nanosecond",
	    { BACKOFF_CONSTANT, true, JITTER_EQUAL, 2000000, { 1 }, 1, 0,
		SECONDS(30) } },
	{ "decorrelated",
	    { BACKOFF_EXPONENTIAL, true, JITTER_DECORRELATED, 2000000,
		{ MS(500) }, 1, 0, SECONDS(30) } },
	{ "decorrelated, floor",
	    { BACKOFF_EXPONENTIAL, true, JITTER_DECORRELATED, 2000000,
		{ MS(500) }, 1, SECONDS(1), SECONDS(20) } },
	{ "decorrelated, cap below the delay",
	    { BACKOFF_EXPONENTIAL, true, JITTER_DECORRELATED, 2000000,
		{ SECONDS(9) }, 1, 0, SECONDS(1) } },
	{ "decorrelated, nothing but a floor",
	    { BACKOFF_EXPONENTIAL, true, JITTER_DECORRELATED, 2000000, { 0 }, 1,
		MS(10), SECONDS(1) } },
	{ "none",
	    { BACKOFF_FIBONACCI, true, JITTER_NONE, 2000000, { MS(500) }, 1, 0,
		SECONDS(30) } },
};

/* The least, the mean and the most that were drawn of each delay. */
static void
draw(const struct backoff *backoff, struct span seen[RETRIES])
{
	struct schedule schedule = schedule_start(7);
	double sums[RETRIES] = { 0 };

	for (int n = 0; n < RETRIES; n++)
		seen[n].least = NANOS_MAX;
	for (int i = 0; i < SERIES; i++) {
		schedule_reset(&schedule);
		for (int n = 0; n < RETRIES; n++) {
			nanos delay =
			    backoff_next(backoff, &schedule, NANOS_MAX);

			if (delay < seen[n].least)
				seen[n].least = delay;
			if (delay > seen[n].most)
				seen[n].most = delay;
			sums[n] += (double)delay;
		}
	}
	for (int n = 0; n < RETRIES; n++)
		seen[n].mean = (nanos)(sums[n] / SERIES);
}

static void
test_delays_are_as_they_are_drawn(void)
{
	for (size_t i = 0; i < LENGTH(table); i++) {
		const struct drawn *row = &table[i];
		struct policy policy = make(&row->backoff, RETRIES + 1);
		struct span seen[RETRIES] = { 0 }, sum = { 0, 0, 0 };
		struct forecast forecast;

		draw(&row->backoff, seen);
		dry_run_forecast(&forecast, &policy);
		EQUAL(row->name, forecast.rows, RETRIES);
		EQUAL(row->name, forecast.retries, RETRIES);
		for (int n = 0; n < RETRIES; n++) {
			const struct span *span = &forecast.delay[n];
			nanos width = span->most - span->least;

			HOLDS(row->name, seen[n].least >= span->least);
			HOLDS(row->name, seen[n].most <= span->most);
			HOLDS(row->name, near(seen[n].mean, span->mean, 0.03));
			/*
			 * The most of decorrelated jitter is hardly ever drawn.
			 */
			if (n == 0 ||
			    row->backoff.jitter != JITTER_DECORRELATED) {
				HOLDS(row->name,
				    seen[n].least - span->least <= width / 50);
				HOLDS(row->name,
				    span->most - seen[n].most <= width / 50);
			}
			sum.least += span->least;
			sum.mean += span->mean;
			sum.most += span->most;
		}
		EQUAL(row->name, forecast.total.least, sum.least);
		HOLDS(row->name, near(forecast.total.mean, sum.mean, 1e-6));
		EQUAL(row->name, forecast.total.most, sum.most);
	}
}

static void
test_exact_means(void)
{
	struct backoff backoff =
	    single(BACKOFF_EXPONENTIAL, JITTER_FULL, SECONDS(1));
	struct policy policy = make(&backoff, 4);
	struct forecast forecast;

	policy.splay = SECONDS(4);
	dry_run_forecast(&forecast, &policy);
	HOLDS("full", !forecast.drawn);
	EQUAL("full", forecast.delay[0].mean, MS(500));
	EQUAL("full", forecast.delay[2].mean, MS(2000));
	EQUAL("splay", forecast.splay.mean, MS(2000));
	EQUAL("splay", forecast.splay.most, MS(4000));
	EQUAL("total", forecast.total.least, 0);
	EQUAL("total", forecast.total.mean, MS(5500));
	EQUAL("total", forecast.total.most, MS(11000));
	policy.backoff = single(BACKOFF_CONSTANT, JITTER_EQUAL, SECONDS(4));
	/* One in two below the floor, the others 3.5 s on average. */
	policy.backoff.floor = SECONDS(3);
	dry_run_forecast(&forecast, &policy);
	EQUAL("equal", forecast.delay[0].least, SECONDS(3));
	EQUAL("equal", forecast.delay[0].mean, MS(3250));
	EQUAL("equal", forecast.delay[0].most, SECONDS(4));
	policy.backoff = single(BACKOFF_CONSTANT, JITTER_DECORRELATED, MS(500));
	dry_run_forecast(&forecast, &policy);
	HOLDS("decorrelated", forecast.drawn);
	HOLDS("decorrelated", near(forecast.delay[0].mean, MS(1000), 0.01));
	HOLDS("decorrelated", near(forecast.delay[1].mean, MS(1750), 0.01));
}

/* Of so many retries, one after the other. */
static struct span
add_up(const struct backoff *backoff, int64_t retries)
{
	struct span sum = { 0, 0, 0 };

	for (int64_t n = 1; n <= retries; n++) {
		nanos envelope = backoff_envelope(backoff, n);

		sum.least = number_add(sum.least, backoff->floor);
		sum.mean = number_add(
		    sum.mean, backoff->floor + (envelope - backoff->floor) / 2);
		sum.most = number_add(sum.most, envelope);
	}
	return sum;
}

static void
test_totals_of_many_retries(void)
{
	static const int64_t counts[] = { 0, 1, 2, 999, 1000, 1001, 1002, 1999,
		2000, 2001, 12345, 300000 };
	static const enum backoff_kind kinds[] = { BACKOFF_EXPONENTIAL,
		BACKOFF_LINEAR, BACKOFF_CONSTANT, BACKOFF_FIBONACCI };

	for (size_t i = 0; i < LENGTH(counts) * LENGTH(kinds); i++) {
		int64_t count = counts[i / LENGTH(kinds)];
		struct backoff backoff =
		    single(kinds[i % LENGTH(kinds)], JITTER_FULL, MS(1));
		struct policy policy;
		struct forecast forecast;
		struct span sum;

		backoff.factor = 1000100;
		backoff.cap = SECONDS(300);
		backoff.floor = i % 8 < 4 ? 0 : MS(20);
		policy = make(&backoff, count + 1);
		dry_run_forecast(&forecast, &policy);
		sum = add_up(&backoff, count);
		EQUAL("least", forecast.total.least, sum.least);
		HOLDS("mean", near(forecast.total.mean, sum.mean, 1e-3));
		HOLDS("most", near(forecast.total.most, sum.most, 1e-3));
		EQUAL("rows", forecast.rows, count <= 100 ? count : 10);
	}
}

static void
test_decorrelated_in_the_long_run(void)
{
	struct backoff backoff =
	    single(BACKOFF_EXPONENTIAL, JITTER_DECORRELATED, SECONDS(1));
	struct policy policy = make(&backoff, 20001);
	struct schedule schedule = schedule_start(3);
	struct forecast forecast;
	nanos sum = 0;

	dry_run_forecast(&forecast, &policy);
	for (int i = 0; i < 20000; i++)
		sum += backoff_next(&backoff, &schedule, NANOS_MAX);
	HOLDS("mean", near(forecast.total.mean, sum, 0.05));
	EQUAL("least", forecast.total.least, SECONDS(20000));
	/* 3 s, 9 s, 27 s and then the cap. */
	EQUAL("most", forecast.total.most, SECONDS(39 + 19997 * 30));
}

static void
test_no_limit_of_attempts(void)
{
	struct backoff backoff =
	    single(BACKOFF_EXPONENTIAL, JITTER_DECORRELATED, SECONDS(1));
	struct policy policy = make(&backoff, POLICY_UNLIMITED);
	struct forecast forecast;

	policy.timeouts = limit(SECONDS(1));
	dry_run_forecast(&forecast, &policy);
	EQUAL("inf", forecast.retries, POLICY_UNLIMITED);
	EQUAL("inf", forecast.rows, 10);
	HOLDS("inf", near(forecast.delay[0].mean, SECONDS(2), 0.01));
	HOLDS("inf", forecast.delay[9].mean > SECONDS(3));
	EQUAL("inf", forecast.worst, NANOS_MAX);
	EQUAL("inf", forecast.slo, NANOS_MAX);
	HOLDS("inf", forecast.fits);
}

static void
test_saturation(void)
{
	struct backoff backoff =
	    single(BACKOFF_CONSTANT, JITTER_NONE, NANOS_MAX / 2);
	struct policy policy = make(&backoff, 4);
	struct forecast forecast;

	policy.backoff.cap = NANOS_MAX;
	policy.timeouts = limit(1);
	dry_run_forecast(&forecast, &policy);
	EQUAL("delays", forecast.total.least, NANOS_MAX);
	EQUAL("delays", forecast.worst, NANOS_MAX);
	policy.attempts = INT64_MAX - 1;
	policy.timeouts = limit(NANOS_MAX);
	policy.splay = NANOS_MAX;
	policy.deadline = NANOS_MAX;
	for (int jitter = JITTER_FULL; jitter <= JITTER_NONE; jitter++) {
		policy.backoff.jitter = (enum jitter)jitter;
		policy.backoff.floor = NANOS_MAX / 2;
		dry_run_forecast(&forecast, &policy);
		EQUAL("all", forecast.worst, NANOS_MAX);
		EQUAL("all", forecast.total.mean, NANOS_MAX);
	}
}

/* The worst case of one policy, and what a deadline makes of it. */
static const struct deadline {
	const char *name;
	int64_t attempts;
	nanos timeout, delay, splay, deadline;
	enum jitter jitter;
	nanos worst;
	bool fits;
	int64_t cut;
	bool begun;
} deadlines[] = {
	{ "4 x 150 ms + 3 x 2 s", 4, MS(150), SECONDS(2), 0, 0, JITTER_NONE,
	    MS(6600), true, 0, false },
	{ "in time", 4, MS(150), SECONDS(2), 0, SECONDS(7), JITTER_NONE,
	    MS(6600), true, 0, false },
	{ "just in time", 4, MS(150), SECONDS(2), 0, MS(6600), JITTER_NONE,
	    MS(6600), true, 0, false },
	{ "a nanosecond late", 4, MS(150), SECONDS(2), 0, MS(6600) - 1,
	    JITTER_NONE, MS(6600), false, 4, true },
	{ "its start is late", 4, MS(150), SECONDS(2), 0, MS(6450), JITTER_NONE,
	    MS(6600), false, 4, false },
	{ "the third is cut off", 4, MS(150), SECONDS(2), 0, MS(4301),
	    JITTER_NONE, MS(6600), false, 3, true },
	{ "the first is cut off", 4, MS(150), SECONDS(2), 0, MS(100),
	    JITTER_NONE, MS(6600), false, 1, true },
	{ "no room for a second", 4, MS(150), SECONDS(2), 0, SECONDS(2),
	    JITTER_NONE, MS(6600), false, 2, false },
	{ "splay", 4, MS(150), SECONDS(2), SECONDS(1), SECONDS(7), JITTER_NONE,
	    MS(7600), false, 4, false },
	{ "the first ends with it", 4, MS(150), SECONDS(2), 0, MS(150),
	    JITTER_NONE, MS(6600), false, 2, false },
	/* Of a second, half. */
	{ "splay leaves half", 1, MS(400), SECONDS(2), SECONDS(9), SECONDS(1),
	    JITTER_NONE, MS(9400), false, 0, false },
	{ "splay at most half", 1, MS(600), SECONDS(2), SECONDS(9), SECONDS(1),
	    JITTER_NONE, MS(9600), false, 1, true },
	{ "no timeout", 4, 0, SECONDS(2), 0, SECONDS(60), JITTER_NONE,
	    NANOS_MAX, false, 1, true },
	{ "no timeout, no deadline", 4, 0, SECONDS(2), 0, 0, JITTER_NONE,
	    NANOS_MAX, true, 0, false },
	{ "one attempt", 1, SECONDS(1), SECONDS(2), 0, SECONDS(1), JITTER_FULL,
	    SECONDS(1), true, 0, false },
	{ "no end", POLICY_UNLIMITED, SECONDS(1), SECONDS(2), 0, SECONDS(8),
	    JITTER_NONE, NANOS_MAX, false, 4, false },
	{ "no end, cut off", POLICY_UNLIMITED, SECONDS(1), SECONDS(2), 0,
	    SECONDS(9) + MS(500), JITTER_NONE, NANOS_MAX, false, 4, true },
	{ "no end, no timeout", POLICY_UNLIMITED, 0, SECONDS(2), 0, SECONDS(8),
	    JITTER_NONE, NANOS_MAX, false, 5, false },
	{ "no end, no timeout, splay", POLICY_UNLIMITED, 0, SECONDS(2),
	    SECONDS(1), SECONDS(8), JITTER_NONE, NANOS_MAX, false, 5, false },
	{ "far away", POLICY_UNLIMITED, 1, 0, 0, SECONDS(1), JITTER_NONE,
	    NANOS_MAX, false, FORECAST_ATTEMPTS + 1, true },
	/* 2 s each, but the third would end at 6.45 s, where 50 ms are left:
	 * less than a base delay, so it is not trimmed. */
	{ "trimmed in vain", 4, MS(150), SECONDS(2), 0, MS(6500), JITTER_FULL,
	    MS(6600), false, 4, true },
};

static void
test_deadlines(void)
{
	for (size_t i = 0; i < LENGTH(deadlines); i++) {
		const struct deadline *row = &deadlines[i];
		struct backoff backoff =
		    single(BACKOFF_CONSTANT, row->jitter, row->delay);
		struct policy policy = make(&backoff, row->attempts);
		struct forecast forecast;

		policy.timeouts = limit(row->timeout);
		policy.splay = row->splay;
		policy.deadline = row->deadline;
		dry_run_forecast(&forecast, &policy);
		EQUAL(row->name, forecast.worst, row->worst);
		EQUAL(row->name, forecast.slo, number_multiply(row->worst, 3));
		EQUAL(row->name, forecast.fits, row->fits);
		EQUAL(row->name, forecast.cut, row->cut);
		EQUAL(row->name, forecast.begun, row->begun);
	}
}

/* Which attempt has which timeout, and what all timeouts add up to. */
static const struct timed {
	const char *name;
	struct timeouts timeouts;
	int64_t attempt; /* the last one of those that are summed */
	nanos limit; /* of that attempt */
	bool any, all;
	nanos sum;
} timed[] = {
	{ "none is given", { { 0 }, 0 }, 1, 0, false, false, NANOS_MAX },
	{ "0 is none", { { 0 }, 1 }, 3, 0, false, false, NANOS_MAX },
	{ "one for all, first", { { 7 }, 1 }, 1, 7, true, true, 7 },
	{ "one for all, third", { { 7 }, 1 }, 3, 7, true, true, 21 },
	{ "a list, first", { { 1, 3, 6 }, 3 }, 1, 1, true, true, 1 },
	{ "a list, second", { { 1, 3, 6 }, 3 }, 2, 3, true, true, 4 },
	{ "a list, last", { { 1, 3, 6 }, 3 }, 3, 6, true, true, 10 },
	{ "the last repeats", { { 1, 3, 6 }, 3 }, 5, 6, true, true, 22 },
	{ "it may shrink", { { 6, 3 }, 2 }, 4, 3, true, true, 15 },
	{ "0 within", { { 1, 0, 6 }, 3 }, 3, 6, true, false, NANOS_MAX },
	{ "before the 0", { { 1, 0 }, 2 }, 1, 1, true, true, 1 },
	{ "0 repeats", { { 1, 0 }, 2 }, 9, 0, true, false, NANOS_MAX },
	{ "the sum saturates", { { NANOS_MAX - 1, 2 }, 2 }, 2, 2, true, true,
	    NANOS_MAX },
	{ "many saturate", { { 2 }, 1 }, INT64_MAX - 1, 2, true, true,
	    NANOS_MAX },
};

static void
test_timeouts(void)
{
	struct backoff backoff = single(BACKOFF_CONSTANT, JITTER_NONE, 0);

	for (size_t i = 0; i < LENGTH(timed); i++) {
		const struct timed *row = &timed[i];
		struct policy policy = make(&backoff, row->attempt);
		struct forecast forecast;

		policy.timeouts = row->timeouts;
		dry_run_forecast(&forecast, &policy);
		EQUAL(
		    row->name, plan_timeout(&policy, row->attempt), row->limit);
		EQUAL(row->name, plan_has_timeout(&policy), row->any);
		EQUAL(row->name, forecast.limited, row->all);
		EQUAL(row->name, forecast.timeouts, row->sum);
		EQUAL(row->name, forecast.worst, row->sum);
	}
}

/* Each attempt takes its own timeout: 1 s, 3 s, 6 s, 6 s. */
static void
test_timeouts_that_grow(void)
{
	struct backoff backoff =
	    single(BACKOFF_CONSTANT, JITTER_NONE, SECONDS(1));
	struct policy policy = make(&backoff, 4);
	struct forecast forecast;

	policy.timeouts =
	    (struct timeouts){ .list = { SECONDS(1), SECONDS(3), SECONDS(6) },
		    .count = 3 };
	dry_run_forecast(&forecast, &policy);
	EQUAL("grow", forecast.worst, SECONDS(19));
	policy.deadline = SECONDS(12);
	dry_run_forecast(&forecast, &policy);
	HOLDS("the third ends with it", !forecast.fits && !forecast.begun);
	EQUAL("the third ends with it", forecast.cut, 4);
	policy.deadline--;
	dry_run_forecast(&forecast, &policy);
	HOLDS("the third is cut off", forecast.begun);
	EQUAL("the third is cut off", forecast.cut, 3);
	policy.timeouts.list[1] = 0;
	dry_run_forecast(&forecast, &policy);
	EQUAL("the second has none", forecast.worst, NANOS_MAX);
	EQUAL("the second has none", forecast.cut, 2);
}

/* Delays that are trimmed to the deadline leave time for an attempt. */
static void
test_trimmed_delays(void)
{
	struct backoff backoff =
	    single(BACKOFF_EXPONENTIAL, JITTER_FULL, MS(100));
	struct policy policy = make(&backoff, 4);
	struct forecast forecast;

	/* 0.1 s, 1 s and 10 s, which become 3.65 s: 0.1 s is left then. */
	policy.backoff.factor = 10 * BACKOFF_FACTOR_ONE;
	policy.timeouts = limit(MS(50));
	policy.deadline = SECONDS(5);
	dry_run_forecast(&forecast, &policy);
	EQUAL("full", forecast.worst, MS(11300));
	HOLDS("full", !forecast.fits);
	EQUAL("full", forecast.cut, 0);
	policy.backoff.jitter = JITTER_NONE;
	dry_run_forecast(&forecast, &policy);
	EQUAL("none", forecast.cut, 4);
	HOLDS("none", !forecast.begun);
	/* If two base delays are left, the delay is one of them. */
	policy.backoff.jitter = JITTER_FULL;
	policy.attempts = 3;
	policy.deadline = MS(400);
	dry_run_forecast(&forecast, &policy);
	EQUAL("two are left", forecast.cut, 0);
	policy.deadline--;
	dry_run_forecast(&forecast, &policy);
	EQUAL("less is left", forecast.cut, 3);
	policy.attempts = 4;
	policy.deadline = SECONDS(5);
	/* Not trimmed below the floor. */
	policy.backoff.jitter = JITTER_FULL;
	policy.backoff.floor = SECONDS(4);
	dry_run_forecast(&forecast, &policy);
	EQUAL("floor", forecast.cut, 3);
	HOLDS("floor", !forecast.begun);
	policy.backoff.floor = 0;
	policy.timeouts = limit(MS(101));
	dry_run_forecast(&forecast, &policy);
	EQUAL("longer than the base", forecast.cut, 4);
	HOLDS("longer than the base", forecast.begun);
}

/* Whatever is drawn, the deadline is not met before the attempt in cut. */
static void
test_no_series_is_cut_off_earlier(void)
{
	for (size_t i = 0; i < LENGTH(table); i++) {
		const struct drawn *row = &table[i];
		struct policy policy = make(&row->backoff, RETRIES + 1);
		struct forecast forecast;
		int64_t first = RETRIES + 2;

		policy.timeouts = limit(MS(700));
		policy.deadline = SECONDS(8);
		dry_run_forecast(&forecast, &policy);
		for (uint64_t seed = 0; seed < 2000; seed++) {
			struct schedule schedule = schedule_start(seed);
			nanos left = policy.deadline;
			int64_t attempt = 1;

			while (left >= MS(700) && attempt < policy.attempts) {
				left -= MS(700);
				attempt++;
				left -= backoff_next(
				    &policy.backoff, &schedule, left);
			}
			if (left < MS(700) && attempt < first)
				first = attempt;
		}
		HOLDS(row->name, forecast.cut == 0 || first >= forecast.cut);
		HOLDS(row->name, forecast.cut > 0 || first > RETRIES + 1);
	}
}

/* Whatever is drawn, there are no fewer attempts than that if each fails at
 * once. */
static void
test_no_series_has_fewer_attempts(void)
{
	for (size_t i = 0; i < LENGTH(table); i++) {
		const struct drawn *row = &table[i];
		struct policy policy = make(&row->backoff, POLICY_UNLIMITED);
		struct forecast forecast;
		int64_t least = 10000, said;

		policy.deadline = SECONDS(30);
		dry_run_forecast(&forecast, &policy);
		HOLDS(row->name, forecast.quick);
		for (uint64_t seed = 0; seed < 500; seed++) {
			struct schedule schedule = schedule_start(seed);
			nanos left = policy.deadline;
			int64_t attempt = 0;

			while (left > 0 && attempt < least) {
				attempt++;
				left -= backoff_next(
				    &policy.backoff, &schedule, left);
			}
			least = number_lesser(least, attempt);
		}
		said = forecast.cut - (forecast.begun ? 0 : 1);
		HOLDS(row->name, least >= number_lesser(said, 10000));
	}
}

static void (*const tests[])(void) = {
	test_delays_are_as_they_are_drawn,
	test_exact_means,
	test_totals_of_many_retries,
	test_decorrelated_in_the_long_run,
	test_no_limit_of_attempts,
	test_saturation,
	test_deadlines,
	test_timeouts,
	test_timeouts_that_grow,
	test_trimmed_delays,
	test_no_series_is_cut_off_earlier,
	test_no_series_has_fewer_attempts,
};

UNIT(tests);
