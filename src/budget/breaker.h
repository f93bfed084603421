/*
 * breaker: the breaker. After so many failures in a row, of any process, it
 * holds attempts back for a while; then lets one through to see, the probe; and
 * if that goes well, lets the others in at a pace (see there) until fewer come.
 *
 * It is three words. Every change is one compare-and-swap. The probe is not
 * held like a lock but leased: whoever dies or stops with it loses it by the
 * clock.
 *
 *     word    [state:2 | seq:22 | ms:40]
 *     streak  [seq:22 | doublings:10 | failures:32]
 *     rate    the word of the pace
 *
 *     state       ms, the instant when      what comes next, by whom
 *     closed      the last recovery began   open: an attempt that fails
 *     open        the next probe is due     half-open: who asks
 *     half-open   the probe's lease ends    recovering, open: the probe
 *     recovering  it began                  closed: who asks; open: as above
 *
 * The word's seq goes up with each of its changes. A streak is of the gate
 * whose seq it has, closed or recovering, and of the outage that it began;
 * under any other such gate it is void. doublings: how often the pause was
 * doubled since. A rate is of the recovery that began at its own mark. How an
 * attempt ended that began before the last recovery is no news. Times are
 * nanoseconds since the segment was made, never negative.
 *
 * tests/breaker_check.c tries all interleavings of a few processes.
 */
#ifndef BREAKER_H
#define BREAKER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include "text/duration.h"

/* A probe is leased for this long, and renewed this often. */
#define BREAKER_LEASE (3 * NANOS_SECOND)
#define BREAKER_RENEWAL NANOS_SECOND

/*
 * The longest pause. What lasts a minute longer than that, a lease included, is
 * nonsense, and over: whatever stands in the words, it does not hold for ever.
 */
#define BREAKER_PAUSE_MOST NANOS_DAY

/* All zero is a closed gate and no failure. */
struct breaker {
	_Atomic uint64_t word, streak, rate;
};

/* What the user asked for. */
struct breaker_config {
	int64_t failures; /* in a row, to open; 0: no breaker */
	nanos pause; /* for how long at first; doubles, up to */
	nanos most; /* what is more than BREAKER_PAUSE_MOST is cut to it */
};

enum breaker_state {
	BREAKER_CLOSED,
	BREAKER_OPEN,
	BREAKER_HALF_OPEN, /* a probe is under way */
	BREAKER_RECOVERING, /* it went well: attempts begin at a pace */
};

/* What one sees of it. */
struct breaker_view {
	enum breaker_state state;
	int64_t failures; /* in a row */
	nanos next; /* until a probe is due, the lease ends, or the next turn
		       of a recovery, which only one gets; 0: now */
	int64_t rate; /* while it recovers: attempts in a second */
};

/*
 * How an attempt was let in. A probe and a turn are few enough by what the gate
 * itself allows; for what a closed one lets by somebody else has to answer.
 */
enum breaker_pass {
	BREAKER_PASSED, /* go: it is closed */
	BREAKER_TURN, /* go: it recovers, and this is one of those let in */
	BREAKER_PROBE, /* go, as the probe: *lease is set */
	BREAKER_HELD, /* not now: *view says why */
};

/* What an attempt has to say of the dependency. */
enum attempt_result {
	RESULT_HEALTHY, /* it answers, whatever it answers */
	RESULT_FAILURE, /* a failure that a retry might cure */
	RESULT_IGNORED, /* interrupted, never executed, never started */
};

struct breaker_view breaker_look(const struct breaker *breaker, nanos now);

/*
 * Whether an attempt may begin, and as what. That is settled by the change to
 * the gate which let it in, not by how the gate looked before or looks now.
 * lease: to be shown when it ends, or 0.
 */
enum breaker_pass breaker_enter(struct breaker *breaker, nanos now,
    uint64_t *lease, struct breaker_view *view);

/*
 * Extends a probe's lease. False if it was taken: what the probe finds does no
 * longer count, and *lease is 0.
 */
bool breaker_renew(struct breaker *breaker, uint64_t *lease, nanos now);

/*
 * An attempt without a lease, which began at the instant began, has ended. A
 * success (well, and succeeded) ends the streak; an ill one makes it longer,
 * and the one that reaches breaker->failures opens the gate: a recovering one
 * only where the pace is no faster than it began. Other news change nothing.
 */
void breaker_tell(struct breaker *breaker, const struct breaker_config *config,
    enum attempt_result news, bool succeeded, nanos began, nanos now);

/*
 * A probe has ended. Well: recovering. Ill: open again, for twice as long. No
 * news: the probe is given back and due at once. Changes nothing where lease
 * is no longer the one that counts.
 */
void
breaker_probed(struct breaker *breaker, const struct breaker_config *config,
    enum attempt_result news, uint64_t lease, nanos now);

#endif
