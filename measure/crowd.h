/*
 * crowd: one run of a scenario with real processes: a server, and as many
 * invocations of retry as there are clients, all at once.
 *
 * At once means: started by one process as fast as it can, as a shell or xargs
 * would, so that a thousand of them come within a second or so. Latency counts
 * from when they should have begun.
 */
#ifndef CROWD_H
#define CROWD_H

#include <stdbool.h>
#include "scenario.h"
#include "tally.h"

struct programs {
	const char *retry, *client;
	const char *redis; /* the server of fleets; NULL: there is none here */
};

struct cost {
	nanos elapsed, cpu; /* of the driver and all of its processes */
	nanos started; /* after so long the last client was there */
	int64_t late; /* invocations that had to be ended */
	int64_t killed, stopped; /* invocations, while they ran */
	size_t excess; /* retries that broke the promise of a budget */
	size_t at_once; /* most requests that a limited server had at a time */
	int64_t odd; /* invocations that ended neither well nor by giving up */
	int odd_status; /* how the last of them did, as of wait */
	int64_t questions; /* that the fleet's server was asked */
	nanos redis; /* CPU time of the fleet's server */
	/* After so long that server failed, and went on; 0: never. */
	nanos failed, back;
	int signal; /* that ended it all before its time, or 0 */
};

/*
 * Counts requests and clients in the tally, which has been started, but no
 * clients that were killed; and adds to the cost. What the kernel refuses ends
 * the program. No process is left behind and no file, however the program ends.
 */
void crowd_run(const struct programs *programs, const struct scenario *scenario,
    const struct variant *variant, struct tally *tally, struct cost *cost);

#endif
