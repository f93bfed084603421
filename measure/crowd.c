#include "crowd.h"

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "budget/segment.h"
#include "child.h"
#include "redis.h"
#include "text/number.h"
#include "text/hash.h"
#include "witness.h"

/* How long after the first signal a process is killed. */
#define GRACE (5 * NANOS_SECOND)

/* What a run that did all that it was to do ends with; and one that was none.
 */
enum { GAVE_UP = 1, HELD_BACK = 75, NOT_EXECUTED = 126 };

enum { ARGS = SCENARIO_OPTIONS + 9, ROOM = 64 };

/* How often a process is hurt, and for how long at most it is stopped. */
#define HURT (20 * NANOS_MS)
#define STOP (2 * NANOS_SECOND)

/* The targets of a build, and what make exits with if one of them fails. */
enum { TARGETS = 200, MAKE_FAILED = 2 };

/* How many connections may wait for the server, how many for its answer, and
 * after how many requests it ends. */
enum { WAITING = 4096, PENDING = 4096, REQUESTS = 1 << 18 };

/* What the server has seen, in memory that it shares with the driver. */
struct seen {
	nanos start; /* when the storm begins */
	size_t count;
	size_t at_once; /* most that have waited for an answer */
	struct request requests[REQUESTS];
};

/* An answer that is not due yet. */
struct pending {
	int connection, status;
	nanos wait, due;
};

struct client {
	pid_t pid;
	bool ended, killed;
	nanos hurt, resumed; /* as in struct request */
	nanos until; /* it is stopped */
};

struct crowd {
	const struct scenario *scenario;
	const struct variant *variant;
	struct tally *tally;
	struct cost *cost;
	nanos start, most; /* when the storm begins, how long it is watched */
	char socket[ROOM], directory[ROOM]; /* of the server, of all files */
	char budgets[2 * ROOM], variable[3 * ROOM]; /* of a client's host */
	char url[REDIS_URL], takes[ROOM], makefile[ROOM + 16];
	char *args[ARGS], *environment[2];
	struct redis redis;
	pid_t server; /* 0: not there */
	struct client *clients;
	nanos hurts; /* when the next of them is hurt; NANOS_MAX: none is */
	uint64_t chance; /* which one */
	int life[2]; /* a pipe: while its second end is open, the server lives
			and the directory is kept */
	int64_t begun, ended;
	bool ending; /* those who are still there have been told to end */
	sigset_t signals, before; /* that it waits for; blocked by others */
	struct seen *seen;
};

static bool
has_budget(const struct variant *variant)
{
	return strstr(variant->options, "-B ") != NULL;
}

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

/* A wait that is no whole number of seconds is named in milliseconds. */
static void
send_answer(const struct pending *answer)
{
	bool whole = answer->wait % NANOS_SECOND == 0;
	char head[2 * ROOM];
	int size;

	size = snprintf(head, sizeof head, "HTTP/1.1 %d \r\n", answer->status);
	if (answer->wait > 0)
		size += snprintf(head + size, sizeof head - (size_t)size,
		    "%s: %" PRId64 "\r\n",
		    whole ? "Retry-After" : "retry-after-ms",
		    answer->wait / (whole ? NANOS_SECOND : NANOS_MS));
	size += snprintf(head + size, sizeof head - (size_t)size, "\r\n");
	/* A client that has gone needs no answer. */
	(void)send(answer->connection, head, (size_t)size,
	    MSG_NOSIGNAL | MSG_DONTWAIT);
	close(answer->connection);
}

/* The request is answered at once, or when that is due. */
static struct pending
answer_request(const struct crowd *crowd, struct limiter_state *state,
    struct load *load, struct request *request)
{
	const struct scenario *scenario = crowd->scenario;
	struct pending answer = { .due = request->at };

	if (scenario->limiter != NULL) {
		struct limiter_answer limited = limiter_begin(
		    scenario->limiter, state, request->at, request->by);

		request->status = limited.status;
		request->wait = limited.wait;
		answer.due += limited.takes;
	} else {
		request->status =
		    capacity_answer(&scenario->capacity, load, request->at);
		if (request->status == 429)
			request->wait =
			    capacity_wait(&scenario->capacity, request->at);
	}
	answer.status = request->status;
	answer.wait = request->wait;
	return answer;
}

/* Answers those that are due. Returns the milliseconds until the next one is,
 * or -1. */
static int
answer_due(struct pending *pending, size_t *count, struct limiter_state *state,
    nanos now)
{
	nanos next = NANOS_MAX;

	for (size_t i = 0; i < *count;) {
		if (pending[i].due > now) {
			next = number_lesser(next, pending[i++].due);
			continue;
		}
		if (pending[i].status == 200)
			limiter_end(state);
		send_answer(&pending[i]);
		pending[i] = pending[--*count];
	}
	if (next == NANOS_MAX)
		return -1;
	return (int)((next - now) / NANOS_MS) + 1;
}

/*
 * Answers each connection, a request, by the head of a response until nobody
 * has the second end of life open, or there is no more room. It is an abstract
 * unix socket: there is no file to leave behind, no port that lingers in
 * TIME_WAIT after each of tens of thousands of connections, and connecting
 * takes less of the machine that a thousand processes share.
 */
static void
serve(struct crowd *crowd, int listener)
{
	static struct pending pending[PENDING];
	struct seen *seen = crowd->seen;
	struct limiter_state state = { .chance = crowd->scenario->chance };
	struct load load = { 0 };
	size_t waiting = 0;
	struct pollfd events[] = {
		{ .fd = listener, .events = POLLIN },
		{ .fd = crowd->life[0], .events = POLLIN },
	};

	while (seen->count < REQUESTS) {
		struct request *request = &seen->requests[seen->count];
		struct sockaddr_un peer = { 0 };
		socklen_t length = sizeof peer;
		int client, attempt = 0, nap, ready;

		nap = answer_due(
		    pending, &waiting, &state, clock_now() - seen->start);
		ready = poll(events, 2, nap);
		if (ready <= 0)
			continue;
		if (events[1].revents != 0)
			return;
		client = waiting == PENDING
		    ? -1
		    : accept4(listener, (struct sockaddr *)&peer, &length,
			  SOCK_CLOEXEC);
		if (client == -1)
			continue;
		sscanf(peer.sun_path + 1, CHILD_NAME, &request->by, &attempt);
		request->again = attempt > 1;
		request->at = clock_now() - seen->start;
		pending[waiting] =
		    answer_request(crowd, &state, &load, request);
		pending[waiting++].connection = client;
		seen->at_once =
		    waiting > seen->at_once ? waiting : seen->at_once;
		seen->count++;
	}
}

/*
 * Makes the directory, and starts the server, which removes the directory when
 * the driver has no more use for it, or has ended, even by SIGKILL.
 */
static void
start_server(struct crowd *crowd)
{
	/* Clients that are being ended may still make files. */
	static const char remove[] =
	    "for _ in $(seq 500); do rm -rf \"$0\"; [ -e \"$0\" ] || exit 0; "
	    "sleep 0.01; done; echo \"$0: cannot be removed\" >&2; exit 1";
	struct sockaddr_un own = { .sun_family = AF_UNIX };
	size_t length = strlen(crowd->socket);
	int listener =
	    socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	memcpy(own.sun_path + 1, crowd->socket, length);
	if (listener == -1 ||
	    bind(listener, (const struct sockaddr *)&own,
		(socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 +
		    length)) == -1 ||
	    listen(listener, WAITING) == -1)
		err(1, "server");
	if (pipe2(crowd->life, O_CLOEXEC) == -1)
		err(1, "pipe");
	if (mkdtemp(crowd->directory) == NULL)
		err(1, "%s", crowd->directory);
	crowd->server = fork();
	if (crowd->server == -1) {
		(void)rmdir(crowd->directory);
		err(1, "fork");
	}
	if (crowd->server == 0) {
		/* What kills the process group of the driver does not kill it.
		 */
		setsid();
		close(crowd->life[1]);
		serve(crowd, listener);
		execlp(
		    "sh", "sh", "-c", remove, crowd->directory, (char *)NULL);
		_exit(1);
	}
	close(listener);
	close(crowd->life[0]);
}

/* Writes the makefile of a build, each of whose targets is a file that is there
 * when its client has been served. */
static void
write_makefile(struct crowd *crowd, const struct programs *programs)
{
	char retry[PATH_MAX], client[PATH_MAX];
	FILE *file;

	snprintf(crowd->makefile, sizeof crowd->makefile, "%s/makefile",
	    crowd->directory);
	file = fopen(crowd->makefile, "we");
	if (file == NULL || realpath(programs->retry, retry) == NULL ||
	    realpath(programs->client, client) == NULL)
		err(1, "makefile");
	fputs("export PATH = /bin:/usr/bin\nall:", file);
	for (int i = 0; i < TARGETS; i++)
		fprintf(file, " t%d", i);
	fprintf(file, "\nt%%:\n\t%s %s -- %s %s %s\n\ttouch $@\n", retry,
	    crowd->variant->inner, client, crowd->socket, crowd->takes);
	if (fclose(file) == EOF)
		err(1, "makefile");
}

static void
prepare(struct crowd *crowd, const struct programs *programs,
    const struct variant *variant)
{
	static const int awaited[] = { SIGCHLD, SIGHUP, SIGINT, SIGTERM };
	static char quiet[] = "-q", end[] = "--"; /* but for mistakes */
	static char make[] = "make", jobs[] = "-j8", words[] = "-skf",
		    in[] = "-C";
	size_t n = 0;

	/* Before there is a file or a child. */
	sigemptyset(&crowd->signals);
	for (size_t i = 0; i < sizeof awaited / sizeof *awaited; i++)
		sigaddset(&crowd->signals, awaited[i]);
	sigprocmask(SIG_BLOCK, &crowd->signals, &crowd->before);

	crowd->clients =
	    calloc((size_t)crowd->scenario->clients, sizeof(struct client));
	crowd->seen = mmap(NULL, sizeof *crowd->seen, PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (crowd->clients == NULL || crowd->seen == MAP_FAILED)
		err(1, "memory");
	snprintf(crowd->socket, sizeof crowd->socket, "retry-storm-%d",
	    (int)getpid());
	snprintf(crowd->directory, sizeof crowd->directory,
	    "/dev/shm/retry-storm-%d-XXXXXX", (int)getpid());
	start_server(crowd);
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
	snprintf(crowd->takes, sizeof crowd->takes, "%" PRId64,
	    crowd->scenario->capacity.takes / NANOS_MS);
	if (variant->inner != NULL) {
		write_makefile(crowd, programs);
		crowd->args[n++] = make;
		crowd->args[n++] = jobs;
		crowd->args[n++] = words;
		crowd->args[n++] = crowd->makefile;
		crowd->args[n++] = in;
		crowd->args[n] = crowd->budgets;
	} else {
		crowd->args[n++] = (char *)(uintptr_t)programs->client;
		crowd->args[n++] = crowd->socket;
		crowd->args[n] = crowd->takes;
	}
	crowd->environment[0] = crowd->variable;
}

static void
start_client(struct crowd *crowd)
{
	pid_t child;

	place(crowd, crowd->begun);
	child = child_fork(SIGTERM);
	if (child == 0) {
		sigprocmask(SIG_SETMASK, &crowd->before, NULL);
		/* make tells of each target that fails. */
		if (crowd->variant->inner != NULL)
			dup2(open("/dev/null", O_WRONLY), STDERR_FILENO);
		execve(crowd->args[0], crowd->args, crowd->environment);
		warn("%s", crowd->args[0]);
		_exit(NOT_EXECUTED);
	}
	crowd->clients[crowd->begun++].pid = child;
	crowd->cost->started = clock_now() - crowd->start;
}

static void
count_client(struct crowd *crowd, int64_t client, int status)
{
	int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;

	crowd->clients[client].ended = true;
	crowd->ended++;
	if (crowd->clients[client].killed && code == -1)
		return;
	if (code == 0) {
		tally_client(crowd->tally, clock_now() - crowd->start);
		return;
	}
	crowd->tally->lost++;
	if (code == GAVE_UP || code == HELD_BACK ||
	    (code == MAKE_FAILED && crowd->variant->inner != NULL) ||
	    (crowd->ending && WIFSIGNALED(status) &&
		WTERMSIG(status) == SIGTERM))
		return;
	crowd->cost->odd++;
	crowd->cost->odd_status = status;
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
			crowd->cost->signal = SIGTERM;
		}
		if (child == crowd->redis.pid) {
			warnx("the fleet's server has ended before its time");
			crowd->redis.pid = 0;
			crowd->cost->signal = SIGTERM;
		}
		for (int64_t i = 0; i < crowd->begun; i++)
			if (crowd->clients[i].pid == child) {
				count_client(crowd, i, status);
				break;
			}
	}
}

static void
signal_all(const struct crowd *crowd, int signal)
{
	for (int64_t i = 0; i < crowd->begun; i++)
		if (!crowd->clients[i].ended)
			kill(crowd->clients[i].pid, signal);
}

/* Kills one of the processes, or stops it; and has those go on that have been
 * stopped for long enough. */
static void
hurt(struct crowd *crowd)
{
	nanos now = clock_now() - crowd->start;
	uint64_t chance = hash_draw(&crowd->chance);
	struct client *client =
	    &crowd->clients[chance % (uint64_t)crowd->begun];

	for (int64_t i = 0; i < crowd->begun; i++) {
		struct client *at = &crowd->clients[i];

		if (at->until > 0 && at->until < now && !at->ended) {
			at->until = 0;
			at->resumed = now;
			kill(at->pid, SIGCONT);
		}
	}
	crowd->hurts += HURT;
	if (client->ended || client->hurt > 0)
		return;
	client->hurt = now;
	client->resumed = NANOS_MAX;
	client->killed = chance % 3 == 0;
	if (!client->killed)
		client->until = now + (nanos)(hash_draw(&crowd->chance) % STOP);
	kill(client->pid, client->killed ? SIGKILL : SIGSTOP);
	if (client->killed)
		crowd->cost->killed++;
	else
		crowd->cost->stopped++;
}

/* Until a child ends, or it is time to look again. */
static void
nap(struct crowd *crowd, nanos until)
{
	struct timespec span = { .tv_sec = 0 };
	nanos left;
	int signal;

	left = number_lesser(until, crowd->redis.due) - clock_now();
	if (left > 0) {
		span.tv_sec = left / NANOS_SECOND;
		span.tv_nsec = left % NANOS_SECOND;
	}
	signal = sigtimedwait(&crowd->signals, NULL, &span);
	if (signal > 0 && signal != SIGCHLD)
		crowd->cost->signal = signal;
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

	while (crowd->ended < scenario->clients && crowd->cost->signal == 0 &&
	    clock_now() < until) {
		int64_t most = scenario->at_once > 0
		    ? number_lesser(
			  crowd->ended + scenario->at_once, scenario->clients)
		    : scenario->clients;

		if (crowd->begun < most)
			start_client(crowd);
		if (clock_now() >= crowd->hurts)
			hurt(crowd);
		nap(crowd,
		    crowd->begun < most ? 0
					: number_lesser(until, crowd->hurts));
		reap(crowd);
		redis_look(&crowd->redis, clock_now());
	}
	if (crowd->cost->signal == 0)
		crowd->cost->late += scenario->clients - crowd->ended;
	crowd->ending = true;
	signal_all(crowd, SIGTERM);
	signal_all(crowd, SIGCONT);
	await(crowd, clock_now() + GRACE);
	signal_all(crowd, SIGKILL);
	await(crowd, clock_now() + GRACE);
}

/* Has each request know what is known of its client. */
static void
find_clients(struct crowd *crowd)
{
	int64_t hosts = number_greater(crowd->scenario->hosts, 1);

	for (size_t i = 0; i < crowd->seen->count; i++) {
		struct request *request = &crowd->seen->requests[i];

		request->host = -1;
		for (int64_t n = 0; n < crowd->begun; n++) {
			const struct client *client = &crowd->clients[n];

			if (client->pid != request->by)
				continue;
			request->host = n % hosts;
			request->hurt = client->hurt;
			request->resumed = client->resumed;
		}
	}
}

/* Counts the requests, and what is wrong with them. */
static void
count_requests(struct crowd *crowd)
{
	static const struct terms limits = { SEGMENT_RATIO, SEGMENT_MIN,
		SEGMENT_WINDOW };
	const struct request *requests = crowd->seen->requests;
	size_t count = crowd->seen->count;

	for (size_t i = 0; i < count; i++) {
		bool served = requests[i].status == 200;

		tally_request(crowd->tally, requests[i].at, served);
		crowd->tally->firsts += !served && !requests[i].again;
	}
	if (!has_budget(crowd->variant))
		return;
	find_clients(crowd);
	/* What a breaker lets in, or a fleet, no window of a host counts. */
	if (strstr(crowd->variant->options, "--breaker") == NULL &&
	    !scenario_has_fleet(crowd->variant))
		crowd->cost->excess += witness_excess(requests, count, &limits);
}

void
crowd_run(const struct programs *programs, const struct scenario *scenario,
    const struct variant *variant, struct tally *tally, struct cost *cost)
{
	struct crowd crowd = { .scenario = scenario,
		.variant = variant,
		.tally = tally,
		.cost = cost,
		.hurts = NANOS_MAX };
	const struct redis *redis = &crowd.redis;
	nanos began, cpu;

	prepare(&crowd, programs, variant);
	began = clock_now();
	cpu = child_cpu(RUSAGE_SELF) + child_cpu(RUSAGE_CHILDREN);
	if (scenario_has_fleet(variant))
		redis_start(&crowd.redis, programs->redis);
	crowd.start = crowd.seen->start = clock_now();
	redis_begin(&crowd.redis, crowd.start);
	if (variant->hurt) {
		crowd.hurts = crowd.start;
		crowd.chance = (uint64_t)crowd.start;
	}
	run(&crowd);
	redis_end(&crowd.redis);
	cost->questions = redis->questions;
	cost->redis = redis->cpu;
	cost->failed = redis->failed > 0 ? redis->failed - crowd.start : 0;
	cost->back = redis->back > 0 ? redis->back - crowd.start : 0;
	close(crowd.life[1]);
	if (crowd.server > 0)
		waitpid(crowd.server, NULL, 0);
	cost->elapsed += clock_now() - began;
	cost->cpu += child_cpu(RUSAGE_SELF) + child_cpu(RUSAGE_CHILDREN) - cpu;
	count_requests(&crowd);
	if (crowd.seen->at_once > cost->at_once)
		cost->at_once = crowd.seen->at_once;
	munmap(crowd.seen, sizeof *crowd.seen);
	free(crowd.clients);
	sigprocmask(SIG_SETMASK, &crowd.before, NULL);
}
