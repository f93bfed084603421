#include "attempt/hooks.h"

#include <errno.h>
#include <paths.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>
#include "exit_status.h"
#include "sys/error.h"
#include "sys/sys.h"
#include "text/number.h"
#include "text/signame.h"

/* How long --on-give-up may take. */
#define LONGEST (30 * NANOS_SECOND)

/* How long a hook may go on after TERM. */
#define GRACE NANOS_SECOND

void
hooks_open(struct termination *hook, struct event_loop *loop)
{
	termination_open(hook, loop, SIGTERM, GRACE);
}

static void
warn(const struct termination *hook, const char *what, const char *detail,
    const char *close)
{
	log_warn(
	    &hook->loop->log, STRINGS(hook->what, " ", what, detail, close));
}

/*
 * Forks a shell that runs line with env. Its standard input is /dev/null, its
 * standard output is the standard error of retry. If retry dies, the shell gets
 * TERM. Returns its pid, or -1 with errno.
 */
static pid_t
start_shell(const struct event_loop *loop, const char *line, char **env)
{
	/* The line may begin with a dash, so "--" is before it. */
	char name[] = "sh", option[] = "-c", end[] = "--";
	char *words[] = { name, option, end, (char *)(uintptr_t)line, NULL };
	pid_t parent = loop->signals.self, child = fork();

	if (child != 0)
		return child;
	signals_die_with(parent, SIGTERM);
	/* The hook reads nothing of the caller's input and writes nothing into
	 * the output that the caller may read. If standard error is closed, its
	 * standard output is closed, too. */
	if (sys_attach(STDERR_FILENO, STDOUT_FILENO) == -1)
		close(STDOUT_FILENO);
	sys_null(STDIN_FILENO);
	signals_restore(&loop->signals);
	execve(_PATH_BSHELL, words, env);
	_exit(EXIT_STATUS_NOT_FOUND);
}

void
hooks_start(
    struct termination *hook, const char *option, const char *line, char **env)
{
	struct event_loop *loop = hook->loop;
	pid_t pid;

	if (line == NULL)
		return;
	termination_prepare(hook, option, "", true);
	pid = start_shell(loop, line, env);
	if (pid == -1)
		warn(hook, "not started (", error_words(errno), ")");
	else
		hook->child = loop->child = pid;
}

/* The hook has ended: reaps it, and orphans that died after it. */
static void
forget(struct termination *hook)
{
	hook->loop->child = 0;
	event_loop_reap(hook->loop);
}

/* Reaps the hook if it has ended. */
static bool
reap(struct termination *hook)
{
	if (!termination_reap(hook))
		return false;
	forget(hook);
	return true;
}

bool
hooks_over(struct termination *hook)
{
	const siginfo_t *info = &hook->info;
	char number[NUMBER_ROOM], name[SIGNAME_ROOM];

	if (hook->loop->child == 0)
		return true;
	if (!reap(hook))
		return false;
	if (info->si_code != CLD_EXITED)
		warn(
		    hook, "killed by ", signame_put(name, info->si_status), "");
	else if (info->si_status != 0)
		warn(hook, "failed (exit ", number_put(number, info->si_status),
		    ")");
	return true;
}

void
hooks_end(struct termination *hook, const char *why)
{
	if (hooks_over(hook))
		return;
	if (why != NULL)
		warn(hook, why, "", "");
	termination_start(hook);
	while (!termination_over(hook)) {
		event_loop_wait(hook->loop, -1, termination_nap(hook));
		termination_reap(hook);
		termination_advance(hook, true);
	}
	forget(hook);
}

enum hook_answer
hooks_ask(
    struct termination *hook, const char *line, char **env, nanos deadline)
{
	const siginfo_t *info = &hook->info;
	bool calm = true;
	int status;

	hooks_start(hook, "--retry-if", line, env);
	if (hook->loop->child == 0)
		return HOOK_ANSWER_FAILED;
	while (calm && !reap(hook)) {
		nanos left = deadline - sys_now(CLOCK_BOOTTIME);

		if (left <= 0)
			break;
		calm = event_loop_wait(hook->loop, -1, left);
	}
	if (hook->loop->child != 0) {
		hooks_end(hook, calm ? "ended by the deadline" : NULL);
		return HOOK_ANSWER_NONE;
	}
	/* sh has said what it did not find. */
	status = info->si_code == CLD_EXITED ? info->si_status : -1;
	if (status == EXIT_STATUS_NOT_EXECUTABLE ||
	    status == EXIT_STATUS_NOT_FOUND)
		return HOOK_ANSWER_FAILED;
	return status == 0 ? HOOK_ANSWER_YES : HOOK_ANSWER_NO;
}

bool
hooks_give_up(struct termination *hook, const char *line, char **env)
{
	struct event_loop *loop = hook->loop;
	bool calm = true;
	nanos until;

	hooks_start(hook, "--on-give-up", line, env);
	if (hook->loop->child == 0)
		return true;
	until = signals_now(&loop->signals) + LONGEST;
	while (calm && !hooks_over(hook)) {
		nanos left = until - signals_now(&loop->signals);

		if (left <= 0)
			hooks_end(hook, "ended after 30s");
		else
			calm = event_loop_wait(loop, -1, left);
	}
	hooks_end(hook, NULL);
	return calm;
}
