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
 *     lease     the lease of a question (below)
 *     denied    [tag:16 | 0:8 | until:40]      the last denial
 *     credit    [tag:16 | left:16 | epoch:32]  grants that are left over
 *     opening   [tag:16 | 0:8 | until:40]      when the first question may be
 *               asked after a quiet time
 *     server    what earlier answers said of the server (below)
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
#include "budget/window.h"

/*
 * fleet_word: the two parts that many words of a fleet have in common.
 *
 *     [tag:16 | ... | until:40]
 *
 * The tag is a hash of the server's name. A word with another tag is of another
 * server, and counts as empty. Commands that give the fleet other limits share
 * the words: the server's least limits hold for all of them. until is an
 * instant in milliseconds since the segment was made. All times are nanoseconds
 * since then, never negative.
 */

/* Where the other parts of a word begin and end. */
#define FLEET_UNTIL_BITS 40
#define FLEET_TAG_AT 48

/* The greatest number of so many bits. */
#define FLEET_MOST(bits) ((UINT64_C(1) << (bits)) - 1)

/* The tag of a server's words. */
uint16_t fleet_word_tag(const char *server);

/* A word with a tag. rest has at most FLEET_TAG_AT bits. */
uint64_t fleet_word_tagged(uint16_t tag, uint64_t rest);

/* The word without its tag; 0 if it has another tag. */
uint64_t fleet_word_rest(uint16_t tag, uint64_t word);

/* The greatest number of so many bits, or number >= 0 if that is less. */
uint64_t fleet_word_number(int64_t number, int bits);

/* The until of an instant, rounded up; and the instant of a word's until. */
uint64_t fleet_word_until(nanos instant);
nanos fleet_word_instant(uint64_t word);

/*
 * How long it is from now to the instant of a word; 0 if it is past. An instant
 * that is later than any process could have written, by more than a minute, is
 * corrupt and counts as past, so that nobody waits for ever. longest: how far
 * from its present a process writes an instant at most.
 */
nanos fleet_word_left(uint64_t word, nanos longest, nanos now);

/* The epoch of an instant. */
int64_t fleet_word_epoch(nanos slice, nanos now);

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

/*
 * fleet_server: what a host knows of its fleet's server from its last answers.
 *
 *     offset  [tag:16 | ms:48]         the server's clock, less the age
 *     hosts   [tag:16 | hosts:48]      how many hosts the server counted
 *     used    [retries:32 | limit:32]  of the fleet; for messages only
 *     link    [tag:16 | failures:8 | until:40]  the pause after no answer
 *
 * The age is that of the segment (above). After the server did not
 * answer, nobody asks it for a while: for FLEET_SERVER_PAUSE, and for twice as
 * long after each failure in a row, up to FLEET_SERVER_PAUSE_MOST.
 */

/* tests/fleet_check.c has shorter times. */
#ifndef FLEET_SERVER_PAUSE
#define FLEET_SERVER_PAUSE NANOS_SECOND
#define FLEET_SERVER_PAUSE_MOST (30 * NANOS_SECOND)
#endif

/* All zero: nothing is known. */
struct fleet_server {
	_Atomic uint64_t offset, hosts, used, link;
};

/* What an answer says of the server and its fleet. */
struct fleet_numbers {
	nanos time; /* on the server's clock */
	int64_t hosts; /* that the server has counted in the window */
	int64_t retries, limit; /* in the window */
};

/* Stores an answer to a question that was asked at the age asked. */
void fleet_server_learn(struct fleet_server *server, uint16_t tag,
    const struct fleet_numbers *numbers, nanos asked);

/* The same, but only of the server's clock. */
void fleet_server_learn_time(
    struct fleet_server *server, uint16_t tag, nanos time, nanos asked);

/*
 * What the server's clock shows at an age, rather later than earlier, by at
 * most the time that the last question took. 0: not known.
 */
nanos
fleet_server_time(const struct fleet_server *server, uint16_t tag, nanos now);

/* How many hosts the server counted; 0: not known. */
int64_t fleet_server_hosts(const struct fleet_server *server, uint16_t tag);

/*
 * Begins a pause after no answer, unless one is not over. random: the pause is
 * multiplied by a random factor from a half to one and a half.
 */
void fleet_server_fail(
    struct fleet_server *server, uint16_t tag, nanos now, uint64_t random);

/* A pause, times that random factor. */
nanos fleet_server_randomize(nanos pause, uint64_t random);

/*
 * Given the word link: how long the pause still lasts; and whether the server
 * did not answer lately, so that nobody should rely on an answer.
 */
nanos fleet_server_pause(uint16_t tag, uint64_t link, nanos now);
bool fleet_server_is_doubtful(uint16_t tag, uint64_t link, nanos now);

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
