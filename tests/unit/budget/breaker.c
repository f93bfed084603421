/*
 * breaker: actions of several processes, one after the other, and what the
 * breaker looks like after each. Actions at the same time are breaker_check's.
 */
#include "unit.h"
#include "script.h"
#include "budget/breaker.h"
#include "budget/ramp.h"
#include "text/random.h"

#define SECONDS(n) ((nanos)((n)*NANOS_SECOND + 0.5))

#define LEAST RAMP_LEAST
#define FIRST RAMP_FIRST
#define GROWN(rate) ((rate) + ((rate) + 1) / 2)
#define QUIET (RAMP_QUIET * RAMP_STEP) /* then the recovery is over */
/* RAMP_FIRST as attempts per second. */
#define SLOW (FIRST * NANOS_SECOND / RAMP_STEP)

/* Opens after three failures, for 10 s, 20 s, and then 35 s. */
static const struct breaker_config usual = { 3, SECONDS(10), SECONDS(35) };

/*
 * A time, a process, what it does, and perhaps the view after that: the state,
 * the failures, and how long until an attempt may be admitted, if it is not
 * now. A time holds until the next one. The rate is RAMP_FIRST.
 */
static const char *const scripts[] = {
/* A opens the breaker at 0, gets the probe, and begins a recovery. */
#define OPENED "A fails, A fails, A fails open 3 10s, "
#define PROBED OPENED "10s A enters probe half-open 3 3s, "
#define HEALED PROBED "12s A probe-heals recovering 0, "
	/* The configured number of failures opens it. */
	"1s A fails closed 1, 2s B fails closed 2, A enters passed closed 2, "
	"3s C fails open 3 10s, 4s A enters held open 3 9s",
	/* A success ends the streak; a failure that is not retried does not. */
	"A fails closed 1, B fails closed 2, A answers closed 2, A aborts "
	"closed 2, C succeeds closed 0, C succeeds closed 0, A answers closed "
	"0, A fails, B fails closed 2, A fails open 3 10s",
	/* A late result finds it open. */
	OPENED "1s B fails open 3 9s, 2s B succeeds open 3 8s, 3s B answers "
	       "open 3 7s, 4s B aborts open 3 6s, 10s A enters probe half-open "
	       "3 3s, B fails half-open 3 3s, B succeeds half-open 3 3s",
	/* Results from before a recovery are ignored. */
	"B fails-late closed 1, B succeeds-late closed 0, " HEALED
	"B fails, B fails recovering 2, C fails-late recovering 2, C "
	"succeeds-late recovering 2, 20s A enters passed closed 0, B fails, B "
	"fails closed 2, C fails-late closed 2, C succeeds-late closed 2, B "
	"fails open 3 10s",
	/* Nor do they count as the first result that it waits for. */
	HEALED "B enters turn recovering 0, C fails-late recovering 0, 20s C "
	       "looks recovering 0, B fails recovering 1, 22s C looks closed 1",
	HEALED "B enters turn, B succeeds recovering 0, 20s C looks closed 0",
	/* One probe, when it is due. */
	OPENED "9.999s A enters held open 3 0.001s, 10s A looks open 3, A "
	       "enters probe half-open 3 3s, B enters held half-open 3 3s, 12s "
	       "C enters held half-open 3 1s",
	/* Without a lease a probe's result changes nothing. */
	"A fails, A fails closed 2, A renews no closed 2, A probe-fails closed "
	"2, A probe-heals closed 2",
	/* A recovery opens as usual; a success ends its streak. */
	HEALED "B enters turn recovering 0, A probe-fails recovering 0, B "
	       "fails recovering 1, C fails recovering 2, C succeeds "
	       "recovering 0, C answers recovering 0, C aborts recovering 0, B "
	       "fails, C fails recovering 2, C fails open 3 10s",
	/* A recovery without attempts ends closed. */
	HEALED
	"20s B looks closed 0, B fails, B fails closed 2, B succeeds closed 0, "
	"B fails closed 1, B enters passed closed 0, 12s B looks closed 0, 20s "
	"B fails, B fails closed 2, B fails open 3 10s",
	/* Each failed probe doubles the pause. */
	PROBED "12s A probe-fails open 4 20s, 31.5s A enters held open 4 0.5s, "
	       "32s B enters probe half-open 4 3s, B probe-fails open 5 35s, "
	       "67s B enters probe half-open 5 3s, B probe-fails open 6 35s, "
	       "102s B enters probe half-open 6 3s, B probe-heals recovering "
	       "0, A fails, A fails recovering 2, A fails open 3 10s, 112s A "
	       "enters probe half-open 3 3s, A probe-fails open 4 20s",
	/* A lease ends by the clock, and counts until another takes it. */
	PROBED
	"12.999s B enters held half-open 3 0.001s, 13s B looks half-open 3, B "
	"enters probe half-open 3 3s, C enters held half-open 3 3s, 90s B "
	"renews yes half-open 3 3s, 92s A enters held half-open 3 1s, 200s B "
	"probe-fails open 4 20s, 219s B enters held open 4 1s",
	/* A lost lease does not count, close it or open it. */
	PROBED "13s B enters probe half-open 3 3s, 14s A probe-heals half-open "
	       "3 2s, A probe-fails half-open 3 2s, A probe-aborts half-open 3 "
	       "2s, A renews no half-open 3 2s, B renews yes half-open 3 3s, B "
	       "probe-fails open 4 20s, A renews no open 4 20s, A probe-heals "
	       "open 4 20s, A probe-aborts open 4 20s",
	PROBED "13s B enters probe half-open 3 3s, 14s B probe-heals "
	       "recovering 0, A probe-fails recovering 0, A probe-aborts "
	       "recovering 0, A renews no recovering 0, A fails recovering 1",
	/* After an ignored probe the next is due at once. */
	OPENED
	"10.0000005s A enters probe half-open 3 3.0009995s, A probe-aborts "
	"open 3, B enters probe half-open 3 3.0009995s, 11s A probe-aborts "
	"half-open 3 2.001s, B probe-fails open 4 20s",
	/* A recovery begins at once. */
	OPENED "10.0000005s A enters probe, A probe-heals recovering 0, B "
	       "enters turn recovering 0",
	/* With a clock that is behind, all comes later. */
	PROBED "8s A enters held half-open 3 5s, A renews yes half-open 3 3s, "
	       "9s A probe-fails open 4 20s, 28s A enters held open 4 1s",
};

/* What a process does; a failure comes late if the attempt began at 0. */
static const struct {
	char name[16];
	enum attempt_result result;
	bool late, probe;
} results[] = {
	{ "succeeds", RESULT_SUCCESS, false, false },
	{ "answers", RESULT_HEALTHY, false, false }, /* is not retried */
	{ "fails", RESULT_FAILURE, false, false },
	{ "aborts", RESULT_IGNORED, false, false },
	{ "succeeds-late", RESULT_SUCCESS, true, false },
	{ "fails-late", RESULT_FAILURE, true, false },
	/* With the lease that it has, or had. */
	{ "probe-heals", RESULT_HEALTHY, true, true },
	{ "probe-fails", RESULT_FAILURE, true, true },
	{ "probe-aborts", RESULT_IGNORED, true, true },
};

static void
check_view(struct script script, const struct breaker_view *view)
{
	static const char states[][12] = {
		[BREAKER_CLOSED] = "closed",
		[BREAKER_OPEN] = "open",
		[BREAKER_HALF_OPEN] = "half-open",
		[BREAKER_RECOVERING] = "recovering",
	};
	const char *row = script.rest;
	int state;

	script_next(&script);
	if (script.word[0] == ',' || script.word[0] == '\0')
		return;
	state = script_name(&script, states, sizeof states[0], LENGTH(states));
	EQUAL(row, view->state, state);
	EQUAL(row, view->failures, script_number(&script));
	EQUAL(row, view->rate, state == BREAKER_RECOVERING ? SLOW : 0);
	if (script.rest[0] == ' ')
		EQUAL(row, view->next, script_span(&script));
	else
		EQUAL(row, view->next, 0);
}

/* A process enters, or renews its lease; it keeps a lost one, to try it. */
static void
check_lease(
    struct script *script, struct breaker *breaker, uint64_t *lease, nanos now)
{
	static const char passes[][8] = {
		[BREAKER_PASSED] = "passed",
		[BREAKER_PROBE] = "probe",
		[BREAKER_TURN] = "turn",
		[BREAKER_HELD] = "held",
	};
	const char *row = script->rest;
	bool enters = script_is(script, "enters");
	uint64_t got = enters ? 1 : *lease;
	struct breaker_view view;

	if (enters) {
		enum breaker_pass pass =
		    breaker_enter(breaker, now, &got, &view);

		script_next(script);
		SAME(row, passes[pass], script->word);
		HOLDS(row, (got != 0) == script_is(script, "probe"));
		if (script_is(script, "held"))
			check_view(*script, &view);
	} else {
		breaker_renew(breaker, &got, now);
		script_next(script);
		SAME(row, got != 0 ? "yes" : "no", script->word);
	}
	if (got != 0)
		*lease = got;
}

static void
check_script(const char *text)
{
	struct script script = script_of(text);
	struct breaker breaker = { 0 };
	uint64_t leases[3] = { 0 };
	nanos now = 0;

	while (script_next(&script)) {
		struct breaker_view view;
		uint64_t *lease;

		if (duration_parse(script.word, strlen(script.word), &now))
			script_next(&script);
		lease = &leases[script.word[0] - 'A'];
		script_next(&script);
		if (script_is(&script, "enters") ||
		    script_is(&script, "renews"))
			check_lease(&script, &breaker, lease, now);
		else if (!script_is(&script, "looks")) {
			int i = script_name(&script, results, sizeof results[0],
			    LENGTH(results));

			if (results[i].probe)
				breaker_probed(&breaker, &usual,
				    results[i].result, *lease, 0, now);
			else
				breaker_tell(&breaker, &usual,
				    results[i].result,
				    results[i].late ? 0 : now, now);
		}
		view = breaker_look(&breaker, now);
		check_view(script, &view);
		while (script_next(&script) && !script_is(&script, ","))
			;
	}
}

TEST(scripts)
{
	for (size_t i = 0; i < LENGTH(scripts); i++)
		check_script(scripts[i]);
}

/* A breaker that opened at an instant. */
static struct breaker
opened(const struct breaker_config *config, nanos now)
{
	struct breaker breaker = { 0 };

	for (int64_t i = 0; i < config->failures; i++)
		breaker_tell(&breaker, config, RESULT_FAILURE, now, now);
	EQUAL("opened", breaker_look(&breaker, now).state, BREAKER_OPEN);
	return breaker;
}

static enum breaker_pass
entered(struct breaker *breaker, nanos now, uint64_t *lease)
{
	struct breaker_view view;

	return breaker_enter(breaker, now, lease, &view);
}

/* Another version of the program reads them too. */
TEST(words)
{
	struct breaker breaker = { 0 };
	const uint64_t seq = UINT64_C(1) << 40, streak = UINT64_C(1) << 42;
	uint64_t lease;

	for (int i = 0; i < 3; i++)
		breaker_tell(&breaker, &usual, RESULT_FAILURE, 0, 0);
	HOLDS("open", breaker.word == (UINT64_C(1) << 62 | seq | 10000));
	HOLDS("open", breaker.streak == 3);
	entered(&breaker, SECONDS(10), &lease);
	HOLDS("probe", breaker.word == (UINT64_C(2) << 62 | 2 * seq | 13000));
	HOLDS("probe", lease == breaker.word);
	breaker_renew(&breaker, &lease, SECONDS(11));
	HOLDS("renewed", breaker.word == (UINT64_C(2) << 62 | 3 * seq | 14000));
	HOLDS("renewed", lease == breaker.word);
	breaker_probed(&breaker, &usual, RESULT_FAILURE, lease, 0, SECONDS(12));
	HOLDS("failure", breaker.word == (UINT64_C(1) << 62 | 4 * seq | 32000));
	HOLDS("failure", breaker.streak == (UINT64_C(1) << 32 | 4));
	entered(&breaker, SECONDS(32), &lease);
	breaker_probed(&breaker, &usual, RESULT_IGNORED, lease, 0, SECONDS(33));
	HOLDS("given back", breaker.word == (UINT64_C(1) << 62 | 6 * seq));
	entered(&breaker, SECONDS(33), &lease);
	breaker_probed(&breaker, &usual, RESULT_HEALTHY, lease, 0, SECONDS(34));
	HOLDS("healthy", breaker.word == (UINT64_C(3) << 62 | 8 * seq | 34000));
	entered(&breaker, SECONDS(50), &lease);
	HOLDS("closed", breaker.word == (9 * seq | 34000));
	HOLDS("closed", breaker.rate == 0);
	breaker_tell(
	    &breaker, &usual, RESULT_FAILURE, SECONDS(51), SECONDS(51));
	HOLDS("again", breaker.word == (9 * seq | 34000));
	HOLDS("again", breaker.streak == (9 * streak | 1));
	breaker_tell(
	    &breaker, &usual, RESULT_SUCCESS, SECONDS(51), SECONDS(51));
	HOLDS("a success", breaker.word == (10 * seq | 34000));
	HOLDS("a success", breaker.rate == 0);
}

/* It is set when the recovery begins, and stays until the next one. */
TEST(a_recovery_in_a_fleet)
{
	const uint64_t seq = UINT64_C(1) << 40, slowdown = UINT64_C(3) << 59;
	const uint64_t recovers = UINT64_C(3) << 62;
	struct breaker breaker = opened(&usual, 0);
	uint64_t lease;
	nanos now;

	entered(&breaker, SECONDS(10), &lease);
	breaker_probed(
	    &breaker, &usual, RESULT_HEALTHY, lease, 48, SECONDS(10));
	HOLDS(
	    "probed", breaker.word == (recovers | slowdown | 3 * seq | 10000));
	EQUAL("rate", breaker_look(&breaker, SECONDS(10)).rate, SLOW / 4);
	for (int i = 0; i < 3; i++)
		entered(&breaker, SECONDS(10), &lease);
	EQUAL("one left", entered(&breaker, SECONDS(10), &lease), BREAKER_TURN);
	EQUAL("next", breaker_look(&breaker, SECONDS(10)).next,
	    4 * RAMP_STEP / FIRST);
	now = SECONDS(10) + 4 * RAMP_STEP - 1;
	breaker_tell(&breaker, &usual, RESULT_FAILURE, now, now);
	breaker_tell(&breaker, &usual, RESULT_SUCCESS, now, now);
	HOLDS("told", breaker.word == (recovers | slowdown | 4 * seq | 10000));
	EQUAL("the first step",
	    ramp_read(breaker.rate, SECONDS(10), 3, now).taken, LEAST);
	EQUAL("not over", entered(&breaker, now + QUIET, &lease), BREAKER_TURN);
	EQUAL("over", entered(&breaker, SECONDS(60), &lease), BREAKER_PASSED);
	HOLDS("closed", breaker.word == (slowdown | 5 * seq | 10000));
	for (int i = 0; i < 3; i++)
		breaker_tell(
		    &breaker, &usual, RESULT_FAILURE, SECONDS(70), SECONDS(70));
	EQUAL("probe", entered(&breaker, SECONDS(80), &lease), BREAKER_PROBE);
	breaker_probed(&breaker, &usual, RESULT_HEALTHY, lease, 0, SECONDS(80));
	EQUAL("no fleet", breaker_look(&breaker, SECONDS(80)).rate, SLOW);
}

/* A write would make all processes on the host read the cache line anew. */
TEST(ignored_results_write_nothing)
{
	struct breaker breaker = { 0 };
	uint64_t lease, word, streak;

	breaker_tell(&breaker, &usual, RESULT_SUCCESS, 0, 0);
	entered(&breaker, 0, &lease);
	HOLDS("closed", breaker.word == 0 && breaker.streak == 0);
	breaker = opened(&usual, 0);
	word = breaker.word;
	streak = breaker.streak;
	for (int result = RESULT_SUCCESS; result <= RESULT_IGNORED; result++) {
		breaker_tell(
		    &breaker, &usual, (enum attempt_result)result, 1, 1);
		breaker_probed(
		    &breaker, &usual, (enum attempt_result)result, 0, 0, 1);
		breaker_probed(&breaker, &usual, (enum attempt_result)result,
		    word + 1, 0, 1);
	}
	HOLDS("held", entered(&breaker, 1, &lease) == BREAKER_HELD);
	HOLDS("open", breaker.word == word && breaker.streak == streak);
}

/* They share the breaker's words, and not its configuration. */
TEST(every_process_has_its_own_configuration)
{
	const struct breaker_config none = { 0, 0, 0 },
				    five = { 5, SECONDS(2), 0 };
	const struct breaker_config slow = { 9, SECONDS(60), SECONDS(100) };
	struct breaker breaker = { 0 };
	uint64_t lease;

	for (int i = 0; i < 20; i++)
		breaker_tell(&breaker, &none, RESULT_FAILURE, 0, 0);
	EQUAL("none", breaker_look(&breaker, 0).state, BREAKER_CLOSED);
	EQUAL("none", breaker_look(&breaker, 0).failures, 20);
	breaker_tell(&breaker, &five, RESULT_FAILURE, 0, 0);
	EQUAL("5", breaker_look(&breaker, 0).state, BREAKER_OPEN);
	EQUAL("5", breaker_look(&breaker, 0).failures, 21);
	EQUAL("5", breaker_look(&breaker, 0).next, SECONDS(2));
	HOLDS("60s", entered(&breaker, SECONDS(2), &lease) == BREAKER_PROBE);
	breaker_probed(&breaker, &slow, RESULT_FAILURE, lease, 0, SECONDS(2));
	EQUAL("60s", breaker_look(&breaker, SECONDS(2)).next, SECONDS(100));
	HOLDS("2s", entered(&breaker, SECONDS(102), &lease) == BREAKER_PROBE);
	breaker_probed(&breaker, &five, RESULT_FAILURE, lease, 0, SECONDS(102));
	EQUAL("2s", breaker_look(&breaker, SECONDS(102)).next, SECONDS(2));
	/* A success without a breaker ends the streak for all. */
	breaker = (struct breaker){ 0 };
	for (int i = 0; i < 4; i++)
		breaker_tell(&breaker, &five, RESULT_FAILURE, 0, 0);
	breaker_tell(&breaker, &none, RESULT_SUCCESS, 0, 0);
	breaker_tell(&breaker, &five, RESULT_FAILURE, 0, 0);
	EQUAL("ended", breaker_look(&breaker, 0).state, BREAKER_CLOSED);
	EQUAL("ended", breaker_look(&breaker, 0).failures, 1);
}

/*
 * When it opens, the pause and the longest pause, and how long the pauses are
 * after 0, 1, 2... doublings: never less, and at most a millisecond more.
 */
static const char *const pauses[] = {
	"0 5s 60s -> 5s 10s 20s 40s 60s 60s",
	"0 5s 5s -> 5s 5s",
	"0 5s 1s -> 5s 5s",
	"0 0 1s -> 0 0",
	"0 12h ever -> 12h 24h 24h",
	"0 ever ever -> 24h 24h",
	"0 1ns 1ns -> 1ms",
	"0 1000001ns 1000001ns -> 2ms",
	"1ns 10ms 10ms -> 10999999ns",
	"600000ns 600000ns 600000ns -> 1400000ns",
	"400000ns 600000ns 600000ns -> 600000ns",
};

static void
check_pauses(const char *row)
{
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
			EQUAL(row, entered(&breaker, now - 1, &lease),
			    BREAKER_HELD);
		EQUAL(row, entered(&breaker, now, &lease), BREAKER_PROBE);
		breaker_probed(
		    &breaker, &config, RESULT_FAILURE, lease, 0, now);
	}
}

TEST(pauses)
{
	for (size_t i = 0; i < LENGTH(pauses); i++)
		check_pauses(pauses[i]);
}

/* Counts saturate, seq wraps to 0, and no sum overflows. */
TEST(ends_of_the_numbers)
{
	const uint64_t seq = ((UINT64_C(1) << 19) - 1) << 40;
	const uint64_t most = UINT32_MAX;
	struct breaker breaker = { .word = seq,
		.streak = seq << 2 | (most - 1) };
	uint64_t lease;
	const struct breaker_config none = { 0, 0, 0 };
	const struct breaker_config many = { UINT32_MAX, SECONDS(1),
		SECONDS(9) };

	breaker_tell(&breaker, &none, RESULT_FAILURE, 0, 0);
	EQUAL("the most", breaker_look(&breaker, 0).failures, UINT32_MAX);
	breaker_tell(&breaker, &none, RESULT_FAILURE, 0, 0);
	EQUAL("the most", breaker_look(&breaker, 0).failures, UINT32_MAX);
	HOLDS("the most", breaker.word == seq);
	breaker_tell(&breaker, &many, RESULT_FAILURE, 0, 0);
	HOLDS("seq", breaker.word == (UINT64_C(1) << 62 | 1000));
	breaker.streak |= UINT64_C(1023) << 32;
	HOLDS("doublings",
	    entered(&breaker, SECONDS(1), &lease) == BREAKER_PROBE);
	breaker_probed(&breaker, &many, RESULT_FAILURE, lease, 0, SECONDS(1));
	EQUAL("doublings", breaker_look(&breaker, 0).next, SECONDS(10));
	EQUAL("doublings", breaker.streak >> 32 & 1023, 1023);
	EQUAL("doublings", breaker_look(&breaker, 0).failures, UINT32_MAX);
	/* After 34 years it denies nothing any more. */
	breaker = opened(&usual, NANOS_MAX);
	HOLDS("34 years",
	    breaker.word == (UINT64_C(1) << 62) + (UINT64_C(1) << 41) - 1);
	EQUAL("34 years", breaker_look(&breaker, NANOS_MAX).next, 0);
	EQUAL("34 years", entered(&breaker, NANOS_MAX, &lease), BREAKER_PROBE);
	breaker_renew(&breaker, &lease, NANOS_MAX);
	HOLDS("34 years", lease != 0);
	breaker_probed(&breaker, &usual, RESULT_HEALTHY, lease, 0, NANOS_MAX);
	EQUAL("34 years", entered(&breaker, NANOS_MAX, &lease), BREAKER_PASSED);
}

/*
 * Recoveries
 */

/* A breaker that has been recovering since an instant. */
static struct breaker
recovering(nanos began)
{
	struct breaker breaker = opened(&usual, began - SECONDS(10));
	uint64_t lease;

	HOLDS("due", entered(&breaker, began, &lease) == BREAKER_PROBE);
	breaker_probed(&breaker, &usual, RESULT_HEALTHY, lease, 0, began);
	return breaker;
}

/* So many turns are available at an instant, and no more. */
static void
check_turns(const char *row, struct breaker *breaker, int64_t turns, nanos now)
{
	struct breaker_view view;
	uint64_t lease;

	for (int64_t i = 0; i < turns; i++) {
		EQUAL(row, breaker_enter(breaker, now, &lease, &view),
		    BREAKER_TURN);
		HOLDS(row, lease == 0);
	}
	EQUAL(row, breaker_enter(breaker, now, &lease, &view), BREAKER_HELD);
	HOLDS(row, lease == 0);
	EQUAL(row, view.state, BREAKER_RECOVERING);
	HOLDS(row, view.next > 0 && view.next <= RAMP_STEP);
	EQUAL(row, breaker_look(breaker, now).next, view.next);
}

/* All turns of a step are taken and succeed: the rate grows. */
static void
check_step(struct breaker *breaker, int64_t rate, nanos end)
{
	EQUAL("rate", breaker_look(breaker, end).rate,
	    rate * (NANOS_SECOND / RAMP_STEP));
	check_turns("step", breaker, rate, end);
	for (int64_t i = 0; i < rate; i++)
		breaker_tell(breaker, &usual, RESULT_SUCCESS, end, end);
}

TEST(a_recovery_admits_at_its_rate)
{
	const nanos began = SECONDS(20);
	struct breaker breaker = recovering(began);
	nanos end = began;

	check_turns("first", &breaker, LEAST, began);
	check_turns(
	    "same step", &breaker, FIRST - LEAST, began + RAMP_STEP - 1);
	check_turns("second", &breaker, LEAST, began + RAMP_STEP);
	breaker = recovering(began);
	for (int64_t rate = FIRST; rate <= 16 * FIRST; rate = GROWN(rate)) {
		end += RAMP_STEP;
		check_step(&breaker, rate, end - 1);
	}
	/* In the next step the first turns are available at once. */
	breaker = recovering(began);
	check_step(&breaker, FIRST, began + RAMP_STEP - 1);
	check_turns("at once", &breaker, LEAST, began + RAMP_STEP);
}

TEST(a_recovery_opens_only_at_the_first_rate)
{
	const nanos began = SECONDS(20);
	struct breaker breaker = recovering(began);
	nanos now = began + RAMP_STEP - NANOS_MS;

	for (int64_t rate = FIRST; rate <= 4 * FIRST; rate = GROWN(rate)) {
		check_step(&breaker, rate, now);
		now += RAMP_STEP;
	}
	now -= RAMP_STEP;
	for (int64_t i = 1; i <= 2 * usual.failures; i++) {
		breaker_tell(&breaker, &usual, RESULT_FAILURE, now, now);
		EQUAL("fast", breaker_look(&breaker, now).state,
		    BREAKER_RECOVERING);
		EQUAL("fast", breaker_look(&breaker, now).failures, i);
	}
	while (breaker_look(&breaker, now).rate > SLOW) {
		for (int i = 0; i < 8; i++)
			breaker_tell(
			    &breaker, &usual, RESULT_FAILURE, now, now);
		EQUAL("slower", breaker_look(&breaker, now).state,
		    BREAKER_RECOVERING);
		now += RAMP_STEP;
	}
	breaker_tell(&breaker, &usual, RESULT_FAILURE, now, now);
	EQUAL("slow", breaker_look(&breaker, now).state, BREAKER_OPEN);
	EQUAL("slow", breaker_look(&breaker, now).next, usual.pause);
}

/* Only a recovery has a rate, and not that of an earlier one. */
TEST(the_rate_is_that_of_this_recovery)
{
	const nanos began = SECONDS(20), again = SECONDS(60);
	struct breaker breaker = recovering(began);
	uint64_t lease, rate;

	check_turns("first", &breaker, LEAST, began);
	for (int i = 0; i < 3; i++)
		breaker_tell(&breaker, &usual, RESULT_FAILURE, began, began);
	EQUAL("open", breaker_look(&breaker, began).rate, 0);
	rate = breaker.rate;
	breaker_tell(&breaker, &usual, RESULT_FAILURE, began, began);
	breaker_tell(&breaker, &usual, RESULT_SUCCESS, began, began);
	EQUAL("due", entered(&breaker, again, &lease), BREAKER_PROBE);
	breaker_tell(&breaker, &usual, RESULT_FAILURE, again, again);
	breaker_tell(&breaker, &usual, RESULT_SUCCESS, again, again);
	HOLDS("others", breaker.rate == rate);
	breaker_probed(&breaker, &usual, RESULT_HEALTHY, lease, 0, again);
	HOLDS("begins", breaker.rate == rate);
	check_turns("second", &breaker, LEAST, again);
	/* A process that read the clock in the first one finds the second. */
	EQUAL("late", entered(&breaker, began, &lease), BREAKER_HELD);
	EQUAL("late", breaker_look(&breaker, began).next,
	    again + RAMP_STEP / FIRST - began);
}

/* Without attempts but its probe, it closes. */
static nanos
check_end(const char *row, struct breaker *breaker, nanos now)
{
	uint64_t lease;

	for (int i = 0; i < 4 && breaker->word >> 62 == BREAKER_RECOVERING;
	     i++) {
		now += QUIET + 2 * RAMP_STEP + breaker_look(breaker, now).next;
		if (i == 0 && entered(breaker, now, &lease) == BREAKER_TURN)
			breaker_tell(breaker, &usual, RESULT_SUCCESS, now, now);
		else
			EQUAL(
			    row, entered(breaker, now, &lease), BREAKER_PASSED);
	}
	EQUAL(row, (int64_t)(breaker->word >> 62), BREAKER_CLOSED);
	return now;
}

/* Whatever the words contain: no attempt waits for ever, and it recovers. */
static void
check_healing(const char *row, struct breaker breaker, nanos now)
{
	const nanos most = BREAKER_PAUSE_MOST + NANOS_MINUTE;
	struct breaker_view view = breaker_look(&breaker, now);
	enum breaker_pass due = view.state == BREAKER_CLOSED ? BREAKER_PASSED
	    : view.rate > 0                                  ? BREAKER_TURN
							     : BREAKER_PROBE;
	uint64_t lease;
	enum breaker_pass pass;
	nanos began;

	HOLDS(row, view.next >= 0 && view.failures >= 0);
	HOLDS(row, view.next <= most);
	HOLDS(row, (view.rate > 0) == (view.state == BREAKER_RECOVERING));
	pass = entered(&breaker, now, &lease);
	HOLDS(row, (pass == BREAKER_HELD) == (view.next > 0));
	if (pass == BREAKER_HELD) {
		now += view.next;
		pass = entered(&breaker, now, &lease);
	}
	/* The recovery may be over by then. */
	HOLDS(row,
	    pass == due || (due == BREAKER_TURN && pass == BREAKER_PASSED));
	if (pass == BREAKER_PROBE) {
		breaker_probed(&breaker, &usual, RESULT_FAILURE, lease, 0, now);
		now += breaker_look(&breaker, now).next;
		HOLDS(row, entered(&breaker, now, &lease) == BREAKER_PROBE);
		breaker_probed(&breaker, &usual, RESULT_HEALTHY, lease, 0, now);
		EQUAL(row, breaker_look(&breaker, now).failures, 0);
	}
	now = check_end(row, &breaker, now);
	/* Results of attempts that begin from here on count. */
	began = (nanos)(breaker.word % (UINT64_C(1) << 40)) * NANOS_MS;
	if (now < began)
		now = began;
	breaker_tell(&breaker, &usual, RESULT_SUCCESS, now, now);
	for (int i = 0; i < 2; i++)
		breaker_tell(&breaker, &usual, RESULT_FAILURE, now, now);
	EQUAL(row, entered(&breaker, now, &lease), BREAKER_PASSED);
	breaker_tell(&breaker, &usual, RESULT_FAILURE, now, now);
	EQUAL(row, breaker_look(&breaker, now).state, BREAKER_OPEN);
	EQUAL(row, breaker_look(&breaker, now).failures, 3);
}

TEST(corner_words_heal)
{
	const uint64_t ms[] = { 0, 1, 86399999, 86400000, 86460000, 86460001,
		86460002, (UINT64_C(1) << 40) - 1 };
	const uint64_t streaks[] = { 0, 1, UINT32_MAX, UINT64_MAX,
		UINT64_C(1023) << 32 };
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

TEST(random_words_heal)
{
	uint64_t seed = 1;
	nanos held = 0;

	for (int i = 0; i < 20000; i++) {
		struct breaker breaker = { random_draw(&seed),
			random_draw(&seed), random_draw(&seed) };
		nanos now = (nanos)(random_draw(&seed) % (365 * NANOS_DAY));

		held += breaker_look(&breaker, now).next > 0;
		check_healing("random", breaker, now);
	}
	/* A pause of up to a day, of 34 years: it hardly ever denies. */
	HOLDS("random", held < 20);
}
