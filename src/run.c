#include "run.h"

#include <stdlib.h>
#include "sys/sys.h"

bool
run_open(struct run *run, const struct policy *policy,
    const struct outer *outer, const char **what)
{
	struct event_loop *loop = &run->loop;
	const struct trace *trace = &run->environment.trace;
	uint64_t random[4];
	bool limited;

	sys_random(random, sizeof random);
	run->policy = policy;
	run->report = NULL;
	run->history = plan_start(policy, sys_now(CLOCK_BOOTTIME),
	    outer->deadline, policy->seeded ? policy->seed : random[0]);
	limited = plan_has_timeout(policy) || policy->idle_timeout != 0 ||
	    run->history.deadline != NANOS_MAX;
	environment_start(&run->environment, outer, random + 1);
	log_open(&loop->log, policy, environment_id(&run->environment));
	countdown_open(&run->countdown, policy, &loop->log);
	budget_client_start(
	    &loop->budget, &policy->budget, outer->admitted, &loop->log);
	http_request_start(&run->request, policy, &loop->log);
	*what = "signalfd";
	if (!event_loop_open(loop))
		return false;
	*what = "environment";
	if (!environment_open(&run->environment, policy, outer,
		run->history.deadline, loop->signals.self))
		return false;
	if (policy->fleet.text != NULL) {
		*what = "fleet";
		loop->fleet = malloc(sizeof *loop->fleet);
		if (loop->fleet == NULL)
			return false;
		fleet_client_start(loop->fleet, &policy->fleet, &loop->budget,
		    &loop->signals, random[3]);
	}
	*what = "status file";
	if (!http_request_open(&run->request, &run->environment))
		return false;
	if (policy->report != NULL || policy->metrics != NULL || trace->on) {
		*what = "report";
		run->report = malloc(sizeof *run->report);
		if (run->report == NULL)
			return false;
		report_start(run->report, policy, &run->history, trace,
		    environment_id(&run->environment));
	}
	hooks_open(&run->hook, loop);
	*what = "eventfd";
	return attempt_open(&run->attempt, policy, loop, limited);
}

void
run_close(struct run *run)
{
	if (run->loop.fleet != NULL)
		link_close(&run->loop.fleet->link);
	free(run->loop.fleet);
	free(run->report);
}
