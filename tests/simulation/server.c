#include "server.h"

#include <err.h>
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include "clock.h"

/* Answers that wait for their time, in order; a power of two. */
enum { WAITING = 4096 };

struct waiting {
	int client;
	struct answer answer;
};

struct server {
	const struct capacity *capacity;
	nanos start;
	struct load load;
	struct record *record;
	struct waiting queue[WAITING];
	size_t first, next;
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

/* One for each client that waits: more than the soft limit, perhaps. */
static void
allow_files(void)
{
	struct rlimit files;

	if (getrlimit(RLIMIT_NOFILE, &files) == -1)
		return;
	files.rlim_cur = files.rlim_max;
	(void)setrlimit(RLIMIT_NOFILE, &files);
}

/* A client that has gone needs no answer. */
static void
reply(int client, bool served)
{
	(void)send(client, served ? "+" : "-", 1, MSG_NOSIGNAL | MSG_DONTWAIT);
	close(client);
}

static void
reply_in_time(struct server *server, nanos now)
{
	for (; server->first != server->next; server->first++) {
		struct waiting *w = &server->queue[server->first % WAITING];

		if (w->answer.at > now)
			return;
		reply(w->client, w->answer.served);
	}
}

static void
take(struct server *server, int client, bool again)
{
	nanos now = clock_now() - server->start;
	struct answer answer =
	    capacity_request(server->capacity, &server->load, now);
	struct record *record = server->record;

	record->requests[record->count++] =
	    (struct http_request){ now, answer.served, again };
	if (answer.at <= now)
		reply(client, answer.served);
	else if (server->next - server->first < WAITING)
		server->queue[server->next++ % WAITING] =
		    (struct waiting){ client, answer };
	else
		errx(1, "server: too many wait for an answer");
}

static void
accept_one(struct server *server, int listener)
{
	struct sockaddr_un peer;
	socklen_t length = sizeof peer;
	int client =
	    accept4(listener, (struct sockaddr *)&peer, &length, SOCK_CLOEXEC);

	/* Only retries have a name. */
	if (client != -1)
		take(server, client,
		    length > offsetof(struct sockaddr_un, sun_path));
}

/* How long it may sleep. */
static struct timespec
nap(const struct server *server, nanos end)
{
	nanos left = end - clock_now();
	const struct waiting *w = &server->queue[server->first % WAITING];

	if (server->first != server->next &&
	    w->answer.at + server->start - clock_now() < left)
		left = w->answer.at + server->start - clock_now();
	return clock_span(left > 0 ? left : 0);
}

void
server_run(int listener, int life, const struct capacity *capacity, nanos start,
    nanos end, struct record *record)
{
	static struct server server;
	struct pollfd events[] = {
		{ .fd = listener, .events = POLLIN },
		{ .fd = life, .events = POLLIN },
	};

	allow_files();
	server.capacity = capacity;
	server.start = start;
	server.record = record;
	while (clock_now() < end && record->count < SERVER_MOST) {
		struct timespec left = nap(&server, end);

		if (ppoll(events, 2, &left, NULL) == -1) {
			if (errno != EINTR)
				err(1, "server: ppoll");
			continue;
		}
		if (events[1].revents != 0)
			return;
		if (events[0].revents != 0)
			accept_one(&server, listener);
		reply_in_time(&server, clock_now() - start);
	}
}
