#include "drawing.h"

#include <stdio.h>
#include <string.h>
#include "scale.h"

/* In pixels. A page that is narrower makes it smaller. */
enum {
	WIDTH = 720,
	LEFT = 58, /* of the plots */
	RIGHT = 16,
	TOP = 60, /* of the first panel */
	HEAD = 36, /* of a panel, above its plot */
	PLOT = 84, /* height */
	FOOT = 52,
	ACROSS = WIDTH - LEFT - RIGHT,
	BARS = ACROSS / 2, /* at most */
	LABELS = 10, /* of times, at most */
	SWATCH = 12,
};

/* It has a background of its own, as a page may be light or dark. Whoever
 * confuses red and green can tell these colours apart. */
static const char style[] = "<style>\n"
			    "text{fill:#1f2328;font:15px sans-serif}\n"
			    ".name{font-weight:bold}\n"
			    ".page{fill:#fff}\n"
			    ".outage{fill:#e4e8ec}\n"
			    ".served{fill:#0969da}\n"
			    ".rejected{fill:#d9730d}\n"
			    ".axis{stroke:#8c959f}\n"
			    ".capacity{stroke:#1f2328;stroke-dasharray:5 4}\n"
			    "@media(prefers-color-scheme:dark){\n"
			    "text{fill:#e6edf3}\n"
			    ".page{fill:#0d1117}\n"
			    ".outage{fill:#262c36}\n"
			    ".served{fill:#4493f8}\n"
			    ".rejected{fill:#f0883e}\n"
			    ".axis{stroke:#6e7681}\n"
			    ".capacity{stroke:#e6edf3}\n"
			    "}\n"
			    "</style>\n";

struct drawing {
	FILE *out;
	const struct scenario *scenario;
	struct scale scale;
};

static double
seconds(nanos time)
{
	return (double)time / (double)NANOS_SECOND;
}

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

static void
put_rect(const struct drawing *drawing, const char *class, double x, double y,
    double width, double tall)
{
	fprintf(drawing->out,
	    "<rect class='%s' x='%.1f' y='%.1f' width='%.1f' "
	    "height='%.1f'/>\n",
	    class, x, y, width, tall);
}

static void
put_line(const struct drawing *drawing, const char *class, double from,
    double to, double y)
{
	fprintf(drawing->out, "<path class='%s' d='M%.1f %.1fH%.1f'/>\n", class,
	    from, y, to);
}

/* The requests that were served, or those that were rejected, above them. */
static void
put_bars(const struct drawing *drawing, const struct tally *tally, double base,
    bool rejected)
{
	fprintf(drawing->out, "<path class='%s' d='",
	    rejected ? "rejected" : "served");
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

/* What the panel shows, and its totals. */
static void
put_head(const struct drawing *drawing, const struct result *result, double y)
{
	const struct variant *variant = result->variant;
	const struct totals *totals = &result->totals;
	char count[SCALE_ROOM], p99[SCALE_ROOM], text[3 * SCALE_ROOM];
	bool most = totals->p99 < NANOS_MAX;

	snprintf(text, sizeof text, "%s requests wasted, %s%s",
	    scale_count(count, totals->wasted),
	    most ? "99 % served in " : "fewer than 99 % served",
	    most ? scale_time(p99, totals->p99) : "");
	fprintf(drawing->out, "<text class='name' x='%d' y='%.1f'>%s</text>\n",
	    LEFT, y, variant->drawn != NULL ? variant->drawn : variant->name);
	put_text(drawing, WIDTH - RIGHT, y, "end", text);
}

static void
put_panel(const struct drawing *drawing, const struct result *result, double y)
{
	const struct capacity *capacity = &drawing->scenario->capacity;
	double base = y + HEAD + PLOT;
	double from = x_of(drawing, capacity->begin);
	char count[SCALE_ROOM];

	put_head(drawing, result, y + HEAD - 9);
	put_text(drawing, LEFT - 8, base + 4, "end", "0");
	put_text(drawing, LEFT - 8, base - PLOT + 10, "end",
	    scale_count(count, (int64_t)(drawing->scale.top + 0.5)));
	put_rect(drawing, "outage", from, base - PLOT,
	    x_of(drawing, capacity->end) - from, PLOT);
	put_bars(drawing, result->tally, base, false);
	put_bars(drawing, result->tally, base, true);
	put_line(drawing, "axis", LEFT, WIDTH - RIGHT, base);
	if (capacity->rate > 0)
		put_line(drawing, "capacity", LEFT, WIDTH - RIGHT,
		    base - height(drawing, (double)capacity->rate));
}

/* The least of 1, 2 and 5 times a power of ten seconds, or of a tenth of a
 * second, with which there are not too many labels. */
static nanos
label_of(const struct drawing *drawing)
{
	static const int64_t steps[] = { 1, 2, 5 };
	nanos span =
	    drawing->scale.column * (nanos)drawing->scale.columns / LABELS;

	for (nanos unit = NANOS_SECOND / 10;; unit *= 10)
		for (size_t i = 0; i < 3; i++)
			if (unit * steps[i] >= span)
				return unit * steps[i];
}

static void
put_times(const struct drawing *drawing, double y)
{
	nanos step = label_of(drawing);
	nanos end = drawing->scale.column * (nanos)drawing->scale.columns;
	char room[SCALE_ROOM];

	for (nanos time = 0; time < end; time += step) {
		snprintf(room, sizeof room, "%g", seconds(time));
		put_text(drawing, x_of(drawing, time), y + 20, "middle", room);
	}
	put_text(drawing, LEFT + ACROSS / 2.0, y + 41, "middle",
	    "seconds since the start; upwards: requests a second");
}

/* Returns where the next one begins. */
static double
put_key(const struct drawing *drawing, double x, const char *class,
    const char *text)
{
	enum { LETTER = 8, GAP = 24 };
	double y = TOP - 8;

	if (strcmp(class, "capacity") == 0)
		put_line(drawing, class, x - 4, x + SWATCH, y - SWATCH / 2.0);
	else
		put_rect(drawing, class, x, y - SWATCH + 1, SWATCH, SWATCH);
	put_text(drawing, x + SWATCH + 6, y, "start", text);
	return x + SWATCH + 6 + LETTER * (double)strlen(text) + GAP;
}

static void
put_legend(const struct drawing *drawing)
{
	const struct capacity *capacity = &drawing->scenario->capacity;
	char room[SCALE_ROOM], text[2 * SCALE_ROOM];
	double x = LEFT;

	x = put_key(drawing, x, "served", "served");
	x = put_key(drawing, x, "rejected", "rejected");
	if (capacity->end > capacity->begin)
		x = put_key(drawing, x, "outage", "outage");
	snprintf(text, sizeof text, "capacity: %s a second",
	    scale_count(room, capacity->rate));
	if (capacity->rate > 0)
		put_key(drawing, x, "capacity", text);
}

static void
draw(const struct drawing *drawing, const struct result *results, size_t count)
{
	double bottom = TOP + (double)count * (HEAD + PLOT);
	char title[256];

	fprintf(drawing->out,
	    "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 %d %.0f'>\n",
	    WIDTH, bottom + FOOT);
	fputs(style, drawing->out);
	put_rect(drawing, "page", 0, 0, WIDTH, bottom + FOOT);
	snprintf(title, sizeof title, "%s%s", drawing->scenario->title,
	    drawing->scale.cut ? "; higher bars are cut off" : "");
	put_text(drawing, LEFT, 26, "start", title);
	put_legend(drawing);
	for (size_t i = 0; i < count; i++)
		put_panel(
		    drawing, &results[i], TOP + (double)i * (HEAD + PLOT));
	put_times(drawing, bottom);
	fputs("</svg>\n", drawing->out);
}

bool
drawing_svg(const char *path, const struct scenario *scenario,
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
