/*
 * connection: a connection to a fleet's server, which never blocks.
 *
 * A socket or a numeric address needs no process. For the name of a host there
 * is a resolver until the connection is made, and for TLS or --fleet-via there
 * is a transport until it is closed.
 */
#ifndef CONNECTION_H
#define CONNECTION_H

#include <poll.h>
#include <stddef.h>
#include <sys/types.h>
#include "fleet/fleet_url.h"
#include "link/transport.h"

enum connection_stage {
	CONNECTION_CLOSED,
	CONNECTION_RESOLVING,
	CONNECTION_CONNECTING,
	CONNECTION_OPEN,
};

/* All zero: closed. */
struct connection {
	enum connection_stage stage;
	int fd;
	pid_t helper; /* 0: none */
};

/* Begins to connect. Returns NULL, or why that failed at once. */
const char *connection_begin(struct connection *connection,
    const struct fleet_url *url, const struct transport *transport);

/* What to wait for; sending: until bytes can be sent, too. */
struct pollfd
connection_pollfd(const struct connection *connection, bool sending);

/*
 * Continues to connect when the pollfd says so. Returns NULL, or why there is
 * no connection; the stage tells whether it is open.
 */
const char *connection_serve(struct connection *connection);

/* As send(2) and recv(2), without blocking, and without a signal. */
ssize_t connection_send(
    const struct connection *connection, const char *bytes, size_t length);
ssize_t connection_receive(
    const struct connection *connection, char *room, size_t size);

/* Closes the connection at once, and ends its helper. */
void connection_close(struct connection *connection);

/* Closes the connection, so that what has been sent still arrives. */
void connection_release(struct connection *connection);

#endif
