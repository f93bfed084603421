#include "redis.h"

#include <err.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
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

/* How long the server may take to start, or to answer. */
enum { PATIENCE = 10 };

/* The files in its directory. */
#define SOCKET "server"
#define NOWHERE "nowhere"
#define LINK "link-%" PRId64
#define NEW_LINK "link"

enum { PATH = 4096 };

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

/* How often scripts were called, as INFO says it. */
static int64_t
count_questions(const struct redis *redis)
{
	static const char request[] = "INFO commandstats\r\nQUIT\r\n";
	int connection = reach(redis);
	int64_t questions = 0, calls;
	char line[256];
	FILE *reply;

	if (connection == -1)
		return 0;
	reply = fdopen(connection, "r");
	if (reply == NULL)
		err(1, "fdopen");
	(void)send(connection, request, sizeof request - 1, MSG_NOSIGNAL);
	while (fgets(line, sizeof line, reply) != NULL)
		if (sscanf(line, "cmdstat_eval:calls=%" SCNd64, &calls) == 1 ||
		    sscanf(line, "cmdstat_evalsha:calls=%" SCNd64, &calls) == 1)
			questions += calls;
	fclose(reply);
	return questions;
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

void
redis_start(struct redis *redis, const char *program)
{
	struct sockaddr_un own = address_of(redis, SOCKET);
	struct sockaddr_un nowhere = address_of(redis, NOWHERE);
	nanos until = clock_now() + PATIENCE * NANOS_SECOND;
	int nothing, connection;

	for (int64_t host = 0; host < redis->hosts; host++)
		make_link(redis, host, SOCKET);
	redis->due = NANOS_MAX;
	/* Connections to it are made, and nobody accepts them. */
	redis->nowhere = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (redis->nowhere == -1 ||
	    bind(redis->nowhere, (const struct sockaddr *)&nowhere,
		sizeof nowhere) == -1 ||
	    listen(redis->nowhere, SOMAXCONN) == -1)
		err(1, "%s", nowhere.sun_path);
	redis->pid = child_fork(SIGKILL);
	if (redis->pid == 0) {
		nothing = open("/dev/null", O_RDWR);
		dup2(nothing, STDIN_FILENO);
		dup2(nothing, STDOUT_FILENO);
		execlp(program, program, "--port", "0", "--unixsocket",
		    own.sun_path, "--save", "", "--appendonly", "no", "--dir",
		    redis->directory, "--maxclients", "4000", (char *)NULL);
		warn("%s", program);
		_exit(1);
	}
	while ((connection = reach(redis)) == -1) {
		if (clock_now() > until ||
		    waitpid(redis->pid, NULL, WNOHANG) != 0)
			errx(1, "%s does not start", program);
		poll(NULL, 0, 10);
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
	nanos others = child_cpu(RUSAGE_CHILDREN);

	kill(redis->pid, SIGCONT);
	redis->questions = count_questions(redis);
	kill(redis->pid, SIGKILL);
	waitpid(redis->pid, NULL, 0);
	redis->cpu = child_cpu(RUSAGE_CHILDREN) - others;
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
