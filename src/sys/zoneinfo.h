/*
 * zoneinfo: finds when a time of the day comes, in a zone of this machine.
 */
#ifndef ZONEINFO_H
#define ZONEINFO_H

#include <stdbool.h>
#include "text/clock.h"
#include "text/duration.h"

/*
 * How long it is from now, in nanoseconds of Unix time, until the clock of the
 * zone shows this time; without a zone that of TZ or of the machine, as libc
 * has it. False if no file below /usr/share/zoneinfo tells of the zone, except
 * that UTC and GMT need none. The name comes from a stranger, and libc would
 * take one that it does not know for UTC: so libc does not get it.
 */
bool zoneinfo_until(const struct clock *clock, nanos now, nanos *wait);

#endif
