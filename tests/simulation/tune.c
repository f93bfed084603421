/*
 * The storm of the first variant with a breaker, in which all clients but a few
 * come when the breaker is open already: with requests, capacities and numbers
 * of clients from small to large, and several seeds. First every retry is paid
 * for, so that nothing counts but the breaker.
 */
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

/* How many times the limit. If clients are lost, they have waited for
 * PATIENCE times as long. */
static void
put_times(FILE *out, const struct circumstance *it, nanos latency)
{
	if (latency == NANOS_MAX)
		fprintf(out, "\t>%dx", PATIENCE);
	else
		fprintf(out, "\t%.2fx", (double)latency / (double)it->limit);
}

/* All seeds: the mean and the worst of what was wasted after the outage. */
static void
put_results(
    FILE *out, const struct circumstance *it, const struct policy *policy)
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
		int64_t wasted = 0;

		for (size_t i = 0; i < tally.count; i++)
			if ((nanos)i * tally.width >= it->scenario.capacity.end)
				wasted += tally.bins[i].rejected;
		sum += wasted;
		most = number_greater(most, wasted);
		lost = number_greater(lost, totals.lost);
		p99 = number_greater(p99, totals.p99);
		last = number_greater(last, totals.max);
		tally_end(&tally);
	}
	fprintf(out, "\t%" PRId64 "\t%" PRId64, sum / (int64_t)seeds, most);
	put_times(out, it, p99);
	put_times(out, it, last);
	fprintf(out, "\t%" PRId64 "\n", lost);
}

/* First where every retry is paid for. */
static void
show_table(
    const struct scenario *scenario, const struct variant *variant, bool paid)
{
	struct policy policy = simulate_policy(variant);
	FILE *out = figure_begin();

	if (paid)
		policy.budget.terms.min = SEGMENT_MIN_MOST;
	printf("%s, %s%s: the worst of %d seeds; all but %d come to an open "
	       "breaker\n\n",
	    scenario->name, variant->name, paid ? ", every retry paid for" : "",
	    SEEDS, SCOUTS);
	fputs("\tcapacity\t\twasted after\t\tover the limit\n"
	      "request\tor fails\tclients\tmean\tmost\tp99\tlast\tlost\n",
	    out);
	for (size_t i = 0; i < COUNT(latencies); i++)
		for (size_t j = 0; j < COUNT(rates); j++)
			for (size_t k = 0; k < COUNT(crowds); k++) {
				struct circumstance it = make(scenario,
				    latencies[i], rates[j], crowds[k]);

				fprintf(out, "%s\t%" PRId64 "/s\t%" PRId64,
				    figure_time(latencies[i]), rates[j],
				    crowds[k]);
				put_results(out, &it, &policy);
			}
	for (size_t i = 0; paid && i < COUNT(latencies); i++)
		for (size_t j = 0; j < COUNT(flaky); j++) {
			struct circumstance it =
			    make(scenario, latencies[i], AMPLE, LARGE);

			it.scenario.capacity.flaky = flaky[j];
			fprintf(out, "%s\t1 in %" PRId64 "\t%d",
			    figure_time(latencies[i]), flaky[j], LARGE);
			put_results(out, &it, &policy);
		}
	figure_end(out);
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
