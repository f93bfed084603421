/*
 * driver: storms with real processes, one after the other.
 *
 *     driver RETRY CLIENT DIRECTORY [SCENARIO [VARIANT]]
 *
 * SCENARIO and VARIANT are names of scenario.c, or numbers: of scenarios from
 * 0, of variants from 1. Drills are run only where they are named. Prints a
 * table of totals for each scenario, and writes the totals into the file
 * DIRECTORY/totals, with which a simulation can be compared. From
 * DIRECTORY/picture.txt the script picture draws what README shows. Exits with
 * 1 if a bar of the scenario is missed, or something went wrong.
 *
 * FLEET_SERVER is the program of a fleet's server. Without it, scenarios with a
 * fleet are left out; if one of them is named, that is a failure.
 */
#include <err.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "clock.h"
#include "crowd.h"
#include "figure.h"

enum { PATH = 4096 };

struct driver {
	struct programs programs;
	const char *directory;
	const char *scenario, *variant; /* NULL: all */
	FILE *totals;
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

/* Whether text is this name or number; NULL stands for all. */
static bool
chosen(const char *text, const char *name, long number)
{
	char *end;
	long typed;

	if (text == NULL || strcmp(text, name) == 0)
		return true;
	typed = strtol(text, &end, 10);
	return end != text && *end == '\0' && typed == number;
}

static double
seconds(nanos span)
{
	return span == NANOS_MAX ? (double)INFINITY
				 : (double)span / (double)NANOS_SECOND;
}

/* Warns where the machine was busy: then it was slow, not the server. */
static void
print_cost(const struct result *result, const struct cost *cost)
{
	const struct usage *usage = &cost->usage;
	int64_t requests = result->totals.served + result->totals.wasted;
	double cores = (double)usage_cores();

	printf("%-24s %6.1fs  %6.1fs  %6.1fs  %4.1f ms  %4.0f%%  %6.0f%%\n",
	    result->variant->name, seconds(usage->elapsed),
	    seconds(cost->started), seconds(usage->cpu),
	    requests > 0 ? 1e3 * seconds(usage->cpu) / (double)requests : 0,
	    100 * seconds(usage->cpu) / seconds(usage->elapsed) / cores,
	    100 * usage->busiest);
}

static void
print_costs(const struct runs *runs)
{
	printf("\n%-24s %7s  %7s  %7s  %7s  %5s  %7s\n", "", "", "last", "CPU",
	    "CPU a", "whole", "busiest");
	printf("%-24s %7s  %7s  %7s  %7s  %5s  %7s\n", "the machine", "time",
	    "started", "time", "request", "run", "second");
	for (size_t i = 0; i < runs->count; i++)
		print_cost(&runs->results[i], &runs->costs[i]);
}

static void
miss(struct driver *driver, const struct result *result, const char *what,
    double value, double most)
{
	printf("MISSED: %s: %s %.4g, at most %.4g\n", result->variant->name,
	    what, value, most);
	driver->failed = true;
}

static void
complain(struct driver *driver, const struct result *result, const char *what)
{
	printf("WRONG: %s: %s\n", result->variant->name, what);
	driver->failed = true;
}

/* What must not happen in any storm. */
static void
check(
    struct driver *driver, const struct result *result, const struct cost *cost)
{
	const struct totals *totals = &result->totals;
	int64_t more = totals->clients - totals->lost - totals->served;
	bool exited = WIFEXITED(cost->odd_status);
	char text[128];

	snprintf(text, sizeof text, "%" PRId64 " ended with %s %d", cost->odd,
	    exited ? "status" : "signal",
	    exited ? WEXITSTATUS(cost->odd_status)
		   : WTERMSIG(cost->odd_status));
	if (cost->odd > 0)
		complain(driver, result, text);
	snprintf(text, sizeof text,
	    "%" PRId64 " more ended with status 0 than "
	    "were served",
	    more);
	if (more > 0)
		complain(driver, result, text);
	if (result->variant->fault != REDIS_SOUND && cost->failed == 0)
		complain(driver, result, "the fleet's server did not fail");
}

/* What was published for simulated clients, and for the same settings. */
static void
judge_near(struct driver *driver, const struct result *result, const char *what,
    double value, double published)
{
	double most = published * SCENARIO_NEAR / 100;

	if (value >= published - most && value <= published + most)
		return;
	printf("MISSED: %s: %s %.4g, published %.4g\n", result->variant->name,
	    what, value, published);
	driver->failed = true;
}

/* 0: there is no bar. */
static void
judge_count(struct driver *driver, const struct result *result,
    const char *what, int64_t value, int64_t most)
{
	if (most > 0 && value > most)
		miss(driver, result, what, (double)value, (double)most);
}

/* most: in percent of the physical limit. */
static void
judge_time(struct driver *driver, const struct scenario *scenario,
    const struct result *result, const char *what, nanos value, int64_t most)
{
	nanos limit = scenario_limit(scenario) * most / 100;

	if (most > 0 && value > limit)
		miss(driver, result, what, seconds(value), seconds(limit));
}

/* Prints the retries of the variant beside those of another one. */
static void
judge_beside(struct driver *driver, const struct result *result,
    const struct result *other)
{
	int64_t retries = result->totals.retries;
	int64_t percent = result->variant->most_beside;
	int64_t most = other->totals.retries * percent / 100;

	printf("%s: %" PRId64 " retries wasted, at most %" PRId64 " (%" PRId64
	       " %% of %s)\n",
	    result->variant->name, retries, most, percent,
	    other->variant->name);
	if (retries > most)
		miss(driver, result, "retries wasted", (double)retries,
		    (double)most);
}

static void
judge_beside_all(
    struct driver *driver, const struct runs *runs, const struct result *result)
{
	const char *beside = result->variant->beside;

	if (beside == NULL)
		return;
	for (size_t i = 0; i < runs->count; i++)
		if (strcmp(runs->results[i].variant->name, beside) == 0) {
			judge_beside(driver, result, &runs->results[i]);
			return;
		}
	printf("%s: its retries are not compared, as %s was not run\n",
	    result->variant->name, beside);
}

/* The bars of a variant, and what must not happen in any storm. */
static void
judge(struct driver *driver, const struct runs *runs,
    const struct result *result, const struct cost *cost)
{
	const struct scenario *scenario = runs->scenario;
	const struct variant *variant = result->variant;
	const struct totals *totals = &result->totals;

	judge_count(
	    driver, result, "wasted", totals->wasted, variant->most_wasted);
	judge_count(driver, result, "retries wasted", result->totals.retries,
	    variant->most_retries);
	judge_beside_all(driver, runs, result);
	judge_time(driver, scenario, result, "p99 in seconds", totals->p99,
	    variant->most_p99);
	judge_time(driver, scenario, result, "all served after seconds",
	    totals->max, variant->most_max);
	if (variant->near) {
		judge_near(driver, result, "wasted", (double)totals->wasted,
		    (double)variant->published_wasted);
		judge_near(driver, result, "p99 in seconds",
		    seconds(totals->p99), seconds(variant->published_p99));
	}
	if (cost->late > 0 && variant->until == 0)
		miss(
		    driver, result, "not ended in time", (double)cost->late, 0);
	check(driver, result, cost);
}

static void
run_variant(
    struct driver *driver, struct runs *runs, const struct variant *variant)
{
	struct tally *tally = &runs->tallies[runs->count];
	struct result *result = &runs->results[runs->count];
	struct cost *cost = &runs->costs[runs->count];

	tally_start(tally, runs->scenario->width);
	*cost = crowd_run(&driver->programs, runs->scenario, variant, tally);
	if (cost->signal != 0) {
		raise(cost->signal);
		errx(1, "%s: cut short", variant->name);
	}
	result->variant = variant;
	result->tally = tally;
	result->totals = tally_sum(
	    tally, runs->scenario->capacity.end, scenario_end(runs->scenario));
	result->totals.cpu = cost->usage.cpu;
	result->totals.others = cost->usage.others;
	result->totals.cores = usage_cores();
	result->questions = cost->questions;
	result->redis = cost->redis;
	tally_put(driver->totals, runs->scenario->name, variant->name,
	    &result->totals);
	/* A storm that is cut short leaves the totals of earlier ones. */
	fflush(driver->totals);
	runs->count++;
}

/* When the fleet's server failed. */
static void
print_faults(const struct runs *runs)
{
	char room[FIGURE_ROOM];

	for (size_t i = 0; i < runs->count; i++) {
		const struct cost *cost = &runs->costs[i];

		if (cost->failed == 0)
			continue;
		printf("%s: the fleet's server failed after %s",
		    runs->results[i].variant->name,
		    figure_time(room, cost->failed));
		if (cost->back > 0)
			printf(", for %s",
			    figure_time(room, cost->back - cost->failed));
		puts("");
	}
}

/* What the script picture draws: only with all variants that have to be in it.
 */
static void
write_picture(const struct driver *driver, const struct runs *runs)
{
	const struct scenario *scenario = runs->scenario;
	const struct capacity *capacity = &scenario->capacity;
	char path[PATH], p99[FIGURE_ROOM];
	size_t missing = 0;
	FILE *out;

	for (const struct variant *v = scenario->variants; v->name != NULL; v++)
		missing += v->drawn != NULL;
	if (missing == 0)
		return;
	for (size_t i = 0; i < runs->count; i++)
		missing -= runs->results[i].variant->drawn != NULL;
	if (missing > 0)
		return;
	snprintf(path, sizeof path, "%s/picture.txt", driver->directory);
	out = fopen(path, "we");
	if (out == NULL)
		err(1, "%s", path);
	fprintf(out, "title\t%s\nbin\t%g\nrate\t%" PRId64 "\noutage\t%g\t%g\n",
	    scenario->title, seconds(scenario->width), capacity->rate,
	    seconds(capacity->begin), seconds(capacity->end));
	for (size_t i = 0; i < runs->count; i++) {
		const struct result *result = &runs->results[i];
		const struct tally *tally = result->tally;

		if (result->variant->drawn == NULL)
			continue;
		fprintf(out, "run\t%s\t%" PRId64 "\t%s\n",
		    result->variant->drawn, result->totals.wasted,
		    figure_time(p99, result->totals.p99));
		for (size_t bin = 0; bin < tally->count; bin++)
			fprintf(out, "requests\t%" PRId64 "\t%" PRId64 "\n",
			    tally->bins[bin].served, tally->bins[bin].rejected);
	}
	if (fclose(out) == EOF)
		err(1, "%s", path);
}

static void
show(struct driver *driver, const struct runs *runs)
{
	puts("");
	printf("%s\n\n", runs->scenario->title);
	figure_table(stdout, runs->scenario, runs->results, runs->count);
	print_faults(runs);
	print_costs(runs);
	write_picture(driver, runs);
	for (size_t i = 0; i < runs->count; i++)
		judge(driver, runs, &runs->results[i], &runs->costs[i]);
	fflush(stdout);
}

static bool
needs_fleet(const struct scenario *scenario)
{
	for (const struct variant *v = scenario->variants; v->name != NULL; v++)
		if (scenario_has_fleet(v))
			return true;
	return false;
}

static bool
run_scenario(struct driver *driver, const struct scenario *scenario)
{
	static struct runs runs;
	long number = 0;

	if (driver->programs.redis == NULL && needs_fleet(scenario)) {
		printf("\n%s: no redis-server or valkey-server here, left "
		       "out\n",
		    scenario->title);
		if (driver->scenario != NULL)
			driver->failed = true;
		return true;
	}
	runs.scenario = scenario;
	runs.count = 0;
	for (const struct variant *v = scenario->variants; v->name != NULL;
	     v++) {
		if (!chosen(driver->variant, v->name, ++number) || v->simulated)
			continue;
		fprintf(stderr, "%s: %s\n", scenario->name, v->name);
		run_variant(driver, &runs, v);
	}
	if (runs.count > 0)
		show(driver, &runs);
	for (size_t i = 0; i < runs.count; i++)
		tally_end(&runs.tallies[i]);
	return runs.count > 0;
}

/* A run of all storms begins the file anew. */
static FILE *
open_totals(const char *directory, bool all)
{
	char path[PATH];
	FILE *file;

	snprintf(path, sizeof path, "%s/totals", directory);
	file = fopen(path, all ? "we" : "ae");
	if (file == NULL)
		err(1, "%s", path);
	return file;
}

int
main(int argc, char **argv)
{
	struct driver driver = { .failed = false };
	const char *redis = getenv("FLEET_SERVER");
	bool any = false;

	if (argc < 4 || argc > 6)
		errx(1, "RETRY CLIENT DIRECTORY [SCENARIO [VARIANT]]");
	if (redis != NULL && redis[0] == '\0')
		redis = NULL;
	driver.programs = (struct programs){ argv[1], argv[2], redis };
	driver.directory = argv[3];
	driver.scenario = argc > 4 ? argv[4] : NULL;
	driver.variant = argc > 5 ? argv[5] : NULL;
	driver.totals = open_totals(driver.directory, driver.scenario == NULL);
	for (long i = 0; scenarios[i].name != NULL; i++)
		if (chosen(driver.scenario, scenarios[i].name, i))
			any = run_scenario(&driver, &scenarios[i]) || any;
	for (const struct scenario *at = scenario_drills;
	     driver.scenario != NULL && at->name != NULL; at++)
		if (strcmp(driver.scenario, at->name) == 0)
			any = run_scenario(&driver, at);
	if (!any)
		errx(1, "no such storm");
	return driver.failed;
}
