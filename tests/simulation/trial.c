#include "trial.h"

#include <err.h>
#include <stdlib.h>
#include <string.h>
#include "cli/options.h"
#include "fleet_model.h"

const struct machine trial_ideal = { .cores = 0 };

struct policy
trial_policy(const struct variant *variant)
{
	static char name[] = "retry", command[] = "true";
	char **argv = calloc(SCENARIO_OPTIONS + 3, sizeof *argv);
	size_t argc = 1;

	if (argv == NULL)
		err(1, "trial");
	argv[0] = name;
	argc = scenario_words(variant, argv, argc);
	argv[argc++] = command;
	return options_parse((int)argc, argv);
}

struct totals
trial_run(const struct model *model, struct tally *tally)
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

/* How many clients share a host. */
static int64_t
host_of(const struct scenario *scenario)
{
	return scenario->hosts == 0 ? TRIAL_HOST
				    : scenario->clients / scenario->hosts;
}

struct totals
trial_median(const struct scenario *scenario, const struct variant *variant,
    const struct machine *machine)
{
	struct policy policy = trial_policy(variant);
	struct scenario watched = *scenario;
	struct fleet_record record = { .granted = 0 };
	struct model model = { .scenario = &watched,
		.policy = &policy,
		.machine = machine,
		.host = host_of(scenario),
		.record = &record };
	struct totals all[TRIAL_SEEDS];

	if (variant->until > 0)
		watched.most = variant->until;
	tally_start(&record.questions, NANOS_SECOND);
	for (size_t i = 0; i < TRIAL_SEEDS; i++) {
		model.seed = i + 1;
		all[i] = trial_run(&model, NULL);
	}
	tally_end(&record.questions);
	qsort(all, TRIAL_SEEDS, sizeof *all, by_wasted);
	return all[TRIAL_SEEDS / 2];
}

size_t
trial_variants(const struct scenario *scenario)
{
	size_t count = 0;

	while (scenario->variants[count].name != NULL)
		count++;
	return count;
}
