/* segment: names of files, what a header is worth, and numbers that become stricter. */
#include <stddef.h>
#include "unit.h"
#include "budget/segment.h"

#define BOOT "0a1b2c3d-0000-4000-8000-000000000001"
#define OTHER "0a1b2c3d-0000-4000-8000-000000000002"
#define MADE (1000 * NANOS_SECOND)
#define CLOCK 77
#define NOT_KNOWN UINT32_MAX

/* Slices of a second; all else is the default. */
static const struct terms minute = { -1, -1, NANOS_MINUTE };
static const struct origin origin = { .base = MADE, .boot = BOOT, .clock = CLOCK };

#define TEN(c) c c c c c c c c c c
#define HUNDRED(c) TEN(TEN(c))
/* As many bytes as fit after "retry-v6.1000." */
#define LONGEST HUNDRED("k") HUNDRED("k") TEN("k") TEN("k") TEN("k") TEN("k") "k"
/* As many as fit before "~" and the hash. */
#define CUT HUNDRED("k") HUNDRED("k") TEN("k") TEN("k") "kkkk"

static const struct {
	int64_t uid;
	const char *key, *name;
} names[] = { { 0, "api", "retry-v6.0.api" }, { 4294967294, "api", "retry-v6.4294967294.api" },
	{ -1, "api", "retry-v6.api" }, { 7, "", "retry-v6.7." },
	{ 7, "AZaz09_-.", "retry-v6.7.AZaz09_-." }, { 7, "..", "retry-v6.7..." },
	{ 7, "/", "retry-v6.7.%2F" },
	{ 7, "../../etc/passwd", "retry-v6.7...%2F..%2Fetc%2Fpasswd" },
	{ 7, "a b\n\t", "retry-v6.7.a%20b%0A%09" }, { 7, "~tmp", "retry-v6.7.%7Etmp" },
	{ 7, "~0123456789ABCDEF", "retry-v6.7.%7E0123456789ABCDEF" },
	{ 7, "\x01\x7f\x80\xff", "retry-v6.7.%01%7F%80%FF" },
	{ 7, "gr\xc3\xbc\xc3\x9f", "retry-v6.7.gr%C3%BC%C3%9F" },
	{ 7, "@[`{/:", "retry-v6.7.%40%5B%60%7B%2F%3A" },
	{ 1000, LONGEST, "retry-v6.1000." LONGEST },
	/* FNV-1a of 242 k, as another implementation has it. */
	{ 1000, LONGEST "k", "retry-v6.1000." CUT "~015EEDD66CEC6B03" },
	/* A %XX is never cut in two. */
	{ 1000, HUNDRED("k") HUNDRED("k") TEN("k") TEN("k") "kkk/" TEN("/"),
	    "retry-v6.1000." HUNDRED("k") HUNDRED("k") TEN("k") TEN("k") "kkk~03FD2ADED6506F2F" } };

TEST(names) {
	char room[SEGMENT_NAME];

	for (size_t i = 0; i < LENGTH(names); i++)
		SAME(names[i].name, segment_name(room, names[i].uid, names[i].key), names[i].name);
}

/* Every byte that a key can have, in keys of every length. */
TEST(names_fit) {
	char key[SEGMENT_KEY + 1], room[SEGMENT_NAME + 1], row[16];

	for (int byte = 1; byte < 256; byte++) {
		snprintf(row, sizeof row, "%d", byte);
		for (size_t length = 1; length <= SEGMENT_KEY; length += 61) {
			memset(key, byte, length);
			key[length] = '\0';
			room[SEGMENT_NAME] = 'x';
			segment_name(room, 4294967294, key);
			HOLDS(row, room[SEGMENT_NAME] == 'x');
			HOLDS(row, strlen(room) < SEGMENT_NAME);
			HOLDS(row, strchr(room, '/') == NULL);
		}
	}
}

static const struct {
	struct terms terms;
	int64_t ratio, min;
	nanos slice;
} made[] = { { { -1, -1, -1 }, 200000, 10, 166666667 },
	{ { 0, 0, NANOS_MINUTE }, 0, 0, NANOS_SECOND },
	{ { 0, 1, 30 * NANOS_SECOND }, 0, 1, NANOS_SECOND / 2 },
	{ { SEGMENT_RATIO_MOST, SEGMENT_MIN_MOST, SEGMENT_WINDOW_MOST }, SEGMENT_RATIO_MOST,
	    SEGMENT_MIN_MOST, 24 * NANOS_MINUTE },
	/* Sixty slices are never shorter than the window. */
	{ { 1, 2, SEGMENT_WINDOW_LEAST }, 1, 2, 16666667 },
	{ { 1, 2, SEGMENT_WINDOW_LEAST + 1 }, 1, 2, 16666667 },
	{ { 1, 2, NANOS_MINUTE + 1 }, 1, 2, NANOS_SECOND + 1 } };

static bool is_zero(const void *memory, size_t size) {
	const unsigned char *byte = memory;

	while (size-- > 0)
		if (*byte++ != 0)
			return false;
	return true;
}

TEST(made) {
	for (size_t i = 0; i < LENGTH(made); i++) {
		struct segment new;
		struct terms limits;
		bool differs;
		char row[8];

		snprintf(row, sizeof row, "%zu", i);
		memset(&new, 0xff, sizeof new);
		segment_make(&new, "key", &made[i].terms, &origin);
		limits = segment_agree(&new, &new.header, &(struct terms){ -1, -1, -1 }, &differs);
		EQUAL(row, limits.ratio, made[i].ratio);
		EQUAL(row, limits.min, made[i].min);
		EQUAL(row, new.header.slice, made[i].slice);
		HOLDS(row, segment_check(&new.header, "key", &origin) == NULL);
		segment_agree(&new, &new.header, &made[i].terms, &differs);
		HOLDS(row, !differs);
		HOLDS(row, is_zero(&new.breaker, sizeof new - offsetof(struct segment, breaker)));
		HOLDS(row, is_zero(new.header.key + 3, SEGMENT_KEY - 3));
		EQUAL(row, new.header.clock, CLOCK);
	}
}

TEST(longest_key) {
	struct segment new;
	char key[SEGMENT_KEY + 1];

	memset(key, 'k', SEGMENT_KEY);
	key[SEGMENT_KEY] = '\0';
	segment_make(&new, key, &minute, &origin);
	HOLDS("longest", segment_check(&new.header, key, &origin) == NULL);
	key[SEGMENT_KEY - 1] = '\0';
	HOLDS("shorter", segment_check(&new.header, key, &origin) != NULL);
}

/*
 * segment_check. A row changes bytes of a good header, or the time and the
 * place at which it is checked.
 */

#define AT(field) .at = offsetof(struct header, field), .size = sizeof((struct header *)0)->field
#define INT(value) \
	.bytes = &(const int64_t) { value }
#define WORD(value) \
	.bytes = &(const uint32_t) { value }
#define USED_UP(left) .now = (WINDOW_EPOCHS - (left)) * NANOS_SECOND

static const struct {
	const char *row;
	const char *why;
	nanos now; /* since it was made */
	const char *boot;
	uint32_t clock; /* 0: the same */
	size_t at, size;
	const void *bytes; /* NULL: zeros */
} checks[] = {
	{ "as made", "good", .now = 0 },
	{ "boot not compared", "good", .boot = "" },
	{ "an hour later", "good", .now = NANOS_HOUR },

	{ "another version", "of another version", AT(magic), .bytes = "retry-v3" },
	{ "a larger one", "of another version", AT(size), WORD(sizeof(struct segment) + 8) },
	{ "another window size", "of another version", AT(words), WORD(WINDOW_WORDS + 1) },
	{ "no slice", "of another version", AT(slice), INT(0) },
	{ "too short a slice", "of another version", AT(slice), INT(16666665) },
	{ "too long a slice", "of another version", AT(slice), INT(24 * NANOS_MINUTE + 1) },
	{ "before the boot", "of another version", AT(base), INT(-1) },
	{ "no length", "of another version", AT(length), WORD(0) },
	{ "no key", "of another version", AT(key) },
	{ "neither length nor key", "of another version", .at = offsetof(struct header, length),
	    .size = 4 + SEGMENT_KEY },

	{ "another boot", "of an earlier boot", .boot = OTHER },
	{ "made without a boot", "of an earlier boot", AT(boot) },
	{ "epochs nearly used up", "good", USED_UP(1 << 21) },
	{ "epochs used up", "of an earlier boot", USED_UP(1 << 20) },

	/* Clocks. */
	{ "two long slices behind", "good", AT(slice), INT(24 * NANOS_MINUTE), .now = 5 - MADE },
	{ "as far behind as can be", "good", .now = -62 * NANOS_SECOND },
	{ "a stranger", "of another clock", .clock = CLOCK + 1 },
	{ "a stranger for whom it is as old as can be", "of another clock", USED_UP(0),
	    .clock = CLOCK + 1 },
	{ "a stranger of another boot", "of an earlier boot", .boot = OTHER, .clock = CLOCK + 1 },
	{ "who does not know his clock", "good", .clock = NOT_KNOWN },
	{ "made by an earlier program", "good", AT(clock) },
	{ "further behind", "of another clock", .now = -62 * NANOS_SECOND - 1 },
	{ "made at the end of time", "of another clock", AT(base), INT(INT64_MAX) },
};

static const char *
why_not(const struct header *header, const char *key, const struct origin *here) {
	const char *why = segment_check(header, key, here);

	HOLDS("stale", (why == segment_stale) == (why != NULL && strcmp(why, segment_stale) == 0));
	return why == NULL ? "good" : why;
}

TEST(checks) {
	struct segment new;
	struct header *header = &new.header;

	for (size_t i = 0; i < LENGTH(checks); i++) {
		const char *boot = checks[i].boot == NULL ? BOOT : checks[i].boot;
		struct origin here = { .base = MADE + checks[i].now, .clock = checks[i].clock };

		if (checks[i].clock == 0)
			here.clock = CLOCK;
		else if (checks[i].clock == NOT_KNOWN)
			here.clock = 0;
		snprintf(here.boot, sizeof here.boot, "%s", boot);
		segment_make(&new, "key", &minute, &origin);
		memset((char *)header + checks[i].at, 0, checks[i].size);
		if (checks[i].bytes != NULL)
			memcpy((char *)header + checks[i].at, checks[i].bytes, checks[i].size);
		/* Any key, if one byte of it is not zero. */
		SAME(checks[i].row, why_not(header, NULL, &here), checks[i].why);
		if (checks[i].at != offsetof(struct header, length))
			SAME(checks[i].row, why_not(header, "key", &here), checks[i].why);
	}
	segment_make(&new, "key", &minute, &origin);
	SAME("another key", why_not(header, "kez", &origin), "of another key");
	SAME("a shorter key", why_not(header, "ke", &origin), "of another key");
}

/* Age and epochs of a segment made at 1000 s, with slices of one second */

static const struct {
	nanos now, age;
	int64_t epoch;
} ages[] = { { MADE, 0, 0 }, { MADE + 1, 1, 0 }, { MADE + NANOS_SECOND, NANOS_SECOND, 1 },
	{ MADE - 1, 0, 0 }, { 0, 0, 0 },
	{ MADE + (WINDOW_EPOCHS - 1) * NANOS_SECOND, (WINDOW_EPOCHS - 1) * NANOS_SECOND,
	    WINDOW_EPOCHS - 1 },
	{ MADE + WINDOW_EPOCHS * NANOS_SECOND, WINDOW_EPOCHS *NANOS_SECOND, WINDOW_EPOCHS - 1 },
	{ INT64_MAX, INT64_MAX - MADE, WINDOW_EPOCHS - 1 } };

TEST(ages) {
	struct segment new;
	char row[24];

	segment_make(&new, "key", &minute, &origin);
	for (size_t i = 0; i < LENGTH(ages); i++) {
		snprintf(row, sizeof row, "%" PRId64, ages[i].now);
		EQUAL(row, segment_age(&new.header, ages[i].now), ages[i].age);
		EQUAL(row, window_epoch(new.header.slice, segment_age(&new.header, ages[i].now)),
		    ages[i].epoch);
	}
}

/* segment_agree. The segment has ratio 0.2, min 10 and a window of 60 s. */

static const struct {
	const char *row;
	struct terms terms;
	int64_t ratio, min;
	bool differs;
} agreements[] = {
	{ "nothing given", { -1, -1, -1 }, 200000, 10, false },
	{ "a lesser ratio", { 100000, -1, -1 }, 100000, 10, true },
	{ "a larger ratio", { 300000, -1, -1 }, 200000, 10, true },
	{ "a lesser min", { -1, 3, -1 }, 200000, 3, true },
	{ "one of each", { 100000, 30, -1 }, 100000, 10, true },
	{ "another window", { -1, -1, NANOS_HOUR }, 200000, 10, true },
	{ "as good as the same window", { -1, -1, NANOS_MINUTE - 1 }, 200000, 10, false },
};

TEST(agreements) {
	for (size_t i = 0; i < LENGTH(agreements); i++) {
		const char *row = agreements[i].row;
		struct segment new;
		struct terms limits;
		bool differs;

		segment_make(&new, "key", &minute, &origin);
		for (int twice = 0; twice < 2; twice++) {
			limits = segment_agree(&new, &new.header, &agreements[i].terms, &differs);
			EQUAL(row, limits.ratio, agreements[i].ratio);
			EQUAL(row, limits.min, agreements[i].min);
			if (twice == 0)
				EQUAL(row, differs, agreements[i].differs);
		}
		limits = segment_agree(&new, &new.header, &(struct terms){ -1, -1, -1 }, &differs);
		EQUAL(row, limits.ratio, agreements[i].ratio);
		EQUAL(row, limits.min, agreements[i].min);
		EQUAL(row, new.header.slice, NANOS_SECOND);
	}
}

/* Corrupt limits are reported, and not overwritten. */
TEST(corrupt_limits) {
	static const struct {
		const char *row;
		uint64_t word;
		bool sense;
	} rows[] = {
		{ "all ones", UINT64_MAX, false },
		{ "the most", (uint64_t)SEGMENT_RATIO_MOST << 32 | SEGMENT_MIN_MOST, true },
		{ "ratio", (uint64_t)(SEGMENT_RATIO_MOST + 1) << 32, false },
		{ "min", SEGMENT_MIN_MOST + 1, false },
		{ "nothing", 0, true },
	};

	for (size_t i = 0; i < LENGTH(rows); i++) {
		struct segment new;
		struct terms limits;
		bool differs = true;

		segment_make(&new, "key", &minute, &origin);
		atomic_store(&new.terms, rows[i].word);
		limits = segment_agree(&new, &new.header, &(struct terms){ -1, -1, -1 }, &differs);
		HOLDS(rows[i].row, (limits.ratio >= 0) == rows[i].sense);
		limits = segment_agree(&new, &new.header, &minute, &differs);
		HOLDS(rows[i].row, (limits.ratio >= 0) == rows[i].sense);
		HOLDS(rows[i].row, !differs);
		HOLDS(rows[i].row, atomic_load(&new.terms) == rows[i].word);
	}
}

/* What is known of the server has a time, and can be forgotten; but not --rate. */
TEST(forgets_the_server) {
	struct traffic traffic;
	struct segment new;
	uint64_t change;

	segment_make(&new, "key", &minute, &origin);
	EQUAL("never", segment_seen(&new), 0);
	change = segment_read(&new, NANOS_MINUTE, &traffic);
	traffic.pace.seen = NANOS_SECOND;
	traffic.pace.rate = 5;
	traffic.looks.waiting = 3;
	traffic.rate.terms = (struct rate_terms){ .number = 7, .time = NANOS_SECOND };
	HOLDS("replaced", segment_replace(&new, change, &traffic));
	HOLDS("of before", !segment_replace(&new, change, &traffic));
	EQUAL("once", segment_seen(&new), NANOS_SECOND);
	segment_forget(&new);
	EQUAL("forgotten", segment_seen(&new), 0);
	segment_read(&new, NANOS_MINUTE, &traffic);
	HOLDS("pace", !(traffic.pace.rate > 0));
	HOLDS("looks", !(traffic.looks.waiting > 0));
	EQUAL("rate", (int64_t)traffic.rate.terms.number, 7);
	EQUAL("time", traffic.rate.terms.time, NANOS_SECOND);
}

/*
 * Layout: other versions and machines use the same file. A change of the layout
 * needs another SEGMENT_PREFIX. But spare bytes may be used for something that
 * starts as zero, and that other versions need not change.
 */

static const struct {
	const char *row;
	size_t got, want;
} layout[] = {
#define HEADER(field, at) #field, offsetof(struct header, field), at
#define SEGMENT(field, at) #field, offsetof(struct segment, field), at
	{ "segment", sizeof(struct segment), 2304 + 8 + 8 * 6 * 192 },
	{ "header", sizeof(struct header), 1104 }, { HEADER(slice, 16) }, { HEADER(base, 24) },
	{ HEADER(boot, 32) }, { HEADER(length, 72) }, { HEADER(key, 76) }, { HEADER(clock, 1100) },
	{ SEGMENT(terms, 1104) }, { SEGMENT(breaker, 1112) }, { SEGMENT(breaker.rate, 1128) },
	{ SEGMENT(cooldown, 1136) }, { SEGMENT(waiting, 1144) }, { SEGMENT(guarded, 1152) },
	{ SEGMENT(totals[TOTAL_PROBES], 1160) }, { SEGMENT(totals[TOTAL_TURNS], 1168) },
	{ SEGMENT(totals[TOTAL_LIMITED], 1176) }, { SEGMENT(totals[TOTAL_FIRSTS], 1184) },
	{ SEGMENT(totals[TOTAL_DENIED], 1208) }, { SEGMENT(totals[TOTAL_THROTTLED], 1216) },
	{ SEGMENT(totals[TOTAL_GAVE_UP], 1232) }, { SEGMENT(window, 1240) },
	{ SEGMENT(fleet.lease, 1728) }, { SEGMENT(fleet.denied, 1736) },
	{ SEGMENT(fleet.offset, 1752) }, { SEGMENT(fleet.silence, 1776) },
	{ SEGMENT(fleet.alone, 1784) }, { SEGMENT(fleet.told, 2272) },
	{ SEGMENT(fleet.counted, 2296) }, { SEGMENT(record, 2304) }, { SEGMENT(record.slots, 2312) }
};

TEST(layout) {
	for (size_t i = 0; i < LENGTH(layout); i++)
		EQUAL(layout[i].row, (int64_t)layout[i].got, (int64_t)layout[i].want);
}
