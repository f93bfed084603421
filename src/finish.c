#include "finish.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>
#include "exit_status.h"
#include "sys/sys.h"
#include "output/sd_notify.h"
#include "text/number.h"
#include "report/report_file.h"
#include "report/messages.h"
#include "streams/tempfile.h"

/* How long the last lines wait for a slow reader. */
#define LAST_WORDS (100 * NANOS_MS)

/* How long others may write to what is held, and how often we look. */
#define STRAGGLERS (100 * NANOS_MS)
#define GLANCES (2 * NANOS_MS)

/* Says what is the matter, as the last line. */
static void
conclude(struct run *run, const char *const strings[])
{
	struct line line = {
		.least = LOUDNESS_QUIET, .last = true, .strings = strings
	};

	log_tell(&run->loop.log, &line);
}

/* The same, with errno. */
static void
complain(struct run *run, const char *what)
{
	conclude(run, STRINGS(what, ": ", strerror(errno)));
}

/* The same where a temporary file could not be had. */
static void
complain_file(struct run *run, const char *what)
{
	const char *error = strerror(errno);
	bool named;
	const char *directory = tempfile_directory(&named);

	conclude(run,
	    STRINGS(what, ": ", error, ", in '", directory,
		named ? "' ($TMPDIR)" : "' ($TMPDIR is not set)"));
}

int
finish_fail(struct run *run, const char *what)
{
	complain(run, what);
	log_release(&run->loop.log, false);
	http_request_close(&run->request);
	return EXIT_STATUS_FAILED;
}

int
finish_without_input(struct run *run)
{
	const struct stdin_source *input = &run->loop.streams.input;
	char most[NUMBER_SIZE_ROOM];

	errno = input->error;
	if (input->kind != STDIN_SOURCE_SPOOLED)
		complain(run, "standard input");
	else if (input->too_long)
		conclude(run,
		    STRINGS("--stdin-max: more than ",
			number_put_size(most, input->most),
			" on standard input"));
	else
		complain_file(run, "--replay-stdin");
	return EXIT_STATUS_FAILED;
}

int
finish_without_output(struct run *run)
{
	const struct streams *streams = &run->loop.streams;

	if (capture_lacks_file(&streams->out) ||
	    capture_lacks_file(&streams->err))
		complain_file(
		    run, "cannot relay or hold output: cannot make a file");
	else
		complain(run, "cannot relay or hold output");
	return EXIT_STATUS_FAILED;
}

/*
 * Waits a little for who else writes to what is held: a process substitution
 * ends after its shell. Returns the signal that ended the wait, or 0.
 */
static int
await_stragglers(struct run *run, const struct capture *capture)
{
	nanos until = event_loop_now(&run->loop) + STRAGGLERS;
	int number = 0;

	while (number == 0 && capture_written(capture) &&
	    event_loop_now(&run->loop) < until)
		number = event_loop_wait(&run->loop, GLANCES);
	return number;
}

/*
 * Waits for what is held to reach its reader, however slow; hurried, only as
 * long as the reader takes something. Returns the signal that ended the wait,
 * or 0.
 */
static int
deliver(struct run *run, struct capture *capture, bool hurried)
{
	int number = await_stragglers(run, capture);
	nanos until = event_loop_now(&run->loop) + LAST_WORDS;

	streams_release(&run->loop.streams, capture);
	while (number == 0 && !capture_done(capture)) {
		nanos left = until - event_loop_now(&run->loop);
		off_t sent = capture->sent;

		if (hurried && left <= 0)
			return 0;
		number =
		    event_loop_wait(&run->loop, hurried ? left : NANOS_MAX);
		if (capture->sent > sent)
			until = event_loop_now(&run->loop) + LAST_WORDS;
	}
	return number;
}

/* Why what came by fd did not get where it was to go, or 0. */
static int
error_of(const struct streams *streams, const struct capture *capture, int fd)
{
	return capture->fd != -1 ? capture->error
				 : relay_error(&streams->streams, fd);
}

/*
 * Why the command's output, which is *which, did not get where it was to go, or
 * 0. That nobody reads what a failure had to say is nobody's fault.
 */
static int
undelivered(const struct run *run, const struct step *step, const char **which)
{
	const struct streams *streams = &run->loop.streams;
	bool succeeded = step->reason == REASON_SUCCEEDED;
	int error = error_of(streams, &streams->out, STDOUT_FILENO);

	*which = "output";
	/* What failed need not have had its say to the end. */
	if (error != 0 && (succeeded || error != ETIMEDOUT))
		return error;
	*which = "error";
	error = error_of(streams, &streams->err, STDERR_FILENO);
	if (error == EPIPE || (error == ETIMEDOUT && !succeeded))
		return 0;
	return error;
}

/* Whether SIGPIPE would have ended the command, had it written itself. */
static bool
is_mortal(void)
{
	struct sigaction action;

	return sigaction(SIGPIPE, NULL, &action) == 0 &&
	    action.sa_handler != SIG_IGN;
}

/* What an error of delivery makes of the end. */
static struct step
lose(struct run *run, int error, const char *which)
{
	if (error == EPIPE && is_mortal())
		return (struct step){ .signal = SIGPIPE,
			.reason = REASON_INTERNAL };
	conclude(run,
	    STRINGS("cannot write to standard ", which, ": ", strerror(error)));
	return (struct step){ .status = EXIT_STATUS_FAILED,
		.reason = REASON_INTERNAL };
}

/* How it ends where a signal ended one of the last waits. */
static struct step
interrupted(int number)
{
	return (struct step){ .signal = number, .reason = REASON_INTERRUPTED };
}

/*
 * Writes what is to be written about all of it. What is held is let go before:
 * what cannot be written is said in any case. Returns the signal that ended a
 * wait for a reader, or 0.
 */
static int
record(struct run *run, const struct step *step)
{
	nanos now = sys_now(CLOCK_BOOTTIME);
	struct ending ending = { .reason = step->reason,
		.status = step->signal != 0 ? EXIT_STATUS_SIGNAL + step->signal
					    : step->status,
		.signal = step->signal,
		.elapsed = now - run->history.began,
		.id = nesting_id(&run->nesting) };
	int number = 0;

	messages_end(
	    &run->loop.log, run->policy, &run->history, step->reason, now);
	log_release(&run->loop.log, step->reason == REASON_SUCCEEDED);
	if (run->attempt_log != NULL) {
		attempt_log_wake(run->attempt_log, now - run->history.began);
		number = report_file_write(
		    run->policy, run->attempt_log, &ending, &run->loop);
	}
	sd_notify_status(
	    STRINGS(ending.reason == REASON_SUCCEEDED ? "" : "gave up: ",
		verdict_reason_words(ending.reason)));
	return number;
}

int
finish_run(struct run *run, struct step step)
{
	struct streams *streams = &run->loop.streams;
	bool succeeded = step.reason == REASON_SUCCEEDED;
	const char *which;
	int number, lost;

	number = deliver(run, succeeded ? &streams->out : &streams->err,
	    step.reason == REASON_INTERRUPTED);
	lost = undelivered(run, &step, &which);
	if (number != 0)
		step = interrupted(number);
	/* What did not get anywhere because it was too much is told. */
	else if (lost != 0 && !run->history.last.overrun)
		step = lose(run, lost, which);
	number = record(run, &step);
	if (number == 0 && step.reason != REASON_SUCCEEDED &&
	    step.reason != REASON_INTERRUPTED)
		number = hooks_give_up(&run->hook, run->nesting.env);
	if (number == 0)
		number = event_loop_await_log(&run->loop, LAST_WORDS);
	if (number != 0)
		step.signal = number;
	http_request_close(&run->request);
	if (step.signal != 0)
		signals_die(step.signal);
	return step.status;
}

void
finish_by_signal(struct run *run, int number)
{
	struct step step = interrupted(number);
	int other = deliver(run, &run->loop.streams.err, true);

	if (record(run, &step) == 0 && other == 0)
		other = event_loop_await_log(&run->loop, LAST_WORDS);
	/* The first signal counts, and a second one only hurries. */
	(void)other;
	http_request_close(&run->request);
	signals_die(number);
}
