#include "crowd.h"

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "child.h"
#include "redis.h"
#include "server.h"
#include "text/number.h"

/* How long after the first signal a process is killed. */
#define GRACE (5 * NANOS_SECOND)

/* What a run that did all that it was to do ends with; and one that was none.
 */
enum { GAVE_UP = 1, HELD_BACK = 75, NOT_EXECUTED = 126 };

enum { ARGS = SCENARIO_OPTIONS + 6, ROOM = 64 };

struct crowd {
	const struct scenario *scenario;
	struct tally *tally;
	struct cost cost;
	nanos start, most; /* when the storm begins, how long it is watched */
	char socket[ROOM], directory[ROOM]; /* of the server, of all files */
	char budgets[2 * ROOM], variable[3 * ROOM]; /* of a client's host */
	char url[REDIS_URL];
	char *args[ARGS], *environment[2];
	struct redis redis;
	pid_t server, *clients; /* 0: not there */
	pid_t keeper; /* of the directory */
	int life[2]; /* a pipe: while its second end is open, the server lives
			and the directory is kept */
	int64_t begun, ended;
	bool ending; /* those who are still there have been told to end */
	sigset_t signals, before; /* that it waits for; blocked by others */
	struct record *record;
};

/* Of the driver and all of its processes. */
static nanos
cpu_time(void)
{
	static const int whose[] = { RUSAGE_SELF, RUSAGE_CHILDREN };
	struct rusage usage;
	nanos sum = 0;

	for (int i = 0; i < 2; i++) {
		if (getrusage(whose[i], &usage) == -1)
			err(1, "getrusage");
		sum += child_cpu(&usage);
	}
	return sum;
}

/*
 * What there is before and after
 */

/* Has a client run on its host: with the budgets of that host, and its way to
 * the fleet's server. */
static void
place(struct crowd *crowd, int64_t client)
{
	int64_t hosts = crowd->scenario->hosts;

	if (hosts > 0) {
		snprintf(crowd->budgets, sizeof crowd->budgets,
		    "%s/host-%" PRId64, crowd->directory, client % hosts);
		redis_url(&crowd->redis, client % hosts, crowd->url);
	} else {
		snprintf(crowd->budgets, sizeof crowd->budgets, "%s",
		    crowd->directory);
	}
	snprintf(crowd->variable, sizeof crowd->variable, "RETRY_BUDGET_DIR=%s",
	    crowd->budgets);
}

/*
 * Starts a process that removes the directory, which is empty, when the driver
 * has no more use for it, or has ended, even by SIGKILL: when nobody has the
 * second end of life open any more.
 */
static void
start_keeper(struct crowd *crowd)
{
	/* Clients that are being ended may still make files. */
	static const char remove[] =
	    "for _ in $(seq 500); do rm -rf \"$0\"; [ -e \"$0\" ] || exit 0; "
	    "sleep 0.01; done; echo \"$0: cannot be removed\" >&2; exit 1";
	char byte;

	crowd->keeper = fork();
	if (crowd->keeper == -1) {
		(void)rmdir(crowd->directory);
		err(1, "fork");
	}
	if (crowd->keeper > 0)
		return;
	/* What kills the process group of the driver does not kill it. */
	setsid();
	close(crowd->life[1]);
	while (read(crowd->life[0], &byte, 1) == -1 && errno == EINTR)
		continue;
	execlp("sh", "sh", "-c", remove, crowd->directory, (char *)NULL);
	_exit(1);
}

static void
prepare(struct crowd *crowd, const struct programs *programs,
    const struct variant *variant)
{
	static const int awaited[] = { SIGCHLD, SIGHUP, SIGINT, SIGTERM };
	static char quiet[] = "-q", end[] = "--"; /* but for mistakes */
	size_t n = 0;

	/* Before there is a file or a child. */
	sigemptyset(&crowd->signals);
	for (size_t i = 0; i < sizeof awaited / sizeof *awaited; i++)
		sigaddset(&crowd->signals, awaited[i]);
	sigprocmask(SIG_BLOCK, &crowd->signals, &crowd->before);

	crowd->clients =
	    calloc((size_t)crowd->scenario->clients, sizeof(pid_t));
	crowd->record =
	    mmap(NULL, sizeof *crowd->record, PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (crowd->clients == NULL || crowd->record == MAP_FAILED)
		err(1, "memory");
	snprintf(crowd->socket, sizeof crowd->socket, "retry-storm-%d",
	    (int)getpid());
	snprintf(crowd->directory, sizeof crowd->directory,
	    "/dev/shm/retry-storm-%d-XXXXXX", (int)getpid());
	if (pipe2(crowd->life, O_CLOEXEC) == -1)
		err(1, "pipe");
	if (mkdtemp(crowd->directory) == NULL)
		err(1, "%s", crowd->directory);
	start_keeper(crowd);
	crowd->redis = (struct redis){ .directory = crowd->directory,
		.hosts = crowd->scenario->hosts,
		.fault = variant->fault,
		.due = NANOS_MAX };
	crowd->most =
	    variant->until > 0 ? variant->until : crowd->scenario->most;
	for (int64_t host = 0; host < crowd->scenario->hosts; host++) {
		place(crowd, host);
		if (mkdir(crowd->budgets, 0700) == -1)
			err(1, "%s", crowd->budgets);
	}

	crowd->args[n++] = (char *)(uintptr_t)programs->retry;
	crowd->args[n++] = quiet;
	n = scenario_words(variant, crowd->args, n);
	for (size_t i = 0; i < n; i++)
		if (strcmp(crowd->args[i], SCENARIO_FLEET) == 0)
			crowd->args[i] = crowd->url;
	crowd->args[n++] = end;
	crowd->args[n++] = (char *)(uintptr_t)programs->client;
	crowd->args[n] = crowd->socket;
	crowd->environment[0] = crowd->variable;
}

/*
 * Processes
 */

static void
start_server(struct crowd *crowd)
{
	const struct scenario *scenario = crowd->scenario;
	int listener = server_listen(crowd->socket);

	if (listener == -1)
		err(1, "server");
	crowd->server = child_fork(SIGKILL);
	if (crowd->server == 0) {
		close(crowd->life[1]);
		server_run(listener, crowd->life[0], &scenario->capacity,
		    crowd->start, crowd->start + crowd->most + 2 * GRACE,
		    crowd->record);
		_exit(0);
	}
	close(listener);
	close(crowd->life[0]);
}

static void
start_client(struct crowd *crowd)
{
	pid_t child;

	place(crowd, crowd->begun);
	child = child_fork(SIGTERM);
	if (child == 0) {
		sigprocmask(SIG_SETMASK, &crowd->before, NULL);
		execve(crowd->args[0], crowd->args, crowd->environment);
		warn("%s", crowd->args[0]);
		_exit(NOT_EXECUTED);
	}
	crowd->clients[crowd->begun++] = child;
	crowd->cost.started = clock_now() - crowd->start;
}

static void
count_client(struct crowd *crowd, int64_t client, int status)
{
	int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;

	crowd->clients[client] = 0;
	crowd->ended++;
	if (code == 0) {
		tally_client(crowd->tally, clock_now() - crowd->start);
		return;
	}
	tally_lost(crowd->tally);
	if (code == GAVE_UP || code == HELD_BACK ||
	    (crowd->ending && WIFSIGNALED(status) &&
		WTERMSIG(status) == SIGTERM))
		return;
	crowd->cost.odd++;
	crowd->cost.odd_status = status;
}

static void
reap(struct crowd *crowd)
{
	int status;
	pid_t child;

	while ((child = waitpid(-1, &status, WNOHANG)) > 0) {
		if (child == crowd->server) {
			warnx("the server has ended before its time");
			crowd->server = 0;
			crowd->cost.signal = SIGTERM;
		}
		if (child == crowd->redis.pid) {
			warnx("the fleet's server has ended before its time");
			crowd->redis.pid = 0;
			crowd->cost.signal = SIGTERM;
		}
		for (int64_t i = 0; i < crowd->begun; i++)
			if (crowd->clients[i] == child) {
				count_client(crowd, i, status);
				break;
			}
	}
}

static void
signal_all(const struct crowd *crowd, int signal)
{
	for (int64_t i = 0; i < crowd->begun; i++)
		if (crowd->clients[i] > 0)
			kill(crowd->clients[i], signal);
}

/* Until a child ends, or it is time to look again. */
static void
nap(struct crowd *crowd, nanos until)
{
	nanos left;
	struct timespec span;
	int signal;

	left = number_lesser(until, crowd->redis.due) - clock_now();
	span = clock_span(number_greater(left, 0));
	signal = sigtimedwait(&crowd->signals, NULL, &span);
	if (signal > 0 && signal != SIGCHLD)
		crowd->cost.signal = signal;
}

/* Waits for the clients that have begun. */
static void
await(struct crowd *crowd, nanos until)
{
	while (crowd->ended < crowd->begun && clock_now() < until) {
		nap(crowd, until);
		reap(crowd);
	}
}

static void
run(struct crowd *crowd)
{
	const struct scenario *scenario = crowd->scenario;
	nanos until = crowd->start + crowd->most;

	while (crowd->ended < scenario->clients && crowd->cost.signal == 0 &&
	    clock_now() < until) {
		bool all = crowd->begun == scenario->clients;

		if (!all)
			start_client(crowd);
		nap(crowd, all ? until : 0);
		reap(crowd);
		redis_look(&crowd->redis, clock_now());
	}
	if (crowd->cost.signal == 0)
		crowd->cost.late = scenario->clients - crowd->ended;
	crowd->ending = true;
	signal_all(crowd, SIGTERM);
	await(crowd, clock_now() + GRACE);
	signal_all(crowd, SIGKILL);
	await(crowd, clock_now() + GRACE);
}

static void
await_end(pid_t child)
{
	while (child > 0 && waitpid(child, NULL, 0) == -1 && errno == EINTR)
		continue;
}

struct cost
crowd_run(const struct programs *programs, const struct scenario *scenario,
    const struct variant *variant, struct tally *tally)
{
	struct crowd crowd = { .scenario = scenario, .tally = tally };
	const struct redis *redis = &crowd.redis;
	struct cost *cost = &crowd.cost;
	nanos began, cpu;

	prepare(&crowd, programs, variant);
	began = clock_now();
	cpu = cpu_time();
	if (scenario_has_fleet(variant))
		redis_start(&crowd.redis, programs->redis);
	crowd.start = clock_now();
	redis_begin(&crowd.redis, crowd.start);
	start_server(&crowd);
	run(&crowd);
	redis_end(&crowd.redis);
	cost->questions = redis->questions;
	cost->redis = redis->cpu;
	cost->failed = redis->failed > 0 ? redis->failed - crowd.start : 0;
	cost->back = redis->back > 0 ? redis->back - crowd.start : 0;
	close(crowd.life[1]);
	await_end(crowd.server);
	cost->elapsed = clock_now() - began;
	cost->cpu = cpu_time() - cpu;
	await_end(crowd.keeper);
	for (size_t i = 0; i < crowd.record->count; i++) {
		const struct http_request *request = &crowd.record->requests[i];

		tally_request(tally, request->at, request->served);
		tally->firsts += !request->served && !request->again;
	}
	munmap(crowd.record, sizeof *crowd.record);
	free(crowd.clients);
	sigprocmask(SIG_SETMASK, &crowd.before, NULL);
	return *cost;
}
