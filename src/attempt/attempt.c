#include "attempt/attempt.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include "exit_status.h"
#include "streams/relay.h"
#include "streams/input.h"
#include "sys/procfs.h"
#include "sys/program.h"
#include "sys/sys.h"
#include "text/number.h"

/* Room for a variable that names a process. */
#define PID_ROOM (sizeof "WATCHDOG_PID=" + NUMBER_ROOM)

bool
attempt_open(struct attempt *attempt, const struct policy *policy,
    struct event_loop *loop, bool limited)
{
	attempt->policy = policy;
	attempt->loop = loop;
	/* With a limit of time retry has to stay awake while the command is
	 * executed: its file may be on a server that is gone. And a child that
	 * writes over its environment needs its own. */
	attempt->apart = limited || getenv("LISTEN_PID") != NULL ||
	    getenv("WATCHDOG_PID") != NULL;
	attempt->may_end = limited || policy->hold_out || policy->hold_err;
	termination_open(
	    &attempt->tree, loop, policy->signal, policy->kill_after);
	attempt->tree.keeps = policy->kill_orphans;
	if (limited) {
		/* Orphans of the command become children of retry, which can
		 * find them then. */
		prctl(PR_SET_CHILD_SUBREAPER, 1);
		if (!procfs_visible() && policy->kill_orphans)
			log_warn(&loop->log,
			    STRINGS("--kill-orphans: no /proc of this "
				    "namespace, so none is found"));
		else if (!procfs_visible())
			log_note(&loop->log,
			    STRINGS("no /proc of this namespace: limits reach "
				    "the command itself only"));
	}
	attempt->errors = sys_move_up(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
	return attempt->errors != -1;
}

/* Heeds a signal, and passes it on to the child, unless the child has it
 * already: from its own call, or because its process group got it. */
static void
hear(struct attempt *attempt, const struct wakeup *wakeup)
{
	static const int typed[] = { SIGINT, SIGQUIT, SIGTSTP, SIGTTIN, SIGTTOU,
		SIGWINCH, SIGCONT };
	struct signals *signals = &attempt->loop->signals;
	union sigval value = { .sival_int = wakeup->value };
	pid_t child = attempt->tree.child;
	int *interrupted = &attempt->outcome.interrupted;
	bool shared;

	if (wakeup->signal == 0)
		return;
	if (wakeup->signal == SIGCHLD) {
		event_loop_reap(attempt->loop);
		return;
	}
	/* Its own: PIPE, where standard error has no reader. */
	if (wakeup->sender == signals->self)
		return;
	if (signals_end_series(wakeup) && *interrupted == 0)
		*interrupted = wakeup->signal;
	/* XCPU of the kernel is for processor time that retry itself used. */
	if (attempt->tree.dead || wakeup->sender == child ||
	    (wakeup->signal == SIGXCPU && wakeup->code == SI_KERNEL))
		return;

	/* The kernel sends a signal to both, as parts of one process group,
	 * because of what happens at a terminal: see tty(4). The leader of a
	 * session gets HUP alone. A signal from before the fork did not reach
	 * the child. */
	shared = wakeup->signal == SIGHUP && getsid(0) != signals->self;
	for (size_t i = 0; i < sizeof typed / sizeof *typed; i++)
		shared |= wakeup->signal == typed[i];
	if (!signals_early(signals, wakeup->signal) &&
	    wakeup->code == SI_KERNEL && shared && getpgid(child) == getpgrp())
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
shell_waits(void)
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
 * process group does not get the signals of the terminal: then retry does not
 * wait for it.
 */
static void
stop_along(struct attempt *attempt, const struct wakeup *wakeup)
{
	siginfo_t info = { .si_pid = 0 };
	pid_t child = attempt->tree.child;
	bool dead = attempt->tree.dead;
	int signal = wakeup->signal;

	if (signal == SIGCONT)
		attempt->halted = false;
	if (signals_stops(signal) && !wakeup->ignored) {
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
	    !(attempt->halted || shell_waits()))
		return;
	attempt->halted = false;
	/* TSTP does not stop an orphaned process group, as STOP would. */
	signals_stop(&attempt->loop->signals,
	    info.si_status == SIGSTOP ? SIGTSTP : info.si_status);
}

static nanos
until_deadline(const struct attempt *attempt)
{
	return attempt->deadline == NANOS_MAX
	    ? NANOS_MAX
	    : attempt->deadline - sys_now(CLOCK_BOOTTIME);
}

/* span after now; never, if there is no limit. */
static nanos
limit_at(nanos now, nanos span)
{
	return span == 0 ? NANOS_MAX : number_add(now, span);
}

/* Does what a limit asks for by now. */
static void
check_limits(struct attempt *attempt)
{
	struct streams *streams = &attempt->loop->streams;
	struct outcome *outcome = &attempt->outcome;
	nanos now = signals_now(&attempt->loop->signals);

	/* What the attempt writes puts off its end by --idle-timeout. */
	if (attempt->idle != NANOS_MAX && streams_active(streams))
		attempt->idle = limit_at(now, attempt->policy->idle_timeout);
	if (attempt->tree.stage != TERMINATION_NONE) {
		termination_advance(
		    &attempt->tree, until_deadline(attempt) <= 0);
		return;
	}
	if (streams_overrun(streams)) {
		/* It has written more than may be held. */
		outcome->overrun = true;
	} else if (now >= number_lesser(attempt->timeout, attempt->idle)) {
		outcome->end =
		    attempt->idle < attempt->timeout ? END_IDLE : END_TIMED_OUT;
	} else if (until_deadline(attempt) <= 0) {
		outcome->end = END_DEADLINE;
	} else {
		return;
	}
	attempt->overtaken = outcome->interrupted != 0;
	termination_start(&attempt->tree);
}

/* How long until a limit may ask for something. */
static nanos
nap(const struct attempt *attempt)
{
	bool ends = attempt->tree.stage != TERMINATION_NONE;
	nanos left = ends ? termination_nap(&attempt->tree)
			  : streams_nap(&attempt->loop->streams);
	nanos first = number_lesser(attempt->timeout, attempt->idle);
	nanos until = until_deadline(attempt);

	if (!ends)
		left = number_lesser(
		    left, first - signals_now(&attempt->loop->signals));
	/* Once it is past, an attempt that is ended waits for its end alone. */
	return ends && until <= 0 ? left : number_lesser(left, until);
}

/* The child is dead, or abandoned: completes the outcome. */
static void
complete(struct attempt *attempt)
{
	const struct termination *tree = &attempt->tree;
	struct outcome *outcome = &attempt->outcome;
	bool exited = tree->info.si_code == CLD_EXITED;
	int status = tree->info.si_status;
	uint64_t error = 0;

	outcome->elapsed =
	    signals_now(&attempt->loop->signals) - attempt->began;
	/* An eventfd adds up: an errno that is not read now would be added to
	 * that of the next attempt. */
	if (read(attempt->errors, &error, sizeof error) == -1)
		error = 0;

	if (tree->stage == TERMINATION_ABANDONED) {
		outcome->end = END_DEADLINE;
	} else if (tree->stage == TERMINATION_NONE || outcome->overrun) {
		outcome->code = status;
		outcome->end = exited ? END_EXITED : END_SIGNALED;
		if (exited && error != 0) {
			outcome->end = END_NOT_STARTED;
			outcome->error = (int)error;
		}
	} else if (attempt->overtaken) {
		/* The signal that interrupted retry came first and counts. */
		outcome->end = END_SIGNALED;
		outcome->code = outcome->interrupted;
	} else if (attempt->policy->preserve_status) {
		outcome->preserved = true;
		outcome->code = exited ? status : EXIT_STATUS_SIGNAL + status;
	}
}

/*
 * Delivers what the command has written, however slow the reader is, then waits
 * a little for other processes that have its pipes open.
 */
static void
pass_rest_on(struct attempt *attempt)
{
	struct event_loop *loop = attempt->loop;
	nanos until = NANOS_MAX; /* signals_now */
	enum relay_rest rest;

	relay_ended(&loop->streams.relay);
	while ((rest = relay_rest(&loop->streams.relay)) != RELAY_OVER) {
		struct wakeup wakeup;
		nanos left, stopped = loop->signals.stopped;
		bool over;

		if (rest == RELAY_STRAGGLING)
			streams_ended(&loop->streams);
		if (until == NANOS_MAX &&
		    (rest == RELAY_STRAGGLING ||
			attempt->tree.stage != TERMINATION_NONE ||
			attempt->outcome.interrupted != 0 ||
			until_deadline(attempt) <= 0))
			until =
			    signals_now(&loop->signals) + STREAMS_STRAGGLERS;
		left = until == NANOS_MAX ? until_deadline(attempt)
					  : until - signals_now(&loop->signals);
		over = until != NANOS_MAX && left <= 0;
		wakeup = event_loop_hear(loop, -1, left);
		hear(attempt, &wakeup);
		/* The reader may have come back while retry slept too long, or
		 * was stopped: so there is always a last look. */
		if (over && loop->signals.stopped == stopped)
			break;
	}
	relay_finish(&loop->streams.relay, &attempt->outcome);
}

/*
 * Where a variable of systemd names the parent, it names this process from now
 * on: sd_listen_fds(3) and sd_watchdog_enabled(3) ignore another's. The inode
 * of the parent's pidfd, in a third variable, would still exclude this process,
 * so it goes.
 */
static void
inherit_activation(char **env, pid_t parent, char room[2][PID_ROOM])
{
	static const char *const names[] = { "LISTEN_PID=", "WATCHDOG_PID=" };
	static const char pidfd[] = "LISTEN_PIDFDID=";
	char named[PID_ROOM];
	bool activated = false;
	char **to = env;

	for (int i = 0; i < 2; i++) {
		number_put(stpcpy(named, names[i]), parent);
		number_put(stpcpy(room[i], names[i]), getpid());
		for (char **at = env; *at != NULL; at++)
			if (strcmp(*at, named) == 0) {
				*at = room[i];
				activated |= i == 0;
			}
	}
	for (char **at = env; activated && *at != NULL; at++)
		if (strncmp(*at, pidfd, sizeof pidfd - 1) != 0)
			*to++ = *at;
	if (activated)
		*to = NULL;
}

/*
 * Forks and executes command with env and the streams of the loop. If retry
 * dies, the child gets the signal of -s. Where LISTEN_PID or WATCHDOG_PID in
 * env name retry, they name the child. Returns its pid, or -1 with errno where
 * fork failed. If the child fails to get its streams or to exec, it adds the
 * errno to the eventfd. It has its own memory, or may borrow that of retry
 * until the exec, so that no page is copied: Linux allows it more than POSIX
 * does. Meanwhile retry sleeps, so a signal to stop must not stop the child.
 */
static pid_t
start(const struct attempt *attempt, char **command, char **env)
{
	const struct event_loop *loop = attempt->loop;
	char *const before = command[-1], *const name = command[0];
	pid_t parent = loop->signals.self;
	pid_t child = attempt->apart ? fork() : vfork();
	char room[2][PID_ROOM];
	uint64_t error;

	/* Up to Linux 6.2 a child in another time namespace cannot. */
	if (child == -1 && errno == EINVAL)
		child = fork();
	if (child != 0) {
		signals_stop_late(child);
		/* program_execute() may have written over them. */
		command[-1] = before;
		command[0] = name;
		return child;
	}
	signals_die_with(parent, attempt->policy->signal);
	/* The command must not run with the wrong streams. */
	if (streams_attach(&loop->streams)) {
		if (!attempt->apart)
			signals_hold_stops();
		signals_restore(&loop->signals);
		if (attempt->apart)
			inherit_activation(env, parent, room);
		program_execute(command, env);
	}
	error = (uint64_t)errno;
	/* If this write fails, it looks as if the command had run and exited
	 * with this status. */
	if (write(attempt->errors, &error, sizeof error) == -1)
		error = 0;
	_exit(EXIT_STATUS_NOT_FOUND);
}

/* Reaps the child, and orphans that have died. */
static void
forget(struct event_loop *loop)
{
	loop->child = 0;
	event_loop_reap(loop);
}

struct outcome
attempt_run(struct attempt *attempt, char **command, char **env,
    const struct history *history, const char *label)
{
	const struct policy *policy = attempt->policy;
	struct event_loop *loop = attempt->loop;
	struct termination *tree = &attempt->tree;
	struct outcome *outcome = &attempt->outcome;
	const char *lacking;
	int error;

	*outcome = (struct outcome){ 0 };
	attempt->halted = attempt->overtaken = false;
	attempt->deadline = history->deadline;
	tree->child = -1;
	termination_prepare(tree, "attempt ", label, attempt->may_end);
	if (streams_begin(&loop->streams, &lacking)) {
		lacking = "cannot fork";
		attempt->began = signals_note(&loop->signals);
		tree->child = start(attempt, command, env);
	}
	error = errno;
	streams_forked(&loop->streams);
	if (tree->child == -1) {
		relay_finish(&loop->streams.relay, outcome);
		return (struct outcome){ .end = END_NOT_STARTED,
			.error = error,
			.lacking = lacking };
	}
	attempt->timeout =
	    limit_at(attempt->began, plan_timeout(policy, history->made));
	attempt->idle = limit_at(attempt->began, policy->idle_timeout);
	loop->child = tree->child;
	loop->signals.accompanied = true;

	while (!termination_over(tree)) {
		struct wakeup wakeup = event_loop_hear(loop, -1, nap(attempt));

		loop->signals.accompanied = !termination_reap(tree);
		hear(attempt, &wakeup);
		stop_along(attempt, &wakeup);
		if (!tree->dead || tree->stage != TERMINATION_NONE)
			check_limits(attempt);
	}
	input_ended(loop->streams.inputs);
	loop->signals.accompanied = false;
	complete(attempt);
	pass_rest_on(attempt);
	outcome->overrun |= streams_ended(&loop->streams);
	if (!tree->keeps)
		forget(loop);
	return *outcome;
}

void
attempt_settle(struct attempt *attempt, bool failed)
{
	struct event_loop *loop = attempt->loop;
	struct termination *tree = &attempt->tree;
	bool calm = failed && attempt->outcome.interrupted == 0;
	char left[NUMBER_ROOM];

	if (!tree->keeps || tree->child == -1)
		return;
	if (calm && tree->stage == TERMINATION_NONE) {
		termination_start(tree);
		if (tree->living > 0)
			log_note(&loop->log,
			    STRINGS(tree->what, tree->label, " has left ",
				number_put(left, tree->living),
				tree->living == 1 ? " process" : " processes",
				", which --kill-orphans ends"));
		while (calm && !termination_over(tree)) {
			calm = event_loop_wait(loop, -1, termination_nap(tree));
			termination_advance(tree, false);
		}
	}
	forget(loop);
}
