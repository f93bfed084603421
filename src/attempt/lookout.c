#include "attempt/lookout.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>
#include "exit_status.h"
#include "http/http_status.h"
#include "policy/backoff.h"
#include "policy/plan.h"
#include "sys/sys.h"
#include "text/hash.h"
#include "text/number.h"
#include "version.h"

/* The most addresses of a name that are tried. */
#define ROUTES 16

/* The bytes of an answer in which the status must be. */
#define HEAD 4096

/* What a helper has found: 0 is success, more is an errno, less is what
 * getaddrinfo(3) has returned; or one of these. */
enum found {
	FOUND_HTTP = 1000, /* plus the status; without one, it is no HTTP */
	FOUND_NOTHING = 2000, /* nothing is known yet */
	FOUND_NO_NAME, /* the name is still looked up */
	FOUND_FULL, /* the queue of a socket is full */
};

/*
 * In the helper
 */

/* A connection to one address. */
struct route {
	size_t length; /* of head */
	char head[HEAD];
};

/*
 * Whether a connection has met itself: its own port was chosen by chance, and
 * was the one that it is for, at which nobody listens. It is reset, because
 * after an orderly end the port would stay taken for a minute.
 */
static bool
met_itself(int fd)
{
	const struct linger reset = { .l_onoff = 1 };
	struct sockaddr_storage own, peer;
	socklen_t length = sizeof own, other = sizeof peer;

	if (getsockname(fd, (struct sockaddr *)&own, &length) == -1 ||
	    getpeername(fd, (struct sockaddr *)&peer, &other) == -1 ||
	    length != other || memcmp(&own, &peer, length) != 0)
		return false;
	setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
	return true;
}

/* Sends the request for a page. The interface in an address is nothing for the
 * server: RFC 6874, section 4. */
static int
ask(const struct target *target, int fd)
{
	struct strview host = target->host, path = target->path;
	bool v6 = memchr(host.at, ':', host.length) != NULL;
	char request[TARGET_URL + 256], port[NUMBER_ROOM + 1] = "";
	int length;

	host = strview_part(&host, '%');
	if (target->port != 80)
		snprintf(port, sizeof port, ":%d", target->port);
	length = snprintf(request, sizeof request,
	    "GET %s%.*s HTTP/1.1\r\nHost: %s%.*s%s%s\r\n"
	    "User-Agent: retry/" VERSION "\r\nAccept: */*\r\n"
	    "Connection: close\r\n\r\n",
	    strview_starts(path, "/") ? "" : "/", (int)path.length, path.at,
	    v6 ? "[" : "", (int)host.length, host.at, v6 ? "]" : "", port);
	return send(fd, request, (size_t)length, MSG_NOSIGNAL) == length
	    ? FOUND_NOTHING
	    : errno;
}

/* Reads what a server answers. */
static int
listen_to(int fd, struct route *route)
{
	ssize_t got =
	    recv(fd, route->head + route->length, HEAD - route->length, 0);
	int code;

	if (got == -1)
		return errno == EAGAIN ? FOUND_NOTHING : errno;
	route->length += (size_t)got;
	code =
	    http_status_first((struct strview){ route->head, route->length });
	if (code == 0 && got > 0 && route->length < HEAD)
		return FOUND_NOTHING;
	if (code >= 200 && code < 400)
		return 0;
	return FOUND_HTTP + (code > 0 ? code : 0);
}

/* What is found at an address, where something has happened. */
static int
go_on(const struct target *target, struct pollfd *poll, struct route *route)
{
	socklen_t length = sizeof(int);
	int error = 0;

	if (poll->events == POLLIN)
		return listen_to(poll->fd, route);
	getsockopt(poll->fd, SOL_SOCKET, SO_ERROR, &error, &length);
	if (error == 0 && met_itself(poll->fd))
		error = ECONNREFUSED;
	if (error != 0 || target->kind != TARGET_HTTP)
		return error;
	poll->events = POLLIN;
	return ask(target, poll->fd);
}

/* Tries all addresses at the same time: none makes the others wait. If none is
 * what the target has to be, returns what was found last. */
static int
try_all(const struct target *target, const struct addrinfo *address)
{
	static struct route routes[ROUTES];
	struct pollfd fds[ROUTES];
	nfds_t count = 0, left;
	int found = FOUND_NOTHING;

	for (; address != NULL && count < ROUTES; address = address->ai_next) {
		int fd = socket(address->ai_family, SOCK_STREAM | SOCK_NONBLOCK,
		    address->ai_protocol);

		if (fd != -1 &&
		    (connect(fd, address->ai_addr, address->ai_addrlen) == 0 ||
			errno == EINPROGRESS))
			fds[count++] = (struct pollfd){ fd, POLLOUT, 0 };
		else
			found = errno;
	}
	for (left = count; left > 0;) {
		poll(fds, count, -1);
		for (nfds_t i = 0; i < count; i++) {
			int now = FOUND_NOTHING;

			if (fds[i].fd != -1 && fds[i].revents != 0)
				now = go_on(target, &fds[i], &routes[i]);
			if (now == 0)
				return 0;
			if (now == FOUND_NOTHING)
				continue;
			found = now;
			close(fds[i].fd);
			fds[i].fd = -1;
			left--;
		}
	}
	return found;
}

static int
look_at_host(const struct target *target, int *found)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM,
		.ai_flags = AI_NUMERICSERV };
	struct addrinfo *addresses = NULL;
	char host[URL_HOST_ROOM], port[NUMBER_ROOM];
	int error;

	*found = FOUND_NO_NAME;
	snprintf(host, sizeof host, "%.*s", (int)target->host.length,
	    target->host.at);
	error = getaddrinfo(
	    host, number_put(port, target->port), &hints, &addresses);
	*found = FOUND_NOTHING;
	if (error != 0)
		return error == EAI_SYSTEM ? errno : error;
	return try_all(target, addresses);
}

static int
look_at_socket(const struct target *target)
{
	struct sockaddr_un local = { .sun_family = AF_UNIX };
	struct addrinfo address = { .ai_family = AF_UNIX,
		.ai_addr = (struct sockaddr *)&local,
		.ai_addrlen = sizeof local };
	int found;

	memcpy(local.sun_path, target->path.at, target->path.length);
	found = try_all(target, &address);
	return found == EAGAIN ? FOUND_FULL : found;
}

/* Looks once, and ends the helper. */
static _Noreturn void
help(const struct target *target, int *found)
{
	struct stat file;
	int now;

	/* Whoever reads a pipe of the caller sees its end although a helper
	 * lives. */
	syscall(SYS_close_range, 0U, ~0U, 0U);
	if (target->kind == TARGET_FILE)
		now = stat(target->path.at, &file) == 0 ? 0 : errno;
	else if (target->kind == TARGET_UNIX)
		now = look_at_socket(target);
	else
		now = look_at_host(target, found);
	*found = now;
	_exit(now == 0 ? 0 : EXIT_STATUS_UNSUCCESSFUL);
}

/*
 * In retry
 */

bool
lookout_open(struct lookout *lookout, const struct policy *policy,
    const struct signals *signals, uint64_t random)
{
	int *found = mmap(NULL, TARGET_MOST * sizeof *found,
	    PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (found == MAP_FAILED)
		return false;
	lookout->policy = policy;
	lookout->signals = signals;
	lookout->count = lookout->missing = policy->target_count;
	for (int i = 0; i < lookout->count; i++)
		lookout->list[i] = (struct look){ .target = &policy->targets[i],
			.why = "not looked at",
			.schedule.random = hash_draw(&random),
			.found = &found[i] };
	return true;
}

/* Says why a look that has taken this long did not succeed. */
static void
explain(struct look *look, int found, nanos span)
{
	char room[DURATION_ROOM];
	const char *words;

	duration_format(room, span);
	if (found == FOUND_NO_NAME)
		snprintf(
		    look->why, LOOKOUT_WHY, "name not looked up in %s", room);
	else if (found == FOUND_NOTHING)
		snprintf(look->why, LOOKOUT_WHY, "no answer in %s", room);
	else if (found > FOUND_HTTP && found < FOUND_NOTHING)
		snprintf(look->why, LOOKOUT_WHY, "HTTP %d", found - FOUND_HTTP);
	else {
		words = found == FOUND_FULL ? "its queue is full"
		    : found == FOUND_HTTP   ? "no answer of HTTP"
		    : found < 0             ? gai_strerror(found)
					    : strerror(found);
		snprintf(look->why, LOOKOUT_WHY, "%s", words);
	}
}

/* A look has not succeeded. */
static void
miss(struct lookout *lookout, struct look *look, int found, nanos now)
{
	const struct strview *host = &look->target->host;

	explain(look, found, now - look->began);
	look->next = number_add(now,
	    backoff_next(
		&lookout->policy->backoff, &look->schedule, NANOS_MAX));
	/* Only a name may get another address. */
	look->hopeless = found == ENAMETOOLONG ||
	    (found == EAFNOSUPPORT && host->length > 0 &&
		memchr(host->at, ':', host->length) != NULL);
	lookout->hopeless |= look->hopeless;
}

static void
begin(struct lookout *lookout, struct look *look, nanos now)
{
	nanos limit = plan_timeout(lookout->policy, ++look->count);

	look->began = now;
	look->until = limit == 0 ? NANOS_MAX : number_add(now, limit);
	*look->found = FOUND_NOTHING;
	look->helper = fork();
	if (look->helper == 0) {
		signals_die_with(lookout->signals->self, SIGKILL);
		help(look->target, look->found);
	}
	if (look->helper == -1) {
		look->helper = 0;
		miss(lookout, look, errno, now);
	}
}

nanos
lookout_go_on(struct lookout *lookout, nanos now)
{
	nanos nap = NANOS_MAX;

	for (int i = 0; i < lookout->count; i++) {
		struct look *look = &lookout->list[i];

		if (look->arrived != 0)
			continue;
		if (look->helper == 0 && now >= look->next)
			begin(lookout, look, now);
		/* It is reaped when it is dead: a file of a server that is gone
		 * may keep it from dying. */
		if (look->helper != 0 && now >= look->until) {
			kill(look->helper, SIGKILL);
			look->until = NANOS_MAX;
		}
		nap = number_lesser(nap,
		    look->helper != 0 ? look->until - now : look->next - now);
	}
	return nap;
}

void
lookout_reaped(struct lookout *lookout, const siginfo_t *info)
{
	nanos now = sys_now(CLOCK_BOOTTIME);

	for (int i = 0; i < lookout->count; i++) {
		struct look *look = &lookout->list[i];

		if (look->helper == 0 || look->helper != info->si_pid)
			continue;
		look->helper = 0;
		if (info->si_code != CLD_EXITED || info->si_status != 0) {
			miss(lookout, look, *look->found, now);
			continue;
		}
		look->arrived = now;
		lookout->missing--;
	}
}

void
lookout_close(struct lookout *lookout, nanos now)
{
	for (int i = 0; i < lookout->count; i++) {
		struct look *look = &lookout->list[i];

		if (look->helper == 0)
			continue;
		kill(look->helper, SIGKILL);
		if (look->count == 1)
			explain(look, *look->found, now - look->began);
	}
}
