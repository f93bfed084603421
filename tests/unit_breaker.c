/*
 * gate, deed by deed: who does what when, and how it looks then. What can
 * happen in between two accesses is for breaker_check.
 */
#include "unit.h"
#include "budget/breaker.h"
#include "budget/ramp.h"

#define SECONDS(n) ((nanos)((n)*NANOS_SECOND + 0.5))

enum what {
	END,
	ENTER, /* answer: may it? */
	RENEW, /* answer: is the lease still good? */
	SUCCESS, /* of an attempt without a lease */
	ANSWER, /* a failure that no retry cures */
	ILL,
	NO_NEWS,
	OLD_SUCCESS, /* of one that began when the gate was new */
	OLD_ILL,
	PROBED_WELL, /* by whoever holds, or once held, the lease */
	PROBED_ILL,
	PROBED_NO_NEWS,
	LOOK,
};

enum who {
	A,
	B,
	C,
	PEOPLE,
};

/* One deed, and the view after it. Times in seconds; the pace is slowest. */
struct deed {
	enum what what;
	enum who who;
	double at;
	int answer;
	enum gate_state state;
	int64_t failures;
	double next;
};

struct script {
	const char *row;
	struct deed deeds[24];
};

#define CLOSED GATE_CLOSED
#define OPEN GATE_OPEN
#define HALF GATE_HALF_OPEN
#define RECOVERING GATE_RECOVERING
#define LEAST PACE_LEAST
#define FIRST PACE_FIRST
#define GROWN(rate) ((rate) + ((rate) + 1) / 2)
#define QUIET (PACE_QUIET * PACE_STEP) /* and then it is over */
/* Views have it in a second. */
#define SLOW (FIRST * NANOS_SECOND / PACE_STEP)

/* Three failures; 10 s, 20 s, then 35 s. */
static const struct breaker usual = { 3, SECONDS(10), SECONDS(35) };

/* Open at 0, by A: all that is about an open gate begins so. */
#define OPENED \
	{ ILL, A, 0, 0, CLOSED, 1, 0 }, { ILL, A, 0, 0, CLOSED, 2, 0 }, \
	{ \
		ILL, A, 0, 0, OPEN, 3, 10 \
	}

static const struct script scripts[] = {
	{ "new",
	    {
		{ LOOK, A, 0, 0, CLOSED, 0, 0 },
		{ ENTER, A, 0, GATE_PASSED, CLOSED, 0, 0 },
		{ SUCCESS, A, 1, 0, CLOSED, 0, 0 },
		{ RENEW, A, 1, false, CLOSED, 0, 0 },
		{ PROBED_ILL, A, 1, 0, CLOSED, 0, 0 },
		{ PROBED_NO_NEWS, A, 1, 0, CLOSED, 0, 0 },
		{ PROBED_WELL, A, 1, 0, CLOSED, 0, 0 },
	    } },
	{ "opens at exactly so many",
	    {
		{ ILL, A, 1, 0, CLOSED, 1, 0 },
		{ ILL, B, 2, 0, CLOSED, 2, 0 },
		{ ENTER, A, 2, GATE_PASSED, CLOSED, 2, 0 },
		{ ILL, C, 3, 0, OPEN, 3, 10 },
		{ ENTER, A, 4, GATE_HELD, OPEN, 3, 9 },
	    } },
	{ "a success ends the streak",
	    {
		{ ILL, A, 0, 0, CLOSED, 1, 0 },
		{ ILL, B, 0, 0, CLOSED, 2, 0 },
		{ SUCCESS, C, 0, 0, CLOSED, 0, 0 },
		{ SUCCESS, C, 0, 0, CLOSED, 0, 0 },
		{ ILL, A, 0, 0, CLOSED, 1, 0 },
		{ ILL, B, 0, 0, CLOSED, 2, 0 },
		{ ILL, A, 0, 0, OPEN, 3, 10 },
	    } },
	{ "what no retry cures neither opens nor ends it",
	    {
		{ ANSWER, A, 0, 0, CLOSED, 0, 0 },
		{ ANSWER, A, 0, 0, CLOSED, 0, 0 },
		{ ANSWER, A, 0, 0, CLOSED, 0, 0 },
		{ ANSWER, A, 0, 0, CLOSED, 0, 0 },
		{ ILL, A, 0, 0, CLOSED, 1, 0 },
		{ ILL, B, 0, 0, CLOSED, 2, 0 },
		{ ANSWER, A, 0, 0, CLOSED, 2, 0 },
		{ NO_NEWS, A, 0, 0, CLOSED, 2, 0 },
		{ ILL, C, 0, 0, OPEN, 3, 10 },
	    } },
	{ "what comes late finds it open",
	    {
		OPENED,
		{ ILL, B, 1, 0, OPEN, 3, 9 },
		{ SUCCESS, B, 2, 0, OPEN, 3, 8 },
		{ ANSWER, B, 3, 0, OPEN, 3, 7 },
		{ NO_NEWS, B, 4, 0, OPEN, 3, 6 },
		{ ENTER, A, 10, GATE_PROBE, HALF, 3, 3 },
		{ ILL, B, 10, 0, HALF, 3, 3 },
		{ SUCCESS, B, 10, 0, HALF, 3, 3 },
		{ PROBED_WELL, A, 10, 0, RECOVERING, 0, 0 },
		{ ILL, B, 10, 0, RECOVERING, 1, 0 },
	    } },
	{ "what began before a recovery is no news",
	    {
		{ OLD_ILL, B, 0, 0, CLOSED, 1, 0 },
		{ OLD_SUCCESS, B, 0, 0, CLOSED, 0, 0 },
		OPENED,
		{ ENTER, A, 10, GATE_PROBE, HALF, 3, 3 },
		{ PROBED_WELL, A, 11, 0, RECOVERING, 0, 0 },
		{ ILL, B, 11, 0, RECOVERING, 1, 0 },
		{ ILL, B, 11, 0, RECOVERING, 2, 0 },
		{ OLD_ILL, C, 11, 0, RECOVERING, 2, 0 },
		{ OLD_SUCCESS, C, 11, 0, RECOVERING, 2, 0 },
		{ ENTER, A, 20, GATE_PASSED, CLOSED, 0, 0 },
		{ ILL, B, 20, 0, CLOSED, 1, 0 },
		{ ILL, B, 20, 0, CLOSED, 2, 0 },
		{ OLD_ILL, C, 20, 0, CLOSED, 2, 0 },
		{ OLD_SUCCESS, C, 20, 0, CLOSED, 2, 0 },
		{ ILL, B, 20, 0, OPEN, 3, 10 },
	    } },
	{ "one probe, when it is due",
	    {
		OPENED,
		{ ENTER, A, 9.999, GATE_HELD, OPEN, 3, 0.001 },
		{ LOOK, A, 10, 0, OPEN, 3, 0 },
		{ ENTER, A, 10, GATE_PROBE, HALF, 3, 3 },
		{ ENTER, B, 10, GATE_HELD, HALF, 3, 3 },
		{ ENTER, C, 12, GATE_HELD, HALF, 3, 1 },
	    } },
	{ "its success lets attempts in",
	    {
		OPENED,
		{ ENTER, A, 11, GATE_PROBE, HALF, 3, 3 },
		{ PROBED_WELL, A, 12, 0, RECOVERING, 0, 0 },
		{ ENTER, B, 12, GATE_TURN, RECOVERING, 0, 0 },
		{ PROBED_ILL, A, 12, 0, RECOVERING, 0, 0 },
		{ ILL, A, 12, 0, RECOVERING, 1, 0 },
		{ ILL, A, 12, 0, RECOVERING, 2, 0 },
		{ ILL, A, 12, 0, OPEN, 3, 10 },
	    } },
	{ "a success ends the streak of a recovery",
	    {
		OPENED,
		{ ENTER, A, 11, GATE_PROBE, HALF, 3, 3 },
		{ PROBED_WELL, A, 12, 0, RECOVERING, 0, 0 },
		{ ILL, B, 12, 0, RECOVERING, 1, 0 },
		{ ILL, C, 12, 0, RECOVERING, 2, 0 },
		{ SUCCESS, C, 12, 0, RECOVERING, 0, 0 },
		{ ANSWER, C, 12, 0, RECOVERING, 0, 0 },
		{ NO_NEWS, C, 12, 0, RECOVERING, 0, 0 },
		{ ILL, B, 12, 0, RECOVERING, 1, 0 },
		{ ILL, C, 12, 0, RECOVERING, 2, 0 },
		{ ILL, C, 12, 0, OPEN, 3, 10 },
	    } },
	{ "where nobody comes it is closed",
	    {
		OPENED,
		{ ENTER, A, 11, GATE_PROBE, HALF, 3, 3 },
		{ PROBED_WELL, A, 12, 0, RECOVERING, 0, 0 },
		{ LOOK, B, 20, 0, CLOSED, 0, 0 },
		{ ILL, B, 20, 0, CLOSED, 1, 0 },
		{ ILL, B, 20, 0, CLOSED, 2, 0 },
		{ SUCCESS, B, 20, 0, CLOSED, 0, 0 },
		{ ILL, B, 20, 0, CLOSED, 1, 0 },
		/* That ends it for all, and the streak. */
		{ ENTER, B, 20, GATE_PASSED, CLOSED, 0, 0 },
		{ LOOK, B, 12, 0, CLOSED, 0, 0 },
		{ ILL, B, 20, 0, CLOSED, 1, 0 },
		{ ILL, B, 20, 0, CLOSED, 2, 0 },
		{ ILL, B, 20, 0, OPEN, 3, 10 },
	    } },
	{ "and opens as it would closed",
	    {
		OPENED,
		{ ENTER, A, 11, GATE_PROBE, HALF, 3, 3 },
		{ PROBED_WELL, A, 12, 0, RECOVERING, 0, 0 },
		{ ILL, B, 20, 0, CLOSED, 1, 0 },
		{ ILL, B, 20, 0, CLOSED, 2, 0 },
		{ ILL, B, 20, 0, OPEN, 3, 10 },
	    } },
	{ "its failures double the pause",
	    {
		OPENED,
		{ ENTER, A, 10, GATE_PROBE, HALF, 3, 3 },
		{ PROBED_ILL, A, 12, 0, OPEN, 4, 20 },
		{ ENTER, A, 31.5, GATE_HELD, OPEN, 4, 0.5 },
		{ ENTER, B, 32, GATE_PROBE, HALF, 4, 3 },
		{ PROBED_ILL, B, 32, 0, OPEN, 5, 35 },
		{ ENTER, B, 67, GATE_PROBE, HALF, 5, 3 },
		{ PROBED_ILL, B, 67, 0, OPEN, 6, 35 },
		{ ENTER, B, 102, GATE_PROBE, HALF, 6, 3 },
		{ PROBED_WELL, B, 102, 0, RECOVERING, 0, 0 },
		{ ILL, A, 102, 0, RECOVERING, 1, 0 },
		{ ILL, A, 102, 0, RECOVERING, 2, 0 },
		{ ILL, A, 102, 0, OPEN, 3, 10 },
		{ ENTER, A, 112, GATE_PROBE, HALF, 3, 3 },
		{ PROBED_ILL, A, 112, 0, OPEN, 4, 20 },
	    } },
	{ "a lease ends by the clock",
	    {
		OPENED,
		{ ENTER, A, 10, GATE_PROBE, HALF, 3, 3 },
		{ ENTER, B, 12.999, GATE_HELD, HALF, 3, 0.001 },
		{ LOOK, B, 13, 0, HALF, 3, 0 },
		{ ENTER, B, 13, GATE_PROBE, HALF, 3, 3 },
		{ ENTER, C, 13, GATE_HELD, HALF, 3, 3 },
		{ ENTER, C, 100, GATE_PROBE, HALF, 3, 3 },
	    } },
	{ "renewed in time",
	    {
		OPENED,
		{ ENTER, A, 10, GATE_PROBE, HALF, 3, 3 },
		{ RENEW, A, 11, true, HALF, 3, 3 },
		{ RENEW, A, 11, true, HALF, 3, 3 },
		{ RENEW, A, 13.5, true, HALF, 3, 3 },
		{ ENTER, B, 16, GATE_HELD, HALF, 3, 0.5 },
		{ PROBED_WELL, A, 16, 0, RECOVERING, 0, 0 },
	    } },
	{ "late, but nobody took it",
	    {
		OPENED,
		{ ENTER, A, 10, GATE_PROBE, HALF, 3, 3 },
		{ RENEW, A, 90, true, HALF, 3, 3 },
		{ ENTER, B, 92, GATE_HELD, HALF, 3, 1 },
		{ PROBED_ILL, A, 200, 0, OPEN, 4, 20 },
		{ ENTER, B, 219, GATE_HELD, OPEN, 4, 1 },
	    } },
	{ "taken, so it counts no longer",
	    {
		OPENED,
		{ ENTER, A, 10, GATE_PROBE, HALF, 3, 3 },
		{ ENTER, B, 13, GATE_PROBE, HALF, 3, 3 },
		{ PROBED_WELL, A, 14, 0, HALF, 3, 2 },
		{ PROBED_ILL, A, 14, 0, HALF, 3, 2 },
		{ PROBED_NO_NEWS, A, 14, 0, HALF, 3, 2 },
		{ RENEW, A, 14, false, HALF, 3, 2 },
		{ RENEW, B, 14, true, HALF, 3, 3 },
		{ PROBED_ILL, B, 14, 0, OPEN, 4, 20 },
		{ RENEW, A, 14, false, OPEN, 4, 20 },
	    } },
	{ "and does not close what another opened",
	    {
		OPENED,
		{ ENTER, A, 10, GATE_PROBE, HALF, 3, 3 },
		{ ENTER, B, 13, GATE_PROBE, HALF, 3, 3 },
		{ PROBED_ILL, B, 14, 0, OPEN, 4, 20 },
		{ PROBED_WELL, A, 14, 0, OPEN, 4, 20 },
		{ PROBED_ILL, A, 14, 0, OPEN, 4, 20 },
		{ PROBED_NO_NEWS, A, 14, 0, OPEN, 4, 20 },
	    } },
	{ "nor open where another lets in",
	    {
		OPENED,
		{ ENTER, A, 10, GATE_PROBE, HALF, 3, 3 },
		{ ENTER, B, 13, GATE_PROBE, HALF, 3, 3 },
		{ PROBED_WELL, B, 14, 0, RECOVERING, 0, 0 },
		{ PROBED_WELL, A, 14, 0, RECOVERING, 0, 0 },
		{ PROBED_ILL, A, 14, 0, RECOVERING, 0, 0 },
		{ PROBED_NO_NEWS, A, 14, 0, RECOVERING, 0, 0 },
		{ RENEW, A, 14, false, RECOVERING, 0, 0 },
		{ ILL, A, 14, 0, RECOVERING, 1, 0 },
	    } },
	{ "given back, it is due at once, for no longer",
	    {
		OPENED,
		{ ENTER, A, 10.0000005, GATE_PROBE, HALF, 3, 3.0009995 },
		{ PROBED_NO_NEWS, A, 10.0000005, 0, OPEN, 3, 0 },
		{ ENTER, B, 10.0000005, GATE_PROBE, HALF, 3, 3.0009995 },
		{ PROBED_NO_NEWS, A, 11, 0, HALF, 3, 2.001 },
		{ PROBED_ILL, B, 11, 0, OPEN, 4, 20 },
	    } },
	{ "a recovery begins at once",
	    {
		OPENED,
		{ ENTER, A, 10.0000005, GATE_PROBE, HALF, 3, 3.0009995 },
		{ PROBED_WELL, A, 10.0000005, 0, RECOVERING, 0, 0 },
		{ ENTER, B, 10.0000005, GATE_TURN, RECOVERING, 0, 0 },
	    } },
	{ "a clock behind sees the same, later",
	    {
		OPENED,
		{ ENTER, A, 0, GATE_HELD, OPEN, 3, 10 },
		{ ENTER, B, 10, GATE_PROBE, HALF, 3, 3 },
		{ ENTER, A, 8, GATE_HELD, HALF, 3, 5 },
		{ RENEW, B, 8, true, HALF, 3, 3 },
		{ PROBED_ILL, B, 9, 0, OPEN, 4, 20 },
		{ ENTER, A, 28, GATE_HELD, OPEN, 4, 1 },
	    } },
};

static void
check_view(
    const char *row, const struct gate_view *view, const struct deed *deed)
{
	EQUAL(row, view->state, deed->state);
	EQUAL(row, view->failures, deed->failures);
	EQUAL(row, view->next, SECONDS(deed->next));
	EQUAL(row, view->rate, deed->state == RECOVERING ? SLOW : 0);
}

static void
check_entering(const char *row, struct gate *gate, const struct deed *deed,
    uint64_t *lease)
{
	uint64_t got = 1;
	struct gate_view view;

	EQUAL(row, gate_enter(gate, SECONDS(deed->at), &got, &view),
	    deed->answer);
	HOLDS(row, (got != 0) == (deed->answer == GATE_PROBE));
	if (deed->answer == GATE_HELD)
		check_view(row, &view, deed);
	if (got != 0)
		*lease = got;
}

/* Whoever lost a lease keeps it in hand here, to come back with it. */
static void
check_renewing(const char *row, struct gate *gate, const struct deed *deed,
    uint64_t *lease)
{
	uint64_t got = *lease;

	EQUAL(row, gate_renew(gate, &got, SECONDS(deed->at)), deed->answer);
	HOLDS(row, (got != 0) == deed->answer);
	if (got != 0)
		*lease = got;
}

static void
check_deed(const char *row, struct gate *gate, const struct deed *deed,
    uint64_t *lease)
{
	nanos now = SECONDS(deed->at);
	struct gate_view view;

	switch (deed->what) {
	case END:
	case LOOK:
		break;
	case ENTER:
		check_entering(row, gate, deed, lease);
		break;
	case RENEW:
		check_renewing(row, gate, deed, lease);
		break;
	case SUCCESS:
		gate_tell(gate, &usual, GATE_WELL, true, now, now);
		break;
	case ANSWER:
		gate_tell(gate, &usual, GATE_WELL, false, now, now);
		break;
	case ILL:
		gate_tell(gate, &usual, GATE_ILL, false, now, now);
		break;
	case NO_NEWS:
		gate_tell(gate, &usual, GATE_NO_NEWS, false, now, now);
		break;
	case OLD_SUCCESS:
		gate_tell(gate, &usual, GATE_WELL, true, 0, now);
		break;
	case OLD_ILL:
		gate_tell(gate, &usual, GATE_ILL, false, 0, now);
		break;
	case PROBED_WELL:
		gate_probed(gate, &usual, GATE_WELL, *lease, now);
		break;
	case PROBED_ILL:
		gate_probed(gate, &usual, GATE_ILL, *lease, now);
		break;
	case PROBED_NO_NEWS:
		gate_probed(gate, &usual, GATE_NO_NEWS, *lease, now);
		break;
	}
	view = gate_look(gate, now);
	check_view(row, &view, deed);
}

static void
test_scripts(void)
{
	for (size_t i = 0; i < LENGTH(scripts); i++) {
		const struct deed *deed = scripts[i].deeds;
		struct gate gate = { 0 };
		uint64_t leases[PEOPLE] = { 0 };
		char row[80];

		for (int n = 1; deed->what != END; n++, deed++) {
			snprintf(row, sizeof row, "%s, %d", scripts[i].row, n);
			check_deed(row, &gate, deed, &leases[deed->who]);
		}
	}
}

/* A gate that opened at an instant, for the breaker's pause. */
static struct gate
opened(const struct breaker *breaker, nanos now)
{
	struct gate gate = { 0 };

	for (int64_t i = 0; i < breaker->failures; i++)
		gate_tell(&gate, breaker, GATE_ILL, false, now, now);
	EQUAL("opened", gate_look(&gate, now).state, GATE_OPEN);
	return gate;
}

static enum gate_pass
entered(struct gate *gate, nanos now, uint64_t *lease)
{
	struct gate_view view;

	return gate_enter(gate, now, lease, &view);
}

/* Another version of the program reads them too. */
static void
test_words(void)
{
	struct gate gate = { 0 };
	const uint64_t seq = UINT64_C(1) << 40, streak = UINT64_C(1) << 42;
	uint64_t lease;

	for (int i = 0; i < 3; i++)
		gate_tell(&gate, &usual, GATE_ILL, false, 0, 0);
	HOLDS("open", gate.word == (UINT64_C(1) << 62 | seq | 10000));
	HOLDS("open", gate.streak == 3);
	entered(&gate, SECONDS(10), &lease);
	HOLDS("probe", gate.word == (UINT64_C(2) << 62 | 2 * seq | 13000));
	HOLDS("probe", lease == gate.word);
	gate_renew(&gate, &lease, SECONDS(11));
	HOLDS("renewed", gate.word == (UINT64_C(2) << 62 | 3 * seq | 14000));
	HOLDS("renewed", lease == gate.word);
	gate_probed(&gate, &usual, GATE_ILL, lease, SECONDS(12));
	HOLDS("ill", gate.word == (UINT64_C(1) << 62 | 4 * seq | 32000));
	HOLDS("ill", gate.streak == (UINT64_C(1) << 32 | 4));
	entered(&gate, SECONDS(32), &lease);
	gate_probed(&gate, &usual, GATE_NO_NEWS, lease, SECONDS(33));
	HOLDS("given back", gate.word == (UINT64_C(1) << 62 | 6 * seq));
	entered(&gate, SECONDS(33), &lease);
	gate_probed(&gate, &usual, GATE_WELL, lease, SECONDS(34));
	HOLDS("well", gate.word == (UINT64_C(3) << 62 | 8 * seq | 34000));
	entered(&gate, SECONDS(50), &lease);
	HOLDS("closed", gate.word == (9 * seq | 34000));
	HOLDS("closed", gate.rate == 0);
	gate_tell(&gate, &usual, GATE_ILL, false, SECONDS(51), SECONDS(51));
	HOLDS("again", gate.word == (9 * seq | 34000));
	HOLDS("again", gate.streak == (9 * streak | 1));
	gate_tell(&gate, &usual, GATE_WELL, true, SECONDS(51), SECONDS(51));
	HOLDS("a success", gate.word == (10 * seq | 34000));
	HOLDS("a success", gate.rate == 0);
}

/* The rate's own fields are unit_pace's. */
static void
test_words_of_a_recovery(void)
{
	const nanos began = ((1 << 20) + 7) * NANOS_MS;
	const uint64_t seq = UINT64_C(1) << 40, streak = UINT64_C(1) << 42;
	const uint64_t word = UINT64_C(3) << 62 | ((1 << 20) + 7);
	struct pace pace = pace_read(0, began, began);
	struct gate gate = { .word = word | seq };
	uint64_t lease;

	/* More than half of them, or it would be over. */
	for (int64_t i = 0; i < LEAST; i++) {
		EQUAL("turn", entered(&gate, began, &lease), GATE_TURN);
		pace_take(&pace);
		HOLDS("turn", gate.rate == pace_word(&pace));
	}
	gate_tell(&gate, &usual, GATE_WELL, true, began, began);
	pace_succeed(&pace);
	HOLDS("success", gate.rate == pace_word(&pace));
	HOLDS("success", gate.word == (word | seq) && gate.streak == 0);
	gate_tell(&gate, &usual, GATE_ILL, false, began, began);
	pace_fail(&pace);
	HOLDS("failure", gate.rate == pace_word(&pace));
	HOLDS("failure", gate.word == (word | seq));
	HOLDS("failure", gate.streak == (streak | 1));
	gate_tell(&gate, &usual, GATE_WELL, true, began, began);
	pace_succeed(&pace);
	HOLDS("its end", gate.rate == pace_word(&pace));
	HOLDS("its end", gate.word == (word | 2 * seq));
	EQUAL("step", entered(&gate, began + PACE_STEP, &lease), GATE_TURN);
	pace = pace_read(pace_word(&pace), began, began + PACE_STEP);
	pace_take(&pace);
	HOLDS("step", gate.rate == pace_word(&pace));
}

/* Reading is cheap for a host full of processes; a write is not. */
static void
test_what_is_no_news_writes_nothing(void)
{
	struct gate gate = { 0 };
	uint64_t lease, word, streak;

	gate_tell(&gate, &usual, GATE_WELL, true, 0, 0);
	entered(&gate, 0, &lease);
	HOLDS("closed", gate.word == 0 && gate.streak == 0);
	gate = opened(&usual, 0);
	word = gate.word;
	streak = gate.streak;
	for (int news = GATE_WELL; news <= GATE_NO_NEWS; news++) {
		gate_tell(&gate, &usual, (enum gate_news)news, true, 1, 1);
		gate_probed(&gate, &usual, (enum gate_news)news, 0, 1);
		gate_probed(&gate, &usual, (enum gate_news)news, word + 1, 1);
	}
	HOLDS("held", entered(&gate, 1, &lease) == GATE_HELD);
	HOLDS("open", gate.word == word && gate.streak == streak);
}

/* What they have in common is the gate, and how many failures there were. */
static void
test_every_process_acts_by_its_own_numbers(void)
{
	const struct breaker none = { 0, 0, 0 }, five = { 5, SECONDS(2), 0 };
	const struct breaker slow = { 9, SECONDS(60), SECONDS(100) };
	struct gate gate = { 0 };
	uint64_t lease;

	for (int i = 0; i < 20; i++)
		gate_tell(&gate, &none, GATE_ILL, false, 0, 0);
	EQUAL("none", gate_look(&gate, 0).state, GATE_CLOSED);
	EQUAL("none", gate_look(&gate, 0).failures, 20);
	gate_tell(&gate, &five, GATE_ILL, false, 0, 0);
	EQUAL("5", gate_look(&gate, 0).state, GATE_OPEN);
	EQUAL("5", gate_look(&gate, 0).failures, 21);
	EQUAL("5", gate_look(&gate, 0).next, SECONDS(2));
	HOLDS("60s", entered(&gate, SECONDS(2), &lease) == GATE_PROBE);
	gate_probed(&gate, &slow, GATE_ILL, lease, SECONDS(2));
	EQUAL("60s", gate_look(&gate, SECONDS(2)).next, SECONDS(100));
	HOLDS("2s", entered(&gate, SECONDS(102), &lease) == GATE_PROBE);
	gate_probed(&gate, &five, GATE_ILL, lease, SECONDS(102));
	EQUAL("2s", gate_look(&gate, SECONDS(102)).next, SECONDS(2));
	/* Who has no breaker and succeeds ends the streak for all. */
	gate = (struct gate){ 0 };
	for (int i = 0; i < 4; i++)
		gate_tell(&gate, &five, GATE_ILL, false, 0, 0);
	gate_tell(&gate, &none, GATE_WELL, true, 0, 0);
	gate_tell(&gate, &five, GATE_ILL, false, 0, 0);
	EQUAL("ended", gate_look(&gate, 0).state, GATE_CLOSED);
	EQUAL("ended", gate_look(&gate, 0).failures, 1);
}

/* It is not due before its time, and less than a millisecond after it. */
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
		struct breaker breaker = { 1, rows[i].pause, rows[i].pause };
		struct gate gate = opened(&breaker, rows[i].now);
		uint64_t lease;

		EQUAL(rows[i].row, gate_look(&gate, rows[i].now).next,
		    rows[i].due - rows[i].now);
		EQUAL(rows[i].row, entered(&gate, rows[i].due - 1, &lease),
		    GATE_HELD);
		EQUAL(rows[i].row, entered(&gate, rows[i].due, &lease),
		    GATE_PROBE);
	}
}

static void
test_pauses(void)
{
	static const struct {
		const char *row;
		struct breaker breaker;
		nanos pauses[5]; /* after so many doublings */
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
		struct gate gate = opened(&rows[i].breaker, 0);
		nanos now = 0;
		uint64_t lease;

		for (int j = 0; j < 5; j++) {
			EQUAL(rows[i].row, gate_look(&gate, now).next,
			    rows[i].pauses[j]);
			now += rows[i].pauses[j];
			HOLDS(rows[i].row,
			    entered(&gate, now, &lease) == GATE_PROBE);
			gate_probed(
			    &gate, &rows[i].breaker, GATE_ILL, lease, now);
		}
	}
}

/* Counts stay at their most, seq begins anew, and no sum wraps. */
static void
test_ends_of_the_numbers(void)
{
	const uint64_t seq = ((UINT64_C(1) << 22) - 1) << 40;
	const uint64_t most = UINT32_MAX;
	struct gate gate = { .word = seq, .streak = seq << 2 | (most - 1) };
	uint64_t lease;
	const struct breaker none = { 0, 0, 0 };
	const struct breaker many = { UINT32_MAX, SECONDS(1), SECONDS(9) };

	gate_tell(&gate, &none, GATE_ILL, false, 0, 0);
	EQUAL("the most", gate_look(&gate, 0).failures, UINT32_MAX);
	gate_tell(&gate, &none, GATE_ILL, false, 0, 0);
	EQUAL("the most", gate_look(&gate, 0).failures, UINT32_MAX);
	HOLDS("the most", gate.word == seq);
	gate_tell(&gate, &many, GATE_ILL, false, 0, 0);
	HOLDS("seq", gate.word == (UINT64_C(1) << 62 | 1000));
	gate.streak |= UINT64_C(1023) << 32;
	HOLDS("doublings", entered(&gate, SECONDS(1), &lease) == GATE_PROBE);
	gate_probed(&gate, &many, GATE_ILL, lease, SECONDS(1));
	EQUAL("doublings", gate_look(&gate, 0).next, SECONDS(10));
	EQUAL("doublings", gate.streak >> 32 & 1023, 1023);
	EQUAL("doublings", gate_look(&gate, 0).failures, UINT32_MAX);
	/* After 34 years there is no holding anybody, but no harm. */
	gate = opened(&usual, NANOS_MAX);
	HOLDS("34 years",
	    gate.word == (UINT64_C(1) << 62) + (UINT64_C(1) << 41) - 1);
	EQUAL("34 years", gate_look(&gate, NANOS_MAX).next, 0);
	EQUAL("34 years", entered(&gate, NANOS_MAX, &lease), GATE_PROBE);
	HOLDS("34 years", gate_renew(&gate, &lease, NANOS_MAX));
	gate_probed(&gate, &usual, GATE_WELL, lease, NANOS_MAX);
	EQUAL("34 years", entered(&gate, NANOS_MAX, &lease), GATE_PASSED);
}

/*
 * Recoveries
 */

/* A gate that recovers since an instant. */
static struct gate
recovering(nanos began)
{
	struct gate gate = opened(&usual, began - SECONDS(10));
	uint64_t lease;

	HOLDS("due", entered(&gate, began, &lease) == GATE_PROBE);
	gate_probed(&gate, &usual, GATE_WELL, lease, began);
	return gate;
}

/* So many are let in at an instant, and then no more. */
static void
check_turns(const char *row, struct gate *gate, int64_t turns, nanos now)
{
	struct gate_view view;
	uint64_t lease;

	for (int64_t i = 0; i < turns; i++) {
		EQUAL(row, gate_enter(gate, now, &lease, &view), GATE_TURN);
		HOLDS(row, lease == 0);
	}
	EQUAL(row, gate_enter(gate, now, &lease, &view), GATE_HELD);
	HOLDS(row, lease == 0);
	EQUAL(row, view.state, GATE_RECOVERING);
	HOLDS(row, view.next > 0 && view.next <= PACE_STEP);
	EQUAL(row, gate_look(gate, now).next, view.next);
}

/* Successes in a step, all of whose attempts were taken: it grows. */
static void
check_step(struct gate *gate, int64_t rate, nanos end)
{
	EQUAL("rate", gate_look(gate, end).rate,
	    rate * (NANOS_SECOND / PACE_STEP));
	check_turns("step", gate, rate, end);
	for (int64_t i = 0; i < rate; i++)
		gate_tell(gate, &usual, GATE_WELL, true, end, end);
}

static void
test_a_recovery_lets_in_at_its_pace(void)
{
	const nanos began = SECONDS(20);
	struct gate gate = recovering(began);
	nanos end = began;

	check_turns("first", &gate, LEAST, began);
	check_turns("same step", &gate, FIRST - LEAST, began + PACE_STEP - 1);
	check_turns("second", &gate, LEAST, began + PACE_STEP);
	gate = recovering(began);
	for (int64_t rate = FIRST; rate <= 16 * FIRST; rate = GROWN(rate)) {
		end += PACE_STEP;
		check_step(&gate, rate, end - 1);
	}
	/* In the next one the first attempts are to be had at once. */
	gate = recovering(began);
	check_step(&gate, FIRST, began + PACE_STEP - 1);
	check_turns("at once", &gate, LEAST, began + PACE_STEP);
}

/* For as long as anybody may sleep who waits for one. */
static void
test_a_recovery_closes_where_turns_are_left(void)
{
	const nanos began = SECONDS(20), next = began + QUIET;
	struct gate gate;
	uint64_t lease;

	for (int64_t turns = 0; turns <= FIRST; turns++) {
		bool over = 2 * turns <= FIRST;

		gate = recovering(began);
		gate_tell(&gate, &usual, GATE_WELL, true, began, began);
		for (nanos at = began; at < next; at += PACE_STEP)
			for (int64_t i = 0; i < turns; i++)
				EQUAL("turn",
				    entered(&gate, at + PACE_STEP - 1, &lease),
				    GATE_TURN);
		EQUAL(
		    "last", gate_look(&gate, next - 1).state, GATE_RECOVERING);
		EQUAL("next", gate_look(&gate, next).state,
		    over ? GATE_CLOSED : GATE_RECOVERING);
		EQUAL("next", gate_look(&gate, next).next, 0);
		/* Who finds that it is over has no turn of it. */
		EQUAL("next", entered(&gate, next, &lease),
		    over ? GATE_PASSED : GATE_TURN);
		HOLDS("next", lease == 0);
		HOLDS("next", gate.word >> 62 == (over ? 0 : GATE_RECOVERING));
	}
	gate = recovering(began);
	EQUAL("the end", gate_look(&gate, next).state, GATE_CLOSED);
	for (int i = 0; i < 1000; i++)
		EQUAL("the end", entered(&gate, next, &lease), GATE_PASSED);
}

/* What takes long to fail wants a retry then. */
static void
test_a_recovery_waits_for_the_first_news(void)
{
	const nanos began = SECONDS(20), told = began + SECONDS(30);
	struct gate gate = recovering(began);
	uint64_t lease;

	check_turns("first", &gate, LEAST, began);
	EQUAL("awaited", gate_look(&gate, told).state, GATE_RECOVERING);
	EQUAL("awaited", gate_look(&gate, told).rate, SLOW);
	for (int i = 0; i < LEAST; i++)
		gate_tell(&gate, &usual, i % 2 == 0 ? GATE_WELL : GATE_ILL,
		    i % 2 == 0, began, told);
	check_turns("told", &gate, LEAST, told);
	EQUAL("end", gate_look(&gate, told + 2 * QUIET).state, GATE_CLOSED);
	EQUAL("end", entered(&gate, told + 2 * QUIET, &lease), GATE_PASSED);
}

static void
test_a_recovery_opens_no_faster_than_it_began(void)
{
	const nanos began = SECONDS(20);
	struct gate gate = recovering(began);
	nanos now = began + PACE_STEP - NANOS_MS;

	for (int64_t rate = FIRST; rate <= 4 * FIRST; rate = GROWN(rate)) {
		check_step(&gate, rate, now);
		now += PACE_STEP;
	}
	now -= PACE_STEP;
	for (int64_t i = 1; i <= 2 * usual.failures; i++) {
		gate_tell(&gate, &usual, GATE_ILL, false, now, now);
		EQUAL("fast", gate_look(&gate, now).state, GATE_RECOVERING);
		EQUAL("fast", gate_look(&gate, now).failures, i);
	}
	while (gate_look(&gate, now).rate > SLOW) {
		for (int i = 0; i < 8; i++)
			gate_tell(&gate, &usual, GATE_ILL, false, now, now);
		EQUAL("slower", gate_look(&gate, now).state, GATE_RECOVERING);
		now += PACE_STEP;
	}
	gate_tell(&gate, &usual, GATE_ILL, false, now, now);
	EQUAL("slow", gate_look(&gate, now).state, GATE_OPEN);
	EQUAL("slow", gate_look(&gate, now).next, usual.pause);
}

/* It ends the streak of failures, and that is all. */
static void
test_a_success_does_not_disturb_the_pace(void)
{
	const nanos began = SECONDS(20), next = began + PACE_STEP;
	struct gate gate = recovering(began);
	nanos now;

	check_turns("first", &gate, LEAST, began);
	for (int i = 0; i < 10; i++) {
		gate_tell(&gate, &usual, GATE_ILL, false, began, began);
		gate_tell(&gate, &usual, GATE_ILL, false, began, began);
		EQUAL("ill", gate_look(&gate, began).failures, 2);
		gate_tell(&gate, &usual, GATE_WELL, true, began, began);
		EQUAL("well", gate_look(&gate, began).failures, 0);
	}
	check_turns("same step", &gate, 0, began);
	/* There were successes, but also failures, at the slowest pace. */
	now = next + PACE_STEP - 1;
	check_turns("second", &gate, FIRST * 3 / 4, now);
	for (int i = 0; i < FIRST * 3 / 4; i++)
		gate_tell(&gate, &usual, GATE_WELL, true, now, now);
	EQUAL("grown", gate_look(&gate, now + 1).rate,
	    GROWN(FIRST * 3 / 4) * NANOS_SECOND / PACE_STEP);
}

/* Only a recovery has a pace, and only its own. */
static void
test_the_pace_is_that_of_this_recovery(void)
{
	const nanos began = SECONDS(20), again = SECONDS(60);
	struct gate gate = recovering(began);
	uint64_t lease, rate;

	check_turns("first", &gate, LEAST, began);
	for (int i = 0; i < 3; i++)
		gate_tell(&gate, &usual, GATE_ILL, false, began, began);
	EQUAL("open", gate_look(&gate, began).rate, 0);
	rate = gate.rate;
	gate_tell(&gate, &usual, GATE_ILL, false, began, began);
	gate_tell(&gate, &usual, GATE_WELL, true, began, began);
	EQUAL("due", entered(&gate, again, &lease), GATE_PROBE);
	gate_tell(&gate, &usual, GATE_ILL, false, again, again);
	gate_tell(&gate, &usual, GATE_WELL, true, again, again);
	HOLDS("others", gate.rate == rate);
	gate_probed(&gate, &usual, GATE_WELL, lease, again);
	HOLDS("begins", gate.rate == rate);
	check_turns("second", &gate, LEAST, again);
	/* Whose clock was read in the first one finds the second. */
	EQUAL("late", entered(&gate, began, &lease), GATE_HELD);
	EQUAL("late", gate_look(&gate, began).next,
	    again + PACE_STEP / FIRST - began);
}

/* What comes when nobody does, or only what tells how it ends. */
static nanos
check_end(const char *row, struct gate *gate, nanos now)
{
	uint64_t lease;

	for (int i = 0; i < 4 && gate->word >> 62 == GATE_RECOVERING; i++) {
		now += QUIET + 2 * PACE_STEP + gate_look(gate, now).next;
		if (i == 0 && entered(gate, now, &lease) == GATE_TURN)
			gate_tell(gate, &usual, GATE_WELL, true, now, now);
		else
			EQUAL(row, entered(gate, now, &lease), GATE_PASSED);
	}
	EQUAL(row, (int64_t)(gate->word >> 62), GATE_CLOSED);
	return now;
}

/* Of whatever bytes: nobody is held for ever, and soon all is well again. */
static void
check_healing(const char *row, struct gate gate, nanos now)
{
	const nanos most = GATE_PAUSE_MOST + NANOS_MINUTE;
	struct gate_view view = gate_look(&gate, now);
	enum gate_pass due = view.state == GATE_CLOSED ? GATE_PASSED
	    : view.rate > 0                            ? GATE_TURN
						       : GATE_PROBE;
	uint64_t lease;
	enum gate_pass pass;
	nanos began;

	HOLDS(row, view.next >= 0 && view.failures >= 0);
	HOLDS(row, view.next <= most);
	HOLDS(row, (view.rate > 0) == (view.state == GATE_RECOVERING));
	pass = entered(&gate, now, &lease);
	HOLDS(row, (pass == GATE_HELD) == (view.next > 0));
	if (pass == GATE_HELD) {
		now += view.next;
		pass = entered(&gate, now, &lease);
	}
	/* It may be over by then. */
	HOLDS(row, pass == due || (due == GATE_TURN && pass == GATE_PASSED));
	if (pass == GATE_PROBE) {
		gate_probed(&gate, &usual, GATE_ILL, lease, now);
		now += gate_look(&gate, now).next;
		HOLDS(row, entered(&gate, now, &lease) == GATE_PROBE);
		gate_probed(&gate, &usual, GATE_WELL, lease, now);
		EQUAL(row, gate_look(&gate, now).failures, 0);
	}
	now = check_end(row, &gate, now);
	/* What begins from here on is news. */
	began = (nanos)(gate.word % (UINT64_C(1) << 40)) * NANOS_MS;
	if (now < began)
		now = began;
	gate_tell(&gate, &usual, GATE_WELL, true, now, now);
	for (int i = 0; i < 2; i++)
		gate_tell(&gate, &usual, GATE_ILL, false, now, now);
	EQUAL(row, entered(&gate, now, &lease), GATE_PASSED);
	gate_tell(&gate, &usual, GATE_ILL, false, now, now);
	EQUAL(row, gate_look(&gate, now).state, GATE_OPEN);
	EQUAL(row, gate_look(&gate, now).failures, 3);
}

static uint64_t
draw(uint64_t *state)
{
	uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

static void
test_corner_words_heal(void)
{
	const uint64_t ms[] = { 0, 1, 86399999, 86400000, 86460000, 86460001,
		86460002, (UINT64_C(1) << 40) - 1 };
	const uint64_t streaks[] = { 0, 1, UINT32_MAX, UINT64_MAX,
		UINT64_C(1023) << 32 };
	const uint64_t rates[] = { 0, UINT64_MAX, UINT64_MAX >> 20,
		pace_word(&(struct pace){ .rate = LEAST, .taken = LEAST }) };

	for (uint64_t state = 0; state < 4; state++)
		for (size_t i = 0; i < LENGTH(ms) * LENGTH(streaks); i++)
			for (size_t j = 0; j < LENGTH(rates); j++)
				check_healing("corners",
				    (struct gate){
					state << 62 | ms[i % LENGTH(ms)],
					streaks[i / LENGTH(ms)],
					rates[j],
				    },
				    NANOS_MS);
}

/* What the words of a recovery may be, its mark being right. */
static void
check_recovery(uint64_t *seed)
{
	/* The lowest bits of two of its fields. */
	const uint64_t mark = pace_word(&(struct pace){ .began = NANOS_MS });
	const uint64_t step = pace_word(&(struct pace){ .step = 1 });
	nanos began = (nanos)(draw(seed) % 100000) * NANOS_DAY / 100;
	nanos now = began + (nanos)(draw(seed) % 4) * PACE_STEP;
	struct gate gate = { .word = UINT64_C(3) << 62 };

	gate.word |= (uint64_t)(began / NANOS_MS);
	gate.rate = pace_word(&(struct pace){ .began = began });
	if (draw(seed) % 2 == 0)
		gate.rate |= draw(seed) % mark;
	else /* of a step that is not long ago */
		gate.rate |= draw(seed) % (4 * step);
	check_healing("recovery", gate, now);
}

static void
test_random_words_heal(void)
{
	uint64_t seed = 1;
	nanos held = 0;

	for (int i = 0; i < 20000; i++) {
		struct gate gate = { draw(&seed), draw(&seed), draw(&seed) };
		nanos now = (nanos)(draw(&seed) % (365 * NANOS_DAY));

		held += gate_look(&gate, now).next > 0;
		check_healing("random", gate, now);
		check_recovery(&seed);
	}
	/* A day and a minute of 34 years: it hardly ever holds anybody. */
	HOLDS("random", held < 20);
}

static void (*const tests[])(void) = {
	test_scripts,
	test_words,
	test_words_of_a_recovery,
	test_what_is_no_news_writes_nothing,
	test_every_process_acts_by_its_own_numbers,
	test_instants_are_rounded_up,
	test_pauses,
	test_ends_of_the_numbers,
	test_a_recovery_lets_in_at_its_pace,
	test_a_recovery_closes_where_turns_are_left,
	test_a_recovery_waits_for_the_first_news,
	test_a_recovery_opens_no_faster_than_it_began,
	test_a_success_does_not_disturb_the_pace,
	test_the_pace_is_that_of_this_recovery,
	test_corner_words_heal,
	test_random_words_heal,
};

int
main(void)
{
	return unit_run(tests, LENGTH(tests));
}
