#include "text/clock.h"

#include <ctype.h>
#include <string.h>
#include "text/number.h"

#define MINUTE INT64_C(60)
#define HOUR INT64_C(3600)
#define DAY INT64_C(86400)

#define BLANKS " \t"
/* The names of zones are made of these, and they are no paths out of their
 * directory. */
#define ZONE \
	"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_+-/"

/* What a text begins with. */
enum shape {
	SHAPE_OTHER,
	SHAPE_OPEN, /* it ends before that is clear */
	SHAPE_WHOLE,
};

/* Cuts off a number of one or two digits. */
static enum shape
cut_number(struct strview *text, size_t least, int64_t *number)
{
	size_t digits = strview_digits(*text);

	if (digits > 2)
		return SHAPE_OTHER;
	if (digits == text->length)
		return SHAPE_OPEN;
	if (digits < least || !number_whole(text->at, digits, number))
		return SHAPE_OTHER;
	*text = strview_after(*text, digits);
	return SHAPE_WHOLE;
}

/* Cuts off "am" or "pm", perhaps behind blanks. *half is its letter, or 0 if
 * there is none. */
static enum shape
cut_half(struct strview *text, int *half)
{
	struct strview rest = strview_skip(*text, BLANKS);

	*half = 0;
	if (rest.length == 0)
		return SHAPE_OPEN;
	if (!strview_starts(rest, "a") && !strview_starts(rest, "p"))
		return SHAPE_WHOLE;
	if (rest.length == 1 ||
	    (rest.length == 2 && strview_starts(strview_after(rest, 1), "m")))
		return SHAPE_OPEN;
	/* "14:30 America/New_York". */
	if (!strview_starts(strview_after(rest, 1), "m") ||
	    isalnum((unsigned char)rest.at[2]))
		return SHAPE_WHOLE;
	*half = tolower((unsigned char)*rest.at);
	*text = strview_after(rest, 2);
	return SHAPE_WHOLE;
}

/* Cuts off the time itself. */
static enum shape
cut_time(struct strview *text, struct clock *clock)
{
	int64_t parts[3] = { 0, 0, 0 };
	int count = 0, half;
	bool colon = true;
	enum shape shape;

	for (; colon && count < 3; count++) {
		shape = cut_number(text, count == 0 ? 1 : 2, &parts[count]);
		if (shape != SHAPE_WHOLE)
			return shape;
		colon = *text->at == ':';
		if (colon)
			*text = strview_after(*text, 1);
	}
	shape = cut_half(text, &half);
	clock->halved = half != 0;
	if (clock->halved && (parts[0] < 1 || parts[0] > 12))
		return SHAPE_OTHER;
	if (clock->halved)
		parts[0] = parts[0] % 12 + (half == 'p' ? 12 : 0);
	else if (count == 1 && shape == SHAPE_WHOLE)
		return SHAPE_OTHER;
	if (colon || parts[0] > 23 || parts[1] > 59 || parts[2] > 59)
		return SHAPE_OTHER;
	clock->second = HOUR * parts[0] + MINUTE * parts[1] + parts[2];
	return shape;
}

/* Cuts off the zone, if there is one. */
static enum shape
cut_zone(struct strview *text, struct clock *clock)
{
	struct strview rest = strview_skip(*text, BLANKS), zone = { NULL, 0 };
	bool apart = rest.length < text->length;
	bool enclosed = strview_starts(rest, "(");

	if (rest.length == 0)
		return SHAPE_OPEN;
	if (enclosed || (apart && isalpha((unsigned char)*rest.at))) {
		if (enclosed)
			rest = strview_after(rest, 1);
		zone = rest;
		rest = strview_skip(rest, ZONE);
		zone.length -= rest.length;
		if (rest.length == 0)
			return SHAPE_OPEN;
		apart = false;
	}
	if (zone.length >= sizeof clock->zone ||
	    (enclosed && (zone.length == 0 || *rest.at != ')')))
		return SHAPE_OTHER;
	/* "14:30." may end a sentence, "14:30.5" does not. */
	if (!enclosed && strchr(".,", *rest.at) != NULL) {
		if (rest.length == 1)
			return SHAPE_OPEN;
		if (isdigit((unsigned char)rest.at[1]))
			return SHAPE_OTHER;
	}
	/* The time may end before this byte, which blanks may precede. */
	if (!enclosed &&
	    (isdigit((unsigned char)*rest.at) ||
		strchr(apart ? "+-" : "+-/:%_", *rest.at) != NULL ||
		(!apart && isalpha((unsigned char)*rest.at))))
		return SHAPE_OTHER;
	memcpy(clock->zone, zone.at == NULL ? "" : zone.at, zone.length);
	clock->zone[zone.length] = '\0';
	*text = rest;
	return SHAPE_WHOLE;
}

bool
clock_cut(struct strview *rest, struct clock *clock)
{
	struct strview text = *rest;
	enum shape shape = cut_time(&text, clock);

	if (shape == SHAPE_WHOLE)
		shape = cut_zone(&text, clock);
	if (shape == SHAPE_OPEN)
		*rest = strview_after(*rest, rest->length);
	else if (shape == SHAPE_WHOLE)
		*rest = text;
	return shape == SHAPE_WHOLE;
}

/* The moment when the clock of the zone shows the local time, in seconds from
 * the Epoch on. Where a clock is put forward it may never do so. */
static bool
find_moment(
    int64_t local, clock_zone *ahead_of, const void *zone, int64_t *moment)
{
	int64_t ahead[2], shown;
	bool found = false;

	/* A clock is not changed twice in two days. */
	if (!ahead_of(zone, local - DAY, &ahead[0]) ||
	    !ahead_of(zone, local + DAY, &ahead[1]))
		return false;
	*moment = local - number_lesser(ahead[0], ahead[1]);
	for (int i = 0; i < 2; i++) {
		int64_t at = local - ahead[i];

		if (ahead_of(zone, at, &shown) && shown == ahead[i] &&
		    (!found || at > *moment)) {
			*moment = at;
			found = true;
		}
	}
	return true;
}

bool
clock_until(const struct clock *clock, int64_t now, clock_zone *ahead_of,
    const void *zone, int64_t *wait)
{
	int64_t ahead, local, moment = INT64_MIN;

	if (!ahead_of(zone, now, &ahead))
		return false;
	/* From yesterday on: at half past midnight 23:50 has come. */
	local = now + ahead;
	local -= (local % DAY + DAY) % DAY + DAY;
	for (local += clock->second; moment <= now - HOUR; local += DAY)
		if (!find_moment(local, ahead_of, zone, &moment))
			return false;
	*wait = number_lesser(number_greater(moment - now, 0), DAY);
	return true;
}
