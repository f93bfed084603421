/*
 * hooks: shell lines of the user's that run beside: --on-retry while a delay
 * lasts, --on-give-up when all is over. What becomes of them never changes what
 * becomes of the command; that one fails, or has to be ended, is a warning.
 */
#ifndef HOOKS_H
#define HOOKS_H

#include <stdbool.h>
#include <sys/types.h>
#include "policy/policy.h"
#include "attempt/event_loop.h"
#include "attempt/proctree.h"

/* The hook that runs; there is one at a time. */
struct hook {
	const struct policy *policy;
	struct event_loop *loop;
	struct sweep *sweep; /* NULL: there is no hook at all */
	const char *option; /* whose it is */
	pid_t pid; /* 0: none is running */
};

/* False, with errno, where there is no memory. */
bool hooks_open(
    struct hook *hook, const struct policy *policy, struct event_loop *loop);

/*
 * Starts --on-retry, if there is one, with env: standard input is /dev/null,
 * standard output our standard error.
 */
void hooks_retry(struct hook *hook, char **env);

/* Buries it if it has ended. True if none is running. */
bool hooks_over(struct hook *hook);

/*
 * Ends it, if one is running, and all of its processes: TERM, and KILL a second
 * later. why goes into the warning ("ended by the deadline"); NULL: there is
 * none. Returns a signal that would have ended the series meanwhile, or 0.
 */
int hooks_end(struct hook *hook, const char *why);

/*
 * Runs --on-give-up, if there is one, to its end, which comes after 30 s at the
 * latest, and at once with a signal that ends the series. Returns it, or 0.
 */
int hooks_give_up(struct hook *hook, char **env);

void hooks_close(struct hook *hook);

#endif
