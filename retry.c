/*
 * retry: run a command again until it succeeds, or until another attempt
 * would do more harm than good. This file is the story of one invocation;
 * src/ holds its parts, CONTRIBUTING.md tells which is where.
 */
#include <alloca.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "finish.h"
#include "sys/sys.h"
#include "report/budget_command.h"
#include "output/sd_notify.h"
#include "cli/options.h"
#include "report/dry_run.h"
#include "report/messages.h"
#include "run.h"

#define STATUS_UNAVAILABLE 69

/* Of the attempts' environment; the stack may be as small as 128 KiB. */
#define STACK_MOST 16384

/*
 * Waits until the instant at on CLOCK_BOOTTIME and until --on-retry has ended,
 * which the deadline ends. Returns the signal that ended the wait, or 0. Looks
 * for one even where there is nothing to wait for.
 */
static int
wait_for_attempt(struct run *run, nanos at)
{
	char label[MESSAGES_ROOM], span[DURATION_ROOM];
	nanos wait = at - sys_now(CLOCK_BOOTTIME), left, rest;
	int number, other;

	messages_label(label, &run->policy, run->history.made + 1);
	if (wait > 0)
		sd_notify_status(STRINGS("waiting ",
		    duration_format(span, wait), " before attempt ", label));
	do {
		bool over = hooks_over(&run->hook);
		nanos now = sys_now(CLOCK_BOOTTIME);

		left = at - now;
		rest = over ? 0 : run->history.deadline - now;
		/* What a hook says must not come behind a countdown. */
		if (over)
			countdown_show(&run->countdown, label, left);
		number = event_loop_wait(&run->loop,
		    countdown_nap(&run->countdown, left > 0 ? left : rest));
	} while (number == 0 && (left > 0 || rest > 0));
	countdown_clear(&run->countdown);
	other =
	    hooks_end(&run->hook, number != 0 ? NULL : "ended by the deadline");
	return number != 0 ? number : other;
}

static void
note_attempt(struct run *run, const struct step *step, nanos began, nanos ended)
{
	const struct outcome *outcome = &run->history.last;

	if (run->attempt_log == NULL)
		return;
	*attempt_log_add(run->attempt_log) =
	    (struct entry){ .attempt = run->history.made,
		    .began = began - run->history.began,
		    .elapsed = ended - began,
		    .end = outcome->end,
		    .status = verdict_status(outcome),
		    .signal = outcome->end == END_SIGNALED ? outcome->code : 0,
		    .http = outcome->http.known ? outcome->http.code : 0,
		    .rule = run->history.judgement.rule,
		    .verdict = run->history.judgement.verdict,
		    .planned = step->again ? step->delay : -1,
		    .slept = -1 };
}

/* The command, once. */
static struct outcome
execute(struct run *run)
{
	char label[MESSAGES_ROOM];
	struct outcome outcome;

	nesting_tell(&run->nesting, &run->policy, &run->history, false);
	messages_label(label, &run->policy, run->history.made);
	sd_notify_status(STRINGS("attempt ", label, " running"));
	status_file_empty(&run->request.status, &run->loop.log);
	outcome = attempt_run(
	    &run->child, run->nesting.env, run->history.deadline, label);
	outcome.http = status_file_read(&run->request.status, &run->loop.log);
	http_request_miss(
	    &run->request, &run->policy, &outcome, &run->loop.log);
	/* To find out may take a while: only where it matters. */
	if (verdict_of(&run->policy.rules, &outcome).verdict == VERDICT_RETRY)
		outcome.lost = stdin_source_lost(&run->loop.streams.input);
	return outcome;
}

/* One attempt, and what follows from it. */
static struct step
attempt(struct run *run)
{
	nanos began = sys_now(CLOCK_BOOTTIME), ended;
	struct outcome outcome;
	struct step step;
	int number;

	if (run->attempt_log != NULL)
		attempt_log_wake(run->attempt_log, began - run->history.began);
	plan_begin(&run->history);
	outcome = execute(run);
	ended = sys_now(CLOCK_BOOTTIME);
	step = plan_next(&run->policy, &run->history, &outcome, ended);
	number = event_loop_await_budget(&run->loop);
	budget_client_tell(&run->loop.budget, run->history.judgement.reason,
	    &outcome, !run->outer.retrying, ended);
	nesting_tell(&run->nesting, &run->policy, &run->history, true);
	note_attempt(run, &step, began, ended);
	messages_step(&run->loop.log, &run->policy, &run->history, &step);
	if (step.again && number != 0)
		finish_by_signal(run, number);
	if (number != 0)
		step.signal = number;
	if (step.again)
		hooks_retry(&run->hook, run->nesting.env);
	return step;
}

/* Each reason once: while one waits they may come by turns. */
static void
tell_wait(struct run *run, const struct step *step, bool first)
{
	unsigned bit = 1U << run->history.admission.denied;

	if (first)
		run->told = 0;
	if ((run->told & bit) == 0)
		messages_step(
		    &run->loop.log, &run->policy, &run->history, step);
	run->told |= bit;
}

/* The next attempt, if the budget admits it; else a wait, or the end. */
static struct step
seek_admission(struct run *run)
{
	bool first = run->history.patience == 0;
	bool retry = run->history.made > 0;
	nanos now = sys_now(CLOCK_BOOTTIME);
	enum reason lost = REASON_NONE;
	struct admission admission;
	struct step step;
	int number = 0;

	if (retry)
		lost = stdin_source_lost(&run->loop.streams.input);
	if (lost != REASON_NONE)
		return plan_lost(&run->history, lost);
	if (budget_client_concerned(&run->loop.budget, retry, now))
		number = event_loop_await_budget(&run->loop);
	if (number != 0)
		finish_by_signal(run, number);
	now = sys_now(CLOCK_BOOTTIME);
	admission = budget_client_admit(&run->loop.budget, retry, now);
	if (admission.denied == REASON_NONE)
		return attempt(run);
	if (admission.denied == REASON_BUDGET && run->attempt_log != NULL)
		attempt_log_latest(run->attempt_log)->budget_exhausted = true;
	step = plan_denied(&run->policy, &run->history, &admission, now);
	if (step.again)
		tell_wait(run, &step, first);
	return step;
}

/* A journal, where a report is to be made of it. False, with errno. */
static bool
open_journal(struct run *run)
{
	if (run->policy.report == NULL && run->policy.metrics == NULL)
		return true;
	run->attempt_log = malloc(sizeof *run->attempt_log);
	if (run->attempt_log == NULL)
		return false;
	attempt_log_start(run->attempt_log);
	return true;
}

/*
 * Starts the clock and opens what all attempts share. Returns NULL, or what the
 * kernel refused.
 */
static const char *
prepare(struct run *run)
{
	struct policy *policy = &run->policy;
	bool limited;

	run->history = plan_start(policy, sys_now(CLOCK_BOOTTIME),
	    run->outer.deadline, policy->seeded ? policy->seed : sys_seed());
	limited = policy->timeout != 0 || run->history.deadline != NANOS_MAX;
	log_open(&run->loop.log, policy);
	run->attempt_log = NULL;
	countdown_open(&run->countdown, policy, &run->loop.log);
	budget_client_start(&run->loop.budget, &policy->share,
	    run->outer.admitted, &run->loop.log);
	http_request_start(&run->request);
	if (!event_loop_open(&run->loop))
		return "signalfd";
	if (!http_request_open(&run->request, policy, &run->loop.log))
		return "status file";
	if (!open_journal(run))
		return "report";
	if (!hooks_open(&run->hook, policy, &run->loop))
		return "hooks";
	if (!attempt_open(&run->child, policy, &run->loop, limited))
		return "eventfd";
	return NULL;
}

/* Says why there is no input to replay, or none at all. */
static void
complain_input(struct run *run)
{
	const struct stdin_source *input = &run->loop.streams.input;

	errno = input->error;
	if (input->kind != STDIN_SOURCE_SPOOLED)
		finish_complain(run, "standard input");
	else if (input->too_long)
		finish_complain_size(
		    run, "--stdin-max", input->most, " on standard input");
	else
		finish_complain_file(run, "--replay-stdin");
}

/* Says why output can be neither relayed nor held. */
static void
complain_output(struct run *run)
{
	const struct streams *streams = &run->loop.streams;

	if (capture_lacks_file(&streams->out) ||
	    capture_lacks_file(&streams->err))
		finish_complain_file(
		    run, "cannot relay or hold output: cannot make a file");
	else
		finish_complain(run, "cannot relay or hold output");
}

/*
 * Takes and opens what is not given to everybody. Returns 0, or the status of
 * an invocation that runs nothing for want of it.
 */
static int
gather(struct run *run)
{
	struct streams *streams = &run->loop.streams;
	int number;

	if (!streams_open(streams, &run->policy)) {
		complain_output(run);
		return FINISH_INTERNAL;
	}
	if (streams->terminal)
		log_say(&run->loop.log, LOUDNESS_PLAIN,
		    STRINGS("--replay-stdin: standard input is a terminal, "
			    "which cannot be read again"));
	number = event_loop_await_input(&run->loop, run->history.deadline);
	if (number != 0)
		finish_by_signal(run, number);
	if (streams->input.too_long || streams->input.error != 0) {
		complain_input(run);
		return FINISH_INTERNAL;
	}
	number = run->policy.share.required
	    ? event_loop_await_budget(&run->loop)
	    : 0;
	if (number != 0)
		finish_by_signal(run, number);
	return budget_client_ready(&run->loop.budget) ? 0 : STATUS_UNAVAILABLE;
}

/* Attempt after attempt, up to the step that ends them. */
static struct step
series(struct run *run)
{
	struct step step =
	    plan_first(&run->policy, &run->history, sys_now(CLOCK_BOOTTIME));

	while (step.again) {
		int number = wait_for_attempt(run, step.at);

		if (number != 0)
			finish_by_signal(run, number);
		step = plan_wake(&run->history, &step, sys_now(CLOCK_BOOTTIME));
		if (step.again)
			step = seek_admission(run);
	}
	if (step.attempt == 0)
		messages_step(
		    &run->loop.log, &run->policy, &run->history, &step);
	return step;
}

int
main(int argc, char **argv)
{
	struct run run;
	struct step step;
	const char *refused;
	size_t size;
	void *room;
	int status;

	run.policy = options_parse(argc, argv);
	run.outer = nesting_outer();
	nesting_settle(&run.policy, &run.outer);
	if (run.policy.action == ACTION_REHEARSE)
		return dry_run_show(&run.policy);
	if (run.policy.action != ACTION_RUN)
		return budget_command_run(&run.policy);
	refused = prepare(&run);
	if (refused != NULL)
		return finish_fail(&run, refused);
	/* Nearly always there is room on the stack, which spares a heap. */
	size = nesting_size(&run.policy, &run.outer);
	room = size <= STACK_MOST ? alloca(size) : malloc(size);
	if (room == NULL)
		return finish_fail(&run, "environment");
	nesting_open(
	    &run.nesting, room, run.request.variables, &run.policy, &run.outer);

	status = gather(&run);
	step = status != 0
	    ? (struct step){ .status = status, .reason = REASON_INTERNAL }
	    : series(&run);
	status = finish_run(&run, step);
	attempt_close(&run.child);
	hooks_close(&run.hook);
	free(run.attempt_log);
	if (size > STACK_MOST)
		free(room);
	/* What libc would do at the end is for those who used its files. */
	_exit(status);
}
