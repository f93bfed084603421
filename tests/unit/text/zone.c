/* zone: files of zones, made here, and what they say. */
#include <time.h>
#include "unit.h"
#include "text/zone.h"

static char bytes[4096];
static size_t length;

static void put(int64_t number, size_t size) {
	for (; size > 8; size--) bytes[length++] = '\0';
	while (size-- > 0) bytes[length++] = (char)((uint64_t)number >> (8 * size));
}

/* The head of a block with so many moments, kinds and letters. */
static void put_head(char version, int moments, int kinds, int letters) {
	memcpy(bytes + length, "TZif", 4);
	length += 4;
	put(version, 1);
	put(0, 15);
	put(0, 12); /* neither UTC, standard time nor leap seconds */
	put(moments, 4);
	put(kinds, 4);
	put(letters, 4);
}

/* A block in which the second of two kinds holds from a moment on, if there is one. */
static void put_block(int64_t moment, size_t size) {
	if (moment != 0) {
		put(moment, size);
		put(1, 1);
	}
	put(3600, 4);
	put(0, 2);
	put(-7200, 4);
	put(0, 2);
	memcpy(bytes + length, "A\0B\0", 4);
	length += 4;
}

/* A file of the second version, whose first block is not to be read. */
static struct strview file_of(int64_t moment, const char *rule) {
	length = 0;
	put_head('2', 1, 2, 4);
	put_block(7, 4);
	put_head('2', moment != 0, 2, 4);
	put_block(moment, 8);
	length += (size_t)sprintf(bytes + length, "\n%s\n", rule);
	return (struct strview){ bytes, length };
}

/* The hours from UTC, "+1:30", at a date as of RFC 3339, by the rule in a row, "RULE DATE". */
static const char *hours_by(const char *row) {
	static char room[32];
	struct tm parts = { 0 };
	char rule[64];
	int64_t ahead = 99;

	sscanf(row, "%63s", rule);
	if (strptime(row + strlen(rule), " %Y-%m-%dT%H:%M:%S", &parts) == NULL)
		return "cannot be read";
	if (!zone_ahead(file_of(0, rule), timegm(&parts), &ahead))
		return ahead == 99 ? "refused" : "changed";
	snprintf(room, sizeof room, "%+d:%02d", (int)(ahead / 3600), abs((int)(ahead / 60 % 60)));
	return room;
}

#define BERLIN "CET-1CEST,M3.5.0,M10.5.0/3"
#define SYDNEY "AEST-10AEDT,M10.1.0,M4.1.0/3"
#define DUBLIN "IST-1GMT0,M10.5.0,M3.5.0/1"

TEST(rules) {
	static const char *const rules[][12] = {
		{ "+0:00", "UTC0 2026-11-29T12:00:00", "<-00>0 2026-11-29T12:00:00",
		    DUBLIN " 2026-10-25T01:00:00", DUBLIN " 2026-03-29T00:59:59" },
		{ "+1:00", BERLIN " 2026-03-29T00:59:59", BERLIN " 2026-10-25T01:00:00",
		    BERLIN " 2026-12-31T23:59:59", BERLIN " 2027-01-01T00:00:00",
		    DUBLIN " 2026-10-25T00:59:59", DUBLIN " 2026-03-29T01:00:00" },
		{ "+2:00", BERLIN " 2026-03-29T01:00:00", BERLIN " 2026-10-25T00:59:59",
		    BERLIN " 2038-07-01T00:00:00" },
		{ "+10:00", SYDNEY " 2026-10-03T15:59:59", SYDNEY " 2026-04-04T16:00:00" },
		{ "+11:00", SYDNEY " 2026-10-03T16:00:00", SYDNEY " 2026-04-04T15:59:59",
		    SYDNEY " 2026-12-31T20:00:00" },
		{ "-5:00", "EST5EDT,M3.2.0,M11.1.0 2026-03-08T06:59:59",
		    "EST5EDT,M3.2.0,M11.1.0 2026-11-01T06:00:00" },
		{ "-4:00", "EST5EDT,M3.2.0,M11.1.0 2026-03-08T07:00:00",
		    "EST5EDT,M3.2.0,M11.1.0 2026-11-01T05:59:59" },
		{ "+5:30", "IST-5:30 2026-06-01T00:00:00", "<+0530>-5:30 2026-06-01T00:00:00" },
		{ "+11:00", "<+1030>-10:30<+11>-11,M10.1.0,M4.1.0 2026-01-01T00:00:00" },
		{ "+10:30", "<+1030>-10:30<+11>-11,M10.1.0,M4.1.0 2026-06-01T00:00:00" },
		/* A day of the year, with and without the one that is leapt, and far times. */
		{ "+1:00", "A0B,59/0,J200/0 2028-02-29T00:00:00",
		    "A0B,J60/0,J200/0 2028-03-01T00:00:00", "A0B,J60/0,J200/0 2026-03-01T00:00:00",
		    "A0B,M3.4.4/50,M10.4.4/50 2026-03-28T02:00:00",
		    "A0B,M3.5.0/-1,M10.5.0/-1 2026-03-28T23:00:00",
		    "A0B,M2.5.0/0,M10.5.0 2026-02-22T00:00:00" },
		{ "+0:00", "A0B,59/0,J200/0 2028-02-28T23:59:59",
		    "A0B,J60/0,J200/0 2028-02-29T23:59:59", "A0B,J60/0,J200/0 2026-02-28T23:59:59",
		    "A0B,M3.4.4/50,M10.4.4/50 2026-03-28T01:59:59",
		    "A0B,M3.5.0/-1,M10.5.0/-1 2026-03-28T22:59:59",
		    "A0B,M2.5.0/0,M10.5.0 2026-02-21T23:59:59" },
		{ "refused", "5 2026-01-01T00:00:00", "CET 2026-01-01T00:00:00",
		    "CET-1CEST 2026-01-01T00:00:00", "CET-1CEST, 2026-01-01T00:00:00",
		    "CET-1CEST,M3.5.0 2026-01-01T00:00:00",
		    "CET-1CEST,M13.5.0,M10.5.0 2026-01-01T00:00:00",
		    "CET-1CEST,M3.0.0,M10.5.0 2026-01-01T00:00:00",
		    "CET-1CEST,M3.5.7,M10.5.0 2026-01-01T00:00:00",
		    "CET-1CEST,M3.5.0,M10.5.0x 2026-01-01T00:00:00",
		    "CET-1CEST,400,M10.5.0 2026-01-01T00:00:00", "CET-1:x 2026-01-01T00:00:00" },
	};

	ALIKE(rules, hours_by);
}

/* What a file says at a moment; 99: it is none. */
static int64_t ahead_at(struct strview file, int64_t moment) {
	int64_t ahead = 99;

	return zone_ahead(file, moment, &ahead) ? ahead : 99;
}

TEST(moments) {
	struct strview file = file_of(1000, "X3");

	EQUAL("before all", ahead_at(file, 999), 3600);
	EQUAL("before all", ahead_at(file, INT64_MIN / 2), 3600);
	EQUAL("behind all the rule holds", ahead_at(file, 1000), -3 * 3600);
	file = file_of(-5000000000, "");
	EQUAL("without a rule", ahead_at(file, 1000), -7200);
	EQUAL("in 64 bits", ahead_at(file, -5000000000), -7200);
	EQUAL("in 64 bits", ahead_at(file, -5000000001), 3600);
	/* The first version has one block, and no rule. */
	length = 0;
	put_head('\0', 1, 2, 4);
	put_block(1000, 4);
	file.length = length;
	EQUAL("first version", ahead_at(file, 999), 3600);
	EQUAL("first version", ahead_at(file, 1000), -7200);
}

/* Of a file that is cut off or that counts what is not there, nothing else is read. */
TEST(broken_files) {
	struct strview file = file_of(1000, BERLIN);
	size_t whole = length;
	char *copy;

	EQUAL("whole", ahead_at(file, 2000000000), 7200);
	for (size_t size = 0; size < whole - 1; size++) {
		copy = malloc(size + 1); /* so that sanitizers see what is read behind it */
		memcpy(copy, bytes, size);
		ahead_at((struct strview){ copy, size }, 2000000000);
		if (size < whole - sizeof BERLIN)
			EQUAL("cut", ahead_at((struct strview){ copy, size }, 999), 99);
		free(copy);
	}
	for (size_t i = 0; i < whole; i++)
		for (int value = 0; value < 256; value += 51) {
			char before = bytes[i];

			bytes[i] = (char)value;
			copy = malloc(whole);
			memcpy(copy, bytes, whole);
			ahead_at((struct strview){ copy, whole }, 999);
			free(copy);
			bytes[i] = before;
		}
	memcpy(bytes, "TZiF", 4);
	EQUAL("another file", ahead_at(file, 999), 99);
}
