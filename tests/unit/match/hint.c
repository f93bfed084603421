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

/* The last wait that the stream tells, cut into chunks; -1: none. */
static nanos wait_in(const char *stream, size_t chunk) {
	size_t length = strlen(stream);
	nanos wait;

	pattern_hint_start(&hint);
	for (size_t at = 0; at < length;)
		at += pattern_hint_feed(&hint, stream + at,
		    length - at < chunk ? length - at : chunk);
	return pattern_hint_end(&hint, NOW, &wait) ? wait : -1;
}

static void check(const char *pattern, const char *stream, nanos want) {
	compile(pattern);
	for (size_t chunk = 1; chunk <= 7; chunk++) EQUAL(stream, wait_in(stream, chunk), want);
	EQUAL(stream, wait_in(stream, strlen(stream) + 1), want);
}

#define NONE (-1)
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
	check("in\\>", "inn 7s", NONE);
	check("in\\b", "in: 7s", NONE);
	check("in$", "in\n7s", NONE);
	check("x*", "no, 7s or 8s", SECONDS(8));
	/* A number is not cut. */
	check("after 1", "after 10s", NONE);
	check("after 1", "after 1 20s", SECONDS(20));
	check("after\\.\\.\\.", "after...7s", SECONDS(7));
	check("v[0-9]", "v10s", NONE);
}

TEST(a_new_stream_knows_nothing_of_the_last_one) {
	compile("in ");
	EQUAL("7s", wait_in("in 7s", 3), SECONDS(7));
	EQUAL("none", wait_in("7s\n", 3), NONE);
	EQUAL("cut", wait_in("i", 3), NONE);
	EQUAL("cut", wait_in("n 7s", 3), NONE);
	EQUAL("cut", wait_in("in 7", 3), SECONDS(7));
	EQUAL("cut", wait_in("0s", 3), NONE);
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
