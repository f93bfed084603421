/*
 * breaker: actions of several processes, one after the other, and what the
 * breaker looks like after each. Actions at the same time are breaker_check's.
 */
#include "unit.h"
#include "budget/breaker.h"
#include "budget/ramp.h"
#include "text/random.h"

#define SECONDS(n) ((nanos)((n)*NANOS_SECOND + 0.5))

enum what {
	END,
	ENTER, /* answer: how it was admitted */
	RENEW, /* answer: whether it still has the lease */
	SUCCESS, /* of an attempt without a lease */
	ANSWER, /* a failure that is not retried */
	FAILURE,
	IGNORED,
	OLD_SUCCESS, /* of an attempt that began at 0 */
	OLD_FAILURE,
	PROBE_HEALTHY, /* with the lease that it has, or had */
	PROBE_FAILED,
	PROBE_IGNORED,
	LOOK,
};

enum who {
	A,
	B,
	C,
	PEOPLE,
};

/* An action, and the view after it. Times in seconds. The rate is RAMP_FIRST.
 */
struct action {
	enum what what;
	enum who who;
	double at;
	int answer;
	enum breaker_state state;
	int64_t failures;
	double next;
};

struct script {
	const char *row;
	struct action actions[24];
};

#define CLOSED BREAKER_CLOSED
#define OPEN BREAKER_OPEN
#define HALF BREAKER_HALF_OPEN
#define RECOVERING BREAKER_RECOVERING
#define LEAST RAMP_LEAST
#define FIRST RAMP_FIRST
#define GROWN(rate) ((rate) + ((rate) + 1) / 2)
#define QUIET (RAMP_QUIET * RAMP_STEP) /* then the recovery is over */
/* RAMP_FIRST as attempts per second. */
#define SLOW (FIRST * NANOS_SECOND / RAMP_STEP)

/* Opens after three failures, for 10 s, 20 s, and then 35 s. */
static const struct breaker_config usual = { 3, SECONDS(10), SECONDS(35) };

/* A opens the breaker at 0. */
#define OPENED \
	{ FAILURE, A, 0, 0, CLOSED, 1, 0 }, \
	    { FAILURE, A, 0, 0, CLOSED, 2, 0 }, \
	{ \
		FAILURE, A, 0, 0, OPEN, 3, 10 \
	}

static const struct script scripts[] = {
	{ "new",
	    {
		{ LOOK, A, 0, 0, CLOSED, 0, 0 },
		{ ENTER, A, 0, BREAKER_PASSED, CLOSED, 0, 0 },
		{ SUCCESS, A, 1, 0, CLOSED, 0, 0 },
		{ RENEW, A, 1, false, CLOSED, 0, 0 },
		{ PROBE_FAILED, A, 1, 0, CLOSED, 0, 0 },
		{ PROBE_IGNORED, A, 1, 0, CLOSED, 0, 0 },
		{ PROBE_HEALTHY, A, 1, 0, CLOSED, 0, 0 },
	    } },
	{ "the configured number of failures opens it",
	    {
		{ FAILURE, A, 1, 0, CLOSED, 1, 0 },
		{ FAILURE, B, 2, 0, CLOSED, 2, 0 },
		{ ENTER, A, 2, BREAKER_PASSED, CLOSED, 2, 0 },
		{ FAILURE, C, 3, 0, OPEN, 3, 10 },
		{ ENTER, A, 4, BREAKER_HELD, OPEN, 3, 9 },
	    } },
	{ "a success ends the streak",
	    {
		{ FAILURE, A, 0, 0, CLOSED, 1, 0 },
		{ FAILURE, B, 0, 0, CLOSED, 2, 0 },
		{ SUCCESS, C, 0, 0, CLOSED, 0, 0 },
		{ SUCCESS, C, 0, 0, CLOSED, 0, 0 },
		{ FAILURE, A, 0, 0, CLOSED, 1, 0 },
		{ FAILURE, B, 0, 0, CLOSED, 2, 0 },
		{ FAILURE, A, 0, 0, OPEN, 3, 10 },
	    } },
	{ "a failure that is not retried changes nothing",
	    {
		{ ANSWER, A, 0, 0, CLOSED, 0, 0 },
		{ ANSWER, A, 0, 0, CLOSED, 0, 0 },
		{ ANSWER, A, 0, 0, CLOSED, 0, 0 },
		{ ANSWER, A, 0, 0, CLOSED, 0, 0 },
		{ FAILURE, A, 0, 0, CLOSED, 1, 0 },
		{ FAILURE, B, 0, 0, CLOSED, 2, 0 },
		{ ANSWER, A, 0, 0, CLOSED, 2, 0 },
		{ IGNORED, A, 0, 0, CLOSED, 2, 0 },
		{ FAILURE, C, 0, 0, OPEN, 3, 10 },
	    } },
	{ "a late result finds it open",
	    {
		OPENED,
		{ FAILURE, B, 1, 0, OPEN, 3, 9 },
		{ SUCCESS, B, 2, 0, OPEN, 3, 8 },
		{ ANSWER, B, 3, 0, OPEN, 3, 7 },
		{ IGNORED, B, 4, 0, OPEN, 3, 6 },
		{ ENTER, A, 10, BREAKER_PROBE, HALF, 3, 3 },
		{ FAILURE, B, 10, 0, HALF, 3, 3 },
		{ SUCCESS, B, 10, 0, HALF, 3, 3 },
		{ PROBE_HEALTHY, A, 10, 0, RECOVERING, 0, 0 },
		{ FAILURE, B, 10, 0, RECOVERING, 1, 0 },
	    } },
	{ "results from before a recovery are ignored",
	    {
		{ OLD_FAILURE, B, 0, 0, CLOSED, 1, 0 },
		{ OLD_SUCCESS, B, 0, 0, CLOSED, 0, 0 },
		OPENED,
		{ ENTER, A, 10, BREAKER_PROBE, HALF, 3, 3 },
		{ PROBE_HEALTHY, A, 11, 0, RECOVERING, 0, 0 },
		{ FAILURE, B, 11, 0, RECOVERING, 1, 0 },
		{ FAILURE, B, 11, 0, RECOVERING, 2, 0 },
		{ OLD_FAILURE, C, 11, 0, RECOVERING, 2, 0 },
		{ OLD_SUCCESS, C, 11, 0, RECOVERING, 2, 0 },
		{ ENTER, A, 20, BREAKER_PASSED, CLOSED, 0, 0 },
		{ FAILURE, B, 20, 0, CLOSED, 1, 0 },
		{ FAILURE, B, 20, 0, CLOSED, 2, 0 },
		{ OLD_FAILURE, C, 20, 0, CLOSED, 2, 0 },
		{ OLD_SUCCESS, C, 20, 0, CLOSED, 2, 0 },
		{ FAILURE, B, 20, 0, OPEN, 3, 10 },
	    } },
	{ "one probe, when it is due",
	    {
		OPENED,
		{ ENTER, A, 9.999, BREAKER_HELD, OPEN, 3, 0.001 },
		{ LOOK, A, 10, 0, OPEN, 3, 0 },
		{ ENTER, A, 10, BREAKER_PROBE, HALF, 3, 3 },
		{ ENTER, B, 10, BREAKER_HELD, HALF, 3, 3 },
		{ ENTER, C, 12, BREAKER_HELD, HALF, 3, 1 },
	    } },
	{ "a successful probe begins a recovery",
	    {
		OPENED,
		{ ENTER, A, 11, BREAKER_PROBE, HALF, 3, 3 },
		{ PROBE_HEALTHY, A, 12, 0, RECOVERING, 0, 0 },
		{ ENTER, B, 12, BREAKER_TURN, RECOVERING, 0, 0 },
		{ PROBE_FAILED, A, 12, 0, RECOVERING, 0, 0 },
		{ FAILURE, A, 12, 0, RECOVERING, 1, 0 },
		{ FAILURE, A, 12, 0, RECOVERING, 2, 0 },
		{ FAILURE, A, 12, 0, OPEN, 3, 10 },
	    } },
	{ "a success ends the streak of a recovery",
	    {
		OPENED,
		{ ENTER, A, 11, BREAKER_PROBE, HALF, 3, 3 },
		{ PROBE_HEALTHY, A, 12, 0, RECOVERING, 0, 0 },
		{ FAILURE, B, 12, 0, RECOVERING, 1, 0 },
		{ FAILURE, C, 12, 0, RECOVERING, 2, 0 },
		{ SUCCESS, C, 12, 0, RECOVERING, 0, 0 },
		{ ANSWER, C, 12, 0, RECOVERING, 0, 0 },
		{ IGNORED, C, 12, 0, RECOVERING, 0, 0 },
		{ FAILURE, B, 12, 0, RECOVERING, 1, 0 },
		{ FAILURE, C, 12, 0, RECOVERING, 2, 0 },
		{ FAILURE, C, 12, 0, OPEN, 3, 10 },
	    } },
	{ "a recovery without attempts ends closed",
	    {
		OPENED,
		{ ENTER, A, 11, BREAKER_PROBE, HALF, 3, 3 },
		{ PROBE_HEALTHY, A, 12, 0, RECOVERING, 0, 0 },
		{ LOOK, B, 20, 0, CLOSED, 0, 0 },
		{ FAILURE, B, 20, 0, CLOSED, 1, 0 },
		{ FAILURE, B, 20, 0, CLOSED, 2, 0 },
		{ SUCCESS, B, 20, 0, CLOSED, 0, 0 },
		{ FAILURE, B, 20, 0, CLOSED, 1, 0 },
		/* This closes it, and so ends the streak. */
		{ ENTER, B, 20, BREAKER_PASSED, CLOSED, 0, 0 },
		{ LOOK, B, 12, 0, CLOSED, 0, 0 },
		{ FAILURE, B, 20, 0, CLOSED, 1, 0 },
		{ FAILURE, B, 20, 0, CLOSED, 2, 0 },
		{ FAILURE, B, 20, 0, OPEN, 3, 10 },
	    } },
	{ "after the recovery it opens as usual",
	    {
		OPENED,
		{ ENTER, A, 11, BREAKER_PROBE, HALF, 3, 3 },
		{ PROBE_HEALTHY, A, 12, 0, RECOVERING, 0, 0 },
		{ FAILURE, B, 20, 0, CLOSED, 1, 0 },
		{ FAILURE, B, 20, 0, CLOSED, 2, 0 },
		{ FAILURE, B, 20, 0, OPEN, 3, 10 },
	    } },
	{ "each failed probe doubles the pause",
	    {
		OPENED,
		{ ENTER, A, 10, BREAKER_PROBE, HALF, 3, 3 },
		{ PROBE_FAILED, A, 12, 0, OPEN, 4, 20 },
		{ ENTER, A, 31.5, BREAKER_HELD, OPEN, 4, 0.5 },
		{ ENTER, B, 32, BREAKER_PROBE, HALF, 4, 3 },
		{ PROBE_FAILED, B, 32, 0, OPEN, 5, 35 },
		{ ENTER, B, 67, BREAKER_PROBE, HALF, 5, 3 },
		{ PROBE_FAILED, B, 67, 0, OPEN, 6, 35 },
		{ ENTER, B, 102, BREAKER_PROBE, HALF, 6, 3 },
		{ PROBE_HEALTHY, B, 102, 0, RECOVERING, 0, 0 },
		{ FAILURE, A, 102, 0, RECOVERING, 1, 0 },
		{ FAILURE, A, 102, 0, RECOVERING, 2, 0 },
		{ FAILURE, A, 102, 0, OPEN, 3, 10 },
		{ ENTER, A, 112, BREAKER_PROBE, HALF, 3, 3 },
		{ PROBE_FAILED, A, 112, 0, OPEN, 4, 20 },
	    } },
	{ "a lease ends by the clock",
	    {
		OPENED,
		{ ENTER, A, 10, BREAKER_PROBE, HALF, 3, 3 },
		{ ENTER, B, 12.999, BREAKER_HELD, HALF, 3, 0.001 },
		{ LOOK, B, 13, 0, HALF, 3, 0 },
		{ ENTER, B, 13, BREAKER_PROBE, HALF, 3, 3 },
		{ ENTER, C, 13, BREAKER_HELD, HALF, 3, 3 },
		{ ENTER, C, 100, BREAKER_PROBE, HALF, 3, 3 },
	    } },
	{ "a lease that is renewed in time stays",
	    {
		OPENED,
		{ ENTER, A, 10, BREAKER_PROBE, HALF, 3, 3 },
		{ RENEW, A, 11, true, HALF, 3, 3 },
		{ RENEW, A, 11, true, HALF, 3, 3 },
		{ RENEW, A, 13.5, true, HALF, 3, 3 },
		{ ENTER, B, 16, BREAKER_HELD, HALF, 3, 0.5 },
		{ PROBE_HEALTHY, A, 16, 0, RECOVERING, 0, 0 },
	    } },
	{ "a lease that ended counts until another takes it",
	    {
		OPENED,
		{ ENTER, A, 10, BREAKER_PROBE, HALF, 3, 3 },
		{ RENEW, A, 90, true, HALF, 3, 3 },
		{ ENTER, B, 92, BREAKER_HELD, HALF, 3, 1 },
		{ PROBE_FAILED, A, 200, 0, OPEN, 4, 20 },
		{ ENTER, B, 219, BREAKER_HELD, OPEN, 4, 1 },
	    } },
	{ "a lost lease does not count",
	    {
		OPENED,
		{ ENTER, A, 10, BREAKER_PROBE, HALF, 3, 3 },
		{ ENTER, B, 13, BREAKER_PROBE, HALF, 3, 3 },
		{ PROBE_HEALTHY, A, 14, 0, HALF, 3, 2 },
		{ PROBE_FAILED, A, 14, 0, HALF, 3, 2 },
		{ PROBE_IGNORED, A, 14, 0, HALF, 3, 2 },
		{ RENEW, A, 14, false, HALF, 3, 2 },
		{ RENEW, B, 14, true, HALF, 3, 3 },
		{ PROBE_FAILED, B, 14, 0, OPEN, 4, 20 },
		{ RENEW, A, 14, false, OPEN, 4, 20 },
	    } },
	{ "a lost lease does not close it",
	    {
		OPENED,
		{ ENTER, A, 10, BREAKER_PROBE, HALF, 3, 3 },
		{ ENTER, B, 13, BREAKER_PROBE, HALF, 3, 3 },
		{ PROBE_FAILED, B, 14, 0, OPEN, 4, 20 },
		{ PROBE_HEALTHY, A, 14, 0, OPEN, 4, 20 },
		{ PROBE_FAILED, A, 14, 0, OPEN, 4, 20 },
		{ PROBE_IGNORED, A, 14, 0, OPEN, 4, 20 },
	    } },
	{ "a lost lease does not open it",
	    {
		OPENED,
		{ ENTER, A, 10, BREAKER_PROBE, HALF, 3, 3 },
		{ ENTER, B, 13, BREAKER_PROBE, HALF, 3, 3 },
		{ PROBE_HEALTHY, B, 14, 0, RECOVERING, 0, 0 },
		{ PROBE_HEALTHY, A, 14, 0, RECOVERING, 0, 0 },
		{ PROBE_FAILED, A, 14, 0, RECOVERING, 0, 0 },
		{ PROBE_IGNORED, A, 14, 0, RECOVERING, 0, 0 },
		{ RENEW, A, 14, false, RECOVERING, 0, 0 },
		{ FAILURE, A, 14, 0, RECOVERING, 1, 0 },
	    } },
	{ "after an ignored probe the next is due at once",
	    {
		OPENED,
		{ ENTER, A, 10.0000005, BREAKER_PROBE, HALF, 3, 3.0009995 },
		{ PROBE_IGNORED, A, 10.0000005, 0, OPEN, 3, 0 },
		{ ENTER, B, 10.0000005, BREAKER_PROBE, HALF, 3, 3.0009995 },
		{ PROBE_IGNORED, A, 11, 0, HALF, 3, 2.001 },
		{ PROBE_FAILED, B, 11, 0, OPEN, 4, 20 },
	    } },
	{ "a recovery begins at once",
	    {
		OPENED,
		{ ENTER, A, 10.0000005, BREAKER_PROBE, HALF, 3, 3.0009995 },
		{ PROBE_HEALTHY, A, 10.0000005, 0, RECOVERING, 0, 0 },
		{ ENTER, B, 10.0000005, BREAKER_TURN, RECOVERING, 0, 0 },
	    } },
	{ "with a clock that is behind, all comes later",
	    {
		OPENED,
		{ ENTER, A, 0, BREAKER_HELD, OPEN, 3, 10 },
		{ ENTER, B, 10, BREAKER_PROBE, HALF, 3, 3 },
		{ ENTER, A, 8, BREAKER_HELD, HALF, 3, 5 },
		{ RENEW, B, 8, true, HALF, 3, 3 },
		{ PROBE_FAILED, B, 9, 0, OPEN, 4, 20 },
		{ ENTER, A, 28, BREAKER_HELD, OPEN, 4, 1 },
	    } },
};

static void
check_view(const char *row, const struct breaker_view *view,
    const struct action *action)
{
	EQUAL(row, view->state, action->state);
	EQUAL(row, view->failures, action->failures);
	EQUAL(row, view->next, SECONDS(action->next));
	EQUAL(row, view->rate, action->state == RECOVERING ? SLOW : 0);
}

static void
check_entering(const char *row, struct breaker *breaker,
    const struct action *action, uint64_t *lease)
{
	uint64_t got = 1;
	struct breaker_view view;

	EQUAL(row, breaker_enter(breaker, SECONDS(action->at), &got, &view),
	    action->answer);
	HOLDS(row, (got != 0) == (action->answer == BREAKER_PROBE));
	if (action->answer == BREAKER_HELD)
		check_view(row, &view, action);
	if (got != 0)
		*lease = got;
}

/* A process keeps a lost lease here, to try it once more. */
static void
check_renewing(const char *row, struct breaker *breaker,
    const struct action *action, uint64_t *lease)
{
	uint64_t got = *lease;

	EQUAL(row, breaker_renew(breaker, &got, SECONDS(action->at)),
	    action->answer);
	HOLDS(row, (got != 0) == action->answer);
	if (got != 0)
		*lease = got;
}

static void
check_deed(const char *row, struct breaker *breaker,
    const struct action *action, uint64_t *lease)
{
	nanos now = SECONDS(action->at);
	struct breaker_view view;

	switch (action->what) {
	case END:
	case LOOK:
		break;
	case ENTER:
		check_entering(row, breaker, action, lease);
		break;
	case RENEW:
		check_renewing(row, breaker, action, lease);
		break;
	case SUCCESS:
		breaker_tell(breaker, &usual, RESULT_SUCCESS, now, now);
		break;
	case ANSWER:
		breaker_tell(breaker, &usual, RESULT_HEALTHY, now, now);
		break;
	case FAILURE:
		breaker_tell(breaker, &usual, RESULT_FAILURE, now, now);
		break;
	case IGNORED:
		breaker_tell(breaker, &usual, RESULT_IGNORED, now, now);
		break;
	case OLD_SUCCESS:
		breaker_tell(breaker, &usual, RESULT_SUCCESS, 0, now);
		break;
	case OLD_FAILURE:
		breaker_tell(breaker, &usual, RESULT_FAILURE, 0, now);
		break;
	case PROBE_HEALTHY:
		breaker_probed(breaker, &usual, RESULT_HEALTHY, *lease, 0, now);
		break;
	case PROBE_FAILED:
		breaker_probed(breaker, &usual, RESULT_FAILURE, *lease, 0, now);
		break;
	case PROBE_IGNORED:
		breaker_probed(breaker, &usual, RESULT_IGNORED, *lease, 0, now);
		break;
	}
	view = breaker_look(breaker, now);
	check_view(row, &view, action);
}

static void
test_scripts(void)
{
	for (size_t i = 0; i < LENGTH(scripts); i++) {
		const struct action *action = scripts[i].actions;
		struct breaker breaker = { 0 };
		uint64_t leases[PEOPLE] = { 0 };
		char row[80];

		for (int n = 1; action->what != END; n++, action++) {
			snprintf(row, sizeof row, "%s, %d", scripts[i].row, n);
			check_deed(row, &breaker, action, &leases[action->who]);
		}
	}
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
static void
test_words(void)
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
static void
test_a_recovery_in_a_fleet(void)
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

/* unit_ramp has the fields of the rate. */
static void
test_words_of_a_recovery(void)
{
	const nanos began = ((1 << 20) + 7) * NANOS_MS;
	const uint64_t seq = UINT64_C(1) << 40, streak = UINT64_C(1) << 42;
	const uint64_t word = UINT64_C(3) << 62 | ((1 << 20) + 7);
	struct ramp ramp = ramp_read(0, began, 0, began);
	struct breaker breaker = { .word = word | seq };
	uint64_t lease;

	/* More than half of the turns, or the recovery would be over. */
	for (int64_t i = 0; i < LEAST; i++) {
		EQUAL("turn", entered(&breaker, began, &lease), BREAKER_TURN);
		ramp_take(&ramp);
		HOLDS("turn", breaker.rate == ramp_word(&ramp));
	}
	breaker_tell(&breaker, &usual, RESULT_SUCCESS, began, began);
	ramp_succeed(&ramp);
	HOLDS("success", breaker.rate == ramp_word(&ramp));
	HOLDS("success", breaker.word == (word | seq) && breaker.streak == 0);
	breaker_tell(&breaker, &usual, RESULT_FAILURE, began, began);
	ramp_fail(&ramp);
	HOLDS("failure", breaker.rate == ramp_word(&ramp));
	HOLDS("failure", breaker.word == (word | seq));
	HOLDS("failure", breaker.streak == (streak | 1));
	breaker_tell(&breaker, &usual, RESULT_SUCCESS, began, began);
	ramp_succeed(&ramp);
	HOLDS("its end", breaker.rate == ramp_word(&ramp));
	HOLDS("its end", breaker.word == (word | 2 * seq));
	EQUAL(
	    "step", entered(&breaker, began + RAMP_STEP, &lease), BREAKER_TURN);
	ramp = ramp_read(ramp_word(&ramp), began, 0, began + RAMP_STEP);
	ramp_take(&ramp);
	HOLDS("step", breaker.rate == ramp_word(&ramp));
}

/* A write would make all processes on the host read the cache line anew. */
static void
test_ignored_results_write_nothing(void)
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
static void
test_every_process_has_its_own_configuration(void)
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

/* Never early, and late by less than a millisecond. */
static void
test_instants_are_rounded_up(void)
{
	static const struct {
		const char *row;
		nanos now, pause, due;
	} rows[] = {
		{ "whole", 0, 10 * NANOS_MS, 10 * NANOS_MS },
		{ "a nanosecond", 0, 1, NANOS_MS },
		{ "nearly one", 0, NANOS_MS - 1, NANOS_MS },
		{ "one and a bit", 0, NANOS_MS + 1, 2 * NANOS_MS },
		{ "now is odd", 1, 10 * NANOS_MS, 11 * NANOS_MS },
		{ "both are", 600000, 600000, 2 * NANOS_MS },
		{ "both, to one", 400000, 600000, NANOS_MS },
	};

	for (size_t i = 0; i < LENGTH(rows); i++) {
		struct breaker_config config = { 1, rows[i].pause,
			rows[i].pause };
		struct breaker breaker = opened(&config, rows[i].now);
		uint64_t lease;

		EQUAL(rows[i].row, breaker_look(&breaker, rows[i].now).next,
		    rows[i].due - rows[i].now);
		EQUAL(rows[i].row, entered(&breaker, rows[i].due - 1, &lease),
		    BREAKER_HELD);
		EQUAL(rows[i].row, entered(&breaker, rows[i].due, &lease),
		    BREAKER_PROBE);
	}
}

static void
test_pauses(void)
{
	static const struct {
		const char *row;
		struct breaker_config config;
		nanos pauses[5]; /* after 0, 1, 2... doublings */
	} rows[] = {
		{ "doubled", { 1, SECONDS(5), SECONDS(60) },
		    { SECONDS(5), SECONDS(10), SECONDS(20), SECONDS(40),
			SECONDS(60) } },
		{ "as it is", { 1, SECONDS(5), SECONDS(5) },
		    { SECONDS(5), SECONDS(5), SECONDS(5), SECONDS(5),
			SECONDS(5) } },
		{ "more than the most", { 1, SECONDS(5), SECONDS(1) },
		    { SECONDS(5), SECONDS(5), SECONDS(5), SECONDS(5),
			SECONDS(5) } },
		{ "none", { 1, 0, SECONDS(1) }, { 0, 0, 0, 0, 0 } },
		{ "a day", { 1, NANOS_DAY / 2, NANOS_MAX },
		    { NANOS_DAY / 2, NANOS_DAY, NANOS_DAY, NANOS_DAY,
			NANOS_DAY } },
		{ "for ever", { 1, NANOS_MAX, NANOS_MAX },
		    { NANOS_DAY, NANOS_DAY, NANOS_DAY, NANOS_DAY, NANOS_DAY } },
	};

	for (size_t i = 0; i < LENGTH(rows); i++) {
		struct breaker breaker = opened(&rows[i].config, 0);
		nanos now = 0;
		uint64_t lease;

		for (int j = 0; j < 5; j++) {
			EQUAL(rows[i].row, breaker_look(&breaker, now).next,
			    rows[i].pauses[j]);
			now += rows[i].pauses[j];
			HOLDS(rows[i].row,
			    entered(&breaker, now, &lease) == BREAKER_PROBE);
			breaker_probed(&breaker, &rows[i].config,
			    RESULT_FAILURE, lease, 0, now);
		}
	}
}

/* Counts saturate, seq wraps to 0, and no sum overflows. */
static void
test_ends_of_the_numbers(void)
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
	HOLDS("34 years", breaker_renew(&breaker, &lease, NANOS_MAX));
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

static void
test_a_recovery_admits_at_its_rate(void)
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

/* For longer than a waiting process may sleep. */
static void
test_a_recovery_closes_if_turns_are_left(void)
{
	const nanos began = SECONDS(20), next = began + QUIET;
	struct breaker breaker;
	uint64_t lease;

	for (int64_t turns = 0; turns <= FIRST; turns++) {
		bool over = 2 * turns <= FIRST;

		breaker = recovering(began);
		breaker_tell(&breaker, &usual, RESULT_SUCCESS, began, began);
		for (nanos at = began; at < next; at += RAMP_STEP)
			for (int64_t i = 0; i < turns; i++)
				EQUAL("turn",
				    entered(
					&breaker, at + RAMP_STEP - 1, &lease),
				    BREAKER_TURN);
		EQUAL("last", breaker_look(&breaker, next - 1).state,
		    BREAKER_RECOVERING);
		EQUAL("next", breaker_look(&breaker, next).state,
		    over ? BREAKER_CLOSED : BREAKER_RECOVERING);
		EQUAL("next", breaker_look(&breaker, next).next, 0);
		/* The attempt that finds it over takes no turn. */
		EQUAL("next", entered(&breaker, next, &lease),
		    over ? BREAKER_PASSED : BREAKER_TURN);
		HOLDS("next", lease == 0);
		HOLDS("next",
		    breaker.word >> 62 == (over ? 0 : BREAKER_RECOVERING));
	}
	breaker = recovering(began);
	EQUAL("the end", breaker_look(&breaker, next).state, BREAKER_CLOSED);
	for (int i = 0; i < 1000; i++)
		EQUAL(
		    "the end", entered(&breaker, next, &lease), BREAKER_PASSED);
}

/* A command that takes long to fail is retried only then. */
static void
test_a_recovery_waits_for_the_first_result(void)
{
	const nanos began = SECONDS(20), told = began + SECONDS(30);
	struct breaker breaker = recovering(began);
	uint64_t lease;

	check_turns("first", &breaker, LEAST, began);
	EQUAL(
	    "awaited", breaker_look(&breaker, told).state, BREAKER_RECOVERING);
	EQUAL("awaited", breaker_look(&breaker, told).rate, SLOW);
	for (int i = 0; i < LEAST; i++)
		breaker_tell(&breaker, &usual,
		    i % 2 == 0 ? RESULT_SUCCESS : RESULT_FAILURE, began, told);
	check_turns("told", &breaker, LEAST, told);
	EQUAL("end", breaker_look(&breaker, told + 2 * QUIET).state,
	    BREAKER_CLOSED);
	EQUAL(
	    "end", entered(&breaker, told + 2 * QUIET, &lease), BREAKER_PASSED);
}

static void
test_a_recovery_opens_only_at_the_first_rate(void)
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

/* It ends the streak, and changes nothing else. */
static void
test_a_success_does_not_disturb_the_rate(void)
{
	const nanos began = SECONDS(20), next = began + RAMP_STEP;
	struct breaker breaker = recovering(began);
	nanos now;

	check_turns("first", &breaker, LEAST, began);
	for (int i = 0; i < 10; i++) {
		breaker_tell(&breaker, &usual, RESULT_FAILURE, began, began);
		breaker_tell(&breaker, &usual, RESULT_FAILURE, began, began);
		EQUAL("failure", breaker_look(&breaker, began).failures, 2);
		breaker_tell(&breaker, &usual, RESULT_SUCCESS, began, began);
		EQUAL("healthy", breaker_look(&breaker, began).failures, 0);
	}
	check_turns("same step", &breaker, 0, began);
	/* The first rate, with successes and too many failures. */
	now = next + RAMP_STEP - 1;
	check_turns("second", &breaker, FIRST * 3 / 4, now);
	for (int i = 0; i < FIRST * 3 / 4; i++)
		breaker_tell(&breaker, &usual, RESULT_SUCCESS, now, now);
	EQUAL("grown", breaker_look(&breaker, now + 1).rate,
	    GROWN(FIRST * 3 / 4) * NANOS_SECOND / RAMP_STEP);
}

/* Only a recovery has a rate, and not that of an earlier one. */
static void
test_the_rate_is_that_of_this_recovery(void)
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

static void
test_corner_words_heal(void)
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

/* Random words of a recovery, with the right mark. */
static void
check_recovery(uint64_t *seed)
{
	/* The lowest bits of two of its fields. */
	const uint64_t mark = ramp_word(&(struct ramp){ .began = NANOS_MS });
	const uint64_t step = ramp_word(&(struct ramp){ .step = 1 });
	nanos began = (nanos)(random_draw(seed) % 100000) * NANOS_DAY / 100;
	nanos now = began + (nanos)(random_draw(seed) % 4) * RAMP_STEP;
	struct breaker breaker = { .word = UINT64_C(3) << 62 };

	breaker.word |= (uint64_t)(began / NANOS_MS);
	breaker.rate = ramp_word(&(struct ramp){ .began = began });
	if (random_draw(seed) % 2 == 0)
		breaker.rate |= random_draw(seed) % mark;
	else /* of a recent step */
		breaker.rate |= random_draw(seed) % (4 * step);
	check_healing("recovery", breaker, now);
}

static void
test_random_words_heal(void)
{
	uint64_t seed = 1;
	nanos held = 0;

	for (int i = 0; i < 20000; i++) {
		struct breaker breaker = { random_draw(&seed),
			random_draw(&seed), random_draw(&seed) };
		nanos now = (nanos)(random_draw(&seed) % (365 * NANOS_DAY));

		held += breaker_look(&breaker, now).next > 0;
		check_healing("random", breaker, now);
		check_recovery(&seed);
	}
	/* A pause of up to a day, of 34 years: it hardly ever denies. */
	HOLDS("random", held < 20);
}

static void (*const tests[])(void) = {
	test_scripts,
	test_words,
	test_a_recovery_in_a_fleet,
	test_words_of_a_recovery,
	test_ignored_results_write_nothing,
	test_every_process_has_its_own_configuration,
	test_instants_are_rounded_up,
	test_pauses,
	test_ends_of_the_numbers,
	test_a_recovery_admits_at_its_rate,
	test_a_recovery_closes_if_turns_are_left,
	test_a_recovery_waits_for_the_first_result,
	test_a_recovery_opens_only_at_the_first_rate,
	test_a_success_does_not_disturb_the_rate,
	test_the_rate_is_that_of_this_recovery,
	test_corner_words_heal,
	test_random_words_heal,
};

UNIT(tests);
