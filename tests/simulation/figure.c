#include "figure.h"

#include <inttypes.h>
#include <string.h>

/* Room for the text of a cell. */
#define CELL 64

enum column {
	NAME,
	WASTED,
	WASTED_PUBLISHED,
	RETRIES,
	PEAK,
	PEAK_OVER_CAPACITY,
	PEAK_SERVED,
	PEAK_PUBLISHED,
	STABLE,
	P50,
	P99,
	P99_PUBLISHED,
	P99_OVER_LIMIT,
	MAX,
	LOST,
	QUESTIONS,
	REDIS,
	COLUMNS,
};

/* The two lines of each heading. */
static const char *const headings[COLUMNS][2] = {
	[NAME] = { "", "" },
	[WASTED] = { "wasted", "requests" },
	[WASTED_PUBLISHED] = { "", "(publ.)" },
	[RETRIES] = { "of them", "retries" },
	[PEAK] = { "peak", "arrive/s" },
	[PEAK_OVER_CAPACITY] = { "over", "capac." },
	[PEAK_SERVED] = { "peak", "served/s" },
	[PEAK_PUBLISHED] = { "", "(publ.)" },
	[STABLE] = { "", "stable" },
	[P50] = { "", "p50" },
	[P99] = { "", "p99" },
	[P99_PUBLISHED] = { "", "(publ.)" },
	[P99_OVER_LIMIT] = { "over", "limit" },
	[MAX] = { "", "max" },
	[LOST] = { "not", "served" },
	[QUESTIONS] = { "fleet's", "questions" },
	[REDIS] = { "server's", "CPU" },
};

static double
seconds(nanos time)
{
	return (double)time / (double)NANOS_SECOND;
}

static size_t
greater(size_t a, size_t b)
{
	return a > b ? a : b;
}

/* A number that is unknown, or of no interest, is 0. */
static void
put_count(char room[CELL], double number)
{
	if (number > 0)
		figure_count(room, (int64_t)(number + 0.5));
}

static void
put_ratio(char room[CELL], int decimals, double number, double unit)
{
	if (number > 0 && unit > 0)
		snprintf(room, CELL, "%.*fx", decimals, number / unit);
}

/* When clients were served. Those who were still waiting when watching ended
 * may have been served later. */
static void
put_latency(char room[CELL], const struct variant *variant, nanos time)
{
	char text[FIGURE_ROOM];

	if (time == NANOS_MAX && variant->until > 0)
		snprintf(
		    room, CELL, "over %s", figure_time(text, variant->until));
	else
		figure_time(room, time);
}

/* The texts of a run: empty where it has nothing to say. */
static void
fill(char cells[COLUMNS][CELL], const struct scenario *scenario,
    const struct result *result)
{
	const struct variant *variant = result->variant;
	const struct totals *totals = &result->totals;
	/* Requests in one bin, as a rate. */
	double bins = totals->width > 0 ? 1 / seconds(totals->width) : 0;
	double peak = (double)totals->peak * bins;

	memset(cells, 0, COLUMNS * CELL);
	snprintf(cells[NAME], CELL, "%s", variant->name);
	figure_count(cells[WASTED], totals->wasted);
	put_count(cells[WASTED_PUBLISHED], (double)variant->published_wasted);
	if (scenario->hosts > 0)
		figure_count(cells[RETRIES], totals->retries);
	put_count(cells[PEAK], peak);
	put_ratio(cells[PEAK_OVER_CAPACITY], 1, peak,
	    (double)scenario->capacity.rate);
	put_count(cells[PEAK_SERVED], (double)totals->peak_served * bins);
	put_count(cells[PEAK_PUBLISHED], (double)variant->published_peak);
	figure_time(cells[STABLE], totals->stable);
	put_latency(cells[P50], variant, totals->p50);
	put_latency(cells[P99], variant, totals->p99);
	if (variant->published_p99 > 0)
		figure_time(cells[P99_PUBLISHED], variant->published_p99);
	if (totals->p99 < NANOS_MAX)
		put_ratio(cells[P99_OVER_LIMIT], 2, seconds(totals->p99),
		    seconds(scenario_limit(scenario)));
	put_latency(cells[MAX], variant, totals->max);
	put_count(cells[LOST], (double)totals->lost);
	put_count(cells[QUESTIONS], (double)result->questions);
	if (result->questions > 0)
		figure_time(cells[REDIS], result->redis);
}

void
figure_table(FILE *out, const struct scenario *scenario,
    const struct result *results, size_t count)
{
	static char cells[SCENARIO_VARIANTS][COLUMNS][CELL];
	nanos limit = scenario_limit(scenario);
	size_t widths[COLUMNS] = { 0 };
	char room[CELL];

	for (size_t row = 0; row < count; row++) {
		fill(cells[row], scenario, &results[row]);
		for (int i = 0; i < COLUMNS; i++)
			widths[i] = greater(widths[i], strlen(cells[row][i]));
	}
	for (size_t row = 0; row < 2 + count; row++) {
		for (int i = 0; i < COLUMNS; i++) {
			const char *text =
			    row < 2 ? headings[i][row] : cells[row - 2][i];
			size_t heading = greater(
			    strlen(headings[i][0]), strlen(headings[i][1]));
			int width = (int)greater(widths[i], heading);

			/* The first column is aligned to the left; one whose
			 * cells are empty is left out. */
			if (i == NAME)
				fprintf(out, "%-*s", width, text);
			else if (widths[i] > 0)
				fprintf(out, "  %*s", width, text);
		}
		fputc('\n', out);
	}
	if (limit > 0)
		fprintf(out,
		    "physical limit: 0 wasted, the last is served after %s\n",
		    figure_time(room, limit));
	if (scenario->source != NULL)
		fprintf(out, "(publ.): %s\n", scenario->source);
}

char *
figure_count(char room[FIGURE_ROOM], int64_t value)
{
	char digits[FIGURE_ROOM];
	size_t length, to = 0;

	snprintf(digits, sizeof digits, "%" PRId64, value);
	length = strlen(digits);
	for (size_t i = 0; i < length; i++) {
		room[to++] = digits[i];
		if (length - i > 1 && (length - i) % 3 == 1 && digits[i] != '-')
			room[to++] = ',';
	}
	room[to] = '\0';
	return room;
}

char *
figure_time(char room[FIGURE_ROOM], nanos time)
{
	double seconds = (double)time / (double)NANOS_SECOND;

	if (time == NANOS_MAX)
		snprintf(room, FIGURE_ROOM, "never");
	else
		snprintf(room, FIGURE_ROOM, "%.*fs", seconds < 9.995 ? 2 : 1,
		    seconds);
	return room;
}
