#include "figure.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "scale.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* Room for the text of a cell. */
#define CELL 64

/*
 * Histograms
 */

enum { COLUMNS = 66, ROWS = 10, LABEL = 9, TICK = 10 };

/* What stands in a cell. */
enum mark {
	MARK_NONE,
	MARK_SERVED,
	MARK_REJECTED,
	MARK_FEW, /* less than half of a cell */
	MARK_MORE, /* cut off */
	MARK_CAPACITY,
};

static const struct {
	char sign;
	const char *colour;
} marks[] = {
	[MARK_NONE] = { ' ', "0" },
	[MARK_SERVED] = { '#', "32" },
	[MARK_REJECTED] = { ':', "31" },
	[MARK_FEW] = { '.', "31" },
	[MARK_MORE] = { '^', "1;31" },
	[MARK_CAPACITY] = { '-', "2" },
};

/* Where it is drawn. */
struct canvas {
	FILE *out;
	bool coloured;
	enum mark last; /* whose colour is on */
	const struct scenario *scenario;
	struct scale scale;
};

static void
put_mark(struct canvas *canvas, enum mark mark)
{
	if (canvas->coloured && mark != canvas->last)
		fprintf(canvas->out, "\033[0;%sm", marks[mark].colour);
	canvas->last = mark;
	fputc(marks[mark].sign, canvas->out);
}

/* The row, from below, that ends at the capacity; -1: none. */
static int
capacity_row(const struct canvas *canvas)
{
	double rows =
	    (double)canvas->scenario->capacity.rate * ROWS / canvas->scale.top;

	return rows > ROWS + 0.5 ? -1 : (int)(rows + 0.5) - 1;
}

static enum mark
mark_of(const struct canvas *canvas, const struct flow *flow, int row)
{
	double unit = canvas->scale.top / ROWS;
	double served = flow->served / unit - row;
	double arrived = flow->arrived / unit - row;

	if (row == ROWS - 1 && arrived > 1.5)
		return MARK_MORE;
	if (served >= 0.5)
		return MARK_SERVED;
	if (arrived >= 0.5)
		return MARK_REJECTED;
	if (row == 0 && arrived > 0)
		return MARK_FEW;
	return row == capacity_row(canvas) ? MARK_CAPACITY : MARK_NONE;
}

/* Requests per second at the upper end of some rows. */
static void
put_label(const struct canvas *canvas, int row)
{
	char room[SCALE_ROOM];
	double value = row == capacity_row(canvas)
	    ? (double)canvas->scenario->capacity.rate
	    : canvas->scale.top;

	if (row != ROWS - 1 && row != capacity_row(canvas))
		fprintf(canvas->out, "%*s |", LABEL, "");
	else
		fprintf(canvas->out, "%*s |", LABEL,
		    scale_count(room, (int64_t)(value + 0.5)));
}

static void
put_row(struct canvas *canvas, const struct tally *tally, int row)
{
	put_label(canvas, row);
	for (size_t i = 0; i < canvas->scale.columns; i++) {
		struct flow flow = scale_flow(&canvas->scale, tally, i);

		put_mark(canvas, mark_of(canvas, &flow, row));
	}
	if (canvas->coloured)
		fputs("\033[0m", canvas->out);
	canvas->last = MARK_NONE;
	fputc('\n', canvas->out);
}

/* The axis of time; doubled while the outage lasts. */
static void
put_axis(const struct canvas *canvas)
{
	const struct scenario *scenario = canvas->scenario;
	nanos column = canvas->scale.column;

	fprintf(canvas->out, "%*s +", LABEL, "0");
	for (size_t i = 0; i < canvas->scale.columns; i++) {
		nanos middle = (nanos)i * column + column / 2;
		bool out = middle >= scenario->capacity.begin &&
		    middle < scenario->capacity.end;

		fputc(out ? '=' : i % TICK == 0 ? '+' : '-', canvas->out);
	}
	fprintf(canvas->out, "\n%*s  ", LABEL, "");
	for (size_t i = 0; i < canvas->scale.columns; i += TICK) {
		char room[SCALE_ROOM];

		snprintf(room, sizeof room, "%gs",
		    (double)((nanos)i * column) / (double)NANOS_SECOND);
		fprintf(canvas->out, "%-*s", TICK, room);
	}
	fputs("\n\n", canvas->out);
}

void
figure_histograms(FILE *out, const struct scenario *scenario,
    const struct result *results, size_t count)
{
	const char *plain = getenv("NO_COLOR");
	struct canvas canvas = { .out = out,
		.scenario = scenario,
		.scale = scale_fit(scenario, results, count, COLUMNS) };
	char room[SCALE_ROOM];

	canvas.coloured =
	    isatty(fileno(out)) == 1 && (plain == NULL || *plain == '\0');
	fprintf(out, "%s\n", scenario->title);
	fputs("requests per second: # served, : rejected, ^ more than drawn; "
	      "= the outage\n\n",
	    out);
	for (size_t i = 0; i < count; i++) {
		if (results[i].tally == NULL)
			continue;
		fprintf(out, "%*s  %s, %s wasted\n", LABEL, "",
		    results[i].variant->name,
		    scale_count(room, results[i].totals.wasted));
		for (int row = ROWS - 1; row >= 0; row--)
			put_row(&canvas, results[i].tally, row);
		put_axis(&canvas);
	}
}

/*
 * The table. A cell is text; empty where there is nothing to say.
 */

static double
seconds(nanos time)
{
	return (double)time / (double)NANOS_SECOND;
}

static void
cell_name(char room[CELL], const struct scenario *scenario,
    const struct result *result)
{
	(void)scenario;
	snprintf(room, CELL, "%s", result->variant->name);
}

static void
cell_wasted(char room[CELL], const struct scenario *scenario,
    const struct result *result)
{
	(void)scenario;
	scale_count(room, result->totals.wasted);
}

static void
cell_published_wasted(char room[CELL], const struct scenario *scenario,
    const struct result *result)
{
	(void)scenario;
	if (result->variant->published_wasted > 0)
		scale_count(room, result->variant->published_wasted);
}

static void
put_rate(char room[CELL], const struct totals *totals, int64_t most)
{
	if (totals->width > 0)
		scale_count(room,
		    (int64_t)((double)most / seconds(totals->width) + 0.5));
}

static void
cell_peak(char room[CELL], const struct scenario *scenario,
    const struct result *result)
{
	(void)scenario;
	put_rate(room, &result->totals, result->totals.peak);
}

static void
cell_over(char room[CELL], const struct scenario *scenario,
    const struct result *result)
{
	const struct totals *totals = &result->totals;

	if (scenario->capacity.rate > 0 && totals->width > 0)
		snprintf(room, CELL, "%.1fx",
		    (double)totals->peak / seconds(totals->width) /
			(double)scenario->capacity.rate);
}

static void
cell_peak_served(char room[CELL], const struct scenario *scenario,
    const struct result *result)
{
	(void)scenario;
	put_rate(room, &result->totals, result->totals.peak_served);
}

static void
cell_published_peak(char room[CELL], const struct scenario *scenario,
    const struct result *result)
{
	(void)scenario;
	if (result->variant->published_peak > 0)
		scale_count(room, result->variant->published_peak);
}

static void
cell_stable(char room[CELL], const struct scenario *scenario,
    const struct result *result)
{
	(void)scenario;
	scale_time(room, result->totals.stable);
}

static void
cell_p50(char room[CELL], const struct scenario *scenario,
    const struct result *result)
{
	(void)scenario;
	scale_time(room, result->totals.p50);
}

static void
cell_p99(char room[CELL], const struct scenario *scenario,
    const struct result *result)
{
	(void)scenario;
	scale_time(room, result->totals.p99);
}

static void
cell_published_p99(char room[CELL], const struct scenario *scenario,
    const struct result *result)
{
	(void)scenario;
	if (result->variant->published_p99 > 0)
		scale_time(room, result->variant->published_p99);
}

static void
cell_limit(char room[CELL], const struct scenario *scenario,
    const struct result *result)
{
	nanos limit = scenario_limit(scenario);

	if (limit > 0)
		snprintf(room, CELL, "%.2fx",
		    seconds(result->totals.p99) / seconds(limit));
}

static void
cell_max(char room[CELL], const struct scenario *scenario,
    const struct result *result)
{
	(void)scenario;
	scale_time(room, result->totals.max);
}

static void
cell_lost(char room[CELL], const struct scenario *scenario,
    const struct result *result)
{
	(void)scenario;
	if (result->totals.lost > 0)
		scale_count(room, result->totals.lost);
}

static const struct column {
	const char *upper, *lower; /* its heading */
	void (*cell)(char room[CELL], const struct scenario *scenario,
	    const struct result *result);
} columns[] = {
	{ "", "", cell_name },
	{ "wasted", "requests", cell_wasted },
	{ "", "(publ.)", cell_published_wasted },
	{ "peak", "arrive/s", cell_peak },
	{ "over", "capac.", cell_over },
	{ "peak", "served/s", cell_peak_served },
	{ "", "(publ.)", cell_published_peak },
	{ "", "stable", cell_stable },
	{ "", "p50", cell_p50 },
	{ "", "p99", cell_p99 },
	{ "", "(publ.)", cell_published_p99 },
	{ "over", "limit", cell_limit },
	{ "", "max", cell_max },
	{ "not", "served", cell_lost },
};

static const char *
strview_of(char room[CELL], const struct column *column,
    const struct scenario *scenario, const struct result *result)
{
	room[0] = '\0';
	column->cell(room, scenario, result);
	return room;
}

static int
greater(int a, size_t b)
{
	return (size_t)a > b ? a : (int)b;
}

/* Of a column that has something to say; else 0. */
static int
width_of(const struct column *column, const struct scenario *scenario,
    const struct result *results, size_t count)
{
	char room[CELL];
	int width = 0;

	for (size_t i = 0; i < count; i++)
		width = greater(width,
		    strlen(strview_of(room, column, scenario, &results[i])));
	if (width == 0)
		return 0;
	width = greater(width, strlen(column->upper));
	return greater(width, strlen(column->lower));
}

/* The first column begins at the left, the others end at the right. */
static void
put_cell(FILE *out, const char *text, size_t column, int width)
{
	if (column == 0)
		fprintf(out, "%-*s", width, text);
	else if (width > 0)
		fprintf(out, "  %*s", width, text);
}

static void
put_limit(FILE *out, const struct scenario *scenario)
{
	char room[SCALE_ROOM];

	nanos limit = scenario_limit(scenario);

	if (limit > 0)
		fprintf(out,
		    "physical limit: 0 wasted, the last is served after %s\n",
		    scale_time(room, limit));
	if (scenario->source != NULL)
		fprintf(out, "(publ.): %s\n", scenario->source);
}

void
figure_table(FILE *out, const struct scenario *scenario,
    const struct result *results, size_t count)
{
	int widths[COUNT(columns)];
	char room[CELL];

	for (size_t i = 0; i < COUNT(columns); i++) {
		widths[i] = width_of(&columns[i], scenario, results, count);
		put_cell(out, columns[i].upper, i, widths[i]);
	}
	fputc('\n', out);
	for (size_t i = 0; i < COUNT(columns); i++)
		put_cell(out, columns[i].lower, i, widths[i]);
	fputc('\n', out);
	for (size_t row = 0; row < count; row++) {
		for (size_t i = 0; i < COUNT(columns); i++)
			put_cell(out,
			    strview_of(
				room, &columns[i], scenario, &results[row]),
			    i, widths[i]);
		fputc('\n', out);
	}
	put_limit(out, scenario);
}
