#include "run.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "exit_status.h"
#include "report/messages.h"
#include "streams/tempfile.h"
#include "sys/sys.h"
#include "text/number.h"

/* How long the last output waits for a reader that takes nothing. */
#define LAST_WORDS (100 * NANOS_MS)

/* How long other processes may write to held output; how often to look. */
#define STRAGGLERS (100 * NANOS_MS)
#define LOOK_AGAIN (2 * NANOS_MS)

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
	progress_open(&run->progress, policy, &loop->log);
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

/* The same, with errno, before the command was run. */
static void
complain(struct run *run, const char *what)
{
	say_last(run, STRINGS(what, ": ", strerror(errno), not_run));
}

/* The same where a temporary file could not be made or filled. */
static void
complain_file(struct run *run, const char *what)
{
	const char *error = strerror(errno);
	bool named;
	const char *directory = tempfile_directory(&named);

	say_last(run,
	    STRINGS(what, ": ", error, ", in '", directory,
		named ? "' ($TMPDIR)" : "' ($TMPDIR is not set)", not_run));
}

int
run_fail(struct run *run, const char *what)
{
	complain(run, what);
	log_release(&run->loop.log, false);
	http_request_close(&run->request);
	return EXIT_STATUS_FAILED;
}

int
run_without_input(struct run *run)
{
	const struct stdin_source *input = &run->loop.streams.input;
	char most[NUMBER_SIZE_ROOM];

	errno = input->error;
	if (input->kind != STDIN_SOURCE_COPIED || input->unread)
		complain(run, "standard input");
	else if (input->too_long)
		say_last(run,
		    STRINGS("--stdin-max: more than ",
			number_put_size(most, input->most),
			" on standard input", not_run));
	else
		complain_file(
		    run, "--replay-stdin: cannot copy standard input");
	return EXIT_STATUS_FAILED;
}

int
run_without_output(struct run *run)
{
	static const char advice[] =
	    "; use 2>&1 | cat, and script -qec 'COMMAND' /dev/null if the "
	    "command needs a terminal";
	const struct streams *streams = &run->loop.streams;

	if (streams->activity.unknown != -1)
		say_last(run,
		    STRINGS("--idle-timeout: cannot watch standard ",
			streams->activity.unknown == STDOUT_FILENO ? "output: "
								   : "error: ",
			strerror(errno), not_run, advice));
	else if ((streams->out.fd != -1 && streams->out.file == -1) ||
	    (streams->err.fd != -1 && streams->err.file == -1))
		complain_file(
		    run, "cannot relay or hold output: cannot make a file");
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
deliver(struct run *run, struct capture *capture, bool hurried)
{
	struct event_loop *loop = &run->loop;
	bool calm = true;
	nanos until;

	if (capture_written(capture)) {
		until = event_loop_now(loop) + STRAGGLERS;
		while (calm && capture_written(capture) &&
		    event_loop_now(loop) < until)
			calm = event_loop_wait(loop, -1, LOOK_AGAIN);
	}
	streams_release(&loop->streams, capture);
	if (!capture->delivering)
		return calm;
	until = event_loop_now(loop) + LAST_WORDS;
	while (calm && capture->delivering) {
		nanos left = until - event_loop_now(loop);
		off_t sent = capture->sent;

		if (hurried && left <= 0)
			break;
		calm = event_loop_wait(loop, -1, hurried ? left : NANOS_MAX);
		if (capture->sent > sent)
			until = event_loop_now(loop) + LAST_WORDS;
	}
	return calm;
}

/* The errno with which output of fd could not be delivered, or 0. */
static int
error_of(const struct streams *streams, int fd)
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
undelivered(const struct run *run, const struct step *step, const char **which)
{
	const struct streams *streams = &run->loop.streams;
	bool succeeded = step->reason == REASON_SUCCEEDED;
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

int
run_end(struct run *run, struct step step)
{
	struct streams *streams = &run->loop.streams;
	struct log *log = &run->loop.log;
	const int *signal = &run->loop.ending_signal;
	bool hurried, succeeded, calm = true;
	struct sigaction action;
	const char *which;
	nanos now;
	int lost;

	/* Of the last attempt the output of a success is wanted, and the error
	 * output of a failure; with --chronic nothing of a success, and all of
	 * a failure. */
	if (*signal != 0)
		step.reason = REASON_INTERRUPTED;
	hurried = step.reason == REASON_INTERRUPTED;
	succeeded = step.reason == REASON_SUCCEEDED;
	if (succeeded != run->policy->chronic)
		calm = deliver(run, &streams->out, hurried);
	/* The deadline may have ended the last attempt before it said anything.
	 */
	if (run->history.last.end == END_DEADLINE)
		capture_fall_back(&streams->err);
	if (calm && !succeeded)
		deliver(run, &streams->err, hurried);

	lost = undelivered(run, &step, &which);
	/* Only a signal or the deadline ends the wait for a reader. */
	if (*signal == 0 && lost == ETIMEDOUT)
		signal = &run->history.last.interrupted;
	if (*signal != 0) {
		step = (struct step){ .signal = *signal,
			.reason = REASON_INTERRUPTED };
	} else if (lost == EPIPE && !run->history.last.overrun &&
	    sigaction(SIGPIPE, NULL, &action) == 0 &&
	    action.sa_handler != SIG_IGN) {
		/* It would have ended the command, had that written itself. */
		step = (struct step){ .signal = SIGPIPE,
			.reason = REASON_INTERNAL };
	} else if (lost != 0 && !run->history.last.overrun) {
		/* That output was more than may be held was said already. */
		say_last(run,
		    STRINGS("cannot write to standard ", which, ": ",
			strerror(lost)));
		step = (struct step){ .status = EXIT_STATUS_FAILED,
			.reason = REASON_INTERNAL };
	}

	/* Held lines come first, so that warnings about reports are seen. */
	now = sys_now(CLOCK_BOOTTIME);
	messages_end(log, &run->history, step.reason, now);
	log_release(log, step.reason == REASON_SUCCEEDED);
	http_request_say_missing(&run->request);
	calm = run->report == NULL ||
	    report_write(run->report, &step, now, &run->loop);
	progress_tell(
	    STRINGS(step.reason == REASON_SUCCEEDED ? "" : "gave up: ",
		verdict_reasons[step.reason].words));
	if (calm && step.reason != REASON_SUCCEEDED &&
	    step.reason != REASON_INTERRUPTED) {
		environment_write(&run->environment, &run->history, &step);
		calm = hooks_give_up(
		    &run->hook, run->policy->on_give_up, run->environment.list);
	}
	if (calm)
		event_loop_await(&run->loop, event_loop_log,
		    sys_now(CLOCK_BOOTTIME) + LAST_WORDS);
	if (run->loop.ending_signal != 0)
		step.signal = run->loop.ending_signal;
	http_request_close(&run->request);
	if (step.signal != 0)
		signals_die(step.signal);
	return step.status;
}

void
run_close(struct run *run)
{
	if (run->loop.fleet != NULL)
		link_close(&run->loop.fleet->link);
	free(run->loop.fleet);
	free(run->report);
}
