/*
 * date: reads dates of HTTP and RFC 3339, and writes those of RFC 3339.
 *
 * These are the three forms that a recipient has to accept (RFC 9110 section
 * 5.6.7):
 *
 *	Sun, 06 Nov 1994 08:49:37 GMT	IMF-fixdate
 *	Sunday, 06-Nov-94 08:49:37 GMT	rfc850-date
 *	Sun Nov  6 08:49:37 1994	asctime-date
 *
 * Names are English, because retry never calls setlocale(3). Dates are written
 * in UTC.
 */
#ifndef DATE_H
#define DATE_H

#include <stdbool.h>
#include <stdint.h>
#include "text/duration.h"
#include "text/strview.h"

/*
 * Reads the date with which text begins, of HTTP or of RFC 3339
 * ("1994-11-06T08:49:37Z", "1994-11-06T09:49:37.5+01:00"), or as servers of
 * ACME write it ("1994-11-06 08:49:37 UTC"), as a moment in seconds of Unix
 * time; a part of a second counts as one. Returns how many bytes the date has,
 * or 0: there is none, or a letter or a digit follows.
 *
 * In a date of HTTP a year of two digits is the latest one that is at most 50
 * years after now, in seconds of Unix time, too. Names may be in upper or lower
 * case, the day may have one digit, there may be more blanks, and a leap second
 * is valid. A day that the month does not have is not, nor is any zone but GMT
 * and UTC.
 */
size_t date_read(struct strview text, int64_t now, int64_t *moment);

/* Reads all of text as such a date, blanks around it aside. A date of HTTP may
 * lack its zone, because in HTTP all dates are in UTC. */
bool date_parse(struct strview text, int64_t now, int64_t *moment);

/* The time between two moments; 0 if to is not after from. */
nanos date_until(int64_t from, int64_t to);

/* Room for what date_put() writes, with the closing NUL. */
#define DATE_ROOM 32

/*
 * Writes a moment, in milliseconds of Unix time, into room, and returns room:
 * "1994-11-06T08:49:37.000Z". A moment outside of the years 1970 to 9999
 * becomes the nearest one within.
 */
char *date_put(char room[DATE_ROOM], int64_t moment);

#endif
