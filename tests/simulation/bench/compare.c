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

#define CONTENDERS 16
#define WARM_UP 3

extern char **environ;

struct contender {
	char *name;
	char **argv;
	double *times; /* of each round, in microseconds */
	double *faults; /* of each round */
};

/* Microseconds on a clock that never steps. */
static double
now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec * 1e6 + (double)ts.tv_nsec / 1e3;
}

static int
ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double
median(const double *values, size_t count)
{
	double *sorted = malloc(count * sizeof *sorted), middle;

	if (sorted == NULL)
		err(1, "malloc");
	memcpy(sorted, values, count * sizeof *sorted);
	qsort(sorted, count, sizeof *sorted, ascending);
	middle = (sorted[(count - 1) / 2] + sorted[count / 2]) / 2;
	free(sorted);
	return middle;
}

static double
run(char **argv, const posix_spawn_file_actions_t *quiet, double *faults)
{
	double began = now();
	struct rusage usage;
	pid_t child;
	int status;
	int error = posix_spawn(&child, argv[0], quiet, NULL, argv, environ);

	if (error != 0)
		errx(1, "%s: %s", argv[0], strerror(error));
	if (wait4(child, &status, 0, &usage) == -1)
		err(1, "wait4");
	if (!WIFEXITED(status) || WEXITSTATUS(status) > 1)
		errx(1, "%s: status %#x", argv[0], (unsigned)status);
	*faults = (double)usage.ru_minflt;
	return now() - began;
}

static size_t
contenders_parse(char **argv, size_t rounds, struct contender *contenders)
{
	size_t count = 0;

	while (*argv != NULL) {
		struct contender *c = &contenders[count++];

		if (count > CONTENDERS || argv[1] == NULL)
			errx(2, "too many contenders, or one without command");
		c->name = argv[0];
		c->argv = argv + 1;
		c->times = calloc(rounds, sizeof *c->times);
		c->faults = calloc(rounds, sizeof *c->faults);
		if (c->times == NULL || c->faults == NULL)
			err(1, "calloc");
		while (*argv != NULL && strcmp(*argv, "--") != 0)
			argv++;
		if (*argv != NULL)
			*argv++ = NULL;
	}
	return count;
}

static void
print(const struct contender *c, const struct contender *first, size_t rounds)
{
	double *ratios = malloc(rounds * sizeof *ratios);
	double *more = malloc(rounds * sizeof *more);

	if (ratios == NULL || more == NULL)
		err(1, "malloc");
	for (size_t i = 0; i < rounds; i++) {
		ratios[i] = c->times[i] / first->times[i];
		more[i] = c->times[i] - first->times[i];
	}
	printf("%s\t%.0f\t%.3f\t%.1f\t%.0f\n", c->name,
	    median(c->times, rounds), median(ratios, rounds),
	    median(more, rounds), median(c->faults, rounds));
	free(ratios);
	free(more);
}

int
main(int argc, char **argv)
{
	struct contender contenders[CONTENDERS];
	size_t rounds = argc > 1 ? strtoul(argv[1], NULL, 10) : 0, count;
	posix_spawn_file_actions_t quiet;

	if (rounds == 0)
		errx(2, "usage: compare ROUNDS NAME COMMAND... [-- ...]");
	count = contenders_parse(argv + 2, rounds, contenders);
	posix_spawn_file_actions_init(&quiet);
	for (int fd = 0; fd <= 2; fd++)
		posix_spawn_file_actions_addopen(
		    &quiet, fd, "/dev/null", O_RDWR, 0);
	for (size_t i = 0; i < WARM_UP * count; i++)
		run(contenders[i % count].argv, &quiet,
		    contenders[i % count].faults);
	for (size_t i = 0; i < rounds; i++)
		for (size_t c = 0; c < count; c++) {
			/* nobody is always the one after the slowest */
			struct contender *next = &contenders[(c + i) % count];

			next->times[i] =
			    run(next->argv, &quiet, &next->faults[i]);
		}
	for (size_t c = 0; c < count; c++)
		print(&contenders[c], &contenders[0], rounds);
	return 0;
}
