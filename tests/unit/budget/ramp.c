/*
 * ramp: when attempts may begin, how the rate changes, and the fields of a
 * word. All in terms of RAMP_STEP, RAMP_FIRST and RAMP_LEAST.
 */
#include "unit.h"
#include "budget/ramp.h"
#include "text/random.h"

#define STEP RAMP_STEP
#define FIRST RAMP_FIRST
#define LEAST RAMP_LEAST
#define QUIET RAMP_QUIET

/* The fields of a word, as another version of the program has them. */
#define BEGAN_BITS 18
#define STEP_BITS 11
#define COUNT_BITS 9
#define SERVED_BITS 8
#define FAILED_BITS 5
#define QUIET_BITS 3
#define MOST(bits) ((INT64_C(1) << (bits)) - 1)
#define FASTEST MOST(COUNT_BITS)
#define MOST_SERVED MOST(SERVED_BITS) /* no more are counted */
#define MOST_FAILED MOST(FAILED_BITS)

/* How many failures a step tolerates; the next rate after a limit was met. */
#define TOLERATES(rate) ((rate) < 480 ? 1 + (rate) / 16 : MOST_FAILED - 1)
#define GROWN(rate) ((rate) + ((rate) + 1) / 2)
#define MORE(rate) ((rate) + 1 + (rate) / 16)

/* A millisecond whose low bits are neither all 0 nor all 1. */
#define BEGAN ((MOST(BEGAN_BITS) + 1 + 12345) * NANOS_MS)

/* When a step begins; steps count from 0. */
#define START(n) (BEGAN + (n)*STEP)

static void
check_same(const char *row, const struct ramp *got, const struct ramp *want)
{
	EQUAL(row, got->began, want->began);
	EQUAL(row, got->slowdown, want->slowdown);
	EQUAL(row, got->step, want->step);
	EQUAL(row, got->rate, want->rate);
	EQUAL(row, got->taken, want->taken);
	EQUAL(row, got->served, want->served);
	EQUAL(row, got->met, want->met);
	EQUAL(row, got->failed, want->failed);
	EQUAL(row, got->quiet, want->quiet);
	EQUAL(row, got->outcomes, want->outcomes);
	EQUAL(row, got->over, want->over);
}

/* The ramp in its n-th step, read from its word. */
static struct ramp
in_step(struct ramp ramp, int64_t n)
{
	return ramp_read(ramp_word(&ramp), ramp.began, 0, START(n));
}

/* 0 to most. */
static int64_t
draw_to(uint64_t *state, int64_t most)
{
	return (int64_t)(random_draw(state) % ((uint64_t)most + 1));
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
	struct ramp ramp;
	int shift, bits;
} fields[] = {
	{ "met", { .met = true }, 0, 1 },
	{ "quiet", { .quiet = QUIET - 1 }, QUIET_AT, QUIET_BITS },
	{ "failed", { .failed = MOST_FAILED }, FAILED_AT, FAILED_BITS },
	{ "served", { .served = MOST_SERVED }, SERVED_AT, SERVED_BITS },
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
		    ramp_word(&fields[i].ramp) ==
			(uint64_t)MOST(fields[i].bits) << fields[i].shift);
	EQUAL("all", BEGAN_AT + BEGAN_BITS, 64);
}

static void
test_a_word_is_read_as_it_was_written(void)
{
	uint64_t seed = 1;

	for (int i = 0; i < 10000; i++) {
		struct ramp ramp = {
			.began = draw_to(&seed, MOST(40)) * NANOS_MS,
			.step = draw_to(&seed, MOST(STEP_BITS)),
			.rate = LEAST + draw_to(&seed, FASTEST - LEAST),
			.taken = draw_to(&seed, FASTEST),
			.served = draw_to(&seed, MOST_SERVED),
			.failed = draw_to(&seed, MOST_FAILED),
			.quiet = draw_to(&seed, QUIET - 1),
			.outcomes = RAMP_KNOWN,
			.met = draw_to(&seed, 1) != 0,
		};
		nanos now = ramp.began + ramp.step * STEP;
		struct ramp got;

		got = ramp_read(ramp_word(&ramp), ramp.began, 0, now);
		check_same("first", &got, &ramp);
		got =
		    ramp_read(ramp_word(&ramp), ramp.began, 0, now + STEP - 1);
		check_same("last", &got, &ramp);
	}
}

/* A recovery that has gone on for a while. */
static const struct ramp good = { .began = BEGAN,
	.step = 3,
	.rate = 9 * LEAST,
	.taken = LEAST,
	.served = LEAST,
	.failed = MOST_FAILED,
	.quiet = 1,
	.outcomes = RAMP_KNOWN,
	.met = true };

static void
check_void(const char *row, uint64_t word)
{
	const struct ramp begins = { .began = BEGAN, .rate = FIRST };
	struct ramp got = ramp_read(word, BEGAN, 0, BEGAN);

	check_same(row, &got, &begins);
	got = ramp_read(word, BEGAN, 0, START(1) - 1);
	check_same(row, &got, &begins);
	/* Without attempts the recovery ends. */
	HOLDS(row, !ramp_read(word, BEGAN, 0, START(QUIET) - 1).over);
	HOLDS(row, ramp_read(word, BEGAN, 0, START(QUIET)).over);
}

/* A word of another recovery, or of none, stands for one that just begins. */
static void
test_invalid_words(void)
{
	struct ramp other = good, got;

	check_void("zero", 0);
	check_void("ones", UINT64_MAX);
	other.began = BEGAN - NANOS_MS;
	check_void("earlier", ramp_word(&other));
	other.began = BEGAN + NANOS_MS;
	check_void("later", ramp_word(&other));
	other = good;
	other.rate = LEAST - 1;
	check_void("too slow", ramp_word(&other));
	other = (struct ramp){ .began = BEGAN };
	check_void("no rate", ramp_word(&other));
	got = ramp_read(ramp_word(&good), BEGAN, 0, START(3));
	check_same("good", &got, &good);
	/* A word of 0 is invalid also for a recovery that began at instant 0.
	 */
	EQUAL("at zero", ramp_read(0, 0, 0, 0).rate, FIRST);
}

/* Until the outcome of one of its attempts is known. */
static void
test_a_word_while_no_outcome_is_known(void)
{
	struct ramp ramp = ramp_read(0, BEGAN, 0, START(1)), got;
	const int64_t rate_bits = MOST(COUNT_BITS) << RATE_AT;

	EQUAL("none", ramp.outcomes, RAMP_NONE);
	EQUAL("none", ramp.quiet, 1);
	ramp_take(&ramp);
	EQUAL("taken", ramp.outcomes, RAMP_AWAITED);
	HOLDS("taken", (ramp_word(&ramp) & (uint64_t)rate_bits) == 0);
	got = ramp_read(ramp_word(&ramp), BEGAN, 0, START(1));
	check_same("taken", &got, &ramp);
	/* No step is quiet until then. */
	got = in_step(ramp, 2);
	EQUAL("next", got.quiet, 0);
	got = in_step(ramp, MOST(STEP_BITS));
	check_same("last", &got,
	    &(struct ramp){ .began = BEGAN,
		.step = MOST(STEP_BITS),
		.rate = FIRST,
		.outcomes = RAMP_AWAITED });
	HOLDS("after it", in_step(ramp, MOST(STEP_BITS) + 1).over);
	for (int i = 0; i < 2; i++) {
		struct ramp told = in_step(ramp, 30);

		if (i == 0)
			ramp_succeed(&told);
		else
			ramp_fail(&told);
		EQUAL("told", told.outcomes, RAMP_KNOWN);
		EQUAL("told", told.rate, FIRST);
		ramp_take(&told);
		got = ramp_read(ramp_word(&told), BEGAN, 0, START(30));
		check_same("told", &got, &told);
		HOLDS("told", !in_step(told, 30 + QUIET - 1).over);
		HOLDS("told", in_step(told, 30 + QUIET).over);
	}
	/* Outcomes of other attempts, told before the first one has begun. */
	ramp = ramp_read(0, BEGAN, 0, BEGAN);
	ramp_fail(&ramp);
	ramp_take(&ramp);
	EQUAL("told before", ramp.outcomes, RAMP_KNOWN);
}

/*
 * Turns
 */

/* How long until the next turn, after so many have been taken. */
static nanos
next_of(int64_t rate, int64_t taken, nanos now)
{
	struct ramp ramp = {
		.began = BEGAN, .step = 2, .rate = rate, .taken = taken
	};

	return ramp_next(&ramp, now);
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
	struct ramp ramp = { .began = BEGAN, .step = 5, .rate = 3 * LEAST };
	struct ramp want;

	ramp.outcomes = RAMP_KNOWN;
	want = ramp;
	ramp_take(&ramp);
	want.taken = 1;
	check_same("take", &ramp, &want);
	ramp_succeed(&ramp);
	ramp_succeed(&ramp);
	want.served = 2;
	check_same("succeed", &ramp, &want);
	ramp_fail(&ramp);
	want.failed = 1;
	check_same("fail", &ramp, &want);
	ramp.taken = want.taken = FASTEST;
	ramp.served = want.served = MOST_SERVED;
	ramp.failed = want.failed = MOST_FAILED;
	ramp_take(&ramp);
	ramp_succeed(&ramp);
	ramp_fail(&ramp);
	check_same("the most", &ramp, &want);
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
	{ "one more, others succeed", 32, 32, 4, false, 24, true },
	{ "one more, most succeed", 32, 20, 4, true, 20, true },
	{ "few succeed", 32, 12, 20, true, 16, true },
	{ "no success", 32, 0, MOST_FAILED, false, 16, true },
	{ "one of the slowest", LEAST, 3, 1, false, 6, false },
	{ "two of the slowest", LEAST, 2, 2, false, LEAST, false },
	{ "all of the slowest", LEAST, 0, 4, false, LEAST, false },
	{ "two of nearly the slowest", LEAST + 1, 3, 2, false, LEAST, false },
	{ "as fast as it began", FIRST, FIRST, 0, false, GROWN(FIRST), false },
	{ "as fast as it began, cut", FIRST, 3, 9, false, FIRST / 2, false },
	{ "faster than it began, cut", FIRST + 2, 3, 9, false, FIRST / 2 + 1,
	    true },
	{ "the most", FASTEST, MOST_SERVED, 0, false, FASTEST, false },
	{ "the most, met", FASTEST, MOST_SERVED, 0, true, FASTEST, true },
	{ "the most that the highest rate tolerates", FASTEST, MOST_SERVED,
	    MOST_FAILED - 1, false, FASTEST, false },
	{ "too many for the highest rate", FASTEST, MOST_SERVED, MOST_FAILED,
	    false, MOST_SERVED, true },
	{ "what a sixteenth is more than", 479, MOST_SERVED, MOST_FAILED, false,
	    MOST_SERVED, true },
};

static void
test_next_rates(void)
{
	for (size_t i = 0; i < LENGTH(growths); i++) {
		struct ramp ramp = { .began = BEGAN,
			.step = 5,
			.rate = growths[i].rate,
			.taken = growths[i].rate,
			.served = growths[i].served,
			.failed = growths[i].failed,
			.met = growths[i].met };
		struct ramp want = { .began = BEGAN,
			.step = 6,
			.rate = growths[i].next,
			.outcomes = RAMP_KNOWN,
			.met = growths[i].meets };
		struct ramp got = in_step(ramp, 6);

		check_same(growths[i].row, &got, &want);
	}
}

/* A step that is cut has RAMP_LEAST turns and no more. */
static void
test_a_cut_step(void)
{
	char row[24];

	for (int64_t rate = LEAST; rate <= FASTEST; rate++) {
		struct ramp ramp = { .began = BEGAN, .step = 5, .rate = rate };
		nanos end = START(6) - 1;

		snprintf(row, sizeof row, "%" PRId64, rate);
		for (int64_t i = 0; i < TOLERATES(rate); i++)
			ramp_fail(&ramp);
		ramp.taken = rate - 1;
		EQUAL(row, ramp_next(&ramp, end), 0);
		ramp_fail(&ramp);
		EQUAL(row, ramp_next(&ramp, end), rate > LEAST);
		ramp.taken = LEAST - 1;
		EQUAL(row, ramp_next(&ramp, START(5)), 0);
		ramp.taken = LEAST;
		EQUAL(row, ramp_next(&ramp, START(5)), STEP);
	}
}

/* In one step after the other, down to the least rate. */
static void
test_failures_in_many_steps(void)
{
	struct ramp ramp = { .began = BEGAN, .rate = FASTEST };
	int64_t rate = FASTEST;

	for (int64_t step = 0; step < 100; step++) {
		ramp = in_step(ramp, step);
		EQUAL("rate", ramp.rate, rate);
		EQUAL("anew", ramp.failed, 0);
		HOLDS("goes on", !ramp.over);
		ramp.taken = ramp.rate;
		for (int64_t i = 0; i <= TOLERATES(rate); i++)
			ramp_fail(&ramp);
		rate = rate / 2 > LEAST ? rate / 2 : LEAST;
	}
	HOLDS("met", ramp.met);
	EQUAL("in the end", rate, LEAST);
}

/*
 * The end
 */

static const struct {
	const char *row;
	int64_t rate, taken, failed, quiet;
	int64_t steps; /* that have passed */
	bool over;
	int64_t left; /* quiet steps in a row then */
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
	{ "a failure now and then", 32, 0, TOLERATES(32), QUIET - 1, 1, true,
	    0 },
	{ "too many of them", 32, 0, TOLERATES(32) + 1, QUIET - 1, 1, false,
	    0 },
	{ "too many of them, and then none", 32, 0, MOST_FAILED, 0, QUIET + 1,
	    true, 0 },
	{ "long ago", LEAST, LEAST, 0, 0, 1000, true, 0 },
	{ "longer ago than steps", LEAST, LEAST, MOST_FAILED, 0,
	    MOST(STEP_BITS) + 1, true, 0 },
};

static void
test_ends(void)
{
	for (size_t i = 0; i < LENGTH(ends); i++) {
		struct ramp ramp = { .began = BEGAN,
			.step = 5,
			.rate = ends[i].rate,
			.taken = ends[i].taken,
			.failed = ends[i].failed,
			.quiet = ends[i].quiet };
		struct ramp got = in_step(ramp, 5 + ends[i].steps);

		EQUAL(ends[i].row, got.over, ends[i].over);
		if (!got.over)
			EQUAL(ends[i].row, got.quiet, ends[i].left);
	}
}

/* Few attempts came, so that a higher rate would not be used. */
static void
test_the_rate_does_not_grow_after_a_quiet_step(void)
{
	struct ramp ramp = {
		.began = BEGAN, .step = 5, .rate = 32, .taken = 16, .served = 32
	};

	EQUAL("half", in_step(ramp, 6).rate, 32);
	ramp.taken = 17;
	EQUAL("more", in_step(ramp, 6).rate, 48);
	/* A cut step is no quiet one, however few attempts came. */
	ramp.taken = 0;
	ramp.failed = TOLERATES(32) + 1;
	EQUAL("cut", in_step(ramp, 6).rate, 24);
}

static void
test_it_ends_after_the_last_step(void)
{
	const int64_t last = MOST(STEP_BITS);
	struct ramp ramp = { .began = BEGAN,
		.step = last,
		.rate = LEAST,
		.taken = LEAST,
		.served = LEAST };

	HOLDS("last", !in_step(ramp, last).over);
	HOLDS("its end",
	    !ramp_read(ramp_word(&ramp), BEGAN, 0, START(last + 1) - 1).over);
	HOLDS("after it", in_step(ramp, last + 1).over);
	HOLDS("after it", in_step(ramp, INT32_MAX).over);
	HOLDS("last instant", ramp_read(0, 0, 0, NANOS_MAX).over);
	HOLDS("last instant", ramp_read(UINT64_MAX, 0, 0, NANOS_MAX).over);
}

/*
 * Clocks
 */

/* With a clock that is behind, the same is available, but later. */
static void
test_steps_in_the_future(void)
{
	struct ramp ramp = { .began = BEGAN,
		.step = 5,
		.rate = 2 * LEAST,
		.taken = LEAST,
		.outcomes = RAMP_KNOWN,
		.met = true };
	struct ramp got = in_step(ramp, 3);

	check_same("behind", &got, &ramp);
	EQUAL(
	    "behind", ramp_next(&got, START(3)), 2 * STEP + STEP / (2 * LEAST));
	got.taken = 0;
	EQUAL("first", ramp_next(&got, START(3)), 2 * STEP);
	got = ramp_read(ramp_word(&ramp), BEGAN, 0, 0);
	check_same("before it began", &got, &ramp);
	got = ramp_read(0, BEGAN, 0, 0);
	EQUAL("begins", got.step, 0);
	EQUAL("begins", ramp_next(&got, 0), BEGAN);
}

/*
 * Anything
 */

/* Each field fits into its bits, and the rate is at least RAMP_LEAST. */
static void
check_fields(const char *row, const struct ramp *ramp)
{
	HOLDS(row, ramp->step >= 0 && ramp->step <= MOST(STEP_BITS));
	HOLDS(row, ramp->rate >= LEAST && ramp->rate <= FASTEST);
	HOLDS(row, ramp->taken >= 0 && ramp->taken <= FASTEST);
	HOLDS(row, ramp->served >= 0 && ramp->served <= MOST_SERVED);
	HOLDS(row, ramp->failed >= 0 && ramp->failed <= MOST_FAILED);
	HOLDS(row,
	    ramp->quiet >= 0 && ramp->quiet < QUIET + (ramp->over ? 1 : 0));
}

static void
test_random_words(void)
{
	const nanos most = (MOST(STEP_BITS) + 1) * STEP;
	uint64_t seed = 1;

	for (int i = 0; i < 100000; i++) {
		struct ramp zero = { .began = BEGAN };
		uint64_t word = ramp_word(&zero) |
		    random_draw(&seed) % (UINT64_C(1) << (64 - BEGAN_BITS));
		nanos now = START(draw_to(&seed, MOST(STEP_BITS))) +
		    draw_to(&seed, STEP);
		struct ramp ramp = ramp_read(word, BEGAN, 0, now);

		check_fields("read", &ramp);
		if (ramp.over)
			continue;
		HOLDS("held", ramp_next(&ramp, now) >= 0);
		HOLDS("held", ramp_next(&ramp, BEGAN) <= most);
		if (START(ramp.step) <= now)
			HOLDS("held", ramp_next(&ramp, now) <= STEP);
		/* After the wait an attempt may begin, or it is over. */
		now += ramp_next(&ramp, now);
		ramp = ramp_read(word, BEGAN, 0, now);
		HOLDS("waited", ramp.over || ramp_next(&ramp, now) == 0);
	}
}

/* Random attempts and outcomes of a recovery, for at most so many steps. */
static int64_t
check_walk(uint64_t *seed)
{
	int64_t succeed = draw_to(seed, 64), asked = draw_to(seed, 64);
	int64_t taken = 0, step = 0;
	nanos now = BEGAN;
	uint64_t word = 0;

	for (int i = 0; i < 2000; i++) {
		struct ramp ramp = ramp_read(word, BEGAN, 0, now);

		check_fields("walk", &ramp);
		if (ramp.over)
			return step;
		taken = ramp.step == step ? taken : 0;
		step = ramp.step;
		EQUAL("turns", ramp.taken, taken);
		if (draw_to(seed, 63) < asked && ramp_next(&ramp, now) == 0) {
			HOLDS("turns", ramp.taken < ramp.rate);
			ramp_take(&ramp);
			taken++;
			if (draw_to(seed, 63) < succeed)
				ramp_succeed(&ramp);
			else
				ramp_fail(&ramp);
		}
		word = ramp_word(&ramp);
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

/* All attempts succeed: the rate grows in every step. */
static void
test_a_recovery_without_failures(void)
{
	int64_t rate = FIRST;
	uint64_t word = 0;
	struct ramp ramp;

	for (int64_t step = 0; step < 20; step++) {
		nanos now = START(step + 1) - 1;

		ramp = ramp_read(word, BEGAN, 0, now);
		EQUAL("rate", ramp.rate, rate);
		for (int64_t i = 0; i <= FASTEST; i++) {
			if (ramp_next(&ramp, now) > 0)
				break;
			ramp_take(&ramp);
			ramp_succeed(&ramp);
		}
		EQUAL("taken", ramp.taken, rate);
		word = ramp_word(&ramp);
		rate = GROWN(rate) < 2 * MOST_SERVED ? GROWN(rate)
						     : 2 * MOST_SERVED;
	}
	EQUAL("rate", rate, 2 * MOST_SERVED);
}

/* With few failures the rate grows as it does without any. */
static void
test_a_recovery_with_few_failures(void)
{
	uint64_t word = 0;
	struct ramp ramp = ramp_read(word, BEGAN, 0, BEGAN);
	int64_t count = 0;

	for (int64_t step = 0; step < 20; step++) {
		nanos now = START(step + 1) - 1;

		ramp = ramp_read(word, BEGAN, 0, now);
		while (ramp_next(&ramp, now) == 0) {
			ramp_take(&ramp);
			if (++count % 20 == 0)
				ramp_fail(&ramp);
			else
				ramp_succeed(&ramp);
		}
		HOLDS("all", ramp.taken == ramp.rate && !ramp.met);
		word = ramp_word(&ramp);
	}
	HOLDS("fast", ramp.rate > FASTEST / 10 * 9);
}

/*
 * Fleets
 */

static void
test_the_slowdown_of_so_many_hosts(void)
{
	static const struct {
		int64_t hosts, slowdown;
	} rows[] = {
		{ INT64_MIN, 0 }, /* not of a server */
		{ 0, 0 },
		{ 1, 0 },
		{ 23, 0 },
		{ 24, 1 },
		{ 35, 1 },
		{ 36, 2 },
		{ 95, 6 },
		{ 96, 7 },
		{ 100, 7 },
		{ INT64_MAX, 7 },
	};

	for (size_t i = 0; i < LENGTH(rows); i++)
		EQUAL("hosts", ramp_slowdown(rows[i].hosts), rows[i].slowdown);
}

/* A slow recovery does in each of its steps what another one does in its. */
static void
test_a_slowdown_makes_steps_longer(void)
{
	struct ramp busy = good;

	busy.failed = 0;
	for (int64_t slowdown = 0; slowdown <= RAMP_SLOWEST; slowdown++) {
		const nanos step = STEP * (1 + slowdown);
		uint64_t word = ramp_word(&busy);
		struct ramp ramp, usual;

		ramp = ramp_read(word, BEGAN, slowdown, BEGAN + 3 * step);
		EQUAL("step", ramp_step(&ramp), step);
		EQUAL("same", ramp.step, 3);
		EQUAL("same", ramp.taken, busy.taken);
		EQUAL("now", ramp_next(&ramp, BEGAN + 3 * step),
		    step / busy.rate);
		ramp.taken = ramp.rate;
		EQUAL("none left", ramp_next(&ramp, BEGAN + 3 * step), step);
		ramp = ramp_read(word, BEGAN, slowdown, BEGAN + 4 * step - 1);
		EQUAL("last instant", ramp.step, 3);
		ramp = ramp_read(word, BEGAN, slowdown, BEGAN + 4 * step);
		usual = ramp_read(word, BEGAN, 0, START(4));
		usual.slowdown = slowdown;
		check_same("next", &ramp, &usual);
		HOLDS("not quiet",
		    !ramp_read(0, BEGAN, slowdown, BEGAN + QUIET * step - 1)
			 .over);
		HOLDS("quiet",
		    ramp_read(0, BEGAN, slowdown, BEGAN + QUIET * step).over);
		/* Seven minutes in any case. */
		ramp = (struct ramp){ .began = BEGAN, .taken = LEAST };
		word = ramp_word(&ramp);
		HOLDS("awaited",
		    !ramp_read(word, BEGAN, slowdown, BEGAN + RAMP_LONGEST - 1)
			 .over);
		HOLDS("over",
		    ramp_read(word, BEGAN, slowdown, BEGAN + RAMP_LONGEST)
			.over);
	}
}

static void (*const tests[])(void) = {
	test_fields,
	test_a_word_is_read_as_it_was_written,
	test_invalid_words,
	test_a_word_while_no_outcome_is_known,
	test_turns,
	test_turns_are_spread,
	test_taking,
	test_next_rates,
	test_a_cut_step,
	test_failures_in_many_steps,
	test_ends,
	test_the_rate_does_not_grow_after_a_quiet_step,
	test_it_ends_after_the_last_step,
	test_steps_in_the_future,
	test_random_words,
	test_random_walks,
	test_a_recovery_without_failures,
	test_a_recovery_with_few_failures,
	test_the_slowdown_of_so_many_hosts,
	test_a_slowdown_makes_steps_longer,
};

UNIT(tests);
