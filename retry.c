/*
 * retry: run a command again until it succeeds, or until another attempt
 * would do more harm than good. This file is the story of one invocation;
 * src/ holds its parts, CONTRIBUTING.md tells which is where.
 */
#include <alloca.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "src/child.h"
#include "src/context.h"
#include "src/ledger.h"
#include "src/nesting.h"
#include "src/options.h"
#include "src/report.h"
#include "src/request.h"

#define STATUS_UNAVAILABLE 69
#define STATUS_INTERNAL 125

/* How long the last lines wait for a slow reader. */
#define LAST_WORDS (100 * NANOS_MS)

/* Of the attempts' environment; the stack may be as small as 128 KiB. */
#define STACK_MOST 16384

/* All of one invocation. */
struct run {
	struct policy policy; /* const once it is filled in */
	struct outer outer;
	struct nesting nesting;
	struct pump pump;
	struct request request;
	struct child child;
	struct history history;
};

/* What the kernel refused before anything could run. */
static int
fail(struct run *run, const char *what)
{
	lines_say(&run->pump.lines, LOUDNESS_QUIET,
	    STRINGS(what, ": ", strerror(errno)));
	status_close(&run->request.status);
	return STATUS_INTERNAL;
}

/*
 * Waits until the instant at. Returns the signal that ended the wait, or 0.
 * Other signals are meant for a command, and there is none now. Looks once
 * even where there is nothing to wait for: a signal may have come already.
 */
static int
sleep_until(struct run *run, nanos at)
{
	for (;;) {
		nanos left = at - context_now(CLOCK_BOOTTIME);
		struct wakeup wakeup = pump_wait(&run->pump, left);

		if (signals_end_series(wakeup.signal))
			return wakeup.signal;
		if (wakeup.signal == SIGCHLD)
			child_reap_orphans(&run->child);
		if (wakeup.signal == 0 && left <= 0)
			return 0;
	}
}

/* Lines that a slow reader has not taken yet have a moment left. */
static void
say_last_words(struct run *run)
{
	nanos until = context_now(CLOCK_MONOTONIC) + LAST_WORDS;

	while (run->pump.lines.length > 0) {
		nanos left = until - context_now(CLOCK_MONOTONIC);

		if (left <= 0)
			return;
		pump_wait(&run->pump, left);
	}
}

/* Ends as the step says: with its status, or by its signal. */
static int
finish(struct run *run, const struct step *step)
{
	int lost = streams_error(&run->pump.streams);
	int status = step->status;

	/* What failed anyway need not have had its say to the end. */
	if (lost == ETIMEDOUT && step->reason != REASON_SUCCEEDED)
		lost = 0;
	if (lost != 0) {
		lines_say(&run->pump.lines, LOUDNESS_QUIET,
		    STRINGS(
			"cannot write to standard output: ", strerror(lost)));
		status = STATUS_INTERNAL;
	}
	report_end(&run->pump.lines, &run->history,
	    lost != 0 ? REASON_INTERNAL : step->reason,
	    context_now(CLOCK_BOOTTIME));
	say_last_words(run);
	status_close(&run->request.status);
	if (step->signal != 0 && lost == 0)
		signals_die(step->signal);
	return status;
}

/* Ends by a signal that came when there was no command to pass it to. */
static _Noreturn void
die(struct run *run, int number)
{
	report_end(&run->pump.lines, &run->history, REASON_INTERRUPTED,
	    context_now(CLOCK_BOOTTIME));
	status_close(&run->request.status);
	signals_die(number);
}

/* One attempt, and what follows from it. */
static struct step
attempt(struct run *run)
{
	char label[REPORT_ROOM];
	struct outcome outcome;
	struct step step;
	nanos now;

	plan_begin(&run->history);
	nesting_tell(&run->nesting, &run->policy, &run->history);
	report_label(label, &run->policy, &run->history);
	status_empty(&run->request.status, &run->pump.lines);
	outcome = child_run(
	    &run->child, run->nesting.env, run->history.deadline, label);
	outcome.http = status_read(&run->request.status, &run->pump.lines);
	now = context_now(CLOCK_BOOTTIME);
	step = plan_next(&run->policy, &run->history, &outcome, now);
	budget_tell(&run->pump.budget, run->history.reason, &outcome,
	    !run->outer.retrying, now);
	report_step(&run->pump.lines, &run->policy, &run->history, &step);
	return step;
}

/* The next attempt, if the budget admits it; else a wait, or the end. */
static struct step
seek_admission(struct run *run)
{
	bool first = run->history.patience == 0;
	nanos now = context_now(CLOCK_BOOTTIME);
	struct admission admission =
	    budget_admit(&run->pump.budget, run->history.made > 0, now);
	struct step step;

	if (admission.denied == REASON_NONE)
		return attempt(run);
	step = plan_denied(&run->policy, &run->history, &admission, now);
	if (step.again && first)
		report_step(
		    &run->pump.lines, &run->policy, &run->history, &step);
	return step;
}

/* Opens what all attempts share. Returns NULL, or what the kernel refused. */
static const char *
prepare(struct run *run)
{
	bool limited =
	    run->policy.timeout != 0 || run->history.deadline != NANOS_MAX;

	lines_open(&run->pump.lines, run->policy.loudness);
	budget_start(&run->pump.budget, &run->policy.share, run->outer.admitted,
	    &run->pump.lines);
	run->request.status.path = NULL;
	if (!signals_open(&run->pump.signals))
		return "signalfd";
	if (!request_open(&run->request, &run->policy, &run->pump.lines))
		return "status file";
	if (!streams_open(&run->pump.streams, &run->policy.watches))
		return "relay";
	if (!child_open(&run->child, &run->policy, &run->pump, limited))
		return "eventfd";
	return NULL;
}

/* Attempt after attempt, up to the step that ends them. */
static struct step
series(struct run *run)
{
	struct step step = plan_first(
	    &run->policy, &run->history, context_now(CLOCK_BOOTTIME));

	while (step.again) {
		int number = sleep_until(run, step.at);

		if (number != 0)
			die(run, number);
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
	if (run.policy.action != ACTION_RUN)
		return ledger_run(&run.policy);
	run.outer = nesting_outer();
	nesting_settle(&run.policy, &run.outer);
	run.history = plan_start(&run.policy, context_now(CLOCK_BOOTTIME),
	    run.outer.deadline,
	    run.policy.seeded ? run.policy.seed : context_seed());
	refused = prepare(&run);
	if (refused != NULL)
		return fail(&run, refused);
	if (!budget_ready(&run.pump.budget)) {
		status_close(&run.request.status);
		return STATUS_UNAVAILABLE;
	}
	/* Nearly always there is room on the stack, which spares a heap. */
	size = nesting_size(&run.policy, &run.outer);
	room = size <= STACK_MOST ? alloca(size) : malloc(size);
	if (room == NULL)
		return fail(&run, "environment");
	nesting_open(
	    &run.nesting, room, run.request.variables, &run.policy, &run.outer);

	step = series(&run);
	status = finish(&run, &step);
	child_close(&run.child);
	if (size > STACK_MOST)
		free(room);
	return status;
}
