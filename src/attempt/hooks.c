#include "attempt/hooks.h"

#include <errno.h>
#include <fcntl.h>
#include <paths.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "exit_status.h"
#include "sys/sys.h"
#include "attempt/termination.h"
#include "text/number.h"
#include "text/signame.h"

/* How long --on-give-up may take. */
#define LONGEST (30 * NANOS_SECOND)

/* How long a hook may go on after TERM. */
#define GRACE NANOS_SECOND

bool
hooks_open(
    struct hook *hook, const struct policy *policy, struct event_loop *loop)
{
	*hook = (struct hook){ .policy = policy, .loop = loop };
	if (policy->on_retry == NULL && policy->on_give_up == NULL)
		return true;
	hook->sweep = malloc(sizeof *hook->sweep);
	if (hook->sweep == NULL)
		return false;
	proctree_start(hook->sweep);
	return true;
}

static void
warn(const struct hook *hook, const char *what, const char *detail,
    const char *close)
{
	log_say(&hook->loop->log, LOUDNESS_PLAIN,
	    STRINGS(hook->option, " ", what, detail, close));
}

/*
 * A hook reads nothing of the caller's input and writes nothing into the output
 * that the caller may read. If standard error is closed, the hook's standard
 * output is closed, too.
 */
static void
attach(void)
{
	int null;

	if (dup2(STDERR_FILENO, STDOUT_FILENO) == -1)
		close(STDOUT_FILENO);
	null = open("/dev/null", O_RDONLY);
	if (null == STDIN_FILENO)
		return;
	if (null == -1 || dup2(null, STDIN_FILENO) == -1)
		close(STDIN_FILENO);
	if (null != -1)
		close(null);
}

/*
 * Runs between fork and exec: only calls that are safe in a signal handler. The
 * line may begin with a dash, so "--" is before it.
 */
static _Noreturn void
become(
    const struct signals *signals, pid_t parent, const char *line, char **env)
{
	char name[] = "sh", option[] = "-c", end[] = "--";
	char *words[] = { name, option, end, (char *)(uintptr_t)line, NULL };

	signals_die_with(parent, SIGTERM);
	attach();
	signals_restore(signals);
	execve(_PATH_BSHELL, words, env);
	_exit(EXIT_STATUS_NOT_FOUND);
}

static void
start(struct hook *hook, const char *option, const char *line, char **env)
{
	pid_t parent = getpid(), pid;

	hook->option = option;
	/* If the hook has to be ended, the processes that exist now are not
	 * part of it. */
	proctree_exclude(hook->sweep);
	pid = fork();
	if (pid == 0)
		become(&hook->loop->signals, parent, line, env);
	if (pid == -1)
		warn(hook, "not started (", strerror(errno), ")");
	else
		hook->pid = hook->loop->child = pid;
}

void
hooks_retry(struct hook *hook, char **env)
{
	if (hook->policy->on_retry != NULL)
		start(hook, "--on-retry", hook->policy->on_retry, env);
}

/*
 * Whether the hook is dead, and how it ended. si_pid is 0 if its end is
 * unknown, because it was reaped as an orphan.
 */
static bool
dead(const struct hook *hook, siginfo_t *info, int options)
{
	info->si_pid = 0;
	if (waitid(P_PID, (id_t)hook->pid, info, WEXITED | WNOHANG | options) ==
	    -1)
		return true;
	return info->si_pid == hook->pid;
}

static void
judge(const struct hook *hook, const siginfo_t *info)
{
	char number[NUMBER_ROOM], name[SIGNAME_ROOM];

	if (info->si_pid == 0)
		return;
	if (info->si_code != CLD_EXITED)
		warn(
		    hook, "killed by ", signame_put(name, info->si_status), "");
	else if (info->si_status != 0)
		warn(hook, "failed (exit ", number_put(number, info->si_status),
		    ")");
}

/* The hook has been reaped: now also reaps orphans that died after it. */
static void
forget(struct hook *hook)
{
	hook->pid = hook->loop->child = 0;
	event_loop_reap(hook->loop);
}

bool
hooks_over(struct hook *hook)
{
	siginfo_t info;

	if (hook->pid == 0)
		return true;
	if (!dead(hook, &info, 0))
		return false;
	forget(hook);
	judge(hook, &info);
	return true;
}

void
hooks_end(struct hook *hook, const char *why)
{
	struct termination_means means = { SIGTERM, GRACE, hook->sweep,
		&hook->loop->log, hook->option, "" };
	struct termination limit = { .child = hook->pid };
	siginfo_t info;

	if (hooks_over(hook))
		return;
	if (why != NULL)
		warn(hook, why, "", "");
	/* Otherwise retry could not find the hook's orphans. */
	proctree_adopt();
	termination_start(&limit, &means, event_loop_now(hook->loop));
	while (!termination_over(&limit)) {
		event_loop_wait(hook->loop,
		    termination_nap(&limit, event_loop_now(hook->loop)));
		limit.dead = dead(hook, &info, WNOWAIT);
		termination_advance(
		    &limit, &means, event_loop_now(hook->loop), true);
	}
	dead(hook, &info, 0);
	forget(hook);
}

bool
hooks_give_up(struct hook *hook, char **env)
{
	bool calm = true;
	nanos until;

	if (hook->policy->on_give_up == NULL)
		return true;
	until = event_loop_now(hook->loop) + LONGEST;
	start(hook, "--on-give-up", hook->policy->on_give_up, env);
	while (calm && !hooks_over(hook)) {
		nanos left = until - event_loop_now(hook->loop);

		if (left <= 0)
			hooks_end(hook, "ended after 30s");
		else
			calm = event_loop_wait(hook->loop, left);
	}
	hooks_end(hook, NULL);
	return calm;
}

void
hooks_close(struct hook *hook)
{
	free(hook->sweep);
}
