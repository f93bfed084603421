/*
 * fleet_model: a fleet's server, and what retry asks it, in virtual time.
 *
 * What a process asks and tells is retry's own (fleet_host.h), and the server
 * answers as its script does (twin.h). Only the network is simulated: the
 * server answers one question after the other, and reads those, too, whose
 * process has given up.
 */
#ifndef FLEET_MODEL_H
#define FLEET_MODEL_H

#include <stdbool.h>
#include <stdint.h>
#include "policy/policy.h"
#include "../fleet/twin.h"
#include "tally.h"

/* How much the server does in a second, as measured: questions with a new
 * connection each, and what is told on an open one. */
#define FLEET_MODEL_CONNECTIONS 6000
#define FLEET_MODEL_TOLD 30000

/* What the server has seen. */
struct fleet_record {
	struct tally questions; /* all of them; the latencies are of those
				   that a process waits for */
	int64_t awaited, silent; /* such questions; not answered in time */
	int64_t granted; /* retries */
	int64_t told; /* successes */
	int64_t open, most_open; /* connections, now and at most */
};

/* A question that is under way. */
struct fleet_question_sent {
	struct fleet_caller caller;
	struct fleet_answer answer;
	enum fleet_outcome outcome;
	nanos at; /* when the process knows the outcome */
};

/* An invocation, beside its struct caller; all zero at first. */
struct fleet_member {
	struct fleet_wait wait;
	struct fleet_question_sent *sent; /* NULL: none is under way; to be
					     freed in the end */
	bool granted; /* the server has granted the retry that is due */
	bool connected; /* the connection was kept after an answer */
	bool elected; /* to tell of successes */
};

struct fleet_model {
	const struct policy *policy;
	struct fleet_record *record;
	bool mute; /* nobody is elected to tell */
	struct fleet_caller caller; /* of the member that is being simulated */
	struct twin twin;
	nanos free; /* when the server has done all work that there is */
	uint64_t random;
};

/* record: started. */
void fleet_model_start(struct fleet_model *fleet, const struct policy *policy,
    struct fleet_record *record, uint64_t seed);

/* Has a host know the server's clock, and how many hosts there are. */
void fleet_model_teach(struct fleet_model *fleet, struct segment *segment,
    int64_t hosts, nanos now);

/* Has a host that knows the clock tell the server of a success, which counts
 * the host then. */
void fleet_model_count(
    struct fleet_model *fleet, struct segment *segment, nanos now);

/*
 * As event_loop_await_admission(), without the wait. If the decision is
 * HOST_ASK, the question has been sent: call this again at member->sent->at.
 */
struct admission fleet_model_admit(struct fleet_model *fleet,
    struct fleet_member *member, const struct visit *visit, bool retry);

/* To be called before the first attempt, as fleet_client_greet(). */
void fleet_model_greet(struct fleet_model *fleet, struct fleet_member *member,
    struct segment *segment, nanos now);

/* To be called after each attempt, as fleet_client_tell(). */
void fleet_model_tell(struct fleet_model *fleet, struct fleet_member *member,
    struct segment *segment, bool succeeded, nanos now);

#endif
