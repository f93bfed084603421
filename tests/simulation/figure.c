#include "figure.h"

#include <err.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMNS = 24, HEADINGS = 2, TEXTS = 16, ROOM = 32 };

/* The table that is being printed. */
static char *text;
static size_t size;

FILE *
figure_begin(void)
{
	FILE *table = open_memstream(&text, &size);

	if (table == NULL)
		err(1, "table");
	return table;
}

void
figure_end(FILE *table)
{
	int widths[COLUMNS] = { 0 };
	bool used[COLUMNS] = { true };

	fclose(table);
	/* First it only finds how wide the columns are. */
	for (int pass = 0; pass < 2; pass++) {
		const char *at = text;

		for (int line = 0, column = 0; at < text + size;) {
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
	free(text);
	fflush(stdout);
}

/* A number that is unknown, or of no interest, is 0. */
static const char *
known(double number)
{
	return number > 0 ? figure_count((int64_t)(number + 0.5)) : "";
}

/* A cell with how many units that is, where both are known. */
static void
put_ratio(FILE *out, int decimals, double number, double unit)
{
	if (number > 0 && unit > 0)
		fprintf(out, "%.*fx", decimals, number / unit);
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
figure_table(
    const struct scenario *scenario, const struct result *results, size_t count)
{
	double limit = figure_seconds(scenario_limit(scenario));
	FILE *out = figure_begin();

	fputs("\twasted\t\tof them\tpeak\tover\tpeak\t\t\t\t\t\tover\t\tnot"
	      "\tfleet's\tserver's\n"
	      "\trequests\t(publ.)\tretries\tarrive/s\tcapac.\tserved/s\t"
	      "(publ.)\tstable\tp50\tp99\t(publ.)\tlimit\tmax\tserved\t"
	      "questions\tCPU\n",
	    out);
	for (const struct result *at = results; at < results + count; at++) {
		const struct variant *variant = at->variant;
		const struct totals *totals = &at->totals;
		/* Requests in one bin, as a rate. */
		double bins =
		    totals->width > 0 ? 1 / figure_seconds(totals->width) : 0;
		double peak = (double)totals->peak * bins;

		fprintf(out, "%s\t%s\t%s\t%s\t%s\t", variant->name,
		    figure_count(totals->wasted),
		    known((double)variant->published_wasted),
		    scenario->hosts > 0 ? figure_count(totals->retries) : "",
		    known(peak));
		put_ratio(out, 1, peak, (double)scenario->capacity.rate);
		fprintf(out, "%s\t%s\t%s\t",
		    known((double)totals->peak_served * bins),
		    known((double)variant->published_peak),
		    figure_time(totals->stable));
		put_latency(out, variant, totals->p50);
		put_latency(out, variant, totals->p99);
		fprintf(out, "%s\t",
		    variant->published_p99 > 0
			? figure_time(variant->published_p99)
			: "");
		put_ratio(out, 2,
		    totals->p99 < NANOS_MAX ? figure_seconds(totals->p99) : 0,
		    limit);
		put_latency(out, variant, totals->max);
		fprintf(out, "%s\t%s\t%s\n", known((double)totals->lost),
		    known((double)at->questions),
		    at->questions > 0 ? figure_time(at->redis) : "");
	}
	figure_end(out);
	if (limit > 0)
		printf("physical limit: 0 wasted, the last is served after "
		       "%s\n",
		    figure_time(scenario_limit(scenario)));
	if (scenario->source != NULL)
		printf("(publ.): %s\n", scenario->source);
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
	char digits[ROOM], *to = room(), *made = to;
	int left = snprintf(digits, sizeof digits, "%" PRId64, value);

	for (const char *from = digits; *from != '\0'; from++) {
		*to++ = *from;
		if (--left > 0 && left % 3 == 0 && *from != '-')
			*to++ = ',';
	}
	*to = '\0';
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
