/*
 * number, hash, duration, signame, conditions and backoff, row by row. Tables
 * of the code are written out here a second time, from the manual, and each
 * refusal has its row.
 */
#include <signal.h>
#include "unit.h"
#include "policy/backoff.h"
#include "policy/conditions.h"
#include "text/duration.h"
#include "text/hash.h"
#include "text/number.h"
#include "text/signame.h"

static struct watch watch_room[CONDITIONS_WATCHES];

#define DRAWS 100000

/*
 * number
 */

static void
test_whole_numbers(void)
{
	static const struct {
		const char *text;
		int64_t value;
	} rows[] = {
		{ "0", 0 },
		{ "7", 7 },
		{ "007", 7 },
		{ "255", 255 },
		{ "1234567890123456789", 1234567890123456789 },
		{ "9223372036854775806", INT64_MAX - 1 },
		{ "9223372036854775807", INT64_MAX },
		{ "9223372036854775808", INT64_MAX },
		{ "18446744073709551617", INT64_MAX },
		{ "99999999999999999999999999999999999999999", INT64_MAX },
	};

	for (size_t i = 0; i < LENGTH(rows); i++) {
		const char *text = rows[i].text;
		int64_t value = -1;

		HOLDS(text, number_whole(text, strlen(text), &value));
		EQUAL(text, value, rows[i].value);
	}
}

static void
test_what_is_no_whole_number(void)
{
	static const char *const rows[] = { "", "-1", "+1", " 1", "1 ", "1.0",
		"0x10", "1e3", "inf", "nan", "1,5", "x", "1x", "/", ":", "1\n",
		"\xd9\xa1" };

	for (size_t i = 0; i < LENGTH(rows); i++) {
		int64_t value = -1;

		HOLDS(rows[i], !number_whole(rows[i], strlen(rows[i]), &value));
		EQUAL(rows[i], value, -1);
	}
}

/* Text need not end where the number does. */
static void
test_numbers_read_no_further_than_told(void)
{
	int64_t value = -1;

	HOLDS("12 of 1234", number_whole("1234", 2, &value));
	EQUAL("12 of 1234", value, 12);
	HOLDS("1.2 of 1.234", number_decimal("1.234", 3, 1000, &value));
	EQUAL("1.2 of 1.234", value, 1200);
	HOLDS("1 of 1.x", number_decimal("1.x", 1, 1000, &value));
	EQUAL("1 of 1.x", value, 1000);
	HOLDS("a NUL among them", !number_whole("1\0002", 3, &value));
}

static void
test_decimal_numbers(void)
{
	static const struct {
		const char *text;
		int64_t scale, value;
	} rows[] = {
		{ "0", 1000, 0 },
		{ "0.0", 1000, 0 },
		{ "2", 1000, 2000 },
		{ "2.", 1000, 2000 },
		{ ".5", 1000, 500 },
		{ "1.5", 1000, 1500 },
		{ "01.50", 1000, 1500 },
		{ "1.234", 1000, 1234 },
		{ "1.2340000", 1000, 1234 },
		{ "1.2341", 1000, 1235 },
		{ "1.2340000000000000000000000000001", 1000, 1235 },
		{ "0.00000000000000000000000000001", 1000, 1 },
		{ "0.9999", 1000, 1000 },
		{ "0.5", 1, 1 },
		{ "3", 1, 3 },
		{ "1.000001", 1000000, 1000001 },
		{ "9223372036.854775807", 1000000000, INT64_MAX },
		{ "9223372036.854775806", 1000000000, INT64_MAX - 1 },
		{ "9223372036.854775808", 1000000000, INT64_MAX },
		{ "9223372037", 1000000000, INT64_MAX },
		{ "99999999999999999999999.5", 1000000000, INT64_MAX },
	};

	for (size_t i = 0; i < LENGTH(rows); i++) {
		const char *text = rows[i].text;
		int64_t value = -1;

		HOLDS(text,
		    number_decimal(text, strlen(text), rows[i].scale, &value));
		EQUAL(text, value, rows[i].value);
	}
}

static void
test_what_is_read_without_rounding(void)
{
	static const struct {
		const char *text;
		int64_t scale;
		bool exact;
	} rows[] = {
		{ "0", 1, true },
		{ "7", 1, true },
		{ "7.", 1, true },
		{ "7.0", 1, true },
		{ "7.5", 1, false },
		{ ".5", 2, true },
		{ "1.001", 1000, true },
		{ "1.0010000", 1000, true },
		{ "1.0001", 1000, false },
		{ "1.0010000000000000000000001", 1000, false },
		{ "99999999999999999999.125", 8, true },
		{ "1.5", 1024, true },
		{ "1.0009765625", 1024, true },
		{ "1.001", 1024, false },
		{ ".999999999999999999999", INT64_MAX / 10, false },
	};

	for (size_t i = 0; i < LENGTH(rows); i++) {
		const char *text = rows[i].text;

		EQUAL(text, number_exact(text, strlen(text), rows[i].scale),
		    rows[i].exact);
	}
	HOLDS("1.5 of 1.51", number_exact("1.51", 3, 10));
}

static void
test_what_is_no_decimal_number(void)
{
	static const char *const rows[] = { "", ".", "..", "1..2", "1.2.3",
		".1.", "-1", "+1", "-.5", "1,5", "1e3", "1.5e3", "0x1p3",
		"0x10", "inf", "infinity", "nan", " 1", "1 ", "1.5s", "1. 5" };

	for (size_t i = 0; i < LENGTH(rows); i++) {
		const char *row = rows[i];
		int64_t value = -1;

		HOLDS(row, !number_decimal(row, strlen(row), 1000, &value));
		EQUAL(row, value, -1);
	}
}

static void
test_sums_saturate(void)
{
	static const int64_t max = INT64_MAX;

	EQUAL("sum", number_add(0, 0), 0);
	EQUAL("sum", number_add(2, 3), 5);
	EQUAL("sum", number_add(max - 1, 1), max);
	EQUAL("sum", number_add(max, 0), max);
	EQUAL("sum", number_add(0, max), max);
	EQUAL("sum", number_add(max, 1), max);
	EQUAL("sum", number_add(1, max), max);
	EQUAL("sum", number_add(max, max), max);
	EQUAL("round", number_round(0, 1000), 0);
	EQUAL("round", number_round(1, 1000), 1);
	EQUAL("round", number_round(1499, 1000), 1);
	EQUAL("round", number_round(1500, 1000), 2);
	EQUAL("round", number_round(max, 2), max / 2);
	EQUAL("lesser", number_lesser(-1, 2), -1);
	EQUAL("lesser", number_lesser(max, 2), 2);
	EQUAL("greater", number_greater(-1, 2), 2);
	EQUAL("greater", number_greater(max, 2), max);
	EQUAL("product", number_multiply(0, 0), 0);
	EQUAL("product", number_multiply(6, 7), 42);
	EQUAL("product", number_multiply(0, max), 0);
	EQUAL("product", number_multiply(max, 0), 0);
	EQUAL("product", number_multiply(max, 1), max);
	EQUAL("product", number_multiply(1, max), max);
	EQUAL("product", number_multiply(max / 2, 2), max - 1);
	EQUAL("product", number_multiply(max / 2 + 1, 2), max);
	EQUAL("product", number_multiply(3037000500, 3037000500), max);
	EQUAL("product", number_multiply(max, max), max);
}

static void
test_numbers_are_written_in_decimal(void)
{
	static const struct {
		int64_t value;
		const char *text;
	} rows[] = {
		{ 0, "0" },
		{ 7, "7" },
		{ 10, "10" },
		{ -1, "-1" },
		{ -10, "-10" },
		{ INT64_MAX, "9223372036854775807" },
		{ INT64_MIN, "-9223372036854775808" },
	};
	char room[NUMBER_ROOM];

	for (size_t i = 0; i < LENGTH(rows); i++) {
		SAME(rows[i].text, number_put(room, rows[i].value),
		    rows[i].text);
		HOLDS(rows[i].text, number_put(room, rows[i].value) == room);
	}
}

static void
test_decimals_are_written_as_they_are_read(void)
{
	static const struct {
		int64_t value, scale;
		const char *text;
	} rows[] = {
		{ 0, 1, "0" },
		{ 7, 1, "7" },
		{ 0, 1000000, "0" },
		{ 200000, 1000000, "0.2" },
		{ 1, 1000000, "0.000001" },
		{ 999999, 1000000, "0.999999" },
		{ 1000000, 1000000, "1" },
		{ 1050000, 1000000, "1.05" },
		{ 60000000000, 1000000000, "60" },
		{ 16666666, 1000000000, "0.016666666" },
		{ INT64_MAX, 1000000000, "9223372036.854775807" },
	};
	char room[NUMBER_ROOM];

	for (size_t i = 0; i < LENGTH(rows); i++) {
		int64_t value = -1;

		SAME(rows[i].text,
		    number_put_decimal(room, rows[i].value, rows[i].scale),
		    rows[i].text);
		HOLDS(rows[i].text,
		    number_decimal(room, strlen(room), rows[i].scale, &value));
		EQUAL(rows[i].text, value, rows[i].value);
	}
}

static void
test_sizes_are_written_with_the_largest_unit(void)
{
	static const struct {
		int64_t value;
		const char *text;
	} rows[] = {
		{ 0, "0 bytes" },
		{ 1, "1 byte" },
		{ 1000, "1000 bytes" },
		{ 1024, "1k" },
		{ 1025, "1025 bytes" },
		{ 1536, "1536 bytes" },
		{ 1 << 20, "1M" },
		{ 3 << 19, "1536k" },
		{ 1 << 30, "1G" },
		{ INT64_C(1) << 40, "1T" },
		{ INT64_C(1) << 50, "1024T" },
		{ INT64_MAX, "9223372036854775807 bytes" },
	};
	char room[NUMBER_SIZE_ROOM];

	for (size_t i = 0; i < LENGTH(rows); i++)
		SAME(rows[i].text, number_put_size(room, rows[i].value),
		    rows[i].text);
}

/*
 * hash
 */

static void
test_hashes(void)
{
	static const struct {
		const char *text;
		uint64_t hash;
	} rows[] = {
		/* From draft-eastlake-fnv, appendix C. */
		{ "", UINT64_C(0xcbf29ce484222325) },
		{ "a", UINT64_C(0xaf63dc4c8601ec8c) },
		{ "foobar", UINT64_C(0x85944171f73967e8) },
	};

	for (size_t i = 0; i < LENGTH(rows); i++) {
		size_t length = strlen(rows[i].text), half = length / 2;
		uint64_t hash = hash_add(HASH_NONE, rows[i].text, half);

		hash = hash_add(hash, rows[i].text + half, length - half);
		HOLDS(rows[i].text, hash == rows[i].hash);
	}
}

/*
 * duration
 */

static const struct {
	const char *text;
	nanos span;
} durations[] = {
	{ "0", 0 },
	{ "0s", 0 },
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
	{ "2.s", 2 * NANOS_SECOND },
	{ "1.5ms", 1500000 },
	{ "1.5m", 90 * NANOS_SECOND },
	{ "0.1h", 6 * NANOS_MINUTE },
	{ ".5d", 12 * NANOS_HOUR },
	{ "010", 10 * NANOS_SECOND },
	{ "1h30m", 90 * NANOS_MINUTE },
	{ "1m30s", 90 * NANOS_SECOND },
	{ "1h1s", NANOS_HOUR + NANOS_SECOND },
	{ "1s500ms", 1500 * NANOS_MS },
	{ "1.5h1.5m", 91 * NANOS_MINUTE + 30 * NANOS_SECOND },
	{ "90m", 90 * NANOS_MINUTE },
	{ "1d2h3m4s5ms",
	    NANOS_DAY + 2 * NANOS_HOUR + 3 * NANOS_MINUTE + 4 * NANOS_SECOND +
		5 * NANOS_MS },
	{ "0.000000001", 1 },
	{ "0.0000000011", 2 },
	{ "0.1234567891", 123456790 },
};

static void
test_durations(void)
{
	for (size_t i = 0; i < LENGTH(durations); i++) {
		const char *text = durations[i].text;
		nanos span = -1;

		HOLDS(text, duration_parse(text, strlen(text), &span));
		EQUAL(text, span, durations[i].span);
	}
}

static void
test_durations_at_the_edges(void)
{
	static const struct {
		const char *text;
		nanos span;
	} rows[] = {
		/* Too small: 1 ns, and never 0, which often means "never". */
		{ "0.0000000001", 1 },
		{ "0.00000000000000000000000000000000000000001", 1 },
		{ "0.0000000001ms", 1 },
		{ "0.0000000000001m", 1 },
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

	for (size_t i = 0; i < LENGTH(rows); i++) {
		const char *text = rows[i].text;
		nanos span = -1;

		HOLDS(text, duration_parse(text, strlen(text), &span));
		EQUAL(text, span, rows[i].span);
	}
}

static void
test_what_is_no_duration(void)
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

static void
test_durations_read_no_further_than_told(void)
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
	{ 12 * NANOS_MS, "12ms" },
	{ 99 * NANOS_MS, "99ms" },
	{ 99499999, "99ms" },
	{ 99500000, "0.1s" },
	{ 100 * NANOS_MS, "0.1s" },
	{ 149 * NANOS_MS, "0.1s" },
	{ 150 * NANOS_MS, "0.2s" },
	{ 500 * NANOS_MS, "0.5s" },
	{ 800 * NANOS_MS, "0.8s" },
	{ 949 * NANOS_MS, "0.9s" },
	{ 950 * NANOS_MS, "1s" },
	{ NANOS_SECOND, "1s" },
	{ 1049 * NANOS_MS, "1s" },
	{ 1050 * NANOS_MS, "1.1s" },
	{ 1234 * NANOS_MS, "1.2s" },
	{ 5 * NANOS_SECOND, "5s" },
	{ 9949 * NANOS_MS, "9.9s" },
	{ 9950 * NANOS_MS, "10s" },
	{ 10499 * NANOS_MS, "10s" },
	{ 10500 * NANOS_MS, "11s" },
	{ 59499 * NANOS_MS, "59s" },
	{ 59500 * NANOS_MS, "1m" },
	{ NANOS_MINUTE, "1m" },
	{ 61 * NANOS_SECOND, "1m1s" },
	{ 90 * NANOS_SECOND, "1m30s" },
	{ 10 * NANOS_MINUTE, "10m" },
	{ NANOS_HOUR - 20 * NANOS_SECOND, "59m40s" },
	{ NANOS_HOUR - NANOS_SECOND, "59m59s" },
	{ NANOS_HOUR - NANOS_MS, "1h" },
	{ NANOS_HOUR, "1h" },
	{ NANOS_HOUR + 29 * NANOS_SECOND, "1h" },
	{ NANOS_HOUR + 30 * NANOS_SECOND, "1h1m" },
	{ 2 * NANOS_HOUR + 5 * NANOS_MINUTE, "2h5m" },
	{ NANOS_DAY - 20 * NANOS_SECOND, "1d" },
	{ NANOS_DAY - NANOS_MINUTE, "23h59m" },
	{ NANOS_DAY, "1d" },
	{ 3 * NANOS_DAY + 4 * NANOS_HOUR, "3d4h" },
	{ 2 * NANOS_DAY - NANOS_MINUTE, "2d" },
	{ NANOS_MAX, "106751d23h" },
};

static void
test_durations_are_shown_rounded(void)
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
static void
test_shown_durations_read_back(void)
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

/*
 * conditions
 */

/* Every name of a signal, and whether that name is the one written. */
static const struct {
	const char *name;
	int number;
	bool shown;
} signals[] = {
	{ "HUP", SIGHUP, true },
	{ "INT", SIGINT, true },
	{ "QUIT", SIGQUIT, true },
	{ "ILL", SIGILL, true },
	{ "TRAP", SIGTRAP, true },
	{ "ABRT", SIGABRT, true },
	{ "IOT", SIGABRT, false },
	{ "BUS", SIGBUS, true },
	{ "FPE", SIGFPE, true },
	{ "KILL", SIGKILL, true },
	{ "USR1", SIGUSR1, true },
	{ "SEGV", SIGSEGV, true },
	{ "USR2", SIGUSR2, true },
	{ "PIPE", SIGPIPE, true },
	{ "ALRM", SIGALRM, true },
	{ "TERM", SIGTERM, true },
#ifdef SIGSTKFLT
	{ "STKFLT", SIGSTKFLT, true },
#endif
	{ "CHLD", SIGCHLD, true },
	{ "CLD", SIGCHLD, false },
	{ "CONT", SIGCONT, true },
	{ "STOP", SIGSTOP, true },
	{ "TSTP", SIGTSTP, true },
	{ "TTIN", SIGTTIN, true },
	{ "TTOU", SIGTTOU, true },
	{ "URG", SIGURG, true },
	{ "XCPU", SIGXCPU, true },
	{ "XFSZ", SIGXFSZ, true },
	{ "VTALRM", SIGVTALRM, true },
	{ "PROF", SIGPROF, true },
	{ "WINCH", SIGWINCH, true },
	{ "IO", SIGIO, true },
	{ "POLL", SIGIO, false },
	{ "PWR", SIGPWR, true },
	{ "SYS", SIGSYS, true },
	{ "RTMIN", 34, true },
	{ "RTMIN+0", 34, false },
	{ "RTMIN+1", 35, true },
	{ "RTMIN+15", 49, true },
	{ "RTMIN+16", 50, false },
	{ "RTMIN+30", 64, false },
	{ "RTMAX-30", 34, false },
	{ "RTMAX-15", 49, false },
	{ "RTMAX-14", 50, true },
	{ "RTMAX-1", 63, true },
	{ "RTMAX-0", 64, false },
	{ "RTMAX", 64, true },
};

static struct conditions
codes_of(const char *list)
{
	struct conditions set = { .fail = false };
	struct watches watches = { .list = watch_room };
	struct conditions_error error = { "", "", 0 };

	if (list != NULL) {
		HOLDS(list, conditions_parse(&set, &watches, list, &error));
		SAME(list, error.why, "");
	}
	return set;
}

static bool
codes_equal(const struct conditions *a, const struct conditions *b)
{
	return memcmp(a->exits, b->exits, sizeof a->exits) == 0 &&
	    memcmp(a->http, b->http, sizeof a->http) == 0 &&
	    a->signals == b->signals && a->watches == b->watches &&
	    a->over == b->over && a->under == b->under &&
	    a->any_signal == b->any_signal && a->timeout == b->timeout &&
	    a->idle == b->idle && a->fail == b->fail;
}

/* One name in one spelling: as a signal, and as the only item of a LIST. */
static void
check_spelling(const char *spelling, int number)
{
	struct conditions set = codes_of(spelling), want = { .fail = false };

	want.signals = UINT64_C(1) << (number - 1);
	EQUAL(spelling, signame_number(spelling, strlen(spelling)), number);
	HOLDS(spelling, codes_equal(&set, &want));
	for (int other = 1; other <= 64; other++)
		EQUAL(spelling, conditions_names_signal(&set, other),
		    other == number);
}

/* Alternately as it is and in small letters: "SeGv". */
static void
mix(char *text, bool all)
{
	for (size_t i = 0; text[i] != '\0'; i++) {
		if (text[i] >= 'A' && text[i] <= 'Z' && (all || i % 2 == 1))
			text[i] = (char)(text[i] - 'A' + 'a');
	}
}

static void
test_signals_by_every_name_in_every_spelling(void)
{
	for (size_t i = 0; i < LENGTH(signals); i++) {
		for (int spelling = 0; spelling < 6; spelling++) {
			char text[32];

			snprintf(text, sizeof text, "%s%s",
			    spelling < 3 ? "SIG" : "", signals[i].name);
			if (spelling % 3 != 0)
				mix(text, spelling % 3 == 1);
			check_spelling(text, signals[i].number);
		}
	}
}

static void
test_signals_are_shown_by_name(void)
{
	char room[SIGNAME_ROOM], want[32];

	for (size_t i = 0; i < LENGTH(signals); i++) {
		snprintf(want, sizeof want, "SIG%s", signals[i].name);
		if (signals[i].shown)
			SAME(want, signame_put(room, signals[i].number), want);
	}
	HOLDS("room", signame_put(room, SIGTERM) == room);
	SAME("0", signame_put(room, 0), "signal 0");
	SAME("32", signame_put(room, 32), "signal 32");
	SAME("33", signame_put(room, 33), "signal 33");
	SAME("65", signame_put(room, 65), "signal 65");
	SAME("99", signame_put(room, 99), "signal 99");
	/* Cut off, but never written past room. */
	SAME("INT_MIN", signame_put(room, INT32_MIN), "signal -2147483");
}

/* signame_number() reads what signame_put() writes, for all 64 signals. */
static void
test_signal_names_read_back(void)
{
	for (int number = 1; number <= 64; number++) {
		char room[SIGNAME_ROOM], digits[NUMBER_ROOM];
		const char *name = signame_put(room, number);

		number_put(digits, number);
		EQUAL(digits, signame_number(digits, strlen(digits)), number);
		if (number != 32 && number != 33)
			EQUAL(name, signame_number(name, strlen(name)), number);
	}
}

static void
test_what_is_no_signal(void)
{
	static const char *const rows[] = { "", "0", "65", "128", "-1", "+9",
		"9 ", " TERM", "TERM ", "99999999999999999999", "NOPE", "SIG",
		"sig", "SIGSIGTERM", "SIG15", "SIGNOPE", "TERMS", "TER", "RT",
		"RTMIN+", "RTMIN-1", "RTMIN+31", "RTMIN+x", "RTMIN1",
		"RTMIN++1", "RTMIN+-1", "RTMAX+1", "RTMAX-", "RTMAX-31",
		"RTMAX-99999999999999999999", "SIGRT", "EXIT", "signal" };

	for (size_t i = 0; i < LENGTH(rows); i++)
		EQUAL(rows[i], signame_number(rows[i], strlen(rows[i])), 0);
	EQUAL("TERM of TERMS", signame_number("TERMS", 4), SIGTERM);
	EQUAL("1 of 15", signame_number("15", 1), SIGHUP);
}

/*
 * Each status alone names itself, the signal that it stands for, and no other.
 */
static void
test_every_exit_status(void)
{
	for (int code = 0; code <= 255; code++) {
		char list[NUMBER_ROOM];
		struct conditions set = codes_of(number_put(list, code));
		int others = 0, signals_named = 0;

		for (int other = -1; other <= 256; other++)
			others += conditions_has_exit(&set, other);
		for (int number = -1; number <= 200; number++)
			signals_named += conditions_names_signal(&set, number);
		HOLDS(list, conditions_has_exit(&set, code));
		EQUAL(list, others, 1);
		EQUAL(list, signals_named, code > 128);
		EQUAL(list, conditions_names_signal(&set, code - 128),
		    code > 128);
		HOLDS(list, !conditions_empty(&set));
	}
}

static void
test_lists_of_statuses(void)
{
	static const struct {
		const char *list;
		int inside, outside, count;
	} rows[] = {
		{ "7", 7, 8, 1 },
		{ "007", 7, 8, 1 },
		{ "1,2,3", 2, 4, 3 },
		{ "3,1,3", 1, 2, 2 },
		{ "64-78", 64, 63, 15 },
		{ "64-78", 78, 79, 15 },
		{ "5-5", 5, 6, 1 },
		{ "63-64", 64, 65, 2 },
		{ "0-255", 0, 256, 256 },
		{ "250-255,0", 255, 249, 7 },
		{ "1,64-78,255", 255, 254, 17 },
		{ "1-10,5-15", 15, 16, 15 },
	};

	for (size_t i = 0; i < LENGTH(rows); i++) {
		struct conditions set = codes_of(rows[i].list);
		int count = 0;

		for (int code = 0; code <= 255; code++)
			count += conditions_has_exit(&set, code);
		HOLDS(rows[i].list, conditions_has_exit(&set, rows[i].inside));
		HOLDS(
		    rows[i].list, !conditions_has_exit(&set, rows[i].outside));
		EQUAL(rows[i].list, count, rows[i].count);
	}
}

static void
test_conditions_with_names(void)
{
	static const struct {
		const char *list;
		struct conditions set;
	} rows[] = {
		{ "signal", { .any_signal = true } },
		{ "timeout", { .timeout = true } },
		{ "idle", { .idle = true } },
		{ "fail", { .fail = true } },
		{ "timeout,signal,fail",
		    { .any_signal = true, .timeout = true, .fail = true } },
		{ "fail,fail", { .fail = true } },
		{ "1,HUP,timeout",
		    { .exits = { 2 }, .signals = 1, .timeout = true } },
		{ "RTMAX-1,0-1",
		    { .exits = { 3 }, .signals = UINT64_C(1) << 62 } },
	};

	for (size_t i = 0; i < LENGTH(rows); i++) {
		struct conditions set = codes_of(rows[i].list);

		HOLDS(rows[i].list, codes_equal(&set, &rows[i].set));
		HOLDS(rows[i].list, !conditions_empty(&set));
	}
}

/* "signal", 124 and "fail" do not name a signal. */
static void
test_naming_a_signal(void)
{
	struct conditions loose = codes_of("signal,timeout,fail,13,1-128");
	struct conditions name = codes_of("PIPE"), status = codes_of("141");

	for (int number = 0; number <= 128; number++)
		HOLDS("loose", !conditions_names_signal(&loose, number));
	HOLDS("PIPE", conditions_names_signal(&name, SIGPIPE));
	HOLDS("PIPE", !conditions_names_signal(&name, SIGINT));
	HOLDS("PIPE", !conditions_has_exit(&name, 141));
	HOLDS("141", conditions_names_signal(&status, SIGPIPE));
	HOLDS("141", !conditions_names_signal(&status, SIGINT));
}

static void
test_lists_add_up(void)
{
	struct conditions set = codes_of(NULL), want;
	struct watches watches = { .list = watch_room };
	struct conditions_error error;

	HOLDS("none", conditions_empty(&set));
	HOLDS("7", conditions_parse(&set, &watches, "7", &error));
	HOLDS("TERM", conditions_parse(&set, &watches, "TERM", &error));
	HOLDS("fail", conditions_parse(&set, &watches, "fail", &error));
	want = codes_of("fail,TERM,7");
	HOLDS("all", codes_equal(&set, &want));
}

/* Each HTTP status that a LIST can name names itself and no other. */
static void
test_lists_of_http_statuses(void)
{
	static const struct {
		const char *list;
		int first, last;
	} rows[] = {
		{ "http:503", 503, 503 },
		{ "http:100", 100, 100 },
		{ "http:599", 599, 599 },
		{ "http:1xx", 100, 199 },
		{ "http:4xx", 400, 499 },
		{ "http:5xx", 500, 599 },
		{ "http:500-504", 500, 504 },
		{ "http:429-429", 429, 429 },
		{ "http:100-599", 100, 599 },
		{ "http:500,http:501", 500, 501 },
		{ "http:5xx,http:503", 500, 599 },
	};

	for (size_t i = 0; i < LENGTH(rows); i++) {
		struct conditions set = codes_of(rows[i].list);

		for (int code = 1; code <= 1000; code++)
			EQUAL(rows[i].list, conditions_has_http(&set, code),
			    code >= rows[i].first && code <= rows[i].last);
		HOLDS(rows[i].list, conditions_has_http(&set, 0));
		HOLDS(rows[i].list, !conditions_has_http(&set, -1));
		HOLDS(rows[i].list, !conditions_empty(&set));
	}
}

/* 200 as an exit status is not 200 as an HTTP status. */
static void
test_http_statuses_are_no_exit_statuses(void)
{
	struct conditions http = codes_of("http:200,http:141"), exits;

	exits = codes_of("200,141,signal,timeout,fail");
	HOLDS("http:200", !conditions_has_exit(&http, 200));
	HOLDS("http:141", !conditions_names_signal(&http, SIGPIPE));
	HOLDS("200", !conditions_has_http(&exits, 200));
	HOLDS("200", !conditions_has_http(&exits, 0));
}

/* Which attempts a LIST names by the time for which they ran. */
static void
test_lists_of_times(void)
{
	static const struct {
		const char *list;
		nanos elapsed;
		bool named;
	} rows[] = {
		{ "over:5m", 5 * NANOS_MINUTE + 1, true },
		{ "over:5m", 5 * NANOS_MINUTE, false },
		{ "over:5m", 0, false },
		{ "over:1ms", NANOS_MAX, true },
		{ "under:2", 2 * NANOS_SECOND - 1, true },
		{ "under:2", 2 * NANOS_SECOND, false },
		{ "under:2", NANOS_MAX, false },
		{ "under:1h30m", 0, true },
		/* Each of several items names attempts, in any order. */
		{ "over:3,over:5", 4 * NANOS_SECOND, true },
		{ "over:5,over:3", 4 * NANOS_SECOND, true },
		{ "under:3,under:5", 4 * NANOS_SECOND, true },
		{ "under:5,under:3", 4 * NANOS_SECOND, true },
		{ "under:3,over:5", 4 * NANOS_SECOND, false },
		{ "under:3,over:5", 6 * NANOS_SECOND, true },
		{ "under:3,over:5", 2 * NANOS_SECOND, true },
		{ "7,over:5,stderr:x", 6 * NANOS_SECOND, true },
		/* Nothing else names a time. */
		{ "0-255,signal,timeout,fail,http:5xx", 0, false },
		{ "0-255,signal,timeout,fail,http:5xx", NANOS_MAX, false },
	};

	for (size_t i = 0; i < LENGTH(rows); i++) {
		struct conditions set = codes_of(rows[i].list);

		EQUAL(rows[i].list, conditions_has_time(&set, rows[i].elapsed),
		    rows[i].named);
		HOLDS(rows[i].list, !conditions_empty(&set));
	}
}

/* A pattern extends to the end of its LIST, commas included. */
static void
test_lists_with_a_pattern(void)
{
	static const struct {
		const char *list;
		int fd;
		const char *text;
		struct conditions set;
	} rows[] = {
		{ "stderr:lock", 2, "lock", { .watches = 1 } },
		{ "stdout:lock", 1, "lock", { .watches = 1 } },
		{ "stderr:a,b", 2, "a,b", { .watches = 1 } },
		{ "stderr:,", 2, ",", { .watches = 1 } },
		{ "stderr:", 2, "", { .watches = 1 } },
		{ "stderr: x ", 2, " x ", { .watches = 1 } },
		{ "stderr:stdout:x", 2, "stdout:x", { .watches = 1 } },
		{ "stdout:x,stderr:y", 1, "x,stderr:y", { .watches = 1 } },
		{ "stdout:x{2,3}", 1, "x{2,3}", { .watches = 1 } },
		{ "1,stderr:x,2", 2, "x,2", { .exits = { 2 }, .watches = 1 } },
		{ "HUP,fail,stdout:x", 1, "x",
		    { .signals = 1, .fail = true, .watches = 1 } },
		{ "http:100,stderr:x", 2, "x",
		    { .http = { 1 }, .watches = 1 } },
	};

	for (size_t i = 0; i < LENGTH(rows); i++) {
		const char *list = rows[i].list, *text = rows[i].text;
		struct conditions set = codes_of(NULL);
		struct watches watches = { .list = watch_room };
		struct conditions_error error;

		HOLDS(list, conditions_parse(&set, &watches, list, &error));
		HOLDS(list, codes_equal(&set, &rows[i].set));
		HOLDS(list, !conditions_empty(&set));
		EQUAL(list, watches.count, 1);
		EQUAL(list, watches.list[0].fd, rows[i].fd);
		SAME(list, watches.list[0].text, text);
		EQUAL(list, watches.list[0].number, 0);
		HOLDS(list, watches.list[0].pattern == NULL);
	}
}

/* A pattern that is in several lists is one watch: it is matched once. */
static void
test_a_pattern_is_watched_for_once(void)
{
	struct conditions retry = codes_of(NULL), stop = retry;
	struct watches watches = { .list = watch_room };
	struct conditions_error error;

	HOLDS("1st", conditions_parse(&retry, &watches, "stderr:a", &error));
	HOLDS("2nd", conditions_parse(&retry, &watches, "stdout:a", &error));
	HOLDS("3rd", conditions_parse(&retry, &watches, "stderr:ab", &error));
	HOLDS("retry", retry.watches == 7);
	EQUAL("all", watches.count, 3);
	HOLDS(
	    "again", conditions_parse(&retry, &watches, "7,stderr:a", &error));
	HOLDS("again", conditions_parse(&stop, &watches, "stdout:a", &error));
	HOLDS("again", conditions_watch(&stop, &watches, 2, "ab"));
	HOLDS("again", retry.watches == 7);
	HOLDS("again", stop.watches == 6);
	EQUAL("again", watches.count, 3);
}

static void
test_the_most_patterns(void)
{
	struct conditions set = codes_of(NULL), before;
	struct watches watches = { .list = watch_room };
	struct conditions_error error = { "", "", 0 };
	char lists[CONDITIONS_WATCHES + 1][24];

	for (int i = 0; i <= CONDITIONS_WATCHES; i++)
		snprintf(lists[i], sizeof lists[i], "7,stderr:%d", i);
	for (int i = 0; i < CONDITIONS_WATCHES; i++)
		HOLDS(lists[i],
		    conditions_parse(&set, &watches, lists[i], &error));
	EQUAL("64", watches.count, CONDITIONS_WATCHES);
	HOLDS("64", set.watches == UINT64_MAX);
	before = set;
	HOLDS("65", !conditions_parse(&set, &watches, lists[64], &error));
	SAME("65", error.why, "more than 64 patterns");
	SAME("65", error.item, "stderr:64");
	HOLDS("65", error.length == strlen("stderr:64"));
	HOLDS("65", !conditions_watch(&set, &watches, 1, "0"));
	HOLDS("65", codes_equal(&set, &before));
	EQUAL("65", watches.count, CONDITIONS_WATCHES);
	/* A pattern that is already there needs no room. */
	set = codes_of(NULL);
	HOLDS("64th", conditions_parse(&set, &watches, lists[63], &error));
	HOLDS("64th", set.watches == UINT64_C(1) << 63);
}

#define UNKNOWN "not an exit status, signal or condition"
#define EMPTY "empty item"
#define ABOVE "above 255 (an HTTP status is http:500)"
#define NO_STATUS "not an HTTP status"
#define NO_TIME "not a time above 0"
#define BACKWARDS "a range that runs backwards"

static const struct {
	const char *list, *why, *item;
} refusals[] = {
	{ "", EMPTY, "" },
	{ ",", EMPTY, "" },
	{ ",,", EMPTY, "" },
	{ "1,", EMPTY, "" },
	{ ",1", EMPTY, "" },
	{ "1,,2", EMPTY, "" },
	{ "256", ABOVE, "256" },
	{ "1,256,2", ABOVE, "256" },
	{ "99999999999999999999999", ABOVE, "99999999999999999999999" },
	{ "300-400", ABOVE, "300-400" },
	{ "200-256", ABOVE, "200-256" },
	{ "300-5", ABOVE, "300-5" },
	{ "9-5", BACKWARDS, "9-5" },
	{ "1,1-0", BACKWARDS, "1-0" },
	{ "x", UNKNOWN, "x" },
	{ "1,x", UNKNOWN, "x" },
	{ "1,x,y", UNKNOWN, "x" },
	{ "-1", UNKNOWN, "-1" },
	{ "+1", UNKNOWN, "+1" },
	{ "5-", UNKNOWN, "5-" },
	{ "-5", UNKNOWN, "-5" },
	{ "-", UNKNOWN, "-" },
	{ "1-2-3", UNKNOWN, "1-2-3" },
	{ "1--2", UNKNOWN, "1--2" },
	{ "1 - 2", UNKNOWN, "1 - 2" },
	{ "1.5", UNKNOWN, "1.5" },
	{ "0x10", UNKNOWN, "0x10" },
	{ "1e2", UNKNOWN, "1e2" },
	{ "7x", UNKNOWN, "7x" },
	{ "5-x", UNKNOWN, "5-x" },
	{ "x-5", UNKNOWN, "x-5" },
	{ "1, 2", UNKNOWN, " 2" },
	{ "1 ,2", UNKNOWN, "1 " },
	{ "SIGNOPE", UNKNOWN, "SIGNOPE" },
	{ "SIG", UNKNOWN, "SIG" },
	{ "SIG9", UNKNOWN, "SIG9" },
	{ "HUP-TERM", UNKNOWN, "HUP-TERM" },
	{ "RTMIN+31", UNKNOWN, "RTMIN+31" },
	{ "signals", UNKNOWN, "signals" },
	{ "FAIL", UNKNOWN, "FAIL" },
	{ "failure", UNKNOWN, "failure" },
	{ "time", UNKNOWN, "time" },
	{ "idle-timeout", UNKNOWN, "idle-timeout" },
	{ "timeouts", UNKNOWN, "timeouts" },
	{ "!1", UNKNOWN, "!1" },
	{ "1;2", UNKNOWN, "1;2" },
	{ "*", UNKNOWN, "*" },
	{ "http", UNKNOWN, "http" },
	{ "HTTP:503", UNKNOWN, "HTTP:503" },
	{ "http:x", NO_STATUS, "http:x" },
	{ "http:99", NO_STATUS, "http:99" },
	{ "http:600", NO_STATUS, "http:600" },
	{ "http:0", NO_STATUS, "http:0" },
	{ "http:99999999999999999999", NO_STATUS, "http:99999999999999999999" },
	{ "http:+503", NO_STATUS, "http:+503" },
	{ "http: 503", NO_STATUS, "http: 503" },
	{ "http:503 ", NO_STATUS, "http:503 " },
	{ "over:", NO_TIME, "over:" },
	{ "over:0", NO_TIME, "over:0" },
	{ "over:0ms", NO_TIME, "over:0ms" },
	{ "over:-1", NO_TIME, "over:-1" },
	{ "over:x", NO_TIME, "over:x" },
	{ "over: 5", NO_TIME, "over: 5" },
	{ "over:5-7", NO_TIME, "over:5-7" },
	{ "7,under:0", NO_TIME, "under:0" },
	{ "under:5q,7", NO_TIME, "under:5q" },
	{ "under", UNKNOWN, "under" },
	{ "OVER:5", UNKNOWN, "OVER:5" },
	{ "http:503x", NO_STATUS, "http:503x" },
	{ "http:50x", NO_STATUS, "http:50x" },
	{ "http:5x", NO_STATUS, "http:5x" },
	{ "http:5xxx", NO_STATUS, "http:5xxx" },
	{ "http:5XX", NO_STATUS, "http:5XX" },
	{ "http:0xx", NO_STATUS, "http:0xx" },
	{ "http:6xx", NO_STATUS, "http:6xx" },
	{ "http:xxx", NO_STATUS, "http:xxx" },
	{ "http:503-", NO_STATUS, "http:503-" },
	{ "http:-503", NO_STATUS, "http:-503" },
	{ "http:503-600", NO_STATUS, "http:503-600" },
	{ "http:99-503", NO_STATUS, "http:99-503" },
	{ "http:4xx-5xx", NO_STATUS, "http:4xx-5xx" },
	{ "http:500-501-502", NO_STATUS, "http:500-501-502" },
	{ "http:504-500", BACKWARDS, "http:504-500" },
	{ "7,http:504-500,8", BACKWARDS, "http:504-500" },
	{ "http:503,", EMPTY, "" },
	{ "http:503,504", ABOVE, "504" },
	{ "STDERR:x", UNKNOWN, "STDERR:x" },
	{ "stder:x", UNKNOWN, "stder:x" },
	{ "stderr", UNKNOWN, "stderr" },
	{ "stdin:x", UNKNOWN, "stdin:x" },
	{ " stderr:x", UNKNOWN, " stderr:x" },
	{ "x,stderr:a,b", UNKNOWN, "x" },
	{ ",stderr:x", EMPTY, "" },
};

static void
test_lists_that_are_refused(void)
{
	for (size_t i = 0; i < LENGTH(refusals); i++) {
		const char *row = refusals[i].list;
		struct conditions set = codes_of("3,HUP"), before = set;
		struct watches watches = { .list = watch_room };
		struct conditions_error error = { "", "", 0 };
		char item[32];

		HOLDS(row, !conditions_parse(&set, &watches, row, &error));
		SAME(row, error.why, refusals[i].why);
		snprintf(
		    item, sizeof item, "%.*s", (int)error.length, error.item);
		SAME(row, item, refusals[i].item);
		HOLDS(row, error.item >= row);
		HOLDS(row, error.item <= row + strlen(row));
		HOLDS(row, codes_equal(&set, &before));
		EQUAL(row, watches.count, 0);
	}
}

/*
 * backoff
 */

#define SECONDS(n) ((nanos)((n)*NANOS_SECOND))

/* One delay that grows as kind says, and nothing else. */
#define GROWING(how, base) \
	{ \
		.kind = (how), .grows = true, .jitter = JITTER_NONE, \
		.factor = 2 * BACKOFF_FACTOR_ONE, .delays = { (base) }, \
		.count = 1, .cap = NANOS_MAX \
	}

static const struct {
	const char *row;
	enum backoff_kind kind;
	int64_t factor;
	nanos base;
	int64_t n;
	nanos want;
} envelopes[] = {
	{ "exponential", BACKOFF_EXPONENTIAL, 2000000, 500, 1, 500 },
	{ "exponential", BACKOFF_EXPONENTIAL, 2000000, 500, 2, 1000 },
	{ "exponential", BACKOFF_EXPONENTIAL, 2000000, 500, 3, 2000 },
	{ "exponential", BACKOFF_EXPONENTIAL, 2000000, 500, 4, 4000 },
	{ "2^52", BACKOFF_EXPONENTIAL, 2000000, 1, 53, 1LL << 52 },
	{ "2^53", BACKOFF_EXPONENTIAL, 2000000, 1, 54, 1LL << 53 },
	{ "2^62", BACKOFF_EXPONENTIAL, 2000000, 1, 63, 1LL << 62 },
	{ "2^63", BACKOFF_EXPONENTIAL, 2000000, 1, 64, NANOS_MAX },
	{ "3^33", BACKOFF_EXPONENTIAL, 3000000, 1, 34, 5559060566555523 },
	{ "1.5", BACKOFF_EXPONENTIAL, 1500000, 1000, 4, 3375 },
	{ "1.1", BACKOFF_EXPONENTIAL, 1100000, 1000000, 3, 1210000 },
	{ "factor 1", BACKOFF_EXPONENTIAL, 1000000, 500, 9, 500 },
	{ "factor 1", BACKOFF_EXPONENTIAL, 1000000, (1LL << 53) + 1, 9,
	    (1LL << 53) + 1 },
	{ "huge factor", BACKOFF_EXPONENTIAL, INT64_MAX, 1, 1, 1 },
	{ "huge factor", BACKOFF_EXPONENTIAL, INT64_MAX, 1, 3, NANOS_MAX },
	{ "base 0", BACKOFF_EXPONENTIAL, 2000000, 0, 10000, 0 },
	{ "base 0", BACKOFF_EXPONENTIAL, INT64_MAX, 0, INT64_MAX, 0 },
	{ "linear", BACKOFF_LINEAR, 0, 500, 1, 500 },
	{ "linear", BACKOFF_LINEAR, 0, 500, 2, 1000 },
	{ "linear", BACKOFF_LINEAR, 0, 500, 3, 1500 },
	{ "linear", BACKOFF_LINEAR, 0, 500, 10000, 5000000 },
	{ "linear", BACKOFF_LINEAR, 0, 2, INT64_MAX, NANOS_MAX },
	{ "base 0", BACKOFF_LINEAR, 0, 0, INT64_MAX, 0 },
	{ "constant", BACKOFF_CONSTANT, 0, 500, 1, 500 },
	{ "constant", BACKOFF_CONSTANT, 0, 500, 10000, 500 },
	{ "constant", BACKOFF_CONSTANT, 0, 500, INT64_MAX, 500 },
	{ "fibonacci", BACKOFF_FIBONACCI, 0, 500, 1, 500 },
	{ "fibonacci", BACKOFF_FIBONACCI, 0, 500, 2, 500 },
	{ "fibonacci", BACKOFF_FIBONACCI, 0, 500, 3, 1000 },
	{ "fibonacci", BACKOFF_FIBONACCI, 0, 500, 4, 1500 },
	{ "fibonacci", BACKOFF_FIBONACCI, 0, 500, 5, 2500 },
	{ "fibonacci", BACKOFF_FIBONACCI, 0, 1, 92, 7540113804746346429 },
	{ "fibonacci", BACKOFF_FIBONACCI, 0, 1, 93, NANOS_MAX },
	{ "fibonacci", BACKOFF_FIBONACCI, 0, 1, INT64_MAX, NANOS_MAX },
	{ "base 0", BACKOFF_FIBONACCI, 0, 0, INT64_MAX, 0 },
};

static void
test_envelopes(void)
{
	for (size_t i = 0; i < LENGTH(envelopes); i++) {
		struct backoff backoff =
		    GROWING(envelopes[i].kind, envelopes[i].base);

		backoff.factor = envelopes[i].factor;
		EQUAL(envelopes[i].row,
		    backoff_envelope(&backoff, envelopes[i].n),
		    envelopes[i].want);
	}
}

/* Envelopes from the n-th retry on, in a row of text. */
static void
check_series(const char *row, const struct backoff *backoff,
    const nanos *series, size_t length)
{
	for (size_t i = 0; i < length; i++)
		EQUAL(
		    row, backoff_envelope(backoff, (int64_t)i + 1), series[i]);
}

static void
test_lists_of_delays(void)
{
	struct backoff list = { .delays = { 0, 30, 10 },
		.count = 3,
		.factor = 3 * BACKOFF_FACTOR_ONE,
		.cap = NANOS_MAX };

	/* Without -b the last element repeats, whatever kind says. */
	check_series("repeats", &list, (const nanos[]){ 0, 30, 10, 10, 10 }, 5);
	EQUAL("repeats", backoff_envelope(&list, INT64_MAX), 10);
	list.grows = true;
	check_series(
	    "exponential", &list, (const nanos[]){ 0, 30, 10, 30, 90, 270 }, 6);
	EQUAL("exponential", backoff_envelope(&list, INT64_MAX), NANOS_MAX);
	list.kind = BACKOFF_LINEAR;
	check_series(
	    "linear", &list, (const nanos[]){ 0, 30, 10, 20, 30, 40 }, 6);
	list.kind = BACKOFF_CONSTANT;
	check_series(
	    "constant", &list, (const nanos[]){ 0, 30, 10, 10, 10 }, 5);
	list.kind = BACKOFF_FIBONACCI;
	check_series("fibonacci", &list,
	    (const nanos[]){ 0, 30, 10, 10, 20, 30, 50 }, 7);
	list.floor = 15;
	list.cap = 25;
	check_series("floor and cap", &list,
	    (const nanos[]){ 15, 25, 15, 15, 20, 25, 25 }, 7);
}

static void
test_the_longest_list(void)
{
	struct backoff list = { .count = BACKOFF_DELAYS, .cap = NANOS_MAX };

	for (int i = 0; i < BACKOFF_DELAYS; i++)
		list.delays[i] = i * 10;
	for (int n = 1; n <= BACKOFF_DELAYS; n++)
		EQUAL("list", backoff_envelope(&list, n), (n - 1) * 10);
	EQUAL("list", backoff_envelope(&list, BACKOFF_DELAYS + 1), 630);
}

static void
test_floor_and_cap(void)
{
	struct backoff backoff = GROWING(BACKOFF_EXPONENTIAL, 10);

	/* A single delay grows, with -b or without. */
	backoff.grows = false;
	check_series("as it is", &backoff, (const nanos[]){ 10, 20, 40 }, 3);
	backoff.floor = 25;
	backoff.cap = 100;
	check_series(
	    "within", &backoff, (const nanos[]){ 25, 25, 40, 80, 100, 100 }, 6);
	EQUAL("10,000th", backoff_envelope(&backoff, 10000), 100);
	EQUAL("last", backoff_envelope(&backoff, INT64_MAX), 100);
	backoff.floor = 100;
	check_series("equal", &backoff, (const nanos[]){ 100, 100, 100 }, 3);
	backoff.floor = 0;
	backoff.cap = 3;
	check_series("cap below", &backoff, (const nanos[]){ 3, 3, 3 }, 3);
	backoff.cap = 0;
	check_series("no delay", &backoff, (const nanos[]){ 0, 0, 0 }, 3);
}

static const int64_t factors[] = { 1000000, 1000001, 1000010, 1100000, 1500000,
	1999999, 2000000, 3000000, 10000000, 123456789, INT64_MAX / 2,
	INT64_MAX };
static const nanos bases[] = { 0, 1, 2, 999, NANOS_MS, 500 * NANOS_MS,
	NANOS_SECOND, 30 * NANOS_SECOND, NANOS_DAY, (1LL << 53) - 1,
	(1LL << 53) + 1, NANOS_MAX / 2, NANOS_MAX - 1, NANOS_MAX };

/*
 * For every n up to 200, then for pairs n, n + 1 that are ever further apart.
 */
static bool
never_falls(const struct backoff *backoff)
{
	nanos before = 0;

	for (int64_t n = 1; n < 200; n++) {
		nanos delay = backoff_envelope(backoff, n);

		if (delay < before || delay > backoff->cap)
			return false;
		before = delay;
	}
	for (int64_t n = 200; n < INT64_MAX / 2; n += n / 5) {
		nanos delay = backoff_envelope(backoff, n);
		nanos next = backoff_envelope(backoff, n + 1);

		if (delay < before || next < delay || next > backoff->cap)
			return false;
		before = next;
	}
	return backoff_envelope(backoff, INT64_MAX) >= before;
}

static void
test_envelopes_never_fall(void)
{
	for (int kind = BACKOFF_EXPONENTIAL; kind <= BACKOFF_FIBONACCI; kind++)
		for (size_t i = 0; i < LENGTH(bases); i++)
			for (size_t j = 0; j < LENGTH(factors); j++) {
				struct backoff backoff =
				    GROWING((enum backoff_kind)kind, bases[i]);

				backoff.factor = factors[j];
				HOLDS("to the end", never_falls(&backoff));
				backoff.cap = 30 * NANOS_SECOND;
				HOLDS("to 30s", never_falls(&backoff));
			}
}

static void
test_late_envelopes_are_the_cap(void)
{
	static const enum backoff_kind kinds[] = { BACKOFF_EXPONENTIAL,
		BACKOFF_LINEAR, BACKOFF_FIBONACCI };

	for (size_t i = 0; i < LENGTH(kinds); i++) {
		struct backoff backoff = GROWING(kinds[i], 500 * NANOS_MS);

		backoff.cap = 30 * NANOS_SECOND;
		EQUAL("60th", backoff_envelope(&backoff, 60), backoff.cap);
		EQUAL(
		    "10,000th", backoff_envelope(&backoff, 10000), backoff.cap);
		EQUAL(
		    "last", backoff_envelope(&backoff, INT64_MAX), backoff.cap);
	}
}

/* The bounds and the mean of many draws of one delay. */
struct draws {
	nanos least, most;
	double mean;
};

/* Draws the delay before the nth retry, over and over. */
static struct draws
draw(const struct backoff *backoff, nanos left, int nth)
{
	struct schedule schedule = schedule_start(1);
	struct draws draws = { .least = NANOS_MAX };

	for (int i = 0; i < DRAWS; i++) {
		nanos delay = 0;

		schedule_reset(&schedule);
		for (int n = 0; n < nth; n++)
			delay = backoff_next(backoff, &schedule, left);
		draws.least = delay < draws.least ? delay : draws.least;
		draws.most = delay > draws.most ? delay : draws.most;
		draws.mean += (double)delay / DRAWS;
	}
	return draws;
}

/*
 * That draws lie in [low, high], reach the outer tenth at either end (of the
 * lower half, of the upper half) and have that mean, within 1 %.
 */
static void
check_draws(const char *row, const struct draws *draws, nanos low, nanos high,
    double mean)
{
	nanos tenth = (high - low) / 10;
	double off = draws->mean - mean;

	HOLDS(row, draws->least >= low);
	HOLDS(row, draws->most <= high);
	HOLDS(row, draws->least <= low + tenth);
	HOLDS(row, draws->most >= high - tenth);
	HOLDS(row, off <= mean / 100 && -off <= mean / 100);
}

/*
 * In seconds. The envelope before the 4th retry is 8 and the base is 1,
 * unless there is a list.
 */
static const struct {
	const char *row;
	enum jitter jitter;
	nanos floor, cap;
	double left; /* 0: no deadline */
	int nth;
	struct {
		double low, high, mean;
	} want;
	nanos list[3];
} jitters[] = {
	{ "full", JITTER_FULL, 0, 30, 0, 4, { 0, 8, 4 }, { 0 } },
	{ "full, first", JITTER_FULL, 0, 30, 0, 1, { 0, 1, 0.5 }, { 0 } },
	{ "full, floor", JITTER_FULL, 2, 30, 0, 4, { 2, 8, 5 }, { 0 } },
	{ "full, floor above e", JITTER_FULL, 2, 30, 0, 1, { 2, 2, 2 }, { 0 } },
	{ "full, cap", JITTER_FULL, 0, 6, 0, 4, { 0, 6, 3 }, { 0 } },
	{ "full, floor and cap", JITTER_FULL, 4, 6, 0, 4, { 4, 6, 5 }, { 0 } },
	{ "full, floor is cap", JITTER_FULL, 6, 6, 0, 4, { 6, 6, 6 }, { 0 } },
	{ "full, cap below base", JITTER_FULL, 0, 0, 0, 4, { 0, 0, 0 }, { 0 } },
	{ "equal", JITTER_EQUAL, 0, 30, 0, 4, { 4, 8, 6 }, { 0 } },
	{ "equal, first", JITTER_EQUAL, 0, 30, 0, 1, { 0.5, 1, 0.75 }, { 0 } },
	{ "equal, floor", JITTER_EQUAL, 6, 30, 0, 4, { 6, 8, 6.5 }, { 0 } },
	{ "equal, cap", JITTER_EQUAL, 0, 6, 0, 4, { 3, 6, 4.5 }, { 0 } },
	{ "decorrelated", JITTER_DECORRELATED, 0, 30, 0, 1, { 1, 3, 2 },
	    { 0 } },
	{ "decorrelated, cap", JITTER_DECORRELATED, 0, 2, 0, 1, { 1, 2, 1.75 },
	    { 0 } },
	{ "decorrelated, floor", JITTER_DECORRELATED, 2, 30, 0, 1,
	    { 2, 3, 2.25 }, { 0 } },
	/* The next mean is half of base + 3 times the mean before it. */
	{ "decorrelated, second", JITTER_DECORRELATED, 0, 30, 0, 2,
	    { 1, 9, 3.5 }, { 0 } },
	{ "none", JITTER_NONE, 0, 30, 0, 4, { 8, 8, 8 }, { 0 } },
	{ "none, floor", JITTER_NONE, 9, 30, 0, 4, { 9, 9, 9 }, { 0 } },
	{ "none, cap", JITTER_NONE, 0, 6, 0, 4, { 6, 6, 6 }, { 0 } },
	/* Trimmed to what is left minus 1, if that is at least 1. */
	{ "full, 5 left", JITTER_FULL, 0, 30, 5, 4, { 0, 4, 2 }, { 0 } },
	{ "full, 9 left", JITTER_FULL, 0, 30, 9, 4, { 0, 8, 4 }, { 0 } },
	{ "full, 100 left", JITTER_FULL, 0, 30, 100, 4, { 0, 8, 4 }, { 0 } },
	{ "full, 2 left", JITTER_FULL, 0, 30, 2, 4, { 0, 1, 0.5 }, { 0 } },
	{ "full, 1.9 left", JITTER_FULL, 0, 30, 1.9, 4, { 0, 8, 4 }, { 0 } },
	{ "full, 0.5 left", JITTER_FULL, 0, 30, 0.5, 4, { 0, 8, 4 }, { 0 } },
	{ "full, 5 left, floor", JITTER_FULL, 3, 30, 5, 4, { 3, 4, 3.5 },
	    { 0 } },
	{ "full, 3 left, floor", JITTER_FULL, 3, 30, 3, 4, { 3, 3, 3 }, { 0 } },
	{ "equal, 5 left", JITTER_EQUAL, 0, 30, 5, 4, { 2, 4, 3 }, { 0 } },
	{ "equal, 1.9 left", JITTER_EQUAL, 0, 30, 1.9, 4, { 4, 8, 6 }, { 0 } },
	{ "equal, 5 left, floor", JITTER_EQUAL, 5, 30, 5, 4, { 5, 5, 5 },
	    { 0 } },
	{ "decorrelated, 3 left", JITTER_DECORRELATED, 0, 30, 3, 1,
	    { 1, 2, 1.5 }, { 0 } },
	{ "decorrelated, 2 left", JITTER_DECORRELATED, 0, 30, 2, 1, { 1, 1, 1 },
	    { 0 } },
	{ "decorrelated, 1.9 left", JITTER_DECORRELATED, 0, 30, 1.9, 1,
	    { 1, 3, 2 }, { 0 } },
	{ "none, 5 left", JITTER_NONE, 0, 30, 5, 4, { 8, 8, 8 }, { 0 } },
	/* The base of a list is its first delay that is not 0. */
	{ "list", JITTER_FULL, 0, 30, 0, 3, { 0, 8, 4 }, { 0, 1, 8 } },
	{ "list, 5 left", JITTER_FULL, 0, 30, 5, 3, { 0, 4, 2 }, { 0, 1, 8 } },
	{ "list, 1.9 left", JITTER_FULL, 0, 30, 1.9, 3, { 0, 8, 4 },
	    { 0, 1, 8 } },
	{ "list, at 0", JITTER_FULL, 0, 30, 0, 1, { 0, 0, 0 }, { 0, 1, 8 } },
	{ "list, equal", JITTER_EQUAL, 0, 30, 5, 3, { 2, 4, 3 }, { 0, 1, 8 } },
	{ "list, base 4", JITTER_FULL, 0, 30, 9, 3, { 0, 5, 2.5 },
	    { 4, 1, 8 } },
};

static void
test_draws_of_each_jitter(void)
{
	for (size_t i = 0; i < LENGTH(jitters); i++) {
		struct backoff backoff =
		    GROWING(BACKOFF_EXPONENTIAL, NANOS_SECOND);
		nanos left = SECONDS(jitters[i].left);
		struct draws draws;

		backoff.jitter = jitters[i].jitter;
		backoff.floor = SECONDS(jitters[i].floor);
		backoff.cap = SECONDS(jitters[i].cap);
		if (jitters[i].list[2] != 0)
			backoff.count = 3;
		for (int k = 0; jitters[i].list[2] != 0 && k < 3; k++)
			backoff.delays[k] = SECONDS(jitters[i].list[k]);
		draws = draw(
		    &backoff, left == 0 ? NANOS_MAX : left, jitters[i].nth);
		check_draws(jitters[i].row, &draws,
		    SECONDS(jitters[i].want.low), SECONDS(jitters[i].want.high),
		    jitters[i].want.mean * (double)NANOS_SECOND);
	}
}

/* In single nanoseconds, so that both ends of an interval are drawn. */
static void
test_both_ends_of_an_interval_belong_to_it(void)
{
	static const struct {
		const char *row;
		enum jitter jitter;
		nanos base, floor, low, high;
	} rows[] = {
		{ "full", JITTER_FULL, 8, 0, 0, 8 },
		{ "full, floor", JITTER_FULL, 8, 5, 5, 8 },
		{ "full, 1", JITTER_FULL, 1, 0, 0, 1 },
		{ "equal", JITTER_EQUAL, 8, 0, 4, 8 },
		{ "equal, odd", JITTER_EQUAL, 7, 0, 4, 7 },
		{ "equal, 1", JITTER_EQUAL, 1, 0, 1, 1 },
		{ "decorrelated", JITTER_DECORRELATED, 8, 0, 8, 24 },
		{ "decorrelated, 0", JITTER_DECORRELATED, 0, 0, 0, 0 },
		{ "none", JITTER_NONE, 8, 0, 8, 8 },
	};

	for (size_t i = 0; i < LENGTH(rows); i++) {
		struct backoff backoff =
		    GROWING(BACKOFF_CONSTANT, rows[i].base);
		struct draws draws;

		backoff.jitter = rows[i].jitter;
		backoff.floor = rows[i].floor;
		draws = draw(&backoff, NANOS_MAX, 1);
		EQUAL(rows[i].row, draws.least, rows[i].low);
		EQUAL(rows[i].row, draws.most, rows[i].high);
	}
}

/*
 * Each delay depends on the one before; both halves of [base, cap] are drawn.
 */
static void
test_decorrelated_series(void)
{
	struct backoff backoff = GROWING(BACKOFF_EXPONENTIAL, NANOS_SECOND);
	struct schedule schedule = schedule_start(2);
	nanos previous = NANOS_SECOND, low = 0, high = 0, outside = 0;

	backoff.jitter = JITTER_DECORRELATED;
	backoff.cap = 10 * NANOS_SECOND;
	for (int i = 0; i < DRAWS; i++) {
		nanos delay = backoff_next(&backoff, &schedule, NANOS_MAX);
		nanos most =
		    previous < backoff.cap / 3 ? 3 * previous : backoff.cap;

		outside += delay < NANOS_SECOND || delay > most;
		low += delay < 5500 * NANOS_MS;
		high += delay > 5500 * NANOS_MS;
		previous = delay;
	}
	EQUAL("outside", outside, 0);
	HOLDS("lower half", low > DRAWS / 10);
	HOLDS("upper half", high > DRAWS / 10);
	EQUAL("retries", schedule.n, DRAWS);
}

/* Every policy draws within [floor, cap] for ever, with or without a list. */
static void
test_all_delays_are_within_floor_and_cap(void)
{
	for (int kind = BACKOFF_EXPONENTIAL; kind <= BACKOFF_FIBONACCI; kind++)
		for (int jitter = JITTER_FULL; jitter <= JITTER_NONE; jitter++)
			for (size_t i = 0; i < LENGTH(bases); i++) {
				struct backoff backoff =
				    GROWING((enum backoff_kind)kind, bases[i]);
				struct schedule schedule = schedule_start(i);
				int outside = 0;

				backoff.jitter = (enum jitter)jitter;
				backoff.floor = i % 2 == 0 ? 0 : NANOS_MS;
				backoff.cap =
				    i % 3 == 0 ? NANOS_MAX : NANOS_MINUTE;
				for (int n = 0; n < 1000; n++) {
					nanos delay = backoff_next(
					    &backoff, &schedule, NANOS_MAX - n);

					outside += delay < backoff.floor ||
					    delay > backoff.cap;
				}
				EQUAL("outside", outside, 0);
			}
}

/* The delays of one seed, combined to one number. */
static int64_t
digest(const struct backoff *backoff, uint64_t seed)
{
	struct schedule schedule = schedule_start(seed);
	uint64_t sum = 0;

	for (int i = 0; i < 100; i++)
		sum = sum * 31 +
		    (uint64_t)backoff_next(backoff, &schedule, NANOS_MAX);
	return (int64_t)(sum >> 1);
}

static void
test_seeds(void)
{
	static const uint64_t seeds[] = { 0, 1, 2, 3, 1000, UINT64_MAX,
		UINT64_MAX - 1, UINT64_C(1) << 63 };

	for (int jitter = JITTER_FULL; jitter < JITTER_NONE; jitter++)
		for (size_t i = 0; i < LENGTH(seeds); i++) {
			struct backoff backoff =
			    GROWING(BACKOFF_EXPONENTIAL, NANOS_SECOND);
			int64_t one;

			backoff.jitter = (enum jitter)jitter;
			backoff.cap = NANOS_MINUTE;
			one = digest(&backoff, seeds[i]);
			EQUAL("same seed", digest(&backoff, seeds[i]), one);
			for (size_t j = 0; j < i; j++)
				HOLDS("other seed",
				    digest(&backoff, seeds[j]) != one);
		}
}

/*
 * What the reference implementation gives for this seed, without the top bit.
 */
static void
test_the_generator_is_splitmix64(void)
{
	static const uint64_t reference[] = { UINT64_C(6457827717110365317),
		UINT64_C(3203168211198807973), UINT64_C(9817491932198370423),
		UINT64_C(4593380528125082431), UINT64_C(16408922859458223821) };
	struct schedule schedule = schedule_start(1234567);

	for (size_t i = 0; i < LENGTH(reference); i++)
		EQUAL("1234567", backoff_splay(&schedule, NANOS_MAX),
		    (int64_t)(reference[i] & INT64_MAX));
}

static void
test_splays_are_uniform(void)
{
	/*
	 * 2^64 is not a multiple of 3 * 2^61: a plain remainder would be
	 * biased.
	 */
	static const nanos mosts[] = { 0, 1, 9, 999, NANOS_SECOND, NANOS_DAY,
		((nanos)3 << 61) - 1, NANOS_MAX };

	for (size_t i = 0; i < LENGTH(mosts); i++) {
		struct schedule schedule = schedule_start(3);
		struct draws draws = { .least = NANOS_MAX };

		for (int k = 0; k < DRAWS; k++) {
			nanos wait = backoff_splay(&schedule, mosts[i]);

			draws.least = wait < draws.least ? wait : draws.least;
			draws.most = wait > draws.most ? wait : draws.most;
			draws.mean += (double)wait / DRAWS;
		}
		check_draws("splay", &draws, 0, mosts[i], (double)mosts[i] / 2);
		EQUAL("no retry", schedule.n, 0);
	}
}

/* Each of ten values about equally often. */
static void
test_every_value_is_as_likely(void)
{
	struct schedule schedule = schedule_start(4);
	int counts[10] = { 0 };

	for (int i = 0; i < DRAWS; i++)
		counts[backoff_splay(&schedule, 9)]++;
	for (size_t i = 0; i < LENGTH(counts); i++) {
		HOLDS("least", counts[i] > DRAWS / 10 - DRAWS / 200);
		HOLDS("most", counts[i] < DRAWS / 10 + DRAWS / 200);
	}
}

static void
test_the_base_is_the_first_delay_above_0(void)
{
	struct backoff backoff = { .delays = { 5 }, .count = 1 };

	EQUAL("5", backoff_base(&backoff), 5);
	backoff.count = 3;
	EQUAL("5,0,0", backoff_base(&backoff), 5);
	backoff.delays[0] = 0;
	EQUAL("0,0,0", backoff_base(&backoff), 0);
	backoff.delays[2] = 7;
	EQUAL("0,0,7", backoff_base(&backoff), 7);
	backoff.delays[1] = 9;
	EQUAL("0,9,7", backoff_base(&backoff), 9);
	backoff.count = 1;
	EQUAL("0", backoff_base(&backoff), 0);
}

/* In single nanoseconds: delays are in [low, high], and reach both ends. */
static const struct {
	const char *row;
	enum jitter jitter;
	nanos base, delay, wait, left, low, high;
} waits[] = {
	{ "base", JITTER_FULL, 8, 3, 40, NANOS_MAX, 40, 48 },
	{ "a tenth", JITTER_FULL, 8, 3, 100, NANOS_MAX, 100, 110 },
	{ "they are one", JITTER_FULL, 10, 3, 100, NANOS_MAX, 100, 110 },
	{ "no base", JITTER_FULL, 0, 0, 100, NANOS_MAX, 100, 110 },
	{ "no base, short", JITTER_FULL, 0, 0, 9, NANOS_MAX, 9, 9 },
	{ "the backoff is more", JITTER_FULL, 8, 120, 100, NANOS_MAX, 120,
	    130 },
	{ "and so is the base", JITTER_FULL, 8, 60, 10, NANOS_MAX, 60, 68 },
	{ "at once", JITTER_FULL, 8, 0, 0, NANOS_MAX, 0, 8 },
	{ "equal", JITTER_EQUAL, 8, 3, 100, NANOS_MAX, 100, 110 },
	{ "decorrelated", JITTER_DECORRELATED, 8, 3, 100, NANOS_MAX, 100, 110 },
	{ "none", JITTER_NONE, 8, 3, 100, NANOS_MAX, 100, 100 },
	{ "none, the backoff", JITTER_NONE, 8, 120, 100, NANOS_MAX, 120, 120 },
	{ "none, little left", JITTER_NONE, 8, 3, 100, 101, 100, 100 },
	/* Less than what is left, but never less than the server asked for. */
	{ "enough left", JITTER_FULL, 8, 3, 100, 111, 100, 110 },
	{ "1 less", JITTER_FULL, 8, 3, 100, 110, 100, 109 },
	{ "a little left", JITTER_FULL, 8, 3, 100, 102, 100, 101 },
	{ "just that left", JITTER_FULL, 8, 3, 100, 101, 100, 100 },
	{ "not even that", JITTER_FULL, 8, 3, 100, 100, 100, 110 },
	{ "backoff, left", JITTER_FULL, 8, 104, 100, 108, 104, 107 },
	/* Up to NANOS_MAX. */
	{ "for ever", JITTER_FULL, 8, 3, NANOS_MAX, NANOS_MAX, NANOS_MAX,
	    NANOS_MAX },
	{ "nearly", JITTER_FULL, 8, 3, NANOS_MAX - 3, NANOS_MAX, NANOS_MAX - 3,
	    NANOS_MAX - 1 },
};

static void
test_delays_that_a_server_asked_for(void)
{
	for (size_t i = 0; i < LENGTH(waits); i++) {
		struct backoff backoff =
		    GROWING(BACKOFF_EXPONENTIAL, waits[i].base);
		struct schedule schedule = schedule_start(i);
		nanos least = NANOS_MAX, most = 0;

		backoff.jitter = waits[i].jitter;
		for (int n = 0; n < 1000; n++) {
			nanos delay = backoff_after(&backoff, &schedule,
			    waits[i].delay, waits[i].wait, waits[i].left);

			least = delay < least ? delay : least;
			most = delay > most ? delay : most;
		}
		EQUAL(waits[i].row, least, waits[i].low);
		EQUAL(waits[i].row, most, waits[i].high);
		EQUAL(waits[i].row, schedule.n, 0);
	}
}

static void
test_reset_starts_the_schedule_anew(void)
{
	struct backoff backoff = GROWING(BACKOFF_EXPONENTIAL, 10);
	struct schedule schedule = schedule_start(5);
	uint64_t random;

	EQUAL("1st", backoff_next(&backoff, &schedule, NANOS_MAX), 10);
	EQUAL("2nd", backoff_next(&backoff, &schedule, NANOS_MAX), 20);
	EQUAL("3rd", backoff_next(&backoff, &schedule, NANOS_MAX), 40);
	random = schedule.random;
	schedule_reset(&schedule);
	HOLDS("the generator goes on", schedule.random == random);
	EQUAL("1st", backoff_next(&backoff, &schedule, NANOS_MAX), 10);
	EQUAL("2nd", backoff_next(&backoff, &schedule, NANOS_MAX), 20);
}

/* The number of retries does not wrap either. */
static void
test_schedules_saturate(void)
{
	struct backoff backoff = GROWING(BACKOFF_EXPONENTIAL, 10);
	struct schedule schedule = { .n = INT64_MAX };

	backoff.cap = 500;
	EQUAL("none", backoff_next(&backoff, &schedule, NANOS_MAX), 500);
	EQUAL("none", schedule.n, INT64_MAX);
	backoff.jitter = JITTER_DECORRELATED;
	schedule.previous = backoff.cap = NANOS_MAX;
	HOLDS(
	    "3 * previous", backoff_next(&backoff, &schedule, NANOS_MAX) >= 10);
}

static void (*const tests[])(void) = {
	test_whole_numbers,
	test_what_is_no_whole_number,
	test_numbers_read_no_further_than_told,
	test_decimal_numbers,
	test_what_is_read_without_rounding,
	test_what_is_no_decimal_number,
	test_sums_saturate,
	test_numbers_are_written_in_decimal,
	test_decimals_are_written_as_they_are_read,
	test_sizes_are_written_with_the_largest_unit,
	test_hashes,
	test_durations,
	test_durations_at_the_edges,
	test_what_is_no_duration,
	test_durations_read_no_further_than_told,
	test_durations_are_shown_rounded,
	test_shown_durations_read_back,
	test_signals_by_every_name_in_every_spelling,
	test_signals_are_shown_by_name,
	test_signal_names_read_back,
	test_what_is_no_signal,
	test_every_exit_status,
	test_lists_of_statuses,
	test_conditions_with_names,
	test_naming_a_signal,
	test_lists_add_up,
	test_lists_of_http_statuses,
	test_http_statuses_are_no_exit_statuses,
	test_lists_of_times,
	test_lists_with_a_pattern,
	test_a_pattern_is_watched_for_once,
	test_the_most_patterns,
	test_lists_that_are_refused,
	test_envelopes,
	test_lists_of_delays,
	test_the_longest_list,
	test_floor_and_cap,
	test_envelopes_never_fall,
	test_late_envelopes_are_the_cap,
	test_draws_of_each_jitter,
	test_both_ends_of_an_interval_belong_to_it,
	test_decorrelated_series,
	test_all_delays_are_within_floor_and_cap,
	test_seeds,
	test_the_generator_is_splitmix64,
	test_splays_are_uniform,
	test_every_value_is_as_likely,
	test_the_base_is_the_first_delay_above_0,
	test_delays_that_a_server_asked_for,
	test_reset_starts_the_schedule_anew,
	test_schedules_saturate,
};

int
main(void)
{
	return unit_run(tests, LENGTH(tests));
}
