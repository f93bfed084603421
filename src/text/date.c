#include "text/date.h"

#include <string.h>
#include "text/number.h"

#define MINUTE 60
#define HOUR 3600
#define DAY 86400
#define YEAR 31556952 /* the mean of 400 years */
#define LATEST INT64_C(253402300799999) /* of the year 9999, in ms */

struct day {
	int64_t year, month, day; /* month and day from 1 */
	bool short_year;
};

static const char *const weekdays[] = { "sunday", "monday", "tuesday",
	"wednesday", "thursday", "friday", "saturday", NULL };

static const char *const months[] = { "jan", "feb", "mar", "apr", "may", "jun",
	"jul", "aug", "sep", "oct", "nov", "dec", NULL };

static void
skip_blanks(struct strview *rest)
{
	while (rest->length > 0 && strview_blank(rest->at[0]))
		*rest = strview_after(*rest, 1);
}

static bool
skip(struct strview *rest, char c)
{
	if (rest->length == 0 || rest->at[0] != c)
		return false;
	*rest = strview_after(*rest, 1);
	return true;
}

/* Reads the blanks, or the one dash, between parts of a date. */
static bool
skip_gap(struct strview *rest)
{
	size_t before = rest->length;

	if (!skip(rest, '-'))
		skip_blanks(rest);
	return rest->length < before;
}

/* Reads a number of least to most digits. */
static bool
take_number(struct strview *rest, size_t least, size_t most, int64_t *value)
{
	size_t digits = strview_digits(*rest);

	if (digits < least || digits > most ||
	    !number_whole(rest->at, digits, value))
		return false;
	*rest = strview_after(*rest, digits);
	return true;
}

/* Reads a name, or its first three letters; returns its index, or -1. */
static int
take_name(struct strview *rest, const char *const names[])
{
	for (int i = 0; names[i] != NULL; i++) {
		size_t length = strlen("sun");
		char start[sizeof "sun"] = "";

		memcpy(start, names[i], length);
		if (!strview_starts(*rest, start))
			continue;
		if (strview_starts(*rest, names[i]))
			length = strlen(names[i]);
		*rest = strview_after(*rest, length);
		return i;
	}
	return -1;
}

static bool
take_month(struct strview *rest, struct day *day)
{
	day->month = take_name(rest, months) + 1;
	return day->month > 0;
}

static bool
take_year(struct strview *rest, struct day *day)
{
	day->short_year = strview_digits(*rest) == 2;
	return take_number(rest, 2, 4, &day->year) &&
	    (day->short_year || day->year >= 1000);
}

/* Reads "08:49:37" as seconds since midnight. */
static bool
take_clock(struct strview *rest, int64_t *seconds)
{
	int64_t h, m, s;

	if (!take_number(rest, 2, 2, &h) || !skip(rest, ':') ||
	    !take_number(rest, 2, 2, &m) || !skip(rest, ':') ||
	    !take_number(rest, 2, 2, &s))
		return false;
	*seconds = h * HOUR + m * MINUTE + s;
	return h < 24 && m < 60 && s <= 60;
}

/* Reads what follows the comma in an IMF-fixdate or rfc850-date. */
static bool
take_comma_form(struct strview *rest, struct day *day, int64_t *clock)
{
	skip_blanks(rest);
	if (!take_number(rest, 1, 2, &day->day) || !skip_gap(rest) ||
	    !take_month(rest, day) || !skip_gap(rest) ||
	    !take_year(rest, day) || !skip_gap(rest) ||
	    !take_clock(rest, clock) || !skip_gap(rest))
		return false;
	return strview_is(*rest, "GMT") || strview_is(*rest, "UTC");
}

/* Reads what follows the day of the week in an asctime-date. */
static bool
take_asctime(struct strview *rest, struct day *day, int64_t *clock)
{
	return skip_gap(rest) && take_month(rest, day) && skip_gap(rest) &&
	    take_number(rest, 1, 2, &day->day) && skip_gap(rest) &&
	    take_clock(rest, clock) && skip_gap(rest) && take_year(rest, day) &&
	    !day->short_year && rest->length == 0;
}

static bool
exists(const struct day *day)
{
	static const char lengths[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31,
		30, 31 };
	int64_t year = day->year;
	bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
	int64_t last = lengths[day->month - 1] + (leap && day->month == 2);

	return day->day >= 1 && day->day <= last;
}

/*
 * Years are counted from March, so that the leap day is the last day of a year;
 * any five months in a row from there have 153 days.
 */
static int64_t
days_since_1970(const struct day *day)
{
	int64_t year = day->month > 2 ? day->year : day->year - 1;
	int64_t month = day->month > 2 ? day->month - 3 : day->month + 9;
	int64_t since_march = (153 * month + 2) / 5 + day->day - 1;

	return 365 * year + year / 4 - year / 100 + year / 400 + since_march -
	    719468;
}

/* The inverse of days_since_1970(). The division by 366 gives a year that is
 * not too late. */
static struct day
day_of(int64_t days)
{
	struct day day = { .year = 1970 + days / 366, .month = 1, .day = 1 };
	struct day next = day;

	for (next.year++; days_since_1970(&next) <= days; next.year++)
		day.year = next.year;
	day.month = 12;
	while (days_since_1970(&day) > days)
		day.month--;
	day.day += days - days_since_1970(&day);
	return day;
}

/* Chooses the latest century in which day is at most 50 years after now. */
static void
add_century(struct day *day, int64_t now)
{
	int64_t this_year = 1970 + (now > 0 ? now : 0) / YEAR;

	day->year += (this_year / 100 + 1) * 100;
	while (day->year > this_year + 50)
		day->year -= 100;
}

bool
date_parse(struct strview text, int64_t now, int64_t *moment)
{
	struct strview rest = strview_trim(text);
	struct day day = { 0 };
	int64_t clock = 0;

	if (take_name(&rest, weekdays) < 0)
		return false;
	if (skip(&rest, ',') ? !take_comma_form(&rest, &day, &clock)
			     : !take_asctime(&rest, &day, &clock))
		return false;
	if (day.short_year)
		add_century(&day, now);
	if (!exists(&day))
		return false;
	*moment = days_since_1970(&day) * DAY + clock;
	return true;
}

static char *
put_digits(char *at, int64_t value, int digits, char after)
{
	for (int i = digits - 1; i >= 0; i--) {
		at[i] = (char)('0' + value % 10);
		value /= 10;
	}
	at[digits] = after;
	return at + digits + 1;
}

char *
date_put(char room[DATE_ROOM], int64_t moment)
{
	int64_t ms = moment < 0 ? 0 : moment > LATEST ? LATEST : moment;
	int64_t seconds = ms / 1000;
	struct day day = day_of(seconds / DAY);
	char *at = put_digits(room, day.year, 4, '-');

	at = put_digits(at, day.month, 2, '-');
	at = put_digits(at, day.day, 2, 'T');
	at = put_digits(at, seconds % DAY / HOUR, 2, ':');
	at = put_digits(at, seconds % HOUR / MINUTE, 2, ':');
	at = put_digits(at, seconds % MINUTE, 2, '.');
	*put_digits(at, ms % 1000, 3, 'Z') = '\0';
	return room;
}
