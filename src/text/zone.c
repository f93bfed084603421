#include "text/zone.h"

#include <ctype.h>
#include <string.h>
#include <time.h>
#include "text/number.h"

#define MINUTE INT64_C(60)
#define HOUR INT64_C(3600)
#define DAY INT64_C(86400)

/* The bytes of a head, of a kind of local time, and the most of a kind of
 * record: a file has some hundred. */
#define HEAD 44
#define KIND 6
#define RECORDS 65536

/* What a head counts, in its order. */
enum count { UTS, STANDARDS, LEAPS, MOMENTS, KINDS, LETTERS, COUNTS };

/*
 * The rule: "CET-1CEST,M3.5.0,M10.5.0/3"
 */

static bool
cut_byte(struct strview *rest, char byte)
{
	if (rest->length == 0 || *rest->at != byte)
		return false;
	*rest = strview_after(*rest, 1);
	return true;
}

static bool
cut_number(struct strview *rest, int64_t *number)
{
	size_t digits = strview_digits(*rest);

	if (digits > 3 || !number_whole(rest->at, digits, number))
		return false;
	*rest = strview_after(*rest, digits);
	return true;
}

/* Cuts off the short name of a time: "CET" or "<+03>". */
static bool
cut_name(struct strview *rest)
{
	size_t length = 0;

	if (cut_byte(rest, '<')) {
		strview_part(rest, '>');
		return true;
	}
	while (
	    length < rest->length && isalpha((unsigned char)rest->at[length]))
		length++;
	*rest = strview_after(*rest, length);
	return length > 0;
}

/* Cuts off hours, perhaps with minutes and seconds: "-4:30". */
static bool
cut_time(struct strview *rest, int64_t *seconds)
{
	bool minus = cut_byte(rest, '-');
	int64_t part = 0, unit = HOUR;

	if (!minus)
		cut_byte(rest, '+');
	*seconds = 0;
	do {
		if (!cut_number(rest, &part))
			return false;
		*seconds += part * unit;
		unit /= 60;
	} while (unit > 0 && cut_byte(rest, ':'));
	*seconds *= minus ? -1 : 1;
	return true;
}

/* The moment when a month of a year begins in UTC, and which day of the week
 * that is. Months are counted from 0. */
static int64_t
month_of(int year, int64_t month, int *weekday)
{
	struct tm parts = {
		.tm_year = year, .tm_mon = (int)month, .tm_mday = 1
	};
	int64_t moment = timegm(&parts);

	*weekday = parts.tm_wday;
	return moment;
}

/*
 * Cuts off a day of the year, with the time of that day: "M3.5.0/3" is the last
 * Sunday of March, "J60" and "59" are the 60th day, which for "J" is March 1.
 * *moment is when a clock shows that time that is not ahead of UTC.
 */
static bool
cut_change(struct strview *rest, int year, int64_t *moment)
{
	int64_t month, week, wanted, days, time = 2 * HOUR;
	int weekday, unused;

	if (cut_byte(rest, 'M')) {
		if (!cut_number(rest, &month) || !cut_byte(rest, '.') ||
		    !cut_number(rest, &week) || !cut_byte(rest, '.') ||
		    !cut_number(rest, &wanted) || wanted > 6 || week < 1 ||
		    month < 1 || month > 12)
			return false;
		*moment = month_of(year, month - 1, &weekday);
		days = (wanted - weekday + 7) % 7 + 7 * (week - 1);
		/* Week 5 is the last one that the month has. */
		while (*moment + days * DAY >= month_of(year, month, &unused))
			days -= 7;
	} else {
		bool leapless = cut_byte(rest, 'J');

		if (!cut_number(rest, &days) || days > 366)
			return false;
		*moment = month_of(year, 0, &unused);
		if (leapless) {
			days--;
			if (days >= 59 &&
			    month_of(year, 2, &unused) - *moment == 60 * DAY)
				days++;
		}
	}
	if (cut_byte(rest, '/') && !cut_time(rest, &time))
		return false;
	*moment += days * DAY + time;
	return true;
}

static bool
apply_rule(struct strview rule, int64_t moment, int64_t *ahead)
{
	int64_t standard, summer, begins, ends;
	time_t seconds;
	struct tm parts;
	bool is_summer;

	if (!cut_name(&rule) || !cut_time(&rule, &standard))
		return false;
	/* Here a zone in the east is behind UTC. */
	standard = -standard;
	if (rule.length == 0) {
		*ahead = standard;
		return true;
	}
	summer = -standard - HOUR;
	if (!cut_name(&rule) ||
	    (!cut_byte(&rule, ',') &&
		(!cut_time(&rule, &summer) || !cut_byte(&rule, ','))))
		return false;
	summer = -summer;
	seconds = moment + standard;
	if (gmtime_r(&seconds, &parts) == NULL ||
	    !cut_change(&rule, parts.tm_year, &begins) ||
	    !cut_byte(&rule, ',') || !cut_change(&rule, parts.tm_year, &ends) ||
	    rule.length > 0)
		return false;
	begins -= standard;
	ends -= summer;
	/* In the south, summer begins late in the year. */
	is_summer = begins < ends ? begins <= moment && moment < ends
				  : begins <= moment || moment < ends;
	*ahead = is_summer ? summer : standard;
	return true;
}

/*
 * The file
 */

/* A number of so many bytes, the highest first. */
static int64_t
number_at(const char *bytes, size_t size)
{
	uint64_t number = (signed char)*bytes < 0 ? UINT64_MAX : 0;

	while (size-- > 0)
		number = number << 8 | (unsigned char)*bytes++;
	return (int64_t)number;
}

/*
 * Reads a head, and cuts it off file. *length is that of the block behind it,
 * in which a moment has size bytes. False if that is not there.
 */
static bool
cut_head(
    struct strview *file, size_t size, size_t counts[COUNTS], size_t *length)
{
	if (file->length < HEAD || memcmp(file->at, "TZif", 4) != 0)
		return false;
	for (size_t i = 0; i < COUNTS; i++) {
		int64_t count = number_at(file->at + 20 + 4 * i, 4);

		if (count < 0 || count > RECORDS)
			return false;
		counts[i] = (size_t)count;
	}
	*length = counts[MOMENTS] * (size + 1) + counts[KINDS] * KIND +
	    counts[LETTERS] + counts[LEAPS] * (size + 4) + counts[STANDARDS] +
	    counts[UTS];
	*file = strview_after(*file, HEAD);
	return *length <= file->length;
}

bool
zone_ahead(struct strview file, int64_t moment, int64_t *ahead)
{
	size_t counts[COUNTS], length, size = 4, past = 0, kind = 0;
	struct strview rule = { NULL, 0 };
	const char *kinds;
	bool old = file.length > 4 && file.at[4] == '\0';

	if (!cut_head(&file, size, counts, &length))
		return false;
	if (!old) {
		/* The same again, in 64 bits. */
		size = 8;
		file = strview_after(file, length);
		if (!cut_head(&file, size, counts, &length))
			return false;
		rule = strview_after(file, length);
		if (!cut_byte(&rule, '\n'))
			return false;
		rule = strview_part(&rule, '\n');
	}
	while (past < counts[MOMENTS] &&
	    number_at(file.at + past * size, size) <= moment)
		past++;
	if (past == counts[MOMENTS] && rule.length > 0)
		return apply_rule(rule, moment, ahead);
	kinds = file.at + counts[MOMENTS] * size;
	if (past > 0)
		kind = (unsigned char)kinds[past - 1];
	if (kind >= counts[KINDS])
		return false;
	*ahead = number_at(kinds + counts[MOMENTS] + kind * KIND, 4);
	return true;
}
