/*
 * wrapper: finds the command behind programs such as sudo, env and timeout.
 *
 * A wrapper executes the command behind it, or runs the command and ends with
 * its exit status. Known are timeout, env, nice, nohup and stdbuf (GNU
 * coreutils up to 9.7 and BusyBox) and sudo (sudo(8) of 1.9), also one in front
 * of another. A command that runs through a shell is not found.
 */
#ifndef WRAPPER_H
#define WRAPPER_H

#include <stdbool.h>
#include <stddef.h>

struct wrapper {
	size_t command; /* argv index of the command behind all wrappers */
	const char *directory; /* in which it will run; NULL: in retry's */
	bool root; /* sudo runs it as the superuser */
	bool alien; /* it runs as a user who cannot open retry's files */
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
