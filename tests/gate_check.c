/*
 * gate_check: the real gate in every state that three processes can bring it
 * into, however long they go on. Each may begin any operation at any time, be
 * stopped between any two accesses to the gate's words while the clock goes
 * on, and be killed anywhere. What must hold:
 *
 * - a lease that is good is taken by nobody: only its holder changes the word;
 * - what a probe found counts only while the lease is its own;
 * - closed becomes open only after so many failures, none of them over before
 *   the last success or the last closing began;
 * - from every state, once the lease or the pause is over, somebody gets in,
 *   and a probe that goes well closes the gate.
 *
 * A process is put back to where it was by running its operation again from
 * the start, with the values that it has seen. States are told apart by what
 * the gate can tell apart: its seq is a name, and times count from now.
 *
 * Then gates that are broken on purpose are tried: each must be caught.
 */
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "../src/gate.h"

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

/* So that counts come to an end. */
#define FAILURE_BITS 2
#define DOUBLING_BITS 1

#include "../src/gate.c"

#define ACTORS 3

/* Of one operation, as far as it is not merely on its way round a loop. */
#define ACCESSES 4

/* A lease and a pause last for one. */
#define TICK GATE_LEASE

/*
 * What the clock says in every state: the past moves back instead. Who looked
 * at it at 0 has been stopped for a tick or longer.
 */
#define NOW 1

/* Of the word in every state; names of the past count down from it. */
#define SEQ 100

/* In place of a lease that was taken, or of another word that is gone. */
#define LOST ((uint64_t)GATE_HALF_OPEN << (SEQ_BITS + MS_BITS))

static const struct breaker breaker = { 2, TICK, TICK };

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

/* States are compared as bytes: nothing in them is padding. */
struct actor {
	uint64_t lease;
	uint64_t seen[ACCESSES]; /* what its accesses so far found */
	uint8_t operation;
	uint8_t now; /* of one who enters, when that began */
	uint8_t accesses;
	uint8_t swapped; /* a bit for each: it was a swap that succeeded */
	uint8_t streaks; /* a bit for each: it was to the streak */
	uint8_t holds; /* the word is a lease that it made */
	uint8_t later; /* failures that ended since its success began */
	uint8_t failed; /* a bit for each: it was a swap that did not succeed */
	uint8_t counts; /* its failure must, if it is not killed */
	uint8_t spare[7];
};

struct state {
	struct gate gate;
	struct actor actors[ACTORS];
	uint32_t may; /* failures that may count towards opening */
	uint32_t must; /* and those that have to */
};

/* How a state came about. */
struct origin {
	uint32_t from;
	int8_t what; /* a kind of event, or an operation to begin */
	int8_t operation; /* that is under way */
};

/* Of the table in which states are looked up. */
struct entry {
	uint32_t state; /* plus one; 0: free */
	uint32_t hash; /* half of it, to look at few others */
};

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
	FAULTS,
};

/* The exploration of one gate; and in it, one step of one actor. */
static struct {
	enum fault fault;
	const char *wrong;
	struct origin last; /* what happened just now */
	struct state *states; /* all, in the order in which they were found */
	struct origin *origins;
	uint32_t count, room;
	struct entry *table; /* 2 * room of them */
	struct state *state; /* NULL: accesses are just done */
	struct actor *actor;
	int access; /* that comes next */
	bool stepped;
	jmp_buf leave;
} run;

static void
wrong(const char *why)
{
	if (run.wrong == NULL)
		run.wrong = why;
}

static nanos
until_of(uint64_t word)
{
	return (nanos)(word & MOST(MS_BITS)) * NANOS_MS;
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
judge_closed(
    const struct state *state, const struct actor *actor, enum gate_state to)
{
	if (to == GATE_CLOSED)
		return actor->operation == TELL_SUCCESS ? NULL : "no success";
	if (to == GATE_HALF_OPEN)
		return "a probe while it is closed";
	if (actor->operation != TELL_ILL)
		return "opened by what is not ill";
	if (state->may < breaker.failures)
		return "opened after too few failures";
	return NULL;
}

/* NULL if the actor may make that of the word. */
static const char *
judge(const struct state *state, const struct actor *actor, uint64_t old,
    uint64_t new)
{
	enum operation operation = actor->operation;
	enum gate_state to = state_of(new);

	if (state_of(old) == GATE_CLOSED)
		return judge_closed(state, actor, to);
	if (operation == ENTER && until_of(old) > NOW * TICK)
		return "a good lease, or a pause, is cut short";
	if (operation != ENTER && !actor->holds)
		return "the lease is not its own";
	if ((operation == ENTER || operation == RENEW) !=
	    (to == GATE_HALF_OPEN))
		return "not the change that it should make";
	if (until_of(new) > (NOW + 1) * TICK)
		return "for too long";
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
	uint64_t old = state->gate.word;
	const char *why = judge(state, actor, old, new);

	if (why != NULL)
		wrong(why);
	if (seq_of(new) != seq_of(old) + 1)
		wrong("a change that is not counted");
	state->gate.word = new;
	for (int i = 0; i < ACTORS; i++)
		state->actors[i].holds = false;
	actor->holds = state_of(new) == GATE_HALF_OPEN;
	if (state_of(new) == GATE_CLOSED && state_of(old) != GATE_CLOSED) {
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
		fputs("gate_check: ACCESSES is too small\n", stderr);
		exit(2);
	}
	run.stepped = true;
	actor->accesses++;
	if (at == &run.state->gate.streak)
		actor->streaks |= (uint8_t)(1U << run.access);
	actor->seen[run.access] = *at;
	return false;
}

/*
 * Whoever enters looks at the streak for the view only: nothing depends on
 * when that is.
 */
static uint64_t
load(const _Atomic uint64_t *at)
{
	if (run.state == NULL ||
	    (run.actor->operation == ENTER && at == &run.state->gate.streak))
		return *at;
	replayed(at);
	return run.actor->seen[run.access++];
}

/* Where a broken gate does not compare. */
static bool
blind(const _Atomic uint64_t *at)
{
	enum operation operation = run.actor->operation;

	if (at != &run.state->gate.word)
		return false;
	switch (run.fault) {
	case RESULT_WITHOUT_LEASE:
		return operation >= PROBED_WELL;
	case RENEWED_WITHOUT_LEASE:
		return operation == RENEW;
	case TAKEN_WITHOUT_LOOKING:
		return operation == ENTER;
	case OPENED_WITHOUT_LOOKING:
		return operation == TELL_ILL;
	default:
		return false;
	}
}

static bool
swap(_Atomic uint64_t *at, uint64_t *expected, uint64_t desired)
{
	struct actor *actor = run.actor;
	uint64_t wanted = *expected, seen = *at;
	int bit;

	if (run.state == NULL) {
		*expected = seen;
		if (seen == wanted)
			*at = desired;
		return seen == wanted;
	}
	if (!replayed(at) && (seen == wanted || blind(at))) {
		actor->swapped |= (uint8_t)(1U << run.access);
		if (at == &run.state->gate.word)
			change_word(run.state, actor, desired);
		else
			*at = desired;
	}
	bit = run.access++;
	if ((actor->swapped >> bit & 1) == 0)
		actor->failed |= (uint8_t)(1U << bit);
	*expected = actor->seen[bit];
	return (actor->swapped >> bit & 1) != 0;
}

/* Does it. Returns the lease that one has then, or 0. */
static uint64_t
operate(struct gate *gate, enum operation operation, uint64_t lease, nanos now)
{
	struct gate_view view;

	switch (operation) {
	case IDLE:
	case OPERATIONS:
		break;
	case ENTER:
		if (run.fault == TIME_STANDS_STILL)
			now = 0;
		gate_enter(gate, now, &lease, &view);
		return lease;
	case TELL_SUCCESS:
		if (run.fault != SUCCESS_IS_NOTHING)
			gate_tell(gate, &breaker, GATE_WELL, true, now);
		break;
	case TELL_ILL:
		if (run.fault != NOTHING_IS_ILL)
			gate_tell(gate, &breaker, GATE_ILL, false, now);
		break;
	case TELL_OTHER:
		gate_tell(gate, &breaker, GATE_WELL, false, now);
		gate_tell(gate, &breaker, GATE_NO_NEWS, false, now);
		if (run.fault == EVERYTHING_IS_ILL)
			gate_tell(gate, &breaker, GATE_ILL, false, now);
		break;
	case RENEW:
		gate_renew(gate, &lease, now);
		return lease;
	case PROBED_WELL:
		gate_probed(gate, &breaker, GATE_WELL, lease, now);
		break;
	case PROBED_ILL:
		gate_probed(gate, &breaker, GATE_ILL, lease, now);
		break;
	case PROBED_NO_NEWS:
		gate_probed(gate, &breaker, GATE_NO_NEWS, lease, now);
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

/*
 * The next access of an operation that looked at the clock at the instant now,
 * and what is left to do after its last.
 */
static void
step(struct state *state, struct actor *actor, int now)
{
	run.state = state;
	run.actor = actor;
	run.access = 0;
	run.stepped = false;
	actor->now = (uint8_t)now;
	if (setjmp(run.leave) == 0) {
		uint64_t lease = operate(
		    &state->gate, actor->operation, actor->lease, now * TICK);

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

	return ms < TICK / NANOS_MS ? word - ms : word - TICK / NANOS_MS;
}

/* Another tick: all that was is longer ago. */
static void
tick(struct state *state)
{
	state->gate.word = earlier(state->gate.word);
	for (int i = 0; i < ACTORS; i++) {
		struct actor *actor = &state->actors[i];

		actor->lease = earlier(actor->lease);
		for (int j = 0; j < actor->accesses; j++)
			if ((actor->streaks >> j & 1) == 0)
				actor->seen[j] = earlier(actor->seen[j]);
		actor->now = 0;
	}
}

/* What must hold of a state as it is. */
static void
examine(const struct state *state)
{
	struct gate gate = state->gate;
	struct gate_view view = gate_look(&gate, NOW * TICK);
	nanos now = NOW * TICK + view.next;
	uint64_t lease;
	int holders = 0;

	for (int i = 0; i < ACTORS; i++)
		holders += state->actors[i].lease != 0 &&
		    state->actors[i].lease == gate.word;
	if (state->must >= breaker.failures &&
	    state_of(gate.word) == GATE_CLOSED)
		wrong("closed after enough failures");
	if (holders > 1)
		wrong("two have the same lease");
	lease = operate(&gate, ENTER, 0, now);
	if (lease != 0)
		gate_probed(&gate, &breaker, GATE_WELL, lease, now);
	if (state_of(gate.word) != GATE_CLOSED)
		wrong("stuck");
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

/*
 * Who lost a race goes round the loop: what it has seen now takes the place of
 * what it began with, and of what it saw since; what it has done stays. Then,
 * it must have been about the same streak.
 */
static void
restart(struct actor *actor)
{
	int last = actor->accesses - 1, kept = 1;

	if (last < 1 || (actor->failed >> last & 1) == 0 ||
	    (actor->streaks >> last & 1) != (actor->streaks & 1))
		return;
	while ((actor->swapped >> kept & 1) != 0)
		kept++;
	if (kept > 1 &&
	    streak_seq(actor->seen[0]) != streak_seq(actor->seen[last]))
		return;
	actor->seen[0] = actor->seen[last];
	for (int i = kept; i <= last; i++)
		actor->seen[i] = 0;
	actor->accesses = (uint8_t)kept;
	actor->failed = 0;
	actor->streaks &= (uint8_t)((1U << kept) - 1);
}

/*
 * What makes no difference any more. A word that is gone never comes back, and
 * whoever has a lease that is gone fails, whatever else it has seen.
 */
static void
forget(struct actor *actor, uint64_t word)
{
	restart(actor);
	if (actor->operation != ENTER)
		actor->now = 0;
	if (actor->lease != 0 && actor->lease != word)
		actor->lease = LOST;
	if (actor->lease == LOST && actor->swapped == 0)
		memset(actor->seen, 0, sizeof actor->seen);
	for (int i = 0; i < actor->accesses; i++) {
		bool swapped = (actor->swapped >> i & 1) != 0;

		if ((actor->streaks >> i & 1) == 0 && actor->seen[i] != word &&
		    (actor->operation == ENTER || swapped))
			actor->seen[i] = LOST;
	}
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
	collect(names, seq_of(state->gate.word));
	collect(names, streak_seq(state->gate.streak));
	for (int i = 0; i < ACTORS; i++) {
		const struct actor *actor = &state->actors[i];

		for (int j = 0; j < actor->accesses; j++)
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
	uint32_t most = (uint32_t)breaker.failures;
	struct names names;

	state->may = least(state->may, most);
	state->must = least(state->must, most);
	/* Closing it will set them. */
	if (state_of(state->gate.word) != GATE_CLOSED) {
		state->may = 0;
		nothing_must(state);
	}
	for (int i = 0; i < ACTORS; i++) {
		struct actor *actor = &state->actors[i];

		forget(actor, state->gate.word);
		actor->later = (uint8_t)least(actor->later, most);
	}
	collect_all(&names, state);
	for (int i = 0; i < ACTORS; i++) {
		struct actor *actor = &state->actors[i];

		actor->lease = renamed(&names, actor->lease, false);
		for (int j = 0; j < actor->accesses; j++)
			actor->seen[j] = renamed(&names, actor->seen[j],
			    (actor->streaks >> j & 1) != 0);
	}
	state->gate.word = renamed(&names, state->gate.word, false);
	state->gate.streak = renamed(&names, state->gate.streak, true);
	qsort(state->actors, ACTORS, sizeof state->actors[0], compare);
}

static uint64_t
hash_of(const struct state *state)
{
	uint64_t words[sizeof *state / sizeof(uint64_t)], hash = 0;

	memcpy(words, state, sizeof words);
	for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
		hash = (hash ^ words[i]) * UINT64_C(0xbf58476d1ce4e5b9);
		hash ^= hash >> 31;
	}
	return hash;
}

/* Where a state stands in the table, or would; there its hash is set. */
static struct entry *
place(const struct state *state)
{
	uint64_t hash = hash_of(state), mask = 2 * (uint64_t)run.room - 1;
	uint32_t half = (uint32_t)(hash >> 32);
	struct entry *entry;

	for (;; hash++) {
		entry = &run.table[hash & mask];
		if (entry->state == 0)
			break;
		if (entry->hash == half &&
		    memcmp(&run.states[entry->state - 1], state,
			sizeof *state) == 0)
			break;
	}
	entry->hash = half;
	return entry;
}

static void *
resized(void *old, size_t size)
{
	void *new = realloc(old, size);

	if (new == NULL) {
		perror("gate_check");
		exit(2);
	}
	return new;
}

static void
grow(void)
{
	uint32_t room = run.room == 0 ? 1 << 16 : 2 * run.room;
	size_t size = 2 * (size_t)room * sizeof *run.table;

	run.room = room;
	run.states = resized(run.states, room * sizeof *run.states);
	run.origins = resized(run.origins, room * sizeof *run.origins);
	run.table = resized(run.table, size);
	memset(run.table, 0, size);
	for (uint32_t i = 0; i < run.count; i++)
		place(&run.states[i])->state = i + 1;
}

static void
add(struct state *state)
{
	struct entry *entry;

	normalise(state);
	if (run.count == run.room)
		grow();
	entry = place(state);
	if (entry->state != 0)
		return;
	run.states[run.count] = *state;
	run.origins[run.count] = run.last;
	entry->state = ++run.count;
	if (run.wrong == NULL)
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
 * Whether it matters when somebody looked at the clock. Who enters has to keep
 * to one now; others use it for one thing only, and may be given any.
 */
static bool
timed(enum operation operation)
{
	return operation == ENTER || operation == TELL_ILL ||
	    operation == RENEW || operation == PROBED_ILL;
}

static void
happen(uint32_t from, int which, int what)
{
	struct actor was = run.states[from].actors[which];
	enum operation operation =
	    what < IDLE ? was.operation : (enum operation)what;
	int now = what != KILL && timed(operation) ? 0 : NOW, last = NOW;

	if (what == STEP && operation == ENTER)
		now = last = was.now;
	if (run.wrong != NULL)
		return;
	run.last = (struct origin){ from, (int8_t)what, (int8_t)operation };
	for (; now <= last && run.wrong == NULL; now++) {
		struct state next = run.states[from];
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
	struct state next = run.states[from];

	run.last = (struct origin){ from, CLOCK, IDLE };
	tick(&next);
	add(&next);
	for (int i = 0; i < ACTORS; i++)
		for (int what = KILL; what < OPERATIONS; what++)
			if (possible(&run.states[from].actors[i], what))
				happen(from, i, what);
}

static void
print_event(const struct origin *origin)
{
	if (origin->what == CLOCK)
		puts("\tthe clock goes on");
	else
		printf("\t%s: %s\n", names_of[origin->operation],
		    origin->what == KILL       ? "killed"
			: origin->what == STEP ? "next access"
					       : "begins");
}

/* What happened until then, the last first. */
static void
print_path(void)
{
	struct origin origin = run.last;

	printf("gate_check: %s; backwards:\n", run.wrong);
	for (;; origin = run.origins[origin.from]) {
		print_event(&origin);
		if (origin.from == 0)
			break;
	}
}

/* Explores a gate; true if nothing is wrong with it. */
static bool
sound(enum fault fault)
{
	struct state first;

	run.fault = fault;
	run.wrong = NULL;
	run.count = 0;
	if (run.room > 0)
		memset(run.table, 0, 2 * (size_t)run.room * sizeof *run.table);
	memset(&first, 0, sizeof first);
	first.gate.word = (uint64_t)SEQ << MS_BITS;
	first.gate.streak = streak_of(SEQ - 1, 0, 0);
	add(&first);
	for (uint32_t i = 0; i < run.count && run.wrong == NULL; i++)
		follow_up(i);
	return run.wrong == NULL;
}

int
main(void)
{
	uint32_t states;
	int caught = 0;

	if (!sound(SOUND)) {
		print_path();
		return EXIT_FAILURE;
	}
	states = run.count;
	for (int fault = SOUND + 1; fault < FAULTS; fault++) {
		if (sound((enum fault)fault))
			printf("gate_check: fault %d is not seen\n", fault);
		else
			caught++;
	}
	printf("gate_check: %u states, 0 violations; %d of %d broken gates "
	       "caught\n",
	    states, caught, FAULTS - 1);
	return caught == FAULTS - 1 ? EXIT_SUCCESS : EXIT_FAILURE;
}
