#include "fleet/helper.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <netdb.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "exit_status.h"
#include "sys/error.h"
#include "sys/program.h"
#include "sys/resolver.h"
#include "sys/sys.h"
#include "text/number.h"

/* The socket to retry, in the helper. */
#define TO_RETRY 3

/* What it says once it has found addresses, and goes on to connect. */
#define FOUND INT_MAX

/* So many addresses may be tried at the same time. */
#define CONNECTING 16

/* After so long without an answer another address is tried, too. */
#define PATIENCE (100 * NANOS_MS)

/* How many seconds openssl may go on after the end of its input. */
#define GRACE 1

void
helper_end(pid_t pid)
{
	/* Right after the fork it may not lead its session yet. */
	if (kill(-pid, SIGKILL) == -1)
		kill(pid, SIGKILL);
	waitid(P_PID, (id_t)pid, NULL, WEXITED | WNOHANG);
}

static void
close_from(int first)
{
	syscall(SYS_close_range, (unsigned)first, ~0U, 0U);
}

/* In the helper: moves its socket to TO_RETRY, has /dev/null as the standard
 * streams, and closes everything else. */
static void
isolate(int fd)
{
	for (int stream = 0; stream < TO_RETRY; stream++)
		if (sys_null(stream) == -1)
			_exit(EXIT_STATUS_FAILED);
	if (sys_attach(fd, TO_RETRY) == -1)
		_exit(EXIT_STATUS_FAILED);
	close_from(TO_RETRY + 1);
}

/*
 * TCP
 */

/* Room for one descriptor, as cmsg(3) passes it. */
union control {
	char room[CMSG_SPACE(sizeof(int))];
	struct cmsghdr header;
};

int
helper_connect(const struct addrinfo *address, nanos patience, int *connected)
{
	struct pollfd tries[CONNECTING];
	int count = 0, error = ETIMEDOUT;

	while (address != NULL || count > 0) {
		nanos wait = address == NULL ? NANOS_SECOND : patience;

		if (address != NULL && count < CONNECTING) {
			int fd = socket(address->ai_family,
			    SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK,
			    address->ai_protocol);

			if (fd != -1 &&
			    (connect(fd, address->ai_addr,
				 address->ai_addrlen) == 0 ||
				errno == EINPROGRESS)) {
				tries[count++] = (struct pollfd){ .fd = fd,
					.events = POLLOUT };
			} else {
				/* What a host says tells more than that there
				 * is no way to another one. */
				if (error != ECONNREFUSED)
					error = errno;
				close(fd);
				wait = 0;
			}
			address = address->ai_next;
		}
		poll(tries, (nfds_t)count, (int)(wait / NANOS_MS));
		for (int i = count - 1; i >= 0; i--) {
			int fd = tries[i].fd, why = 0;
			socklen_t length = sizeof why;

			if (tries[i].revents == 0)
				continue;
			getsockopt(fd, SOL_SOCKET, SO_ERROR, &why, &length);
			if (why == 0 && fcntl(fd, F_SETFL, 0) == 0) {
				*connected = fd;
				return 0;
			}
			if (error != ECONNREFUSED)
				error = why;
			close(fd);
			tries[i] = tries[--count];
		}
	}
	return error;
}

/* Says that the name is resolved. Then says 0 and passes a socket; or says an
 * errno, or what resolver_find() has returned, which is negative. */
static void
resolve(const struct url *url, const struct signals *signals)
{
	struct addrinfo *addresses;
	int connected = -1, found = FOUND;
	int error = resolver_find(url->host, url->port, signals, &addresses);
	struct iovec part = { &error, sizeof error };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };
	union control control = { .room = { 0 } };

	if (error == 0) {
		send(TO_RETRY, &found, sizeof found, MSG_NOSIGNAL);
		error = helper_connect(addresses, PATIENCE, &connected);
	} else if (error == EAI_SYSTEM) {
		error = errno;
	}
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
}

const char *
helper_resolved(int fd, int *connected)
{
	union control control;
	int error;
	struct iovec part = { &error, sizeof error };
	struct msghdr message = { .msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = control.room,
		.msg_controllen = sizeof control.room };
	ssize_t got = recvmsg(fd, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	const struct cmsghdr *header;

	if (got != sizeof error)
		return "the name was not resolved";
	if (error == FOUND)
		return NULL;
	if (error != 0)
		return error < 0 ? resolver_words(error) : error_words(error);
	header = CMSG_FIRSTHDR(&message);
	if (header == NULL)
		return error_words(EMFILE);
	memcpy(connected, CMSG_DATA(header), sizeof *connected);
	*connected = sys_move_up(*connected);
	return NULL;
}

/*
 * TLS
 */

/* Becomes openssl; fd is the socket to retry. */
static void
run_openssl(
    const struct url *url, bool verbose, const struct signals *signals, int fd)
{
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
	const char *openssl[] = { NULL, "openssl", "s_client", "-quiet",
		"-no_ign_eof", "-verify_quiet", "-verify_return_error",
		"-connect", target, numeric ? "-verify_ip" : "-verify_hostname",
		url->host, numeric ? NULL : "-servername", url->host, NULL };
	pid_t self = getpid(), child = fork();

	/* Waits until retry has closed its socket, whether it lives or not, and
	 * kills what is left. If openssl ends before, so does this process. */
	if (child == 0) {
		signals_die_with(self, SIGKILL);
		isolate(fd);
		poll(&(struct pollfd){ .fd = TO_RETRY }, 1, -1);
		sleep(GRACE);
		kill(0, SIGKILL);
	}
	snprintf(target, sizeof target, v6 ? "[%s]:%d" : "%s:%d", url->host,
	    url->port);
	if (sys_attach(fd, STDIN_FILENO) == -1 ||
	    sys_attach(fd, STDOUT_FILENO) == -1 ||
	    (!verbose && sys_null(STDERR_FILENO) == -1))
		_exit(EXIT_STATUS_FAILED);
	close_from(STDERR_FILENO + 1);
	signals_restore(signals);
	if (child != -1)
		program_execute((char **)(uintptr_t)(openssl + 1), environ);
}

pid_t
helper_start(
    const struct url *url, bool verbose, const struct signals *signals, int *fd)
{
	pid_t parent = getpid(), pid;
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == -1)
		return -1;
	ends[0] = sys_move_up(ends[0]);
	ends[1] = sys_move_up(ends[1]);
	pid = fork();
	if (pid == 0) {
		setsid();
		close(ends[0]);
		if (url->tls) {
			run_openssl(url, verbose, signals, ends[1]);
		} else {
			signals_die_with(parent, SIGKILL);
			isolate(ends[1]);
			resolve(url, signals);
		}
		_exit(EXIT_STATUS_NOT_FOUND);
	}
	close(ends[1]);
	if (pid == -1)
		close(ends[0]);
	*fd = ends[0];
	return pid;
}
