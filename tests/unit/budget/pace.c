/*
 * pace: what follows from a few events, by each rule at the head of pace.h; whatever its words
 * contain; and how often those look who wait. limits.c has many events of many commands.
 */
#include "unit.h"
#include "script.h"
#include "budget/pace.h"
#include "text/hash.h"
#include "text/number.h"

#define MOST_ATTEMPTS 256

/* A key, and the attempts under way: the oldest first. */
struct world {
	struct pace pace;
	struct pace_attempt attempts[MOST_ATTEMPTS];
	int ended, begun; /* how many of them */
	uint64_t random;
};

static nanos act(struct world *world, enum pace_event_kind kind, struct pace_attempt *mine,
    nanos now, nanos wait) {
	const struct pace_event event = { .kind = kind,
		.now = now,
		.wait = wait < 0 ? -wait : wait,
		.own = wait < 0 ? -wait : wait,
		.strict = wait < 0 };

	return pace_step(&world->pace, mine, &event, &world->random);
}

/* Times are compared to a microsecond: a turn is no whole number of nanoseconds. */
static nanos rounded(nanos span) { return number_round(span, 1000); }

/* From 7 s on: a pace of ten a second; one by which all waited as they were told; one of which
 * eight attempts shall show whether it is of use; one that is hardly more than the slowest; and a
 * window of 20 in six seconds. From 2 s on: what seems to be one, but one of the probes is still
 * under way. */
#define PACED "1s begin x50, 6.94s serve x49, refuse 1s, come refuse 1s, 7s begin serve "
#define BLIND "1s begin x52, serve x50, refuse 6s x2, 7s "
#define TRYING PACED ", come refuse 1s come serve x9 trying, "
#define SLOWEST "1s begin x6, 6.94s serve x5, refuse 1s, come refuse 1s, 7s begin serve "
#define CYCLE "come x3, serve x3, refuse 1s, come refuse 1s x2, +2s, "
#define LEAKY \
	"1s begin x21, serve x20, refuse 1s, come x2, newest refuse 1s, come, newest refuse 1s, " \
	"2s "
#define WINDOW "1s begin x21, serve x20, refuse 6s, come refuse 6s x2, 7s "

/*
 * Rows: events of a key of which nothing is known, and checks of what is known then.
 *
 *     begin         asks for an attempt, which begins
 *     come          the same, after it has waited until it may
 *     wait 20ms     asks for one, which has to wait so long
 *     serve         the oldest attempt is served
 *     refuse 5s     it is refused, and told to wait; 0: no time
 *     strictly 5s   the same, and who asks before is punished
 *     unknown       nothing is known of how it ended
 *     newest        the next word is about the attempt that began last
 *
 * turn is the time between two turns in milliseconds, left that until the named instant.
 */
static const char *const rules[] = {
	/* A key of which nothing is known is open, and has no pace. */
	"1s begin x100, serve x100, begin !closed turn=0",

	/* A refusal closes it. The first probe is 20 ms later, or an eighth of the wait; the next
	 * ones after gaps that double, or grow so that eight fill the wait. */
	"1s begin, +10ms refuse 5s closed left=5s, wait 20ms, +20ms begin, wait 40ms, +40ms begin, "
	"wait 80ms",
	"1s begin, +10ms refuse 1h left=1h wait 20ms, +20ms begin, wait 90.769ms",
	"1s begin, +10ms refuse 80ms wait 10ms, +10ms begin, wait 20ms",
	/* The last probe is no later than the named instant. */
	"1s begin, +10ms refuse 100ms wait 12.5ms, +90ms begin, wait 10ms",
	/* Without a time they double up to 30 s. */
	"1s begin, +10ms refuse 0 closed left=0, come refuse 0 x10, wait 20.48s, come refuse 0, "
	"wait 30s, come refuse 0, wait 30s",
	/* The named instant is the earliest one, also of those that were under way. */
	"1s begin x3, +10ms refuse 5s, +10ms refuse 2s left=2s, +10ms refuse 9s left=1.99s",
	"1s begin x2, +10ms refuse 0 left=0, +10ms refuse 2s left=2s",
	"1s begin, +10ms refuse 5s, +20ms begin, +10ms refuse 2s left=2s",

	/* An attempt that began after the last refusal, and is served, opens it. */
	"1s begin, +10ms refuse 5s, +20ms begin, +10ms serve !closed",
	"1s begin x2, +10ms refuse 5s, +20ms begin, +10ms serve closed",
	/* A probe that takes longer than a refusal was let in. */
	"1s begin, +10ms refuse 1h, +20ms begin, +250ms begin closed, +1ns begin !closed",
	"1s begin, +2s refuse 1h, +20ms begin, +8s begin closed, +1ns begin !closed",
	"1s begin, +10ms refuse 1h, +20ms begin, +500ms refuse 1h, +600ms begin closed, +2s begin "
	"closed, +1ns come !closed",

	/* It punishes, if a probe's refusal names an instant more than a second after the latest
	 * that was named to others. */
	"1s begin x2, serve refuse 5s, come refuse 5.98s !punished left=4.98s",
	"1s begin x2, serve refuse 5s, come refuse 5.981s punished=4 left=5.981s",
	"1s begin x2, refuse 5s, refuse 9s, come refuse 9s !punished left=4.98s",
	"1s begin x2, refuse 0, refuse 0, come refuse 9s !punished left=9s",
	"1s begin, refuse 0, come refuse 5s !punished, come refuse 7s punished=4",
	/* Then nobody probes in this closed phase and the next three, and the latest instant
	   counts. */
	"1s begin x3, serve refuse 5s, come, newest refuse 9s left=9s, refuse 12s left=12s",
	"1s begin x2, serve refuse 5s, come refuse 9s wait 9s, come punished=3 serve, come refuse "
	"2s wait 2s, come punished=2 serve, come refuse 2s wait 2s, come punished=1 serve, come "
	"refuse 2s wait 2s, come !punished serve, come refuse 2s wait 250ms",
	/* But a phase without a named instant is always probed, and one in which nothing was
	 * accepted does not count. */
	"1s begin x2, serve refuse 5s, come refuse 9s, come punished=3, refuse 0 wait 3.758333s",
	"1s begin, refuse 5s, come refuse 9s, +9s begin punished=4",

	/* Nor if it is known that it would be. Then several hosts do not lengthen it. */
	"1s begin, +10ms strictly 60s left=60s wait 60s, +60s begin strictly 2m left=2m wait 2m",
	"1s begin x2, +10ms refuse 5s, strictly 60s left=60s wait 60s",

	/* Votes: some are refused. */
	"1s begin x6, +10ms refuse 5s, serve closed, serve closed, serve !closed turn=0",
	"1s begin x9, +10ms refuse 5s, refuse 5s, serve x4 closed, serve !closed turn=0",
	"1s begin, +1ns begin x4, +10ms serve, refuse 5s, +10ms serve x3 !closed",

	/* An opening measures what was accepted in the time in which somebody waited or ran: 50 in
	 * six seconds, times 1.2. All waited as they were told, and nobody has asked. */
	BLIND "wait 100ms blind turn=100ms !quota",
	PACED "wait 100ms !blind turn=100ms !quota",
	/* So it is if nobody has asked for more than a second, and half of the time. */
	"1s begin x52, serve x50, refuse 6s x2, 2.02s begin serve !blind turn=17ms",
	"1s begin x52, serve x50, refuse 6s x2, 2.021s begin serve blind turn=17ms",
	"1s begin x52, serve x50, refuse 0 x2, come refuse 0 x7, 11.2s begin serve !blind",
	"1s begin x52, serve x50, refuse 0 x2, come refuse 0 x7, 11.201s begin serve blind",
	/* Nothing is measured if only one was refused. */
	"1s begin x51, serve x50, refuse 6s, 7s begin blind turn=0",
	/* A quarter of a second at least; never slower than one in the wait, or in a second. */
	"1s begin x52, serve x50, refuse 100ms x2, +100ms wait 4.167ms",
	"1s begin, +10s serve, begin x2, refuse 10s x2, +10s wait 10s turn=10000ms",
	"1s begin, +10s serve, begin x2, refuse 500ms x2, +500ms wait 1s turn=1000ms",
	/* Nothing was accepted: no pace, or the one before. */
	"1s begin refuse 6s, 7s begin !closed turn=0",
	BLIND "come refuse 1s wait 50ms, 8.1s wait 100ms turn=100ms",
	/* Some are refused: it was early, no probe was refused, and of others no more than half as
	 * many as were served. The pace falls by 0.15. */
	PACED ", come refuse 6s, come serve !closed turn=118ms",
	PACED ", come refuse 6s, come refuse 6s, come serve !closed turn=103ms",
	PACED ", come, come, refuse 6s, refuse 6s, come serve !closed turn=103ms",
	PACED ", come x4, +10ms refuse 6s x2, serve x2, come serve !closed turn=118ms",

	/* A window: two probes were refused, more than one attempt was accepted, and it opened in
	 * the last quarter of a wait of a second. */
	WINDOW "begin quota=20 period=6s",
	"1s begin x21, serve x20, refuse 6s, come refuse 6s, 7s wait 250ms !quota",
	"1s begin x21, serve x20, refuse 6s, come refuse 6s x2, 5.5s begin serve quota=21 "
	"period=4.5s",
	"1s begin x21, serve x20, refuse 6s, come refuse 6s x2, 5.4s begin serve !closed !quota",
	"1s begin x2, serve refuse 6s, come refuse 6s x2, 7s wait 5s !quota",
	"1s begin x21, serve x20, refuse 999ms, come refuse 999ms x2, 2s wait 41.667ms !quota",
	/* Without a wait: after a second, and three probes. */
	"1s begin x21, serve x20, refuse 0, come refuse 0 x5, come serve quota=21 period=1.26s",
	"1s begin x21, serve x20, refuse 0, come refuse 0 x4, come serve !quota",
	/* It is none, nor are the next ones, if a probe is served that began before that quarter.
	 */
	LEAKY "come quota=21, serve !quota",
	LEAKY "come serve leaky=4, " CYCLE "come leaky=3 !quota, " CYCLE "come leaky=2 !quota",
	/* One that punishes is not probed. */
	"1s begin x21, serve x20, refuse 5s, come refuse 9s, +9s begin quota=20",
	/* In the next cycle as many may begin beside the pace, each when no more are under way than
	 * were served. */
	WINDOW "begin wait 250ms, serve begin begin wait 250ms, serve x2, begin x4, wait 250ms, "
	       "serve x4, begin x8, wait 250ms, serve x8, begin x5 accepted=20, wait 250ms",
	/* The next refusal closes it with probes at half of the wait, then after gaps that double.
	 */
	WINDOW "begin refuse 8s wait 4s, +4s begin wait 4s",
	WINDOW "begin refuse 5m wait 150s",
	/* A second may be the least that the server can say: if it served nothing since, there is
	 * no probe. */
	WINDOW "begin refuse 1s wait 1s",
	WINDOW "begin serve begin refuse 1s wait 500ms",
	WINDOW "begin refuse 1001ms wait 500.5ms",
	/* Without a wait, at halves of what is left of the period. */
	WINDOW "begin, +1s refuse 0 wait 2.5s, +2.5s begin wait 2.5s",
	WINDOW "begin, +1s refuse 0, come refuse 0 x3, wait 2.5s, come refuse 0, wait 5s",

	/* Open: who comes when the next turn is free takes it; 0.3 of a turn is made up for. */
	BLIND "wait 100ms, +90ms wait 10ms, +10ms begin wait 100ms, +110ms begin wait 90ms, +120ms "
	      "begin wait 70ms, +9s begin wait 70ms",
	/* What is served raises it: by a 120th, twice as much for every 16 that were accepted, and
	 * up to twice as much for every four seconds since the opening, and once more. */
	PACED ", come serve turn=99ms, come serve turn=98ms, come serve x14 turn=82ms, come serve "
	      "turn=80ms",
	PACED ", come x51, serve x51 turn=20ms",
	/* Or twice as much for every four seconds. */
	PACED ", 11s begin serve turn=98ms",
	PACED ", 23s begin serve turn=88ms",
	PACED ", 27s begin serve turn=79ms",
	PACED ", 31s begin serve turn=79ms",
	/* By 32 of them at once, and to eight times, if the measurement says little. */
	BLIND "come serve turn=79ms, come serve turn=62ms",
	BLIND "come serve x12 turn=11ms",
	/* Only what is beyond the quota does. */
	WINDOW "begin serve x19 turn=250ms, begin serve turn=197ms",
	/* What is refused does not. */
	PACED ", come, come, come, refuse 5s, refuse 5s, refuse 5s, 13s wait 100ms",

	/* Of no use: it has fallen to a quarter, and four were refused. Eight begin at once. */
	PACED
	", come refuse 1s come serve x8 !trying turn=367ms, come refuse 1s come serve trying, "
	"begin x8, wait 431.747ms",
	PACED ", come serve, come x2, refuse 50s x2, +50s come !trying",
	PACED ", come serve, come x3, refuse 50s x3, +50s come trying",
	/* Later after eight: seven of the trial, and another one. */
	TRYING "begin x8, serve, refuse 1s x7, +1s come serve, come serve x8, come x2, unknown, "
	       "refuse 0, come refuse 50s, +50s come trying",
	TRYING "begin x8, serve, refuse 1s x7, +1s come serve !trying",
	/* Or if it is the slowest, only some are refused, sixteen, and less than half of all. */
	SLOWEST ", come serve come serve come refuse 1s come serve x14 !trying turn=1000ms, come"
		" serve come serve come refuse 1s come serve trying",
	SLOWEST ", come refuse 1s come serve x20 !trying turn=1000ms",
	/* No more of them are refused than before, 10 of 60, a quarter of it and 0.2. */
	TRYING "begin x8, serve x5, refuse 1s x2 closed trying, refuse 1s useless !closed turn=0",
	TRYING "begin x8, serve, refuse 1s x7 closed !useless !trying",
	/* Eight others decide if not nearly all of them are. */
	TRYING
	"begin x8, serve x2, refuse 1s x6 closed !useless trying, +1s begin serve, begin x7, "
	"serve x4, refuse 1s x3 useless",
	/* Then nothing closes it, until clearly more are: here 16 of 100 and of 32. */
	TRYING "begin x8, serve x6, refuse 1s x2 useless, begin x92, refuse 1s x92 useless !closed",
	TRYING "begin x8, serve x6, refuse 1s x2 useless, begin x24, refuse 1s x13 useless "
	       "!closed, refuse 1s !useless closed",

	/* Forgotten after a minute without an event, or two waits; not before the named instant. */
	BLIND "wait 100ms, +1m begin turn=100ms",
	BLIND "wait 100ms, +60.000000001s begin turn=0 accepted=1",
	"1s begin x102, serve x100, refuse 50s x2, 51s wait 416.667ms, +100s begin turn=417ms",
	"1s begin x102, serve x100, refuse 50s x2, 51s wait 416.667ms, +100.000000001s begin "
	"turn=0",
	"1s begin, refuse 1h, +59m begin closed left=1m",

	/* An attempt of which nothing is known takes back that it began, and opens nothing. */
	"1s begin x2, unknown accepted=1, unknown accepted=0",
	"1s begin x52, serve x25, unknown x25, refuse 6s x2, 7s wait 200ms turn=200ms",
	"1s begin, +10ms refuse 1h, +20ms begin, newest unknown, +2s begin closed",
	"1s begin x2, refuse 1h, come, unknown, +250ms begin closed, +1ns begin !closed",
	TRYING "begin x8, serve x6, refuse 1s x2 useless, begin x60, unknown x40, refuse 1s x13 "
	       "useless, refuse 1s !useless",
	TRYING "begin x8, unknown, begin, wait 431.747ms",

	/* An event of a clock that is behind counts as of the last one; if it is more than a minute
	 * behind, everything is forgotten. */
	"2m begin, refuse 5m wait 20ms, 1m wait 20ms, 59s begin !closed",
	/* Nobody waits for more than a day. */
	"1s begin, refuse 48h left=24h",
};

TEST_ROWS(rules) {
	struct scene scene = { .script = script_of(row) };
	struct script *script = &scene.script;
	struct world world = { .random = 1 };
	const struct pace *pace = &world.pace;

	while (scene_next(&scene)) {
		bool newest = script_is(script, "newest");
		struct pace_attempt *mine = &world.attempts[newest ? world.begun - 1 : world.ended];
		struct pace_attempt other = { 0 };
		nanos left;

		if (newest)
			script_next(script);
		if (script_is(script, "come")) {
			do {
				left = act(&world, PACE_ASKED, &world.attempts[world.begun],
				    scene.now, 0);
				scene.now += left;
			} while (left > 0);
			world.begun++;
		} else if (script_is(script, "begin")) {
			EQUAL(script->rest,
			    act(&world, PACE_ASKED, &world.attempts[world.begun++], scene.now, 0),
			    0);
		} else if (script_is(script, "wait")) {
			nanos want = script_span(script);

			EQUAL(script->rest, rounded(act(&world, PACE_ASKED, &other, scene.now, 0)),
			    rounded(want));
			EQUAL(script->rest, other.began, 0);
		} else if (script_is(script, "serve") || script_is(script, "refuse") ||
		    script_is(script, "strictly") || script_is(script, "unknown")) {
			bool strict = script_is(script, "strictly");
			enum pace_event_kind kind = script_is(script, "serve") ? PACE_SERVED
			    : strict || script_is(script, "refuse")            ? PACE_REFUSED
									       : PACE_UNKNOWN;
			nanos span = kind == PACE_REFUSED ? script_span(script) : 0;

			act(&world, kind, mine, scene.now, strict ? -span : span);
			world.ended += !newest;
			world.begun -= newest;
		} else {
			nanos turn = pace->rate > 0 ? (nanos)(1e9 / pace->rate) : 0;
			const struct script_fact facts[] = {
				FACT("closed", pace->closed),
				FACT("left", number_greater(pace->until - scene.now, 0)),
				FACT("turn", NANOS_MS * number_round(turn, NANOS_MS)),
				FACT("quota", pace->quota),
				FACT("period", pace->quota > 0 ? pace->period : 0),
				FACT("probes", pace->probes),
				FACT("punished", pace->punished),
				FACT("leaky", pace->leaky),
				FACT("blind", pace->blind),
				FACT("trying", pace->trying),
				FACT("useless", pace->useless),
				FACT("accepted", pace->begun - pace->refused),
			};

			if (!script_check(script, facts, LENGTH(facts)))
				script_refuse(script);
		}
	}
}

/* If nothing at all is accepted from a server that punishes, the named instant moves by up to four
 * waits, by chance. */
TEST(punished_for_ever) {
	nanos least = NANOS_MAX, most = 0;

	for (uint64_t seed = 0; seed < 200; seed++) {
		struct world world = { .random = seed, .pace = { .seen = 1, .punished = 4 } };
		struct pace_attempt mine;
		nanos left;

		EQUAL("begins", act(&world, PACE_ASKED, &mine, SECONDS(1), 0), 0);
		act(&world, PACE_REFUSED, &mine, SECONDS(1), SECONDS(10));
		left = pace_look(&world.pace, SECONDS(1)).held;
		least = number_lesser(least, left);
		most = number_greater(most, left);
	}
	HOLDS("least", least >= SECONDS(10) && least < SECONDS(11));
	HOLDS("most", most > SECONDS(49) && most < SECONDS(50));
}

#define FURTHEST (5 * NANOS_DAY + NANOS_MINUTE)

/*
 * Any events from then on. The instants of many are the same, and some clocks are behind. Nobody
 * waits for longer than any wait, and what was no corrupt state becomes none.
 */
static void walk(const char *row, struct world *world, nanos now, int events, bool stays) {
	static const nanos waits[] = { 0, 1, 100, MS(1), SECONDS(1), SECONDS(5), SECONDS(5),
		NANOS_HOUR, NANOS_MAX };
	bool good = true;

	for (int i = 0; i < events; i++) {
		uint64_t draw = hash_draw(&world->random);
		struct pace_attempt *mine = &world->attempts[draw % 16];
		enum pace_event_kind kind = mine->began == 0 ? PACE_ASKED : (draw >> 8) % 4;
		nanos wait = waits[(draw >> 16) % LENGTH(waits)], next;

		if ((draw >> 32) % 4 == 0)
			now += waits[(draw >> 24) % (LENGTH(waits) - 2)];
		next = act(world, kind, mine, now - (draw >> 40 & 1 ? MS(1) : 0), wait);
		good = good && next >= 0 && next <= FURTHEST && (next == 0 || mine->began == 0) &&
		    (!stays || !pace_is_corrupt(&world->pace, now));
	}
	HOLDS(row, good);
}

TEST(any_events) {
	for (uint64_t seed = 0; seed < 300; seed++) {
		struct world world = { .random = seed };

		walk("walk", &world, SECONDS(1), 1000, true);
	}
}

/* Whatever one of its words contains: it is found to be corrupt, or harms nobody. */
TEST(any_words) {
	const uint64_t words[] = { 0, 1, SECONDS(1), NANOS_DAY, FURTHEST, 6 * NANOS_DAY, INT64_MAX,
		(uint64_t)INT64_MIN, UINT64_MAX, UINT64_C(0x3ff0000000000000),
		UINT64_C(0x44f0000000000000), UINT64_C(0x7ff0000000000000),
		UINT64_C(0x7ff8000000000000), UINT64_C(0x3fffffff3fffffff),
		UINT64_C(0x4000000040000000), UINT64_C(0x7fffffff7fffffff) };

	for (uint64_t seed = 0; seed < 20; seed++) {
		struct world world = { .random = seed }, other;

		walk("walk", &world, SECONDS(1), 100, true);
		for (size_t at = 0; at + 8 <= sizeof world.pace; at += 8)
			for (size_t i = 0; i < LENGTH(words); i++) {
				nanos now = world.pace.seen;

				other = world;
				memcpy((char *)&other.pace + at, &words[i], 8);
				if (!pace_is_corrupt(&other.pace, now))
					walk("words", &other, now, 100, false);
			}
	}
}

TEST(corrupt_words) {
	const struct pace none = { 0 };

	HOLDS("none", !pace_is_corrupt(&none, 0));
	for (size_t at = 0; at < offsetof(struct pace, series); at += 4) {
		struct pace pace = none;

		/* A negative number, or none. */
		memset((char *)&pace + at / 8 * 8, 0xff, 8);
		HOLDS("all ones", pace_is_corrupt(&pace, NANOS_DAY));
		pace = none;
		memset((char *)&pace + at, 0x7f, 4);
		memset((char *)&pace + (at ^ 4), 0x7f, at < offsetof(struct pace, begun) ? 4 : 0);
		HOLDS("too large", pace_is_corrupt(&pace, NANOS_DAY));
	}
}

/* How many wait, in slots of a millisecond in which they look next. */
#define SLOTS 30001
#define MOST_WAITING 8000

struct waiting {
	struct looks looks;
	uint64_t random;
	nanos turn; /* how long until it seems to come, at each look */
	double turns;
	int slots[SLOTS], others[MOST_WAITING];
	int ms;
};

static nanos look(struct waiting *waiting, int who) {
	nanos nap = pace_nap(&waiting->looks, waiting->ms * NANOS_MS, waiting->turn, MS(50),
	    waiting->turns, &waiting->random);
	int *slot = &waiting->slots[(waiting->ms + 1 + nap / NANOS_MS) % SLOTS];

	HOLDS("nap", nap > 0 && nap <= SECONDS(30));
	waiting->others[who] = *slot;
	*slot = who;
	return nap;
}

/* All look in these seconds who have a number below most, the others are gone. Returns how often
 * in a second. */
static int looks_of(struct waiting *waiting, int seconds, int most) {
	int count = 0;

	for (int end = waiting->ms + 1000 * seconds; waiting->ms < end; waiting->ms++) {
		int *slot = &waiting->slots[waiting->ms % SLOTS], who = *slot, next;

		for (*slot = -1; who >= 0; who = next) {
			next = waiting->others[who];
			if (who >= most)
				continue;
			look(waiting, who);
			count++;
		}
	}
	return count / seconds;
}

static struct waiting *waiting_of(int number, nanos turn, double turns) {
	static struct waiting waiting;

	waiting = (struct waiting){ .random = 1, .turn = turn, .turns = turns };
	memset(waiting.slots, -1, sizeof waiting.slots);
	/* All come in the same second. */
	for (int i = 0; i < number; i++) {
		waiting.ms = 1000 * i / number;
		look(&waiting, i);
	}
	return &waiting;
}

/*
 * How many wait, how long until the turn seems to come at each look, how many turns there are in a
 * second, and between what numbers they look in a second together.
 */
static const struct {
	const char *row;
	int number;
	nanos turn;
	double turns;
	int least, most;
} naps[] = {
	{ "one, and the turn is far away", 1, SECONDS(10), 1, 1, 2 },
	{ "one, and the turn comes soon", 1, MS(50), 1, 15, 25 },
	{ "one, and turns are frequent", 1, MS(200), 1000, 15, 25 },
	{ "10, and the turn is far away", 10, NANOS_HOUR, 1, 0, 1 },
	{ "100, some fifty times", 100, SECONDS(5), 1, 45, 55 },
	{ "1,000, some fifty times", 1000, SECONDS(30), 1, 45, 60 },
	/* Soon after the turn: then twice as often, since half of them look before. */
	{ "10, the turn comes soon", 10, MS(10), 1, 45, 105 },
	{ "1,000, the turn comes soon", 1000, SECONDS(1), 1, 45, 105 },
	{ "three times for each turn", 1000, SECONDS(20), 100, 280, 330 },
	{ "three times for each turn, soon", 1000, MS(10), 100, 300, 630 },
	/* Each within 30 s. */
	{ "8,000", 8000, NANOS_HOUR, 1, 260, 300 },
	{ "8,000, the turn comes soon", 8000, SECONDS(1), 1, 260, 300 },
};

TEST(naps) {
	for (size_t i = 0; i < LENGTH(naps); i++) {
		struct waiting *waiting = waiting_of(naps[i].number, naps[i].turn, naps[i].turns);
		int count;

		looks_of(waiting, 90, naps[i].number);
		count = looks_of(waiting, 60, naps[i].number);
		EQUAL(naps[i].row, count,
		    number_lesser(number_greater(count, naps[i].least), naps[i].most));
	}
}

/* When 990 of 1,000 have been killed, the others are quick again within half a minute. */
TEST(naps_after_a_kill) {
	struct waiting *waiting = waiting_of(1000, SECONDS(1), 1);

	looks_of(waiting, 90, 1000);
	looks_of(waiting, 30, 10);
	HOLDS("10 of 1,000", looks_of(waiting, 10, 10) >= 30);
}

TEST(corrupt_looks) {
	static const struct looks corrupt[] = { { .last = -1, .waiting = 9e8 },
		{ .nap = -1, .waiting = 9e8 }, { .nap = SECONDS(30) + 1, .waiting = 9e8 },
		{ .nap = SECONDS(30), .waiting = -9e8 }, { .nap = SECONDS(30), .waiting = 2e9 } };
	uint64_t random = 1;

	for (size_t i = 0; i < LENGTH(corrupt); i++) {
		struct looks looks = corrupt[i];

		HOLDS("looks", pace_nap(&looks, 1, SECONDS(1), MS(50), 1, &random) <= MS(100));
	}
}
