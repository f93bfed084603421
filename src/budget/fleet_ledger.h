/*
 * fleet_ledger: what the server of a fleet has been told of this host.
 *
 * A process that sends a question tells the server of the host's successes and
 * of its retries made alone, by slices of the two windows that count them. Two
 * words mark up to where the server has been told:
 *
 *     successes, alone  [epoch:32 | count:32]
 *     counted           [tag:16 | epoch + 1:48]
 *     elected           epoch + 1
 *
 * The server has been told of all slices before the epoch of a mark, and of
 * count in the slice with this epoch.
 *
 *   - The mark of the successes is moved before they are sent. If the process
 *     dies or there is no answer, they are lost: no success counts twice.
 *   - The mark of the retries made alone is moved after the answer. If there is
 *     none, they are sent again: no such retry is forgotten, but it may count
 *     twice.
 *
 * So if anything goes wrong, the fleet grants fewer retries, never more.
 *
 * counted is when the server last counted this host, which happens once in a
 * window. elected is the last slice in which a process was elected to tell of
 * successes: a host on which nothing fails would never tell of them otherwise.
 */
#ifndef FLEET_LEDGER_H
#define FLEET_LEDGER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include "text/duration.h"
#include "budget/fleet_host.h"

/* All zero: nothing has been told. */
struct fleet_ledger {
	_Atomic uint64_t successes, alone;
	_Atomic uint64_t counted, elected;
};

/*
 * Whether this process is the one that has to tell of successes in this slice:
 * at most one process of the host is. It connects while its command runs, and
 * tells at its end. Not to be called while the server is down (fleet_host.h).
 */
bool fleet_ledger_elect(struct fleet_ledger *ledger, nanos slice, nanos now);

/* Whether a process has been elected in this slice, given the word elected. */
bool fleet_ledger_has_elected(uint64_t elected, nanos slice, nanos now);

/*
 * Claims all successes that the server has not been told of, and finds the
 * retries made alone: the question tells of both. To be called just before it
 * is sent. window is that of the host, and alone that of the retries which the
 * host made alone. If the marks are corrupt, there are no rows.
 */
void fleet_ledger_claim(struct fleet_ledger *ledger,
    const struct host_config *config, const struct window *window,
    struct window *alone, nanos now, struct fleet_question *question);

/*
 * The server knows the rows of the question now. To be called after an answer;
 * or after the question was sent, if nobody waits for an answer.
 */
void fleet_ledger_told(
    struct fleet_ledger *ledger, const struct fleet_question *question);

#endif
