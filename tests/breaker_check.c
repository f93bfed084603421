/*
 * breaker_check [large]: the real gate and its pace in every state that two
 * processes can bring them into, or three, however long they go on. Each may
 * begin any operation at any time, be stopped between any two accesses to the
 * gate's words while the clock goes on, and be killed anywhere. What must hold:
 *
 * - a lease that is good is taken by nobody: only its holder changes the word;
 * - what a probe found counts only while the lease is its own;
 * - who is let in while it recovers has a turn that nobody else has, of a step
 *   that has begun, and no step has more turns than its rate;
 * - as what somebody is let in, is told by the change that let him in: as the
 *   probe, for which no allowance pays, with a lease that he took; by a turn,
 *   for which none pays either, with a turn that he took; and otherwise only
 *   where it was closed, or he closed it;
 * - a turn, a success or a failure is counted once, and by nothing of an
 *   earlier recovery is one of a later recovery lost;
 * - what lets attempts in becomes open only after so many failures, none of
 *   them over before the last success, or the last change to closed or
 *   recovering, began; a recovery moreover only where it is no faster than it
 *   began; and after so many it does;
 * - how an attempt ended that began before the last recovery changes nothing;
 * - a recovery ends by itself only when its pace says so;
 * - from every state, once the lease or the pause is over, somebody gets in, a
 *   probe that goes well lets others in, and the gate closes if nobody comes.
 *
 * A process is put back to where it was by running its operation again from
 * the start, with the values that it has seen. States are told apart by what
 * the gate can tell apart: its seq is a name, times count from now, and of a
 * recovery only counts whether it is the present one.
 *
 * Then gates that are broken on purpose are tried: each must be caught.
 */
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "budget/breaker.h"
#include "explore.h"

/* What gate.c gets in place of the atomic accesses; it has no others. */
#undef atomic_load
#undef atomic_store
#undef atomic_exchange
#undef atomic_compare_exchange_strong
#undef atomic_compare_exchange_weak
#undef atomic_fetch_add
#undef atomic_fetch_sub
#undef atomic_fetch_or
#undef atomic_fetch_and

static uint64_t load(const _Atomic uint64_t *at);
static bool swap(_Atomic uint64_t *at, uint64_t *expected, uint64_t desired);
#define atomic_load(at) load(at)
#define atomic_compare_exchange_strong(at, expected, desired) \
	swap(at, expected, desired)

/* So that counts come to an end, and a recovery has two steps. */
#define FAILURE_BITS 2
#define DOUBLING_BITS 1
#define BEGAN_BITS 3
#define STEP_BITS 1
#define COUNT_BITS 2
#define SERVED_BITS 2
#define FAILED_BITS 1
#define QUIET_BITS 0
#define TOLERATED 0
#define RAMP_STEP BREAKER_LEASE
#define RAMP_FIRST 1
#define RAMP_LEAST 1
#define RAMP_QUIET 1

#include "budget/ramp.c"
#undef MOST
#include "budget/breaker.c"

#define ACTORS 3

/* Of one operation, as far as it is not merely on its way round a loop. */
#define ACCESSES 4

/* A lease, a pause and a step last for one. */
#define TICK BREAKER_LEASE
#define TICK_MS ((uint64_t)(TICK / NANOS_MS))

/*
 * What the clock says in every state: the past moves back instead. Who looked
 * at it at 0 has been stopped for two ticks or longer. A recovery that began
 * then is over.
 */
#define NOW 2

/*
 * When in a tick one began, in milliseconds, is the name of a recovery: a tick
 * is a multiple of NAMES. Everything else happens last.
 */
#define NAMES (UINT64_C(1) << BEGAN_BITS)
#define PRESENT 1 /* the one that is under way */
#define PAST 2 /* another, which the rate is of */
#define GONE 3 /* any other */
#define LAST 7

/* Of the word in every state; names of the past count down from it. */
#define SEQ UINT64_C(100)

/* In place of streaks: one that is void, and one that is gone. */
#define VOID MOST(FAILURE_BITS)
#define OTHER (UINT64_C(1) << FAILURE_BITS)

#define WORD(state) ((uint64_t)(state) << (SEQ_BITS + MS_BITS))

/* In place of a lease that was taken, or of another word that is gone. */
#define LOST WORD(BREAKER_HALF_OPEN)

/* In place of a rate that is gone, of a recovery that is gone or is not. */
#define STALE 1
#define STALE_OVER \
	((uint64_t)PRESENT << BEGAN_AT | MOST(SERVED_BITS) << SERVED_AT | \
	    (uint64_t)RAMP_LEAST << RATE_AT)
#define STALE_ON ((uint64_t)PRESENT << BEGAN_AT | MOST(BEGAN_AT))

static const struct breaker_config config = { 2, TICK, TICK };

enum operation {
	IDLE,
	ENTER,
	TELL_SUCCESS,
	TELL_ILL,
	TELL_OTHER, /* what must not change anything */
	RENEW, /* from here on with a lease */
	PROBED_WELL,
	PROBED_ILL,
	PROBED_NO_NEWS,
	OPERATIONS,
};

static const char *const names_of[OPERATIONS] = { "nothing", "enter",
	"tell success", "tell ill", "tell other news", "renew", "probed well",
	"probed ill", "probed no news" };

/* What somebody who tells how an attempt ended has found of the pace. */
enum paced {
	NOT_YET,
	PACED_NOT, /* it does not recover */
	PACED_OVER,
	PACED_SLOW,
	PACED_FAST,
};

/* States are compared as bytes: nothing in them is padding. */
struct actor {
	uint64_t lease;
	uint64_t seen[ACCESSES]; /* what its accesses so far found */
	uint8_t operation;
	uint8_t now; /* of one who depends on it, when that began */
	uint8_t accesses;
	uint8_t swapped; /* a bit for each: it was a swap that succeeded */
	uint8_t streaks; /* a bit for each: it was to the streak */
	uint8_t rates; /* a bit for each: it was to the rate */
	uint8_t holds; /* the word is a lease that it made */
	uint8_t later; /* failures that ended since its success began */
	uint8_t failed; /* a bit for each: it was a swap that did not succeed */
	uint8_t counts; /* its failure must, if it is not killed */
	uint8_t paced;
	uint8_t slow; /* the pace was, or there was none, since it began */
	uint8_t aims; /* at the rate, with the swap that comes next */
	uint8_t spare[3];
};

struct state {
	struct breaker breaker;
	struct actor actors[ACTORS];
	uint32_t may; /* failures that may count towards opening */
	uint32_t must; /* and those that have to */
};

/* Kinds of steps beside the operations that begin. */
enum {
	CLOCK = -3,
	KILL,
	STEP,
};

/* Gates that are not as they should be. */
enum fault {
	SOUND,
	RESULT_WITHOUT_LEASE, /* a probe's result is taken from anybody */
	RENEWED_WITHOUT_LEASE,
	TAKEN_WITHOUT_LOOKING, /* in between, at what others made of it */
	OPENED_WITHOUT_LOOKING,
	SUCCESS_IS_NOTHING, /* it does not end the streak */
	EVERYTHING_IS_ILL,
	NOTHING_IS_ILL,
	TIME_STANDS_STILL, /* for those who ask to enter */
	TURN_WITHOUT_LOOKING,
	TURN_OF_ANOTHER, /* who did not get one goes on as if it had */
	TOLD_WITHOUT_LOOKING, /* to the pace */
	WORD_BEFORE_RATE, /* is how they are read */
	OPENED_AT_ANY_PACE,
	ENDED_TOO_SOON, /* a recovery, as if nobody had come */
	BEGUN_ANEW, /* by a success in it */
	NEVER_OVER,
	OLD_IS_NEWS,
	TURN_IS_PAID, /* answered as if it had been closed */
	PROBE_IS_PAID,
	CLOSED_IS_FREE, /* answered as if it recovered */
	END_IS_FREE, /* the same, for the one who finds that it is over */
	TOLD_BY_A_LOOK, /* at what it is afterwards */
	FAULTS,
};

/* The exploration of one gate; and in it, one step of one actor. */
static struct {
	struct explorer explorer;
	enum fault fault;
	struct step_from last; /* what happened just now */
	struct state *state; /* NULL: accesses are just done */
	struct actor *actor;
	int access; /* that comes next */
	int known; /* accesses of which only the result counts */
	uint64_t word; /* read already, where it is read too early */
	bool early;
	bool stepped;
	enum breaker_pass pass;
	int actors; /* how many there are */
	jmp_buf leave;
} run = { .explorer = {
	      .name = "breaker_check", .size = sizeof(struct state) } };

static void
wrong(const char *why)
{
	explore_violated(&run.explorer, why);
}

static nanos
until_of(uint64_t word)
{
	return (nanos)(word & MOST(MS_BITS)) * NANOS_MS;
}

/* What a clock says that was looked at in a tick. */
static nanos
clock_at(int tick)
{
	return tick * TICK + LAST * NANOS_MS;
}

/* And for a recovery that begins. */
static nanos
began_at(int tick)
{
	return tick * TICK + PRESENT * NANOS_MS;
}

static bool
recovers(uint64_t word)
{
	return state_of(word) == BREAKER_RECOVERING;
}

/* Of the recovery that a word begins, or that a rate is of. */
static uint64_t
name_of(uint64_t word)
{
	return word & (NAMES - 1);
}

static uint64_t
rate_name(uint64_t rate)
{
	return rate >> BEGAN_AT;
}

/* Whether it has something to tell the pace first, or has just begun. */
static bool
minds_pace(const struct actor *actor)
{
	return actor->operation >= TELL_SUCCESS &&
	    actor->operation <= TELL_OTHER && actor->paced == NOT_YET;
}

/* What an actor has seen last of the word, or of the rate. */
static uint64_t
last_seen(const struct actor *actor, bool rate)
{
	uint64_t value = 0;

	for (int i = 0; i < actor->accesses; i++)
		if ((actor->streaks >> i & 1) == 0 &&
		    (actor->rates >> i & 1) == rate &&
		    (actor->swapped >> i & 1) == 0)
			value = actor->seen[i];
	return value;
}

/* Whether it has seen the rate and the word of a recovery. */
static bool
has_pair(const struct actor *actor)
{
	return (actor->operation == ENTER || minds_pace(actor)) &&
	    actor->accesses == 2 && recovers(last_seen(actor, false));
}

static uint32_t
least(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

/* Failures under way. */
static uint32_t
active(const struct state *state)
{
	uint32_t count = 0;

	for (int i = 0; i < ACTORS; i++)
		if (state->actors[i].operation == TELL_ILL)
			count++;
	return count;
}

/*
 * The gate, access by access
 */

static const char *
judge_opening(const struct state *state, const struct actor *actor)
{
	if (actor->operation != TELL_ILL)
		return "opened by what is not ill";
	if (state->may < config.failures)
		return "opened after too few failures";
	if (actor->paced == PACED_FAST)
		return "opened at a faster pace";
	return NULL;
}

/* While attempts are let in. */
static const char *
judge_admitting(const struct state *state, const struct actor *actor,
    uint64_t old, uint64_t new)
{
	enum breaker_state to = state_of(new);
	struct ramp ramp;

	if (to == BREAKER_OPEN)
		return judge_opening(state, actor);
	if (to == BREAKER_HALF_OPEN)
		return "a probe while others are let in";
	if (to == state_of(old)) {
		if (actor->operation != TELL_SUCCESS)
			return "no success";
		return until_of(new) == until_of(old) ? NULL : "begun anew";
	}
	if (to == BREAKER_RECOVERING)
		return "recovers from nothing";
	if (until_of(new) != until_of(old))
		return "forgets when it began";
	ramp = ramp_of(old, last_seen(actor, true), clock_at(actor->now));
	return actor->operation == ENTER && ramp.over ? NULL : "not over yet";
}

/* NULL if the actor may make that of the word. */
static const char *
judge(const struct state *state, const struct actor *actor, uint64_t old,
    uint64_t new)
{
	enum operation operation = actor->operation;
	enum breaker_state to = state_of(new);

	if (admits(old))
		return judge_admitting(state, actor, old, new);
	if (operation == ENTER && until_of(old) > clock_at(NOW))
		return "a good lease, or a pause, is cut short";
	if (operation != ENTER && !actor->holds)
		return "the lease is not its own";
	if ((operation == ENTER || operation == RENEW) !=
	    (to == BREAKER_HALF_OPEN))
		return "not the change that it should make";
	if ((operation == PROBED_WELL) != (to == BREAKER_RECOVERING) ||
	    to == BREAKER_CLOSED)
		return "not what the probe found";
	if (to == BREAKER_RECOVERING)
		return until_of(new) == began_at(actor->now) ? NULL : "not now";
	return until_of(new) > clock_at(NOW) + TICK ? "for too long" : NULL;
}

/* The same of the rate. What stands there of a past recovery is no loss. */
static const char *
judge_rate(const struct state *state, const struct actor *actor, uint64_t old,
    uint64_t new)
{
	uint64_t word = state->breaker.word;
	nanos began = until_of(word);
	struct ramp was, is;
	bool turn = actor->operation == ENTER;

	if (!recovers(word))
		return NULL;
	if (rate_name(new) != name_of(word))
		return rate_name(old) == name_of(word) && old != 0
		    ? "written over by an earlier recovery"
		    : NULL;
	was = unpack(old, began);
	is = unpack(new, began);
	if (is.step > was.step)
		was.taken = was.served = was.failed = 0;
	if (is.step < was.step || began + is.step * RAMP_STEP > clock_at(NOW))
		return "not the step that it is";
	if (is.taken != was.taken + turn)
		return "a turn is taken twice, or not at all";
	was.served += actor->operation == TELL_SUCCESS;
	if (is.served != number_lesser(was.served, (int64_t)MOST(SERVED_BITS)))
		return "a success is lost, or none";
	was.failed += actor->operation == TELL_ILL;
	if (is.failed != number_lesser(was.failed, (int64_t)MOST(FAILED_BITS)))
		return "a failure is lost, or none";
	if (turn && is.taken > is.rate)
		return "more turns than there are";
	return NULL;
}

/* What ended a streak may have made that of failures too that go on. */
static void
nothing_must(struct state *state)
{
	state->must = 0;
	for (int i = 0; i < ACTORS; i++)
		state->actors[i].counts = false;
}

static void
change_word(struct state *state, struct actor *actor, uint64_t new)
{
	uint64_t old = state->breaker.word;
	const char *why = judge(state, actor, old, new);

	if (why != NULL)
		wrong(why);
	if (seq_of(new) != seq_of(old) + 1)
		wrong("a change that is not counted");
	/* Nobody is older than that but who is always. */
	if (state_of(new) == BREAKER_CLOSED)
		new &= ~MOST(MS_BITS);
	state->breaker.word = new;
	for (int i = 0; i < ACTORS; i++)
		state->actors[i].holds = false;
	actor->holds = state_of(new) == BREAKER_HALF_OPEN;
	if (admits(new) && state_of(new) != state_of(old)) {
		state->may = active(state);
		nothing_must(state);
	}
}

/*
 * True if the next access was done in an earlier step; else it is done now, or
 * left for a later one.
 */
static bool
replayed(const _Atomic uint64_t *at)
{
	struct actor *actor = run.actor;

	if (run.access < actor->accesses)
		return true;
	if (run.stepped)
		longjmp(run.leave, 1);
	if (run.access == ACCESSES) {
		fputs("breaker_check: ACCESSES is too small\n", stderr);
		exit(2);
	}
	run.stepped = true;
	actor->accesses++;
	if (at == &run.state->breaker.streak)
		actor->streaks |= (uint8_t)(1U << run.access);
	if (at == &run.state->breaker.rate)
		actor->rates |= (uint8_t)(1U << run.access);
	actor->seen[run.access] = *at;
	return false;
}

/* It goes on as if it had just begun: with what it has found of the pace. */
static void
start_over(struct actor *actor)
{
	memset(actor->seen, 0, sizeof actor->seen);
	actor->accesses = actor->swapped = actor->failed = 0;
	actor->streaks = actor->rates = actor->aims = 0;
}

/* What it has found of the pace, now that it goes on to the streak. */
static enum paced
found(const struct actor *actor)
{
	uint64_t word = last_seen(actor, false);
	struct ramp ramp =
	    ramp_of(word, last_seen(actor, true), clock_at(actor->now));

	if (actor->operation == TELL_SUCCESS || !recovers(word))
		return PACED_NOT;
	if (actor->swapped == 0)
		return PACED_OVER;
	return ramp.rate <= RAMP_FIRST ? PACED_SLOW : PACED_FAST;
}

/* In place of what it saw of it: something of which the same is found. */
static uint64_t
known(const _Atomic uint64_t *at)
{
	struct ramp ramp = { .began = clock_at(NOW), .rate = RAMP_FIRST };
	uint64_t ms = NOW * TICK_MS + LAST;

	ramp.rate += run.actor->paced == PACED_FAST;
	run.known--;
	if (at == &run.state->breaker.rate)
		return ramp_word(&ramp);
	switch (run.actor->paced) {
	case PACED_NOT:
		return LOST;
	case PACED_OVER:
		return WORD(BREAKER_RECOVERING) | MOST(MS_BITS);
	default:
		return WORD(BREAKER_RECOVERING) | ms;
	}
}

/*
 * Who lost a race for the streak: what it has seen now takes the place of what
 * it began with, and of what it saw since; what it has done stays. Then, it
 * must have been about the same streak.
 */
static bool
restart(struct actor *actor)
{
	int last = actor->accesses - 1, kept = 1;

	while ((actor->swapped >> kept & 1) != 0)
		kept++;
	if (kept > 1 &&
	    streak_seq(actor->seen[0]) != streak_seq(actor->seen[last]))
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
 * Whether it goes round a loop, having lost a race: what it does next is what
 * it did after it began. Then it remembers nothing of what it saw before.
 */
static bool
goes_round(struct actor *actor, const _Atomic uint64_t *at, bool swaps)
{
	bool streak = at == &run.state->breaker.streak;

	if ((actor->failed >> (run.access - 1) & 1) == 0)
		return false;
	if (actor->operation == ENTER || minds_pace(actor)) {
		if (swaps || streak)
			return false;
		start_over(actor);
		return true;
	}
	return swaps == streak &&
	    (actor->streaks >> (run.access - 1) & 1) != 0 && restart(actor);
}

/* Before what it does next, whatever that is. */
static void
leave_behind(const _Atomic uint64_t *at, bool swaps)
{
	struct actor *actor = run.actor;
	bool paced = at == &run.state->breaker.streak && minds_pace(actor);

	if (run.access == 0 || run.access < actor->accesses)
		return;
	if (paced) {
		actor->paced = (uint8_t)found(actor);
		if (actor->operation == TELL_ILL && !actor->slow &&
		    actor->paced != PACED_FAST)
			wrong("taken for slow");
		start_over(actor);
	}
	if (paced || goes_round(actor, at, swaps))
		longjmp(run.leave, 1);
}

static uint64_t
access(const _Atomic uint64_t *at)
{
	replayed(at);
	return run.actor->seen[run.access++];
}

/* What a broken gate makes of what it reads. */
static uint64_t
misread(const _Atomic uint64_t *at, uint64_t value)
{
	const struct actor *actor = run.actor;

	if (run.fault == OPENED_AT_ANY_PACE && at == &run.state->breaker.word &&
	    actor->operation == TELL_ILL && actor->paced == NOT_YET)
		return LOST;
	if (run.fault == ENDED_TOO_SOON && at == &run.state->breaker.rate &&
	    actor->operation == ENTER)
		return value & ~(MOST(COUNT_BITS) << TAKEN_AT);
	return value;
}

/*
 * Whoever enters looks at the streak for the view only: nothing depends on
 * when that is.
 */
static uint64_t
load(const _Atomic uint64_t *at)
{
	const _Atomic uint64_t *word;

	if (run.state == NULL ||
	    (run.actor->operation == ENTER && at == &run.state->breaker.streak))
		return *at;
	if (run.known > 0)
		return known(at);
	leave_behind(at, false);
	word = &run.state->breaker.word;
	if (run.early && at == word) {
		run.early = false;
		return run.word;
	}
	if (run.fault == WORD_BEFORE_RATE && at == &run.state->breaker.rate) {
		run.word = access(word);
		run.early = true;
	}
	return misread(at, access(at));
}

/* Where a broken gate does not compare, at the word or at the rate. */
static bool
blind(const struct actor *actor, bool rate)
{
	enum operation operation = (enum operation)actor->operation;

	switch (run.fault) {
	case RESULT_WITHOUT_LEASE:
		return !rate && operation >= PROBED_WELL;
	case RENEWED_WITHOUT_LEASE:
		return !rate && operation == RENEW;
	case TAKEN_WITHOUT_LOOKING:
		return !rate && operation == ENTER;
	case OPENED_WITHOUT_LOOKING:
		return !rate && operation == TELL_ILL;
	case TURN_WITHOUT_LOOKING:
		return rate && operation == ENTER;
	case TOLD_WITHOUT_LOOKING:
		return rate && operation != ENTER;
	default:
		return false;
	}
}

/* It writes, and is judged by that. */
static void
commit(_Atomic uint64_t *at, uint64_t desired)
{
	struct state *state = run.state;
	struct actor *actor = run.actor;
	const char *why;

	if (at == &state->breaker.word) {
		if (run.fault == BEGUN_ANEW && recovers(desired) &&
		    actor->operation == TELL_SUCCESS)
			desired += TICK_MS;
		change_word(state, actor, desired);
		return;
	}
	if (at == &state->breaker.streak && actor->lease != 0 &&
	    (actor->swapped & (actor->swapped - 1)) == 0)
		wrong("a streak changed without the lease");
	if (at == &state->breaker.rate) {
		why = judge_rate(state, actor, *at, desired);
		if (why != NULL)
			wrong(why);
	}
	*at = desired;
}

static bool
swap(_Atomic uint64_t *at, uint64_t *expected, uint64_t desired)
{
	struct actor *actor = run.actor;
	uint64_t wanted = *expected, seen = *at;
	bool rate, streak;
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
	rate = at == &run.state->breaker.rate;
	streak = at == &run.state->breaker.streak;
	leave_behind(at, true);
	if (run.access == actor->accesses)
		actor->aims = rate;
	if (!replayed(at) &&
	    (seen == wanted || (!streak && blind(actor, rate)))) {
		actor->swapped |= (uint8_t)(1U << run.access);
		commit(at, desired);
	}
	bit = run.access++;
	if ((actor->swapped >> bit & 1) == 0)
		actor->failed |= (uint8_t)(1U << bit);
	*expected = actor->seen[bit];
	return (actor->swapped >> bit & 1) != 0 ||
	    (run.fault == TURN_OF_ANOTHER && rate && actor->operation == ENTER);
}

/* What a broken gate answers to who wants to enter. */
static enum breaker_pass
mistaken(const struct actor *actor, enum breaker_pass pass, uint64_t word)
{
	bool ended = pass == BREAKER_PASSED && actor->swapped != 0;

	switch (run.fault) {
	case TURN_IS_PAID:
		return pass == BREAKER_TURN ? BREAKER_PASSED : pass;
	case PROBE_IS_PAID:
		return pass == BREAKER_PROBE ? BREAKER_PASSED : pass;
	case CLOSED_IS_FREE:
		return pass == BREAKER_PASSED && !ended ? BREAKER_TURN : pass;
	case END_IS_FREE:
		return ended ? BREAKER_TURN : pass;
	case TOLD_BY_A_LOOK:
		return pass == BREAKER_TURN && !recovers(word) ? BREAKER_PASSED
							       : pass;
	default:
		return pass;
	}
}

/* Returns the lease. */
static uint64_t
enter(struct breaker *breaker, nanos now)
{
	struct breaker_view view;
	uint64_t lease;

	if (run.fault == TIME_STANDS_STILL)
		now = 0;
	if (run.fault == NEVER_OVER && recovers(breaker->word))
		now = until_of(breaker->word);
	run.pass = breaker_enter(breaker, now, &lease, &view);
	if (run.state != NULL)
		run.pass = mistaken(run.actor, run.pass, breaker->word);
	return lease;
}

/* An attempt has ended that began after all recoveries, or before them. */
static void
tell(struct breaker *breaker, bool succeeded, bool old, nanos now)
{
	nanos began = old && run.fault != OLD_IS_NEWS ? -1 : clock_at(NOW);

	breaker_tell(breaker, &config,
	    succeeded ? RESULT_HEALTHY : RESULT_FAILURE, succeeded, began, now);
}

/* And one that has nothing to say. */
static void
tell_other(struct breaker *breaker, nanos now)
{
	breaker_tell(
	    breaker, &config, RESULT_HEALTHY, false, clock_at(NOW), now);
	breaker_tell(
	    breaker, &config, RESULT_IGNORED, false, clock_at(NOW), now);
	if (run.fault == EVERYTHING_IS_ILL)
		tell(breaker, false, false, now);
}

/* Does it. Returns the lease that one has then, or 0. */
static uint64_t
operate(struct breaker *breaker, enum operation operation, uint64_t lease,
    nanos now)
{
	switch (operation) {
	case IDLE:
	case OPERATIONS:
		break;
	case ENTER:
		return enter(breaker, now);
	case TELL_SUCCESS:
		if (run.fault != SUCCESS_IS_NOTHING)
			tell(breaker, true, false, now);
		break;
	case TELL_ILL:
		if (run.fault != NOTHING_IS_ILL)
			tell(breaker, false, false, now);
		break;
	case TELL_OTHER:
		tell_other(breaker, now);
		break;
	case RENEW:
		breaker_renew(breaker, &lease, now);
		return lease;
	case PROBED_WELL:
		breaker_probed(breaker, &config, RESULT_HEALTHY, lease,
		    now - clock_at(0) + began_at(0));
		break;
	case PROBED_ILL:
		breaker_probed(breaker, &config, RESULT_FAILURE, lease, now);
		break;
	case PROBED_NO_NEWS:
		breaker_probed(breaker, &config, RESULT_IGNORED, lease, now);
		break;
	}
	return 0;
}

/*
 * What can happen
 */

/* An operation is over, or its process was killed in it. */
static void
settle(struct state *state, struct actor *actor, uint64_t lease, bool killed)
{
	struct actor was = *actor;

	memset(actor, 0, sizeof *actor);
	actor->lease = lease;
	actor->holds = was.holds && !killed;
	if (was.operation == TELL_SUCCESS && !killed)
		state->may = least(state->may, was.later + active(state));
	if (was.counts && !killed)
		state->must++;
	for (int i = 0; i < ACTORS && was.operation == TELL_ILL; i++)
		if (state->actors[i].operation == TELL_SUCCESS)
			state->actors[i].later++;
}

/* How somebody was let in, against what he has found and changed. */
static const char *
judge_pass(const struct actor *actor)
{
	bool turn = (actor->swapped & actor->rates) != 0;
	bool changed = (actor->swapped & ~actor->rates) != 0;
	/* Whoever has changed the word has just done so. */
	enum breaker_state state = state_of(
	    changed ? run.state->breaker.word : last_seen(actor, false));

	switch (run.pass) {
	case BREAKER_PASSED:
		return !turn && state == BREAKER_CLOSED
		    ? NULL
		    : "passed where it holds";
	case BREAKER_TURN:
		return turn ? NULL : "let in without a turn";
	case BREAKER_PROBE:
		return changed && state == BREAKER_HALF_OPEN
		    ? NULL
		    : "let in without a lease";
	case BREAKER_HELD:
		return actor->swapped == 0 ? NULL : "held, but changed it";
	}
	return "no answer";
}

static void
check_pass(const struct actor *actor)
{
	const char *why = actor->operation == ENTER ? judge_pass(actor) : NULL;

	if (why != NULL)
		wrong(why);
}

/*
 * The next access of an operation that looked at the clock at the instant now,
 * and what is left to do after its last.
 */
static void
step(struct state *state, struct actor *actor, int now)
{
	static const int known_of[] = { 0, 2, 2, 3, 3 };

	run.state = state;
	run.actor = actor;
	run.access = 0;
	run.known = known_of[actor->paced];
	run.stepped = run.early = false;
	actor->now = (uint8_t)now;
	if (setjmp(run.leave) == 0) {
		uint64_t lease = operate(&state->breaker, actor->operation,
		    actor->lease, clock_at(now));

		check_pass(run.actor);
		settle(run.state, run.actor, lease, false);
	}
	run.state = NULL;
}

static void
begin(
    struct state *state, struct actor *actor, enum operation operation, int now)
{
	if (operation == TELL_SUCCESS)
		nothing_must(state);
	if (operation == TELL_ILL) {
		state->may++;
		actor->counts = true;
		for (int i = 0; i < ACTORS; i++)
			if (state->actors[i].operation == TELL_SUCCESS)
				actor->counts = false;
	}
	actor->operation = (uint8_t)operation;
	step(state, actor, now);
}

static uint64_t
earlier(uint64_t word)
{
	uint64_t ms = word & MOST(MS_BITS);

	if (ms >= TICK_MS)
		return word - TICK_MS;
	return recovers(word) ? word : word - ms;
}

/*
 * Who is about to swap the rate has done with the clock. Who is about to end a
 * recovery has too, but not with the word.
 */
static void
tick_pair(struct actor *actor)
{
	for (int i = 0; i < actor->accesses; i++)
		if ((actor->rates >> i & 1) == 0 && seq_of(actor->seen[i]) != 0)
			actor->seen[i] = earlier(actor->seen[i]);
}

/* Another tick: all that was is longer ago. */
static void
tick(struct state *state)
{
	state->breaker.word = earlier(state->breaker.word);
	for (int i = 0; i < ACTORS; i++) {
		struct actor *actor = &state->actors[i];

		if (has_pair(actor)) {
			tick_pair(actor);
			continue;
		}
		actor->lease = earlier(actor->lease);
		for (int j = 0; j < actor->accesses; j++)
			if (((actor->streaks | actor->rates) >> j & 1) == 0)
				actor->seen[j] = earlier(actor->seen[j]);
		if (actor->now > 0)
			actor->now--;
	}
}

/*
 * Somebody asks again and again, and says that all is well: until it is
 * closed, since nobody else comes.
 */
static const char *
ask_alone(struct breaker breaker)
{
	nanos now = clock_at(NOW);

	for (int i = 0; i < 4 && state_of(breaker.word) != BREAKER_CLOSED;
	     i++) {
		struct breaker_view view = breaker_look(&breaker, now);
		uint64_t lease;

		if (view.next > TICK)
			return "held for too long";
		now += view.next;
		lease = operate(&breaker, ENTER, 0, now);
		if (run.pass == BREAKER_HELD)
			return "stuck";
		if (lease != 0)
			operate(&breaker, PROBED_WELL, lease, now);
		else
			now += 2 * RAMP_STEP;
	}
	return state_of(breaker.word) == BREAKER_CLOSED ? NULL : "never closed";
}

/* Whatever it looks like in between, what is old finds it old. */
static const char *
tell_old(struct breaker breaker)
{
	struct breaker was = breaker;

	for (int now = 0; now <= NOW; now++) {
		tell(&breaker, false, true, clock_at(now));
		tell(&breaker, true, true, clock_at(now));
	}
	return memcmp(&breaker, &was, sizeof breaker) == 0
	    ? NULL
	    : "changed by what is old";
}

/* What must hold of a state as it is. */
static void
examine(const struct state *state)
{
	uint64_t word = state->breaker.word;
	const char *why = ask_alone(state->breaker);
	int holders = 0;

	for (int i = 0; i < ACTORS; i++)
		holders += state->actors[i].lease != 0 &&
		    state->actors[i].lease == word;
	if (state->must >= config.failures && admits(word))
		wrong("not opened after enough failures");
	if (holders > 1)
		wrong("two have the same lease");
	if (why == NULL)
		why = tell_old(state->breaker);
	if (why != NULL)
		wrong(why);
}

/*
 * What the pace may be for anybody, whenever that looked at the clock: slow
 * for one, so that a failure may open; not for another, so that none must.
 */
static void
mark_pace(struct state *state)
{
	uint64_t word = state->breaker.word;
	bool slow = !recovers(word), fast = false;

	for (int now = 0; now <= NOW && recovers(word); now++) {
		struct ramp ramp =
		    ramp_of(word, state->breaker.rate, clock_at(now));
		bool first = ramp.over || ramp.rate <= RAMP_FIRST;

		slow = slow || first;
		fast = fast || !first;
	}
	if (fast)
		nothing_must(state);
	for (int i = 0; i < ACTORS; i++) {
		struct actor *actor = &state->actors[i];

		if (actor->operation == TELL_ILL && minds_pace(actor))
			actor->slow = actor->slow || slow;
		else
			actor->slow = false;
	}
}

/*
 * States that are the same
 */

/* Names that occur in a state, the latest first. */
struct names {
	uint64_t seq[2 + ACTORS * (1 + ACCESSES)];
	int count;
};

static void
collect(struct names *names, uint64_t seq)
{
	int at = names->count;

	if (seq == seq_of(LOST))
		return;
	for (int i = 0; i < names->count; i++)
		if (names->seq[i] == seq)
			return;
	for (; at > 0 && names->seq[at - 1] < seq; at--)
		names->seq[at] = names->seq[at - 1];
	names->seq[at] = seq;
	names->count++;
}

static uint64_t
renamed(const struct names *names, uint64_t value, bool streak)
{
	int shift = streak ? DOUBLING_BITS + FAILURE_BITS : MS_BITS;
	uint64_t seq = value >> shift & MOST(SEQ_BITS), i = 0;

	if (seq == seq_of(LOST))
		return value;
	while (names->seq[i] != seq)
		i++;
	return value - (seq << shift) + ((SEQ - i) << shift);
}

/* It has seen those of a recovery. */
static void
saw(struct actor *actor, uint64_t word, uint64_t rate, int now)
{
	for (int i = 0; i < actor->accesses; i++)
		actor->seen[i] = (actor->rates >> i & 1) != 0 ? rate : word;
	actor->now = (uint8_t)now;
}

/* Who is about to end a recovery: what counts is that it is over. */
static void
forget_end(struct actor *actor, uint64_t word)
{
	uint64_t seen = last_seen(actor, false);
	nanos now = clock_at(actor->now);

	if (seen != word && !blind(actor, false))
		saw(actor, WORD(BREAKER_RECOVERING) | GONE, STALE, NOW);
	else if (ramp_of(seen, last_seen(actor, true), now).over)
		saw(actor, seen, STALE_OVER, NOW);
}

/*
 * Who is about to take a turn, or to tell the pace: what counts is of which
 * recovery, and how far it was.
 */
static void
forget_turn(struct actor *actor, uint64_t rate)
{
	uint64_t word = last_seen(actor, false);
	nanos began = until_of(word), now = clock_at(actor->now);
	nanos step = now > began ? (now - began) / RAMP_STEP : 0;

	if (last_seen(actor, true) != rate && !blind(actor, true))
		saw(actor, WORD(BREAKER_RECOVERING) | GONE, STALE, 0);
	else
		saw(actor, WORD(BREAKER_RECOVERING) | name_of(word),
		    last_seen(actor, true), (int)step);
}

/* Who asks for a turn or tells the pace, and is about to swap something. */
static void
forget_asking(struct actor *actor, const struct breaker *breaker)
{
	uint64_t word = last_seen(actor, false);

	if (!recovers(word) && (word == breaker->word || blind(actor, false)))
		saw(actor, word, 0, actor->now);
	else if (!recovers(word))
		saw(actor, LOST, 0, 0);
	else if (actor->aims != 0)
		forget_turn(actor, breaker->rate);
	else
		forget_end(actor, breaker->word);
}

/* Who has counted a failure and is about to open; it fails, if word is gone. */
static void
forget_opening(struct actor *actor, bool gone)
{
	uint64_t seq = gone ? 0 : seq_of(actor->seen[1]);

	if (gone)
		actor->seen[1] = 0;
	actor->seen[0] = streak_of(seq, 0, MOST(FAILURE_BITS));
	actor->seen[2] = actor->seen[0];
}

/* Who is to end a streak, if there is one. */
static void
forget_success(struct actor *actor, uint64_t word)
{
	bool gone = actor->accesses == 2 && actor->seen[1] != word;
	uint64_t seq = gone ? 0 : seq_of(word);

	if (gone)
		actor->seen[1] = 0;
	if (actor->accesses == 2 ||
	    (admits(word) && failures_of(actor->seen[0], word) > 0))
		actor->seen[0] = streak_of(seq, 0, 1);
	else
		actor->seen[0] = VOID;
}

/* Who will find another streak than it saw, and go round. */
static void
forget_race(struct actor *actor)
{
	actor->seen[0] = OTHER;
	actor->seen[1] = 0;
}

/* Who is done with the pace. */
static void
forget_telling(struct actor *actor, const struct breaker *breaker)
{
	bool gone = actor->accesses > 1 && actor->seen[1] != breaker->word;

	if (actor->accesses == 0 || run.fault == OPENED_WITHOUT_LOOKING)
		return;
	if (actor->operation == TELL_SUCCESS)
		forget_success(actor, breaker->word);
	else if (actor->swapped != 0)
		forget_opening(actor, gone);
	else if (actor->seen[0] != breaker->streak)
		forget_race(actor);
	else if (gone) /* it counts under which word a failure is told */
		actor->seen[1] &= MOST(SEQ_BITS) << MS_BITS;
}

/*
 * What makes no difference any more. A word that is gone never comes back, and
 * whoever has a lease that is gone fails, whatever else it has seen.
 */
static void
forget(struct actor *actor, const struct breaker *breaker)
{
	uint64_t word = breaker->word;

	if (actor->operation == ENTER || minds_pace(actor)) {
		if (actor->accesses == 2)
			forget_asking(actor, breaker);
		return;
	}
	actor->now = 0;
	if (actor->paced != NOT_YET) {
		forget_telling(actor, breaker);
		return;
	}
	if (actor->lease != 0 && actor->lease != word)
		actor->lease = LOST;
	if (actor->lease == LOST && actor->swapped == 0 &&
	    actor->accesses > 0 && actor->seen[0] != breaker->streak)
		actor->seen[0] = OTHER;
	for (int i = 0; i < actor->accesses; i++)
		if ((actor->swapped >> i & 1) != 0 &&
		    (actor->streaks >> i & 1) == 0 && actor->seen[i] != word)
			actor->seen[i] = LOST;
}

/*
 * A streak that is void is like any other; of a good one counts whether it is
 * long enough. All pauses are the same here, however often they were doubled.
 */
static void
forget_streak(struct state *state)
{
	uint64_t word = state->breaker.word, streak = state->breaker.streak;
	uint32_t failures = (uint32_t)(streak & MOST(FAILURE_BITS));
	uint64_t simple = VOID;

	if (run.fault == OPENED_WITHOUT_LOOKING)
		return;
	if (!admits(word) || streak_seq(streak) == seq_of(word))
		simple = streak_of(streak_seq(streak), 0,
		    least(failures, (uint32_t)config.failures));
	for (int i = 0; i < ACTORS; i++) {
		struct actor *actor = &state->actors[i];

		for (int j = 0; j < actor->accesses; j++)
			if ((actor->streaks >> j & 1) != 0 &&
			    actor->seen[j] == streak)
				actor->seen[j] = simple;
	}
	state->breaker.streak = simple;
}

/* Whether somebody will ask whether the rate is of that recovery. */
static bool
in_use(const struct state *state, uint64_t name)
{
	for (int i = 0; i < ACTORS; i++) {
		const struct actor *actor = &state->actors[i];
		uint64_t word = last_seen(actor, false);

		if ((actor->operation == ENTER || minds_pace(actor)) &&
		    recovers(word) && name_of(word) == name)
			return true;
	}
	return false;
}

static uint64_t
called(uint64_t name, uint64_t present, uint64_t past)
{
	return name == present ? PRESENT : name == past ? PAST : GONE;
}

/*
 * A rate in which stands what makes a difference. There are two steps, of one
 * attempt and of two at most: so all growth is the same, more than one success
 * in the first is like one, in the second none counts, and a failure in it only
 * for a rate of two.
 */
static uint64_t
simplest(uint64_t rate, uint64_t name)
{
	struct ramp ramp = unpack(rate, (nanos)rate_name(rate) * NANOS_MS);

	ramp.began = (nanos)name * NANOS_MS;
	ramp.taken = number_lesser(ramp.taken, ramp.rate);
	ramp.served = ramp.step == 0 && ramp.served > 0;
	ramp.met = false;
	if (ramp.step > 0 && ramp.rate == RAMP_LEAST)
		ramp.failed = 0;
	return ramp_word(&ramp);
}

/* What an actor has seen of the rate, which is another by now. */
static uint64_t
stale(const struct state *state, uint64_t rate, int now)
{
	uint64_t word = state->breaker.word;

	if (rate <= STALE || !recovers(word) ||
	    rate_name(rate) != name_of(word))
		return STALE;
	return ramp_of(word, rate, clock_at(now)).over ? STALE_OVER : STALE_ON;
}

/* Names recoveries anew. */
static void
rename_recoveries(struct state *state)
{
	uint64_t word = state->breaker.word, rate = state->breaker.rate,
		 simple = 0;
	uint64_t present = recovers(word) ? name_of(word) : NAMES;
	uint64_t past =
	    in_use(state, rate_name(rate)) ? rate_name(rate) : NAMES;

	if (rate != 0 && called(rate_name(rate), present, past) != GONE)
		simple = simplest(rate, called(rate_name(rate), present, past));
	for (int i = 0; i < ACTORS; i++) {
		struct actor *actor = &state->actors[i];

		for (int j = 0; j < actor->accesses; j++) {
			uint64_t *seen = &actor->seen[j];

			if ((actor->rates >> j & 1) != 0)
				*seen = *seen == rate
				    ? simple
				    : stale(state, *seen, actor->now);
			else if ((actor->streaks >> j & 1) == 0 &&
			    recovers(*seen))
				*seen += called(name_of(*seen), present, past) -
				    name_of(*seen);
		}
	}
	state->breaker.rate = simple;
	if (recovers(word))
		state->breaker.word += PRESENT - present;
}

static int
compare(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(struct actor));
}

static void
collect_all(struct names *names, const struct state *state)
{
	names->count = 0;
	collect(names, seq_of(state->breaker.word));
	collect(names, streak_seq(state->breaker.streak));
	for (int i = 0; i < ACTORS; i++) {
		const struct actor *actor = &state->actors[i];

		for (int j = 0; j < actor->accesses; j++)
			if ((actor->rates >> j & 1) == 0)
				collect(names,
				    (actor->streaks >> j & 1) != 0
					? streak_seq(actor->seen[j])
					: seq_of(actor->seen[j]));
	}
}

/*
 * One state of all that differ only in numbers that stand for the same, in
 * what makes no difference, or in which actor is which.
 */
static void
normalise(struct state *state)
{
	uint32_t most = (uint32_t)config.failures;
	struct names names;

	state->may = least(state->may, most);
	state->must = least(state->must, most);
	/* Letting attempts in will set them. */
	if (!admits(state->breaker.word)) {
		state->may = 0;
		nothing_must(state);
	}
	mark_pace(state);
	for (int i = 0; i < ACTORS; i++) {
		struct actor *actor = &state->actors[i];

		forget(actor, &state->breaker);
		/* It is no news any more. */
		if (actor->operation == TELL_SUCCESS &&
		    actor->later + active(state) >= state->may)
			actor->later = (uint8_t)most;
	}
	forget_streak(state);
	rename_recoveries(state);
	collect_all(&names, state);
	for (int i = 0; i < ACTORS; i++) {
		struct actor *actor = &state->actors[i];

		actor->lease = renamed(&names, actor->lease, false);
		for (int j = 0; j < actor->accesses; j++)
			if ((actor->rates >> j & 1) == 0)
				actor->seen[j] = renamed(&names, actor->seen[j],
				    (actor->streaks >> j & 1) != 0);
	}
	state->breaker.word = renamed(&names, state->breaker.word, false);
	state->breaker.streak = renamed(&names, state->breaker.streak, true);
	qsort(state->actors, ACTORS, sizeof state->actors[0], compare);
}

static void
add(struct state *state)
{
	uint32_t number;

	normalise(state);
	if (explore_add(&run.explorer, state, run.last, &number) &&
	    run.explorer.wrong == NULL)
		examine(state);
}

/*
 * All of them
 */

/* May that happen to an actor? */
static bool
possible(const struct actor *actor, int what)
{
	bool idle = actor->operation == IDLE;

	switch (what) {
	case KILL:
		return !idle || actor->lease != 0;
	case STEP:
		return !idle;
	case IDLE:
		return false;
	default:
		return idle && (actor->lease != 0) == (what >= RENEW);
	}
}

/*
 * Whether it matters when somebody looked at the clock. Who asks for a turn or
 * tells the pace has to keep to one now; others use it for one thing only, and
 * may be given any.
 */
static bool
timed(enum operation operation)
{
	return operation != IDLE && operation != PROBED_NO_NEWS;
}

/* A copy: when a state is added, the others may move. */
static struct state
state_at(uint32_t number)
{
	const struct state *state = explore_state(&run.explorer, number);

	return *state;
}

static void
happen(uint32_t from, int which, int what)
{
	struct actor was = state_at(from).actors[which];
	enum operation operation =
	    what < IDLE ? was.operation : (enum operation)what;
	int now = what != KILL && timed(operation) ? 0 : NOW, last = NOW;

	if (what == STEP && (operation == ENTER || minds_pace(&was)))
		now = last = was.now;
	if (run.explorer.wrong != NULL)
		return;
	run.last =
	    (struct step_from){ from, (int8_t)what, (int8_t)operation, false };
	for (; now <= last && run.explorer.wrong == NULL; now++) {
		struct state next = state_at(from);
		struct actor *actor = &next.actors[which];

		if (what == KILL)
			settle(&next, actor, 0, true);
		else if (what == STEP)
			step(&next, actor, now);
		else
			begin(&next, actor, operation, now);
		add(&next);
	}
}

static void
follow_up(uint32_t from)
{
	const struct state state = state_at(from);
	struct state next = state;

	run.last = (struct step_from){ from, CLOCK, IDLE, false };
	tick(&next);
	add(&next);
	/* Those that are not there do nothing, and so come first. */
	for (int i = ACTORS - run.actors; i < ACTORS; i++)
		for (int what = KILL; what < OPERATIONS; what++)
			if (possible(&state.actors[i], what))
				happen(from, i, what);
}

static void
print_step(const struct step_from *step, const void *state)
{
	(void)state;
	if (step->what == CLOCK)
		puts("\tthe clock goes on");
	else
		printf("\t%s: %s\n", names_of[step->who],
		    step->what == KILL       ? "killed"
			: step->what == STEP ? "next access"
					     : "begins");
}

/* Explores a gate; true if nothing is wrong with it. */
static bool
sound(enum fault fault)
{
	struct state first;

	run.fault = fault;
	explore_start(&run.explorer, 1 << 16);
	memset(&first, 0, sizeof first);
	/* Where a recovery is broken, it is sooner found out from one. */
	first.breaker.word = SEQ << MS_BITS;
	if (fault > TIME_STANDS_STILL)
		first.breaker.word |=
		    WORD(BREAKER_RECOVERING) | (NOW * TICK_MS + PRESENT);
	add(&first);
	for (uint32_t i = 0;
	     i < run.explorer.count && run.explorer.wrong == NULL; i++)
		follow_up(i);
	return run.explorer.wrong == NULL;
}

int
main(int argc, char **argv)
{
	uint32_t states;
	int caught = 0;

	run.actors = argc > 1 && strcmp(argv[1], "large") == 0 ? ACTORS : 2;
	if (!sound(SOUND)) {
		explore_print(&run.explorer, run.last, print_step);
		return EXIT_FAILURE;
	}
	states = run.explorer.count;
	for (int fault = SOUND + 1; fault < FAULTS; fault++) {
		if (sound((enum fault)fault))
			printf("breaker_check: fault %d is not seen\n", fault);
		else
			caught++;
	}
	printf("breaker_check: %u states, 0 violations; %d of %d broken gates "
	       "caught\n",
	    states, caught, FAULTS - 1);
	return caught == FAULTS - 1 ? EXIT_SUCCESS : EXIT_FAILURE;
}
