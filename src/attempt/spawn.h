/*
 * spawn: starts a command, or a hook, as if the caller had executed it.
 *
 * It runs in the process group of retry, with the signals that retry was given.
 * What the child does before its exec, a signal handler may do.
 */
#ifndef SPAWN_H
#define SPAWN_H

#include <sys/types.h>
#include "attempt/event_loop.h"

/*
 * Forks and executes command with env and the streams of the loop. It is
 * searched along PATH as execvp(3) does; a script without #! is run by /bin/sh.
 * If retry dies, the child gets death_signal. Where LISTEN_PID or WATCHDOG_PID
 * in env name retry, they name the child. Returns its pid, or -1 with errno
 * where fork failed. The child writes over its copies of command[-1] and of
 * env. If it fails to get its streams or to exec, it adds the errno to the
 * eventfd errors.
 */
pid_t spawn_command(const struct event_loop *loop, int death_signal, int errors,
    char **command, char **env);

/*
 * Forks a shell that runs line with env. Its standard input is /dev/null, its
 * standard output is the standard error of retry. If retry dies, the shell gets
 * TERM. Returns its pid, or -1 with errno.
 */
pid_t spawn_hook(const struct event_loop *loop, const char *line, char **env);

#endif
