/*
 * admission: which attempts may begin, what is counted, and what results
 * change, with a segment in memory.
 */
#include "unit.h"
#include "budget/admission.h"
#include "budget/ramp.h"

#define SECONDS(n) ((nanos)((n)*NANOS_SECOND))

/* Opens after three failures, for 10 s, 20 s, and then 35 s. */
#define BREAKER \
	{ \
		3, SECONDS(10), SECONDS(35) \
	}

static const struct budget_config usual = { .key = "api",
	.terms = { -1, -1, -1 } };
static const struct budget_config careful = {
	.key = "api", .terms = { -1, -1, -1 }, .breaker = BREAKER
};
static const struct budget_config cooling = {
	.key = "api", .terms = { -1, -1, -1 }, .cooldown = SECONDS(5)
};

/* The end of an attempt. */
struct ending {
	enum attempt_result result;
	bool completed;
};

static const struct ending succeeded = { RESULT_SUCCESS, true };
static const struct ending repeated = { RESULT_SUCCESS, false };
static const struct ending healthy = { RESULT_HEALTHY, false };
static const struct ending failure = { RESULT_FAILURE, false };
static const struct ending ignored = { RESULT_IGNORED, false };

/* A segment with slices of a second, made at 0. */
static struct segment
make(int64_t ratio, int64_t min)
{
	struct terms terms = { ratio, min, SECONDS(60) };
	struct origin origin = { .base = 0 };
	struct segment segment;

	segment_make(&segment, "api", &terms, &origin);
	return segment;
}

static struct caller
caller_of(const struct budget_config *config)
{
	return (struct caller){
		.config = config, .uses_breaker = true, .deposits = true
	};
}

static struct admission
ask(struct caller *caller, struct segment *segment, bool retry, nanos now)
{
	return admission_ask(caller, segment, &segment->header, retry, now);
}

/* Why a new invocation is denied. */
static enum admission_answer
denied(struct segment *segment, const struct budget_config *config, bool retry,
    nanos now)
{
	struct caller caller = caller_of(config);

	return ask(&caller, segment, retry, now).answer;
}

static void
tell(struct caller *caller, struct segment *segment,
    const struct ending *ending, nanos now)
{
	admission_tell(caller, segment, &segment->header, ending->result,
	    ending->completed, now);
}

static void
look(struct caller *caller, struct segment *segment)
{
	admission_look(caller, segment, &segment->header, 0);
}

/* Checks the counters and the window. */
static void
check_counts(const char *row, struct segment *segment, int64_t retries,
    int64_t refused, nanos now)
{
	struct window_sums sums =
	    window_look(&segment->window, segment_epoch(&segment->header, now));

	EQUAL(row, sums.retries, retries);
	EQUAL(row, (int64_t)segment->retries, retries);
	EQUAL(row, (int64_t)segment->denied, refused);
	EQUAL(row, (int64_t)segment->firsts, 0);
	EQUAL(row, (int64_t)segment->successes, 0);
}

/* Checks the retries admitted by the breaker, which the window does not count.
 */
static void
check_let_in(const char *row, const struct segment *segment, int64_t probes,
    int64_t turns)
{
	EQUAL(row, (int64_t)segment->probes, probes);
	EQUAL(row, (int64_t)segment->turns, turns);
}

/* Makes the breaker open. */
static void
fail_thrice(struct segment *segment, nanos now)
{
	struct caller caller = caller_of(&careful);

	caller.counted = true;
	for (int i = 0; i < 3; i++)
		tell(&caller, segment, &failure, now);
	EQUAL("open", breaker_look(&segment->breaker, now).state, BREAKER_OPEN);
}

/* A segment whose breaker has been recovering since 10 s. */
static struct segment
recovering(int64_t ratio, int64_t min)
{
	struct segment segment = make(ratio, min);
	struct caller probe = caller_of(&careful);

	probe.counted = true;
	fail_thrice(&segment, 0);
	EQUAL("probe", ask(&probe, &segment, false, SECONDS(10)).answer,
	    ADMISSION_GRANTED);
	tell(&probe, &segment, &healthy, SECONDS(10));
	EQUAL("recovers", breaker_look(&segment.breaker, SECONDS(10)).state,
	    BREAKER_RECOVERING);
	return segment;
}

/*
 * The budget
 */

static void
test_a_first_attempt_costs_nothing(void)
{
	struct segment segment = make(0, 0);

	for (int i = 0; i < 100; i++)
		EQUAL("first", denied(&segment, &usual, false, 0),
		    ADMISSION_GRANTED);
	check_counts("first", &segment, 0, 0, 0);
}

static void
test_retries_within_the_allowance(void)
{
	struct segment segment = make(0, 2);
	struct caller caller = caller_of(&usual);
	struct admission admission;

	EQUAL("1", ask(&caller, &segment, true, 0).answer, ADMISSION_GRANTED);
	admission = ask(&caller, &segment, true, SECONDS(1.5));
	EQUAL("2", admission.answer, ADMISSION_GRANTED);
	EQUAL("2", admission.sums.retries, 2);
	EQUAL("2", admission.terms.min, 2);
	EQUAL("2", admission.terms.ratio, 0);
	EQUAL("2", admission.terms.window, SECONDS(60));
	HOLDS("2", !caller.corrupt && !caller.differs);
	check_counts("2", &segment, 2, 0, SECONDS(2));
	admission = ask(&caller, &segment, true, SECONDS(2.25));
	EQUAL("3", admission.answer, ADMISSION_DENIED);
	/* The first one's slice is out of the window, at its longest. */
	EQUAL("3", admission.next, SECONDS(61 - 2.25));
	HOLDS("3", !admission.never && !admission.cooling);
	EQUAL("3", admission.sums.retries, 2);
	check_counts("3", &segment, 2, 1, SECONDS(2));
	EQUAL("later", ask(&caller, &segment, true, SECONDS(61)).answer,
	    ADMISSION_GRANTED);
}

/* An attempt that asks again and again is counted once as denied. */
static void
test_a_waiting_attempt_is_denied_once(void)
{
	struct segment segment = make(0, 0);
	struct caller caller = caller_of(&usual);

	for (int i = 0; i < 9; i++)
		ask(&caller, &segment, true, 0);
	check_counts("waits", &segment, 0, 1, 0);
	EQUAL("first", ask(&caller, &segment, false, 0).answer,
	    ADMISSION_GRANTED);
	ask(&caller, &segment, true, 0);
	check_counts("anew", &segment, 0, 2, 0);
}

static void
test_a_retry_that_only_a_success_allows(void)
{
	static const struct {
		const char *row;
		int64_t ratio;
		bool never;
	} rows[] = {
		{ "nothing pays", 0, true },
		{ "a success would", WINDOW_RATIO_ONE, false },
	};

	for (size_t i = 0; i < LENGTH(rows); i++) {
		struct segment segment = make(rows[i].ratio, 0);
		struct caller caller = caller_of(&usual);
		struct admission admission = ask(&caller, &segment, true, 0);

		EQUAL(rows[i].row, admission.answer, ADMISSION_DENIED);
		EQUAL(rows[i].row, admission.next, NANOS_MAX);
		EQUAL(rows[i].row, admission.never, rows[i].never);
		tell(&caller, &segment, &succeeded, 0);
		EQUAL(rows[i].row, ask(&caller, &segment, true, 0).answer,
		    rows[i].never ? ADMISSION_DENIED : ADMISSION_GRANTED);
	}
}

static void
test_a_pause_after_a_denial(void)
{
	struct segment segment = make(WINDOW_RATIO_ONE, 0);
	struct caller caller = caller_of(&cooling), other = caller_of(&usual);
	struct admission admission = ask(&caller, &segment, true, SECONDS(1));

	EQUAL("denied", admission.answer, ADMISSION_DENIED);
	EQUAL("denied", admission.next, NANOS_MAX);
	HOLDS("denied", !admission.cooling);
	tell(&other, &segment, &succeeded, SECONDS(1));
	/* For all processes, whatever the window would grant. */
	admission = ask(&other, &segment, true, SECONDS(2));
	EQUAL("cooling", admission.answer, ADMISSION_DENIED);
	EQUAL("cooling", admission.next, SECONDS(4));
	HOLDS("cooling", admission.cooling);
	EQUAL("cooling", admission.sums.successes, 1);
	EQUAL("first", ask(&other, &segment, false, SECONDS(2)).answer,
	    ADMISSION_GRANTED);
	/* A denial during the pause does not prolong it. */
	ask(&caller, &segment, true, SECONDS(5));
	admission = ask(&caller, &segment, true, SECONDS(6));
	EQUAL("over", admission.answer, ADMISSION_GRANTED);
	HOLDS("over", !admission.cooling);
}

static void
test_lengths_of_the_pause(void)
{
	struct segment segment = make(0, 0);
	struct budget_config longer = cooling, shorter = cooling;
	struct caller caller = caller_of(&usual);

	longer.cooldown = SECONDS(20);
	shorter.cooldown = SECONDS(1);
	denied(&segment, &longer, true, 0);
	EQUAL("longer", (int64_t)segment.cooldown, SECONDS(20));
	denied(&segment, &shorter, true, SECONDS(1));
	EQUAL("shorter", (int64_t)segment.cooldown, SECONDS(20));
	denied(&segment, &usual, true, SECONDS(30));
	EQUAL("none", (int64_t)segment.cooldown, SECONDS(20));
	/* A pause of more than a day is corrupt. */
	segment = make(0, 1);
	segment.cooldown = (uint64_t)NANOS_DAY + 1;
	EQUAL("nonsense", ask(&caller, &segment, true, 0).answer,
	    ADMISSION_GRANTED);
	segment = make(0, 1);
	segment.cooldown = UINT64_MAX;
	EQUAL("nonsense", ask(&caller, &segment, true, 0).answer,
	    ADMISSION_GRANTED);
	segment = make(0, 1);
	segment.cooldown = (uint64_t)NANOS_DAY;
	EQUAL(
	    "a day", ask(&caller, &segment, true, 0).answer, ADMISSION_DENIED);
}

/* After a minute in which so many attempts succeeded, and so many retries were
 * made in its third second. */
static void
test_a_denial_that_is_foreseen(void)
{
	struct budget_config waits = usual, short_pause = cooling;
	static const struct {
		const char *row;
		int64_t successes, retries;
		nanos delay, pause;
		enum admission_answer denied;
		nanos next;
	} rows[] = {
		{ "one is left", 0, 9, SECONDS(0), 0, ADMISSION_GRANTED, 0 },
		{ "now", 0, 10, 0, 0, ADMISSION_DENIED, SECONDS(4) },
		{ "too soon", 0, 10, SECONDS(3.9), 0, ADMISSION_DENIED,
		    SECONDS(4) },
		{ "one is free then", 0, 10, SECONDS(4), 0, ADMISSION_GRANTED,
		    0 },
		{ "not all that count", 0, 11, SECONDS(3.9), 0,
		    ADMISSION_DENIED, SECONDS(4) },
		{ "too few succeed", 100, 20, SECONDS(2), 0, ADMISSION_DENIED,
		    SECONDS(4) },
		{ "enough succeed", 120, 24, SECONDS(2.5), 0, ADMISSION_GRANTED,
		    0 },
		{ "the pause is over", 0, 9, SECONDS(3), SECONDS(3),
		    ADMISSION_GRANTED, 0 },
		{ "the pause is longer", 0, 9, SECONDS(3), SECONDS(3.1),
		    ADMISSION_DENIED, SECONDS(3.1) },
	};

	waits.wait = 1;
	short_pause.cooldown = SECONDS(1);
	for (size_t i = 0; i < LENGTH(rows); i++) {
		const char *row = rows[i].row;
		nanos now = SECONDS(60);
		struct segment segment = make(-1, -1);
		struct caller caller = caller_of(&short_pause);
		struct caller others[] = { caller_of(&waits),
			caller_of(&careful) };
		struct admission admission;

		for (int64_t n = 0; n < rows[i].successes; n++)
			tell(&caller, &segment, &succeeded, SECONDS(3));
		for (int64_t n = 0; n < rows[i].retries; n++)
			window_withdraw(&segment.window,
			    &(struct terms){ 0, 1000, 0 }, 3, &admission.sums);
		if (rows[i].pause > 0)
			segment.cooldown = (uint64_t)(now + rows[i].pause);
		for (size_t j = 0; j < LENGTH(others); j++)
			EQUAL(row,
			    admission_foresee(&others[j], &segment,
				&segment.header, rows[i].delay, now)
				.answer,
			    ADMISSION_GRANTED);
		EQUAL(row, (int64_t)segment.denied, 0);
		admission = admission_foresee(
		    &caller, &segment, &segment.header, rows[i].delay, now);
		EQUAL(row, admission.answer, rows[i].denied);
		EQUAL(row, admission.next, rows[i].next);
		EQUAL(row, (int64_t)segment.denied,
		    rows[i].denied == ADMISSION_DENIED);
		/* A denial begins the pause, and nothing is withdrawn. */
		EQUAL(row, segment_cooldown(&segment, now),
		    rows[i].pause > 0                        ? rows[i].pause
			: rows[i].denied == ADMISSION_DENIED ? SECONDS(1)
							     : 0);
		EQUAL(row,
		    window_look(
			&segment.window, segment_epoch(&segment.header, now))
			.retries,
		    rows[i].retries);
	}
}

/*
 * The breaker
 */

static void
test_the_breaker_denies_any_attempt(void)
{
	for (int retry = 0; retry < 2; retry++) {
		struct segment segment = make(-1, -1);
		struct caller caller = caller_of(&careful);
		struct admission admission;

		fail_thrice(&segment, 0);
		admission = ask(&caller, &segment, retry, SECONDS(4));
		EQUAL("held", admission.answer, ADMISSION_HELD);
		EQUAL("held", admission.next, SECONDS(6));
		EQUAL("held", admission.breaker.state, BREAKER_OPEN);
		EQUAL("held", admission.breaker.failures, 3);
		EQUAL("held", admission.breaker.next, SECONDS(6));
		HOLDS("held", caller.lease == 0 && !admission.never);
		check_counts("held", &segment, 0, 1, SECONDS(4));
	}
}

/* Then the window is not asked, and no pause begins. */
static void
test_the_breaker_comes_first(void)
{
	struct segment segment = make(0, 0);
	struct budget_config config = careful;

	config.cooldown = SECONDS(5);
	fail_thrice(&segment, 0);
	EQUAL("open", denied(&segment, &config, true, SECONDS(1)),
	    ADMISSION_HELD);
	EQUAL("open", (int64_t)segment.cooldown, 0);
	/* Nor is it asked for the probe. */
	EQUAL("due", denied(&segment, &config, true, SECONDS(10)),
	    ADMISSION_GRANTED);
	EQUAL("due", (int64_t)segment.cooldown, 0);
	check_counts("due", &segment, 0, 1, SECONDS(10));
	check_let_in("due", &segment, 1, 0);
}

/* If each item of the work fails at first, a first attempt fails as the probe,
 * but the retry of an item may succeed. */
static void
test_the_probe_is_left_to_a_retry_that_waits(void)
{
	struct segment segment = make(-1, -1);
	struct budget_config config = careful;
	struct caller first = caller_of(&config), second = caller_of(&config);
	struct admission admission;

	config.wait = SECONDS(60);
	fail_thrice(&segment, 0);
	EQUAL("waits", ask(&second, &segment, true, SECONDS(9)).answer,
	    ADMISSION_HELD);
	admission = ask(&first, &segment, false, SECONDS(9.5));
	EQUAL("open", admission.answer, ADMISSION_HELD);
	EQUAL("open", admission.next, SECONDS(1.5));
	admission = ask(&first, &segment, false, SECONDS(10));
	EQUAL("due", admission.answer, ADMISSION_HELD);
	EQUAL("due", admission.next, SECONDS(1));
	EQUAL("due", admission.breaker.state, BREAKER_OPEN);
	EQUAL("due", admission.breaker.failures, 3);
	HOLDS("due", first.lease == 0);
	EQUAL("retry", ask(&second, &segment, true, SECONDS(10.5)).answer,
	    ADMISSION_GRANTED);
	HOLDS("retry", second.lease != 0);
	admission = ask(&first, &segment, false, SECONDS(10.75));
	EQUAL("half-open", admission.breaker.state, BREAKER_HALF_OPEN);
	EQUAL("half-open", admission.next, SECONDS(2.75));
	tell(&second, &segment, &succeeded, SECONDS(10.8));
	EQUAL("recovering", ask(&first, &segment, false, SECONDS(10.9)).answer,
	    ADMISSION_GRANTED);
	check_let_in("all", &segment, 1, 0);
}

/* Asks 2 s after a retry that waited; or earlier, after one that did not. */
static void
test_the_probe_is_not_left_to_a_retry_that_has_gone(void)
{
	static const struct {
		const char *row;
		uint64_t waiting;
		enum admission_answer denied;
	} rows[] = {
		{ "never", 0, ADMISSION_GRANTED },
		{ "now", SECONDS(10), ADMISSION_HELD },
		{ "just now", SECONDS(8) + 1, ADMISSION_HELD },
		{ "2 s ago", SECONDS(8), ADMISSION_GRANTED },
		{ "by a clock that is ahead", SECONDS(12) - 1, ADMISSION_HELD },
		{ "in the future", SECONDS(12), ADMISSION_GRANTED },
		{ "corrupt", INT64_MAX, ADMISSION_GRANTED },
		{ "corrupt", UINT64_MAX, ADMISSION_GRANTED },
		{ "corrupt", UINT64_C(1) << 63, ADMISSION_GRANTED },
	};

	for (size_t i = 0; i < LENGTH(rows); i++) {
		struct segment segment = make(-1, -1);

		fail_thrice(&segment, 0);
		atomic_store(&segment.waiting, rows[i].waiting);
		EQUAL(rows[i].row,
		    denied(&segment, &careful, false, SECONDS(10)),
		    rows[i].denied);
	}
	struct segment segment = make(-1, -1);

	fail_thrice(&segment, 0);
	EQUAL("it gives up", denied(&segment, &careful, true, SECONDS(9)),
	    ADMISSION_HELD);
	EQUAL("it gives up", (int64_t)segment.waiting, 0);
}

static void
test_an_attempt_that_does_not_ask_the_breaker(void)
{
	struct segment segment = make(-1, -1);
	struct caller inner = caller_of(&careful);

	fail_thrice(&segment, 0);
	inner.uses_breaker = false;
	EQUAL("inner", ask(&inner, &segment, true, SECONDS(4)).answer,
	    ADMISSION_GRANTED);
	EQUAL("inner", ask(&inner, &segment, false, SECONDS(10)).answer,
	    ADMISSION_GRANTED);
	EQUAL("none", denied(&segment, &usual, true, SECONDS(4)),
	    ADMISSION_GRANTED);
	EQUAL("none", denied(&segment, &usual, true, SECONDS(10)),
	    ADMISSION_GRANTED);
	HOLDS("no probe", inner.lease == 0);
	check_counts("both", &segment, 3, 0, SECONDS(10));
	EQUAL("both", breaker_look(&segment.breaker, SECONDS(10)).state,
	    BREAKER_OPEN);
}

static const struct {
	const char *row;
	enum attempt_result breaker;
	enum breaker_state state;
	nanos next;
} findings[] = {
	{ "healthy", RESULT_HEALTHY, BREAKER_RECOVERING, 0 },
	{ "failure", RESULT_FAILURE, BREAKER_OPEN, SECONDS(20) },
	{ "ignored", RESULT_IGNORED, BREAKER_OPEN, 0 },
};

static void
test_a_probe_and_its_result(void)
{
	for (size_t i = 0; i < LENGTH(findings); i++) {
		struct segment segment = make(-1, -1);
		struct caller caller = caller_of(&careful), other = caller;
		const struct ending effect = { findings[i].breaker, false };
		struct breaker_view view;

		fail_thrice(&segment, 0);
		other.lease = 7; /* is overwritten */
		EQUAL(findings[i].row,
		    ask(&caller, &segment, i % 2 == 0, SECONDS(10)).answer,
		    ADMISSION_GRANTED);
		HOLDS(findings[i].row, caller.lease != 0);
		EQUAL(findings[i].row,
		    ask(&other, &segment, false, SECONDS(10)).answer,
		    ADMISSION_HELD);
		HOLDS(findings[i].row, other.lease == 0);
		other = caller;
		tell(&caller, &segment, &effect, SECONDS(10));
		HOLDS(findings[i].row, caller.lease == 0 && caller.counted);
		view = breaker_look(&segment.breaker, SECONDS(10));
		EQUAL(findings[i].row, view.state, findings[i].state);
		EQUAL(findings[i].row, view.next, findings[i].next);
		/* The same result again changes nothing. */
		tell(&other, &segment, &effect, SECONDS(10));
		EQUAL(findings[i].row,
		    breaker_look(&segment.breaker, SECONDS(10)).state,
		    findings[i].state);
	}
}

/* Budgets that grant no retry. */
static const struct {
	const char *row;
	int64_t ratio, min;
	int64_t used;
	nanos pause; /* after a denial */
} empty[] = {
	{ "none ever", 0, 0, 0, 0 },
	{ "none without a success", WINDOW_RATIO_ONE, 0, 0, 0 },
	{ "all used up", 0, 3, 3, 0 },
	{ "a pause", 0, 9, 0, SECONDS(2) },
};

/* Uses up all retries that the window grants. */
static void
use_up(struct segment *segment, size_t i, nanos now)
{
	for (int64_t j = 0; j < empty[i].used; j++)
		EQUAL(empty[i].row, denied(segment, &usual, true, now),
		    ADMISSION_GRANTED);
	if (empty[i].pause > 0)
		segment->cooldown = (uint64_t)(now + empty[i].pause);
	EQUAL(
	    empty[i].row, denied(segment, &usual, true, now), ADMISSION_DENIED);
}

static void
test_a_probe_needs_no_allowance(void)
{
	for (size_t i = 0; i < LENGTH(empty); i++) {
		const char *row = empty[i].row;
		struct segment segment = make(empty[i].ratio, empty[i].min);
		struct caller caller = caller_of(&careful), other = caller;
		struct admission admission;

		caller.counted = true;
		fail_thrice(&segment, 0);
		use_up(&segment, i, SECONDS(10));
		admission = ask(&caller, &segment, true, SECONDS(10));
		EQUAL(row, admission.answer, ADMISSION_GRANTED);
		HOLDS(row, caller.lease != 0 && !caller.waits);
		/* One probe at a time; the next pause is twice as long. */
		EQUAL(row, ask(&other, &segment, true, SECONDS(10)).answer,
		    ADMISSION_HELD);
		tell(&caller, &segment, &failure, SECONDS(10));
		EQUAL(row, ask(&other, &segment, true, SECONDS(29)).answer,
		    ADMISSION_HELD);
		EQUAL(row, ask(&other, &segment, true, SECONDS(30)).answer,
		    ADMISSION_GRANTED);
		HOLDS(row, other.lease != 0);
		check_counts(row, &segment, empty[i].used, 2, SECONDS(30));
		check_let_in(row, &segment, 2, 0);
	}
}

/* A first attempt that is a probe or a turn is not a retry. */
static void
test_admitted_first_attempts_are_not_counted(void)
{
	struct segment segment = make(-1, -1);
	struct caller probe = caller_of(&careful);
	const nanos now = SECONDS(10);

	fail_thrice(&segment, 0);
	EQUAL("probe", ask(&probe, &segment, false, now).answer,
	    ADMISSION_GRANTED);
	tell(&probe, &segment, &succeeded, now);
	for (int i = 0; i < RAMP_LEAST; i++)
		EQUAL("turn", denied(&segment, &careful, false, now),
		    ADMISSION_GRANTED);
	check_let_in("first", &segment, 0, 0);
}

/*
 * Recovery
 */

static void
test_the_turns_of_a_recovery(void)
{
	const nanos now = SECONDS(10);

	for (int retry = 0; retry < 2; retry++) {
		struct segment segment = recovering(0, RAMP_LEAST);
		struct caller caller = caller_of(&careful);
		struct admission admission;

		for (int i = 0; i < RAMP_LEAST; i++)
			EQUAL("let in", denied(&segment, &careful, retry, now),
			    ADMISSION_GRANTED);
		check_counts("let in", &segment, 0, 0, now);
		check_let_in("let in", &segment, 0, retry ? RAMP_LEAST : 0);
		admission = ask(&caller, &segment, retry, now);
		EQUAL("held", admission.answer, ADMISSION_HELD);
		EQUAL("held", admission.breaker.state, BREAKER_RECOVERING);
		HOLDS("held", admission.breaker.rate > 0);
		EQUAL("held", admission.next, RAMP_STEP / RAMP_FIRST);
		HOLDS("held", caller.lease == 0);
		check_counts("held", &segment, 0, 1, now);
	}
}

/* So no turn is taken in vain by a retry that the window denies. */
static void
test_a_turn_needs_no_allowance(void)
{
	const nanos now = SECONDS(10);

	for (size_t i = 0; i < LENGTH(empty); i++) {
		const char *row = empty[i].row;
		struct segment segment =
		    recovering(empty[i].ratio, empty[i].min);
		struct caller caller = caller_of(&careful);
		struct admission admission;

		use_up(&segment, i, now);
		for (int j = 0; j < RAMP_LEAST; j++)
			EQUAL(row, denied(&segment, &careful, true, now),
			    ADMISSION_GRANTED);
		for (int j = 0; j < 99; j++) {
			admission = ask(&caller, &segment, true, now);
			EQUAL(row, admission.answer, ADMISSION_HELD);
			EQUAL(row, admission.next, RAMP_STEP / RAMP_FIRST);
		}
		check_counts(row, &segment, empty[i].used, 2, now);
		check_let_in(row, &segment, 0, RAMP_LEAST);
	}
}

/* The retry that finds the recovery over, and all later ones. */
static void
test_the_window_counts_what_a_closed_breaker_passes(void)
{
	const nanos now = SECONDS(30);

	for (size_t i = 0; i < LENGTH(empty); i++) {
		const char *row = empty[i].row;
		struct segment segment =
		    recovering(empty[i].ratio, empty[i].min);
		struct caller caller = caller_of(&careful);

		use_up(&segment, i, now);
		EQUAL(row, breaker_look(&segment.breaker, now).state,
		    BREAKER_CLOSED);
		HOLDS(row, segment.breaker.word >> 62 == BREAKER_RECOVERING);
		for (int j = 0; j < 2; j++)
			EQUAL(row, ask(&caller, &segment, true, now).answer,
			    ADMISSION_DENIED);
		HOLDS(row, segment.breaker.word >> 62 == BREAKER_CLOSED);
		check_counts(row, &segment, empty[i].used, 2, now);
		check_let_in(row, &segment, 0, 0);
	}
}

/* Also those of a retry, and of an attempt that did not ask the breaker. */
static void
test_results_from_before_a_recovery_are_ignored(void)
{
	static const struct budget_config *const configs[] = { &careful,
		&usual };

	for (int i = 0; i < 4; i++) {
		struct segment segment = recovering(-1, 100);
		struct caller late = caller_of(configs[i / 2]), present = late;
		bool retry = i % 2 != 0;

		if (admission_begin(&late, retry, SECONDS(9)))
			late.began = SECONDS(9);
		if (admission_begin(&present, retry, SECONDS(10)))
			EQUAL("present",
			    ask(&present, &segment, retry, SECONDS(10)).answer,
			    ADMISSION_GRANTED);
		tell(&late, &segment, &failure, SECONDS(10));
		EQUAL("late",
		    breaker_look(&segment.breaker, SECONDS(10)).failures, 0);
		tell(&present, &segment, &failure, SECONDS(10));
		EQUAL("present",
		    breaker_look(&segment.breaker, SECONDS(10)).failures, 1);
		tell(&late, &segment, &succeeded, SECONDS(10));
		EQUAL("late",
		    breaker_look(&segment.breaker, SECONDS(10)).failures, 1);
		EQUAL("late", (int64_t)segment.successes, 1);
	}
}

static void
test_after_a_recovery_all_is_as_usual(void)
{
	struct segment segment = recovering(0, 1);

	EQUAL("closed", denied(&segment, &careful, true, SECONDS(30)),
	    ADMISSION_GRANTED);
	EQUAL("closed", denied(&segment, &careful, true, SECONDS(30)),
	    ADMISSION_DENIED);
	for (int i = 0; i < 100; i++)
		EQUAL("closed", denied(&segment, &careful, false, SECONDS(30)),
		    ADMISSION_GRANTED);
	EQUAL("closed", breaker_look(&segment.breaker, SECONDS(30)).state,
	    BREAKER_CLOSED);
	HOLDS("closed", segment.breaker.word >> 62 == BREAKER_CLOSED);
	check_counts("closed", &segment, 1, 1, SECONDS(30));
	check_let_in("closed", &segment, 0, 0);
}

/*
 * The lease of a probe
 */

static void
test_a_lease_is_renewed(void)
{
	struct segment segment = make(-1, -1);
	struct caller caller = caller_of(&careful), other = caller;
	const struct header *header = &segment.header;

	EQUAL("none", admission_nap(&caller, 0), NANOS_MAX);
	fail_thrice(&segment, 0);
	ask(&caller, &segment, false, SECONDS(10));
	EQUAL("new", admission_nap(&caller, SECONDS(10)), BREAKER_RENEWAL);
	EQUAL("due", admission_nap(&caller, SECONDS(11)), 0);
	EQUAL("late", admission_nap(&caller, SECONDS(12)), 0);
	admission_renew(&caller, &segment, header, SECONDS(12));
	HOLDS("renewed", caller.lease != 0 && !caller.lost_lease);
	EQUAL("renewed", admission_nap(&caller, SECONDS(12)), BREAKER_RENEWAL);
	/* Stopped for longer than the lease, it finds another probe. */
	EQUAL("other", ask(&other, &segment, false, SECONDS(14)).answer,
	    ADMISSION_HELD);
	ask(&other, &segment, false, SECONDS(15));
	HOLDS("other", other.lease != 0);
	admission_renew(&caller, &segment, header, SECONDS(15));
	HOLDS("lost lease", caller.lease == 0 && caller.lost_lease);
	EQUAL("lost lease", admission_nap(&caller, SECONDS(15)), NANOS_MAX);
	tell(&caller, &segment, &failure, SECONDS(15));
	EQUAL("lost lease", breaker_look(&segment.breaker, SECONDS(15)).state,
	    BREAKER_HALF_OPEN);
	EQUAL("lost lease",
	    breaker_look(&segment.breaker, SECONDS(15)).failures, 3);
	/* Its next attempt counts again. */
	ask(&caller, &segment, false, SECONDS(15));
	HOLDS("next", !caller.lost_lease && caller.waits);
}

static void
test_which_attempts_have_to_ask(void)
{
	static const struct budget_config nothing = { .key = NULL };
	static const struct {
		const char *row;
		const struct budget_config *config;
		bool first, retry;
	} rows[] = {
		{ "no budget", &nothing, false, false },
		{ "budget", &usual, false, true },
		{ "breaker", &careful, true, true },
	};

	for (size_t i = 0; i < LENGTH(rows); i++) {
		struct caller caller = caller_of(rows[i].config);

		caller.lost_lease = true;
		EQUAL(rows[i].row, admission_begin(&caller, false, 7),
		    rows[i].first);
		EQUAL(rows[i].row, caller.began, 7);
		HOLDS(rows[i].row, !caller.lost_lease);
		EQUAL(rows[i].row, admission_begin(&caller, true, 8),
		    rows[i].retry);
		EQUAL(rows[i].row, caller.began, 8);
	}
}

/*
 * What is told
 */

static const struct {
	const char *row;
	struct caller caller; /* without its config */
	const struct ending *ending;
	int64_t firsts, successes, paid, failures;
} tellings[] = {
	{ "first, healthy", { .deposits = true, .uses_breaker = true },
	    &succeeded, 1, 1, 1, 0 },
	{ "first, no deposit", { .uses_breaker = true }, &succeeded, 1, 1, 0,
	    0 },
	{ "retry, healthy",
	    { .deposits = true, .uses_breaker = true, .counted = true },
	    &succeeded, 0, 1, 1, 0 },
	{ "first, failure", { .deposits = true, .uses_breaker = true },
	    &failure, 1, 0, 0, 2 },
	{ "retry, failure",
	    { .deposits = true, .uses_breaker = true, .counted = true },
	    &failure, 0, 0, 0, 2 },
	{ "an answer", { .deposits = true, .uses_breaker = true }, &healthy, 1,
	    0, 0, 1 },
	{ "ignored", { .deposits = true, .uses_breaker = true }, &ignored, 1, 0,
	    0, 1 },
	{ "within another's", { .deposits = true, .uses_breaker = false },
	    &failure, 1, 0, 0, 1 },
	{ "within another's, success",
	    { .deposits = true, .uses_breaker = false }, &succeeded, 1, 1, 1,
	    1 },
	{ "lost lease",
	    { .deposits = true, .uses_breaker = true, .lost_lease = true },
	    &failure, 1, 0, 0, 1 },
	{ "lost lease, success",
	    { .deposits = true, .uses_breaker = true, .lost_lease = true },
	    &succeeded, 1, 1, 1, 1 },
	{ "a lease that is gone",
	    { .deposits = true, .uses_breaker = true, .lease = 7 }, &failure, 1,
	    0, 0, 1 },
};

static void
test_results_of_attempts(void)
{
	for (size_t i = 0; i < LENGTH(tellings); i++) {
		struct segment segment = make(-1, -1);
		struct caller one = caller_of(&careful);
		struct caller caller = tellings[i].caller;
		struct window_sums sums;

		one.counted = true;
		caller.config = &careful;
		tell(&one, &segment, &failure, 0);
		tell(&caller, &segment, tellings[i].ending, SECONDS(1));
		HOLDS(tellings[i].row, !caller.corrupt && !caller.differs);
		EQUAL(tellings[i].row, caller.terms.window, SECONDS(60));
		EQUAL(tellings[i].row, (int64_t)segment.firsts,
		    tellings[i].firsts);
		EQUAL(tellings[i].row, (int64_t)segment.successes,
		    tellings[i].successes);
		sums = window_look(&segment.window, 1);
		EQUAL(tellings[i].row, sums.successes, tellings[i].paid);
		EQUAL(tellings[i].row,
		    breaker_look(&segment.breaker, 0).failures,
		    tellings[i].failures);
	}
}

/* A success that has to be repeated is one only for the breaker. */
static void
test_a_success_among_several(void)
{
	struct segment segment = make(-1, -1);
	struct caller caller = caller_of(&careful);
	struct window_sums sums;

	tell(&caller, &segment, &failure, 0);
	EQUAL("repeat", breaker_look(&segment.breaker, 0).failures, 1);
	tell(&caller, &segment, &repeated, 0);
	EQUAL("repeat", breaker_look(&segment.breaker, 0).failures, 0);
	EQUAL("repeat", (int64_t)segment.successes, 0);
	sums = window_look(&segment.window, segment_epoch(&segment.header, 0));
	EQUAL("repeat", sums.successes, 0);
	tell(&caller, &segment, &succeeded, 0);
	sums = window_look(&segment.window, segment_epoch(&segment.header, 0));
	EQUAL("done", sums.successes, 1);
	EQUAL("done", (int64_t)segment.successes, 1);
	EQUAL("done", (int64_t)segment.firsts, 1);
}

/*
 * Corrupt segments, and limits of others
 */

/* Nothing is done with a corrupt segment, but that is reported. */
static void
test_corrupt_limits(void)
{
	struct segment segment = make(-1, -1);
	struct caller caller = caller_of(&careful);
	struct admission admission;

	fail_thrice(&segment, 0);
	segment.terms = UINT64_MAX;
	look(&caller, &segment);
	HOLDS("look", caller.corrupt);
	for (int retry = 0; retry < 2; retry++) {
		admission = ask(&caller, &segment, retry, SECONDS(10));
		HOLDS("ask", caller.corrupt && caller.lease == 0);
		EQUAL("ask", admission.answer, ADMISSION_GRANTED);
	}
	tell(&caller, &segment, &succeeded, 0);
	HOLDS("tell", caller.corrupt);
	tell(&caller, &segment, &failure, 0);
	HOLDS("tell", caller.corrupt);
	check_counts("none", &segment, 0, 0, SECONDS(10));
	EQUAL("none", breaker_look(&segment.breaker, SECONDS(10)).failures, 3);
	EQUAL("none", breaker_look(&segment.breaker, SECONDS(10)).state,
	    BREAKER_OPEN);
}

static void
test_a_corrupt_window(void)
{
	struct segment segment = make(-1, -1);
	struct caller caller = caller_of(&careful), other = caller_of(&usual);

	fail_thrice(&segment, 0);
	for (int i = 0; i < WINDOW_WORDS; i++)
		segment.window.words[i] = UINT64_MAX;
	look(&caller, &segment);
	HOLDS("look", caller.corrupt);
	EQUAL("look", caller.terms.window, SECONDS(60));
	ask(&other, &segment, true, SECONDS(10));
	HOLDS("ask", other.corrupt && other.lease == 0);
	EQUAL("ask", (int64_t)(segment.denied + segment.retries), 0);
	tell(&caller, &segment, &succeeded, 0);
	HOLDS("tell", caller.corrupt);
	EQUAL("tell", (int64_t)(segment.firsts + segment.successes), 0);
	/* An attempt that does not use the window is not affected. */
	tell(&caller, &segment, &failure, 0);
	HOLDS("failure", !caller.corrupt);
	EQUAL("failure", (int64_t)segment.firsts, 1);
	for (int retry = 0; retry < 2; retry++) {
		ask(&caller, &segment, retry, SECONDS(10));
		HOLDS("probe", !caller.corrupt && caller.lease != 0);
		tell(&caller, &segment, &ignored, 0);
	}
	check_let_in("probe", &segment, 1, 0);
}

static void
test_a_look_changes_nothing(void)
{
	struct segment segment = make(WINDOW_RATIO_ONE, 9);
	struct caller caller = caller_of(&careful);

	look(&caller, &segment);
	HOLDS("good", !caller.corrupt && !caller.differs);
	EQUAL("good", caller.terms.ratio, WINDOW_RATIO_ONE);
	EQUAL("good", caller.terms.min, 9);
	check_counts("good", &segment, 0, 0, 0);
}

static const struct {
	const char *row;
	struct terms terms;
	bool differs;
	int64_t ratio, min;
} numbers[] = {
	{ "nothing given", { -1, -1, -1 }, false, 500000, 5 },
	{ "the same", { 500000, 5, SECONDS(60) }, false, 500000, 5 },
	{ "a lower ratio", { 400000, -1, -1 }, true, 400000, 5 },
	{ "a higher ratio", { 600000, -1, -1 }, true, 500000, 5 },
	{ "fewer", { -1, 4, -1 }, true, 500000, 4 },
	{ "more", { -1, 6, -1 }, true, 500000, 5 },
	{ "another window", { -1, -1, SECONDS(30) }, true, 500000, 5 },
};

/* The stricter of each limit is in force for all; the window stays. */
static void
test_other_limits(void)
{
	for (size_t i = 0; i < LENGTH(numbers); i++)
		for (int how = 0; how < 3; how++) {
			struct segment segment = make(500000, 5);
			struct budget_config config = usual;
			struct caller caller = caller_of(&config);

			config.terms = numbers[i].terms;
			if (how == 0)
				ask(&caller, &segment, true, 0);
			else if (how == 1)
				tell(&caller, &segment, &failure, 0);
			else
				look(&caller, &segment);
			EQUAL(
			    numbers[i].row, caller.differs, numbers[i].differs);
			EQUAL(numbers[i].row, caller.terms.ratio,
			    numbers[i].ratio);
			EQUAL(numbers[i].row, caller.terms.min, numbers[i].min);
			EQUAL(numbers[i].row, caller.terms.window, SECONDS(60));
			EQUAL(numbers[i].row,
			    segment_terms(&segment, &segment.header).min,
			    numbers[i].min);
		}
}

static void (*const tests[])(void) = {
	test_a_first_attempt_costs_nothing,
	test_retries_within_the_allowance,
	test_a_waiting_attempt_is_denied_once,
	test_a_retry_that_only_a_success_allows,
	test_a_pause_after_a_denial,
	test_lengths_of_the_pause,
	test_a_denial_that_is_foreseen,
	test_the_breaker_denies_any_attempt,
	test_the_breaker_comes_first,
	test_the_probe_is_left_to_a_retry_that_waits,
	test_the_probe_is_not_left_to_a_retry_that_has_gone,
	test_an_attempt_that_does_not_ask_the_breaker,
	test_a_probe_and_its_result,
	test_a_probe_needs_no_allowance,
	test_admitted_first_attempts_are_not_counted,
	test_the_turns_of_a_recovery,
	test_a_turn_needs_no_allowance,
	test_the_window_counts_what_a_closed_breaker_passes,
	test_results_from_before_a_recovery_are_ignored,
	test_after_a_recovery_all_is_as_usual,
	test_a_lease_is_renewed,
	test_which_attempts_have_to_ask,
	test_results_of_attempts,
	test_a_success_among_several,
	test_corrupt_limits,
	test_a_corrupt_window,
	test_a_look_changes_nothing,
	test_other_limits,
};

UNIT(tests);
