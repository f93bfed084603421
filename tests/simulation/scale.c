#include "scale.h"

#include <inttypes.h>
#include <string.h>

/* Columns are drawn up to so many times the capacity. */
#define HIGHEST 5

static size_t
columns_of(const struct tally *tally, nanos column)
{
	nanos span = (nanos)tally->count * tally->width;

	return (size_t)((span + column - 1) / column);
}

static size_t
columns_of_all(const struct result *results, size_t count, nanos column)
{
	size_t most = 0;

	for (size_t i = 0; i < count; i++) {
		size_t columns = columns_of(results[i].tally, column);

		if (columns > most)
			most = columns;
	}
	return most;
}

/* Whether a column is a whole number of bins of each run. */
static bool
divides(const struct result *results, size_t count, nanos column)
{
	for (size_t i = 0; i < count; i++)
		if (column % results[i].tally->width != 0)
			return false;
	return true;
}

/* The least of 1, 2 and 5 times a power of ten that fits. */
static nanos
column_of(const struct result *results, size_t count, size_t most)
{
	static const nanos steps[] = { 1, 2, 5 };
	nanos column = NANOS_MS;

	for (nanos unit = NANOS_MS; unit <= NANOS_HOUR; unit *= 10)
		for (size_t i = 0; i < 3; i++) {
			column = unit * steps[i];
			if (divides(results, count, column) &&
			    columns_of_all(results, count, column) <= most)
				return column;
		}
	return column;
}

struct flow
scale_flow(const struct scale *scale, const struct tally *tally, size_t column)
{
	size_t each = (size_t)(scale->column / tally->width);
	double seconds = (double)scale->column / (double)NANOS_SECOND;
	struct flow flow = { 0, 0 };

	for (size_t i = column * each;
	     i < (column + 1) * each && i < tally->count; i++) {
		flow.served += (double)tally->bins[i].served / seconds;
		flow.arrived +=
		    (double)(tally->bins[i].served + tally->bins[i].rejected) /
		    seconds;
	}
	return flow;
}

static double
highest(const struct scale *scale, const struct result *results, size_t count)
{
	double most = 0;

	for (size_t i = 0; i < count; i++)
		for (size_t column = 0; column < scale->columns; column++) {
			struct flow flow =
			    scale_flow(scale, results[i].tally, column);

			if (flow.arrived > most)
				most = flow.arrived;
		}
	return most;
}

struct scale
scale_fit(const struct scenario *scenario, const struct result *results,
    size_t count, size_t most)
{
	struct scale scale = { .column = column_of(results, count, most) };
	double enough = HIGHEST * (double)scenario->capacity.rate;

	scale.columns = columns_of_all(results, count, scale.column);
	if (scale.columns > most)
		scale.columns = most;
	scale.top = highest(&scale, results, count);
	if (enough > 0 && scale.top > enough) {
		scale.top = enough;
		scale.cut = true;
	}
	if (scale.top <= 0)
		scale.top = 1;
	return scale;
}

char *
scale_count(char room[SCALE_ROOM], int64_t value)
{
	char digits[SCALE_ROOM];
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
scale_time(char room[SCALE_ROOM], nanos time)
{
	double seconds = (double)time / (double)NANOS_SECOND;

	if (time == NANOS_MAX)
		snprintf(room, SCALE_ROOM, "never");
	else
		snprintf(room, SCALE_ROOM, "%.*fs", seconds < 9.995 ? 2 : 1,
		    seconds);
	return room;
}
