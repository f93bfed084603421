#include "text/duration.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "text/number.h"
#include "text/strview.h"

/*
 * From the largest to the smallest. The name is for "1h30m"; only messages for
 * people have units without one. Micro is spelled with U+00B5 or U+03BC: Go
 * prints the first one.
 */
static const struct unit {
	nanos size;
	char name[3], words[53];
} units[] = {
	{ 7 * NANOS_DAY, "", "w wk wks week weeks" },
	{ NANOS_DAY, "d", "d day days" },
	{ NANOS_HOUR, "h", "h hr hrs hour hours" },
	{ NANOS_MINUTE, "m", "m min mins minute minutes" },
	{ NANOS_SECOND, "s", "s sec secs second seconds" },
	{ NANOS_MS, "ms", "ms msec msecs millis millisecond milliseconds" },
	{ NANOS_MS / 1000, "",
	    "us \xc2\xb5s \xce\xbcs usec usecs microsecond microseconds" },
	{ 1, "", "ns nsec nsecs nanosecond nanoseconds" },
};

#define UNITS (sizeof units / sizeof *units)

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

bool
duration_parse(const char *text, size_t length, nanos *span)
{
	nanos sum = 0, previous = NANOS_MAX;
	size_t at = 0;

	if (number_decimal(text, length, NANOS_SECOND, span, NULL))
		return true;
	while (at < length) {
		size_t name = at, end, i = 0;
		nanos part;

		while (name < length &&
		    (text[name] == '.' || isdigit((unsigned char)text[name])))
			name++;
		end = name;
		while (end < length && islower((unsigned char)text[end]))
			end++;
		while (i < UNITS &&
		    (end == name || strlen(units[i].name) != end - name ||
			memcmp(units[i].name, text + name, end - name) != 0))
			i++;
		if (i == UNITS || units[i].size >= previous ||
		    !number_decimal(
			text + at, name - at, units[i].size, &part, NULL))
			return false;
		sum = number_add(sum, part);
		previous = units[i].size;
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

char *
duration_format(char room[DURATION_ROOM], nanos span)
{
	size_t last = sizeof steps / sizeof steps[0] - 1, i = 0;
	const struct unit *unit = units + 1; /* from days on */
	int64_t count, rest;
	nanos shown;

	/* "0s" would mean that there is no wait at all. */
	if (span > 0 && span < NANOS_MS)
		span = NANOS_MS;
	/* Rounded before it is compared: 99.7 ms is 0.1s, not 100ms. */
	while (i < last && rounded(span, steps[i].precision) >= steps[i].below)
		i++;
	shown = number_greater(rounded(span, steps[i].precision), 0);
	/* The largest unit that fits, and the next smaller one or a decimal. */
	while (unit->size > shown && unit->size > NANOS_SECOND)
		unit++;
	if (i == 0 && shown > 0)
		unit++;
	count = shown / unit->size;
	rest = shown % unit->size;
	if (i == 1 && rest > 0)
		snprintf(room, DURATION_ROOM, "%" PRId64 ".%" PRId64 "s", count,
		    rest / (NANOS_SECOND / 10));
	else if (i > 1 && rest > 0)
		snprintf(room, DURATION_ROOM, "%" PRId64 "%s%" PRId64 "%s",
		    count, unit->name, rest / unit[1].size, unit[1].name);
	else
		snprintf(
		    room, DURATION_ROOM, "%" PRId64 "%s", count, unit->name);
	return room;
}

nanos
duration_unit(struct strview word)
{
	struct strview name;

	for (size_t i = 0; i < UNITS; i++) {
		struct strview names = strview_of(units[i].words);

		while (strview_cut(&names, ' ', &name))
			if (name.length == word.length &&
			    strview_begins(word, name))
				return units[i].size;
	}
	return 0;
}
