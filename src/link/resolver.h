/*
 * resolver: connects to a host by its name, in a process of its own.
 *
 * getaddrinfo(3) blocks for as long as it likes. So a helper calls it, connects
 * and passes the socket on. It dies with retry.
 */
#ifndef RESOLVER_H
#define RESOLVER_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * Starts a helper that connects to a port of host. Returns its pid, or -1 with
 * errno; *fd can be read when the helper has come to an end.
 */
pid_t resolver_start(const char *host, int port, int *fd);

/*
 * Takes the socket, which does not block, from the helper behind fd. Returns
 * NULL, or why there is no connection; *connected is -1 if the helper has not
 * come to an end yet.
 */
const char *resolver_take(int fd, int *connected);

#endif
