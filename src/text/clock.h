/*
 * clock: reads a time of the day, and tells how long it is until then.
 */
#ifndef CLOCK_H
#define CLOCK_H

#include <stdbool.h>
#include <stdint.h>
#include "text/strview.h"

/* Room for the name of a zone and the closing NUL. */
#define CLOCK_ZONE 48

struct clock {
	int64_t second; /* of the day, from 0 on */
	bool halved; /* "am" or "pm" stood behind it */
	char zone[CLOCK_ZONE]; /* "": none was named */
};

/*
 * Cuts off the time of the day with which rest begins: "8pm", "3:05 PM",
 * "14:30", "14:30:00", in upper or lower case. Behind it a zone may stand, as
 * " Europe/Berlin" or " (Europe/Berlin)"; whether there is such a zone is not
 * known here. False if there is no such time, if another word, a number, a "-"
 * or a "+" follows, or if the parentheses have something else. If it may go on
 * behind the last byte, nothing is left of rest then.
 */
bool clock_cut(struct strview *rest, struct clock *clock);

/* How far local time is ahead of UTC at a moment in Unix time, all in seconds.
 * False if that is not known. */
typedef bool clock_zone(const void *zone, int64_t moment, int64_t *ahead);

/*
 * How long it is from now, a moment in Unix time, until the clock of the zone
 * shows this time next, in seconds: a day at most, and 0 if it has shown it
 * less than an hour ago. Where it shows a time twice, the later one counts.
 * False if the zone is not known.
 */
bool clock_until(const struct clock *clock, int64_t now, clock_zone *ahead_of,
    const void *zone, int64_t *wait);

#endif
