/*
 * wrapper: finds the command behind programs such as sudo, env and timeout.
 *
 * They replace themselves by the command behind them, or run it and end as it
 * ends: timeout, env, nice, nohup and stdbuf (GNU coreutils up to 9.7 and
 * BusyBox) and sudo (sudo(8) of 1.9), also in front of each other. A command
 * that runs through a shell is not found.
 */
#ifndef WRAPPER_H
#define WRAPPER_H

#include <stdbool.h>
#include <stddef.h>

struct wrapper {
	size_t command; /* argv index of the command behind all wrappers */
	const char *directory; /* in which it will run; NULL: in ours */
	bool root; /* sudo runs it as the superuser */
	bool alien; /* it runs as a user who cannot open our files */
};

/*
 * Skips the wrappers at the start of argv, which ends in NULL and has at least
 * one word. A wrapper is not skipped, and counts as the command, if nothing is
 * behind it, or if one of its options is unknown, makes it run no command
 * (--help), a shell (sudo -i) or a command in the background, or has the
 * command in its argument (env -S).
 */
struct wrapper wrapper_look(char *const argv[]);

#endif
