/*
 * A status file of any bytes: parsing it ends, reads no byte behind the last, and
 * returns only what the header promises, the same wherever it is cut. The first eight bytes are
 * also the time, so that every time occurs.
 */
#include "fuzz.h"
#include "http/http_status.h"

static void check(const struct http_status *http) {
	fuzz_never(http->code < -1 || http->code > 999);
	fuzz_never(http->after.wait < 0 || (!http->after.given && http->after.wait != 0));
	fuzz_never(http->code == 0 && (http->after.given || http->after.never));
	fuzz_never(http->code < 0 && http_status_judge(http) != HTTP_STATUS_SAYS_NOTHING);
	fuzz_never(http->after.never && http_status_judge(http) == HTTP_STATUS_SAYS_RETRY);
}

/* Reads it in parts of this size. */
static struct http_status
parse(const char *bytes, size_t size, size_t most, enum http_form form, nanos now) {
	static struct http_reader reader;

	http_status_begin(&reader, form, now);
	for (size_t at = 0, part; at < size; at += part) {
		part = size - at < most ? size - at : most;
		if (!http_status_add(&reader, bytes + at, part))
			break;
	}
	return http_status_end(&reader, bytes, size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	const char *bytes = (const char *)data;
	nanos now = 0;
	struct http_status http, other;

	memcpy(&now, data, size < sizeof now ? size : sizeof now);
	http = parse(bytes, size, size, HTTP_FORM_ANY, 1787407200 * NANOS_SECOND);
	check(&http);
	for (int i = HTTP_FORM_ANY; i <= HTTP_FORM_SEVERAL; i++) {
		enum http_form form = (enum http_form)i;

		http = parse(bytes, size, size, form, now);
		check(&http);
		other = parse(bytes, size, 3, form, now);
		fuzz_never(other.code != http.code || other.after.wait != http.after.wait);
		fuzz_never(other.after.never != http.after.never);
		fuzz_never(other.after.doubtful != http.after.doubtful);
		fuzz_never(strcmp(other.after.doubt, http.after.doubt) != 0);
	}
	return 0;
}
