#include "text/duration.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
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

	if (number_decimal(text, length, NANOS_SECOND, span))
		return true;
	while (at < length) {
		size_t name = at, end, i = 0;
		nanos part;

		while (name < length &&
		    (text[name] == '.' || isdigit((unsigned char)text[name])))
			name++;
		for (end = name;
		     end < length && islower((unsigned char)text[end]); end++)
			;
		while (i < UNITS &&
		    (end == name || strlen(units[i].name) != end - name ||
			memcmp(units[i].name, text + name, end - name) != 0))
			i++;
		if (i == UNITS || units[i].size >= previous ||
		    !number_decimal(text + at, name - at, units[i].size, &part))
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

/* Adds a byte to the number or word, which begins if the reader is elsewhere.
 * Of what is too long the rest is dropped. */
static void
keep(struct duration_reader *reader, enum duration_place place,
    unsigned char byte)
{
	bool number = place == DURATION_NUMBER;
	size_t *length = number ? &reader->digits : &reader->letters;

	if (reader->place != place)
		*length = 0;
	reader->place = place;
	if (*length < (number ? DURATION_DIGITS : DURATION_LETTERS))
		(number ? reader->number : reader->word)[(*length)++] =
		    (char)byte;
}

/* Reads the number in units of size. False if it is malformed or too long. */
static bool
read_number(const struct duration_reader *reader, nanos size, nanos *span)
{
	size_t length = reader->digits;

	if (length == sizeof reader->number)
		return false;
	/* "Retrying in 5...": the stops end the sentence. */
	while (length > 0 && reader->number[length - 1] == '.')
		length--;
	return number_decimal(reader->number, length, size, span);
}

/* The size of the unit that the word names, or 0. */
static nanos
unit_size(const struct duration_reader *reader)
{
	struct strview word = { reader->word, reader->letters }, name;

	for (size_t i = 0; i < UNITS; i++) {
		struct strview names = strview_of(units[i].words);

		while (strview_cut(&names, ' ', &name))
			if (name.length == word.length &&
			    strview_begins(word, name))
				return units[i].size;
	}
	return 0;
}

/*
 * Ends the duration behind its parts, or if it has none, behind a number: the
 * number may be bare, without a unit, in seconds. False if there is neither.
 */
static bool
end(struct duration_reader *reader, bool bare, nanos *span)
{
	reader->place = DURATION_IDLE;
	if (reader->unit == 0)
		return bare && read_number(reader, NANOS_SECOND, span);
	*span = reader->span;
	return true;
}

void
duration_start(struct duration_reader *reader, unsigned char before)
{
	reader->place = DURATION_START;
	reader->digit = isdigit(before);
	reader->span = 0;
	reader->unit = 0;
}

bool
duration_began(const struct duration_reader *reader)
{
	return reader->place > DURATION_START;
}

bool
duration_take(struct duration_reader *reader, unsigned char byte, nanos *span)
{
	bool digit = isdigit(byte), blank = byte == ' ' || byte == '\t';
	/* Of a unit: a letter, or a byte of a micro. */
	bool letter = isalpha(byte) ||
	    (byte != '\0' && strchr("\xc2\xb5\xce\xbc", byte) != NULL);
	/*
	 * A number without a unit may end before this byte: punctuation that
	 * ends a sentence or a quotation, a control character, or the first
	 * byte of UTF-8 punctuation (U+2000 to U+2FFF).
	 */
	bool stop = byte < ' ' || byte == 0xe2 ||
	    strchr(" ;!?\"'`\\()[]{}<>|", byte) != NULL;

	if (reader->place == DURATION_UNIT && !letter) {
		nanos size = unit_size(reader), part;

		if (size == 0 || (reader->unit != 0 && size >= reader->unit) ||
		    !read_number(reader, size, &part))
			return end(reader, false, span);
		reader->span = number_add(reader->span, part);
		reader->unit = size;
		reader->place = DURATION_BETWEEN;
	}
	switch (reader->place) {
	case DURATION_IDLE:
		break;
	case DURATION_START:
		if (digit && !reader->digit)
			keep(reader, DURATION_NUMBER, byte);
		else if (byte != '\0' && strchr(" \t\"'`~", byte) != NULL)
			reader->digit = false;
		else
			reader->place = DURATION_IDLE;
		break;
	case DURATION_NUMBER:
		if (digit || byte == '.')
			keep(reader, DURATION_NUMBER, byte);
		else if (letter)
			keep(reader, DURATION_UNIT, byte);
		else if (blank)
			reader->place = DURATION_GAP;
		else if (byte == ',')
			reader->place = DURATION_COMMA;
		else
			return end(reader, stop, span);
		break;
	case DURATION_COMMA:
		return end(reader, !digit, span);
	case DURATION_GAP:
		if (letter)
			keep(reader, DURATION_UNIT, byte);
		else if (!blank)
			return end(reader, stop || byte == ',', span);
		break;
	case DURATION_UNIT:
		keep(reader, DURATION_UNIT, byte);
		break;
	case DURATION_BETWEEN:
		if (digit)
			keep(reader, DURATION_NUMBER, byte);
		else if (byte == 'a' || byte == 'A')
			keep(reader, DURATION_AND, byte);
		else if (!blank && byte != ',')
			return end(reader, false, span);
		break;
	case DURATION_AND:
		if (letter)
			keep(reader, DURATION_AND, byte);
		else if (blank && reader->letters == 3 &&
		    strncasecmp(reader->word, "and", 3) == 0)
			reader->place = DURATION_BETWEEN;
		else
			return end(reader, false, span);
		break;
	}
	return false;
}
