/*
 * Covers text/signame.
 *
 * conditions: conditions and signame, row by row. Names are written out here a
 * second time, from the manual, and each refusal has its row.
 */
#include <signal.h>
#include "unit.h"
#include "policy/conditions.h"
#include "text/number.h"
#include "text/signame.h"

static struct watch watch_room[CONDITIONS_WATCHES];

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

static void (*const tests[])(void) = {
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
};

UNIT(tests);
