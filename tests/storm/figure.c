#include "figure.h"

#include <string.h>
#include "scale.h"

/*
 * The table
 */

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
		scale_count(room, (int64_t)(number + 0.5));
}

static void
put_ratio(char room[CELL], int decimals, double number, double unit)
{
	if (number > 0 && unit > 0)
		snprintf(room, CELL, "%.*fx", decimals, number / unit);
}

/* The text of a cell: empty where the run has nothing to say there. */
static const char *
cell_text(char room[CELL], enum column column, const struct scenario *scenario,
    const struct result *result)
{
	const struct variant *variant = result->variant;
	const struct totals *totals = &result->totals;
	bool served = totals->served > 0;
	/* Requests in one bin, as a rate. */
	double bins = totals->width > 0 ? 1 / seconds(totals->width) : 0;

	room[0] = '\0';
	switch (column) {
	case NAME:
		snprintf(room, CELL, "%s", variant->name);
		break;
	case WASTED:
		scale_count(room, totals->wasted);
		break;
	case WASTED_PUBLISHED:
		put_count(room, (double)variant->published_wasted);
		break;
	case RETRIES:
		if (scenario->hosts > 0)
			scale_count(
			    room, totals->wasted - result->tally->firsts);
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
		scale_time(room, totals->stable);
		break;
	case P50:
		scale_time(room, served ? totals->p50 : NANOS_MAX);
		break;
	case P99:
		scale_time(room, served ? totals->p99 : NANOS_MAX);
		break;
	case P99_PUBLISHED:
		if (variant->published_p99 > 0)
			scale_time(room, variant->published_p99);
		break;
	case P99_OVER_LIMIT:
		put_ratio(room, 2, seconds(totals->p99),
		    seconds(scenario_limit(scenario)));
		break;
	case MAX:
		scale_time(room, served ? totals->max : NANOS_MAX);
		break;
	case LOST:
		put_count(room, (double)totals->lost);
		break;
	case QUESTIONS:
		put_count(room, (double)result->questions);
		break;
	case REDIS:
		if (result->questions > 0)
			scale_time(room, result->redis);
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
		    scale_time(room, limit));
	if (scenario->source != NULL)
		fprintf(out, "(publ.): %s\n", scenario->source);
}

/*
 * The drawing
 */

/* In pixels. */
enum {
	WIDTH = 880,
	LEFT = 72, /* of the plots */
	RIGHT = 24,
	TOP = 56, /* of the first panel */
	HEAD = 26, /* of a panel, above its plot */
	PLOT = 92, /* height */
	FOOT = 48,
	ACROSS = WIDTH - LEFT - RIGHT,
	BARS = ACROSS / 2, /* at most */
	TICK = 50, /* bars */
};

struct drawing {
	FILE *out;
	const struct scenario *scenario;
	struct scale scale;
};

/* Where a time is on the axis. */
static double
x_of(const struct drawing *drawing, nanos time)
{
	double part = (double)time /
	    ((double)drawing->scale.column * (double)drawing->scale.columns);

	return LEFT + ACROSS * (part < 1 ? part : 1);
}

static double
height(const struct drawing *drawing, double rate)
{
	double part = rate / drawing->scale.top;

	return PLOT * (part < 1 ? part : 1);
}

/* The names of variants have no character that means something in XML. */
static void
put_text(const struct drawing *drawing, double x, double y, const char *anchor,
    const char *text)
{
	fprintf(drawing->out,
	    "<text x='%.1f' y='%.1f' text-anchor='%s'>%s</text>\n", x, y,
	    anchor, text);
}

/* The requests that were served, or those that were rejected, above them. */
static void
put_bars(const struct drawing *drawing, const struct tally *tally, double base,
    bool rejected)
{
	fprintf(drawing->out, "<path fill='%s' d='",
	    rejected ? "#e5534b" : "#1a7f37");
	for (size_t i = 0; i < drawing->scale.columns; i++) {
		struct flow flow = scale_flow(&drawing->scale, tally, i);
		double served = height(drawing, flow.served);
		double from = rejected ? served : 0;
		double to = rejected ? height(drawing, flow.arrived) : served;
		nanos time = (nanos)i * drawing->scale.column;
		double x = x_of(drawing, time);

		if (to > from)
			fprintf(drawing->out, "M%.1f %.1fH%.1fV%.1fH%.1fz", x,
			    base - from,
			    x_of(drawing, time + drawing->scale.column),
			    base - to, x);
	}
	fputs("'/>\n", drawing->out);
}

static void
put_panel(const struct drawing *drawing, const struct result *result, double y)
{
	const struct capacity *capacity = &drawing->scenario->capacity;
	double base = y + HEAD + PLOT;
	double limit = base - height(drawing, (double)capacity->rate);
	double from = x_of(drawing, capacity->begin);
	double to = x_of(drawing, capacity->end);
	char count[SCALE_ROOM], p99[SCALE_ROOM], totals[3 * SCALE_ROOM];

	snprintf(totals, sizeof totals, "%s wasted, p99 %s",
	    scale_count(count, result->totals.wasted),
	    scale_time(p99, result->totals.p99));
	put_text(drawing, LEFT, y + HEAD - 9, "start", result->variant->name);
	put_text(drawing, WIDTH - RIGHT, y + HEAD - 9, "end", totals);
	put_text(drawing, LEFT - 8, base + 4, "end", "0");
	put_text(drawing, LEFT - 8, base - PLOT + 4, "end",
	    scale_count(count, (int64_t)(drawing->scale.top + 0.5)));
	fprintf(drawing->out,
	    "<rect fill='#dde3ea' x='%.1f' y='%.1f' width='%.1f' "
	    "height='%d'/>\n",
	    from, base - PLOT, to - from, PLOT);
	put_bars(drawing, result->tally, base, false);
	put_bars(drawing, result->tally, base, true);
	fprintf(drawing->out, "<path stroke='#8c959f' d='M%d %.1fH%d'/>\n",
	    LEFT, base, WIDTH - RIGHT);
	if (capacity->rate > 0)
		fprintf(drawing->out,
		    "<path stroke='#0969da' stroke-dasharray='4 3' "
		    "d='M%d %.1fH%d'/>\n",
		    LEFT, limit, WIDTH - RIGHT);
}

static void
put_times(const struct drawing *drawing, double y)
{
	char room[SCALE_ROOM];

	for (size_t i = 0; i <= drawing->scale.columns; i += TICK) {
		nanos time = (nanos)i * drawing->scale.column;

		snprintf(room, sizeof room, "%g", seconds(time));
		put_text(drawing, x_of(drawing, time), y + 20, "middle", room);
	}
	put_text(drawing, LEFT + ACROSS / 2.0, y + 38, "middle",
	    "seconds since the start; upwards: requests per second");
}

static void
draw(const struct drawing *drawing, const struct result *results, size_t count)
{
	double bottom = TOP + (double)count * (HEAD + PLOT);
	char room[SCALE_ROOM], legend[256];

	fprintf(drawing->out,
	    "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 %d %.0f' "
	    "font-family='sans-serif' font-size='12'>\n"
	    "<rect fill='#fff' width='100%%' height='100%%'/>\n",
	    WIDTH, bottom + FOOT);
	put_text(drawing, LEFT, 24, "start", drawing->scenario->title);
	snprintf(legend, sizeof legend,
	    "green: served; red: rejected; grey: the outage; "
	    "dashed: the capacity (%s a second)%s",
	    scale_count(room, drawing->scenario->capacity.rate),
	    drawing->scale.cut ? "; higher bars are cut off" : "");
	put_text(drawing, LEFT, 44, "start", legend);
	for (size_t i = 0; i < count; i++)
		put_panel(
		    drawing, &results[i], TOP + (double)i * (HEAD + PLOT));
	put_times(drawing, bottom);
	fputs("</svg>\n", drawing->out);
}

bool
figure_svg(const char *path, const struct scenario *scenario,
    const struct result *results, size_t count)
{
	struct drawing drawing = { .out = fopen(path, "w"),
		.scenario = scenario,
		.scale = scale_fit(scenario, results, count, BARS) };
	bool written;

	if (drawing.out == NULL)
		return false;
	draw(&drawing, results, count);
	written = ferror(drawing.out) == 0;
	return fclose(drawing.out) == 0 && written;
}
