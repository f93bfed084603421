/*
 * pace: commands that share a key, and a server that limits them, with real
 * processes.
 *
 *     pace RETRY CLIENT DIRECTORY [KIND]
 *
 * KIND is the name of one of the kinds of limits below. Each is asked by
 * commands without a key, by commands with one, and, if OLD names an older
 * program, by its commands with one, one after the other. RUNS is how often,
 * and what is shown are the medians. Each run has a key that is new. Writes the
 * rows of a table for doc/savings.md into the file DIRECTORY/pace.md. Exits
 * with 1 if a bar is missed.
 */
#include <err.h>
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "crowd.h"
#include "figure.h"
#include "limiter.h"
#include "text/number.h"

/* Who has not been served by then, or a multiple of the ideal, is lost. */
#define MOST (100 * NANOS_SECOND)
enum { MOST_IDEALS = 3 };

enum { PATH = 4096, RUNS_MOST = 15 };

/* What each kind is asked by. */
enum asker { ALONE, OLD, KEY, ASKERS };

struct kind {
	const char *name, *title;
	struct limiter limiter;
	int64_t items, at_once;
	double ideal; /* seconds until all are served */
	const char *options; /* of all commands; NULL: none of their own */
	/* The bars, in percent, 0 for none: the time, of the ideal and of that
	 * without a key; the refusals, of those without a key; and the time of
	 * the older program at least. */
	int64_t most_time, most_beside, most_refused, least_faster;
	int64_t most_lost; /* -1: any */
};

/* What came out of one run, or of several. */
struct outcome {
	size_t runs;
	double seconds; /* until the last one was served */
	double refused, lost;
	double at_once; /* most requests that the server had at a time */
	bool over; /* it was cut short: not all had ended */
};

#define S NANOS_SECOND
#define MS NANOS_MS

#define WINDOW(says_) \
	{ \
		.kind = LIMITER_WINDOW, .quota = 40, .period = 5 * S, \
		.says = (says_), .takes = 30 * MS \
	}
#define EIGHT(says_) \
	{ \
		.kind = LIMITER_AT_ONCE, .quota = 8, .says = (says_), \
		.takes = 200 * MS \
	}
#define BUCKET(rate_, burst_, says_) \
	.kind = LIMITER_BUCKET, .rate = (rate_), .burst = (burst_), \
	.says = (says_), .takes = 30 * MS

/* As xargs -P runs them; and how many seconds they take at best. */
#define QUEUE(items_, at_once_, ideal_) \
	.items = (items_), .at_once = (at_once_), .ideal = (ideal_)

static const struct kind kinds[] = {
	{ "window", "40 in each 5 s", WINDOW(LIMITER_REST), QUEUE(200, 32, 20),
	    .most_time = 115, .most_refused = 35 },
	{ "mute", "the same, no time named", WINDOW(LIMITER_SILENT),
	    QUEUE(200, 32, 20), .most_time = 125, .most_refused = 35 },
	{ "says-1", "the same, `Retry-After: 1` always", WINDOW(S),
	    QUEUE(200, 32, 20), .most_time = 120, .most_refused = 40 },
	{ "penalty", "the same, a refused request makes it longer",
	    { .kind = LIMITER_PENALTY,
		.quota = 40,
		.period = 5 * S,
		.takes = 30 * MS },
	    QUEUE(200, 32, 20), .most_time = 135, .most_refused = 35 },
	{ "eight", "8 at once, 0.2 s each, `Retry-After: 1`", EIGHT(S),
	    QUEUE(200, 32, 5), .most_time = 220, .most_refused = 50,
	    .least_faster = 250 },
	{ "eight-mute", "the same, no time named", EIGHT(LIMITER_SILENT),
	    QUEUE(200, 32, 5), .most_time = 220, .most_refused = 60,
	    .least_faster = 250 },
	{ "fifty", "bucket of 50 a second, burst 10", { BUCKET(50, 10, S) },
	    QUEUE(600, 32, 12), .most_time = 135, .most_refused = 40,
	    .least_faster = 250 },
	{ "ten", "bucket of 10 a second, burst 5", { BUCKET(10, 5, S) },
	    QUEUE(150, 32, 14.5), .most_time = 135, .most_refused = 40 },
	{ "burst-1", "bucket of 10 a second, burst 1", { BUCKET(10, 1, S) },
	    QUEUE(150, 32, 15), .most_time = 170, .most_refused = 25,
	    .least_faster = 250 },
	{ "ms", "bucket of 10 a second, burst 5, `retry-after-ms: 100`",
	    { BUCKET(10, 5, 100 * MS) }, QUEUE(150, 32, 14.5), .most_time = 135,
	    .most_refused = 50, .least_faster = 250 },
	/* It must not be slower than the older program, within the noise. */
	{ "slow", "bucket of 20 a second, burst 40, 2 s each",
	    { .kind = LIMITER_BUCKET,
		.rate = 20,
		.burst = 40,
		.says = S,
		.takes = 2 * S },
	    QUEUE(300, 100, 15), .most_time = 115, .most_refused = 30,
	    .least_faster = 95 },
	{ "chance-5", "5 of 100 refused by chance, `Retry-After: 1`",
	    { .kind = LIMITER_CHANCE,
		.percent = 5,
		.says = S,
		.takes = 100 * MS },
	    QUEUE(600, 32, 2.5), .most_beside = 160 },
	{ "chance-30", "30 of 100 by chance, no time",
	    { .kind = LIMITER_CHANCE,
		.percent = 30,
		.says = LIMITER_SILENT,
		.takes = 100 * MS },
	    QUEUE(600, 32, 4), .most_beside = 120 },
	/* That one gives up at once: its deadline comes first. */
	{ "one", "one of them answers 503 and `Retry-After: 120`",
	    { .kind = LIMITER_ONE,
		.client = 9,
		.status = 503,
		.says = 120 * S,
		.takes = 200 * MS },
	    QUEUE(200, 8, 6), .most_beside = 150, .most_lost = 1 },
	{ "wide", "100 in each 10 s",
	    { .kind = LIMITER_WINDOW,
		.quota = 100,
		.period = 10 * S,
		.takes = 30 * MS },
	    QUEUE(1000, 200, 90), .most_time = 110, .most_refused = 10 },
	/* Who is refused is lost. */
	{ "once", "`-n 1`, bucket of 10 a second, burst 5",
	    { BUCKET(10, 5, S) }, QUEUE(500, 32, 49.5), .options = "-n 1 ",
	    .most_refused = 15, .most_lost = -1 },

	/* Without bars but that nobody is lost: what else there is. */
	{ "two-windows", "10 in each second and 60 in each 15 s",
	    { .kind = LIMITER_WINDOW,
		.quota = 10,
		.period = S,
		.wide = 60,
		.breadth = 15 * S,
		.takes = 30 * MS },
	    QUEUE(150, 32, 32) },
	{ "exact",
	    "20 a second, burst 5, `retry-after-ms` until the next token",
	    { BUCKET(20, 5, LIMITER_REST) }, QUEUE(200, 32, 9.75) },
	{ "tarpit", "bucket of 10 a second, burst 5, a refusal takes 2 s",
	    { BUCKET(10, 5, S), .refuses = 2 * S }, QUEUE(150, 32, 14.5) },
	{ "backends", "two of them by chance, each 10 a second, burst 5",
	    { BUCKET(10, 5, S), .backends = 2 }, QUEUE(300, 32, 14.5) },
	{ "halves", "bucket of 40 a second, burst 10, 20 a second after 5 s",
	    { BUCKET(40, 10, S), .halves = 5 * S }, QUEUE(300, 32, 9.5) },
	{ "forbids", "403 and `Retry-After: 5`, 30 in any 5 s",
	    { .kind = LIMITER_SLIDING,
		.quota = 30,
		.period = 5 * S,
		.status = 403,
		.says = 5 * S,
		.takes = 30 * MS },
	    QUEUE(150, 32, 20) },
	{ "queue", "20 a second, who is early waits up to 1 s, then 429 alone",
	    { .kind = LIMITER_QUEUE,
		.rate = 20,
		.period = S,
		.says = LIMITER_SILENT,
		.takes = 30 * MS },
	    QUEUE(200, 64, 10) },
};

enum { KINDS = sizeof kinds / sizeof *kinds };

/* The programs, and where there is none for the older one: NULL. */
struct driver {
	const char *retry, *old, *client, *only;
	int64_t runs;
	char *table; /* cells of all kinds */
	size_t size;
	FILE *out, *rows;
	bool failed;
};

/* All askers of a run have the same chance. */
static void
run_once(const struct driver *driver, const struct kind *kind, enum asker asker,
    int64_t run, struct outcome *outcome)
{
	static const char *const names[] = { "without a key", "the old one",
		"with a key" };
	nanos most = number_greater(
	    MOST, (nanos)(kind->ideal * MOST_IDEALS * (double)S));
	struct programs programs = {
		.retry = asker == OLD ? driver->old : driver->retry,
		.client = driver->client,
	};
	char options[PATH];
	struct variant variant = { .name = names[asker], .options = options };
	struct scenario scenario = { .name = kind->name,
		.clients = kind->items,
		.at_once = kind->at_once,
		.limiter = &kind->limiter,
		.chance = (uint64_t)run,
		.most = most };
	struct cost cost = { .signal = 0 };
	struct totals totals;
	struct tally tally;

	snprintf(options, sizeof options, "--http -T 120 %s%s",
	    kind->options != NULL ? kind->options : "",
	    asker == ALONE ? "" : "-B storm ");
	tally_start(&tally, S);
	crowd_run(&programs, &scenario, &variant, &tally, &cost);
	if (cost.signal != 0) {
		raise(cost.signal);
		errx(1, "%s: cut short", kind->name);
	}
	totals = tally_sum(&tally, 0);
	*outcome = (struct outcome){
		.runs = 1,
		.seconds = tally.clients > 0
		    ? figure_seconds(tally.latencies[tally.clients - 1])
		    : 0,
		.refused = (double)totals.wasted,
		.lost = (double)(kind->items - (int64_t)tally.clients),
		.at_once = (double)cost.at_once,
		.over = cost.late > 0,
	};
	if (outcome->over)
		outcome->seconds = figure_seconds(most);
	fprintf(stderr, "%s: %s: %.1f s, %.0f refused, %.0f lost\n", kind->name,
	    variant.name, outcome->seconds, outcome->refused, outcome->lost);
	tally_end(&tally);
}

static int
ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Each figure by itself; of those that must not be at all, the most. */
static struct outcome
median(const struct outcome *all, size_t count)
{
	double seconds[RUNS_MOST], refused[RUNS_MOST];
	struct outcome made = { .runs = count };
	size_t over = 0;

	for (size_t i = 0; i < count; i++) {
		seconds[i] = all[i].seconds;
		refused[i] = all[i].refused;
		if (all[i].lost > made.lost)
			made.lost = all[i].lost;
		if (all[i].at_once > made.at_once)
			made.at_once = all[i].at_once;
		over += all[i].over;
	}
	qsort(seconds, count, sizeof *seconds, ascending);
	qsort(refused, count, sizeof *refused, ascending);
	made.over = over > count / 2;
	made.seconds = seconds[count / 2];
	made.refused = refused[count / 2];
	return made;
}

/* A row of the table that is printed. */
static void
put_row(FILE *out, const struct kind *kind, const struct outcome *outcomes)
{
	const struct outcome *alone = &outcomes[ALONE], *key = &outcomes[KEY];

	fprintf(out, "%s\t%g", kind->name, kind->ideal);
	for (const struct outcome *at = outcomes; at < outcomes + ASKERS;
	     at++) {
		fputc('\t', out);
		if (at->runs > 0)
			fprintf(out, "%s%.1f\t%.0f\t", at->over ? "over " : "",
			    at->seconds, at->refused);
		else
			fputs("\t\t", out);
		if (at->lost > 0)
			fprintf(out, "%.0f", at->lost);
	}
	fprintf(out, "\t%.2f\t", key->seconds / kind->ideal);
	if (alone->refused > 0)
		fprintf(out, "%.2f", key->refused / alone->refused);
	fprintf(out, "\t%.0f\n", key->at_once);
}

/* A row of a table in Markdown. */
static void
put_markdown(FILE *out, const struct kind *kind, const struct outcome *outcomes)
{
	fprintf(out, "| %s; %" PRId64 ", %" PRId64 " | %g |", kind->title,
	    kind->items, kind->at_once, kind->ideal);
	for (const struct outcome *at = outcomes; at < outcomes + ASKERS;
	     at++) {
		if (at->runs > 0)
			fprintf(out, " %s%.1f, %.0f", at->over ? "over " : "",
			    at->seconds, at->refused);
		if (at->lost > 0)
			fprintf(out, ", %.0f lost", at->lost);
		fputs(" |", out);
	}
	fputc('\n', out);
	fflush(out);
}

static bool
judge(const struct kind *kind, const struct outcome *outcomes)
{
	const struct outcome *alone = &outcomes[ALONE], *key = &outcomes[KEY];
	const struct outcome *old = &outcomes[OLD];
	const struct {
		const char *what;
		double value, most; /* NAN: there is no bar */
	} bars[] = {
		{ "seconds", key->seconds,
		    kind->most_time > 0
			? kind->ideal * (double)kind->most_time / 100
			: (double)NAN },
		{ "seconds beside those without a key", key->seconds,
		    kind->most_beside > 0
			? alone->seconds * (double)kind->most_beside / 100
			: (double)NAN },
		{ "refused", key->refused,
		    kind->most_refused > 0
			? alone->refused * (double)kind->most_refused / 100
			: (double)NAN },
		{ "seconds beside the old one", key->seconds,
		    old->runs > 0 && kind->least_faster > 0
			? old->seconds * 100 / (double)kind->least_faster
			: (double)NAN },
		{ "lost", key->lost,
		    kind->most_lost >= 0 ? (double)kind->most_lost
					 : (double)NAN },
	};
	bool well = true;

	for (size_t i = 0; i < sizeof bars / sizeof *bars; i++) {
		bool good = bars[i].value <= bars[i].most;

		if (isnan(bars[i].most))
			continue;
		printf("%s: %s: %s %.4g, at most %.4g\n",
		    good ? "ok" : "MISSED", kind->name, bars[i].what,
		    bars[i].value, bars[i].most);
		well = well && good;
	}
	return well;
}

static void
run_kind(struct driver *driver, const struct kind *kind)
{
	struct outcome runs[ASKERS][RUNS_MOST];
	struct outcome outcomes[ASKERS] = { 0 };
	bool old = driver->old != NULL;

	for (int64_t n = 0; n < driver->runs; n++)
		for (enum asker asker = ALONE; asker < ASKERS; asker++)
			if (asker != OLD || old)
				run_once(
				    driver, kind, asker, n, &runs[asker][n]);
	for (enum asker asker = ALONE; asker < ASKERS; asker++)
		if (asker != OLD || old)
			outcomes[asker] =
			    median(runs[asker], (size_t)driver->runs);
	put_row(driver->out, kind, outcomes);
	put_markdown(driver->rows, kind, outcomes);
	if (!judge(kind, outcomes))
		driver->failed = true;
	fflush(stdout);
}

int
main(int argc, char **argv)
{
	const char *old = getenv("OLD"), *runs = getenv("RUNS");
	struct driver driver = { .runs = 1 };
	char path[PATH];
	bool any = false;

	if (argc < 4 || argc > 5)
		errx(1, "RETRY CLIENT DIRECTORY [KIND]");
	driver.retry = argv[1];
	driver.client = argv[2];
	driver.only = argc > 4 ? argv[4] : NULL;
	driver.old = old != NULL && old[0] != '\0' ? old : NULL;
	if (runs != NULL && runs[0] != '\0')
		driver.runs = atol(runs);
	if (driver.runs < 1 || driver.runs > RUNS_MOST || driver.runs % 2 == 0)
		errx(1, "RUNS: an odd number up to %d", RUNS_MOST);
	snprintf(path, sizeof path, "%s/pace.md", argv[3]);
	driver.rows = fopen(path, driver.only == NULL ? "we" : "ae");
	driver.out = open_memstream(&driver.table, &driver.size);
	if (driver.rows == NULL || driver.out == NULL)
		err(1, "%s", path);

	fputs("\t\twithout a key\t\t\told, -B\t\t\t-B\t\t\tof the\tof those\t"
	      "at\n\tideal\tseconds\trefused\tlost\tseconds\trefused\tlost\t"
	      "seconds\trefused\tlost\tideal\trefused\tonce\n",
	    driver.out);
	for (size_t i = 0; i < KINDS; i++) {
		if (driver.only != NULL &&
		    strcmp(driver.only, kinds[i].name) != 0)
			continue;
		run_kind(&driver, &kinds[i]);
		any = true;
	}
	if (!any)
		errx(1, "no such kind");
	fclose(driver.out);
	fclose(driver.rows);
	puts("");
	figure_columns(driver.table);
	free(driver.table);
	return driver.failed;
}
