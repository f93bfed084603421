#include "link/connection.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include "link/helper.h"
#include "link/resolver.h"
#include "sys/sys.h"

/* Room for an address of each kind that needs no lookup. */
union address {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
	struct sockaddr_un local;
};

/* Returns the length of the address, or 0 if the host is a name. */
static socklen_t
read_address(const struct fleet_url *url, union address *address)
{
	*address = (union address){ 0 };
	if (url->host[0] == '\0') {
		address->local.sun_family = AF_UNIX;
		_Static_assert(
		    sizeof url->path <= sizeof address->local.sun_path,
		    "too long");
		memcpy(address->local.sun_path, url->path, sizeof url->path);
		return sizeof address->local;
	}
	if (inet_pton(AF_INET, url->host, &address->v4.sin_addr) == 1) {
		address->v4.sin_family = AF_INET;
		address->v4.sin_port = htons((uint16_t)url->port);
		return sizeof address->v4;
	}
	if (inet_pton(AF_INET6, url->host, &address->v6.sin6_addr) == 1) {
		address->v6.sin6_family = AF_INET6;
		address->v6.sin6_port = htons((uint16_t)url->port);
		return sizeof address->v6;
	}
	return 0;
}

static const char *
fail(struct connection *connection, int error)
{
	connection_close(connection);
	return strerror(error);
}

static const char *
begin_direct(struct connection *connection, const union address *address,
    socklen_t length)
{
	connection->fd = sys_move_up(socket(address->any.sa_family,
	    SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
	if (connection->fd == -1)
		return strerror(errno);
	connection->stage = CONNECTION_OPEN;
	if (connect(connection->fd, &address->any, length) == -1) {
		if (errno != EINPROGRESS)
			return fail(connection, errno);
		connection->stage = CONNECTION_CONNECTING;
	}
	return NULL;
}

static const char *
begin_helper(
    struct connection *connection, pid_t pid, enum connection_stage stage)
{
	if (pid == -1)
		return strerror(errno);
	connection->helper = pid;
	connection->stage = stage;
	return NULL;
}

const char *
connection_begin(struct connection *connection, const struct fleet_url *url,
    const struct transport *transport)
{
	union address address;
	socklen_t length;

	*connection = (struct connection){ .fd = -1 };
	if (transport->via != NULL || url->tls)
		return begin_helper(connection,
		    transport_start(transport, url, &connection->fd),
		    CONNECTION_OPEN);
	length = read_address(url, &address);
	if (length > 0)
		return begin_direct(connection, &address, length);
	return begin_helper(connection,
	    resolver_start(url->host, url->port, &connection->fd),
	    CONNECTION_RESOLVING);
}

struct pollfd
connection_pollfd(const struct connection *connection, bool sending)
{
	struct pollfd pollfd = { .fd = -1, .events = POLLIN };

	if (connection->stage != CONNECTION_CLOSED)
		pollfd.fd = connection->fd;
	if (connection->stage == CONNECTION_CONNECTING)
		pollfd.events = POLLOUT;
	else if (sending)
		pollfd.events = POLLIN | POLLOUT;
	return pollfd;
}

static const char *
take_resolved(struct connection *connection)
{
	int connected;
	const char *reason = resolver_take(connection->fd, &connected);

	if (reason == NULL && connected == -1)
		return NULL;
	connection_close(connection);
	if (reason != NULL)
		return reason;
	connection->stage = CONNECTION_OPEN;
	connection->fd = connected;
	return NULL;
}

const char *
connection_serve(struct connection *connection)
{
	socklen_t length = sizeof(int);
	int error = 0;

	if (connection->stage == CONNECTION_RESOLVING)
		return take_resolved(connection);
	if (connection->stage != CONNECTION_CONNECTING)
		return NULL;
	if (getsockopt(connection->fd, SOL_SOCKET, SO_ERROR, &error, &length) ==
	    -1)
		error = errno;
	if (error != 0)
		return fail(connection, error);
	connection->stage = CONNECTION_OPEN;
	return NULL;
}

ssize_t
connection_send(
    const struct connection *connection, const char *bytes, size_t length)
{
	return send(connection->fd, bytes, length, MSG_NOSIGNAL | MSG_DONTWAIT);
}

ssize_t
connection_receive(const struct connection *connection, char *room, size_t size)
{
	return recv(connection->fd, room, size, MSG_DONTWAIT);
}

void
connection_release(struct connection *connection)
{
	if (connection->stage != CONNECTION_CLOSED)
		close(connection->fd);
	*connection = (struct connection){ .fd = -1 };
}

void
connection_close(struct connection *connection)
{
	if (connection->helper != 0)
		helper_end(connection->helper);
	connection_release(connection);
}
