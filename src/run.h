/*
 * run: all the parts of one invocation, how they are opened, and how it ends.
 */
#ifndef RUN_H
#define RUN_H

#include "attempt/attempt.h"
#include "attempt/hooks.h"
#include "attempt/environment.h"
#include "policy/plan.h"
#include "policy/policy.h"
#include "output/progress.h"
#include "attempt/event_loop.h"
#include "attempt/http_request.h"
#include "report/report.h"

/*
 * A page that is written costs a fault, and after a fork a copy. So large
 * buffers that few invocations use are elsewhere, or behind all else as that of
 * the environment.
 */
struct run {
	struct attempt attempt;
	const struct policy *policy;
	struct report *report; /* NULL: nothing needs it */
	struct progress progress;
	unsigned said; /* a bit for each reason to wait that was logged */
	struct http_request request;
	struct history history;
	struct event_loop loop;
	struct termination hook;
	struct environment environment;
};

/*
 * Starts the clock and opens what all attempts share, but not the streams.
 * False where the kernel refuses a part, which this says.
 */
bool run_open(
    struct run *run, const struct policy *policy, const struct outer *outer);

/*
 * The command's input could not be read or kept, or its output can be neither
 * relayed nor held (errno): says so and returns EXIT_STATUS_FAILED, which
 * run_end has to be called with.
 */
int run_without_input(struct run *run);
int run_without_output(struct run *run);

/* Ends as the step says, or as loop.ending_signal says: returns the status, or
 * dies of the signal. */
int run_end(struct run *run, struct step step);

#endif
