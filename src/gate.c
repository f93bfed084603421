#include "gate.h"

#include "number.h"

#define MS_BITS 40
#define SEQ_BITS 22

/* The model check has fewer. */
#ifndef FAILURE_BITS
#define FAILURE_BITS 32
#define DOUBLING_BITS 10
#endif

#define MOST(bits) ((UINT64_C(1) << (bits)) - 1)

/* A state that nothing of ours writes is harmless, and ends like any closed. */
static enum gate_state
state_of(uint64_t word)
{
	uint64_t state = word >> (SEQ_BITS + MS_BITS);

	return state > GATE_HALF_OPEN ? GATE_CLOSED : (enum gate_state)state;
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

/*
 * Until it is over, 0 if it is. Longer than any pause is nonsense that must
 * not hold anybody. That goes for a lease too: a shorter bound would make
 * somebody who was stopped with an old now in hand take one that is good.
 */
static nanos
remaining(uint64_t word, nanos now)
{
	nanos until = (nanos)(word & MOST(MS_BITS)) * NANOS_MS;

	if (state_of(word) == GATE_CLOSED || until <= now)
		return 0;
	return until - now > GATE_PAUSE_MOST + NANOS_MINUTE ? 0 : until - now;
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
 * The failures that count under a word. Whatever closes the gate, or ends a
 * streak, changes its word, and the old streak is void by that alone. While
 * the gate is not closed, the streak is the one that opened it.
 */
static uint64_t
failures_of(uint64_t streak, uint64_t word)
{
	if (state_of(word) == GATE_CLOSED && streak_seq(streak) != seq_of(word))
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

static struct gate_view
view_of(const struct gate *gate, uint64_t word, nanos now)
{
	uint64_t streak = atomic_load(&gate->streak);

	return (struct gate_view){
		.state = state_of(word),
		.failures = (int64_t)failures_of(streak, word),
		.next = remaining(word, now),
	};
}

struct gate_view
gate_look(const struct gate *gate, nanos now)
{
	return view_of(gate, atomic_load(&gate->word), now);
}

enum gate_pass
gate_enter(
    struct gate *gate, nanos now, uint64_t *lease, struct gate_view *view)
{
	uint64_t word = atomic_load(&gate->word);

	*lease = 0;
	while (state_of(word) != GATE_CLOSED && remaining(word, now) == 0) {
		uint64_t probe =
		    follow(word, GATE_HALF_OPEN, number_add(now, GATE_LEASE));

		if (atomic_compare_exchange_strong(&gate->word, &word, probe)) {
			*lease = word = probe;
			break;
		}
	}
	*view = view_of(gate, word, now);
	if (*lease != 0)
		return GATE_PROBE;
	return view->state == GATE_CLOSED ? GATE_PASSED : GATE_HELD;
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

/*
 * A success. Its only write is to the gate's word: that ends the streak, and
 * stops whoever has seen the streak and is about to open. Where there is no
 * streak nothing is written, or successes would fight for the cache line.
 */
static void
tell_success(struct gate *gate)
{
	uint64_t streak = atomic_load(&gate->streak);
	uint64_t word = atomic_load(&gate->word);

	if (state_of(word) == GATE_CLOSED && failures_of(streak, word) > 0)
		change(gate, word, GATE_CLOSED, 0);
}

/*
 * One more failure. The streak is read before the word: so it cannot be of a
 * later time than the word, and what is written over it is never news.
 * Whoever dies between the writes leaves a streak that the next one opens with.
 */
static void
tell_failure(struct gate *gate, const struct breaker *breaker, nanos now)
{
	uint64_t streak = atomic_load(&gate->streak);
	uint64_t word, failures;
	nanos until = number_add(now, pause_of(breaker, 0));

	do {
		word = atomic_load(&gate->word);
		if (state_of(word) != GATE_CLOSED)
			return;
		failures = one_more(failures_of(streak, word), FAILURE_BITS);
	} while (!atomic_compare_exchange_strong(
	    &gate->streak, &streak, streak_of(seq_of(word), 0, failures)));
	if (breaker->failures > 0 && (int64_t)failures >= breaker->failures)
		change(gate, word, GATE_OPEN, until);
}

void
gate_tell(struct gate *gate, const struct breaker *breaker, enum gate_news news,
    bool succeeded, nanos now)
{
	if (news == GATE_ILL)
		tell_failure(gate, breaker, now);
	else if (news == GATE_WELL && succeeded)
		tell_success(gate);
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
		change(gate, lease, GATE_CLOSED, 0);
		break;
	case GATE_ILL:
		probed_ill(gate, breaker, lease, now);
		break;
	case GATE_NO_NEWS:
		change(gate, lease, GATE_OPEN, 0);
		break;
	}
}
