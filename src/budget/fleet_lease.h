/*
 * fleet_lease: which process of a host asks the fleet's server at present.
 *
 * A process takes the lease before it asks, and releases it after the answer.
 * If it is killed, the lease ends by the clock. The others wait; a process that
 * has waited for as long as a question may take gets the lease in any case.
 *
 *     [turn:12 | waiting:12 | until:40]
 *
 * A turn begins when a process takes the lease, and lasts until the next one
 * takes it. waiting counts the processes that wait in this turn: the next
 * question is for all of them.
 */
#ifndef FLEET_LEASE_H
#define FLEET_LEASE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include "text/duration.h"

/* tests/fleet_check.c has shorter times. */
#ifndef FLEET_LEASE_LOOK
/* How long a waiting process sleeps before it looks again. */
#define FLEET_LEASE_LOOK (20 * NANOS_MS)
/* Processes that waited are counted for so long after the lease has ended. */
#define FLEET_LEASE_RECENT NANOS_SECOND
#endif

/* How long a process has waited; all zero at first. */
struct fleet_wait {
	bool waits;
	nanos since;
	uint64_t turn; /* the turn that counts this process */
};

/* Whether a process has to wait before it can take the lease that it has seen.
 * timeout: how long it waits at most. */
bool fleet_lease_is_taken(
    uint64_t seen, const struct fleet_wait *wait, nanos timeout, nanos now);

/* Counts this process as one that waits. False: the lease has changed. */
bool fleet_lease_join(
    _Atomic uint64_t *lease, uint64_t seen, struct fleet_wait *wait, nanos now);

/*
 * Takes the lease for a question that ends after timeout. Returns the lease
 * for fleet_lease_release(), or 0: the lease has changed. *wanted becomes one
 * more than the number of other processes that waited in the last turn.
 */
uint64_t fleet_lease_take(_Atomic uint64_t *lease, uint64_t seen,
    struct fleet_wait *wait, nanos timeout, nanos now, int64_t *wanted);

/* Ends a lease, unless it has ended and another process has taken it. */
void fleet_lease_release(_Atomic uint64_t *lease, uint64_t taken, nanos now);

#endif
