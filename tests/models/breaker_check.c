/*
 * Covers budget/breaker, budget/ramp, budget/admission.
 *
 * breaker_check [large]: tries every state that two processes, or three, can bring the real
 * breaker and its ramp into, however long they go on.
 *
 * Each process may begin any operation at any time, may be stopped between any two accesses to
 * the breaker's words while the clock goes on, and may be killed anywhere. The check verifies:
 *
 * - a valid lease is not taken away: only its holder changes the word;
 * - the result of a probe counts only while the probe has the lease;
 * - an attempt that is admitted during a recovery has a turn that no other attempt has, of a step
 *   that has begun, and no step has more turns than its rate;
 * - breaker_enter returns how the attempt was admitted, as decided by the change that admitted
 *   it: as the probe only with a lease, as a turn only with a turn taken, and as passed only if
 *   the breaker was closed or this call closed it;
 * - a turn, a success or a failure is counted once, and no process that has seen an earlier
 *   recovery overwrites a count of a later one;
 * - the breaker opens only after so many failures, none of which had ended before the last
 *   success began, or before the last change to closed or recovering; during a recovery only if
 *   the rate is not above the first one; and after so many failures it does open; a denial opens
 *   it after fewer, but not during a recovery;
 * - the result of an attempt that began before the last recovery changes nothing;
 * - a recovery ends by itself only when the ramp says so;
 * - from every state, after the lease or the pause is over, an attempt is admitted, a successful
 *   probe admits others, and the breaker closes if no attempt comes.
 *
 * To keep the number of states finite, states that the breaker cannot tell apart are made equal:
 * seq is renamed, times count from now, and of a recovery only matters whether it is the present
 * one.
 *
 * tests/models/broken breaks the breaker in many ways; each must be found.
 */
/* Fewer than the two failures that open the breaker here. */
#define BREAKER_STARVED 1
#include <err.h>
#include <string.h>
#include "budget/breaker.h"
#include "explore.h"

#include "accesses.h"

/* Small fields, so that there are few states; a recovery has two steps. */
#define FAILURE_BITS 2
#define DOUBLING_BITS 1
#define BEGAN_BITS 3
#define STEP_BITS 1
#define COUNT_BITS 2
#define SERVED_BITS 2
#define FAILED_BITS 1
#define QUIET_BITS 0
#define TOLERATED 0
#define RAMP_STEP (BREAKER_LEASE / 2)
#define RAMP_LONGEST (2 * BREAKER_LEASE)
#define RAMP_FIRST 1
#define RAMP_LEAST 1
#define RAMP_QUIET 1

#include "budget/ramp.c"
#undef MOST
#include "budget/breaker.c"

#define ACTORS 3

/* The most accesses of one operation, each loop passed once. */
#ifndef ACCESSES
#define ACCESSES 4
#endif

/* The length of a lease, of a pause, and of a step with the slowdown of the
 * only fleet that there is. */
#define TICK BREAKER_LEASE
#define SLOWDOWN 1
#define HOSTS (2 * RAMP_HOSTS)
#define TICK_MS ((uint64_t)(TICK / NANOS_MS))

/*
 * The present tick, in every state: instead of the clock going on, the past
 * moves back. A process that read the clock at tick 0 has been stopped for two
 * ticks or longer. A recovery that began at tick 0 is over.
 */
#define NOW 2

/*
 * The millisecond of a tick in which a recovery began is the name of the recovery: a tick is a
 * multiple of NAMES. All else happens at millisecond LAST.
 */
#define NAMES (UINT64_C(1) << BEGAN_BITS)
#define PRESENT 1 /* the recovery that the word is of */
#define PAST 2 /* an earlier one that the rate is of */
#define GONE 3 /* any other recovery */
#define LAST 7

/* The seq of the word in every state; earlier ones count down from it. */
#define SEQ UINT64_C(100)

/* In place of a streak that is invalid, or that was overwritten. */
#define VOID NUMBER_MOST(FAILURE_BITS)
#define OTHER (UINT64_C(1) << FAILURE_BITS)

#define WORD(state) ((uint64_t)(state) << STATE_AT | (uint64_t)SLOWDOWN << SLOWDOWN_AT)

/* In place of a lease that was lost, or of a word that was overwritten. */
#define LOST WORD(BREAKER_HALF_OPEN)

/*
 * In place of a rate that was overwritten: of an earlier recovery, of the
 * present one if it is over, and if it is not.
 */
#define STALE 1
#define STALE_OVER \
	((uint64_t)PRESENT << BEGAN_AT | NUMBER_MOST(SERVED_BITS) << SERVED_AT | \
	    (uint64_t)RAMP_LEAST << RATE_AT)
#define STALE_ON ((uint64_t)PRESENT << BEGAN_AT | NUMBER_MOST(BEGAN_AT))

static const struct breaker_config config = { 2, TICK, TICK };

enum operation {
	IDLE,
	ENTER,
	STARVE,
	TELL_SUCCESS,
	TELL_FAILURE,
	TELL_OTHER, /* results that must not change anything */
	RENEW, /* this and the following need a lease */
	PROBE_HEALTHY,
	PROBE_FAILED,
	PROBE_IGNORED,
	OPERATIONS,
};

static const char *const names_of[OPERATIONS] = { "nothing", "enter", "starve", "tell success",
	"tell failure", "tell other result", "renew", "probe healthy", "probe failed",
	"probe ignored" };

/* What an actor that tells a result has found of the ramp. */
enum ramp_seen {
	RAMP_UNREAD,
	RAMP_SLOW, /* or none: a failure may open the breaker */
	RAMP_FAST,
};

/* States are compared as bytes, so there must be no padding. */
struct actor {
	uint64_t lease;
	uint64_t seen[ACCESSES]; /* the results of its accesses so far */
	uint8_t operation;
	uint8_t now; /* when it read the clock, if that matters */
	uint8_t accesses;
	uint8_t swapped; /* a bit for each: a swap that succeeded */
	uint8_t streaks; /* a bit for each: an access to the streak */
	uint8_t rates; /* a bit for each: an access to the rate */
	uint8_t holds; /* the word is its lease */
	uint8_t later; /* failures that ended since its success began */
	uint8_t failed; /* a bit for each: a swap that failed */
	uint8_t counts; /* its failure must count, unless it is killed */
	uint8_t ramp_seen;
	uint8_t slow; /* since it began, the rate was once the first, or none */
	uint8_t aims; /* its next swap is of the rate */
	uint8_t spare[3];
};

struct state {
	struct breaker breaker;
	uint32_t may; /* how many failures may count at most */
	uint32_t must; /* how many failures have to count */
	struct actor actors[ACTORS]; /* explorer.actors of them are used */
};

/* One step of one actor. */
static struct {
	struct state *state; /* NULL: accesses are made without the check */
	struct actor *actor;
	int access; /* the number of the next one */
	int known; /* accesses of which the result is known */
	enum breaker_pass pass;
} run;

static nanos until_of(uint64_t word) {
	return (nanos)(word & NUMBER_MOST(MS_BITS)) * NANOS_MS;
}

/* What the clock says in a tick. */
static nanos clock_at(int tick) {
	return tick * TICK + LAST * NANOS_MS;
}

/* When a recovery begins in a tick. */
static nanos began_at(int tick) {
	return tick * TICK + PRESENT * NANOS_MS;
}

static bool recovers(uint64_t word) {
	return state_of(word) == BREAKER_RECOVERING;
}

/* The name of the recovery of a word. */
static uint64_t name_of(uint64_t word) {
	return word & (NAMES - 1);
}

static uint64_t rate_name(uint64_t rate) {
	return rate >> BEGAN_AT;
}

/* Whether it tells a result, and has not yet finished with the ramp. */
static bool reads_ramp(const struct actor *actor) {
	return actor->operation >= TELL_SUCCESS && actor->operation <= TELL_OTHER &&
	    actor->ramp_seen == RAMP_UNREAD;
}

/* The last value that an actor has read of the word, or of the rate. */
static uint64_t last_seen(const struct actor *actor, bool rate) {
	uint64_t value = 0;

	for (int i = 0; i < actor->accesses; i++)
		if ((actor->streaks >> i & 1) == 0 && (actor->rates >> i & 1) == rate &&
		    (actor->swapped >> i & 1) == 0)
			value = actor->seen[i];
	return value;
}

static uint32_t least(uint32_t a, uint32_t b) {
	return a < b ? a : b;
}

/* How many failures are being told. */
static uint32_t active(const struct state *state) {
	uint32_t count = 0;

	for (int i = 0; i < explorer.actors; i++)
		if (state->actors[i].operation == TELL_FAILURE)
			count++;
	return count;
}

/* The breaker, access by access */

/* A change of the word while attempts are admitted. */
static const char *
judge_admitting(const struct state *state, const struct actor *actor, uint64_t old, uint64_t new) {
	enum breaker_state to = state_of(new);
	struct ramp ramp;

	if (to == BREAKER_OPEN && actor->operation == STARVE) {
		if (state_of(old) != BREAKER_CLOSED)
			return "opened by a denial while it recovers";
		return state->may < BREAKER_STARVED ? "opened by a denial after too few failures"
						    : NULL;
	}
	if (to == BREAKER_OPEN) {
		if (actor->operation != TELL_FAILURE)
			return "opened by something else than a failure";
		if (state->may < config.failures)
			return "opened after too few failures";
		return actor->ramp_seen == RAMP_FAST ? "opened at a higher rate" : NULL;
	}
	if (to == BREAKER_HALF_OPEN)
		return "a probe while others are admitted";
	if (to == state_of(old)) {
		if (actor->operation != TELL_SUCCESS)
			return "changed by something else than a success";
		if (slowdown_of(new) != SLOWDOWN)
			return "steps of another length";
		return until_of(new) == until_of(old) ? NULL : "begun anew";
	}
	if (to == BREAKER_RECOVERING)
		return "recovers from nothing";
	if (until_of(new) != until_of(old))
		return "forgets when it began";
	ramp = ramp_of(old, last_seen(actor, true), clock_at(actor->now));
	return actor->operation == ENTER && ramp.over ? NULL : "not over yet";
}

/* NULL if the actor may change the word so. */
static const char *
judge(const struct state *state, const struct actor *actor, uint64_t old, uint64_t new) {
	enum operation operation = actor->operation;
	enum breaker_state to = state_of(new);

	if (admits(old))
		return judge_admitting(state, actor, old, new);
	if (operation == ENTER && until_of(old) > clock_at(NOW))
		return "a good lease, or a pause, is cut short";
	if (operation != ENTER && !actor->holds)
		return "the lease is not its own";
	if ((operation == ENTER || operation == RENEW) != (to == BREAKER_HALF_OPEN))
		return "not the change that it should make";
	if ((operation == PROBE_HEALTHY) != (to == BREAKER_RECOVERING) || to == BREAKER_CLOSED)
		return "not what the probe found";
	if (to == BREAKER_RECOVERING && slowdown_of(new) != SLOWDOWN)
		return "steps of another length";
	if (to == BREAKER_RECOVERING)
		return until_of(new) == began_at(actor->now) ? NULL : "not now";
	return until_of(new) > clock_at(NOW) + TICK ? "for too long" : NULL;
}

/* The same for the rate. The rate of an earlier recovery may be overwritten. */
static const char *
judge_rate(const struct state *state, const struct actor *actor, uint64_t old, uint64_t new) {
	uint64_t word = state->breaker.word;
	nanos began = until_of(word);
	struct ramp was, is;
	bool turn = actor->operation == ENTER;

	if (!recovers(word))
		return NULL;
	if (rate_name(new) != name_of(word))
		return rate_name(old) == name_of(word) && old != 0
		    ? "overwritten by an earlier recovery"
		    : NULL;
	was = ramp_read(old, began, SLOWDOWN, began);
	is = ramp_read(new, began, SLOWDOWN, began);
	if (is.step > was.step)
		was.taken = was.served = was.failed = 0;
	if (is.step < was.step || began + is.step * TICK > clock_at(NOW))
		return "not the step that it is";
	if (is.taken != was.taken + turn)
		return "a turn is taken twice, or not at all";
	was.served += actor->operation == TELL_SUCCESS;
	if (is.served != number_lesser(was.served, (int64_t)NUMBER_MOST(SERVED_BITS)))
		return "a success is lost, or none";
	was.failed += actor->operation == TELL_FAILURE;
	if (is.failed != number_lesser(was.failed, (int64_t)NUMBER_MOST(FAILED_BITS)))
		return "a failure is lost, or none";
	if (turn && is.taken > is.rate)
		return "more turns than there are";
	return NULL;
}

/* A streak has ended: failures that are being told may belong to it. */
static void nothing_must(struct state *state) {
	state->must = 0;
	for (int i = 0; i < explorer.actors; i++)
		state->actors[i].counts = false;
}

/*
 * True if the next access was made in an earlier step. If not, it is made now,
 * or left for a later step.
 */
static bool replayed(const _Atomic uint64_t *at) {
	struct actor *actor = run.actor;

	if (run.access < actor->accesses)
		return true;
	explore_access();
	if (run.access == ACCESSES)
		errx(2, "ACCESSES is too small");
	actor->accesses++;
	if (at == &run.state->breaker.streak)
		actor->streaks |= (uint8_t)(1U << run.access);
	if (at == &run.state->breaker.rate)
		actor->rates |= (uint8_t)(1U << run.access);
	actor->seen[run.access] = *at;
	return false;
}

/* Forgets its accesses, but not what it has found of the ramp. */
static void start_over(struct actor *actor) {
	memset(actor->seen, 0, sizeof actor->seen);
	actor->accesses = actor->swapped = actor->failed = 0;
	actor->streaks = actor->rates = actor->aims = 0;
}

/* What it has found of the ramp, now that it goes on to the streak. */
static enum ramp_seen found(const struct actor *actor) {
	struct ramp ramp =
	    ramp_of(last_seen(actor, false), last_seen(actor, true), clock_at(actor->now));

	return actor->operation == TELL_FAILURE && actor->swapped != 0 && ramp.rate > RAMP_FIRST
	    ? RAMP_FAST
	    : RAMP_SLOW;
}

/* A value with which it finds the same of the ramp again. */
static uint64_t known(const _Atomic uint64_t *at) {
	struct ramp fast = { .began = clock_at(NOW), .rate = RAMP_FIRST + 1 };

	run.known--;
	if (run.actor->ramp_seen != RAMP_FAST)
		return LOST;
	return at == &run.state->breaker.rate ? ramp_word(&fast)
					      : WORD(BREAKER_RECOVERING) | (NOW * TICK_MS + LAST);
}

/*
 * An actor has lost a race for the streak: the value that it has read now
 * replaces the first one and those read since; its own successful swaps stay,
 * if there are any, and then both values must have the same seq.
 */
static bool restart(struct actor *actor) {
	int last = actor->accesses - 1, kept = 1;

	while ((actor->swapped >> kept & 1) != 0)
		kept++;
	if (kept > 1 && streak_seq(actor->seen[0]) != streak_seq(actor->seen[last]))
		return false;
	actor->seen[0] = actor->seen[last];
	for (int i = kept; i <= last; i++)
		actor->seen[i] = 0;
	actor->accesses = (uint8_t)kept;
	actor->failed = 0;
	actor->streaks &= (uint8_t)((1U << kept) - 1);
	return true;
}

/*
 * Before its next access: forgets what can no longer matter, and begins anew if it goes on to the
 * streak, or repeats a loop after a lost race: its next access is the one that it made first.
 */
static void leave_behind(const _Atomic uint64_t *at, bool swaps) {
	struct actor *actor = run.actor;
	int last = run.access - 1;
	bool streak = at == &run.state->breaker.streak, again = false;

	if (run.access == 0 || run.access < actor->accesses)
		return;
	if (streak && reads_ramp(actor)) {
		actor->ramp_seen = (uint8_t)found(actor);
		explore_expect(actor->operation != TELL_FAILURE || actor->slow ||
			actor->ramp_seen == RAMP_FAST,
		    "a fast rate taken for the first one");
		start_over(actor);
		again = true;
	} else if ((actor->failed >> last & 1) == 0) {
		return;
	} else if (actor->operation == ENTER || reads_ramp(actor)) {
		again = !swaps && !streak;
		if (again)
			start_over(actor);
	} else if (swaps == streak && (actor->streaks >> last & 1) != 0) {
		again = restart(actor);
	}
	if (again)
		explore_leave();
}

/*
 * breaker_enter reads the streak only for the view: nothing depends on when it
 * does, so this is no access of its own.
 */
static uint64_t load(const _Atomic uint64_t *at) {
	if (run.state == NULL ||
	    (run.actor->operation == ENTER && at == &run.state->breaker.streak))
		return *at;
	if (run.known > 0)
		return known(at);
	leave_behind(at, false);
	replayed(at);
	return run.actor->seen[run.access++];
}

/* Makes a change, and judges it. */
static void commit(_Atomic uint64_t *at, uint64_t new) {
	struct state *state = run.state;
	struct actor *actor = run.actor;
	uint64_t old = *at;

	if (at == &state->breaker.streak)
		explore_expect(actor->lease == 0 || (actor->swapped & (actor->swapped - 1)) != 0,
		    "a streak changed without the lease");
	if (at == &state->breaker.rate)
		explore_wrong(judge_rate(state, actor, old, new));
	if (at != &state->breaker.word) {
		*at = new;
		return;
	}
	explore_wrong(judge(state, actor, old, new));
	explore_expect(seq_of(new) == seq_of(old) + 1, "a change that is not counted");
	/* All attempts are as if they had begun after that recovery. */
	if (state_of(new) == BREAKER_CLOSED)
		new &= ~NUMBER_MOST(MS_BITS);
	*at = new;
	for (int i = 0; i < explorer.actors; i++)
		state->actors[i].holds = false;
	actor->holds = state_of(new) == BREAKER_HALF_OPEN;
	if (admits(new) && state_of(new) != state_of(old)) {
		state->may = active(state);
		nothing_must(state);
	}
}

static bool exchange(_Atomic uint64_t *at, uint64_t *expected, uint64_t desired) {
	struct actor *actor = run.actor;
	uint64_t wanted = *expected, seen = *at;
	int bit;

	if (run.state == NULL) {
		*expected = seen;
		if (seen == wanted)
			*at = desired;
		return seen == wanted;
	}
	if (run.known > 0) {
		run.known--;
		return true;
	}
	leave_behind(at, true);
	if (run.access == actor->accesses)
		actor->aims = at == &run.state->breaker.rate;
	if (!replayed(at) && seen == wanted) {
		actor->swapped |= (uint8_t)(1U << run.access);
		commit(at, desired);
	}
	bit = run.access++;
	if ((actor->swapped >> bit & 1) == 0)
		actor->failed |= (uint8_t)(1U << bit);
	*expected = actor->seen[bit];
	return (actor->swapped >> bit & 1) != 0;
}

/* Tells the result of an attempt that began after all recoveries, or before. */
static void tell(struct breaker *breaker, enum attempt_result result, bool old, nanos now) {
	breaker_tell(breaker, &config, result, old ? -1 : clock_at(NOW), now);
}

/* Runs an operation. Returns the lease that the actor has then, or 0. */
static uint64_t
operate(struct breaker *breaker, enum operation operation, uint64_t lease, nanos now) {
	static const enum attempt_result results[OPERATIONS] = {
		[PROBE_HEALTHY] = RESULT_HEALTHY,
		[PROBE_FAILED] = RESULT_FAILURE,
		[PROBE_IGNORED] = RESULT_IGNORED,
	};
	struct breaker_view view;

	switch (operation) {
	case IDLE:
	case OPERATIONS:
		break;
	case ENTER:
		run.pass = breaker_enter(breaker, now, &lease, &view);
		return lease;
	case STARVE:
		breaker_starve(breaker, &config, now);
		break;
	case TELL_SUCCESS:
		tell(breaker, RESULT_SUCCESS, false, now);
		break;
	case TELL_FAILURE:
		tell(breaker, RESULT_FAILURE, false, now);
		break;
	case TELL_OTHER:
		tell(breaker, RESULT_HEALTHY, false, now);
		tell(breaker, RESULT_IGNORED, false, now);
		break;
	case RENEW:
		breaker_renew(breaker, &lease, now);
		return lease;
	case PROBE_HEALTHY:
	case PROBE_FAILED:
	case PROBE_IGNORED:
		if (operation == PROBE_HEALTHY)
			now += began_at(0) - clock_at(0);
		breaker_probed(breaker, &config, results[operation], lease, HOSTS, now);
		break;
	}
	return 0;
}

/* Steps */

/* Ends an operation, or its process if killed. */
static void settle(struct state *state, struct actor *actor, uint64_t lease, bool killed) {
	struct actor was = *actor;

	memset(actor, 0, sizeof *actor);
	actor->lease = lease;
	actor->holds = was.holds && !killed;
	if (was.operation == TELL_SUCCESS && !killed)
		state->may = least(state->may, was.later + active(state));
	if (was.counts && !killed)
		state->must++;
	for (int i = 0; i < explorer.actors && was.operation == TELL_FAILURE; i++)
		if (state->actors[i].operation == TELL_SUCCESS)
			state->actors[i].later++;
}

/* Compares the answer of breaker_enter with what it has read and changed. */
static void judge_pass(const struct actor *actor) {
	bool turn = (actor->swapped & actor->rates) != 0;
	bool changed = (actor->swapped & ~actor->rates) != 0;
	/* A change of the word is always the last access. */
	enum breaker_state state =
	    state_of(changed ? run.state->breaker.word : last_seen(actor, false));

	explore_expect(run.pass != BREAKER_PASSED || (!turn && state == BREAKER_CLOSED),
	    "passed, but it is not closed");
	explore_expect(run.pass != BREAKER_TURN || turn, "admitted without a turn");
	explore_expect(run.pass != BREAKER_PROBE || (changed && state == BREAKER_HALF_OPEN),
	    "admitted without a lease");
	explore_expect(run.pass != BREAKER_REFUSED || actor->swapped == 0,
	    "held, but something was changed");
}

/* Goes on with an operation; after its last access, ends it. */
void check_operate(struct state *state, struct actor *actor) {
	uint64_t lease =
	    operate(&state->breaker, actor->operation, actor->lease, clock_at(actor->now));

	if (actor->operation == ENTER)
		judge_pass(actor);
	settle(state, actor, lease, false);
}

static uint64_t earlier(uint64_t word) {
	uint64_t ms = word & NUMBER_MOST(MS_BITS);

	if (ms >= TICK_MS)
		return word - TICK_MS;
	return recovers(word) ? word : word - ms;
}

/*
 * The clock goes on: all instants move back by a tick. An actor that is about to swap the rate,
 * or to end a recovery, no longer needs its own time; but the word that it has read gets older.
 */
static void tick(struct state *state) {
	state->breaker.word = earlier(state->breaker.word);
	for (int i = 0; i < explorer.actors; i++) {
		struct actor *actor = &state->actors[i];
		/* It has read both the rate and the word of a recovery. */
		bool pair = (actor->operation == ENTER || reads_ramp(actor)) &&
		    actor->accesses == 2 && recovers(last_seen(actor, false));

		for (int j = 0; j < actor->accesses; j++)
			if (((actor->streaks | actor->rates) >> j & 1) == 0 &&
			    (!pair || seq_of(actor->seen[j]) != 0))
				actor->seen[j] = earlier(actor->seen[j]);
		if (pair)
			continue;
		actor->lease = earlier(actor->lease);
		if (actor->now > 0)
			actor->now--;
	}
}

/*
 * A single process asks again and again, and its probe succeeds: the breaker
 * must close, since no other process comes.
 */
static const char *ask_alone(struct breaker breaker) {
	nanos now = clock_at(NOW);

	for (int i = 0; i < 4 && state_of(breaker.word) != BREAKER_CLOSED; i++) {
		struct breaker_view view = breaker_look(&breaker, now);
		uint64_t lease;

		if (view.next > TICK)
			return "held for too long";
		now += view.next;
		lease = operate(&breaker, ENTER, 0, now);
		if (run.pass == BREAKER_REFUSED)
			return "stuck";
		if (lease != 0)
			operate(&breaker, PROBE_HEALTHY, lease, now);
		else
			now += 2 * TICK;
	}
	return state_of(breaker.word) == BREAKER_CLOSED ? NULL : "never closed";
}

/* Verifies what must hold in each state. */
void check_examine(const struct state *state) {
	uint64_t word = state->breaker.word;
	struct breaker breaker = state->breaker;
	int holders = 0;

	for (int i = 0; i < explorer.actors; i++)
		holders += state->actors[i].lease != 0 && state->actors[i].lease == word;
	if (state->must >= config.failures && admits(word))
		explore_wrong("not opened after enough failures");
	explore_expect(holders <= 1, "two have the same lease");
	explore_wrong(ask_alone(breaker));

	/* Results of attempts that began before the last recovery. */
	for (int now = 0; now <= NOW; now++) {
		tell(&breaker, RESULT_FAILURE, true, clock_at(now));
		tell(&breaker, RESULT_SUCCESS, true, clock_at(now));
	}
	explore_expect(memcmp(&breaker, &state->breaker, sizeof breaker) == 0,
	    "changed by an old result");
}

/*
 * Whether the rate may be the first one or a higher one, depending on when an actor read the
 * clock: with the first, a failure may open the breaker; with a higher one, no failure has to.
 */
static void mark_rate(struct state *state) {
	uint64_t word = state->breaker.word, rate = state->breaker.rate;
	bool slow = !recovers(word), fast = false;

	for (int now = 0; now <= NOW && recovers(word); now++) {
		struct ramp ramp = ramp_of(word, rate, clock_at(now));
		bool first = ramp.over || ramp.rate <= RAMP_FIRST;

		slow |= first;
		fast |= !first;
	}
	if (fast)
		nothing_must(state);
	for (int i = 0; i < explorer.actors; i++) {
		struct actor *actor = &state->actors[i];

		if (actor->operation == TELL_FAILURE && reads_ramp(actor))
			actor->slow = actor->slow || slow;
		else
			actor->slow = false;
	}
}

/* Equal states */

/* Gives the seqs of a state new names: the latest is SEQ, then down from it. */
static void rename_seqs(struct state *state) {
	const int streak_at = DOUBLING_BITS + FAILURE_BITS;
	uint64_t word = state->breaker.word, streak = state->breaker.streak;
	struct numbered {
		uint64_t *value, seq;
		int shift;
	} all[2 + ACTORS * (1 + ACCESSES)] = { { &word, 0, MS_BITS }, { &streak, 0, streak_at } };
	uint64_t last = UINT64_MAX, next;
	int count = 2;

	for (int i = 0; i < explorer.actors; i++) {
		struct actor *actor = &state->actors[i];

		all[count++] = (struct numbered){ &actor->lease, 0, MS_BITS };
		for (int j = 0; j < actor->accesses; j++)
			if ((actor->rates >> j & 1) == 0)
				all[count++] = (struct numbered){ &actor->seen[j], 0,
					(actor->streaks >> j & 1) != 0 ? streak_at : MS_BITS };
	}
	for (int i = 0; i < count; i++)
		all[i].seq = *all[i].value >> all[i].shift & NUMBER_MOST(SEQ_BITS);
	for (uint64_t name = SEQ;; name--) {
		next = seq_of(LOST);
		for (int i = 0; i < count; i++)
			if (all[i].seq > next && all[i].seq < last)
				next = all[i].seq;
		if (next == seq_of(LOST))
			break;
		for (int i = 0; i < count; i++)
			if (all[i].seq == next)
				*all[i].value += (name - next) << all[i].shift;
		last = next;
	}
	state->breaker.word = word;
	state->breaker.streak = streak;
}

/* Sets what it has read of the word and of the rate, and when. */
static void saw(struct actor *actor, uint64_t word, uint64_t rate, int now) {
	for (int i = 0; i < actor->accesses; i++)
		actor->seen[i] = (actor->rates >> i & 1) != 0 ? rate : word;
	actor->now = (uint8_t)now;
}

/* It asks for admission or tells the ramp, and is about to swap something. */
static void forget_asking(struct actor *actor, const struct breaker *breaker) {
	uint64_t word = last_seen(actor, false), rate = last_seen(actor, true);
	nanos began = until_of(word), now = clock_at(actor->now);
	nanos step = now > began ? (now - began) / TICK : 0;

	if (!recovers(word) && word == breaker->word) {
		saw(actor, word, 0, actor->now);
	} else if (!recovers(word)) {
		saw(actor, LOST, 0, 0);
	} else if (actor->aims != 0) {
		/* A turn, or a result for the ramp: all that matters is which
		 * recovery that was, and the step. */
		if (rate != breaker->rate)
			saw(actor, WORD(BREAKER_RECOVERING) | GONE, STALE, 0);
		else
			saw(actor, WORD(BREAKER_RECOVERING) | name_of(word), rate, (int)step);
	} else if (word != breaker->word) {
		/* The end of a recovery: its swap will fail. */
		saw(actor, WORD(BREAKER_RECOVERING) | GONE, STALE, NOW);
	}
}

/* It tells a result, and has finished with the ramp. */
static void forget_telling(struct actor *actor, const struct breaker *breaker) {
	uint64_t word = breaker->word, *seen = actor->seen;
	/* Its swap of the word will fail. */
	bool gone = actor->accesses > 1 && seen[1] != word;

	if (actor->accesses == 0)
		return;
	if (actor->operation == TELL_SUCCESS) {
		/* It is about to end a streak, if there is one. */
		bool ends =
		    actor->accesses == 2 || (admits(word) && failures_of(seen[0], word) > 0);

		gone = gone && actor->accesses == 2;
		seen[0] = ends ? streak_of(gone ? 0 : seq_of(word), 0, 1) : VOID;
		if (gone)
			seen[1] = 0;
	} else if (actor->swapped != 0) {
		/* It has counted a failure and is about to open. */
		if (gone)
			seen[1] = 0;
		seen[0] = streak_of(gone ? 0 : seq_of(seen[1]), 0, NUMBER_MOST(FAILURE_BITS));
		seen[2] = seen[0];
	} else if (seen[0] != breaker->streak) {
		/* Its swap of the streak will fail, and it will repeat the loop. */
		seen[0] = OTHER;
		seen[1] = 0;
	}
}

/*
 * Forgets what makes no difference any more. A word that was overwritten never
 * comes back, and an actor with a lost lease fails, whatever else it has read.
 */
static void forget(struct actor *actor, const struct breaker *breaker) {
	uint64_t word = breaker->word;

	if (actor->operation == ENTER || reads_ramp(actor)) {
		if (actor->accesses == 2)
			forget_asking(actor, breaker);
		return;
	}
	actor->now = 0;
	if (actor->ramp_seen != RAMP_UNREAD) {
		forget_telling(actor, breaker);
		return;
	}
	if (actor->lease != 0 && actor->lease != word)
		actor->lease = LOST;
}

/*
 * All invalid streaks are equal. Of a valid streak only matters whether it is
 * long enough. All pauses are equal here, however often they were doubled.
 */
static void forget_streak(struct state *state) {
	uint64_t word = state->breaker.word, streak = state->breaker.streak;
	uint32_t failures = (uint32_t)(streak & NUMBER_MOST(FAILURE_BITS));
	uint64_t simple = VOID;

	if (!admits(word) || streak_seq(streak) == seq_of(word))
		simple =
		    streak_of(streak_seq(streak), 0, least(failures, (uint32_t)config.failures));
	for (int i = 0; i < explorer.actors; i++) {
		struct actor *actor = &state->actors[i];

		for (int j = 0; j < actor->accesses; j++)
			if ((actor->streaks >> j & 1) != 0 && actor->seen[j] == streak)
				actor->seen[j] = simple;
	}
	state->breaker.streak = simple;
}

/* Whether an actor will compare the rate's recovery with this one. */
static bool in_use(const struct state *state, uint64_t name) {
	for (int i = 0; i < explorer.actors; i++) {
		const struct actor *actor = &state->actors[i];
		uint64_t word = last_seen(actor, false);

		if ((actor->operation == ENTER || reads_ramp(actor)) && recovers(word) &&
		    name_of(word) == name)
			return true;
	}
	return false;
}

static uint64_t called(uint64_t name, uint64_t present, uint64_t past) {
	return name == present ? PRESENT : name == past ? PAST : GONE;
}

/*
 * A rate with only what makes a difference. There are two steps, of one attempt and of at most
 * two: so all growth is equal, several successes in the first step are like one, successes in the
 * second do not matter, and failures in it matter only with a rate of two.
 */
static uint64_t simplest(uint64_t rate, uint64_t name) {
	nanos began = (nanos)rate_name(rate) * NANOS_MS;
	struct ramp ramp = ramp_read(rate, began, SLOWDOWN, began);

	ramp.began = (nanos)name * NANOS_MS;
	ramp.taken = number_lesser(ramp.taken, ramp.rate);
	ramp.served = ramp.step == 0 && ramp.served > 0;
	ramp.met = false;
	if (ramp.step > 0 && ramp.rate == RAMP_LEAST)
		ramp.failed = 0;
	return ramp_word(&ramp);
}

/* In place of a rate that an actor has read and that was overwritten. */
static uint64_t stale(const struct state *state, uint64_t rate, int now) {
	uint64_t word = state->breaker.word;

	if (rate <= STALE || !recovers(word) || rate_name(rate) != name_of(word))
		return STALE;
	return ramp_of(word, rate, clock_at(now)).over ? STALE_OVER : STALE_ON;
}

/* Renames the recoveries. */
static void rename_recoveries(struct state *state) {
	uint64_t word = state->breaker.word, rate = state->breaker.rate, simple = 0;
	uint64_t present = recovers(word) ? name_of(word) : NAMES;
	uint64_t past = in_use(state, rate_name(rate)) ? rate_name(rate) : NAMES;

	if (rate != 0 && called(rate_name(rate), present, past) != GONE)
		simple = simplest(rate, called(rate_name(rate), present, past));
	for (int i = 0; i < explorer.actors; i++) {
		struct actor *actor = &state->actors[i];

		for (int j = 0; j < actor->accesses; j++) {
			uint64_t *seen = &actor->seen[j];

			if ((actor->rates >> j & 1) != 0)
				*seen = *seen == rate ? simple : stale(state, *seen, actor->now);
			else if ((actor->streaks >> j & 1) == 0 && recovers(*seen))
				*seen += called(name_of(*seen), present, past) - name_of(*seen);
		}
	}
	state->breaker.rate = simple;
	if (recovers(word))
		state->breaker.word += PRESENT - present;
}

/*
 * Makes states equal that differ only in names, in what makes no difference, or
 * in the order of the actors.
 */
void check_normalise(struct state *state) {
	uint32_t most = (uint32_t)config.failures;

	state->may = least(state->may, most);
	state->must = least(state->must, most);
	/* They are set when attempts are admitted again. */
	if (!admits(state->breaker.word)) {
		state->may = 0;
		nothing_must(state);
	}
	mark_rate(state);
	for (int i = 0; i < explorer.actors; i++) {
		struct actor *actor = &state->actors[i];

		forget(actor, &state->breaker);
		/* It can no longer lower may. */
		if (actor->operation == TELL_SUCCESS && actor->later + active(state) >= state->may)
			actor->later = (uint8_t)most;
	}
	forget_streak(state);
	rename_recoveries(state);
	rename_seqs(state);
	explore_sort(state->actors, (size_t)explorer.actors);
}

/* The exploration */

/*
 * Whether an actor may take that step. An actor that asks for a turn or tells
 * the ramp keeps the same time for the whole operation. The others use the time
 * only once, and so every time is tried there, where it matters.
 */
bool check_may(const struct state *state, int who, int what, int *first, int *last) {
	const struct actor *actor = &state->actors[who];
	enum operation operation = actor->operation;
	bool idle = operation == IDLE;

	*first = *last = NOW;
	if (what == EXPLORE_CLOCK)
		return true;
	if (what == IDLE)
		return false;
	if (what == EXPLORE_KILL)
		return !idle || actor->lease != 0;
	if (what == EXPLORE_STEP && (operation == ENTER || reads_ramp(actor)))
		*first = *last = actor->now;
	else if ((what == EXPLORE_STEP ? (int)operation : what) != PROBE_IGNORED)
		*first = 0;
	if (what == EXPLORE_STEP)
		return !idle;
	return idle && (actor->lease != 0) == (what >= RENEW);
}

void check_make(struct state *state, int who, int what, int now) {
	static const int known_of[] = { 0, 2, 3 };
	struct actor *actor = &state->actors[who];

	if (what == EXPLORE_CLOCK) {
		tick(state);
		return;
	}
	if (what == EXPLORE_KILL) {
		settle(state, actor, 0, true);
		return;
	}
	if (what == TELL_SUCCESS)
		nothing_must(state);
	if (what == TELL_FAILURE) {
		state->may++;
		actor->counts = true;
		for (int i = 0; i < explorer.actors; i++)
			if (state->actors[i].operation == TELL_SUCCESS)
				actor->counts = false;
	}
	if (what != EXPLORE_STEP)
		actor->operation = (uint8_t)what;
	run.state = state;
	run.actor = actor;
	run.access = 0;
	run.known = known_of[actor->ramp_seen];
	actor->now = (uint8_t)now;
	explore_operate(state, actor);
	run.state = NULL;
}

bool check_begin(struct state *first, int trial, bool large) {
	explorer.actors = large ? ACTORS : 2;
	explorer.size =
	    offsetof(struct state, actors) + (size_t)explorer.actors * sizeof(struct actor);
	first->breaker.word = SEQ << MS_BITS | WORD(BREAKER_CLOSED);
	return trial == 0;
}

EXPLORER("breaker_check");
