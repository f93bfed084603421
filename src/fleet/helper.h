/*
 * helper: a process that serves one connection.
 *
 * A helper either connects to a host by its name, because to look up a name
 * takes as long as it likes; or it is openssl, for TLS. It is in a session of
 * its own, so neither the terminal's signals nor the limits of an attempt reach
 * it. It has a socket to retry, and no descriptor that retry has inherited:
 * whoever reads a pipe of the caller sees its end although a helper lives.
 */
#ifndef HELPER_H
#define HELPER_H

#include <netdb.h>
#include <stdbool.h>
#include <sys/types.h>
#include "policy/url.h"
#include "sys/signals.h"

/*
 * Starts a helper that leads to the server of a URL, which is no socket.
 * Returns its pid, or -1 with errno; *fd is the socket to it.
 *
 * With TLS that is openssl: what is written to *fd goes to the server, and what
 * can be read comes from there. Its standard error is shown if verbose. When
 * retry closes *fd, openssl sees the end of its input and has a second to
 * deliver the rest; then it is killed.
 *
 * Without TLS, the helper dies with retry, and *fd can be read when it has
 * found the host, and when it has come to an end.
 */
pid_t helper_start(const struct url *url, bool verbose,
    const struct signals *signals, int *fd);

/*
 * In a helper: connects to the first of some addresses that answers. The next
 * one is tried, too, after this long without an answer: one that drops packets
 * must not use up the time of the others. Returns 0 or
 * an errno; the caller ends soon, so the other sockets stay open.
 */
int
helper_connect(const struct addrinfo *address, nanos patience, int *connected);

/* Hears what a helper without TLS has to say. Returns NULL, or why there is no
 * connection; *connected is the connection, or -1 while there is only an
 * address. */
const char *helper_resolved(int fd, int *connected);

/*
 * Kills the helper and its children, and reaps it if it is dead at once;
 * otherwise event_loop_reap() does that.
 */
void helper_end(pid_t pid);

#endif
