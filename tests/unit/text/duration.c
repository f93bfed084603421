/* durations, row by row, and as they are shown. */
#include "unit.h"
#include "text/duration.h"

/* A duration in nanoseconds. */
static const char *nanos_of(const char *text) {
	static char room[32];
	nanos span = -1;
	bool read = duration_parse(text, strlen(text), &span);

	snprintf(room, sizeof room, "%" PRId64, span);
	return read ? room : span == -1 ? "none" : "changed";
}

TEST(durations) {
	static const char *const rows[][60] = { { "0", "0", "0d0h0m0s0ms" }, { "1000000", "1ms" },
		{ "1000000000", "1", "1s" }, { "60000000000", "1m" }, { "3600000000000", "1h" },
		{ "86400000000000", "1d" }, { "500000000", "0.5", ".5" }, { "2000000000", "2." },
		{ "10000000000", "010" }, { "90000000000", "1.5m", "1m30s" },
		{ "360000000000", "0.1h" }, { "43200000000000", ".5d" },
		{ "5400000000000", "1h30m" }, { "1500000000", "1s500ms" },
		{ "5490000000000", "1.5h1.5m" }, { "93784005000000", "1d2h3m4s5ms" },
		{ "2", "0.0000000011" }, { "123456790", "0.1234567891" },
		/* Too small: 1 ns, and never 0, which often means "never". */
		{ "1", "0.000000001", "0.0000000001", "0.0000000001ms", "0.000000000000001d" },
		/* Exact in the unit in which it is written. */
		{ "6", "0.0000000001m" }, { "864", "0.00000000001d" },
		/* Too large. */
		{ "9223286400000000000", "106751d" },
		{ "9223372036854775806", "9223372036.854775806" },
		{ "9223372036854775807", "9223372036.854775807", "9223372037", "106752d",
		    "106751d23h48m", "99999999999999999999999999999999d",
		    "99999999999999999999d99999999999999999999h" },
		{ "none", "", ".", "s", "ms", ".s", "-1", "+1", "-1s", "1s-", "1e3", "1e3s", "0x10",
		    "0x10s", "inf", "nan", "infinity", "1,5", "1 s", " 1", "1 ", "1s ", "\t1",
		    "1\n", "1S", "1M", "1H", "1MS", "1us", "1ns", "1w", "1y", "1sec", "1min",
		    "1h30", "30m1h", "1m1m", "1ms1s", "1s1", "1h 30m", "1h,30m", "1h:30m", "1:30",
		    "1..5s", "1.5.s", "hm", "1hm", "1h.m", "1sms", "1mms", "one", "1s\xc3\xa9" } };

	ALIKE(rows, nanos_of);
}

TEST(durations_read_no_further_than_told) {
	nanos span = -1;

	HOLDS("1 of 1,2", duration_parse("1,2", 1, &span));
	EQUAL("1 of 1,2", span, NANOS_SECOND);
	HOLDS("1m of 1ms", duration_parse("1ms", 2, &span));
	EQUAL("1m of 1ms", span, NANOS_MINUTE);
	HOLDS("nothing of 1", !duration_parse("1", 0, &span));
	HOLDS("a NUL within", !duration_parse("1s\0001ms", 6, &span));
}

static const char *shown(const char *ns) {
	static char room[DURATION_ROOM];

	return duration_format(room, strtoll(ns, NULL, 10));
}

TEST(durations_are_shown_rounded) {
	static const char *const rows[][5] = { { "0s", "-9223372036854775808", "-1", "0" },
		{ "1ms", "1", "499999", "1000000", "1499999" }, { "2ms", "1500000" },
		{ "99ms", "99499999" }, { "0.1s", "99500000", "100000000", "149000000" },
		{ "0.2s", "150000000" }, { "0.9s", "949000000" },
		{ "1s", "950000000", "1000000000", "1049000000" }, { "1.1s", "1050000000" },
		{ "9.9s", "9949000000" }, { "10s", "9950000000", "10499000000" },
		{ "11s", "10500000000" }, { "59s", "59499000000" },
		{ "1m", "59500000000", "60000000000" }, { "1m1s", "61000000000" },
		{ "1m30s", "90000000000" }, { "59m40s", "3580000000000" },
		{ "1h", "3599999000000", "3600000000000", "3629000000000" },
		{ "1h1m", "3630000000000" }, { "2h5m", "7500000000000" },
		{ "1d", "86380000000000", "86400000000000" }, { "23h59m", "86340000000000" },
		{ "2d", "172740000000000" }, { "106751d23h", "9223372036854775807" } };

	ALIKE(rows, shown);
}

/* What is written can be read again: at every scale about the same. */
TEST(shown_durations_read_back) {
	for (nanos span = NANOS_MS; span < NANOS_MAX / 3; span += span / 2) {
		char room[DURATION_ROOM];
		nanos back = -1, off;

		duration_format(room, span);
		HOLDS(room, duration_parse(room, strlen(room), &back));
		off = back > span ? back - span : span - back;
		/* The coarsest: whole ms of 1 ms, tenths of 0.1s. */
		HOLDS(room, off <= span / 2);
	}
}
