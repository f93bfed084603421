/*
 * Covers text/strview.
 *
 * http and its parts, row by row, and every status file that was captured. Runs where tests/ is.
 */
#include "unit.h"
#include "http/http_status.h"

/* Sat, 22 Aug 2026 14:00:00 GMT, which most captures have as their Date. */
#define NOW (1787407200 * NANOS_SECOND)

#define CAPTURES "tests/fixtures/http.jsonl"

/* What the bytes say, read in parts of at most so many. */
static struct http_status
parse_parts(enum http_form form, const char *bytes, size_t length, size_t most) {
	static struct http_reader reader;

	http_status_begin(&reader, form, NOW);
	for (size_t at = 0, part; at < length; at += part) {
		part = length - at < most ? length - at : most;
		if (!http_status_add(&reader, bytes + at, part))
			break;
	}
	return http_status_end(&reader, bytes, length);
}

/* The bytes in a block of exactly their size, so that a read past it shows. */
static struct http_status parse(enum http_form form, const char *bytes, size_t length) {
	char *copy = malloc(length > 0 ? length : 1);
	struct http_status http, other;

	if (copy == NULL)
		abort();
	memcpy(copy, bytes, length);
	http = parse_parts(form, copy, length, length);
	/* Wherever it is cut, it says the same. */
	for (size_t most = 1; most < 8 && most < length; most++) {
		other = parse_parts(form, copy, length, most);
		EQUAL(bytes, other.code, http.code);
		EQUAL(bytes, other.after.wait, http.after.wait);
		EQUAL(bytes, other.after.doubtful != NULL, http.after.doubtful != NULL);
	}
	free(copy);
	return http;
}

/* The wait in words. */
static const char *put_wait(char room[32], const struct http_status *http) {
	if (http->after.never)
		return "never";
	if (!http->after.given)
		return http->after.doubtful != NULL ? "doubtful"
		    : http->after.wanted            ? "wanted"
						    : "none";
	if (http->after.wait == NANOS_MAX)
		return "for ever";
	snprintf(room, 32, "%.10gs", (double)http->after.wait / NANOS_SECOND);
	return room;
}

/* Puts a quotation mark in place of each "'". */
static void quote(char *text) {
	for (; *text != '\0'; text++)
		if (*text == '\'')
			*text = '"';
}

/* The code and the wait, as far as each is known. */
static const char *show(enum http_form form, const char *text) {
	static char got[80];
	char room[32], code[16] = "-";
	struct http_status http = parse(form, text, strlen(text));
	const char *wait = put_wait(room, &http);

	if (http.code >= 0)
		snprintf(code, sizeof code, "%d", http.code);
	snprintf(got, sizeof got, "%s%s%s", code, strcmp(wait, "none") == 0 ? "" : " ",
	    strcmp(wait, "none") == 0 ? "" : wait);
	return got;
}

/* What a file says; in JSON "'" stands for a quotation mark. */
static const char *read_of(const char *row) {
	char text[512];

	snprintf(text, sizeof text, "%s", row);
	if (strchr(text, '{') != NULL)
		quote(text);
	return show(HTTP_FORM_ANY, text);
}

static const char *dump_of(const char *text) { return show(HTTP_FORM_HEADS, text); }

/* The same of several URLs. */
static const char *waits_of(const char *text) { return show(HTTP_FORM_SEVERAL, text); }

/* The wait that the fields of a head name; "'" is a quotation mark. */
static const char *wait_of(const char *fields) {
	static char room[32];
	char text[512];
	struct http_status http;

	snprintf(text, sizeof text, "HTTP/1.1 503 x\n%s\n\n", fields);
	quote(text);
	http = parse(HTTP_FORM_ANY, text, strlen(text));
	return put_wait(room, &http);
}

/* A line is a file: its code and wait, and its text. */
TEST(captures) {
	static char line[8192], text[sizeof line];
	char name[64], code[16], wait[32], room[32];
	FILE *file = fopen(CAPTURES, "r");
	int rows = 0;

	for (; file != NULL && fgets(line, sizeof line, file) != NULL; rows++) {
		struct http_status http;

		unit_member(line, "case", name);
		unit_member(line, "code", code);
		unit_member(line, "wait", wait);
		http = parse(HTTP_FORM_ANY, text, unit_member(line, "text", text));
		EQUAL(name, http.code, *code == '\0' ? -1 : strtol(code, NULL, 10));
		SAME(name, put_wait(room, &http), wait);
	}
	EQUAL("captures", rows, 61);
	if (file != NULL)
		fclose(file);
}

/* The captures have the forms; here is where they end. */
TEST(what_w_writes) {
	static const char *const rows[][20] = {
		{ "-", "", " \r\n\t\n", "hello", "600", "999", "001", "60", "1200", "busy503",
		    "199", "00", "226 Transfer complete", "503 -5" },
		{ "599", "599" },
		{ "0", "000", "000 120" },
		{ "503", "503\r\n\r\n", "busy\n503", "503 soon\n503" },
		{ "503 7s", "503 Sat, 22 Aug 2026 14:00:07 GMT" },
		{ "429 6s", "503 5\n429 6\n" },
		{ "200", "503 5\n200\n" },
		/* Forms of other programs. */
		{ "-", "503\n7", "503 22 The requested URL returned error: 503\n",
		    "http_code=503\nretry_after=5\n",
		    "awaiting... \n  HTTP/1.1 503 x\n  Retry-After: 5\n" },
		/* JSON. */
		{ "-", "{\n}\n", "{'http_code':'503'}", "{'http_code':5030}", "{'retry-after':'5'}",
		    "{'http_code':['503']}", "{'http_code':", "{'retry-after\\" },
		{ "503", "\n{'a':'x','http_code':503,'b':{}}\n", "{'http_code':503,'retry" },
		{ "429", "{'response_code' : 429 }" },
		{ "0", "{'http_code':0}" },
		{ "- 90s", "{'Retry-After':['5','90']}" },
		{ "- 5s", "{'x':['a\\'],'],'retry-after':['5']}", "{'retry-after':['5" },
		{ "503 5s", "{'http_code':503}{'retry-after':['5']}",
		    "{'a':{'http_code':503},'b':{'retry-after':['5']}}" },
		/* Two transfers. */
		{ "429", "{'http_code':503}{'retry-after':['5']}{'http_code':429}{'x':['y']}" },
		/* A body that is JSON, and the code behind it. */
		{ "503", "{'error':['busy']}\n503" },
		{ "-", "{'error':'busy'}503" },
	};

	ALIKE(rows, read_of);
}

#define OK "HTTP/1.1 200 OK\r\n"
#define TYPE "Content-Type: a/b\r\n"
#define STATUS(code) "HTTP/1.1 " #code " x\r\n"
#define BUSY STATUS(503)

/* Which status lines count: curl -i prints bodies, which may quote some. */
TEST(heads_and_bodies) {
	static const char *const rows[][16] = {
		{ "503", "HTTP/1.0 503 x\r\n\r\n", "HTTP/2 503 \r\n", "HTTP/1.1 503" },
		{ "999", "http/1.1 999 x\n" },
		{ "-", "HTTP/1.1 99 x\n", "HTTP/1.1 5031 x\n", "HTTP/1.1 503x\n", "HTTP/1.1503 x\n",
		    "HTTP/ 503 x\n", "HTTP/1.", "HTTP error 503\n" },
		/* An interim response does not count. */
		{ "-", "HTTP/1.1 100 Continue\nRetry-After: 5\n\n" },
		{ "503 5s",
		    "HTTP/1.1 503 x\nRetry-After: 5\n\nHTTP/1.1 100 Continue\nRetry-After: 9\n\n" },
		/* The fields of the response before do not count either. */
		{ "503", "HTTP/1.1 302 x\nRetry-After: 55\n\nHTTP/1.1 503 x\n\n" },
		/* Fields, and lines that are none. */
		{ "503 5s", "HTTP/1.1 503 x\r\nRetry-After:\r\n\t5\r\n\r\n",
		    "HTTP/1.1 503 x\n: 5\nretry-AFTER: 5" },
		{ "503", "HTTP/1.1 503 x\nRetry-After 5\n\n",
		    "HTTP/1.1 503 x\nX-Retry-After: 5\n\n",
		    "HTTP/1.1 503 x\nX-Long: a\n Retry-After: 5\n\n" },
		/* Trailers. */
		{ "503", "HTTP/1.1 503 x\n\nRetry-After: 5\n" },
		{ "200 never", "HTTP/2 200 \n\ngrpc-retry-pushback-ms: -1\n" },
		/* A body is not searched. */
		{ "200", OK TYPE "\r\nbody\n" BUSY "\r\n",
		    OK "Content-Length: 4\r\n\r\n" BUSY "\r\nbody",
		    OK "Transfer-Encoding: x\r\n\r\n" BUSY "\r\nbody", OK TYPE "\r\n503\n" },
		{ "503", BUSY "\r\n" OK TYPE "\r\nbody", BUSY "body\n200\n", BUSY "\n200\n" },
		/* Heads without bodies, and then a body. */
		{ "503", STATUS(103) "\r\n" STATUS(302) TYPE "\r\n" BUSY "\r\nbody",
		    STATUS(401) TYPE "\r\n" BUSY "\r\nbody",
		    STATUS(407) TYPE "\r\n" OK "\r\n" BUSY TYPE "\r\nbody",
		    OK "Content-Length: 0\r\n\r\n" BUSY "\r\nbody" },
		/* Heads alone, as of curl -D. */
		{ "503", OK TYPE "\r\n" BUSY "\r\n", OK BUSY,
		    "\n\r\n" OK TYPE "\r\n\r\n" BUSY "\r\n" },
		{ "200", BUSY TYPE "\r\n" OK TYPE "\r\nA: b\r\n" },
		{ "-", "text\n" BUSY "\r\n", "A: b\n" BUSY "\r\n" },
	};
	/* A file of curl -D has no bodies, and codes only in heads. */
	static const char *const dumps[][4] = {
		{ "503", OK "Content-Length: 18\r\n\r\n" BUSY "\r\n",
		    OK "\r\nA: b\r\n" BUSY "\r\n" },
		{ "-", "220 Welcome\n503\n", "\r\n" },
	};

	ALIKE(rows, read_of);
	ALIKE(dumps, dump_of);
}

#define WAIT(seconds) "Retry-After: " #seconds "\r\n"

/* The last code counts, and the longest wait of all errors. */
TEST(responses_to_several_urls) {
	static const char *const rows[][8] = {
		{ "503 9s", BUSY WAIT(9) "\r\n" BUSY WAIT(5) "\r\n",
		    BUSY WAIT(9) "\r\n" BUSY "\r\n", STATUS(429) WAIT(9) "\r\n" BUSY "\r\n",
		    /* Its own Date, and no other one's. */
		    BUSY "Retry-After: Sat, 22 Aug 2026 13:00:09 GMT\r\n"
			 "Date: Sat, 22 Aug 2026 13:00:00 GMT\r\n\r\n" BUSY WAIT(5) "\r\n",
		    BUSY WAIT(5) "\r\n" BUSY WAIT(9) },
		{ "200 9s", BUSY WAIT(9) "\r\n" OK "\r\n" },
		/* What a success or a redirect says of a wait is not about an error. */
		{ "503 5s", OK WAIT(9) "\r\n" BUSY WAIT(5) "\r\n",
		    STATUS(302) WAIT(9) "\r\n" BUSY WAIT(5) "\r\n",
		    STATUS(100) WAIT(9) "\r\n" BUSY WAIT(5) "\r\n" },
		{ "503", OK WAIT(9) "\r\n" BUSY "\r\n" },
		{ "200 7s", OK "\r\n" OK WAIT(7) "\r\n" },
		/* Heads of -Z that are mixed: the wait may be that of each. */
		{ "503 9s", BUSY BUSY WAIT(9) "\r\n\r\n", BUSY OK WAIT(9) "\r\n" BUSY "\r\n\r\n",
		    BUSY WAIT(5) BUSY WAIT(9) "\r\n\r\n" BUSY WAIT(7) "\r\n" },
		{ "200 9s", BUSY OK WAIT(9) "\r\n\r\n", STATUS(429) OK "\r\n" WAIT(9) "\r\n" },
		{ "200", OK "\r\n" OK "\r\n", "HTTP/1.1 503 x\r\n\r\n" OK "\r\n" },
		{ "-", "", "\r\n" },
	};
	/* Of one URL each response but the last is a step on the way to it. */
	static const char *const dumps[][3] = {
		{ "503 5s", BUSY WAIT(9) "\r\n" BUSY WAIT(5) "\r\n" },
		{ "200", BUSY WAIT(9) "\r\n" OK "\r\n" },
	};

	ALIKE(rows, waits_of);
	ALIKE(dumps, dump_of);
}

TEST(any_bytes_may_stand_between) {
	static const char text[] = "HTTP/1.1 503 \0x\r\nX: \xe9\xff\0\r\n"
				   "Retry-After: 5\r\n\r\n\0\0";
	struct http_status http = parse(HTTP_FORM_ANY, text, sizeof text - 1);

	EQUAL("bytes", http.code, 503);
	EQUAL("bytes", http.after.wait, 5 * NANOS_SECOND);
	EQUAL("no bytes", parse_parts(HTTP_FORM_ANY, NULL, 0, 1).code, -1);
}

/* Adds a field named X of so many bytes. */
static size_t add_long(char *text, size_t length, size_t bytes) {
	memset(text + length, 'a', bytes);
	memcpy(text + length, "X: ", 3);
	text[length + bytes - 1] = '\n';
	return length + bytes;
}

/* What a text says that begins with "302", goes on with fields of so many bytes, and has
 * the last response then. */
static struct http_status parse_long(enum http_form form, size_t bytes, const char *last) {
	static char text[300000];
	size_t length = (size_t)sprintf(text, "HTTP/1.1 302 x\nRetry-After: 9\n");

	for (; bytes > 5000; bytes -= 5000) length = add_long(text, length, 5000);
	length = add_long(text, length, bytes);
	length += (size_t)sprintf(text + length, "\n%s", last);
	return parse(form, text, length);
}

TEST(the_last_response_may_begin_anywhere) {
	static const char busy[] = "HTTP/1.1 503 x\nRetry-After: 5\n";
	static const char quoted[] = "HTTP/1.1 503 x\nContent-Length: 9\nRetry-After: 5\n\nbody\n"
				     "HTTP/1.1 200 x\n\n";
	char row[64];

	for (size_t bytes = 65400; bytes < 65600; bytes++) {
		struct http_status dumped = parse_long(HTTP_FORM_HEADS, bytes, busy);
		struct http_status text = parse_long(HTTP_FORM_ANY, bytes, quoted);

		snprintf(row, sizeof row, "%zu bytes before it", bytes);
		EQUAL(row, dumped.code, 503);
		EQUAL(row, dumped.after.wait, 5 * NANOS_SECOND);
		EQUAL(row, text.code, 503);
		EQUAL(row, text.after.wait, 5 * NANOS_SECOND);
	}
}

/* A line that ends behind so many bytes; its Retry-After, if it is so long, is doubtful. */
TEST(fields_have_a_length_that_is_read) {
	static char text[3 * HTTP_LINE];
	static const size_t lengths[] = { HTTP_LINE - 1, HTTP_LINE, HTTP_LINE + 1, 2 * HTTP_LINE };

	for (size_t i = 0; i < LENGTH(lengths); i++) {
		struct http_status http;
		size_t field = (size_t)sprintf(text, "HTTP/1.1 503 x\n"), length = field;

		length += (size_t)sprintf(text + field, "Retry-After: 7");
		memset(text + length, ' ', sizeof text - length);
		length = field + lengths[i];
		length += (size_t)sprintf(text + length - 1, "\nRetry-After: 5\n\nHTTP") - 1;
		http = parse(HTTP_FORM_HEADS, text, length);
		EQUAL(text, http.after.wait, (i == 0 ? 7 : 5) * NANOS_SECOND);
		EQUAL(text, http.after.doubtful != NULL, i > 0);
	}
}

/* What comes behind it does not matter. */
static const char *goes_on(const char *text) {
	static struct http_reader reader;

	http_status_begin(&reader, HTTP_FORM_ANY, NOW);
	return http_status_add(&reader, text, strlen(text)) && http_status_add(&reader, "\n", 1)
	    ? "goes on"
	    : "over";
}

TEST(the_rest_of_a_body_is_not_read) {
	static const char *const rows[][8] = {
		{ "over", "text\nmore", BUSY TYPE "\r\nbody\nmore", BUSY "\r\n\r\nbody\n\n" },
		{ "goes on", "", "\n\n", BUSY, BUSY "\r\n", OK "A: b\r\n\r\nA: b\r\n", "HTTP" },
	};
	static char noise[HTTP_LINE + 1];

	ALIKE(rows, goes_on);
	SAME("a line without an end", goes_on(memset(noise, 'x', HTTP_LINE)), "over");
}

static const char *doubted(const char *text) {
	static char got[80];
	struct http_status http = parse(HTTP_FORM_ANY, text, strlen(text));

	snprintf(got, sizeof got, "%s '%s'", http.after.doubtful, http.after.doubt);
	return got;
}

TEST(the_first_value_that_is_not_understood_is_kept) {
	static const char *const rows[][4] = {
		{ "Retry-After 'soon'", BUSY "retry-after: 1,  soon \r\nRetry-After: x\r\n" },
		{ "Retry-After 'Sat, 22 Aug 2026 14:00:10 +0200'",
		    BUSY "Retry-After: Sat, 22 Aug 2026 14:00:10 +0200, 1\n" },
		{ "X-RateLimit-Reset '6m0s'",
		    BUSY "X-RateLimit-Remaining: 0\r\nX-RateLimit-Reset: 6m0s\r\n" },
		{ "RateLimit 'x'", BUSY "RateLimit: \"a\";r=0;t=x\r\n" },
		{ "Retry-After 'a123456789b123456789c123456789d123456789\xc3\xa9\xc3\xa9...'",
		    BUSY "Retry-After: "
			 "a123456789b123456789c123456789d123456789\xc3\xa9\xc3\xa9\xc3\xa9x\n" },
	};

	ALIKE(rows, doubted);
}

#define AT(time) "Sat, 22 Aug 2026 " time " GMT"
#define NONE_LEFT "X-RateLimit-Remaining: 0\nX-RateLimit-Reset: "

TEST(waits) {
	static const char *const rows[][20] = {
		{ "none", "", "Retry-After: ,", "Retry-After-Ms: ," },
		{ "0s", "Retry-After: 0", "Retry-After: " AT("13:59:59"),
		    "grpc-retry-pushback-ms: 0" },
		{ "for ever", "Retry-After: 99999999999999999999",
		    "Retry-After: Fri, 31 Dec 9999 23:59:59 GMT",
		    "Date: Wed, 01 Jan 1000 00:00:00 GMT\nRetry-After: 9223372036854775807" },
		{ "doubtful", "Retry-After: +5", "Retry-After: 5s", "Retry-After: soon, later",
		    "Retry-After: .", "Retry-After: Sat, 22 Aug 2026 14:00:10 +0200",
		    "Retry-After: 2026-08-22T14:00:10", "Retry-After: 2026-08-22",
		    "Retry-After-Ms: -1", "X-Amz-Retry-After: 1s" },
		/* Dates. */
		{ "10s", "Retry-After: Saturday, 22-Aug-26 14:00:10 GMT",
		    "Date: yesterday\nRetry-After: " AT("14:00:10"),
		    "Retry-After: 5, " AT("14:00:10"), "Retry-After: " AT("14:00:10") ", 5",
		    "Retry-After: Sat Aug 22 14:00:10 2026, 5",
		    /* Without a zone it is in UTC, as all dates of HTTP. */
		    "Retry-After: Sat, 22 Aug 2026 14:00:10",
		    "Retry-After: 5, Saturday, 22-Aug-26 14:00:10, 1",
		    "Date: Sat, 22 Aug 2026 13:00:00\nRetry-After: " AT("13:00:10"),
		    /* RFC 3339, and seconds since the Epoch. */
		    "Retry-After: 2026-08-22T14:00:10Z", "Retry-After: 2026-08-22T16:00:10+02:00",
		    "Retry-After: 2026-08-22T14:00:09.5Z, 3", "Retry-After: 1787407210",
		    "Retry-After: 1787407209.2", "Retry-After: 1787407210000",
		    "Date: " AT("13:00:00") "\nRetry-After: 1787403610" },
		{ "0s", "Retry-After: 1000000000", "Retry-After: 2020-08-22T14:00:10Z" },
		{ "999999999s", "Retry-After: 999999999" },
		{ "5s", "Date: Mon, 01 Jan 1900 00:00:00 GMT\nRetry-After: 5" },
		{ "30s", "Retry-After: " AT("14:00:00") "\nDate: " AT("13:59:30"),
		    "Retry-After: " AT("14:00:10") ", Saturday, 22-Aug-26 14:00:30 GMT, 5" },
		/* Milliseconds. */
		{ "0.001s", "Retry-After-Ms: 0.2" },
		{ "0.25s", "x-ms-retry-after-ms: 250", "x-amz-retry-after: 250",
		    "grpc-retry-pushback-ms: 250" },
		{ "never", "grpc-retry-pushback-ms: -1", "grpc-retry-pushback-ms: x",
		    "grpc-retry-pushback-ms: -1\nRetry-After: 5",
		    "grpc-retry-pushback-ms: 5\ngrpc-retry-pushback-ms: -1",
		    "X-Should-Retry: false", "stripe-should-retry:False ",
		    "x-should-retry: true\nStripe-Should-Retry: false",
		    "x-should-retry: false\nx-should-retry: true\nRetry-After: 5" },
		{ "wanted", "x-should-retry: true", "Stripe-Should-Retry: true" },
		{ "2s", "x-should-retry: true\nRetry-After: 2" },
		{ "doubtful", "x-should-retry: 0", "Stripe-Should-Retry: no" },
		{ "none", "should-retry: false", "x-should-retry:" },
		/* The longest of them. */
		{ "2s", "Retry-After: 2\nRetry-After-Ms: 1500", "Retry-After: 1\nRetry-After: 2",
		    "Retry-After: 2,, 1,", "Retry-After: 2\nX-Amz-Retry-After: 1500" },
		{ "2.5s", "Retry-After-Ms: 1500, 2500\nRetry-After: 2" },
		{ "1s", "Retry-After: soon, 1", "Retry-After: Sat, 1" },
		/* RateLimit. */
		{ "27s", "RateLimit: 'a'; R=0 ; T=27",
		    "RateLimit: 'a';r=1;t=99, 'b';t=27;r=0, 'c';r=0;t=5",
		    "RateLimit: 'a';r=0;t=5\nRateLimit: 'b';r=0;t=27",
		    "RateLimit: 'a,b;r=0;t=9';r=0;t=27" },
		{ "none", "RateLimit: 'a';r=1;t=27", "RateLimit: 'a';t=27", "RateLimit: 'a';r=0",
		    "RateLimit: 'a;r=0;t=9", "RateLimit: limit=100, remaining=0",
		    "RateLimit-Policy: 'a';r=0;t=27" },
		{ "doubtful", "RateLimit: 'a';r=0;t=soon" },
		{ "50s", "RateLimit: limit=100, remaining=0, reset=50" },
		/* Resets. */
		{ "27s", "X-RateLimit-Reset: 27\nX-RateLimit-Remaining: 0",
		    "RateLimit-Remaining: 0\nRateLimit-Reset: 27\nRateLimit-Reset: 5" },
		{ "none", "RateLimit-Remaining: 1\nRateLimit-Reset: 27", "RateLimit-Reset: 27",
		    "X-RateLimit-Reset: 27\nRateLimit-Remaining: 0" },
		{ "60s", NONE_LEFT "1787407260" },
		{ "1s", NONE_LEFT "1787407200500" },
		{ "0s", NONE_LEFT "1787407199", NONE_LEFT "1000000000", NONE_LEFT "1000000000000" },
		{ "999999999s", NONE_LEFT "999999999" },
		{ "10s", NONE_LEFT AT("14:00:10"), NONE_LEFT "2026-08-22T14:00:10Z" },
		{ "doubtful", NONE_LEFT "6m0s" },
		/* Retry-After takes precedence over them. */
		{ "0.001s", NONE_LEFT "27\nRetry-After-Ms: 1" },
		{ "27s", "RateLimit: 'a';r=0;t=27\nRetry-After: soon" },
	};

	ALIKE(rows, wait_of);
}

/* A field that is ignored sets doubtful, even if another one counts. */
TEST(a_malformed_field_sets_doubtful) {
	static const char text[] = "HTTP/1.1 503 x\nRetry-After: soon\n"
				   "Retry-After-Ms: 5\n\n";
	struct http_status http = parse(HTTP_FORM_ANY, text, sizeof text - 1);

	HOLDS(text, http.after.given && http.after.doubtful != NULL && !http.after.never);
}

/* plan.c has the verdict on every status. */
TEST(what_a_status_means) {
	struct http_status http = { .code = 503 };

	EQUAL("503", http_status_judge(&http), HTTP_STATUS_SAYS_RETRY);
	http.after.never = true;
	EQUAL("never", http_status_judge(&http), HTTP_STATUS_SAYS_STOP);
	http = (struct http_status){ .code = 409, .after.wanted = true };
	EQUAL("wanted", http_status_judge(&http), HTTP_STATUS_SAYS_RETRY);
	http.after.never = true;
	EQUAL("both", http_status_judge(&http), HTTP_STATUS_SAYS_STOP);
	http = (struct http_status){ .code = 200, .after.wanted = true };
	EQUAL("200", http_status_judge(&http), HTTP_STATUS_SAYS_NOTHING);
	http.code = 302;
	EQUAL("302", http_status_judge(&http), HTTP_STATUS_SAYS_NOTHING);
	http = (struct http_status){ .code = -1 };
	EQUAL("unknown", http_status_judge(&http), HTTP_STATUS_SAYS_NOTHING);
}
