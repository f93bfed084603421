#include "text/date.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include "text/number.h"

#define LATEST INT64_C(253402300799999) /* of the year 9999, in ms */

/* Whether text begins with the shape, in which a 9 is any digit and a blank is
 * any white space. */
static bool
has_shape(const char *text, const char *shape)
{
	for (; *shape != '\0'; text++, shape++) {
		bool like = *text == *shape;

		if (*shape == '9')
			like = isdigit((unsigned char)*text);
		else if (*shape == ' ')
			like = isspace((unsigned char)*text);
		if (!like)
			return false;
	}
	return true;
}

/* Reads the date of HTTP at the start of copy. Returns what is behind it, or
 * NULL. */
static const char *
read_http(const char *copy, int64_t now, struct tm *parts)
{
	static const char forms[][16] = { " %d %b %Y %T ", " %d-%b-%y %T ",
		" %b %d %T %Y" };
	const char *rest = strptime(copy, "%a", parts), *end = NULL;
	time_t seconds = now > 0 ? now : 0;
	struct tm today;
	int form;

	if (rest == NULL || (*rest != ',' && !isspace((unsigned char)*rest)))
		return NULL;
	form = *rest == ',' ? 0 : 2;
	if (form == 0) {
		end = strptime(++rest, forms[0], parts);
		form = end == NULL ? 1 : 0;
	}
	if (end == NULL)
		end = strptime(rest, forms[form], parts);
	if (end == NULL ||
	    (form != 2 && strncasecmp(end, "GMT", 3) != 0 &&
		strncasecmp(end, "UTC", 3) != 0))
		return NULL;
	/* strptime() takes fewer digits as well, and no blank between two
	 * numbers. */
	rest = strchr(copy, ':') - 3;
	if (!has_shape(rest, " 99:99:99 "))
		return NULL;
	while (rest > copy && isspace((unsigned char)rest[-1]))
		rest--;
	if (form == 1 && (rest - copy < 3 || !has_shape(rest - 3, "-99 ")))
		return NULL;
	/* The latest year of two digits that is at most 50 years after now. */
	gmtime_r(&seconds, &today);
	while (form == 1 && parts->tm_year + 100 <= today.tm_year + 50)
		parts->tm_year += 100;
	while (form == 1 && parts->tm_year > today.tm_year + 50)
		parts->tm_year -= 100;
	return form == 2 ? end : end + 3;
}

/*
 * Reads the date of RFC 3339 at the start of copy. Returns what is behind it,
 * or NULL. *late: seconds to be added, for the zone and for a part of a second.
 */
static const char *
read_rfc3339(const char *copy, struct tm *parts, int *late)
{
	struct tm zone = { 0 };
	/* Servers of ACME write "1994-11-06 08:49:37 UTC". */
	bool blank = strlen(copy) > 10 && copy[10] == ' ';
	const char *rest =
	    strptime(copy, blank ? "%Y-%m-%d %T" : "%Y-%m-%dT%T", parts);

	if (rest == NULL ||
	    !has_shape(
		copy, blank ? "9999-99-99 99:99:99" : "9999-99-99T99:99:99"))
		return NULL;
	if (blank)
		return strncmp(rest, " UTC", 4) == 0 ? rest + 4 : NULL;
	*late = *rest == '.' ? 1 : 0;
	if (*rest == '.')
		rest += 1 + strspn(rest + 1, "0123456789");
	if (*rest == 'Z')
		return rest + 1;
	if ((*rest != '+' && *rest != '-') || !has_shape(rest + 1, "99:99") ||
	    strptime(rest + 1, "%H:%M", &zone) == NULL)
		return NULL;
	*late += (*rest == '+' ? -60 : 60) * (zone.tm_hour * 60 + zone.tm_min);
	return rest + strlen("+00:00");
}

size_t
date_read(struct strview text, int64_t now, int64_t *moment)
{
	struct tm parts = { 0 };
	char copy[64] = "";
	const char *rest;
	time_t seconds;
	int day, second, late = 0;

	memcpy(copy, text.at,
	    text.length < sizeof copy ? text.length : sizeof copy - 1);
	rest = isdigit((unsigned char)*copy) ? read_rfc3339(copy, &parts, &late)
					     : read_http(copy, now, &parts);
	if (rest == NULL || isalnum((unsigned char)*rest))
		return 0;
	/* timegm() would make another day of a leap second, or of February 30.
	 */
	second = parts.tm_sec;
	day = parts.tm_mday;
	parts.tm_sec = 0;
	seconds = timegm(&parts);
	if (second > 60 || parts.tm_mday != day || parts.tm_year < 1000 - 1900)
		return 0;
	*moment = seconds + second + late;
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
	time_t seconds = ms / 1000;
	struct tm parts;
	size_t length;

	gmtime_r(&seconds, &parts);
	length = strftime(room, DATE_ROOM, "%FT%T", &parts);
	snprintf(
	    room + length, DATE_ROOM - length, ".%03" PRId64 "Z", ms % 1000);
	return room;
}
