/*
 * wrapper: programs that become the command behind them, or run it and end as
 * it ends: timeout, env, nice, nohup and stdbuf (GNU coreutils up to 9.7 and
 * BusyBox) and sudo (sudo(8) of 1.9), in front of each other too. A command
 * that runs through a shell is not found.
 */
#ifndef WRAPPER_H
#define WRAPPER_H

#include <stdbool.h>
#include <stddef.h>

struct wrapper {
	size_t command; /* argv index of what is behind all of them */
	const char *directory; /* in which it will run; NULL: in ours */
	bool root; /* sudo makes it the superuser's... */
	bool alien; /* ...or somebody else's, who cannot open what is ours */
};

/*
 * Looks through what stands in front of the command in argv, which ends in
 * NULL and has one word at least. The word that is found may be a wrapper that
 * cannot be looked through: one with an option that is unknown here, that has
 * it run no command (--help), a shell (sudo -i) or one in the background, or
 * that holds the command within one word (env -S); or one with nothing behind
 * it. Words are neither changed nor copied.
 */
struct wrapper wrapper_look(char *const argv[]);

#endif
