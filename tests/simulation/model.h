/*
 * model: a storm in virtual time. What a client does is retry's own: plan,
 * backoff and admission, in memory instead of a segment's file. The server is
 * the same capacity that the real one uses. Only the clock, the processes and
 * the network are simulated, and they are simple: see struct machine. A fleet's
 * server is in fleet_model.h.
 */
#ifndef MODEL_H
#define MODEL_H

#include <stdint.h>
#include "policy/policy.h"
#include "scenario.h"
#include "tally.h"

/*
 * The machine that all processes share (cores.h). One process starts all
 * clients, one after the other; when half of the work to start a client is
 * done, the next one may start. Half of the work for an attempt is to fork; the
 * rest is done by its command, as much after the answer as before the request.
 */
struct machine {
	int64_t cores; /* 0: processes cost nothing */
	nanos start; /* of a core, for a client to start */
	nanos attempt; /* of a core, for an attempt */
	nanos latency; /* of a request, beside what the server takes for it */
};

struct fleet_record;

struct model {
	const struct scenario *scenario;
	const struct policy *policy;
	const struct machine *machine;
	int64_t host; /* clients of a host: they share a budget */
	int64_t scouts; /* so many, not counted as clients, come at once, */
	nanos lead; /* and that much before all others */
	nanos age; /* of the budgets, when the storm begins */
	int64_t known; /* hosts of the fleet, as all hosts know from an answer
			  that is as old as that; 0: there was none */
	nanos seen; /* so long before the storm the server counted each of
		       these hosts; 0: it has not */
	bool mute; /* no client is elected to tell the fleet's server */
	struct fleet_record *record; /* of the fleet's server; NULL: no fleet */
	uint64_t seed;
};

/* Runs the storm and counts in tally, which has been started. */
void model_run(const struct model *model, struct tally *tally);

#endif
