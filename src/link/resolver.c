#include "link/resolver.h"

#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "link/helper.h"
#include "sys/signals.h"
#include "sys/sys.h"
#include "text/number.h"

/* How many addresses of a host are tried. */
#define ADDRESSES 8

/* After how many milliseconds without an answer the next address is tried, too:
 * a host that drops packets must not use up the time of the others (RFC 8305).
 */
#define STAGGER 50

/* What the helper says. A socket comes with it if both numbers are 0. */
struct result {
	int lookup; /* of getaddrinfo(3) */
	int error; /* an errno */
};

/* The connections that are being made. */
struct race {
	struct pollfd fds[ADDRESSES];
	nfds_t count, pending;
	int error; /* of the latest that failed */
};

static void
drop(struct race *race, struct pollfd *runner, int error)
{
	close(runner->fd);
	runner->fd = -1;
	race->pending--;
	race->error = error;
}

/* Returns the first socket that is connected, or -1. Waits for a while. */
static int
watch(struct race *race, int patience)
{
	if (race->pending == 0 || poll(race->fds, race->count, patience) <= 0)
		return -1;
	for (nfds_t i = 0; i < race->count; i++) {
		struct pollfd *runner = &race->fds[i];
		socklen_t length = sizeof(int);
		int error = 0;

		if (runner->fd == -1 || runner->revents == 0)
			continue;
		getsockopt(runner->fd, SOL_SOCKET, SO_ERROR, &error, &length);
		if (error == 0)
			return runner->fd;
		drop(race, runner, error);
	}
	return -1;
}

static void
join(struct race *race, const struct addrinfo *address)
{
	struct pollfd *runner = &race->fds[race->count];

	*runner = (struct pollfd){ .events = POLLOUT };
	runner->fd = socket(address->ai_family,
	    SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, address->ai_protocol);
	if (runner->fd == -1) {
		race->error = errno;
		return;
	}
	race->count++;
	race->pending++;
	if (connect(runner->fd, address->ai_addr, address->ai_addrlen) == -1 &&
	    errno != EINPROGRESS)
		drop(race, runner, errno);
}

/* Connects to the address that answers first; -1 with *error if none does. */
static int
connect_to_any(const struct addrinfo *addresses, int *error)
{
	struct race race = { .error = EHOSTUNREACH };
	const struct addrinfo *next = addresses;
	int fd = -1;

	while (fd == -1 && (next != NULL || race.pending > 0)) {
		if (next != NULL) {
			join(&race, next);
			next = race.count < ADDRESSES ? next->ai_next : NULL;
		}
		fd = watch(&race, next != NULL ? STAGGER : -1);
	}
	*error = fd == -1 ? race.error : 0;
	return fd;
}

/* Sends the result, and the socket if there is one. */
static void
pass(int to, struct result result, int fd)
{
	union {
		char room[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control = { .room = { 0 } };
	struct iovec part = { &result, sizeof result };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };
	struct cmsghdr *header;

	if (fd != -1) {
		message.msg_control = control.room;
		message.msg_controllen = sizeof control.room;
		header = CMSG_FIRSTHDR(&message);
		header->cmsg_level = SOL_SOCKET;
		header->cmsg_type = SCM_RIGHTS;
		header->cmsg_len = CMSG_LEN(sizeof fd);
		memcpy(CMSG_DATA(header), &fd, sizeof fd);
	}
	sendmsg(to, &message, MSG_NOSIGNAL);
}

static _Noreturn void
resolve(const char *host, int port)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM,
		.ai_flags = AI_NUMERICSERV };
	struct addrinfo *addresses = NULL;
	struct result result = { 0 };
	char service[NUMBER_ROOM];
	int fd = -1;

	result.lookup =
	    getaddrinfo(host, number_put(service, port), &hints, &addresses);
	if (result.lookup == EAI_SYSTEM)
		result = (struct result){ .error = errno };
	else if (result.lookup == 0)
		fd = connect_to_any(addresses, &result.error);
	pass(HELPER_SOCKET, result, fd);
	_exit(0);
}

pid_t
resolver_start(const char *host, int port, int *fd)
{
	pid_t parent = getpid(), pid = helper_fork(fd);

	if (pid != 0)
		return pid;
	signals_die_with(parent, SIGKILL);
	helper_isolate(*fd);
	resolve(host, port);
}

const char *
resolver_take(int fd, int *connected)
{
	union {
		char room[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control;
	struct result result;
	struct iovec part = { &result, sizeof result };
	struct msghdr message = { .msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = control.room,
		.msg_controllen = sizeof control.room };
	ssize_t got = recvmsg(fd, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	const struct cmsghdr *header;

	*connected = -1;
	if (got == -1 && (errno == EAGAIN || errno == EINTR))
		return NULL;
	if (got != sizeof result)
		return "the name was not resolved";
	if (result.lookup != 0)
		return gai_strerror(result.lookup);
	if (result.error != 0)
		return strerror(result.error);
	header = CMSG_FIRSTHDR(&message);
	if (header == NULL || header->cmsg_type != SCM_RIGHTS)
		return strerror(EMFILE);
	memcpy(connected, CMSG_DATA(header), sizeof *connected);
	*connected = sys_move_up(*connected);
	return NULL;
}
