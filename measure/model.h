/*
 * model: a storm in virtual time. What a client does is retry's own: plan,
 * backoff and admission, in memory instead of a segment's file, and what it
 * asks and tells a fleet's server (fleet_host.h). The server is the same
 * capacity that the real one uses, and that of a fleet answers as its script
 * does (twin.h), one question after the other; it reads those, too, whose
 * process has given up. Only the clock, the processes and the network are
 * simulated: processes cost nothing.
 */
#ifndef MODEL_H
#define MODEL_H

#include <stdint.h>
#include "policy/policy.h"
#include "scenario.h"
#include "tally.h"

/* What a fleet's server has seen; the tally has been started. */
struct fleet_record {
	struct tally questions;
	int64_t awaited, silent; /* those that a process waits for, and those
				    of them not answered in time */
	int64_t told; /* successes */
	int64_t open, most_open; /* connections, now and at most */
};

struct model {
	const struct scenario *scenario;
	const struct policy *policy;
	nanos age; /* of the budgets, when the storm begins */
	int64_t known; /* hosts of the fleet, as all hosts know from an answer
			  that is as old as that; 0: there was none */
	nanos seen; /* so long before the storm the server counted each of
		       these hosts; 0: it has not */
	struct fleet_record *record; /* of the fleet's server, if any */
	uint64_t seed;
};

/* Runs the storm and counts in tally, which has been started. */
void model_run(const struct model *model, struct tally *tally);

#endif
