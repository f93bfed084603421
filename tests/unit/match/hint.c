/*
 * Covers match/pattern.
 *
 * Hints, row by row: which times in messages for people are read, and
 * which are not. Where a stream is cut into chunks does not matter.
 */
#include "unit.h"
#include "match/pattern.h"

static struct pattern_hint hint;

/* Sun, 22 Nov 2026 10:00:00 GMT. */
#define NOW (1795341600 * NANOS_SECOND)

static void compile(const char *text) {
	struct pattern_error error = { "", 0 };

	if (!pattern_compile(&hint.pattern, text, strlen(text), &error)) {
		printf("%s: refused: %s\n", text, error.why);
		exit(EXIT_FAILURE);
	}
	hint.unit = strstr(text, "_ms") != NULL ? NANOS_MS : NANOS_SECOND;
}

/* The last wait that the stream tells, cut into chunks, or as much more than CLOCK as the
 * time of the day that it tells; -1: none, -2: nothing has matched. */
#define CLOCK (-(NANOS_SECOND << 24))
static struct clock told;
static nanos wait_in(const char *stream, size_t chunk) {
	size_t length = strlen(stream);
	nanos wait;

	pattern_hint_start(&hint);
	for (size_t at = 0; at < length;)
		at += pattern_hint_feed(&hint, stream + at,
		    length - at < chunk ? length - at : chunk);
	switch (pattern_hint_end(&hint, NOW, &wait, &told)) {
	case PATTERN_WAIT: return wait;
	case PATTERN_CLOCK: return CLOCK + told.second * NANOS_SECOND;
	case PATTERN_VAGUE: return -1;
	default: return -2;
	}
}

static void check(const char *pattern, const char *stream, nanos want) {
	compile(pattern);
	for (size_t chunk = 1; chunk <= 7; chunk++) EQUAL(stream, wait_in(stream, chunk), want);
	EQUAL(stream, wait_in(stream, strlen(stream) + 1), want);
}

#define NONE (-1)
#define SILENT (-2)
#define SECONDS(n) (NANOS_SECOND * (n))
#define MS(n) (NANOS_MS * (n))

/* What follows "in ", by the time that it says. */
static const struct {
	nanos want;
	const char *texts[40];
} texts[] = {
	/* Seconds, and what may stand around them. */
	{ SECONDS(20),
	    { "20s", "20s.", "20", "20.", "20 second(s)", "20 (attempt 2)", "20\tseconds",
		"   20 s", "\t20s", "~20s", "\"20\"}", "'20'", "20\\n\"}", "20\xe2\x80\xa6",
		"20s\xe2\x80\xa6", "20s\x1b[0m", "20\r\n", "000000000000000000000000020s",
		"0000000000000000000000020", "20 seconds and 3 attempts",
		"20 seconds, 3 attempts left", "20 seconds, 3 minutes", "20 seconds and",
		"20 seconds android 5ms", "20s-30s", "20 \nseconds" } },
	/* Other units, and several. */
	{ SECONDS(5), { "5..." } }, { 0, { "0s" } }, { MS(1242), { "1.242s. Visit example.org" } },
	{ MS(1500), { "1.5 seconds" } }, { MS(429), { "429ms.", "429 milliseconds" } },
	{ 512300, { "512.3\xc2\xb5s", "512.3\xce\xbcs" } }, { 7000, { "7us" } }, { 7, { "7 ns" } },
	{ SECONDS(120), { "2 minutes", "2 Minutes!", "2 mins." } },
	{ SECONDS(60),
	    { "1 min", "1 minute 30", "1m30", "1m 1m", "1 minute and 30 seconds",
		"1 minute, 30 seconds" } },
	{ SECONDS(3600), { "1 hr" } }, { SECONDS(10800), { "3 hours" } },
	{ SECONDS(86400), { "1 day" } }, { SECONDS(1209600), { "2 weeks" } },
	{ SECONDS(5400), { "1h30m" } }, { SECONDS(360), { "6m0s" } },
	{ SECONDS(3600) + MS(500), { "1h0m0.5s" } },
	{ SECONDS(90), { "1m30s", "1m 30s", "1 minute 30 seconds" } },
	{ NANOS_MAX, { "99999999999999999999s" } },
	/* A moment: a date, or in seconds of Unix time. */
	{ SECONDS(75),
	    { "2026-11-22T10:01:15Z", "2026-11-22 10:01:15 UTC", "2026-11-22 10:01:15 UTC.",
		"2026-11-22T10:01:14.000Z.", "2026-11-22T10:01:14.2Z, please",
		"2026-11-22T11:01:15+01:00", "2026-11-22T05:31:15-04:30 (UTC)",
		"\"2026-11-22T10:01:15Z\"}", "Sun, 22 Nov 2026 10:01:15 GMT",
		"Sun, 22 Nov 2026 10:01:15 GMT and see https://x.example/1",
		"Sunday, 22-Nov-26 10:01:15 GMT.", "Sun Nov 22 10:01:15 2026", "1795341675",
		"1795341675." } },
	{ 0, { "Sun, 22 Nov 2026 09:59:59 GMT", "1795341599" } },
	{ SECONDS(999999999), { "999999999", "999999999s" } },
	{ SECONDS(1000000000), { "1000000000s" } },
	/* Milliseconds count only if the pattern says so: this is far away. */
	{ NANOS_MAX - NOW, { "1795341675000" } },
	/* A range, a date without a zone, or a number of something else. */
	{ NONE,
	    { "", "20, then give up", "a moment", "a 20s", "-20s", "+20s", ".5s", "soon, 20s",
		"20 attempts", "20 or 30 seconds", "20%", "20-30 seconds", "20 - 30 seconds",
		"20/30", "20:30", "2026-11-22", "2026-11-22T10:00:00", "2026-11-31T10:00:00Z",
		"2026-11-22 10:00:00Z", "Sun, soon", "Sun, 22 Nov 2026 10:01:15 GMTx", "10.0.0.1",
		"1,000ms", "1,000", "0x20", "1e5", "20x", "20secondsandmoreofthem",
		"20\xe5\x88\x86", "1.2.3 seconds", "\n20s" } }
};

TEST(what_is_read_behind_a_match) {
	char stream[256];

	for (size_t i = 0; i < LENGTH(texts); i++)
		for (const char *const *text = texts[i].texts; *text; text++) {
			snprintf(stream, sizeof stream, "x\ntry again in %s", *text);
			check("again in ", stream, texts[i].want);
			snprintf(stream, sizeof stream, "try again in %s\nend\n", *text);
			check("again in", stream, texts[i].want);
		}
}

/* Real messages, as these programs and services write them. */
static const struct {
	const char *pattern, *stream;
	nanos want;
} messages[] = {
	{ "(?i)retry after ", "429 Too Many Requests: Retry after 20 seconds", SECONDS(20) },
	{ "retry after", "A retry after '30' seconds", SECONDS(30) },
	{ "(?i)retry[- ]after\"?:?", "{\"error\": 1, \"retry-after\": \"15\"}", SECONDS(15) },
	{ "retry_after\": ",
	    "{\"message\": \"You are being rate limited.\", "
	    "\"retry_after\": 64.57, \"global\": false}",
	    MS(64570) },
	{ "wait ",
	    "You have exceeded a secondary rate limit. Please wait a few "
	    "minutes before you try again.\n",
	    NONE },
	{ "\\(status 429[^)]*\\): .*[Pp]lease try again after ",
	    "  the remote server responded with an error (status 429 Too Many Requests): You have "
	    "published too many new crates in a short period of time. Please try again after "
	    "Sun, 22 Nov 2026 10:10:00 GMT or email help@crates.io to have your limit increased.\n",
	    SECONDS(600) },
	{ "rate limited by '.*', please try again in |"
	  "requested a delay greater than http\\.maxRetryTime \\(",
	    "fatal: rate limited by 'https://example.org/r.git/', please try again in 7 seconds\n",
	    SECONDS(7) },
	{ "rate limited by '.*', please try again in |"
	  "requested a delay greater than http\\.maxRetryTime \\(",
	    "error: response requested a delay greater than http.maxRetryTime (400 > 300 "
	    "seconds)\n",
	    SECONDS(400) },
	{ "try again after ",
	    "You have published too many crates. Please try again after "
	    "Sun, 22 Nov 2026 10:00:09 GMT and email help@crates.io\n",
	    SECONDS(9) },
	{ "retry_after_ms\": *", "{\"retry_after_ms\": 2500}", MS(2500) },
	{ "retry_after_ms\": *", "{\"retry_after_ms\": \"3s\"}", SECONDS(3) },
	{ "(?i)retry_at_ms\": *", "{\"Retry_At_Ms\": 1795341602500}", MS(2500) },
	{ "items\": ", "{\"items\": 7}", SECONDS(7) },
	{ "after connection broken.* in |Retrying in ", "Retrying in 4 seconds (attempt 2 of 5)\n",
	    SECONDS(4) },
	{ "retrying in ", "Error: throttled, retrying in 1m30s: [id=i-1]\n", SECONDS(90) },
};

TEST(messages) {
	for (size_t i = 0; i < LENGTH(messages); i++)
		check(messages[i].pattern, messages[i].stream, messages[i].want);
}

TEST(which_match_counts) {
	check("in ", "in 1s\nin 2s\nin 3s\n", SECONDS(3));
	check("in ", "in 5s in 6s", SECONDS(6));
	check("in ", "in 3s, in 2s, in 1s", SECONDS(1));
	check("in ", "in 3s\nin a moment\n", SECONDS(3));
	check("in ", "in in in 3s", SECONDS(3));
	/* Any end of a match counts, not only that of the longest one. */
	check("after:?", "after: 7s", SECONDS(7));
	check("after:?", "after 7s", SECONDS(7));
	check("after( about)?", "after about 7s", SECONDS(7));
	check("again.*", "again, please, in 1 minute 30 seconds", SECONDS(90));
	check("after ", "after Sun, 22 Nov 2026 10:00:09 GMT, or after all", SECONDS(9));
	check("again.*", "again in 70s", SECONDS(70));
	check("again.*", "again in 20 seconds, attempt 3", SECONDS(3));
	/* Anchors; those that depend on the next byte, too. */
	check("^", "7s in 8s\n", SECONDS(7));
	check("^in ", "in 7s\nx in 8s\n", SECONDS(7));
	check("in\\>", "in 7s", SECONDS(7));
	check("in\\>", "inn 7s", SILENT);
	check("in\\b", "in: 7s", NONE);
	check("in$", "in\n7s", NONE);
	check("x*", "no, 7s or 8s", SECONDS(8));
	/* A number is not cut. */
	check("after 1", "after 10s", NONE);
	check("after 1", "after 1 20s", SECONDS(20));
	check("after\\.\\.\\.", "after...7s", SECONDS(7));
	check("v[0-9]", "v10s", NONE);
}

/* Whether it has matched, be there a time or not. */
TEST(a_match_without_a_time) {
	static const struct {
		const char *stream;
		bool matched;
	} rows[] = { { "in 7s", true }, { "in a moment\n", true }, { "in", false }, { "in ", true },
		{ "soon", false }, { "", false } };

	compile("in ");
	for (size_t i = 0; i < LENGTH(rows); i++)
		for (size_t chunk = 1; chunk < 4; chunk++) {
			wait_in(rows[i].stream, chunk);
			EQUAL(rows[i].stream, hint.matched, rows[i].matched);
		}
}

TEST(a_new_stream_knows_nothing_of_the_last_one) {
	compile("in ");
	EQUAL("7s", wait_in("in 7s", 3), SECONDS(7));
	EQUAL("none", wait_in("7s\n", 3), SILENT);
	EQUAL("cut", wait_in("i", 3), SILENT);
	EQUAL("cut", wait_in("n 7s", 3), SILENT);
	EQUAL("cut", wait_in("in 7", 3), SECONDS(7));
	EQUAL("cut", wait_in("0s", 3), SILENT);
}

/* Behind "resets ", by the time of the day that it says. */
static const struct {
	const char *clock; /* and its zone */
	const char *texts[24];
} clocks[] = {
	{ "20:00:00",
	    { "8pm", "8PM.", "8 pm", "8  Pm!", "08pm", "20:00", "20:00:00.", "8:00pm", "8:00:00 PM",
		"\"8pm\"", "~20:00", "8pm, or so", "8pm \xc2\xb7 /upgrade", "8pm \xe2\x88\x99 see",
		"20:00\xe2\x80\xa6", "8pm\r", "8pm\t", "20:00, 2 left" } },
	{ "15:05:00", { "3:05 PM", "3:05pm.", "15:05" } },
	{ "00:00:00", { "12am", "12:00 AM", "0:00", "00:00:00" } },
	{ "12:00:00", { "12pm", "12:00" } },
	{ "00:59:59", { "12:59:59am", "0:59:59" } },
	{ "23:59:59", { "23:59:59", "11:59:59 pm" } },
	{ "14:30:00 UTC",
	    { "14:30 UTC", "14:30 UTC.", "14:30 (UTC)", "2:30pm UTC", "14:30\tUTC, or" } },
	{ "14:30:00 Europe/Berlin",
	    { "14:30 Europe/Berlin", "2:30pm (Europe/Berlin)", "14:30 (Europe/Berlin) or later",
		"14:30(Europe/Berlin)" } },
	{ "01:00:00 America/Port-au-Prince", { "1am (America/Port-au-Prince)" } },
	{ "13:00:00 Etc/GMT+5", { "1pm (Etc/GMT+5).", "1pm Etc/GMT+5" } },
	/* What no zone is called is one that is not known. */
	{ "20:00:00 on", { "8pm on Friday" } },
	{ "20:00:00 tomorrow", { "8pm tomorrow" } },
	{ "none",
	    { "8 o'clock", "8p", "8pmx", "0pm", "13pm", "8:5pm", "8:60", "24:00", "20:00:60",
		"20:00:00:00", "20:00x", "8pm 30", "20:00-21:00", "20:00 - 21:00", "20:00 +0200",
		"20:00+02:00", "20:00Z", "20:00.5", "020:00", "8pm (in 3 hours)", "8pm ()",
		"8pm (UTC" } },
	{ "none",
	    { "8pm (../../etc/localtime)", "8pm (a.b)", "20:00 2026-11-22", "20:00/21:00", "20:",
		"8:pm", "8pm (aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa)", "a 8pm" } },
};

static const char *clock_in(const char *stream, size_t chunk) {
	static char room[80];
	nanos wait = wait_in(stream, chunk);
	int64_t second = told.second;

	snprintf(room, sizeof room, "%02d:%02d:%02d%s%s", (int)(second / 3600),
	    (int)(second / 60 % 60), (int)(second % 60), *told.zone == '\0' ? "" : " ", told.zone);
	return wait == NONE ? "none" : wait < SILENT ? room : "no clock";
}

TEST(times_of_the_day) {
	char stream[256];

	compile("resets ");
	for (size_t i = 0; i < LENGTH(clocks); i++)
		for (const char *const *text = clocks[i].texts; *text; text++) {
			snprintf(stream, sizeof stream, "x\nit resets %s", *text);
			for (size_t chunk = 1; chunk <= 9; chunk++)
				SAME(stream, clock_in(stream, chunk), clocks[i].clock);
			strcat(stream, "\nend\n");
			SAME(stream, clock_in(stream, 300), clocks[i].clock);
		}
}

/* As command lines of language models tell of their limits. */
TEST(messages_of_models) {
	static const char *const rows[][3] = {
		{ "resets ",
		    "You've hit your session limit \xc2\xb7 resets 5:10pm (Europe/Paris)\n",
		    "17:10:00 Europe/Paris" },
		{ "resets ", "5-hour limit reached \xe2\x88\x99 resets 3pm\n", "15:00:00" },
		{ "reset at ",
		    "Claude usage limit reached. Your limit will reset at 1pm (Etc/GMT+5).\n",
		    "13:00:00 Etc/GMT+5" },
		{ "try again at ",
		    "You've hit your usage limit. Upgrade to Pro or try again at 3:05 PM.\n",
		    "15:05:00" },
		{ "resets ",
		    "You've hit your weekly limit \xc2\xb7 resets Oct 9, 8pm (Asia/Tokyo)\n",
		    "none" },
	};

	for (size_t i = 0; i < LENGTH(rows); i++) {
		compile(rows[i][0]);
		for (size_t chunk = 1; chunk <= 9; chunk++)
			SAME(rows[i][1], clock_in(rows[i][1], chunk), rows[i][2]);
	}
	check("limit reached\\|", "Claude AI usage limit reached|1795341675\n", SECONDS(75));
	check("(?i)try again in ", "Try again in 3 days 4 hours 5 minutes.\n",
	    SECONDS(3 * 86400 + 4 * 3600 + 300));
}

/* Behind these words a clock may be a length of time. */
TEST(which_words_are_before_a_clock) {
	static const char *const rows[][12] = {
		{ "14:30:00", "14:30", "x 14:30", "at 14:30", "within 14:30", "main: 14:30",
		    "thereafter 14:30", "In 2 or at 14:30", "in 2pm, 14:30" },
		{ "14:00:00", "in 2pm", "after 2pm", "After '2 PM'", "in 2:00pm" },
		{ "none", "in 14:30", "after 14:30", "IN 14:30", "x after: 14:30", "in '14:30'",
		    "in ~14:30:00 UTC", "(in 14:30)" },
	};
	static char text[300];

	compile("[ '~]|^");
	for (size_t i = 0; i < LENGTH(rows); i++)
		for (size_t j = 1; j < LENGTH(*rows) && rows[i][j] != NULL; j++) {
			SAME(rows[i][j], clock_in(rows[i][j], 1), rows[i][0]);
			SAME(rows[i][j], clock_in(rows[i][j], 3), rows[i][0]);
			memset(text, '.', 200);
			strcpy(text + 200, rows[i][j]);
			SAME(rows[i][j], clock_in(rows[i][j], sizeof text), rows[i][0]);
		}
}

/* Long lines, and lines with any bytes between. */
TEST(a_long_stream) {
	static char stream[200001];
	size_t length = sizeof stream - 1;

	for (size_t i = 0; i < length; i++) stream[i] = (char)(1 + i * 7 % 255);
	memcpy(stream + length - 19, "please try in 1m30s", 19);
	compile("try in ");
	EQUAL("bytes", wait_in(stream, 65536), SECONDS(90));
	EQUAL("bytes", wait_in(stream, 4093), SECONDS(90));
	memset(stream, 'a', length - 19);
	compile("a+ ?please try in |[a-z]+x");
	EQUAL("line", wait_in(stream, 65536), SECONDS(90));
}

/* Chunks that are cut into lanes: a match may lie anywhere, and the last one counts. */
TEST(lanes) {
	static char stream[9001];
	size_t length = sizeof stream - 1;

	compile("(^| )try in ");
	for (size_t at = 1; at < length - 24; at += 7) {
		memset(stream, '.', length);
		memcpy(stream + at, "\ntry in 5s ", 11);
		EQUAL("one", wait_in(stream, sizeof stream), SECONDS(5));
		memcpy(stream + at % 4000, "\ntry in 7s ", 11);
		memcpy(stream + length - 19, " try in never", 13);
		EQUAL("three", wait_in(stream, sizeof stream),
		    wait_in(stream, at < 4000 ? 1 : 100));
	}
	/* A chunk that is full of matches. */
	for (size_t at = 0; at + 9 <= length; at += 9) memcpy(stream + at, " try in 5", 9);
	stream[length - 1] = '8';
	EQUAL("full", wait_in(stream, sizeof stream), SECONDS(8));
}
