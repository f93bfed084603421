/*
 * fleet_host, used by one process after another: what follows from each answer,
 * and when it ends. Several processes at once are fleet_check's.
 */
#include "unit.h"
#include "script.h"
#include "budget/fleet_host.h"
#include "text/hash.h"

/* The random factor that is one. */
#define ONE (UINT64_C(1) << 63)

/* What the server's clock shows when the segment is made. */
#define SERVER SECONDS(1700000000)

static const struct fleet_config config = {
	.timeout = MS(250), .terms = { .min = 200 }, .alone = -1
};

static const struct fleet_caller usual = { .config = &config, .slice = SECONDS(1), .random = ONE };

/* No success counts. */
static const struct window no_window;

/* The last question of any process. */
static struct fleet_question asked;

/* Whether a process waits for another one's question, and since when. */
struct wait {
	bool waits;
	nanos since;
};

/* What a process decides that has waited like that, and is like caller. */
static struct host_step
ask(const struct fleet_caller *like, struct fleet_host *host, struct wait *wait, nanos now) {
	struct fleet_caller caller = *like;
	struct host_step step;

	caller.waits = wait->waits;
	caller.since = wait->since;
	step = fleet_host_ask(host, &no_window, &caller, now);
	*wait = (struct wait){ caller.waits, caller.since };
	asked = caller.question;
	return step;
}

/* What came of a question without an answer. */
static void
store(struct fleet_host *host, const struct fleet_caller *caller, enum fleet_code code, nanos now) {
	fleet_host_store(host, caller, &(struct fleet_answer){ .code = code }, now);
}

/* How scenes begin. */
#define DENIED "100s a asks, a denied-for "
#define HOSTS(n) "a asks, a granted hosts " #n ", 10s "
#define ALONE(n) "a asks, a granted hosts " #n ", a asks, a fails, "
#define TELLER "a knows-clock, "

/*
 * Scenes: a time, which holds until the next one ("+20ms": so much later); a process, in a small
 * letter if it has not waited before; and what it decides, or what becomes of its last question;
 * then what it has been told or is asked for ("hosts 80"), and what must hold of its step, of its
 * question, and of what the host shows ("next=20ms"). "x5" does all of that five times.
 */
static const char *const scenes[] = {
	/* A denial holds for all, for its pause times a random factor, but for
	 * a window at most, and then ends. */
	DENIED "2s, b denied next=2s silent=0, +1999999999ns c denied, +1ns b asks",
	DENIED "2s random least, b denied next=1s, +999999999ns c denied, +1ns b asks",
	DENIED "0 random most, b denied next=20ms, +19999999ns c denied, +1ns b asks",
	DENIED "ever random most, b denied next=60s, +60s b asks",
	/* The factor is less than one and a half. */
	"a asks, a denied-for 2s random most, 1ms b denied next=2999ms",

	/* A question is for one retry, however many wait. */
	"100s a asks wants=1, a granted, c asks",
	"100s a asks, b waits x5, a granted, b asks wants=1, b granted, b asks",

	/* The first question after a quiet time waits for the opening. */
	HOSTS(79) "B asks random most next=0",
	HOSTS(80) "B asks random least next=0",
	HOSTS(80) "B waits random most next=20ms, +19999999ns c waits, +1ns B asks",
	HOSTS(80) "B waits next=10ms, +9999999ns c waits, +1ns B asks",
	HOSTS(1000000) "B waits next=2500ms, +2500ms B asks",
	HOSTS(9223372036854775807) "B waits random most next=5s, +4999999999ns "
				   "c waits, +1ns B asks",
	/* The next ones come soon after the opening, a question, a denial. */
	HOSTS(80) "B waits next=10ms, +30ms c asks",
	HOSTS(80) "B waits next=10ms, +31ms c waits",
	HOSTS(80) "B waits next=10ms, +10ms B asks, B granted hosts 80, "
		  "+20ms a asks, a denied-for 30s hosts 80, +30s c asks",
	HOSTS(80) "B waits next=10ms, +10ms B asks, B denied-for 30s hosts 80, +30020ms c asks",
	HOSTS(80) "B waits next=10ms, +10ms B asks, B denied-for 30s hosts 80, +30021ms c waits",

	/* The share of a host that is alone: of the fleet's minimum, or as asked for. */
	"a asks, a fails, b alone silent=1, b denied share=1 next=1s alone=1",
	"a asks, a fails, b alone own 3 x3, b denied own 3 share=3 next=1s",
	ALONE(1) "b alone silent=1 x200, b denied share=200 next=1s alone=200",
	ALONE(50) "b alone x4, b denied share=4 next=1s alone=4",
	ALONE(200) "b alone, b denied share=1",
	ALONE(3) "b alone minimum 0, b denied minimum 0 share=1",
	ALONE(50) "b alone own 7 x7, b denied own 7 share=7",
	ALONE(50) "b denied own 0 share=0 next=1s alone=0",

	/* What is shown. */
	"a shows denied=0 down=0 hosts=0 limit=0 alone=0, a asks, a denied-for 2s, 500ms a shows "
	"denied=1500ms hosts=50 retries=180 limit=200, 2s a asks, a fails, b alone, 2500ms a shows "
	"denied=0 down=500ms alone=1, 70s a shows down=0 alone=0",

	/* A success is told once: ages in milliseconds, successes and retries made alone. */
	TELLER "10s a claims nothing, 8s a succeeds x3, 10s a succeeds x2, 10100ms a claims "
	       "2600:3/0+600:2/0, 10200ms a claims nothing, 10s a succeeds, 10300ms a claims "
	       "800:1/0, 11s a succeeds x4, a claims 500:4/0, 10900ms a claims nothing",
	/* A retry made alone is told until there is an answer. By a clock that
	 * is behind it counts in the next slice. */
	TELLER "10s a retries x2, a succeeds, 10500ms a claims 1000:1/2, 11s a claims 1500:0/2, a "
	       "retries, 11500ms b claims 2000:0/2+1000:0/1, a told, a claims 1000:0/1, a told, b "
	       "told, a claims nothing, 10s a retries, 11500ms a claims 1000:0/1",
	TELLER "100s a succeeds, a retries, 160s a claims 60500:1/1, 161s a claims nothing",
	/* Corrupt marks tell nothing, also by a clock that is behind. */
	TELLER "100s a succeeds, a retries, a marks-told -1/-1, a claims nothing, a told, a "
	       "marks-told 0/0, 102s a succeeds, 100s a marks-alone 162/0, a claims nothing, "
	       "a marks-alone 100/5, a claims 500:1/0, a marks-alone 161/0, 161s a succeeds, 100s "
	       "a claims 0:1/0+0:1/0",
	/* A retry that has succeeded within 29 slices is told once; not if its
	 * slice is over, by a clock that is behind. */
	TELLER "10s a retries x2, a rescues 10, 10500ms a claims 1000:0/2/1, a claims 1000:0/2, a "
	       "told, 39s a rescues 10, 40s a rescues 10, a rescues 11 x2, a claims "
	       "1500:0/0/1+500:0/0/2, 39s a rescues 39, 41s a claims nothing",
	/* The server counts a host once in a window. */
	TELLER "10s a claims nothing first=1",
	TELLER "100s a succeeds, a claims 500:1/0 first=1, 101s b claims nothing first=1, a told, "
	       "b claims "
	       "nothing first=0, 159s b claims nothing first=0, 160s b claims nothing first=1, 99s "
	       "b claims nothing first=0, 20s b claims nothing first=1",

	/* Questions end on the server's clock, once that is known; late by the
	 * time to the server, and by a millisecond. */
	"100ms a asks clock=0 until=600ms, 200ms a granted made 150ms, "
	"1s b asks clock=1301ms until=1500ms",
	/* The clock has stepped forward; to before the segment. */
	"1s a asks, 1250ms a stale 3601040ms, 1s a greets clock=3601291ms",
	"1s a asks, 1250ms a stale -1699999999s, 1s a greets clock=0",

	/* A longer denial is not cut short. */
	"a asks, 1s b asks, b denied-for 20s, a denied-for 5s, 20s c denied, 21s c asks",
	/* A clock may be behind by a minute, but not by more. */
	"100s a asks, a denied-for 60s, 40s b denied, 39.999s b waits",

	/* Patience is for all questions that a process waits for. */
	"a asks, B waits, C waits, 100ms a drops, C asks, B waits, 249ms B waits, 250ms B asks",

	/* One asks, and the others wait for its timeout. */
	"100ms a asks, B waits, +20ms B waits x12, 350ms B asks, c waits",
	/* The lease of a killed process ends. */
	"100ms a asks, 369ms b waits, 370ms b asks",
	/* A lease for ever is waited for once. */
	"a leases-for-ever, B waits, 249ms B waits, 250ms B asks, 520ms c asks",
	/* A lost lease is not released. */
	"a asks, 300ms b asks, 310ms a drops, 320ms c waits",

	/* Two failures at once are one. */
	"a asks, 300ms b asks, a fails, 400ms b fails, 1300ms c asks",
	/* The pause counts, and not the lease of a question that goes on. */
	"a asks, 300ms b asks, a fails, c alone, c denied next=1s",
	/* The next failure makes it twice as long, but not half a minute later. */
	"a asks, a fails, 31s b asks, b fails, 32s c alone, 33s c asks",
	/* Up to half a minute; the share alone is for a window and a slice. */
	"a asks, a fails, b alone, 999999999ns b denied, 1s a asks, a fails, 2999ms b denied, 3s a "
	"asks, a fails, 7s a asks, a fails, 15s a asks, a fails, 30999ms b denied, 31s a asks, a "
	"fails, 60999ms b denied, 61s a asks, a fails, b alone, 90999ms b denied, 91s a asks, a "
	"granted, a asks, a fails, 92s a asks",
	/* Failures at an instant that cannot be are none. */
	"a fails-for-ever, b asks, b fails, 1s c asks",
	/* Nobody waits for a server that did not answer; no share is left. */
	"a asks, a fails, 1s b asks, C alone, C denied silent=1 next=270ms",
};

/* A host, and the processes of a scene. */
struct world {
	struct fleet_host host;
	struct window window; /* of the successes */
	struct wait waits[3];
	struct fleet_question questions[3];
	nanos now;
};

/* Compares rows with "age:successes/alone/rescued", age in ms; rescued may be
 * 0. */
static void same_rows(const char *row, const struct fleet_question *tally, const char *want) {
	char got[256] = "", rescued[32];

	for (size_t i = 0; i < tally->count; i++) {
		size_t length = strlen(got);

		snprintf(rescued, sizeof rescued, "/%" PRId64, tally->told[i].rescued);
		snprintf(got + length, sizeof got - length,
		    "%s%" PRId64 ":%" PRId64 "/%" PRId64 "%s", i == 0 ? "" : "+",
		    tally->told[i].age / NANOS_MS, tally->told[i].successes, tally->told[i].alone,
		    tally->told[i].rescued > 0 ? rescued : "");
	}
	SAME(row, tally->count == 0 ? "nothing" : got, want);
}

/* What a process is told of the world, up to the end of its step. */
static void read_circumstances(struct script script, struct fleet_config *own,
    struct fleet_caller *caller, struct fleet_answer *answer) {
	static const char factors[][8] = { "least", "one", "most" };
	static const uint64_t randoms[] = { 0, ONE, UINT64_MAX };

	while (script_next(&script) && !script_is(&script, ","))
		if (script_is(&script, "hosts"))
			answer->hosts = script_number(&script);
		else if (script_is(&script, "made"))
			answer->now = SERVER + script_span(&script);
		else if (script_is(&script, "own"))
			own->alone = script_number(&script);
		else if (script_is(&script, "minimum"))
			own->terms.min = script_number(&script);
		else if (script_is(&script, "random")) {
			script_next(&script);
			caller->random = randoms[SCRIPT_NAME(&script, factors)];
		}
}

/* "SLICE/COUNT": up to where successes, or retries alone, have been told. */
static uint64_t mark_of(struct script *script) {
	long slice = 0, count = 0;

	script_next(script);
	if (sscanf(script->word, "%ld/%ld", &slice, &count) != 2)
		script_refuse(script);
	return (uint64_t)slice << 32 | (uint32_t)count;
}

/* What a process does, or decides. */
static struct host_step act(struct script *script, struct world *world, int who) {
	static const char decisions[][16] = {
		[HOST_DENIED] = "denied",
		[HOST_ALONE] = "alone",
		[HOST_WAIT] = "waits",
		[HOST_ASK] = "asks",
	};
	static const struct terms many = { 0, 1000, 0 };
	const char *row = script->rest;
	struct fleet_host *host = &world->host;
	struct fleet_question *question = &world->questions[who];
	struct fleet_answer answer = { .pause = SECONDS(2),
		.now = SERVER + world->now,
		.hosts = 50,
		.retries = 180,
		.limit = 200 };
	struct fleet_config own = config;
	struct fleet_caller caller = usual;
	struct host_step step = { .next = -1 };
	struct window_sums sums;

	script_next(script);
	read_circumstances(*script, &own, &caller, &answer);
	caller.config = &own;
	caller.question = *question;
	if (script_is(script, "drops"))
		store(host, &caller, FLEET_CUT, world->now);
	else if (script_is(script, "fails"))
		store(host, &caller, FLEET_SILENT, world->now);
	else if (script_is(script, "stale")) {
		answer.code = FLEET_CUT;
		answer.now = SERVER + script_span(script);
		fleet_host_store(host, &caller, &answer, world->now);
	} else if (script_is(script, "told"))
		store(host, &caller, FLEET_SENT, world->now);
	else if (script_is(script, "granted") || script_is(script, "denied-for")) {
		if (script_is(script, "granted"))
			answer.code = FLEET_GRANTED;
		else
			answer.pause = script_span(script);
		fleet_host_store(host, &caller, &answer, world->now);
	} else if (script_is(script, "marks-told"))
		host->told = mark_of(script);
	else if (script_is(script, "marks-alone"))
		host->alone_told = mark_of(script);
	else if (script_is(script, "rescues")) {
		caller.asked = SECONDS(script_number(script));
		fleet_host_rescue(host, &caller, world->now);
	} else if (script_is(script, "leases-for-ever"))
		host->lease = (UINT64_C(1) << 40) - 1;
	else if (script_is(script, "fails-for-ever"))
		host->silence = UINT64_C(5) << 40 | ((UINT64_C(1) << 40) - 1);
	else if (script_is(script, "knows-clock"))
		host->offset = 1;
	else if (script_is(script, "greets")) {
		fleet_host_claim(host, &world->window, &caller, world->now);
		*question = caller.question;
	} else if (script_is(script, "succeeds"))
		EQUAL(row, window_deposit(&world->window, world->now / SECONDS(1)), WINDOW_GRANTED);
	else if (script_is(script, "retries"))
		EQUAL(row, window_withdraw(&host->alone, &many, world->now / SECONDS(1), &sums),
		    WINDOW_GRANTED);
	else if (script_is(script, "claims")) {
		fleet_host_claim(host, &world->window, &caller, world->now);
		script_next(script);
		*question = caller.question;
		same_rows(row, question, script->word);
	} else if (!script_is(script, "shows")) {
		step = ask(&caller, host, &world->waits[who], world->now);
		EQUAL(row, step.decision, SCRIPT_NAME(script, decisions));
		if (step.decision == HOST_ASK)
			*question = asked;
	}
	return step;
}

/* What holds then. */
static void check_fact(struct script *script, const struct world *world,
    const struct host_step *step, const struct fleet_question *question) {
	struct host_view view = fleet_host_look(&world->host, SECONDS(1), world->now);
	static const char circumstances[][8] = { "hosts", "own", "minimum", "random", "made" };
	const struct script_fact facts[] = { FACT("wants", question->wants),
		FACT("clock", question->by > SERVER ? question->by - SERVER : question->by),
		FACT("until", question->until), FACT("first", question->first),
		FACT("next", step->next), FACT("silent", step->silent), FACT("share", step->share),
		FACT("alone", view.alone), FACT("denied", view.denied), FACT("down", view.down),
		FACT("limit", view.limit), FACT("retries", view.retries),
		FACT("hosts", view.hosts) };

	if (strchr(script->word, '=') == NULL) {
		SCRIPT_NAME(script, circumstances);
		script_next(script);
	} else if (!script_check(script, facts, LENGTH(facts)))
		script_refuse(script);
}

TEST_ROWS(scenes) {
	struct scene scene = { .script = script_of(row) };
	struct world world = { .now = 0 };
	struct host_step step;
	int who = 0;

	while (scene_next(&scene)) {
		const char *word = scene.script.word;

		world.now = scene.now;
		if (word[1] != '\0') {
			check_fact(&scene.script, &world, &step, &world.questions[who]);
			continue;
		}
		who = (word[0] | 0x20) - 'a';
		if (word[0] >= 'a')
			world.waits[who] = (struct wait){ 0 };
		step = act(&scene.script, &world, who);
	}
}

/* Whatever the words contain, every process gets an answer in time. */
TEST(corrupt_words_end) {
	uint64_t seed = 1, random;

	for (int i = 0; i < 5000; i++) {
		struct fleet_host host = { .lease = 0 };
		struct wait wait = { .waits = false };
		struct host_step step;
		nanos now = SECONDS(500);
		_Atomic uint64_t *const words[] = { &host.lease, &host.denied, &host.opening,
			&host.silence, &host.offset, &host.hosts, &host.used };

		for (size_t word = 0; word < LENGTH(words); word++) {
			random = hash_draw(&seed);
			*words[word] = random >> (i % 4 * 16);
		}
		do {
			step = ask(&usual, &host, &wait, now);
			HOLDS("wait", step.next >= 0);
			now += step.next > 0 ? step.next : 1;
		} while (step.decision == HOST_WAIT ||
		    (step.decision == HOST_DENIED && now < SECONDS(1000)));
		HOLDS("in two windows", now <= SECONDS(500 + 121 + 76));
		HOLDS("hosts", fleet_host_look(&host, SECONDS(1), 0).hosts >= 0);
	}
}
