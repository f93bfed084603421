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
#include "budget/window.h"

/* All zero: nothing has been told. */
struct fleet_ledger {
	_Atomic uint64_t successes, alone;
	_Atomic uint64_t counted, elected;
};

/* The most rows that are told: one for each word of a window. */
#define FLEET_ROWS WINDOW_WORDS

/* What happened in one slice. */
struct fleet_row {
	nanos age; /* of the slice's beginning: nothing in it is older */
	int64_t successes; /* of any command of the host */
	int64_t alone; /* retries that the host made alone */
};

/* What a process is about to tell. */
struct fleet_tally {
	bool first; /* the server has not counted this host for a window */
	int count; /* of rows, the oldest one first */
	struct fleet_row rows[FLEET_ROWS];
	/* For fleet_ledger_told(): marks as they were, and as they will be. */
	uint64_t alone, alone_next, counted;
};

/* What there is to tell of. */
struct fleet_source {
	uint16_t tag; /* fleet_word_tag() */
	nanos slice; /* of the segment */
	nanos until; /* when the rows have their ages (struct host_question) */
	const struct window *window; /* of the host */
	struct window *alone; /* of the retries that the host made alone */
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
 * retries made alone. To be called just before they are sent. If the marks are
 * corrupt, there are no rows.
 */
void fleet_ledger_claim(struct fleet_ledger *ledger,
    const struct fleet_source *source, nanos now, struct fleet_tally *tally);

/*
 * The server knows the tally now. To be called after an answer; or after the
 * tally was sent, if nobody waits for an answer.
 */
void
fleet_ledger_told(struct fleet_ledger *ledger, const struct fleet_tally *tally);

#endif
