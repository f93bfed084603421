#include "link/transport.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <paths.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>
#include "exit_status.h"
#include "link/helper.h"
#include "text/number.h"

/* How many milliseconds a command may go on after the end of its input. */
#define GRACE 1000

/* Room for "[HOST]:PORT". */
#define TARGET_ROOM (FLEET_HOST_ROOM + NUMBER_ROOM + 3)

static char *
put_target(char room[TARGET_ROOM], const struct fleet_url *url, bool brackets)
{
	char port[NUMBER_ROOM], *at = room;

	if (brackets)
		at = stpcpy(at, "[");
	at = stpcpy(at, url->host);
	if (brackets)
		at = stpcpy(at, "]");
	at = stpcpy(at, ":");
	stpcpy(at, number_put(port, url->port));
	return room;
}

/*
 * Without the option that verifies the name or the address, openssl would
 * accept the certificate of any host; and without -verify_return_error any
 * certificate. With -quiet alone it would ignore the end of its input.
 */
static void
execute_openssl(const struct fleet_url *url)
{
	unsigned char address[sizeof(struct in6_addr)];
	char target[TARGET_ROOM];
	bool v6 = inet_pton(AF_INET6, url->host, address) == 1;
	bool numeric = v6 || inet_pton(AF_INET, url->host, address) == 1;
	const char *words[] = { "openssl", "s_client", "-quiet", "-no_ign_eof",
		"-verify_quiet", "-verify_return_error", "-connect",
		put_target(target, url, v6),
		numeric ? "-verify_ip" : "-verify_hostname", url->host,
		numeric ? NULL : "-servername", url->host, NULL };

	execvp(words[0], (char **)(uintptr_t)words);
}

/* Becomes the command; fd is its standard input and output. */
static _Noreturn void
become(const struct transport *transport, const struct fleet_url *url, int fd)
{
	int null = transport->verbose ? -1 : open("/dev/null", O_WRONLY);

	dup2(fd, STDIN_FILENO);
	dup2(fd, STDOUT_FILENO);
	if (null != -1)
		dup2(null, STDERR_FILENO);
	else if (!transport->verbose)
		close(STDERR_FILENO);
	helper_close_from(STDERR_FILENO + 1);
	signals_restore(transport->signals);
	if (transport->via != NULL)
		execl(_PATH_BSHELL, "sh", "-c", "--", transport->via,
		    (char *)NULL);
	else
		execute_openssl(url);
	_exit(EXIT_STATUS_NOT_FOUND);
}

/*
 * Waits until retry has closed its socket, whether it lives or not, or until
 * the command has ended. Then kills what is left of the command. All signals
 * are blocked.
 */
static _Noreturn void
watch(void)
{
	const struct timespec grace = { .tv_sec = GRACE / 1000 };
	struct pollfd fds[2] = { { .fd = HELPER_SOCKET } };
	sigset_t ended;

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

pid_t
transport_start(
    const struct transport *transport, const struct fleet_url *url, int *fd)
{
	pid_t pid = helper_fork(fd), child;

	if (pid != 0)
		return pid;
	child = fork();
	if (child == 0)
		become(transport, url, *fd);
	helper_isolate(*fd);
	if (child == -1)
		_exit(EXIT_STATUS_NOT_FOUND);
	watch();
}
