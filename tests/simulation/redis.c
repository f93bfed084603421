#include "redis.h"

#include <err.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>
#include "child.h"
#include "clock.h"

/* How long the server may take to start, or to answer. */
enum { PATIENCE = 10 };

/* The files in its directory. */
#define SOCKET "server"
#define NOWHERE "nowhere"
#define LINK "link-%" PRId64
#define NEW_LINK "link"

enum { PATH = 4096, REPLY = 1 << 16 };

static struct sockaddr_un
address_of(const struct redis *redis, const char *name)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	snprintf(address.sun_path, sizeof address.sun_path, "%s/%s",
	    redis->directory, name);
	return address;
}

/* A connection to the server; -1: there is none. */
static int
reach(const struct redis *redis)
{
	struct sockaddr_un to = address_of(redis, SOCKET);
	struct timeval patience = { .tv_sec = PATIENCE };
	int connection = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (connection == -1)
		err(1, "socket");
	if (setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &patience,
		sizeof patience) == 0 &&
	    connect(connection, (const struct sockaddr *)&to, sizeof to) == 0)
		return connection;
	close(connection);
	return -1;
}

/*
 * Questions
 */

/* How often a command was called, as INFO says it. */
static int64_t
calls_of(const char *info, const char *command)
{
	const char *found = strstr(info, command);

	return found == NULL ? 0 : strtoll(found + strlen(command), NULL, 10);
}

/* Reads a reply to its end: "$length", and as many bytes in a second line. */
static bool
read_reply(int connection, char reply[REPLY])
{
	size_t length = 0, whole = REPLY;

	while (length < whole) {
		ssize_t n =
		    read(connection, reply + length, REPLY - 1 - length);
		char *line;

		if (n <= 0)
			return false;
		length += (size_t)n;
		reply[length] = '\0';
		line = strstr(reply, "\r\n");
		if (line != NULL)
			whole = (size_t)(line - reply) + 2 +
			    strtoul(reply + 1, NULL, 10);
	}
	return true;
}

static int64_t
count_questions(const struct redis *redis)
{
	static const char request[] = "INFO commandstats\r\n";
	static char reply[REPLY];
	int connection = reach(redis);
	int64_t questions = 0;

	if (connection == -1)
		return 0;
	if (send(connection, request, sizeof request - 1, MSG_NOSIGNAL) > 0 &&
	    read_reply(connection, reply))
		questions = calls_of(reply, "cmdstat_eval:calls=") +
		    calls_of(reply, "cmdstat_evalsha:calls=");
	close(connection);
	return questions;
}

/*
 * Its life
 */

static void
execute(const struct redis *redis, const char *program)
{
	struct sockaddr_un own = address_of(redis, SOCKET);
	int nothing = open("/dev/null", O_RDWR);

	dup2(nothing, STDIN_FILENO);
	dup2(nothing, STDOUT_FILENO);
	execlp(program, program, "--port", "0", "--unixsocket", own.sun_path,
	    "--save", "", "--appendonly", "no", "--dir", redis->directory,
	    "--maxclients", "4000", (char *)NULL);
	warn("%s", program);
	_exit(1);
}

static void
make_link(const struct redis *redis, int64_t host, const char *target)
{
	char path[PATH], new[PATH];

	snprintf(path, sizeof path, "%s/" LINK, redis->directory, host);
	snprintf(new, sizeof new, "%s/" NEW_LINK, redis->directory);
	if (symlink(target, new) == -1 || rename(new, path) == -1)
		err(1, "%s", path);
}

/* Connections to it are made, and nobody accepts them. */
static int
listen_nowhere(const struct redis *redis)
{
	struct sockaddr_un own = address_of(redis, NOWHERE);
	int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (listener == -1 ||
	    bind(listener, (const struct sockaddr *)&own, sizeof own) == -1 ||
	    listen(listener, SOMAXCONN) == -1)
		err(1, "%s", own.sun_path);
	return listener;
}

void
redis_start(struct redis *redis, const char *program)
{
	nanos until = clock_now() + PATIENCE * NANOS_SECOND;
	struct timespec pause = clock_span(10 * NANOS_MS);
	int connection;

	for (int64_t host = 0; host < redis->hosts; host++)
		make_link(redis, host, SOCKET);
	redis->due = NANOS_MAX;
	redis->nowhere = listen_nowhere(redis);
	redis->pid = child_fork(SIGKILL);
	if (redis->pid == 0)
		execute(redis, program);
	while ((connection = reach(redis)) == -1) {
		if (clock_now() > until ||
		    waitpid(redis->pid, NULL, WNOHANG) != 0)
			errx(1, "%s does not start", program);
		nanosleep(&pause, NULL);
	}
	close(connection);
}

void
redis_begin(struct redis *redis, nanos start)
{
	if (redis->pid > 0 && redis->fault != REDIS_SOUND)
		redis->due = start + REDIS_FAULT;
}

void
redis_url(const struct redis *redis, int64_t host, char url[REDIS_URL])
{
	snprintf(url, REDIS_URL, "unix://%s/" LINK, redis->directory, host);
}

static void
finish(struct redis *redis)
{
	struct rusage usage;

	kill(redis->pid, SIGCONT);
	redis->questions = count_questions(redis);
	kill(redis->pid, SIGKILL);
	if (wait4(redis->pid, NULL, 0, &usage) == redis->pid)
		redis->cpu = (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) *
			NANOS_SECOND +
		    (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1000;
	redis->pid = 0;
}

/* Returns when the server has stopped, or continues. */
static void
signal_server(const struct redis *redis, int signal)
{
	int status;

	if (kill(redis->pid, signal) == -1 ||
	    waitpid(redis->pid, &status, WUNTRACED | WCONTINUED) == -1)
		err(1, "the fleet's server");
	if (signal == SIGSTOP ? !WIFSTOPPED(status) : !WIFCONTINUED(status))
		errx(1, "the fleet's server has ended before its time");
}

void
redis_look(struct redis *redis, nanos now)
{
	if (now < redis->due)
		return;
	redis->due = NANOS_MAX;
	if (redis->failed > 0) {
		signal_server(redis, SIGCONT);
		redis->back = clock_now();
		return;
	}
	switch (redis->fault) {
	case REDIS_SOUND:
		break;
	case REDIS_KILLED:
		finish(redis);
		break;
	case REDIS_STOPPED:
		signal_server(redis, SIGSTOP);
		redis->due = now + REDIS_STOP;
		break;
	case REDIS_PARTED:
		for (int64_t host = 0; host < redis->hosts; host += 2)
			make_link(redis, host, NOWHERE);
		break;
	}
	redis->failed = clock_now();
}

void
redis_end(struct redis *redis)
{
	if (redis->pid > 0)
		finish(redis);
	if (redis->nowhere > 0)
		close(redis->nowhere);
}
