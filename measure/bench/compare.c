/*
 * compare: whole processes side by side.
 *
 *     compare ROUNDS NAME COMMAND [ARG]... [-- NAME COMMAND [ARG]...]...
 *
 * Runs every contender once a round, so that what disturbs one round disturbs
 * all of them, and prints for each: name, median time in microseconds, the
 * medians over the rounds of its time divided by the first contender's, and of
 * its time less the first contender's, and the median of its page faults, those
 * of its children included.
 */
#include <err.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { CONTENDERS = 16, ROUNDS = 1000, WARM_UP = 3 };

extern char **environ;

static struct contender {
	char *name;
	char **argv;
	double times[ROUNDS]; /* in microseconds */
	double faults[ROUNDS];
} contenders[CONTENDERS];

static int
ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double
median(const double *values, size_t count)
{
	static double sorted[ROUNDS];

	memcpy(sorted, values, count * sizeof *values);
	qsort(sorted, count, sizeof *sorted, ascending);
	return (sorted[(count - 1) / 2] + sorted[count / 2]) / 2;
}

static void
run(struct contender *contender, size_t round)
{
	char **argv = contender->argv;
	posix_spawn_file_actions_t quiet;
	struct timespec began, ended;
	struct rusage usage;
	pid_t child;
	int status, error;

	posix_spawn_file_actions_init(&quiet);
	for (int fd = 0; fd <= 2; fd++)
		posix_spawn_file_actions_addopen(
		    &quiet, fd, "/dev/null", O_RDWR, 0);
	clock_gettime(CLOCK_MONOTONIC, &began);
	error = posix_spawn(&child, argv[0], &quiet, NULL, argv, environ);
	if (error != 0)
		errx(1, "%s: %s", argv[0], strerror(error));
	if (wait4(child, &status, 0, &usage) == -1)
		err(1, "wait4");
	clock_gettime(CLOCK_MONOTONIC, &ended);
	if (!WIFEXITED(status) || WEXITSTATUS(status) > 1)
		errx(1, "%s: status %#x", argv[0], (unsigned)status);
	contender->faults[round] = (double)usage.ru_minflt;
	contender->times[round] = (double)(ended.tv_sec - began.tv_sec) * 1e6 +
	    (double)(ended.tv_nsec - began.tv_nsec) / 1e3;
	posix_spawn_file_actions_destroy(&quiet);
}

int
main(int argc, char **argv)
{
	size_t rounds = argc > 1 ? strtoul(argv[1], NULL, 10) : 0, count = 0;

	for (int i = 2; i < argc; i++) {
		if (count == CONTENDERS || i + 1 == argc)
			errx(2, "too many contenders, or one without command");
		contenders[count].name = argv[i];
		contenders[count++].argv = &argv[i + 1];
		while (i < argc && strcmp(argv[i], "--") != 0)
			i++;
		argv[i] = NULL;
	}
	if (rounds == 0 || rounds > ROUNDS || count == 0)
		errx(2, "usage: compare ROUNDS NAME COMMAND... [-- ...]");
	for (size_t i = 0; i < WARM_UP * count; i++)
		run(&contenders[i % count], 0);
	for (size_t i = 0; i < rounds; i++)
		for (size_t c = 0; c < count; c++)
			/* nobody is always the one after the slowest */
			run(&contenders[(c + i) % count], i);
	for (size_t c = 0; c < count; c++) {
		static double ratios[ROUNDS], more[ROUNDS];
		const struct contender *own = &contenders[c];

		for (size_t i = 0; i < rounds; i++) {
			ratios[i] = own->times[i] / contenders[0].times[i];
			more[i] = own->times[i] - contenders[0].times[i];
		}
		printf("%s\t%.0f\t%.3f\t%.1f\t%.0f\n", own->name,
		    median(own->times, rounds), median(ratios, rounds),
		    median(more, rounds), median(own->faults, rounds));
	}
	return 0;
}
