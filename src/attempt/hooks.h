/*
 * hooks: runs the user's shell lines.
 *
 * --on-retry runs in a delay, --on-give-up at the end: they never change the
 * result of the command, and if one fails or has to be ended, retry warns.
 * --retry-if runs before a delay, and its exit status is an answer.
 */
#ifndef HOOKS_H
#define HOOKS_H

#include <stdbool.h>
#include "attempt/termination.h"

/*
 * A hook is a struct termination, in which what is the option of the hook.
 * There is one at a time; while none runs, the loop has no child. Fills it in.
 */
void hooks_open(struct termination *hook, struct event_loop *loop);

/*
 * Starts the hook of an option with env; line is NULL where there is none. What
 * it reads is empty, and what it writes goes to standard error.
 */
void hooks_start(
    struct termination *hook, const char *option, const char *line, char **env);

/* The answer of --retry-if. */
enum hook_answer {
	HOOK_ANSWER_NONE, /* the deadline or a signal has ended it */
	HOOK_ANSWER_YES,
	HOOK_ANSWER_NO,
	HOOK_ANSWER_FAILED, /* it could not be run */
};

/* Runs the line of --retry-if, and waits for its end until the deadline on
 * CLOCK_BOOTTIME, or until a signal ends the series. */
enum hook_answer hooks_ask(
    struct termination *hook, const char *line, char **env, nanos deadline);

/* Reaps the hook if it has ended. True if none is running. */
bool hooks_over(struct termination *hook);

/*
 * Ends the hook, if one is running, and all of its processes: TERM, and KILL a
 * second later. why goes into a warning ("ended by the deadline"); NULL: no
 * warning. A signal does not end this wait.
 */
void hooks_end(struct termination *hook, const char *why);

/*
 * Runs the line of --on-give-up, if there is one, and waits for its end. retry
 * ends it after 30 s, or at a signal that ends the series: then this is false.
 */
bool hooks_give_up(struct termination *hook, const char *line, char **env);

#endif
