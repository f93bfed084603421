#include "fleet/helper.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "exit_status.h"
#include "sys/sys.h"
#include "text/number.h"

/* The socket to retry, in the helper. */
#define TO_RETRY 3

/* How many addresses of a host are tried. */
#define ADDRESSES 8

/* After how many milliseconds without an answer the next address is tried, too:
 * a host that drops packets must not use up the time of the others (RFC 8305).
 */
#define STAGGER 50

/* How many seconds a command may go on after the end of its input. */
#define GRACE 1

void
helper_end(pid_t pid)
{
	/* Right after the fork it may not lead its session yet. */
	if (kill(-pid, SIGKILL) == -1)
		kill(pid, SIGKILL);
	waitid(P_PID, (id_t)pid, NULL, WEXITED | WNOHANG);
}

/*
 * Forks. In retry, returns the helper's pid, or -1 with errno; *fd is a socket.
 * In the helper, returns 0; *fd is the other end, and all signals are still
 * blocked.
 */
static pid_t
start(int *fd)
{
	int ends[2];
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == -1)
		return -1;
	ends[0] = sys_move_up(ends[0]);
	ends[1] = sys_move_up(ends[1]);
	pid = fork();
	if (pid == 0) {
		char *password = getenv("RETRY_FLEET_AUTH");

		if (setsid() == -1)
			_exit(EXIT_STATUS_FAILED);
		/* No helper needs it, and /proc/PID/environ would show it. */
		if (password != NULL) {
			explicit_bzero(password, strlen(password));
			unsetenv("RETRY_FLEET_AUTH");
		}
		close(ends[0]);
		*fd = ends[1];
		return 0;
	}
	close(ends[1]);
	*fd = ends[0];
	if (pid == -1) {
		int error = errno;

		close(*fd);
		errno = error;
	}
	return pid;
}

static void
close_from(int first)
{
	long limit;

#ifdef SYS_close_range
	if (syscall(SYS_close_range, (unsigned)first, ~0U, 0U) == 0)
		return;
#endif
	limit = sysconf(_SC_OPEN_MAX);
	for (int fd = first; fd < limit; fd++)
		close(fd);
}

/* In the helper: moves its socket to TO_RETRY, has /dev/null as the standard
 * streams, and closes everything else. */
static void
isolate(int fd)
{
	int null = open("/dev/null", O_RDWR);

	for (int stream = 0; stream < TO_RETRY; stream++)
		if (null == -1)
			close(stream);
		else if (null != stream)
			dup2(null, stream);
	if (fd != TO_RETRY)
		dup2(fd, TO_RETRY);
	close_from(TO_RETRY + 1);
}

/*
 * A connection to a host by its name
 */

/* What the helper says. A socket comes with it if both numbers are 0. */
struct result {
	int lookup; /* of getaddrinfo(3) */
	int error; /* an errno */
};

/* Room for one descriptor, as cmsg(3) passes it. */
union control {
	char room[CMSG_SPACE(sizeof(int))];
	struct cmsghdr header;
};

/* Connects to the address that answers first; -1 with *error if none does. */
static int
connect_to_any(const struct addrinfo *next, int *error)
{
	struct pollfd fds[ADDRESSES]; /* -1: that one has failed */
	nfds_t count = 0, pending = 0;

	*error = EHOSTUNREACH;
	while (next != NULL || pending > 0) {
		if (next != NULL) {
			int fd = socket(next->ai_family,
			    SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK,
			    next->ai_protocol);
			bool begun = fd != -1 &&
			    (connect(fd, next->ai_addr, next->ai_addrlen) ==
				    0 ||
				errno == EINPROGRESS);

			if (!begun)
				*error = errno;
			if (!begun && fd != -1)
				close(fd);
			fds[count++] = (struct pollfd){ .fd = begun ? fd : -1,
				.events = POLLOUT };
			pending += begun;
			next = count < ADDRESSES ? next->ai_next : NULL;
		}
		if (pending == 0 ||
		    poll(fds, count, next != NULL ? STAGGER : -1) <= 0)
			continue;
		for (nfds_t i = 0; i < count; i++) {
			socklen_t length = sizeof(int);
			int failure = 0;

			if (fds[i].fd == -1 || fds[i].revents == 0)
				continue;
			getsockopt(
			    fds[i].fd, SOL_SOCKET, SO_ERROR, &failure, &length);
			*error = failure;
			if (failure == 0)
				return fds[i].fd;
			close(fds[i].fd);
			fds[i].fd = -1;
			pending--;
		}
	}
	return -1;
}

pid_t
helper_resolve(const char *host, int port, int *fd)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM,
		.ai_flags = AI_NUMERICSERV };
	pid_t parent = getpid(), pid = start(fd);
	struct addrinfo *addresses = NULL;
	struct result result = { 0 };
	struct iovec part = { &result, sizeof result };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };
	union control control = { .room = { 0 } };
	char service[NUMBER_ROOM];
	int connected = -1;

	if (pid != 0)
		return pid;
	signals_die_with(parent, SIGKILL);
	isolate(*fd);
	result.lookup =
	    getaddrinfo(host, number_put(service, port), &hints, &addresses);
	if (result.lookup == EAI_SYSTEM)
		result = (struct result){ .error = errno };
	else if (result.lookup == 0)
		connected = connect_to_any(addresses, &result.error);
	if (connected != -1) {
		struct cmsghdr *header = &control.header;

		message.msg_control = control.room;
		message.msg_controllen = sizeof control.room;
		header->cmsg_level = SOL_SOCKET;
		header->cmsg_type = SCM_RIGHTS;
		header->cmsg_len = CMSG_LEN(sizeof connected);
		memcpy(CMSG_DATA(header), &connected, sizeof connected);
	}
	sendmsg(TO_RETRY, &message, MSG_NOSIGNAL);
	_exit(0);
}

const char *
helper_resolved(int fd, int *connected)
{
	union control control;
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

/*
 * TLS
 */

pid_t
helper_secure(
    const struct url *url, bool verbose, const struct signals *signals, int *fd)
{
	const struct timespec grace = { .tv_sec = GRACE };
	struct pollfd fds[2] = { { .fd = TO_RETRY } };
	unsigned char address[sizeof(struct in6_addr)];
	bool v6 = inet_pton(AF_INET6, url->host, address) == 1;
	bool numeric = v6 || inet_pton(AF_INET, url->host, address) == 1;
	char target[URL_HOST_ROOM + NUMBER_ROOM + 3];
	/*
	 * Without the option that verifies the name or the address, openssl
	 * would accept the certificate of any host; and without
	 * -verify_return_error any certificate. With -quiet alone it would
	 * ignore the end of its input.
	 */
	const char *openssl[] = { "openssl", "s_client", "-quiet",
		"-no_ign_eof", "-verify_quiet", "-verify_return_error",
		"-connect", target, numeric ? "-verify_ip" : "-verify_hostname",
		url->host, numeric ? NULL : "-servername", url->host, NULL };
	pid_t pid, child;
	sigset_t ended;

	snprintf(target, sizeof target, v6 ? "[%s]:%d" : "%s:%d", url->host,
	    url->port);
	pid = start(fd);
	if (pid != 0)
		return pid;
	child = fork();
	if (child == 0) {
		int null = verbose ? -1 : open("/dev/null", O_WRONLY);

		dup2(*fd, STDIN_FILENO);
		dup2(*fd, STDOUT_FILENO);
		if (null != -1)
			dup2(null, STDERR_FILENO);
		else if (!verbose)
			close(STDERR_FILENO);
		close_from(STDERR_FILENO + 1);
		signals_restore(signals);
		execvp(openssl[0], (char **)(uintptr_t)openssl);
		_exit(EXIT_STATUS_NOT_FOUND);
	}
	isolate(*fd);
	if (child == -1)
		_exit(EXIT_STATUS_NOT_FOUND);

	/* Waits until retry has closed its socket, whether it lives or not, or
	 * until openssl has ended. Then kills what is left. All signals are
	 * blocked. */
	sigemptyset(&ended);
	sigaddset(&ended, SIGCHLD);
	fds[1].fd = signalfd(-1, &ended, SFD_CLOEXEC);
	fds[1].events = POLLIN;
	while (poll(fds, 2, -1) == -1 && errno == EINTR)
		;
	if (fds[1].revents == 0)
		sigtimedwait(&ended, NULL, &grace);
	kill(0, SIGKILL);
	_exit(0);
}
