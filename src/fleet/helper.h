/*
 * helper: a process that serves one connection.
 *
 * A helper either connects to a host by its name, because getaddrinfo(3) blocks
 * for as long as it likes; or it runs openssl, for TLS. It is in a session of
 * its own, so neither the terminal's signals nor the limits of an attempt reach
 * it. It has a socket
 * to retry, and no descriptor that retry has inherited: whoever reads a pipe of
 * the caller sees its end although a helper lives.
 */
#ifndef HELPER_H
#define HELPER_H

#include <stdbool.h>
#include <sys/types.h>
#include "policy/url.h"
#include "sys/signals.h"

/*
 * Starts a helper that connects to a port of host. It dies with retry. Returns
 * its pid, or -1 with errno; *fd can be read when it has come to an end.
 */
pid_t helper_resolve(const char *host, int port, int *fd);

/*
 * Takes the connection, which does not block, from the helper behind fd.
 * Returns NULL, or why there is no connection; *connected is -1 if the helper
 * has not come to an end yet.
 */
const char *helper_resolved(int fd, int *connected);

/*
 * Starts openssl, which leads to the server of a URL by TLS. What it reads from
 * its standard input goes to the server, and what it writes comes from there.
 * Its standard error is shown if verbose. Returns the pid of the helper that
 * watches it, or -1 with errno; *fd is the socket. When retry closes the
 * socket, openssl sees the end of its input and has a second to deliver the
 * rest; then it is killed.
 */
pid_t helper_secure(const struct url *url, bool verbose,
    const struct signals *signals, int *fd);

/*
 * Kills the helper and its children, and reaps it if it is dead at once;
 * otherwise event_loop_reap() does that.
 */
void helper_end(pid_t pid);

#endif
