/*
 * retry: run a command again until it succeeds, or until another attempt
 * would do more harm than good. This file is one invocation from start to end;
 * its parts are in src/, and CONTRIBUTING.md says where each is.
 */
#include <unistd.h>
#include "attempt/attempt.h"
#include "attempt/hooks.h"
#include "attempt/http_request.h"
#include "arrival.h"
#include "cli/options.h"
#include "exit_status.h"
#include "output/progress.h"
#include "show/budgets.h"
#include "show/dry_run.h"
#include "report/messages.h"
#include "run.h"
#include "streams/streams.h"
#include "sys/sys.h"

/*
 * Opens the streams and waits for what the first attempt needs: its input, and
 * the budget if that is required. Returns 0, or the exit status if one of them
 * cannot be had, and so the command is not run.
 */
static int
gather(struct run *run)
{
	struct event_loop *loop = &run->loop;
	const struct input *input;
	bool required = run->policy->budget.required, calm;

	if (!streams_open(&loop->streams, run->policy, &loop->log.midline))
		return run_without_output(run);
	input = loop->streams.inputs;
	if (input->unreplayed != NULL && loop->streams.input_count == 1)
		log_warn(&loop->log,
		    STRINGS("--replay-stdin: ", input->name, " is ",
			input->unreplayed, ", which cannot be read again"));
	calm = event_loop_await(loop, event_loop_input, run->history.deadline);
	if (calm && streams_refused(&loop->streams) != NULL)
		return run_without_input(run);
	if (calm && required)
		calm = event_loop_await(loop, event_loop_budget, NANOS_MAX) &&
		    event_loop_await_greeting(loop, run->history.deadline);
	if (calm && !budget_client_ready(&loop->budget))
		return EXIT_STATUS_NO_BUDGET;
	return calm ? 0 : EXIT_STATUS_SIGNAL + loop->ending_signal;
}

/*
 * Waits until the instant at on CLOCK_BOOTTIME and until --on-retry has ended;
 * the deadline or a signal ends that. Signals that are pending are read even if
 * that instant is past.
 */
static void
wait_for_attempt(struct run *run, nanos at)
{
	char label[MESSAGES_ROOM];
	nanos left, rest;
	bool calm;

	if (at <= sys_now(CLOCK_BOOTTIME) && run->history.made == 0 &&
	    !signals_pend())
		return;
	messages_label(label, run->policy, run->history.made + 1);
	do {
		bool over = hooks_over(&run->hook);
		nanos now = sys_now(CLOCK_BOOTTIME);

		left = at - now;
		rest = over ? 0 : run->history.deadline - now;
		/* A hook may write to the terminal: no countdown beside it. */
		if (over)
			progress_show(&run->progress, "attempt ", label, left);
		calm = event_loop_wait(&run->loop, -1,
		    progress_nap(&run->progress, left > 0 ? left : rest));
	} while (calm && (left > 0 || rest > 0));
	progress_clear(&run->progress);
	hooks_end(&run->hook, calm ? "ended by the deadline" : NULL);
}

/* Runs the command once, from the instant began on, and judges its outcome. */
static void
execute(struct run *run, nanos began)
{
	char label[MESSAGES_ROOM];
	struct outcome outcome;
	enum verdict verdict;

	environment_write(&run->environment, &run->history, NULL);
	messages_label(label, run->policy, run->history.made);
	http_request_begin(&run->request);
	outcome = attempt_run(&run->attempt, run->request.command,
	    run->environment.list, &run->history, label);
	outcome.duration = sys_now(CLOCK_BOOTTIME) - began;
	http_request_end(&run->request, &outcome);
	plan_judge(run->policy, &run->history, &outcome);
	verdict = run->history.judgement.verdict;
	attempt_settle(
	    &run->attempt, verdict == VERDICT_RETRY || verdict == VERDICT_STOP);
	/* This may take a while, so only where it matters. */
	if (verdict == VERDICT_RETRY || verdict == VERDICT_REPEAT)
		run->history.last.lost = streams_lost(&run->loop.streams);
}

/*
 * Asks --retry-if about a retry that is planned, and then the budget. It knows
 * already how the attempt ended: no other command waits for the answer.
 */
static struct step
ask(struct run *run, const struct step *planned, struct admission *foreseen)
{
	struct history *history = &run->history;
	enum hook_answer answer;
	struct step step;
	nanos now;

	environment_write(&run->environment, history, planned);
	answer = hooks_ask(&run->hook, run->policy->retry_if,
	    run->environment.list, history->deadline);
	if (answer == HOOK_ANSWER_NO)
		return plan_refused(history);
	if (answer == HOOK_ANSWER_FAILED) {
		step = plan_end(history, REASON_INTERNAL);
		step.status = EXIT_STATUS_FAILED;
		step.signal = 0;
		return step;
	}
	if (run->loop.ending_signal != 0)
		return plan_end(history, REASON_INTERRUPTED);
	now = sys_now(CLOCK_BOOTTIME);
	step = plan_wake(history, planned, now);
	if (step.again)
		*foreseen =
		    budget_client_foresee(&run->loop.budget, step.at, now);
	return step;
}

/* Makes one attempt; returns what follows from it. */
static struct step
attempt(struct run *run)
{
	nanos began = sys_now(CLOCK_BOOTTIME), ended;
	struct attempt_end end;
	struct admission foreseen;
	struct step step;
	bool retries, asks;

	if (run->report != NULL)
		report_wake(run->report, began);
	plan_begin(&run->history);
	run->said = 0;
	execute(run, began);
	ended = sys_now(CLOCK_BOOTTIME);
	/* The delay has begun when the attempt ended. */
	step = plan_next(
	    run->policy, &run->history, began + run->history.last.duration);
	event_loop_await(&run->loop, event_loop_budget, NANOS_MAX);
	retries = run->loop.ending_signal == 0 && step.again &&
	    plan_is_retry(&run->history);
	asks = retries && run->policy->retry_if != NULL;
	end = plan_tell(run->policy, &run->history, &step);
	if (retries && !asks)
		end.delay = step.delay;
	foreseen = budget_client_tell(&run->loop.budget, &end, ended);
	if (run->loop.fleet != NULL)
		link_report(run->loop.fleet, step.reason == REASON_SUCCEEDED,
		    sys_now(CLOCK_BOOTTIME));
	if (asks)
		step = ask(run, &step, &foreseen);
	if (foreseen.answer != ADMISSION_GRANTED)
		step =
		    plan_denied(run->policy, &run->history, &foreseen, ended);
	if (run->report != NULL) {
		report_attempt(run->report, &step, began);
		report_admission(run->report, &foreseen);
	}
	messages_step(&run->loop, &run->history, &step, true, run->report);
	if (retries && step.again && run->loop.ending_signal == 0) {
		environment_write(&run->environment, &run->history, &step);
		hooks_start(&run->hook, "--on-retry", run->policy->on_retry,
		    run->environment.list);
	}
	return step;
}

/* Makes the planned attempt if the budget admits it; else a wait or the end. */
static struct step
seek_admission(struct run *run, const struct step *planned)
{
	bool retry = plan_is_retry(&run->history);
	enum reason lost = REASON_NONE;
	struct admission admission;
	unsigned reason;
	struct step step;
	nanos now;

	if (run->history.made > 0)
		lost = streams_lost(&run->loop.streams);
	if (lost != REASON_NONE)
		return plan_end(&run->history, lost);
	if (!event_loop_await_admission(
		&run->loop, retry, run->history.deadline, &admission))
		return *planned;
	if (run->report != NULL)
		report_admission(run->report, &admission);
	if (admission.silence != NULL)
		messages_alone(&run->loop.log, &admission);
	/* It was usable when the wait began, and has been lost since. */
	if (run->history.made == 0 && run->policy->budget.required &&
	    run->loop.budget.private)
		return (struct step){ .status = EXIT_STATUS_NO_BUDGET,
			.reason = REASON_INTERNAL };
	run->history.paced = admission.paced;
	if (admission.answer == ADMISSION_GRANTED)
		return attempt(run);
	now = sys_now(CLOCK_BOOTTIME);
	/* The deadline has ended the question to the fleet. */
	if (admission.answer == ADMISSION_PENDING)
		return plan_wake(&run->history, planned, now);
	step = plan_denied(run->policy, &run->history, &admission, now);
	if (!step.again)
		return step;
	/* Each reason to wait is said once in a wait, in which the breaker and
	 * the budget may deny the attempt in turn. A closed key and a pace are
	 * the same reason: the server limits. */
	reason =
	    1U << (admission.answer == ADMISSION_CLOSED ? ADMISSION_PACE
							: admission.answer);
	if ((run->said & reason) == 0)
		messages_step(
		    &run->loop, &run->history, &step, false, run->report);
	run->said |= reason;
	return step;
}

/* Makes attempt after attempt; returns the step that ends the series. A signal
 * that ends a wait also ends the series, and the step means nothing then. */
static struct step
series(struct run *run)
{
	struct step step =
	    plan_first(run->policy, &run->history, sys_now(CLOCK_BOOTTIME));
	int64_t made = 0;

	while (step.again) {
		made = run->history.made;
		wait_for_attempt(run, step.at);
		if (run->loop.ending_signal != 0)
			return step;
		step = plan_wake(&run->history, &step, sys_now(CLOCK_BOOTTIME));
		if (step.again)
			step = seek_admission(run, &step);
		if (run->loop.ending_signal != 0)
			return step;
	}
	if (plan_gives_up(&run->history, &step))
		budget_client_give_up(
		    &run->loop.budget, sys_now(CLOCK_BOOTTIME));
	/* The last pass made no attempt, so nothing was said of the end yet. */
	if (run->history.made == made)
		messages_step(
		    &run->loop, &run->history, &step, false, run->report);
	return step;
}

int
main(int argc, char **argv)
{
	/* Not on the stack, which may be small and full of the environment. */
	static struct policy policy;
	static struct run run;
	struct outer outer;
	struct step step;
	int status;

	options_parse(argc, argv, &policy);
	outer = environment_outer();
	policy.attempts = environment_attempts(&policy, &outer);
	if (policy.action == ACTION_REHEARSE)
		return dry_run_show(&policy);
	if (policy.action != ACTION_RUN)
		return budgets_run(&policy);
	if (!run_open(&run, &policy, &outer))
		return EXIT_STATUS_FAILED;
	status = gather(&run);
	step = status != 0
	    ? (struct step){ .status = status, .reason = REASON_INTERNAL }
	    : policy.targets != NULL ? arrival_await(&run)
				     : series(&run);
	status = run_end(&run, step);
	if (status == 0 && policy.then != NULL)
		status = arrival_become(&run);
	/* exit(3) would flush libc's files, of which none is used. */
	_exit(status);
}
