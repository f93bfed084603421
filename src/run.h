/*
 * run: all the parts of one invocation, and how they are opened and closed.
 */
#ifndef RUN_H
#define RUN_H

#include "attempt/attempt.h"
#include "attempt/hooks.h"
#include "attempt/environment.h"
#include "policy/plan.h"
#include "policy/policy.h"
#include "output/countdown.h"
#include "attempt/event_loop.h"
#include "attempt/http_request.h"
#include "report/attempt_log.h"

struct run {
	const struct policy *policy;
	struct outer outer;
	struct environment environment;
	struct event_loop loop;
	struct fleet_client *fleet; /* NULL: no fleet shares the budget */
	struct http_request request;
	struct attempt attempt;
	struct history history;
	struct attempt_log *attempt_log; /* NULL: nothing needs it */
	struct hook hook;
	struct countdown countdown;
	unsigned said; /* a bit for each reason to wait that was logged */
};

/*
 * Starts the clock and opens what all attempts share, but not the streams.
 * False, with errno, if the kernel refuses; *what is the part that it refused.
 */
bool run_open(struct run *run, const struct policy *policy,
    const struct outer *outer, const char **what);

/* Closes what run_open() opened. */
void run_close(struct run *run);

/*
 * Adds the latest attempt and what follows from it to the attempt log, if there
 * is one. The attempt began at the instant began on CLOCK_BOOTTIME.
 */
void run_log_attempt(struct run *run, const struct step *step, nanos began);

/* Adds what the budget has said about the next attempt. */
void run_log_admission(struct run *run, const struct admission *admission);

#endif
