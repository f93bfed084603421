/*
 * simulate [PART]...: the storms in virtual time. The parts, of which all but
 * the last two are the default:
 *
 *	storms	each scenario of one host, where processes and requests cost
 *		nothing
 *	agree	the same on a machine like the one that storms with processes
 *		were run on, if their totals are at hand; must agree with them
 *	growth	the crowd with more clients, and as much more capacity
 *	fleets	storms over 100 and 1,000 hosts, with a fleet's server
 *	recovery  storms over 100 hosts whose breakers recover
 *	wave	what 10,000 hosts ask that server
 *	large	a storm over 10,000 hosts
 *	tune	the breaker's recovery in other circumstances: first where it
 *		alone counts, then with the allowance of retries that there is
 *
 * Exits with 1 where they do not agree, or where a fleet misses a limit.
 */
#include <err.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "agree.h"
#include "fleets.h"
#include "figure.h"
#include "trial.h"
#include "tune.h"

/* The scenario that is simulated with so many times the clients. */
static const char larger[] = "crowd";
static const int64_t factors[] = { 10, 100, 1000 };

/* Budgets of the caller must not be used. */
static void
forget_environment(void)
{
	static const char *const names[] = { "RETRY_BUDGET",
		"RETRY_BUDGET_RATIO", "RETRY_BUDGET_MIN", "RETRY_BUDGET_WINDOW",
		"RETRY_BUDGET_DIR", "RETRY_FLEET", "RETRY_FLEET_MIN",
		"RETRY_FLEET_RATIO", "RETRY_FLEET_TIMEOUT", "RETRY_FLEET_ALONE",
		"RETRY_NESTED" };

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		unsetenv(names[i]);
}

static double
wall(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static struct totals
simulate(const struct scenario *scenario, const struct variant *variant)
{
	struct policy policy = trial_policy(variant);
	const struct model model = { .scenario = scenario,
		.policy = &policy,
		.machine = &trial_ideal,
		.host = TRIAL_HOST,
		.seed = 1 };

	return trial_run(&model, NULL);
}

/* All variants of a scenario, as the storms with processes are shown. */
static void
show(const struct scenario *scenario)
{
	struct result results[SCENARIO_VARIANTS] = { { .variant = NULL } };
	size_t count = trial_variants(scenario);

	for (size_t i = 0; i < count; i++) {
		const struct variant *variant = &scenario->variants[i];

		results[i] = (struct result){ .variant = variant,
			.totals = simulate(scenario, variant) };
	}
	printf("\n%s: %s\n\n", scenario->name, scenario->title);
	figure_table(stdout, scenario, results, count);
}

/* So many times the clients and the capacity, and how long that took. */
static void
show_larger(const struct scenario *scenario, int64_t factor)
{
	struct scenario many = *scenario;
	struct result results[SCENARIO_VARIANTS] = { { .variant = NULL } };
	char clients[FIGURE_ROOM], rate[FIGURE_ROOM];
	double took[SCENARIO_VARIANTS];
	size_t count = 0;

	many.clients *= factor;
	many.capacity.rate *= factor;
	for (size_t i = 0; i < trial_variants(scenario); i++) {
		struct variant *variant = &many.variants[i];
		double began = wall();

		if (variant->simulated)
			continue;
		/* They were published for fewer clients. */
		variant->published_wasted = variant->published_p99 = 0;
		results[count] = (struct result){ .variant = variant,
			.totals = simulate(&many, variant) };
		took[count++] = wall() - began;
	}
	printf("\n%s: %s clients, %s a second; %d each share a budget\n\n",
	    scenario->name, figure_count(clients, many.clients),
	    figure_count(rate, many.capacity.rate), TRIAL_HOST);
	figure_table(stdout, &many, results, count);
	printf("simulated in:");
	for (size_t i = 0; i < count; i++)
		printf(" %.1fs%s", took[i], i + 1 < count ? "," : "\n");
}

static bool
show_storms(void)
{
	printf("retry's own plan, backoff and admission in virtual time\n");
	for (const struct scenario *at = scenarios; at->name != NULL; at++)
		if (at->hosts == 0)
			show(at);
	return true;
}

static bool
show_growth(void)
{
	for (const struct scenario *at = scenarios; at->name != NULL; at++)
		for (size_t i = 0; i < sizeof factors / sizeof *factors; i++)
			if (strcmp(at->name, larger) == 0)
				show_larger(at, factors[i]);
	return true;
}

/* True where there is nothing to compare with. */
static bool
show_agreement(void)
{
	FILE *file = fopen(TALLY_FILE, "re");
	bool agrees;

	if (file == NULL) {
		printf("\nno %s: make storm writes what this could be compared "
		       "with\n",
		    TALLY_FILE);
		return true;
	}
	agrees = agree_show(file);
	fclose(file);
	return agrees;
}

/* Of the first scenario that has a variant with a breaker, that variant. */
static void
tune(bool paid)
{
	for (const struct scenario *at = scenarios; at->name != NULL; at++)
		for (size_t i = 0; i < trial_variants(at); i++) {
			struct policy policy = trial_policy(&at->variants[i]);

			if (policy.budget.breaker.failures > 0) {
				tune_show(at, &at->variants[i], paid);
				return;
			}
		}
}

static bool
show_tuning(void)
{
	tune(true);
	tune(false);
	return true;
}

static bool
show_fleets(void)
{
	bool well = fleets_show(100);

	return fleets_show(1000) && well;
}

static bool
show_recovery(void)
{
	return fleets_show_recovery();
}

static bool
show_wave(void)
{
	return fleets_show_wave();
}

static bool
show_large(void)
{
	return fleets_show(10000);
}

static const struct part {
	const char *name;
	bool asked; /* only if it is named */
	bool (*show)(void);
} parts[] = {
	{ "storms", false, show_storms },
	{ "agree", false, show_agreement },
	{ "growth", false, show_growth },
	{ "fleets", false, show_fleets },
	{ "recovery", false, show_recovery },
	{ "wave", false, show_wave },
	{ "large", true, show_large },
	{ "tune", true, show_tuning },
};

/* False if a part does not agree. */
static bool
show_named(const char *name)
{
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
		if (strcmp(parts[i].name, name) == 0)
			return parts[i].show();
	errx(2, "no such part: '%s'", name);
}

int
main(int argc, char **argv)
{
	bool well = true;

	forget_environment();
	for (int i = 1; i < argc; i++)
		well = show_named(argv[i]) && well;
	for (size_t i = 0; i < sizeof parts / sizeof *parts && argc < 2; i++)
		if (!parts[i].asked)
			well = parts[i].show() && well;
	return well ? 0 : 1;
}
