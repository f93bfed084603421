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
 *      HOST_DENIED   An earlier answer denied a retry, and that still holds; or
 *                    the host is alone and has used up its share.
 *      HOST_ALONE    The server does not answer, and this is one of the few
 *                    retries that the host makes alone.
 *      HOST_WAIT     Another process of the host asks the server just now, or
 *                    many hosts would ask at once. Wait for the given time, and
 *                    go back to 2.
 *      HOST_ASK      Ask the server: this process has the lease, so no other
 *                    process of the host asks at the same time.
 *
 *   3. Call fleet_host_store(), which stores the answer for all processes. If
 *      there was no answer in time, it stores that; then go back to 2, where
 *      the host is alone now.
 *   4. If the retry is granted, withdraw it from the window. The window may
 *      deny it after all; then the fleet's grant is lost.
 *
 * So the fleet only takes away: it never grants what the host's budget denies.
 * These functions use the words of the host only: fleet/link.h sends the
 * questions.
 *
 *     lease          [turn:24 | until:40]   who asks the server
 *     denied         [0:24 | until:40]      the last denial
 *     opening        [0:24 | until:40]      when the first question may be
 *                    asked after a quiet time
 *     offset         milliseconds: the server's clock, less the age
 *     hosts          how many hosts the server counted
 *     used           [retries:32 | limit:32]  of the fleet; for messages only
 *     silence        [failures:24 | until:40]  the pause after no answer
 *     alone          a window of the retries that the host made alone. Its
 *                    successes are retries that have succeeded
 *     told           [epoch:32 | retries that have succeeded:16 | successes:16]
 *     alone_told     [epoch:32 | 0:16 | retries made alone:16]
 *     counted        epoch + 1
 *
 * Commands that give the fleet other limits, or even another server, share the
 * words: of servers they have what the last one has said, and the server's
 * least limits hold for all. until is an instant in milliseconds of the age:
 * the time since the segment was made. All times are ages in nanoseconds, never
 * negative.
 *
 * Each change is one compare-and-swap, and each word ends by the clock: a
 * process may be killed or stopped at any instruction, and only grants are
 * lost. No process writes an instant beyond its longest pause. An instant that
 * is later by more than a minute is corrupt and counts as past, so that nobody
 * waits for ever.
 * A denial holds for a window at most, whatever the answer said.
 *
 * A process takes the lease before it asks for one retry, and releases it after
 * the answer. A process that has waited for as long as a question may take gets
 * the lease in any case. A turn begins when a process takes the lease.
 *
 * After the server did not answer, nobody asks it for a while: for
 * FLEET_HOST_PAUSE, and for twice as long after each failure in a row, up to
 * FLEET_HOST_PAUSE_MOST.
 *
 * If a service fails on which all hosts depend, thousands of them would ask at
 * once. So the first question after a quiet time waits for a random part of a
 * time that grows with the number of hosts: a second for 4000 hosts. All
 * processes of the host wait for the same instant, the opening.
 *
 * A process that sends a question tells the server of the host's successes, of
 * its retries made alone, and of its retries that have succeeded, which the
 * server pays back: by slices of the two windows that count them. Two words
 * mark up to where the server has been told: of all slices before the epoch of
 * a mark, and of so many in the slice with this epoch.
 *
 *   - The mark of the successes and of the retries that have succeeded is
 *     moved before they are sent. If the process dies or there is no answer,
 *     they are lost: no success counts twice, and no retry is paid back twice.
 *   - The mark of the retries made alone is moved after the answer. If there is
 *     none, they are sent again: no such retry is forgotten, but it may count
 *     twice. Who tells that a retry made alone has succeeded, tells of the
 *     retry as well, unless the server knows it.
 *
 * So if anything goes wrong, the fleet grants fewer retries, never more.
 *
 * A host on which nothing fails does not tell of its successes: they matter for
 * hosts that ask. counted is when the server last counted this host, which
 * happens once in a window.
 *
 * tests/models/fleet_check.c tries all interleavings of a few processes and a
 * server.
 */
#ifndef FLEET_HOST_H
#define FLEET_HOST_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "text/duration.h"
#include "budget/window.h"

/* tests/models/fleet_check.c has shorter times. */
#ifndef FLEET_HOST_LOOK
/* How long a waiting process sleeps before it looks again. */
#define FLEET_HOST_LOOK (20 * NANOS_MS)
#define FLEET_HOST_PAUSE NANOS_SECOND
#define FLEET_HOST_PAUSE_MOST (30 * NANOS_SECOND)
#endif

/* The time over which the first questions of each host are spread, and the
 * longest such time. With less than FLEET_HOST_LOOK nothing is spread. */
#define FLEET_HOST_SPREAD (NANOS_MS / 4)
#define FLEET_HOST_SPREAD_MOST (5 * NANOS_SECOND)

/*
 * The by of a question that tells, while nobody on this host knows the server's
 * clock: it is past on any clock. So the server only answers FLEET_STALE, with
 * its time, and the question is asked again with the right by.
 */
#define FLEET_BY_PAST INT64_C(1000)

/* A retry is paid back if it has succeeded less than so many slices after it
 * was asked for, and the server is told within as many: so it still counts
 * there. */
#ifndef FLEET_HOST_RESCUE
#define FLEET_HOST_RESCUE (WINDOW_SLICES / 2)
#endif

/* All zero: nothing is known of any fleet, and nothing has been told. */
struct fleet_host {
	_Atomic uint64_t lease, denied, opening;
	_Atomic uint64_t offset, hosts, used, silence;
	struct window alone;
	_Atomic uint64_t told, alone_told, unused;
	_Atomic uint64_t counted;
};

/* What the user asked of the fleet. */
struct fleet_config {
	nanos timeout; /* of a question; also the longest wait for another's */
	struct terms terms; /* all of them are given */
	int64_t alone; /* retries in a window without the server; -1:
			  terms.min / hosts, but at least 1 */
};

/* The most rows that are told: one for each word of a window. */
#define FLEET_ROWS WINDOW_WORDS

/* What happened in one slice. */
struct fleet_row {
	nanos age; /* of the slice's beginning: nothing in it is older */
	int64_t successes; /* of any command of the host */
	int64_t alone; /* retries that the host made alone */
	int64_t rescued; /* retries that have succeeded */
};

/* A question to the server, which also tells it of successes. */
struct fleet_question {
	const char *key; /* of the budget */
	struct terms terms; /* all of them are given */
	bool forgets; /* the server is to forget the budget, and no more */
	bool wants; /* a retry */
	nanos by; /* on the server's clock: nothing counts if it reads the
		     question later; 0: whenever */
	bool first; /* the server has not counted this host for a window */
	size_t count; /* of told, the oldest row first */
	struct fleet_row told[FLEET_ROWS]; /* their ages at by, at least 0 */
	/* What follows stays on this host. */
	uint64_t lease; /* 0: the process does not wait for the answer */
	nanos asked; /* the age when the question was made */
	nanos until; /* the latest age at which the server reads this; the
			rows are dated by it */
	uint64_t alone_was, alone; /* marks: before and after the rows */
	uint64_t counted; /* when the server knows the rows */
};

enum fleet_code {
	FLEET_DENIED,
	FLEET_GRANTED,
	FLEET_NOTED, /* no retry was wanted */
	FLEET_STALE, /* the server read it after question->by; only now is set
		      */
	/* In place of an answer: */
	FLEET_SENT, /* nobody waits for it */
	FLEET_SILENT, /* there was none in time, or a refusal */
	FLEET_CUT, /* retry itself ended the question */
};

/* What came of a question: what the server answers, or why it does not. */
struct fleet_answer {
	enum fleet_code code;
	int64_t retries, limit, successes; /* in the fleet's window */
	nanos next; /* in which time the oldest of these retries leaves it */
	nanos pause; /* how long a host that was denied does not ask again */
	nanos now; /* on the server's clock; 0: not known */
	int64_t hosts; /* seen in the window */
	struct terms terms; /* of the fleet: the strictest of all hosts */
};

/* An invocation, as the words of its host see it. */
struct fleet_caller {
	const struct fleet_config *config;
	const char *key; /* of the budget, at most SEGMENT_KEY bytes */
	nanos asked; /* the age when that retry was asked for, or made alone */
	bool waits; /* the retry that is due, for another process's question */
	nanos since; /* so long: an age */
	nanos slice; /* of the segment */
	uint64_t seed; /* of random, which changes with each visit */
	uint64_t random;
	struct fleet_question question; /* the last one */
};

enum host_decision {
	HOST_UNASKED,
	HOST_GRANTED,
	HOST_DENIED,
	HOST_ALONE,
	HOST_WAIT,
	HOST_ASK,
};

struct host_step {
	enum host_decision decision;
	bool silent; /* the server does not answer: the share has decided */
	int64_t share; /* if the server is silent: retries that the host may
			  make alone in a window */
	nanos next; /* HOST_DENIED, HOST_WAIT: how long until it is worth to ask
		       again; NANOS_MAX: never */
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
 * Decides about a retry that is due, and that the host's window would grant. If
 * the decision is HOST_ASK, then the caller has a question, which the server
 * has to be asked now. window: of the host; the question tells of the successes
 * in it.
 */
struct host_step fleet_host_ask(struct fleet_host *host,
    const struct window *window, struct fleet_caller *caller, nanos now);

/*
 * Stores what came of the caller's question, and releases its lease. The time
 * of a server counts also if its only answer was FLEET_STALE. A denial, and the
 * pause after no answer, are multiplied by a random factor from a half to one
 * and a half. A denial holds that long even if the server can grant a retry
 * sooner, since thousands of hosts would all ask at that time.
 */
void
fleet_host_store(struct fleet_host *host, const struct fleet_caller *caller,
    const struct fleet_answer *answer, nanos now);

/* Claims what the server has not been told: the caller has a question that asks
 * for no retry, and tells it. */
void fleet_host_claim(struct fleet_host *host, const struct window *window,
    struct fleet_caller *caller, nanos now);

/* Counts the caller's retry of the fleet, which has succeeded. */
void fleet_host_rescue(
    struct fleet_host *host, const struct fleet_caller *caller, nanos now);

/* How many hosts the server counted; 0: not known. */
int64_t fleet_host_hosts(const struct fleet_host *host);

struct host_view
fleet_host_look(const struct fleet_host *host, nanos slice, nanos now);

#endif
