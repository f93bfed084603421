#include "figure.h"

#include <errno.h>
#include <string.h>
#include "scale.h"

/* In pixels. */
enum {
	WIDTH = 880,
	LEFT = 72, /* of the plots */
	RIGHT = 24,
	TOP = 76, /* of the first panel */
	HEAD = 26, /* of a panel, above its plot */
	PLOT = 92, /* height */
	GAP = 10,
	FOOT = 48,
	ACROSS = WIDTH - LEFT - RIGHT,
	COLUMNS = ACROSS / 2,
	TICKS = 12, /* at most, on the axis of time */
};

static const char style[] =
    "<style>\n"
    "text { font: 12px sans-serif; fill: #1f2328 }\n"
    "text.title { font-size: 16px; font-weight: bold }\n"
    "text.name { font-size: 13px; font-weight: bold }\n"
    "text.end { text-anchor: end }\n"
    "text.middle { text-anchor: middle }\n"
    ".paper { fill: #ffffff }\n"
    ".outage { fill: #eaeef2 }\n"
    ".served { fill: #1a7f37 }\n"
    ".rejected { fill: #e5534b }\n"
    ".more { fill: #82071e }\n"
    ".axis { stroke: #8c959f; fill: none }\n"
    ".capacity { stroke: #0969da; stroke-dasharray: 4 3; fill: none }\n"
    ".limit { stroke: #8250df; stroke-dasharray: 2 2; fill: none }\n"
    "@media (prefers-color-scheme: dark) {\n"
    "text { fill: #e6edf3 }\n"
    ".paper { fill: #0d1117 }\n"
    ".outage { fill: #262c36 }\n"
    ".served { fill: #3fb950 }\n"
    ".rejected { fill: #da3633 }\n"
    ".more { fill: #ffb3ad }\n"
    ".axis { stroke: #656c76 }\n"
    ".capacity { stroke: #58a6ff }\n"
    ".limit { stroke: #d2a8ff }\n"
    "}\n"
    "</style>\n";

struct drawing {
	FILE *out;
	const struct scenario *scenario;
	struct scale scale;
};

/* Where a time is on the axis. */
static double
place(const struct drawing *drawing, nanos time)
{
	return LEFT +
	    ACROSS * (double)time /
	    ((double)drawing->scale.column * (double)drawing->scale.columns);
}

static double
height(const struct drawing *drawing, double rate)
{
	double part = rate / drawing->scale.top;

	return PLOT * (part < 1 ? part : 1);
}

static void
put_text(const struct drawing *drawing, double x, double y, const char *class,
    const char *text)
{
	fprintf(
	    drawing->out, "<text x='%.1f' y='%.1f' class='%s'>", x, y, class);
	for (; *text != '\0'; text++)
		if (*text == '<')
			fputs("&lt;", drawing->out);
		else if (*text == '&')
			fputs("&amp;", drawing->out);
		else
			fputc(*text, drawing->out);
	fputs("</text>\n", drawing->out);
}

static void
put_line(const struct drawing *drawing, const char *class, double x1, double y1,
    double x2, double y2)
{
	fprintf(drawing->out, "<path class='%s' d='M%.1f %.1fL%.1f %.1f'/>\n",
	    class, x1, y1, x2, y2);
}

/* A sample and its meaning; returns where the next may stand. */
static double
put_key(const struct drawing *drawing, double x, bool line, const char *class,
    const char *meaning)
{
	enum { Y = 50, SAMPLE = 14 };

	if (line)
		put_line(drawing, class, x, Y, x + SAMPLE, Y);
	else
		fprintf(drawing->out,
		    "<rect class='%s' x='%.1f' y='%d' width='%d' "
		    "height='10'/>\n",
		    class, x, Y - 5, SAMPLE);
	put_text(drawing, x + SAMPLE + 6, Y + 4, "key", meaning);
	return x + SAMPLE + 26 + 6.3 * (double)strlen(meaning);
}

static void
put_legend(const struct drawing *drawing)
{
	const struct scenario *scenario = drawing->scenario;
	double x = LEFT;

	put_text(drawing, LEFT, 26, "title", scenario->title);
	x = put_key(drawing, x, false, "served", "requests served");
	x = put_key(drawing, x, false, "rejected", "rejected: wasted");
	if (drawing->scale.cut)
		x = put_key(drawing, x, false, "more", "more than drawn");
	if (scenario->capacity.end > scenario->capacity.begin)
		x = put_key(drawing, x, false, "outage", "outage");
	if (scenario->capacity.rate > 0)
		x = put_key(drawing, x, true, "capacity", "capacity");
	if (scenario_limit(scenario) > 0)
		put_key(drawing, x, true, "limit", "physical limit");
}

/* One column as part of a path: from one height up to another. */
static void
put_column(const struct drawing *drawing, size_t column, double base,
    double from, double to)
{
	double x = place(drawing, (nanos)column * drawing->scale.column);
	double next =
	    place(drawing, (nanos)(column + 1) * drawing->scale.column);

	if (to > from)
		fprintf(drawing->out, "M%.1f %.1fH%.1fV%.1fH%.1fz", x,
		    base - from, next, base - to, x);
}

static void
put_columns(const struct drawing *drawing, const struct tally *tally,
    double base, const char *class)
{
	fprintf(drawing->out, "<path class='%s' d='", class);
	for (size_t i = 0; i < drawing->scale.columns; i++) {
		struct flow flow = scale_flow(&drawing->scale, tally, i);
		double served = height(drawing, flow.served);
		double arrived = height(drawing, flow.arrived);

		if (strcmp(class, "served") == 0)
			put_column(drawing, i, base, 0, served);
		else if (strcmp(class, "rejected") == 0)
			put_column(drawing, i, base, served, arrived);
		else if (flow.arrived > drawing->scale.top)
			put_column(drawing, i, base, PLOT, PLOT + 3);
	}
	fputs("'/>\n", drawing->out);
}

/* Requests per second, beside a plot. */
static void
put_rates(const struct drawing *drawing, double base)
{
	const struct scenario *scenario = drawing->scenario;
	double at =
	    base - PLOT * (double)scenario->capacity.rate / drawing->scale.top;
	char room[SCALE_ROOM];

	put_text(drawing, LEFT - 8, base + 4, "end", "0");
	put_text(drawing, LEFT - 8, base - PLOT + 4, "end",
	    scale_count(room, (int64_t)(drawing->scale.top + 0.5)));
	if (scenario->capacity.rate <= 0 || at < base - PLOT)
		return;
	put_line(drawing, "capacity", LEFT, at, WIDTH - RIGHT, at);
	if (at > base - PLOT + 12)
		put_text(drawing, LEFT - 8, at + 4, "end",
		    scale_count(room, scenario->capacity.rate));
}

static void
put_panel(const struct drawing *drawing, const struct result *result, double y)
{
	const struct scenario *scenario = drawing->scenario;
	double base = y + HEAD + PLOT,
	       from = place(drawing, scenario->capacity.begin);
	double to = place(drawing, scenario->capacity.end);
	double limit = place(drawing, scenario_limit(scenario));
	char count[SCALE_ROOM], p99[SCALE_ROOM], told[3 * SCALE_ROOM];

	snprintf(told, sizeof told, "%s wasted, p99 %s",
	    scale_count(count, result->totals.wasted),
	    scale_time(p99, result->totals.p99));
	put_text(drawing, LEFT, y + HEAD - 9, "name", result->variant->name);
	put_text(drawing, WIDTH - RIGHT, y + HEAD - 9, "end", told);
	if (to > WIDTH - RIGHT)
		to = WIDTH - RIGHT;
	if (to > from)
		fprintf(drawing->out,
		    "<rect class='outage' x='%.1f' y='%.1f' width='%.1f' "
		    "height='%d'/>\n",
		    from, base - PLOT, to - from, PLOT);
	put_columns(drawing, result->tally, base, "served");
	put_columns(drawing, result->tally, base, "rejected");
	if (drawing->scale.cut)
		put_columns(drawing, result->tally, base, "more");
	put_rates(drawing, base);
	if (limit > LEFT && limit <= WIDTH - RIGHT)
		put_line(drawing, "limit", limit, base - PLOT, limit, base);
	put_line(drawing, "axis", LEFT, base, WIDTH - RIGHT, base);
}

/* A round number of seconds, so that there are not too many of them. */
static double
tick_of(double seconds)
{
	static const double steps[] = { 1, 2, 5 };

	for (double unit = 0.001;; unit *= 10)
		for (size_t i = 0; i < 3; i++)
			if (seconds / (unit * steps[i]) <= TICKS)
				return unit * steps[i];
}

static void
put_times(const struct drawing *drawing, double y)
{
	double seconds = (double)drawing->scale.column *
	    (double)drawing->scale.columns / (double)NANOS_SECOND;
	double tick = tick_of(seconds);
	char room[SCALE_ROOM];

	for (int i = 0; i * tick <= seconds; i++) {
		double x = LEFT + ACROSS * i * tick / seconds;

		put_line(drawing, "axis", x, y - GAP, x, y - GAP + 4);
		snprintf(room, sizeof room, "%g", i * tick);
		put_text(drawing, x, y + 10, "middle", room);
	}
	put_text(drawing, LEFT + ACROSS / 2.0, y + 28, "middle",
	    "seconds since the start; upwards: requests per second");
}

static void
draw(const struct drawing *drawing, const struct result *results, size_t count)
{
	size_t panels = 0;
	double y = TOP;

	for (size_t i = 0; i < count; i++)
		panels += results[i].tally != NULL;
	fprintf(drawing->out,
	    "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 %d %zu' "
	    "role='img'>\n%s"
	    "<rect class='paper' width='100%%' height='100%%'/>\n",
	    WIDTH, TOP + panels * (HEAD + PLOT + GAP) + FOOT, style);
	put_legend(drawing);
	for (size_t i = 0; i < count; i++) {
		if (results[i].tally == NULL)
			continue;
		put_panel(drawing, &results[i], y);
		y += HEAD + PLOT + GAP;
	}
	put_times(drawing, y);
	fputs("</svg>\n", drawing->out);
}

bool
figure_svg(const char *path, const struct scenario *scenario,
    const struct result *results, size_t count)
{
	struct drawing drawing = { .out = fopen(path, "w"),
		.scenario = scenario,
		.scale = scale_fit(scenario, results, count, COLUMNS) };
	bool failed;
	int error;

	if (drawing.out == NULL)
		return false;
	draw(&drawing, results, count);
	failed = ferror(drawing.out) != 0;
	error = errno;
	if (fclose(drawing.out) != 0)
		return false;
	errno = error;
	return !failed;
}
