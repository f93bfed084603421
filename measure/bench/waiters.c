/*
 * waiters: what processes cost that wait.
 *
 *     waiters COUNT SECONDS COMMAND [ARG]...
 *                            starts the command so many times, until each has
 * said on standard error that it is "; waiting", and lets all wait for so long.
 * Prints which share of a core they took meanwhile, and how often in a second
 * any of them ran. Then it kills them.
 *     waiters sleep SECONDS  says so, and wakes about so often, to do nothing:
 * what each of these costs at the very least
 *
 * The figures come from /proc/PID/schedstat, which counts nanoseconds: in
 * ticks, as getrusage(2) may have them, who wakes for a moment costs nothing.
 */
#include "../child.h"

#include <err.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	MOST = 30000,
	/* So many start at a time: their messages fit into a pipe. */
	STARTING = 64,
};

/* The last one to begin has its start behind it, and all have found how often
 * to look. */
#define SETTLING (5 * NANOS_SECOND)
/* Within which another one must say that it waits. */
#define PATIENCE (10 * NANOS_SECOND)

static pid_t waiters[MOST];

static void
start(char **command, int nothing, int messages, pid_t *waiter)
{
	*waiter = child_fork(SIGKILL);
	if (*waiter != 0)
		return;
	if (dup2(nothing, 0) == -1 || dup2(nothing, 1) == -1 ||
	    dup2(messages, 2) == -1)
		err(1, "dup2");
	execvp(command[0], command);
	err(1, "%s", command[0]);
}

/* Reads messages, for so long or until count of them say that a process waits.
 * Returns how many do. A message is written, and so read, as a whole. */
static size_t
hear(int messages, nanos patience, size_t count)
{
	nanos left, end = clock_now() + patience;
	struct pollfd ready = { .fd = messages, .events = POLLIN };
	char text[65536 + 1];
	size_t waiting = 0;

	while (waiting < count && (left = end - clock_now()) > 0) {
		ssize_t got;

		if (poll(&ready, 1, (int)(left / NANOS_MS) + 1) != 1)
			continue;
		got = read(messages, text, sizeof text - 1);
		if (got == -1)
			err(1, "read");
		text[got] = '\0';
		for (char *at = text; (at = strstr(at, "; waiting")); at++)
			waiting++;
	}
	return waiting;
}

struct used {
	double time; /* in nanoseconds */
	double runs;
};

static struct used
look(size_t count)
{
	struct used sum = { 0 };

	for (size_t i = 0; i < count; i++) {
		char path[64];
		long long time, runs;
		FILE *file;

		snprintf(
		    path, sizeof path, "/proc/%d/schedstat", (int)waiters[i]);
		file = fopen(path, "re");
		if (file == NULL ||
		    fscanf(file, "%lld %*d %lld", &time, &runs) != 2)
			err(1, "%s", path);
		fclose(file);
		sum.time += (double)time;
		sum.runs += (double)runs;
	}
	return sum;
}

/* Starts all, and returns when they wait, with where their messages come. */
static int
settle(size_t count, char **command)
{
	int messages[2], nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
	size_t started = 0, waiting = 0;

	if (nothing == -1 || pipe2(messages, O_CLOEXEC) == -1)
		err(1, "standard input and error");
	while (waiting < count) {
		size_t more;

		while (started < count && started < waiting + STARTING)
			start(
			    command, nothing, messages[1], &waiters[started++]);
		more = hear(messages[0], PATIENCE, 1);
		if (more == 0)
			errx(1, "only %zu of %zu wait", waiting, started);
		waiting += more;
	}
	hear(messages[0], SETTLING, SIZE_MAX);
	return messages[0];
}

/* Not all at once: after half of the time to one and a half of it. */
static void
sleep_on(double seconds)
{
	srand48(getpid());
	(void)!write(2, "; waiting\n", 10);
	for (;;)
		poll(NULL, 0, (int)(seconds * 1000 * (0.5 + drand48())));
}

int
main(int argc, char **argv)
{
	size_t count = argc > 3 ? strtoul(argv[1], NULL, 10) : 0;
	double seconds = argc > 3 ? strtod(argv[2], NULL) : 0;
	struct used before, after;
	nanos began;
	int messages;

	if (argc == 3 && strcmp(argv[1], "sleep") == 0)
		sleep_on(strtod(argv[2], NULL));
	if (count == 0 || count > MOST || !(seconds > 0))
		errx(2,
		    "usage: waiters COUNT SECONDS COMMAND... | sleep SECONDS");
	messages = settle(count, argv + 3);
	began = clock_now();
	before = look(count);
	hear(messages, began + (nanos)(seconds * NANOS_SECOND) - clock_now(),
	    SIZE_MAX);
	seconds = (double)(clock_now() - began) / NANOS_SECOND;
	after = look(count);
	if (waitpid(-1, NULL, WNOHANG) != 0)
		errx(1, "not all have waited until the end");
	printf("%.4f\t%.0f\n",
	    (after.time - before.time) / seconds / NANOS_SECOND,
	    (after.runs - before.runs) / seconds);

	for (size_t i = 0; i < count; i++)
		kill(waiters[i], SIGKILL);
	while (wait(NULL) != -1)
		;
	return 0;
}
