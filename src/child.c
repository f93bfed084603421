#include "child.h"

#include <errno.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "context.h"
#include "number.h"
#include "tree.h"

/* What KILL ends is gone by then, unless the kernel holds it. */
#define STUCK_AFTER NANOS_SECOND

/* How often the dying are looked at: most deaths we are not told of. */
#define WATCH (20 * NANOS_MS)

/* KILL goes out again at once while new processes keep turning up. */
#define ROUNDS 8

enum stage {
	STAGE_RUNNING,
	STAGE_ASKED, /* a limit has sent its signal */
	STAGE_KILLED,
	STAGE_STUCK, /* KILL did not help, or may not be sent */
	STAGE_LEFT, /* past the deadline: given up */
};

struct attempt {
	const struct child *child;
	const char *label;
	pid_t pid;
	enum stage stage;
	bool dead; /* and info tells how */
	siginfo_t info;
	struct tree tree; /* its other processes, once a limit fired */
	enum end limit; /* which limit fired, once one has */
	int interrupted;
	bool overtaken; /* the limit came after the interruption */
	nanos began, timeout, next; /* CLOCK_MONOTONIC; next: the next stage */
	nanos deadline; /* CLOCK_BOOTTIME */
	nanos stopped;
};

bool
child_open(struct child *child, const struct policy *policy, struct pump *pump,
    bool limited)
{
	child->policy = policy;
	child->pump = pump;
	child->self = getpid();
	child->adopts = limited || child->self == 1;
	if (limited) {
		tree_adopt();
		if (!tree_visible())
			lines_say(&pump->lines, LOUDNESS_VERBOSE,
			    STRINGS("no /proc: limits reach the command "
				    "itself only"));
	}
	return launch_open(&child->launch);
}

/*
 * A child that a limit has ended stays unburied until its tree is gone: while
 * it holds its number and session, they cannot be anybody else's.
 */
static void
reap(struct attempt *attempt)
{
	int options = WEXITED | WNOHANG;

	if (attempt->dead)
		return;
	if (attempt->stage != STAGE_RUNNING)
		options |= WNOWAIT;
	attempt->info.si_pid = 0;
	if (waitid(P_PID, (id_t)attempt->pid, &attempt->info, options) == 0)
		attempt->dead = attempt->info.si_pid == attempt->pid;
}

/* Buries the dead, but not the child of an attempt, which is asked for. */
static void
reap_others(pid_t child)
{
	siginfo_t info;

	for (;;) {
		info.si_pid = 0;
		if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) ==
			-1 ||
		    info.si_pid == 0 || info.si_pid == child)
			return;
		waitid(P_PID, (id_t)info.si_pid, NULL, WEXITED | WNOHANG);
	}
}

void
child_reap_orphans(const struct child *child)
{
	if (child->adopts)
		reap_others(0);
}

/* Whether the child got a signal from where we got it: see kill(2), tty(4). */
static bool
reached_both(const struct attempt *attempt, const struct wakeup *wakeup)
{
	if (wakeup->code != SI_KERNEL)
		return false;
	switch (wakeup->signal) {
	case SIGHUP:
		if (getsid(0) == attempt->child->self)
			return false; /* only a session's leader was told */
		break;
	case SIGINT:
	case SIGQUIT:
	case SIGWINCH:
	case SIGCONT:
		break;
	default:
		return false;
	}
	return getpgid(attempt->pid) == getpgrp();
}

static void
forward(const struct attempt *attempt, const struct wakeup *wakeup)
{
	union sigval value = { .sival_int = wakeup->value };

	if (wakeup->sender == attempt->pid || wakeup->signal == SIGABRT ||
	    wakeup->signal == SIGXFSZ || reached_both(attempt, wakeup))
		return;
	if (wakeup->code == SI_QUEUE)
		sigqueue(attempt->pid, wakeup->signal, value);
	else
		kill(attempt->pid, wakeup->signal);
}

static void
hear(struct attempt *attempt, const struct wakeup *wakeup)
{
	if (wakeup->signal == 0)
		return;
	if (wakeup->signal == SIGCHLD) {
		if (attempt->child->adopts && !attempt->dead)
			reap_others(attempt->pid);
		return;
	}
	/* Our own: PIPE, when nobody reads what we say. */
	if (wakeup->sender == attempt->child->self)
		return;
	if (signals_end_series(wakeup->signal) && attempt->interrupted == 0)
		attempt->interrupted = wakeup->signal;
	if (!attempt->dead)
		forward(attempt, wakeup);
}

static void
say_stuck(const struct attempt *attempt, pid_t pid, bool refused)
{
	char digits[NUMBER_ROOM];

	lines_say(&attempt->child->pump->lines, LOUDNESS_PLAIN,
	    STRINGS("attempt ", attempt->label, ": process ",
		number_put(digits, pid),
		refused ? " cannot be signalled: "
			: " is still alive 1s after KILL",
		refused ? strerror(EPERM) : ""));
}

static void
send_kill(struct attempt *attempt, nanos now)
{
	int rounds = 0;

	do
		attempt->tree = tree_signal(attempt->pid, SIGKILL);
	while (attempt->tree.living > 0 && ++rounds < ROUNDS);
	if (attempt->stage == STAGE_KILLED)
		return;
	attempt->stage = STAGE_KILLED;
	attempt->next = number_add(now, STUCK_AFTER);
}

/* A limit ends the attempt. */
static void
fire(struct attempt *attempt, enum end limit, nanos now)
{
	const struct policy *policy = attempt->child->policy;

	attempt->limit = limit;
	attempt->overtaken = attempt->interrupted != 0;
	if (kill(attempt->pid, 0) == -1 && errno == EPERM) {
		say_stuck(attempt, attempt->pid, true);
		attempt->stage = STAGE_STUCK;
		attempt->next = number_add(now, STUCK_AFTER);
		return;
	}
	if (policy->signal == SIGKILL || policy->kill_after == 0) {
		send_kill(attempt, now);
		return;
	}
	attempt->tree = tree_signal(attempt->pid, policy->signal);
	attempt->stage = STAGE_ASKED;
	attempt->next = number_add(now, policy->kill_after);
}

static bool
past_deadline(const struct attempt *attempt)
{
	return attempt->deadline != NANOS_MAX &&
	    context_now(CLOCK_BOOTTIME) >= attempt->deadline;
}

/* What is done, stage by stage, to an attempt that a limit ends. */
static void
press(struct attempt *attempt, nanos now)
{
	switch (attempt->stage) {
	case STAGE_ASKED:
		if (now >= attempt->next)
			send_kill(attempt, now);
		else
			attempt->tree = tree_signal(attempt->pid, 0);
		break;
	case STAGE_KILLED:
		send_kill(attempt, now);
		if (now < attempt->next ||
		    (attempt->dead && attempt->tree.living == 0))
			break;
		attempt->stage = STAGE_STUCK;
		if (!attempt->dead)
			say_stuck(attempt, attempt->pid, false);
		else if (attempt->tree.refused != 0)
			say_stuck(attempt, attempt->tree.refused, true);
		else
			say_stuck(attempt, attempt->tree.one, false);
		break;
	case STAGE_STUCK:
		if (!attempt->dead && past_deadline(attempt))
			attempt->stage = STAGE_LEFT;
		break;
	case STAGE_RUNNING:
	case STAGE_LEFT:
		break;
	}
}

static void
check_limits(struct attempt *attempt)
{
	nanos now = context_now(CLOCK_MONOTONIC);

	if (attempt->stage != STAGE_RUNNING)
		press(attempt, now);
	else if (attempt->timeout != NANOS_MAX &&
	    now - attempt->stopped >= attempt->timeout)
		fire(attempt, END_TIMED_OUT, now);
	else if (past_deadline(attempt))
		fire(attempt, END_DEADLINE, now);
}

static nanos
lesser(nanos a, nanos b)
{
	return a < b ? a : b;
}

static nanos
nap(const struct attempt *attempt)
{
	nanos left = NANOS_MAX, now;

	if (attempt->timeout == NANOS_MAX && attempt->deadline == NANOS_MAX)
		return NANOS_MAX;
	now = context_now(CLOCK_MONOTONIC);
	switch (attempt->stage) {
	case STAGE_RUNNING:
		if (attempt->timeout != NANOS_MAX)
			left = attempt->timeout + attempt->stopped - now;
		break;
	case STAGE_ASKED:
		return attempt->next - now;
	case STAGE_KILLED:
		return WATCH;
	case STAGE_STUCK:
	case STAGE_LEFT:
		left = STUCK_AFTER;
		break;
	}
	if (attempt->deadline == NANOS_MAX)
		return left;
	return lesser(left, attempt->deadline - context_now(CLOCK_BOOTTIME));
}

/*
 * What lives was counted after the child was seen dead: what the child leaves
 * behind comes to us as it dies, and an earlier count would miss it.
 */
static bool
ended(const struct attempt *attempt)
{
	switch (attempt->stage) {
	case STAGE_RUNNING:
	case STAGE_STUCK:
		return attempt->dead;
	case STAGE_ASKED:
	case STAGE_KILLED:
		return attempt->dead && attempt->tree.living == 0;
	case STAGE_LEFT:
		return true;
	}
	return true;
}

/* How an attempt ended that no limit had to end. */
static void
judge_end(const struct attempt *attempt, int error, struct outcome *outcome)
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
exec_error(const struct attempt *attempt)
{
	if (attempt->stage == STAGE_RUNNING &&
	    attempt->info.si_code == CLD_EXITED &&
	    attempt->info.si_status != LAUNCH_FAILED)
		return 0;
	return launch_error(&attempt->child->launch);
}

static struct outcome
outcome_of(const struct attempt *attempt)
{
	struct outcome outcome = { .interrupted = attempt->interrupted,
		.elapsed = context_now(CLOCK_MONOTONIC) - attempt->began -
		    attempt->stopped };
	int error = exec_error(attempt);

	if (attempt->stage == STAGE_RUNNING) {
		judge_end(attempt, error, &outcome);
		return outcome;
	}
	waitid(P_PID, (id_t)attempt->pid, NULL, WEXITED | WNOHANG);
	outcome.end =
	    attempt->stage == STAGE_LEFT ? END_DEADLINE : attempt->limit;
	if (!attempt->overtaken || attempt->stage == STAGE_LEFT)
		return outcome;
	/* The signal that interrupted us came first, and it has its way. */
	outcome.end = END_SIGNALED;
	outcome.code = attempt->interrupted;
	return outcome;
}

struct outcome
child_run(
    const struct child *child, char **env, nanos deadline, const char *label)
{
	const struct policy *policy = child->policy;
	struct attempt attempt = { .child = child,
		.label = label,
		.began = context_now(CLOCK_MONOTONIC),
		.timeout = NANOS_MAX,
		.deadline = deadline };

	if (policy->timeout != 0)
		attempt.timeout = number_add(attempt.began, policy->timeout);
	attempt.pid = launch_run(
	    &child->launch, &child->pump->signals, policy->command, env);
	if (attempt.pid == -1)
		return (
		    struct outcome){ .end = END_NOT_STARTED, .error = errno };
	while (!ended(&attempt)) {
		struct wakeup wakeup = pump_wait(child->pump, nap(&attempt));

		attempt.stopped += wakeup.stopped;
		reap(&attempt);
		hear(&attempt, &wakeup);
		if (!attempt.dead || attempt.stage != STAGE_RUNNING)
			check_limits(&attempt);
	}
	return outcome_of(&attempt);
}
