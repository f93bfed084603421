#include "text/date.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include "text/number.h"

#define DAY_SECONDS 86400
#define LATEST INT64_C(253402300799999) /* of the year 9999, in ms */

/* The parts of a date, in the order of the table below. */
enum { YEAR, MONTH, DAY, HOUR, MINUTE, SECOND, HOURS, MINUTES, NO_PART };

/*
 * What a letter in a form stands for: one of names, or its first three letters,
 * in upper or lower case, as a number from 1 on; or else so many digits of a
 * number. part: where the number is noted.
 */
static const struct field {
	char letter;
	unsigned char part, digits;
	short least, most;
	char names[12][10];
} fields[] = {
	{ 'a', NO_PART, 0, 1, 7,
	    { "Monday", "Tuesday", "Wednesday", "Thursday", "Friday",
		"Saturday", "Sunday" } },
	{ 'b', MONTH, 0, 1, 12,
	    { "January", "February", "March", "April", "May", "June", "July",
		"August", "September", "October", "November", "December" } },
	{ 'Z', NO_PART, 0, 1, 2, { "GMT", "UTC" } },
	{ 'Y', YEAR, 4, 1000, 9999, { "" } },
	{ 'y', YEAR, 2, 0, 99, { "" } },
	{ 'm', MONTH, 2, 1, 12, { "" } },
	{ 'd', DAY, 2, 1, 31, { "" } },
	{ 'e', DAY, 1, 1, 9, { "" } },
	{ 'H', HOUR, 2, 0, 23, { "" } },
	{ 'M', MINUTE, 2, 0, 59, { "" } },
	{ 'S', SECOND, 2, 0, 60, { "" } },
	{ 'h', HOURS, 2, 0, 23, { "" } },
	{ 'i', MINUTES, 2, 0, 59, { "" } },
};

/* Reads a field. Returns what is behind it, or NULL. */
static const char *
read_field(const struct field *field, const char *text, int parts[])
{
	int number = 0, most = field->most;

	for (int digit = 0; digit < field->digits; digit++, text++) {
		if (!isdigit((unsigned char)*text))
			return NULL;
		number = number * 10 + *text - '0';
	}
	for (int i = 0; field->digits == 0 && i < most && number == 0; i++) {
		size_t length = strlen(field->names[i]);

		if (strncasecmp(text, field->names[i], length) != 0)
			length = 3;
		if (strncasecmp(text, field->names[i], length) != 0)
			continue;
		number = i + 1;
		text += length;
	}
	parts[field->part] = number;
	return number >= field->least && number <= most ? text : NULL;
}

/*
 * Reads a date of this form, in which a letter behind % stands for a field, a
 * blank for any white space or none, _ for some, and anything else for itself.
 * Returns what is behind the date, or NULL.
 */
static const char *
read_form(const char *text, const char *form, int parts[])
{
	for (; text != NULL && *form != '\0'; form++) {
		const struct field *field = fields;

		if (*form == '%') {
			form++;
			while (field->letter != *form)
				field++;
			text = read_field(field, text, parts);
		} else if (*form != '_' && *form != ' ') {
			text = *text == *form ? text + 1 : NULL;
		} else if (*form == '_' && !isspace((unsigned char)*text)) {
			text = NULL;
		} else {
			while (isspace((unsigned char)*text))
				text++;
		}
	}
	return text;
}

/* The number of a day, counted from January 1, 1970. */
static int64_t
day_number(int64_t year, int month, int day)
{
	/* In a year that begins in March the leap day is the last one. */
	int64_t from_march = (month + 9) % 12;

	year -= month < 3 ? 1 : 0;
	return 365 * year + year / 4 - year / 100 + year / 400 +
	    (153 * from_march + 2) / 5 + day - 719469;
}

/* The year, the month and the day with this number, which is not negative. */
static void
name_day(int64_t number, int parts[])
{
	int year = 1970 + (int)(number / 366), month = 1;

	while (day_number(year + 1, 1, 1) <= number)
		year++;
	while (month < 12 && day_number(year, month + 1, 1) <= number)
		month++;
	parts[YEAR] = year;
	parts[MONTH] = month;
	parts[DAY] = (int)(number - day_number(year, month, 1)) + 1;
}

/* Reads the date of HTTP at the start of copy. Returns what is behind it, or
 * NULL. */
static const char *
read_http(const char *copy, int64_t now, int parts[])
{
	static const char *const forms[] = { "%a, %d %b %Y_%H:%M:%S_%Z",
		"%a, %e %b %Y_%H:%M:%S_%Z", "%a_%b %d_%H:%M:%S_%Y",
		"%a_%b %e_%H:%M:%S_%Y", "%a, %d-%b-%y_%H:%M:%S_%Z",
		"%a, %e-%b-%y_%H:%M:%S_%Z" };
	enum { TWO_DIGITS = 4, FORMS = sizeof forms / sizeof *forms };
	const char *rest = NULL;
	int today[NO_PART], form = 0;

	while (rest == NULL && form < FORMS)
		rest = read_form(copy, forms[form++], parts);
	if (rest == NULL || form <= TWO_DIGITS)
		return rest;
	/* The latest year that is at most 50 years after now. */
	name_day(now > 0 ? now / DAY_SECONDS : 0, today);
	parts[YEAR] += (today[YEAR] + 50) / 100 * 100;
	if (parts[YEAR] > today[YEAR] + 50)
		parts[YEAR] -= 100;
	return rest;
}

/*
 * Reads the date of RFC 3339 at the start of copy. Returns what is behind it,
 * or NULL. *late: seconds to be added, for the zone and for a part of a second.
 */
static const char *
read_rfc3339(const char *copy, int parts[], int *late)
{
	/* Servers of ACME write "1994-11-06 08:49:37 UTC". */
	bool blank = strlen(copy) > 10 && copy[10] == ' ';
	const char *rest = read_form(
	    copy, blank ? "%Y-%m-%d_%H:%M:%S" : "%Y-%m-%dT%H:%M:%S", parts);
	char sign;

	if (rest == NULL)
		return NULL;
	if (blank)
		return strncmp(rest, " UTC", 4) == 0 ? rest + 4 : NULL;
	*late = *rest == '.' ? 1 : 0;
	if (*rest == '.')
		rest += 1 + strspn(rest + 1, "0123456789");
	sign = *rest++;
	if (sign == 'Z')
		return rest;
	if (sign != '+' && sign != '-')
		return NULL;
	rest = read_form(rest, "%h:%i", parts);
	*late +=
	    (sign == '+' ? -60 : 60) * (parts[HOURS] * 60 + parts[MINUTES]);
	return rest;
}

size_t
date_read(struct strview text, int64_t now, int64_t *moment)
{
	int parts[NO_PART + 1] = { 0 }, late = 0, month;
	char copy[64] = "";
	const char *rest;
	int64_t day;

	memcpy(copy, text.at,
	    text.length < sizeof copy ? text.length : sizeof copy - 1);
	rest = isdigit((unsigned char)*copy) ? read_rfc3339(copy, parts, &late)
					     : read_http(copy, now, parts);
	if (rest == NULL || isalnum((unsigned char)*rest))
		return 0;
	month = parts[MONTH];
	day = day_number(parts[YEAR], month, parts[DAY]);
	/* Not every month has 31 days. */
	if (day >= day_number(parts[YEAR] + month / 12, month % 12 + 1, 1))
		return 0;
	*moment = (day * 24 + parts[HOUR]) * 3600 +
	    (int64_t)parts[MINUTE] * 60 + parts[SECOND] + late;
	return (size_t)(rest - copy);
}

bool
date_parse(struct strview text, int64_t now, int64_t *moment)
{
	static const char zone[] = " GMT";
	char copy[DATE_ROOM + sizeof zone];
	struct strview zoned = { copy, 0 };
	int64_t read;

	text = strview_trim(text);
	zoned.length = text.length + sizeof zone - 1;
	if (text.length == 0)
		return false;
	if (date_read(text, now, &read) != text.length) {
		if (zoned.length > sizeof copy)
			return false;
		memcpy(copy, text.at, text.length);
		memcpy(copy + text.length, zone, sizeof zone - 1);
		if (date_read(zoned, now, &read) != zoned.length)
			return false;
	}
	*moment = read;
	return true;
}

nanos
date_until(int64_t from, int64_t to)
{
	return to <= from ? 0 : number_multiply(to - from, NANOS_SECOND);
}

char *
date_put(char room[DATE_ROOM], int64_t moment)
{
	int64_t ms = number_lesser(number_greater(moment, 0), LATEST);
	int parts[NO_PART];
	int second = (int)(ms / 1000 % DAY_SECONDS);

	name_day(ms / 1000 / DAY_SECONDS, parts);
	snprintf(room, DATE_ROOM, "%04d-%02d-%02dT%02d:%02d:%02d.%03dZ",
	    parts[YEAR], parts[MONTH], parts[DAY], second / 3600,
	    second / 60 % 60, second % 60, (int)(ms % 1000));
	return room;
}
