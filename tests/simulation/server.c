#include "server.h"

#include <err.h>
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include "child.h"

/* Answers that wait for their time, in order; a power of two. */
enum { WAITING = 4096 };

struct waiting {
	int client;
	bool served;
	nanos at; /* when it is answered, since the storm began */
};

int
server_listen(const char *name)
{
	struct sockaddr_un own = { .sun_family = AF_UNIX };
	size_t length = strlen(name);
	int listener =
	    socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (listener == -1)
		return -1;
	memcpy(own.sun_path + 1, name, length);
	if (bind(listener, (const struct sockaddr *)&own,
		(socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 +
		    length)) == -1 ||
	    listen(listener, WAITING) == -1) {
		close(listener);
		return -1;
	}
	return listener;
}

/* A client that has gone needs no answer. */
static void
reply(int client, bool served)
{
	(void)send(client, served ? "+" : "-", 1, MSG_NOSIGNAL | MSG_DONTWAIT);
	close(client);
}

void
server_run(int listener, int life, const struct capacity *capacity, nanos start,
    nanos end, struct record *record)
{
	static struct waiting queue[WAITING];
	size_t first = 0, next = 0; /* of the queue */
	struct load load = { 0 };
	struct rlimit files;
	struct pollfd events[] = {
		{ .fd = listener, .events = POLLIN },
		{ .fd = life, .events = POLLIN },
	};

	/* One for each client that waits: more than the soft limit, perhaps. */
	if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
		files.rlim_cur = files.rlim_max;
		(void)setrlimit(RLIMIT_NOFILE, &files);
	}
	while (clock_now() < end && record->count < SERVER_MOST) {
		const struct waiting *due = &queue[first % WAITING];
		nanos until = end, now = clock_now();
		struct timespec nap;

		if (first != next && due->at + start < until)
			until = due->at + start;
		nap = clock_span(until > now ? until - now : 0);
		if (ppoll(events, 2, &nap, NULL) == -1) {
			if (errno != EINTR)
				err(1, "server: ppoll");
			continue;
		}
		if (events[1].revents != 0)
			return;
		now = clock_now() - start;
		if (events[0].revents != 0) {
			struct sockaddr_un peer;
			socklen_t length = sizeof peer;
			int client = accept4(listener, (struct sockaddr *)&peer,
			    &length, SOCK_CLOEXEC);
			struct waiting new = { .client = client };

			if (client == -1)
				continue;
			new.served = capacity_serves(capacity, &load, now);
			new.at = now + capacity->takes;
			/* Only retries have a name. */
			record->requests[record->count++] =
			    (struct http_request){ now, new.served,
				    length > offsetof(struct sockaddr_un,
						 sun_path) };
			if (next - first < WAITING)
				queue[next++ % WAITING] = new;
			else
				errx(1, "server: too many wait for an answer");
		}
		for (; first != next; first++) {
			due = &queue[first % WAITING];
			if (due->at > now)
				break;
			reply(due->client, due->served);
		}
	}
}
