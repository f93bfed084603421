#include "figure.h"

#include <err.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMNS = 24, HEADINGS = 2, TEXTS = 32, ROOM = 32 };

void
figure_columns(const char *text)
{
	int widths[COLUMNS] = { 0 };
	bool used[COLUMNS] = { true };

	/* First it only finds how wide the columns are. */
	for (int pass = 0; pass < 2; pass++) {
		const char *at = text;

		for (int line = 0, column = 0; *at != '\0';) {
			int length = (int)strcspn(at, "\t\n");
			int width = widths[column];

			if (length > width)
				widths[column] = length;
			used[column] |= line >= HEADINGS && length > 0;
			if (pass == 1 && used[column])
				printf("%s%*.*s", column == 0 ? "" : "  ",
				    column == 0 ? -width : width, length, at);
			column++;
			at += length + 1;
			if (at[-1] == '\t')
				continue;
			line++;
			column = 0;
			if (pass == 1)
				putchar('\n');
		}
	}
	fflush(stdout);
}

/* A number that is unknown, or of no interest, is 0. */
static const char *
known(int64_t number)
{
	return number > 0 ? figure_count(number) : "";
}

static void
put_percent(FILE *out, int64_t part, int64_t whole)
{
	if (whole > 0)
		fprintf(out, "%.1f %%", 100 * (double)part / (double)whole);
	fputc('\t', out);
}

/* A cell with when clients were served. Those who were still waiting when
 * watching ended may have been served later. */
static void
put_latency(FILE *out, const struct variant *variant, nanos time)
{
	bool over = time == NANOS_MAX && variant->until > 0;

	fprintf(out, "%s%s\t", over ? "over " : "",
	    figure_time(over ? variant->until : time));
}

void
figure_table(const struct result *results, size_t count)
{
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (out == NULL)
		err(1, "table");
	fputs("\twasted\t\tafter the\tof them\t\t\t\t\tphysical\tover\tnot\t"
	      "fleet's\t\tno\tsuccesses\topen\tserver's\n"
	      "\trequests\t(publ.)\toutage\tretries\tp50\tp99\t(publ.)\tmax\t"
	      "limit\tlimit\tserved\tquestions\ta second\tanswer\ttold\t"
	      "at most\tCPU\n",
	    out);
	for (const struct result *at = results; at < results + count; at++) {
		const struct variant *variant = at->variant;
		const struct totals *totals = &at->totals;
		nanos published = variant->published_p99;
		nanos limit = scenario_limit(at->scenario);

		fprintf(out, "%s\t%s\t%s\t%s\t%s\t",
		    at->name != NULL ? at->name : variant->name,
		    figure_count(totals->wasted),
		    known(variant->published_wasted),
		    known(at->scenario->capacity.end > 0 ? totals->after : 0),
		    figure_count(totals->retries));
		put_latency(out, variant, totals->p50);
		put_latency(out, variant, totals->p99);
		fprintf(
		    out, "%s\t", published > 0 ? figure_time(published) : "");
		put_latency(out, variant, totals->max);
		fprintf(out, "%s\t", limit > 0 ? figure_time(limit) : "");
		if (limit > 0 && totals->p99 < NANOS_MAX)
			fprintf(out, "%.2fx",
			    figure_seconds(totals->p99) /
				figure_seconds(limit));
		fprintf(out, "\t%s\t%s\t%s\t", known(totals->lost),
		    known(at->asked.questions), known(at->asked.peak));
		put_percent(out, at->asked.silent, at->asked.awaited);
		put_percent(out, at->asked.told, at->asked.served);
		fprintf(out, "%s\t%s\n", known(at->asked.open),
		    at->asked.cpu > 0 ? figure_time(at->asked.cpu) : "");
	}
	fclose(out);
	figure_columns(text);
	free(text);
}

/* The result of the variant beside which the last one is shown, or NULL. */
static const struct result *
find_beside(const struct result *results, size_t count)
{
	const char *name = results[count - 1].variant->beside;

	for (size_t i = 0; i + 1 < count && name != NULL; i++)
		if (strcmp(results[i].variant->name, name) == 0)
			return &results[i];
	return NULL;
}

/* 0: there is no bar. */
static double
bar(int64_t most, double unit)
{
	return most > 0 ? (double)most * unit : (double)NAN;
}

bool
figure_judge(const struct result *results, size_t count)
{
	const struct result *result = &results[count - 1];
	const struct result *other = find_beside(results, count);
	const struct variant *variant = result->variant;
	const struct totals *totals = &result->totals, none = { 0 };
	const struct totals *beside = other != NULL ? &other->totals : &none;
	double percent = figure_seconds(scenario_limit(result->scenario)) / 100;
	double all = figure_seconds(beside->max);
	bool well = true;
	const struct {
		const char *what;
		double value, most, beside, published;
	} bars[] = {
		{ "wasted", (double)totals->wasted,
		    bar(variant->most_wasted, 1), (double)beside->wasted,
		    (double)variant->published_wasted },
		{ "retries wasted", (double)totals->retries,
		    bar(variant->most_retries, 1), (double)beside->retries, 0 },
		{ "retries wasted", (double)totals->retries,
		    other == NULL ? (double)NAN
				  : bar(variant->most_beside,
					(double)beside->retries / 100),
		    (double)beside->retries, 0 },
		{ "given up", (double)totals->lost, bar(variant->most_lost, 1),
		    (double)beside->lost, 0 },
		{ "p99 in seconds", figure_seconds(totals->p99),
		    bar(variant->most_p99, percent),
		    figure_seconds(beside->p99),
		    figure_seconds(variant->published_p99) },
		{ "all served after seconds", figure_seconds(totals->max),
		    bar(variant->most_max, percent), all, 0 },
		{ "all served after seconds", figure_seconds(totals->max),
		    bar(variant->most_time, 1 / (double)NANOS_SECOND), all, 0 },
		{ "all served after seconds", figure_seconds(totals->max),
		    other == NULL ? (double)NAN
				  : bar(variant->most_longer, all / 100),
		    all, 0 },
		{ "questions without an answer", (double)result->asked.silent,
		    bar(variant->most_silent,
			(double)result->asked.awaited / 100),
		    0, 0 },
	};

	if (variant->beside != NULL && other == NULL)
		printf("%s: not compared, as %s was not run\n", variant->name,
		    variant->beside);
	for (size_t i = 0; i < sizeof bars / sizeof *bars; i++) {
		double value = bars[i].value, published = bars[i].published;
		bool near = variant->near && published > 0, good;

		if (isnan(bars[i].most) && !near)
			continue;
		/* What is published is for simulated clients, and for the same
		 * settings. */
		good = near
		    ? fabs(value - published) <= published * SCENARIO_NEAR / 100
		    : value <= bars[i].most && !isinf(value);
		printf("%s: %s: %s %.4g, %s %.4g", good ? "ok" : "MISSED",
		    variant->name, bars[i].what, value,
		    near ? "published" : "at most",
		    near ? published : bars[i].most);
		if (other != NULL)
			printf("; %s %.4g", variant->beside, bars[i].beside);
		puts("");
		well = well && good;
	}
	return well;
}

/* Where the next text is made. */
static char *
room(void)
{
	static char rooms[TEXTS][ROOM];
	static unsigned next;

	return rooms[next++ % TEXTS];
}

const char *
figure_count(int64_t value)
{
	char *made = room();

	if (value < 1000)
		snprintf(made, ROOM, "%" PRId64, value);
	else
		snprintf(made, ROOM, "%s,%03d", figure_count(value / 1000),
		    (int)(value % 1000));
	return made;
}

const char *
figure_time(nanos time)
{
	double seconds = figure_seconds(time);
	char *made = room();

	if (time == NANOS_MAX)
		return "never";
	snprintf(made, ROOM, "%.*fs", seconds < 9.995 ? 2 : 1, seconds);
	return made;
}

double
figure_seconds(nanos time)
{
	return time == NANOS_MAX ? (double)INFINITY
				 : (double)time / (double)NANOS_SECOND;
}
