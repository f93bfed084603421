/*
 * gigabyte: what it costs that a gigabyte goes by way of retry, beside cat.
 *
 *     gigabyte PART ROUNDS RETRY
 *
 *     relay   from a writer's standard error, at which retry looks, or a pipe
 *             and cat, into a pipe to us
 *     held    from a writer into a file, which retry keeps until the writer has
 *             ended, or the shell; and from there into another file or a pipe
 *     replay  from a writer through a pipe into a file, and from there into two
 *             commands, of which the first fails
 *
 * Prints for each contender: name, median time in microseconds, the median over
 * the rounds of its time divided by that of the cat before it, and the peak
 * memory in kB of what stands there. Each runs once a round, so that what
 * disturbs one round disturbs all of them. The files are made in TMPDIR.
 *
 *     gigabyte write dots|line|lines FD
 *     gigabyte read
 *
 * are the writer, and a command that reads it all and fails at first.
 */
#include <err.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "bench.h"

/* A gigabyte is so many bytes, so many times. */
enum { CHUNK = 65536, WRITES = 1 << 14, CHUNKS = 64 };

#define ALL ((long long)WRITES * CHUNK)

enum { ROUNDS = 99 };

/* Milliseconds between two looks at how much memory it has taken. */
enum { LOOK = 5 };

#define LITERAL "stderr:unreachable"
#define WORDS "stderr:(timed out|refused|reset|unreachable|temporarily) [a-z]+"

/* clang-format off */
#define RELAY(suffix, text) \
	RUN("relay", "cat" suffix, text, NULL, false), \
	RUN("relay", "literal" suffix, text, "--retry-on=" LITERAL, false), \
	RUN("relay", "words" suffix, text, "--retry-on=" WORDS, false), \
	RUN("relay", "net" suffix, text, "--preset=net", false), \
	RUN("relay", "git" suffix, text, "--preset=git", false)
/* clang-format on */
#define RUN(...) \
	{ \
		__VA_ARGS__, { 0 }, 0 \
	}

static struct contender {
	const char *part, *name, *text;
	const char *option; /* of retry; NULL: it is cat */
	bool filed; /* what comes goes into a file */
	double times[ROUNDS];
	long peak;
} contenders[] = {
	RELAY("", "lines"),
	RELAY("-one-line", "line"),
	RUN("held", "cat", "dots", NULL, true),
	RUN("held", "held", "dots", "-O", true),
	RUN("held", "cat-to-pipe", "dots", NULL, false),
	RUN("held", "held-to-pipe", "dots", "-O", false),
	RUN("replay", "cat", "dots", NULL, false),
	RUN("replay", "replay", "dots", "-I", false),
};

enum { COUNT = sizeof contenders / sizeof contenders[0] };

static const char *self, *retry;

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

static int
write_all(const char *kind, int fd)
{
	enum { LONGEST = 256 };
	static char text[CHUNKS * CHUNK];
	size_t kinds = sizeof samples / sizeof samples[0], length = 0;
	bool dots = strcmp(kind, "dots") == 0;
	bool lines = strcmp(kind, "lines") == 0;
	unsigned number = 1;

	memset(text, '.', dots ? CHUNK : sizeof text);
	while (!dots && length + LONGEST < sizeof text)
		for (const char *c = samples[number % kinds]; *c != '\0'; c++) {
			number = number * 1103515245 + 12345;
			if (*c == '%')
				length += (size_t)snprintf(text + length, 8,
				    "%u", number / 65536 % 1000);
			else
				text[length++] =
				    *c == '\n' && !lines ? ' ' : *c;
		}
	for (int i = 0; i < WRITES; i++)
		for (size_t at = 0; at < CHUNK;) {
			const char *chunk =
			    text + (dots ? 0 : i % CHUNKS * CHUNK);
			ssize_t put = write(fd, chunk + at, CHUNK - at);

			if (put == -1)
				err(1, "write");
			at += (size_t)put;
		}
	return 0;
}

static int
read_all(void)
{
	static char bytes[CHUNK];
	const char *number = getenv("RETRY_ATTEMPT");
	long long all = 0;
	ssize_t n;

	while ((n = read(0, bytes, sizeof bytes)) > 0)
		all += n;
	if (all != ALL)
		errx(2, "not all of it came");
	return number != NULL && strcmp(number, "1") == 0;
}

static int
make_file(void)
{
	const char *directory = getenv("TMPDIR");
	int fd = open(directory == NULL ? "/tmp" : directory,
	    O_TMPFILE | O_RDWR | O_CLOEXEC, S_IRUSR | S_IWUSR);

	if (fd == -1)
		err(1, "TMPDIR");
	return fd;
}

static void
make_pipe(int ends[2])
{
	if (pipe2(ends, O_CLOEXEC) == -1)
		err(1, "pipe2");
}

/* Starts a program with these descriptors; -1: ours. */
static pid_t
start(int in, int out, int error, const char *const argv[])
{
	const int fds[] = { in, out, error };
	pid_t child = fork();

	if (child == -1)
		err(1, "fork");
	if (child != 0)
		return child;
	for (int fd = 0; fd < 3; fd++)
		if (fds[fd] != -1 && dup2(fds[fd], fd) == -1)
			err(1, "dup2");
	execvp(argv[0], (char **)(uintptr_t)argv);
	err(127, "%s", argv[0]);
}

static pid_t
start_writer(const struct contender *c, int out)
{
	return start(-1, out, -1,
	    (const char *const[]){ self, "write", c->text, "1", NULL });
}

static pid_t
start_cat(int in, int out)
{
	return start(in, out, -1, (const char *const[]){ "cat", NULL });
}

static void
look(pid_t process, struct contender *c)
{
	char path[64], line[256];
	long peak;
	FILE *status;

	snprintf(path, sizeof path, "/proc/%d/status", (int)process);
	status = fopen(path, "r");
	while (status != NULL && fgets(line, sizeof line, status) != NULL)
		if (sscanf(line, "VmHWM: %ld", &peak) == 1 && peak > c->peak)
			c->peak = peak;
	if (status != NULL)
		fclose(status);
}

/* Reads what comes, looking once in a while, and once near the end. */
static void
drain(int from, pid_t process, struct contender *c)
{
	static char bytes[CHUNK];
	long long all = 0, next = 0;
	ssize_t n;

	while ((n = read(from, bytes, sizeof bytes)) > 0) {
		all += n;
		if (all < next)
			continue;
		look(process, c);
		next = all < ALL - (1 << 20) ? ALL - (1 << 20) : ALL;
	}
	if (all != ALL)
		errx(1, "%s: not all of it came", c->name);
}

static void
await(pid_t process, struct contender *c)
{
	int pidfd = (int)syscall(SYS_pidfd_open, process, 0), status;
	struct pollfd over = { .fd = pidfd, .events = POLLIN };

	if (pidfd == -1)
		err(1, "pidfd_open");
	while (poll(&over, 1, LOOK) == 0)
		look(process, c);
	close(pidfd);
	if (waitpid(process, &status, 0) == -1 || !WIFEXITED(status) ||
	    WEXITSTATUS(status) != 0)
		errx(1, "%s: status %#x", c->name, (unsigned)status);
}

static void
run_replay(struct contender *c)
{
	const char *const argv[] = { retry, "-q", c->option, "-n", "2", "-d",
		"0", "--stdin-max", "2G", "--retry-on", "1", self, "read",
		NULL };
	int ends[2], file;
	pid_t writer;

	make_pipe(ends);
	writer = start_writer(c, ends[1]);
	close(ends[1]);
	if (c->option != NULL) {
		await(start(ends[0], -1, -1, argv), c);
	} else {
		file = make_file();
		await(start_cat(ends[0], file), c);
		for (int i = 0; i < 2; i++) {
			lseek(file, 0, SEEK_SET);
			await(start(file, -1, -1, argv + 11), c);
		}
		close(file);
	}
	close(ends[0]);
	await(writer, c);
}

/* The writer, and what stands before out. Returns the latter. */
static pid_t
begin(struct contender *c, int out, pid_t *writer)
{
	bool relay = strcmp(c->part, "relay") == 0;
	const char *const argv[] = { retry, "-n", "1", c->option, self, "write",
		c->text, relay ? "2" : "1", NULL };
	int ends[2];
	pid_t last;

	*writer = 0;
	if (c->option != NULL)
		return relay ? start(-1, -1, out, argv)
			     : start(-1, out, -1, argv);
	if (relay) {
		make_pipe(ends);
		*writer = start_writer(c, ends[1]);
		close(ends[1]);
	} else {
		ends[0] = make_file();
		await(start_writer(c, ends[0]), c);
		if (lseek(ends[0], 0, SEEK_SET) == -1)
			err(1, "lseek");
	}
	last = start_cat(ends[0], out);
	close(ends[0]); /* and cat's is the last of it, as retry's is there */
	return last;
}

static double
run(struct contender *c)
{
	double began = now();
	int ends[2] = { -1, -1 };
	struct stat stat;
	pid_t last, writer;

	if (strcmp(c->part, "replay") == 0) {
		run_replay(c);
		return now() - began;
	}
	if (c->filed)
		ends[1] = make_file();
	else
		make_pipe(ends);
	last = begin(c, ends[1], &writer);
	if (!c->filed) {
		close(ends[1]);
		drain(ends[0], last, c);
		close(ends[0]);
	}
	await(last, c);
	if (writer != 0)
		await(writer, c);
	began = now() - began;
	if (c->filed) {
		if (fstat(ends[1], &stat) == -1 || stat.st_size != ALL)
			errx(1, "%s: not all of it came", c->name);
		close(ends[1]);
	}
	return began;
}

int
main(int argc, char **argv)
{
	size_t rounds = argc == 4 ? strtoul(argv[2], NULL, 10) : 0;
	struct contender *first = contenders, *cat = NULL;
	size_t count = 0;

	if (argc == 4 && strcmp(argv[1], "write") == 0)
		return write_all(argv[2], atoi(argv[3]));
	if (argc == 2 && strcmp(argv[1], "read") == 0)
		return read_all();
	if (rounds == 0 || rounds > ROUNDS)
		errx(2, "usage: gigabyte PART ROUNDS RETRY");
	self = realpath("/proc/self/exe", NULL); /* retry's own is another */
	retry = argv[3];
	while (first < contenders + COUNT && strcmp(first->part, argv[1]) != 0)
		first++;
	while (first + count < contenders + COUNT &&
	    strcmp(first[count].part, argv[1]) == 0)
		count++;
	for (size_t i = 0; i < rounds; i++)
		for (size_t n = 0; n < count; n++) {
			struct contender *c = &first[(n + i) % count];

			c->times[i] = run(c);
		}
	for (struct contender *c = first; c < first + count; c++) {
		double ratios[ROUNDS];

		if (c->option == NULL)
			cat = c;
		for (size_t i = 0; i < rounds; i++)
			ratios[i] = c->times[i] / cat->times[i];
		printf("%s\t%.0f\t%.3f\t%ld\n", c->name,
		    median(c->times, rounds), median(ratios, rounds), c->peak);
	}
	return 0;
}
