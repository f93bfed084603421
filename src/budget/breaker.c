#include "budget/breaker.h"

#include "text/number.h"
#include "budget/ramp.h"

#define MS_BITS 40
#define SEQ_BITS 22

/* The model check has fewer. */
#ifndef FAILURE_BITS
#define FAILURE_BITS 32
#define DOUBLING_BITS 10
#endif

/* What holds for longer than this is nonsense. */
#define LONGEST (GATE_PAUSE_MOST + NANOS_MINUTE)

#define MOST(bits) ((UINT64_C(1) << (bits)) - 1)

static enum gate_state
state_of(uint64_t word)
{
	return (enum gate_state)(word >> (SEQ_BITS + MS_BITS));
}

/* Whether attempts begin that are no probe. */
static bool
admits(uint64_t word)
{
	return state_of(word) == GATE_CLOSED ||
	    state_of(word) == GATE_RECOVERING;
}

static uint64_t
seq_of(uint64_t word)
{
	return word >> MS_BITS & MOST(SEQ_BITS);
}

/* What comes after a word; until, rounded up, is what ms says. */
static uint64_t
follow(uint64_t word, enum gate_state state, nanos until)
{
	uint64_t seq = (seq_of(word) + 1) & MOST(SEQ_BITS);
	uint64_t ms = (uint64_t)(until / NANOS_MS + (until % NANOS_MS > 0));

	if (ms > MOST(MS_BITS))
		ms = MOST(MS_BITS);
	return (uint64_t)state << (SEQ_BITS + MS_BITS) | seq << MS_BITS | ms;
}

/* The instant in a word. */
static nanos
instant_of(uint64_t word)
{
	return (nanos)(word & MOST(MS_BITS)) * NANOS_MS;
}

/*
 * Whether it is nonsense that must not hold anybody: longer until then than
 * any pause. That goes for a lease too: a shorter bound would make somebody who
 * was stopped with an old now in hand take one that is good.
 */
static bool
absurd(uint64_t word, nanos now)
{
	return instant_of(word) - now > LONGEST;
}

/* Until a pause or a lease is over, 0 if it is. */
static nanos
remaining(uint64_t word, nanos now)
{
	nanos until = instant_of(word);

	return until <= now || absurd(word, now) ? 0 : until - now;
}

/* When the last recovery began. */
static nanos
since(uint64_t word, nanos now)
{
	return absurd(word, now) ? 0 : instant_of(word);
}

/* How far a recovery is. */
static struct pace
pace_of(uint64_t word, uint64_t rate, nanos now)
{
	struct pace pace = pace_read(rate, instant_of(word), now);

	if (absurd(word, now))
		pace.over = true;
	return pace;
}

/* The commit point of everything: only if word is still what stands there. */
static bool
change(struct gate *gate, uint64_t word, enum gate_state state, nanos until)
{
	uint64_t next = follow(word, state, until);

	return atomic_compare_exchange_strong(&gate->word, &word, next);
}

static uint64_t
streak_of(uint64_t seq, uint64_t doublings, uint64_t failures)
{
	return seq << (DOUBLING_BITS + FAILURE_BITS) |
	    doublings << FAILURE_BITS | failures;
}

static uint64_t
streak_seq(uint64_t streak)
{
	return streak >> (DOUBLING_BITS + FAILURE_BITS);
}

static uint64_t
doublings_of(uint64_t streak)
{
	return streak >> FAILURE_BITS & MOST(DOUBLING_BITS);
}

/*
 * The failures that count under a word. Whatever lets attempts in again, or
 * ends a streak, changes the word, and the old streak is void by that alone.
 * While none are let in, the streak is the one that opened the gate.
 */
static uint64_t
failures_of(uint64_t streak, uint64_t word)
{
	if (admits(word) && streak_seq(streak) != seq_of(word))
		return 0;
	return streak & MOST(FAILURE_BITS);
}

static uint64_t
one_more(uint64_t count, int bits)
{
	return count < MOST(bits) ? count + 1 : count;
}

/* For how long it opens, having been doubled so often. */
static nanos
pause_of(const struct breaker *breaker, uint64_t doublings)
{
	nanos pause = breaker->pause;

	for (; doublings > 0 && pause < breaker->most; doublings--)
		pause = pause > breaker->most / 2 ? breaker->most : 2 * pause;
	return pause > GATE_PAUSE_MOST ? GATE_PAUSE_MOST : pause;
}

/* The two words of which most is made. */
struct reading {
	uint64_t rate, word;
};

/*
 * The rate before the word: so it cannot be of a later recovery than the word
 * is, and who swaps it has lost nothing of one.
 */
static struct reading
read_gate(const struct gate *gate)
{
	struct reading reading = { .rate = atomic_load(&gate->rate) };

	reading.word = atomic_load(&gate->word);
	return reading;
}

static struct gate_view
view_of(const struct gate *gate, struct reading reading, nanos now)
{
	uint64_t word = reading.word;
	uint64_t streak = atomic_load(&gate->streak);
	struct gate_view view = { .state = state_of(word),
		.failures = (int64_t)failures_of(streak, word) };
	struct pace pace;

	if (!admits(word))
		view.next = remaining(word, now);
	if (view.state != GATE_RECOVERING)
		return view;
	pace = pace_of(word, reading.rate, now);
	if (pace.over) {
		view.state = GATE_CLOSED;
	} else {
		view.next = pace_next(&pace, now);
		view.rate = pace.rate * NANOS_SECOND / PACE_STEP;
	}
	return view;
}

struct gate_view
gate_look(const struct gate *gate, nanos now)
{
	return view_of(gate, read_gate(gate), now);
}

/* The lease of a probe that is due. GATE_HELD: somebody else changed it. */
static enum gate_pass
take_lease(struct gate *gate, uint64_t word, uint64_t *lease, nanos now)
{
	nanos until = number_add(now, GATE_LEASE);

	if (!change(gate, word, GATE_HALF_OPEN, until))
		return GATE_HELD;
	*lease = follow(word, GATE_HALF_OPEN, until);
	return GATE_PROBE;
}

/*
 * One more of those who are let in while it recovers. Where that is over, it
 * is closed, and passed as a closed one. GATE_HELD: somebody else changed it.
 */
static enum gate_pass
take_turn(struct gate *gate, struct reading seen, nanos now)
{
	struct pace pace = pace_of(seen.word, seen.rate, now);

	if (pace.over)
		return change(
			   gate, seen.word, GATE_CLOSED, since(seen.word, now))
		    ? GATE_PASSED
		    : GATE_HELD;
	pace_take(&pace);
	return atomic_compare_exchange_strong(
		   &gate->rate, &seen.rate, pace_word(&pace))
	    ? GATE_TURN
	    : GATE_HELD;
}

enum gate_pass
gate_enter(
    struct gate *gate, nanos now, uint64_t *lease, struct gate_view *view)
{
	struct reading seen;
	enum gate_pass pass;

	*lease = 0;
	do {
		seen = read_gate(gate);
		*view = view_of(gate, seen, now);
		if (state_of(seen.word) == GATE_CLOSED)
			return GATE_PASSED;
		if (view->next > 0)
			return GATE_HELD;
		pass = state_of(seen.word) == GATE_RECOVERING
		    ? take_turn(gate, seen, now)
		    : take_lease(gate, seen.word, lease, now);
	} while (pass == GATE_HELD);
	return pass;
}

bool
gate_renew(struct gate *gate, uint64_t *lease, nanos now)
{
	nanos until = number_add(now, GATE_LEASE);

	if (*lease != 0 && change(gate, *lease, GATE_HALF_OPEN, until)) {
		*lease = follow(*lease, GATE_HALF_OPEN, until);
		return true;
	}
	*lease = 0;
	return false;
}

/* An attempt without a lease, when it has ended. */
struct ended {
	bool succeeded;
	nanos began, now;
};

/* Whether it began before the last recovery did: then it is no news. */
static bool
is_old(uint64_t word, const struct ended *ended)
{
	return ended->began < since(word, ended->now);
}

/*
 * What its end means for the pace, if the gate recovers. False: that has grown,
 * and so nothing is to be opened.
 */
static bool
tell_pace(struct gate *gate, const struct ended *ended)
{
	struct reading seen;
	struct pace pace;
	bool slow;

	do {
		seen = read_gate(gate);
		if (state_of(seen.word) != GATE_RECOVERING ||
		    is_old(seen.word, ended))
			return true;
		pace = pace_of(seen.word, seen.rate, ended->now);
		if (pace.over)
			return true;
		slow = pace.rate <= PACE_FIRST;
		if (ended->succeeded)
			pace_succeed(&pace);
		else
			pace_fail(&pace);
	} while (!atomic_compare_exchange_strong(
	    &gate->rate, &seen.rate, pace_word(&pace)));
	return slow;
}

/*
 * A success. What ends the streak is a write to the gate's word: that also
 * stops whoever has seen the streak and is about to open. Where there is no
 * streak nothing is written, or successes would fight for the cache line.
 */
static void
tell_success(struct gate *gate, const struct ended *ended)
{
	uint64_t streak, word;

	tell_pace(gate, ended);
	streak = atomic_load(&gate->streak);
	word = atomic_load(&gate->word);
	if (admits(word) && failures_of(streak, word) > 0 &&
	    !is_old(word, ended))
		change(gate, word, state_of(word), instant_of(word));
}

/*
 * One more failure. The streak is read before the word: so it cannot be of a
 * later time than the word, and what is written over it is never news.
 * Whoever dies between the writes leaves a streak that the next one opens with.
 */
static void
tell_failure(
    struct gate *gate, const struct breaker *breaker, const struct ended *ended)
{
	bool slow = tell_pace(gate, ended);
	uint64_t streak = atomic_load(&gate->streak);
	uint64_t word, failures;
	nanos until = number_add(ended->now, pause_of(breaker, 0));

	do {
		word = atomic_load(&gate->word);
		if (!admits(word) || is_old(word, ended))
			return;
		failures = one_more(failures_of(streak, word), FAILURE_BITS);
	} while (!atomic_compare_exchange_strong(
	    &gate->streak, &streak, streak_of(seq_of(word), 0, failures)));
	if (breaker->failures > 0 && (int64_t)failures >= breaker->failures &&
	    slow)
		change(gate, word, GATE_OPEN, until);
}

void
gate_tell(struct gate *gate, const struct breaker *breaker, enum gate_news news,
    bool succeeded, nanos began, nanos now)
{
	const struct ended ended = { succeeded, began, now };

	if (news == GATE_ILL)
		tell_failure(gate, breaker, &ended);
	else if (news == GATE_WELL && succeeded)
		tell_success(gate, &ended);
}

/*
 * A probe's failure. The word comes first, so that nothing at all happens
 * without the lease; whoever dies before the streak has it makes the next
 * pause as long as this one.
 */
static void
probed_ill(
    struct gate *gate, const struct breaker *breaker, uint64_t lease, nanos now)
{
	uint64_t streak = atomic_load(&gate->streak), seq = streak_seq(streak);
	uint64_t doublings = one_more(doublings_of(streak), DOUBLING_BITS);
	uint64_t failures, next;
	nanos until = number_add(now, pause_of(breaker, doublings));

	if (!change(gate, lease, GATE_OPEN, until))
		return;
	/* Until then, late failures of the same streak may come between. */
	do {
		doublings = one_more(doublings_of(streak), DOUBLING_BITS);
		failures = streak & MOST(FAILURE_BITS);
		next =
		    streak_of(seq, doublings, one_more(failures, FAILURE_BITS));
	} while (
	    !atomic_compare_exchange_strong(&gate->streak, &streak, next) &&
	    streak_seq(streak) == seq);
}

void
gate_probed(struct gate *gate, const struct breaker *breaker,
    enum gate_news news, uint64_t lease, nanos now)
{
	if (lease == 0)
		return;
	switch (news) {
	case GATE_WELL:
		/* Not a millisecond later: the first are let in at once. */
		change(gate, lease, GATE_RECOVERING, now - now % NANOS_MS);
		break;
	case GATE_ILL:
		probed_ill(gate, breaker, lease, now);
		break;
	case GATE_NO_NEWS:
		change(gate, lease, GATE_OPEN, 0);
		break;
	}
}
