/*
 * client: one request to the server of a storm.
 *
 *     client NAME TAKES
 *
 * NAME is that of an abstract socket. A connection is a request, and its answer
 * is the head of a response. It comes at once, and the client waits for TAKES
 * milliseconds as if it had not. For --http, it writes the head to the status
 * file. Exits with 0 after a 200, with 1 after any other answer or none, and
 * with 2 where there is no server.
 *
 * The name of its own socket tells the server whose attempt this is, and which.
 */
#include <fcntl.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>
#include "child.h"

/* Longer than any server takes to answer, or to refuse. */
enum { PATIENCE = 10 };

/* For the answer. */
enum { ROOM = 128 };

int
main(int argc, char **argv)
{
	static const char good[] = "HTTP/1.1 200";
	struct sockaddr_un to = { .sun_family = AF_UNIX }, own = to;
	struct timeval patience = { .tv_sec = PATIENCE };
	size_t length = argc == 3 ? strlen(argv[1]) : 0;
	int server = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	const char *attempt = getenv("RETRY_ATTEMPT");
	const char *path = getenv("RETRY_HTTP_STATUS");
	char answer[ROOM];
	ssize_t got;
	int file;

	if (server == -1 || length == 0 || length >= sizeof to.sun_path)
		return 2;
	memcpy(to.sun_path + 1, argv[1], length);
	snprintf(own.sun_path + 1, sizeof own.sun_path - 1, CHILD_NAME,
	    getppid(), attempt != NULL ? atoi(attempt) : 1);
	if (bind(server, (const struct sockaddr *)&own,
		(socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 +
		    strlen(own.sun_path + 1))) == -1)
		return 2;
	/* The timeout for sending is that of connect, too. */
	if (setsockopt(server, SOL_SOCKET, SO_SNDTIMEO, &patience,
		sizeof patience) == -1 ||
	    setsockopt(server, SOL_SOCKET, SO_RCVTIMEO, &patience,
		sizeof patience) == -1 ||
	    connect(server, (const struct sockaddr *)&to,
		(socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 +
		    length)) == -1)
		return 2;
	got = read(server, answer, sizeof answer);
	if (got < (ssize_t)strlen(good))
		return 1;
	poll(NULL, 0, atoi(argv[2]));
	if (path != NULL) {
		file = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);
		if (file == -1 || write(file, answer, (size_t)got) != got)
			return 2;
	}
	return strncmp(answer, good, strlen(good)) == 0 ? 0 : 1;
}
