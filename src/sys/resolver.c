#include "sys/resolver.h"

#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include "exit_status.h"
#include "sys/program.h"
#include "sys/sys.h"
#include "text/number.h"
#include "text/strview.h"

/* Bytes of what getent prints: three lines an address. */
#define PRINTED 8192

/* The exit status of getent(1) that says that there is no such host. */
#define GETENT_NOTHING 2

/* In the child: becomes getent, which writes to fd. */
static _Noreturn void
run_getent(const char *host, const struct signals *signals, int fd)
{
	char getent[] = "getent", ahosts[] = "ahosts";
	char *words[] = { NULL, getent, ahosts, (char *)(uintptr_t)host, NULL };

	/* It may be that number already, where all was closed. */
	if ((fd == STDOUT_FILENO ? fcntl(fd, F_SETFD, 0)
				 : sys_attach(fd, STDOUT_FILENO)) != -1) {
		signals_restore(signals);
		program_execute(words + 1, environ);
	}
	_exit(EXIT_STATUS_NOT_FOUND);
}

/* Reads what getent prints of host. Returns its exit status, or another one if
 * it could not be run; *length is how much it has printed. */
static int
read_getent(const char *host, const struct signals *signals,
    char printed[PRINTED], size_t *length)
{
	siginfo_t info = { .si_pid = 0 };
	pid_t self = getpid(), child;
	ssize_t got = 0;
	int ends[2];

	*length = 0;
	if (pipe2(ends, O_CLOEXEC) == -1)
		return EXIT_STATUS_FAILED;
	child = fork();
	if (child == 0) {
		signals_die_with(self, SIGKILL);
		run_getent(host, signals, ends[1]);
	}
	close(ends[1]);
	do {
		*length += (size_t)got;
		got = read(ends[0], printed + *length, PRINTED - *length);
	} while (got > 0);
	close(ends[0]);
	if (child == -1 || waitid(P_PID, (id_t)child, &info, WEXITED) == -1 ||
	    info.si_code != CLD_EXITED)
		return EXIT_STATUS_FAILED;
	return info.si_status;
}

int
resolver_find(const char *host, int port, const struct signals *signals,
    struct addrinfo **addresses)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM,
		.ai_flags = AI_NUMERICSERV };
	struct addrinfo **end = addresses;
	char printed[PRINTED], service[NUMBER_ROOM];
	size_t length;
	struct strview rest = { printed, 0 };
	int status;

	number_put(service, port);
	*addresses = NULL;
	hints.ai_flags |= AI_NUMERICHOST;
	if (getaddrinfo(host, service, &hints, addresses) == 0)
		return 0;
	status = read_getent(host, signals, printed, &length);
	rest.length = length;
	if (status == GETENT_NOTHING)
		return RESOLVER_NOTHING;
	/* "192.0.2.1  STREAM name": the kind of socket is behind blanks. */
	while (status == 0 && rest.length > 0) {
		struct strview line = strview_part(&rest, '\n');
		struct strview address = strview_part(&line, ' ');
		char room[128] = "";

		line = strview_trim(line);
		if (address.length >= sizeof room ||
		    !strview_starts(line, "STREAM"))
			continue;
		memcpy(room, address.at, address.length);
		if (getaddrinfo(room, service, &hints, end) == 0)
			end = &(*end)->ai_next;
	}
	if (*addresses != NULL)
		return 0;
	hints.ai_flags &= ~AI_NUMERICHOST;
	return getaddrinfo(host, service, &hints, addresses);
}

const char *
resolver_words(int error)
{
	/* As glibc says it: musl has other words. */
	switch (error) {
	case RESOLVER_NOTHING:
		return "getent ahosts finds no address";
	case EAI_NONAME:
		return "Name or service not known";
	case EAI_AGAIN:
		return "Temporary failure in name resolution";
	case EAI_FAIL:
		return "Non-recoverable failure in name resolution";
	default:
		return gai_strerror(error);
	}
}
