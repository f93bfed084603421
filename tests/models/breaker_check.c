/*
 * Covers budget/breaker, budget/ramp, budget/admission.
 *
 * breaker_check [large]: tries every order of the steps of two processes, or three, that use the
 * real breaker and its ramp.
 *
 * A process may begin any operation at any time, may be stopped between any two accesses to the
 * breaker's words while the clock goes on, and may be killed anywhere. Each trial begins in
 * another state of the breaker, to which some operations have led. The check verifies:
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

/* The most accesses of one operation. */
#ifndef ACCESSES
#define ACCESSES 12
#endif

/* The length of a lease, of a pause, and of a step with the slowdown of the
 * only fleet that there is. */
#define TICK BREAKER_LEASE
#define SLOWDOWN 1
#define HOSTS (2 * RAMP_HOSTS)

/* The first tick: a process that read the clock at tick 0 has been stopped for two ticks. */
#define FIRST 2

/*
 * The millisecond of a tick in which a recovery began is its name, which no other recovery has: a
 * tick is a multiple of NAMES. All else happens at millisecond LAST.
 */
#define NAMES (UINT64_C(1) << BEGAN_BITS)
#define LAST 7

/* After all recoveries. */
#define LATER (100 * TICK)

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

/* States are compared as bytes, so there must be no padding. */
struct actor {
	uint64_t lease;
	uint64_t seen[ACCESSES]; /* the results of its accesses so far */
	uint16_t swapped, failed; /* a bit for each: a swap */
	uint16_t streaks, rates; /* a bit for each: an access to that word */
	uint8_t operation, accesses;
	uint8_t now; /* when it read the clock */
	uint8_t left; /* operations after this one */
	uint8_t holds; /* the word is its lease */
	uint8_t later; /* failures that ended since its success began */
	uint8_t counts; /* its failure must count, unless it is killed */
	uint8_t spare;
};

struct state {
	struct breaker breaker;
	uint32_t may; /* how many failures may count at most */
	uint32_t must; /* how many failures have to count */
	int32_t clock; /* in ticks */
	int32_t recoveries; /* so far */
	struct actor actors[ACTORS]; /* explorer.actors of them are used */
};

/*
 * What has happened before, by the letters of operations, or "." for a tick; then how many ticks
 * there still are, how many operations each process may begin, and which. In a large check three
 * processes begin one each.
 */
static const char letters[] = " etsfor+-i";

static const struct trial {
	const char *before;
	uint8_t ticks, left[ACTORS];
	const char *may;
} trials[] = {
	{ "", 2, { 2, 1, 0 }, letters },
	{ "f", 1, { 2, 1, 0 }, letters },
	{ "ff", 2, { 2, 1, 0 }, letters },
	{ "ff.e", 1, { 2, 1, 0 }, letters },
	{ "ff.e+", 2, { 2, 1, 0 }, letters },
	{ "ff.e+es.", 1, { 2, 1, 0 }, letters },
	/* The next streak begins, and the next recovery. */
	{ "f", 0, { 3, 1, 0 }, "sf" },
	{ "ff.e+f", 1, { 1, 4, 0 }, "ef+" },
};

/* One step of one actor. */
static struct {
	const struct trial *trial;
	int32_t last; /* tick */
	struct state *state; /* NULL: accesses are made without the check */
	struct actor *actor;
	int access; /* the number of the next one */
	enum breaker_pass pass;
} run;

static nanos until_of(uint64_t word) { return (nanos)(word & NUMBER_MOST(MS_BITS)) * NANOS_MS; }

/* What the clock says in a tick. */
static nanos clock_at(int tick) { return tick * TICK + LAST * NANOS_MS; }

/* When the next recovery begins in a tick. */
static nanos began_at(int tick, const struct state *state) {
	return tick * TICK + (state->recoveries + 1) * NANOS_MS;
}

static bool recovers(uint64_t word) { return state_of(word) == BREAKER_RECOVERING; }

/* The name of the recovery of a word. */
static uint64_t name_of(uint64_t word) { return word & (NAMES - 1); }

static uint64_t rate_name(uint64_t rate) { return rate >> BEGAN_AT; }

static bool is(uint16_t bits, int access) { return (bits >> access & 1) != 0; }

/* Whether it tells a result. */
static bool tells(const struct actor *actor) {
	return actor->operation >= TELL_SUCCESS && actor->operation <= TELL_OTHER;
}

/* What an actor that enters, or has told a result to the ramp, has read first. */
static struct ramp seen_ramp(const struct actor *actor) {
	return ramp_of(actor->seen[1], actor->seen[0], clock_at(actor->now));
}

static uint32_t least(uint32_t a, uint32_t b) { return a < b ? a : b; }

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
		return is(actor->swapped & actor->rates, 2) && seen_ramp(actor).rate > RAMP_FIRST
		    ? "opened at a higher rate"
		    : NULL;
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
	return actor->operation == ENTER && seen_ramp(actor).over ? NULL : "not over yet";
}

/* NULL if the actor may change the word so. */
static const char *
judge(const struct state *state, const struct actor *actor, uint64_t old, uint64_t new) {
	enum operation operation = actor->operation;
	enum breaker_state to = state_of(new);

	if (admits(old))
		return judge_admitting(state, actor, old, new);
	if (operation == ENTER && until_of(old) > clock_at(state->clock))
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
		return until_of(new) == began_at(actor->now, state) ? NULL : "not now";
	return until_of(new) > clock_at(state->clock) + TICK ? "for too long" : NULL;
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
	if (is.step < was.step || began + is.step * TICK > clock_at(state->clock))
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
	for (int i = 0; i < explorer.actors; i++) state->actors[i].counts = false;
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
		actor->streaks |= (uint16_t)(1U << run.access);
	if (at == &run.state->breaker.rate)
		actor->rates |= (uint16_t)(1U << run.access);
	actor->seen[run.access] = *at;
	return false;
}

/*
 * breaker_enter reads the streak only for the view: nothing depends on when it does, so this is
 * no access of its own. After a lost race it begins anew; so does an actor that tells the ramp.
 */
static uint64_t load(const _Atomic uint64_t *at) {
	struct actor *actor = run.actor;

	if (run.state == NULL || (actor->operation == ENTER && at == &run.state->breaker.streak))
		return *at;
	if (run.access > 0 && run.access == actor->accesses && is(actor->failed, run.access - 1) &&
	    (actor->operation == ENTER || (tells(actor) && actor->streaks == 0))) {
		memset(actor->seen, 0, sizeof actor->seen);
		actor->swapped = actor->failed = actor->rates = actor->accesses = 0;
		explore_leave();
	}
	replayed(at);
	return actor->seen[run.access++];
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
	state->recoveries += state_of(new) == BREAKER_RECOVERING && !recovers(old);
	*at = new;
	for (int i = 0; i < explorer.actors; i++) state->actors[i].holds = false;
	actor->holds = state_of(new) == BREAKER_HALF_OPEN;
	if (admits(new) && state_of(new) != state_of(old)) {
		state->may = active(state);
		nothing_must(state);
	}
}

static bool exchange(_Atomic uint64_t *at, uint64_t *expected, uint64_t desired) {
	struct actor *actor = run.actor;
	uint64_t wanted = *expected, seen = *at;
	bool swapped = seen == wanted;

	if (run.state == NULL) {
		*expected = seen;
		if (swapped)
			*at = desired;
		return swapped;
	}
	if (!replayed(at)) {
		uint16_t bit = (uint16_t)(1U << run.access);

		actor->swapped |= swapped ? bit : 0;
		actor->failed |= swapped ? 0 : bit;
		if (swapped)
			commit(at, desired);
	}
	*expected = actor->seen[run.access];
	return is(actor->swapped, run.access++);
}

/* Tells the result of an attempt that began after all recoveries, or before. */
static void tell(struct breaker *breaker, enum attempt_result result, bool old, nanos now) {
	breaker_tell(breaker, &config, result, old ? -1 : LATER, now);
}

/* Runs an operation. Returns the lease that the actor has then, or 0. */
static uint64_t operate(struct breaker *breaker, enum operation operation, uint64_t lease,
    const struct state *state, nanos now) {
	static const enum attempt_result results[OPERATIONS] = {
		[PROBE_HEALTHY] = RESULT_HEALTHY,
		[PROBE_FAILED] = RESULT_FAILURE,
		[PROBE_IGNORED] = RESULT_IGNORED,
	};
	struct breaker_view view;

	switch (operation) {
	case IDLE:
	case OPERATIONS: break;
	case ENTER: run.pass = breaker_enter(breaker, now, &lease, &view); return lease;
	case STARVE: breaker_starve(breaker, &config, now); break;
	case TELL_SUCCESS: tell(breaker, RESULT_SUCCESS, false, now); break;
	case TELL_FAILURE: tell(breaker, RESULT_FAILURE, false, now); break;
	case TELL_OTHER:
		tell(breaker, RESULT_HEALTHY, false, now);
		tell(breaker, RESULT_IGNORED, false, now);
		break;
	case RENEW: breaker_renew(breaker, &lease, now); return lease;
	case PROBE_HEALTHY:
	case PROBE_FAILED:
	case PROBE_IGNORED:
		if (operation == PROBE_HEALTHY)
			now += began_at(0, state) - clock_at(0);
		breaker_probed(breaker, &config, results[operation], lease, HOSTS, now);
		break;
	}
	return 0;
}

/* Steps */

/* Ends an operation, or its process if killed. */
static void settle(struct state *state, struct actor *actor, uint64_t lease, bool killed) {
	struct actor was = *actor;

	*actor = (struct actor){ .lease = lease, .left = was.left, .holds = was.holds && !killed };
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
	/* It has read the rate and the word, and may have swapped one of them. */
	bool turn = (actor->swapped & actor->rates) != 0;
	bool changed = (actor->swapped & ~actor->rates) != 0;
	enum breaker_state state = state_of(changed ? run.state->breaker.word : actor->seen[1]);

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
	    operate(&state->breaker, actor->operation, actor->lease, state, clock_at(actor->now));

	if (actor->operation == ENTER)
		judge_pass(actor);
	settle(state, actor, lease, false);
}

/*
 * A single process asks again and again, and its probe succeeds: the breaker
 * must close, since no other process comes.
 */
static const char *ask_alone(const struct state *state) {
	struct breaker breaker = state->breaker;
	nanos now = clock_at(state->clock);

	for (int i = 0; i < 4 && state_of(breaker.word) != BREAKER_CLOSED; i++) {
		struct breaker_view view = breaker_look(&breaker, now);
		uint64_t lease;

		if (view.next > TICK)
			return "held for too long";
		now += view.next;
		lease = operate(&breaker, ENTER, 0, state, now);
		if (run.pass == BREAKER_REFUSED)
			return "stuck";
		if (lease != 0)
			operate(&breaker, PROBE_HEALTHY, lease, state, now);
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
	explore_wrong(ask_alone(state));

	/* Results of attempts that began before the last recovery. */
	for (int now = 0; now <= state->clock; now++) {
		tell(&breaker, RESULT_FAILURE, true, clock_at(now));
		tell(&breaker, RESULT_SUCCESS, true, clock_at(now));
	}
	explore_expect(memcmp(&breaker, &state->breaker, sizeof breaker) == 0,
	    "changed by an old result");
}

/* Whether the rate may be a higher one, by some actor's clock: then no failure has to open. */
static bool is_fast(const struct state *state) {
	uint64_t word = state->breaker.word;

	for (int now = 0; now <= state->clock && recovers(word); now++) {
		struct ramp ramp = ramp_of(word, state->breaker.rate, clock_at(now));

		if (!ramp.over && ramp.rate > RAMP_FIRST)
			return true;
	}
	return false;
}

void check_normalise(struct state *state) {
	state->may = least(state->may, (uint32_t)config.failures);
	state->must = least(state->must, (uint32_t)config.failures);
	/* They are set when attempts are admitted again. */
	if (!admits(state->breaker.word))
		state->may = 0;
	if (!admits(state->breaker.word) || is_fast(state))
		nothing_must(state);
	explore_sort(state->actors, (size_t)explorer.actors);
}

/* An actor keeps the same time for the whole operation, in which it may be stopped. */
bool check_may(const struct state *state, int who, int what, int *first, int *last) {
	const struct actor *actor = &state->actors[who];
	bool idle = actor->operation == IDLE;

	*first = *last = state->clock;
	if (what == EXPLORE_CLOCK)
		return state->clock < run.last;
	if (what == EXPLORE_KILL)
		return (!idle || actor->lease != 0) && actor->left > 0;
	if (what == EXPLORE_STEP)
		return !idle;
	*first -= FIRST;
	return what != IDLE && idle && actor->left > 0 && (actor->lease != 0) == (what >= RENEW) &&
	    strchr(run.trial->may, letters[what]) != NULL;
}

void check_make(struct state *state, int who, int what, int now) {
	struct actor *actor = &state->actors[who];

	if (what == EXPLORE_CLOCK) {
		state->clock++;
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
	if (what != EXPLORE_STEP) {
		actor->operation = (uint8_t)what;
		actor->now = (uint8_t)now;
		actor->left--;
	}
	run.state = state;
	run.actor = actor;
	run.access = 0;
	explore_operate(state, actor);
	run.state = NULL;
}

bool check_begin(struct state *first, int number, bool large) {
	const struct trial *trial = &trials[number];
	struct actor *actor = first->actors;
	uint64_t lease = 0;

	explorer.actors = large ? ACTORS : 2;
	explorer.size =
	    offsetof(struct state, actors) + (size_t)explorer.actors * sizeof(struct actor);
	if ((size_t)number == sizeof trials / sizeof *trials)
		return false;
	run.trial = trial;
	first->breaker.word = (uint64_t)SLOWDOWN << SLOWDOWN_AT;
	first->clock = FIRST;
	for (const char *what = trial->before; *what != '\0'; what++) {
		enum operation operation;

		if (*what == '.') {
			first->clock++;
			continue;
		}
		operation = (enum operation)(strchr(letters, *what) - letters);
		lease = operate(&first->breaker, operation, lease, first, clock_at(first->clock));
		first->recoveries += operation == PROBE_HEALTHY;
		first->may = first->must = operation == TELL_FAILURE ? first->may + 1 : 0;
	}
	actor->lease = lease;
	actor->holds = lease != 0;
	for (int i = 0; i < explorer.actors; i++)
		first->actors[i].left = large ? 1 : trial->left[i];
	run.last = first->clock + trial->ticks;
	return true;
}

EXPLORER("breaker_check");
