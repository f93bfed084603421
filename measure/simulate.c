/*
 * simulate [PART]...: storms in virtual time, in which retry's own parser reads
 * the options. The parts, of which all but the last two are the default:
 *
 *	storms	the scenarios, where processes and requests cost nothing; beside
 *		the storms with processes, if their totals are at hand
 *	fleets	storms over 100 and 1,000 hosts, with a fleet's server
 *	recovery  storms over 100 hosts whose breakers recover
 *	quota	many more commands than a server's quota
 *	jobs	a breaker that must not take chance for an outage
 *	wave	what 10,000 hosts ask that server
 *	large	a storm over 10,000 hosts
 *	tune	the breaker's recovery in other circumstances
 *
 * Exits with 1 where a bar is missed, or processes had another result.
 */
#include <err.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "cli/options.h"
#include "figure.h"
#include "model.h"

enum { ROWS = 16, SEEDS = 5 };

/*
 * How far totals may be from those of the real run: in percent, or one for
 * every twenty clients. Real runs in which little is wasted differ by as much:
 * by attempts that had begun before the breaker opened.
 */
enum { PERCENT = 15, SOME = 50 };

#define STORM "-n inf -d 100ms --max-delay 10s -j full "
#define MINUTE "--budget-window 60s "
#define FLEET \
	STORM "-B storm " MINUTE "--fleet " SCENARIO_FLEET " --fleet-min 20 "

/* A row of a table. What run() knows is left out. */
struct trial {
	struct variant variant;
	struct scenario scenario;
	struct model model;
	uint64_t seeds; /* of which the mean is shown; 0: one */
	bool paid; /* every retry is */
};

/* The totals of the mean of all seeds, and what the last one's server saw. */
static struct result
run(const struct trial *trial)
{
	static char name[] = "retry", command[] = "true";
	char *argv[SCENARIO_OPTIONS + 3] = { name };
	size_t argc = scenario_words(&trial->variant, argv, 1);
	struct result result = { .scenario = &trial->scenario,
		.variant = &trial->variant };
	struct scenario scenario = trial->scenario;
	struct model model = trial->model;
	struct totals totals[SEEDS], questions;
	struct policy policy;

	argv[argc++] = command;
	options_parse((int)argc, argv, &policy);
	if (trial->paid)
		policy.budget.terms.min = SEGMENT_MIN_MOST;
	if (trial->variant.until > 0)
		scenario.most = trial->variant.until;
	model.scenario = &scenario;
	model.policy = &policy;
	do {
		struct fleet_record record = { .told = 0 };
		struct tally tally;

		model.record = &record;
		tally_start(&record.questions, NANOS_SECOND);
		tally_start(&tally, scenario.width);
		model.seed++;
		model_run(&model, &tally);
		totals[model.seed - 1] =
		    tally_sum(&tally, scenario.capacity.end);
		questions = tally_sum(&record.questions, 0);
		result.asked.questions = questions.served + questions.wasted;
		result.asked.peak = questions.peak;
		result.asked.awaited = record.awaited;
		result.asked.silent = record.silent;
		result.asked.told = record.told;
		result.asked.served =
		    record.awaited > 0 ? totals[model.seed - 1].served : 0;
		result.asked.open = record.most_open;
		tally_end(&tally);
		tally_end(&record.questions);
	} while (model.seed < trial->seeds);
	result.totals = tally_mean(totals, model.seed);
	return result;
}

static bool
differs(int64_t simulated, int64_t real)
{
	int64_t apart = llabs(simulated - real);

	return apart > SOME && apart > real / 100 * PERCENT;
}

/* Runs some trials; those of which the file has totals are compared with these.
 */
static bool
show(const char *title, const struct trial *trials, size_t count, FILE *file)
{
	struct result results[2 * ROWS];
	size_t rows = 0;
	bool well = true;

	printf("\n%s\n\n", title);
	for (size_t i = 0; i < count; i++) {
		const struct trial *trial = &trials[i];
		const struct scenario *scenario = &trial->scenario;
		const struct variant *variant = &trial->variant;
		struct result real = { .scenario = scenario,
			.variant = variant,
			.name = "  with processes" };
		const struct totals *mine = &results[rows].totals;

		results[rows++] = run(trial);
		well = figure_judge(results, rows) && well;
		if (file == NULL ||
		    !tally_find(
			file, scenario->name, variant->name, &real.totals))
			continue;
		results[rows++] = real;
		if (variant->slow)
			continue;
		/* Over hosts all first attempts fail, and are most of what is
		 * wasted; budgets decide only about the retries. */
		if (differs(mine->wasted, real.totals.wasted) ||
		    (scenario->hosts > 0 &&
			(differs(mine->retries, real.totals.retries) ||
			    differs(mine->p99, real.totals.p99)))) {
			printf("DIFFERS: %s\n", variant->name);
			well = false;
		}
	}
	figure_table(results, rows);
	return well;
}

/* All variants of a scenario with so many times the clients and the capacity.
 */
static bool
show_scenario(const struct scenario *scenario, int64_t factor,
    const struct model *model, FILE *file)
{
	struct trial trials[SCENARIO_VARIANTS];
	char title[200];
	const struct variant *v = scenario->variants;
	size_t count = 0;

	for (; v->name != NULL; v++) {
		struct trial *trial = &trials[count];

		/* The simulated server of a fleet does not fail, nor do
		 * processes; and there is no make. */
		if (v->fault != REDIS_SOUND || v->hurt || v->inner != NULL)
			continue;
		*trial = (struct trial){ *v, *scenario, *model, 1, false };
		trial->scenario.clients *= factor;
		trial->scenario.capacity.rate *= factor;
		trial->scenario.hosts *= factor;
		trial->scenario.apart /= factor;
		trial->model.known *= factor;
		count++;
	}
	if (count == 0)
		return true;
	snprintf(title, sizeof title, "%s: %s clients, %s a second; %s",
	    scenario->name, figure_count(trials[0].scenario.clients),
	    figure_count(trials[0].scenario.capacity.rate), scenario->title);
	return show(title, trials, count, file);
}

/* Budgets that nobody has used. */
static const struct model fresh = { .known = 0 };

static bool
show_storms(void)
{
	FILE *file = fopen(TALLY_FILE, "re");
	bool well = true;

	if (file == NULL)
		printf("no %s: make storm writes what this can be compared "
		       "with\n",
		    TALLY_FILE);
	for (const struct scenario *at = scenarios; at->name != NULL; at++)
		well = show_scenario(at, 1, &fresh, file) && well;
	if (file != NULL)
		fclose(file);
	return well;
}

/* A hundred hosts, each of which starts a hundred processes, one after the
 * other; the physical limit is the same for all sizes. */
static const struct scenario fleet = {
	.name = "fleet",
	.title = "100 processes on each host, a server that is down for 10 s",
	.clients = 10000,
	.hosts = 100,
	.apart = NANOS_MS / 100,
	.capacity = { .end = 10 * NANOS_SECOND, .rate = 2000,
	    .takes = 2 * NANOS_MS },
	.width = 100 * NANOS_MS,
	.most = 30 * NANOS_SECOND,
	.variants = {
		{ .name = "full", .options = STORM },
		{ .name = "host budgets", .options = STORM "-B storm " MINUTE },
		{ .name = "host budgets, breakers",
		    .options = STORM "-B storm --breaker 20,500ms,1s",
		    .most_p99 = 130 },
		/* The minimum, and a fifth of 10,000 that succeed. */
		{ .name = "fleet budget",
		    .options = FLEET,
		    .most_retries = 2020 },
		{ .name = "fleet budget, breakers",
		    .options = FLEET "--breaker 20,500ms,1s", .most_p99 = 130 },
	},
};

static bool
show_fleet(int64_t factor)
{
	static const struct model model = { .known = 100, .age = NANOS_HOUR };

	return show_scenario(&fleet, factor, &model, NULL);
}

static bool
show_fleets(void)
{
	bool well = show_fleet(1);

	return show_fleet(10) && well;
}

static bool
show_large(void)
{
	return show_fleet(100);
}

/*
 * So many commands of each host begin within the span, one after the other. The
 * hosts have asked the server before.
 */
#define ON_HOSTS(count, each, span, watch) \
	.scenario.clients = (count) * (each), .scenario.hosts = (count), \
	.scenario.width = NANOS_SECOND / 10, .scenario.most = (watch), \
	.scenario.apart = (span) / ((count) * (each)), .model.age = NANOS_HOUR

/* Without longer steps about 1,700, 800, 3,200 and 11,000 are wasted. */
#define RECOVERY(title, each, span, first, length, second, wasted, p99) \
	ON_HOSTS(100, each, span, 200 * NANOS_SECOND), \
	    .scenario.capacity.begin = (first), \
	    .scenario.capacity.end = (first) + (length), \
	    .scenario.capacity.rate = (second), \
	    .scenario.capacity.takes = 2 * NANOS_MS, .variant.name = title, \
	    .variant.options = FLEET "--breaker 5,500ms,2s", \
	    .variant.most_wasted = (wasted), .variant.most_p99 = (p99), \
	    .model.known = 100, .model.seen = NANOS_SECOND, .seeds = 5
#define S NANOS_SECOND

static const struct trial recoveries[] = {
	{ RECOVERY(
	    "10 within 1 s, down 10 s", 10, S, 0, 10 * S, 200, 1450, 120) },
	{ RECOVERY("10 over 20 s, down 10 s", 10, 20 * S, 5 * S, 10 * S, 200,
	    850, 120) },
	{ RECOVERY("100 within 0.1 s, down 10 s", 100, S / 10, 0, 10 * S, 2000,
	    1350, 130) },
	{ RECOVERY("60 over 60 s, down 60 s", 60, 60 * S, 5 * S, 60 * S, 200,
	    6200, 120) },
};

static bool
show_recovery(void)
{
	return show("recovery: commands on each of 100 hosts of a fleet, with "
		    "breakers",
	    recoveries, sizeof recoveries / sizeof *recoveries, NULL);
}

/* It is watched until the retries that the server granted first have left its
 * window twice. */
#define WAVE(title, each, span, ...) \
	.variant.name = title, .variant.options = FLEET, \
	ON_HOSTS(10000, each, span, (span) + 150 * NANOS_SECOND), __VA_ARGS__

#define DOWN .scenario.capacity = { .end = NANOS_HOUR, .takes = 2 * NANOS_MS }
#define FLAKY \
	.scenario.capacity = { \
		.rate = 1000000, .flaky = 100, .takes = 100 * NANOS_MS \
	}
/* They know how many they are. */
#define SPREAD .model.known = 10000, .variant.most_silent = 1

static const struct trial waves[] = {
	{ WAVE("no spread", 1, S, DOWN) },
	{ WAVE("spread", 1, S, DOWN, SPREAD) },
	{ WAVE("spread, 10 commands each", 10, S, DOWN, SPREAD) },
	{ WAVE("a command a second", 20, 20 * S, FLAKY, SPREAD) },
	{ WAVE("a command in 10 s", 6, 60 * S, FLAKY, SPREAD) },
	{ WAVE("a command a minute", 2, 120 * S, FLAKY, SPREAD) },
};

/* The server says when to come again, in windows. */
#define QUOTA(title, many, pool, number, span, ...) \
	.variant.name = title, .scenario.clients = (many), \
	.scenario.at_once = (pool), .scenario.capacity.quota = (number), \
	.scenario.capacity.window = (span), \
	.scenario.capacity.takes = 30 * NANOS_MS, \
	.scenario.width = NANOS_SECOND, \
	.scenario.most = ((many) / (number) + 5) * (span), __VA_ARGS__
#define ALONE .variant.options = "--http -T 1d"
#define BUDGET(most) \
	.variant.options = "--http -T 1d -B storm", .variant.most_max = 102, \
	.variant.most_wasted = (most)

static const struct trial quotas[] = {
	{ QUOTA("5,000, 100 in 10 s", 5000, 1000, 100, 10 * S, ALONE) },
	{ QUOTA("budget", 5000, 1000, 100, 10 * S, BUDGET(4500)) },
	{ QUOTA("10,000, 60 in 60 s", 10000, 1000, 60, 60 * S, ALONE) },
	{ QUOTA("budget", 10000, 1000, 60, 60 * S, BUDGET(9000)) },
};

static bool
show_quota(void)
{
	return show("quota: 1,000 clients at a time, and a server that serves "
		    "so many in each window",
	    quotas, sizeof quotas / sizeof *quotas, NULL);
}

/* A budget that denied retries once opened breakers for good: 178 of 10,000
 * jobs succeeded then. */
static const struct trial jobs[] = {
	{
	    .variant = { .name = "budget, breaker",
		.options = "-n 5 -d 200ms -B storm --breaker on",
		.most_lost = 100 },
	    .scenario = { .clients = 10000,
		.at_once = 64,
		.capacity = { .percent = 30, .takes = 50 * NANOS_MS },
		.width = NANOS_SECOND,
		.most = 600 * S },
	},
};

static bool
show_jobs(void)
{
	return show("jobs: 10,000, 64 at a time, 30 % of the requests fail",
	    jobs, sizeof jobs / sizeof *jobs, NULL);
}

static bool
show_wave(void)
{
	return show("wave: 10,000 hosts and a server of 6,000 questions a "
		    "second; all commands fail\nwithin a second, or 1 in 100 "
		    "requests fails, on an ordinary day",
	    waves, sizeof waves / sizeof *waves, NULL);
}

/*
 * A crowd that comes when the breaker is open already: twenty scouts have
 * opened it. Every retry is paid for, so that nothing counts but the breaker.
 */
enum { SCOUTS = 20 };
#define LEAD(time) (2 * (time) + NANOS_SECOND)
#define TUNE(title, crowd, second, one, time, times) \
	.variant.name = title, \
	.variant.options = STORM "-B storm --breaker 20,500ms,1s", \
	.scenario.clients = (crowd) + SCOUTS, .scenario.scouts = SCOUTS, \
	.scenario.lead = LEAD(time), \
	.scenario.capacity.end = LEAD(time) + 10 * S, \
	.scenario.capacity.rate = (second), .scenario.capacity.flaky = (one), \
	.scenario.capacity.takes = (time), .scenario.width = 10 * NANOS_MS, \
	.scenario.most = \
	    LEAD(time) + 20 * (10 * S + S * (crowd) / (second) + (time)), \
	.paid = true, .seeds = (times)

static const struct trial tunings[] = {
	{ TUNE("1,000 at 20/s", 1000, 20, 0, NANOS_MS, 5) },
	{ TUNE("1,000 at 200/s", 1000, 200, 0, NANOS_MS, 5) },
	{ TUNE("10,000, 1 in 100 fails", 10000, 1000000, 100, NANOS_MS, 1) },
	{ TUNE("10,000, 1 in 20 fails", 10000, 1000000, 20, NANOS_MS, 1) },
	{ TUNE("10,000, 1 in 10 fails", 10000, 1000000, 10, NANOS_MS, 1) },
	{ TUNE("1,000 at 200/s, each takes 1 s", 1000, 200, 0, S, 5) },
	{ TUNE("1,000 at 200/s, each takes 5 s", 1000, 200, 0, 5 * S, 5) },
	{ TUNE("50 at 20/s, each takes 1 s", 50, 20, 0, S, 5) },
	{ TUNE("50 at 20/s, each takes 5 s", 50, 20, 0, 5 * S, 5) },
};

static bool
show_tune(void)
{
	return show("tune: clients that wait for an open breaker", tunings,
	    sizeof tunings / sizeof *tunings, NULL);
}

static const struct part {
	const char *name;
	bool asked; /* only if it is named */
	bool (*show)(void);
} parts[] = {
	{ "storms", false, show_storms },
	{ "fleets", false, show_fleets },
	{ "recovery", false, show_recovery },
	{ "quota", false, show_quota },
	{ "jobs", false, show_jobs },
	{ "wave", false, show_wave },
	{ "large", true, show_large },
	{ "tune", true, show_tune },
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
