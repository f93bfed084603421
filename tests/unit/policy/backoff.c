/*
 * Covers text/random.
 *
 * backoff: envelopes, jitter and lists of delays.
 */
#include "unit.h"
#include "policy/backoff.h"

#define DRAWS 100000
#define SECONDS(n) ((nanos)((n)*NANOS_SECOND))

/* One delay that grows as kind says, and nothing else. */
#define GROWING(how, base) \
	{ \
		.kind = (how), .grows = true, .jitter = JITTER_NONE, \
		.factor = 2 * BACKOFF_FACTOR_ONE, .delays = { (base) }, \
		.count = 1, .cap = NANOS_MAX \
	}

static const struct {
	const char *row;
	enum backoff_kind kind;
	int64_t factor;
	nanos base;
	int64_t n;
	nanos want;
} envelopes[] = {
	{ "exponential", BACKOFF_EXPONENTIAL, 2000000, 500, 1, 500 },
	{ "exponential", BACKOFF_EXPONENTIAL, 2000000, 500, 2, 1000 },
	{ "exponential", BACKOFF_EXPONENTIAL, 2000000, 500, 3, 2000 },
	{ "exponential", BACKOFF_EXPONENTIAL, 2000000, 500, 4, 4000 },
	{ "2^52", BACKOFF_EXPONENTIAL, 2000000, 1, 53, 1LL << 52 },
	{ "2^53", BACKOFF_EXPONENTIAL, 2000000, 1, 54, 1LL << 53 },
	{ "2^62", BACKOFF_EXPONENTIAL, 2000000, 1, 63, 1LL << 62 },
	{ "2^63", BACKOFF_EXPONENTIAL, 2000000, 1, 64, NANOS_MAX },
	{ "3^33", BACKOFF_EXPONENTIAL, 3000000, 1, 34, 5559060566555523 },
	{ "1.5", BACKOFF_EXPONENTIAL, 1500000, 1000, 4, 3375 },
	{ "1.1", BACKOFF_EXPONENTIAL, 1100000, 1000000, 3, 1210000 },
	{ "factor 1", BACKOFF_EXPONENTIAL, 1000000, 500, 9, 500 },
	{ "factor 1", BACKOFF_EXPONENTIAL, 1000000, (1LL << 53) + 1, 9,
	    (1LL << 53) + 1 },
	{ "huge factor", BACKOFF_EXPONENTIAL, INT64_MAX, 1, 1, 1 },
	{ "huge factor", BACKOFF_EXPONENTIAL, INT64_MAX, 1, 3, NANOS_MAX },
	{ "base 0", BACKOFF_EXPONENTIAL, 2000000, 0, 10000, 0 },
	{ "base 0", BACKOFF_EXPONENTIAL, INT64_MAX, 0, INT64_MAX, 0 },
	{ "linear", BACKOFF_LINEAR, 0, 500, 1, 500 },
	{ "linear", BACKOFF_LINEAR, 0, 500, 2, 1000 },
	{ "linear", BACKOFF_LINEAR, 0, 500, 3, 1500 },
	{ "linear", BACKOFF_LINEAR, 0, 500, 10000, 5000000 },
	{ "linear", BACKOFF_LINEAR, 0, 2, INT64_MAX, NANOS_MAX },
	{ "base 0", BACKOFF_LINEAR, 0, 0, INT64_MAX, 0 },
	{ "constant", BACKOFF_CONSTANT, 0, 500, 1, 500 },
	{ "constant", BACKOFF_CONSTANT, 0, 500, 10000, 500 },
	{ "constant", BACKOFF_CONSTANT, 0, 500, INT64_MAX, 500 },
	{ "fibonacci", BACKOFF_FIBONACCI, 0, 500, 1, 500 },
	{ "fibonacci", BACKOFF_FIBONACCI, 0, 500, 2, 500 },
	{ "fibonacci", BACKOFF_FIBONACCI, 0, 500, 3, 1000 },
	{ "fibonacci", BACKOFF_FIBONACCI, 0, 500, 4, 1500 },
	{ "fibonacci", BACKOFF_FIBONACCI, 0, 500, 5, 2500 },
	{ "fibonacci", BACKOFF_FIBONACCI, 0, 1, 92, 7540113804746346429 },
	{ "fibonacci", BACKOFF_FIBONACCI, 0, 1, 93, NANOS_MAX },
	{ "fibonacci", BACKOFF_FIBONACCI, 0, 1, INT64_MAX, NANOS_MAX },
	{ "base 0", BACKOFF_FIBONACCI, 0, 0, INT64_MAX, 0 },
};

static void
test_envelopes(void)
{
	for (size_t i = 0; i < LENGTH(envelopes); i++) {
		struct backoff backoff =
		    GROWING(envelopes[i].kind, envelopes[i].base);

		backoff.factor = envelopes[i].factor;
		EQUAL(envelopes[i].row,
		    backoff_envelope(&backoff, envelopes[i].n),
		    envelopes[i].want);
	}
}

/* Envelopes from the n-th retry on, in a row of text. */
static void
check_series(const char *row, const struct backoff *backoff,
    const nanos *series, size_t length)
{
	for (size_t i = 0; i < length; i++)
		EQUAL(
		    row, backoff_envelope(backoff, (int64_t)i + 1), series[i]);
}

static void
test_lists_of_delays(void)
{
	struct backoff list = { .delays = { 0, 30, 10 },
		.count = 3,
		.factor = 3 * BACKOFF_FACTOR_ONE,
		.cap = NANOS_MAX };

	/* Without -b the last element repeats, whatever kind says. */
	check_series("repeats", &list, (const nanos[]){ 0, 30, 10, 10, 10 }, 5);
	EQUAL("repeats", backoff_envelope(&list, INT64_MAX), 10);
	list.grows = true;
	check_series(
	    "exponential", &list, (const nanos[]){ 0, 30, 10, 30, 90, 270 }, 6);
	EQUAL("exponential", backoff_envelope(&list, INT64_MAX), NANOS_MAX);
	list.kind = BACKOFF_LINEAR;
	check_series(
	    "linear", &list, (const nanos[]){ 0, 30, 10, 20, 30, 40 }, 6);
	list.kind = BACKOFF_CONSTANT;
	check_series(
	    "constant", &list, (const nanos[]){ 0, 30, 10, 10, 10 }, 5);
	list.kind = BACKOFF_FIBONACCI;
	check_series("fibonacci", &list,
	    (const nanos[]){ 0, 30, 10, 10, 20, 30, 50 }, 7);
	list.floor = 15;
	list.cap = 25;
	check_series("floor and cap", &list,
	    (const nanos[]){ 15, 25, 15, 15, 20, 25, 25 }, 7);
}

static void
test_the_longest_list(void)
{
	struct backoff list = { .count = BACKOFF_DELAYS, .cap = NANOS_MAX };

	for (int i = 0; i < BACKOFF_DELAYS; i++)
		list.delays[i] = i * 10;
	for (int n = 1; n <= BACKOFF_DELAYS; n++)
		EQUAL("list", backoff_envelope(&list, n), (n - 1) * 10);
	EQUAL("list", backoff_envelope(&list, BACKOFF_DELAYS + 1), 630);
}

static void
test_floor_and_cap(void)
{
	struct backoff backoff = GROWING(BACKOFF_EXPONENTIAL, 10);

	/* A single delay grows, with -b or without. */
	backoff.grows = false;
	check_series("as it is", &backoff, (const nanos[]){ 10, 20, 40 }, 3);
	backoff.floor = 25;
	backoff.cap = 100;
	check_series(
	    "within", &backoff, (const nanos[]){ 25, 25, 40, 80, 100, 100 }, 6);
	EQUAL("10,000th", backoff_envelope(&backoff, 10000), 100);
	EQUAL("last", backoff_envelope(&backoff, INT64_MAX), 100);
	backoff.floor = 100;
	check_series("equal", &backoff, (const nanos[]){ 100, 100, 100 }, 3);
	backoff.floor = 0;
	backoff.cap = 3;
	check_series("cap below", &backoff, (const nanos[]){ 3, 3, 3 }, 3);
	backoff.cap = 0;
	check_series("no delay", &backoff, (const nanos[]){ 0, 0, 0 }, 3);
}

static const int64_t factors[] = { 1000000, 1000001, 1000010, 1100000, 1500000,
	1999999, 2000000, 3000000, 10000000, 123456789, INT64_MAX / 2,
	INT64_MAX };
static const nanos bases[] = { 0, 1, 2, 999, NANOS_MS, 500 * NANOS_MS,
	NANOS_SECOND, 30 * NANOS_SECOND, NANOS_DAY, (1LL << 53) - 1,
	(1LL << 53) + 1, NANOS_MAX / 2, NANOS_MAX - 1, NANOS_MAX };

/*
 * For every n up to 200, then for pairs n, n + 1 that are ever further apart.
 */
static bool
never_falls(const struct backoff *backoff)
{
	nanos before = 0;

	for (int64_t n = 1; n < 200; n++) {
		nanos delay = backoff_envelope(backoff, n);

		if (delay < before || delay > backoff->cap)
			return false;
		before = delay;
	}
	for (int64_t n = 200; n < INT64_MAX / 2; n += n / 5) {
		nanos delay = backoff_envelope(backoff, n);
		nanos next = backoff_envelope(backoff, n + 1);

		if (delay < before || next < delay || next > backoff->cap)
			return false;
		before = next;
	}
	return backoff_envelope(backoff, INT64_MAX) >= before;
}

static void
test_envelopes_never_fall(void)
{
	for (int kind = BACKOFF_EXPONENTIAL; kind <= BACKOFF_FIBONACCI; kind++)
		for (size_t i = 0; i < LENGTH(bases); i++)
			for (size_t j = 0; j < LENGTH(factors); j++) {
				struct backoff backoff =
				    GROWING((enum backoff_kind)kind, bases[i]);

				backoff.factor = factors[j];
				HOLDS("to the end", never_falls(&backoff));
				backoff.cap = 30 * NANOS_SECOND;
				HOLDS("to 30s", never_falls(&backoff));
			}
}

static void
test_late_envelopes_are_the_cap(void)
{
	static const enum backoff_kind kinds[] = { BACKOFF_EXPONENTIAL,
		BACKOFF_LINEAR, BACKOFF_FIBONACCI };

	for (size_t i = 0; i < LENGTH(kinds); i++) {
		struct backoff backoff = GROWING(kinds[i], 500 * NANOS_MS);

		backoff.cap = 30 * NANOS_SECOND;
		EQUAL("60th", backoff_envelope(&backoff, 60), backoff.cap);
		EQUAL(
		    "10,000th", backoff_envelope(&backoff, 10000), backoff.cap);
		EQUAL(
		    "last", backoff_envelope(&backoff, INT64_MAX), backoff.cap);
	}
}

/* The bounds and the mean of many draws of one delay. */
struct draws {
	nanos least, most;
	double mean;
};

/* Draws the delay before the nth retry, over and over. */
static struct draws
draw(const struct backoff *backoff, nanos left, int nth)
{
	struct schedule schedule = schedule_start(1);
	struct draws draws = { .least = NANOS_MAX };

	for (int i = 0; i < DRAWS; i++) {
		nanos delay = 0;

		schedule_reset(&schedule);
		for (int n = 0; n < nth; n++)
			delay = backoff_next(backoff, &schedule, left);
		draws.least = delay < draws.least ? delay : draws.least;
		draws.most = delay > draws.most ? delay : draws.most;
		draws.mean += (double)delay / DRAWS;
	}
	return draws;
}

/*
 * That draws lie in [low, high], reach the outer tenth at either end (of the
 * lower half, of the upper half) and have that mean, within 1 %.
 */
static void
check_draws(const char *row, const struct draws *draws, nanos low, nanos high,
    double mean)
{
	nanos tenth = (high - low) / 10;
	double off = draws->mean - mean;

	HOLDS(row, draws->least >= low);
	HOLDS(row, draws->most <= high);
	HOLDS(row, draws->least <= low + tenth);
	HOLDS(row, draws->most >= high - tenth);
	HOLDS(row, off <= mean / 100 && -off <= mean / 100);
}

/*
 * In seconds. The envelope before the 4th retry is 8 and the base is 1,
 * unless there is a list.
 */
static const struct {
	const char *row;
	enum jitter jitter;
	nanos floor, cap;
	double left; /* 0: no deadline */
	int nth;
	struct {
		double low, high, mean;
	} want;
	nanos list[3];
} jitters[] = {
	{ "full", JITTER_FULL, 0, 30, 0, 4, { 0, 8, 4 }, { 0 } },
	{ "full, first", JITTER_FULL, 0, 30, 0, 1, { 0, 1, 0.5 }, { 0 } },
	{ "full, floor", JITTER_FULL, 2, 30, 0, 4, { 2, 8, 5 }, { 0 } },
	{ "full, floor above e", JITTER_FULL, 2, 30, 0, 1, { 2, 2, 2 }, { 0 } },
	{ "full, cap", JITTER_FULL, 0, 6, 0, 4, { 0, 6, 3 }, { 0 } },
	{ "full, floor and cap", JITTER_FULL, 4, 6, 0, 4, { 4, 6, 5 }, { 0 } },
	{ "full, floor is cap", JITTER_FULL, 6, 6, 0, 4, { 6, 6, 6 }, { 0 } },
	{ "full, cap below base", JITTER_FULL, 0, 0, 0, 4, { 0, 0, 0 }, { 0 } },
	{ "equal", JITTER_EQUAL, 0, 30, 0, 4, { 4, 8, 6 }, { 0 } },
	{ "equal, first", JITTER_EQUAL, 0, 30, 0, 1, { 0.5, 1, 0.75 }, { 0 } },
	{ "equal, floor", JITTER_EQUAL, 6, 30, 0, 4, { 6, 8, 6.5 }, { 0 } },
	{ "equal, cap", JITTER_EQUAL, 0, 6, 0, 4, { 3, 6, 4.5 }, { 0 } },
	{ "decorrelated", JITTER_DECORRELATED, 0, 30, 0, 1, { 1, 3, 2 },
	    { 0 } },
	{ "decorrelated, cap", JITTER_DECORRELATED, 0, 2, 0, 1, { 1, 2, 1.75 },
	    { 0 } },
	{ "decorrelated, floor", JITTER_DECORRELATED, 2, 30, 0, 1,
	    { 2, 3, 2.25 }, { 0 } },
	/* The next mean is half of base + 3 times the mean before it. */
	{ "decorrelated, second", JITTER_DECORRELATED, 0, 30, 0, 2,
	    { 1, 9, 3.5 }, { 0 } },
	{ "none", JITTER_NONE, 0, 30, 0, 4, { 8, 8, 8 }, { 0 } },
	{ "none, floor", JITTER_NONE, 9, 30, 0, 4, { 9, 9, 9 }, { 0 } },
	{ "none, cap", JITTER_NONE, 0, 6, 0, 4, { 6, 6, 6 }, { 0 } },
	/* Trimmed to what is left minus 1, if that is at least 1. */
	{ "full, 5 left", JITTER_FULL, 0, 30, 5, 4, { 0, 4, 2 }, { 0 } },
	{ "full, 9 left", JITTER_FULL, 0, 30, 9, 4, { 0, 8, 4 }, { 0 } },
	{ "full, 100 left", JITTER_FULL, 0, 30, 100, 4, { 0, 8, 4 }, { 0 } },
	{ "full, 2 left", JITTER_FULL, 0, 30, 2, 4, { 0, 1, 0.5 }, { 0 } },
	{ "full, 1.9 left", JITTER_FULL, 0, 30, 1.9, 4, { 0, 8, 4 }, { 0 } },
	{ "full, 0.5 left", JITTER_FULL, 0, 30, 0.5, 4, { 0, 8, 4 }, { 0 } },
	{ "full, 5 left, floor", JITTER_FULL, 3, 30, 5, 4, { 3, 4, 3.5 },
	    { 0 } },
	{ "full, 3 left, floor", JITTER_FULL, 3, 30, 3, 4, { 3, 3, 3 }, { 0 } },
	{ "equal, 5 left", JITTER_EQUAL, 0, 30, 5, 4, { 2, 4, 3 }, { 0 } },
	{ "equal, 1.9 left", JITTER_EQUAL, 0, 30, 1.9, 4, { 4, 8, 6 }, { 0 } },
	{ "equal, 5 left, floor", JITTER_EQUAL, 5, 30, 5, 4, { 5, 5, 5 },
	    { 0 } },
	{ "decorrelated, 3 left", JITTER_DECORRELATED, 0, 30, 3, 1,
	    { 1, 2, 1.5 }, { 0 } },
	{ "decorrelated, 2 left", JITTER_DECORRELATED, 0, 30, 2, 1, { 1, 1, 1 },
	    { 0 } },
	{ "decorrelated, 1.9 left", JITTER_DECORRELATED, 0, 30, 1.9, 1,
	    { 1, 3, 2 }, { 0 } },
	{ "none, 5 left", JITTER_NONE, 0, 30, 5, 4, { 8, 8, 8 }, { 0 } },
	/* The base of a list is its first delay that is not 0. */
	{ "list", JITTER_FULL, 0, 30, 0, 3, { 0, 8, 4 }, { 0, 1, 8 } },
	{ "list, 5 left", JITTER_FULL, 0, 30, 5, 3, { 0, 4, 2 }, { 0, 1, 8 } },
	{ "list, 1.9 left", JITTER_FULL, 0, 30, 1.9, 3, { 0, 8, 4 },
	    { 0, 1, 8 } },
	{ "list, at 0", JITTER_FULL, 0, 30, 0, 1, { 0, 0, 0 }, { 0, 1, 8 } },
	{ "list, equal", JITTER_EQUAL, 0, 30, 5, 3, { 2, 4, 3 }, { 0, 1, 8 } },
	{ "list, base 4", JITTER_FULL, 0, 30, 9, 3, { 0, 5, 2.5 },
	    { 4, 1, 8 } },
};

static void
test_draws_of_each_jitter(void)
{
	for (size_t i = 0; i < LENGTH(jitters); i++) {
		struct backoff backoff =
		    GROWING(BACKOFF_EXPONENTIAL, NANOS_SECOND);
		nanos left = SECONDS(jitters[i].left);
		struct draws draws;

		backoff.jitter = jitters[i].jitter;
		backoff.floor = SECONDS(jitters[i].floor);
		backoff.cap = SECONDS(jitters[i].cap);
		if (jitters[i].list[2] != 0)
			backoff.count = 3;
		for (int k = 0; jitters[i].list[2] != 0 && k < 3; k++)
			backoff.delays[k] = SECONDS(jitters[i].list[k]);
		draws = draw(
		    &backoff, left == 0 ? NANOS_MAX : left, jitters[i].nth);
		check_draws(jitters[i].row, &draws,
		    SECONDS(jitters[i].want.low), SECONDS(jitters[i].want.high),
		    jitters[i].want.mean * (double)NANOS_SECOND);
	}
}

/* In single nanoseconds, so that both ends of an interval are drawn. */
static void
test_both_ends_of_an_interval_belong_to_it(void)
{
	static const struct {
		const char *row;
		enum jitter jitter;
		nanos base, floor, low, high;
	} rows[] = {
		{ "full", JITTER_FULL, 8, 0, 0, 8 },
		{ "full, floor", JITTER_FULL, 8, 5, 5, 8 },
		{ "full, 1", JITTER_FULL, 1, 0, 0, 1 },
		{ "equal", JITTER_EQUAL, 8, 0, 4, 8 },
		{ "equal, odd", JITTER_EQUAL, 7, 0, 4, 7 },
		{ "equal, 1", JITTER_EQUAL, 1, 0, 1, 1 },
		{ "decorrelated", JITTER_DECORRELATED, 8, 0, 8, 24 },
		{ "decorrelated, 0", JITTER_DECORRELATED, 0, 0, 0, 0 },
		{ "none", JITTER_NONE, 8, 0, 8, 8 },
	};

	for (size_t i = 0; i < LENGTH(rows); i++) {
		struct backoff backoff =
		    GROWING(BACKOFF_CONSTANT, rows[i].base);
		struct draws draws;

		backoff.jitter = rows[i].jitter;
		backoff.floor = rows[i].floor;
		draws = draw(&backoff, NANOS_MAX, 1);
		EQUAL(rows[i].row, draws.least, rows[i].low);
		EQUAL(rows[i].row, draws.most, rows[i].high);
	}
}

/*
 * Each delay depends on the one before; both halves of [base, cap] are drawn.
 */
static void
test_decorrelated_series(void)
{
	struct backoff backoff = GROWING(BACKOFF_EXPONENTIAL, NANOS_SECOND);
	struct schedule schedule = schedule_start(2);
	nanos previous = NANOS_SECOND, low = 0, high = 0, outside = 0;

	backoff.jitter = JITTER_DECORRELATED;
	backoff.cap = 10 * NANOS_SECOND;
	for (int i = 0; i < DRAWS; i++) {
		nanos delay = backoff_next(&backoff, &schedule, NANOS_MAX);
		nanos most =
		    previous < backoff.cap / 3 ? 3 * previous : backoff.cap;

		outside += delay < NANOS_SECOND || delay > most;
		low += delay < 5500 * NANOS_MS;
		high += delay > 5500 * NANOS_MS;
		previous = delay;
	}
	EQUAL("outside", outside, 0);
	HOLDS("lower half", low > DRAWS / 10);
	HOLDS("upper half", high > DRAWS / 10);
	EQUAL("retries", schedule.n, DRAWS);
}

/* Every policy draws within [floor, cap] for ever, with or without a list. */
static void
test_all_delays_are_within_floor_and_cap(void)
{
	for (int kind = BACKOFF_EXPONENTIAL; kind <= BACKOFF_FIBONACCI; kind++)
		for (int jitter = JITTER_FULL; jitter <= JITTER_NONE; jitter++)
			for (size_t i = 0; i < LENGTH(bases); i++) {
				struct backoff backoff =
				    GROWING((enum backoff_kind)kind, bases[i]);
				struct schedule schedule = schedule_start(i);
				int outside = 0;

				backoff.jitter = (enum jitter)jitter;
				backoff.floor = i % 2 == 0 ? 0 : NANOS_MS;
				backoff.cap =
				    i % 3 == 0 ? NANOS_MAX : NANOS_MINUTE;
				for (int n = 0; n < 1000; n++) {
					nanos delay = backoff_next(
					    &backoff, &schedule, NANOS_MAX - n);

					outside += delay < backoff.floor ||
					    delay > backoff.cap;
				}
				EQUAL("outside", outside, 0);
			}
}

/* The delays of one seed, combined to one number. */
static int64_t
digest(const struct backoff *backoff, uint64_t seed)
{
	struct schedule schedule = schedule_start(seed);
	uint64_t sum = 0;

	for (int i = 0; i < 100; i++)
		sum = sum * 31 +
		    (uint64_t)backoff_next(backoff, &schedule, NANOS_MAX);
	return (int64_t)(sum >> 1);
}

static void
test_seeds(void)
{
	static const uint64_t seeds[] = { 0, 1, 2, 3, 1000, UINT64_MAX,
		UINT64_MAX - 1, UINT64_C(1) << 63 };

	for (int jitter = JITTER_FULL; jitter < JITTER_NONE; jitter++)
		for (size_t i = 0; i < LENGTH(seeds); i++) {
			struct backoff backoff =
			    GROWING(BACKOFF_EXPONENTIAL, NANOS_SECOND);
			int64_t one;

			backoff.jitter = (enum jitter)jitter;
			backoff.cap = NANOS_MINUTE;
			one = digest(&backoff, seeds[i]);
			EQUAL("same seed", digest(&backoff, seeds[i]), one);
			for (size_t j = 0; j < i; j++)
				HOLDS("other seed",
				    digest(&backoff, seeds[j]) != one);
		}
}

/*
 * What the reference implementation gives for this seed, without the top bit.
 */
static void
test_the_generator_is_splitmix64(void)
{
	static const uint64_t reference[] = { UINT64_C(6457827717110365317),
		UINT64_C(3203168211198807973), UINT64_C(9817491932198370423),
		UINT64_C(4593380528125082431), UINT64_C(16408922859458223821) };
	struct schedule schedule = schedule_start(1234567);

	for (size_t i = 0; i < LENGTH(reference); i++)
		EQUAL("1234567", backoff_splay(&schedule, NANOS_MAX),
		    (int64_t)(reference[i] & INT64_MAX));
}

static void
test_splays_are_uniform(void)
{
	/*
	 * 2^64 is not a multiple of 3 * 2^61: a plain remainder would be
	 * biased.
	 */
	static const nanos mosts[] = { 0, 1, 9, 999, NANOS_SECOND, NANOS_DAY,
		((nanos)3 << 61) - 1, NANOS_MAX };

	for (size_t i = 0; i < LENGTH(mosts); i++) {
		struct schedule schedule = schedule_start(3);
		struct draws draws = { .least = NANOS_MAX };

		for (int k = 0; k < DRAWS; k++) {
			nanos wait = backoff_splay(&schedule, mosts[i]);

			draws.least = wait < draws.least ? wait : draws.least;
			draws.most = wait > draws.most ? wait : draws.most;
			draws.mean += (double)wait / DRAWS;
		}
		check_draws("splay", &draws, 0, mosts[i], (double)mosts[i] / 2);
		EQUAL("no retry", schedule.n, 0);
	}
}

/* Each of ten values about equally often. */
static void
test_every_value_is_as_likely(void)
{
	struct schedule schedule = schedule_start(4);
	int counts[10] = { 0 };

	for (int i = 0; i < DRAWS; i++)
		counts[backoff_splay(&schedule, 9)]++;
	for (size_t i = 0; i < LENGTH(counts); i++) {
		HOLDS("least", counts[i] > DRAWS / 10 - DRAWS / 200);
		HOLDS("most", counts[i] < DRAWS / 10 + DRAWS / 200);
	}
}

static void
test_the_base_is_the_first_delay_above_0(void)
{
	struct backoff backoff = { .delays = { 5 }, .count = 1 };

	EQUAL("5", backoff_base(&backoff), 5);
	backoff.count = 3;
	EQUAL("5,0,0", backoff_base(&backoff), 5);
	backoff.delays[0] = 0;
	EQUAL("0,0,0", backoff_base(&backoff), 0);
	backoff.delays[2] = 7;
	EQUAL("0,0,7", backoff_base(&backoff), 7);
	backoff.delays[1] = 9;
	EQUAL("0,9,7", backoff_base(&backoff), 9);
	backoff.count = 1;
	EQUAL("0", backoff_base(&backoff), 0);
}

/* In single nanoseconds: delays are in [low, high], and reach both ends. */
static const struct {
	const char *row;
	enum jitter jitter;
	nanos base, delay, wait, left, low, high;
} waits[] = {
	{ "base", JITTER_FULL, 8, 3, 40, NANOS_MAX, 40, 48 },
	{ "a tenth", JITTER_FULL, 8, 3, 100, NANOS_MAX, 100, 110 },
	{ "they are one", JITTER_FULL, 10, 3, 100, NANOS_MAX, 100, 110 },
	{ "no base", JITTER_FULL, 0, 0, 100, NANOS_MAX, 100, 110 },
	{ "no base, short", JITTER_FULL, 0, 0, 9, NANOS_MAX, 9, 9 },
	{ "the backoff is more", JITTER_FULL, 8, 120, 100, NANOS_MAX, 120,
	    130 },
	{ "and so is the base", JITTER_FULL, 8, 60, 10, NANOS_MAX, 60, 68 },
	{ "at once", JITTER_FULL, 8, 0, 0, NANOS_MAX, 0, 8 },
	{ "equal", JITTER_EQUAL, 8, 3, 100, NANOS_MAX, 100, 110 },
	{ "decorrelated", JITTER_DECORRELATED, 8, 3, 100, NANOS_MAX, 100, 110 },
	{ "none", JITTER_NONE, 8, 3, 100, NANOS_MAX, 100, 100 },
	{ "none, the backoff", JITTER_NONE, 8, 120, 100, NANOS_MAX, 120, 120 },
	{ "none, little left", JITTER_NONE, 8, 3, 100, 101, 100, 100 },
	/* Less than what is left, but never less than the server asked for. */
	{ "enough left", JITTER_FULL, 8, 3, 100, 111, 100, 110 },
	{ "1 less", JITTER_FULL, 8, 3, 100, 110, 100, 109 },
	{ "a little left", JITTER_FULL, 8, 3, 100, 102, 100, 101 },
	{ "just that left", JITTER_FULL, 8, 3, 100, 101, 100, 100 },
	{ "not even that", JITTER_FULL, 8, 3, 100, 100, 100, 110 },
	{ "backoff, left", JITTER_FULL, 8, 104, 100, 108, 104, 107 },
	/* Up to NANOS_MAX. */
	{ "for ever", JITTER_FULL, 8, 3, NANOS_MAX, NANOS_MAX, NANOS_MAX,
	    NANOS_MAX },
	{ "nearly", JITTER_FULL, 8, 3, NANOS_MAX - 3, NANOS_MAX, NANOS_MAX - 3,
	    NANOS_MAX - 1 },
};

static void
test_delays_that_a_server_asked_for(void)
{
	for (size_t i = 0; i < LENGTH(waits); i++) {
		struct backoff backoff =
		    GROWING(BACKOFF_EXPONENTIAL, waits[i].base);
		struct schedule schedule = schedule_start(i);
		nanos least = NANOS_MAX, most = 0;

		backoff.jitter = waits[i].jitter;
		for (int n = 0; n < 1000; n++) {
			nanos delay = backoff_after(&backoff, &schedule,
			    waits[i].delay, waits[i].wait, waits[i].left);

			least = delay < least ? delay : least;
			most = delay > most ? delay : most;
		}
		EQUAL(waits[i].row, least, waits[i].low);
		EQUAL(waits[i].row, most, waits[i].high);
		EQUAL(waits[i].row, schedule.n, 0);
	}
}

static void
test_reset_starts_the_schedule_anew(void)
{
	struct backoff backoff = GROWING(BACKOFF_EXPONENTIAL, 10);
	struct schedule schedule = schedule_start(5);
	uint64_t random;

	EQUAL("1st", backoff_next(&backoff, &schedule, NANOS_MAX), 10);
	EQUAL("2nd", backoff_next(&backoff, &schedule, NANOS_MAX), 20);
	EQUAL("3rd", backoff_next(&backoff, &schedule, NANOS_MAX), 40);
	random = schedule.random;
	schedule_reset(&schedule);
	HOLDS("the generator goes on", schedule.random == random);
	EQUAL("1st", backoff_next(&backoff, &schedule, NANOS_MAX), 10);
	EQUAL("2nd", backoff_next(&backoff, &schedule, NANOS_MAX), 20);
}

/* The number of retries does not wrap either. */
static void
test_schedules_saturate(void)
{
	struct backoff backoff = GROWING(BACKOFF_EXPONENTIAL, 10);
	struct schedule schedule = { .n = INT64_MAX };

	backoff.cap = 500;
	EQUAL("none", backoff_next(&backoff, &schedule, NANOS_MAX), 500);
	EQUAL("none", schedule.n, INT64_MAX);
	backoff.jitter = JITTER_DECORRELATED;
	schedule.previous = backoff.cap = NANOS_MAX;
	HOLDS(
	    "3 * previous", backoff_next(&backoff, &schedule, NANOS_MAX) >= 10);
}

static void (*const tests[])(void) = {
	test_envelopes,
	test_lists_of_delays,
	test_the_longest_list,
	test_floor_and_cap,
	test_envelopes_never_fall,
	test_late_envelopes_are_the_cap,
	test_draws_of_each_jitter,
	test_both_ends_of_an_interval_belong_to_it,
	test_decorrelated_series,
	test_all_delays_are_within_floor_and_cap,
	test_seeds,
	test_the_generator_is_splitmix64,
	test_splays_are_uniform,
	test_every_value_is_as_likely,
	test_the_base_is_the_first_delay_above_0,
	test_delays_that_a_server_asked_for,
	test_reset_starts_the_schedule_anew,
	test_schedules_saturate,
};

UNIT(tests);
