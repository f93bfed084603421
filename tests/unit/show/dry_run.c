/*
 * dry_run: bounds and means must be those of delays that are really drawn,
 * totals and deadlines those of playing the whole policy.
 */
#include "unit.h"
#include "script.h"
#include "policy/plan.h"
#include "show/dry_run.h"
#include "text/number.h"

/* Draws of each delay; a mean is then right to a few hundredths. */
#define SERIES 4000

#define RETRIES 12

/* Two times that differ by at most this share of the larger one. */
static bool near(nanos a, nanos b, double share) {
	double apart = a > b ? (double)a - (double)b : (double)b - (double)a;

	return apart <= share * (double)(a > b ? a : b) + 1;
}

static struct forecast forecast_of(const struct policy *policy) {
	struct forecast forecast;

	dry_run_forecast(&forecast, policy);
	return forecast;
}

static const char *const table[] = {
	"jitter=full delay=0.5",
	"jitter=full delay=0.5 factor=1.5 min-delay=0.8 max-delay=5",
	"jitter=full delay=0.3 backoff=linear max-delay=2",
	"jitter=full delay=0.1 backoff=fibonacci min-delay=10ms max-delay=3",
	"jitter=full delay=2 backoff=constant",
	"jitter=full delay=3,0,1",
	"jitter=full delay=0,1 backoff=exponential",
	"jitter=full delay=9 max-delay=1",
	"jitter=full delay=0",
	"jitter=equal delay=0.5",
	"jitter=equal delay=4 backoff=constant min-delay=3",
	"jitter=equal delay=4 backoff=constant min-delay=6",
	"jitter=equal delay=1ns backoff=constant",
	"jitter=decorrelated delay=0.5",
	"jitter=decorrelated delay=0.5 min-delay=1 max-delay=20",
	"jitter=decorrelated delay=9 max-delay=1",
	"jitter=decorrelated delay=0 min-delay=10ms max-delay=1",
	"jitter=none delay=0.5 backoff=fibonacci",
};

/* The least, the mean and the most that were drawn of each delay. */
static void draw(const struct backoff *backoff, struct span seen[RETRIES]) {
	struct schedule schedule = { .random = 7 };
	double sums[RETRIES] = { 0 };

	for (int n = 0; n < RETRIES; n++) seen[n].least = NANOS_MAX;
	for (int i = 0; i < SERIES; i++) {
		schedule.n = 0;
		for (int n = 0; n < RETRIES; n++) {
			nanos delay = backoff_next(backoff, &schedule, NANOS_MAX);

			if (delay < seen[n].least)
				seen[n].least = delay;
			if (delay > seen[n].most)
				seen[n].most = delay;
			sums[n] += (double)delay;
		}
	}
	for (int n = 0; n < RETRIES; n++) seen[n].mean = (nanos)(sums[n] / SERIES);
}

TEST(delays_are_as_they_are_drawn) {
	for (size_t i = 0; i < LENGTH(table); i++) {
		const char *row = table[i];
		struct policy policy = script_policy_of(row);
		struct span seen[RETRIES] = { 0 }, sum = { 0, 0, 0 };
		struct forecast forecast;

		policy.attempts = RETRIES + 1;
		draw(&policy.backoff, seen);
		forecast = forecast_of(&policy);
		EQUAL(row, forecast.retries, RETRIES);
		for (int n = 0; n < RETRIES; n++) {
			struct span span = dry_run_delay(&policy.backoff, n + 1);
			nanos width = span.most - span.least;
			bool decorrelated = policy.backoff.jitter == JITTER_DECORRELATED;

			HOLDS(row, seen[n].least >= span.least);
			HOLDS(row, seen[n].most <= span.most);
			HOLDS(row, decorrelated || near(seen[n].mean, span.mean, 0.05));
			/* The most of decorrelated jitter is hardly ever drawn. */
			if (n == 0 || !decorrelated) {
				HOLDS(row, seen[n].least - span.least <= width / 50);
				HOLDS(row, span.most - seen[n].most <= width / 50);
			}
			sum.least += span.least;
			sum.mean += span.mean;
			sum.most += span.most;
		}
		EQUAL(row, forecast.total.least, sum.least);
		HOLDS(row, near(forecast.total.mean, sum.mean, 1e-6));
		EQUAL(row, forecast.total.most, sum.most);
	}
}

/* Of so many retries, one after the other. */
static struct span add_up(const struct backoff *backoff, int64_t retries) {
	struct span sum = { 0, 0, 0 };

	for (int64_t n = 1; n <= retries; n++) {
		nanos envelope = backoff_envelope(backoff, n);

		sum.least = number_add(sum.least, backoff->floor);
		sum.mean = number_add(sum.mean, backoff->floor + (envelope - backoff->floor) / 2);
		sum.most = number_add(sum.most, envelope);
	}
	return sum;
}

TEST(totals_of_many_retries) {
	static const int64_t counts[] = { 0, 1, 2, 999, 1000, 1001, 1002, 1999, 2000, 2001, 12345 };

	for (size_t i = 0; i < LENGTH(counts) * 4; i++) {
		int64_t count = counts[i / 4];
		struct policy policy =
		    script_policy_of("backoff=exponential jitter=full delay=1ms factor=1.0001 "
				     "max-delay=300");
		struct forecast forecast;
		struct span sum;

		policy.attempts = count + 1;
		policy.backoff.kind = (enum backoff_kind)(i % 4);
		policy.backoff.floor = i % 8 < 4 ? 0 : MS(20);
		forecast = forecast_of(&policy);
		sum = add_up(&policy.backoff, count);
		EQUAL("least", forecast.total.least, sum.least);
		HOLDS("mean", near(forecast.total.mean, sum.mean, 1e-3));
		HOLDS("most", near(forecast.total.most, sum.most, 1e-3));
	}
}

TEST(saturation) {
	struct policy policy = script_policy_of("attempts=4 backoff=constant "
						"max-delay=ever timeout=1ns");
	struct forecast forecast;

	policy.backoff.delays.list[0] = NANOS_MAX / 2;
	forecast = forecast_of(&policy);
	EQUAL("delays", forecast.total.least, NANOS_MAX);
	EQUAL("delays", forecast.worst, NANOS_MAX);
	policy.attempts = INT64_MAX - 1;
	policy.timeouts.list[0] = NANOS_MAX;
	policy.splay = NANOS_MAX;
	policy.deadline = NANOS_MAX;
	for (int jitter = JITTER_FULL; jitter <= JITTER_NONE; jitter++) {
		policy.backoff.jitter = (enum jitter)jitter;
		policy.backoff.floor = NANOS_MAX / 2;
		forecast = forecast_of(&policy);
		EQUAL("all", forecast.worst, NANOS_MAX);
		HOLDS("all", jitter == JITTER_DECORRELATED || forecast.total.mean == NANOS_MAX);
	}
}

#define FOUR "attempts=4 timeout=150ms delay=2 backoff=constant "
#define ONE "attempts=1 delay=2 backoff=constant "
#define MANY "attempts=inf delay=2 backoff=constant "
#define GROW "attempts=4 delay=1 backoff=constant "
#define TENS "attempts=4 factor=10 delay=0.1 "
#define THREE "attempts=3 factor=10 delay=0.1 jitter=full timeout=50ms "

/*
 * What is asked for, and what is said of it: "cut" or "before" is the attempt
 * that the deadline cuts off, or does not let begin, 0 if that may be none;
 * "last" is the timeout of the last attempt.
 */
static const char *const forecasts[] = {
	"attempts=4 jitter=full splay=4s -> first-least=0 first-mean=0.5s first-most=1s "
	"third-least=0 third-mean=2s third-most=4s splay-least=0 splay-mean=2s splay-most=4s "
	"total-least=0 total-mean=5.5s total-most=11s",
	/* One in two below the floor, the others 3.5 s on average. */
	"attempts=4 jitter=equal backoff=constant delay=4 min-delay=3 -> "
	"first-least=3s first-mean=3.25s first-most=4s",
	"attempts=4 backoff=constant jitter=none delay=2 -> "
	"first-least=2s first-mean=2s first-most=2s third-least=2s "
	"third-most=2s splay-most=0 total-least=6s total-mean=6s total-most=6s",
	"attempts=inf jitter=decorrelated timeout=1 -> retries=-1 worst=ever fits",
	/* 3 s, 9 s, 27 s and then the cap. */
	"attempts=20001 jitter=decorrelated -> total-least=20000s total-most=599949s",

	/* Deadlines. */
	FOUR "-> worst=6.6s fits",
	FOUR "deadline=7 -> worst=6.6s fits",
	FOUR "deadline=6.6 -> worst=6.6s fits",
	FOUR "deadline=6599999999ns -> worst=6.6s cut 4",
	FOUR "deadline=6.45 -> worst=6.6s before 4",
	FOUR "deadline=4.301 -> worst=6.6s cut 3",
	FOUR "deadline=0.1 -> worst=6.6s cut 1",
	FOUR "deadline=2 -> worst=6.6s before 2",
	FOUR "splay=1 deadline=7 -> worst=7.6s before 4",
	/* The first ends with it. */
	FOUR "deadline=0.15 -> worst=6.6s before 2",
	/* The splay takes half of a second at most. */
	ONE "timeout=0.4 splay=9 deadline=1 -> worst=9.4s before 0",
	ONE "timeout=0.6 splay=9 deadline=1 -> worst=9.6s cut 1",
	ONE "timeout=1 deadline=1 jitter=full -> worst=1s fits",
	"attempts=4 delay=2 backoff=constant deadline=60 -> worst=ever cut 1",
	"attempts=4 delay=2 backoff=constant -> worst=ever fits",
	MANY "timeout=1 deadline=8 -> timed worst=ever before 4",
	MANY "timeout=1 deadline=9.5 -> worst=ever cut 4",
	MANY "deadline=8 -> !timed worst=ever before 5",
	MANY "splay=1 deadline=8 -> worst=ever before 5",
	/* Farther away than the forecast looks. */
	"attempts=inf timeout=1ns delay=0 deadline=1 -> worst=ever cut 1000001",
	/* 2 s each, but the third would end at 6.45 s, where 50 ms are left:
	 * less than a base delay, so it is not trimmed. */
	FOUR "jitter=full deadline=6.5 -> worst=6.6s cut 4",

	/* Each attempt takes its own timeout: 1 s, 3 s, 6 s, 6 s. */
	GROW "timeout=1,3,6 -> worst=19s fits",
	GROW "timeout=1,3,6 deadline=12 -> worst=19s before 4",
	GROW "timeout=1,3,6 deadline=11999999999ns -> worst=19s cut 3",
	GROW "timeout=1,0,6 deadline=11 -> worst=ever cut 2",
	/* Between two successes is the first delay. */
	"attempts=3 consecutive=2 timeout=1 delay=1,5 deadline=4.5 -> worst=5s cut 3",

	/* Delays that are trimmed to the deadline leave time for an attempt:
	 * 0.1 s, 1 s and 10 s, which become 3.65 s, and then 0.1 s is left. */
	TENS "jitter=full timeout=50ms deadline=5 -> worst=11.3s before 0",
	TENS "timeout=50ms deadline=5 -> worst=11.3s before 4",
	/* Not trimmed below the floor. */
	TENS "jitter=full min-delay=4 timeout=50ms deadline=5 -> worst=18.2s before 3",
	/* Longer than the base. */
	TENS "jitter=full timeout=101ms deadline=5 -> worst=11.504s cut 4",
	/* If two base delays are left, the delay is one of them. */
	THREE "deadline=0.4 -> worst=1.25s before 0",
	THREE "deadline=399999999ns -> worst=1.25s before 3",

	/* Timeouts; of those above all are in the worst case. */
	"attempts=1 -> last=0 !last-timed !timed timeouts=ever",
	"attempts=3 timeout=7ns -> last=7ns last-timed timed timeouts=21ns",
	"attempts=1 timeout=1ns,3ns,6ns -> last=1ns last-timed timed timeouts=1ns",
	"attempts=3 timeout=1ns,3ns,6ns -> last=6ns last-timed timed timeouts=10ns",
	"attempts=5 timeout=1ns,3ns,6ns -> last=6ns last-timed timed timeouts=22ns",
	"attempts=4 timeout=6ns,3ns -> last=3ns last-timed timed timeouts=15ns",
	"attempts=3 timeout=1ns,0,6ns -> last=6ns last-timed !timed timeouts=ever",
	"attempts=1 timeout=1ns,0 -> last=1ns last-timed timed timeouts=1ns",
	"attempts=9 timeout=1ns,0 -> last=0 last-timed !timed timeouts=ever",
	"attempts=2 timeout=9223372036854775806ns,2ns -> last=2ns last-timed timed timeouts=ever",
	"attempts=9223372036854775806 timeout=2ns -> last=2ns last-timed timed timeouts=ever",
};

TEST_ROWS(forecasts) {
	struct script script = script_of(row);
	struct policy policy = script_policy(&script);
	const struct backoff *backoff = &policy.backoff;
	struct forecast all = forecast_of(&policy);
	const struct script_fact facts[] = {
#define SPAN(name, span) \
	{ name "-least", span.least, NULL }, { name "-mean", span.mean, NULL }, \
	    { name "-most", span.most, NULL }
		SPAN("first", dry_run_delay(backoff, 1)), SPAN("third", dry_run_delay(backoff, 3)),
		SPAN("splay", all.splay), SPAN("total", all.total),
		FACT("retries", all.retries == POLICY_UNLIMITED ? -1 : all.retries),
		FACT("worst", all.worst), FACT("fits", all.fits),
		FACT("last", plan_timeout(&policy, policy.attempts)),
		FACT("last-timed", policy.timeouts.count > 0), FACT("timed", all.timed),
		FACT("timeouts", all.timeouts)
	};

	script_next(&script);
	HOLDS(row, !all.fits || (all.cut == 0 && !all.begun));
	while (script_next(&script))
		if (script_is(&script, "cut") || script_is(&script, "before")) {
			HOLDS(row, !all.fits);
			EQUAL(row, all.begun, script_is(&script, "cut"));
			EQUAL(row, all.cut, script_number(&script));
		} else if (!script_check(&script, facts, LENGTH(facts)))
			script_refuse(&script);
}
