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
