/*
 * spawn: a command becomes a process that runs as if we had not started it:
 * in our process group, with the descriptors, signals and mask we were given.
 */
#ifndef SPAWN_H
#define SPAWN_H

#include <sys/types.h>
#include "streams/streams.h"
#include "sys/signals.h"

struct spawn {
	int errors; /* an eventfd that carries the errno of spawn_error */
	int farewell; /* the signal that the command gets should we die */
};

/* False, with errno, if the kernel refuses. */
bool spawn_open(struct spawn *spawn, int farewell);

/*
 * Forks and executes command with env, found along PATH as execvp(3) would
 * find it; a file that is no program goes to /bin/sh. The child gets the signal
 * of spawn_open should we die. Returns its pid, or -1 with errno where fork
 * failed. The child writes over its own copy of command[-1].
 */
pid_t spawn_run(const struct spawn *spawn, const struct signals *signals,
    const struct streams *streams, char **command, char **env);

/*
 * In the child that parent has just forked: it gets the signal farewell should
 * parent die, and ends here if that is dead already.
 */
void spawn_tie(pid_t parent, int farewell);

/*
 * The errno with which the child that has just ended failed to get its streams
 * or to exec, 0 if it did not.
 */
int spawn_error(const struct spawn *spawn);

#endif
