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

bool
date_parse(struct strview text, int64_t now, int64_t *moment)
{
	static const char forms[][16] = { " %d %b %Y %T ", " %d-%b-%y %T ",
		" %b %d %T %Y" };
	struct tm parts = { 0 }, today;
	char copy[64] = "";
	const char *rest, *end = NULL;
	time_t seconds = now > 0 ? now : 0;
	int day, second, form;

	text = strview_trim(text);
	if (text.length == 0 || text.length >= sizeof copy)
		return false;
	memcpy(copy, text.at, text.length);
	rest = strptime(copy, "%a", &parts);
	if (rest == NULL || (*rest != ',' && !isspace((unsigned char)*rest)))
		return false;
	form = *rest == ',' ? 0 : 2;
	if (form == 0) {
		end = strptime(++rest, forms[0], &parts);
		form = end == NULL ? 1 : 0;
	}
	if (end == NULL)
		end = strptime(rest, forms[form], &parts);
	if (end == NULL ||
	    (form == 2 ? *end != '\0'
		       : strcasecmp(end, "GMT") != 0 &&
			strcasecmp(end, "UTC") != 0))
		return false;
	/* strptime() takes fewer digits as well, and no blank between two
	 * numbers. */
	if (!has_shape(strchr(copy, ':') - 3, " 99:99:99 ") ||
	    (form == 1 && !has_shape(strrchr(copy, '-'), "-99 ")))
		return false;
	/* The latest year of two digits that is at most 50 years after now. */
	gmtime_r(&seconds, &today);
	while (form == 1 && parts.tm_year + 100 <= today.tm_year + 50)
		parts.tm_year += 100;
	while (form == 1 && parts.tm_year > today.tm_year + 50)
		parts.tm_year -= 100;
	/* timegm() would make another day of a leap second, or of February 30.
	 */
	second = parts.tm_sec;
	day = parts.tm_mday;
	parts.tm_sec = 0;
	seconds = timegm(&parts);
	if (second > 60 || parts.tm_mday != day || parts.tm_year < 1000 - 1900)
		return false;
	*moment = seconds + second;
	return true;
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
