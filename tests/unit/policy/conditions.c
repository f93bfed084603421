/*
 * Covers text/signame.
 *
 * conditions: conditions and signame, row by row. Names are written out here a
 * second time, from the manual, and each refusal has its row.
 */
#include <signal.h>
#include "unit.h"
#include "script.h"
#include "policy/conditions.h"
#include "text/number.h"
#include "text/signame.h"

static struct watch watch_room[CONDITIONS_WATCHES];

/* The names of signals that are written, and others, each with its number. */
static const char *const signals[] = {
	"HUP 1 INT 2 QUIT 3 ILL 4 TRAP 5 ABRT 6 BUS 7 FPE 8 KILL 9 USR1 10 SEGV 11 USR2 12 PIPE 13 "
	"ALRM 14 TERM 15 STKFLT 16 CHLD 17 CONT 18 STOP 19 TSTP 20 TTIN 21 TTOU 22 URG 23 XCPU 24 "
	"XFSZ 25 VTALRM 26 PROF 27 WINCH 28 IO 29 PWR 30 SYS 31 RTMIN 34 RTMIN+1 35 RTMIN+15 49 "
	"RTMAX-14 50 RTMAX-1 63 RTMAX 64",
	"IOT 6 CLD 17 POLL 29 RTMIN+0 34 RTMIN+16 50 RTMIN+30 64 RTMAX-30 34 "
	"RTMAX-15 49 RTMAX-0 64",
};

static struct conditions codes_of(const char *list) {
	struct conditions set = { .first = { .fail = false } };
	struct watches watches = { .list = watch_room };
	struct conditions_error error = { "", "", 0 };

	if (list != NULL) {
		HOLDS(list, conditions_parse(&set, &watches, list, &error));
		SAME(list, error.why, "");
	}
	return set;
}

/* Adds " NAME7" or " NAME7-9" for each run of numbers that are set. */
static void show_runs(char *room, size_t size, const char *name, const bool *set, int count) {
	for (int i = 0; i < count; i++) {
		int first = i;
		size_t used = strlen(room);

		if (!set[i])
			continue;
		while (i + 1 < count && set[i + 1]) i++;
		snprintf(room + used, size - used, i == first ? " %s%d" : " %s%d-%d", name, first,
		    i);
	}
}

/* All that a set names, in one order: "7 64-78 signal-9 http:500-599 fail". */
static void
show(char *room, size_t size, const struct condition_set *set, const struct watches *watches) {
	bool exits[256], signs[129] = { false }, http[1000];
	const struct {
		bool is;
		const char *name;
	} flags[] = {
		{ set->any_signal, " signal" },
		{ set->timeout, " timeout" },
		{ set->idle, " idle" },
		{ set->fail, " fail" },
	};

	room[0] = '\0';
	for (int i = 0; i < 256; i++) exits[i] = conditions_has_exit(set, i);
	for (int i = 0; i < 1000; i++) http[i] = i > 0 && conditions_has_http(set, i);
	for (int i = 1; i <= 128; i++) {
		signs[i] = i <= 64 && (set->signals >> (i - 1) & 1) != 0;
		EQUAL("signal", conditions_names_signal(set, i),
		    signs[i] || (i < 128 && exits[128 + i]));
	}
	show_runs(room, size, "", exits, 256);
	show_runs(room, size, "signal-", signs, 129);
	show_runs(room, size, "http:", http, 1000);
	for (size_t i = 0; i < LENGTH(flags); i++)
		if (flags[i].is)
			strcat(room, flags[i].name);
	for (int i = 0; i < watches->count; i++)
		if ((set->watches >> i & 1) != 0)
			snprintf(room + strlen(room), size - strlen(room), " fd-%d[%s]",
			    watches->list[i].fd, watches->list[i].text);
	if (room[0] == '\0')
		strcpy(room, " nothing");
	memmove(room, room + 1, strlen(room));
	HOLDS(room, conditions_has_http(set, 0) == (strstr(room, "http:") != NULL));
	HOLDS(room, !conditions_has_http(set, -1));
	HOLDS(room, !conditions_has_exit(set, -1) && !conditions_has_exit(set, 256));
	HOLDS(room, !conditions_names_signal(set, 0) && !conditions_names_signal(set, -1));
}

/* One name in one spelling: as a signal, and as the only item of a LIST. */
static void check_spelling(const char *spelling, int number) {
	struct conditions set = codes_of(spelling);
	struct watches none = { .count = 0 };
	char got[64], want[64];

	show(got, sizeof got, &set.first, &none);
	snprintf(want, sizeof want, "signal-%d", number);
	SAME(spelling, got, want);
	EQUAL(spelling, signame_number(spelling, strlen(spelling)), number);
}

/* Alternately as it is and in small letters: "SeGv". */
static void mix(char *text) {
	for (size_t i = 0; text[i] != '\0'; i++) {
		if (text[i] >= 'A' && text[i] <= 'Z' && i % 2 == 1)
			text[i] = (char)(text[i] - 'A' + 'a');
	}
}

TEST(signals_by_every_name_in_every_spelling) {
	char text[96], name[SIGNAME_ROOM], digits[NUMBER_ROOM];

	for (size_t i = 0; i < LENGTH(signals); i++) {
		struct script script = script_of(signals[i]);

		while (script_next(&script)) {
			char *bare = text + 3;
			int number;

			snprintf(text, sizeof text, "SIG%s", script.word);
			number = (int)script_number(&script);
			if (i == 0)
				SAME(text, signame_put(name, number), text);
			snprintf(digits, sizeof digits, "%d", number);
			EQUAL(text, signame_number(digits, strlen(digits)), number);
			check_spelling(text, number);
			check_spelling(bare, number);
			mix(bare);
			check_spelling(bare, number);
			mix(text);
			check_spelling(text, number);
		}
	}
}

TEST(what_has_no_name) {
	char room[SIGNAME_ROOM];

	HOLDS("room", signame_put(room, SIGTERM) == room);
	SAME("0", signame_put(room, 0), "signal 0");
	SAME("32", signame_put(room, 32), "signal 32");
	SAME("33", signame_put(room, 33), "signal 33");
	SAME("65", signame_put(room, 65), "signal 65");
	/* Cut off, but never written past room. */
	SAME("INT_MIN", signame_put(room, INT32_MIN), "signal -2147483");
}

TEST(what_is_no_signal) {
	static const char *const rows[] = { "", "0", "65", "128", "-1", "+9", "9 ", " TERM",
		"TERM ", "99999999999999999999", "NOPE", "SIG", "sig", "SIGSIGTERM", "SIG15",
		"SIGNOPE", "TERMS", "TER", "RT", "RTMIN+", "RTMIN-1", "RTMIN+31", "RTMIN+x",
		"RTMIN1", "RTMIN++1", "RTMIN+-1", "RTMAX+1", "RTMAX-", "RTMAX-31",
		"RTMAX-99999999999999999999", "SIGRT", "EXIT", "signal" };

	for (size_t i = 0; i < LENGTH(rows); i++)
		EQUAL(rows[i], signame_number(rows[i], strlen(rows[i])), 0);
	EQUAL("TERM of TERMS", signame_number("TERMS", 4), SIGTERM);
	EQUAL("1 of 15", signame_number("15", 1), SIGHUP);
}

/* A LIST, and all that it names. */
static const struct {
	const char *list, *names;
} accepted[] = {
	/* Numbers, and a signal. */
	{ "7", "7" }, { "007", "7" }, { "1,2,3", "1-3" }, { "64-78", "64-78" }, { "255", "255" },
	{ "0-255", "0-255" }, { "250-255,0", "0 250-255" }, { "1-10,5-15", "1-15" },
	{ "PIPE", "signal-13" },
	/* These do not name a signal. */
	{ "signal", "signal" }, { "timeout,idle,fail", "timeout idle fail" },
	{ "signal,timeout,fail,13,1-128", "1-128 signal timeout fail" },
	{ "1,HUP,timeout", "1 signal-1 timeout" }, { "RTMAX-1,0-1", "0-1 signal-63" },

	/* HTTP statuses. */
	{ "http:503", "http:503" }, { "http:100", "http:100" }, { "http:599", "http:599" },
	{ "http:1xx", "http:100-199" }, { "http:4xx", "http:400-499" },
	{ "http:429-429", "http:429" }, { "http:100-599", "http:100-599" },
	{ "http:500,http:501", "http:500-501" }, { "http:5xx,http:503", "http:500-599" },
	{ "http:200,141", "141 http:200" },
	/* A pattern extends to the end of its LIST, commas included. */
	{ "stderr:lock", "fd-2[lock]" }, { "stdout:lock", "fd-1[lock]" },
	{ "stderr:a,b", "fd-2[a,b]" }, { "stderr:", "fd-2[]" }, { "stderr: x ", "fd-2[ x ]" },
	{ "stderr:stdout:x", "fd-2[stdout:x]" }, { "stdout:x,stderr:y", "fd-1[x,stderr:y]" },
	{ "1,stderr:x,2", "1 fd-2[x,2]" }, { "HUP,fail,stdout:x", "signal-1 fail fd-1[x]" }
};

TEST(lists) {
	for (size_t i = 0; i < LENGTH(accepted); i++) {
		const char *list = accepted[i].list;
		struct conditions set = codes_of(NULL);
		struct watches watches = { .list = watch_room };
		struct conditions_error error;
		char room[256];

		HOLDS(list, conditions_parse(&set, &watches, list, &error));
		for (int again = 0; again <= 1; again++) {
			show(room, sizeof room, conditions_at(&set, again), &watches);
			SAME(list, room, accepted[i].names);
		}
		HOLDS(list, !conditions_empty(&set));
		EQUAL(list, watches.count, strchr(room, '[') != NULL);
		EQUAL(list, watch_room[0].number, 0);
		HOLDS(list, watch_room[0].pattern == NULL);
	}
}

/* A LIST, what it names at the first attempt, and what at a later one. */
TEST(lists_with_again) {
	static const char *const rows[][3] = {
		{ "again:7", "nothing", "7" },
		{ "5,again:7,9", "5 9", "5 7 9" },
		{ "again:64-78,70", "70", "64-78" },
		{ "again:SEGV,again:signal,idle", "idle", "signal-11 signal idle" },
		{ "again:timeout,again:fail", "nothing", "timeout fail" },
		{ "again:http:409,http:5xx", "http:500-599", "http:409 http:500-599" },
		{ "again:stderr:a,7", "nothing", "fd-2[a,7]" },
		{ "7,again:stdout:again:7", "7", "7 fd-1[again:7]" },
		{ "stderr:again:7", "fd-2[again:7]", "fd-2[again:7]" },
	};

	for (size_t i = 0; i < LENGTH(rows); i++) {
		const char *list = rows[i][0];
		struct conditions set = codes_of(NULL);
		struct watches watches = { .list = watch_room };
		struct conditions_error error;
		char room[256];

		HOLDS(list, conditions_parse(&set, &watches, list, &error));
		HOLDS(list, !conditions_empty(&set));
		for (int again = 0; again <= 1; again++) {
			show(room, sizeof room, conditions_at(&set, again), &watches);
			SAME(list, room, rows[i][again + 1]);
		}
	}
}

/* For how long attempts ran that a LIST names, and others. */
TEST(lists_of_times) {
	static const struct {
		const char *list, *named, *others;
	} rows[] = { { "over:5m", "5m1ms", "5m 0" }, { "over:1ms", "ever", "1ms" },
		{ "under:2", "0 1999999999ns", "2 ever" }, { "under:1h30m", "0", "1h30m" },
		/* Each of several items names attempts, in any order. */
		{ "over:3,over:5", "4", "3" }, { "over:5,over:3", "4", "3" },
		{ "under:3,under:5", "4", "5" }, { "under:5,under:3", "4", "5" },
		{ "under:3,over:5", "2 6", "4" }, { "7,over:5,stderr:x", "6", "5" },
		/* Nothing else names a time. */
		{ "0-255,signal,timeout,fail,http:5xx", "", "0 ever" } };

	for (size_t i = 0; i < LENGTH(rows); i++) {
		struct conditions set = codes_of(rows[i].list);
		struct script named = script_of(rows[i].named);
		struct script others = script_of(rows[i].others);

		HOLDS(rows[i].list, !conditions_empty(&set));
		while (*named.rest != '\0')
			HOLDS(rows[i].list, conditions_has_time(&set.first, script_span(&named)));
		while (*others.rest != '\0')
			HOLDS(rows[i].list, !conditions_has_time(&set.first, script_span(&others)));
	}
}

/* A pattern that is in several lists is one watch: it is matched once. */
TEST(a_pattern_is_watched_for_once) {
	struct conditions retry = codes_of(NULL), stop = retry;
	struct watches watches = { .list = watch_room };
	struct conditions_error error;

	HOLDS("1st", conditions_parse(&retry, &watches, "stderr:a", &error));
	HOLDS("2nd", conditions_parse(&retry, &watches, "stdout:a", &error));
	HOLDS("3rd", conditions_parse(&retry, &watches, "stderr:ab", &error));
	HOLDS("retry", retry.first.watches == 7);
	EQUAL("all", watches.count, 3);
	HOLDS("again", conditions_parse(&retry, &watches, "7,stderr:a", &error));
	HOLDS("again", conditions_parse(&stop, &watches, "stdout:a", &error));
	HOLDS("again", conditions_watch(&stop, &watches, 2, "ab") != NULL);
	HOLDS("again", conditions_parse(&stop, &watches, "again:stderr:a", &error));
	HOLDS("again", retry.first.watches == 7);
	HOLDS("again", stop.first.watches == 6 && stop.later.watches == 7);
	EQUAL("again", watches.count, 3);
}

TEST(the_most_patterns) {
	struct conditions set = codes_of(NULL), before;
	struct watches watches = { .list = watch_room };
	struct conditions_error error = { "", "", 0 };
	char lists[CONDITIONS_WATCHES + 1][24];

	for (int i = 0; i <= CONDITIONS_WATCHES; i++)
		snprintf(lists[i], sizeof lists[i], "7,stderr:%d", i);
	for (int i = 0; i < CONDITIONS_WATCHES; i++)
		HOLDS(lists[i], conditions_parse(&set, &watches, lists[i], &error));
	EQUAL("64", watches.count, CONDITIONS_WATCHES);
	HOLDS("64", set.first.watches == UINT64_MAX);
	before = set;
	HOLDS("65", !conditions_parse(&set, &watches, lists[64], &error));
	SAME("65", error.why, "more than 64 patterns");
	SAME("65", error.item, "stderr:64");
	HOLDS("65", error.length == strlen("stderr:64"));
	HOLDS("65", conditions_watch(&set, &watches, 1, "0") == NULL);
	HOLDS("65", memcmp(&set, &before, sizeof set) == 0);
	EQUAL("65", watches.count, CONDITIONS_WATCHES);
	/* A pattern that is already there needs no room. */
	set = codes_of(NULL);
	HOLDS("64th", conditions_parse(&set, &watches, lists[63], &error));
	HOLDS("64th", set.first.watches == UINT64_C(1) << 63);
}

#define UNKNOWN "not an exit status, signal or condition"
#define EMPTY "empty item"
#define BLANKS "blanks around an item are not allowed"
#define ABOVE "above 255 (an HTTP status is http:500)"
#define NO_STATUS "not an HTTP status"
#define NO_TIME "not a time above 0"
#define BACKWARDS "a range that runs backwards"

static void check_refusal(const char *list, const char *why, const char *item) {
	struct conditions set = codes_of("3,HUP"), before = set;
	struct watches watches = { .list = watch_room };
	struct conditions_error error = { "", "", 0 };
	char wrong[32];

	HOLDS(list, !conditions_parse(&set, &watches, list, &error));
	SAME(list, error.why, why);
	HOLDS(list, error.item >= list && error.item <= list + strlen(list));
	snprintf(wrong, sizeof wrong, "%.*s", (int)error.length, error.item);
	SAME(list, wrong, item);
	HOLDS(list, memcmp(&set, &before, sizeof set) == 0);
	EQUAL(list, watches.count, 0);
}

TEST(items_that_are_refused) {
	static const struct {
		const char *why, *items;
	} rows[] = {
		{ UNKNOWN,
		    "x -1 +1 5- -5 - 1-2-3 1--2 1.5 0x10 1e2 7x 5-x x-5 SIGNOPE SIG SIG9 HUP-TERM "
		    "RTMIN+31 signals FAIL failure time idle-timeout timeouts !1 1;2 * http "
		    "HTTP:503 under OVER:5 STDERR:x stder:x stderr stdin:x "
		    "again again:x again:again:7 Again:7 again:stderr" },
		{ NO_STATUS,
		    "http:x http:99 http:600 http:0 http:99999999999999999999 "
		    "http:+503 http:503x http:50x http:5x http:5xxx http:5XX "
		    "http:0xx http:6xx http:xxx http:503- http:-503 "
		    "http:503-600 http:503-99 http:99-503 http:4xx-5xx http:500-501-502" },
		{ NO_TIME, "over: over:0 over:0ms over:-1 over:x over:5-7" },
		{ ABOVE, "256 99999999999999999999999 300-400 200-256 300-5" },
		{ BACKWARDS, "9-5 http:504-500" },
	};

	for (size_t i = 0; i < LENGTH(rows); i++) {
		struct script script = script_of(rows[i].items);

		while (script_next(&script)) check_refusal(script.word, rows[i].why, script.word);
	}
}

/* Items with blanks, and lists of several items. */
TEST(lists_that_are_refused) {
	static const struct {
		const char *list, *why, *item;
	} rows[] = { { "", EMPTY, "" }, { ",", EMPTY, "" }, { "1,", EMPTY, "" },
		{ "1,,2", EMPTY, "" }, { "http:503,", EMPTY, "" }, { ",stderr:x", EMPTY, "" },
		{ "again:", EMPTY, "again:" }, { "7,again:,8", EMPTY, "again:" },
		{ "again: 7", BLANKS, "again: 7" }, { "again:9-5", BACKWARDS, "again:9-5" },
		{ "again:http:x,7", NO_STATUS, "again:http:x" }, { "1,256,2", ABOVE, "256" },
		{ "http:503,504", ABOVE, "504" }, { "7,http:504-500,8", BACKWARDS, "http:504-500" },
		{ "1,x,y", UNKNOWN, "x" }, { "x,stderr:a,b", UNKNOWN, "x" },
		{ "1 - 2", UNKNOWN, "1 - 2" }, { "1, 2", BLANKS, " 2" }, { "1\t,2", BLANKS, "1\t" },
		{ "1, ", BLANKS, " " }, { " stderr:x", BLANKS, " stderr:x" },
		{ "http: 503", NO_STATUS, "http: 503" }, { "over: 5", NO_TIME, "over: 5" },
		{ "under:5q,7", NO_TIME, "under:5q" } };

	for (size_t i = 0; i < LENGTH(rows); i++)
		check_refusal(rows[i].list, rows[i].why, rows[i].item);
}
