/*
 * ring, by one process alone: limits, windows, clocks that disagree, words that
 * are spoilt or full. What several do at once is in tests/window_check.c.
 */
#include "unit.h"
#include "budget/window.h"

/* [epoch:31 | sealed:1 | successes:16 | retries:16] */
#define WORD(epoch, sealed, successes, retries) \
	((uint64_t)(epoch) << 33 | (uint64_t)(sealed) << 32 | \
	    (uint64_t)(successes) << 16 | (uint64_t)(retries))
#define PART(n) ((n) * (RING_RATIO_ONE / 100))
#define FULL 0xffff

static const struct ring_limits one = { 0, 1 };

/* A row's name, for a number. */
static const char *
name_of(const char *what, int64_t number)
{
	static char name[64];

	snprintf(name, sizeof name, "%s %" PRId64, what, number);
	return name;
}

static enum ring_answer
withdraw(struct ring *ring, const struct ring_limits *limits, int64_t epoch)
{
	struct ring_sums sums;

	return ring_withdraw(ring, limits, epoch, &sums);
}

static void
deposit(struct ring *ring, int64_t epoch, int times)
{
	while (times-- > 0)
		EQUAL("deposit", ring_deposit(ring, epoch), RING_GRANTED);
}

/* How many retries are granted until one is denied. */
static int64_t
granted(struct ring *ring, const struct ring_limits *limits, int64_t epoch)
{
	int64_t times = 0;

	while (times < 1000 && withdraw(ring, limits, epoch) == RING_GRANTED)
		times++;
	return times;
}

static uint64_t
word_of(const struct ring *ring, int64_t epoch)
{
	return ring->words[epoch % RING_WORDS];
}

/*
 * Limits
 */

struct limit_row {
	const char *name;
	struct ring_limits limits;
	int64_t successes, limit;
};

static const struct limit_row limits[] = {
	{ "nothing", { 0, 0 }, 0, 0 },
	{ "nothing pays", { 0, 0 }, INT64_MAX, 0 },
	{ "min alone", { 0, 10 }, 1000, 10 },
	{ "no success yet", { PART(20), 10 }, 0, 10 },
	{ "not above min", { PART(20), 10 }, 50, 10 },
	{ "nearly", { PART(20), 10 }, 54, 10 },
	{ "above min", { PART(20), 10 }, 55, 11 },
	{ "61 successes", { PART(20), 10 }, 61, 12 },
	{ "no min", { PART(20), 0 }, 4, 0 },
	{ "no min, five", { PART(20), 0 }, 5, 1 },
	/* A third is a bit less than a third: three do not pay for one. */
	{ "a third", { 333333, 0 }, 3, 0 },
	{ "a third, four", { 333333, 0 }, 4, 1 },
	{ "a third, a million", { 333333, 0 }, 1000000, 333333 },
	{ "the least ratio", { 1, 0 }, 999999, 0 },
	{ "the least ratio, enough", { 1, 0 }, 1000000, 1 },
	{ "one", { RING_RATIO_ONE, 0 }, 7, 7 },
	{ "one and a half", { PART(150), 0 }, 7, 10 },
	{ "a thousand", { 1000 * INT64_C(1000000), 0 }, 3932100, 3932100000 },
	{ "all successes there are", { RING_RATIO_ONE, 0 }, INT64_MAX,
	    INT64_MAX },
	{ "too much", { 2 * RING_RATIO_ONE, 0 }, INT64_MAX, INT64_MAX },
	{ "too much and more", { INT64_MAX, 0 }, INT64_MAX, INT64_MAX },
	{ "a product that is too large", { INT64_MAX, 0 }, 1000000, INT64_MAX },
	{ "min of all", { INT64_MAX, INT64_MAX }, 1, INT64_MAX },
	{ "a large min", { 0, INT64_MAX }, 0, INT64_MAX },
};

static void
test_limits(void)
{
	for (size_t i = 0; i < LENGTH(limits); i++)
		EQUAL(limits[i].name,
		    ring_limit(&limits[i].limits, limits[i].successes),
		    limits[i].limit);
}

/* The same limit holds for what is granted. */
static void
test_as_many_are_granted(void)
{
	for (size_t i = 0; i < LENGTH(limits); i++) {
		const struct limit_row *row = &limits[i];
		struct ring ring = { { 0 } };

		if (row->successes > 1000 || row->limit > 1000)
			continue;
		deposit(&ring, 200, (int)row->successes);
		EQUAL(row->name, granted(&ring, &row->limits, 200), row->limit);
	}
}

/*
 * Windows
 */

static void
test_a_retry_counts_for_a_window_and_a_slice(void)
{
	for (int64_t from = 0; from < 3 * RING_WORDS; from += 7) {
		struct ring ring = { { 0 } };
		const char *row = name_of("from", from);

		EQUAL(row, withdraw(&ring, &one, from), RING_GRANTED);
		for (int64_t i = 0; i <= RING_SLICES; i++)
			EQUAL(
			    row, withdraw(&ring, &one, from + i), RING_DENIED);
		EQUAL(row, withdraw(&ring, &one, from + RING_SLICES + 1),
		    RING_GRANTED);
	}
}

static void
test_a_success_counts_for_a_window(void)
{
	static const struct ring_limits paid = { RING_RATIO_ONE, 0 };

	for (int64_t from = 0; from < 3 * RING_WORDS; from += 7)
		for (int64_t i = 0; i <= RING_WORDS; i++) {
			struct ring ring = { { 0 } };

			deposit(&ring, from, 1);
			EQUAL(name_of("after", i),
			    withdraw(&ring, &paid, from + i),
			    i < RING_SLICES ? RING_GRANTED : RING_DENIED);
		}
}

/* One retry in each of 60 slices; they come back one by one, of 61. */
static void
test_a_window_expires_slice_by_slice(void)
{
	static const struct ring_limits sixty = { 0, RING_SLICES };
	struct ring ring = { { 0 } };

	for (int64_t i = 0; i < RING_SLICES; i++)
		EQUAL(name_of("slice", i), withdraw(&ring, &sixty, 100 + i),
		    RING_GRANTED);
	EQUAL("full", granted(&ring, &sixty, 100 + RING_SLICES), 0);
	for (int64_t i = 1; i < 3 * RING_SLICES; i++)
		EQUAL(name_of("later", i),
		    granted(&ring, &sixty, 100 + RING_SLICES + i),
		    i % RING_WORDS != 0);
	EQUAL("much later", granted(&ring, &sixty, 1000000), RING_SLICES);
}

/* Successes of a slice that is out still hold the retries that it paid for. */
static void
test_what_was_paid_for_is_still_counted(void)
{
	static const struct ring_limits fifth = { PART(20), 0 };
	struct ring ring = { { 0 } };
	struct ring_sums sums;

	deposit(&ring, 100, 100);
	EQUAL("paid", granted(&ring, &fifth, 100), 20);
	deposit(&ring, 101, 55);
	EQUAL("no more", granted(&ring, &fifth, 101), 11);
	EQUAL("one slice left", granted(&ring, &fifth, 159), 0);
	EQUAL("the first out", ring_withdraw(&ring, &fifth, 160, &sums),
	    RING_DENIED);
	EQUAL("retries", sums.retries, 31);
	EQUAL("successes", sums.successes, 55);
	EQUAL("its retries too", ring_withdraw(&ring, &fifth, 161, &sums),
	    RING_DENIED);
	EQUAL("retries", sums.retries, 11);
	EQUAL("successes", sums.successes, 0);
}

static void
test_the_sums_have_the_retry_that_was_granted(void)
{
	static const struct ring_limits fifth = { PART(20), 10 };
	struct ring ring = { { 0 } };
	struct ring_sums sums;

	deposit(&ring, 70, 61);
	for (int64_t i = 1; i <= 12; i++) {
		EQUAL("granted", ring_withdraw(&ring, &fifth, 71, &sums),
		    RING_GRANTED);
		EQUAL("retries", sums.retries, i);
		EQUAL("successes", sums.successes, 61);
	}
	EQUAL("denied", ring_withdraw(&ring, &fifth, 71, &sums), RING_DENIED);
	EQUAL("retries", sums.retries, 12);
	EQUAL("successes", sums.successes, 61);
}

/*
 * Words
 */

static void
test_what_is_over_is_sealed(void)
{
	struct ring ring = { { 0 } };

	EQUAL("granted", withdraw(&ring, &one, 98), RING_GRANTED);
	deposit(&ring, 99, 3);
	EQUAL("denied", withdraw(&ring, &one, 100), RING_DENIED);
	for (int64_t e = 40; e < 98; e++)
		HOLDS(
		    name_of("idle", e), word_of(&ring, e) == WORD(e, 1, 0, 0));
	HOLDS("a retry", word_of(&ring, 98) == WORD(98, 1, 0, 1));
	HOLDS("successes", word_of(&ring, 99) == WORD(99, 1, 3, 0));
	HOLDS("the present", word_of(&ring, 100) == WORD(39, 1, 0, 0));
}

/* Sealed is sealed: who comes late counts in the slice after. */
static void
test_whose_clock_is_behind(void)
{
	static const struct ring_limits two = { 0, 2 };

	for (int64_t behind = 1; behind <= RING_SLICES; behind++) {
		struct ring ring = { { 0 } };
		const char *row = name_of("behind", behind);

		EQUAL(row, withdraw(&ring, &two, 500), RING_GRANTED);
		EQUAL(row, withdraw(&ring, &two, 500 - behind), RING_GRANTED);
		EQUAL(row, withdraw(&ring, &two, 500 - behind), RING_DENIED);
		deposit(&ring, 500 - behind, 2);
		HOLDS(row, word_of(&ring, 500) == WORD(500, 0, 2, 2));
	}
}

/* A word of a later slice: the clock has moved on. */
static void
test_a_later_slice_is_the_present(void)
{
	static const struct ring_limits paid = { RING_RATIO_ONE, 0 };
	struct ring ring = { { 0 } };

	deposit(&ring, 502, 1);
	EQUAL("adopted", withdraw(&ring, &paid, 500), RING_GRANTED);
	HOLDS("there", word_of(&ring, 502) == WORD(502, 0, 1, 1));
	HOLDS("sealed", word_of(&ring, 500) == WORD(500, 1, 0, 0));
}

/* A step is one access: it changes one word at most. */
static void
test_a_step_changes_one_word_at_most(void)
{
	struct ring ring = { { 0 } }, before;
	struct withdrawal w = ring_ask(300);
	int steps = 0;

	while (w.answer == RING_OPEN && steps < 1000) {
		int changed = 0;

		before = ring;
		ring_step(&ring, &one, &w);
		for (int i = 0; i < RING_WORDS; i++)
			changed += before.words[i] != ring.words[i];
		HOLDS(name_of("step", steps), changed <= 1);
		steps++;
	}
	EQUAL("a new ring", w.answer, RING_GRANTED);
	EQUAL("each word is read and swapped", steps, 2 * RING_WORDS);
	w = ring_ask(300);
	for (steps = 0; w.answer == RING_OPEN; steps++)
		ring_step(&ring, &one, &w);
	EQUAL("denied", w.answer, RING_DENIED);
	EQUAL("each word is read", steps, RING_WORDS);
}

/* Where a word is, what it is, and what who asks at an epoch makes of it. */
struct word_row {
	const char *name;
	int64_t place;
	uint64_t word;
	int64_t epoch;
	enum ring_answer withdrawn, deposited;
};

static const struct word_row words[] = {
	{ "never used", 20, 0, 508, RING_GRANTED, RING_GRANTED },
	{ "of this slice", 20, WORD(508, 0, 0, 0), 508, RING_GRANTED,
	    RING_GRANTED },
	{ "of an older slice", 20, WORD(447, 0, 9, 9), 508, RING_GRANTED,
	    RING_GRANTED },
	{ "of a much older one", 20, WORD(20, 1, 9, 9), 508, RING_GRANTED,
	    RING_GRANTED },
	{ "one round ahead", 20, WORD(569, 0, 0, 0), 508, RING_GRANTED,
	    RING_GRANTED },
	{ "one round ahead and sealed", 20, WORD(569, 1, 0, 0), 508,
	    RING_SPOILT, RING_SPOILT },
	{ "one round ahead, older place", 20, WORD(569, 1, 0, 0), 509,
	    RING_GRANTED, RING_GRANTED },
	{ "two rounds ahead", 20, WORD(630, 0, 0, 0), 508, RING_SPOILT,
	    RING_SPOILT },
	{ "two rounds ahead of an older slice", 20, WORD(630, 0, 0, 0), 520,
	    RING_SPOILT, RING_GRANTED },
	{ "in a wrong place", 20, WORD(509, 0, 0, 0), 508, RING_SPOILT,
	    RING_SPOILT },
	{ "in a wrong place, older", 20, WORD(5, 0, 0, 0), 508, RING_SPOILT,
	    RING_SPOILT },
	{ "a count without an epoch", 20, WORD(0, 0, 0, 1), 508, RING_SPOILT,
	    RING_SPOILT },
	{ "sealed without an epoch", 20, WORD(0, 1, 0, 0), 508, RING_SPOILT,
	    RING_SPOILT },
	{ "all ones", 20, UINT64_MAX, 508, RING_SPOILT, RING_SPOILT },
	{ "all ones, another slice", 20, UINT64_MAX, 509, RING_SPOILT,
	    RING_GRANTED },
	{ "the first slice", 0, WORD(0, 0, 7, 0), 0, RING_GRANTED,
	    RING_GRANTED },
	{ "the first slice, sealed", 0, WORD(0, 1, 7, 0), 0, RING_GRANTED,
	    RING_GRANTED },
	{ "the first slice, full", 0, WORD(0, 0, 0, FULL), 0, RING_DENIED,
	    RING_GRANTED },
	/* No slice is before the first, so nobody looks at its place. */
	{ "before the first slice", 60, UINT64_MAX, 0, RING_GRANTED,
	    RING_GRANTED },
	{ "before the first slice, later", 60, UINT64_MAX, 59, RING_GRANTED,
	    RING_GRANTED },
	{ "the 60th slice", 60, UINT64_MAX, 60, RING_SPOILT, RING_SPOILT },
	{ "the last epoch", (RING_EPOCHS - 1) % RING_WORDS, 0, RING_EPOCHS - 1,
	    RING_GRANTED, RING_GRANTED },
	{ "the last epoch, sealed", (RING_EPOCHS - 1) % RING_WORDS,
	    WORD(RING_EPOCHS - 1, 1, 0, 0), RING_EPOCHS - 1, RING_SPOILT,
	    RING_SPOILT },
	{ "no epoch any more", 0, 0, RING_EPOCHS, RING_SPOILT, RING_SPOILT },
	{ "nearly the last epoch, sealed", (RING_EPOCHS - 2) % RING_WORDS,
	    WORD(RING_EPOCHS - 2, 1, 0, 0), RING_EPOCHS - 2, RING_GRANTED,
	    RING_GRANTED },
};

static void
test_words(void)
{
	for (size_t i = 0; i < LENGTH(words); i++) {
		const struct word_row *row = &words[i];
		struct ring ring = { { 0 } };

		ring.words[row->place] = row->word;
		EQUAL(row->name, withdraw(&ring, &one, row->epoch),
		    row->withdrawn);
		memset(&ring, 0, sizeof ring);
		ring.words[row->place] = row->word;
		EQUAL(
		    row->name, ring_deposit(&ring, row->epoch), row->deposited);
	}
}

/* Who was stopped for a window sees the future: asked again, all is well. */
static void
test_who_slept_through_a_window(void)
{
	struct ring ring = { { 0 } };
	struct withdrawal early = ring_ask(100);
	struct deposit offer = ring_offer(100);

	for (int64_t epoch = 100; epoch < 300; epoch += 10)
		(void)withdraw(&ring, &one, epoch);
	while (early.answer == RING_OPEN)
		ring_step(&ring, &one, &early);
	while (offer.answer == RING_OPEN)
		ring_deposit_step(&ring, &offer);
	EQUAL("withdraw", early.answer, RING_SPOILT);
	EQUAL("deposit", offer.answer, RING_SPOILT);
	EQUAL("again", withdraw(&ring, &one, 400), RING_GRANTED);
	EQUAL("again", ring_deposit(&ring, 400), RING_GRANTED);
}

static void
test_full_counters(void)
{
	static const struct ring_limits plenty = { 0, 10 * FULL };
	struct ring ring = { { 0 } };
	struct ring_sums sums;

	ring.words[100 % RING_WORDS] = WORD(100, 0, FULL - 1, FULL - 1);
	deposit(&ring, 100, 3);
	HOLDS("successes", word_of(&ring, 100) == WORD(100, 0, FULL, FULL - 1));
	EQUAL("retries", granted(&ring, &plenty, 100), 1);
	HOLDS("full", word_of(&ring, 100) == WORD(100, 0, FULL, FULL));
	EQUAL("next", ring_next(&ring, &plenty, 100, &sums), 1);
	EQUAL("another slice", ring_withdraw(&ring, &plenty, 101, &sums),
	    RING_GRANTED);
	EQUAL("retries", sums.retries, FULL + 1);
	EQUAL("successes", sums.successes, FULL);
	HOLDS("kept", word_of(&ring, 100) == WORD(100, 1, FULL, FULL));
}

/* As much as a ring can hold is added up, and paid for. */
static void
test_a_full_ring(void)
{
	static const struct ring_limits one_each = { RING_RATIO_ONE, 0 };
	struct ring ring = { { 0 } };
	struct ring_sums sums;

	for (int64_t e = 100; e < 100 + RING_SLICES; e++)
		ring.words[e % RING_WORDS] = WORD(e, 1, FULL, FULL);
	EQUAL(
	    "denied", ring_withdraw(&ring, &one_each, 160, &sums), RING_DENIED);
	EQUAL("retries", sums.retries, FULL * RING_SLICES);
	EQUAL("successes", sums.successes, FULL * (RING_SLICES - 1));
	EQUAL("next", ring_next(&ring, &one_each, 160, &sums), RING_NEVER);
}

/*
 * When next
 */

static void
test_next(void)
{
	static const struct ring_limits none = { PART(50), 0 };
	struct ring ring = { { 0 } }, before;
	struct ring_sums sums;

	EQUAL("nothing yet", ring_next(&ring, &one, 100, &sums), 0);
	EQUAL(
	    "no success yet", ring_next(&ring, &none, 100, &sums), RING_NEVER);
	EQUAL("granted", withdraw(&ring, &one, 100), RING_GRANTED);
	before = ring;
	EQUAL("a window", ring_next(&ring, &one, 100, &sums), RING_WORDS);
	EQUAL("retries", sums.retries, 1);
	EQUAL("successes", sums.successes, 0);
	EQUAL("one slice", ring_next(&ring, &one, 160, &sums), 1);
	EQUAL("now", ring_next(&ring, &one, 161, &sums), 0);
	EQUAL("retries", sums.retries, 0);
	EQUAL("ours is behind", ring_next(&ring, &one, 98, &sums), RING_WORDS);
	HOLDS("unchanged", memcmp(&ring, &before, sizeof ring) == 0);
	/* What one success pays for is used up when the success is out. */
	deposit(&ring, 150, 2);
	EQUAL("paid", ring_next(&ring, &none, 161, &sums), 0);
	EQUAL("successes", sums.successes, 2);
	EQUAL("used", granted(&ring, &none, 161), 1);
	EQUAL("never", ring_next(&ring, &none, 161, &sums), RING_NEVER);
	memset(&ring, 0xff, sizeof ring);
	EQUAL("spoilt", ring_next(&ring, &one, 100, &sums), 0);
}

/*
 * A naive ring: a pair of counts for every epoch there is, by one who never
 * reads the clock late.
 */
enum { EPOCHS = 40000, FIRST = 1000 };

struct naive {
	int64_t retries[EPOCHS], successes[EPOCHS];
	int64_t present; /* known to be so: where a later one was seen */
	int64_t over; /* slices before this one are */
};

static struct ring_sums
naive_sums(const struct naive *naive, int64_t epoch)
{
	struct ring_sums sums = { 0, 0 };

	for (int64_t i = epoch - RING_SLICES; i <= epoch; i++)
		sums.retries += naive->retries[i];
	for (int64_t i = epoch - RING_SLICES + 1; i <= epoch; i++)
		sums.successes += naive->successes[i];
	return sums;
}

static void
compare_withdrawal(struct naive *naive, struct ring *ring,
    const struct ring_limits *allowed, int64_t epoch)
{
	int64_t at = epoch > naive->present ? epoch : naive->present;
	struct ring_sums want = naive_sums(naive, at), got;
	int64_t paid = want.successes * allowed->ratio / RING_RATIO_ONE;
	bool may =
	    want.retries + 1 <= (paid > allowed->min ? paid : allowed->min);
	const char *row = name_of("at", epoch);

	EQUAL(row, ring_withdraw(ring, allowed, epoch, &got),
	    may ? RING_GRANTED : RING_DENIED);
	naive->present = naive->over = at;
	naive->retries[at] += may;
	EQUAL(row, got.retries, want.retries + may);
	EQUAL(row, got.successes, want.successes);
}

static void
compare_deposit(struct naive *naive, struct ring *ring, int64_t epoch)
{
	int64_t at = epoch > naive->over ? epoch : naive->over;

	deposit(ring, epoch, 1);
	naive->successes[at]++;
	if (at > naive->present)
		naive->present = at;
}

/* What comes of waiting, tried in copies of the ring. */
static void
compare_next(const struct naive *naive, const struct ring *ring,
    const struct ring_limits *allowed, int64_t epoch)
{
	int64_t at = epoch > naive->present ? epoch : naive->present;
	struct ring_sums want = naive_sums(naive, at), got;
	int64_t wait = 0;

	for (; wait <= RING_WORDS; wait++) {
		struct ring copy = *ring;

		if (withdraw(&copy, allowed, at + wait) == RING_GRANTED)
			break;
	}
	EQUAL("next", ring_next(ring, allowed, epoch, &got), wait);
	EQUAL("next", got.retries, want.retries);
	EQUAL("next", got.successes, want.successes);
}

static uint32_t
draw(uint32_t *seed, uint32_t most)
{
	*seed = *seed * 1664525 + 1013904223;
	return (*seed >> 8) % (most + 1);
}

/* At any pace, by clocks that are behind or ahead by up to two slices. */
static void
compare(const struct ring_limits *allowed, uint32_t seed)
{
	static struct naive naive;
	struct ring ring = { { 0 } };
	int64_t clock = FIRST;

	memset(&naive, 0, sizeof naive);
	for (int i = 0; i < 4000; i++) {
		int64_t epoch = clock - 2 + draw(&seed, 4);
		uint32_t what = draw(&seed, 15);

		if (what < 7)
			compare_withdrawal(&naive, &ring, allowed, epoch);
		else if (what < 14)
			compare_deposit(&naive, &ring, epoch);
		else if (what < 15 && i % 8 == 0)
			compare_next(&naive, &ring, allowed, epoch);
		if (draw(&seed, 3) == 0)
			clock += draw(&seed, 3);
		if (draw(&seed, 199) == 0)
			clock += draw(&seed, 2 * RING_WORDS);
	}
}

static void
test_any_series_against_a_naive_ring(void)
{
	static const struct ring_limits some[] = {
		{ 0, 1 },
		{ 0, 10 },
		{ PART(20), 0 },
		{ PART(20), 10 },
		{ PART(100), 1 },
		{ PART(70), 3 },
		{ 333333, 2 },
	};

	for (size_t i = 0; i < LENGTH(some); i++)
		for (uint32_t seed = 1; seed <= 3; seed++)
			compare(&some[i], seed);
}

static void (*const tests[])(void) = {
	test_limits,
	test_as_many_are_granted,
	test_a_retry_counts_for_a_window_and_a_slice,
	test_a_success_counts_for_a_window,
	test_a_window_expires_slice_by_slice,
	test_what_was_paid_for_is_still_counted,
	test_the_sums_have_the_retry_that_was_granted,
	test_what_is_over_is_sealed,
	test_whose_clock_is_behind,
	test_a_later_slice_is_the_present,
	test_a_step_changes_one_word_at_most,
	test_words,
	test_who_slept_through_a_window,
	test_full_counters,
	test_a_full_ring,
	test_next,
	test_any_series_against_a_naive_ring,
};

int
main(void)
{
	return unit_run(tests, LENGTH(tests));
}
