/*
 * waiters: what processes cost that wait.
 *
 *     waiters COUNT SECONDS PATTERN COMMAND [ARG]...
 *     waiters sleep SECONDS
 *
 * Starts the command so many times, until each has said on standard error that
 * it waits, in words that match the pattern, and lets all wait for so long.
 * Prints which share of a core they took meanwhile, how often in a second any
 * of them ran, and how many kB of memory a hundred of them have for themselves,
 * and for the tables of their pages: the median. Then it kills them. The second
 * form is such a command, which says "waiting", and wakes about so often to do
 * nothing: what each of them costs at the very least.
 *
 * The figures come from /proc/PID/schedstat, which counts nanoseconds. Where
 * the CPU time is counted in ticks, who wakes for a moment costs nothing.
 */
#include "../child.h"

#include <err.h>
#include <fcntl.h>
#include <poll.h>
#include <regex.h>
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
	/* The memory of so many is looked at: each look takes a while. */
	SAMPLES = 100,
};

/* The last one to begin has its start behind it, and all have found how often
 * to look. */
#define SETTLING (5 * NANOS_SECOND)
/* Within which another one must say that it waits. */
#define PATIENCE (10 * NANOS_SECOND)

static pid_t waiters[MOST];

static pid_t
start(char **command, int nothing, int messages)
{
	pid_t waiter = child_fork(SIGKILL);

	if (waiter != 0)
		return waiter;
	if (dup2(nothing, 0) == -1 || dup2(nothing, 1) == -1 ||
	    dup2(messages, 2) == -1)
		err(1, "dup2");
	execvp(command[0], command);
	err(1, "%s", command[0]);
}

/* Reads messages, for so long or until count of them say that a process waits.
 * Returns how many do. A message is written, and so read, as a whole. */
static size_t
hear(int messages, const regex_t *waits, nanos patience, size_t count)
{
	nanos left, end = clock_now() + patience;
	struct pollfd ready = { .fd = messages, .events = POLLIN };
	char text[65536 + 1];
	size_t waiting = 0;

	while (waiting < count && (left = end - clock_now()) > 0) {
		regmatch_t match;
		ssize_t got;

		if (poll(&ready, 1, (int)(left / NANOS_MS) + 1) != 1)
			continue;
		got = read(messages, text, sizeof text - 1);
		if (got == -1)
			err(1, "read");
		text[got] = '\0';
		for (const char *at = text;
		     regexec(waits, at, 1, &match, 0) == 0; at += match.rm_eo)
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

/* The sum of the fields of this file of a process that begin with the name. */
static long
sum_of(pid_t pid, const char *file, const char *name)
{
	char path[64], line[256];
	long sum = 0;
	FILE *fields;

	snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, file);
	fields = fopen(path, "re");
	if (fields == NULL)
		err(1, "%s", path);
	while (fgets(line, sizeof line, fields) != NULL)
		if (strncmp(line, name, strlen(name)) == 0)
			sum += strtol(line + strcspn(line, "\t "), NULL, 10);
	fclose(fields);
	return sum;
}

static int
ascending(const void *a, const void *b)
{
	long x = *(const long *)a, y = *(const long *)b;

	return (x > y) - (x < y);
}

static long
median_of(size_t count, const char *file, const char *name)
{
	size_t samples = count < SAMPLES ? count : SAMPLES;
	long sums[SAMPLES];

	for (size_t i = 0; i < samples; i++)
		sums[i] = sum_of(waiters[count / samples * i], file, name);
	qsort(sums, samples, sizeof *sums, ascending);
	return sums[samples / 2];
}

/* Starts all, and returns when they wait, with where their messages come. */
static int
settle(size_t count, const regex_t *waits, char **command)
{
	int messages[2], nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
	size_t started = 0, waiting = 0;

	if (nothing == -1 || pipe2(messages, O_CLOEXEC) == -1)
		err(1, "standard input and error");
	while (waiting < count) {
		size_t more;

		while (started < count && started < waiting + STARTING)
			waiters[started++] =
			    start(command, nothing, messages[1]);
		more = hear(messages[0], waits, PATIENCE, 1);
		if (more == 0)
			errx(1, "only %zu of %zu wait", waiting, started);
		waiting += more;
	}
	hear(messages[0], waits, SETTLING, SIZE_MAX);
	return messages[0];
}

/* Not all at once. */
static void
sleep_on(double seconds)
{
	srand48(getpid());
	(void)!write(2, "waiting\n", 8);
	poll(NULL, 0, (int)(seconds * 1000 * drand48()));
	for (;;)
		poll(NULL, 0, (int)(seconds * 1000));
}

int
main(int argc, char **argv)
{
	size_t count = argc > 4 ? strtoul(argv[1], NULL, 10) : 0;
	double seconds = argc > 4 ? strtod(argv[2], NULL) : 0;
	struct used before, after;
	regex_t waits;
	nanos began, left;
	int messages;

	if (argc == 3 && strcmp(argv[1], "sleep") == 0)
		sleep_on(strtod(argv[2], NULL));
	if (count == 0 || count > MOST || !(seconds > 0) ||
	    regcomp(&waits, argv[3], REG_EXTENDED) != 0)
		errx(2,
		    "usage: waiters COUNT SECONDS PATTERN COMMAND... | sleep "
		    "SECONDS");
	messages = settle(count, &waits, argv + 4);
	began = clock_now();
	before = look(count);
	left = began + (nanos)(seconds * NANOS_SECOND) - clock_now();
	hear(messages, &waits, left, SIZE_MAX);
	seconds = (double)(clock_now() - began) / NANOS_SECOND;
	after = look(count);
	if (waitpid(-1, NULL, WNOHANG) != 0)
		errx(1, "not all have waited until the end");
	printf("%.4f\t%.0f\t%ld\t%ld\n",
	    (after.time - before.time) / seconds / NANOS_SECOND,
	    (after.runs - before.runs) / seconds,
	    median_of(count, "smaps_rollup", "Private_"),
	    median_of(count, "status", "VmPTE:"));

	for (size_t i = 0; i < count; i++)
		kill(waiters[i], SIGKILL);
	while (wait(NULL) != -1)
		;
	return 0;
}
