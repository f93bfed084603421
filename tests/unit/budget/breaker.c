/*
 * breaker: how long its pauses are, and whatever its words contain. What several
 * processes do one after the other is in scenes of admission.c, and what they do at
 * the same time in breaker_check.
 */
#include "unit.h"
#include "script.h"
#include "budget/breaker.h"
#include "budget/ramp.h"

#define LEAST RAMP_LEAST
#define QUIET (RAMP_QUIET * RAMP_STEP) /* then the recovery is over */

/* Opens after three failures, for 10 s, 20 s, and then 35 s. */
static const struct breaker_config usual = { 3, SECONDS(10), SECONDS(35) };

/* A breaker that opened at an instant. */
static struct breaker opened(const struct breaker_config *config, nanos now) {
	struct breaker breaker = { 0 };

	for (int64_t i = 0; i < config->failures; i++)
		breaker_tell(&breaker, config, RESULT_FAILURE, now, now);
	EQUAL("opened", breaker_look(&breaker, now).state, BREAKER_OPEN);
	return breaker;
}

static enum breaker_pass entered(struct breaker *breaker, nanos now, uint64_t *lease) {
	struct breaker_view view;
	enum breaker_pass pass;

	*lease = 1;
	pass = breaker_enter(breaker, now, lease, &view);
	EQUAL("lease", (int64_t)*lease, pass == BREAKER_PROBE ? (int64_t)breaker->word : 0);
	return pass;
}

/* Who has no lease changes nothing of a breaker whose word is 0, too. */
TEST(without_a_lease) {
	struct breaker breaker = { 0 };
	uint64_t lease = 0;

	breaker_renew(&breaker, &lease, 0);
	breaker_probed(&breaker, &usual, RESULT_FAILURE, lease, 0, 0);
	breaker_probed(&breaker, &usual, RESULT_HEALTHY, lease, 0, 0);
	EQUAL("none", (int64_t)(breaker.word | lease), 0);
}

/*
 * When it opens, the pause and the longest pause, and how long the pauses are
 * after 0, 1, 2... doublings: never less, and at most a millisecond more.
 */
static const char *const pauses[] = { "0 5s 60s -> 5s 10s 20s 40s 60s 60s", "0 5s 5s -> 5s 5s",
	"0 5s 1s -> 5s 5s", "0 0 1s -> 0 0", "0 12h ever -> 12h 24h 24h", "0 ever ever -> 24h 24h",
	"0 1ns 1ns -> 1ms", "0 1000001ns 1000001ns -> 2ms", "1ns 10ms 10ms -> 10999999ns",
	"600000ns 600000ns 600000ns -> 1400000ns", "400000ns 600000ns 600000ns -> 600000ns" };

TEST_ROWS(pauses) {
	struct script script = script_of(row);
	nanos now = script_span(&script), first = script_span(&script);
	const struct breaker_config config = { 1, first, script_span(&script) };
	struct breaker breaker = opened(&config, now);
	uint64_t lease;

	script_next(&script);
	while (script.rest[0] != '\0') {
		nanos pause = script_span(&script);

		EQUAL(row, breaker_look(&breaker, now).next, pause);
		now += pause;
		if (pause > 0)
			EQUAL(row, entered(&breaker, now - 1, &lease), BREAKER_REFUSED);
		EQUAL(row, entered(&breaker, now, &lease), BREAKER_PROBE);
		breaker_probed(&breaker, &config, RESULT_FAILURE, lease, 0, now);
	}
}

/* Counts saturate, seq wraps to 0, and no sum overflows. */
TEST(ends_of_the_numbers) {
	const uint64_t seq = ((UINT64_C(1) << 19) - 1) << 40;
	const uint64_t most = UINT32_MAX;
	struct breaker breaker = { .word = seq, .streak = seq << 2 | (most - 1) };
	uint64_t lease;
	const struct breaker_config none = { 0, 0, 0 };
	const struct breaker_config many = { UINT32_MAX, SECONDS(1), SECONDS(9) };

	breaker_tell(&breaker, &none, RESULT_FAILURE, 0, 0);
	EQUAL("the most", breaker_look(&breaker, 0).failures, UINT32_MAX);
	breaker_tell(&breaker, &none, RESULT_FAILURE, 0, 0);
	EQUAL("the most", breaker_look(&breaker, 0).failures, UINT32_MAX);
	HOLDS("the most", breaker.word == seq);
	breaker_tell(&breaker, &many, RESULT_FAILURE, 0, 0);
	HOLDS("seq", breaker.word == (UINT64_C(1) << 62 | 1000));
	breaker.streak |= UINT64_C(1023) << 32;
	HOLDS("doublings", entered(&breaker, SECONDS(1), &lease) == BREAKER_PROBE);
	breaker_probed(&breaker, &many, RESULT_FAILURE, lease, 0, SECONDS(1));
	EQUAL("doublings", breaker_look(&breaker, 0).next, SECONDS(10));
	EQUAL("doublings", breaker.streak >> 32 & 1023, 1023);
	EQUAL("doublings", breaker_look(&breaker, 0).failures, UINT32_MAX);
}

/* Whatever the words contain: no attempt waits for ever, and it recovers, though its first
 * probe fails. */
static void check_healing(const char *row, struct breaker breaker, nanos now) {
	enum attempt_result result = RESULT_FAILURE;
	uint64_t lease;
	nanos began;

	for (int i = 0; i < 8 && breaker.word >> 62 != BREAKER_CLOSED; i++) {
		struct breaker_view view = breaker_look(&breaker, now);
		enum breaker_pass pass = entered(&breaker, now, &lease);

		HOLDS(row, view.next >= 0 && view.next <= BREAKER_PAUSE_MOST + NANOS_MINUTE);
		HOLDS(row, (view.rate > 0) == (view.state == BREAKER_RECOVERING));
		HOLDS(row, (pass == BREAKER_REFUSED) == (view.next > 0));
		if (pass == BREAKER_TURN)
			breaker_tell(&breaker, &usual, RESULT_SUCCESS, now, now);
		now += view.next;
		if (pass == BREAKER_PROBE) {
			breaker_probed(&breaker, &usual, result, lease, 0, now);
			result = RESULT_HEALTHY;
		} else if (pass != BREAKER_REFUSED)
			now += QUIET + 2 * RAMP_STEP;
	}
	EQUAL(row, (int64_t)(breaker.word >> 62), BREAKER_CLOSED);
	/* Results of attempts that begin from here on count. */
	began = (nanos)(breaker.word % (UINT64_C(1) << 40)) * NANOS_MS;
	if (now < began)
		now = began;
	breaker_tell(&breaker, &usual, RESULT_SUCCESS, now, now);
	for (int i = 0; i < 3; i++) {
		EQUAL(row, entered(&breaker, now, &lease), BREAKER_PASSED);
		breaker_tell(&breaker, &usual, RESULT_FAILURE, now, now);
	}
	EQUAL(row, breaker_look(&breaker, now).state, BREAKER_OPEN);
	EQUAL(row, breaker_look(&breaker, now).failures, 3);
}

TEST(corner_words_heal) {
	const uint64_t ms[] = { 0, 1, 86399999, 86400000, 86460000, 86460001, 86460002,
		(UINT64_C(1) << 40) - 1 };
	const uint64_t streaks[] = { 0, 1, UINT32_MAX, UINT64_MAX, UINT64_C(1023) << 32 };
	const uint64_t rates[] = { 0, UINT64_MAX, UINT64_MAX >> 20,
		ramp_word(&(struct ramp){ .rate = LEAST, .taken = LEAST }) };

	for (uint64_t state = 0; state < 4; state++)
		for (size_t i = 0; i < LENGTH(ms) * LENGTH(streaks); i++)
			for (size_t j = 0; j < LENGTH(rates); j++)
				check_healing("corners",
				    (struct breaker){
					state << 62 | ms[i % LENGTH(ms)],
					streaks[i / LENGTH(ms)],
					rates[j],
				    },
				    NANOS_MS);
}
