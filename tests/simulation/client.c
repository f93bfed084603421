/*
 * client: one request to the server of a storm.
 *
 *     client NAME TAKES
 *
 * NAME is that of an abstract socket. A connection is a request, and its answer
 * is one byte. It comes at once, and the client waits for TAKES milliseconds as
 * if it had not. Exits with 0 after '+', with 1 after any other answer or none,
 * and with 2 where there is no server.
 *
 * The socket of a retry has a name of its own, by which the server tells
 * retries from first attempts.
 */
#include <poll.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

/* Longer than any server takes to answer, or to refuse. */
enum { PATIENCE = 10 };

int
main(int argc, char **argv)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	struct timeval patience = { .tv_sec = PATIENCE };
	size_t length = argc == 3 ? strlen(argv[1]) : 0;
	int server = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	const char *attempt = getenv("RETRY_ATTEMPT");
	char answer = '-';

	if (server == -1 || length == 0 || length >= sizeof to.sun_path)
		return 2;
	/* The kernel finds a name (unix(7), autobind). */
	if (attempt != NULL && strcmp(attempt, "1") != 0 &&
	    bind(server, (const struct sockaddr *)&to, sizeof to.sun_family) ==
		-1)
		return 2;
	memcpy(to.sun_path + 1, argv[1], length);
	/* The timeout for sending is that of connect, too. */
	if (setsockopt(server, SOL_SOCKET, SO_SNDTIMEO, &patience,
		sizeof patience) == -1 ||
	    setsockopt(server, SOL_SOCKET, SO_RCVTIMEO, &patience,
		sizeof patience) == -1 ||
	    connect(server, (const struct sockaddr *)&to,
		(socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 +
		    length)) == -1)
		return 2;
	if (read(server, &answer, 1) != 1)
		return 1;
	poll(NULL, 0, atoi(argv[2]));
	return answer == '+' ? 0 : 1;
}
