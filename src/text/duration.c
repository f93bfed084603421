#include "text/duration.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
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
	{ "", 0 },
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

bool
duration_parse(const char *text, size_t length, nanos *span)
{
	nanos sum = 0, previous = NANOS_MAX;
	size_t at = 0;

	if (number_decimal(text, length, NANOS_SECOND, span))
		return true;
	while (at < length) {
		const struct unit *unit = units;
		size_t name = at, end;
		nanos part;

		while (name < length &&
		    (text[name] == '.' || isdigit((unsigned char)text[name])))
			name++;
		for (end = name;
		     end < length && islower((unsigned char)text[end]); end++)
			;
		while (unit->size > 0 &&
		    (strlen(unit->name) != end - name ||
			strncmp(unit->name, text + name, end - name) != 0))
			unit++;
		if (unit->size == 0 || unit->size >= previous ||
		    !number_decimal(text + at, name - at, unit->size, &part))
			return false;
		sum = number_add(sum, part);
		previous = unit->size;
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
	const struct unit *unit = units;
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
