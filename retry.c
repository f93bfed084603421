/*
 * retry: run a command again until it succeeds, or until another attempt
 * would do more harm than good. This file is the story of one invocation;
 * src/ holds its parts, CONTRIBUTING.md tells which is where.
 */
#include <alloca.h>
#include <errno.h>
#include <string.h>
#include "src/child.h"
#include "src/context.h"
#include "src/options.h"
#include "src/report.h"

#define STATUS_INTERNAL 125

/* How long the last lines wait for a slow reader once the deadline is past. */
#define LAST_WORDS (100 * NANOS_MS)

/* All of one invocation. */
struct run {
	struct policy policy; /* const once it is filled in */
	struct context context;
	struct pump pump;
	struct child child;
	struct history history;
};

/* What the kernel refused before anything could run. */
static int
fail(struct run *run, const char *what)
{
	lines_say(&run->pump.lines, LOUDNESS_QUIET,
	    STRINGS(what, ": ", strerror(errno)));
	return STATUS_INTERNAL;
}

/*
 * Waits until the instant at. Returns the signal that ended the wait, or 0.
 * Other signals are meant for a command, and there is none now.
 */
static int
sleep_until(struct run *run, nanos at)
{
	for (;;) {
		nanos left = at - context_now(CLOCK_BOOTTIME);
		struct wakeup wakeup;

		if (left <= 0)
			return 0;
		wakeup = pump_wait(&run->pump, left);
		if (signals_end_series(wakeup.signal))
			return wakeup.signal;
		if (wakeup.signal == SIGCHLD)
			child_reap_orphans(&run->child);
	}
}

/* Lines that a slow reader has not taken yet are still its due. */
static void
say_last_words(struct run *run)
{
	nanos until = NANOS_MAX;

	if (run->history.deadline != NANOS_MAX) {
		nanos least = context_now(CLOCK_BOOTTIME) + LAST_WORDS;

		until = run->history.deadline > least ? run->history.deadline
						      : least;
	}
	while (run->pump.lines.length > 0) {
		nanos left = until - context_now(CLOCK_BOOTTIME);
		struct wakeup wakeup;

		if (left <= 0)
			return;
		wakeup = pump_wait(&run->pump, left);
		if (signals_end_series(wakeup.signal))
			return;
	}
}

/* Ends as the step says: with its status, or by its signal. */
static int
finish(struct run *run, const struct step *step)
{
	report_end(&run->pump.lines, &run->history, step->reason,
	    context_now(CLOCK_BOOTTIME));
	say_last_words(run);
	if (step->signal != 0)
		signals_die(step->signal);
	return step->status;
}

/* Ends by a signal that came when there was no command to pass it to. */
static _Noreturn void
die(struct run *run, int number)
{
	report_end(&run->pump.lines, &run->history, REASON_INTERRUPTED,
	    context_now(CLOCK_BOOTTIME));
	signals_die(number);
}

/* One attempt, and what follows from it. */
static struct step
attempt(struct run *run)
{
	char label[REPORT_ROOM];
	struct outcome outcome;
	struct step step;

	context_tell(&run->context, &run->policy, &run->history);
	report_label(label, &run->policy, &run->history);
	outcome = child_run(
	    &run->child, run->context.env, run->history.deadline, label);
	step = plan_next(
	    &run->policy, &run->history, &outcome, context_now(CLOCK_BOOTTIME));
	report_step(&run->pump.lines, &run->policy, &run->history, &step);
	return step;
}

int
main(int argc, char **argv)
{
	struct run run;
	struct step step;
	char **env;
	bool limited;

	run.policy = options_parse(argc, argv);
	run.history = plan_start(&run.policy, context_now(CLOCK_BOOTTIME),
	    context_deadline(),
	    run.policy.seeded ? run.policy.seed : context_seed());
	limited = run.policy.timeout != 0 || run.history.deadline != NANOS_MAX;
	lines_open(&run.pump.lines, run.policy.loudness);
	/* On the stack, which spares a heap: execve(2) lets an environment,
	 * its pointers included, take no more than a quarter of it. */
	env = alloca(context_elements() * sizeof *env);
	context_open(&run.context, env);
	if (!signals_open(&run.pump.signals))
		return fail(&run, "signalfd");
	if (!child_open(&run.child, &run.policy, &run.pump, limited))
		return fail(&run, "eventfd");

	step =
	    plan_first(&run.policy, &run.history, context_now(CLOCK_BOOTTIME));
	while (step.again) {
		int number = sleep_until(&run, step.at);

		if (number != 0)
			die(&run, number);
		step =
		    plan_wake(&run.history, &step, context_now(CLOCK_BOOTTIME));
		if (step.again)
			step = attempt(&run);
	}
	if (step.attempt == 0)
		report_step(&run.pump.lines, &run.policy, &run.history, &step);
	return finish(&run, &step);
}
