/*
 * attempt: runs the command once, from fork to outcome. Signals are passed on,
 * limits end the whole tree of processes, and no attempt ends while its child
 * lives, unless the deadline has passed and KILL did not help.
 */
#ifndef ATTEMPT_H
#define ATTEMPT_H

#include <stdbool.h>
#include "attempt/spawn.h"
#include "attempt/termination.h"
#include "policy/plan.h"
#include "policy/policy.h"
#include "attempt/event_loop.h"

/* What all attempts share. */
struct attempt {
	const struct policy *policy;
	struct event_loop *loop;
	struct spawn spawn;
	struct sweep *sweep; /* NULL where no attempt has to be ended */
};

/*
 * False, with errno, if the kernel refuses. limited: a limit of time may end
 * an attempt.
 */
bool attempt_open(struct attempt *shared, const struct policy *policy,
    struct event_loop *loop, bool limited);

/*
 * Runs command once, with env, as attempt number history->made. It ends by
 * itself, at its timeout, or at the deadline of history. A limit sends the
 * policy's signal and, kill_after later, KILL to all of the attempt's
 * processes. label names the attempt in messages ("2/4").
 */
struct outcome attempt_run(struct attempt *shared, char **command, char **env,
    const struct history *history, const char *label);

/* Gives back what attempt_open took. */
void attempt_close(struct attempt *shared);

#endif
