/*
 * date: writing a moment; http/retry_after.c reads them.
 */
#include <time.h>
#include "unit.h"
#include "text/date.h"

TEST(moments)
{
	static const struct {
		int64_t moment;
		const char *text;
	} rows[] = {
		{ 0, "1970-01-01T00:00:00.000Z" },
		{ -1, "1970-01-01T00:00:00.000Z" },
		{ INT64_MIN, "1970-01-01T00:00:00.000Z" },
		{ 1, "1970-01-01T00:00:00.001Z" },
		{ 86399999, "1970-01-01T23:59:59.999Z" },
		{ 86400000, "1970-01-02T00:00:00.000Z" },
		{ INT64_C(784111777000), "1994-11-06T08:49:37.000Z" },
		{ INT64_C(951782400000), "2000-02-29T00:00:00.000Z" },
		{ INT64_C(978307199999), "2000-12-31T23:59:59.999Z" },
		{ INT64_C(4107542400000), "2100-03-01T00:00:00.000Z" },
		{ INT64_C(253402300799999), "9999-12-31T23:59:59.999Z" },
		{ INT64_C(253402300800000), "9999-12-31T23:59:59.999Z" },
		{ INT64_MAX, "9999-12-31T23:59:59.999Z" },
	};
	char room[DATE_ROOM];

	for (size_t i = 0; i < LENGTH(rows); i++)
		SAME(
		    rows[i].text, date_put(room, rows[i].moment), rows[i].text);
}

/* Every seventh day of 400 years and more, compared with the C library. */
TEST(days)
{
	char room[DATE_ROOM], want[DATE_ROOM];

	for (time_t day = 0; day < 150000; day += 7) {
		time_t moment = day * 86400 + 86399;
		struct tm parts;

		gmtime_r(&moment, &parts);
		strftime(want, sizeof want, "%Y-%m-%dT%H:%M:%S.000Z", &parts);
		date_put(room, (int64_t)moment * 1000);
		if (strcmp(room, want) != 0)
			SAME("day", room, want);
	}
	HOLDS("days", true);
}
