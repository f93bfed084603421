/*
 * The pure modules, row by row. What a table in the code holds is written out
 * here once more, from the manual's side, and each refusal has its row.
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "../src/backoff.h"
#include "../src/codes.h"
#include "../src/duration.h"
#include "../src/number.h"
#include "../src/plan.h"
#include "../src/policy.h"
#include "../src/verdict.h"

#define LENGTH(array) (sizeof(array) / sizeof(array)[0])
#define DRAWS 100000

static int passed, failed;

/* Counts a check; true if it failed and the caller has more to say of it. */
static bool
fails(bool holds, int line, const char *row, const char *what)
{
	if (holds)
		passed++;
	else {
		failed++;
		printf("%s:%d: [%s] %s", __FILE__, line, row, what);
	}
	return !holds;
}

static void
holds(int line, const char *row, const char *what, bool value)
{
	if (fails(value, line, row, what))
		printf(": does not hold\n");
}

static void
equal(int line, const char *row, const char *what, int64_t got, int64_t want)
{
	if (fails(got == want, line, row, what))
		printf(": got %" PRId64 ", want %" PRId64 "\n", got, want);
}

static void
same(int line, const char *row, const char *what, const char *got,
    const char *want)
{
	if (fails(strcmp(got, want) == 0, line, row, what))
		printf(": got \"%s\", want \"%s\"\n", got, want);
}

/* Each is one check; row says which row of a table it is about. */
#define HOLDS(row, value) holds(__LINE__, row, #value, value)
#define EQUAL(row, got, want) equal(__LINE__, row, #got, got, want)
#define SAME(row, got, want) same(__LINE__, row, #got, got, want)

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
		/* Exact in the unit it is written in. */
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

/* What is shown can be typed: at every scale it reads back about the same. */
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
 * codes
 */

/* Every signal that has a name, and whether that name is the one shown. */
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

static struct codes
codes_of(const char *list)
{
	struct codes set = { .fail = false };
	struct codes_error error = { "", "", 0 };

	if (list != NULL &&
	    fails(
		codes_parse(&set, list, &error), __LINE__, list, "codes_parse"))
		printf(": %s\n", error.why);
	return set;
}

static bool
codes_equal(const struct codes *a, const struct codes *b)
{
	return memcmp(a->exits, b->exits, sizeof a->exits) == 0 &&
	    a->signals == b->signals && a->any_signal == b->any_signal &&
	    a->timeout == b->timeout && a->fail == b->fail;
}

/* One name in one spelling: as a signal, and as the only item of a LIST. */
static void
check_spelling(const char *spelling, int number)
{
	struct codes set = codes_of(spelling), want = { .fail = false };

	want.signals = UINT64_C(1) << (number - 1);
	EQUAL(spelling, codes_signal(spelling, strlen(spelling)), number);
	HOLDS(spelling, codes_equal(&set, &want));
	for (int other = 1; other <= 64; other++)
		EQUAL(
		    spelling, codes_names_signal(&set, other), other == number);
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
	char room[CODES_SIGNAL_ROOM], want[32];

	for (size_t i = 0; i < LENGTH(signals); i++) {
		snprintf(want, sizeof want, "SIG%s", signals[i].name);
		if (signals[i].shown)
			SAME(want, codes_signal_name(room, signals[i].number),
			    want);
	}
	HOLDS("room", codes_signal_name(room, SIGTERM) == room);
	SAME("0", codes_signal_name(room, 0), "signal 0");
	SAME("32", codes_signal_name(room, 32), "signal 32");
	SAME("33", codes_signal_name(room, 33), "signal 33");
	SAME("65", codes_signal_name(room, 65), "signal 65");
	SAME("99", codes_signal_name(room, 99), "signal 99");
	/* Cut, but never written past the room. */
	SAME("INT_MIN", codes_signal_name(room, INT32_MIN), "signal -2147483");
}

/* What a name says, codes_signal() understands: all 64 of them. */
static void
test_signal_names_read_back(void)
{
	for (int number = 1; number <= 64; number++) {
		char room[CODES_SIGNAL_ROOM], digits[NUMBER_ROOM];
		const char *name = codes_signal_name(room, number);

		number_put(digits, number);
		EQUAL(digits, codes_signal(digits, strlen(digits)), number);
		if (number != 32 && number != 33)
			EQUAL(name, codes_signal(name, strlen(name)), number);
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
		EQUAL(rows[i], codes_signal(rows[i], strlen(rows[i])), 0);
	EQUAL("TERM of TERMS", codes_signal("TERMS", 4), SIGTERM);
	EQUAL("1 of 15", codes_signal("15", 1), SIGHUP);
}

/* Each status alone: it and only it, and the signal that it stands for. */
static void
test_every_exit_status(void)
{
	for (int code = 0; code <= 255; code++) {
		char list[NUMBER_ROOM];
		struct codes set = codes_of(number_put(list, code));
		int others = 0, signals_named = 0;

		for (int other = -1; other <= 256; other++)
			others += codes_has_exit(&set, other);
		for (int number = -1; number <= 200; number++)
			signals_named += codes_names_signal(&set, number);
		HOLDS(list, codes_has_exit(&set, code));
		EQUAL(list, others, 1);
		EQUAL(list, signals_named, code > 128);
		EQUAL(list, codes_names_signal(&set, code - 128), code > 128);
		HOLDS(list, !codes_empty(&set));
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
		struct codes set = codes_of(rows[i].list);
		int count = 0;

		for (int code = 0; code <= 255; code++)
			count += codes_has_exit(&set, code);
		HOLDS(rows[i].list, codes_has_exit(&set, rows[i].inside));
		HOLDS(rows[i].list, !codes_has_exit(&set, rows[i].outside));
		EQUAL(rows[i].list, count, rows[i].count);
	}
}

static void
test_conditions_with_names(void)
{
	static const struct {
		const char *list;
		struct codes set;
	} rows[] = {
		{ "signal", { .any_signal = true } },
		{ "timeout", { .timeout = true } },
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
		struct codes set = codes_of(rows[i].list);

		HOLDS(rows[i].list, codes_equal(&set, &rows[i].set));
		HOLDS(rows[i].list, !codes_empty(&set));
	}
}

/* Any of them, 124, and a failure of some kind are not that signal's name. */
static void
test_naming_a_signal(void)
{
	struct codes loose = codes_of("signal,timeout,fail,13,1-128");
	struct codes name = codes_of("PIPE"), status = codes_of("141");

	for (int number = 0; number <= 128; number++)
		HOLDS("loose", !codes_names_signal(&loose, number));
	HOLDS("PIPE", codes_names_signal(&name, SIGPIPE));
	HOLDS("PIPE", !codes_names_signal(&name, SIGINT));
	HOLDS("PIPE", !codes_has_exit(&name, 141));
	HOLDS("141", codes_names_signal(&status, SIGPIPE));
	HOLDS("141", !codes_names_signal(&status, SIGINT));
}

static void
test_lists_add_up(void)
{
	struct codes set = codes_of(NULL), want;
	struct codes_error error;

	HOLDS("none", codes_empty(&set));
	HOLDS("7", codes_parse(&set, "7", &error));
	HOLDS("TERM", codes_parse(&set, "TERM", &error));
	HOLDS("fail", codes_parse(&set, "fail", &error));
	want = codes_of("fail,TERM,7");
	HOLDS("all", codes_equal(&set, &want));
}

#define UNKNOWN "not an exit status, signal or condition"
#define EMPTY "empty item"
#define ABOVE "above 255"
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
	{ "timeouts", UNKNOWN, "timeouts" },
	{ "!1", UNKNOWN, "!1" },
	{ "1;2", UNKNOWN, "1;2" },
	{ "*", UNKNOWN, "*" },
};

static void
test_lists_that_are_refused(void)
{
	for (size_t i = 0; i < LENGTH(refusals); i++) {
		const char *row = refusals[i].list;
		struct codes set = codes_of("3,HUP"), before = set;
		struct codes_error error = { "", "", 0 };
		char item[32];

		HOLDS(row, !codes_parse(&set, row, &error));
		SAME(row, error.why, refusals[i].why);
		snprintf(
		    item, sizeof item, "%.*s", (int)error.length, error.item);
		SAME(row, item, refusals[i].item);
		HOLDS(row, error.item >= row);
		HOLDS(row, error.item <= row + strlen(row));
		HOLDS(row, codes_equal(&set, &before));
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

/* Envelopes from the n-th retry on, written as they come. */
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

	/* Without -b the last repeats, whatever kind says. */
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

	/* One delay grows, -b or not. */
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

/* Over every n up to 200, then over neighbours that lie ever further apart. */
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

/* What many draws of one delay came to. */
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
	/* The mean of the next is half of base + 3 times the mean before. */
	{ "decorrelated, second", JITTER_DECORRELATED, 0, 30, 0, 2,
	    { 1, 9, 3.5 }, { 0 } },
	{ "none", JITTER_NONE, 0, 30, 0, 4, { 8, 8, 8 }, { 0 } },
	{ "none, floor", JITTER_NONE, 9, 30, 0, 4, { 9, 9, 9 }, { 0 } },
	{ "none, cap", JITTER_NONE, 0, 6, 0, 4, { 6, 6, 6 }, { 0 } },
	/* Trimmed to what is left less 1, where that is at least 1. */
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

/* In single nanoseconds, where both ends of an interval are surely drawn. */
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

/* Each delay from the one before it, and both halves of [base, cap]. */
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

/* Whatever is asked for: in [floor, cap], on and on, with or without a list. */
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

/* The series of one seed, as one number. */
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

/* What the reference implementation gives for this seed, less the top bit. */
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
	/* 2^64 is no multiple of 3 * 2^61: there, a remainder is biased. */
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

/* Nor does a count of retries wrap. */
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

/*
 * verdict
 */

#define EXITED(status) \
	{ \
		.end = END_EXITED, .code = (status) \
	}
#define KILLED(number) \
	{ \
		.end = END_SIGNALED, .code = (number) \
	}
#define TIMED_OUT(status) \
	{ \
		.end = END_TIMED_OUT, .code = (status) \
	}
#define CUT(status) \
	{ \
		.end = END_DEADLINE, .code = (status) \
	}
#define NO_FORK(why) \
	{ \
		.end = END_NOT_STARTED, .error = (why) \
	}
#define NO_EXEC(why) \
	{ \
		.end = END_NOT_STARTED, .error = (why), .forked = true \
	}
#define INTERRUPTED(how, what) \
	{ \
		.end = (how), .code = (what), .interrupted = SIGTERM \
	}

#define RETRIED VERDICT_RETRY, REASON_NONE
#define SUCCESS VERDICT_DONE, REASON_SUCCEEDED
#define STOPPED VERDICT_STOP, REASON_STOP_RULE
#define NOT_RETRYABLE VERDICT_STOP, REASON_NOT_RETRYABLE
#define NOT_EXECUTABLE VERDICT_STOP, REASON_NOT_EXECUTABLE
#define INTERRUPT VERDICT_STOP, REASON_INTERRUPTED

/* The three lists, then the outcome, then what it means. */
struct judged {
	const char *retry, *stop, *success;
	struct outcome outcome;
	enum verdict verdict;
	enum reason reason;
};

static const struct judged unasked[] = {
	{ NULL, NULL, NULL, EXITED(0), SUCCESS },
	{ NULL, NULL, NULL, EXITED(1), RETRIED },
	{ NULL, NULL, NULL, EXITED(124), RETRIED },
	{ NULL, NULL, NULL, EXITED(125), RETRIED },
	{ NULL, NULL, NULL, EXITED(126), RETRIED },
	{ NULL, NULL, NULL, EXITED(127), RETRIED },
	{ NULL, NULL, NULL, EXITED(130), RETRIED },
	{ NULL, NULL, NULL, EXITED(255), RETRIED },
	{ NULL, NULL, NULL, KILLED(SIGHUP), RETRIED },
	{ NULL, NULL, NULL, KILLED(SIGTERM), RETRIED },
	{ NULL, NULL, NULL, KILLED(SIGKILL), RETRIED },
	{ NULL, NULL, NULL, KILLED(SIGSEGV), RETRIED },
	{ NULL, NULL, NULL, KILLED(64), RETRIED },
	{ NULL, NULL, NULL, KILLED(SIGINT), NOT_RETRYABLE },
	{ NULL, NULL, NULL, KILLED(SIGQUIT), NOT_RETRYABLE },
	{ NULL, NULL, NULL, KILLED(SIGPIPE), NOT_RETRYABLE },
	{ NULL, NULL, NULL, TIMED_OUT(0), RETRIED },
	{ NULL, NULL, NULL, TIMED_OUT(7), RETRIED },
	{ NULL, NULL, NULL, TIMED_OUT(SIGINT), RETRIED },
	{ NULL, NULL, NULL, CUT(0), RETRIED },
	{ NULL, NULL, NULL, NO_FORK(EAGAIN), RETRIED },
	{ NULL, NULL, NULL, NO_FORK(ENOMEM), RETRIED },
	{ NULL, NULL, NULL, NO_EXEC(ETXTBSY), RETRIED },
	{ NULL, NULL, NULL, NO_EXEC(ENOENT), NOT_EXECUTABLE },
	{ NULL, NULL, NULL, NO_EXEC(EACCES), NOT_EXECUTABLE },
	{ NULL, NULL, NULL, NO_EXEC(ENOEXEC), NOT_EXECUTABLE },
	{ NULL, NULL, NULL, NO_EXEC(E2BIG), NOT_EXECUTABLE },
	{ NULL, NULL, NULL, NO_EXEC(ELOOP), NOT_EXECUTABLE },
	{ NULL, NULL, NULL, NO_EXEC(ENOTDIR), NOT_EXECUTABLE },
};

static const struct judged retried_on[] = {
	{ "7", NULL, NULL, EXITED(0), SUCCESS },
	{ "7", NULL, NULL, EXITED(7), RETRIED },
	{ "7", NULL, NULL, EXITED(8), NOT_RETRYABLE },
	{ "64-78", NULL, NULL, EXITED(64), RETRIED },
	{ "64-78", NULL, NULL, EXITED(78), RETRIED },
	{ "64-78", NULL, NULL, EXITED(63), NOT_RETRYABLE },
	{ "7", NULL, NULL, KILLED(7), NOT_RETRYABLE },
	{ "7", NULL, NULL, TIMED_OUT(7), NOT_RETRYABLE },
	{ "SEGV", NULL, NULL, KILLED(SIGSEGV), RETRIED },
	{ "SEGV", NULL, NULL, KILLED(SIGBUS), NOT_RETRYABLE },
	{ "SEGV", NULL, NULL, EXITED(128 + SIGSEGV), NOT_RETRYABLE },
	{ "SEGV", NULL, NULL, EXITED(SIGSEGV), NOT_RETRYABLE },
	{ "139", NULL, NULL, KILLED(SIGSEGV), RETRIED },
	{ "139", NULL, NULL, EXITED(139), RETRIED },
	{ "128-192", NULL, NULL, KILLED(64), RETRIED },
	{ "signal", NULL, NULL, KILLED(SIGSEGV), RETRIED },
	{ "signal", NULL, NULL, EXITED(139), NOT_RETRYABLE },
	{ "signal", NULL, NULL, TIMED_OUT(0), NOT_RETRYABLE },
	/* These want to be named. */
	{ "signal", NULL, NULL, KILLED(SIGINT), NOT_RETRYABLE },
	{ "signal", NULL, NULL, KILLED(SIGQUIT), NOT_RETRYABLE },
	{ "signal", NULL, NULL, KILLED(SIGPIPE), NOT_RETRYABLE },
	{ "fail", NULL, NULL, KILLED(SIGINT), NOT_RETRYABLE },
	{ "fail", NULL, NULL, KILLED(SIGQUIT), NOT_RETRYABLE },
	{ "fail", NULL, NULL, KILLED(SIGPIPE), NOT_RETRYABLE },
	{ "INT", NULL, NULL, KILLED(SIGINT), RETRIED },
	{ "QUIT", NULL, NULL, KILLED(SIGQUIT), RETRIED },
	{ "PIPE", NULL, NULL, KILLED(SIGPIPE), RETRIED },
	{ "130", NULL, NULL, KILLED(SIGINT), RETRIED },
	{ "131", NULL, NULL, KILLED(SIGQUIT), RETRIED },
	{ "141", NULL, NULL, KILLED(SIGPIPE), RETRIED },
	{ "INT", NULL, NULL, KILLED(SIGPIPE), NOT_RETRYABLE },
	{ "timeout", NULL, NULL, TIMED_OUT(0), RETRIED },
	{ "timeout", NULL, NULL, EXITED(124), NOT_RETRYABLE },
	{ "timeout", NULL, NULL, EXITED(1), NOT_RETRYABLE },
	{ "124", NULL, NULL, TIMED_OUT(0), RETRIED },
	{ "124", NULL, NULL, EXITED(124), RETRIED },
	{ "120-130", NULL, NULL, TIMED_OUT(1), RETRIED },
	{ "fail", NULL, NULL, EXITED(0), SUCCESS },
	{ "fail", NULL, NULL, EXITED(1), RETRIED },
	{ "fail", NULL, NULL, KILLED(SIGSEGV), RETRIED },
	{ "fail", NULL, NULL, TIMED_OUT(0), RETRIED },
	{ "fail", NULL, NULL, NO_FORK(EAGAIN), RETRIED },
	{ "fail", NULL, NULL, NO_EXEC(ETXTBSY), RETRIED },
	{ "7", NULL, NULL, NO_FORK(EAGAIN), NOT_RETRYABLE },
	{ "125", NULL, NULL, NO_FORK(EAGAIN), RETRIED },
	{ "126", NULL, NULL, NO_EXEC(ETXTBSY), RETRIED },
	/* No list makes these worth another attempt. */
	{ "fail", NULL, NULL, NO_EXEC(ENOENT), NOT_EXECUTABLE },
	{ "127", NULL, NULL, NO_EXEC(ENOENT), NOT_EXECUTABLE },
	{ "126", NULL, NULL, NO_EXEC(EACCES), NOT_EXECUTABLE },
};

static const struct judged stopped_on[] = {
	{ NULL, "22", NULL, EXITED(22), STOPPED },
	{ NULL, "22", NULL, EXITED(7), RETRIED },
	{ NULL, "0-255", NULL, EXITED(0), SUCCESS },
	{ NULL, "fail", NULL, EXITED(0), SUCCESS },
	{ NULL, "fail", NULL, EXITED(1), STOPPED },
	{ NULL, "fail", NULL, KILLED(SIGSEGV), STOPPED },
	{ NULL, "fail", NULL, TIMED_OUT(0), STOPPED },
	{ NULL, "fail", NULL, NO_FORK(EAGAIN), STOPPED },
	{ NULL, "timeout", NULL, TIMED_OUT(0), STOPPED },
	{ NULL, "124", NULL, TIMED_OUT(0), STOPPED },
	{ NULL, "signal", NULL, KILLED(SIGTERM), STOPPED },
	{ NULL, "TERM", NULL, KILLED(SIGTERM), STOPPED },
	{ NULL, "143", NULL, KILLED(SIGTERM), STOPPED },
	{ NULL, "TERM", NULL, EXITED(143), RETRIED },
	/* It wins over the other rules, but not over what was no run. */
	{ "7", "7", NULL, EXITED(7), STOPPED },
	{ "fail", "1-10", NULL, EXITED(7), STOPPED },
	{ "1-10", "fail", NULL, EXITED(7), STOPPED },
	{ "PIPE", "signal", NULL, KILLED(SIGPIPE), STOPPED },
	{ NULL, "PIPE", NULL, KILLED(SIGPIPE), STOPPED },
	{ "timeout", "124", NULL, TIMED_OUT(0), STOPPED },
	{ NULL, "fail", NULL, NO_EXEC(ENOENT), NOT_EXECUTABLE },
	{ NULL, "127", NULL, NO_EXEC(ENOENT), NOT_EXECUTABLE },
};

static const struct judged succeeded_on[] = {
	{ NULL, NULL, "1", EXITED(0), SUCCESS },
	{ NULL, NULL, "1", EXITED(1), SUCCESS },
	{ NULL, NULL, "1", EXITED(2), RETRIED },
	{ NULL, NULL, "PIPE", KILLED(SIGPIPE), SUCCESS },
	{ NULL, NULL, "141", KILLED(SIGPIPE), SUCCESS },
	{ NULL, NULL, "signal", KILLED(SIGINT), SUCCESS },
	{ NULL, NULL, "timeout", TIMED_OUT(7), SUCCESS },
	{ NULL, NULL, "1", TIMED_OUT(1), RETRIED },
	{ NULL, NULL, "0", TIMED_OUT(0), RETRIED },
	{ NULL, NULL, "fail", EXITED(9), SUCCESS },
	/* A success comes before every rule about failures. */
	{ "1", NULL, "1", EXITED(1), SUCCESS },
	{ NULL, "1", "1", EXITED(1), SUCCESS },
	{ "7", NULL, "1", EXITED(2), NOT_RETRYABLE },
	{ NULL, "2", "1", EXITED(2), STOPPED },
	/* What never ran cannot be one. */
	{ NULL, NULL, "fail", NO_FORK(EAGAIN), RETRIED },
	{ NULL, NULL, "125", NO_FORK(EAGAIN), RETRIED },
	{ NULL, NULL, "126", NO_EXEC(ETXTBSY), RETRIED },
	{ NULL, NULL, "127", NO_EXEC(ENOENT), NOT_EXECUTABLE },
	{ NULL, NULL, "fail", NO_EXEC(EACCES), NOT_EXECUTABLE },
};

static const struct judged when_interrupted[] = {
	{ NULL, NULL, NULL, INTERRUPTED(END_EXITED, 0), SUCCESS },
	{ NULL, NULL, NULL, INTERRUPTED(END_EXITED, 7), INTERRUPT },
	{ NULL, NULL, "7", INTERRUPTED(END_EXITED, 7), SUCCESS },
	{ NULL, NULL, NULL, INTERRUPTED(END_SIGNALED, SIGTERM), INTERRUPT },
	{ NULL, NULL, NULL, INTERRUPTED(END_SIGNALED, SIGINT), INTERRUPT },
	{ NULL, NULL, NULL, INTERRUPTED(END_TIMED_OUT, 0), INTERRUPT },
	{ NULL, NULL, NULL, INTERRUPTED(END_DEADLINE, 0), INTERRUPT },
	{ NULL, NULL, NULL, INTERRUPTED(END_NOT_STARTED, 0), INTERRUPT },
	/* No rule about failures comes before it. */
	{ "7", NULL, NULL, INTERRUPTED(END_EXITED, 7), INTERRUPT },
	{ "8", NULL, NULL, INTERRUPTED(END_EXITED, 7), INTERRUPT },
	{ NULL, "7", NULL, INTERRUPTED(END_EXITED, 7), INTERRUPT },
	{ "fail", "fail", NULL, INTERRUPTED(END_EXITED, 7), INTERRUPT },
};

/* The lists and the outcome in one line, to find a row that fails. */
static void
describe(char *room, size_t size, const struct judged *row)
{
	snprintf(room, size, "retry %s, stop %s, success %s, end %d, code %d",
	    row->retry == NULL ? "-" : row->retry,
	    row->stop == NULL ? "-" : row->stop,
	    row->success == NULL ? "-" : row->success, (int)row->outcome.end,
	    row->outcome.code);
}

static void
check_judged(const struct judged *rows, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct rules rules = { .retry_on = codes_of(rows[i].retry),
			.stop_on = codes_of(rows[i].stop),
			.success_on = codes_of(rows[i].success) };
		struct judgement judgement =
		    verdict_of(&rules, &rows[i].outcome);
		char row[128];

		describe(row, sizeof row, &rows[i]);
		EQUAL(row, judgement.verdict, rows[i].verdict);
		EQUAL(row, judgement.reason, rows[i].reason);
	}
}

static void
test_verdicts(void)
{
	check_judged(unasked, LENGTH(unasked));
	check_judged(retried_on, LENGTH(retried_on));
	check_judged(stopped_on, LENGTH(stopped_on));
	check_judged(succeeded_on, LENGTH(succeeded_on));
	check_judged(when_interrupted, LENGTH(when_interrupted));
}

/* Nothing but 0 is a success unasked. */
static void
test_verdicts_of_every_status(void)
{
	struct rules rules = { .retry_on = codes_of(NULL) };

	for (int code = 0; code <= 255; code++) {
		struct outcome outcome = EXITED(code);
		char row[NUMBER_ROOM];

		number_put(row, code);
		EQUAL(row, verdict_of(&rules, &outcome).verdict,
		    code == 0 ? VERDICT_DONE : VERDICT_RETRY);
		EQUAL(row, verdict_status(&outcome), code);
	}
}

static void
test_verdicts_of_every_signal(void)
{
	struct rules rules = { .retry_on = codes_of(NULL) };

	for (int number = 1; number <= 64; number++) {
		struct outcome outcome = KILLED(number);
		bool meant =
		    number == SIGINT || number == SIGQUIT || number == SIGPIPE;
		char row[NUMBER_ROOM];

		number_put(row, number);
		EQUAL(row, verdict_of(&rules, &outcome).verdict,
		    meant ? VERDICT_STOP : VERDICT_RETRY);
		EQUAL(row, verdict_status(&outcome), 128 + number);
	}
}

static void
test_statuses_of_limits_and_failed_starts(void)
{
	static const struct {
		const char *row;
		struct outcome outcome;
		int status;
	} rows[] = {
		{ "timed out", TIMED_OUT(0), 124 },
		{ "timed out, exit 7", TIMED_OUT(7), 124 },
		{ "timed out, KILL", TIMED_OUT(SIGKILL), 124 },
		{ "deadline", CUT(0), 124 },
		{ "deadline, exit 7", CUT(7), 124 },
		{ "fork EAGAIN", NO_FORK(EAGAIN), 125 },
		{ "fork ENOMEM", NO_FORK(ENOMEM), 125 },
		/* errno of a fork is no answer about the command. */
		{ "fork ENOENT", NO_FORK(ENOENT), 125 },
		{ "exec ENOENT", NO_EXEC(ENOENT), 127 },
		{ "exec EACCES", NO_EXEC(EACCES), 126 },
		{ "exec ENOEXEC", NO_EXEC(ENOEXEC), 126 },
		{ "exec ETXTBSY", NO_EXEC(ETXTBSY), 126 },
		{ "exec E2BIG", NO_EXEC(E2BIG), 126 },
		{ "exec ENOTDIR", NO_EXEC(ENOTDIR), 126 },
	};

	for (size_t i = 0; i < LENGTH(rows); i++)
		EQUAL(rows[i].row, verdict_status(&rows[i].outcome),
		    rows[i].status);
}

static void
test_reasons(void)
{
	static const struct {
		enum reason reason;
		const char *name, *words;
	} rows[] = {
		{ REASON_INTERNAL, "internal", NULL },
		{ REASON_INTERRUPTED, "interrupted", "interrupted" },
		{ REASON_NOT_EXECUTABLE, "not-executable", "not executable" },
		{ REASON_SUCCEEDED, "succeeded", "succeeded" },
		{ REASON_STOP_RULE, "stop-rule", "stop rule" },
		{ REASON_NOT_RETRYABLE, "not-retryable", "not retryable" },
		{ REASON_ATTEMPTS, "attempts", "attempts exhausted" },
		{ REASON_DEADLINE, "deadline", "deadline" },
	};

	for (size_t i = 0; i < LENGTH(rows); i++) {
		SAME(rows[i].name, verdict_reason_name(rows[i].reason),
		    rows[i].name);
		if (rows[i].words != NULL)
			SAME(rows[i].name, verdict_reason_words(rows[i].reason),
			    rows[i].words);
		/* Their order is their precedence. */
		HOLDS(rows[i].name,
		    i == 0 || rows[i - 1].reason < rows[i].reason);
	}
}

/*
 * plan
 */

/* Instants are counted from some boot, not from the start of retry. */
#define BEGAN SECONDS(1000)

/* Delays of 1s, 2s, 4s and so on up to 30s; no deadline. */
static struct policy
policy_of(int64_t attempts)
{
	struct policy policy = { .attempts = attempts,
		.backoff = GROWING(BACKOFF_EXPONENTIAL, NANOS_SECOND) };

	policy.backoff.cap = 30 * NANOS_SECOND;
	return policy;
}

/* One invocation: what was asked for, how attempts end, what comes of it. */
struct played {
	const char *row;
	struct {
		int64_t attempts;
		double deadline, reset_after;
		const char *retry, *stop, *success;
	} policy;
	struct {
		struct outcome outcome;
		double took;
	} attempts[8];
	int last; /* of attempts; all after it end like it */
	struct {
		int64_t made;
		double ended; /* after so many seconds */
		int status, signal;
		enum reason reason;
	} want;
};

static const struct played succeeding[] = {
	{ "at once", { .attempts = 4 }, { { EXITED(0), 0 } },
	    .want = { 1, 0, 0, 0, REASON_SUCCEEDED } },
	{ "the third time", { .attempts = 4 },
	    { { EXITED(7), 0 }, { KILLED(9), 0 }, { EXITED(0), 0 } }, .last = 2,
	    .want = { 3, 3, 0, 0, REASON_SUCCEEDED } },
	{ "the last time", { .attempts = 2 },
	    { { EXITED(7), 0 }, { EXITED(0), 0 } }, .last = 1,
	    .want = { 2, 1, 0, 0, REASON_SUCCEEDED } },
	{ "with another status", { .attempts = 4, .success = "1" },
	    { { EXITED(2), 0 }, { EXITED(1), 0 } }, .last = 1,
	    .want = { 2, 1, 1, 0, REASON_SUCCEEDED } },
	{ "after the deadline", { .attempts = 4, .deadline = 5 },
	    { { EXITED(0), 6 } }, .want = { 1, 6, 0, 0, REASON_SUCCEEDED } },
	{ "though interrupted", { .attempts = 4 },
	    { { INTERRUPTED(END_EXITED, 0), 1 } },
	    .want = { 1, 1, 0, 0, REASON_SUCCEEDED } },
	{ "once a fork succeeds", { .attempts = 4 },
	    { { NO_FORK(EAGAIN), 0 }, { EXITED(0), 0 } }, .last = 1,
	    .want = { 2, 1, 0, 0, REASON_SUCCEEDED } },
	{ "once it is written", { .attempts = 4 },
	    { { NO_EXEC(ETXTBSY), 0 }, { EXITED(0), 0 } }, .last = 1,
	    .want = { 2, 1, 0, 0, REASON_SUCCEEDED } },
	{ "the eighth time, no cap", { .attempts = POLICY_UNLIMITED },
	    { { EXITED(7), 0 }, { EXITED(7), 0 }, { EXITED(7), 0 },
		{ EXITED(7), 0 }, { EXITED(7), 0 }, { EXITED(7), 0 },
		{ EXITED(7), 0 }, { EXITED(0), 0 } },
	    .last = 7, .want = { 8, 91, 0, 0, REASON_SUCCEEDED } },
};

static const struct played exhausted[] = {
	{ "one attempt", { .attempts = 1 }, { { EXITED(7), 2 } },
	    .want = { 1, 2, 7, 0, REASON_ATTEMPTS } },
	{ "four attempts", { .attempts = 4 }, { { EXITED(7), 0 } },
	    .want = { 4, 7, 7, 0, REASON_ATTEMPTS } },
	{ "that take time", { .attempts = 3 }, { { EXITED(7), 2 } },
	    .want = { 3, 9, 7, 0, REASON_ATTEMPTS } },
	{ "the last status counts", { .attempts = 3 },
	    { { EXITED(1), 0 }, { EXITED(2), 0 }, { EXITED(3), 0 } }, .last = 2,
	    .want = { 3, 3, 3, 0, REASON_ATTEMPTS } },
	{ "every one timed out", { .attempts = 2 }, { { TIMED_OUT(0), 1 } },
	    .want = { 2, 3, 124, 0, REASON_ATTEMPTS } },
	{ "the last timed out", { .attempts = 2 },
	    { { EXITED(7), 0 }, { TIMED_OUT(SIGKILL), 1 } }, .last = 1,
	    .want = { 2, 2, 124, 0, REASON_ATTEMPTS } },
	{ "the first timed out", { .attempts = 2 },
	    { { TIMED_OUT(0), 1 }, { EXITED(7), 0 } }, .last = 1,
	    .want = { 2, 2, 7, 0, REASON_ATTEMPTS } },
	{ "killed", { .attempts = 2 }, { { KILLED(SIGSEGV), 0 } },
	    .want = { 2, 1, 128 + SIGSEGV, SIGSEGV, REASON_ATTEMPTS } },
	{ "first killed", { .attempts = 2 },
	    { { KILLED(SIGSEGV), 0 }, { EXITED(3), 0 } }, .last = 1,
	    .want = { 2, 1, 3, 0, REASON_ATTEMPTS } },
	{ "no fork", { .attempts = 2 }, { { NO_FORK(ENOMEM), 0 } },
	    .want = { 2, 1, 125, 0, REASON_INTERNAL } },
	{ "being written", { .attempts = 2 }, { { NO_EXEC(ETXTBSY), 0 } },
	    .want = { 2, 1, 126, 0, REASON_ATTEMPTS } },
	{ "and the deadline is near", { .attempts = 2, .deadline = 3 },
	    { { EXITED(7), 0 } }, .want = { 2, 1, 7, 0, REASON_ATTEMPTS } },
};

static const struct played stopping[] = {
	{ "stop rule", { .attempts = 4, .stop = "22" },
	    { { EXITED(7), 0 }, { EXITED(22), 0 } }, .last = 1,
	    .want = { 2, 1, 22, 0, REASON_STOP_RULE } },
	{ "stop rule before attempts", { .attempts = 2, .stop = "22" },
	    { { EXITED(7), 0 }, { EXITED(22), 0 } }, .last = 1,
	    .want = { 2, 1, 22, 0, REASON_STOP_RULE } },
	{ "stop rule before deadline",
	    { .attempts = 4, .deadline = 1, .stop = "22" },
	    { { EXITED(22), 2 } }, .want = { 1, 2, 22, 0, REASON_STOP_RULE } },
	{ "stop rule for a signal", { .attempts = 4, .stop = "TERM" },
	    { { KILLED(SIGTERM), 0 } },
	    .want = { 1, 0, 143, SIGTERM, REASON_STOP_RULE } },
	{ "not retryable", { .attempts = 4, .retry = "7" },
	    { { EXITED(7), 0 }, { EXITED(8), 0 } }, .last = 1,
	    .want = { 2, 1, 8, 0, REASON_NOT_RETRYABLE } },
	{ "not retryable before attempts", { .attempts = 1, .retry = "7" },
	    { { EXITED(8), 0 } },
	    .want = { 1, 0, 8, 0, REASON_NOT_RETRYABLE } },
	{ "Ctrl-C", { .attempts = 4 }, { { KILLED(SIGINT), 0 } },
	    .want = { 1, 0, 130, SIGINT, REASON_NOT_RETRYABLE } },
	{ "a closed pipe", { .attempts = 4 }, { { KILLED(SIGPIPE), 0 } },
	    .want = { 1, 0, 141, SIGPIPE, REASON_NOT_RETRYABLE } },
	{ "a pipe that may", { .attempts = 2, .retry = "PIPE" },
	    { { KILLED(SIGPIPE), 0 } },
	    .want = { 2, 1, 141, SIGPIPE, REASON_ATTEMPTS } },
	{ "not found", { .attempts = 4 }, { { NO_EXEC(ENOENT), 0 } },
	    .want = { 1, 0, 127, 0, REASON_NOT_EXECUTABLE } },
	{ "not executable", { .attempts = 4 }, { { NO_EXEC(EACCES), 0 } },
	    .want = { 1, 0, 126, 0, REASON_NOT_EXECUTABLE } },
	{ "not found any more", { .attempts = 2, .stop = "fail" },
	    { { NO_EXEC(ENOENT), 0 } },
	    .want = { 1, 0, 127, 0, REASON_NOT_EXECUTABLE } },
	{ "interrupted", { .attempts = 4 },
	    { { INTERRUPTED(END_EXITED, 7), 1 } },
	    .want = { 1, 1, 7, 0, REASON_INTERRUPTED } },
	{ "interrupted, last", { .attempts = 1, .stop = "fail" },
	    { { INTERRUPTED(END_EXITED, 7), 1 } },
	    .want = { 1, 1, 7, 0, REASON_INTERRUPTED } },
	{ "interrupted, killed", { .attempts = 4 },
	    { { INTERRUPTED(END_SIGNALED, SIGTERM), 1 } },
	    .want = { 1, 1, 143, SIGTERM, REASON_INTERRUPTED } },
	/* It died of something else: that is how it ended, and so do we. */
	{ "interrupted, crashed", { .attempts = 4 },
	    { { INTERRUPTED(END_SIGNALED, SIGSEGV), 1 } },
	    .want = { 1, 1, 139, SIGSEGV, REASON_INTERRUPTED } },
	{ "interrupted before the deadline", { .attempts = 4, .deadline = 5 },
	    { { INTERRUPTED(END_SIGNALED, SIGTERM), 6 } },
	    .want = { 1, 6, 143, SIGTERM, REASON_INTERRUPTED } },
	{ "interrupted after a limit", { .attempts = 4 },
	    { { INTERRUPTED(END_TIMED_OUT, SIGTERM), 1 } },
	    .want = { 1, 1, 124, 0, REASON_INTERRUPTED } },
};

static const struct played in_time[] = {
	{ "no time for the delay", { .attempts = 9, .deadline = 10 },
	    { { EXITED(7), 0 } }, .want = { 4, 7, 7, 0, REASON_DEADLINE } },
	{ "a delay to the deadline", { .attempts = 9, .deadline = 3 },
	    { { EXITED(7), 0 } }, .want = { 2, 1, 7, 0, REASON_DEADLINE } },
	{ "a delay to just before", { .attempts = 9, .deadline = 3.5 },
	    { { EXITED(7), 0 } }, .want = { 3, 3, 7, 0, REASON_DEADLINE } },
	{ "no cap", { .attempts = POLICY_UNLIMITED, .deadline = 100 },
	    { { EXITED(7), 0 } }, .want = { 8, 91, 7, 0, REASON_DEADLINE } },
	{ "killed", { .attempts = 9, .deadline = 3 },
	    { { KILLED(SIGSEGV), 0 } },
	    .want = { 2, 1, 139, SIGSEGV, REASON_DEADLINE } },
	{ "timed out", { .attempts = 9, .deadline = 3 },
	    { { TIMED_OUT(0), 2 } },
	    .want = { 1, 2, 124, 0, REASON_DEADLINE } },
	{ "ended by it", { .attempts = 9, .deadline = 5 },
	    { { CUT(SIGTERM), 5 } },
	    .want = { 1, 5, 124, 0, REASON_DEADLINE } },
	{ "ended by it, exit 0", { .attempts = 9, .deadline = 5 },
	    { { CUT(0), 5 } }, .want = { 1, 5, 124, 0, REASON_DEADLINE } },
	{ "ended by it, not in a list",
	    { .attempts = 9, .deadline = 5, .retry = "7" },
	    { { EXITED(7), 0 }, { CUT(0), 4 } }, .last = 1,
	    .want = { 2, 5, 124, 0, REASON_DEADLINE } },
	{ "over when it ended", { .attempts = 9, .deadline = 5 },
	    { { EXITED(7), 5 } }, .want = { 1, 5, 7, 0, REASON_DEADLINE } },
	{ "long over", { .attempts = 9, .deadline = 5 }, { { EXITED(7), 500 } },
	    .want = { 1, 500, 7, 0, REASON_DEADLINE } },
};

static const struct played resetting[] = {
	{ "long enough", { .attempts = 5, .reset_after = 10 },
	    { { EXITED(7), 0 }, { EXITED(7), 0 }, { EXITED(7), 10 },
		{ EXITED(7), 0 } },
	    .last = 3, .want = { 5, 16, 7, 0, REASON_ATTEMPTS } },
	{ "not long enough", { .attempts = 5, .reset_after = 10 },
	    { { EXITED(7), 0 }, { EXITED(7), 0 }, { EXITED(7), 9.5 },
		{ EXITED(7), 0 } },
	    .last = 3, .want = { 5, 24.5, 7, 0, REASON_ATTEMPTS } },
	{ "never", { .attempts = 4 }, { { EXITED(7), 1000 } },
	    .want = { 4, 4007, 7, 0, REASON_ATTEMPTS } },
	{ "every time", { .attempts = 4, .reset_after = 1 },
	    { { EXITED(7), 1 } }, .want = { 4, 7, 7, 0, REASON_ATTEMPTS } },
};

/* The policy of a row. */
static struct policy
asked(const struct played *row)
{
	struct policy policy = policy_of(row->policy.attempts);

	policy.deadline = SECONDS(row->policy.deadline);
	policy.reset_after = SECONDS(row->policy.reset_after);
	policy.rules.retry_on = codes_of(row->policy.retry);
	policy.rules.stop_on = codes_of(row->policy.stop);
	policy.rules.success_on = codes_of(row->policy.success);
	return policy;
}

/* Plays an invocation as the loop would, on a clock of its own. */
static void
check_played(const struct played *row)
{
	struct policy policy = asked(row);
	struct history history = plan_start(&policy, BEGAN, NANOS_MAX, 1);
	nanos now = BEGAN;
	struct step step = plan_first(&policy, &history, now);

	for (int i = 0; step.again && i < 100; i++) {
		int at = i < row->last ? i : row->last;
		struct outcome outcome = row->attempts[at].outcome;

		EQUAL(row->row, step.at, now + step.delay);
		EQUAL(row->row, step.reason, REASON_NONE);
		EQUAL(row->row, step.attempt, i);
		now = step.at;
		step = plan_wake(&history, &step, now);
		EQUAL(row->row, history.made, i + 1);
		outcome.elapsed = SECONDS(row->attempts[at].took);
		now += outcome.elapsed;
		step = plan_next(&policy, &history, &outcome, now);
	}
	HOLDS(row->row, !step.again);
	EQUAL(row->row, history.made, row->want.made);
	EQUAL(row->row, step.attempt, row->want.made);
	EQUAL(row->row, now - BEGAN, SECONDS(row->want.ended));
	EQUAL(row->row, step.status, row->want.status);
	EQUAL(row->row, step.signal, row->want.signal);
	EQUAL(row->row, step.reason, row->want.reason);
}

static void
test_plans(void)
{
	for (size_t i = 0; i < LENGTH(succeeding); i++)
		check_played(&succeeding[i]);
	for (size_t i = 0; i < LENGTH(exhausted); i++)
		check_played(&exhausted[i]);
	for (size_t i = 0; i < LENGTH(stopping); i++)
		check_played(&stopping[i]);
	for (size_t i = 0; i < LENGTH(in_time); i++)
		check_played(&in_time[i]);
	for (size_t i = 0; i < LENGTH(resetting); i++)
		check_played(&resetting[i]);
}

static void
test_the_lesser_deadline_counts(void)
{
	static const struct {
		const char *row;
		nanos own, inherited, want;
	} rows[] = {
		{ "none", 0, NANOS_MAX, NANOS_MAX },
		{ "own", 50, NANOS_MAX, BEGAN + 50 },
		{ "inherited", 0, BEGAN + 30, BEGAN + 30 },
		{ "own is less", 50, BEGAN + 51, BEGAN + 50 },
		{ "inherited is less", 50, BEGAN + 49, BEGAN + 49 },
		{ "both", 50, BEGAN + 50, BEGAN + 50 },
		{ "long past", 50, 7, 7 },
		{ "for ever", NANOS_MAX, NANOS_MAX, NANOS_MAX },
	};

	for (size_t i = 0; i < LENGTH(rows); i++) {
		struct policy policy = policy_of(4);
		struct history history;

		policy.deadline = rows[i].own;
		history = plan_start(&policy, BEGAN, rows[i].inherited, 1);
		EQUAL(rows[i].row, history.deadline, rows[i].want);
		EQUAL(rows[i].row, history.began, BEGAN);
		EQUAL(rows[i].row, history.made, 0);
	}
}

/* An end before anything ran. */
static void
check_nothing_ran(
    const char *row, const struct history *history, const struct step *step)
{
	HOLDS(row, !step->again);
	EQUAL(row, step->status, 124);
	EQUAL(row, step->signal, 0);
	EQUAL(row, step->reason, REASON_DEADLINE);
	EQUAL(row, step->attempt, 0);
	EQUAL(row, history->made, 0);
}

static void
test_a_deadline_before_the_first_attempt(void)
{
	struct policy policy = policy_of(4);
	struct history history = plan_start(&policy, BEGAN, BEGAN + 10, 1);
	struct step step = plan_first(&policy, &history, BEGAN + 9);

	HOLDS("1 ns left", step.again);
	EQUAL("1 ns left", step.at, BEGAN + 9);
	step = plan_first(&policy, &history, BEGAN + 10);
	check_nothing_ran("at it", &history, &step);
	step = plan_first(&policy, &history, BEGAN + 11);
	check_nothing_ran("past it", &history, &step);
	/* The splay was in time when it began; then the machine slept. */
	policy.splay = 4;
	step = plan_first(&policy, &history, BEGAN);
	HOLDS("slept", step.again);
	step = plan_wake(&history, &step, BEGAN + 10);
	check_nothing_ran("slept", &history, &step);
}

static void
test_a_delay_that_overran_the_deadline(void)
{
	static const struct {
		const char *row;
		struct outcome outcome;
		int status, signal;
		enum reason reason;
	} rows[] = {
		{ "exit 7", EXITED(7), 7, 0, REASON_DEADLINE },
		{ "SEGV", KILLED(SIGSEGV), 139, SIGSEGV, REASON_DEADLINE },
		{ "timed out", TIMED_OUT(0), 124, 0, REASON_DEADLINE },
		{ "no fork", NO_FORK(EAGAIN), 125, 0, REASON_INTERNAL },
	};

	for (size_t i = 0; i < LENGTH(rows); i++) {
		struct policy policy = policy_of(4);
		struct history history =
		    plan_start(&policy, BEGAN, BEGAN + SECONDS(10), 1);
		struct step step = plan_first(&policy, &history, BEGAN);
		struct step late;

		plan_wake(&history, &step, BEGAN);
		step = plan_next(&policy, &history, &rows[i].outcome, BEGAN);
		HOLDS(rows[i].row, step.again);
		late = plan_wake(&history, &step, BEGAN + SECONDS(10));
		HOLDS(rows[i].row, !late.again);
		EQUAL(rows[i].row, late.status, rows[i].status);
		EQUAL(rows[i].row, late.signal, rows[i].signal);
		EQUAL(rows[i].row, late.reason, rows[i].reason);
		EQUAL(rows[i].row, history.made, 1);
		late = plan_wake(&history, &step, BEGAN + SECONDS(10) - 1);
		HOLDS(rows[i].row, late.again);
		EQUAL(rows[i].row, history.made, 2);
	}
}

static void
test_splays_take_half_the_time_at_most(void)
{
	static const struct {
		const char *row;
		nanos splay, deadline, most;
	} rows[] = {
		{ "none", 0, 0, 0 },
		{ "none, deadline", 0, 4000, 0 },
		{ "no deadline", 10000, 0, 10000 },
		{ "all of it", 1000, 4000, 1000 },
		{ "just half", 2000, 4000, 2000 },
		{ "half", 10000, 4000, 2000 },
		{ "for ever", NANOS_MAX, 4000, 2000 },
		{ "half of 1 ns", 10000, 1, 0 },
	};

	for (size_t i = 0; i < LENGTH(rows); i++) {
		struct policy policy = policy_of(4);
		struct draws draws = { .least = NANOS_MAX };

		policy.splay = rows[i].splay;
		policy.deadline = rows[i].deadline;
		for (uint64_t seed = 0; seed < DRAWS; seed++) {
			struct history history =
			    plan_start(&policy, BEGAN, NANOS_MAX, seed);
			nanos wait =
			    plan_first(&policy, &history, BEGAN).at - BEGAN;

			draws.least = wait < draws.least ? wait : draws.least;
			draws.most = wait > draws.most ? wait : draws.most;
			draws.mean += (double)wait / DRAWS;
		}
		check_draws(rows[i].row, &draws, 0, rows[i].most,
		    (double)rows[i].most / 2);
	}
}

/* Whatever the jitter: an attempt begins before the deadline or not at all. */
static void
test_every_attempt_begins_before_the_deadline(void)
{
	for (int jitter = JITTER_FULL; jitter <= JITTER_NONE; jitter++)
		for (uint64_t seed = 0; seed < 200; seed++) {
			struct policy policy = policy_of(POLICY_UNLIMITED);
			struct outcome outcome = EXITED(7);
			struct history history;
			struct step step;
			int late = 0;

			policy.deadline = SECONDS(20);
			policy.backoff.jitter = (enum jitter)jitter;
			history = plan_start(&policy, BEGAN, NANOS_MAX, seed);
			step = plan_first(&policy, &history, BEGAN);
			for (int i = 0; step.again && i < 10000; i++) {
				nanos now = step.at;

				late += now >= BEGAN + SECONDS(20);
				plan_wake(&history, &step, now);
				step = plan_next(&policy, &history, &outcome,
				    now + NANOS_MS);
			}
			EQUAL("late", late, 0);
			EQUAL("ends", step.reason, REASON_DEADLINE);
		}
}

/* At the very end of the numbers, too, nothing wraps. */
static void
test_plans_saturate(void)
{
	struct policy policy = policy_of(POLICY_UNLIMITED);
	struct history history =
	    plan_start(&policy, NANOS_MAX - 10, NANOS_MAX, 1);
	struct outcome outcome = EXITED(7);
	struct step step;

	history.made = 1000000000000;
	history.schedule.n = 1000000000000;
	step = plan_next(&policy, &history, &outcome, NANOS_MAX - 10);
	HOLDS("no cap", step.again);
	EQUAL("no cap", step.delay, SECONDS(30));
	EQUAL("no cap", step.at, NANOS_MAX);
	EQUAL("no cap", step.attempt, 1000000000000);
}

static void (*const tests[])(void) = {
	test_whole_numbers,
	test_what_is_no_whole_number,
	test_numbers_read_no_further_than_told,
	test_decimal_numbers,
	test_what_is_no_decimal_number,
	test_sums_saturate,
	test_numbers_are_written_in_decimal,
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
	test_reset_starts_the_schedule_anew,
	test_schedules_saturate,
	test_verdicts,
	test_verdicts_of_every_status,
	test_verdicts_of_every_signal,
	test_statuses_of_limits_and_failed_starts,
	test_reasons,
	test_plans,
	test_the_lesser_deadline_counts,
	test_a_deadline_before_the_first_attempt,
	test_a_delay_that_overran_the_deadline,
	test_splays_take_half_the_time_at_most,
	test_every_attempt_begins_before_the_deadline,
	test_plans_saturate,
};

int
main(void)
{
	for (size_t i = 0; i < LENGTH(tests); i++)
		tests[i]();
	printf("unit: %d passed, %d failed\n", passed, failed);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
