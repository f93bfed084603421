#include "budget/breaker.h"

#include "text/number.h"
#include "budget/ramp.h"

#define MS_BITS 40
#define SEQ_BITS 19
#define SLOWDOWN_BITS 3

/* Where the parts of the word begin, from the right. */
#define SLOWDOWN_AT (SEQ_BITS + MS_BITS)
#define STATE_AT (SLOWDOWN_BITS + SLOWDOWN_AT)

/* The model check has fewer. */
#ifndef FAILURE_BITS
#define FAILURE_BITS 32
#define DOUBLING_BITS 10
#endif

/* A pause or a lease that is longer than this is corrupt. */
#define LONGEST (BREAKER_PAUSE_MOST + NANOS_MINUTE)

static enum breaker_state
state_of(uint64_t word)
{
	return (enum breaker_state)(word >> STATE_AT);
}

static int64_t
slowdown_of(uint64_t word)
{
	return (int64_t)(word >> SLOWDOWN_AT & NUMBER_MOST(SLOWDOWN_BITS));
}

/* Whether attempts other than the probe are admitted. */
static bool
admits(uint64_t word)
{
	return state_of(word) == BREAKER_CLOSED ||
	    state_of(word) == BREAKER_RECOVERING;
}

static uint64_t
seq_of(uint64_t word)
{
	return word >> MS_BITS & NUMBER_MOST(SEQ_BITS);
}

/* The word that follows word, with its slowdown. Its ms is until, rounded up.
 */
static uint64_t
follow(uint64_t word, enum breaker_state state, nanos until)
{
	uint64_t seq = (seq_of(word) + 1) & NUMBER_MOST(SEQ_BITS);
	uint64_t ms = (uint64_t)(until / NANOS_MS + (until % NANOS_MS > 0));

	if (ms > NUMBER_MOST(MS_BITS))
		ms = NUMBER_MOST(MS_BITS);
	return (uint64_t)state << STATE_AT |
	    (uint64_t)slowdown_of(word) << SLOWDOWN_AT | seq << MS_BITS | ms;
}

/* The instant in a word. */
static nanos
instant_of(uint64_t word)
{
	return (nanos)(word & NUMBER_MOST(MS_BITS)) * NANOS_MS;
}

/*
 * Whether the instant is corrupt, because it is later than the end of any
 * pause. The bound for a lease is the same: with a shorter bound, a process
 * that was stopped after it had read the clock would take a valid lease away.
 */
static bool
is_corrupt(uint64_t word, nanos now)
{
	return instant_of(word) - now > LONGEST;
}

/* When the last recovery began. */
static nanos
recovery_of(uint64_t word, nanos now)
{
	return is_corrupt(word, now) ? 0 : instant_of(word);
}

/* The present step of a recovery. */
static struct ramp
ramp_of(uint64_t word, uint64_t rate, nanos now)
{
	struct ramp ramp =
	    ramp_read(rate, instant_of(word), slowdown_of(word), now);

	if (is_corrupt(word, now))
		ramp.over = true;
	return ramp;
}

/* Changes the word, unless another process has changed it since it was read. */
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
	return streak >> FAILURE_BITS & NUMBER_MOST(DOUBLING_BITS);
}

/*
 * The failures in a row, given the word. Each change that admits attempts again
 * or ends a streak also changes the word's seq, which makes the old streak
 * invalid. While no attempts are admitted, the streak is the one that opened
 * the breaker.
 */
static uint64_t
failures_of(uint64_t streak, uint64_t word)
{
	if (admits(word) && streak_seq(streak) != seq_of(word))
		return 0;
	return streak & NUMBER_MOST(FAILURE_BITS);
}

static uint64_t
one_more(uint64_t count, int bits)
{
	return count < NUMBER_MOST(bits) ? count + 1 : count;
}

/* The length of a pause that was doubled doublings times. */
static nanos
pause_of(const struct breaker_config *config, uint64_t doublings)
{
	nanos pause = config->pause;

	for (; doublings > 0 && pause < config->most; doublings--)
		pause = pause > config->most / 2 ? config->most : 2 * pause;
	return pause > BREAKER_PAUSE_MOST ? BREAKER_PAUSE_MOST : pause;
}

/*
 * Returns the word, and sets *rate. The rate is read first. So it is never of a
 * later recovery than the word, and a swap of the rate that was read here never
 * overwrites the rate of a later recovery.
 */
static uint64_t
read_words(const struct breaker *breaker, uint64_t *rate)
{
	*rate = atomic_load(&breaker->rate);
	return atomic_load(&breaker->word);
}

static struct breaker_view
view_of(const struct breaker *breaker, uint64_t word, uint64_t rate, nanos now)
{
	uint64_t streak = atomic_load(&breaker->streak);
	struct breaker_view view = { .state = state_of(word),
		.failures = (int64_t)failures_of(streak, word) };
	struct ramp ramp;

	if (!admits(word) && !is_corrupt(word, now))
		view.next = number_greater(instant_of(word) - now, 0);
	if (view.state != BREAKER_RECOVERING)
		return view;
	ramp = ramp_of(word, rate, now);
	if (ramp.over) {
		view.state = BREAKER_CLOSED;
	} else {
		view.next = ramp_next(&ramp, now);
		view.rate = ramp.rate * NANOS_SECOND / ramp_step(&ramp);
	}
	return view;
}

struct breaker_view
breaker_look(const struct breaker *breaker, nanos now)
{
	uint64_t rate, word = read_words(breaker, &rate);

	return view_of(breaker, word, rate, now);
}

enum breaker_pass
breaker_enter(struct breaker *breaker, nanos now, uint64_t *lease,
    struct breaker_view *view)
{
	nanos until = number_add(now, BREAKER_LEASE);

	*lease = 0;
	/* Each change begins anew if another process was faster. */
	for (;;) {
		uint64_t rate, word = read_words(breaker, &rate);
		struct ramp ramp;

		*view = view_of(breaker, word, rate, now);
		if (state_of(word) == BREAKER_CLOSED)
			return BREAKER_PASSED;
		if (view->next > 0)
			return BREAKER_REFUSED;

		/* The lease of a probe. */
		if (state_of(word) != BREAKER_RECOVERING) {
			if (!change(breaker, word, BREAKER_HALF_OPEN, until))
				continue;
			*lease = follow(word, BREAKER_HALF_OPEN, until);
			return BREAKER_PROBE;
		}

		/* The end of a recovery, or a turn in it. */
		ramp = ramp_of(word, rate, now);
		if (ramp.over) {
			if (change(breaker, word, BREAKER_CLOSED,
				recovery_of(word, now)))
				return BREAKER_PASSED;
			continue;
		}
		ramp_take(&ramp);
		if (atomic_compare_exchange_strong(
			&breaker->rate, &rate, ramp_word(&ramp)))
			return BREAKER_TURN;
	}
}

void
breaker_starve(
    struct breaker *breaker, const struct breaker_config *config, nanos now)
{
	/* In this order, as in breaker_tell(). */
	uint64_t streak = atomic_load(&breaker->streak);
	uint64_t word = atomic_load(&breaker->word);

	if (state_of(word) == BREAKER_CLOSED &&
	    failures_of(streak, word) >= BREAKER_STARVED)
		change(breaker, word, BREAKER_OPEN,
		    number_add(now, pause_of(config, 0)));
}

void
breaker_renew(struct breaker *breaker, uint64_t *lease, nanos now)
{
	nanos until = number_add(now, BREAKER_LEASE);

	if (*lease != 0 && change(breaker, *lease, BREAKER_HALF_OPEN, until))
		*lease = follow(*lease, BREAKER_HALF_OPEN, until);
	else
		*lease = 0;
}

void
breaker_tell(struct breaker *breaker, const struct breaker_config *config,
    enum attempt_result result, nanos began, nanos now)
{
	bool success = result == RESULT_SUCCESS;
	uint64_t streak, word, rate, failures;
	struct ramp ramp;
	bool slow; /* the rate of the recovery, or there is none */

	if (!success && result != RESULT_FAILURE)
		return;

	/* During a recovery the ramp counts the result. */
	do {
		slow = true;
		word = read_words(breaker, &rate);
		if (state_of(word) != BREAKER_RECOVERING ||
		    began < recovery_of(word, now))
			break;
		ramp = ramp_of(word, rate, now);
		if (ramp.over)
			break;
		slow = ramp.rate <= RAMP_FIRST;
		ramp_end(&ramp, success);
	} while (!atomic_compare_exchange_strong(
	    &breaker->rate, &rate, ramp_word(&ramp)));

	/*
	 * The streak is read before the word: so the streak cannot be newer
	 * than the word, and a newer streak is never overwritten.
	 */
	streak = atomic_load(&breaker->streak);
	do {
		word = atomic_load(&breaker->word);
		if (!admits(word) || began < recovery_of(word, now))
			return;
		failures = failures_of(streak, word);

		/*
		 * A success ends the streak by a change of the word, whose seq
		 * goes up. So a process that has read the streak, and is about
		 * to open the breaker, cannot do so any more. Without a streak
		 * nothing is written, because successes would contend for the
		 * cache line.
		 */
		if (success && failures > 0)
			change(breaker, word, state_of(word), instant_of(word));
		if (success)
			return;
		failures = one_more(failures, FAILURE_BITS);
	} while (!atomic_compare_exchange_strong(
	    &breaker->streak, &streak, streak_of(seq_of(word), 0, failures)));

	/* If the process dies here, then the next failure opens the breaker. */
	if (config->failures > 0 && (int64_t)failures >= config->failures &&
	    slow)
		change(breaker, word, BREAKER_OPEN,
		    number_add(now, pause_of(config, 0)));
}

void
breaker_probed(struct breaker *breaker, const struct breaker_config *config,
    enum attempt_result result, uint64_t lease, int64_t hosts, nanos now)
{
	uint64_t streak, doublings, failures, next;

	if (lease == 0)
		return;
	if (result == RESULT_IGNORED) {
		change(breaker, lease, BREAKER_OPEN, 0);
		return;
	}
	if (result != RESULT_FAILURE) {
		/* Rounded down: the first turns are available at once. */
		next = follow(lease, BREAKER_RECOVERING, now - now % NANOS_MS);
		next &= ~(NUMBER_MOST(SLOWDOWN_BITS) << SLOWDOWN_AT);
		next |= (uint64_t)ramp_slowdown(hosts) << SLOWDOWN_AT;
		atomic_compare_exchange_strong(&breaker->word, &lease, next);
		return;
	}

	/* The word is changed before the streak, so that nothing happens
	 * without the lease. If the process dies between the two, then the next
	 * pause is as long as this one. */
	streak = next = atomic_load(&breaker->streak);
	doublings = one_more(doublings_of(streak), DOUBLING_BITS);
	if (!change(breaker, lease, BREAKER_OPEN,
		number_add(now, pause_of(config, doublings))))
		return;
	/* Late failures of the same streak may have changed the streak. */
	while (streak_seq(streak) == streak_seq(next)) {
		doublings = one_more(doublings_of(streak), DOUBLING_BITS);
		failures =
		    one_more(streak & NUMBER_MOST(FAILURE_BITS), FAILURE_BITS);
		next = streak_of(streak_seq(streak), doublings, failures);
		if (atomic_compare_exchange_strong(
			&breaker->streak, &streak, next))
			return;
	}
}
