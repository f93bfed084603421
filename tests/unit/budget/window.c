/*
 * window, used by one process: limits, expiry, clocks that disagree, words that
 * are corrupt or full. Several processes at once are window_check's.
 */
#include "unit.h"
#include "budget/window.h"

/* [epoch:31 | sealed:1 | successes:16 | retries:16] */
#define WORD(epoch, sealed, successes, retries) \
	((uint64_t)(epoch) << 33 | (uint64_t)(sealed) << 32 | \
	    (uint64_t)(successes) << 16 | (uint64_t)(retries))
#define PART(n) ((n) * (WINDOW_RATIO_ONE / 100))
#define FULL 0xffff

static const struct terms one = { 0, 1, 0 };

/* A row's name, for a number. */
static const char *
name_of(const char *what, int64_t number)
{
	static char name[64];

	snprintf(name, sizeof name, "%s %" PRId64, what, number);
	return name;
}

static enum window_answer
withdraw(struct window *window, const struct terms *limits, int64_t epoch)
{
	struct window_sums sums;

	return window_withdraw(window, limits, epoch, &sums);
}

static void
deposit(struct window *window, int64_t epoch, int times)
{
	while (times-- > 0)
		EQUAL("deposit", window_deposit(window, epoch), WINDOW_GRANTED);
}

/* How many retries are granted until one is denied. */
static int64_t
granted(struct window *window, const struct terms *limits, int64_t epoch)
{
	int64_t times = 0;

	while (
	    times < 1000 && withdraw(window, limits, epoch) == WINDOW_GRANTED)
		times++;
	return times;
}

static uint64_t
word_of(const struct window *window, int64_t epoch)
{
	return window->words[epoch % WINDOW_WORDS];
}

/*
 * Limits
 */

struct limit_row {
	const char *name;
	struct terms limits;
	int64_t successes, limit;
};

static const struct limit_row limits[] = {
	{ "nothing", { 0, 0, 0 }, 0, 0 },
	{ "nothing pays", { 0, 0, 0 }, INT64_MAX, 0 },
	{ "min alone", { 0, 10, 0 }, 1000, 10 },
	{ "no success yet", { PART(20), 10, 0 }, 0, 10 },
	{ "not above min", { PART(20), 10, 0 }, 50, 10 },
	{ "nearly", { PART(20), 10, 0 }, 54, 10 },
	{ "above min", { PART(20), 10, 0 }, 55, 11 },
	{ "61 successes", { PART(20), 10, 0 }, 61, 12 },
	{ "no min", { PART(20), 0, 0 }, 4, 0 },
	{ "no min, five", { PART(20), 0, 0 }, 5, 1 },
	/* 0.333333 is less than a third: three successes do not pay for a
	   retry. */
	{ "a third", { 333333, 0, 0 }, 3, 0 },
	{ "a third, four", { 333333, 0, 0 }, 4, 1 },
	{ "a third, a million", { 333333, 0, 0 }, 1000000, 333333 },
	{ "the least ratio", { 1, 0, 0 }, 999999, 0 },
	{ "the least ratio, enough", { 1, 0, 0 }, 1000000, 1 },
	{ "one", { WINDOW_RATIO_ONE, 0, 0 }, 7, 7 },
	{ "one and a half", { PART(150), 0, 0 }, 7, 10 },
	{ "a thousand", { 1000 * INT64_C(1000000), 0, 0 }, 3932100,
	    3932100000 },
	{ "all successes there are", { WINDOW_RATIO_ONE, 0, 0 }, INT64_MAX,
	    INT64_MAX },
	{ "too much", { 2 * WINDOW_RATIO_ONE, 0, 0 }, INT64_MAX, INT64_MAX },
	{ "too much and more", { INT64_MAX, 0, 0 }, INT64_MAX, INT64_MAX },
	{ "a product that is too large", { INT64_MAX, 0, 0 }, 1000000,
	    INT64_MAX },
	{ "min of all", { INT64_MAX, INT64_MAX, 0 }, 1, INT64_MAX },
	{ "a large min", { 0, INT64_MAX, 0 }, 0, INT64_MAX },
};

static void
test_limits(void)
{
	for (size_t i = 0; i < LENGTH(limits); i++)
		EQUAL(limits[i].name,
		    window_limit(&limits[i].limits, limits[i].successes),
		    limits[i].limit);
}

/* A window grants as many retries as window_limit says. */
static void
test_as_many_are_granted(void)
{
	for (size_t i = 0; i < LENGTH(limits); i++) {
		const struct limit_row *row = &limits[i];
		struct window window = { { 0 } };

		if (row->successes > 1000 || row->limit > 1000)
			continue;
		deposit(&window, 200, (int)row->successes);
		EQUAL(
		    row->name, granted(&window, &row->limits, 200), row->limit);
	}
}

/*
 * Windows
 */

static void
test_a_retry_counts_for_a_window_and_a_slice(void)
{
	for (int64_t from = 0; from < 3 * WINDOW_WORDS; from += 7) {
		struct window window = { { 0 } };
		const char *row = name_of("from", from);

		EQUAL(row, withdraw(&window, &one, from), WINDOW_GRANTED);
		for (int64_t i = 0; i <= WINDOW_SLICES; i++)
			EQUAL(row, withdraw(&window, &one, from + i),
			    WINDOW_DENIED);
		EQUAL(row, withdraw(&window, &one, from + WINDOW_SLICES + 1),
		    WINDOW_GRANTED);
	}
}

static void
test_a_success_counts_for_a_window(void)
{
	static const struct terms paid = { WINDOW_RATIO_ONE, 0, 0 };

	for (int64_t from = 0; from < 3 * WINDOW_WORDS; from += 7)
		for (int64_t i = 0; i <= WINDOW_WORDS; i++) {
			struct window window = { { 0 } };

			deposit(&window, from, 1);
			EQUAL(name_of("after", i),
			    withdraw(&window, &paid, from + i),
			    i < WINDOW_SLICES ? WINDOW_GRANTED : WINDOW_DENIED);
		}
}

/* One retry in each of 60 slices; each is forgotten 61 slices later. */
static void
test_a_window_expires_slice_by_slice(void)
{
	static const struct terms sixty = { 0, WINDOW_SLICES, 0 };
	struct window window = { { 0 } };

	for (int64_t i = 0; i < WINDOW_SLICES; i++)
		EQUAL(name_of("slice", i), withdraw(&window, &sixty, 100 + i),
		    WINDOW_GRANTED);
	EQUAL("full", granted(&window, &sixty, 100 + WINDOW_SLICES), 0);
	for (int64_t i = 1; i < 3 * WINDOW_SLICES; i++)
		EQUAL(name_of("later", i),
		    granted(&window, &sixty, 100 + WINDOW_SLICES + i),
		    i % WINDOW_WORDS != 0);
	EQUAL("much later", granted(&window, &sixty, 1000000), WINDOW_SLICES);
}

/* Retries count for one slice longer than the successes that paid for them. */
static void
test_what_was_paid_for_is_still_counted(void)
{
	static const struct terms fifth = { PART(20), 0, 0 };
	struct window window = { { 0 } };
	struct window_sums sums;

	deposit(&window, 100, 100);
	EQUAL("paid", granted(&window, &fifth, 100), 20);
	deposit(&window, 101, 55);
	EQUAL("no more", granted(&window, &fifth, 101), 11);
	EQUAL("one slice left", granted(&window, &fifth, 159), 0);
	EQUAL("the first out", window_withdraw(&window, &fifth, 160, &sums),
	    WINDOW_DENIED);
	EQUAL("retries", sums.retries, 31);
	EQUAL("successes", sums.successes, 55);
	EQUAL("its retries too", window_withdraw(&window, &fifth, 161, &sums),
	    WINDOW_DENIED);
	EQUAL("retries", sums.retries, 11);
	EQUAL("successes", sums.successes, 0);
}

static void
test_the_sums_have_the_retry_that_was_granted(void)
{
	static const struct terms fifth = { PART(20), 10, 0 };
	struct window window = { { 0 } };
	struct window_sums sums;

	deposit(&window, 70, 61);
	for (int64_t i = 1; i <= 12; i++) {
		EQUAL("granted", window_withdraw(&window, &fifth, 71, &sums),
		    WINDOW_GRANTED);
		EQUAL("retries", sums.retries, i);
		EQUAL("successes", sums.successes, 61);
	}
	EQUAL("denied", window_withdraw(&window, &fifth, 71, &sums),
	    WINDOW_DENIED);
	EQUAL("retries", sums.retries, 12);
	EQUAL("successes", sums.successes, 61);
}

/*
 * Words
 */

static void
test_past_slices_are_sealed(void)
{
	struct window window = { { 0 } };

	EQUAL("granted", withdraw(&window, &one, 98), WINDOW_GRANTED);
	deposit(&window, 99, 3);
	EQUAL("denied", withdraw(&window, &one, 100), WINDOW_DENIED);
	for (int64_t e = 40; e < 98; e++)
		HOLDS(name_of("idle", e),
		    word_of(&window, e) == WORD(e, 1, 0, 0));
	HOLDS("a retry", word_of(&window, 98) == WORD(98, 1, 0, 1));
	HOLDS("successes", word_of(&window, 99) == WORD(99, 1, 3, 0));
	HOLDS("the present", word_of(&window, 100) == WORD(39, 1, 0, 0));
}

/* A late process cannot change a sealed slice, and uses the next one. */
static void
test_a_clock_that_is_behind(void)
{
	static const struct terms two = { 0, 2, 0 };

	for (int64_t behind = 1; behind <= WINDOW_SLICES; behind++) {
		struct window window = { { 0 } };
		const char *row = name_of("behind", behind);

		EQUAL(row, withdraw(&window, &two, 500), WINDOW_GRANTED);
		EQUAL(
		    row, withdraw(&window, &two, 500 - behind), WINDOW_GRANTED);
		EQUAL(
		    row, withdraw(&window, &two, 500 - behind), WINDOW_DENIED);
		deposit(&window, 500 - behind, 2);
		HOLDS(row, word_of(&window, 500) == WORD(500, 0, 2, 2));
	}
}

/* A word of a later slice shows that the clock has moved on. */
static void
test_a_later_slice_is_the_present(void)
{
	static const struct terms paid = { WINDOW_RATIO_ONE, 0, 0 };
	struct window window = { { 0 } };

	deposit(&window, 502, 1);
	EQUAL("adopted", withdraw(&window, &paid, 500), WINDOW_GRANTED);
	HOLDS("there", word_of(&window, 502) == WORD(502, 0, 1, 1));
	HOLDS("sealed", word_of(&window, 500) == WORD(500, 1, 0, 0));
}

/* The index and value of a word, and what a question at an epoch returns. */
struct word_row {
	const char *name;
	int64_t place;
	uint64_t word;
	int64_t epoch;
	enum window_answer withdrawn, deposited;
};

static const struct word_row words[] = {
	{ "never used", 20, 0, 508, WINDOW_GRANTED, WINDOW_GRANTED },
	{ "of this slice", 20, WORD(508, 0, 0, 0), 508, WINDOW_GRANTED,
	    WINDOW_GRANTED },
	{ "of an older slice", 20, WORD(447, 0, 9, 9), 508, WINDOW_GRANTED,
	    WINDOW_GRANTED },
	{ "of a much older one", 20, WORD(20, 1, 9, 9), 508, WINDOW_GRANTED,
	    WINDOW_GRANTED },
	{ "one round ahead", 20, WORD(569, 0, 0, 0), 508, WINDOW_GRANTED,
	    WINDOW_GRANTED },
	{ "one round ahead and sealed", 20, WORD(569, 1, 0, 0), 508,
	    WINDOW_CORRUPT, WINDOW_CORRUPT },
	{ "one round ahead, older place", 20, WORD(569, 1, 0, 0), 509,
	    WINDOW_GRANTED, WINDOW_GRANTED },
	{ "two rounds ahead", 20, WORD(630, 0, 0, 0), 508, WINDOW_CORRUPT,
	    WINDOW_CORRUPT },
	{ "two rounds ahead of an older slice", 20, WORD(630, 0, 0, 0), 520,
	    WINDOW_CORRUPT, WINDOW_GRANTED },
	{ "in a wrong place", 20, WORD(509, 0, 0, 0), 508, WINDOW_CORRUPT,
	    WINDOW_CORRUPT },
	{ "in a wrong place, older", 20, WORD(5, 0, 0, 0), 508, WINDOW_CORRUPT,
	    WINDOW_CORRUPT },
	{ "a count without an epoch", 20, WORD(0, 0, 0, 1), 508, WINDOW_CORRUPT,
	    WINDOW_CORRUPT },
	{ "sealed without an epoch", 20, WORD(0, 1, 0, 0), 508, WINDOW_CORRUPT,
	    WINDOW_CORRUPT },
	{ "all ones", 20, UINT64_MAX, 508, WINDOW_CORRUPT, WINDOW_CORRUPT },
	{ "all ones, another slice", 20, UINT64_MAX, 509, WINDOW_CORRUPT,
	    WINDOW_GRANTED },
	{ "the first slice", 0, WORD(0, 0, 7, 0), 0, WINDOW_GRANTED,
	    WINDOW_GRANTED },
	{ "the first slice, sealed", 0, WORD(0, 1, 7, 0), 0, WINDOW_GRANTED,
	    WINDOW_GRANTED },
	{ "the first slice, full", 0, WORD(0, 0, 0, FULL), 0, WINDOW_DENIED,
	    WINDOW_GRANTED },
	/* There is no slice before the first, so its word is not read. */
	{ "before the first slice", 60, UINT64_MAX, 0, WINDOW_GRANTED,
	    WINDOW_GRANTED },
	{ "before the first slice, later", 60, UINT64_MAX, 59, WINDOW_GRANTED,
	    WINDOW_GRANTED },
	{ "the 60th slice", 60, UINT64_MAX, 60, WINDOW_CORRUPT,
	    WINDOW_CORRUPT },
	{ "the last epoch", (WINDOW_EPOCHS - 1) % WINDOW_WORDS, 0,
	    WINDOW_EPOCHS - 1, WINDOW_GRANTED, WINDOW_GRANTED },
	{ "the last epoch, sealed", (WINDOW_EPOCHS - 1) % WINDOW_WORDS,
	    WORD(WINDOW_EPOCHS - 1, 1, 0, 0), WINDOW_EPOCHS - 1, WINDOW_CORRUPT,
	    WINDOW_CORRUPT },
	{ "no epoch any more", 0, 0, WINDOW_EPOCHS, WINDOW_CORRUPT,
	    WINDOW_CORRUPT },
	{ "nearly the last epoch, sealed", (WINDOW_EPOCHS - 2) % WINDOW_WORDS,
	    WORD(WINDOW_EPOCHS - 2, 1, 0, 0), WINDOW_EPOCHS - 2, WINDOW_GRANTED,
	    WINDOW_GRANTED },
};

static void
test_words(void)
{
	for (size_t i = 0; i < LENGTH(words); i++) {
		const struct word_row *row = &words[i];
		struct window window = { { 0 } };

		window.words[row->place] = row->word;
		EQUAL(row->name, withdraw(&window, &one, row->epoch),
		    row->withdrawn);
		memset(&window, 0, sizeof window);
		window.words[row->place] = row->word;
		EQUAL(row->name, window_deposit(&window, row->epoch),
		    row->deposited);
	}
}

/* A process that was stopped for a window sees the future, until it asks again.
 */
static void
test_a_process_stopped_for_a_window(void)
{
	struct window window = { { 0 } };

	for (int64_t epoch = 100; epoch < 300; epoch += 10)
		(void)withdraw(&window, &one, epoch);
	EQUAL("withdraw", withdraw(&window, &one, 100), WINDOW_CORRUPT);
	EQUAL("deposit", window_deposit(&window, 100), WINDOW_CORRUPT);
	EQUAL("again", withdraw(&window, &one, 400), WINDOW_GRANTED);
	EQUAL("again", window_deposit(&window, 400), WINDOW_GRANTED);
}

static void
test_full_counters(void)
{
	static const struct terms plenty = { 0, 10 * FULL, 0 };
	struct window window = { { 0 } };
	struct window_sums sums;

	window.words[100 % WINDOW_WORDS] = WORD(100, 0, FULL - 1, FULL - 1);
	deposit(&window, 100, 3);
	HOLDS(
	    "successes", word_of(&window, 100) == WORD(100, 0, FULL, FULL - 1));
	EQUAL("retries", granted(&window, &plenty, 100), 1);
	HOLDS("full", word_of(&window, 100) == WORD(100, 0, FULL, FULL));
	EQUAL("next", window_next(&window, &plenty, 1, 100, &sums), 1);
	EQUAL("another slice", window_withdraw(&window, &plenty, 101, &sums),
	    WINDOW_GRANTED);
	EQUAL("retries", sums.retries, FULL + 1);
	EQUAL("successes", sums.successes, FULL);
	HOLDS("kept", word_of(&window, 100) == WORD(100, 1, FULL, FULL));
}

/* The sums of full words do not overflow. */
static void
test_a_full_window(void)
{
	static const struct terms one_each = { WINDOW_RATIO_ONE, 0, 0 };
	struct window window = { { 0 } };
	struct window_sums sums;

	for (int64_t e = 100; e < 100 + WINDOW_SLICES; e++)
		window.words[e % WINDOW_WORDS] = WORD(e, 1, FULL, FULL);
	EQUAL("denied", window_withdraw(&window, &one_each, 160, &sums),
	    WINDOW_DENIED);
	EQUAL("retries", sums.retries, FULL * WINDOW_SLICES);
	EQUAL("successes", sums.successes, FULL * (WINDOW_SLICES - 1));
	EQUAL(
	    "next", window_next(&window, &one_each, 1, 160, &sums), NANOS_MAX);
}

/*
 * When next
 */

static void
test_next(void)
{
	static const struct terms none = { PART(50), 0, 0 };
	struct window window = { { 0 } }, before;
	struct window_sums sums;

	EQUAL("nothing yet", window_next(&window, &one, 1, 100, &sums), 0);
	EQUAL("no success yet", window_next(&window, &none, 1, 100, &sums),
	    NANOS_MAX);
	EQUAL("granted", withdraw(&window, &one, 100), WINDOW_GRANTED);
	before = window;
	EQUAL("a window", window_next(&window, &one, 1, 100, &sums),
	    WINDOW_WORDS);
	EQUAL("retries", sums.retries, 1);
	EQUAL("successes", sums.successes, 0);
	EQUAL("one slice", window_next(&window, &one, 1, 160, &sums), 1);
	EQUAL("what is left of it", window_next(&window, &one, 10, 1603, &sums),
	    7);
	EQUAL("now", window_next(&window, &one, 1, 161, &sums), 0);
	EQUAL("retries", sums.retries, 0);
	EQUAL("ours is behind", window_next(&window, &one, 1, 98, &sums),
	    WINDOW_WORDS);
	HOLDS("unchanged", memcmp(&window, &before, sizeof window) == 0);
	/* The retry that a success paid for counts longer than the success. */
	deposit(&window, 150, 2);
	EQUAL("paid", window_next(&window, &none, 1, 161, &sums), 0);
	EQUAL("successes", sums.successes, 2);
	EQUAL("used", granted(&window, &none, 161), 1);
	EQUAL("never", window_next(&window, &none, 1, 161, &sums), NANOS_MAX);
	memset(&window, 0xff, sizeof window);
	EQUAL("corrupt", window_next(&window, &one, 1, 100, &sums), 0);
}

/*
 * A naive window: a pair of counts for every epoch, for a single process that
 * never reads the clock late.
 */
enum { EPOCHS = 40000, FIRST = 1000 };

struct naive {
	int64_t retries[EPOCHS], successes[EPOCHS];
	int64_t present; /* the latest epoch that was seen */
	int64_t over; /* slices before this one are sealed */
};

static struct window_sums
naive_sums(const struct naive *naive, int64_t epoch)
{
	struct window_sums sums = { 0, 0 };

	for (int64_t i = epoch - WINDOW_SLICES; i <= epoch; i++)
		sums.retries += naive->retries[i];
	for (int64_t i = epoch - WINDOW_SLICES + 1; i <= epoch; i++)
		sums.successes += naive->successes[i];
	return sums;
}

static void
compare_withdrawal(struct naive *naive, struct window *window,
    const struct terms *allowed, int64_t epoch)
{
	int64_t at = epoch > naive->present ? epoch : naive->present;
	struct window_sums want = naive_sums(naive, at), got;
	int64_t paid = want.successes * allowed->ratio / WINDOW_RATIO_ONE;
	bool may =
	    want.retries + 1 <= (paid > allowed->min ? paid : allowed->min);
	const char *row = name_of("at", epoch);

	EQUAL(row, window_withdraw(window, allowed, epoch, &got),
	    may ? WINDOW_GRANTED : WINDOW_DENIED);
	naive->present = naive->over = at;
	naive->retries[at] += may;
	EQUAL(row, got.retries, want.retries + may);
	EQUAL(row, got.successes, want.successes);
}

static void
compare_deposit(struct naive *naive, struct window *window, int64_t epoch)
{
	int64_t at = epoch > naive->over ? epoch : naive->over;

	deposit(window, epoch, 1);
	naive->successes[at]++;
	if (at > naive->present)
		naive->present = at;
}

/* Checks window_next by asking copies of the window later. */
static void
compare_next(const struct naive *naive, const struct window *window,
    const struct terms *allowed, int64_t epoch)
{
	int64_t at = epoch > naive->present ? epoch : naive->present;
	struct window_sums want = naive_sums(naive, at), got;
	int64_t wait = 0;

	for (; wait <= WINDOW_WORDS; wait++) {
		struct window copy = *window;

		if (withdraw(&copy, allowed, at + wait) == WINDOW_GRANTED)
			break;
	}
	EQUAL("next", window_next(window, allowed, 1, epoch, &got),
	    wait > WINDOW_WORDS ? NANOS_MAX : wait);
	EQUAL("next", got.retries, want.retries);
	EQUAL("next", got.successes, want.successes);
	got = window_look(window, epoch);
	EQUAL("look", got.retries, want.retries);
	EQUAL("look", got.successes, want.successes);
}

static uint32_t
draw(uint32_t *seed, uint32_t most)
{
	*seed = *seed * 1664525 + 1013904223;
	return (*seed >> 8) % (most + 1);
}

/* Random gaps, with clocks that are up to two slices behind or ahead. */
static void
compare(const struct terms *allowed, uint32_t seed)
{
	static struct naive naive;
	struct window window = { { 0 } };
	int64_t clock = FIRST;

	memset(&naive, 0, sizeof naive);
	for (int i = 0; i < 4000; i++) {
		int64_t epoch = clock - 2 + draw(&seed, 4);
		uint32_t what = draw(&seed, 15);

		if (what < 7)
			compare_withdrawal(&naive, &window, allowed, epoch);
		else if (what < 14)
			compare_deposit(&naive, &window, epoch);
		else if (what < 15 && i % 8 == 0)
			compare_next(&naive, &window, allowed, epoch);
		if (draw(&seed, 3) == 0)
			clock += draw(&seed, 3);
		if (draw(&seed, 199) == 0)
			clock += draw(&seed, 2 * WINDOW_WORDS);
	}
}

static void
test_any_series_against_a_naive_window(void)
{
	static const struct terms some[] = {
		{ 0, 1, 0 },
		{ 0, 10, 0 },
		{ PART(20), 0, 0 },
		{ PART(20), 10, 0 },
		{ PART(100), 1, 0 },
		{ PART(70), 3, 0 },
		{ 333333, 2, 0 },
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
	test_past_slices_are_sealed,
	test_a_clock_that_is_behind,
	test_a_later_slice_is_the_present,
	test_words,
	test_a_process_stopped_for_a_window,
	test_full_counters,
	test_a_full_window,
	test_next,
	test_any_series_against_a_naive_window,
};

UNIT(tests);
