/*
 * clock: when a time of the day comes. Which texts are one is shown by
 * tests/unit/match/hint.c.
 */
#include "unit.h"
#include "text/clock.h"

/* Midnight of Sunday, November 29, 2026, in UTC. */
#define MIDNIGHT INT64_C(1795910400)

/* A zone whose clock is put from one hour to another at a moment. */
struct change {
	int64_t moment, before, behind;
};

static bool ahead_of(const void *zone, int64_t moment, int64_t *ahead) {
	const struct change *change = zone;

	if (change == NULL)
		return false;
	*ahead = moment < change->moment ? change->before : change->behind;
	return true;
}

#define HOUR INT64_C(3600)
#define AT(hour, minute) (HOUR * (hour) + 60 * (minute))

/* Fixed zones, and changes at one in the night of UTC, of a clock that is an hour ahead then. */
static const struct change utc = { 0 }, berlin = { 0, HOUR, HOUR },
			   kolkata = { 0, AT(5, 30), AT(5, 30) },
			   new_york = { 0, -5 * HOUR, -5 * HOUR },
			   kiritimati = { 0, 14 * HOUR, 14 * HOUR },
			   spring = { MIDNIGHT + HOUR, HOUR, 2 * HOUR },
			   autumn = { MIDNIGHT + HOUR, 2 * HOUR, HOUR };

/* It is so late of UTC, or a day later or before; what the clock is to show; the wait. */
static const struct {
	const char *row;
	const struct change *zone;
	int64_t now, clock, wait;
} rows[] = {
	{ "later today", &utc, AT(12, 0), AT(20, 0), 8 * HOUR },
	{ "in a second", &utc, AT(12, 0), AT(12, 0) + 1, 1 },
	{ "now", &utc, AT(12, 0), AT(12, 0), 0 },
	{ "it has come", &utc, AT(12, 59) + 59, AT(12, 0), 0 },
	{ "an hour ago: tomorrow", &utc, AT(13, 0), AT(12, 0), 23 * HOUR },
	{ "it has come yesterday", &utc, AT(0, 30), AT(23, 50), 0 },
	{ "tomorrow", &utc, AT(23, 0), AT(1, 0), 2 * HOUR },
	{ "before the Epoch", &utc, AT(12, 0) - MIDNIGHT - 24 * HOUR, AT(13, 0), HOUR },
	{ "in the east", &berlin, AT(12, 0), AT(20, 0), 7 * HOUR },
	{ "half an hour more", &kolkata, AT(12, 0), AT(20, 0), AT(2, 30) },
	{ "the next day there", &berlin, AT(23, 30), AT(1, 0), AT(0, 30) },
	{ "in the west", &new_york, AT(12, 0), AT(20, 0), 13 * HOUR },
	{ "the day before there", &new_york, AT(3, 0), AT(23, 0), HOUR },
	{ "far in the east", &kiritimati, AT(12, 0), AT(2, 30), AT(0, 30) },
	/* Clocks are put forward from two to three, and back from three to two. */
	{ "before spring", &spring, AT(0, 0), AT(1, 30), AT(0, 30) },
	{ "behind spring", &spring, AT(0, 0), AT(3, 30), AT(1, 30) },
	{ "never in spring", &spring, AT(0, 0), AT(2, 30), AT(1, 30) },
	{ "once in autumn", &autumn, AT(-1, 0), AT(1, 30), AT(0, 30) },
	{ "twice in autumn", &autumn, AT(-1, 0), AT(2, 30), AT(2, 30) },
	{ "behind autumn", &autumn, AT(-1, 0), AT(3, 30), AT(3, 30) },
	{ "a day of 25 hours", &autumn, AT(-5, 0), AT(20, 0), 24 * HOUR },
};

TEST(when_it_comes) {
	for (size_t i = 0; i < LENGTH(rows); i++) {
		struct clock clock = { .second = rows[i].clock };
		int64_t wait = -1;

		HOLDS(rows[i].row,
		    clock_until(&clock, MIDNIGHT + rows[i].now, ahead_of, rows[i].zone, &wait));
		EQUAL(rows[i].row, wait, rows[i].wait);
	}
}

TEST(an_unknown_zone) {
	struct clock clock = { .second = 0 };
	int64_t wait = -1;

	HOLDS("unknown", !clock_until(&clock, MIDNIGHT, ahead_of, NULL, &wait));
	EQUAL("unknown", wait, -1);
}
