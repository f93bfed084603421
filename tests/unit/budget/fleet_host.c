/*
 * fleet_host, used by one process after another: what follows from each answer,
 * and when it ends. Several processes at once are fleet_check's.
 */
#include "unit.h"
#include "script.h"
#include "budget/fleet_host.h"

#define MS(n) ((nanos)(n)*NANOS_MS)
#define SECONDS(n) ((nanos)(n)*NANOS_SECOND)

/* The random factor. */
#define HALF UINT64_C(0)
#define ONE (UINT64_C(1) << 63)
#define MOST UINT64_MAX

/* What the server's clock shows when the segment is made. */
#define SERVER SECONDS(1700000000)

static const struct fleet_policy policy = {
	.timeout = MS(250), .terms = { .min = 200 }, .alone = -1
};

static const struct fleet_caller usual = {
	.policy = &policy, .tag = 7, .slice = SECONDS(1), .random = ONE
};

/* No success counts. */
static const struct window no_window;

/* An answer, as the server makes it at the age now. */
static struct fleet_answer
answer_at(nanos now, int64_t granted)
{
	return (struct fleet_answer){ .granted = granted,
		.pause = SECONDS(2),
		.now = SERVER + now,
		.hosts = 50,
		.retries = 180,
		.limit = 200 };
}

/* The last question of any process. */
static struct fleet_question asked;

/* What a process decides that has waited like that, and is like caller. */
static struct host_step
ask_as(const struct fleet_caller *like, struct fleet_host *host,
    struct fleet_wait *wait, int64_t most, nanos now)
{
	struct fleet_caller caller = *like;
	struct host_step step;

	caller.wait = *wait;
	step = fleet_host_ask(host, &no_window, &caller, most, now);
	*wait = caller.wait;
	asked = caller.question;
	return step;
}

static struct host_step
ask(struct fleet_host *host, struct fleet_wait *wait, nanos now)
{
	return ask_as(&usual, host, wait, INT64_MAX, now);
}

/* What a process decides that has not waited before. */
static enum host_decision
decides(struct fleet_host *host, nanos now)
{
	struct fleet_wait wait = { .waits = false };

	return ask(host, &wait, now).decision;
}

/* A process gets the lease at an age. */
static struct fleet_question
question_at(const char *row, struct fleet_host *host, nanos now)
{
	struct fleet_wait wait = { .waits = false };
	struct host_step step = ask(host, &wait, now);

	EQUAL(row, step.decision, HOST_ASK);
	return asked;
}

/* Whether the answer grants a retry. */
static bool
settle(struct fleet_host *host, const struct fleet_question *question,
    const struct fleet_answer *answer, nanos now, uint64_t random)
{
	struct fleet_caller caller = usual;

	caller.question = *question;
	caller.random = random;
	fleet_host_store(host, &caller, FLEET_ANSWERED, answer, now);
	return caller.granted;
}

/* There is no answer: FLEET_SILENT or FLEET_CUT. */
static void
miss(struct fleet_host *host, const struct fleet_question *question,
    enum fleet_outcome outcome, nanos now)
{
	struct fleet_caller caller = usual;

	caller.question = *question;
	fleet_host_store(host, &caller, outcome, NULL, now);
}

/*
 * Scenes: a time, which holds until the next one ("+20ms": so much later); a
 * process, in a small letter if it has not waited before; and what it decides,
 * or what becomes of its last question. "x5" does all of that five times.
 */
static const char *const scenes[] = {
	/* A longer denial is not cut short. */
	"a asks, 1s b asks, b denied-for 20s, a denied-for 5s, 20s c denied, "
	"21s c asks",
	/* A clock may be behind by a minute, but not by more. */
	"100s a asks, a denied-for 60s, 40s b denied, 39.999s b waits",

	/* Who waited is not counted twice. */
	"a asks, B waits, C waits, +20ms B waits, C waits, +20ms B waits, C "
	"waits, +20ms B waits, C waits, 100ms a drops, B asks wanted 2, C "
	"waits next 20ms",
	/* But again in the next turn, and patience is for all turns. */
	"a asks, B waits, 100ms a drops, c asks wanted 2, B waits, c drops, a "
	"asks wanted 2",
	"a asks, B waits, 100ms a drops, c asks, B waits, 250ms B asks",
	/* Those who waited long ago are not counted. */
	"a asks, b waits x5, a drops, 1s a asks wanted 6",
	"a asks, b waits x5, a drops, 2s a asks wanted 1",
	/* No more than 4095 are counted. */
	"a asks, b waits x5000, a drops, a asks wanted 4096",

	/* A credit ends with the slice of its question. */
	"900ms a asks, b waits x2, a drops, a asks, 910ms a granted-some 3, "
	"999ms b granted, 1s b asks",
	"900ms a asks, b waits x2, a drops, a asks, 1010ms a granted-some 3, b "
	"asks",
	"a asks, b waits, a drops, a asks, a granted-some 2, b granted, b asks",
	/* A late answer leaves later credits alone. */
	"900ms a asks, b waits x2, a drops, a asks, 910ms b waits x2, 1200ms c "
	"asks, 1210ms c granted-some 3, 1220ms a granted-some 3, 1230ms b "
	"granted x2, b asks",

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
	"a asks, 300ms b asks, a fails, c alone, c denied next 1s",
	/* The next failure makes it twice as long, but not half a minute later.
	 */
	"a asks, a fails, 31s b asks, b fails, 32s c alone, 33s c asks",
	"a asks, a fails, 31001ms b asks, b fails, 32001ms c asks",
	/* Failures at an instant that cannot be are none. */
	"a fails-for-ever, b asks, b fails, 1s c asks",
	/* Nobody waits for a server that did not answer; no share is left. */
	"a asks, a fails, 1s b asks, C alone, C denied silent 1 next 270ms",
};

/* One step, up to a comma, "x" or the end. */
static void
check_step(struct script *script, struct fleet_host *host,
    struct fleet_wait *wait, struct fleet_question *question, nanos now)
{
	static const char decisions[][16] = {
		[HOST_GRANTED] = "granted",
		[HOST_DENIED] = "denied",
		[HOST_ALONE] = "alone",
		[HOST_WAIT] = "waits",
		[HOST_ASK] = "asks",
	};
	const char *row = script->rest;
	struct host_step step = { .next = -1 };

	script_next(script);
	if (script_is(script, "drops"))
		miss(host, question, FLEET_CUT, now);
	else if (script_is(script, "fails"))
		miss(host, question, FLEET_SILENT, now);
	else if (script_is(script, "leases-for-ever"))
		host->lease = (UINT64_C(1) << 40) - 1;
	else if (script_is(script, "fails-for-ever"))
		host->link =
		    (UINT64_C(7) << 8 | 5) << 40 | ((UINT64_C(1) << 40) - 1);
	else if (script_is(script, "granted-some")) {
		struct fleet_answer answer =
		    answer_at(now, script_number(script));

		settle(host, question, &answer, now, ONE);
	} else if (script_is(script, "denied-for")) {
		struct fleet_answer answer = answer_at(now, 0);

		answer.pause = script_span(script);
		settle(host, question, &answer, now, ONE);
	} else {
		step = ask(host, wait, now);
		EQUAL(row, step.decision,
		    script_name(script, decisions, sizeof decisions[0],
			LENGTH(decisions)));
		if (step.decision == HOST_ASK)
			*question = asked;
	}
	while (script_next(script) && !script_is(script, ",") &&
	    script->word[0] != 'x')
		if (script_is(script, "wanted"))
			EQUAL(row, asked.wanted, script_number(script));
		else if (script_is(script, "next"))
			EQUAL(row, step.next, script_span(script));
		else if (script_is(script, "silent"))
			EQUAL(row, step.silent, script_number(script));
		else
			script_refuse(script);
}

static void
play(const char *scene)
{
	struct script script = script_of(scene);
	struct fleet_host host = { .lease = 0 };
	struct fleet_wait waits[3] = { { .waits = false } };
	struct fleet_question questions[3];
	nanos now = 0, span;
	int left = 0;

	do {
		struct script start = script;
		bool later;
		int who;

		script_next(&script);
		later = script.word[0] == '+';
		if (duration_parse(script.word + later,
			strlen(script.word + later), &span)) {
			now = later ? now + span : span;
			script_next(&script);
		}
		who = (script.word[0] | 0x20) - 'a';
		if (script.word[0] >= 'a')
			waits[who] = (struct fleet_wait){ .waits = false };
		check_step(&script, &host, &waits[who], &questions[who], now);
		if (script.word[0] == 'x') {
			left = left == 0 ? atoi(script.word + 1) - 1 : left - 1;
			if (left > 0)
				script.rest = start.rest;
			else
				script_next(&script);
		}
	} while (script.word[0] != '\0');
}

static void
test_scenes(void)
{
	for (size_t i = 0; i < LENGTH(scenes); i++)
		play(scenes[i]);
}

/*
 * Denials
 */

static const struct {
	const char *row;
	nanos pause;
	uint64_t random;
	nanos denied;
} denials[] = {
	{ "a pause", SECONDS(2), ONE, SECONDS(2) },
	{ "the least factor", SECONDS(2), HALF, SECONDS(1) },
	{ "nothing", 0, MOST, FLEET_HOST_LOOK },
	{ "a window", SECONDS(60), ONE, SECONDS(60) },
	{ "a window, longer", SECONDS(60), MOST, SECONDS(60) },
	{ "a day", NANOS_DAY, ONE, SECONDS(60) },
	{ "for ever", NANOS_MAX, MOST, SECONDS(60) },
};

static void
test_a_denial_holds_for_all_and_then_ends(void)
{
	const nanos now = SECONDS(100);

	for (size_t i = 0; i < LENGTH(denials); i++) {
		const char *row = denials[i].row;
		struct fleet_host host = { .lease = 0 };
		struct fleet_question question = question_at(row, &host, now);
		struct fleet_answer answer = answer_at(now, 0);
		struct fleet_wait wait = { .waits = false };
		struct host_step step;

		answer.pause = denials[i].pause;
		HOLDS(row,
		    !settle(&host, &question, &answer, now, denials[i].random));
		step = ask(&host, &wait, now);
		EQUAL(row, step.decision, HOST_DENIED);
		EQUAL(row, step.next, denials[i].denied);
		HOLDS(row, !step.silent);
		EQUAL(row, decides(&host, now + denials[i].denied - 1),
		    HOST_DENIED);
		EQUAL(row, decides(&host, now + denials[i].denied), HOST_ASK);
	}
}

static void
test_a_random_factor_is_less_than_one_and_a_half(void)
{
	struct fleet_host host = { .lease = 0 };
	struct fleet_question question = question_at("asked", &host, 0);
	struct fleet_answer answer = answer_at(0, 0);
	struct fleet_wait wait = { .waits = false };

	settle(&host, &question, &answer, 0, MOST);
	EQUAL("most", ask(&host, &wait, MS(1)).next, MS(2999));
}

/*
 * Grants
 */

static const struct {
	const char *row;
	int64_t waiting, most, wanted, granted, left;
} grants[] = {
	{ "one", 0, 100, 1, 1, 0 },
	{ "one waits", 1, 100, 2, 2, 1 },
	{ "five wait", 5, 100, 6, 6, 5 },
	{ "fewer are granted", 5, 100, 6, 3, 2 },
	{ "one is granted", 5, 100, 6, 1, 0 },
	{ "the window has one", 5, 1, 1, 1, 0 },
	{ "the window has two", 5, 2, 2, 2, 1 },
	{ "more than was wanted", 1, 100, 2, 1000000, 1 },
	{ "for ever", 1, 100, 2, INT64_MAX, 1 },
};

/* So many processes wait while another one asks, whose answer comes too late.
 */
static void
let_wait(const char *row, struct fleet_host *host, int64_t waiting, nanos now)
{
	struct fleet_question question = question_at(row, host, now);

	for (int64_t i = 0; i < waiting; i++)
		EQUAL(row, decides(host, now), HOST_WAIT);
	miss(host, &question, FLEET_CUT, now);
}

static void
test_a_question_is_for_all_that_waited(void)
{
	const nanos now = SECONDS(100);

	for (size_t i = 0; i < LENGTH(grants); i++) {
		const char *row = grants[i].row;
		struct fleet_host host = { .lease = 0 };
		struct fleet_answer answer = answer_at(now, grants[i].granted);
		struct fleet_wait wait = { .waits = false };
		struct host_step step;

		let_wait(row, &host, grants[i].waiting, now);
		step = ask_as(&usual, &host, &wait, grants[i].most, now);
		EQUAL(row, step.decision, HOST_ASK);
		EQUAL(row, asked.wanted, grants[i].wanted);
		HOLDS(row, settle(&host, &asked, &answer, now, ONE));
		for (int64_t left = grants[i].left; left > 0; left--)
			EQUAL(row, decides(&host, now), HOST_GRANTED);
		EQUAL(row, decides(&host, now), HOST_ASK);
	}
}

/*
 * The opening
 */

static const struct {
	const char *row;
	int64_t hosts;
	uint64_t random;
	nanos wait;
} openings[] = {
	{ "not known", 0, MOST, 0 },
	{ "few hosts", 79, MOST, 0 },
	{ "80 hosts, late", 80, MOST, MS(20) },
	{ "80 hosts", 80, ONE, MS(10) },
	{ "80 hosts, at once", 80, HALF, 0 },
	{ "10,000 hosts", 10000, ONE, MS(1250) },
	{ "a million hosts", 1000000, ONE, MS(2500) },
	{ "any number", INT64_MAX, MOST, SECONDS(5) },
};

static void
test_the_first_question_waits_for_the_opening(void)
{
	for (size_t i = 0; i < LENGTH(openings); i++) {
		const char *row = openings[i].row;
		struct fleet_host host = { .lease = 0 };
		struct fleet_wait wait = { .waits = false };
		struct fleet_answer answer = answer_at(0, 1);
		struct fleet_question question = question_at(row, &host, 0);
		struct fleet_caller caller = usual;
		struct fleet_host later;
		struct host_step step;
		nanos now = SECONDS(10);

		caller.random = openings[i].random;
		answer.hosts = openings[i].hosts;
		settle(&host, &question, &answer, 0, ONE);
		step = ask_as(&caller, &host, &wait, 1, now);
		EQUAL(row, step.next, openings[i].wait);
		if (openings[i].wait > 0) {
			EQUAL(row, step.decision, HOST_WAIT);
			now += step.next - 1;
			EQUAL(row, decides(&host, now), HOST_WAIT);
			later = host;
			EQUAL(row, decides(&later, ++now + MS(20)), HOST_ASK);
			step = ask(&host, &wait, now);
		}
		EQUAL(row, step.decision, HOST_ASK);
		settle(&host, &asked, &answer, now, ONE);
		/* The next questions come soon after a question, a denial. */
		now += MS(20);
		question = question_at(row, &host, now);
		answer.granted = 0;
		answer.pause = SECONDS(30);
		settle(&host, &question, &answer, now, ONE);
		later = host;
		EQUAL(row, decides(&later, now + SECONDS(30)), HOST_ASK);
		EQUAL(row, decides(&host, now + MS(30020)), HOST_ASK);
	}
}

/*
 * No answer
 */

static const nanos pauses[] = { SECONDS(1), SECONDS(2), SECONDS(4), SECONDS(8),
	SECONDS(16), SECONDS(30), SECONDS(30), SECONDS(30) };

static void
test_pauses_double_while_there_is_no_answer(void)
{
	struct fleet_host host = { .lease = 0 };
	struct fleet_answer answer = answer_at(0, 1);
	struct fleet_question question;
	nanos now = 0;

	for (int times = 0; times < 2; times++) {
		for (size_t i = 0; i < LENGTH(pauses); i++) {
			question = question_at("due", &host, now);
			miss(&host, &question, FLEET_SILENT, now);
			now += pauses[i];
			HOLDS("alone", decides(&host, now - 1) != HOST_ASK);
		}
		question = question_at("answered", &host, now);
		settle(&host, &question, &answer, now, ONE);
	}
	/* After half a minute without a failure the pauses begin anew. */
	question = question_at("once", &host, now);
	miss(&host, &question, FLEET_SILENT, now);
	now += SECONDS(1) + FLEET_HOST_PAUSE_MOST + MS(1);
	question = question_at("later", &host, now);
	miss(&host, &question, FLEET_SILENT, now);
	EQUAL("anew", decides(&host, now + SECONDS(1)), HOST_ASK);
}

static const struct {
	const char *row;
	int64_t hosts, min, alone, share;
} shares[] = {
	{ "before any answer", 0, 200, -1, 1 },
	{ "one host", 1, 200, -1, 200 },
	{ "50 hosts", 50, 200, -1, 4 },
	{ "rounded down", 60, 200, -1, 3 },
	{ "as many hosts", 200, 200, -1, 1 },
	{ "more hosts", 1000, 200, -1, 1 },
	{ "no min", 3, 0, -1, 1 },
	{ "asked for", 50, 200, 7, 7 },
	{ "none", 50, 200, 0, 0 },
	{ "asked for, before any answer", 0, 200, 3, 3 },
};

static void
test_the_share_of_a_host_that_is_alone(void)
{
	for (size_t i = 0; i < LENGTH(shares); i++) {
		const char *row = shares[i].row;
		struct fleet_host host = { .lease = 0 };
		struct fleet_policy mine = policy;
		struct fleet_caller caller = usual;
		struct fleet_wait wait = { .waits = false };
		struct fleet_answer answer = answer_at(0, 1);
		struct fleet_question question = question_at(row, &host, 0);
		struct host_step step;

		answer.hosts = shares[i].hosts;
		mine.terms.min = shares[i].min;
		mine.alone = shares[i].alone;
		caller.policy = &mine;
		settle(&host, &question, &answer, 0, ONE);
		question = question_at(row, &host, 0);
		miss(&host, &question, FLEET_SILENT, 0);
		for (int64_t left = shares[i].share; left > 0; left--) {
			step = ask_as(&caller, &host, &wait, 1, 0);
			EQUAL(row, step.decision, HOST_ALONE);
			HOLDS(row, step.silent);
		}
		step = ask_as(&caller, &host, &wait, 1, 0);
		EQUAL(row, step.decision, HOST_DENIED);
		EQUAL(row, step.share, shares[i].share);
		EQUAL(row, step.next, SECONDS(1));
		EQUAL(row, fleet_host_look(&host, SECONDS(1), 0).alone,
		    shares[i].share);
	}
}

/* What a process decides after it has asked in vain, if it has asked. */
static enum host_decision
decides_alone(struct fleet_host *host, nanos now)
{
	struct fleet_wait wait = { .waits = false };
	struct host_step step = ask(host, &wait, now);

	if (step.decision == HOST_ASK) {
		miss(host, &asked, FLEET_SILENT, now);
		step = ask(host, &wait, now);
	}
	return step.decision;
}

static void
test_the_share_is_for_a_window(void)
{
	struct fleet_host host = { .lease = 0 };

	/* A retry counts for a window and a slice. */
	for (int64_t second = 0; second < 200; second++)
		EQUAL("each second", decides_alone(&host, SECONDS(second)),
		    second % 61 == 0 ? HOST_ALONE : HOST_DENIED);
}

/*
 * The server's clock, and other fleets
 */

/* By when the server has to read a question, after it was too late for one that
 * was asked at MS(1000), at that time on its clock. */
static nanos
by_after(struct fleet_host *host, nanos time)
{
	const struct fleet_answer stale = { .code = FLEET_STALE, .now = time };
	struct fleet_caller caller = usual;

	caller.question.asked = MS(1000);
	fleet_host_store(host, &caller, FLEET_CUT, &stale, MS(1250));
	fleet_host_elect(host, &caller, MS(1000));
	return caller.question.by;
}

static void
test_questions_end_on_the_servers_clock(void)
{
	struct fleet_host host = { .lease = 0 };
	struct fleet_question question = question_at("first", &host, MS(100));
	struct fleet_answer answer = answer_at(MS(150), 1);

	EQUAL("not known", question.by, 0);
	EQUAL("ages", question.until, MS(600));
	settle(&host, &question, &answer, MS(200), ONE);
	question = question_at("second", &host, MS(1000));
	/* Late by the time to the server, and by a millisecond. */
	EQUAL("known", question.by, SERVER + MS(1000 + 250 + 50 + 1));
	HOLDS("ages", question.until >= MS(1000 + 250 + 50 + 1));
	EQUAL("stepped forward",
	    by_after(&host, SERVER + SECONDS(3600) + MS(1040)),
	    SERVER + SECONDS(3600) + MS(1040 + 250 + 1));
	EQUAL("before the segment", by_after(&host, 5), 0);
}

static void
test_words_of_another_fleet_are_empty(void)
{
	struct fleet_caller other = usual;
	struct fleet_host host = { .lease = 0 };
	struct fleet_wait wait = { .waits = false };
	struct fleet_question question = question_at("mine", &host, 0);
	struct fleet_answer answer = answer_at(0, 0);
	struct host_step step;

	other.tag = 8;
	settle(&host, &question, &answer, 0, ONE);
	EQUAL("denied here", decides(&host, 0), HOST_DENIED);
	step = ask_as(&other, &host, &wait, 9, 0);
	EQUAL("not there", step.decision, HOST_ASK);
	EQUAL("another clock", asked.by, 0);
	other.question = asked;
	fleet_host_store(&host, &other, FLEET_SILENT, NULL, 0);
	step = ask_as(&other, &host, &wait, 9, 0);
	EQUAL("the server there", step.decision, HOST_ALONE);
	EQUAL("hosts there", step.share, 1);
	/* Only the retries made alone are those of all. */
	EQUAL("here", decides(&host, SECONDS(2)), HOST_ASK);
	EQUAL("all", fleet_host_look(&host, SECONDS(1), 0).alone, 1);
}

static void
test_each_server_has_a_tag(void)
{
	static const char *const urls[] = { "redis://cache/0",
		"redis://cache/1", "redis://caches/0", "" };

	for (size_t i = 0; i < LENGTH(urls); i++)
		for (size_t j = 0; j < LENGTH(urls); j++)
			EQUAL(urls[i],
			    fleet_host_tag(urls[i]) == fleet_host_tag(urls[j]),
			    i == j);
}

/* Whatever the words contain, every process gets an answer in time. */
static void
test_corrupt_words_end(void)
{
	uint64_t random = 1;

	for (int i = 0; i < 20000; i++) {
		struct fleet_host host = { .lease = 0 };
		struct fleet_wait wait = { .waits = false };
		struct host_step step;
		nanos now = SECONDS(500);
		_Atomic uint64_t *const words[] = { &host.lease, &host.denied,
			&host.credit, &host.opening, &host.link, &host.offset,
			&host.hosts, &host.used };

		for (size_t word = 0; word < LENGTH(words); word++) {
			random = random * UINT64_C(6364136223846793005) + 1;
			*words[word] = random >> (i % 3 * 16);
			if (i % 2 == 0) /* so that the tag is right */
				*words[word] =
				    (uint64_t)usual.tag << 48 | random >> 16;
		}
		do {
			step = ask(&host, &wait, now);
			HOLDS("wait", step.next >= 0);
			now += step.next > 0 ? step.next : 1;
		} while (step.decision == HOST_WAIT ||
		    (step.decision == HOST_DENIED && now < SECONDS(1000)));
		HOLDS("in two windows", now <= SECONDS(500 + 121 + 76));
		HOLDS(
		    "hosts", fleet_host_look(&host, SECONDS(1), 0).hosts >= 0);
	}
}

/*
 * What the server is told
 */

/* A host, and what it tells of. */
struct teller {
	struct fleet_host host;
	struct window window;
};

/* One that knows the server's clock. */
static struct teller
new_teller(void)
{
	return (struct teller){ .host.offset = (uint64_t)usual.tag << 48 | 1 };
}

static struct fleet_question
claim(struct teller *teller, nanos now)
{
	struct fleet_caller caller = usual;

	fleet_host_claim(&teller->host, &teller->window, &caller, now);
	return caller.question;
}

static void
told(struct teller *teller, const struct fleet_question *tally)
{
	struct fleet_caller caller = usual;

	caller.question = *tally;
	fleet_host_store(&teller->host, &caller, FLEET_SENT, NULL, 0);
}

static void
succeed(struct teller *teller, int64_t second, int times)
{
	while (times-- > 0)
		EQUAL("success", window_deposit(&teller->window, second),
		    WINDOW_GRANTED);
}

static void
retry_alone(struct teller *teller, int64_t second, int times)
{
	static const struct terms many = { 0, 1000, 0 };
	struct window_sums sums;

	while (times-- > 0)
		EQUAL("alone",
		    window_withdraw(&teller->host.alone, &many, second, &sums),
		    WINDOW_GRANTED);
}

/* Compares rows with "age:successes/alone", age in ms. */
static void
same_rows(const char *row, const struct fleet_question *tally, const char *want)
{
	char got[4096] = "";

	for (size_t i = 0; i < tally->count; i++) {
		size_t length = strlen(got);

		snprintf(got + length, sizeof got - length,
		    "%s%" PRId64 ":%" PRId64 "/%" PRId64, i == 0 ? "" : " ",
		    tally->told[i].age / NANOS_MS, tally->told[i].successes,
		    tally->told[i].alone);
	}
	SAME(row, got, want);
}

static void
test_a_success_is_told_once(void)
{
	struct teller teller = new_teller();
	struct fleet_question tally = claim(&teller, SECONDS(10));

	same_rows("nothing", &tally, "");
	succeed(&teller, 8, 3);
	succeed(&teller, 10, 2);
	tally = claim(&teller, MS(10100));
	same_rows("all", &tally, "2600:3/0 600:2/0");
	tally = claim(&teller, MS(10200));
	same_rows("once", &tally, "");
	succeed(&teller, 10, 1);
	tally = claim(&teller, MS(10300));
	same_rows("one more", &tally, "800:1/0");
	succeed(&teller, 11, 4);
	tally = claim(&teller, MS(11000));
	same_rows("the next slice", &tally, "500:4/0");
	tally = claim(&teller, MS(10900));
	same_rows("a clock that is behind", &tally, "");
}

static void
test_only_what_is_in_the_window_is_told(void)
{
	struct teller teller = new_teller();
	struct fleet_question tally;

	for (int64_t second = 100; second < 200; second++) {
		succeed(&teller, second, 1);
		retry_alone(&teller, second, 1);
	}
	tally = claim(&teller, SECONDS(199));
	EQUAL("a window and a slice", (int64_t)tally.count, WINDOW_WORDS);
	EQUAL("the oldest", tally.told[0].age, MS(60500));
	EQUAL("the oldest", tally.told[0].alone, 1);
	EQUAL("the latest", tally.told[60].age, MS(500));
	tally = claim(&teller, SECONDS(400));
	same_rows("after long", &tally, "");
}

static void
test_a_retry_made_alone_is_told_until_there_is_an_answer(void)
{
	struct teller teller = new_teller();
	struct fleet_question tally, other;

	retry_alone(&teller, 10, 2);
	succeed(&teller, 10, 1);
	tally = claim(&teller, MS(10500));
	same_rows("both", &tally, "1000:1/2");
	tally = claim(&teller, MS(11000));
	same_rows("no answer", &tally, "1500:0/2");
	retry_alone(&teller, 11, 1);
	other = claim(&teller, MS(11500));
	same_rows("one more", &other, "2000:0/2 1000:0/1");
	told(&teller, &tally);
	tally = claim(&teller, MS(11500));
	same_rows("the first ones are told", &tally, "1000:0/1");
	told(&teller, &tally);
	told(&teller, &other);
	tally = claim(&teller, MS(11500));
	same_rows("all are told", &tally, "");
	/* A retry by a clock that is behind counts in the next slice. */
	retry_alone(&teller, 10, 1);
	tally = claim(&teller, MS(11500));
	same_rows("late", &tally, "1000:0/1");
}

static void
test_the_server_counts_a_host_once_in_a_window(void)
{
	struct teller teller = new_teller();
	struct fleet_question tally = claim(&teller, SECONDS(100));

	HOLDS("the first", tally.first);
	HOLDS("no answer", claim(&teller, SECONDS(101)).first);
	told(&teller, &tally);
	HOLDS("counted", !claim(&teller, SECONDS(101)).first);
	HOLDS("counted", !claim(&teller, SECONDS(159)).first);
	HOLDS("a window later", claim(&teller, SECONDS(160)).first);
	HOLDS("a clock that is behind", !claim(&teller, SECONDS(99)).first);
	HOLDS("corrupt", claim(&teller, SECONDS(20)).first);
}

static bool
elects(struct fleet_host *host, nanos now)
{
	struct fleet_caller caller = usual;

	return fleet_host_elect(host, &caller, now);
}

static void
test_one_is_elected_in_each_slice(void)
{
	struct fleet_host host = { .lease = 0 };

	HOLDS("the first", elects(&host, 0));
	HOLDS("one", !elects(&host, MS(999)));
	HOLDS("the next slice", elects(&host, MS(1000)));
	HOLDS("one", !elects(&host, MS(1000)));
	HOLDS("behind", !elects(&host, MS(999)));
	HOLDS("much later", elects(&host, SECONDS(900)));
	HOLDS(
	    "behind by a window", !elects(&host, SECONDS(900 - WINDOW_WORDS)));
	HOLDS("behind by more", elects(&host, SECONDS(900 - WINDOW_WORDS - 1)));
	host.elected = UINT64_MAX;
	HOLDS("corrupt", elects(&host, SECONDS(900)));
}

static void
test_corrupt_marks_tell_nothing(void)
{
	struct teller teller = new_teller();
	struct fleet_question tally;

	succeed(&teller, 100, 1);
	retry_alone(&teller, 100, 1);
	teller.host.successes_told = UINT64_MAX;
	tally = claim(&teller, SECONDS(100));
	same_rows("successes", &tally, "");
	told(&teller, &tally);
	teller.host.successes_told = 0;
	teller.host.alone_told = UINT64_C(162) << 32;
	tally = claim(&teller, SECONDS(100));
	same_rows("alone", &tally, "");
	teller.host.alone_told = (UINT64_C(100) << 32) + 5;
	tally = claim(&teller, SECONDS(100));
	same_rows("more than there are", &tally, "500:1/0");
	/* The clock of this process is behind by a window. */
	teller.host.alone_told = UINT64_C(161) << 32;
	succeed(&teller, 161, 1);
	tally = claim(&teller, SECONDS(100));
	same_rows("ahead", &tally, "0:1/0");
}

/*
 * Reports
 */

static void
test_what_is_shown(void)
{
	struct fleet_host host = { .lease = 0 };
	struct host_view view = fleet_host_look(&host, SECONDS(1), 0);
	struct fleet_question question;
	struct fleet_answer answer = answer_at(0, 0);

	EQUAL("nothing", view.denied, 0);
	EQUAL("nothing", view.down, 0);
	EQUAL("nothing", view.hosts, 0);
	EQUAL("nothing", view.limit, 0);
	EQUAL("nothing", view.alone, 0);
	question = question_at("asked", &host, 0);
	settle(&host, &question, &answer, 0, ONE);
	view = fleet_host_look(&host, SECONDS(1), MS(500));
	EQUAL("denied", view.denied, MS(1500));
	EQUAL("denied", view.hosts, 50);
	EQUAL("denied", view.retries, 180);
	EQUAL("denied", view.limit, 200);
	question = question_at("later", &host, SECONDS(2));
	miss(&host, &question, FLEET_SILENT, SECONDS(2));
	EQUAL("alone", decides(&host, SECONDS(2)), HOST_ALONE);
	view = fleet_host_look(&host, SECONDS(1), MS(2500));
	EQUAL("down", view.denied, 0);
	EQUAL("down", view.down, MS(500));
	EQUAL("down", view.alone, 1);
	view = fleet_host_look(&host, SECONDS(1), SECONDS(70));
	EQUAL("over", view.down, 0);
	EQUAL("over", view.alone, 0);
}

/* random: as a part of all random numbers, in 65536ths. */
static bool
tells(int64_t hosts, uint64_t random)
{
	const struct fleet_answer answer = { .now = SERVER, .hosts = hosts };
	struct fleet_host host = { .lease = 0 };
	struct fleet_caller caller = usual;

	caller.random = random << 48;
	fleet_host_store(&host, &caller, FLEET_ANSWERED, &answer, 0);
	return fleet_host_elect(&host, &caller, 0);
}

static void
test_a_thousand_hosts_tell(void)
{
	EQUAL("hosts not known", tells(0, 65535), true);
	EQUAL("all of a thousand", tells(1000, 65535), true);
	EQUAL("a tenth of ten thousand", tells(10000, 6553), true);
	EQUAL("and no more", tells(10000, 6554), false);
	EQUAL("nobody else", tells(10000, 65535), false);
	EQUAL("a hundredth", tells(100000, 655), true);
	EQUAL("and no more", tells(100000, 656), false);
}

static void (*const tests[])(void) = {
	test_scenes,
	test_a_denial_holds_for_all_and_then_ends,
	test_a_random_factor_is_less_than_one_and_a_half,
	test_a_question_is_for_all_that_waited,
	test_the_first_question_waits_for_the_opening,
	test_pauses_double_while_there_is_no_answer,
	test_the_share_of_a_host_that_is_alone,
	test_the_share_is_for_a_window,
	test_questions_end_on_the_servers_clock,
	test_words_of_another_fleet_are_empty,
	test_each_server_has_a_tag,
	test_corrupt_words_end,
	test_a_success_is_told_once,
	test_only_what_is_in_the_window_is_told,
	test_a_retry_made_alone_is_told_until_there_is_an_answer,
	test_the_server_counts_a_host_once_in_a_window,
	test_one_is_elected_in_each_slice,
	test_corrupt_marks_tell_nothing,
	test_what_is_shown,
	test_a_thousand_hosts_tell,
};

UNIT(tests);
