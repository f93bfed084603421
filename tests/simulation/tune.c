#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "text/number.h"
#include "simulate.h"

/* Enough of them to open the breaker, and when the others come. */
enum { SCOUTS = 20 };
#define LEAD(latency) (2 * (latency) + NANOS_SECOND)

#define OUTAGE (10 * NANOS_SECOND)

/* With so many clients all seeds give nearly the same result. */
enum { SEEDS = 5, LARGE = 10000 };

/* How long a run may take until all are served. */
enum { PATIENCE = 20 };

static const nanos latencies[] = { NANOS_MS, 50 * NANOS_MS, NANOS_SECOND,
	5 * NANOS_SECOND };
static const int64_t rates[] = { 20, 200, 2000 };
static const int64_t crowds[] = { 50, 1000, 10000 };

/* The capacity of a dependency that is up and practically without limit. */
static const int64_t flaky[] = { 0, 100, 50, 20, 10, 5 };
enum { AMPLE = 1000000 };

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* The circumstances of a cell of the table. */
struct circumstance {
	struct scenario scenario;
	struct machine machine;
	nanos limit; /* of the last client's latency */
};

static struct circumstance
make(
    const struct scenario *scenario, nanos latency, int64_t rate, int64_t crowd)
{
	struct circumstance it = { .scenario = *scenario,
		.machine = { .latency = latency } };

	it.limit = OUTAGE + crowd * NANOS_SECOND / rate + latency;
	it.scenario.clients = SCOUTS + crowd;
	it.scenario.apart = 0;
	it.scenario.width = 10 * NANOS_MS;
	it.scenario.capacity.rate = rate;
	it.scenario.capacity.end = LEAD(latency) + OUTAGE;
	it.scenario.most = LEAD(latency) + PATIENCE * it.limit;
	return it;
}

/* Requests wasted after the outage. */
static int64_t
wasted_after(const struct circumstance *it, const struct tally *tally)
{
	int64_t wasted = 0;

	for (size_t i = 0; i < tally->count; i++)
		if ((nanos)i * tally->width >= it->scenario.capacity.end)
			wasted += tally->bins[i].rejected;
	return wasted;
}

/* How many times the limit. If clients are lost, they have waited for
 * PATIENCE times as long. */
static void
show_times(const struct circumstance *it, nanos latency)
{
	if (latency == NANOS_MAX)
		printf("  >%5dx", PATIENCE);
	else
		printf("  %6.2fx", (double)latency / (double)it->limit);
}

/* All seeds: the mean and the worst. */
static void
show(const struct circumstance *it, const struct policy *policy)
{
	uint64_t seeds = it->scenario.clients > LARGE ? 1 : SEEDS;
	int64_t sum = 0, most = 0, lost = 0;
	nanos p99 = 0, last = 0;

	for (uint64_t seed = 1; seed <= seeds; seed++) {
		const struct model model = { .scenario = &it->scenario,
			.policy = policy,
			.machine = &it->machine,
			.host = it->scenario.clients,
			.scouts = SCOUTS,
			.lead = LEAD(it->machine.latency),
			.seed = seed };
		struct tally tally;
		struct totals totals = simulate_run(&model, &tally);
		int64_t wasted = wasted_after(it, &tally);

		sum += wasted;
		most = number_greater(most, wasted);
		lost = number_greater(lost, totals.lost);
		p99 = number_greater(p99, totals.p99);
		last = number_greater(last, totals.max);
		tally_end(&tally);
	}
	printf("  %7" PRId64 "  %7" PRId64, sum / (int64_t)seeds, most);
	show_times(it, p99);
	show_times(it, last);
	printf("  %6" PRId64 "\n", lost);
	fflush(stdout);
}

static void
show_overload(const struct scenario *scenario, const struct policy *policy)
{
	char room[FIGURE_ROOM];

	for (size_t i = 0; i < COUNT(latencies); i++)
		for (size_t j = 0; j < COUNT(rates); j++)
			for (size_t k = 0; k < COUNT(crowds); k++) {
				struct circumstance it = make(scenario,
				    latencies[i], rates[j], crowds[k]);

				printf("%7s  %6" PRId64 "/s  %7" PRId64,
				    figure_time(room, latencies[i]), rates[j],
				    crowds[k]);
				show(&it, policy);
			}
}

static void
show_flaky(const struct scenario *scenario, const struct policy *policy)
{
	char room[FIGURE_ROOM];

	for (size_t i = 0; i < COUNT(latencies); i++)
		for (size_t j = 0; j < COUNT(flaky); j++) {
			struct circumstance it =
			    make(scenario, latencies[i], AMPLE, LARGE);

			it.scenario.capacity.flaky = flaky[j];
			printf("%7s  1 in %3" PRId64 "  %7d",
			    figure_time(room, latencies[i]), flaky[j], LARGE);
			show(&it, policy);
		}
}

static void
show_heading(const char *second)
{
	printf("\n                              wasted after   over the limit\n"
	       "request  %s  clients     mean     most     p99     "
	       "last    lost\n",
	    second);
}

static void
show_table(
    const struct scenario *scenario, const struct variant *variant, bool paid)
{
	struct policy policy = simulate_policy(variant);

	if (paid)
		policy.budget.terms.min = SEGMENT_MIN_MOST;
	printf("%s, %s%s: the worst of %d seeds; all but %d come to an open "
	       "breaker\n",
	    scenario->name, variant->name, paid ? ", every retry paid for" : "",
	    SEEDS, SCOUTS);
	show_heading("capacity");
	show_overload(scenario, &policy);
	if (!paid)
		return;
	show_heading("  fails ");
	show_flaky(scenario, &policy);
}

bool
tune_show(void)
{
	for (const struct scenario *at = scenarios; at->name != NULL; at++)
		for (const struct variant *variant = at->variants;
		     variant->name != NULL; variant++) {
			if (strstr(variant->options, "--breaker") == NULL)
				continue;
			show_table(at, variant, true);
			show_table(at, variant, false);
			return true;
		}
	return false;
}
