/*
 * pace: which attempts are to be had when, how the rate becomes another, and
 * what a word says. All in terms of PACE_STEP, PACE_FIRST and PACE_LEAST.
 */
#include "unit.h"
#include "budget/ramp.h"

#define STEP PACE_STEP
#define FIRST PACE_FIRST
#define LEAST PACE_LEAST
#define QUIET PACE_QUIET

/* The fields of a word, as another version of the program has them. */
#define BEGAN_BITS 18
#define STEP_BITS 11
#define COUNT_BITS 9
#define SERVED_BITS 8
#define FAILED_BITS 5
#define QUIET_BITS 3
#define MOST(bits) ((INT64_C(1) << (bits)) - 1)
#define FASTEST MOST(COUNT_BITS)
#define WELL MOST(SERVED_BITS) /* no more are counted */
#define ILL MOST(FAILED_BITS)

/* How many failures a step bears; the next rate where the limit was met. */
#define BEARS(rate) ((rate) < 480 ? 1 + (rate) / 16 : ILL - 1)
#define GROWN(rate) ((rate) + ((rate) + 1) / 2)
#define MORE(rate) ((rate) + 1 + (rate) / 16)

/* A millisecond whose low bits are neither none nor all. */
#define BEGAN ((MOST(BEGAN_BITS) + 1 + 12345) * NANOS_MS)

/* Of the steps of it, counted from 0. */
#define START(n) (BEGAN + (n)*STEP)

static void
check_same(const char *row, const struct pace *got, const struct pace *want)
{
	EQUAL(row, got->began, want->began);
	EQUAL(row, got->step, want->step);
	EQUAL(row, got->rate, want->rate);
	EQUAL(row, got->taken, want->taken);
	EQUAL(row, got->served, want->served);
	EQUAL(row, got->met, want->met);
	EQUAL(row, got->failed, want->failed);
	EQUAL(row, got->quiet, want->quiet);
	EQUAL(row, got->news, want->news);
	EQUAL(row, got->over, want->over);
}

/* What it is in its n-th step, having been written. */
static struct pace
in_step(struct pace pace, int64_t n)
{
	return pace_read(pace_word(&pace), pace.began, START(n));
}

static uint64_t
draw(uint64_t *state)
{
	uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

/* 0 to most. */
static int64_t
draw_to(uint64_t *state, int64_t most)
{
	return (int64_t)(draw(state) % ((uint64_t)most + 1));
}

/*
 * Words
 */

enum {
	QUIET_AT = 1,
	FAILED_AT = QUIET_AT + QUIET_BITS,
	SERVED_AT = FAILED_AT + FAILED_BITS,
	TAKEN_AT = SERVED_AT + SERVED_BITS,
	RATE_AT = TAKEN_AT + COUNT_BITS,
	STEP_AT = RATE_AT + COUNT_BITS,
	BEGAN_AT = STEP_AT + STEP_BITS,
};

static const struct {
	const char *row;
	struct pace pace;
	int shift, bits;
} fields[] = {
	{ "met", { .met = true }, 0, 1 },
	{ "quiet", { .quiet = QUIET - 1 }, QUIET_AT, QUIET_BITS },
	{ "failed", { .failed = ILL }, FAILED_AT, FAILED_BITS },
	{ "served", { .served = WELL }, SERVED_AT, SERVED_BITS },
	{ "taken", { .taken = FASTEST }, TAKEN_AT, COUNT_BITS },
	{ "rate", { .rate = FASTEST }, RATE_AT, COUNT_BITS },
	{ "step", { .step = MOST(STEP_BITS) }, STEP_AT, STEP_BITS },
	{ "began", { .began = MOST(BEGAN_BITS) * NANOS_MS }, BEGAN_AT,
	    BEGAN_BITS },
	{ "low bits", { .began = (2 * MOST(BEGAN_BITS) + 1) * NANOS_MS },
	    BEGAN_AT, BEGAN_BITS },
	{ "over is none", { .over = true }, 0, 0 },
};

static void
test_fields(void)
{
	for (size_t i = 0; i < LENGTH(fields); i++)
		HOLDS(fields[i].row,
		    pace_word(&fields[i].pace) ==
			(uint64_t)MOST(fields[i].bits) << fields[i].shift);
	EQUAL("all", BEGAN_AT + BEGAN_BITS, 64);
}

static void
test_a_word_is_read_as_it_was_written(void)
{
	uint64_t seed = 1;

	for (int i = 0; i < 10000; i++) {
		struct pace pace = {
			.began = draw_to(&seed, MOST(40)) * NANOS_MS,
			.step = draw_to(&seed, MOST(STEP_BITS)),
			.rate = LEAST + draw_to(&seed, FASTEST - LEAST),
			.taken = draw_to(&seed, FASTEST),
			.served = draw_to(&seed, WELL),
			.failed = draw_to(&seed, ILL),
			.quiet = draw_to(&seed, QUIET - 1),
			.news = PACE_HEARD,
			.met = draw_to(&seed, 1) != 0,
		};
		nanos now = pace.began + pace.step * STEP;
		struct pace got;

		got = pace_read(pace_word(&pace), pace.began, now);
		check_same("first", &got, &pace);
		got = pace_read(pace_word(&pace), pace.began, now + STEP - 1);
		check_same("last", &got, &pace);
	}
}

/* A recovery that has gone on for a while. */
static const struct pace good = { .began = BEGAN,
	.step = 3,
	.rate = 9 * LEAST,
	.taken = LEAST,
	.served = LEAST,
	.failed = ILL,
	.quiet = 1,
	.news = PACE_HEARD,
	.met = true };

static void
check_void(const char *row, uint64_t word)
{
	const struct pace begins = { .began = BEGAN, .rate = FIRST };
	struct pace got = pace_read(word, BEGAN, BEGAN);

	check_same(row, &got, &begins);
	got = pace_read(word, BEGAN, START(1) - 1);
	check_same(row, &got, &begins);
	/* Where nobody comes that is its end. */
	HOLDS(row, !pace_read(word, BEGAN, START(QUIET) - 1).over);
	HOLDS(row, pace_read(word, BEGAN, START(QUIET)).over);
}

/* What is of another recovery, or of none, stands for one that begins. */
static void
test_void_words(void)
{
	struct pace other = good, got;

	check_void("zero", 0);
	check_void("ones", UINT64_MAX);
	other.began = BEGAN - NANOS_MS;
	check_void("earlier", pace_word(&other));
	other.began = BEGAN + NANOS_MS;
	check_void("later", pace_word(&other));
	other = good;
	other.rate = LEAST - 1;
	check_void("too slow", pace_word(&other));
	other = (struct pace){ .began = BEGAN };
	check_void("no rate", pace_word(&other));
	got = pace_read(pace_word(&good), BEGAN, START(3));
	check_same("good", &got, &good);
	/* It began at an instant of zero: a word of zero is void there too. */
	EQUAL("at zero", pace_read(0, 0, 0).rate, FIRST);
}

/* Until it is known how one of its attempts has ended. */
static void
test_a_word_while_news_is_awaited(void)
{
	struct pace pace = pace_read(0, BEGAN, START(1)), got;
	const int64_t rate_bits = MOST(COUNT_BITS) << RATE_AT;

	EQUAL("none", pace.news, PACE_NONE);
	EQUAL("none", pace.quiet, 1);
	pace_take(&pace);
	EQUAL("taken", pace.news, PACE_AWAITED);
	HOLDS("taken", (pace_word(&pace) & (uint64_t)rate_bits) == 0);
	got = pace_read(pace_word(&pace), BEGAN, START(1));
	check_same("taken", &got, &pace);
	/* No step of it is quiet. */
	got = in_step(pace, 2);
	EQUAL("next", got.quiet, 0);
	got = in_step(pace, MOST(STEP_BITS));
	check_same("last", &got,
	    &(struct pace){ .began = BEGAN,
		.step = MOST(STEP_BITS),
		.rate = FIRST,
		.news = PACE_AWAITED });
	HOLDS("after it", in_step(pace, MOST(STEP_BITS) + 1).over);
	for (int i = 0; i < 2; i++) {
		struct pace told = in_step(pace, 30);

		if (i == 0)
			pace_succeed(&told);
		else
			pace_fail(&told);
		EQUAL("told", told.news, PACE_HEARD);
		EQUAL("told", told.rate, FIRST);
		pace_take(&told);
		got = pace_read(pace_word(&told), BEGAN, START(30));
		check_same("told", &got, &told);
		HOLDS("told", !in_step(told, 30 + QUIET - 1).over);
		HOLDS("told", in_step(told, 30 + QUIET).over);
	}
	/* Of what is told of others before the first has begun. */
	pace = pace_read(0, BEGAN, BEGAN);
	pace_fail(&pace);
	pace_take(&pace);
	EQUAL("told before", pace.news, PACE_HEARD);
}

/*
 * Turns
 */

/* Until the next, so many having been taken. */
static nanos
next_of(int64_t rate, int64_t taken, nanos now)
{
	struct pace pace = {
		.began = BEGAN, .step = 2, .rate = rate, .taken = taken
	};

	return pace_next(&pace, now);
}

static const struct {
	const char *row;
	int64_t rate, taken;
	nanos at, next; /* since the step began */
} turns[] = {
	{ "slow, first", LEAST, 0, 0, 0 },
	{ "slow, last", LEAST, LEAST - 1, 0, 0 },
	{ "slow, none left", LEAST, LEAST, 0, STEP },
	{ "slow, a bit later", LEAST, LEAST, 1, STEP - 1 },
	{ "slow, at the end", LEAST, LEAST, STEP - 1, 1 },
	{ "fast, first", 8 * LEAST, 0, 0, 0 },
	{ "fast, at once", 8 * LEAST, LEAST - 1, 0, 0 },
	{ "fast, spread", 8 * LEAST, LEAST, 0, STEP / (8 * LEAST) },
	{ "fast, when it is time", 8 * LEAST, LEAST, STEP / (8 * LEAST), 0 },
	{ "fast, halfway", 8 * LEAST, 4 * LEAST + LEAST - 1, 0, STEP / 2 },
	{ "fast, too early", 8 * LEAST, 4 * LEAST + LEAST - 1, STEP / 2 - 1,
	    1 },
	{ "fast, none left", 8 * LEAST, 8 * LEAST, 0, STEP },
	{ "more than there are", 8 * LEAST, 9 * LEAST, 0, STEP },
	{ "all that there can be", FASTEST, FASTEST, 0, STEP },
	{ "before it begins", LEAST, 0, -7, 7 },
	{ "after it has ended", LEAST, LEAST, STEP + 9, 0 },
};

static void
test_turns(void)
{
	for (size_t i = 0; i < LENGTH(turns); i++)
		EQUAL(turns[i].row,
		    next_of(
			turns[i].rate, turns[i].taken, START(2) + turns[i].at),
		    turns[i].next);
}

/* The first few at once, the others one by one, all of them in the step. */
static void
test_turns_are_spread(void)
{
	char row[24];

	for (int64_t rate = LEAST; rate <= FASTEST; rate++) {
		nanos last = 0;

		snprintf(row, sizeof row, "%" PRId64, rate);
		for (int64_t taken = 0; taken < rate; taken++) {
			nanos at = next_of(rate, taken, START(2));

			if (taken < LEAST)
				EQUAL(row, at, 0);
			else /* it may be rounded down */
				HOLDS(row, at - last >= STEP / rate);
			EQUAL(row, next_of(rate, taken, START(2) + at), 0);
			last = at;
		}
		HOLDS(row, last < STEP);
		EQUAL(row, next_of(rate, rate, START(2)), STEP);
	}
}

static void
test_taking(void)
{
	struct pace pace = { .began = BEGAN, .step = 5, .rate = 3 * LEAST };
	struct pace want;

	pace.news = PACE_HEARD;
	want = pace;
	pace_take(&pace);
	want.taken = 1;
	check_same("take", &pace, &want);
	pace_succeed(&pace);
	pace_succeed(&pace);
	want.served = 2;
	check_same("succeed", &pace, &want);
	pace_fail(&pace);
	want.failed = 1;
	check_same("fail", &pace, &want);
	pace.taken = want.taken = FASTEST;
	pace.served = want.served = WELL;
	pace.failed = want.failed = ILL;
	pace_take(&pace);
	pace_succeed(&pace);
	pace_fail(&pace);
	check_same("the most", &pace, &want);
}

/*
 * Growth
 */

static const struct {
	const char *row;
	int64_t rate, served, failed;
	bool met;
	int64_t next;
	bool meets;
} growths[] = {
	{ "grows by half", 32, 32, 0, false, 48, false },
	{ "grows by half, odd", 33, 33, 0, false, 50, false },
	{ "more than all", 32, 80, 0, false, 48, false },
	{ "twice what succeeded", 32, 23, 0, false, 46, false },
	{ "just more than half", 32, 17, 0, false, 34, false },
	{ "half of it is too slow", 32, 16, 0, false, 32, false },
	{ "none yet", 32, 0, 0, false, 32, false },
	{ "few by few", 32, 32, 0, true, 35, true },
	{ "few by few, half", 32, 16, 0, true, 32, true },
	{ "few by few, slowest", LEAST, LEAST, 0, true, LEAST + 1, true },
	{ "a failure now and then", 32, 30, 2, false, 48, false },
	{ "the most that it bears", 32, 29, 3, false, 48, false },
	{ "one more, others well", 32, 32, 4, false, 24, true },
	{ "one more, most well", 32, 20, 4, true, 20, true },
	{ "few well", 32, 12, 20, true, 16, true },
	{ "none well", 32, 0, ILL, false, 16, true },
	{ "one of the slowest", LEAST, 3, 1, false, 6, false },
	{ "two of the slowest", LEAST, 2, 2, false, LEAST, false },
	{ "all of the slowest", LEAST, 0, 4, false, LEAST, false },
	{ "two of nearly the slowest", LEAST + 1, 3, 2, false, LEAST, false },
	{ "as fast as it began", FIRST, FIRST, 0, false, GROWN(FIRST), false },
	{ "as fast as it began, cut", FIRST, 3, 9, false, FIRST / 2, false },
	{ "faster than it began, cut", FIRST + 2, 3, 9, false, FIRST / 2 + 1,
	    true },
	{ "the most", FASTEST, WELL, 0, false, FASTEST, false },
	{ "the most, met", FASTEST, WELL, 0, true, FASTEST, true },
	{ "the most that the most bears", FASTEST, WELL, ILL - 1, false,
	    FASTEST, false },
	{ "too many for the most", FASTEST, WELL, ILL, false, WELL, true },
	{ "what a sixteenth is more than", 479, WELL, ILL, false, WELL, true },
};

static void
test_next_rates(void)
{
	for (size_t i = 0; i < LENGTH(growths); i++) {
		struct pace pace = { .began = BEGAN,
			.step = 5,
			.rate = growths[i].rate,
			.taken = growths[i].rate,
			.served = growths[i].served,
			.failed = growths[i].failed,
			.met = growths[i].met };
		struct pace want = { .began = BEGAN,
			.step = 6,
			.rate = growths[i].next,
			.news = PACE_HEARD,
			.met = growths[i].meets };
		struct pace got = in_step(pace, 6);

		check_same(growths[i].row, &got, &want);
	}
}

/* A step that is cut has the first few to give, and no more. */
static void
test_a_cut_step(void)
{
	char row[24];

	for (int64_t rate = LEAST; rate <= FASTEST; rate++) {
		struct pace pace = { .began = BEGAN, .step = 5, .rate = rate };
		nanos end = START(6) - 1;

		snprintf(row, sizeof row, "%" PRId64, rate);
		for (int64_t i = 0; i < BEARS(rate); i++)
			pace_fail(&pace);
		pace.taken = rate - 1;
		EQUAL(row, pace_next(&pace, end), 0);
		pace_fail(&pace);
		EQUAL(row, pace_next(&pace, end), rate > LEAST);
		pace.taken = LEAST - 1;
		EQUAL(row, pace_next(&pace, START(5)), 0);
		pace.taken = LEAST;
		EQUAL(row, pace_next(&pace, START(5)), STEP);
	}
}

/* In one step after the other, down to the slowest. */
static void
test_failures_in_many_steps(void)
{
	struct pace pace = { .began = BEGAN, .rate = FASTEST };
	int64_t rate = FASTEST;

	for (int64_t step = 0; step < 100; step++) {
		pace = in_step(pace, step);
		EQUAL("rate", pace.rate, rate);
		EQUAL("anew", pace.failed, 0);
		HOLDS("goes on", !pace.over);
		pace.taken = pace.rate;
		for (int64_t i = 0; i <= BEARS(rate); i++)
			pace_fail(&pace);
		rate = rate / 2 > LEAST ? rate / 2 : LEAST;
	}
	HOLDS("met", pace.met);
	EQUAL("in the end", rate, LEAST);
}

/*
 * The end
 */

static const struct {
	const char *row;
	int64_t rate, taken, failed, quiet;
	int64_t steps; /* that have gone by */
	bool over;
	int64_t left; /* quiet ones then */
} ends[] = {
	{ "none taken", 32, 0, 0, 0, 1, false, 1 },
	{ "half", 32, 16, 0, 0, 1, false, 1 },
	{ "more than half", 32, 17, 0, 0, 1, false, 0 },
	{ "more than half, after quiet", 32, 17, 0, QUIET - 1, 1, false, 0 },
	{ "one less", 32, 16, 0, QUIET - 2, 1, false, QUIET - 1 },
	{ "as many as it takes", 32, 16, 0, QUIET - 1, 1, true, 0 },
	{ "in the last of them", 32, 16, 0, QUIET - 1, 0, false, QUIET - 1 },
	{ "all", 32, 32, 0, 0, 1, false, 0 },
	{ "all, and then none", 32, 32, 0, 0, QUIET, false, QUIET - 1 },
	{ "all, and then none for long", 32, 32, 0, 0, QUIET + 1, true, 0 },
	{ "none, for long", 32, 0, 0, 0, QUIET, true, 0 },
	{ "a failure now and then", 32, 0, BEARS(32), QUIET - 1, 1, true, 0 },
	{ "too many of them", 32, 0, BEARS(32) + 1, QUIET - 1, 1, false, 0 },
	{ "too many of them, and then none", 32, 0, ILL, 0, QUIET + 1, true,
	    0 },
	{ "long ago", LEAST, LEAST, 0, 0, 1000, true, 0 },
	{ "longer ago than steps", LEAST, LEAST, ILL, 0, MOST(STEP_BITS) + 1,
	    true, 0 },
};

static void
test_ends(void)
{
	for (size_t i = 0; i < LENGTH(ends); i++) {
		struct pace pace = { .began = BEGAN,
			.step = 5,
			.rate = ends[i].rate,
			.taken = ends[i].taken,
			.failed = ends[i].failed,
			.quiet = ends[i].quiet };
		struct pace got = in_step(pace, 5 + ends[i].steps);

		EQUAL(ends[i].row, got.over, ends[i].over);
		if (!got.over)
			EQUAL(ends[i].row, got.quiet, ends[i].left);
	}
}

/* Few came: more of them would have found room. */
static void
test_a_quiet_step_lets_it_not_grow(void)
{
	struct pace pace = {
		.began = BEGAN, .step = 5, .rate = 32, .taken = 16, .served = 32
	};

	EQUAL("half", in_step(pace, 6).rate, 32);
	pace.taken = 17;
	EQUAL("more", in_step(pace, 6).rate, 48);
	/* A cut is one, whoever came. */
	pace.taken = 0;
	pace.failed = BEARS(32) + 1;
	EQUAL("cut", in_step(pace, 6).rate, 24);
}

static void
test_it_ends_after_the_last_step(void)
{
	const int64_t last = MOST(STEP_BITS);
	struct pace pace = { .began = BEGAN,
		.step = last,
		.rate = LEAST,
		.taken = LEAST,
		.served = LEAST };

	HOLDS("last", !in_step(pace, last).over);
	HOLDS("its end",
	    !pace_read(pace_word(&pace), BEGAN, START(last + 1) - 1).over);
	HOLDS("after it", in_step(pace, last + 1).over);
	HOLDS("after it", in_step(pace, INT32_MAX).over);
	HOLDS("last instant", pace_read(0, 0, NANOS_MAX).over);
	HOLDS("last instant", pace_read(UINT64_MAX, 0, NANOS_MAX).over);
}

/*
 * Clocks
 */

/* Who is behind sees what there is, and has to wait for it. */
static void
test_steps_in_the_future(void)
{
	struct pace pace = { .began = BEGAN,
		.step = 5,
		.rate = 2 * LEAST,
		.taken = LEAST,
		.news = PACE_HEARD,
		.met = true };
	struct pace got = in_step(pace, 3);

	check_same("behind", &got, &pace);
	EQUAL(
	    "behind", pace_next(&got, START(3)), 2 * STEP + STEP / (2 * LEAST));
	got.taken = 0;
	EQUAL("first", pace_next(&got, START(3)), 2 * STEP);
	got = pace_read(pace_word(&pace), BEGAN, 0);
	check_same("before it began", &got, &pace);
	got = pace_read(0, BEGAN, 0);
	EQUAL("begins", got.step, 0);
	EQUAL("begins", pace_next(&got, 0), BEGAN);
}

/*
 * Anything
 */

/* It can be written: no field is larger than its room, or the slowest. */
static void
check_fields(const char *row, const struct pace *pace)
{
	HOLDS(row, pace->step >= 0 && pace->step <= MOST(STEP_BITS));
	HOLDS(row, pace->rate >= LEAST && pace->rate <= FASTEST);
	HOLDS(row, pace->taken >= 0 && pace->taken <= FASTEST);
	HOLDS(row, pace->served >= 0 && pace->served <= WELL);
	HOLDS(row, pace->failed >= 0 && pace->failed <= ILL);
	HOLDS(row,
	    pace->quiet >= 0 && pace->quiet < QUIET + (pace->over ? 1 : 0));
}

static void
test_random_words(void)
{
	const nanos most = (MOST(STEP_BITS) + 1) * STEP;
	uint64_t seed = 1;

	for (int i = 0; i < 100000; i++) {
		struct pace zero = { .began = BEGAN };
		uint64_t word = pace_word(&zero) |
		    draw(&seed) % (UINT64_C(1) << (64 - BEGAN_BITS));
		nanos now = START(draw_to(&seed, MOST(STEP_BITS))) +
		    draw_to(&seed, STEP);
		struct pace pace = pace_read(word, BEGAN, now);

		check_fields("read", &pace);
		if (pace.over)
			continue;
		HOLDS("held", pace_next(&pace, now) >= 0);
		HOLDS("held", pace_next(&pace, BEGAN) <= most);
		if (START(pace.step) <= now)
			HOLDS("held", pace_next(&pace, now) <= STEP);
		/* Whoever waits gets in, or finds that it is over. */
		now += pace_next(&pace, now);
		pace = pace_read(word, BEGAN, now);
		HOLDS("waited", pace.over || pace_next(&pace, now) == 0);
	}
}

/* What can happen in a recovery, at random: for so many steps at most. */
static int64_t
check_walk(uint64_t *seed)
{
	int64_t well = draw_to(seed, 64), asked = draw_to(seed, 64);
	int64_t taken = 0, step = 0;
	nanos now = BEGAN;
	uint64_t word = 0;

	for (int i = 0; i < 2000; i++) {
		struct pace pace = pace_read(word, BEGAN, now);

		check_fields("walk", &pace);
		if (pace.over)
			return step;
		taken = pace.step == step ? taken : 0;
		step = pace.step;
		EQUAL("turns", pace.taken, taken);
		if (draw_to(seed, 63) < asked && pace_next(&pace, now) == 0) {
			HOLDS("turns", pace.taken < pace.rate);
			pace_take(&pace);
			taken++;
			if (draw_to(seed, 63) < well)
				pace_succeed(&pace);
			else
				pace_fail(&pace);
		}
		word = pace_word(&pace);
		now += draw_to(seed, STEP / 16);
	}
	return step;
}

static void
test_random_walks(void)
{
	uint64_t seed = 1;
	int64_t steps = 0;

	for (int i = 0; i < 100; i++)
		steps += check_walk(&seed);
	HOLDS("walks", steps > 1000);
}

/* All who come are served: so they are let in, more of them in every step. */
static void
test_a_recovery_without_failures(void)
{
	int64_t rate = FIRST;
	uint64_t word = 0;
	struct pace pace;

	for (int64_t step = 0; step < 20; step++) {
		nanos now = START(step + 1) - 1;

		pace = pace_read(word, BEGAN, now);
		EQUAL("rate", pace.rate, rate);
		for (int64_t i = 0; i <= FASTEST; i++) {
			if (pace_next(&pace, now) > 0)
				break;
			pace_take(&pace);
			pace_succeed(&pace);
		}
		EQUAL("taken", pace.taken, rate);
		word = pace_word(&pace);
		rate = GROWN(rate) < 2 * WELL ? GROWN(rate) : 2 * WELL;
	}
	EQUAL("rate", rate, 2 * WELL);
}

/* Who fails now and then is let in by ever more, as if he never did. */
static void
test_a_recovery_with_few_failures(void)
{
	uint64_t word = 0;
	struct pace pace = pace_read(word, BEGAN, BEGAN);
	int64_t count = 0;

	for (int64_t step = 0; step < 20; step++) {
		nanos now = START(step + 1) - 1;

		pace = pace_read(word, BEGAN, now);
		while (pace_next(&pace, now) == 0) {
			pace_take(&pace);
			if (++count % 20 == 0)
				pace_fail(&pace);
			else
				pace_succeed(&pace);
		}
		HOLDS("all", pace.taken == pace.rate && !pace.met);
		word = pace_word(&pace);
	}
	HOLDS("fast", pace.rate > FASTEST / 10 * 9);
}

static void (*const tests[])(void) = {
	test_fields,
	test_a_word_is_read_as_it_was_written,
	test_void_words,
	test_a_word_while_news_is_awaited,
	test_turns,
	test_turns_are_spread,
	test_taking,
	test_next_rates,
	test_a_cut_step,
	test_failures_in_many_steps,
	test_ends,
	test_a_quiet_step_lets_it_not_grow,
	test_it_ends_after_the_last_step,
	test_steps_in_the_future,
	test_random_words,
	test_random_walks,
	test_a_recovery_without_failures,
	test_a_recovery_with_few_failures,
};

int
main(void)
{
	return unit_run(tests, LENGTH(tests));
}
