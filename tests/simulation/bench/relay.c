/*
 * relay: what it costs that retry looks at standard error. A gigabyte goes
 * from a writer through a pipe, retry or cat in its place, and a pipe to us.
 *
 *     relay ROUNDS RETRY
 *
 * Prints for each contender: name, median time in microseconds, the median over
 * the rounds of its time divided by that of the cat of the same text, and its
 * peak memory in kB. Each runs once a round, so that what disturbs one round
 * disturbs all of them.
 *
 *     relay write lines|line FD
 *
 * is the writer. It tells its parent's peak on descriptor 3.
 */
#include <err.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "bench.h"

enum { CHUNKS = 64, ROUNDS = 99 };

#define LITERAL "stderr:unreachable"
#define WORDS "stderr:(timed out|refused|reset|unreachable|temporarily) [a-z]+"

#define ON(text) .option = "--retry-on", .value = (text)
#define PRESET(text) .option = "--preset", .value = (text)

static struct contender {
	const char *name, *text, *option, *value; /* no option: cat */
	double times[ROUNDS];
	long peak;
} contenders[] = {
	{ .name = "cat", .text = "lines" },
	{ .name = "literal", .text = "lines", ON(LITERAL) },
	{ .name = "words", .text = "lines", ON(WORDS) },
	{ .name = "net", .text = "lines", PRESET("net") },
	{ .name = "git", .text = "lines", PRESET("git") },
	{ .name = "cat-one-line", .text = "line" },
	{ .name = "literal-one-line", .text = "line", ON(LITERAL) },
	{ .name = "words-one-line", .text = "line", ON(WORDS) },
	{ .name = "net-one-line", .text = "line", PRESET("net") },
	{ .name = "git-one-line", .text = "line", PRESET("git") },
};

enum { COUNT = sizeof contenders / sizeof contenders[0] };

/* A % becomes a number. None of it matches, some of it comes near. */
static const char *const samples[] = {
	"2031-07-%T08:%:%Z worker % took job % from the queue after % ms\n",
	"[%/%] CC drivers/net/module%.o -O2 -g -Wall -Wextra\n",
	"192.0.2.% \"GET /v2/items/%/tags HTTP/1.1\" 200 % bytes\n",
	"warning: function 'resetCounter%' is defined but not used\n",
	"    at pool.Connection.run (pool.js:%:%)\n",
	"Unpacking libexample% (1.%.%-%) over (1.%.%-%) ...\n",
	"retrieved % of % objects, temporary directory /tmp/build%\n",
};

static void
fill(char *text, size_t length, bool lines)
{
	enum { LONGEST = 256 };
	size_t kinds = sizeof samples / sizeof samples[0], at = 0;
	unsigned number = 1;

	while (at + LONGEST < length)
		for (const char *c = samples[number % kinds]; *c != '\0'; c++) {
			number = number * 1103515245 + 12345;
			if (*c == '%')
				at += (size_t)snprintf(
				    text + at, 8, "%u", number / 65536 % 1000);
			else
				text[at++] = *c == '\n' && !lines ? ' ' : *c;
		}
	memset(text + at, '.', length - at);
}

static void
put_all(int fd, const char *bytes, size_t length)
{
	while (length > 0) {
		ssize_t n = write(fd, bytes, length);

		if (n == -1)
			err(1, "write");
		bytes += n;
		length -= (size_t)n;
	}
}

static int
write_text(bool lines, int fd)
{
	static char text[CHUNKS * CHUNK];
	long peak;

	fill(text, sizeof text, lines);
	for (int i = 0; i < WRITES; i++)
		put_all(fd, text + i % CHUNKS * CHUNK, CHUNK);
	peak = parent_peak();
	put_all(3, (const char *)&peak, sizeof peak);
	return 0;
}

static void
make_pipe(int ends[2])
{
	if (pipe2(ends, O_CLOEXEC) == -1)
		err(1, "pipe2");
}

/* The child in which this returns 0 has to and told where they belong. */
static pid_t
start(int from, int fd, int to, int told)
{
	pid_t child = fork();

	if (child == -1)
		err(1, "fork");
	if (child == 0 &&
	    ((from != -1 && dup2(from, STDIN_FILENO) == -1) ||
		dup2(to, fd) == -1 || dup2(told, 3) == -1))
		err(1, "dup2");
	return child;
}

static void
start_cat(const struct contender *c, const char *self, int to, int told)
{
	int inner[2];

	make_pipe(inner);
	if (start(-1, STDOUT_FILENO, inner[1], told) == 0)
		execl(self, self, "write", c->text, "1", NULL), _exit(127);
	if (start(inner[0], STDOUT_FILENO, to, told) == 0)
		execlp("cat", "cat", NULL), _exit(127);
	close(inner[0]);
	close(inner[1]);
}

static void
start_retry(const struct contender *c, const char *self, const char *retry,
    int to, int told)
{
	if (start(-1, STDERR_FILENO, to, told) == 0)
		execl(retry, retry, "-n", "1", c->option, c->value, self,
		    "write", c->text, "2", NULL),
		    _exit(127);
}

/* Reads all there is. Returns how much that was. */
static long long
drain(int from)
{
	static char bytes[CHUNK];
	long long all = 0;
	ssize_t n;

	while ((n = read(from, bytes, sizeof bytes)) > 0)
		all += n;
	return all;
}

static double
run(struct contender *c, const char *self, const char *retry)
{
	int outer[2], told[2], status;
	double began = now();
	long peak = 0;

	make_pipe(outer);
	make_pipe(told);
	if (c->option == NULL)
		start_cat(c, self, outer[1], told[1]);
	else
		start_retry(c, self, retry, outer[1], told[1]);
	close(outer[1]);
	close(told[1]);
	if (drain(outer[0]) != (long long)WRITES * CHUNK)
		errx(1, "%s: not all of it came", c->name);
	while (wait(&status) != -1)
		if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
			errx(1, "%s: status %#x", c->name, (unsigned)status);
	began = now() - began;
	if (read(told[0], &peak, sizeof peak) == sizeof peak && peak > c->peak)
		c->peak = peak;
	close(outer[0]);
	close(told[0]);
	return began;
}

static void
print(const struct contender *c, const struct contender *cat, size_t rounds)
{
	double times[ROUNDS], ratios[ROUNDS];

	for (size_t i = 0; i < rounds; i++) {
		times[i] = c->times[i];
		ratios[i] = c->times[i] / cat->times[i];
	}
	printf("%s\t%.0f\t%.3f\t%ld\n", c->name, median(times, rounds),
	    median(ratios, rounds), c->option == NULL ? 0 : c->peak);
}

int
main(int argc, char **argv)
{
	const char *self = "/proc/self/exe";
	const struct contender *cat = NULL;
	size_t rounds;

	if (argc == 4 && strcmp(argv[1], "write") == 0)
		return write_text(strcmp(argv[2], "lines") == 0, atoi(argv[3]));
	rounds = argc == 3 ? strtoul(argv[1], NULL, 10) : 0;
	if (rounds == 0 || rounds > ROUNDS)
		errx(2, "usage: relay ROUNDS RETRY");
	self = realpath(self, NULL); /* retry's own is another */
	for (size_t i = 0; i < rounds; i++)
		for (size_t n = 0; n < COUNT; n++) {
			struct contender *c = &contenders[(n + i) % COUNT];

			c->times[i] = run(c, self, argv[2]);
		}
	for (size_t n = 0; n < COUNT; n++) {
		if (contenders[n].option == NULL)
			cat = &contenders[n];
		print(&contenders[n], cat, rounds);
	}
	return 0;
}
