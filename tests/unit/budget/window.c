/*
 * window, used by one process: limits, expiry, clocks that disagree, words that
 * are corrupt or full. Several processes at once are window_check's.
 */
#include "unit.h"
#include "script.h"
#include "budget/window.h"

/* [epoch:31 | sealed:1 | successes:16 | retries:16] */
#define WORD(epoch, sealed, successes, retries) \
	((uint64_t)(epoch) << 33 | (uint64_t)(sealed) << 32 | (uint64_t)(successes) << 16 | \
	    (uint64_t)(retries))
#define PART(n) ((n) * (WINDOW_RATIO_ONE / 100))
#define FULL 0xffff

static const struct terms one = { 0, 1, 0 };

static enum window_answer
withdraw(struct window *window, const struct terms *limits, int64_t epoch) {
	struct window_sums sums;

	return window_withdraw(window, limits, epoch, &sums);
}

static void deposit(struct window *window, int64_t epoch, int times) {
	while (times-- > 0) EQUAL("deposit", window_deposit(window, epoch), WINDOW_GRANTED);
}

/* How many retries are granted until one is denied. */
static int64_t granted(struct window *window, const struct terms *limits, int64_t epoch) {
	int64_t times = 0;

	while (times < 1000 && withdraw(window, limits, epoch) == WINDOW_GRANTED) times++;
	return times;
}

static uint64_t word_of(const struct window *window, int64_t epoch) {
	return window->words[epoch % WINDOW_WORDS];
}

/* Ratio, minimum and successes; "ever" is INT64_MAX. */
static const char *const limits[] = { "0.2 10 0 -> 10", "0.2 10 54 -> 10", "0.2 10 55 -> 11",
	"0.2 0 4 -> 0", "0.2 0 5 -> 1", "0 0 ever -> 0", "0 10 1000 -> 10",
	/* Less than a third: three successes do not pay for a retry. */
	"0.333333 0 3 -> 0", "0.333333 0 1000000 -> 333333", "0.000001 0 999999 -> 0",
	"0.000001 0 1000000 -> 1", "1.5 0 7 -> 10", "1000 0 3932100 -> 3932100000",
	"1 0 ever -> ever", "2 0 ever -> ever", "ever 0 1000000 -> ever", "ever ever 1 -> ever",
	"0 ever 0 -> ever" };

static int64_t read_number(struct script *script, double unit) {
	script_next(script);
	return script_is(script, "ever") ? INT64_MAX
					 : (int64_t)(strtod(script->word, NULL) * unit + 0.5);
}

TEST_ROWS(limits) {
	struct script script = script_of(row);
	struct terms terms = { .window = 0 };
	int64_t successes;

	terms.ratio = read_number(&script, WINDOW_RATIO_ONE);
	terms.min = read_number(&script, 1);
	successes = read_number(&script, 1);
	script_next(&script);
	EQUAL(row, window_limit(&terms, successes), read_number(&script, 1));
}

static int64_t read_epoch(struct script *script) {
	int64_t epoch = strtoll(script->word, NULL, 10);

	return script->word[0] == '-' ? WINDOW_EPOCHS + epoch : epoch;
}

/*
 * A word in its place, of a slice, or "ones"; what it answers at an epoch for a retry and for a
 * success. "-N" is before the last epoch.
 */
static const char *answers_of(const char *row) {
	static const char answers[][8] = {
		[WINDOW_GRANTED] = "granted",
		[WINDOW_DENIED] = "denied",
		[WINDOW_CORRUPT] = "corrupt",
	};
	static char room[24];
	struct script script = script_of(row);
	struct window window = { { 0 } }, other;
	uint64_t word = 0;
	int64_t place, epoch;

	script_next(&script);
	place = read_epoch(&script) % WINDOW_WORDS;
	while (script_next(&script) && !script_is(&script, "at")) {
		unsigned successes, retries;

		if (sscanf(script.word, "%u/%u", &successes, &retries) == 2)
			word |= WORD(0, 0, successes, retries);
		else if (script_is(&script, "sealed"))
			word |= WORD(0, 1, 0, 0);
		else if (script_is(&script, "ones"))
			word = UINT64_MAX;
		else
			word |= WORD(read_epoch(&script), 0, 0, 0);
	}
	script_next(&script);
	epoch = read_epoch(&script);
	window.words[place] = word;
	other = window;
	snprintf(room, sizeof room, "%s %s", answers[withdraw(&window, &one, epoch)],
	    answers[window_deposit(&other, epoch)]);
	return room;
}

TEST(words) {
	static const char *const rows[][6] = {
		{ "granted granted", "20: 0 at 508", "20: 508 at 508", "20: 447 9/9 at 508",
		    "20: 20 sealed 9/9 at 508" },
		/* A round ahead, and two. */
		{ "granted granted", "20: 569 at 508", "20: 569 sealed at 509" },
		{ "corrupt granted", "20: 569 sealed at 508", "20: 630 at 508", "20: 630 at 520" },
		/* In a wrong place, or without an epoch. */
		{ "corrupt corrupt", "20: 509 at 508", "20: 5 at 508", "20: 0 0/1 at 508",
		    "20: 0 sealed at 508", "20: ones at 508" },
		{ "corrupt granted", "20: ones at 509" },
		/* The first slice. */
		{ "granted granted", "0: 0 7/0 at 0", "0: 0 sealed 7/0 at 0" },
		{ "denied granted", "0: 0 0/65535 at 0" },
		/* There is no slice before the first, so its word is not read. */
		{ "granted granted", "60: ones at 0", "60: ones at 59" },
		{ "corrupt corrupt", "60: ones at 60" },
		/* The last epochs. */
		{ "granted granted", "-1: 0 at -1", "-2: -2 sealed at -2" },
		{ "corrupt corrupt", "-1: -1 sealed at -1", "0: 0 at -0" },
	};

	ALIKE(rows, answers_of);
}

TEST(full_counters) {
	static const struct terms plenty = { 0, 10 * FULL, 0 };
	struct window window = { { 0 } };
	struct window_sums sums;

	window.words[100 % WINDOW_WORDS] = WORD(100, 0, FULL - 1, FULL - 1);
	deposit(&window, 100, 3);
	HOLDS("successes", word_of(&window, 100) == WORD(100, 0, FULL, FULL - 1));
	EQUAL("retries", granted(&window, &plenty, 100), 1);
	HOLDS("full", word_of(&window, 100) == WORD(100, 0, FULL, FULL));
	EQUAL("next", window_next(&window, &plenty, 1, 100, &sums), 1);
	EQUAL("another slice", window_withdraw(&window, &plenty, 101, &sums), WINDOW_GRANTED);
	EQUAL("retries", sums.retries, FULL + 1);
	EQUAL("successes", sums.successes, FULL);
	HOLDS("kept", word_of(&window, 100) == WORD(100, 1, FULL, FULL));
}

TEST(next) {
	static const struct terms none = { PART(50), 0, 0 };
	struct window window = { { 0 } }, before;
	struct window_sums sums;

	EQUAL("nothing yet", window_next(&window, &one, 1, 100, &sums), 0);
	EQUAL("no success yet", window_next(&window, &none, 1, 100, &sums), NANOS_MAX);
	EQUAL("granted", withdraw(&window, &one, 100), WINDOW_GRANTED);
	before = window;
	EQUAL("a window", window_next(&window, &one, 1, 100, &sums), WINDOW_WORDS);
	EQUAL("retries", sums.retries, 1);
	EQUAL("successes", sums.successes, 0);
	EQUAL("one slice", window_next(&window, &one, 1, 160, &sums), 1);
	EQUAL("what is left of it", window_next(&window, &one, 10, 1603, &sums), 7);
	EQUAL("now", window_next(&window, &one, 1, 161, &sums), 0);
	EQUAL("retries", sums.retries, 0);
	EQUAL("ours is behind", window_next(&window, &one, 1, 98, &sums), WINDOW_WORDS);
	HOLDS("unchanged", memcmp(&window, &before, sizeof window) == 0);
	/* The retry that a success paid for counts longer than the success. */
	deposit(&window, 150, 2);
	EQUAL("paid", window_next(&window, &none, 1, 161, &sums), 0);
	EQUAL("successes", sums.successes, 2);
	EQUAL("used", granted(&window, &none, 161), 1);
	EQUAL("never", window_next(&window, &none, 1, 161, &sums), NANOS_MAX);
	memset(&window, 0xff, sizeof window);
	EQUAL("corrupt", window_next(&window, &one, 1, 100, &sums), -1);
	/* A sealed slice is over. */
	window = (struct window){ { 0 } };
	window.words[101 % WINDOW_WORDS] = WORD(101, 1, 3, 0);
	EQUAL("sealed", window_next(&window, &one, 1, 100, &sums), 0);
	EQUAL("sealed", sums.epoch, 102);
}

static void note(struct window *window, int64_t epoch) { window_note(window, epoch); }

/* A word of slice 100, and what it is when a retry is paid back, or a success noted. */
TEST(refunds_and_notes) {
	static const struct {
		const char *row;
		void (*change)(struct window *window, int64_t epoch);
		uint64_t before, after;
	} rows[] = {
		{ "a retry", window_refund, WORD(100, 0, 3, 2), WORD(100, 0, 3, 1) },
		{ "of a sealed slice", window_refund, WORD(100, 1, 3, 2), WORD(100, 1, 3, 1) },
		{ "none is counted", window_refund, WORD(100, 0, 3, 0), WORD(100, 0, 3, 0) },
		{ "of a slice that has gone", window_refund, WORD(161, 0, 3, 2),
		    WORD(161, 0, 3, 2) },
		{ "of a corrupt word", window_refund, WORD(99, 0, 3, 2), WORD(99, 0, 3, 2) },
		{ "the first success", note, 0, WORD(100, 0, 1, 0) },
		{ "another one", note, WORD(100, 0, 3, 2), WORD(100, 0, 4, 2) },
		{ "in place of an old slice", note, WORD(39, 1, 3, 2), WORD(100, 0, 1, 0) },
		{ "in a sealed slice", note, WORD(100, 1, 3, 2), WORD(100, 1, 3, 2) },
		{ "in a slice that has gone", note, WORD(161, 0, 3, 2), WORD(161, 0, 3, 2) },
		{ "in a full slice", note, WORD(100, 0, FULL, 2), WORD(100, 0, FULL, 2) },
		{ "in a corrupt word", note, WORD(38, 0, 3, 2), WORD(38, 0, 3, 2) },
	};
	struct window window = { { 0 } };

	for (size_t i = 0; i < LENGTH(rows); i++) {
		window.words[100 % WINDOW_WORDS] = rows[i].before;
		rows[i].change(&window, 100);
		HOLDS(rows[i].row, word_of(&window, 100) == rows[i].after);
	}
}
