#include "run.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>
#include "exit_status.h"
#include "report/messages.h"
#include "streams/capture.h"
#include "streams/relay.h"
#include "streams/tempfile.h"
#include "sys/error.h"
#include "sys/sys.h"
#include "text/number.h"

/* How long the last output waits for a reader that takes nothing. */
#define LAST_WORDS (100 * NANOS_MS)

/* How often to look whether another process still writes to held output. */
#define LOOK_AGAIN (2 * NANOS_MS)

static const char not_run[] = "; command not run";

/* Says, as the last line, why retry itself failed. */
static void
say_last(struct run *run, const char *const strings[])
{
	struct line line = {
		.least = LOUDNESS_QUIET, .last = true, .strings = strings
	};

	log_tell(&run->loop.log, &line);
}

/* Says errno, before the command was run. */
static void
complain(struct run *run, const char *what)
{
	say_last(run, STRINGS(what, ": ", error_words(errno), not_run));
}

/* Says that a temporary file, for this or that, could not be made or filled. */
static void
complain_file(struct run *run, const char *what, const char *which)
{
	const char *error = error_words(errno);
	bool named;
	const char *directory = tempfile_directory(&named);

	say_last(run,
	    STRINGS(what, which, ": ", error, ", in '", directory,
		named ? "' ($TMPDIR)" : "' ($TMPDIR is not set)", not_run));
}

/*
 * Starts the clock and opens all parts. Returns NULL, or which of them the
 * kernel refused, with errno.
 */
static const char *
open_parts(
    struct run *run, const struct policy *policy, const struct outer *outer)
{
	/* Few invocations touch these pages. */
	static struct fleet_link fleet;
	static struct report report;
	static struct lookout lookout;
	struct event_loop *loop = &run->loop;
	const struct trace *trace = &run->environment.trace;
	uint64_t random[8];
	bool limited;

	sys_random(random, sizeof random);
	run->policy = policy;
	run->report = NULL;
	run->history = plan_start(policy, sys_now(CLOCK_BOOTTIME),
	    outer->deadline, policy->seeded ? policy->seed : random[0]);
	limited = policy->timeouts.count > 0 || policy->idle_timeout != 0 ||
	    policy->kill_orphans || run->history.deadline != NANOS_MAX;
	log_open(&loop->log, policy, environment_id(&run->environment));
	progress_open(&run->progress, policy, &loop->log);
	budget_client_start(&loop->budget, &policy->budget, &outer->budget,
	    random[7], &loop->log);
	if (!environment_open(&run->environment, policy, outer,
		run->history.deadline, random + 2))
		return "environment";
	if (!event_loop_open(loop))
		return "signalfd";
	if (policy->fleet.text != NULL) {
		loop->fleet = &fleet;
		link_start(loop->fleet, &policy->fleet,
		    policy->loudness == LOUDNESS_VERBOSE, &loop->signals);
		link_share(loop->fleet, &loop->budget, random[1]);
	}
	if (!http_request_open(&run->request, policy, &loop->log,
		&run->history.request, &run->environment))
		return "status file";
	if (policy->report != NULL || policy->metrics != NULL || trace->on) {
		run->report = &report;
		report.policy = policy;
		report.history = &run->history;
		report.trace = trace;
		report.id = environment_id(&run->environment);
		report.lookout = &lookout;
	}
	hooks_open(&run->hook, loop);
	/* What attempts need would be left to the command behind targets. */
	loop->lookout = policy->targets != NULL ? &lookout : NULL;
	if (policy->targets != NULL)
		return lookout_open(&lookout, policy, &loop->signals,
			   run->history.schedule.random)
		    ? NULL
		    : "shared memory";
	return attempt_open(&run->attempt, policy, loop, limited) ? NULL
								  : "eventfd";
}

bool
run_open(
    struct run *run, const struct policy *policy, const struct outer *outer)
{
	const char *refused = open_parts(run, policy, outer);

	if (refused == NULL)
		return true;
	complain(run, refused);
	log_release(&run->loop.log, false);
	http_request_close(&run->request);
	return false;
}

int
run_without_input(struct run *run)
{
	const struct input *input = streams_refused(&run->loop.streams);
	char most[NUMBER_SIZE_ROOM];

	errno = input->error;
	if (input->kind != INPUT_COPIED || input->unread)
		complain(run, input->name);
	else if (input->length > input->most)
		say_last(run,
		    STRINGS("--stdin-max: more than ",
			number_put_size(most, input->most), " on ", input->name,
			not_run));
	else
		complain_file(run, "--replay-stdin: cannot copy ", input->name);
	return EXIT_STATUS_FAILED;
}

int
run_without_output(struct run *run)
{
	static const char advice[] =
	    "; use 2>&1 | cat, and script -qec 'COMMAND' /dev/null if the "
	    "command needs a terminal";
	const struct streams *streams = &run->loop.streams;

	if (streams->unwatched != -1)
		say_last(run,
		    STRINGS("--idle-timeout: cannot watch standard ",
			streams->unwatched == STDOUT_FILENO ? "output: "
							    : "error: ",
			error_words(errno), not_run, advice));
	else if ((streams->out.fd != -1 && streams->out.file == -1) ||
	    (streams->err.fd != -1 && streams->err.file == -1))
		complain_file(
		    run, "cannot relay or hold output: ", "cannot make a file");
	else
		complain(run, "cannot relay or hold output");
	return EXIT_STATUS_FAILED;
}

/*
 * Waits a little for other processes that write to held output: a process
 * substitution ends after its shell. Then delivers it, however slow its reader
 * is; if hurried, only as long as the reader takes something. False if a signal
 * has ended the wait.
 */
static bool
deliver_capture(struct run *run, struct capture *capture, bool hurried)
{
	struct event_loop *loop = &run->loop;
	bool calm = true;
	nanos until;

	until = signals_now(&loop->signals) + STREAMS_STRAGGLERS;
	while (calm && capture_written(capture) &&
	    signals_now(&loop->signals) < until)
		calm = event_loop_wait(loop, -1, LOOK_AGAIN);
	streams_release(&loop->streams, capture);
	if (!capture->delivering)
		return calm;
	until = signals_now(&loop->signals) + LAST_WORDS;
	while (calm && capture->delivering) {
		nanos left = until - signals_now(&loop->signals);
		off_t sent = capture->sent;

		if (hurried && left <= 0)
			break;
		calm = event_loop_wait(loop, -1, hurried ? left : NANOS_MAX);
		if (capture->sent > sent)
			until = signals_now(&loop->signals) + LAST_WORDS;
	}
	return calm;
}

/*
 * Of the last attempt the output of a success is wanted, and the error output
 * of a failure; with --chronic nothing of a success, and all of a failure.
 */
static void
deliver(struct run *run, enum reason reason)
{
	struct streams *streams = &run->loop.streams;
	bool hurried = reason == REASON_INTERRUPTED;
	bool succeeded = reason == REASON_SUCCEEDED, calm = true;

	if (succeeded != run->policy->chronic)
		calm = deliver_capture(run, &streams->out, hurried);
	/* The deadline may have ended the last attempt before it said anything.
	 */
	if (run->history.last.end == END_DEADLINE)
		capture_fall_back(&streams->err);
	if (calm && !succeeded)
		deliver_capture(run, &streams->err, hurried);
}

/* The errno with which output of fd could not be delivered, or 0. */
static int
error_of(struct streams *streams, int fd)
{
	const struct capture *capture = streams_capture(streams, fd);

	return capture->fd != -1 ? capture->error
				 : relay_error(&streams->relay, fd);
}

/*
 * The errno with which output could not be delivered, or 0; *which names the
 * stream. That standard error has no reader is no error.
 */
static int
undelivered(struct run *run, bool succeeded, const char **which)
{
	struct streams *streams = &run->loop.streams;
	int error = error_of(streams, STDOUT_FILENO);

	*which = "output";
	/* A failed command's output may be cut off by its reader. */
	if (error != 0 && (succeeded || (error != ETIMEDOUT && error != EPIPE)))
		return error;
	*which = "error";
	error = error_of(streams, STDERR_FILENO);
	if (error == EPIPE || (error == ETIMEDOUT && !succeeded))
		return 0;
	return error;
}

/* How retry ends: as the step says, unless a signal has ended it or output is
 * lost, which this says. */
static struct step
conclude(struct run *run, const struct step *step)
{
	const struct outcome *last = &run->history.last;
	int signal = run->loop.ending_signal;
	struct sigaction action;
	const char *which;
	int lost = undelivered(run, step->reason == REASON_SUCCEEDED, &which);

	/* Only a signal or the deadline ends the wait for a reader. */
	if (signal == 0 && lost == ETIMEDOUT)
		signal = last->interrupted;
	if (signal != 0)
		return (struct step){ .signal = signal,
			.reason = REASON_INTERRUPTED };
	/* That output was more than may be held was said already. */
	if (lost == 0 || last->overrun)
		return *step;
	/* It would have ended the command, had that written itself. */
	if (lost == EPIPE && sigaction(SIGPIPE, NULL, &action) == 0 &&
	    action.sa_handler != SIG_IGN)
		return (struct step){ .signal = SIGPIPE,
			.reason = REASON_INTERNAL };
	say_last(run,
	    STRINGS(
		"cannot write to standard ", which, ": ", error_words(lost)));
	return (struct step){ .status = EXIT_STATUS_FAILED,
		.reason = REASON_INTERNAL };
}

/*
 * Tells all who want to know how retry ends, and closes what it has opened. A
 * signal that comes meanwhile changes the step (report_write).
 */
static void
leave(struct run *run, struct step *step)
{
	nanos now = sys_now(CLOCK_BOOTTIME);
	bool calm;

	/* Held lines come first, so that warnings about reports are seen. */
	messages_end(&run->loop.log, &run->history, step->reason, now);
	log_release(&run->loop.log, step->reason == REASON_SUCCEEDED);
	http_request_say_missing(&run->request);
	calm = run->report == NULL ||
	    report_write(run->report, step, now, &run->loop);
	if (calm && step->reason != REASON_SUCCEEDED &&
	    step->reason != REASON_INTERRUPTED) {
		environment_write(&run->environment, &run->history, step);
		calm = hooks_give_up(
		    &run->hook, run->policy->on_give_up, run->environment.list);
	}
	if (calm)
		event_loop_await(&run->loop, event_loop_log,
		    sys_now(CLOCK_BOOTTIME) + LAST_WORDS);
	http_request_close(&run->request);
	if (run->loop.fleet != NULL)
		link_close(run->loop.fleet);
}

int
run_end(struct run *run, struct step step)
{
	if (run->loop.ending_signal != 0)
		step.reason = REASON_INTERRUPTED;
	deliver(run, step.reason);
	step = conclude(run, &step);
	leave(run, &step);
	if (run->loop.ending_signal != 0)
		step.signal = run->loop.ending_signal;
	if (step.signal != 0)
		signals_die(step.signal);
	return step.status;
}
