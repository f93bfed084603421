/*
 * breaker: a circuit breaker that any number of processes share.
 *
 *   closed      Attempts begin freely. After so many failures in a row, of any
 *               process, the breaker opens; or after BREAKER_STARVED, if the
 *               budget denies a retry then.
 *   open        No attempt begins until a pause is over.
 *   half-open   The pause is over, and one attempt has been admitted: the
 *               probe. If it fails, then the breaker opens again, with a pause
 *               twice as long, up to a limit.
 *   recovering  The probe succeeded. Attempts are admitted at a limited rate,
 *               which grows (ramp.h); such an attempt is called a turn. The
 *               breaker closes when few attempts come. It opens after as many
 *               failures as when it is closed, but only if the rate is not
 *               above RAMP_FIRST.
 *
 * The probe has a lease and renews it. If its process dies or is stopped, then
 * the lease ends by the clock, and the next attempt becomes the probe. So
 * nothing is locked, and a process may be killed or stopped at any instruction.
 *
 * The breaker is three words. Every change is one compare-and-swap.
 *
 *     word    [state:2 | slowdown:3 | seq:19 | ms:40]
 *     streak  [0:3 | seq:19 | doublings:10 | failures:32]
 *     rate    the word of the ramp
 *
 *     state       ms: the instant when          changed by
 *     closed      the last recovery began       a failure, a denial: open
 *     open        the next probe is due         the next probe: half-open
 *     half-open   the lease of the probe ends   the probe: recovering, open;
 *                                               the next probe: half-open
 *     recovering  the recovery began            a failure: open;
 *                                               an attempt that asks: closed
 *
 * slowdown is that of the last recovery (ramp.h): the probe that succeeds sets
 * it together with the state, so that it is the same for all processes until
 * the recovery ends, whatever they know of their fleet.
 *
 * seq goes up with each change of the word. A streak counts failures in a row
 * and how often the pause was doubled. While attempts are admitted, the streak
 * is valid only if its seq is that of the word; while no attempts are admitted,
 * it is the streak that opened the breaker. A rate is valid only for the
 * recovery that began at the millisecond in the rate (ramp.h). Outcomes of
 * attempts that began before the last recovery are ignored.
 *
 * Times are nanoseconds since the segment was made, never negative.
 * tests/models/breaker_check.c tries all interleavings of a few processes.
 */
#ifndef BREAKER_H
#define BREAKER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include "text/duration.h"

/* How long the lease of a probe lasts, and how often it is renewed. */
#define BREAKER_LEASE (3 * NANOS_SECOND)
#define BREAKER_RENEWAL NANOS_SECOND

/*
 * The longest pause. A pause or a lease that ends more than this and a minute
 * from now is corrupt and counts as over, so that no attempt waits for ever.
 */
#define BREAKER_PAUSE_MOST NANOS_DAY

/*
 * So many failures in a row open the breaker if the budget denies a retry. Few
 * processes at a time make few first attempts, and the budget allows few
 * retries: so they would not come to more failures, while all wait for the
 * window.
 */
#ifndef BREAKER_STARVED
#define BREAKER_STARVED 5
#endif

/* All zero: closed, without failures. */
struct breaker {
	_Atomic uint64_t word, streak, rate;
};

/* What the user asked for. */
struct breaker_config {
	int64_t failures; /* in a row, to open; 0: no breaker */
	nanos pause; /* the first pause; each later one is twice as long */
	nanos most; /* the longest pause, up to BREAKER_PAUSE_MOST */
};

enum breaker_state {
	BREAKER_CLOSED,
	BREAKER_OPEN,
	BREAKER_HALF_OPEN, /* a probe is under way */
	BREAKER_RECOVERING, /* the probe succeeded: attempts begin at a rate */
};

/* The breaker at one moment. */
struct breaker_view {
	enum breaker_state state;
	int64_t failures; /* in a row */
	nanos next; /* until the next attempt may be admitted: the probe is due,
		       its lease ends, or a turn is available; 0: now */
	int64_t rate; /* while it recovers: attempts per second */
};

/*
 * How an attempt was admitted. The breaker itself limits probes and turns;
 * while it is closed, the window has to limit the retries.
 */
enum breaker_pass {
	BREAKER_PASSED, /* admitted: the breaker is closed */
	BREAKER_TURN, /* admitted, while the breaker recovers */
	BREAKER_PROBE, /* admitted as the probe: *lease is set */
	BREAKER_REFUSED, /* not admitted: *view says why */
};

/* What the outcome of an attempt says about the dependency. */
enum attempt_result {
	RESULT_SUCCESS,
	RESULT_HEALTHY, /* it responds, with an error */
	RESULT_FAILURE, /* a failure for which a retry is made */
	RESULT_LIMIT, /* one by which the server, which is well, limits its
			 clients: not for the breaker (admission.h) */
	RESULT_IGNORED, /* nothing: interrupted, or not started */
};

struct breaker_view breaker_look(const struct breaker *breaker, nanos now);

/*
 * Whether an attempt may begin, and how it was admitted. The compare-and-swap
 * that admits the attempt decides, not the state before or after it. *lease is
 * for breaker_renew and breaker_probed; 0 if the attempt is not the probe.
 */
enum breaker_pass breaker_enter(struct breaker *breaker, nanos now,
    uint64_t *lease, struct breaker_view *view);

/* The budget has denied a retry: opens the breaker if it is closed, and the
 * last BREAKER_STARVED results, or more, were failures. */
void breaker_starve(
    struct breaker *breaker, const struct breaker_config *config, nanos now);

/*
 * Extends a probe's lease. *lease becomes 0 if the lease had ended and another
 * attempt is the probe now: the result of this one does not count.
 */
void breaker_renew(struct breaker *breaker, uint64_t *lease, nanos now);

/*
 * Tells how an attempt without a lease ended; the attempt began at began.
 * A success ends the streak. A failure makes it longer, and the failure that
 * reaches config->failures opens the breaker; but during a recovery only if the
 * rate is not above the first one. Other results change nothing.
 */
void breaker_tell(struct breaker *breaker, const struct breaker_config *config,
    enum attempt_result result, nanos began, nanos now);

/*
 * Tells how a probe ended. RESULT_SUCCESS or _HEALTHY: the breaker recovers, as
 * one of so many hosts that share the dependency; 0: this one, or their number
 * is not known.
 * RESULT_FAILURE: the breaker opens again, for twice as long. RESULT_IGNORED:
 * the next probe is due at once. Changes nothing if the lease was lost.
 */
void
breaker_probed(struct breaker *breaker, const struct breaker_config *config,
    enum attempt_result result, uint64_t lease, int64_t hosts, nanos now);

#endif
