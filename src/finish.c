#include "finish.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>
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

	lines_tell(&run->pump.lines, &line);
}

void
closing_complain(struct run *run, const char *what)
{
	conclude(run, STRINGS(what, ": ", strerror(errno)));
}

void
closing_complain_file(struct run *run, const char *what)
{
	const char *error = strerror(errno);
	bool named;
	const char *directory = spool_directory(&named);

	conclude(run,
	    STRINGS(what, ": ", error, ", in '", directory,
		named ? "' ($TMPDIR)" : "' ($TMPDIR is not set)"));
}

void
closing_complain_size(
    struct run *run, const char *what, int64_t most, const char *where)
{
	char room[NUMBER_SIZE_ROOM];

	conclude(run,
	    STRINGS(what, ": more than ", number_put_size(room, most), where));
}

int
closing_fail(struct run *run, const char *what)
{
	closing_complain(run, what);
	lines_release(&run->pump.lines, false);
	request_close(&run->request);
	return CLOSING_INTERNAL;
}

/*
 * Waits a little for who else writes to what is held: a process substitution
 * ends after its shell. Returns the signal that ended the wait, or 0.
 */
static int
await_stragglers(struct run *run, const struct hold *hold)
{
	nanos until = context_now(CLOCK_MONOTONIC) + STRAGGLERS;
	int number = 0;

	while (number == 0 && hold_written(hold) &&
	    context_now(CLOCK_MONOTONIC) < until) {
		struct wakeup wakeup = pump_wait(&run->pump, GLANCES);

		if (signals_end_series(wakeup.signal))
			number = wakeup.signal;
	}
	return number;
}

/*
 * Waits for what is held to reach its reader, however slow; hurried, only as
 * long as the reader takes something. Returns the signal that ended the wait,
 * or 0.
 */
static int
deliver(struct run *run, struct hold *hold, bool hurried)
{
	int number = await_stragglers(run, hold);
	nanos until = context_now(CLOCK_MONOTONIC) + LAST_WORDS;

	plumbing_release(&run->pump.plumbing, hold);
	while (number == 0 && !hold_done(hold)) {
		nanos left = until - context_now(CLOCK_MONOTONIC);
		off_t sent = hold->sent;
		struct wakeup wakeup;

		if (hurried && left <= 0)
			return 0;
		wakeup = pump_wait(&run->pump, hurried ? left : NANOS_MAX);
		if (hold->sent > sent)
			until = context_now(CLOCK_MONOTONIC) + LAST_WORDS;
		if (signals_end_series(wakeup.signal))
			number = wakeup.signal;
	}
	return number;
}

/*
 * Lines that a slow reader has not taken yet have a moment left. Returns the
 * signal that ended the wait, or 0.
 */
static int
say_last_words(struct run *run)
{
	nanos until = context_now(CLOCK_MONOTONIC) + LAST_WORDS;

	while (run->pump.lines.length > 0) {
		nanos left = until - context_now(CLOCK_MONOTONIC);
		struct wakeup wakeup;

		if (left <= 0)
			break;
		wakeup = pump_wait(&run->pump, left);
		if (signals_end_series(wakeup.signal))
			return wakeup.signal;
	}
	return 0;
}

/* Why what came by fd did not get where it was to go, or 0. */
static int
error_of(const struct plumbing *plumbing, const struct hold *hold, int fd)
{
	return hold->fd != -1 ? hold->error
			      : streams_error(&plumbing->streams, fd);
}

/*
 * Why the command's output, which is *which, did not get where it was to go, or
 * 0. That nobody reads what a failure had to say is nobody's fault.
 */
static int
undelivered(const struct run *run, const struct step *step, const char **which)
{
	const struct plumbing *plumbing = &run->pump.plumbing;
	bool succeeded = step->reason == REASON_SUCCEEDED;
	int error = error_of(plumbing, &plumbing->out, STDOUT_FILENO);

	*which = "output";
	/* What failed need not have had its say to the end. */
	if (error != 0 && (succeeded || error != ETIMEDOUT))
		return error;
	*which = "error";
	error = error_of(plumbing, &plumbing->err, STDERR_FILENO);
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
	return (struct step){ .status = CLOSING_INTERNAL,
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
	nanos now = context_now(CLOCK_BOOTTIME);
	struct ending ending = { .reason = step->reason,
		.status = step->signal != 0 ? 128 + step->signal : step->status,
		.signal = step->signal,
		.elapsed = now - run->history.began,
		.id = nesting_id(&run->nesting) };
	int number = 0;

	report_end(
	    &run->pump.lines, &run->policy, &run->history, step->reason, now);
	lines_release(&run->pump.lines, step->reason == REASON_SUCCEEDED);
	if (run->journal != NULL) {
		journal_wake(run->journal, now - run->history.began);
		number = record_write(
		    &run->policy, run->journal, &ending, &run->pump);
	}
	notify_status(
	    STRINGS(ending.reason == REASON_SUCCEEDED ? "" : "gave up: ",
		verdict_reason_words(ending.reason)));
	return number;
}

int
closing_finish(struct run *run, struct step step)
{
	struct plumbing *plumbing = &run->pump.plumbing;
	bool succeeded = step.reason == REASON_SUCCEEDED;
	const char *which;
	int number, lost;

	number = deliver(run, succeeded ? &plumbing->out : &plumbing->err,
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
		number = say_last_words(run);
	if (number != 0)
		step.signal = number;
	request_close(&run->request);
	if (step.signal != 0)
		signals_die(step.signal);
	return step.status;
}

void
closing_die(struct run *run, int number)
{
	struct step step = interrupted(number);
	int other = deliver(run, &run->pump.plumbing.err, true);

	if (record(run, &step) == 0 && other == 0)
		say_last_words(run);
	request_close(&run->request);
	signals_die(number);
}
