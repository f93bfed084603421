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

/* The text of a cell: empty where the run has nothing to say there. */
static const char *
cell_text(char room[CELL], enum column column, const struct scenario *scenario,
    const struct result *result)
{
	const struct variant *variant = result->variant;
	const struct totals *totals = &result->totals;
	/* Requests in one bin, as a rate. */
	double bins = totals->width > 0 ? 1 / seconds(totals->width) : 0;

	room[0] = '\0';
	switch (column) {
	case NAME:
		snprintf(room, CELL, "%s", variant->name);
		break;
	case WASTED:
		figure_count(room, totals->wasted);
		break;
	case WASTED_PUBLISHED:
		put_count(room, (double)variant->published_wasted);
		break;
	case RETRIES:
		if (scenario->hosts > 0)
			figure_count(room, totals->retries);
		break;
	case PEAK:
		put_count(room, (double)totals->peak * bins);
		break;
	case PEAK_OVER_CAPACITY:
		put_ratio(room, 1, (double)totals->peak * bins,
		    (double)scenario->capacity.rate);
		break;
	case PEAK_SERVED:
		put_count(room, (double)totals->peak_served * bins);
		break;
	case PEAK_PUBLISHED:
		put_count(room, (double)variant->published_peak);
		break;
	case STABLE:
		figure_time(room, totals->stable);
		break;
	case P50:
		put_latency(room, variant, totals->p50);
		break;
	case P99:
		put_latency(room, variant, totals->p99);
		break;
	case P99_PUBLISHED:
		if (variant->published_p99 > 0)
			figure_time(room, variant->published_p99);
		break;
	case P99_OVER_LIMIT:
		if (totals->p99 < NANOS_MAX)
			put_ratio(room, 2, seconds(totals->p99),
			    seconds(scenario_limit(scenario)));
		break;
	case MAX:
		put_latency(room, variant, totals->max);
		break;
	case LOST:
		put_count(room, (double)totals->lost);
		break;
	case QUESTIONS:
		put_count(room, (double)result->questions);
		break;
	case REDIS:
		if (result->questions > 0)
			figure_time(room, result->redis);
		break;
	case COLUMNS:
		break;
	}
	return room;
}

static size_t
greater(size_t a, size_t b)
{
	return a > b ? a : b;
}

/* The width of a column; 0 where all of its cells are empty. */
static size_t
width_of(enum column column, const struct scenario *scenario,
    const struct result *results, size_t count)
{
	char room[CELL];
	size_t width = 0;

	for (size_t i = 0; i < count; i++)
		width = greater(width,
		    strlen(cell_text(room, column, scenario, &results[i])));
	if (width > 0)
		for (int line = 0; line < 2; line++)
			width = greater(width, strlen(headings[column][line]));
	return width;
}

/* The first column is aligned to the left, the others to the right. */
static void
put_cell(FILE *out, const char *text, enum column column, size_t width)
{
	if (column == NAME)
		fprintf(out, "%-*s", (int)width, text);
	else if (width > 0)
		fprintf(out, "  %*s", (int)width, text);
	if (column == COLUMNS - 1)
		fputc('\n', out);
}

void
figure_table(FILE *out, const struct scenario *scenario,
    const struct result *results, size_t count)
{
	nanos limit = scenario_limit(scenario);
	size_t widths[COLUMNS];
	char room[CELL];

	for (enum column i = 0; i < COLUMNS; i++)
		widths[i] = width_of(i, scenario, results, count);
	for (int line = 0; line < 2; line++)
		for (enum column i = 0; i < COLUMNS; i++)
			put_cell(out, headings[i][line], i, widths[i]);
	for (size_t row = 0; row < count; row++)
		for (enum column i = 0; i < COLUMNS; i++)
			put_cell(out,
			    cell_text(room, i, scenario, &results[row]), i,
			    widths[i]);
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
