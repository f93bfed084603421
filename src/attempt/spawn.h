/*
 * spawn: starts a command with the signals and descriptors that retry was
 * given.
 *
 * The command runs in the process group of retry, as if the caller had executed
 * it.
 */
#ifndef SPAWN_H
#define SPAWN_H

#include <sys/types.h>
#include "streams/streams.h"
#include "sys/signals.h"

struct spawn {
	int errors; /* an eventfd that carries the errno of spawn_error */
	int death_signal; /* what the command gets if retry dies */
};

/* False, with errno, if the kernel refuses. */
bool spawn_open(struct spawn *spawn, int death_signal);

/*
 * Forks and executes command with env. It is searched along PATH as execvp(3)
 * does; a script without #! is run by /bin/sh. If retry dies the child gets the
 * death_signal of spawn_open. Where LISTEN_PID or WATCHDOG_PID in env name
 * retry, they name the child. Returns its pid, or -1 with errno where fork
 * failed. The child writes over its copies of command[-1] and of env.
 */
pid_t spawn_run(const struct spawn *spawn, const struct signals *signals,
    const struct streams *streams, char **command, char **env);

/*
 * The errno with which the child that has just ended failed to get its streams
 * or to exec; 0 if it did not fail.
 */
int spawn_error(const struct spawn *spawn);

#endif
