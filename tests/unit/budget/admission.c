/*
 * Covers budget/breaker.
 *
 * admission: which attempts may begin, what is counted, and what results
 * change, with a segment in memory; and so all that its breaker does.
 */
#include "unit.h"
#include "script.h"
#include "budget/admission.h"
#include "text/number.h"

static struct caller caller_of(const struct budget_config *config) {
	return (struct caller){ .config = config, .uses_breaker = true };
}

/* What an invocation is given by its letter; the last row is for all others. */
static const struct {
	const char *letters;
	struct budget_config config;
} kinds[] = {
#define ALL .key = "api", .terms = { -1, -1, -1 }
/* Opens after so many failures, for 10 s, 20 s, and then 35 s. */
#define BREAKER(failures) .breaker = { failures, SECONDS(10), SECONDS(35) }
	{ "UVFGHL", { ALL } },
	{ "J", { ALL, .cooldown = SECONDS(5) } },
	{ "KM", { ALL, BREAKER(1) } },
	{ "P", { ALL, .cooldown = SECONDS(5), BREAKER(3) } },
	{ "Q", { ALL, BREAKER(20) } },
	{ "E", { ALL, .breaker = { 5, SECONDS(2), 0 } } },
	{ "R", { ALL, .breaker = { 9, SECONDS(60), SECONDS(100) } } },
	{ "S", { ALL, .cooldown = SECONDS(1) } },
	{ "T", { ALL, .wait = SECONDS(60) } },
	{ "O", { .key = "api", .terms = { 400000, 4, SECONDS(30) } } },
	{ "WX", { ALL, .wait = SECONDS(60), BREAKER(3) } },
	{ "", { ALL, BREAKER(3) } },
};

/*
 * Scenes: "10s A retry held 3s by=open, B first granted retries=0"
 *
 * A time holds until the next one. A capital letter is an invocation, a small one a new
 * invocation each time; U and V have no breaker, I does not ask it, O has other limits, P pauses
 * after a denial, W and X wait for admission, all others have a breaker, with other pauses for E
 * and R; the first attempts of Y and Z have been counted; the S pauses for a second after a
 * denial, T waits. F to L are in a fleet: J pauses after a denial, K and M open the breaker by
 * one failure, and L has other limits for the fleet. What they do is followed by what the budget
 * answers, and by what then holds for the invocation ("leased", "!waits"), for the segment
 * ("retries=2"), and for the question to the fleet ("told=3"). "0/2:" in front is the ratio and
 * the minimum of the segment.
 */

/* What the server's clock shows when the segment is made. */
#define SERVER SECONDS(1700000000)

struct world {
	struct segment segment;
	struct caller callers[26], *caller;
	struct fleet_caller fleets[26];
	bool granted; /* the fleet has granted the next retry */
	struct admission admission; /* the last answer */
	struct terms terms; /* in force at the last visit */
	bool differs; /* from the user's */
	int64_t used; /* retries, as the scene has noted */
	nanos now;
};

/* As budget_client_visit() makes it. */
static struct visit visit_of(struct world *world, struct caller *caller) {
	struct segment *segment = &world->segment;
	struct visit visit;

	world->terms =
	    segment_agree(segment, &segment->header, &caller->config->terms, &world->differs);
	visit = (struct visit){ .caller = caller,
		.segment = segment,
		.header = &segment->header,
		.terms = world->terms,
		.now = world->now,
		.age = segment_age(&segment->header, world->now) };
	visit.next = window_next(&segment->window, &world->terms, segment->header.slice, visit.age,
	    &visit.sums);
	return visit;
}

static struct caller invocation(char letter) {
	size_t i = 0;
	struct caller caller;

	while (i + 1 < LENGTH(kinds) && strchr(kinds[i].letters, letter) == NULL) i++;
	caller = caller_of(&kinds[i].config);
	caller.uses_breaker = letter != 'I';
	caller.counted = letter >= 'Y';
	return caller;
}

/* Makes an invocation one of a fleet. */
static void join(struct world *world, char letter) {
	static const struct fleet_config configs[] = {
		{ .terms = { 0, 100, SECONDS(60) }, .timeout = NANOS_SECOND / 4, .alone = -1 },
		{ .terms = { 200000, 7, SECONDS(60) }, .timeout = NANOS_SECOND / 4, .alone = -1 },
	};
	struct fleet_caller *fleet = &world->fleets[letter - 'A'];

	*fleet = (struct fleet_caller){ .config = &configs[letter == 'L'],
		.key = "api",
		.slice = SECONDS(1),
		.random = UINT64_C(1) << 63 };
	world->callers[letter - 'A'].fleet = fleet;
}

/* What becomes of a question to the fleet. False: the word says something else. */
static bool settles(struct world *world, struct script *script) {
	static const struct {
		const char *word;
		enum fleet_code code;
	} outcomes[] = {
		{ "gets", FLEET_DENIED }, /* so many retries */
		{ "sent", FLEET_SENT },
		{ "misses", FLEET_SILENT },
		{ "cut", FLEET_CUT },
		{ "stale", FLEET_SILENT },
	};
	struct fleet_host *host = &world->segment.fleet;
	struct fleet_caller *fleet = world->caller->fleet;
	struct fleet_answer answer = { .retries = 98,
		.limit = 100,
		.next = SECONDS(1),
		.pause = SECONDS(2),
		.now = SERVER + world->now,
		.hosts = 50 };
	bool no = script->word[0] == '!';

	if (script_is(script, "greets"))
		fleet_host_claim(host, &world->segment.window, fleet, world->now);
	else if (strcmp(script->word + no, "claims") == 0) {
		fleet_host_claim(host, &world->segment.window, fleet, world->now);
		EQUAL(script->rest, fleet->question.count > 0, !no);
	} else if (script_is(script, "has-grant"))
		world->granted = true;
	else {
		size_t i = 0;

		while (i < LENGTH(outcomes) && !script_is(script, outcomes[i].word)) i++;
		if (i == LENGTH(outcomes))
			return false;
		answer.code = outcomes[i].code;
		if (script_is(script, "stale"))
			answer.now = SERVER + NANOS_SECOND / 10;
		else if (!script_is(script, "gets"))
			answer.now = 0;
		else if (script_number(script) > 0)
			answer.code = FLEET_GRANTED;
		else if (!fleet->question.wants)
			answer.code = FLEET_NOTED;
		fleet_host_store(host, fleet, &answer, world->now);
		world->granted = answer.code == FLEET_GRANTED;
	}
	return true;
}

/* What an invocation does. False: the word says something else. */
static bool acts(struct world *world, struct script *script) {
	static const struct {
		const char *word;
		enum attempt_result result;
		bool completed;
		bool rescued;
		enum pace_event_kind pace;
		nanos wait;
	} ends[] = {
		{ "succeeds", RESULT_SUCCESS, true, false, PACE_SERVED, 0 },
		{ "is-rescued", RESULT_SUCCESS, true, true, PACE_SERVED, 0 },
		{ "repeats", RESULT_SUCCESS, false, false, PACE_SERVED, 0 },
		{ "answers", RESULT_HEALTHY, false, false, PACE_SERVED, 0 },
		{ "fails", RESULT_FAILURE, false, false, PACE_UNKNOWN, 0 },
		{ "aborts", RESULT_IGNORED, false, false, PACE_UNKNOWN, 0 },
		/* A 503 and a 429 with a Retry-After, one that is short, and one without. */
		{ "is-put-off", RESULT_FAILURE, false, false, PACE_REFUSED, SECONDS(5) },
		{ "is-limited", RESULT_LIMIT, false, false, PACE_REFUSED, SECONDS(5) },
		{ "is-slowed", RESULT_LIMIT, false, false, PACE_REFUSED, NANOS_SECOND / 10 },
		{ "is-refused", RESULT_LIMIT, false, false, PACE_REFUSED, 0 },
	};
	struct caller *caller = world->caller;
	struct visit here = visit_of(world, caller);
	struct admission foreseen = { .answer = ADMISSION_GRANTED };

	for (size_t i = 0; i < LENGTH(ends); i++)
		if (script_is(script, ends[i].word)) {
			/* An attempt of which the scene does not tell the begin. */
			if (caller->attempt.began == 0)
				caller->attempt.began = number_add(here.age, 1);
			foreseen = admission_tell(&here,
			    &(struct attempt_end){ .result = ends[i].result,
				.completed = ends[i].completed,
				.rescued = ends[i].rescued,
				.pace = ends[i].pace,
				.wait = ends[i].wait,
				.own = ends[i].wait,
				.delay = ends[i].result == RESULT_LIMIT ? 0 : -1 });
			/* The server has invited a retry after its limit. */
			EQUAL(script->rest, foreseen.answer, ADMISSION_GRANTED);
			return true;
		}
	if (script_is(script, "retry") || script_is(script, "first")) {
		static const char answers[][10] = {
			[ADMISSION_GRANTED] = "granted",
			[ADMISSION_BREAKER] = "held",
			[ADMISSION_CLOSED] = "throttled",
			[ADMISSION_PACE] = "paced",
			[ADMISSION_RATE] = "crowded",
			[ADMISSION_BUDGET] = "denied",
			[ADMISSION_PENDING] = "open",
		};
		const char *row = script->rest;
		bool retry = script_is(script, "retry");

		world->admission = admission_ask(&here, retry, world->granted);
		world->granted = false;
		script_next(script);
		EQUAL(row, world->admission.answer, SCRIPT_NAME(script, answers));
		EQUAL(row, world->admission.breaker.rate > 0,
		    world->admission.breaker.state == BREAKER_RECOVERING);
		EQUAL(row, world->admission.terms.min, world->terms.min);
		EQUAL(row, world->admission.terms.ratio, world->terms.ratio);
	} else if (script_is(script, "foresees-grant") || script_is(script, "foresees-denial")) {
		bool grant = script_is(script, "foresees-grant");

		struct attempt_end end = { .result = RESULT_IGNORED };

		/* With the end of its attempt, or when that was told. */
		end.delay = script_span(script);
		world->admission = caller->counted ? admission_foresee(&here, end.delay)
						   : admission_tell(&here, &end);
		EQUAL(script->rest, world->admission.answer,
		    grant ? ADMISSION_GRANTED : ADMISSION_BUDGET);
	} else if (script_is(script, "renews"))
		admission_renew(&here);
	else if (script_is(script, "looks"))
		HOLDS("sound", here.next >= 0);
	else
		return caller->fleet != NULL && settles(world, script);
	return true;
}

/* What is done to an invocation or to the segment. False: as above. */
static bool disturbs(struct world *world, struct script *script) {
	struct segment *segment = &world->segment;

	if (script_is(script, "opens"))
		for (int i = 0; i < 3; i++) {
			struct caller other = invocation('Z');
			struct visit here = visit_of(world, &other);

			admission_tell(&here,
			    &(struct attempt_end){ .result = RESULT_FAILURE, .delay = -1 });
		}
	else if (script_is(script, "pauses"))
		segment->cooldown = (uint64_t)(world->now + SECONDS(2));
	else if (script_is(script, "used"))
		world->used = (int64_t)segment->totals[TOTAL_RETRIES];
	else if (script_is(script, "loses-lease"))
		world->caller->lost_lease = true;
	else if (script_is(script, "has-old-lease"))
		world->caller->lease = 7;
	else if (script_is(script, "paused-until"))
		segment->cooldown = (uint64_t)script_span(script);
	else if (script_is(script, "waited-at"))
		segment->waiting = (uint64_t)script_span(script);
	else if (script_is(script, "others-retry"))
		for (int64_t i = script_number(script); i > 0; i--)
			window_withdraw(&segment->window, &(struct terms){ 0, 1000, 0 },
			    world->now / SECONDS(1), &world->admission.sums);
	else
		return false;
	return true;
}

#define STATES "closed open half-open recovering"
#define DECISIONS "unasked granted denied alone waits asks"

/* What is true of the invocation, of the segment, or of the last answer. */
static void check_fact(struct world *world, struct script *script) {
	const struct caller *caller = world->caller;
	struct segment *segment = &world->segment;
	const struct admission *admission = &world->admission;
	struct breaker_view view = breaker_look(&segment->breaker, world->now);
	struct fleet_question question = { .count = 0 };
	struct fleet_row told = { .age = 0 };
	struct window_sums sums;
	int64_t retries = (int64_t)segment->totals[TOTAL_RETRIES];
	uint64_t word = segment->breaker.word, streak = segment->breaker.streak;
	int granted, refused;

	window_next(&segment->window, &world->terms, segment->header.slice,
	    segment_age(&segment->header, world->now), &sums);
	if (caller->fleet != NULL)
		question = caller->fleet->question;
	for (size_t i = 0; i < question.count; i++) {
		told.successes += question.told[i].successes;
		told.alone += question.told[i].alone;
		told.rescued += question.told[i].rescued;
	}
	const struct script_fact facts[] = { FACT("leased", caller->lease != 0),
		FACT("waits", caller->waits), FACT("lost", caller->lost_lease),
		FACT("differs", world->differs), FACT("counted", caller->counted),
		FACT("never", admission->never), FACT("cooling", admission->cooling),
		FACT("silent", admission->fleet.silent), FACT("retries", sums.retries),
		FACT("retries", retries), FACT("admitted", retries), FACT("paid", sums.successes),
		FACT("refused", (int64_t)segment->totals[TOTAL_DENIED]),
		FACT("throttled", (int64_t)segment->totals[TOTAL_THROTTLED]),
		FACT("limited", (int64_t)segment->totals[TOTAL_LIMITED]),
		FACT("rescued", (int64_t)segment->totals[TOTAL_RESCUED]),
		FACT("firsts", (int64_t)segment->totals[TOTAL_FIRSTS]),
		FACT("successes", (int64_t)segment->totals[TOTAL_SUCCESSES]),
		FACT("probes", (int64_t)segment->totals[TOTAL_PROBES]),
		FACT("turns", (int64_t)segment->totals[TOTAL_TURNS]),
		FACT("pause", (int64_t)segment->cooldown),
		FACT("waiting", (int64_t)segment->waiting), FACT("failures", view.failures),
		FACT("next", view.next), { "state", view.state, STATES },
		/* The words of the breaker, which other versions of the program read. */
		{ "word", (int64_t)(word >> 62), STATES }, FACT("slowdown", word >> 59 & 7),
		FACT("seq", word >> 40 & 0x7ffff), FACT("until", (word & 0xffffffffff) * NANOS_MS),
		FACT("streak-seq", (int64_t)(streak >> 42)), FACT("doublings", streak >> 32 & 1023),
		{ "by", admission->breaker.state, STATES },
		FACT("by-failures", admission->breaker.failures),
		FACT("by-next", admission->breaker.next),
		FACT("nap", admission_nap(caller, world->now)), FACT("min", world->terms.min),
		FACT("ratio", world->terms.ratio), FACT("window", world->terms.window),
		FACT("seen-retries", admission->sums.retries),
		FACT("seen-successes", admission->sums.successes), FACT("rate", view.rate),
		{ "fleet", admission->fleet.decision, DECISIONS },
		FACT("share", admission->fleet.share), FACT("hosts", admission->view.hosts),
		FACT("fleet-retries", admission->view.retries),
		FACT("fleet-limit", admission->view.limit), FACT("wants", question.wants),
		FACT("asks-min", question.terms.min), FACT("asks-window", question.terms.window),
		FACT("asks-first", question.first),
		FACT("clock", question.by > SERVER ? question.by - SERVER : question.by),
		FACT("rows", (int64_t)question.count), FACT("told", told.successes),
		FACT("told-alone", told.alone), FACT("told-rescued", told.rescued),
		FACT("age", question.told[0].age) };

	/* "counts=2/1": two retries, one was refused, and nothing else. */
	if (sscanf(script->word, "counts=%d/%d", &granted, &refused) == 2) {
		EQUAL(script->rest, sums.retries - world->used, granted);
		EQUAL(script->rest, retries - world->used, granted);
		EQUAL(script->rest, (int64_t)segment->totals[TOTAL_DENIED], refused);
		EQUAL(script->rest,
		    (int64_t)(segment->totals[TOTAL_FIRSTS] + segment->totals[TOTAL_SUCCESSES]), 0);
	} else if (!script_check(script, facts, LENGTH(facts)))
		script_refuse(script);
}

static void play(const char *text) {
	const char *colon = strchr(text, ':');
	struct terms terms = { -1, -1, SECONDS(60) }; /* slices of 1s */
	struct world world = { .now = 0 };
	struct scene scene = { .now = 0 };
	struct script *script = &scene.script;

	for (char c = 'A'; c <= 'Z'; c++) {
		world.callers[c - 'A'] = invocation(c);
		if (c >= 'F' && c <= 'L' && c != 'I')
			join(&world, c);
	}
	world.caller = &world.callers[0];
	if (colon != NULL) {
		terms.ratio = (text[0] - '0') * (int64_t)WINDOW_RATIO_ONE;
		terms.min = strtoll(text + 2, NULL, 10);
		text = colon + 1;
	}
	segment_make(&world.segment, "api", &terms, &(struct origin){ 0 });
	*script = script_of(text);
	while (scene_next(&scene)) {
		char first = script->word[0];
		nanos span;

		world.now = scene.now;
		if (strchr(script->word, '=') != NULL)
			check_fact(&world, script);
		else if (script_is(script, "for-ever"))
			EQUAL(script->rest, world.admission.next, NANOS_MAX);
		else if (duration_parse(script->word, strlen(script->word), &span))
			EQUAL(script->rest, world.admission.next, span);
		else if (script->word[1] == '\0') {
			char letter = (char)(first & ~('a' ^ 'A'));

			world.caller = &world.callers[letter - 'A'];
			if (letter != first)
				*world.caller = invocation(letter);
		} else if (!acts(&world, script) && !disturbs(&world, script))
			check_fact(&world, script);
	}
}

/* A breaker recovers from 10s on. */
#define RECOVERS "opens, 10s Z first granted, Z answers state=recovering, "

static const char *const scenes[] = {
	/* A first attempt costs nothing. */
	"0/0: u first granted x100, counts=0/0",
	/* The slice of the first retry is out of the window, at its longest. */
	"0/2: U retry granted, 1.5s U retry granted seen-retries=2 min=2 ratio=0 window=60s "
	"!differs, 2s counts=2/0, 2.25s U retry denied 58.75s !never !cooling "
	"seen-retries=2, 2s counts=2/1, 61s U retry granted",
	/* An attempt that asks again and again is counted once as denied. */
	"0/0: U retry denied x9, counts=0/1, U first granted, U retry denied, counts=0/2",
	/* Only a success allows a retry, if it pays. */
	"0/0: U retry denied for-ever never, U succeeds, U retry denied",
	"1/0: U retry denied for-ever !never, U succeeds, U retry granted",
	/* A denial begins a pause of its own length, unless there is one. */
	"0/0: P retry denied pause=5s, 1s S retry denied pause=5s, 30s U retry "
	"denied pause=5s, 30s S retry denied pause=31s",
	/* A pause is one for all, whatever the window would grant. A denial
	 * during the pause does not prolong it. */
	"1/0: 1s P retry denied for-ever !cooling, U succeeds, 2s U retry denied 4s cooling "
	"seen-successes=1, U first granted, 5s P retry denied, 6s P retry granted !cooling",

	/* The breaker denies any attempt. */
	"opens, 4s A first held 6s by=open by-failures=3 by-next=6s !leased "
	"!never counts=0/1, B retry held 6s",
	/* It comes first: the window is not asked, and no pause begins. */
	"0/0: opens, 1s p retry held pause=0s, 10s p retry granted pause=0s "
	"counts=0/1 probes=1 turns=0",
	/* If each item of the work fails at first, a first attempt fails as the probe, but the
	 * retry of an item may succeed. So the probe is left to a retry that waits. */
	"opens, 9s W retry held, 9.5s X first held 1.5s, 10s X first held 1s by=open by-failures=3 "
	"!leased, 10.5s W retry granted leased, 10.75s X first held 2.75s by=half-open, 10.8s W "
	"succeeds, 10.9s X first granted probes=1 turns=0",
	"opens, 9s W retry held, 10.5s A retry granted, 13s W retry held, "
	"13.4s X first held 1.6s by=half-open",
	"opens, 9s a retry held waiting=0",
	/* The configured number of failures opens it, of whatever invocations. */
	"1s a fails failures=1, 2s a fails failures=2 state=closed, a first granted, 3s a fails "
	"state=open failures=3 next=10s, 4s a first held 9s by=open by-failures=3",
	"u fails x20 failures=20 state=closed, E fails state=open failures=21 next=2s, 2s R first "
	"granted, R fails failures=22 next=100s, 102s E first granted, E fails failures=23 next=2s",
	/* A success ends the streak, also one without a breaker; a failure that is not retried
	 * does not. */
	"a fails x2, a answers failures=2, a aborts failures=2, a succeeds x2 failures=0, a fails "
	"x2, u succeeds failures=0, a answers failures=0, a fails x2 state=closed, a fails "
	"state=open failures=3",
	/* A late result finds it open. */
	"opens, 1s a fails next=9s, 2s a succeeds next=8s, a answers, a aborts state=open "
	"failures=3 seq=1 until=10s doublings=0, 10s A first granted, b fails failures=3, b "
	"succeeds state=half-open failures=3 next=3s",
	/* One probe, when it is due. */
	"opens, 9.999s a first held 0.001s, 10s state=open next=0s, A first granted leased "
	"state=half-open next=3s, a first held 3s by=half-open by-failures=3, 12s a first held 1s",
	/* Each failed probe doubles the pause. */
	"opens, 10s A first granted A fails state=open failures=4 next=20s, 29.5s a first held "
	"0.5s, 30s A first granted A fails failures=5 next=35s, 65s A first granted A fails "
	"failures=6 next=35s, 100s A first granted, A answers state=recovering failures=0, A first "
	"granted A fails x3 state=open failures=3 next=10s, 110s A first granted A fails next=20s",
	/* Without its lease the result of a probe changes nothing. */
	"a fails x2, B has-old-lease, B fails, B has-old-lease, B answers state=closed failures=2, "
	"B has-old-lease, B renews lost failures=2, a fails, B has-old-lease, B fails next=10s, B "
	"has-old-lease, B answers state=open failures=3",
	"opens, 10s A first granted, 13s B first granted, 16s C first granted, 19s D first "
	"granted, 20s A fails, B answers, C aborts state=half-open failures=3 next=2s, D fails "
	"state=open failures=4 next=20s",
	"opens, 10s A first granted, 13s B first granted, 14s B answers state=recovering, A fails "
	"state=recovering failures=0",
	/* A lease ends by the clock, and counts until another takes it. */
	"opens, 10s A first granted, 12.999s b first held 0.001s by=half-open, 13s state=half-open "
	"next=0s, 90s A renews leased next=3s, 92s b first held 1s, 200s A fails state=open "
	"failures=4 next=20s",
	/* After a probe that is ignored the next is due at once. */
	"opens, 10.0000005s A first granted next=3.0009995s, A aborts state=open next=0s "
	"failures=3, B first granted next=3.0009995s, 11s B fails state=open failures=4 next=20s",
	/* With a clock that is behind, all comes later. */
	"opens, 10s A first granted, 8s b first held 5s by=half-open, A renews leased next=3s, 9s "
	"A fails state=open failures=4 next=20s, 28s b first held 1s",
	/* The words. */
	"a succeeds word=closed seq=0 until=0, a fails x3 word=open seq=1 until=10s streak-seq=0, "
	"10s A first granted word=half-open seq=2 until=13s, 11s A renews seq=3 until=14s, 12s A "
	"fails word=open seq=4 until=32s streak-seq=0 doublings=1, 32s A first granted, 33s A "
	"aborts word=open seq=6 until=0, A first granted, 34s A answers word=recovering seq=8 "
	"until=34s, 50s A first granted word=closed seq=9 until=34s, 51s A fails failures=1 seq=9 "
	"streak-seq=9 doublings=0, A succeeds failures=0 word=closed seq=10 until=34s",
	/* After 34 years it denies nothing any more. */
	"9223372036.854775807s a fails x3 state=open seq=1 until=1099511627.775s, A first granted "
	"leased, A renews leased, A answers, a first granted",

	/* Attempts that do not ask it. */
	"opens, 4s I retry granted, 10s I first granted !leased, 4s u retry "
	"granted, 10s u retry granted counts=3/0 state=open",

	/* The turns of a recovery. */
	"0/4: " RECOVERS "a first granted x4, counts=0/0 probes=0 turns=0, A first held "
	"0.016666666s by=recovering !leased counts=0/1",
	"0/4: " RECOVERS "a retry granted x4, counts=0/0 probes=0 turns=4, A retry held "
	"0.016666666s by=recovering !leased counts=0/1",
	/* It begins at once, and admits at a rate that grows if all goes well. */
	"opens, 10.0000005s A first granted, A answers state=recovering rate=60, a first granted",
	RECOVERS "a first granted x4 next=16666666ns, 10.199999999s a first granted x8 next=1ns, "
		 "10.2s a first granted x4 next=16666666ns",
	RECOVERS
	"10.199s A first granted A succeeds x12 next=1ms, 10.2s rate=90, A first granted A "
	"succeeds x4 next=11111111ns, 10.399s A first granted A succeeds x14, 10.4s rate=135",
	/* It opens as usual, but only at the first rate; a success ends its streak. */
	RECOVERS
	"A first granted A fails x2 failures=2, A first granted A succeeds failures=0, A "
	"first granted A fails failures=1, a answers, a aborts, 10.2s A first granted A fails "
	"state=recovering failures=2, A first granted A fails state=open failures=3 next=10s "
	"rate=0",
	RECOVERS "10.199s A first granted A succeeds x12, 10.2s A fails x6 rate=90 failures=6, "
		 "10.4s rate=45 state=recovering, A fails state=open failures=7 next=10s",
	/* The rate is not that of an earlier one. An invocation that read the clock in that one
	 * finds this one. */
	RECOVERS
	"a first granted x3, A first granted next=16666666ns, A fails x3 state=open, b fails, b "
	"succeeds, 50s A first granted, b fails, b succeeds, A answers state=recovering "
	"failures=0, a first granted x4 next=16666666ns, 10s a first held 40.016666666s",
	/* Without attempts it ends closed, though nobody has written that yet. */
	RECOVERS
	"18s state=closed word=recovering next=0s, U first granted, U fails x2 failures=2, U "
	"succeeds failures=0, U fails failures=1, a first granted failures=0 word=closed, 10s "
	"state=closed",
	RECOVERS "A first granted, B first granted, A succeeds state=recovering, 18s state=closed "
		 "word=recovering, B fails x2 state=closed failures=2, B fails state=open next=10s",
	/* It waits for a result, but not of an attempt from before. */
	"C first granted, " RECOVERS "B first granted, C fails failures=0, 18s state=recovering, B "
	"fails failures=1, 20s state=closed failures=1",
	"C first granted, D first granted, " RECOVERS "18s a first granted word=closed, A first "
	"granted A fails x2, C fails failures=2, D succeeds failures=2, A fails state=open "
	"failures=3",
	/* Results from before it are ignored, also those of a retry, and of an
	 * attempt that did not ask the breaker. */
	"A first granted, " RECOVERS "B first granted, A fails "
	"failures=0, B fails failures=1, A succeeds failures=1 successes=1",
	RECOVERS "9s U retry granted, 10s V retry granted, U fails "
		 "failures=0, V fails failures=1, U succeeds failures=1 successes=1",
	/* After it all is as usual. */
	"0/1: " RECOVERS "30s a retry granted, a retry denied, a first granted x100, "
	"state=closed word=closed counts=1/1 probes=0 turns=0",

	/* A lease is renewed. Stopped for longer than it lasts, an invocation
	 * finds another probe; its next attempt counts again. */
	"A nap=ever, opens, 10s A first granted nap=1s, 11s nap=0s, 12s nap=0s, A renews leased "
	"!lost nap=1s, 14s B first held, 15s B first granted leased, A renews !leased lost "
	"nap=ever, A fails state=half-open failures=3, A first held !lost waits",
	/* A success that has to be repeated is one only for the breaker. */
	"A fails failures=1, A repeats failures=0 successes=0 paid=0, A "
	"succeeds paid=1 successes=1 firsts=1",

	/* A denial is foreseen, after a minute: it begins the pause, and nothing is withdrawn.
	 * Who waits, or has a breaker, does not look ahead. */
	"3s others-retry 9, 60s S foresees-grant 0 refused=0 pause=0s",
	"3s others-retry 10, 60s T foresees-grant 0, A foresees-grant 0 refused=0, S "
	"foresees-denial 0 4s refused=1 pause=61s seen-retries=10 admitted=0",
	"3s others-retry 10, 60s S foresees-denial 3.9s 4s",
	"3s others-retry 10, 60s S fails refused=0 failures=1, S foresees-denial 3.9s 4s refused=1 "
	"firsts=1 failures=1",
	"3s others-retry 10, 60s S foresees-grant 4s",
	/* A success may come again. */
	"3s u succeeds x50, others-retry 10, 60s S foresees-grant 2s, 70s S foresees-grant 0",
	"0/2: 3s u succeeds, others-retry 2, 60s S foresees-denial 2s 4s",
	"3s others-retry 9, 60s paused-until 63s, S foresees-grant 3s pause=63s",
	"3s others-retry 9, 60s paused-until 63.1s, S foresees-denial 3s 3.1s pause=63.1s",

	/* The probe is left to a retry that waited less than 2 s ago. */
	"opens, waited-at 8000000001ns, 10s A first held",
	"opens, waited-at 8s, 10s A first granted",
	"opens, waited-at 11999999999ns, 10s A first held 2s",
	"opens, waited-at 12s, 10s A first granted",
	"opens, waited-at -1ns, 10s A first granted",
	"opens, waited-at -9223372036854775807ns, 10s A first granted",

	/* The result of a probe. */
	"opens, 10s A retry granted leased, B has-old-lease, B first held !leased, A answers "
	"!leased counted state=recovering next=0s, A answers state=recovering",
	"opens, 10s A first granted leased, A fails !leased counted state=open "
	"next=20s, A fails state=open failures=4",
	"opens, 10s A retry granted leased, A aborts !leased counted state=open next=0s",

	/* What the end of an attempt counts as. */
	"Y fails, A succeeds firsts=1 successes=1 paid=1 failures=0 window=60s !differs",
	/* While the key is closed no attempt begins but probes, and nothing is counted for those
	 * that wait; at the named instant it opens. */
	"0/1: 0.001s U is-put-off, 0.011s u first throttled 4.99s throttled=1 firsts=1, a retry "
	"throttled "
	"4.99s !leased throttled=2 refused=0 retries=0, V retry throttled, V retry throttled "
	"throttled=3, 0.03s V retry granted retries=1 throttled=3, V is-put-off, 5.1s u first "
	"granted, "
	"u retry denied refused=1",
	/* What is served opens it. The pace is what was accepted: three in a quarter of a second,
	 * and then a fifth more. */
	"u first granted, u succeeds, u first granted, u succeeds, U first granted, U is-limited, "
	"0.05s V first granted, V is-limited, 0.2s U retry granted limited=1, U succeeds, 0.21s U "
	"first "
	"paced 0.059444444s !waits, 1s U first granted",
	/* A retry after a limit is not counted, and needs no permission; also
	 * not that of a fleet. The limit tells the breaker nothing. */
	"0/0: Y fails, A is-limited failures=1, 5s A retry granted limited=1 "
	"admitted=0 refused=0, A is-limited, 10s A retry granted "
	"limited=2 admitted=0, A fails failures=2, A retry denied",
	"0/0: F is-limited, 5s F retry granted fleet=unasked limited=1",
	/* What becomes free while it lasts is foreseen. */
	"3s others-retry 10, 60s u is-put-off, S foresees-grant 0",
	"0/10: F retry open, F gets 1, u is-put-off, F retry throttled, 5s F retry open fleet=asks",
	/* But the breaker holds it back, and lets it in as its probe. */
	"U is-limited, opens, 5s A is-limited, 10s A retry granted leased probes=1 limited=0, A "
	"is-limited state=open !leased, 15s A retry granted leased limited=0",
	/* If the budget denies a retry, five failures in a row open the
	 * breaker; but not if somebody succeeds, nor if no breaker is asked. */
	"0/0: q fails x4, Q retry denied state=closed, Q fails failures=5, U retry denied "
	"state=closed, q succeeds, Q retry denied state=closed, q fails x5, Q retry denied "
	"state=open failures=5, q first held, 10s Q retry granted leased",
	/* However short the wait is, or without one, a limit is no failure; what is put off is one.
	 */
	"0/0: Y fails, A is-slowed failures=1, 1s A retry granted limited=1",
	"0/0: Y fails, A is-refused failures=1, 1s A retry granted limited=1",
	"0/0: Y fails, A is-put-off failures=2, 5s A retry denied limited=0",
	"U is-rescued rescued=1 successes=1, u succeeds rescued=1",

	/* A retry that succeeds is paid back, and any other one stays counted;
	 * also if more successes in a row are wanted. */
	"0/2: U fails, U retry granted retries=1, U succeeds paid=1, u retry "
	"granted, u fails, 0.5s U retry granted, U repeats, 3s U retry "
	"granted, U answers, U retry denied seen-retries=2 admitted=4",
	"0/1: U retry granted, 30s U succeeds, u retry granted, u retry denied",
	"0/1: U retry granted, U aborts, U retry denied, u succeeds, u retry denied",
	"Y fails, Z succeeds firsts=0 successes=1 paid=1 failures=0",
	"Y fails, Z fails firsts=0 successes=0 paid=0 failures=2",
	"Y fails, A answers firsts=1 successes=0 paid=0 failures=1",
	"Y fails, I fails firsts=1 successes=0 paid=0 failures=1",
	"Y fails, I succeeds firsts=1 successes=1 paid=1 failures=1",
	"Y fails, A loses-lease, A succeeds firsts=1 successes=1 paid=1 failures=1",
	"Y fails, A has-old-lease, A fails firsts=1 successes=0 failures=1",

	/* The stricter of each limit is in force for all; the window stays. */
	"1/5: O retry granted differs ratio=400000 min=4 window=60s, U looks "
	"!differs ratio=400000 min=4",
	"1/5: O fails differs ratio=400000 min=4, U looks ratio=400000 min=4",
	"1/5: O looks differs ratio=400000 min=4, U looks ratio=400000 min=4",

	/* A look changes nothing. */
	"1/9: A looks !differs ratio=1000000 min=9 counts=0/0",

	/* In a fleet a retry needs a grant, and only one. */
	"0/10: F retry open fleet=asks admitted=0 wants=1 asks-min=100 asks-window=60s "
	"asks-first=1 clock=0 rows=0, 0.001s F gets 1, F retry granted fleet=granted admitted=1, "
	"0.002s F retry open fleet=asks asks-first=0 clock=0.254s",
	/* Commands may have other limits; what is known of the server stays. */
	"0/10: F retry open fleet=asks, F gets 1, F retry granted fleet=granted, L retry open "
	"fleet=asks asks-min=7 asks-first=0 clock=0.251s, L misses, F retry granted fleet=alone",
	/* The fleet denies. */
	"0/10: F retry open fleet=asks, G retry open fleet=waits refused=0, 0.001s F gets 0, F "
	"retry denied 2s fleet=denied !silent !never hosts=50 fleet-retries=98 fleet-limit=100, G "
	"retry denied refused=2 admitted=0",
	"0/10: F retry open, F gets 0, F retry denied refused=1, 2s F retry "
	"open, F gets 0, F retry denied refused=1",
	/* A wait ends with a denial; the next one has its whole patience. */
	"0/10: F retry open fleet=asks, G retry open fleet=waits, 0.001s F "
	"gets 0, 0.02s G retry denied fleet=denied, 5s H retry open "
	"fleet=asks, G retry open fleet=waits, 5.24s G retry open fleet=waits",
	/* The window comes first, and may deny what the fleet has granted. */
	"0/1: F retry open, F gets 1, F retry granted, F retry denied "
	"fleet=unasked, F has-grant, F retry denied",
	/* A pause after a denial by the fleet. */
	"0/10: J retry open, J gets 0, J retry denied 5s, 4s J retry denied "
	"cooling fleet=unasked, 5s J retry open fleet=asks",
	/* A probe needs no grant. */
	"0/10: K fails, 1s K retry held fleet=unasked, 10s K retry granted fleet=unasked probes=1",
	/* A recovery is slower for who asks the fleet, if its hosts are known. */
	"0/10: K greets, K gets 0, K fails, 10s K retry granted, K succeeds rate=15 slowdown=3, a "
	"first granted x3, A first granted next=66666666ns, 10.799999999s A fails failures=1, A "
	"succeeds failures=0 word=recovering slowdown=3 seq=4 until=10s, a first granted x8 "
	"next=1ns, 12.399999999s a first granted, 60s A first granted word=closed seq=5 until=10s "
	"slowdown=3, 70s A fails x3 state=open, 80s A first granted, A answers rate=60 slowdown=0",
	"0/10: K greets, K gets 0, M fails, 10s M retry granted, M succeeds rate=60",
	/* Without an answer the host is alone; then the server is told. */
	"0/10: F retry open, 0.25s F misses, F retry granted fleet=alone share=1 admitted=1, "
	"0.251s F retry denied silent, 2s F retry open fleet=asks told-alone=1, F gets 1, F retry "
	"granted, 3s F retry open fleet=asks told-alone=0",
	/* Successes are told once. */
	"0/10: F greets wants=0 rows=0, F gets 0, F succeeds x3, G retry open fleet=asks told=3, "
	"F !claims, 1s F succeeds, F claims told=1, F sent",
	/* The server is told of retries that have succeeded less than 30 slices
	 * after it had granted them, or after the host had made them alone. */
	"0/1: F retry open, F gets 1, F retry granted, 29.999s F repeats, G retry open rows=1 "
	"told-rescued=1 told=0, G misses, G retry granted fleet=alone, G succeeds, 35s H retry "
	"open told-rescued=1 told-alone=1 told=1, H gets 1, H retry granted, 36s H fails, 97s G "
	"retry open told-rescued=0",
	"0/10: F retry open, F gets 1, F retry granted, 30s F succeeds, G retry open told=1 "
	"told-rescued=0",
	"0/10: U retry granted, U succeeds, K fails, 10s K retry granted probes=1, K succeeds, F "
	"retry open told-rescued=0 told=2",
	/* The question and its second try end before their ages are too low. */
	"0/10: F succeeds x3, 1s F retry open fleet=asks told=3 age=1.5s clock=1000, 1.25s F "
	"stale, 5s G retry open fleet=asks clock=4.351s rows=0",
};

/* Budgets that grant no retry, and how they came to that. */
static const char *const empty[][2] = {
	{ "0/0: ", "" },
	{ "1/0: ", "" },
	{ "0/3: ", "u retry granted x3, " },
	{ "0/9: ", "pauses, " },
};

/* Neither a probe nor a turn needs an allowance. The window counts the retry
 * that finds the recovery over, and all later ones. */
static const char *const in_vain[][2] = {
	{ "opens, 10s ",
	    "used, u retry denied, Y retry granted leased !waits, B retry held, Y fails, 29s B "
	    "retry held, 30s B retry granted leased counts=0/2 probes=2 turns=0" },
	{ RECOVERS,
	    "used, u retry denied, a retry granted x4, A retry held 0.016666666s x99, counts=0/2 "
	    "probes=0 turns=4" },
	{ RECOVERS "30s ",
	    "used, u retry denied state=closed word=recovering, A retry denied "
	    "x2, word=closed counts=0/2 probes=0 turns=0" },
};

TEST(scenes) {
	for (size_t i = 0; i < LENGTH(scenes); i++) {
		unit_begin_row(__FILE__, scenes[i]);
		play(scenes[i]);
	}
	for (size_t i = 0; i < LENGTH(empty) * LENGTH(in_vain); i++) {
		const char *const *text = in_vain[i / LENGTH(empty)];
		size_t j = i % LENGTH(empty);
		char scene[512];

		snprintf(scene, sizeof scene, "%s%s%s%s", empty[j][0], text[0], empty[j][1],
		    text[1]);
		unit_begin_row(__FILE__, scene);
		play(scene);
	}
	unit_begin_row(NULL, NULL);
}
