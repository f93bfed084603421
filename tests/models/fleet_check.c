/*
 * Covers budget/fleet_host.
 *
 * fleet_check [large]: tries every order of the steps of two processes of a host, or three, and
 * the server of their fleet.
 *
 * The processes use the code of src/budget/fleet_host.c itself. Each step is one access to a
 * word. The clock moves at any time; a process may use any time up to the present, because it was
 * stopped after it had read the clock; and it may be killed anywhere. The server grants all that
 * is wanted, denies it for far too long, or does not answer. The check verifies:
 *
 * - no more retries are made alone than the share, in any window;
 * - a valid lease is not taken away, or released by another process, unless a process has waited
 *   for as long as a question may take;
 * - nobody asks while a denial or the pause after no answer lasts that was stored before the last
 *   lease ended;
 * - an opening is not put off;
 * - nobody waits for longer than a question may take, and a denial holds for a window at most;
 *   from every state a process that comes then asks the server, whatever the others do;
 * - no success is told twice, and no retry made alone is marked as told that was not;
 * - no retry is paid back twice, and none that the server has not been told of.
 *
 * What the windows count is one step here: tests/models/window_check.c divides it.
 *
 * tests/models/broken breaks the host's code in many ways; each must be found.
 */
#include <err.h>
#include <string.h>
#define WINDOW_SLICES 2
#include "budget/window.c"
#include "explore.h"

/* A millisecond is a tick, and a slice: so a tick is an epoch. */
#define TICK NANOS_MS
#define FLEET_HOST_LOOK TICK
#define FLEET_HOST_PAUSE TICK
#define FLEET_HOST_PAUSE_MOST (2 * TICK)
/* A retry is paid back in its slice and the next one, and is told as soon. */
#define FLEET_HOST_RESCUE 2

#include "budget/fleet_host.h"

/* A withdrawal is one step here. */
static enum window_answer (*const whole_withdraw)(struct window *window, const struct terms *limits,
    int64_t epoch, struct window_sums *sums) = window_withdraw;

#include "accesses.h"

/* The host gets these in place of the windows. */
static enum window_answer withdraw(struct window *window, const struct terms *limits, int64_t epoch,
    struct window_sums *sums);
static nanos next_retry(const struct window *window, const struct terms *limits, nanos slice,
    nanos age, struct window_sums *sums);
static struct window_sums slice_of(const struct window *window, int64_t epoch);
#define window_withdraw withdraw
#define window_next next_retry
#define window_slice slice_of

#include "budget/fleet_host.c"

#define ACTORS 3

/* The most accesses of one operation, each loop passed once. */
#ifndef ACCESSES
#define ACCESSES 12
#endif

/* Epochs that a clock may reach. */
#define EPOCHS 6

#define SHARE 1
#define FACTOR_ONE (UINT64_C(1) << 63) /* the random factor is 1 */

/* With so many hosts, their first questions are spread over a tick. */
#define SPREADING (TICK / FLEET_HOST_SPREAD)

/* The server's clock when the segment was made; and so that the offset, which
 * is rounded up, is always the same. */
#define SERVER_TIME (1000 * NANOS_MS)

static const struct fleet_config config = { .timeout = TICK, .alone = SHARE };
static const struct fleet_caller usual = { .config = &config, .slice = TICK, .random = FACTOR_ONE };

enum operation {
	IDLE,
	ASK,
	WAIT, /* nothing: it sleeps */
	OUT, /* nothing: its question is at the server */
	SETTLE_GRANT,
	SETTLE_DENIAL,
	FAIL,
	DEPOSIT, /* a success */
	RETRY_ALONE,
	RESCUE, /* such a retry succeeds */
	CLAIM,
	SEND, /* nothing: it has claimed, and is about to send */
	TOLD,
	OPERATIONS,
};

static const char *const names_of[OPERATIONS] = { "nothing", "ask", "wait", "question",
	"settle a grant", "settle a denial", "fail", "deposit", "retry alone", "rescue", "claim",
	"send", "told" };

/* What is accessed. */
enum place {
	DIRECTLY, /* the check sees to it that this word never changes */
	LEASE,
	DENIED,
	OPENING,
	SILENCE,
	TOLD_MARK,
	ALONE_TOLD,
	ALONE_WINDOW,
	SLICE,
};

/* States are compared as bytes, so there must be no padding. */
struct actor {
	uint64_t seen[ACCESSES]; /* the results of its accesses so far */
	uint64_t lease; /* of its question */
	uint64_t alone, alone_next; /* marks of its tally */
	uint8_t places[ACCESSES]; /* of the accesses */
	uint16_t swapped, failed; /* a bit for each access: a swap */
	uint8_t operation, accesses;
	uint8_t now; /* when it read the clock last, in ticks */
	uint8_t left; /* operations after this one */
	uint8_t asked; /* its question */
	uint8_t waits, since, began; /* began: as the check knows */
	uint8_t excused; /* an answer was stored whose lease had ended */
	uint8_t epoch; /* in which it made a retry alone, + 1 */
	uint8_t successes[EPOCHS], retries[EPOCHS]; /* its tally */
	uint8_t rescued[EPOCHS];
	uint8_t spare[4];
};

struct state {
	struct fleet_host host;
	struct window window;
	struct actor actors[ACTORS];
	uint8_t clock; /* in ticks */
	uint8_t down; /* until when nobody should ask, after a failure */
	uint8_t alone[EPOCHS];
	uint8_t deposited[EPOCHS], told[EPOCHS]; /* successes */
	uint8_t made[EPOCHS], sent[EPOCHS]; /* retries made alone */
	uint8_t open[EPOCHS]; /* those that have not succeeded */
	uint8_t rescued[EPOCHS], paid[EPOCHS]; /* noted, and paid back */
	uint8_t spare[6];
};

/* What the processes may do, and how it begins. */
struct trial {
	bool answers; /* two processes have questions at the server */
	bool tells; /* successes are told; nobody asks */
	uint8_t hosts; /* of the fleet */
	uint8_t last; /* tick; 0 in the row after all */
	uint8_t left[ACTORS]; /* operations of each process */
};

static const struct trial small[] = {
	{ false, false, 1, 2, { 0, 1, 1 } },
	{ false, false, SPREADING, 2, { 0, 1, 1 } },
	{ true, false, 1, 1, { 0, 0, 1 } },
	{ false, true, 1, 2, { 0, 2, 2 } },
	{ false, true, 1, 3, { 0, 1, 2 } },
	{ .last = 0 },
};

static const struct trial larger[] = {
	{ false, false, 1, 4, { 0, 1, 1 } },
	{ false, false, 1, 2, { 0, 1, 2 } },
	{ false, false, 1, 1, { 1, 1, 1 } },
	{ false, false, SPREADING, 4, { 0, 1, 1 } },
	{ false, false, SPREADING, 1, { 1, 1, 1 } },
	{ true, false, 1, 1, { 0, 1, 1 } },
	{ false, true, 1, 4, { 0, 2, 2 } },
	{ false, true, 1, 3, { 1, 1, 2 } },
	{ .last = 0 },
};

static struct {
	const struct trial *trial;
	struct state *state; /* NULL: accesses are made without the check */
	struct actor *actor;
	int access; /* the number of the next one */
} run;

static nanos clock_of(int tick) { return tick * TICK; }

/* Accesses */

static enum place place_of(const _Atomic uint64_t *at) {
	static const struct fleet_host none;
	const struct fleet_host *host = run.state == NULL ? &none : &run.state->host;
	const _Atomic uint64_t *const words[] = {
		[LEASE] = &host->lease,
		[DENIED] = &host->denied,
		[OPENING] = &host->opening,
		[SILENCE] = &host->silence,
		[TOLD_MARK] = &host->told,
		[ALONE_TOLD] = &host->alone_told,
	};
	enum place place = ALONE_TOLD;

	while (place != DIRECTLY && words[place] != at) place--;
	return place;
}

/* Forgets the accesses from one on. */
static void forget(struct actor *actor, int from) {
	for (int i = from; i < actor->accesses; i++) {
		actor->seen[i] = 0;
		actor->places[i] = 0;
	}
	actor->accesses = (uint8_t)from;
	actor->swapped &= (uint16_t)((1U << from) - 1);
	actor->failed &= (uint16_t)((1U << from) - 1);
}

/* After a lost race, a loop begins anew with the word that it read first. */
static void go_round(enum place place) {
	struct actor *actor = run.actor;
	int first = run.access - 2;

	if (first < 0 || (actor->failed >> (first + 1) & 1) == 0)
		return;
	while (first >= 0 && actor->places[first] != place) first--;
	if (first < 0)
		return;
	forget(actor, actor->operation == ASK ? 0 : first);
	explore_leave();
}

/*
 * True if the next access was made in an earlier step. If not, it is made now,
 * or left for a later step.
 */
static bool replayed(enum place place) {
	struct actor *actor = run.actor;

	if (run.access < actor->accesses)
		return true;
	explore_access();
	if (run.access == ACCESSES)
		errx(2, "ACCESSES is too small");
	actor->places[run.access] = (uint8_t)place;
	actor->accesses++;
	return false;
}

static uint64_t read_word(const _Atomic uint64_t *at, enum place place) {
	if (!replayed(place))
		run.actor->seen[run.access] = *at;
	return run.actor->seen[run.access++];
}

static uint64_t load(const _Atomic uint64_t *at) {
	enum place place = place_of(at);

	if (place == DIRECTLY)
		return *at;
	go_round(place);
	return read_word(at, place);
}

/* What must hold of a change */

/*
 * An answer is stored. If another process has taken its lease, or can take it,
 * that process need not see the answer.
 */
static void excuse_others(struct state *state, const struct actor *actor) {
	for (int i = 0; i < actor->accesses; i++)
		if (actor->places[i] == LEASE && (actor->swapped >> i & 1) != 0)
			return; /* it has released the lease itself */
	/* Its lease is still in force. */
	if (state->host.lease == actor->lease &&
	    instant_of(state->host.lease) > clock_of(state->clock))
		return;
	for (int i = 0; i < ACTORS; i++)
		if (state->actors[i].operation == ASK)
			state->actors[i].excused = true;
}

static void judge_question(const struct state *state, const struct actor *actor, uint64_t old) {
	nanos now = clock_of(actor->now);
	bool patient = actor->waits && now - clock_of(actor->since) >= config.timeout;

	explore_expect(instant_of(old) <= now || patient, "a valid lease is taken away");
	if (actor->excused || instant_of(old) > now)
		return;
	explore_expect(left_of(state->host.denied, window_length(TICK), now) == 0,
	    "a question while retries are denied");
	explore_expect(actor->now >= state->down, "a question while the host is alone");
}

static void
judge_lease(const struct state *state, const struct actor *actor, uint64_t old, uint64_t new) {
	if (actor->operation == ASK)
		judge_question(state, actor, old);
	else
		explore_expect(old == actor->lease && new >> UNTIL_BITS == old >> UNTIL_BITS,
		    "the lease of another process is released");
}

static void judge_change(struct state *state, struct actor *actor, enum place place, uint64_t old,
    uint64_t new) {
	nanos most = window_length(TICK);

	switch (place) {
	case LEASE: judge_lease(state, actor, old, new); break;
	case DENIED:
		explore_expect(instant_of(new) - clock_of(actor->now) <= most,
		    "denied for more than a window");
		excuse_others(state, actor);
		break;
	case OPENING:
		explore_expect(instant_of(old) <= clock_of(actor->now), "an opening is put off");
		explore_expect(instant_of(new) <= clock_of(actor->now + 1), "a late opening");
		break;
	case SILENCE:
		excuse_others(state, actor);
		state->down = new == 0 ? 0 : (uint8_t)(actor->now + 1);
		for (int i = 0; i < ACTORS; i++)
			if (&state->actors[i] != actor && state->actors[i].operation == FAIL)
				state->actors[i].excused = true;
		break;
	default: break;
	}
}

static bool exchange(_Atomic uint64_t *at, uint64_t *expected, uint64_t desired) {
	enum place place = place_of(at);
	struct actor *actor = run.actor;
	uint64_t old = *at, wanted = *expected;
	bool swapped;

	if (place == DIRECTLY) {
		*expected = old;
		if (old == wanted)
			*at = desired;
		return old == wanted;
	}
	if (!replayed(place)) {
		actor->seen[run.access] = old;
		if (old == wanted) {
			actor->swapped |= (uint16_t)(1U << run.access);
			judge_change(run.state, actor, place, old, desired);
			*at = desired;
		} else {
			actor->failed |= (uint16_t)(1U << run.access);
		}
	}
	*expected = actor->seen[run.access];
	swapped = (actor->failed >> run.access & 1) == 0;
	run.access++;
	return swapped;
}

/* The epoch in which a window has counted, since it was as before. */
static int64_t counted_in(const struct window *before, const struct window *window) {
	for (int i = 0; i < WINDOW_WORDS; i++) {
		uint64_t old = before->words[i], new = window->words[i];
		uint64_t was = word_at(epoch_of(new), old);

		if (retries_of(new) > retries_of(was) || successes_of(new) > successes_of(was))
			return epoch_of(new);
	}
	errx(2, "nothing was counted");
}

/* The epoch in which the retry was granted is kept, too. */
static enum window_answer withdraw(struct window *window, const struct terms *limits, int64_t epoch,
    struct window_sums *sums) {
	struct actor *actor = run.actor;
	struct window before = *window;
	enum window_answer answer;

	*sums = (struct window_sums){ .retries = 0 };
	if (run.state == NULL)
		return whole_withdraw(window, limits, epoch, sums);
	if (!replayed(ALONE_WINDOW)) {
		answer = whole_withdraw(window, limits, epoch, sums);
		actor->seen[run.access] = answer;
		if (answer == WINDOW_GRANTED)
			actor->epoch = (uint8_t)(counted_in(&before, window) + 1);
	}
	return (enum window_answer)actor->seen[run.access++];
}

/* Nothing depends on it but how long a process waits. */
static nanos next_retry(const struct window *window, const struct terms *limits, nanos slice,
    nanos age, struct window_sums *sums) {
	(void)window;
	(void)limits;
	(void)age;
	*sums = (struct window_sums){ .retries = 0 };
	return slice;
}

static struct window_sums slice_of(const struct window *window, int64_t epoch) {
	const _Atomic uint64_t *at = &window->words[index_of(epoch)];
	uint64_t word = word_at(epoch, read_word(at, SLICE));

	return (struct window_sums){ .retries = retries_of(word), .successes = successes_of(word) };
}

/* Operations */

/* The caller whose question is at the server. */
static struct fleet_caller caller_of(const struct actor *actor) {
	struct fleet_caller caller = usual;

	caller.question = (struct fleet_question){
		.lease = actor->lease, .asked = clock_of(actor->asked), .wants = true
	};
	return caller;
}

/* Ends an operation; what follows it is the next one. */
static void become(struct actor *actor, enum operation next) {
	forget(actor, 0);
	actor->operation = (uint8_t)next;
	actor->excused = actor->epoch = 0;
	if (next != WAIT)
		actor->waits = actor->since = actor->began = 0;
	if (next != OUT)
		actor->lease = actor->asked = 0;
	if (next == SEND || next == TOLD)
		return;
	actor->alone = actor->alone_next = 0;
	memset(actor->successes, 0, sizeof actor->successes);
	memset(actor->retries, 0, sizeof actor->retries);
	memset(actor->rescued, 0, sizeof actor->rescued);
	if (next == IDLE)
		actor->now = 0;
}

static void end_of_wait(struct actor *actor, const struct fleet_caller *caller) {
	int began = actor->began > 0 ? actor->began - 1 : actor->now;
	bool opens = memchr(actor->places, OPENING, ACCESSES) != NULL;

	explore_expect(opens || clock_of(actor->now - began) < config.timeout,
	    "waits for longer than a question takes");
	become(actor, WAIT);
	actor->waits = caller->waits;
	actor->since = (uint8_t)(caller->since / TICK);
	actor->began = (uint8_t)(caller->waits ? began + 1 : 0);
}

static void ask(struct state *state, struct actor *actor) {
	struct fleet_caller caller = usual;
	struct host_step step;

	caller.waits = actor->waits;
	caller.since = clock_of(actor->since);
	step = decide(&state->host, &caller, clock_of(actor->now));
	switch (step.decision) {
	case HOST_WAIT: end_of_wait(actor, &caller); return;
	case HOST_ASK:
		become(actor, OUT);
		actor->lease = caller.question.lease;
		actor->asked = actor->now;
		return;
	case HOST_ALONE: state->alone[actor->epoch > 0 ? actor->epoch - 1 : actor->now]++; break;
	case HOST_DENIED: break;
	case HOST_UNASKED:
	case HOST_GRANTED: explore_wrong("nothing is decided"); break;
	}
	become(actor, IDLE);
}

static void settle(struct state *state, struct actor *actor) {
	bool granted = actor->operation == SETTLE_GRANT;
	struct fleet_caller caller = caller_of(actor);
	struct fleet_answer answer = { .pause = NANOS_DAY };
	nanos now = clock_of(actor->now);

	answer.now = SERVER_TIME + caller.question.asked;
	answer.hosts = run.trial->hosts;
	answer.code = granted ? FLEET_GRANTED : FLEET_DENIED;
	fleet_host_store(&state->host, &caller, &answer, now);
	become(actor, IDLE);
}

static void fail(struct state *state, struct actor *actor) {
	const struct fleet_answer silent = { .code = FLEET_SILENT };
	struct fleet_caller caller = caller_of(actor);
	nanos now = clock_of(actor->now);

	fleet_host_store(&state->host, &caller, &silent, now);
	explore_expect(actor->excused || left_of(state->host.silence, LONGEST, now) > 0,
	    "the host is not alone after a failure");
	become(actor, WAIT);
}

/* The successes of a row are counted in the slice that its age tells. */
static void claim(struct state *state, struct actor *actor) {
	const nanos until = clock_of(100);
	struct fleet_caller caller = usual;
	const struct fleet_question *tally = &caller.question;

	caller.question.until = until;
	claim_untold(&state->host, &state->window, &caller, clock_of(actor->now));
	become(actor, SEND);
	actor->alone = tally->alone_was;
	actor->alone_next = tally->alone;
	for (size_t i = 0; i < tally->count; i++) {
		const struct fleet_row *row = &tally->told[i];
		int64_t epoch = (until - row->age) / TICK;

		actor->successes[epoch] = (uint8_t)row->successes;
		actor->retries[epoch] = (uint8_t)row->alone;
		actor->rescued[epoch] = (uint8_t)row->rescued;
	}
}

/* The server gets a tally. */
static void send_tally(struct state *state, struct actor *actor) {
	for (int i = 0; i < EPOCHS; i++) {
		int before = i == marked(actor->alone) ? (int)(actor->alone & UINT32_MAX) : 0;
		int sent = actor->retries[i] + before;

		state->told[i] = (uint8_t)(state->told[i] + actor->successes[i]);
		if (i > state->clock - FLEET_HOST_RESCUE)
			state->paid[i] = (uint8_t)(state->paid[i] + actor->rescued[i]);
		if (actor->retries[i] > 0 && sent > state->sent[i])
			state->sent[i] = (uint8_t)sent;
	}
	become(actor, TOLD);
}

/* The oldest retry that may be paid back has succeeded. */
static void rescue(struct state *state, int now) {
	struct window before = state->host.alone;
	struct fleet_caller caller = usual;
	int made = now - FLEET_HOST_RESCUE + 1 > 0 ? now - FLEET_HOST_RESCUE + 1 : 0;

	while (made < now && state->open[made] == 0) made++;
	if (state->open[made] == 0)
		return;
	state->open[made]--;
	caller.asked = clock_of(made);
	fleet_host_rescue(&state->host, &caller, clock_of(now));
	if (memcmp(&before, &state->host.alone, sizeof before) != 0)
		state->rescued[counted_in(&before, &state->host.alone)]++;
}

void check_operate(struct state *state, struct actor *actor) {
	static const struct terms many = { 0, EPOCHS, 0 };
	const struct fleet_answer sent = { .code = FLEET_SENT };
	struct fleet_caller caller = usual;
	const int epoch = actor->now;
	struct window before;
	struct window_sums sums;

	switch (actor->operation) {
	case ASK: ask(state, actor); return;
	case SETTLE_GRANT:
	case SETTLE_DENIAL: settle(state, actor); return;
	case FAIL: fail(state, actor); return;
	case CLAIM: claim(state, actor); return;
	case SEND: send_tally(state, actor); return;
	case DEPOSIT:
		before = state->window;
		if (window_deposit(&state->window, epoch) == WINDOW_GRANTED)
			state->deposited[counted_in(&before, &state->window)]++;
		break;
	case RETRY_ALONE:
		before = state->host.alone;
		if (whole_withdraw(&state->host.alone, &many, epoch, &sums) == WINDOW_GRANTED) {
			state->made[counted_in(&before, &state->host.alone)]++;
			state->open[counted_in(&before, &state->host.alone)]++;
		}
		break;
	case RESCUE: rescue(state, epoch); break;
	case TOLD:
		caller.question.alone_was = actor->alone;
		caller.question.alone = actor->alone_next;
		fleet_host_store(&state->host, &caller, &sent, 0);
		break;
	}
	become(actor, IDLE);
}

/* Steps */

void check_make(struct state *state, int who, int what, int now) {
	struct actor *actor = &state->actors[who];

	if (what == EXPLORE_CLOCK) {
		state->clock++;
	} else if (what == EXPLORE_KILL) {
		become(actor, IDLE);
	} else {
		if (what > IDLE) {
			if (actor->operation == IDLE)
				actor->left--;
			actor->operation = (uint8_t)what;
			actor->now = (uint8_t)now;
		}
		run.state = state;
		run.actor = actor;
		run.access = 0;
		explore_operate(state, actor);
		run.state = NULL;
	}
}

/* A process that comes now, when the others have stopped, gets an answer. */
static void come_late(const struct state *state) {
	struct fleet_host host = state->host;
	struct fleet_caller caller = usual;
	nanos now = clock_of(state->clock);
	nanos last = now + clock_of(WINDOW_SLICES + 4);
	struct host_step step = { .decision = HOST_WAIT };

	while (now <= last && (step.decision == HOST_WAIT || step.decision == HOST_DENIED)) {
		step = decide(&host, &caller, now);
		now += number_greater(step.next, TICK);
	}
	explore_expect(now <= last, "stuck");
	host = state->host;
	caller.waits = false;
	now = clock_of(state->clock + 2 * WINDOW_SLICES);
	step = decide(&host, &caller, now);
	if (step.decision == HOST_WAIT) /* for the opening */
		step = decide(&host, &caller, now + step.next);
	explore_expect(step.decision == HOST_ASK, "something does not end");
}

/* Verifies what must hold in each state. */
void check_examine(const struct state *state) {
	uint64_t mark = state->host.alone_told;
	int sent = 0, paid = 0;

	for (int i = 0; i < EPOCHS; i++) {
		int known = i < marked(mark) ? state->made[i]
		    : i == marked(mark)      ? (int)(mark & UINT32_MAX)
					     : 0;
		int alone = 0;

		for (int j = i; j >= 0 && j >= i - WINDOW_SLICES; j--) alone += state->alone[j];
		explore_expect(alone <= SHARE, "too many retries alone");
		explore_expect(state->told[i] <= state->deposited[i], "a success is told twice");
		explore_expect(state->paid[i] <= state->rescued[i], "a retry is paid back twice");
		sent += state->sent[i];
		paid += state->paid[i];
		explore_expect(known <= state->sent[i] || i < state->clock - WINDOW_SLICES,
		    "a retry made alone is not told");
	}
	explore_expect(paid <= sent, "a retry is paid back that is not told");
	if (!run.trial->tells)
		come_late(state);
}

void check_normalise(struct state *state) { explore_sort(state->actors, ACTORS); }

/*
 * A process that deposits or makes a retry may begin with an earlier time. The other operations
 * read the clock when they begin, and may be stopped after their first access.
 */
bool check_may(const struct state *state, int who, int what, int *first, int *last) {
	const struct actor *actor = &state->actors[who];
	enum operation operation = actor->operation;
	bool begins = operation == IDLE && actor->left > 0;

	*first = *last = state->clock;
	switch (what) {
	case EXPLORE_CLOCK: return state->clock < run.trial->last;
	case EXPLORE_KILL:
		/* A process that stops for ever is like a killed one. */
		return operation != IDLE && actor->left > 0;
	case EXPLORE_STEP: return operation != IDLE && operation != WAIT && operation != OUT;
	case ASK: return operation == WAIT || (begins && !run.trial->tells);
	case SETTLE_GRANT:
	case SETTLE_DENIAL:
	case FAIL: return operation == OUT;
	case DEPOSIT:
	case RETRY_ALONE: *first = 0; return begins && run.trial->tells;
	case RESCUE:
		*first = 0;
		return begins && memcmp(state->open, (uint8_t[EPOCHS]){ 0 }, EPOCHS) != 0;
	case CLAIM: return begins && run.trial->tells;
	default: return false;
	}
}

/* The words that never change are as all answers make them. */
bool check_begin(struct state *first, int number, bool large) {
	const struct trial *trial = large ? &larger[number] : &small[number];
	struct fleet_answer answer = {
		.code = FLEET_NOTED, .now = SERVER_TIME, .hosts = trial->hosts
	};
	struct fleet_caller caller = usual;

	run.trial = trial;
	fleet_host_store(&first->host, &caller, &answer, 0);
	first->host.counted = 3;
	for (int i = 0; i < ACTORS; i++) first->actors[i].left = trial->left[i];
	/* Two answers at once: another process has taken the lease of the first one. */
	for (int i = 0; i < 2 && trial->answers; i++) {
		struct actor *actor = &first->actors[ACTORS - 1 - i];

		actor->operation = OUT;
		actor->lease = (uint64_t)(i + 1) << UNTIL_BITS | until_of(2 * TICK);
		first->host.lease = actor->lease;
	}
	return trial->last > 0;
}

EXPLORER("fleet_check");
