#include "attempt/attempt.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "exit_status.h"
#include "sys/sys.h"
#include "attempt/job_control.h"
#include "text/number.h"
#include "sys/procfs.h"
#include "attempt/proctree.h"

/* How long others may hold a pipe once the command has ended. */
#define STRAGGLERS (100 * NANOS_MS)

struct running {
	const struct attempt *child;
	struct termination_means means;
	struct termination limit;
	enum end reached; /* which limit was, once one is */
	siginfo_t info; /* how the child ended, once it is dead */
	int interrupted;
	bool overrun; /* it was ended for what it wrote */
	bool halted; /* somebody has told us to stop, with the command */
	bool overtaken; /* the limit came after the interruption */
	nanos began, timeout; /* event_loop_now; NANOS_MAX: none */
	nanos deadline; /* CLOCK_BOOTTIME */
};

bool
attempt_open(struct attempt *child, const struct policy *policy,
    struct event_loop *loop, bool limited)
{
	child->policy = policy;
	child->loop = loop;
	child->self = getpid();
	child->limited = limited;
	child->sweep = NULL;
	if (limited || policy->hold_out || policy->hold_err) {
		child->sweep = malloc(sizeof *child->sweep);
		if (child->sweep == NULL)
			return false;
	}
	if (limited) {
		proctree_adopt();
		if (!procfs_visible())
			log_say(&loop->log, LOUDNESS_VERBOSE,
			    STRINGS("no /proc: limits reach the command "
				    "itself only"));
	}
	return spawn_open(&child->spawn, policy->signal);
}

/*
 * A child that a limit has ended stays unburied until its tree is gone: while
 * it holds its number and session, they cannot be anybody else's.
 */
static void
reap(struct running *attempt)
{
	int options = WEXITED | WNOHANG;

	if (attempt->limit.dead)
		return;
	if (attempt->limit.stage != TERMINATION_AHEAD)
		options |= WNOWAIT;
	attempt->info.si_pid = 0;
	if (waitid(P_PID, (id_t)attempt->limit.child, &attempt->info,
		options) == 0)
		attempt->limit.dead =
		    attempt->info.si_pid == attempt->limit.child;
	if (attempt->limit.dead)
		attempt->child->loop->signals.accompanied = false;
}

/* Whether the child got a signal from where we got it: see kill(2), tty(4). */
static bool
reached_both(const struct running *attempt, const struct wakeup *wakeup)
{
	if (signals_early(&attempt->child->loop->signals, wakeup->signal) ||
	    wakeup->code != SI_KERNEL)
		return false;
	switch (wakeup->signal) {
	case SIGHUP:
		if (getsid(0) == attempt->child->self)
			return false; /* only a session's leader was told */
		break;
	case SIGINT:
	case SIGQUIT:
	case SIGTSTP:
	case SIGTTIN:
	case SIGTTOU:
	case SIGWINCH:
	case SIGCONT:
		break;
	default:
		return false;
	}
	return getpgid(attempt->limit.child) == getpgrp();
}

static void
forward(const struct running *attempt, const struct wakeup *wakeup)
{
	union sigval value = { .sival_int = wakeup->value };

	/* The time of a processor that we have used is not the command's. */
	if (wakeup->sender == attempt->limit.child ||
	    (wakeup->signal == SIGXCPU && wakeup->code == SI_KERNEL) ||
	    reached_both(attempt, wakeup))
		return;
	if (wakeup->code == SI_QUEUE)
		sigqueue(attempt->limit.child, wakeup->signal, value);
	else
		kill(attempt->limit.child, wakeup->signal);
}

static void
hear(struct running *attempt, const struct wakeup *wakeup)
{
	if (wakeup->signal == 0)
		return;
	if (wakeup->signal == SIGCHLD) {
		event_loop_reap(attempt->child->loop);
		return;
	}
	/* Our own: PIPE, when nobody reads what we say. */
	if (wakeup->sender == attempt->child->self)
		return;
	if (signals_end_series(wakeup->signal) && attempt->interrupted == 0)
		attempt->interrupted = wakeup->signal;
	if (!attempt->limit.dead)
		forward(attempt, wakeup);
}

/*
 * Stops with the command. The command decides whether
 * it stops, and when, so we wait until it has. If nobody told us to stop, too,
 * we do so only where a shell waits for it: anywhere else nobody would continue
 * us, and no limit would act any more. A command that has left our process
 * group does not stop by what the terminal sends us: then we stop alone. STOP
 * would stop us in an orphaned process group as well, and TSTP does not.
 */
static void
stop_along(struct running *attempt, const struct wakeup *wakeup)
{
	struct event_loop *loop = attempt->child->loop;
	pid_t child = attempt->limit.child;
	int number = wakeup->signal;

	if (number == SIGCONT)
		attempt->halted = false;
	if (signals_stops(number)) {
		attempt->halted = true;
		if (attempt->limit.dead ||
		    (wakeup->code == SI_KERNEL &&
			getpgid(child) != getpgrp())) {
			event_loop_stop(loop, number);
			return;
		}
	} else if (number != SIGCHLD || attempt->limit.dead) {
		return;
	}
	number = job_control_stopped(child);
	if (number == 0 || (!attempt->halted && !job_control_watched()))
		return;
	attempt->halted = false;
	event_loop_stop(loop, number == SIGSTOP ? SIGTSTP : number);
}

static bool
past_deadline(const struct running *attempt)
{
	return attempt->deadline != NANOS_MAX &&
	    sys_now(CLOCK_BOOTTIME) >= attempt->deadline;
}

static void
reach(struct running *attempt, enum end limit, nanos now)
{
	attempt->reached = limit;
	attempt->overtaken = attempt->interrupted != 0;
	termination_reach(&attempt->limit, &attempt->means, now);
}

/* More than may be held: it is ended before there is more to be lost. */
static void
overrun(struct running *attempt, nanos now)
{
	attempt->overrun = true;
	/* What it leaves behind would be out of reach otherwise. */
	proctree_adopt();
	termination_reach(&attempt->limit, &attempt->means, now);
}

static void
check_limits(struct running *attempt)
{
	nanos now = event_loop_now(attempt->child->loop);

	if (attempt->limit.stage != TERMINATION_AHEAD)
		termination_press(&attempt->limit, &attempt->means, now,
		    past_deadline(attempt));
	else if (streams_overrun(&attempt->child->loop->streams))
		overrun(attempt, now);
	else if (attempt->timeout != NANOS_MAX && now >= attempt->timeout)
		reach(attempt, END_TIMED_OUT, now);
	else if (past_deadline(attempt))
		reach(attempt, END_DEADLINE, now);
}

static nanos
nap(const struct running *attempt)
{
	nanos left = streams_nap(&attempt->child->loop->streams), now;

	if (attempt->child->sweep == NULL)
		return NANOS_MAX;
	now = event_loop_now(attempt->child->loop);
	if (attempt->limit.stage != TERMINATION_AHEAD)
		return termination_nap(&attempt->limit, now);
	if (attempt->timeout != NANOS_MAX)
		left = number_lesser(left, attempt->timeout - now);
	if (attempt->deadline == NANOS_MAX)
		return left;
	return number_lesser(left, attempt->deadline - sys_now(CLOCK_BOOTTIME));
}

/* How an attempt ended that no limit had to end. */
static void
judge_end(const struct running *attempt, int error, struct outcome *outcome)
{
	outcome->code = attempt->info.si_status;
	if (attempt->info.si_code != CLD_EXITED) {
		outcome->end = END_SIGNALED;
	} else if (error != 0) {
		outcome->end = END_NOT_STARTED;
		outcome->error = error;
		outcome->forked = true;
	} else {
		outcome->end = END_EXITED;
	}
}

/*
 * Why exec failed, 0 if it did not. It is asked of every attempt that could
 * have told, or the next one's would be added to it.
 */
static int
exec_error(const struct running *attempt)
{
	if (attempt->limit.stage == TERMINATION_AHEAD &&
	    attempt->info.si_code == CLD_EXITED &&
	    attempt->info.si_status != EXIT_STATUS_NOT_FOUND)
		return 0;
	return spawn_error(&attempt->child->spawn);
}

static struct outcome
outcome_of(const struct running *attempt)
{
	struct outcome outcome = {
		.elapsed = event_loop_now(attempt->child->loop) - attempt->began
	};
	int error = exec_error(attempt);

	if (attempt->limit.stage == TERMINATION_AHEAD) {
		judge_end(attempt, error, &outcome);
		return outcome;
	}
	/* One that was left may die yet: it is signalled up to the end. */
	if (attempt->limit.dead)
		waitid(
		    P_PID, (id_t)attempt->limit.child, NULL, WEXITED | WNOHANG);
	if (attempt->overrun && attempt->limit.dead) {
		judge_end(attempt, error, &outcome);
		return outcome;
	}
	outcome.end = attempt->reached;
	if (attempt->limit.stage == TERMINATION_LEFT) {
		outcome.end = END_DEADLINE;
	} else if (attempt->overtaken) {
		/* The signal that interrupted us came first and counts. */
		outcome.end = END_SIGNALED;
		outcome.code = attempt->interrupted;
	}
	return outcome;
}

/* The time by which what is still in the pipes must be delivered. */
static nanos
patience(const struct running *attempt, enum relay_rest rest)
{
	bool hurried = attempt->limit.stage != TERMINATION_AHEAD ||
	    attempt->interrupted != 0 || past_deadline(attempt);

	return hurried || rest == RELAY_STRAGGLING
	    ? event_loop_now(attempt->child->loop) + STRAGGLERS
	    : NANOS_MAX;
}

/*
 * Delivers what the command has written, as it would be without us, however
 * slow the reader; then waits a little for who else holds its pipes. Returns
 * which watches were seen.
 */
static uint64_t
deliver(struct running *attempt)
{
	struct event_loop *loop = attempt->child->loop;
	nanos until = NANOS_MAX;
	enum relay_rest rest;

	relay_ended(&loop->streams.streams);
	while ((rest = relay_rest(&loop->streams.streams)) != RELAY_OVER) {
		struct wakeup wakeup;
		nanos left = NANOS_MAX;

		if (until == NANOS_MAX)
			until = patience(attempt, rest);
		if (until != NANOS_MAX)
			left = until - event_loop_now(loop);
		else if (attempt->deadline != NANOS_MAX)
			left = attempt->deadline - sys_now(CLOCK_BOOTTIME);
		if (until != NANOS_MAX && left <= 0)
			break;
		wakeup = event_loop_hear(loop, left);
		hear(attempt, &wakeup);
	}
	return relay_finish(&loop->streams.streams);
}

/* Forks. False, with errno, if there is no process or no pipe to be had. */
static bool
begin(struct running *attempt, char **command, char **env)
{
	const struct attempt *child = attempt->child;
	struct event_loop *loop = child->loop;

	attempt->limit.child = -1;
	if (streams_begin(&loop->streams)) {
		signals_note(&loop->signals);
		attempt->limit.child = spawn_run(&child->spawn, &loop->signals,
		    &loop->streams, command, env);
	}
	if (attempt->limit.child == -1) {
		int error = errno;

		streams_forked(&loop->streams);
		relay_finish(&loop->streams.streams);
		errno = error;
		return false;
	}
	streams_forked(&loop->streams);
	loop->child = attempt->limit.child;
	loop->signals.accompanied = true;
	attempt->interrupted = signals_handed_on(&loop->signals);
	return true;
}

struct outcome
attempt_run(struct attempt *child, char **command, char **env, nanos deadline,
    const char *label)
{
	const struct policy *policy = child->policy;
	struct running attempt = { .child = child,
		.means = { policy->signal, policy->kill_after, child->sweep,
		    &child->loop->log, "attempt ", label },
		.began = event_loop_now(child->loop),
		.timeout = NANOS_MAX,
		.deadline = deadline };
	struct outcome outcome;

	if (policy->timeout != 0)
		attempt.timeout = number_add(attempt.began, policy->timeout);
	if (child->sweep != NULL)
		proctree_note(&child->sweep->spared);
	if (!begin(&attempt, command, env))
		return (
		    struct outcome){ .end = END_NOT_STARTED, .error = errno };
	while (!termination_over(&attempt.limit)) {
		struct wakeup wakeup =
		    event_loop_hear(child->loop, nap(&attempt));

		reap(&attempt);
		hear(&attempt, &wakeup);
		stop_along(&attempt, &wakeup);
		if (!attempt.limit.dead ||
		    attempt.limit.stage != TERMINATION_AHEAD)
			check_limits(&attempt);
	}
	stdin_source_ended(&child->loop->streams.input);
	child->loop->signals.accompanied = false;
	outcome = outcome_of(&attempt);
	outcome.seen = deliver(&attempt);
	outcome.interrupted = attempt.interrupted;
	outcome.overrun =
	    attempt.overrun || streams_overrun(&child->loop->streams);
	child->loop->child = 0;
	event_loop_reap(child->loop);
	return outcome;
}

void
attempt_close(struct attempt *child)
{
	free(child->sweep);
}
