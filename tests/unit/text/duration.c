/*
 * durations, row by row, and as they are shown.
 */
#include "unit.h"
#include "text/duration.h"

static const struct {
	const char *text;
	nanos span;
} durations[] = {
	{ "0", 0 },
	{ "0d0h0m0s0ms", 0 },
	{ "1", NANOS_SECOND },
	{ "1ms", NANOS_MS },
	{ "1s", NANOS_SECOND },
	{ "1m", NANOS_MINUTE },
	{ "1h", NANOS_HOUR },
	{ "1d", NANOS_DAY },
	{ "0.5", NANOS_SECOND / 2 },
	{ ".5", NANOS_SECOND / 2 },
	{ "2.", 2 * NANOS_SECOND },
	{ "1.5m", 90 * NANOS_SECOND },
	{ "0.1h", 6 * NANOS_MINUTE },
	{ ".5d", 12 * NANOS_HOUR },
	{ "010", 10 * NANOS_SECOND },
	{ "1h30m", 90 * NANOS_MINUTE },
	{ "1m30s", 90 * NANOS_SECOND },
	{ "1s500ms", 1500 * NANOS_MS },
	{ "1.5h1.5m", 91 * NANOS_MINUTE + 30 * NANOS_SECOND },
	{ "1d2h3m4s5ms",
	    NANOS_DAY + 2 * NANOS_HOUR + 3 * NANOS_MINUTE + 4 * NANOS_SECOND +
		5 * NANOS_MS },
	{ "0.000000001", 1 },
	{ "0.0000000011", 2 },
	{ "0.1234567891", 123456790 },
	/* Too small: 1 ns, and never 0, which often means "never". */
	{ "0.0000000001", 1 },
	{ "0.0000000001ms", 1 },
	{ "0.000000000000001d", 1 },
	/* Exact in the unit in which it is written. */
	{ "0.0000000001m", 6 },
	{ "0.00000000001d", 864 },
	/* Too large. */
	{ "9223372036.854775807", NANOS_MAX },
	{ "9223372036.854775806", NANOS_MAX - 1 },
	{ "9223372037", NANOS_MAX },
	{ "106751d", 106751 * NANOS_DAY },
	{ "106752d", NANOS_MAX },
	{ "106751d23h48m", NANOS_MAX },
	{ "99999999999999999999999999999999d", NANOS_MAX },
	{ "99999999999999999999d99999999999999999999h", NANOS_MAX },
};

TEST(durations)
{
	for (size_t i = 0; i < LENGTH(durations); i++) {
		const char *text = durations[i].text;
		nanos span = -1;

		HOLDS(text, duration_parse(text, strlen(text), &span));
		EQUAL(text, span, durations[i].span);
	}
}

TEST(what_is_no_duration)
{
	static const char *const rows[] = { "", ".", "s", "ms", ".s", "-1",
		"+1", "-1s", "1s-", "1e3", "1e3s", "0x10", "0x10s", "inf",
		"nan", "infinity", "1,5", "1 s", " 1", "1 ", "1s ", "\t1",
		"1\n", "1S", "1M", "1H", "1MS", "1us", "1ns", "1w", "1y",
		"1sec", "1min", "1h30", "30m1h", "1m1m", "1ms1s", "1s1",
		"1h 30m", "1h,30m", "1h:30m", "1:30", "1..5s", "1.5.s", "hm",
		"1hm", "1h.m", "1sms", "1mms", "one", "1s\xc3\xa9" };

	for (size_t i = 0; i < LENGTH(rows); i++) {
		nanos span = -1;

		HOLDS(
		    rows[i], !duration_parse(rows[i], strlen(rows[i]), &span));
		EQUAL(rows[i], span, -1);
	}
}

TEST(durations_read_no_further_than_told)
{
	nanos span = -1;

	HOLDS("1 of 1,2", duration_parse("1,2", 1, &span));
	EQUAL("1 of 1,2", span, NANOS_SECOND);
	HOLDS("1m of 1ms", duration_parse("1ms", 2, &span));
	EQUAL("1m of 1ms", span, NANOS_MINUTE);
	HOLDS("nothing of 1", !duration_parse("1", 0, &span));
	HOLDS("a NUL within", !duration_parse("1s\0001ms", 6, &span));
}

static const struct {
	nanos span;
	const char *text;
} shown[] = {
	{ INT64_MIN, "0s" },
	{ -1, "0s" },
	{ 0, "0s" },
	{ 1, "1ms" },
	{ 499999, "1ms" },
	{ NANOS_MS, "1ms" },
	{ 1499999, "1ms" },
	{ 1500000, "2ms" },
	{ 99499999, "99ms" },
	{ 99500000, "0.1s" },
	{ 100 * NANOS_MS, "0.1s" },
	{ 149 * NANOS_MS, "0.1s" },
	{ 150 * NANOS_MS, "0.2s" },
	{ 949 * NANOS_MS, "0.9s" },
	{ 950 * NANOS_MS, "1s" },
	{ NANOS_SECOND, "1s" },
	{ 1049 * NANOS_MS, "1s" },
	{ 1050 * NANOS_MS, "1.1s" },
	{ 9949 * NANOS_MS, "9.9s" },
	{ 9950 * NANOS_MS, "10s" },
	{ 10499 * NANOS_MS, "10s" },
	{ 10500 * NANOS_MS, "11s" },
	{ 59499 * NANOS_MS, "59s" },
	{ 59500 * NANOS_MS, "1m" },
	{ NANOS_MINUTE, "1m" },
	{ 61 * NANOS_SECOND, "1m1s" },
	{ 90 * NANOS_SECOND, "1m30s" },
	{ NANOS_HOUR - 20 * NANOS_SECOND, "59m40s" },
	{ NANOS_HOUR - NANOS_MS, "1h" },
	{ NANOS_HOUR, "1h" },
	{ NANOS_HOUR + 29 * NANOS_SECOND, "1h" },
	{ NANOS_HOUR + 30 * NANOS_SECOND, "1h1m" },
	{ 2 * NANOS_HOUR + 5 * NANOS_MINUTE, "2h5m" },
	{ NANOS_DAY - 20 * NANOS_SECOND, "1d" },
	{ NANOS_DAY - NANOS_MINUTE, "23h59m" },
	{ NANOS_DAY, "1d" },
	{ 2 * NANOS_DAY - NANOS_MINUTE, "2d" },
	{ NANOS_MAX, "106751d23h" },
};

TEST(durations_are_shown_rounded)
{
	char room[DURATION_ROOM];

	for (size_t i = 0; i < LENGTH(shown); i++) {
		SAME(shown[i].text, duration_format(room, shown[i].span),
		    shown[i].text);
		HOLDS(shown[i].text,
		    duration_format(room, shown[i].span) == room);
	}
}

/* What is written can be read again: at every scale about the same. */
TEST(shown_durations_read_back)
{
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
