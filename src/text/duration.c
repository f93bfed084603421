#include "text/duration.h"

#include <string.h>
#include "text/number.h"

struct unit {
	char name[3];
	nanos size;
};

/* From the largest to the smallest, as in "1h30m". */
static const struct unit units[] = {
	{ "d", NANOS_DAY },
	{ "h", NANOS_HOUR },
	{ "m", NANOS_MINUTE },
	{ "s", NANOS_SECOND },
	{ "ms", NANOS_MS },
};

/* The precision with which a duration below each bound is written. */
static const struct {
	nanos below, precision;
} steps[] = {
	{ NANOS_SECOND / 10, NANOS_MS },
	{ 10 * NANOS_SECOND, NANOS_SECOND / 10 },
	{ NANOS_HOUR, NANOS_SECOND },
	{ NANOS_DAY, NANOS_MINUTE },
	{ NANOS_MAX, NANOS_HOUR },
};

/* The size of the unit called name, or 0. */
static nanos
unit_size(const char *name, size_t length)
{
	for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
		if (strlen(units[i].name) == length &&
		    strncmp(units[i].name, name, length) == 0)
			return units[i].size;
	}
	return 0;
}

/* The length of the number, valid or not, with which text starts. */
static size_t
number_length(const char *text, size_t length)
{
	size_t n = 0;

	while (n < length &&
	    (text[n] == '.' || (text[n] >= '0' && text[n] <= '9')))
		n++;
	return n;
}

bool
duration_parse(const char *text, size_t length, nanos *span)
{
	nanos sum = 0, previous = NANOS_MAX;
	size_t at = 0;

	if (number_decimal(text, length, NANOS_SECOND, span))
		return true;
	while (at < length) {
		size_t number = number_length(text + at, length - at);
		size_t name = at + number, end = name;
		nanos size, part;

		while (end < length && text[end] >= 'a' && text[end] <= 'z')
			end++;
		size = unit_size(text + name, end - name);
		if (size == 0 || size >= previous ||
		    !number_decimal(text + at, number, size, &part))
			return false;
		sum = number_add(sum, part);
		previous = size;
		at = end;
	}
	if (length > 0)
		*span = sum;
	return length > 0;
}

/* Rounds to the nearest multiple of step, a half up. */
static nanos
rounded(nanos span, nanos step)
{
	nanos rest = span % step;

	return rest < step - rest ? span - rest : number_add(span, step - rest);
}

/* Writes count and the name of its unit at to; returns their end. */
static char *
put(char *to, int64_t count, const char *name)
{
	char digits[NUMBER_ROOM];
	size_t length = strlen(number_put(digits, count));

	memcpy(to, digits, length);
	memcpy(to + length, name, strlen(name) + 1);
	return to + length + strlen(name);
}

/* Writes seconds with one decimal, unless the decimal is 0. */
static void
put_tenths(char *to, nanos span)
{
	int64_t tenths = span % NANOS_SECOND / (NANOS_SECOND / 10);

	if (tenths > 0)
		to = put(put(to, span / NANOS_SECOND, "."), tenths, "");
	else
		to = put(to, span / NANOS_SECOND, "");
	memcpy(to, "s", sizeof "s");
}

/* Writes how many there are of the largest unit that fits, and of the next
 * smaller unit. */
static void
put_pair(char *to, nanos span)
{
	const struct unit *unit = units;
	nanos rest;

	while (unit->size > span)
		unit++;
	rest = span % unit[0].size / unit[1].size;
	to = put(to, span / unit[0].size, unit[0].name);
	if (rest > 0)
		put(to, rest, unit[1].name);
}

char *
duration_format(char room[DURATION_ROOM], nanos span)
{
	size_t last = sizeof steps / sizeof steps[0] - 1, i = 0;
	nanos shown;

	/* "0s" would mean that there is no wait at all. */
	if (span > 0 && span < NANOS_MS)
		span = NANOS_MS;
	/* Rounded before it is compared: 99.7 ms is 0.1s, not 100ms. */
	while (i < last && rounded(span, steps[i].precision) >= steps[i].below)
		i++;
	shown = rounded(span, steps[i].precision);
	if (shown <= 0)
		put(room, 0, "s");
	else if (i == 0)
		put(room, shown / NANOS_MS, "ms");
	else if (i == 1)
		put_tenths(room, shown);
	else
		put_pair(room, shown);
	return room;
}
