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
#define LONGEST (BREAKER_PAUSE_MOST + NANOS_MINUTE)

#define MOST(bits) ((UINT64_C(1) << (bits)) - 1)

static enum breaker_state
state_of(uint64_t word)
{
	return (enum breaker_state)(word >> (SEQ_BITS + MS_BITS));
}

/* Whether attempts begin that are no probe. */
static bool
admits(uint64_t word)
{
	return state_of(word) == BREAKER_CLOSED ||
	    state_of(word) == BREAKER_RECOVERING;
}

static uint64_t
seq_of(uint64_t word)
{
	return word >> MS_BITS & MOST(SEQ_BITS);
}

/* What comes after a word; until, rounded up, is what ms says. */
static uint64_t
follow(uint64_t word, enum breaker_state state, nanos until)
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
static struct ramp
pace_of(uint64_t word, uint64_t rate, nanos now)
{
	struct ramp ramp = ramp_read(rate, instant_of(word), now);

	if (absurd(word, now))
		ramp.over = true;
	return ramp;
}

/* The commit point of everything: only if word is still what stands there. */
static bool
change(struct breaker *breaker, uint64_t word, enum breaker_state state,
    nanos until)
{
	uint64_t next = follow(word, state, until);

	return atomic_compare_exchange_strong(&breaker->word, &word, next);
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
pause_of(const struct breaker_config *config, uint64_t doublings)
{
	nanos pause = config->pause;

	for (; doublings > 0 && pause < config->most; doublings--)
		pause = pause > config->most / 2 ? config->most : 2 * pause;
	return pause > BREAKER_PAUSE_MOST ? BREAKER_PAUSE_MOST : pause;
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
read_gate(const struct breaker *breaker)
{
	struct reading reading = { .rate = atomic_load(&breaker->rate) };

	reading.word = atomic_load(&breaker->word);
	return reading;
}

static struct breaker_view
view_of(const struct breaker *breaker, struct reading reading, nanos now)
{
	uint64_t word = reading.word;
	uint64_t streak = atomic_load(&breaker->streak);
	struct breaker_view view = { .state = state_of(word),
		.failures = (int64_t)failures_of(streak, word) };
	struct ramp ramp;

	if (!admits(word))
		view.next = remaining(word, now);
	if (view.state != BREAKER_RECOVERING)
		return view;
	ramp = pace_of(word, reading.rate, now);
	if (ramp.over) {
		view.state = BREAKER_CLOSED;
	} else {
		view.next = ramp_next(&ramp, now);
		view.rate = ramp.rate * NANOS_SECOND / RAMP_STEP;
	}
	return view;
}

struct breaker_view
breaker_look(const struct breaker *breaker, nanos now)
{
	return view_of(breaker, read_gate(breaker), now);
}

/* The lease of a probe that is due. BREAKER_HELD: somebody else changed it. */
static enum breaker_pass
take_lease(struct breaker *breaker, uint64_t word, uint64_t *lease, nanos now)
{
	nanos until = number_add(now, BREAKER_LEASE);

	if (!change(breaker, word, BREAKER_HALF_OPEN, until))
		return BREAKER_HELD;
	*lease = follow(word, BREAKER_HALF_OPEN, until);
	return BREAKER_PROBE;
}

/*
 * One more of those who are let in while it recovers. Where that is over, it
 * is closed, and passed as a closed one. BREAKER_HELD: somebody else changed
 * it.
 */
static enum breaker_pass
take_turn(struct breaker *breaker, struct reading seen, nanos now)
{
	struct ramp ramp = pace_of(seen.word, seen.rate, now);

	if (ramp.over)
		return change(breaker, seen.word, BREAKER_CLOSED,
			   since(seen.word, now))
		    ? BREAKER_PASSED
		    : BREAKER_HELD;
	ramp_take(&ramp);
	return atomic_compare_exchange_strong(
		   &breaker->rate, &seen.rate, ramp_word(&ramp))
	    ? BREAKER_TURN
	    : BREAKER_HELD;
}

enum breaker_pass
breaker_enter(struct breaker *breaker, nanos now, uint64_t *lease,
    struct breaker_view *view)
{
	struct reading seen;
	enum breaker_pass pass;

	*lease = 0;
	do {
		seen = read_gate(breaker);
		*view = view_of(breaker, seen, now);
		if (state_of(seen.word) == BREAKER_CLOSED)
			return BREAKER_PASSED;
		if (view->next > 0)
			return BREAKER_HELD;
		pass = state_of(seen.word) == BREAKER_RECOVERING
		    ? take_turn(breaker, seen, now)
		    : take_lease(breaker, seen.word, lease, now);
	} while (pass == BREAKER_HELD);
	return pass;
}

bool
breaker_renew(struct breaker *breaker, uint64_t *lease, nanos now)
{
	nanos until = number_add(now, BREAKER_LEASE);

	if (*lease != 0 && change(breaker, *lease, BREAKER_HALF_OPEN, until)) {
		*lease = follow(*lease, BREAKER_HALF_OPEN, until);
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
tell_pace(struct breaker *breaker, const struct ended *ended)
{
	struct reading seen;
	struct ramp ramp;
	bool slow;

	do {
		seen = read_gate(breaker);
		if (state_of(seen.word) != BREAKER_RECOVERING ||
		    is_old(seen.word, ended))
			return true;
		ramp = pace_of(seen.word, seen.rate, ended->now);
		if (ramp.over)
			return true;
		slow = ramp.rate <= RAMP_FIRST;
		if (ended->succeeded)
			ramp_succeed(&ramp);
		else
			ramp_fail(&ramp);
	} while (!atomic_compare_exchange_strong(
	    &breaker->rate, &seen.rate, ramp_word(&ramp)));
	return slow;
}

/*
 * A success. What ends the streak is a write to the gate's word: that also
 * stops whoever has seen the streak and is about to open. Where there is no
 * streak nothing is written, or successes would fight for the cache line.
 */
static void
tell_success(struct breaker *breaker, const struct ended *ended)
{
	uint64_t streak, word;

	tell_pace(breaker, ended);
	streak = atomic_load(&breaker->streak);
	word = atomic_load(&breaker->word);
	if (admits(word) && failures_of(streak, word) > 0 &&
	    !is_old(word, ended))
		change(breaker, word, state_of(word), instant_of(word));
}

/*
 * One more failure. The streak is read before the word: so it cannot be of a
 * later time than the word, and what is written over it is never news.
 * Whoever dies between the writes leaves a streak that the next one opens with.
 */
static void
tell_failure(struct breaker *breaker, const struct breaker_config *config,
    const struct ended *ended)
{
	bool slow = tell_pace(breaker, ended);
	uint64_t streak = atomic_load(&breaker->streak);
	uint64_t word, failures;
	nanos until = number_add(ended->now, pause_of(config, 0));

	do {
		word = atomic_load(&breaker->word);
		if (!admits(word) || is_old(word, ended))
			return;
		failures = one_more(failures_of(streak, word), FAILURE_BITS);
	} while (!atomic_compare_exchange_strong(
	    &breaker->streak, &streak, streak_of(seq_of(word), 0, failures)));
	if (config->failures > 0 && (int64_t)failures >= config->failures &&
	    slow)
		change(breaker, word, BREAKER_OPEN, until);
}

void
breaker_tell(struct breaker *breaker, const struct breaker_config *config,
    enum attempt_result news, bool succeeded, nanos began, nanos now)
{
	const struct ended ended = { succeeded, began, now };

	if (news == RESULT_FAILURE)
		tell_failure(breaker, config, &ended);
	else if (news == RESULT_HEALTHY && succeeded)
		tell_success(breaker, &ended);
}

/*
 * A probe's failure. The word comes first, so that nothing at all happens
 * without the lease; whoever dies before the streak has it makes the next
 * pause as long as this one.
 */
static void
probed_ill(struct breaker *breaker, const struct breaker_config *config,
    uint64_t lease, nanos now)
{
	uint64_t streak = atomic_load(&breaker->streak),
		 seq = streak_seq(streak);
	uint64_t doublings = one_more(doublings_of(streak), DOUBLING_BITS);
	uint64_t failures, next;
	nanos until = number_add(now, pause_of(config, doublings));

	if (!change(breaker, lease, BREAKER_OPEN, until))
		return;
	/* Until then, late failures of the same streak may come between. */
	do {
		doublings = one_more(doublings_of(streak), DOUBLING_BITS);
		failures = streak & MOST(FAILURE_BITS);
		next =
		    streak_of(seq, doublings, one_more(failures, FAILURE_BITS));
	} while (
	    !atomic_compare_exchange_strong(&breaker->streak, &streak, next) &&
	    streak_seq(streak) == seq);
}

void
breaker_probed(struct breaker *breaker, const struct breaker_config *config,
    enum attempt_result news, uint64_t lease, nanos now)
{
	if (lease == 0)
		return;
	switch (news) {
	case RESULT_HEALTHY:
		/* Not a millisecond later: the first are let in at once. */
		change(
		    breaker, lease, BREAKER_RECOVERING, now - now % NANOS_MS);
		break;
	case RESULT_FAILURE:
		probed_ill(breaker, config, lease, now);
		break;
	case RESULT_IGNORED:
		change(breaker, lease, BREAKER_OPEN, 0);
		break;
	}
}
