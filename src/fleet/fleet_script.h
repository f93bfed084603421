/*
 * fleet_script: what is asked of a fleet's server, and what it answers.
 *
 * A budget of a fleet is a hash on the server, which one script reads and
 * changes (budget_lua.h). Like the window of a host, it limits retries to a
 * share of recent successes. Guarantee, for every window that ends with a
 * retry, whatever processes and connections die or stop:
 *
 *     retries granted by the server
 *         <= max(min, ratio * successes in the window that it was told of)
 *
 * It holds under three conditions. A retry is made within a slice after it was
 * granted. The age of a success is its age at question->by, which is never less
 * than its age when the script runs. Nobody sets the server's clock. If its
 * clock is set back, no retry is forgotten, so that the minimum still holds.
 *
 * All times are the server's: nanoseconds since 1970, to the microsecond.
 */
#ifndef FLEET_SCRIPT_H
#define FLEET_SCRIPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "text/duration.h"
#include "budget/segment.h"
#include "fleet/resp.h"

/* The most retries that a question asks for. */
#define FLEET_WANTED SEGMENT_MIN_MOST

/* Room for any question, with the script in it. */
#define FLEET_REQUEST 12288

/*
 * The by of a question that tells, while nobody on this host knows the server's
 * clock: it is past on any clock. So the server only answers FLEET_STALE, with
 * its time, and the question is asked again with the right by.
 */
#define FLEET_BY_PAST INT64_C(1000)

struct fleet_question {
	const char *key; /* at most SEGMENT_KEY bytes */
	struct terms terms; /* all of them are given */
	int64_t wanted; /* retries, 0 to FLEET_WANTED */
	nanos by; /* nothing counts if the script runs later; 0: whenever */
	bool first; /* the first question of this host in a window */
	nanos now; /* what TIME said; 0: the script asks for it itself */
	size_t count; /* of told */
	struct fleet_row told[FLEET_ROWS]; /* their ages at by, at least 0 */
};

enum fleet_code {
	FLEET_DENIED,
	FLEET_GRANTED, /* at least one retry */
	FLEET_NOTED, /* no retry was wanted */
	FLEET_STALE, /* the script ran after question->by; only now is set */
};

struct fleet_answer {
	enum fleet_code code;
	int64_t granted; /* retries, at most question->wanted */
	int64_t retries, limit, successes; /* in the fleet's window */
	nanos next; /* in which time the oldest of these retries leaves it */
	nanos pause; /* how long a host that was denied does not ask again */
	nanos now; /* when the script ran */
	int64_t hosts; /* seen in the window */
	struct terms terms; /* of the fleet: the strictest of all hosts */
};

/* The words by which the budget of key is found: the key of its hash. */
#define FLEET_KEY "retry:1:"

/*
 * Writes a question: EVALSHA, or EVAL with the script if whole. A question with
 * nothing wanted and nothing told changes nothing on the server, and the terms
 * in its answer are those that are stored, if any are.
 */
void fleet_script_ask(struct resp_request *request,
    const struct fleet_question *question, bool whole);

/* Writes the request that forgets the budget of key. */
void fleet_script_forget(struct resp_request *request, const char *key);

/*
 * Reads the answer to a question. False if the reply is none: the server may
 * be broken or hostile. next and pause are at most a window and a slice.
 */
bool fleet_script_read(const struct resp_reply *reply,
    const struct fleet_question *question, struct fleet_answer *answer);

#endif
