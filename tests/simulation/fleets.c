
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

static void
show_heading(void)
{
	printf(
	    "%-24s  %11s  %11s  %7s  %7s  %6s  %7s  %7s  %9s  %6s  %7s  "
	    "%5s  %6s\n%-24s  %11s  %11s  %7s  %7s  %6s  %7s  %7s  %9s  %6s  "
	    "%7s  %5s  %6s\n",
	    "", "wasted", "of them", "", "", "over", "", "not", "questions", "",
	    "", "open", "its", "", "requests", "retries", "p50", "p99", "limit",
	    "last", "served", "peak/s", "mean", "no ans.", "most", "memory");
}

static double
seconds(nanos time)
{
	return (double)time / (double)NANOS_SECOND;
}

static void
show_questions(struct fleet_record *record)
{
	struct totals asked = tally_sum(&record->questions, 0, NANOS_MAX);
	char peak[FIGURE_ROOM], silent[FIGURE_ROOM], open[FIGURE_ROOM];
	double bytes =
	    BUDGET_BYTES + CONNECTION_BYTES * (double)record->most_open;

	printf("  %9s  %6.0f  %7s  %5s  %4.1fMB",
	    figure_count(peak, asked.peak),
	    (double)(asked.served + asked.wasted) /
		(double)record->questions.count,
	    figure_count(silent, record->silent),
	    figure_count(open, record->most_open), bytes / 1e6);
}

/* Ends a row. True if nothing misses its limit. */
static bool
end_row(bool well)
{
	puts(well ? "" : "  MISSES");
	fflush(stdout);
	return well;
}

/* In percent of the physical limit. */
static int64_t
p99_of(const struct scenario *scenario, const struct totals *totals)
{
	nanos limit = scenario->capacity.end + machine.latency +
	    scenario->clients * NANOS_SECOND / scenario->capacity.rate;

	return totals->p99 * 100 / limit;
}

static void
show_times(const struct scenario *scenario, const struct totals *totals)
{
	char p50[FIGURE_ROOM], p99[FIGURE_ROOM], max[FIGURE_ROOM];

	printf("  %7s  %7s", figure_time(p50, totals->p50),
	    figure_time(p99, totals->p99));
	if (totals->p99 == NANOS_MAX)
		printf("  %6s", "");
	else
		printf("  %5.2fx", (double)p99_of(scenario, totals) / 100);
	printf("  %7s", figure_time(max, totals->max));
}

struct run {
	struct fleet_record record;
	struct tally tally;
	struct totals totals;
};

/* Simulates a model, which lacks what all of them have in common. */
static void
begin_run(struct run *run, const struct model *model)
{
	struct model whole = *model;

	run->record = (struct fleet_record){ .granted = 0 };
	tally_start(&run->record.questions, NANOS_SECOND);
	whole.age = NANOS_HOUR;
	whole.record = &run->record;
	run->totals = simulate_run(&whole, &run->tally);
}

static void
end_run(struct run *run)
{
	tally_end(&run->tally);
	tally_end(&run->record.questions);
}

/* Whether a run keeps to the limits of its variant. */
static bool
is_well(const struct scenario *scenario, const struct variant *variant,
    const struct totals *totals)
{
	if (variant->most_retries > 0 &&
	    totals->retries > variant->most_retries)
		return false;
	return variant->most_p99 == 0 ||
	    (totals->lost == 0 &&
		p99_of(scenario, totals) <= variant->most_p99);
}

static bool
show_row(const struct scenario *scenario, const struct variant *variant)
{
	struct policy policy = simulate_policy(variant);
	bool fleet = policy.fleet.text != NULL;
	const struct model model = { .scenario = scenario,
		.policy = &policy,
		.machine = &machine,
		.host = PROCESSES,
		.known = fleet ? scenario->clients / PROCESSES : 0,
		.seed = 1 };
	char wasted[FIGURE_ROOM], again[FIGURE_ROOM], lost[FIGURE_ROOM];
	struct run run;

	begin_run(&run, &model);
	printf("%-24s  %11s  %11s", variant->name,
	    figure_count(wasted, run.totals.wasted),
	    figure_count(again, run.totals.retries));
	show_times(scenario, &run.totals);
	printf("  %7s", figure_count(lost, run.totals.lost));
	if (fleet)
		show_questions(&run.record);
	end_run(&run);
	return end_row(is_well(scenario, variant, &run.totals));
}

static bool
show_hosts(int64_t hosts)
{
	struct scenario scenario = storm;
	char count[FIGURE_ROOM], rate[FIGURE_ROOM];
	bool well = true;

	scenario.clients = hosts * PROCESSES;
	scenario.apart = APART / hosts;
	scenario.capacity.rate = hosts * RATE;
	printf("\nfleet: %s hosts with %d processes each, %s a second, down "
	       "for 10 s;\nthe physical limit is %.0f s\n\n",
	    figure_count(count, hosts), PROCESSES,
	    figure_count(rate, scenario.capacity.rate),
	    seconds(scenario.capacity.end) + (double)PROCESSES / RATE);
	show_heading();
	for (size_t i = 0; scenario.variants[i].name != NULL; i++)
		well = show_row(&scenario, &scenario.variants[i]) && well;
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

/* The mean of a few seeds. */
static bool
show_outage(const struct outage *outage)
{
	const struct variant variant = { .name = outage->name,
		.options = FLEET "--breaker 5,500ms,2s",
		.most_p99 = outage->most_p99 };
	const int64_t clients = OUTAGE_HOSTS * outage->each;
	const struct scenario scenario = { .clients = clients,
		.apart = outage->span / clients,
		.capacity = outage->capacity,
		.width = NANOS_SECOND / 10,
		.most = 200 * NANOS_SECOND };
	struct policy policy = simulate_policy(&variant);
	struct model model = { .scenario = &scenario,
		.policy = &policy,
		.machine = &machine,
		.host = outage->each,
		.known = OUTAGE_HOSTS,
		.seen = NANOS_SECOND };
	char wasted[FIGURE_ROOM], again[FIGURE_ROOM], lost[FIGURE_ROOM];
	struct totals mean = { .lost = 0 };
	struct run run;

	while (model.seed++ < OUTAGE_SEEDS) {
		begin_run(&run, &model);
		mean.wasted += run.totals.wasted / OUTAGE_SEEDS;
		mean.retries += run.totals.retries / OUTAGE_SEEDS;
		mean.lost += run.totals.lost;
		mean.p50 += run.totals.p50 / OUTAGE_SEEDS;
		mean.p99 += run.totals.p99 / OUTAGE_SEEDS;
		mean.max += run.totals.max / OUTAGE_SEEDS;
		end_run(&run);
	}
	printf("%-28s  %11s  %11s", outage->name,
	    figure_count(wasted, mean.wasted),
	    figure_count(again, mean.retries));
	show_times(&scenario, &mean);
	printf("  %7s", figure_count(lost, mean.lost));
	return end_row(mean.wasted <= outage->most_wasted &&
	    is_well(&scenario, &variant, &mean));
}

bool
fleets_show_recovery(void)
{
	bool well = true;

	printf("\nrecovery: %d hosts in a fleet, with breakers, and with so "
	       "many commands each\n\n%-28s  %11s  %11s  %7s  %7s  %6s  %7s  "
	       "%7s\n",
	    OUTAGE_HOSTS, "", "wasted", "of retries", "p50", "p99", "limit",
	    "last", "lost");
	for (size_t i = 0; i < sizeof outages / sizeof *outages; i++)
		well = show_outage(&outages[i]) && well;
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

static void
show_numbers(const char *name, struct run *run)
{
	struct fleet_record *record = &run->record;
	struct totals asked = tally_sum(&record->questions, 0, NANOS_MAX);
	const struct totals *totals = &run->totals;
	char all[FIGURE_ROOM], peak[FIGURE_ROOM], retries[FIGURE_ROOM];

	printf("%-24s  %9s  %6s  %7.1f %%  %6.0fms  %6.0fms  %6.0f %%  %7s  "
	       "%6" PRId64,
	    name, figure_count(all, asked.served + asked.wasted),
	    figure_count(peak, asked.peak),
	    percent(record->silent, record->awaited), 1000 * seconds(asked.p50),
	    1000 * seconds(asked.p99), percent(record->told, totals->served),
	    figure_count(
		retries, totals->served + totals->wasted - totals->clients),
	    totals->lost);
}

static bool
show_day(const struct day *day)
{
	static const struct variant variant = { .name = "fleet budget",
		.options = FLEET };
	const struct scenario scenario = { .clients = WAVE * day->each,
		.apart = day->span / (WAVE * day->each),
		.capacity = day->capacity,
		.width = NANOS_SECOND,
		.most = day->span + WATCH };
	const struct machine slow = { .latency = day->latency };
	struct policy policy = simulate_policy(&variant);
	const struct model model = { .scenario = &scenario,
		.policy = &policy,
		.machine = &slow,
		.host = day->each,
		.known = day->knows ? WAVE : 0,
		.mute = day->mute,
		.seed = 1 };
	struct run run;

	begin_run(&run, &model);
	show_numbers(day->name, &run);
	end_run(&run);
	return end_row(!day->answered ||
	    percent(run.record.silent, run.record.awaited) < 1);
}

bool
fleets_show_wave(void)
{
	bool well = true;

	printf("\nwave: %d hosts and a server of %d questions a second; all "
	       "commands fail within\na second, or 1 in 100 requests fails, "
	       "on an ordinary day\n\n%-24s  %9s  %6s  %9s  %8s  %8s  %8s  "
	       "%7s  %6s\n",
	    WAVE, FLEET_MODEL_CONNECTIONS, "", "questions", "peak/s",
	    "no answer", "p50", "p99", "told", "retries", "lost");
	for (size_t i = 0; i < sizeof days / sizeof *days; i++)
		well = show_day(&days[i]) && well;
	return well;
}
