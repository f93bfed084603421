/*
 * hold: an instant until which all processes wait.
 *
 * A server that limits its clients says when to come back: 429 with a
 * Retry-After (RFC 6585, RFC 9110). It would refuse the others as well, so its
 * word holds for all that share a budget, first attempts included.
 *
 * The pause after a denial (--budget-cooldown) is such an instant as well.
 *
 * A hold is one word: the age of the segment at which it ends, in
 * nanoseconds; 0: none. Each change is one compare-and-swap that makes it
 * later, and it ends by the clock: so a process may be killed or stopped at any
 * instruction. A hold that ends later than the longest possible one is corrupt,
 * and counts as past, so that nobody waits for ever.
 *
 * All times are ages, never negative.
 */
#ifndef HOLD_H
#define HOLD_H

#include <stdatomic.h>
#include <stdint.h>
#include "text/duration.h"

/* A shorter wait concerns only the process that was asked for it. */
#define HOLD_LEAST NANOS_SECOND
#define HOLD_MOST NANOS_DAY
/* A process that was stopped after it had read the clock is behind by less. */
#define HOLD_BEHIND NANOS_MINUTE

/* All zero: no hold. */
struct hold {
	_Atomic uint64_t until;
};

/* How long the hold still lasts; 0: there is none. */
nanos hold_left(const struct hold *hold, nanos now);

/* Makes the hold last for wait from now on, HOLD_MOST at most, unless it lasts
 * longer. */
void hold_extend(struct hold *hold, nanos wait, nanos now);

#endif
