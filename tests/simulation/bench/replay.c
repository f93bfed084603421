/*
 * replay: what it costs that --replay-stdin keeps a command's input. A gigabyte
 * goes from a writer through a pipe into a file, by way of retry or of cat, and
 * from there into two commands, of which the first fails.
 *
 *     replay ROUNDS RETRY
 *
 * Prints for each contender: name, median time in microseconds, the median over
 * the rounds of its time divided by cat's, and its peak memory in kB. Each runs
 * once a round, so that what disturbs one round disturbs all of them.
 *
 *     replay write
 *     replay read
 *
 * are the writer and a command. It tells its parent's peak on descriptor 3.
 */
#include <err.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "bench.h"

enum { ROUNDS = 99 };

static struct contender {
	const char *name;
	double times[ROUNDS];
	long peak;
} contenders[] = { { .name = "cat" }, { .name = "replay" } };

enum { CAT, REPLAY, COUNT };

/* Reads it all. Under retry the first attempt fails. */
static int
read_all(void)
{
	static char bytes[CHUNK];
	const char *number = getenv("RETRY_ATTEMPT");
	long long all = 0;
	long peak;
	ssize_t n;

	while ((n = read(0, bytes, sizeof bytes)) > 0)
		all += n;
	if (all != (long long)WRITES * CHUNK)
		errx(2, "not all of it came");
	peak = parent_peak();
	if (write(3, &peak, sizeof peak) != sizeof peak)
		err(2, "peak");
	return number != NULL && strcmp(number, "1") == 0;
}

/* The child in which this returns 0 has from as 0, to as 1, told as 3. */
static pid_t
start(int from, int to, int told)
{
	pid_t child = fork();

	if (child == -1)
		err(1, "fork");
	if (child == 0 &&
	    ((from != -1 && dup2(from, STDIN_FILENO) == -1) ||
		(to != -1 && dup2(to, STDOUT_FILENO) == -1) ||
		dup2(told, 3) == -1))
		err(1, "dup2");
	return child;
}

static void
await(const char *name)
{
	int status;

	while (wait(&status) != -1)
		if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
			errx(1, "%s: status %#x", name, (unsigned)status);
}

static void
run_cat(int from, int told, const char *self)
{
	const char *directory = getenv("TMPDIR");
	int file = open(directory != NULL ? directory : "/tmp",
	    O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	if (file == -1)
		err(1, "file");
	if (start(from, file, told) == 0)
		execlp("cat", "cat", NULL), _exit(127);
	close(from);
	await("cat");
	for (int i = 0; i < 2; i++) {
		lseek(file, 0, SEEK_SET);
		if (start(file, -1, told) == 0)
			execl(self, self, "read", NULL), _exit(127);
		await("cat");
	}
	close(file);
}

static void
run_retry(int from, int told, const char *self, const char *retry)
{
	if (start(from, -1, told) == 0)
		execl(retry, retry, "-q", "-I", "-n", "2", "-d", "0",
		    "--stdin-max", "2G", "--retry-on", "1", self, "read", NULL),
		    _exit(127);
	close(from);
	await("retry");
}

static double
run(struct contender *c, const char *self, const char *retry)
{
	int ends[2], told[2];
	double began = now();
	long peak;

	if (pipe2(ends, O_CLOEXEC) == -1 ||
	    pipe2(told, O_CLOEXEC | O_NONBLOCK) == -1)
		err(1, "pipe2");
	if (start(-1, ends[1], told[1]) == 0)
		execl(self, self, "write", NULL), _exit(127);
	close(ends[1]);
	if (c == &contenders[CAT])
		run_cat(ends[0], told[1], self);
	else
		run_retry(ends[0], told[1], self, retry);
	began = now() - began;
	while (read(told[0], &peak, sizeof peak) == sizeof peak)
		if (c != &contenders[CAT] && peak > c->peak)
			c->peak = peak;
	close(told[0]);
	close(told[1]);
	return began;
}

static void
print(const struct contender *c, size_t rounds)
{
	double times[ROUNDS], ratios[ROUNDS];

	for (size_t i = 0; i < rounds; i++) {
		times[i] = c->times[i];
		ratios[i] = c->times[i] / contenders[CAT].times[i];
	}
	printf("%s\t%.0f\t%.3f\t%ld\n", c->name, median(times, rounds),
	    median(ratios, rounds), c->peak);
}

int
main(int argc, char **argv)
{
	const char *self;
	size_t rounds;

	if (argc == 2 && strcmp(argv[1], "write") == 0)
		return write_all();
	if (argc == 2 && strcmp(argv[1], "read") == 0)
		return read_all();
	rounds = argc == 3 ? strtoul(argv[1], NULL, 10) : 0;
	if (rounds == 0 || rounds > ROUNDS)
		errx(2, "usage: replay ROUNDS RETRY");
	self = realpath("/proc/self/exe", NULL); /* retry's own is another */
	for (size_t i = 0; i < rounds; i++)
		for (size_t n = 0; n < COUNT; n++) {
			struct contender *c = &contenders[(n + i) % COUNT];

			c->times[i] = run(c, self, argv[2]);
		}
	for (size_t n = 0; n < COUNT; n++)
		print(&contenders[n], rounds);
	return 0;
}
