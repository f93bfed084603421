#include "attempt/attempt.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#include "exit_status.h"
#include "sys/sys.h"
#include "text/number.h"
#include "sys/procfs.h"
#include "attempt/proctree.h"

/* How long others may keep a pipe open once the command has ended. */
#define STRAGGLERS (100 * NANOS_MS)

/* The attempt that runs. */
struct running {
	const struct attempt *shared;
	struct event_loop *loop; /* that of shared */
	struct termination_means means;
	struct termination limit;
	enum end reached; /* which limit was, once one was */
	siginfo_t info; /* how the child ended, once it is dead */
	bool halted; /* retry got a signal to stop, as the command did */
	int interrupted;
	bool overrun; /* it was ended because it wrote too much */
	bool overtaken; /* the limit came after the interruption */
	nanos began, timeout, idle; /* event_loop_now; NANOS_MAX: none */
	nanos deadline; /* CLOCK_BOOTTIME */
};

bool
attempt_open(struct attempt *shared, const struct policy *policy,
    struct event_loop *loop, bool limited)
{
	shared->policy = policy;
	shared->loop = loop;
	shared->sweep = NULL;
	if (limited || policy->hold_out || policy->hold_err) {
		shared->sweep = malloc(sizeof *shared->sweep);
		if (shared->sweep == NULL)
			return false;
		proctree_start(shared->sweep);
	}
	if (limited) {
		proctree_adopt();
		if (!procfs_visible())
			log_say(&loop->log, LOUDNESS_VERBOSE,
			    STRINGS("no /proc: limits reach the command "
				    "itself only"));
	}
	return spawn_open(&shared->spawn, policy->signal);
}

/*
 * Looks whether the child is dead. One that a limit has ended is not reaped
 * before its tree is gone: until then no other process gets its number.
 */
static void
reap(struct running *attempt)
{
	int options = WEXITED | WNOHANG;

	if (attempt->limit.dead)
		return;
	if (attempt->limit.stage != TERMINATION_NONE)
		options |= WNOWAIT;
	attempt->info.si_pid = 0;
	if (waitid(P_PID, (id_t)attempt->limit.child, &attempt->info,
		options) == 0)
		attempt->limit.dead =
		    attempt->info.si_pid == attempt->limit.child;
	if (attempt->limit.dead)
		attempt->loop->signals.accompanied = false;
}

/*
 * Whether the kernel has sent a signal to retry and the child, as parts of one
 * process group, because of what happens at a terminal: see tty(4). A signal
 * from before the fork did not reach the child.
 */
static bool
reached_both(struct signals *signals, const struct wakeup *wakeup, pid_t child)
{
	static const int terminal[] = { SIGINT, SIGQUIT, SIGTSTP, SIGTTIN,
		SIGTTOU, SIGWINCH, SIGCONT };
	/* The leader of a session gets HUP alone. */
	bool sent = wakeup->signal == SIGHUP && getsid(0) != signals->self;

	for (size_t i = 0; i < sizeof terminal / sizeof *terminal; i++)
		sent |= wakeup->signal == terminal[i];
	return !signals_early(signals, wakeup->signal) &&
	    wakeup->code == SI_KERNEL && sent && getpgid(child) == getpgrp();
}

/* Heeds a signal, and passes it on to the child, unless the child has it
 * already: from its own call, or because its process group got it. */
static void
hear(struct running *attempt, const struct wakeup *wakeup)
{
	struct signals *signals = &attempt->loop->signals;
	union sigval value = { .sival_int = wakeup->value };
	pid_t child = attempt->limit.child;

	if (wakeup->signal == 0)
		return;
	if (wakeup->signal == SIGCHLD) {
		event_loop_reap(attempt->loop);
		return;
	}
	/* Its own: PIPE, where standard error has no reader. */
	if (wakeup->sender == signals->self)
		return;
	if (signals_end_series(wakeup->signal) && attempt->interrupted == 0)
		attempt->interrupted = wakeup->signal;
	/* XCPU of the kernel is for processor time that retry itself used. */
	if (attempt->limit.dead || wakeup->sender == child ||
	    (wakeup->signal == SIGXCPU && wakeup->code == SI_KERNEL) ||
	    reached_both(signals, wakeup, child))
		return;
	if (wakeup->code == SI_QUEUE)
		sigqueue(child, wakeup->signal, value);
	else
		kill(child, wakeup->signal);
}

/*
 * Whether retry is in the foreground of a shell with job control, which gives
 * no prompt before retry ends or stops. Such a shell gives each job a process
 * group other than its own, in its session: see "orphaned process group" in
 * POSIX. A script, make or timeout waits in the same group as retry, and would
 * not continue a stopped one.
 */
static bool
is_watched(void)
{
	pid_t parent = getppid(), foreground;
	int fd;

	if (getpgid(parent) == getpgrp() || getsid(parent) != getsid(0))
		return false;
	fd = open("/dev/tty", O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd == -1)
		return false;
	foreground = tcgetpgrp(fd);
	close(fd);
	return foreground == getpgrp();
}

/*
 * Stops retry, if that is due, because the command has stopped. The command
 * decides whether and when it stops, so retry waits until it has. If retry got
 * no signal to stop, it stops only if a shell waits for that: no other process
 * would continue it, and no limit would act any more. A command in another
 * process group does not get the signals of the terminal: then retry stops
 * alone.
 */
static void
stop_along(struct running *attempt, const struct wakeup *wakeup)
{
	siginfo_t info = { .si_pid = 0 };
	pid_t child = attempt->limit.child;
	bool dead = attempt->limit.dead;
	int signal = wakeup->signal;

	if (signal == SIGCONT)
		attempt->halted = false;
	if (signals_stops(signal)) {
		attempt->halted = true;
		if (dead ||
		    (wakeup->code == SI_KERNEL &&
			getpgid(child) != getpgrp())) {
			signals_stop(&attempt->loop->signals, signal);
			return;
		}
	} else if (signal != SIGCHLD || dead) {
		return;
	}
	/* By which signal is the child stopped now? */
	if (waitid(P_PID, (id_t)child, &info, WSTOPPED | WNOHANG | WNOWAIT) ==
		-1 ||
	    info.si_pid != child || info.si_status == 0 ||
	    !(attempt->halted || is_watched()))
		return;
	attempt->halted = false;
	/* TSTP does not stop an orphaned process group, as STOP would. */
	signals_stop(&attempt->loop->signals,
	    info.si_status == SIGSTOP ? SIGTSTP : info.si_status);
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
	termination_start(&attempt->limit, &attempt->means, now);
}

/* Ends a command that has written more than may be held. */
static void
overrun(struct running *attempt, nanos now)
{
	attempt->overrun = true;
	/* Its orphans would be out of reach otherwise. */
	proctree_adopt();
	termination_start(&attempt->limit, &attempt->means, now);
}

/* span after now; never, if there is no limit. */
static nanos
limit_at(nanos now, nanos span)
{
	return span == 0 ? NANOS_MAX : number_add(now, span);
}

/* What the attempt writes puts off its end by --idle-timeout. */
static void
note_activity(struct running *attempt, nanos now)
{
	if (attempt->idle != NANOS_MAX &&
	    streams_active(&attempt->loop->streams))
		attempt->idle =
		    limit_at(now, attempt->shared->policy->idle_timeout);
}

static void
check_limits(struct running *attempt)
{
	nanos now = event_loop_now(attempt->loop);

	note_activity(attempt, now);
	if (attempt->limit.stage != TERMINATION_NONE)
		termination_advance(&attempt->limit, &attempt->means, now,
		    past_deadline(attempt));
	else if (streams_overrun(&attempt->loop->streams))
		overrun(attempt, now);
	else if (now >= number_lesser(attempt->timeout, attempt->idle))
		reach(attempt,
		    attempt->idle < attempt->timeout ? END_IDLE : END_TIMED_OUT,
		    now);
	else if (past_deadline(attempt))
		reach(attempt, END_DEADLINE, now);
}

static nanos
nap(const struct running *attempt)
{
	nanos left = streams_nap(&attempt->loop->streams), now, first;

	if (attempt->means.sweep == NULL)
		return NANOS_MAX;
	now = event_loop_now(attempt->loop);
	if (attempt->limit.stage != TERMINATION_NONE)
		return termination_nap(&attempt->limit, now);
	first = number_lesser(attempt->timeout, attempt->idle);
	if (first != NANOS_MAX)
		left = number_lesser(left, first - now);
	if (attempt->deadline == NANOS_MAX)
		return left;
	return number_lesser(left, attempt->deadline - sys_now(CLOCK_BOOTTIME));
}

/* The outcome of an attempt that no limit has ended. */
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
 * The errno of exec, 0 if it did not fail. It is read after every attempt that
 * may have written one, or the next attempt's would be added to it.
 */
static int
exec_error(const struct running *attempt)
{
	if (attempt->limit.stage == TERMINATION_NONE &&
	    attempt->info.si_code == CLD_EXITED &&
	    attempt->info.si_status != EXIT_STATUS_NOT_FOUND)
		return 0;
	return spawn_error(&attempt->shared->spawn);
}

/* The status of a child that a limit has ended, as a shell would give it. */
static int
own_status(const siginfo_t *info)
{
	return info->si_code == CLD_EXITED
	    ? info->si_status
	    : EXIT_STATUS_SIGNAL + info->si_status;
}

static struct outcome
outcome_of(const struct running *attempt)
{
	struct outcome outcome = { .elapsed = event_loop_now(attempt->loop) -
		    attempt->began };
	int error = exec_error(attempt);

	if (attempt->limit.stage == TERMINATION_NONE) {
		judge_end(attempt, error, &outcome);
		return outcome;
	}
	/* An abandoned one may have died in the meantime. */
	if (attempt->limit.dead)
		waitid(
		    P_PID, (id_t)attempt->limit.child, NULL, WEXITED | WNOHANG);
	if (attempt->overrun && attempt->limit.dead) {
		judge_end(attempt, error, &outcome);
		return outcome;
	}
	outcome.end = attempt->reached;
	if (attempt->limit.stage == TERMINATION_ABANDONED) {
		outcome.end = END_DEADLINE;
	} else if (attempt->overtaken) {
		/* The signal that interrupted retry came first and counts. */
		outcome.end = END_SIGNALED;
		outcome.code = attempt->interrupted;
	} else if (attempt->shared->policy->preserve_status) {
		outcome.preserved = true;
		outcome.code = own_status(&attempt->info);
	}
	return outcome;
}

/* Until when the rest in the pipes may be delivered (event_loop_now). */
static nanos
patience(const struct running *attempt, enum relay_rest rest)
{
	bool hurried = attempt->limit.stage != TERMINATION_NONE ||
	    attempt->interrupted != 0 || past_deadline(attempt);

	return hurried || rest == RELAY_STRAGGLING
	    ? event_loop_now(attempt->loop) + STRAGGLERS
	    : NANOS_MAX;
}

/*
 * Delivers what the command has written, however slow the reader is, then waits
 * a little for other processes that have its pipes open. Returns what was found
 * in it.
 */
static struct relay_found
deliver(struct running *attempt)
{
	struct event_loop *loop = attempt->loop;
	nanos until = NANOS_MAX;
	enum relay_rest rest;

	relay_ended(&loop->streams.relay);
	while ((rest = relay_rest(&loop->streams.relay)) != RELAY_OVER) {
		struct wakeup wakeup;
		nanos left = NANOS_MAX, stopped = loop->signals.stopped;
		bool over;

		if (rest == RELAY_STRAGGLING)
			streams_ended(&loop->streams);
		if (until == NANOS_MAX)
			until = patience(attempt, rest);
		if (until != NANOS_MAX)
			left = until - event_loop_now(loop);
		else if (attempt->deadline != NANOS_MAX)
			left = attempt->deadline - sys_now(CLOCK_BOOTTIME);
		over = until != NANOS_MAX && left <= 0;
		wakeup = event_loop_hear(loop, left);
		hear(attempt, &wakeup);
		/* The reader may have come back while retry slept too long, or
		 * was stopped: so there is always a last look. */
		if (over && loop->signals.stopped == stopped)
			break;
	}
	return relay_finish(&loop->streams.relay);
}

struct outcome
attempt_run(struct attempt *shared, char **command, char **env,
    const struct history *history, const char *label)
{
	const struct policy *policy = shared->policy;
	struct event_loop *loop = shared->loop;
	struct running attempt = { .shared = shared,
		.loop = loop,
		.means = { policy->signal, policy->kill_after, shared->sweep,
		    &loop->log, "attempt ", label },
		.limit.child = -1,
		.deadline = history->deadline };
	const char *lacking;
	struct outcome outcome;
	struct relay_found found;
	int error;

	if (shared->sweep != NULL)
		proctree_exclude(shared->sweep);
	if (streams_begin(&loop->streams, &lacking)) {
		lacking = "cannot fork";
		attempt.began = signals_note(&loop->signals);
		attempt.limit.child = spawn_run(&shared->spawn, &loop->signals,
		    &loop->streams, command, env);
	}
	error = errno;
	streams_forked(&loop->streams);
	if (attempt.limit.child == -1) {
		relay_finish(&loop->streams.relay);
		return (struct outcome){ .end = END_NOT_STARTED,
			.error = error,
			.lacking = lacking };
	}
	attempt.timeout =
	    limit_at(attempt.began, plan_timeout(policy, history->made));
	attempt.idle = limit_at(attempt.began, policy->idle_timeout);
	loop->child = attempt.limit.child;
	loop->signals.accompanied = true;
	attempt.interrupted = signals_handed_on(&loop->signals);

	while (!termination_over(&attempt.limit)) {
		struct wakeup wakeup = event_loop_hear(loop, nap(&attempt));

		reap(&attempt);
		hear(&attempt, &wakeup);
		stop_along(&attempt, &wakeup);
		if (!attempt.limit.dead ||
		    attempt.limit.stage != TERMINATION_NONE)
			check_limits(&attempt);
	}
	stdin_source_ended(&loop->streams.input);
	loop->signals.accompanied = false;
	outcome = outcome_of(&attempt);
	found = deliver(&attempt);
	outcome.seen = found.seen;
	outcome.has_hint = found.has_hint;
	outcome.hint = found.hint;
	outcome.interrupted = attempt.interrupted;
	outcome.overrun = streams_ended(&loop->streams) || attempt.overrun;
	loop->child = 0;
	event_loop_reap(loop);
	return outcome;
}

void
attempt_close(struct attempt *shared)
{
	free(shared->sweep);
}
