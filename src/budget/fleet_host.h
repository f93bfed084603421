/*
 * fleet_host: what the processes of a host decide together about their fleet.
 *
 * A fleet is many hosts that share one budget of retries, which a server keeps.
 * The budget of the host holds first and always. A retry that the host's window
 * grants needs a grant of the fleet, too:
 *
 *   1. Look at the breaker and at the window. If one of them denies the retry,
 *      it is denied, and nobody asks the fleet.
 *   2. Call fleet_host_ask(). It decides:
 *
 *      HOST_GRANTED  An earlier answer granted more retries than one, and this
 *                    retry takes one of them.
 *      HOST_DENIED   An earlier answer denied a retry, and that still holds; or
 *                    the host is alone and has used up its share.
 *      HOST_ALONE    The server does not answer, and this is one of the few
 *                    retries that the host makes alone.
 *      HOST_WAIT     Another process of the host asks the server just now. Wait
 *                    for the given time, and go back to 2.
 *      HOST_ASK      Ask the server: this process has the lease, so no other
 *                    process of the host asks at the same time.
 *
 *   3. After an answer, fleet_host_settle() stores it for all processes, and
 *      says whether this retry is granted. If there was no answer in time,
 *      fleet_host_fail() stores that; then go back to 2, where the host is
 *      alone now.
 *   4. If the retry is granted, withdraw it from the window. The window may
 *      deny it after all; then the fleet's grant is lost.
 *
 * So the fleet only takes away: it never grants what the host's budget denies.
 *
 *     lease     the lease of a question (fleet_lease.h)
 *     denied    [tag:16 | 0:8 | until:40]      the last denial
 *     credit    [tag:16 | left:16 | epoch:32]  grants that are left over
 *     opening   [tag:16 | 0:8 | until:40]      when the first question may be
 *               asked after a quiet time
 *     server    what earlier answers said of the server (fleet_server.h)
 *     alone     a window of the retries that the host made alone
 *
 * Each change is one compare-and-swap, and each word ends by the clock: a
 * process may be killed or stopped at any instruction, and only grants are
 * lost. A denial holds for a window at most, whatever the answer said. A credit
 * ends with the slice in which its question was asked: so a retry is made
 * within a slice after it was granted. The window of retries made alone has no
 * tag, and so its limit holds whatever URLs are used.
 *
 * If a service fails on which all hosts depend, thousands of them would ask at
 * once. So the first question after a quiet time waits for a random part of a
 * time that grows with the number of hosts: a second for 4000 hosts. All
 * processes of the host wait for the same instant, the opening.
 *
 * tests/fleet_check.c tries all interleavings of a few processes and a server.
 */
#ifndef FLEET_HOST_H
#define FLEET_HOST_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include "text/duration.h"
#include "budget/fleet_lease.h"
#include "budget/fleet_server.h"
#include "budget/window.h"

/* The time over which the first questions of each host are spread, and the
 * longest such time. With less than FLEET_LEASE_LOOK nothing is spread. */
#define FLEET_HOST_SPREAD (NANOS_MS / 4)
#define FLEET_HOST_SPREAD_MOST (5 * NANOS_SECOND)

/* All zero: nothing is known of any fleet. */
struct fleet_host {
	_Atomic uint64_t lease, denied, credit, opening;
	struct fleet_server server;
	struct window alone;
};

/* What a process knows of its fleet: the same in all of its calls. */
struct host_config {
	uint16_t tag; /* fleet_word_tag() */
	nanos slice; /* of the segment */
	nanos timeout; /* of a question; also the longest wait for another's */
	int64_t min; /* retries that are free in the fleet's window */
	int64_t alone; /* retries that a host makes alone in a window; -1:
			  min / hosts, but at least 1 */
};

/* A question. Beside this, it tells of successes (fleet_ledger.h). */
struct host_question {
	uint64_t lease; /* 0: the process does not wait for the answer */
	nanos asked; /* the age when it was made */
	int64_t wanted; /* retries */
	nanos by; /* on the server's clock: later the answer has no use; 0:
		     that clock is not known */
	nanos until; /* an age that is not before by, nor before the question
			ends; for fleet_ledger.h */
};

struct host_answer {
	int64_t granted; /* retries; 0: denied */
	nanos pause; /* if denied: how long the host should not ask again */
	struct fleet_numbers numbers;
};

enum host_decision {
	HOST_GRANTED,
	HOST_DENIED,
	HOST_ALONE,
	HOST_WAIT,
	HOST_ASK,
	HOST_CORRUPT, /* as WINDOW_CORRUPT: read the clock and ask again */
};

struct host_step {
	enum host_decision decision;
	bool alone; /* the server does not answer: the share has decided */
	int64_t share; /* of retries in a window, if alone */
	nanos next; /* HOST_DENIED, HOST_WAIT: how long until it is worth to ask
		       again; NANOS_MAX: never */
	struct host_question question; /* HOST_ASK */
};

/* What the words say, of whichever fleet was asked last. For reports. */
struct host_view {
	nanos denied; /* how long a denial still holds, or 0 */
	nanos down; /* how long the server still counts as down, or 0 */
	int64_t hosts; /* of the fleet; 0: not known */
	int64_t retries, limit; /* of the fleet, in the last answer */
	int64_t alone; /* retries that the host made alone in the window */
};

/*
 * Decides about a retry that is due. most: how many retries the host's window
 * would grant now, at least 1; no question wants more. wait: of this retry,
 * zero at first. random: for the opening.
 */
struct host_step
fleet_host_ask(struct fleet_host *host, const struct host_config *config,
    struct fleet_wait *wait, int64_t most, nanos now, uint64_t random);

/*
 * Stores an answer, and releases the lease. Returns HOST_GRANTED or
 * HOST_DENIED. What was granted beyond the one retry is left to other
 * processes. A denial holds for the pause times a random factor from a half to
 * one and a half: even if the server can grant a retry sooner, since thousands
 * of hosts would all ask at that time.
 */
struct host_step fleet_host_settle(struct fleet_host *host,
    const struct host_config *config, const struct host_question *question,
    const struct host_answer *answer, nanos now, uint64_t random);

/* Stores that there was no answer, and releases the lease. */
void fleet_host_fail(struct fleet_host *host, const struct host_config *config,
    const struct host_question *question, nanos now, uint64_t random);

/* Releases the lease of a question whose answer is not needed any more. */
void fleet_host_drop(
    struct fleet_host *host, const struct host_question *question, nanos now);

/* A question that wants no retry, and whose answer nobody waits for: it only
 * tells of successes. */
struct host_question fleet_host_tell(
    const struct fleet_host *host, const struct host_config *config, nanos now);

struct host_view
fleet_host_look(const struct fleet_host *host, nanos slice, nanos now);

#endif
