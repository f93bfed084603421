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
#include "simulate.h"

#include <err.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "cli/options.h"
#include "fleet_model.h"

/* The scenario that is simulated with so many times the clients. */
static const char larger[] = "crowd";
static const int64_t factors[] = { 10, 100, 1000 };

struct policy
simulate_policy(const struct variant *variant)
{
	static char name[] = "retry", command[] = "true";
	char **argv = calloc(SCENARIO_OPTIONS + 3, sizeof *argv);
	struct policy policy;
	size_t argc = 1;

	if (argv == NULL)
		err(1, "trial");
	argv[0] = name;
	argc = scenario_words(variant, argv, argc);
	argv[argc++] = command;
	options_parse((int)argc, argv, &policy);
	return policy;
}

struct totals
simulate_run(const struct model *model, struct tally *tally)
{
	const struct scenario *scenario = model->scenario;
	struct tally own;
	struct totals totals;

	if (tally == NULL)
		tally = &own;
	tally_start(tally, scenario->width);
	model_run(model, tally);
	totals =
	    tally_sum(tally, scenario->capacity.end, scenario_end(scenario));
	if (tally == &own)
		tally_end(&own);
	return totals;
}

static int
by_wasted(const void *a, const void *b)
{
	const struct totals *x = a, *y = b;

	return (x->wasted > y->wasted) - (x->wasted < y->wasted);
}

struct totals
simulate_median(const struct scenario *scenario, const struct variant *variant,
    const struct machine *machine)
{
	struct policy policy = simulate_policy(variant);
	struct scenario watched = *scenario;
	struct fleet_record record = { .granted = 0 };
	struct model model = { .scenario = &watched,
		.policy = &policy,
		.machine = machine,
		.host = scenario->hosts == 0
		    ? SIMULATE_HOST
		    : scenario->clients / scenario->hosts,
		.record = &record };
	struct totals all[SIMULATE_SEEDS];

	if (variant->until > 0)
		watched.most = variant->until;
	tally_start(&record.questions, NANOS_SECOND);
	for (size_t i = 0; i < SIMULATE_SEEDS; i++) {
		model.seed = i + 1;
		all[i] = simulate_run(&model, NULL);
	}
	tally_end(&record.questions);
	qsort(all, SIMULATE_SEEDS, sizeof *all, by_wasted);
	return all[SIMULATE_SEEDS / 2];
}

/* All variants of a scenario with so many times the clients and the capacity.
 */
static void
show(const struct scenario *scenario, int64_t factor)
{
	const struct machine ideal = { .cores = 0 }; /* nothing costs */
	struct scenario many = *scenario;
	struct result results[SCENARIO_VARIANTS] = { { .variant = NULL } };
	double took[SCENARIO_VARIANTS];
	size_t count = 0;

	many.clients *= factor;
	many.capacity.rate *= factor;
	for (struct variant *variant = many.variants; variant->name != NULL;
	     variant++) {
		struct policy policy = simulate_policy(variant);
		const struct model model = { .scenario = &many,
			.policy = &policy,
			.machine = &ideal,
			.host = SIMULATE_HOST,
			.seed = 1 };
		struct timespec began, ended;

		if (factor > 1 && variant->simulated)
			continue;
		/* They were published for fewer clients. */
		if (factor > 1)
			variant->published_wasted = variant->published_p99 = 0;
		clock_gettime(CLOCK_MONOTONIC, &began);
		results[count] = (struct result){ .variant = variant,
			.totals = simulate_run(&model, NULL) };
		clock_gettime(CLOCK_MONOTONIC, &ended);
		took[count++] = (double)(ended.tv_sec - began.tv_sec) +
		    (double)(ended.tv_nsec - began.tv_nsec) / 1e9;
	}
	if (factor > 1)
		printf("\n%s: %s clients, %s a second; %d each share a budget"
		       "\n\n",
		    scenario->name, figure_count(many.clients),
		    figure_count(many.capacity.rate), SIMULATE_HOST);
	else
		printf("\n%s: %s\n\n", scenario->name, scenario->title);
	figure_table(&many, results, count);
	for (size_t i = 0; factor > 1 && i < count; i++)
		printf("%s %.1fs%s", i == 0 ? "simulated in:" : "", took[i],
		    i + 1 < count ? "," : "\n");
}

static bool
show_storms(void)
{
	printf("retry's own plan, backoff and admission in virtual time\n");
	for (const struct scenario *at = scenarios; at->name != NULL; at++)
		if (at->hosts == 0)
			show(at, 1);
	return true;
}

static bool
show_growth(void)
{
	for (const struct scenario *at = scenarios; at->name != NULL; at++)
		for (size_t i = 0; i < sizeof factors / sizeof *factors; i++)
			if (strcmp(at->name, larger) == 0)
				show(at, factors[i]);
	return true;
}

static const struct part {
	const char *name;
	bool asked; /* only if it is named */
	bool (*show)(void);
} parts[] = {
	{ "storms", false, show_storms },
	{ "agree", false, agree_show },
	{ "growth", false, show_growth },
	{ "fleets", false, fleets_show },
	{ "recovery", false, fleets_show_recovery },
	{ "wave", false, fleets_show_wave },
	{ "large", true, fleets_show_large },
	{ "tune", true, tune_show },
};

int
main(int argc, char **argv)
{
	const size_t count = sizeof parts / sizeof *parts;
	static char *nothing[] = { NULL };
	bool well = true;

	environ = nothing; /* budgets of the caller must not be used */
	for (int i = 1; i < argc; i++) {
		size_t at = 0;

		while (at < count && strcmp(parts[at].name, argv[i]) != 0)
			at++;
		if (at == count)
			errx(2, "no such part: '%s'", argv[i]);
		well = parts[at].show() && well;
	}
	for (size_t i = 0; i < count && argc < 2; i++)
		if (!parts[i].asked)
			well = parts[i].show() && well;
	return well ? 0 : 1;
}
