/*
 * held: what it costs that --hold-stdout keeps what a command writes until it
 * has ended. A gigabyte goes from a writer into a file, by way of retry or of
 * the shell's >, and from there, by way of retry or of cat, into another file
 * or a pipe to us.
 *
 *     held ROUNDS RETRY
 *
 * Prints for each contender: name, median time in microseconds, the median over
 * the rounds of its time divided by that of the cat to the same place, and its
 * peak memory in kB. Each runs once a round, so that what disturbs one round
 * disturbs all of them. The files are made in TMPDIR.
 *
 *     held write
 *
 * is the writer.
 */
#include <err.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "bench.h"

enum { ROUNDS = 99 };

#define ALL ((long long)WRITES * CHUNK)

/* Between two looks at how much memory it has taken. */
enum { LOOK = 5 };

static struct contender {
	const char *name;
	bool held, piped; /* cat, a file */
	double times[ROUNDS];
	long peak;
} contenders[] = {
	{ .name = "cat" },
	{ .name = "held", .held = true },
	{ .name = "cat-to-pipe", .piped = true },
	{ .name = "held-to-pipe", .held = true, .piped = true },
};

enum { COUNT = sizeof contenders / sizeof contenders[0] };

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

/* Starts a program with these descriptors; -1: ours. */
static pid_t
start(int in, int out, const char *const argv[])
{
	pid_t child = fork();

	if (child == -1)
		err(1, "fork");
	if (child != 0)
		return child;
	if ((in != -1 && dup2(in, STDIN_FILENO) == -1) ||
	    (out != -1 && dup2(out, STDOUT_FILENO) == -1))
		err(1, "dup2");
	execvp(argv[0], (char **)(uintptr_t)argv);
	err(127, "%s", argv[0]);
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

/* The last process of a contender, which writes to out. */
static pid_t
begin(struct contender *c, const char *self, const char *retry, int out)
{
	const char *const writer[] = { self, "write", NULL };
	const char *const cat[] = { "cat", NULL };
	const char *const held[] = { retry, "-O", "-n", "1", self, "write",
		NULL };
	pid_t last;
	int file;

	if (c->held)
		return start(-1, out, held);
	file = make_file();
	await(start(-1, file, writer), c);
	if (lseek(file, 0, SEEK_SET) == -1)
		err(1, "lseek");
	last = start(file, out, cat);
	close(file); /* and cat's is the last of it, as retry's is there */
	return last;
}

static double
run_to_file(struct contender *c, const char *self, const char *retry)
{
	int out = make_file();
	double began = now(), took;
	struct stat stat;

	await(begin(c, self, retry, out), c);
	took = now() - began;
	if (fstat(out, &stat) == -1 || stat.st_size != ALL)
		errx(1, "%s: not all of it came", c->name);
	close(out);
	return took;
}

static double
run_to_pipe(struct contender *c, const char *self, const char *retry)
{
	int ends[2];
	double began = now();
	pid_t last;

	if (pipe2(ends, O_CLOEXEC) == -1)
		err(1, "pipe2");
	last = begin(c, self, retry, ends[1]);
	close(ends[1]);
	drain(ends[0], last, c);
	await(last, c);
	close(ends[0]);
	return now() - began;
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
	    median(ratios, rounds), c->peak);
}

int
main(int argc, char **argv)
{
	const char *self = "/proc/self/exe";
	size_t rounds;

	if (argc == 2 && strcmp(argv[1], "write") == 0)
		return write_all();
	rounds = argc == 3 ? strtoul(argv[1], NULL, 10) : 0;
	if (rounds == 0 || rounds > ROUNDS)
		errx(2, "usage: held ROUNDS RETRY");
	self = realpath(self, NULL); /* retry's own is another */
	for (size_t i = 0; i < rounds; i++)
		for (size_t n = 0; n < COUNT; n++) {
			struct contender *c = &contenders[(n + i) % COUNT];

			c->times[i] = c->piped ? run_to_pipe(c, self, argv[2])
					       : run_to_file(c, self, argv[2]);
		}
	for (size_t n = 0; n < COUNT; n++)
		print(&contenders[n], &contenders[contenders[n].piped ? 2 : 0],
		    rounds);
	return 0;
}
