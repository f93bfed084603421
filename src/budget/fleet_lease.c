#include "budget/fleet_lease.h"

#include "text/number.h"
#include "budget/fleet_word.h"

#define WAITING_BITS 12
#define TURN_AT (FLEET_UNTIL_BITS + WAITING_BITS)

#define ONE_WAITING (UINT64_C(1) << FLEET_UNTIL_BITS)
#define ALL_WAITING (FLEET_MOST(WAITING_BITS) << FLEET_UNTIL_BITS)

static uint64_t
turn_of(uint64_t lease)
{
	return lease >> TURN_AT;
}

static int64_t
waiting_of(uint64_t lease)
{
	return (int64_t)((lease & ALL_WAITING) / ONE_WAITING);
}

static bool
is_counted(const struct fleet_wait *wait, uint64_t lease)
{
	return wait->waits && wait->turn == turn_of(lease);
}

bool
fleet_lease_is_taken(
    uint64_t seen, const struct fleet_wait *wait, nanos timeout, nanos now)
{
	return fleet_word_instant(seen) > now &&
	    !(wait->waits && now - wait->since >= timeout);
}

bool
fleet_lease_join(
    _Atomic uint64_t *lease, uint64_t seen, struct fleet_wait *wait, nanos now)
{
	uint64_t joined = seen;

	if (is_counted(wait, seen))
		return true;
	if ((seen & ALL_WAITING) != ALL_WAITING)
		joined += ONE_WAITING;
	if (!atomic_compare_exchange_strong(lease, &seen, joined))
		return false;
	if (!wait->waits)
		wait->since = now;
	wait->waits = true;
	wait->turn = turn_of(seen);
	return true;
}

static int64_t
wanted_after(const struct fleet_wait *wait, uint64_t seen, nanos now)
{
	int64_t waiting = waiting_of(seen);

	if (waiting == 0 || now - fleet_word_instant(seen) > FLEET_LEASE_RECENT)
		return 1;
	return waiting + (is_counted(wait, seen) ? 0 : 1);
}

uint64_t
fleet_lease_take(_Atomic uint64_t *lease, uint64_t seen,
    struct fleet_wait *wait, nanos timeout, nanos now, int64_t *wanted)
{
	/* Rather too long than too short: the answer has to be stored, too. */
	nanos until = number_add(now, number_add(timeout, FLEET_LEASE_LOOK));
	uint64_t taken =
	    (turn_of(seen) + 1) << TURN_AT | fleet_word_until(until);

	*wanted = wanted_after(wait, seen, now);
	if (!atomic_compare_exchange_strong(lease, &seen, taken))
		return 0;
	*wait = (struct fleet_wait){ .waits = false };
	return taken;
}

void
fleet_lease_release(_Atomic uint64_t *lease, uint64_t taken, nanos now)
{
	uint64_t ended = (uint64_t)(now / NANOS_MS);
	uint64_t word, rest;

	do {
		word = atomic_load(lease);
		rest = word & ~FLEET_MOST(FLEET_UNTIL_BITS);
		if (((word ^ taken) & ~ALL_WAITING) != 0 ||
		    fleet_word_instant(word) <= now)
			return;
	} while (!atomic_compare_exchange_strong(lease, &word, rest | ended));
}
