/*
 * breaker: actions of several processes, one after the other, and what the
 * breaker looks like after each. Actions at the same time are breaker_check's.
 */
#include "unit.h"
#include "script.h"
#include "budget/breaker.h"
#include "budget/ramp.h"
#include "text/random.h"

#define LEAST RAMP_LEAST
#define QUIET (RAMP_QUIET * RAMP_STEP) /* then the recovery is over */
/* RAMP_FIRST as attempts per second. */
#define SLOW (RAMP_FIRST * NANOS_SECOND / RAMP_STEP)

/* Opens after three failures, for 10 s, 20 s, and then 35 s. */
static const struct breaker_config usual = { 3, SECONDS(10), SECONDS(35) };

/*
 * A time, a process, what it does, perhaps how often ("x3"), and what holds
 * then: the state, the failures, and how long until an attempt may be admitted,
 * if it is not now; "word STATE:SEQ:MS:SLOWDOWN", "streak
 * SEQ:DOUBLINGS:FAILURES". A time holds until the next one, and so does the
 * rate of a recovery, which is RAMP_FIRST at first. N has no breaker; F opens
 * it after five failures, for 2 s, and S for 60 s, and then 100 s.
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
	       "open 3 7s, 4s B aborts open 3 6s, B probe-fails, B probe-heals "
	       "word 1:1:10000 streak 0:0:3, 10s A enters probe half-open 3 "
	       "3s, B fails half-open 3 3s, B succeeds half-open 3 3s",
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
	HEALED "20s B looks closed 0, B fails, B fails closed 2, B succeeds closed 0, "
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
	PROBED "12.999s B enters held half-open 3 0.001s, 13s B looks half-open 3, B "
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
	OPENED "10.0000005s A enters probe half-open 3 3.0009995s, A probe-aborts "
	       "open 3, B enters probe half-open 3 3.0009995s, 11s A probe-aborts "
	       "half-open 3 2.001s, B probe-fails open 4 20s",
	/* A recovery begins at once. */
	OPENED "10.0000005s A enters probe, A probe-heals recovering 0, B "
	       "enters turn recovering 0",
	/* With a clock that is behind, all comes later. */
	PROBED "8s A enters held half-open 3 5s, A renews yes half-open 3 3s, "
	       "9s A probe-fails open 4 20s, 28s A enters held open 4 1s",
	/* The words, which another version of the program reads, too. */
	"A succeeds closed 0 word 0:0:0 streak 0:0:0, A enters passed word "
	"0:0:0, A fails x3 open 3 10s word 1:1:10000 streak 0:0:3, 10s A "
	"enters probe word 2:2:13000, 11s A renews yes word 2:3:14000, 12s A "
	"probe-fails open 4 20s word 1:4:32000 streak 0:1:4, 32s A enters "
	"probe, 33s A probe-aborts word 1:6:0, A enters probe, 34s A "
	"probe-heals word 3:8:34000, 50s A enters passed word 0:9:34000, 51s A "
	"fails closed 1 word 0:9:34000 streak 9:0:1, A succeeds closed 0 word "
	"0:10:34000",
	/* The slowdown is set when the recovery begins, and stays until the
	   next one. */
	OPENED "10s A enters probe, A probe-heals-48 recovering 0 word "
	       "3:3:10000:3, A enters turn x4 recovering 0 66666666ns, "
	       "10.799999999s A fails recovering 1, A succeeds recovering 0 "
	       "word 3:4:10000:3, A enters turn x8, A enters held recovering 0 "
	       "1ns, 12.399999999s A enters turn, 60s A enters passed closed 0 "
	       "word 0:5:10000:3, 70s A fails x3 open 3 10s, 80s A enters "
	       "probe, A probe-heals recovering 0",
	/* A recovery admits at its rate, which grows if all goes well. */
	HEALED "A enters turn x4, A enters held recovering 0 16666666ns, "
	       "12.199999999s A enters turn x8, A enters held recovering 0 1ns, 12.2s "
	       "A enters turn x4, A enters held recovering 0 16666666ns",
	HEALED "12.199s A enters turn x12, A succeeds x12 recovering 0 1ms, "
	       "12.2s A looks rate 90, A enters turn x4, A enters held "
	       "recovering 0 11111111ns, 12.399s A enters turn x14, A succeeds "
	       "x18, 12.4s A looks rate 135",
	/* It opens only at the first rate. */
	HEALED "12.199s A enters turn x12, A succeeds x12, 12.2s A fails x6 rate 90 "
	       "recovering 6, 12.4s A looks rate 45 recovering 6, A fails open 7 10s",
	/* Only a recovery has a rate, and not that of an earlier one. A process
	   that read the clock in the first one finds the second. */
	HEALED "A enters turn x4, A enters held, A fails x3 open 3 10s, B "
	       "fails, B succeeds, 52s A enters probe, B fails, B succeeds, A "
	       "probe-heals recovering 0, A enters turn x4, A enters held, 12s "
	       "A enters held recovering 0 40016666666ns",
	/* Processes share the words, and not their configuration. */
	"N fails x20 closed 20, F fails open 21 2s, 2s S enters probe, S "
	"probe-fails open 22 100s, 102s F enters probe, F probe-fails open 23 "
	"2s",
	/* A success without a breaker ends the streak for all. */
	"F fails x4 closed 4, N succeeds closed 0, F fails closed 1",
	/* After 34 years it denies nothing any more. */
	"9223372036.854775807s A fails x3 open 3 word 1:1:1099511627775, A "
	"enters probe, A renews yes, A probe-heals, A enters passed",
};

/* What a process does; a failure comes late if the attempt began at 0. */
static const struct {
	char name[16];
	enum attempt_result result;
	bool late, probe;
	int64_t hosts;
} results[] = {
	{ "succeeds", RESULT_SUCCESS, false, false, 0 },
	{ "answers", RESULT_HEALTHY, false, false, 0 }, /* is not retried */
	{ "fails", RESULT_FAILURE, false, false, 0 },
	{ "aborts", RESULT_IGNORED, false, false, 0 },
	{ "succeeds-late", RESULT_SUCCESS, true, false, 0 },
	{ "fails-late", RESULT_FAILURE, true, false, 0 },
	/* With the lease that it has, or had. */
	{ "probe-heals", RESULT_HEALTHY, true, true, 0 },
	{ "probe-heals-48", RESULT_HEALTHY, true, true, 48 },
	{ "probe-fails", RESULT_FAILURE, true, true, 0 },
	{ "probe-aborts", RESULT_IGNORED, true, true, 0 },
};

/* A breaker, and the processes that use it. */
struct world {
	struct breaker breaker;
	uint64_t leases[26];
	nanos now;
	int64_t rate; /* of a recovery */
};

static bool check_view(struct script *script, const struct breaker_view *view, int64_t rate) {
	static const char states[][12] = {
		[BREAKER_CLOSED] = "closed",
		[BREAKER_OPEN] = "open",
		[BREAKER_HALF_OPEN] = "half-open",
		[BREAKER_RECOVERING] = "recovering",
	};
	const char *row = script->rest;
	struct script ahead;

	for (int state = 0; state < 4; state++) {
		if (!script_is(script, states[state]))
			continue;
		EQUAL(row, view->state, state);
		EQUAL(row, view->failures, script_number(script));
		EQUAL(row, view->rate, state == BREAKER_RECOVERING ? rate : 0);
		ahead = *script;
		script_next(&ahead);
		EQUAL(row, view->next,
		    ahead.word[0] >= '0' && ahead.word[0] <= '9' ? script_span(script) : 0);
		return true;
	}
	return false;
}

static void act(struct script *script, struct world *world) {
	static const char passes[][8] = {
		[BREAKER_PASSED] = "passed",
		[BREAKER_PROBE] = "probe",
		[BREAKER_TURN] = "turn",
		[BREAKER_HELD] = "held",
	};
	static const struct breaker_config none = { 0, 0, 0 };
	static const struct breaker_config five = { 5, SECONDS(2), 0 };
	static const struct breaker_config slow = { 9, SECONDS(60), SECONDS(100) };
	char who = script->word[0];
	const struct breaker_config *config = who == 'N' ? &none
	    : who == 'F'                                 ? &five
	    : who == 'S'                                 ? &slow
							 : &usual;
	struct breaker *breaker = &world->breaker;
	uint64_t *lease = &world->leases[who - 'A'], got = *lease;
	const char *row = script->rest;
	struct breaker_view view;
	struct script ahead;

	script_next(script);
	if (script_is(script, "looks"))
		return;
	if (!script_is(script, "enters") && !script_is(script, "renews")) {
		int i = SCRIPT_NAME(script, results);

		if (!results[i].probe)
			breaker_tell(breaker, config, results[i].result,
			    results[i].late ? 0 : world->now, world->now);
		else
			breaker_probed(breaker, config, results[i].result, *lease, results[i].hosts,
			    world->now);
		if (results[i].result == RESULT_HEALTHY && results[i].probe)
			world->rate = results[i].hosts == 48 ? SLOW / 4 : SLOW;
		return;
	}
	if (script_is(script, "renews")) {
		breaker_renew(breaker, &got, world->now);
		script_next(script);
		SAME(row, got != 0 ? "yes" : "no", script->word);
	} else {
		got = 1;
		script_next(script);
		SAME(row, passes[breaker_enter(breaker, world->now, &got, &view)], script->word);
		HOLDS(row, (got != 0) == script_is(script, "probe"));
		ahead = *script;
		script_next(&ahead);
		if (script_is(script, "held"))
			check_view(&ahead, &view, world->rate);
	}
	HOLDS(row, got == 0 || got == breaker->word);
	/* It keeps a lost lease, to try it. */
	if (got != 0)
		*lease = got;
}

/* What holds after an action. */
static void check_fact(struct script *script, struct world *world) {
	const struct breaker *breaker = &world->breaker;
	struct breaker_view view = breaker_look(breaker, world->now);
	const char *row = script->rest;
	uint64_t a = 0, b = 0, c = 0, slowdown = 0;
	bool word = script_is(script, "word");

	if (check_view(script, &view, world->rate))
		return;
	if (script_is(script, "rate")) {
		world->rate = script_number(script);
		EQUAL(row, view.rate, world->rate);
		return;
	}
	if (!word && !script_is(script, "streak"))
		script_refuse(script);
	script_next(script);
	sscanf(script->word, "%" SCNu64 ":%" SCNu64 ":%" SCNu64 ":%" SCNu64, &a, &b, &c, &slowdown);
	if (word)
		HOLDS(row, breaker->word == (a << 62 | slowdown << 59 | b << 40 | c));
	else
		HOLDS(row, breaker->streak == (a << 42 | b << 32 | c));
}

TEST_ROWS(scripts) {
	struct scene scene = { .script = script_of(row) };
	struct world world = { .now = 0 };

	while (scene_next(&scene)) {
		world.now = scene.now;
		if (scene.script.word[1] == '\0')
			act(&scene.script, &world);
		else
			check_fact(&scene.script, &world);
	}
}

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

	return breaker_enter(breaker, now, lease, &view);
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
			EQUAL(row, entered(&breaker, now - 1, &lease), BREAKER_HELD);
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

/* Without attempts but its probe, it closes. */
static nanos check_end(const char *row, struct breaker *breaker, nanos now) {
	uint64_t lease;

	for (int i = 0; i < 4 && breaker->word >> 62 == BREAKER_RECOVERING; i++) {
		now += QUIET + 2 * RAMP_STEP + breaker_look(breaker, now).next;
		if (i == 0 && entered(breaker, now, &lease) == BREAKER_TURN)
			breaker_tell(breaker, &usual, RESULT_SUCCESS, now, now);
		else
			EQUAL(row, entered(breaker, now, &lease), BREAKER_PASSED);
	}
	EQUAL(row, (int64_t)(breaker->word >> 62), BREAKER_CLOSED);
	return now;
}

/* Whatever the words contain: no attempt waits for ever, and it recovers. */
static void check_healing(const char *row, struct breaker breaker, nanos now) {
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
	HOLDS(row, pass == due || (due == BREAKER_TURN && pass == BREAKER_PASSED));
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
