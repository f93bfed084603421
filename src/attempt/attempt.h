/*
 * attempt: runs the command once, from fork to outcome. Signals are passed on,
 * limits end the whole tree of processes, and no attempt ends while its child
 * lives, unless the deadline has passed and KILL did not help.
 */
#ifndef ATTEMPT_H
#define ATTEMPT_H

#include <stdbool.h>
#include "attempt/event_loop.h"
#include "attempt/termination.h"
#include "policy/plan.h"
#include "policy/policy.h"

struct attempt {
	struct termination tree;
	const struct policy *policy;
	struct event_loop *loop;
	bool apart; /* a child has its own memory before the exec, too */
	int errors; /* an eventfd: the errno of exec, from the child */
	bool may_end; /* an attempt may have to be ended */

	/* The attempt that runs: */
	struct outcome outcome; /* as far as it is known */
	bool halted; /* retry got a signal to stop, as the command did */
	bool overtaken; /* a limit came after the interruption */
	nanos began, timeout, idle; /* signals_now; NANOS_MAX: none */
	nanos deadline; /* CLOCK_BOOTTIME */
};

/*
 * False, with errno, if the kernel refuses. limited: a limit of time may end
 * an attempt, or what it leaves is to be ended.
 */
bool attempt_open(struct attempt *attempt, const struct policy *policy,
    struct event_loop *loop, bool limited);

/*
 * Runs command once, with env, as attempt number history->made. It ends by
 * itself, at its timeout, or at the deadline of history. A limit sends the
 * policy's signal and, kill_after later, KILL to all of the attempt's
 * processes. label names the attempt in messages ("2/4").
 */
struct outcome attempt_run(struct attempt *attempt, char **command, char **env,
    const struct history *history, const char *label);

/*
 * For --kill-orphans, to be called when the attempt is judged. If it has failed
 * by itself, this ends what it has left in the background, as a limit would,
 * and waits for that, unless a signal ends retry.
 */
void attempt_settle(struct attempt *attempt, bool failed);

#endif
