/*
 * date: a moment as HTTP writes it, in any of the three forms that a
 * recipient has to accept (RFC 9110 section 5.6.7):
 *
 *	Sun, 06 Nov 1994 08:49:37 GMT	IMF-fixdate
 *	Sunday, 06-Nov-94 08:49:37 GMT	rfc850-date
 *	Sun Nov  6 08:49:37 1994	asctime-date
 *
 * By hand, since the names that strptime(3) knows are the locale's. What is
 * written is the one form of RFC 3339, in UTC.
 */
#ifndef DATE_H
#define DATE_H

#include <stdbool.h>
#include <stdint.h>
#include "text/strview.h"

/* Room for what date_put writes, and the closing NUL. */
#define DATE_ROOM 32

/*
 * Reads all of text as a moment, in seconds of Unix time. now, in the same
 * unit, says which century a year of two digits is in: one that would be more
 * than 50 years ahead is past. False for anything else, for a day that the
 * month does not have, and for any zone but GMT and UTC. Names in either case,
 * a day of one digit, a leap second and any number of blanks pass.
 */
bool date_parse(struct strview text, int64_t now, int64_t *moment);

/*
 * Writes a moment, in milliseconds of Unix time, of the years 1970 to 9999
 * (what is outside becomes the nearest), into room, and returns room:
 * "1994-11-06T08:49:37.000Z".
 */
char *date_put(char room[DATE_ROOM], int64_t moment);

#endif
