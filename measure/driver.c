/*
 * driver: storms with real processes, one after the other.
 *
 *     driver RETRY CLIENT DIRECTORY [SCENARIO [VARIANT]]
 *
 * SCENARIO and VARIANT are names of scenario.c. Prints a table of totals for
 * each scenario, and writes the totals into the file DIRECTORY/totals, with
 * which a simulation can be compared. From DIRECTORY/picture.txt the script
 * picture draws what README shows. Exits with 1 if a bar of the scenario is
 * missed, or something went wrong.
 *
 * TIMES is how often each variant is run; the totals are those of all its runs.
 * FLEET_SERVER is the program of a fleet's server. Without it, scenarios with a
 * fleet are left out; if one of them is named, that is a failure.
 */
#include <err.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "crowd.h"
#include "figure.h"

enum { PATH = 4096 };

struct driver {
	struct programs programs;
	const char *directory;
	const char *scenario, *variant; /* NULL: all */
	FILE *totals;
	long times; /* each variant is run */
	bool failed;
};

/* The runs of a scenario. */
struct runs {
	const struct scenario *scenario;
	struct tally tallies[SCENARIO_VARIANTS];
	struct result results[SCENARIO_VARIANTS];
	struct cost costs[SCENARIO_VARIANTS];
	size_t count;
};

/* Whether nothing has happened that must not happen in any storm. */
static bool
check_cost(const struct result *result, const struct cost *cost)
{
	const struct variant *variant = result->variant;
	const struct totals *totals = &result->totals;
	const struct {
		int64_t count;
		const char *what;
	} wrongs[] = {
		{ variant->until == 0 ? cost->late : 0, "not ended in time" },
		{ cost->odd, "ended neither with 0 nor by giving up" },
		{ totals->clients - totals->lost - totals->served,
		    "more ended with status 0 than were served" },
		{ variant->fault != REDIS_SOUND && cost->failed == 0,
		    "server of a fleet that did not fail" },
		{ (int64_t)cost->excess,
		    "retries failed that the budget does not allow" },
	};
	bool well = true;

	for (size_t i = 0; i < sizeof wrongs / sizeof *wrongs; i++)
		if (wrongs[i].count > 0) {
			printf("WRONG: %s: %" PRId64 " %s\n", variant->name,
			    wrongs[i].count, wrongs[i].what);
			well = false;
		}
	if (cost->odd > 0)
		printf("WRONG: %s: the last of them has status %#x of wait\n",
		    variant->name, (unsigned)cost->odd_status);
	return well;
}

/* Returns the file of that name in the directory. */
static FILE *
open_file(const struct driver *driver, const char *name, const char *mode)
{
	char path[PATH];
	FILE *file;

	snprintf(path, sizeof path, "%s/%s", driver->directory, name);
	file = fopen(path, mode);
	if (file == NULL)
		err(1, "%s", path);
	return file;
}

/* What the script picture draws: only with all variants that have to be in it.
 */
static void
write_picture(const struct driver *driver, const struct runs *runs)
{
	const struct scenario *scenario = runs->scenario;
	const struct capacity *capacity = &scenario->capacity;
	size_t wanted = 0, drawn = 0;
	FILE *out;

	for (const struct variant *v = scenario->variants; v->name != NULL; v++)
		wanted += v->drawn != NULL;
	for (size_t i = 0; i < runs->count; i++)
		drawn += runs->results[i].variant->drawn != NULL;
	if (drawn == 0 || drawn < wanted)
		return;
	out = open_file(driver, "picture.txt", "we");
	fprintf(out, "title\t%s\nbin\t%g\nrate\t%" PRId64 "\noutage\t%g\t%g\n",
	    scenario->title, figure_seconds(scenario->width), capacity->rate,
	    figure_seconds(capacity->begin), figure_seconds(capacity->end));
	for (size_t i = 0; i < runs->count; i++) {
		const struct result *result = &runs->results[i];
		const struct tally *tally = &runs->tallies[i];

		if (result->variant->drawn == NULL)
			continue;
		fprintf(out, "run\t%s\t%" PRId64 "\t%s\n",
		    result->variant->drawn, result->totals.wasted,
		    figure_time(result->totals.p99));
		for (size_t bin = 0; bin < tally->count; bin++)
			fprintf(out, "requests\t%" PRId64 "\t%" PRId64 "\n",
			    tally->bins[bin].served, tally->bins[bin].rejected);
	}
	if (fclose(out) == EOF)
		err(1, "picture.txt");
}

/* Whether there were any. */
static bool
run_scenario(struct driver *driver, const struct scenario *scenario)
{
	static struct runs runs;
	const struct variant *variant;
	bool fleet = false;

	for (const struct variant *v = scenario->variants; v->name != NULL; v++)
		fleet = fleet || scenario_has_fleet(v);
	if (fleet && driver->programs.redis == NULL) {
		printf("\n%s: no redis-server or valkey-server here, left "
		       "out\n",
		    scenario->title);
		if (driver->scenario != NULL)
			driver->failed = true;
		return true;
	}

	runs.scenario = scenario;
	runs.count = 0;
	for (variant = scenario->variants; variant->name != NULL; variant++) {
		struct tally *tally = &runs.tallies[runs.count];
		struct result *result = &runs.results[runs.count];
		struct cost *cost = &runs.costs[runs.count];

		if (driver->variant != NULL &&
		    strcmp(driver->variant, variant->name) != 0)
			continue;
		*cost = (struct cost){ .signal = 0 };
		tally_start(tally, scenario->width);
		for (long n = 0; n < driver->times; n++) {
			fprintf(
			    stderr, "%s: %s\n", scenario->name, variant->name);
			crowd_run(
			    &driver->programs, scenario, variant, tally, cost);
			if (cost->signal != 0) {
				raise(cost->signal);
				errx(1, "%s: cut short", variant->name);
			}
		}
		*result = (struct result){ .scenario = scenario,
			.variant = variant,
			.totals = tally_sum(tally, scenario->capacity.end),
			.asked = { .questions = cost->questions,
			    .cpu = cost->redis } };
		tally_put(driver->totals, scenario->name, variant->name,
		    &result->totals);
		/* A storm that is cut short leaves the totals of earlier ones.
		 */
		fflush(driver->totals);
		runs.count++;
	}
	if (runs.count == 0)
		return false;

	printf("\n%s\n\n", scenario->title);
	figure_table(runs.results, runs.count);
	for (size_t i = 0; i < runs.count; i++) {
		const struct cost *cost = &runs.costs[i];

		/* Where the machine was busy, it was slow, not the server. */
		printf("%s: the last client began after %s; the processors "
		       "were busy with it for %.0f %%",
		    runs.results[i].variant->name, figure_time(cost->started),
		    100 * (double)cost->cpu / (double)cost->elapsed /
			(double)sysconf(_SC_NPROCESSORS_ONLN));
		if (cost->failed > 0)
			printf("; the fleet's server failed after %s",
			    figure_time(cost->failed));
		if (cost->back > 0)
			printf(
			    ", for %s", figure_time(cost->back - cost->failed));
		if (cost->killed + cost->stopped > 0)
			printf("; %" PRId64 " were killed, and %" PRId64
			       " stopped",
			    cost->killed, cost->stopped);
		puts("");
	}
	write_picture(driver, &runs);
	for (size_t i = 0; i < runs.count; i++) {
		bool good = figure_judge(runs.results, i + 1);

		if (!check_cost(&runs.results[i], &runs.costs[i]) || !good)
			driver->failed = true;
		tally_end(&runs.tallies[i]);
	}
	fflush(stdout);
	return true;
}

int
main(int argc, char **argv)
{
	struct driver driver = { .failed = false };
	const char *redis = getenv("FLEET_SERVER"), *times = getenv("TIMES");
	bool any = false;

	if (argc < 4 || argc > 6)
		errx(1, "RETRY CLIENT DIRECTORY [SCENARIO [VARIANT]]");
	if (redis != NULL && redis[0] == '\0')
		redis = NULL;
	driver.programs = (struct programs){ argv[1], argv[2], redis };
	driver.directory = argv[3];
	driver.times = times != NULL && times[0] != '\0' ? atol(times) : 1;
	driver.scenario = argc > 4 ? argv[4] : NULL;
	driver.variant = argc > 5 ? argv[5] : NULL;
	/* A run of all storms begins the file anew. */
	driver.totals =
	    open_file(&driver, "totals", driver.scenario == NULL ? "we" : "ae");
	for (const struct scenario *at = scenarios; at->name != NULL; at++)
		if (driver.scenario == NULL ||
		    strcmp(driver.scenario, at->name) == 0)
			any = run_scenario(&driver, at) || any;
	if (!any)
		errx(1, "no such storm");
	return driver.failed;
}
