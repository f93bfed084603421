/*
 * fleet_host, and admission with a fleet: what the server is asked when a
 * retry is due, what each outcome means for the retry and for the host, and
 * what the server is told.
 */
#include "unit.h"
#include "budget/admission.h"

#define MS(n) ((nanos)(n)*NANOS_MS)
#define SECONDS(n) ((nanos)((n)*NANOS_SECOND))

/* What the server's clock shows when the segment is made. */
#define SERVER SECONDS(1700000000)

static const struct budget_config usual = { .key = "api",
	.terms = { -1, -1, -1 } };
static const struct budget_config cooling = {
	.key = "api", .terms = { -1, -1, -1 }, .cooldown = SECONDS(5)
};
static const struct budget_config guarded = { .key = "api",
	.terms = { -1, -1, -1 },
	.breaker = { 1, SECONDS(10), SECONDS(35) } };
/* A segment with slices of a second, made at 0. */
static struct segment
make(int64_t min)
{
	struct terms terms = { 0, min, SECONDS(60) };
	struct origin origin = { .base = 0 };
	struct segment segment;

	segment_make(&segment, "api", &terms, &origin);
	return segment;
}

/* An invocation in a fleet. */
struct member {
	struct fleet_caller fleet;
	struct caller caller;
};

static struct caller *
join(struct member *member, const struct budget_config *config)
{
	static const struct fleet_policy policy = { .terms = { 0, 100,
							SECONDS(60) },
		.timeout = MS(250),
		.alone = -1 };

	member->fleet = (struct fleet_caller){ .policy = &policy,
		.key = "api",
		.tag = 1,
		.slice = SECONDS(1),
		.random = UINT64_C(1) << 63 };
	member->caller = (struct caller){ .config = config,
		.uses_breaker = true,
		.deposits = true,
		.fleet = &member->fleet };
	return &member->caller;
}

static struct admission
ask(struct member *member, struct segment *segment, nanos now)
{
	const struct visit visit = { &member->caller, segment, &segment->header,
		now, now };

	return admission_ask(&visit, true);
}

static void
tell(struct member *member, struct segment *segment, enum attempt_result result,
    nanos now)
{
	const struct visit visit = { &member->caller, segment, &segment->header,
		now, now };

	admission_tell(&visit, result, result == RESULT_SUCCESS);
}

static enum host_decision
decides(struct member *member, struct segment *segment, nanos now)
{
	return ask(member, segment, now).fleet.decision;
}

/* An answer that grants so many retries. */
static struct fleet_answer
answer_at(nanos now, int64_t granted)
{
	return (struct fleet_answer){ .code = granted > 0 ? FLEET_GRANTED
							  : FLEET_DENIED,
		.granted = granted,
		.retries = 98,
		.limit = 100,
		.next = SECONDS(1),
		.pause = SECONDS(2),
		.now = SERVER + now,
		.hosts = 50 };
}

static void
settle(struct member *member, struct segment *segment,
    enum fleet_outcome outcome, int64_t granted, nanos now)
{
	const struct fleet_answer answer = answer_at(now, granted);

	fleet_host_store(
	    &segment->fleet, &member->fleet, outcome, &answer, now);
}

/* The successes and the retries made alone that the question tells of. */
static struct fleet_row
told(const struct member *member)
{
	struct fleet_question question = member->fleet.question;
	struct fleet_row sum = { .age = 0 };

	for (size_t i = 0; i < question.count; i++) {
		sum.successes += question.told[i].successes;
		sum.alone += question.told[i].alone;
	}
	return sum;
}

static void
test_a_retry_needs_a_grant(void)
{
	struct segment segment = make(10);
	struct fleet_question question;
	struct admission admission;
	struct member one;

	join(&one, &usual);
	admission = ask(&one, &segment, 0);
	EQUAL("asks", admission.fleet.decision, HOST_ASK);
	EQUAL("open", admission.answer, ADMISSION_OPEN);
	EQUAL("not counted", (int64_t)segment.retries, 0);
	question = one.fleet.question;
	SAME("key", question.key, "api");
	EQUAL("one retry", question.wanted, 1);
	EQUAL("window", question.terms.window, SECONDS(60));
	EQUAL("min", question.terms.min, 100);
	EQUAL("first", question.first, true);
	EQUAL("clock", question.by, 0);
	EQUAL("nothing told", (int64_t)question.count, 0);
	settle(&one, &segment, FLEET_ANSWERED, 1, MS(1));
	admission = ask(&one, &segment, MS(1));
	EQUAL("granted", admission.answer, ADMISSION_GRANTED);
	EQUAL("by the fleet", admission.fleet.decision, HOST_GRANTED);
	EQUAL("counted", (int64_t)segment.retries, 1);
	EQUAL("once", decides(&one, &segment, MS(2)), HOST_ASK);
	question = one.fleet.question;
	EQUAL("not first", question.first, false);
	EQUAL("by", question.by > SERVER, true);
}

/* All that is known of the server stays known. */
static void
test_commands_may_have_other_limits(void)
{
	static const struct fleet_policy policy = { .terms = { 200000, 7,
							SECONDS(60) },
		.timeout = MS(250),
		.alone = -1 };
	struct segment segment = make(10);
	struct fleet_question question;
	struct member one, other;

	join(&one, &usual);
	join(&other, &usual);
	other.fleet.policy = &policy;
	EQUAL("asks", decides(&one, &segment, 0), HOST_ASK);
	settle(&one, &segment, FLEET_ANSWERED, 1, 0);
	EQUAL("granted", decides(&one, &segment, 0), HOST_GRANTED);
	EQUAL("the other asks", decides(&other, &segment, 0), HOST_ASK);
	question = other.fleet.question;
	EQUAL("its own minimum", question.terms.min, 7);
	EQUAL("this host was counted", question.first, false);
	EQUAL("the clock is known", question.by > SERVER, true);
	settle(&other, &segment, FLEET_SILENT, 0, 0);
	EQUAL("nobody asks", decides(&one, &segment, 0), HOST_ALONE);
}

static void
test_a_denial_by_the_fleet(void)
{
	struct segment segment = make(10);
	struct admission admission;
	struct member one, two;

	join(&one, &usual);
	join(&two, &usual);
	EQUAL("asks", decides(&one, &segment, 0), HOST_ASK);
	EQUAL("waits", decides(&two, &segment, 0), HOST_WAIT);
	EQUAL("undecided", (int64_t)segment.denied, 0);
	settle(&one, &segment, FLEET_ANSWERED, 0, MS(1));
	admission = ask(&one, &segment, MS(1));
	EQUAL("denied", admission.answer, ADMISSION_DENIED);
	EQUAL("by the fleet", admission.fleet.decision, HOST_DENIED);
	EQUAL("not alone", admission.fleet.silent, false);
	EQUAL("never", admission.never, false);
	EQUAL("the pause", admission.next, SECONDS(2));
	EQUAL("hosts", admission.view.hosts, 50);
	EQUAL("retries", admission.view.retries, 98);
	EQUAL("limit", admission.view.limit, 100);
	EQUAL(
	    "the others", ask(&two, &segment, MS(1)).answer, ADMISSION_DENIED);
	EQUAL("counted", (int64_t)segment.denied, 2);
	EQUAL("no retry", (int64_t)segment.retries, 0);
}

static void
test_a_wait_ends_with_a_denial(void)
{
	struct segment segment = make(10);
	struct member one, two, three;

	join(&one, &usual);
	join(&two, &usual);
	join(&three, &usual);
	EQUAL("asks", decides(&one, &segment, 0), HOST_ASK);
	EQUAL("waits", decides(&two, &segment, 0), HOST_WAIT);
	settle(&one, &segment, FLEET_ANSWERED, 0, MS(1));
	EQUAL("denied", decides(&two, &segment, MS(20)), HOST_DENIED);
	EQUAL("asks", decides(&three, &segment, SECONDS(5)), HOST_ASK);
	EQUAL("waits again", decides(&two, &segment, SECONDS(5)), HOST_WAIT);
	EQUAL("its whole patience", decides(&two, &segment, SECONDS(5.24)),
	    HOST_WAIT);
}

static void
test_the_window_comes_first(void)
{
	struct segment segment = make(1);
	struct admission admission;
	struct member one;

	join(&one, &usual);
	decides(&one, &segment, 0);
	settle(&one, &segment, FLEET_ANSWERED, 1, 0);
	EQUAL("granted", ask(&one, &segment, 0).answer, ADMISSION_GRANTED);
	admission = ask(&one, &segment, 0);
	EQUAL("denied", admission.answer, ADMISSION_DENIED);
	EQUAL("nobody asks", admission.fleet.decision, HOST_UNASKED);
	/* The window denies although the fleet has granted. */
	one.fleet.granted = true;
	EQUAL("denied", ask(&one, &segment, 0).answer, ADMISSION_DENIED);
	EQUAL("lost", one.fleet.granted, false);
}

static void
test_a_pause_after_a_denial_by_the_fleet(void)
{
	struct segment segment = make(10);
	struct admission admission;
	struct member one;

	join(&one, &cooling);
	decides(&one, &segment, 0);
	settle(&one, &segment, FLEET_ANSWERED, 0, 0);
	admission = ask(&one, &segment, 0);
	EQUAL("denied", admission.answer, ADMISSION_DENIED);
	EQUAL("next", admission.next, SECONDS(5));
	admission = ask(&one, &segment, SECONDS(4));
	EQUAL("cooling", admission.cooling, true);
	EQUAL("nobody asks", admission.fleet.decision, HOST_UNASKED);
	EQUAL("over", decides(&one, &segment, SECONDS(5)), HOST_ASK);
}

static void
test_a_probe_needs_no_grant(void)
{
	struct segment segment = make(10);
	struct admission admission;
	struct member one;

	join(&one, &guarded);
	tell(&one, &segment, RESULT_FAILURE, 0);
	admission = ask(&one, &segment, SECONDS(1));
	EQUAL("held", admission.answer, ADMISSION_HELD);
	EQUAL("nobody asks", admission.fleet.decision, HOST_UNASKED);
	admission = ask(&one, &segment, SECONDS(10));
	EQUAL("the probe", admission.answer, ADMISSION_GRANTED);
	EQUAL("nobody asks", admission.fleet.decision, HOST_UNASKED);
	EQUAL("counted", (int64_t)segment.probes, 1);
}

/* Only for who asks the fleet whose hosts are known. */
static void
test_a_recovery_is_slower_in_a_fleet(void)
{
	static const struct {
		const char *row;
		bool knows, asks;
		int64_t rate;
	} rows[] = {
		{ "hosts not known", false, true, 60 },
		{ "no fleet", true, false, 60 },
		{ "50 hosts", true, true, 60 / 4 },
	};

	for (size_t i = 0; i < LENGTH(rows); i++) {
		const struct fleet_answer answer = { .now = SERVER,
			.hosts = 50 };
		struct segment segment = make(10);
		struct member one;

		join(&one, &guarded);
		if (rows[i].knows)
			fleet_host_store(&segment.fleet, &one.fleet,
			    FLEET_ANSWERED, &answer, 0);
		if (!rows[i].asks)
			one.caller.fleet = NULL;
		tell(&one, &segment, RESULT_FAILURE, 0);
		ask(&one, &segment, SECONDS(10));
		tell(&one, &segment, RESULT_SUCCESS, SECONDS(10));
		EQUAL(rows[i].row,
		    breaker_look(&segment.breaker, SECONDS(10)).rate,
		    rows[i].rate);
	}
}

static void
test_without_an_answer_the_host_is_alone(void)
{
	struct segment segment = make(10);
	struct admission admission;
	struct member one;

	join(&one, &usual);
	decides(&one, &segment, 0);
	settle(&one, &segment, FLEET_SILENT, 0, MS(250));
	admission = ask(&one, &segment, MS(250));
	EQUAL("alone", admission.fleet.decision, HOST_ALONE);
	EQUAL("share", admission.fleet.share, 1);
	EQUAL("granted", admission.answer, ADMISSION_GRANTED);
	EQUAL("counted", (int64_t)segment.retries, 1);
	admission = ask(&one, &segment, MS(251));
	EQUAL("denied", admission.answer, ADMISSION_DENIED);
	EQUAL("alone", admission.fleet.silent, true);
	/* The server answers again, and is told; the alone share counts. */
	EQUAL("asks", decides(&one, &segment, SECONDS(2)), HOST_ASK);
	EQUAL("told", told(&one).alone, 1);
	settle(&one, &segment, FLEET_ANSWERED, 1, SECONDS(2));
	ask(&one, &segment, SECONDS(2));
	EQUAL("asks", decides(&one, &segment, SECONDS(3)), HOST_ASK);
	EQUAL("once", told(&one).alone, 0);
}

static void
test_a_question_that_was_cut(void)
{
	struct segment segment = make(10);
	struct member one, two;

	join(&one, &usual);
	join(&two, &usual);
	decides(&one, &segment, 0);
	settle(&one, &segment, FLEET_CUT, 0, MS(10));
	EQUAL("free", decides(&two, &segment, MS(10)), HOST_ASK);
}

static void
test_successes(void)
{
	struct segment segment = make(10);
	struct fleet_question question;
	struct member one, two;

	join(&one, &usual);
	join(&two, &usual);
	EQUAL("one", fleet_host_elect(&segment.fleet, &one.fleet, 0), true);
	EQUAL("two", fleet_host_elect(&segment.fleet, &two.fleet, 0), false);
	question = one.fleet.question;
	EQUAL("wants nothing", question.wanted, 0);
	EQUAL("tells nothing", (int64_t)question.count, 0);
	EQUAL("changes nothing", question.first, false);
	for (int i = 0; i < 3; i++)
		tell(&one, &segment, RESULT_SUCCESS, 0);
	EQUAL("no clock",
	    fleet_host_claim(&segment.fleet, &segment.window, &one.fleet, 0),
	    false);
	fleet_host_elect(&segment.fleet, &one.fleet, 0);
	settle(&one, &segment, FLEET_ANSWERED, 0, 0);
	EQUAL("not denied", decides(&two, &segment, 0), HOST_ASK);
	EQUAL("told", told(&two).successes, 3);
	EQUAL("nothing left",
	    fleet_host_claim(&segment.fleet, &segment.window, &one.fleet, 0),
	    false);
	tell(&one, &segment, RESULT_SUCCESS, SECONDS(1));
	EQUAL("left",
	    fleet_host_claim(
		&segment.fleet, &segment.window, &one.fleet, SECONDS(1)),
	    true);
	EQUAL("told", told(&one).successes, 1);
	settle(&one, &segment, FLEET_SENT, 0, SECONDS(1));
	settle(&two, &segment, FLEET_SILENT, 0, SECONDS(1));
	EQUAL("while the server is down nobody is elected",
	    fleet_host_elect(&segment.fleet, &two.fleet, SECONDS(1)), false);
}

static void
test_the_first_question_tells(void)
{
	const struct fleet_answer stale = { .code = FLEET_STALE,
		.now = SERVER + MS(100) };
	struct segment segment = make(10);
	struct fleet_question question;
	struct member one, two;

	join(&one, &usual);
	join(&two, &usual);
	for (int i = 0; i < 3; i++)
		tell(&one, &segment, RESULT_SUCCESS, 0);
	EQUAL("asks", decides(&one, &segment, MS(1000)), HOST_ASK);
	question = one.fleet.question;
	EQUAL("told", told(&one).successes, 3);
	/* The question and its second try end before their ages are too low. */
	EQUAL("age", question.told[0].age, MS(1000 + 2 * 250));
	EQUAL("first the time", question.by, FLEET_BY_PAST);
	fleet_host_store(
	    &segment.fleet, &one.fleet, FLEET_SILENT, &stale, MS(1250));
	EQUAL("asks", decides(&two, &segment, SECONDS(5)), HOST_ASK);
	question = two.fleet.question;
	EQUAL("the clock is known", question.by,
	    SERVER + MS(100 + 1) + SECONDS(4) + MS(250));
	EQUAL("lost", (int64_t)question.count, 0);
}

/* random: as a part of all random numbers, in 65536ths. */
static bool
elects(int64_t hosts, uint64_t random)
{
	const struct fleet_answer answer = { .now = SERVER, .hosts = hosts };
	struct segment segment = make(10);
	struct member one;

	join(&one, &usual);
	one.fleet.random = random << 48;
	fleet_host_store(
	    &segment.fleet, &one.fleet, FLEET_ANSWERED, &answer, 0);
	return fleet_host_elect(&segment.fleet, &one.fleet, 0);
}

static void
test_a_thousand_hosts_tell(void)
{
	EQUAL("hosts not known", elects(0, 65535), true);
	EQUAL("all of a thousand", elects(1000, 65535), true);
	EQUAL("a tenth of ten thousand", elects(10000, 6553), true);
	EQUAL("and no more", elects(10000, 6554), false);
	EQUAL("nobody else", elects(10000, 65535), false);
	EQUAL("a hundredth", elects(100000, 655), true);
	EQUAL("and no more", elects(100000, 656), false);
}

static void (*const tests[])(void) = {
	test_a_retry_needs_a_grant,
	test_commands_may_have_other_limits,
	test_a_denial_by_the_fleet,
	test_a_wait_ends_with_a_denial,
	test_the_window_comes_first,
	test_a_pause_after_a_denial_by_the_fleet,
	test_a_probe_needs_no_grant,
	test_a_recovery_is_slower_in_a_fleet,
	test_without_an_answer_the_host_is_alone,
	test_a_question_that_was_cut,
	test_successes,
	test_the_first_question_tells,
	test_a_thousand_hosts_tell,
};

UNIT(tests);
