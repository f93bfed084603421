/*
 * Covers http/curl, http/response_head.
 * Covers http/responses, http/retry_after.
 * Covers text/strview.
 *
 * Covers http/curl, http/response_head.
 * Covers http/responses, http/retry_after.
 * Covers text/strview.
 *
 * http and its parts, and curl, row by row, and every status file that was
 * captured. Runs where tests/ is.
 */
#include "unit.h"
#include "http/curl.h"
#include "text/date.h"
#include "http/http_status.h"
#include "http/responses.h"

/* Sat, 22 Aug 2026 14:00:00 GMT, which most captures have as their Date. */
#define NOW (1787407200 * NANOS_SECOND)

/* Instead of a wait: there is none; something was malformed. */
#define NONE (-1)
#define DOUBTFUL (-2)
#define NEVER (-3)

#define CAPTURES "tests/fixtures/http"

static const char *const form_names[] = {
	[HTTP_STATUS_EMPTY] = "empty",
	[HTTP_STATUS_UNRECOGNISED] = "unrecognised",
	[HTTP_STATUS_HEADERS] = "headers",
	[HTTP_STATUS_CODE] = "code",
	[HTTP_STATUS_KEY_VALUE] = "key=value",
	[HTTP_STATUS_JSON] = "json",
	[HTTP_STATUS_HEADER_JSON] = "header_json",
};

/* The bytes in a block of exactly their size, so that a read past it shows. */
static struct http_status
parse_from(
    enum http_status_source source, const char *bytes, size_t length, nanos now)
{
	char *copy = malloc(length > 0 ? length : 1);
	struct http_status http;

	if (copy == NULL)
		abort();
	memcpy(copy, bytes, length);
	http = http_status_parse(copy, length, source, now);
	free(copy);
	return http;
}

static struct http_status
parse(const char *bytes, size_t length, nanos now)
{
	return parse_from(HTTP_STATUS_FROM_UNKNOWN, bytes, length, now);
}

/* The wait in one number, as the tables below have it. */
static int64_t
wait_of(const struct http_status *http)
{
	if (http->never)
		return NEVER;
	if (http->has_wait)
		return http->wait;
	return http->doubtful ? DOUBTFUL : NONE;
}

/*
 * captures
 */

static const struct capture {
	const char *file, *form;
	int code; /* -1: not known */
	int64_t wait;
} captures[] = {
	{ "D-100-continue-curl8.hdr", "headers", 503, 12 * NANOS_SECOND },
	{ "D-103-curl8.hdr", "headers", 503, 11 * NANOS_SECOND },
	{ "D-200.hdr", "headers", 200, NONE },
	{ "D-204.hdr", "headers", 204, NONE },
	{ "D-425.hdr", "headers", 425, NONE },
	{ "D-429-ratelimit-draft.hdr", "headers", 429, 27 * NANOS_SECOND },
	{ "D-429-x-epoch.hdr", "headers", 429, 300 * NANOS_SECOND },
	{ "D-503-asctime.hdr", "headers", 503, 5160480 * NANOS_SECOND },
	{ "D-503-imf.hdr", "headers", 503, 5160480 * NANOS_SECOND },
	{ "D-503-lf.hdr", "headers", 503, 6 * NANOS_SECOND },
	{ "D-503-noreason-sp.hdr", "headers", 503, 3 * NANOS_SECOND },
	{ "D-503-obsfold.hdr", "headers", 503, 33 * NANOS_SECOND },
	{ "D-503-ra-huge.hdr", "headers", 503, NANOS_MAX },
	{ "D-503-ra-neg.hdr", "headers", 503, DOUBTFUL },
	{ "D-503-ra-ws.hdr", "headers", 503, 7 * NANOS_SECOND },
	{ "D-503.hdr", "headers", 503, 120 * NANOS_SECOND },
	{ "D-529.hdr", "headers", 529, NONE },
	{ "D-connect-ok-suppressed.hdr", "headers", 503, 120 * NANOS_SECOND },
	{ "D-connect-ok-then-tls-fail.hdr", "headers", 200, NONE },
	{ "D-curlretry-curl8.hdr", "headers", 200, NONE },
	{ "D-curlretry.hdr", "headers", 200, NONE },
	{ "D-fail.hdr", "headers", 503, 120 * NANOS_SECOND },
	{ "D-h2-103-curl8.hdr", "headers", 503, 11 * NANOS_SECOND },
	{ "D-h2-redirect-curl8.hdr", "headers", 503, 120 * NANOS_SECOND },
	{ "D-h2-refused.hdr", "empty", -1, NONE },
	{ "D-h2-trailers.hdr", "headers", 503, 500 * NANOS_MS },
	{ "D-h2.hdr", "headers", 503, 120 * NANOS_SECOND },
	{ "D-obsfold-curl8.hdr", "headers", 503, 33 * NANOS_SECOND },
	{ "D-problem.hdr", "headers", 429, 14 * NANOS_SECOND },
	{ "D-redirect-nofollow.hdr", "headers", 302, 55 * NANOS_SECOND },
	{ "D-refused.hdr", "empty", -1, NONE },
	{ "D-trailers-curl8.hdr", "headers", 503, NONE },
	{ "D-two-urls.hdr", "headers", 503, 120 * NANOS_SECOND },
	{ "httpie-check-302.txt", "headers", 302, 55 * NANOS_SECOND },
	{ "httpie-follow-all-redirect.txt", "headers", 503,
	    120 * NANOS_SECOND },
	{ "httpie-meta-503.txt", "headers", 503, 120 * NANOS_SECOND },
	{ "httpie-ph-checkstatus-503.txt", "headers", 503, 120 * NANOS_SECOND },
	{ "i-h2.txt", "headers", 503, 120 * NANOS_SECOND },
	{ "v-503-curl8.stderr", "headers", 503, 120 * NANOS_SECOND },
	{ "v-h2-503.stderr", "headers", 503, 120 * NANOS_SECOND },
	{ "w-code-200.txt", "code", 200, NONE },
	{ "w-code-503.txt", "code", 503, NONE },
	{ "w-code-body-glued.txt", "code", 503, NONE },
	{ "w-code-connect-deny.txt", "code", 0, NONE },
	{ "w-code-connect-ok.txt", "code", 503, 200 * NANOS_SECOND },
	{ "w-code-curlretry.txt", "code", 200, NONE },
	{ "w-code-empty-reply.txt", "code", 0, NONE },
	{ "w-code-file-scheme.txt", "code", 0, NONE },
	{ "w-code-http09.txt", "code", 0, NONE },
	{ "w-code-ra-common.txt", "code", 503, 120 * NANOS_SECOND },
	{ "w-code-ra-missing.txt", "code", 503, NONE },
	{ "w-code-redirect-nofollow.txt", "code", 302, NONE },
	{ "w-code-refused.txt", "code", 0, NONE },
	{ "w-code-timeout.txt", "code", 0, NONE },
	{ "w-code-two-urls.txt", "code", 503, NONE },
	{ "w-header-ra-redirect.txt", "empty", -1, NONE },
	{ "w-header-ra.txt", "code", 120, NONE },
	{ "w-header_json-latin1-curl8.json", "header_json", -1,
	    8 * NANOS_SECOND },
	{ "w-header_json-redirect.json", "header_json", -1,
	    120 * NANOS_SECOND },
	{ "w-header_json-twice.json", "header_json", -1, 90 * NANOS_SECOND },
	{ "w-json-503.json", "json", 503, NONE },
	{ "w-json-both.json", "json", 503, 120 * NANOS_SECOND },
	{ "w-json-refused.json", "json", 0, NONE },
	{ "w-multi-fields-refused.txt", "key=value", 0, NONE },
	{ "w-num_retries-8.14.txt", "code", 200, 2 * NANOS_SECOND },
	{ "w-output-7.88-unsupported.txt", "unrecognised", -1, NONE },
	{ "w-output-append-8.14.txt", "code", 200, NONE },
	{ "w-stderr.txt", "code", 503, NONE },
	{ "wget-S-503.stderr", "headers", 503, 120 * NANOS_SECOND },
	{ "wget-nv-404.stderr", "unrecognised", -1, NONE },
	{ "wget-nv-S-503.stderr", "headers", 503, 120 * NANOS_SECOND },
	{ "wget-nv-dns.stderr", "unrecognised", -1, NONE },
	{ "wget-nv-partial.stderr", "empty", -1, NONE },
	{ "wget-nv-reset.stderr", "unrecognised", -1, NONE },
	{ "wget-o-log-503.txt", "headers", 503, 120 * NANOS_SECOND },
	{ "wget-retry-on-http-error.stderr", "headers", 503,
	    120 * NANOS_SECOND },
	{ "wget-save-headers-503.txt", "headers", 503, 120 * NANOS_SECOND },
	{ "wget2-S-503.stdout", "headers", 503, NONE },
	{ "wget2-nv-refused.stderr", "unrecognised", -1, NONE },
	{ "xh-ph-503.txt", "headers", 503, 120 * NANOS_SECOND },
	{ "xh-ph-check-503.txt", "headers", 503, 120 * NANOS_SECOND },
};

static size_t
load(const char *file, char *room, size_t size)
{
	char path[4096];
	FILE *stream;
	size_t length;

	snprintf(path, sizeof path, CAPTURES "/%s", file);
	stream = fopen(path, "rb");
	if (stream == NULL) {
		perror(path);
		exit(1);
	}
	length = fread(room, 1, size, stream);
	fclose(stream);
	return length;
}

static void
test_captures(void)
{
	static char room[65536];

	for (size_t i = 0; i < LENGTH(captures); i++) {
		const struct capture *row = &captures[i];
		size_t length = load(row->file, room, sizeof room - 1);
		struct http_status http = parse(room, length, NOW);

		SAME(row->file, form_names[http.form], row->form);
		EQUAL(row->file, http.known ? http.code : -1, row->code);
		EQUAL(row->file, wait_of(&http), row->wait);
	}
}

/* The list of the captures and the table above have the same rows. */
static void
test_every_capture_has_its_row(void)
{
	static char room[65536];
	char file[256], form[64], code[16], *rest = room, *line;
	size_t rows = 0;

	room[load("expected.tsv", room, sizeof room - 1)] = '\0';
	while ((line = strsep(&rest, "\n")) != NULL) {
		const struct capture *row = NULL;

		if (sscanf(line, "%255s %63s %15s", file, form, code) != 3 ||
		    file[0] == '#')
			continue;
		rows++;
		for (size_t i = 0; i < LENGTH(captures); i++) {
			if (strcmp(captures[i].file, file) == 0)
				row = &captures[i];
		}
		HOLDS(file, row != NULL);
		if (row == NULL)
			continue;
		SAME(file, row->form, form);
		EQUAL(file, row->code,
		    code[0] == '-' ? -1 : strtol(code, NULL, 10));
	}
	EQUAL("expected.tsv", (int64_t)rows, (int64_t)LENGTH(captures));
}

/*
 * forms
 */

static void
test_forms(void)
{
	static const struct {
		const char *text, *form;
		int code;
		int64_t wait;
	} rows[] = {
		{ "", "empty", -1, NONE },
		{ " \r\n\t\n", "empty", -1, NONE },
		{ "hello", "unrecognised", -1, NONE },

		/* A lone number. */
		{ "099", "unrecognised", -1, NONE },
		{ "100", "code", 100, NONE },
		{ "599", "code", 599, NONE },
		{ "600", "unrecognised", -1, NONE },
		{ "999", "unrecognised", -1, NONE },
		{ "001", "unrecognised", -1, NONE },
		{ "60", "unrecognised", -1, NONE },
		{ "1200", "unrecognised", -1, NONE },
		{ "503\r\n\r\n", "code", 503, NONE },
		{ "busy503", "unrecognised", -1, NONE },
		{ "503busy", "unrecognised", -1, NONE },

		/* A code and a Retry-After. */
		{ "503 5", "code", 503, 5 * NANOS_SECOND },
		{ "503\t0", "code", 503, 0 },
		{ "503 1.5", "code", 503, 2 * NANOS_SECOND },
		{ "503 -5", "code", 503, DOUBTFUL },
		{ "503 1e3", "code", 503, DOUBTFUL },
		{ "503 Sat, 22 Aug 2026 14:00:07 GMT", "code", 503,
		    7 * NANOS_SECOND },
		{ "503\n7", "code", 503, 7 * NANOS_SECOND },
		{ "503\n120", "code", 503, 120 * NANOS_SECOND },
		{ "503\n200", "code", 200, NONE },
		{ "503 5\n429 6\n", "code", 429, 6 * NANOS_SECOND },
		{ "503 5\n200\n", "code", 200, NONE },
		{ "000\n120", "code", 120, NONE },
		{ "000 120", "code", 0, NONE },
		{ "226 Transfer complete", "unrecognised", -1, NONE },
		{ "221 2 files", "unrecognised", -1, NONE },

		/* %{http_status_code} %{exitcode} %{errormsg}, of curl 7.88. */
		{ "503 22 The requested URL returned error: 503\n", "code", 503,
		    NONE },
		{ "200 18 transfer closed with 93 bytes remaining to read",
		    "code", 200, NONE },
		{ "302 7 Failed to connect to x port 1 after 0 ms: Couldn't "
		  "connect to server",
		    "code", 302, NONE },
		{ "000 7 Failed to connect to x port 1 after 0 ms: Couldn't "
		  "connect to server\n",
		    "code", 0, NONE },
		{ "a body\n429 22 The requested URL returned error: 429\n",
		    "code", 429, NONE },
		{ "503 22 The requested URL returned error: 503\n200 0 \n",
		    "code", 200, NONE },
		{ "403 0 \n", "code", 403, NONE },
		{ "403 0 \r\n\n", "code", 403, NONE },
		{ "403 0\n", "code", 403, 0 },
		{ "503 220 x y\n", "unrecognised", -1, NONE },
		{ "503 22x y\n", "unrecognised", -1, NONE },
		{ "503 22 \n", "code", 503, 22 * NANOS_SECOND },
		{ "226 3 matches total", "unrecognised", -1, NONE },

		/* Lines of key=value. */
		{ "http_code=503\nretry_after=5\n", "key=value", 503,
		    5 * NANOS_SECOND },
		{ "retry-after = 5\r\nResponse_Code = 429\r\n", "key=value",
		    429, 5 * NANOS_SECOND },
		{ "retry_after=5\n", "key=value", -1, 5 * NANOS_SECOND },
		{ "http_code=503\nretry_after=5\nhttp_code=200\n", "key=value",
		    200, NONE },
		{ "retry_after=9\nhttp_code=429\nretry_after=5\n"
		  "http_code=503\n",
		    "key=value", 503, 5 * NANOS_SECOND },
		{ "http_code=000\nretry_after=5\n", "key=value", 0, NONE },
		{ "http_code=5030\n", "unrecognised", -1, NONE },
		{ "status=1\n503", "code", 503, NONE },
		{ "a=b\n", "unrecognised", -1, NONE },
	};

	for (size_t i = 0; i < LENGTH(rows); i++) {
		const char *text = rows[i].text;
		struct http_status http = parse(text, strlen(text), NOW);

		SAME(text, form_names[http.form], rows[i].form);
		EQUAL(text, http.known ? http.code : -1, rows[i].code);
		EQUAL(text, wait_of(&http), rows[i].wait);
	}
}

static void
test_json_forms(void)
{
	static const struct {
		const char *text, *form;
		int code;
		int64_t wait;
	} rows[] = {
		{ "{\n}\n", "unrecognised", -1, NONE },
		{ "{\"http_code\":503}", "json", 503, NONE },
		{ "{\"response_code\" : 429 }", "json", 429, NONE },
		{ "{\"http_code\":0}", "json", 0, NONE },
		{ "{\"http_code\":\"503\"}", "unrecognised", -1, NONE },
		{ "{\"http_code\":5030}", "unrecognised", -1, NONE },
		{ "{\"http_code\":[\"503\"]}", "header_json", -1, NONE },
		{ "{\"Retry-After\":[\"5\",\"90\"]}", "header_json", -1,
		    90 * NANOS_SECOND },
		{ "{\"retry-after\":\"5\"}", "unrecognised", -1, NONE },
		{ "{\"x\":[\"a\\\"],\"],\"retry-after\":[\"5\"]}",
		    "header_json", -1, 5 * NANOS_SECOND },

		/* Joined in every order. */
		{ "{\"http_code\":503}{\"retry-after\":[\"5\"]}", "json", 503,
		    5 * NANOS_SECOND },
		{ "{\"retry-after\":[\"5\"]}\n{\"http_code\":503}\n", "json",
		    503, 5 * NANOS_SECOND },
		{ "{\"a\":{\"http_code\":503},\"b\":{\"retry-after\":[\"5\"]}}",
		    "json", 503, 5 * NANOS_SECOND },
		{ "503 {\"retry-after\":[\"5\"]}", "header_json", 503,
		    5 * NANOS_SECOND },
		{ "503\n{\"retry-after\":[\"5\"]}", "header_json", 503,
		    5 * NANOS_SECOND },
		{ "{\"retry-after\":[\"5\"]}\n503", "header_json", 503,
		    5 * NANOS_SECOND },

		/* Two transfers. */
		{ "{\"http_code\":503}{\"http_code\":200}", "json", 200, NONE },
		{ "{\"http_code\":503}{\"retry-after\":[\"5\"]}"
		  "{\"http_code\":429}{\"x\":[\"y\"]}",
		    "json", 429, NONE },
		{ "{\"retry-after\":[\"9\"]}{\"http_code\":503}"
		  "{\"retry-after\":[\"5\"]}{\"http_code\":429}",
		    "json", 429, 5 * NANOS_SECOND },

		/* A body that is JSON, and the code behind it. */
		{ "{\"error\":\"busy\"}\n503", "code", 503, NONE },
		{ "{\"error\":\"busy\"}503", "code", 503, NONE },
		{ "{\"error\":\"busy\"}\n503 120\n", "header_json", 503,
		    120 * NANOS_SECOND },
		{ "{\"error\":\"busy\"}\n", "unrecognised", -1, NONE },
		{ "{ \"error: \n503", "code", 503, NONE },

		/* Cut off. */
		{ "{\"http_code\":503,\"retry", "json", 503, NONE },
		{ "{\"retry-after\":[\"5", "header_json", -1,
		    5 * NANOS_SECOND },
		{ "{\"http_code\":", "unrecognised", -1, NONE },
		{ "{\"retry-after\\", "unrecognised", -1, NONE },
	};

	for (size_t i = 0; i < LENGTH(rows); i++) {
		const char *text = rows[i].text;
		struct http_status http = parse(text, strlen(text), NOW);

		SAME(text, form_names[http.form], rows[i].form);
		EQUAL(text, http.known ? http.code : -1, rows[i].code);
		EQUAL(text, wait_of(&http), rows[i].wait);
	}
}

static void
test_heads(void)
{
	static const struct {
		const char *text;
		int code; /* -2: not the headers form */
		int64_t wait;
	} rows[] = {
		{ "HTTP/1.0 503 x\r\n\r\n", 503, NONE },
		{ "HTTP/3 429\n\n", 429, NONE },
		{ "HTTP/2 503 \r\n", 503, NONE },
		{ "HTTP/1.1 503", 503, NONE },
		{ "http/1.1 999 x\n", 999, NONE },
		{ "HTTP/1.1 99 x\n", -2, NONE },
		{ "HTTP/1.1 099 x\n", -2, NONE },
		{ "HTTP/1.1 5031 x\n", -2, NONE },
		{ "HTTP/1.1 503x\n", -2, NONE },
		{ "HTTP/1.1503 x\n", -2, NONE },
		{ "HTTP/ 503 x\n", -2, NONE },
		{ "HTTP/", -2, NONE },
		{ "HTTP/1.", -2, NONE },
		{ "HTTP error 503\n", -2, NONE },

		/* An interim response does not count. */
		{ "HTTP/1.1 100 Continue\nRetry-After: 5\n\n", -1, NONE },
		{ "HTTP/1.1 503 x\nRetry-After: 5\n\n"
		  "HTTP/1.1 100 Continue\nRetry-After: 9\n\n",
		    503, 5 * NANOS_SECOND },
		/* The fields of the response before do not count either. */
		{ "HTTP/1.1 302 x\nRetry-After: 55\n\nHTTP/1.1 503 x\n\n", 503,
		    NONE },
		{ "HTTP/1.1 503 x\nContent-Length: 4\nRetry-After: 55\n\n"
		  "HTTP/1.1 200 x\n\n",
		    200, NONE },

		/* Fields. */
		{ "HTTP/1.1 503 x\nretry-AFTER:5\n\n", 503, 5 * NANOS_SECOND },
		{ "HTTP/1.1 503 x\nRetry-After 5\n\n", 503, NONE },
		{ "HTTP/1.1 503 x\nX-Retry-After: 5\n\n", 503, NONE },
		{ "HTTP/1.1 503 x\nRetry-After:\n\n", 503, NONE },
		{ "HTTP/1.1 503 x\nRetry-After: 5\nRetry-After: 9\n\n", 503,
		    9 * NANOS_SECOND },
		{ "HTTP/1.1 503 x\r\nRetry-After:\r\n\t5\r\n\r\n", 503,
		    5 * NANOS_SECOND },
		{ "HTTP/1.1 503 x\nX-Long: a\n Retry-After: 5\n\n", 503, NONE },
		{ "HTTP/1.1 503 x\nRetry-After: Sat, 22 Aug\n 2026 14:00:05"
		  " GMT\n\n",
		    503, 5 * NANOS_SECOND },
		{ "HTTP/1.1 503 x\n: 5\nRetry-After: 5", 503,
		    5 * NANOS_SECOND },

		/* Trailers. */
		{ "HTTP/1.1 503 x\n\nRetry-After: 5\n", 503, NONE },
		{ "HTTP/2 200 \n\ngrpc-retry-pushback-ms: -1\n", 200, NEVER },

		/* Margins. */
		{ "< HTTP/1.1 503 x\r\n* note\n< Retry-After: 5\r\n< \r\n", 503,
		    5 * NANOS_SECOND },
		{ "< HTTP/1.1 503 x\nRetry-After: 5\n<\n< Retry-After: 6\n",
		    503, NONE },
		{ "awaiting... \n  HTTP/1.1 503 x\n  Retry-After: 5\nend\n"
		  "  Retry-After: 6\n",
		    503, 5 * NANOS_SECOND },
		{ "  HTTP/1.1 503 x\nRetry-After: 5\n", 503, NONE },
		{ "HTTP/1.1 503 x\n\n  HTTP/1.1 200 x\n", 503, NONE },
	};

	for (size_t i = 0; i < LENGTH(rows); i++) {
		const char *text = rows[i].text;
		struct http_status http = parse(text, strlen(text), NOW);
		int code = http.known ? http.code : -1;

		if (http.form != HTTP_STATUS_HEADERS)
			code = -2;
		EQUAL(text, code, rows[i].code);
		EQUAL(text, wait_of(&http), rows[i].wait);
	}
}

/* Which status lines count: curl -i prints bodies, which may quote some. */
static void
test_bodies(void)
{
	static const struct {
		const char *text;
		int code; /* -2: not the headers form */
	} rows[] = {
#define OK "HTTP/1.1 200 OK\r\n"
#define TYPE "Content-Type: a/b\r\n"
#define BUSY "HTTP/1.1 503 x\r\n"
#define DATE "Date: Sat, 22 Aug 2026 14:00:00 GMT\r\n"
#define CHUNKED "Transfer-Encoding: chunked\r\n"
#define GZIP "Content-Encoding: gzip\r\n"
		/* A body of any length, or of one that is told. */
		{ OK TYPE "\r\n" BUSY, 200 },
		{ OK TYPE "\r\n" BUSY "text", 200 },
		{ OK TYPE "\r\ntext\n\n" BUSY "\r\n", 200 },
		{ OK "\r\n" BUSY, 200 },
		{ OK "Content-Length: 16\r\n\r\n" BUSY, 200 },
		{ OK "Content-Length: 18\r\n\r\n" BUSY "\r\n", 200 },
		{ OK "Content-Length: 19\r\n\r\n\n" BUSY "\r\n", 200 },
		{ OK "Transfer-Encoding: chunked\r\n\r\n" BUSY "x\r\n\r\n",
		    200 },
		{ OK TYPE "\r\nAnswer:\n" BUSY, 200 },
		{ OK TYPE "\r\nAnswer: 1\n" BUSY "\r\n", 200 },
		{ BUSY "Content-Length: 17\r\n\r\n" OK, 503 },
		{ BUSY "\r\n" OK TYPE, 503 },

		/* Another response behind a body. */
		{ OK "Content-Length: 4\r\n\r\nbody" BUSY "\r\nbody", 503 },
		{ OK "Content-Length: 4\r\n\r\nbody\r\n\n" BUSY "\r\nbody",
		    503 },
		{ BUSY "Content-Length: 4\r\n\r\nbusy" OK TYPE "\r\n" BUSY,
		    200 },
		{ OK "Content-Length: 5\r\n\r\nbody\n" BUSY "\r\n", 503 },
		{ OK "Content-Length: 3\r\n\r\nbody\n" BUSY "\r\n", 200 },
		{ OK "Content-Length: 99\r\n\r\nbody\n" BUSY "\r\n", 200 },
		{ OK "Content-Length: x\r\n\r\nbody\n" BUSY "\r\n", 200 },
		{ OK "Content-Length: 99999999999999999999\r\n\r\n" BUSY "\r\n",
		    503 },

		/* Heads without bodies. */
		{ OK "Content-Length: 4\r\n\r\n" BUSY "\r\n", 503 },
		{ OK "Content-Length: 4\r\n\r\n" BUSY TYPE "\r\n" OK "\r\n",
		    200 },
		{ OK "Content-Length: 0\r\n\r\n" BUSY "\r\nbody", 503 },
		{ "HTTP/1.1 204 x\r\n\r\n" BUSY "\r\nbody", 503 },
		{ "HTTP/1.1 304 x\r\nContent-Length: 4\r\n\r\n" BUSY "\r\nbody",
		    503 },
		{ "HTTP/1.1 100 x\r\n\r\n" BUSY "\r\n" OK, 503 },
		{ "HTTP/1.1 100 x\r\n\r\n" OK TYPE "\r\n" BUSY, 200 },
		{ OK BUSY "\r\n", 503 },

		/* Redirects, passwords, proxies. */
		{ "HTTP/1.1 302 x\r\nContent-Length: 4\r\n\r\n" BUSY "\r\nbody",
		    503 },
		{ "HTTP/1.1 302 x\r\n" TYPE "\r\n" OK TYPE "\r\n" BUSY, 200 },
		{ "HTTP/1.1 302 x\r\n" TYPE "\r\ntext\n\n" BUSY, 302 },
		{ "HTTP/1.1 302 x\r\nContent-Length: 4\r\n\r\nbody" BUSY, 503 },
		{ "HTTP/1.1 401 x\r\nContent-Length: 4\r\n\r\n" BUSY "\r\nbody",
		    503 },
		{ "HTTP/1.1 407 x\r\n" TYPE "\r\n" OK "\r\n" BUSY TYPE
		  "\r\nbody",
		    503 },
		{ "HTTP/1.1 200 Connection established\r\nVia: x\r\n\r\n" BUSY
			TYPE "\r\nbody",
		    503 },
		{ "HTTP/1.1 200 Connection established\r\n\r\n" OK TYPE
		  "\r\n" BUSY,
		    200 },

		/* A body that is heads alone, where its length is told. */
		{ "HTTP/1.1 401 x\r\nContent-Length: 19\r\n\r\n" OK "\r\n",
		    401 },
		{ "HTTP/1.1 407 x\r\nContent-Length: 19\r\n\r\n" OK "\r\n\n",
		    407 },
		{ "HTTP/1.1 302 x\r\nContent-Length: 18\r\n\r\n" BUSY "\r\n",
		    302 },
		{ "HTTP/1.1 401 x\r\nContent-Length: 19\r\n\r\n" OK
		  "\r\nHTTP/1.1 404 x\r\n\r\n",
		    404 },

		/* And where it is not, which asks for more of a head. */
		{ BUSY "\r\n" OK "\r\n", 503 },
		{ BUSY DATE "\r\n" OK "\r\n", 503 },
		{ BUSY DATE "\r\n" OK DATE "\r\n", 200 },
		{ BUSY "\r\n" OK "\r\n" OK DATE "\r\n", 503 },
		{ BUSY "\r\nHTTP/1.1 100 x\r\n\r\n" OK "\r\n", 503 },
		{ BUSY "\r\nHTTP/1.1 100 x\r\n\r\n" OK DATE "\r\n", 200 },
		{ OK "\r\n" BUSY "\r\n", 200 },
		{ OK DATE "\r\n" BUSY "Retry-After: 9\r\n\r\n", 200 },
		{ OK DATE "\r\n" BUSY DATE "\r\n", 503 },
		{ OK DATE "\r\n" BUSY TYPE "Content-Length: 4\r\n\r\n", 503 },
		{ OK DATE "\r\n" BUSY "Content-Length: 4\r\n\r\n", 200 },
		{ OK CHUNKED "\r\n" BUSY "Retry-After: 9\r\n\r\n", 200 },
		{ OK CHUNKED "Content-Length: 18\r\n\r\n" BUSY "\r\n", 200 },
		{ OK CHUNKED "\r\n" BUSY DATE "\r\n", 503 },
		{ "HTTP/1.1 401 x\r\n\r\n" OK "X: y\r\n\r\ntext", 401 },
		{ "HTTP/1.1 401 x\r\n" DATE "\r\n" OK DATE "\r\ntext", 200 },
		{ "HTTP/1.1 302 x\r\n" DATE "\r\n" BUSY "\r\n", 302 },
		{ "HTTP/1.1 302 x\r\n" DATE "\r\n" BUSY DATE "\r\n", 503 },

		/* A body that was decoded is longer than was told. */
		{ OK GZIP "Content-Length: 4\r\n\r\nbody" BUSY "\r\ntext",
		    200 },
		{ OK GZIP "Content-Length: 4\r\n\r\n\x1f\x8bzz" BUSY "\r\ntext",
		    503 },
		{ OK GZIP "Content-Length: 4\r\n\r\n" BUSY "\r\n", 200 },

		/* CONNECT, and pages that nothing is told of. */
		{ OK "Via: x\r\n\r\n" BUSY DATE "\r\nbody", 503 },
		{ OK "Via: x\r\n\r\n" BUSY "X: y\r\n\r\nbody", 200 },
		{ OK "Connection: close\r\n\r\n" BUSY DATE "\r\nbody", 200 },
		{ "HTTP/1.0 200 OK\r\n\r\n" BUSY DATE "\r\nbody", 200 },
		{ "HTTP/1.0 200 Connection established\r\n\r\n" BUSY TYPE
		  "\r\nbody",
		    503 },

		/* Trailers, if they are declared. */
		{ OK "Trailer: A\r\n\r\nA: b\r\n" BUSY "\r\n", 503 },
		{ OK "\r\nA: b\r\n" BUSY "\r\n", 200 },

		/* Bodies that quote a response. */
		{ "text\n" BUSY "\r\n", -2 },
		{ "text\n\n" BUSY "\r\n", -2 },
		{ "text\n< " BUSY "< \n", -2 },
		{ "text\n  " BUSY "  X: y\n", -2 },
		{ BUSY "\n200\n", -2 },
		{ BUSY "200", -2 },
		{ BUSY TYPE "\n200\n", 503 },
		{ OK TYPE "\n503\n", 200 },
		{ OK TYPE "X:\r\n folded\r\n\r\n503\n", 200 },
		{ OK TYPE "no field\r\n\r\n503\n", 200 },
		{ "\n\r\n" BUSY "\r\n", 503 },

		/* What clients print. */
		{ "* x\n> GET / HTTP/1.1\n> \n< " OK "< \n< " BUSY "< \n",
		    200 },
		{ "0 --:--:-- 0> GET / HTTP/1.1\n> \n< " BUSY "< \n", 503 },
		{ "> GET / HTTP/1.1\n> \n< HTTP/1.1 100 x\n< \n< " BUSY "< \n",
		    503 },
		{ "> GET / HTTP/1.1\n< HTTP/1.1 302 x\n< \n> GET /b HTTP/2\n"
		  "< " BUSY "< \n",
		    503 },
		{ "x, please wait\xe2\x80\xa6 \n  " BUSY "  X: y\nx\n  " OK,
		    503 },
		{ "Connecting to h (1.2.3.4:80)\n  " BUSY, 503 },
		{ "waiting... \n  " OK "  X: y\n  " BUSY "\n", 503 },
	/* Bodies among that. */
#define ASKS "> GET / HTTP/1.1\n> Host: x\n>\n"
#define LEFT "* Connection #0 to host x left intact\n"
		{ ASKS "< " OK "< \n" LEFT ASKS "< " BUSY "< \n", 200 },
		{ ASKS "< " OK "< \n{ [9 bytes data]\n" ASKS "< " BUSY "< ",
		    200 },
		{ ASKS "< " OK "< \n" LEFT
		       "* Re-using existing http: connection with host x\n" ASKS
		       "< " BUSY "< \n",
		    503 },
		{ ASKS "< " OK "< \n" LEFT "body* Found bundle for host\n" ASKS
		       "< " BUSY "< \n",
		    503 },
		{ ASKS "< " OK "< Content-Length: 67\n< \n" LEFT
		       "* Connected to x\n" ASKS "< " BUSY "< \n",
		    200 },
		{ ASKS "< " OK "< Content-Length: 66\n< \n" LEFT
		       "* Connected to x\n" ASKS "< " BUSY "< \n",
		    503 },
		{ "> CONNECT x:443 HTTP/1.1\n> \n< HTTP/1.1 200 OK\n< \n"
		  "* CONNECT tunnel established, response 200\n" ASKS "< " BUSY
		  "< \n",
		    503 },
		{ "> CONNECT x:443 HTTP/1.1\n> \n< HTTP/1.1 200 OK\n< \n"
		  "* Proxy replied 200 to CONNECT request\n" ASKS "< " BUSY
		  "< \n",
		    503 },
		{ ASKS "< HTTP/1.1 401 x\n< \n" LEFT ASKS "< " BUSY "< \n",
		    503 },
		{ "--2026-08-22 14:00:00--  x\nwaiting... \n  " OK
		  "Length: 9\nwaiting... \n  " BUSY,
		    200 },
		{ "waiting... \n  " OK "x\n--2026-08-22 14:00:00--  x\n"
		  "waiting... \n  " BUSY,
		    503 },
		{ "waiting... \n  HTTP/1.1 302 x\nx\nwaiting... \n  " BUSY,
		    503 },
		{ "# got header 9 bytes:\n" BUSY "x\n" OK, 503 },
		{ "# got 9 bytes:\n" BUSY "x\n" OK, -2 },
	};

	for (size_t i = 0; i < LENGTH(rows); i++) {
		const char *text = rows[i].text;
		struct http_status http = parse(text, strlen(text), NOW);
		int code = http.known ? http.code : -1;

		if (http.form != HTTP_STATUS_HEADERS)
			code = -2;
		EQUAL(text, code, rows[i].code);
	}
}

/* A file of curl -D has no bodies, and codes only in heads. */
static void
test_dumps(void)
{
	static const struct {
		const char *text, *form;
		int code;
	} rows[] = {
		{ OK "Content-Length: 18\r\n\r\n" BUSY "\r\n", "headers", 503 },
		{ OK "\r\nA: b\r\n" BUSY "\r\n", "headers", 503 },
		{ OK "\r\n" BUSY, "headers", 503 },
		{ "220 Welcome\n503\n", "unrecognised", -1 },
		{ "503\n", "unrecognised", -1 },
		{ "\r\n", "empty", -1 },
	};

	for (size_t i = 0; i < LENGTH(rows); i++) {
		const char *text = rows[i].text;
		struct http_status http =
		    parse_from(HTTP_STATUS_FROM_DUMP, text, strlen(text), NOW);

		SAME(text, form_names[http.form], rows[i].form);
		EQUAL(text, http.known ? http.code : -1, rows[i].code);
	}
}

static void
test_what_follows_the_start(void)
{
	static const struct {
		const char *text;
		enum responses_rest rest;
	} rows[] = {
		{ "", RESPONSES_REST_ANY },
		{ "text\n" BUSY "\r\n", RESPONSES_REST_ANY },
		{ "< " BUSY "< \n", RESPONSES_REST_ANY },
		{ "503\n", RESPONSES_REST_ANY },
		{ BUSY "\r\n" OK, RESPONSES_REST_HEADS },
		{ "\r\n" BUSY "\r\n" OK TYPE "X", RESPONSES_REST_HEADS },
		{ BUSY TYPE "X-Cut-Of", RESPONSES_REST_HEADS },
		{ BUSY "\r\nHTT", RESPONSES_REST_HEADS },
		{ BUSY "\r\n" BUSY "a b", RESPONSES_REST_HEADS },
		{ BUSY "\r\nbody", RESPONSES_REST_BODY },
		{ BUSY "\r\nHTTX", RESPONSES_REST_BODY },
		{ BUSY "a b\r\n\r\n", RESPONSES_REST_BODY },
		{ BUSY "\r\nbody\nb", RESPONSES_REST_BODY },
		{ BUSY "\r\n\r\n" OK, RESPONSES_REST_BODY },
	};

	for (size_t i = 0; i < LENGTH(rows); i++)
		EQUAL(rows[i].text, responses_rest(strview_of(rows[i].text)),
		    rows[i].rest);
}

/* Where to read on in a file of which this is the start. */
static void
test_lengths_lead_on(void)
{
	static const struct {
		const char *text;
		int64_t next;
	} rows[] = {
#define HEAD(n) OK "Content-Length: " #n "\r\n\r\n"
		{ "", 0 },
		{ "text", 0 },
		{ OK, 0 },
		{ OK "\r\nbody", 0 },
		{ OK CHUNKED "\r\nbody", 0 },
		{ OK CHUNKED "Content-Length: 9\r\n\r\nbody", 0 },
		{ OK GZIP "Content-Length: 9\r\n\r\nbody", 0 },
		{ "HTTP/1.1 204 x\r\nContent-Length: 9\r\n\r\n", 0 },
		{ HEAD(9223372036854775807) "body", 0 },
		{ HEAD(99) "body", 39 + 99 },
		{ "\r\n" HEAD(99) "body", 41 + 99 },
		{ HEAD(4) "body", 38 + 4 },
		{ HEAD(4) "bodyHTTP/1.1", 38 + 4 },
		{ HEAD(4) "body\n\nHTT", 38 + 4 },
		{ HEAD(4) "bodytext\n", 0 },
		{ HEAD(4) "body" OK "Content-Le", 38 + 4 },
		{ HEAD(4) "body" HEAD(99) "x", 38 + 4 + 39 + 99 },
		{ HEAD(4) "body" OK CHUNKED "\r\nx", 0 },
		{ "HTTP/1.1 100 x\r\n\r\n" HEAD(99) "x", 18 + 39 + 99 },
	};

	for (size_t i = 0; i < LENGTH(rows); i++) {
		const char *text = rows[i].text;
		size_t length = strlen(text);
		char *copy = malloc(length + 1);

		if (copy == NULL)
			abort();
		memcpy(copy, text, length);
		EQUAL(text, responses_next((struct strview){ copy, length }),
		    rows[i].next);
		free(copy);
	}
}

static void
test_any_bytes_may_stand_between(void)
{
	static const char text[] = "HTTP/1.1 503 \0x\r\nX: \xe9\xff\0\r\n"
				   "Retry-After: 5\r\n\r\n\0\0";
	struct http_status http = parse(text, sizeof text - 1, NOW);

	EQUAL("bytes", http.code, 503);
	EQUAL("bytes", wait_of(&http), 5 * NANOS_SECOND);
	EQUAL("no bytes",
	    http_status_parse(NULL, 0, HTTP_STATUS_FROM_UNKNOWN, NOW).form,
	    HTTP_STATUS_EMPTY);
}

/*
 * waits
 */

static void
test_waits(void)
{
	static const struct {
		const char *fields;
		int64_t wait;
	} rows[] = {
		{ "", NONE },
		{ "Retry-After: 0", 0 },
		{ "Retry-After: 007", 7 * NANOS_SECOND },
		{ "Retry-After: 0.001", NANOS_SECOND },
		{ "Retry-After: 5.", 5 * NANOS_SECOND },
		{ "Retry-After: 9223372036",
		    INT64_C(9223372036) * NANOS_SECOND },
		{ "Retry-After: 9223372037", NANOS_MAX },
		{ "Retry-After: 1e9", DOUBTFUL },
		{ "Retry-After: +5", DOUBTFUL },
		{ "Retry-After: -0", DOUBTFUL },
		{ "Retry-After: 0x10", DOUBTFUL },
		{ "Retry-After: 5s", DOUBTFUL },
		{ "Retry-After: soon", DOUBTFUL },
		{ "Retry-After: .", DOUBTFUL },

		/* Dates. */
		{ "Retry-After: Sat, 22 Aug 2026 14:00:10 GMT",
		    10 * NANOS_SECOND },
		{ "Retry-After: Saturday, 22-Aug-26 14:00:10 GMT",
		    10 * NANOS_SECOND },
		{ "Retry-After: Sat Aug 22 14:00:10 2026", 10 * NANOS_SECOND },
		{ "Retry-After: Sat, 22 Aug 2026 13:59:59 GMT", 0 },
		{ "Retry-After: Fri, 31 Dec 9999 23:59:59 GMT", NANOS_MAX },
		{ "Retry-After: Sat, 22 Aug 2026 14:00:10 +0200", DOUBTFUL },
		{ "Date: Sat, 22 Aug 2026 13:59:30 GMT\n"
		  "Retry-After: Sat, 22 Aug 2026 14:00:00 GMT",
		    30 * NANOS_SECOND },
		{ "Retry-After: Sat, 22 Aug 2026 14:00:00 GMT\n"
		  "Date: Sat, 22 Aug 2026 13:59:30 GMT",
		    30 * NANOS_SECOND },
		{ "Date: yesterday\n"
		  "Retry-After: Sat, 22 Aug 2026 14:00:10 GMT",
		    10 * NANOS_SECOND },

		/* Milliseconds. */
		{ "Retry-After-Ms: 1500", 1500 * NANOS_MS },
		{ "Retry-After-Ms: 0.2", NANOS_MS },
		{ "Retry-After-Ms: -1", DOUBTFUL },
		{ "Retry-After-Ms: Sat, 22 Aug 2026 14:00:10 GMT", DOUBTFUL },
		{ "x-ms-retry-after-ms: 250", 250 * NANOS_MS },
		{ "grpc-retry-pushback-ms: 250", 250 * NANOS_MS },
		{ "grpc-retry-pushback-ms: 0", 0 },
		{ "grpc-retry-pushback-ms: -1", NEVER },
		{ "grpc-retry-pushback-ms: x", NEVER },
		{ "grpc-retry-pushback-ms: -1\nRetry-After: 5", NEVER },

		/* The longest of them. */
		{ "Retry-After: 2\nRetry-After-Ms: 1500", 2 * NANOS_SECOND },
		{ "Retry-After-Ms: 2500\nRetry-After: 2", 2500 * NANOS_MS },
		{ "Retry-After: soon\nRetry-After-Ms: 1500", 1500 * NANOS_MS },
		{ "Retry-After: 1\nRetry-After: 2", 2 * NANOS_SECOND },
		{ "Retry-After: 2\nRetry-After: 1", 2 * NANOS_SECOND },
		{ "Retry-After: 0\nRetry-After: 0", 0 },
		{ "Retry-After: 1\nRetry-After: soon", NANOS_SECOND },
		{ "Retry-After: soon\nRetry-After: 1", NANOS_SECOND },
		{ "Retry-After: 1, 2", 2 * NANOS_SECOND },
		{ "Retry-After: 2,1", 2 * NANOS_SECOND },
		{ "Retry-After: 2,, 1,", 2 * NANOS_SECOND },
		{ "Retry-After: soon, 1", NANOS_SECOND },
		{ "Retry-After: Sat, 1", NANOS_SECOND },
		{ "Retry-After: soon, later", DOUBTFUL },
		{ "Retry-After: 5, Sat, 22 Aug 2026 14:00:10 GMT",
		    10 * NANOS_SECOND },
		{ "Retry-After: Sat, 22 Aug 2026 14:00:10 GMT, 5",
		    10 * NANOS_SECOND },
		{ "Retry-After: Sat Aug 22 14:00:10 2026, 5",
		    10 * NANOS_SECOND },
		{ "Retry-After: Sat, 22 Aug 2026 14:00:10 GMT,"
		  " Saturday, 22-Aug-26 14:00:30 GMT, 5",
		    30 * NANOS_SECOND },
		{ "Retry-After: Sat, 22 Aug 2026 14:00:20 GMT\n"
		  "Retry-After: Sat, 22 Aug 2026 14:00:10 GMT\n"
		  "Date: Sat, 22 Aug 2026 13:59:50 GMT",
		    30 * NANOS_SECOND },
		{ "Retry-After-Ms: 1500, 2500", 2500 * NANOS_MS },
		{ "Retry-After-Ms: 1500\nRetry-After-Ms: 1000",
		    1500 * NANOS_MS },
		{ "grpc-retry-pushback-ms: 5\ngrpc-retry-pushback-ms: -1",
		    NEVER },

		/* RateLimit. */
		{ "RateLimit: \"a\";r=0;t=27", 27 * NANOS_SECOND },
		{ "RateLimit: \"a\"; R=0 ; T=27", 27 * NANOS_SECOND },
		{ "RateLimit: \"a\";t=27;r=0", 27 * NANOS_SECOND },
		{ "RateLimit: \"a\";r=1;t=27", NONE },
		{ "RateLimit: \"a\";t=27", NONE },
		{ "RateLimit: \"a\";r=0", NONE },
		{ "RateLimit: \"a\";r=0;t=soon", DOUBTFUL },
		{ "RateLimit: \"a\";r=1;t=99, \"b\";r=0;t=27, \"c\";r=0;t=5",
		    27 * NANOS_SECOND },
		{ "RateLimit: \"a\";r=0;t=5\nRateLimit: \"b\";r=0;t=27",
		    27 * NANOS_SECOND },
		{ "RateLimit: \"a,b;r=0;t=9\";r=0;t=27", 27 * NANOS_SECOND },
		{ "RateLimit: \"a;r=0;t=9", NONE },
		{ "RateLimit: limit=100, remaining=0, reset=50",
		    50 * NANOS_SECOND },
		{ "RateLimit: limit=100, remaining=1, reset=50", NONE },
		{ "RateLimit: limit=100, remaining=0", NONE },
		{ "RateLimit-Policy: \"a\";r=0;t=27", NONE },

		/* Resets. */
		{ "RateLimit-Remaining: 0\nRateLimit-Reset: 27",
		    27 * NANOS_SECOND },
		{ "RateLimit-Remaining: 1\nRateLimit-Reset: 27", NONE },
		{ "RateLimit-Reset: 27", NONE },
		{ "X-RateLimit-Reset: 27\nX-RateLimit-Remaining: 0",
		    27 * NANOS_SECOND },
		{ "X-RateLimit-Reset: 27\nRateLimit-Remaining: 0", NONE },
		{ "X-RateLimit-Remaining: 0\nX-RateLimit-Reset: 1787407260",
		    60 * NANOS_SECOND },
		{ "X-RateLimit-Remaining: 0\nX-RateLimit-Reset: 1787407200500",
		    NANOS_SECOND },
		{ "X-RateLimit-Remaining: 0\nX-RateLimit-Reset: 1787407199",
		    0 },
		{ "X-RateLimit-Remaining: 0\nX-RateLimit-Reset: 999999999",
		    999999999 * NANOS_SECOND },
		{ "X-RateLimit-Remaining: 0\nX-RateLimit-Reset: 1000000000",
		    0 },
		{ "X-RateLimit-Remaining: 0\nX-RateLimit-Reset: 6m0s",
		    DOUBTFUL },

		/* Retry-After takes precedence over them. */
		{ "RateLimit: \"a\";r=0;t=27\nRetry-After: 5",
		    5 * NANOS_SECOND },
		{ "X-RateLimit-Remaining: 0\nX-RateLimit-Reset: 27\n"
		  "Retry-After-Ms: 1",
		    NANOS_MS },
		{ "RateLimit: \"a\";r=0;t=27\nRetry-After: soon",
		    27 * NANOS_SECOND },
	};
	char text[512];

	for (size_t i = 0; i < LENGTH(rows); i++) {
		const char *fields = rows[i].fields;
		int length = snprintf(
		    text, sizeof text, "HTTP/1.1 503 x\n%s\n\n", fields);
		struct http_status http = parse(text, (size_t)length, NOW);

		EQUAL(fields, wait_of(&http), rows[i].wait);
	}
}

/* A field that is ignored sets doubtful, even if another one counts. */
static void
test_a_malformed_field_sets_doubtful(void)
{
	static const char text[] = "HTTP/1.1 503 x\nRetry-After: soon\n"
				   "Retry-After-Ms: 5\n\n";
	struct http_status http = parse(text, sizeof text - 1, NOW);

	HOLDS(text, http.has_wait && http.doubtful && !http.never);
}

static void
test_dates(void)
{
	static const struct {
		const char *text;
		int64_t moment;
	} rows[] = {
		{ "Sun, 06 Nov 1994 08:49:37 GMT", 784111777 },
		{ "Sunday, 06-Nov-94 08:49:37 GMT", 784111777 },
		{ "Sun Nov  6 08:49:37 1994", 784111777 },
		{ " sun,\r\n 6  nov 1994 08:49:37 utc\t", 784111777 },
		{ "Thu, 01 Jan 1970 00:00:00 GMT", 0 },
		{ "Wed, 31 Dec 1969 23:59:59 GMT", -1 },
		{ "Tue, 29 Feb 2000 12:00:00 GMT", 951825600 },
		{ "Wed, 01 Jan 1000 00:00:00 GMT", -30610224000 },
		{ "Thu, 29 Feb 2024 23:59:60 GMT", 1709251200 },
		{ "Tue, 19 Jan 2038 03:14:08 GMT", 2147483648 },
		{ "Fri, 31 Dec 9999 23:59:59 GMT", 253402300799 },
		/* Of two digits: up to 50 years ahead of 2026. */
		{ "Thursday, 01-Jan-76 00:00:00 GMT", 3345062400 },
		{ "Saturday, 01-Jan-77 00:00:00 GMT", 220924800 },
		{ "Saturday, 01-Jan-00 00:00:00 GMT", 946684800 },
		{ "Friday, 01-Jan-99 00:00:00 GMT", 915148800 },
	};

	for (size_t i = 0; i < LENGTH(rows); i++) {
		int64_t moment = -99;

		HOLDS(rows[i].text,
		    date_parse(
			strview_of(rows[i].text), NOW / NANOS_SECOND, &moment));
		EQUAL(rows[i].text, moment, rows[i].moment);
	}
}

static void
test_what_is_no_date(void)
{
	static const char *const rows[] = { "", "x", "Sun", "Sun,", "Sun, 06",
		"Sun, 06 Nov 1994 08:49:37", "Sun, 06 Nov 1994 08:49:37 CET",
		"Sun, 06 Nov 1994 08:49:37 GMT x", "Sun, 06 Nov 1994 08:49 GMT",
		"Sun, 06 Nov 1994 24:00:00 GMT",
		"Sun, 06 Nov 1994 23:60:00 GMT",
		"Sun, 06 Nov 1994 23:59:61 GMT",
		"Sun, 00 Nov 1994 08:49:37 GMT",
		"Sun, 31 Nov 1994 08:49:37 GMT",
		"Sun, 29 Feb 1900 08:49:37 GMT",
		"Sun, 29 Feb 2023 08:49:37 GMT",
		"Sun, 006 Nov 1994 08:49:37 GMT",
		"Tue, 31 Dec 0999 23:59:59 GMT", "Sun, 06 Nov 994 08:49:37 GMT",
		"Sun, 06 Nov 0994 08:49:37 GMT",
		"Sun, 06 Nov 11994 08:49:37 GMT",
		"Sun, 06 Foo 1994 08:49:37 GMT",
		"Foo, 06 Nov 1994 08:49:37 GMT", "Sund, 06 Nov 1994 08:49:37",
		"06 Nov 1994 08:49:37 GMT", "1994-11-06T08:49:37Z",
		"Sun Nov  6 08:49:37 94", "Sun Nov  6 08:49:37",
		"Sun Nov  6 08:49:37 1994 GMT", "SunNov  6 08:49:37 1994" };

	for (size_t i = 0; i < LENGTH(rows); i++) {
		int64_t moment = -99;

		HOLDS(rows[i],
		    !date_parse(
			strview_of(rows[i]), NOW / NANOS_SECOND, &moment));
		EQUAL(rows[i], moment, -99);
	}
}

/*
 * judgement
 */

static void
test_judgement(void)
{
	static const short retried[] = { 408, 425, 429 };
	static const short stopped[] = { 501, 505, 506, 508, 510, 511 };
	static const short with_wait[] = { 403, 413 };

	for (int code = 0; code < 1000; code++) {
		enum http_status_meaning plain = HTTP_STATUS_SAYS_NOTHING, want;
		struct http_status http = { .known = true, .code = code };
		char row[16];

		snprintf(row, sizeof row, "%d", code);
		if (code >= 400)
			plain = HTTP_STATUS_SAYS_STOP;
		if (code >= 500)
			plain = HTTP_STATUS_SAYS_RETRY;
		for (size_t i = 0; i < LENGTH(retried); i++)
			plain =
			    code == retried[i] ? HTTP_STATUS_SAYS_RETRY : plain;
		for (size_t i = 0; i < LENGTH(stopped); i++)
			plain =
			    code == stopped[i] ? HTTP_STATUS_SAYS_STOP : plain;
		want = plain;
		for (size_t i = 0; i < LENGTH(with_wait); i++)
			want = code == with_wait[i] ? HTTP_STATUS_SAYS_RETRY
						    : want;
		EQUAL(row, http_status_judge(&http), plain);
		http.has_wait = true;
		EQUAL(row, http_status_judge(&http), want);
		http.never = true;
		EQUAL(row, http_status_judge(&http),
		    code < 400 ? HTTP_STATUS_SAYS_NOTHING
			       : HTTP_STATUS_SAYS_STOP);
		http.known = false;
		EQUAL(row, http_status_judge(&http), HTTP_STATUS_SAYS_NOTHING);
	}
}

/*
 * curl
 */

#define WORDS 16

static struct curl
read_line(const char *text)
{
	static char line[256], curl[] = "curl";
	static char *argv[WORDS];
	size_t count = 1;
	char *rest = line, *word;

	snprintf(line, sizeof line, "%s", text);
	argv[0] = curl;
	while ((word = strsep(&rest, " ")) != NULL && count < WORDS - 1) {
		if (word[0] != '\0')
			argv[count++] = word;
	}
	argv[count] = NULL;
	return curl_read(argv);
}

static void
test_methods(void)
{
	static const struct {
		const char *line, *method;
	} rows[] = {
		{ "", "GET" },
		{ "URL", "GET" },
		{ "-", "GET" },
		{ "-d x URL", "POST" },
		{ "-dx URL", "POST" },
		{ "URL -d x", "POST" },
		{ "-sSd x URL", "POST" },
		{ "-sSdx URL", "POST" },
		{ "--data x URL", "POST" },
		{ "--data=x URL", "POST" },
		{ "--DATA x URL", "POST" },
		{ "--data-ascii x URL", "POST" },
		{ "--data-binary x URL", "POST" },
		{ "--data-raw x URL", "POST" },
		{ "--data-urlencode x URL", "POST" },
		{ "--json {} URL", "POST" },
		{ "--expand-data x URL", "POST" },
		{ "--url-query x URL", "GET" },
		{ "-F a=b URL", "POST" },
		{ "--form-string a=b URL", "POST" },
		{ "-G -d x URL", "GET" },
		{ "-d x --get URL", "GET" },
		{ "-G -d x --no-get URL", "POST" },
		{ "-G -F a=b URL", "POST" },
		{ "-I URL", "HEAD" },
		{ "--head URL", "HEAD" },
		{ "-sI URL", "HEAD" },
		{ "-I --no-head URL", "GET" },
		{ "-I -G -d x URL", "HEAD" },
		{ "-T f URL", "PUT" },
		{ "--upload-file f URL", "PUT" },
		{ "-T f -d x URL", "POST" },
		{ "-X PUT URL", "PUT" },
		{ "-XPUT URL", "PUT" },
		{ "-sXPUT URL", "PUT" },
		{ "--request PUT URL", "PUT" },
		{ "--request=PUT URL", "PUT" },
		{ "--expand-request=PUT URL", "PUT" },
		{ "-X PUT -d x URL", "PUT" },
		{ "-X PUT -X PATCH URL", "PATCH" },
		{ "-X", "GET" },
		{ "--request= URL", "GET" },

		/* Arguments that look like options. */
		{ "-o -d URL", "GET" },
		{ "-so -d URL", "GET" },
		{ "-o-d URL", "GET" },
		{ "--output -d URL", "GET" },
		{ "-A -d URL", "GET" },
		{ "-b -d -c -d -C -d -e -d -E -d -m -d -P -d", "GET" },
		{ "-Q -d -r -d -t -d -u -d -U -d -w -d -x -d", "GET" },
		{ "-y -d -Y -d -z -d --proxy -d --variable -d", "GET" },
		{ "--upload-flags -d --knownhosts -d URL", "GET" },
		{ "--follow -d x URL", "POST" },
		{ "--no-buffer -d x URL", "POST" },
		{ "-N# -d x URL", "POST" },
		{ "-4 -d x URL", "POST" },
		{ "-- -d x", "GET" },
		{ "-d x -- URL", "POST" },

		/* Abbreviated names. */
		{ "--js {} URL", "POST" },
		{ "--upl f URL", "PUT" },
		{ "--request-t / URL", "GET" },
		{ "--proxy-h -d URL", "GET" },
		{ "--dat x URL", NULL },

		/* Unknown. */
		{ "-K f", NULL },
		{ "-sK f", NULL },
		{ "--config f", NULL },
		{ "-K f -X PUT", NULL },
		{ "-K f -d x", "POST" },
		{ "-X POST -K f", "POST" },
		{ "--frobnicate URL", NULL },
		{ "-W URL", NULL },
		{ "--frobnicate -d x URL", "POST" },

		/* Several. */
		{ "A --next B", "GET" },
		{ "-d x A --next B", "POST" },
		{ "A --next -d x B", "POST" },
		{ "A -: -d x B", "POST" },
		{ "A -s: -d x B", "POST" },
		{ "-I A --next -T f B", "HEAD" },
		{ "A --next -X PATCH B --next -d x C", "PATCH" },
		{ "A --next -K f", NULL },
		{ "-K f --next -d x B", "POST" },
		{ "-d x A --next -K f", "POST" },
		{ "-d x -H Idempotency-Key:k A --next -X PATCH B", "PATCH" },
		{ "A --next", "GET" },
	};

	for (size_t i = 0; i < LENGTH(rows); i++)
		SAME(rows[i].line, read_line(rows[i].line).method,
		    rows[i].method);
}

static void
test_what_else_curl_says(void)
{
	static const struct {
		const char *line, *dump;
		size_t opening;
		bool dumps, retries, keyed;
	} rows[] = {
		{ "", NULL, 1, false, false, false },
		{ "URL", NULL, 1, false, false, false },
		{ "-q URL", NULL, 2, false, false, false },
		{ "--disable URL", NULL, 2, false, false, false },
		{ "-qsS URL", NULL, 2, false, false, false },
		{ "-qo f URL", NULL, 3, false, false, false },
		{ "-qof URL", NULL, 2, false, false, false },
		{ "-q", NULL, 2, false, false, false },
		{ "-sq URL", NULL, 1, false, false, false },
		{ "-s -q URL", NULL, 1, false, false, false },
		{ "--disable-epsv URL", NULL, 1, false, false, false },
		{ "-q A --next B", NULL, 2, false, false, false },

		{ "-D f URL", "f", 1, true, false, false },
		{ "-Df URL", "f", 1, true, false, false },
		{ "-sDf URL", "f", 1, true, false, false },
		{ "URL --dump-header f", "f", 1, true, false, false },
		{ "--dump-header=f URL", "f", 1, true, false, false },
		{ "--dump-he f URL", "f", 1, true, false, false },
		{ "--dump f URL", "f", 1, true, false, false },
		{ "-D f -D g URL", "g", 1, true, false, false },
		{ "-D - URL", NULL, 1, true, false, false },
		{ "-D % URL", NULL, 1, true, false, false },
		{ "-D f -D - URL", NULL, 1, true, false, false },
		{ "URL -D", NULL, 1, false, false, false },
		{ "-qD f URL", "f", 3, true, false, false },
		{ "A --next -D f B", "f", 1, true, false, false },
		{ "-D f A --next B", "f", 1, true, false, false },
		{ "--dump-ca-embed -D f URL", "f", 1, true, false, false },
		{ "-o -D f", NULL, 1, false, false, false },

		{ "--retry 3 URL", NULL, 1, false, true, false },
		{ "--retry=3 URL", NULL, 1, false, true, false },
		{ "--retry 0 URL", NULL, 1, false, false, false },
		{ "--retry 3 --retry 0 URL", NULL, 1, false, false, false },
		{ "--retry-delay 3 URL", NULL, 1, false, false, false },
		{ "A --next --retry 3 B", NULL, 1, false, true, false },

		{ "-H Idempotency-Key:k URL", NULL, 1, false, false, true },
		{ "-HIdempotency-Key:k URL", NULL, 1, false, false, true },
		{ "-sH idempotency-key:k URL", NULL, 1, false, false, true },
		{ "--header IDEMPOTENCY-KEY:k URL", NULL, 1, false, false,
		    true },
		{ "--header=Idempotency-Key:k URL", NULL, 1, false, false,
		    true },
		{ "-H Idempotency-Key: URL", NULL, 1, false, false, false },
		{ "-H Idempotency-Key; URL", NULL, 1, false, false, false },
		{ "-H X-Idempotency-Key:k URL", NULL, 1, false, false, false },
		{ "-H @f URL", NULL, 1, false, false, false },
		{ "--proxy-header Idempotency-Key:k URL", NULL, 1, false, false,
		    false },
		{ "-d x -H Idempotency-Key:k A --next B", NULL, 1, false, false,
		    true },
		{ "-d x -H Idempotency-Key:k A --next -d x B", NULL, 1, false,
		    false, false },
		{ "-d x A --next -d x -H Idempotency-Key:k B", NULL, 1, false,
		    false, false },
		{ "A --next -d x -H Idempotency-Key:k B", NULL, 1, false, false,
		    true },
		{ "-d x A --next -H Idempotency-Key:k B", NULL, 1, false, false,
		    false },
		{ "-H Idempotency-Key:k A --next -d x B", NULL, 1, false, false,
		    false },
	};

	for (size_t i = 0; i < LENGTH(rows); i++) {
		const char *line = rows[i].line;
		struct curl curl = read_line(line);

		EQUAL(line, (int64_t)curl.opening, (int64_t)rows[i].opening);
		EQUAL(line, curl.dumps, rows[i].dumps);
		SAME(line, curl.dump, rows[i].dump);
		EQUAL(line, curl.retries, rows[i].retries);
		EQUAL(line, curl.keyed, rows[i].keyed);
	}
}

static void
test_several_transfers(void)
{
	static const char *const one[] = { "", "URL", "-s URL", "-o f URL",
		"--url URL", "-- URL", "-d [1-2] URL", "http://[::1]:80/",
		"http://[fe80::1%25eth0]/" };
	static const char *const more[] = { "A B", "A -s B", "--url A B",
		"A --url=B", "-- A -B", "A -- B", "A --next B", "A -: B",
		"/[1-3]", "/[a-z:2]", "http://[::1]/[1-3]", "A --next",
		"--url /{a,b}", "A -- -- " };

	for (size_t i = 0; i < LENGTH(one); i++)
		HOLDS(one[i], !read_line(one[i]).several);
	for (size_t i = 0; i < LENGTH(more); i++)
		HOLDS(more[i], read_line(more[i]).several);
	EQUAL("A --next B", (int64_t)read_line("A --next B").next, 3);
	EQUAL("A B", (int64_t)read_line("A B").next, 0);
}

static void
test_curls_that_exit_with_0_after_an_error(void)
{
	static const char *const lenient[] = { "http://a", "HTTPS://a/b",
		"a.org", "localhost:80/x", "-s --url a", "-o f http://a",
		"-d x a", "-I a", "--fail --no-fail a", "--fail-early a",
		"-fs a --next b", "a --next -f b", "ftp://a http://b",
		"a/?to=ftp://b", "-w f a" };
	static const char *const others[] = { "", "-V", "-f a", "-sSfo x a",
		"--fail a", "a --fail-with-body", "--fail-w a", "ftp://a",
		"FTP.a.org", "file:///a", "ftp://a/?to=http://b", "-K f a",
		"--later-option a", "-f a --next -f b", "--url" };

	for (size_t i = 0; i < LENGTH(lenient); i++)
		HOLDS(lenient[i], read_line(lenient[i]).lenient);
	for (size_t i = 0; i < LENGTH(others); i++)
		HOLDS(others[i], !read_line(others[i]).lenient);
}

/* Blanks within a header, which the tables above cannot have. */
static void
test_a_header_with_blanks_is_a_key(void)
{
	char curl[] = "curl", h[] = "-H", full[] = "Idempotency-Key: k 1",
	     empty[] = "Idempotency-Key:  ";
	char *with[] = { curl, h, full, NULL };
	char *without[] = { curl, h, empty, NULL };
	char *nothing[] = { NULL };

	HOLDS(full, curl_read(with).keyed);
	HOLDS(empty, !curl_read(without).keyed);
	SAME("no words at all", curl_read(nothing).method, "GET");
}

static void
test_operations_one_by_one(void)
{
	char curl[] = "curl", q[] = "-qs:", a[] = "A", next[] = "--next",
	     data[] = "-dx";
	char *argv[] = { curl, q, a, next, data, a, next, NULL };
	struct curl first = curl_operation(argv, 1);
	struct curl second = curl_operation(argv, 2);
	struct curl third = curl_operation(argv, 4);

	EQUAL("-qs:", (int64_t)first.opening, 2);
	EQUAL("-qs:", (int64_t)first.next, 2);
	EQUAL("A --next", (int64_t)second.opening, 2);
	EQUAL("A --next", (int64_t)second.next, 4);
	SAME("A --next", second.method, "GET");
	EQUAL("-dx A", (int64_t)third.opening, 4);
	EQUAL("-dx A", (int64_t)third.next, 7);
	SAME("-dx A", third.method, "POST");
}

static void
test_idempotent_methods(void)
{
	static const char *const good[] = { "GET", "HEAD", "OPTIONS", "TRACE",
		"PUT", "DELETE", "PROPFIND", "QUERY", "VERSION-CONTROL", "ACL",
		"get", "Delete" };
	static const char *const bad[] = { "POST", "PATCH", "CONNECT", "LOCK",
		"PURGE", "post", "", "GE", "GETS", "GET PUT", "VERSION",
		"{{method}}" };

	for (size_t i = 0; i < LENGTH(good); i++)
		HOLDS(good[i], curl_idempotent(good[i]));
	for (size_t i = 0; i < LENGTH(bad); i++)
		HOLDS(bad[i], !curl_idempotent(bad[i]));
	HOLDS("unknown", curl_idempotent(NULL));
}

static void
test_small_answers(void)
{
	char row[16];

	for (int status = 0; status < 256; status++) {
		snprintf(row, sizeof row, "%d", status);
		EQUAL(row, curl_never_sent(status), status >= 5 && status <= 7);
	}
	HOLDS("curl", curl_named("curl"));
	HOLDS("/usr/bin/curl", curl_named("/usr/bin/curl"));
	HOLDS("./curl", curl_named("./curl"));
	HOLDS("curl/", !curl_named("curl/"));
	HOLDS("curlie", !curl_named("curlie"));
	HOLDS("/curl/wget", !curl_named("/curl/wget"));
	HOLDS("", !curl_named(""));
}

static void (*const tests[])(void) = {
	test_captures,
	test_every_capture_has_its_row,
	test_forms,
	test_json_forms,
	test_heads,
	test_bodies,
	test_dumps,
	test_what_follows_the_start,
	test_lengths_lead_on,
	test_any_bytes_may_stand_between,
	test_waits,
	test_a_malformed_field_sets_doubtful,
	test_dates,
	test_what_is_no_date,
	test_judgement,
	test_methods,
	test_what_else_curl_says,
	test_several_transfers,
	test_curls_that_exit_with_0_after_an_error,
	test_a_header_with_blanks_is_a_key,
	test_operations_one_by_one,
	test_idempotent_methods,
	test_small_answers,
};

UNIT(tests);
