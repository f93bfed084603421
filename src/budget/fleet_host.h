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
 *   3. After an answer, fleet_host_answered() stores it for all processes, and
 *      says whether this retry is granted. If there was no answer in time,
 *      fleet_host_fail() stores that; then go back to 2, where the host is
 *      alone now.
 *   4. If the retry is granted, withdraw it from the window. The window may
 *      deny it after all; then the fleet's grant is lost.
 *
 * So the fleet only takes away: it never grants what the host's budget denies.
 *
 *     lease          [turn:12 | waiting:12 | until:40]   who asks the server
 *     denied         [tag:16 | 0:8 | until:40]           the last denial
 *     credit         [tag:16 | left:16 | epoch:32]       grants left over
 *     opening        [tag:16 | 0:8 | until:40]           when the first
 *                    question may be asked after a quiet time
 *     offset         [tag:16 | ms:48]     the server's clock, less the age
 *     hosts          [tag:16 | hosts:48]  how many hosts the server counted
 *     used           [retries:32 | limit:32]  of the fleet; for messages only
 *     link           [tag:16 | failures:8 | until:40]    the pause after no
 *                    answer
 *     alone          a window of the retries that the host made alone
 *
 * The tag is a hash of the server's name. A word with another tag is of another
 * server, and counts as empty. Commands that give the fleet other limits share
 * the words: the server's least limits hold for all of them. until is an
 * instant in milliseconds of the age: the time since the segment was made. All
 * times are ages in nanoseconds, never negative.
 *
 * Each change is one compare-and-swap, and each word ends by the clock: a
 * process may be killed or stopped at any instruction, and only grants are
 * lost. No process writes an instant beyond its longest pause. An instant that
 * is later by more than a minute is corrupt and counts as past, so that nobody
 * waits for ever.
 * A denial holds for a window at most, whatever the answer said. A credit ends
 * with the slice in which its question was asked: so a retry is made within a
 * slice after it was granted. The window of retries made alone has no tag, and
 * so its limit holds whatever URLs are used.
 *
 * A process takes the lease before it asks, and releases it after the answer. A
 * process that has waited for as long as a question may take gets the lease in
 * any case. A turn begins when a process takes the lease, and lasts until the
 * next one takes it. waiting counts the processes that wait in this turn: the
 * next question is for all of them.
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
/* Processes that waited are counted for so long after the lease has ended. */
#define FLEET_HOST_RECENT NANOS_SECOND
#define FLEET_HOST_PAUSE NANOS_SECOND
#define FLEET_HOST_PAUSE_MOST (30 * NANOS_SECOND)
#endif

/* The time over which the first questions of each host are spread, and the
 * longest such time. With less than FLEET_HOST_LOOK nothing is spread. */
#define FLEET_HOST_SPREAD (NANOS_MS / 4)
#define FLEET_HOST_SPREAD_MOST (5 * NANOS_SECOND)

/* All zero: nothing is known of any fleet. */
struct fleet_host {
	_Atomic uint64_t lease, denied, credit, opening;
	_Atomic uint64_t offset, hosts, used, link;
	struct window alone;
};

/* What a process knows of its fleet: the same in all of its calls. */
struct host_config {
	const char *key; /* of the budget, at most SEGMENT_KEY bytes */
	struct terms terms; /* of the fleet */
	uint16_t tag; /* fleet_host_tag() */
	nanos slice; /* of the segment */
	nanos timeout; /* of a question; also the longest wait for another's */
	int64_t share; /* of retries that the host makes alone in a window; -1:
			  terms.min / hosts, but at least 1 */
};

/* How long a process has waited for the lease; all zero at first. */
struct fleet_wait {
	bool waits;
	nanos since;
	uint64_t turn; /* the turn that counts this process */
};

/* The most rows that are told: one for each word of a window. */
#define FLEET_ROWS WINDOW_WORDS

/* What happened in one slice. */
struct fleet_row {
	nanos age; /* of the slice's beginning: nothing in it is older */
	int64_t successes; /* of any command of the host */
	int64_t alone; /* retries that the host made alone */
};

/* Up to where the server has been told (fleet_ledger.h). */
struct fleet_mark {
	uint64_t was;
	uint64_t next; /* when the server knows the rows of the question */
};

/* A question to the server, which also tells it of successes. */
struct fleet_question {
	const char *key; /* of the budget */
	struct terms terms; /* all of them are given */
	int64_t wanted; /* retries, 0 to FLEET_WANTED */
	nanos by; /* on the server's clock: nothing counts if it reads the
		     question later; 0: whenever */
	nanos now; /* what TIME said; 0: the server reads its clock itself */
	bool first; /* the server has not counted this host for a window */
	size_t count; /* of told, the oldest row first */
	struct fleet_row told[FLEET_ROWS]; /* their ages at by, at least 0 */
	/* What follows stays on this host. */
	uint64_t lease; /* 0: the process does not wait for the answer */
	nanos asked; /* the age when the question was made */
	nanos until; /* an age that is not before by, nor before the question
			ends: the rows have their ages then */
	struct fleet_mark alone; /* in the ledger */
	uint64_t counted; /* in the ledger, when the server knows the rows */
};

enum fleet_code {
	FLEET_DENIED,
	FLEET_GRANTED, /* at least one retry */
	FLEET_NOTED, /* no retry was wanted */
	FLEET_STALE, /* the server read it after question->by; only now is set
		      */
};

/* What the server answers. */
struct fleet_answer {
	enum fleet_code code;
	int64_t granted; /* retries, at most question->wanted */
	int64_t retries, limit, successes; /* in the fleet's window */
	nanos next; /* in which time the oldest of these retries leaves it */
	nanos pause; /* how long a host that was denied does not ask again */
	nanos now; /* on the server's clock */
	int64_t hosts; /* seen in the window */
	struct terms terms; /* of the fleet: the strictest of all hosts */
};

enum host_decision {
	HOST_UNASKED,
	HOST_GRANTED,
	HOST_DENIED,
	HOST_ALONE,
	HOST_WAIT,
	HOST_ASK,
	HOST_CORRUPT, /* as WINDOW_CORRUPT: read the clock and ask again */
};

struct host_step {
	enum host_decision decision;
	bool silent; /* the server does not answer: the share has decided */
	int64_t share; /* if the server is silent: as in struct host_config */
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

/* The tag of a server's words. */
uint16_t fleet_host_tag(const char *server);

/* A word with a tag, and the word without it; 0 if it has another tag. rest has
 * at most 48 bits. */
uint64_t fleet_host_tagged(uint16_t tag, uint64_t rest);
uint64_t fleet_host_rest(uint16_t tag, uint64_t word);

/*
 * Decides about a retry that is due. most: how many retries the host's window
 * would grant now, at least 1; no question wants more. wait: of this retry,
 * zero at first. random: for the opening. *question is set if the decision is
 * HOST_ASK: it tells nothing yet.
 */
struct host_step fleet_host_ask(struct fleet_host *host,
    const struct host_config *config, struct fleet_wait *wait, int64_t most,
    nanos now, uint64_t random, struct fleet_question *question);

/* A question that wants no retry, and whose answer nobody waits for. */
struct fleet_question fleet_host_question(
    const struct fleet_host *host, const struct host_config *config, nanos now);

/*
 * Stores an answer, and releases the lease. Returns HOST_GRANTED or
 * HOST_DENIED. What was granted beyond the one retry is left to other
 * processes. A denial holds for the pause times a random factor from a half to
 * one and a half: even if the server can grant a retry sooner, since thousands
 * of hosts would all ask at that time.
 */
struct host_step fleet_host_answered(struct fleet_host *host,
    const struct host_config *config, const struct fleet_question *question,
    const struct fleet_answer *answer, nanos now, uint64_t random);

/* Stores what an answer says of the server: all of it, or only its clock. asked
 * is the age of the question. */
void fleet_host_learn(struct fleet_host *host, uint16_t tag,
    const struct fleet_answer *answer, nanos asked);
void fleet_host_learn_time(
    struct fleet_host *host, uint16_t tag, nanos time, nanos asked);

/* Stores that there was no answer, and releases the lease. random: the pause is
 * multiplied by a random factor from a half to one and a half. */
void fleet_host_fail(struct fleet_host *host, const struct host_config *config,
    const struct fleet_question *question, nanos now, uint64_t random);

/* Releases the lease of a question whose answer is not needed any more. */
void fleet_host_drop(
    struct fleet_host *host, const struct fleet_question *question, nanos now);

/* How many hosts the server counted; 0: not known. */
int64_t fleet_host_hosts(const struct fleet_host *host, uint16_t tag);

struct host_view
fleet_host_look(const struct fleet_host *host, nanos slice, nanos now);

#endif
