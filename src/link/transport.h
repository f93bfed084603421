/*
 * transport: a command as the way to a server: --fleet-via, or openssl for TLS.
 *
 * What the command reads from its standard input goes to the server, and what
 * it writes comes from there. When retry closes its socket, the command sees
 * the end of its input and has a second to deliver the rest; then it is killed.
 */
#ifndef TRANSPORT_H
#define TRANSPORT_H

#include <stdbool.h>
#include <sys/types.h>
#include "fleet/fleet_url.h"
#include "sys/signals.h"

struct transport {
	const char *via; /* a line for sh; NULL: openssl */
	bool verbose; /* the command's standard error is shown */
	const struct signals *signals;
};

/*
 * Starts the command that leads to the server of a URL. Returns the pid of the
 * helper that watches it, or -1 with errno; *fd is the socket.
 */
pid_t transport_start(
    const struct transport *transport, const struct fleet_url *url, int *fd);

#endif
