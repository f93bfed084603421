/* backoff: envelopes, jitter and lists of delays. */
#include "unit.h"
#include "script.h"
#include "policy/backoff.h"

#define DRAWS 20000

/*
 * What is asked for, and the envelope before each retry, in nanoseconds; behind
 * "@N" those before the Nth retry and the next ones. "ever" is NANOS_MAX, and
 * "@ever" the last retry that there can be. There is no cap if none is said.
 */
static const char *const series[] = {
	"delay=500ns -> 500 1000 2000 4000",
	"delay=1ns -> @53 4503599627370496 9007199254740992 @63 4611686018427387904 ever",
	"delay=1ns factor=3 -> @34 5559060566555523",
	"delay=1ns factor=1.5 -> 1 2 2 3 5 8 11",
	"delay=9007199254740993ns factor=1 -> @9 9007199254740993",
	"delay=1ns factor=ever -> 1 @3 ever",
	"delay=0 factor=ever -> @ever 0",
	"delay=500ns backoff=linear -> 500 1000 1500 @10000 5000000",
	"delay=2ns backoff=linear -> @ever ever",
	"delay=0 backoff=linear -> @ever 0",
	"delay=500ns backoff=fibonacci -> 500 500 1000 1500 2500",
	"delay=1ns backoff=fibonacci -> @92 7540113804746346429 ever @ever ever",
	"delay=0 backoff=fibonacci -> @ever 0",
	"delay=9223372036854775806ns factor=1.000001 -> 9223372036854775806 ever @10000 ever",
	"delay=9223372036854775806ns backoff=linear -> 9223372036854775806 ever @10000 ever",
	"delay=9223372036854775806ns backoff=fibonacci -> 9223372036854775806 "
	"9223372036854775806 ever @10000 ever",
	"delay=1ns factor=1.000001 -> @200 1 @2000000 7 @ever ever",

	/* Lists: without a kind the last element repeats. */
	"delay=0,30ns,10ns -> 0 30 10 10 10 @ever 10",
	"delay=0,30ns,10ns factor=3 backoff=exponential -> 0 30 10 30 90 270 @ever ever",
	"delay=0,30ns,10ns backoff=linear -> 0 30 10 20 30 40",
	"delay=0,30ns,10ns backoff=constant -> 0 30 10 10 10",
	"delay=0,30ns,10ns backoff=fibonacci -> 0 30 10 10 20 30 50",

	/* Floor and cap. */
	"delay=10ns min-delay=25ns max-delay=100ns -> 25 25 40 80 100 100 @10000 100 @ever 100",
	"delay=10ns max-delay=3ns -> 3 3 3",
	"delay=0.5 max-delay=30 -> @60 30000000000 @10000 30000000000 @ever 30000000000",
	"delay=0.5 max-delay=30 backoff=linear -> @60 30000000000 @10000 "
	"30000000000 @ever 30000000000",
	"delay=0.5 max-delay=30 backoff=fibonacci -> @60 30000000000 @10000 "
	"30000000000 @ever 30000000000",
};

static int64_t number_of(const char *text) {
	return strcmp(text, "ever") == 0 ? INT64_MAX : strtoll(text, NULL, 10);
}

TEST_ROWS(series) {
	struct script script = script_of(row);
	struct policy policy = script_policy(&script);
	int64_t n = 1;

	if (strstr(row, "max-delay") == NULL)
		policy.backoff.cap = NANOS_MAX;
	script_next(&script);
	while (script_next(&script))
		if (script.word[0] == '@')
			n = number_of(script.word + 1);
		else {
			EQUAL(row, backoff_envelope(&policy.backoff, n), number_of(script.word));
			n += n < INT64_MAX;
		}
}

/* The bounds and the mean of many draws of one delay. */
struct draws {
	nanos least, most;
	double mean;
};

/*
 * That draws lie in [low, high], reach the outer tenth at either end (of the
 * lower half, of the upper half) and have that mean, within 1 %.
 */
static void
check_draws(const char *row, const struct draws *draws, nanos low, nanos high, double mean) {
	nanos tenth = (high - low) / 10;
	double off = draws->mean - mean;

	HOLDS(row, draws->least >= low);
	HOLDS(row, draws->most <= high);
	HOLDS(row, draws->least <= low + tenth);
	HOLDS(row, draws->most >= high - tenth);
	HOLDS(row, off <= mean / 100 && -off <= mean / 100);
}

/*
 * What is asked for, how much time is left to the deadline, and the number of the retry, 1 if
 * unsaid; or behind "after" the delay of the backoff, and the "wait" that a server asked for.
 * Then what many draws reach: about these bounds with this mean, or exactly these, in
 * nanoseconds. The envelope before the 4th retry is 8s.
 */
static const char *const drawn[] = {
	"jitter=full retry 4 -> about 0 to 8 mean 4",
	"jitter=full -> about 0 to 1 mean 0.5",
	"jitter=full min-delay=2 retry 4 -> about 2 to 8 mean 5",
	"jitter=full max-delay=6 retry 4 -> about 0 to 6 mean 3",
	"jitter=full min-delay=4 max-delay=6 retry 4 -> about 4 to 6 mean 5",
	"jitter=equal retry 4 -> about 4 to 8 mean 6",
	"jitter=equal min-delay=6 retry 4 -> about 6 to 8 mean 6.5",
	"jitter=equal max-delay=6 retry 4 -> about 3 to 6 mean 4.5",
	"jitter=decorrelated -> about 1 to 3 mean 2",
	"jitter=decorrelated max-delay=2 -> about 1 to 2 mean 1.75",
	"jitter=decorrelated min-delay=2 -> about 2 to 3 mean 2.25",
	"jitter=decorrelated delay=9 max-delay=1 retry 2 -> about 1 to 1 mean 1",
	/* The next mean is half of base + 3 times the mean before it. */
	"jitter=decorrelated retry 2 -> about 1 to 9 mean 3.5",
	"jitter=none retry 4 -> about 8 to 8 mean 8",
	/* Trimmed to what is left minus 1, if that is at least 1. */
	"jitter=full retry 4 left 5 -> about 0 to 4 mean 2",
	"jitter=full retry 4 left 2 -> about 0 to 1 mean 0.5",
	"jitter=full retry 4 left 1.9 -> about 0 to 8 mean 4",
	"jitter=full min-delay=3 retry 4 left 5 -> about 3 to 4 mean 3.5",
	"jitter=full min-delay=3 retry 4 left 3 -> about 3 to 3 mean 3",
	"jitter=equal retry 4 left 5 -> about 2 to 4 mean 3",
	"jitter=equal retry 4 left 1.9 -> about 4 to 8 mean 6",
	"jitter=equal min-delay=5 retry 4 left 5 -> about 5 to 5 mean 5",
	"jitter=decorrelated left 3 -> about 1 to 2 mean 1.5",
	"jitter=decorrelated left 2 -> about 1 to 1 mean 1",
	"jitter=decorrelated left 1.9 -> about 1 to 3 mean 2",
	"jitter=none retry 4 left 5 -> about 8 to 8 mean 8",
	/* The base of a list is its first delay that is not 0. */
	"jitter=full delay=0,1,8 retry 3 -> about 0 to 8 mean 4",
	"jitter=full delay=0,1,8 retry 3 left 5 -> about 0 to 4 mean 2",
	"jitter=full delay=0,1,8 retry 3 left 1.9 -> about 0 to 8 mean 4",
	"jitter=equal delay=0,1,8 retry 3 left 5 -> about 2 to 4 mean 3",
	"jitter=full delay=4,1,8 retry 3 left 9 -> about 0 to 5 mean 2.5",

	/* Both ends of an interval belong to it. */
	"jitter=full delay=8ns -> 0 to 8",
	"jitter=full delay=1ns -> 0 to 1",
	"jitter=equal delay=7ns -> 4 to 7",
	"jitter=equal delay=1ns -> 1 to 1",
	"jitter=decorrelated delay=8ns -> 8 to 24",
	"jitter=decorrelated delay=0 -> 0 to 0",

	/* A server asks for a wait: the base on top, or a tenth. */
	"jitter=full delay=8ns after 3ns wait 40ns -> 40 to 48",
	"jitter=full delay=8ns after 3ns wait 100ns -> 100 to 110",
	"jitter=full delay=0 after 0 wait 100ns -> 100 to 110",
	"jitter=full delay=0 after 0 wait 9ns -> 9 to 9",
	"jitter=full delay=8ns after 120ns wait 100ns -> 120 to 130",
	"jitter=full delay=8ns after 60ns wait 10ns -> 60 to 68",
	"jitter=full delay=8ns after 0 wait 0 -> 0 to 8",
	"jitter=decorrelated delay=8ns after 3ns wait 100ns -> 100 to 110",
	"jitter=none delay=8ns after 3ns wait 100ns -> 100 to 100",
	"jitter=none delay=8ns after 3ns wait 100ns left 101ns -> 100 to 100",
	/* Half of what is left is for the attempt, but it is never less than the server asked
	 * for. */
	"jitter=full delay=8ns after 3ns wait 100ns left 120ns -> 100 to 110",
	"jitter=full delay=8ns after 3ns wait 100ns left 118ns -> 100 to 109",
	"jitter=full delay=8ns after 105ns wait 100ns left 115ns -> 105 to 110",
	"jitter=full delay=8ns after 3ns wait 100ns left 101ns -> 100 to 100",
	"jitter=full delay=8ns after 3ns wait 100ns left 100ns -> 100 to 110",
	/* Up to NANOS_MAX. */
	"jitter=full delay=ever max-delay=ever -> about 0 to ever mean 4611686018.4",
	"jitter=equal delay=ever max-delay=ever -> about 4611686018.4 to ever mean 6917529027.6",
	"jitter=decorrelated delay=ever max-delay=ever retry 3 -> ever to ever",
	"jitter=none delay=ever max-delay=ever retry 3 -> ever to ever",
	"jitter=full delay=8ns after 3ns wait ever -> ever to ever",
	("jitter=full delay=8ns after 3ns wait 9223372036854775804ns -> "
	 "9223372036854775804 to 9223372036854775805"),
};

TEST_ROWS(drawn) {
	struct script script = script_of(row);
	struct policy policy = script_policy(&script);
	struct schedule schedule = { .random = 1 };
	struct draws draws = { .least = NANOS_MAX };
	nanos left = NANOS_MAX, after = -1, wait = 0;
	int64_t retry = 1;

	while (script_next(&script) && !script_is(&script, "->"))
		if (script_is(&script, "retry"))
			retry = script_number(&script);
		else if (script_is(&script, "left"))
			left = script_span(&script);
		else if (script_is(&script, "after"))
			after = script_span(&script);
		else if (script_is(&script, "wait"))
			wait = script_span(&script);
		else
			script_refuse(&script);
	for (int i = 0; i < DRAWS; i++) {
		const struct backoff *backoff = &policy.backoff;
		nanos delay = 0;

		schedule.n = 0;
		if (after >= 0)
			delay = backoff_after(backoff, &schedule, after, wait, left);
		for (int64_t n = 0; after < 0 && n < retry; n++)
			delay = backoff_next(backoff, &schedule, left);
		draws.least = delay < draws.least ? delay : draws.least;
		draws.most = delay > draws.most ? delay : draws.most;
		draws.mean += (double)delay / DRAWS;
	}
	EQUAL(row, schedule.n, after < 0 ? retry : 0);
	script_next(&script);
	if (script_is(&script, "about")) {
		nanos low = script_span(&script), high, mean;

		script_next(&script);
		high = script_span(&script);
		script_next(&script);
		mean = script_span(&script);
		check_draws(row, &draws, low, high, (double)mean);
	} else {
		EQUAL(row, draws.least, number_of(script.word));
		script_next(&script);
		script_next(&script);
		EQUAL(row, draws.most, number_of(script.word));
	}
}

/* What the reference implementation gives for this seed, without the top bit. */
TEST(the_generator_is_splitmix64) {
	static const uint64_t reference[] = { UINT64_C(6457827717110365317),
		UINT64_C(3203168211198807973), UINT64_C(9817491932198370423),
		UINT64_C(4593380528125082431), UINT64_C(16408922859458223821) };
	struct schedule schedule = { .random = 1234567 };

	for (size_t i = 0; i < LENGTH(reference); i++)
		EQUAL("1234567", backoff_splay(&schedule, NANOS_MAX),
		    (int64_t)(reference[i] & INT64_MAX));
}

TEST(splays_are_uniform) {
	/* 2^64 is not a multiple of 5 * 2^60: a plain remainder would be biased. */
	static const nanos mosts[] = { 0, 1, 9, 999, NANOS_SECOND, NANOS_DAY, ((nanos)5 << 60) - 1,
		NANOS_MAX };

	for (size_t i = 0; i < LENGTH(mosts); i++) {
		struct schedule schedule = { .random = 3 };
		struct draws draws = { .least = NANOS_MAX };

		for (int k = 0; k < DRAWS; k++) {
			nanos wait = backoff_splay(&schedule, mosts[i]);

			draws.least = wait < draws.least ? wait : draws.least;
			draws.most = wait > draws.most ? wait : draws.most;
			draws.mean += (double)wait / DRAWS;
		}
		check_draws("splay", &draws, 0, mosts[i], (double)mosts[i] / 2);
		EQUAL("no retry", schedule.n, 0);
	}
}

TEST(the_base_is_one_of_the_delays) {
	struct backoff backoff = { .cap = 9, .delays = { { 0, 5 }, 1 } };

	EQUAL("0", backoff_base(&backoff), 0);
}

/* The number of retries does not wrap either. */
TEST(schedules_saturate) {
	struct backoff backoff = script_policy_of("delay=10ns max-delay=ever").backoff;
	struct schedule schedule = { .n = INT64_MAX };

	backoff.cap = 500;
	EQUAL("none", backoff_next(&backoff, &schedule, NANOS_MAX), 500);
	EQUAL("none", schedule.n, INT64_MAX);
	backoff.jitter = JITTER_DECORRELATED;
	schedule.previous = backoff.cap = NANOS_MAX;
	HOLDS("3 * previous", backoff_next(&backoff, &schedule, NANOS_MAX) >= 10);
}
