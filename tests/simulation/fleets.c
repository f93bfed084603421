
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include "fleet_model.h"
#include "simulate.h"

/* Each host starts so many processes, one after the other. */
enum { PROCESSES = 100 };
#define APART NANOS_MS

/* The server serves so many requests a second for each host: 2,000 for 100
 * hosts, so that the physical limit is the same for all sizes. */
enum { RATE = 20 };

#define STORM "-n inf -d 100ms --max-delay 10s -j full "
#define BUDGET STORM "-B storm "
#define FLEET BUDGET "--fleet " SCENARIO_FLEET " --fleet-min 20 "
#define BREAKER "--breaker 20,500ms,1s"

static const struct scenario storm = {
	.name = "fleet",
	.capacity = { .end = 10 * NANOS_SECOND },
	.width = NANOS_SECOND / 10,
	.most = 30 * NANOS_SECOND,
	.variants = {
		{ .name = "full", .options = STORM },
		{ .name = "host budgets", .options = BUDGET },
		{ .name = "host budgets, breakers", .options = BUDGET BREAKER,
		    .most_p99 = 130 },
		{ .name = "fleet budget", .options = FLEET, .most_retries = 20 },
		{ .name = "fleet budget, breakers", .options = FLEET BREAKER,
		    .most_p99 = 130 },
	},
};

/* The server's memory: a connection that was just used, as measured with Redis
 * 7.0, and the hash of the budget. */
#define CONNECTION_BYTES 38000
#define BUDGET_BYTES 1600

/* Requests take as long as this; processes cost nothing. */
static const struct machine machine = { .latency = 2 * NANOS_MS };

/* Runs what a model, which lacks what all of them have in common, says. The
 * caller ends record->questions. */
static struct totals
run(struct model model, struct fleet_record *record)
{
	*record = (struct fleet_record){ .granted = 0 };
	tally_start(&record->questions, NANOS_SECOND);
	model.age = NANOS_HOUR;
	model.record = record;
	return simulate_run(&model, NULL);
}

static FILE *
begin_rows(void)
{
	FILE *out = figure_begin();

	fputs("\twasted\tof them\t\t\tover\t\tnot\tquestions\t\t\topen\tits\n"
	      "\trequests\tretries\tp50\tp99\tlimit\tlast\tserved\tpeak/s\t"
	      "mean\tno ans.\tmost\tmemory\n",
	    out);
	return out;
}

/* The mean of some seeds, for a model that has no policy yet. True if nothing
 * misses its limit; a p99 is in percent of the physical one. */
static bool
show_row(FILE *out, struct model model, const struct variant *variant,
    uint64_t seeds)
{
	const struct scenario *scenario = model.scenario;
	struct policy policy = simulate_policy(variant);
	nanos limit = scenario->capacity.end + machine.latency +
	    scenario->clients * NANOS_SECOND / scenario->capacity.rate;
	int64_t times = (int64_t)seeds, percent;
	struct totals mean = { .lost = 0 };
	struct fleet_record record;
	bool well = true;

	model.policy = &policy;
	model.machine = &machine;
	if (policy.fleet.text == NULL)
		model.known = 0;
	while (model.seed++ < seeds) {
		struct totals totals = run(model, &record);

		mean.wasted += totals.wasted / times;
		mean.retries += totals.retries / times;
		mean.lost += totals.lost;
		mean.p50 += totals.p50 / times;
		mean.p99 += totals.p99 / times;
		mean.max += totals.max / times;
		if (model.seed < seeds)
			tally_end(&record.questions);
	}
	percent = mean.p99 * 100 / limit;
	fprintf(out, "%s\t%s\t%s\t%s\t%s\t", variant->name,
	    figure_count(mean.wasted), figure_count(mean.retries),
	    figure_time(mean.p50), figure_time(mean.p99));
	if (mean.p99 < NANOS_MAX)
		fprintf(out, "%.2fx", (double)percent / 100);
	fprintf(
	    out, "\t%s\t%s", figure_time(mean.max), figure_count(mean.lost));
	if (policy.fleet.text != NULL && seeds == 1) {
		struct totals asked =
		    tally_sum(&record.questions, 0, NANOS_MAX);

		fprintf(out, "\t%s\t%.0f\t%s\t%s\t%.1fMB",
		    figure_count(asked.peak),
		    (double)(asked.served + asked.wasted) /
			(double)record.questions.count,
		    figure_count(record.silent), figure_count(record.most_open),
		    (BUDGET_BYTES +
			CONNECTION_BYTES * (double)record.most_open) /
			1e6);
	}
	tally_end(&record.questions);
	if (variant->most_retries > 0)
		well = mean.retries <= variant->most_retries;
	if (variant->most_wasted > 0)
		well = well && mean.wasted <= variant->most_wasted;
	if (variant->most_p99 > 0)
		well = well && mean.lost == 0 && percent <= variant->most_p99;
	fputs(well ? "\n" : "\tMISSES\n", out);
	return well;
}

static bool
show_hosts(int64_t hosts)
{
	struct scenario scenario = storm;
	bool well = true;
	FILE *out = begin_rows();

	scenario.clients = hosts * PROCESSES;
	scenario.apart = APART / hosts;
	scenario.capacity.rate = hosts * RATE;
	printf("\nfleet: %s hosts with %d processes each, %s a second, down "
	       "for 10 s;\nthe physical limit is %.0f s\n\n",
	    figure_count(hosts), PROCESSES,
	    figure_count(scenario.capacity.rate),
	    figure_seconds(scenario.capacity.end) + (double)PROCESSES / RATE);
	for (size_t i = 0; scenario.variants[i].name != NULL; i++) {
		const struct model model = {
			.scenario = &scenario, .host = PROCESSES, .known = hosts
		};

		well = show_row(out, model, &scenario.variants[i], 1) && well;
	}
	figure_end(out);
	return well;
}

bool
fleets_show(void)
{
	bool well = show_hosts(100);

	return show_hosts(1000) && well;
}

bool
fleets_show_large(void)
{
	return show_hosts(10000);
}

/*
 * A hundred hosts, each of which recovers by itself
 */

enum { OUTAGE_HOSTS = 100, OUTAGE_SEEDS = 5 };

struct outage {
	const char *name;
	int64_t each; /* commands of a host */
	nanos span; /* in which all commands begin, one after the other */
	struct capacity capacity;
	/* The bars. Without longer steps about 1,700, 800, 3,200 and 11,000
	 * requests are wasted. */
	int64_t most_wasted, most_p99;
};

static const struct outage outages[] = {
	{ "10 within 1 s, down 10 s", 10, NANOS_SECOND,
	    { .end = 10 * NANOS_SECOND, .rate = 200 }, 1450, 120 },
	{ "10 over 20 s, down 10 s", 10, 20 * NANOS_SECOND,
	    { .begin = 5 * NANOS_SECOND,
		.end = 15 * NANOS_SECOND,
		.rate = 200 },
	    850, 120 },
	{ "100 within 0.1 s, down 10 s", 100, 100 * NANOS_MS,
	    { .end = 10 * NANOS_SECOND, .rate = 2000 }, 1350, 130 },
	{ "60 over 60 s, down 60 s", 60, 60 * NANOS_SECOND,
	    { .begin = 5 * NANOS_SECOND,
		.end = 65 * NANOS_SECOND,
		.rate = 200 },
	    6200, 120 },
};

bool
fleets_show_recovery(void)
{
	bool well = true;
	FILE *out = begin_rows();

	printf("\nrecovery: %d hosts in a fleet, with breakers, and with so "
	       "many commands each\n\n",
	    OUTAGE_HOSTS);
	for (size_t i = 0; i < sizeof outages / sizeof *outages; i++) {
		const struct outage *outage = &outages[i];
		const struct variant variant = { .name = outage->name,
			.options = FLEET "--breaker 5,500ms,2s",
			.most_wasted = outage->most_wasted,
			.most_p99 = outage->most_p99 };
		const int64_t clients = OUTAGE_HOSTS * outage->each;
		const struct scenario scenario = { .clients = clients,
			.apart = outage->span / clients,
			.capacity = outage->capacity,
			.width = NANOS_SECOND / 10,
			.most = 200 * NANOS_SECOND };
		const struct model model = { .scenario = &scenario,
			.host = outage->each,
			.known = OUTAGE_HOSTS,
			.seen = NANOS_SECOND };

		well = show_row(out, model, &variant, OUTAGE_SEEDS) && well;
	}
	figure_end(out);
	return well;
}

/*
 * Ten thousand hosts, and what their server is asked
 */

enum { WAVE = 10000 };

/* How long it is watched: until the retries that the server granted first have
 * left its window twice. */
#define WATCH (150 * NANOS_SECOND)

struct day {
	const char *name;
	int64_t each; /* commands of a host */
	nanos span; /* in which all commands begin, one after the other */
	struct capacity capacity;
	nanos latency; /* of a request */
	bool knows; /* the hosts know how many they are */
	bool mute; /* nobody is elected to tell of successes */
	bool answered; /* the bar: 99 of 100 questions are, in time */
};

#define DOWN { .end = NANOS_HOUR }, 2 * NANOS_MS
#define FLAKY { .rate = 1000000, .flaky = 100 }, 100 * NANOS_MS

static const struct day days[] = {
	{ "no spread, nobody tells", 1, NANOS_SECOND, DOWN, false, true,
	    false },
	{ "no spread", 1, NANOS_SECOND, DOWN, false, false, false },
	{ "spread, nobody tells", 1, NANOS_SECOND, DOWN, true, true, true },
	{ "spread", 1, NANOS_SECOND, DOWN, true, false, true },
	{ "spread, 10 commands each", 10, NANOS_SECOND, DOWN, true, false,
	    true },
	{ "a command a second", 20, 20 * NANOS_SECOND, FLAKY, true, false,
	    true },
	{ "a command in 10 s", 6, 60 * NANOS_SECOND, FLAKY, true, false, true },
	{ "a command a minute", 2, 120 * NANOS_SECOND, FLAKY, true, false,
	    true },
};

static double
percent(int64_t part, int64_t whole)
{
	return whole == 0 ? 0 : 100 * (double)part / (double)whole;
}

bool
fleets_show_wave(void)
{
	static const struct variant variant = { .name = "fleet budget",
		.options = FLEET };
	struct policy policy = simulate_policy(&variant);
	bool well = true;
	FILE *out = figure_begin();

	printf("\nwave: %d hosts and a server of %d questions a second; all "
	       "commands fail within\na second, or 1 in 100 requests fails, "
	       "on an ordinary day\n\n",
	    WAVE, FLEET_MODEL_CONNECTIONS);
	fputs("\n\tquestions\tpeak/s\tno answer\tp50\tp99\ttold\tretries\t"
	      "lost\n",
	    out);
	for (size_t i = 0; i < sizeof days / sizeof *days; i++) {
		const struct day *day = &days[i];
		const struct scenario scenario = {
			.clients = WAVE * day->each,
			.apart = day->span / (WAVE * day->each),
			.capacity = day->capacity,
			.width = NANOS_SECOND,
			.most = day->span + WATCH,
		};
		const struct machine slow = { .latency = day->latency };
		const struct model model = { .scenario = &scenario,
			.policy = &policy,
			.machine = &slow,
			.host = day->each,
			.known = day->knows ? WAVE : 0,
			.mute = day->mute,
			.seed = 1 };
		struct fleet_record record;
		struct totals totals = run(model, &record);
		struct totals asked =
		    tally_sum(&record.questions, 0, NANOS_MAX);
		double silent = percent(record.silent, record.awaited);
		bool good = !day->answered || silent < 1;

		fprintf(out,
		    "%s\t%s\t%s\t%.1f %%\t%.0fms\t%.0fms\t%.0f %%\t%s\t"
		    "%" PRId64 "%s\n",
		    day->name, figure_count(asked.served + asked.wasted),
		    figure_count(asked.peak), silent,
		    1000 * figure_seconds(asked.p50),
		    1000 * figure_seconds(asked.p99),
		    percent(record.told, totals.served),
		    figure_count(
			totals.served + totals.wasted - totals.clients),
		    totals.lost, good ? "" : "\tMISSES");
		tally_end(&record.questions);
		well = well && good;
	}
	figure_end(out);
	return well;
}
