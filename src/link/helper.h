/*
 * helper: starts and ends a process that serves one connection.
 *
 * A helper is in a session of its own, so neither the terminal's signals nor
 * the limits of an attempt reach it. It has a socket to retry, and no
 * descriptor that retry has inherited: whoever reads a pipe of the caller sees
 * its end although a helper lives.
 */
#ifndef HELPER_H
#define HELPER_H

#include <stdbool.h>
#include <sys/types.h>

/* The socket to retry, in the helper. */
#define HELPER_SOCKET 3

/*
 * Forks. In retry, returns the helper's pid, or -1 with errno; *fd is a socket
 * that does not block. In the helper, returns 0; *fd is the other end, and all
 * signals are still blocked.
 */
pid_t helper_fork(int *fd);

/*
 * In the helper: moves its socket to HELPER_SOCKET, has /dev/null as the
 * standard streams, and closes everything else.
 */
void helper_isolate(int fd);

/* In the helper: closes all descriptors from first on. */
void helper_close_from(int first);

/*
 * Kills the helper and its children, and reaps it if it is dead at once;
 * otherwise event_loop_reap() does that.
 */
void helper_end(pid_t pid);

#endif
