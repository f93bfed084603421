/* date: reading moments of HTTP and RFC 3339, and writing the latter. */
#include <time.h>
#include "unit.h"
#include "text/date.h"

/* What a date says, in seconds, in August 2026. */
static const char *moment_of(const char *text) {
	static char room[32];
	int64_t moment = -99;
	bool read = date_parse(strview_of(text), 1787407200, &moment);

	snprintf(room, sizeof room, "%" PRId64, moment);
	return read ? room : moment == -99 ? "none" : "changed";
}

TEST(dates) {
	static const char *const rows[][64] = {
		{ "784111777", "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT",
		    "Sun Nov  6 08:49:37 1994", " sun,\r\n 6  nov 1994 08:49:37 utc\t",
		    /* Without a zone. */
		    "Sun, 06 Nov 1994 08:49:37", "Sunday, 06-Nov-94 08:49:37",
		    "\tSun, 06 Nov 1994 08:49:37 ",
		    /* RFC 3339. */
		    "1994-11-06T08:49:37Z", " 1994-11-06T10:19:37+01:30 " },
		{ "0", "Thu, 01 Jan 1970 00:00:00 GMT" },
		{ "-1", "Wed, 31 Dec 1969 23:59:59 GMT" },
		{ "951825600", "Tue, 29 Feb 2000 12:00:00 GMT" },
		{ "784111777", "Sunday,6 November 1994\t08:49:37\nGMT", "Sun nov 06 08:49:37 1994",
		    "SUN, 6-NOV-94 08:49:37 GMT" },
		{ "-30610224000", "Wed, 01 Jan 1000 00:00:00 GMT" },
		{ "1709251200", "Thu, 29 Feb 2024 23:59:60 GMT" },
		{ "2147483648", "Tue, 19 Jan 2038 03:14:08 GMT" },
		{ "253402300799", "Fri, 31 Dec 9999 23:59:59 GMT" },
		/* Of two digits: up to 50 years ahead of 2026. */
		{ "3345062400", "Thursday, 01-Jan-76 00:00:00 GMT" },
		{ "220924800", "Saturday, 01-Jan-77 00:00:00 GMT" },
		{ "946684800", "Saturday, 01-Jan-00 00:00:00 GMT" },
		{ "915148800", "Friday, 01-Jan-99 00:00:00 GMT" },
		{ "none", "", "x", "Sun", "Sun,", "Sun, 06", "1994-11-06T08:49:37",
		    "1994-11-06T08:49:37Z x", "1994-11-06", "Sun, 06 Nov 1994 08:49",
		    "Sun, 06 Nov 1994 08:49:37 +0100", "Sunday, 06-Nov-94 08:49:37 CET",
		    "Sun, 06 Nov 1994 08:49:37 CET", "Sun, 06 Nov 1994 08:49:37 GMT x",
		    "Sun, 06 Nov 1994 08:49 GMT", "Sun, 06 Nov 1994 24:00:00 GMT",
		    "Sun, 06 Nov 1994 23:60:00 GMT", "Sun, 06 Nov 1994 23:59:61 GMT",
		    "Sun, 00 Nov 1994 08:49:37 GMT", "Sun, 31 Nov 1994 08:49:37 GMT",
		    "Sun, 29 Feb 1900 08:49:37 GMT", "Sun, 29 Feb 2023 08:49:37 GMT",
		    "Sun, 006 Nov 1994 08:49:37 GMT", "Tue, 31 Dec 0999 23:59:59 GMT",
		    "Sun, 06 Nov 994 08:49:37 GMT", "Sun, 06 Nov 0994 08:49:37 GMT",
		    "Sun, 06 Nov 11994 08:49:37 GMT", "Sun, 06 Foo 1994 08:49:37 GMT",
		    "Foo, 06 Nov 1994 08:49:37 GMT", "Sund, 06 Nov 1994 08:49:37",
		    "06 Nov 1994 08:49:37 GMT", "Sun Nov  6 08:49:37 94", "Sun Nov  6 08:49:37",
		    "Sun Nov  6 08:49:37 1994 GMT", "SunNov  6 08:49:37 1994",
		    "Mon, 01 Feb 199905:48:14 GMT", "Sunday, 06-Nov-9408:49:37 GMT",
		    "Tuesday, 05-Oct-4 08:49:37 GMT", "Tuesday, 05-Oct- 4 08:49:37 GMT",
		    "Sun, 06 Nov 1994 8:49:37 GMT", "Sun, 06 Nov 1994 08:4:7 GMT",
		    "Sun, 06 Nov 1994 08:49: 7 GMT", "Sun Nov  608:49:37 1994",
		    "Sun Nov  6 08:49:371994",
		    /* What some strptime() takes. */
		    "Sun Nov  68:49:37 1994", "Sun, 06 Nov +1994 08:49:37 GMT",
		    "Sun, 06 Nov 1994 68:49:37 GMT", "Sun, 06 Nov -994 08:49:37 GMT",
		    "Sun, +6 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-+4 08:49:37 GMT" },
	};

	ALIKE(rows, moment_of);
}

/* The date with which a text begins, and how long it is. */
static const char *begun(const char *text) {
	static char room[48];
	int64_t moment = -99;
	size_t length = date_read(strview_of(text), 1787407200, &moment);

	snprintf(room, sizeof room, "%" PRId64 " %zu", moment, length);
	return length > 0 ? room : moment == -99 ? "none" : "changed";
}

TEST(dates_with_which_a_text_begins) {
	static const char *const rows[][20] = {
		{ "784111777 29", "Sun, 06 Nov 1994 08:49:37 GMT",
		    "Sun, 06 Nov 1994 08:49:37 GMT, or a-b:c" },
		{ "784111777 30", "Sunday, 06-Nov-94 08:49:37 GMT-x" },
		{ "784111777 24", "Sun Nov  6 08:49:37 1994 x" },
		{ "784111777 20", "1994-11-06T08:49:37Z", "1994-11-06T08:49:37Z." },
		{ "784111777 23", "1994-11-06 08:49:37 UTC", "1994-11-06 08:49:37 UTC, or" },
		{ "784111778 22", "1994-11-06T08:49:37.2Z" },
		{ "784111777 25", "1994-11-06T10:19:37+01:30", "1994-11-05T20:49:37-12:00" },
		{ "none", "", "1994-11-06T08:49:37", "1994-11-06T08:49:37Zx",
		    "1994-11-06T08:49:37+0100", "1994-11-06 08:49:37Z", "1994-11-06 08:49:37 GMT",
		    "1994-11-06 08:49:37 UTCx", "1994-11-06 08:49:37", "1994-11-06T24:00:00Z",
		    "1994-02-29T08:49:37Z", "94-11-06T08:49:37Z", "1994-11-06T08:49:37+01:60",
		    "1994-11-06T08:49:37+24:00", "1994-13-06T08:49:37Z", "1994-11-06T08:49:37+1:00",
		    "Sun Nov  6 08:49:37 19945" },
	};

	ALIKE(rows, begun);
}

static const char *written(const char *ms) {
	static char room[DATE_ROOM];

	return date_put(room, strtoll(ms, NULL, 10));
}

TEST(moments) {
	static const char *const rows[][4] = {
		{ "1970-01-01T00:00:00.000Z", "0", "-1", "-9223372036854775808" },
		{ "1970-01-01T00:00:00.001Z", "1" },
		{ "1970-01-01T23:59:59.999Z", "86399999" },
		{ "1970-01-02T00:00:00.000Z", "86400000" },
		{ "1994-11-06T08:49:37.000Z", "784111777000" },
		{ "2000-02-29T00:00:00.000Z", "951782400000" },
		{ "2000-12-31T23:59:59.999Z", "978307199999" },
		{ "2100-03-01T00:00:00.000Z", "4107542400000" },
		{ "9999-12-31T23:59:59.999Z", "253402300799999", "253402300800000",
		    "9223372036854775807" },
	};

	ALIKE(rows, written);
}
