/*
 * fleet_caller: what one invocation asks its fleet, and tells it.
 *
 * These functions put the steps of fleet_host.h and fleet_ledger.h together.
 * They work on the segment of the budget only, and say what the server has to
 * be asked: fleet_client.h sends the questions.
 */
#ifndef FLEET_CALLER_H
#define FLEET_CALLER_H

#include <stdbool.h>
#include "budget/fleet_host.h"
#include "budget/segment.h"

/*
 * About so many hosts of a fleet are elected to tell in a slice, at random. If
 * each of ten thousand hosts connected in the same second to tell, then the
 * server could not answer the questions of those that wait for it.
 */
#ifndef FLEET_CALLER_TELLERS
#define FLEET_CALLER_TELLERS 1000
#endif

/*
 * The by of a question that tells, while nobody on this host knows the server's
 * clock: it is past on any clock. So the server only answers FLEET_STALE, with
 * its time, and the question is asked again with the right by.
 */
#define FLEET_BY_PAST INT64_C(1000)

/* What came of a question. */
enum fleet_outcome {
	FLEET_ANSWERED,
	FLEET_SENT, /* nobody waits for the answer */
	FLEET_SILENT, /* there was no answer in time, or a refusal */
	FLEET_CUT, /* retry itself ended it, so the server is not to blame */
};

/* An invocation, as the fleet's words in the segment see it. It has asked
 * nothing if all but its config is zero. */
struct fleet_caller {
	struct host_config config; /* slice and terms.window are set here */
	struct fleet_wait wait; /* of the retry that is due */
	struct fleet_question question; /* the last one */
	uint64_t random; /* another number for each call */
	bool granted; /* the server has granted the retry that is due */
};

/*
 * fleet_host_ask(), for a retry that is due. If it says HOST_ASK, then the
 * caller has a question, which the server has to be asked now.
 */
struct host_step
fleet_caller_ask(struct fleet_caller *caller, struct segment *segment,
    const struct header *header, int64_t most, nanos now);

/* Stores what came of the question. answer: what the server answered last, or
 * NULL; its time counts even if that was too little (FLEET_STALE). */
void fleet_caller_store(struct fleet_caller *caller, struct segment *segment,
    const struct header *header, enum fleet_outcome outcome,
    const struct fleet_answer *answer, nanos now);

/*
 * Whether this invocation has to tell the server of the host's successes in
 * this slice: a process of this host, and this host of a large fleet, are
 * elected for that. In any case the caller then has a question that asks for no
 * retry and tells nothing. It is needed for its answer, which has the time of
 * the server: without that time nothing can be told.
 */
bool fleet_caller_elect(struct fleet_caller *caller, struct segment *segment,
    const struct header *header, nanos now);

/* Claims what the server has not been told: the caller has a question that
 * tells it. False if there is nothing to tell, or if nobody knows the server's
 * clock. */
bool fleet_caller_claim(struct fleet_caller *caller, struct segment *segment,
    const struct header *header, nanos now);

#endif
