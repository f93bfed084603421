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
 * Waits until the instant at, and then for --on-retry to be over, but no longer
 * than to the deadline. Returns the signal that ended the wait, or 0. Other
 * signals are meant for a command, and there is none now. Looks once even where
 * there is nothing to wait for: a signal may have come already.
 */
static int
sleep_until(struct run *run, nanos at)
{
	char label[REPORT_ROOM], span[DURATION_ROOM];
	nanos wait = at - context_now(CLOCK_BOOTTIME);

	report_label(label, &run->policy, run->history.made + 1);
	if (wait > 0)
		notify_status(STRINGS("waiting ", duration_format(span, wait),
		    " before attempt ", label));
	for (;;) {
		bool over = hooks_over(&run->hook);
		nanos now = context_now(CLOCK_BOOTTIME), left = at - now;
		nanos rest = over ? 0 : run->history.deadline - now;
		struct wakeup wakeup;

		/* What a hook says must not come behind a countdown. */
		if (over)
			progress_show(&run->progress, label, left);
		wakeup = pump_wait(&run->pump,
		    progress_nap(&run->progress, left > 0 ? left : rest));
		if (signals_end_series(wakeup.signal))
			return wakeup.signal;
		if (wakeup.signal == SIGCHLD) {
			hooks_over(&run->hook);
			child_reap_orphans(run->hook.pid);
		}
		if (wakeup.signal == 0 && left <= 0 && rest <= 0)
			return 0;
	}
}

/* The same, with nothing left of the wait when it is over. */
static int
sleep_well(struct run *run, nanos at)
{
	int number = sleep_until(run, at), other;

	progress_clear(&run->progress);
	other =
	    hooks_end(&run->hook, number != 0 ? NULL : "ended by the deadline");
	return number != 0 ? number : other;
}

static void
note_attempt(struct run *run, const struct step *step, nanos began, nanos ended)
{
	const struct outcome *outcome = &run->history.last;

	if (run->journal == NULL)
		return;
	*journal_add(run->journal) =
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
	char label[REPORT_ROOM];
	struct outcome outcome;

	nesting_tell(&run->nesting, &run->policy, &run->history, false);
	report_label(label, &run->policy, run->history.made);
	notify_status(STRINGS("attempt ", label, " running"));
	status_empty(&run->request.status, &run->pump.lines);
	outcome = child_run(
	    &run->child, run->nesting.env, run->history.deadline, label);
	outcome.http = status_read(&run->request.status, &run->pump.lines);
	request_miss(&run->request, &run->policy, &outcome, &run->pump.lines);
	/* To find out may take a while: only where it matters. */
	if (verdict_of(&run->policy.rules, &outcome).verdict == VERDICT_RETRY)
		outcome.lost = input_lost(&run->pump.plumbing.input);
	return outcome;
}

/*
 * Lets another process finish with the file of the budget. Returns the signal
 * that ended the wait, or 0.
 */
static int
await_budget(struct run *run)
{
	int number = 0;
	nanos nap;

	while (number == 0 && (nap = budget_settle(&run->pump.budget)) > 0) {
		struct wakeup wakeup = pump_wait(&run->pump, nap);

		if (signals_end_series(wakeup.signal))
			number = wakeup.signal;
		if (wakeup.signal == SIGCHLD)
			child_reap_orphans(run->hook.pid);
	}
	return number;
}

/* One attempt, and what follows from it. */
static struct step
attempt(struct run *run)
{
	nanos began = context_now(CLOCK_BOOTTIME), ended;
	struct outcome outcome;
	struct step step;
	int number;

	if (run->journal != NULL)
		journal_wake(run->journal, began - run->history.began);
	plan_begin(&run->history);
	outcome = execute(run);
	ended = context_now(CLOCK_BOOTTIME);
	step = plan_next(&run->policy, &run->history, &outcome, ended);
	number = await_budget(run);
	budget_tell(&run->pump.budget, run->history.judgement.reason, &outcome,
	    !run->outer.retrying, ended);
	nesting_tell(&run->nesting, &run->policy, &run->history, true);
	note_attempt(run, &step, began, ended);
	report_step(&run->pump.lines, &run->policy, &run->history, &step);
	if (step.again && number != 0)
		closing_die(run, number);
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
		report_step(
		    &run->pump.lines, &run->policy, &run->history, step);
	run->told |= bit;
}

/* The next attempt, if the budget admits it; else a wait, or the end. */
static struct step
seek_admission(struct run *run)
{
	bool first = run->history.patience == 0;
	bool retry = run->history.made > 0;
	nanos now = context_now(CLOCK_BOOTTIME);
	enum reason lost = REASON_NONE;
	struct admission admission;
	struct step step;
	int number = 0;

	if (retry)
		lost = input_lost(&run->pump.plumbing.input);
	if (lost != REASON_NONE)
		return plan_lost(&run->history, lost);
	if (budget_concerned(&run->pump.budget, retry, now))
		number = await_budget(run);
	if (number != 0)
		closing_die(run, number);
	now = context_now(CLOCK_BOOTTIME);
	admission = budget_admit(&run->pump.budget, retry, now);
	if (admission.denied == REASON_NONE)
		return attempt(run);
	if (admission.denied == REASON_BUDGET && run->journal != NULL)
		journal_latest(run->journal)->budget_exhausted = true;
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
	run->journal = malloc(sizeof *run->journal);
	if (run->journal == NULL)
		return false;
	journal_start(run->journal);
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

	run->history =
	    plan_start(policy, context_now(CLOCK_BOOTTIME), run->outer.deadline,
		policy->seeded ? policy->seed : context_seed());
	limited = policy->timeout != 0 || run->history.deadline != NANOS_MAX;
	lines_open(&run->pump.lines, policy);
	run->journal = NULL;
	progress_open(&run->progress, policy, &run->pump.lines);
	budget_start(&run->pump.budget, &policy->share, run->outer.admitted,
	    &run->pump.lines);
	request_start(&run->request);
	if (!signals_open(&run->pump.signals))
		return "signalfd";
	if (!request_open(&run->request, policy, &run->pump.lines))
		return "status file";
	if (!open_journal(run))
		return "report";
	if (!hooks_open(&run->hook, policy, &run->pump))
		return "hooks";
	if (!child_open(&run->child, policy, &run->pump, limited))
		return "eventfd";
	return NULL;
}

/* Says why there is no input to replay, or none at all. */
static void
complain_input(struct run *run)
{
	const struct input *input = &run->pump.plumbing.input;

	errno = input->error;
	if (input->kind != INPUT_SPOOLED)
		closing_complain(run, "standard input");
	else if (input->too_long)
		closing_complain_size(
		    run, "--stdin-max", input->most, " on standard input");
	else
		closing_complain_file(run, "--replay-stdin");
}

/*
 * Reads what --replay-stdin is to replay, or what the deadline leaves time for.
 * False where that went wrong.
 */
static bool
take_input(struct run *run)
{
	const struct input *input = &run->pump.plumbing.input;

	while (!input_ready(input)) {
		nanos left =
		    run->history.deadline - context_now(CLOCK_BOOTTIME);
		struct wakeup wakeup = pump_wait(&run->pump, left);

		if (signals_end_series(wakeup.signal))
			closing_die(run, wakeup.signal);
		if (wakeup.signal == SIGCHLD)
			child_reap_orphans(0);
		if (left <= 0)
			return true;
	}
	return !input->too_long && input->error == 0;
}

/* Says why output can be neither relayed nor held. */
static void
complain_output(struct run *run)
{
	const struct plumbing *plumbing = &run->pump.plumbing;

	if (hold_lacks_file(&plumbing->out) || hold_lacks_file(&plumbing->err))
		closing_complain_file(
		    run, "cannot relay or hold output: cannot make a file");
	else
		closing_complain(run, "cannot relay or hold output");
}

/*
 * Takes and opens what is not given to everybody. Returns 0, or the status of
 * an invocation that runs nothing for want of it.
 */
static int
gather(struct run *run)
{
	struct plumbing *plumbing = &run->pump.plumbing;
	int number;

	if (!plumbing_open(plumbing, &run->policy)) {
		complain_output(run);
		return CLOSING_INTERNAL;
	}
	if (plumbing->terminal)
		lines_say(&run->pump.lines, LOUDNESS_PLAIN,
		    STRINGS("--replay-stdin: standard input is a terminal, "
			    "which cannot be read again"));
	if (!take_input(run)) {
		complain_input(run);
		return CLOSING_INTERNAL;
	}
	number = run->policy.share.required ? await_budget(run) : 0;
	if (number != 0)
		closing_die(run, number);
	return budget_ready(&run->pump.budget) ? 0 : STATUS_UNAVAILABLE;
}

/* Attempt after attempt, up to the step that ends them. */
static struct step
series(struct run *run)
{
	struct step step = plan_first(
	    &run->policy, &run->history, context_now(CLOCK_BOOTTIME));

	while (step.again) {
		int number = sleep_well(run, step.at);

		if (number != 0)
			closing_die(run, number);
		step = plan_wake(
		    &run->history, &step, context_now(CLOCK_BOOTTIME));
		if (step.again)
			step = seek_admission(run);
	}
	if (step.attempt == 0)
		report_step(
		    &run->pump.lines, &run->policy, &run->history, &step);
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
		return rehearsal_run(&run.policy);
	if (run.policy.action != ACTION_RUN)
		return ledger_run(&run.policy);
	refused = prepare(&run);
	if (refused != NULL)
		return closing_fail(&run, refused);
	/* Nearly always there is room on the stack, which spares a heap. */
	size = nesting_size(&run.policy, &run.outer);
	room = size <= STACK_MOST ? alloca(size) : malloc(size);
	if (room == NULL)
		return closing_fail(&run, "environment");
	nesting_open(
	    &run.nesting, room, run.request.variables, &run.policy, &run.outer);

	status = gather(&run);
	step = status != 0
	    ? (struct step){ .status = status, .reason = REASON_INTERNAL }
	    : series(&run);
	status = closing_finish(&run, step);
	child_close(&run.child);
	hooks_close(&run.hook);
	free(run.journal);
	if (size > STACK_MOST)
		free(room);
	/* What libc would do at the end is for those who used its files. */
	_exit(status);
}
