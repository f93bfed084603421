#include "run.h"

#include <stdlib.h>
#include "sys/sys.h"

/* Makes the attempt log, if a report or a trace needs it. False, with errno. */
static bool
open_attempt_log(struct run *run)
{
	if (run->policy->report == NULL && run->policy->metrics == NULL &&
	    !run->environment.trace.on)
		return true;
	run->attempt_log = malloc(sizeof *run->attempt_log);
	if (run->attempt_log == NULL)
		return false;
	attempt_log_start(run->attempt_log);
	return true;
}

/* Sets up the client of the fleet, if there is one. False, with errno. */
static bool
open_fleet(struct run *run)
{
	const struct fleet_policy *fleet = &run->policy->fleet;
	struct event_loop *loop = &run->loop;

	if (fleet->text == NULL)
		return true;
	run->fleet = malloc(sizeof *run->fleet);
	if (run->fleet == NULL)
		return false;
	fleet_client_start(
	    run->fleet, fleet, &loop->budget, &loop->log, &loop->signals);
	loop->link = &run->fleet->link;
	return true;
}

bool
run_open(struct run *run, const struct policy *policy,
    const struct outer *outer, const char **what)
{
	struct event_loop *loop = &run->loop;
	struct {
		uint64_t seed;
		unsigned char id[16];
	} random;
	bool limited;

	sys_random(&random, sizeof random);
	run->policy = policy;
	run->outer = *outer;
	run->attempt_log = NULL;
	run->fleet = NULL;
	run->history = plan_start(policy, sys_now(CLOCK_BOOTTIME),
	    outer->deadline, policy->seeded ? policy->seed : random.seed);
	limited = plan_has_timeout(policy) || policy->idle_timeout != 0 ||
	    run->history.deadline != NANOS_MAX;
	environment_start(&run->environment, outer, random.id);
	log_open(&loop->log, policy, environment_id(&run->environment));
	countdown_open(&run->countdown, policy, &loop->log);
	budget_client_start(
	    &loop->budget, &policy->budget, outer->admitted, &loop->log);
	http_request_start(&run->request, policy, &loop->log);
	*what = "signalfd";
	if (!event_loop_open(loop))
		return false;
	*what = "environment";
	if (!environment_open(
		&run->environment, policy, outer, loop->signals.self))
		return false;
	*what = "fleet";
	if (!open_fleet(run))
		return false;
	*what = "status file";
	if (!http_request_open(&run->request, &run->environment))
		return false;
	*what = "report";
	if (!open_attempt_log(run))
		return false;
	*what = "hooks";
	if (!hooks_open(&run->hook, policy, loop))
		return false;
	*what = "eventfd";
	return attempt_open(&run->attempt, policy, loop, limited);
}

void
run_close(struct run *run)
{
	environment_close(&run->environment);
	attempt_close(&run->attempt);
	hooks_close(&run->hook);
	if (run->fleet != NULL)
		fleet_client_close(run->fleet);
	free(run->fleet);
	free(run->attempt_log);
}

/* How many attempts failed in a row directly before the next one. */
static int64_t
failed_before(struct attempt_log *log)
{
	const struct entry *latest = attempt_log_latest(log);

	return latest != NULL && latest->verdict == VERDICT_RETRY
	    ? latest->failed + 1
	    : 0;
}

void
run_log_attempt(struct run *run, const struct step *step, nanos began)
{
	const struct outcome *outcome = &run->history.last;
	int64_t failed;

	if (run->attempt_log == NULL)
		return;
	failed = failed_before(run->attempt_log);
	*attempt_log_add(run->attempt_log) =
	    (struct entry){ .attempt = run->history.made,
		    .began = began - run->history.began,
		    .elapsed = outcome->duration,
		    .end = outcome->end,
		    .status = verdict_status(outcome),
		    .signal = outcome->end == END_SIGNALED ? outcome->code : 0,
		    .http = outcome->http.known ? outcome->http.code : 0,
		    .asked = verdict_wait(outcome),
		    .rule = run->history.judgement.rule,
		    .verdict = run->history.judgement.verdict,
		    .planned = step->again ? step->delay : -1,
		    .slept = -1,
		    .failed = failed,
		    .span = run->environment.trace.attempt };
}

void
run_log_admission(struct run *run, const struct admission *admission)
{
	struct attempt_log *log = run->attempt_log;
	enum host_decision decision = admission->fleet.decision;

	if (log == NULL)
		return;
	if (admission->denied == REASON_BUDGET)
		attempt_log_latest(log)->budget_exhausted = true;
	if (admission->by_fleet)
		attempt_log_fleet(log, FLEET_VERDICT_GRANTED);
	else if (decision == HOST_DENIED)
		attempt_log_fleet(log, FLEET_VERDICT_DENIED);
	else if (decision == HOST_ALONE && admission->denied == REASON_NONE)
		attempt_log_fleet(log, FLEET_VERDICT_ALONE);
}
