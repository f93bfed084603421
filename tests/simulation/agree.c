/*
 * Simulates each variant of which TALLY_FILE has totals on a machine like the
 * one that they are from, and prints both. The wasted requests must be near;
 * over hosts, also the retries and the p99.
 */
#include <inttypes.h>
#include <stdlib.h>
#include "simulate.h"

/*
 * How far wasted requests may be from those of the real run: in percent, or one
 * for every twenty clients. Real runs in which little is wasted differ by as
 * much: by attempts that had begun before the breaker opened, or a moment
 * before an outage of 200 ms.
 */
enum { PERCENT = 15, SOME = 50 };

/*
 * Where other processes used more percent of the machine, the runs are not
 * compared: nobody knows how much they slowed the storm down.
 */
enum { OTHERS = 10 };

/* The cost of an attempt, where it was not measured. */
static const struct machine guess = {
	.cores = 2,
	.start = 600000,
	.attempt = 1200000,
};

/* The scenario in which every client makes one attempt. */
static const char *const calm[] = { "calm", "one attempt" };

/*
 * What the machine must be like. A client that makes one attempt costs its
 * start and the attempt; what more there is to the run with the most requests,
 * is further attempts.
 */
static struct machine
machine_of(FILE *file)
{
	struct totals once, many = { .wasted = 0 }, totals;
	struct machine machine = guess;
	nanos attempt;

	if (!tally_find(file, calm[0], calm[1], &once) || once.clients == 0 ||
	    once.cpu == 0)
		return guess;
	machine.cores = once.cores;
	for (const struct scenario *at = scenarios; at->name != NULL; at++)
		for (size_t i = 0; at->variants[i].name != NULL; i++)
			if (tally_find(file, at->name, at->variants[i].name,
				&totals) &&
			    totals.cpu > 0 && totals.wasted > many.wasted)
				many = totals;
	if (many.served + many.wasted <= 2 * many.clients)
		return machine;
	attempt = (many.cpu - once.cpu / once.clients * many.clients) /
	    (many.served + many.wasted - many.clients);
	machine.attempt = attempt > 0 ? attempt : guess.attempt;
	machine.start = once.cpu / once.clients - machine.attempt;
	if (machine.start < 0)
		machine.start = 0;
	return machine;
}

/* How long a core is busy with that work if others use so many percent of
 * it meanwhile. */
static nanos
shared(nanos work, int64_t others)
{
	return others < 100 ? work * 100 / (100 - others) : work;
}

/*
 * The same machine in one run. An attempt costs more where a thousand take
 * turns and nothing of theirs is left in a cache: so that run says how much,
 * unless its clients were busy otherwise, asking a budget again and again.
 */
static struct machine
machine_in(const struct machine *machine, const struct variant *variant,
    const struct totals *real)
{
	struct machine own = *machine;
	nanos attempt = (real->cpu - machine->start * real->clients) /
	    (real->served + real->wasted);

	if (attempt > 0 && simulate_policy(variant).budget.key == NULL)
		own.attempt = attempt;
	own.start = shared(own.start, real->others);
	own.attempt = shared(own.attempt, real->others);
	return own;
}

/* How many more there are in the simulation, in percent of the real ones. */
static double
difference(int64_t simulated, int64_t real)
{
	if (real == 0)
		return simulated == 0 ? 0 : 100;
	return 100 * (double)(simulated - real) / (double)real;
}

/* From the best one to the worst one. */
enum likeness { NEAR, NEAR_BY_FEW, APART, UNKNOWN };

static enum likeness
liken(int64_t simulated, int64_t real)
{
	double percent = difference(simulated, real);
	int64_t more = simulated - real;

	if (percent <= PERCENT && percent >= -PERCENT)
		return NEAR;
	return more <= SOME && more >= -SOME ? NEAR_BY_FEW : APART;
}

/*
 * Over hosts, the retries and the p99 have to be near, too. All first attempts
 * fail there, and are most of what is wasted, but budgets decide only about the
 * retries.
 */
static enum likeness
liken_all(const struct scenario *scenario, const struct totals *simulated,
    const struct totals *real)
{
	const enum likeness likenesses[] = {
		liken(simulated->wasted, real->wasted),
		liken(simulated->retries, real->retries),
		liken(simulated->p99, real->p99),
	};
	enum likeness worst = likenesses[0];

	for (size_t i = 1; i < 3 && scenario->hosts > 0; i++)
		if (likenesses[i] > worst)
			worst = likenesses[i];
	return worst != NEAR && real->others > OTHERS ? UNKNOWN : worst;
}

/* A row without its end. */
static void
put(FILE *out, const char *name, const struct totals *totals)
{
	fprintf(out, "%s\t%s\t%s\t%s\t%s\t%" PRId64, name,
	    figure_count(totals->wasted), figure_count(totals->retries),
	    figure_time(totals->p50), figure_time(totals->p99), totals->lost);
}

/* Prints both runs. */
static enum likeness
compare(FILE *out, const struct scenario *scenario,
    const struct variant *variant, const struct machine *machine,
    const struct totals *real)
{
	static const char *const words[] = { "", "(by few)", "DIFFERS",
		"(others had much of the machine)" };
	struct machine own = machine_in(machine, variant, real);
	struct totals simulated = simulate_median(scenario, variant, &own);
	enum likeness likeness = liken_all(scenario, &simulated, real);
	char name[64];

	snprintf(name, sizeof name, "%s: %s", scenario->name, variant->name);
	put(out, name, real);
	fputc('\n', out);
	put(out, "  simulated", &simulated);
	fprintf(out, "\t%+.1f %%\t%+.1f %%\t%s\n",
	    difference(simulated.wasted, real->wasted),
	    difference(simulated.retries, real->retries), words[likeness]);
	return likeness;
}

bool
agree_show(void)
{
	FILE *file = fopen(TALLY_FILE, "re");
	struct machine machine;
	struct totals real;
	FILE *out;
	int counts[UNKNOWN + 1] = { 0 }, missing = 0;

	if (file == NULL) {
		printf("\nno %s: make storm writes what this could be compared "
		       "with\n",
		    TALLY_FILE);
		return true;
	}
	machine = machine_of(file);
	printf("\nbeside the storms with processes; simulated on %" PRId64
	       " cores, %.2f ms of one to start\na client, and what an attempt "
	       "took there, %.2f ms at best; the middle one of %d\nseeds; by "
	       "few: %d or fewer\n\n",
	    machine.cores, (double)machine.start / 1e6,
	    (double)machine.attempt / 1e6, SIMULATE_SEEDS, SOME);
	out = figure_begin();
	fputs("\n\twasted\tretries\tp50\tp99\tlost\twasted\tretries\n", out);
	for (const struct scenario *at = scenarios; at->name != NULL; at++)
		for (size_t i = 0; at->variants[i].name != NULL; i++) {
			const struct variant *variant = &at->variants[i];

			/* The simulated server of a fleet does not fail. */
			if (variant->fault != REDIS_SOUND || variant->simulated)
				continue;
			if (tally_find(file, at->name, variant->name, &real))
				counts[compare(
				    out, at, variant, &machine, &real)]++;
			else
				missing++;
		}
	figure_end(out);
	printf("\n%d within %d %%, %d by few requests, %d differ, %d not "
	       "judged since others were busy,\n%d not run with processes\n",
	    counts[NEAR], PERCENT, counts[NEAR_BY_FEW], counts[APART],
	    counts[UNKNOWN], missing);
	fclose(file);
	return counts[APART] == 0;
}
