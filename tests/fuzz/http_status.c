/*
 * A status file of any bytes: parsing it ends, reads no byte behind the last,
 * and returns only what the header promises. The first eight bytes are also the
 * time, so that every time occurs.
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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	const char *bytes = (const char *)data;
	nanos now = 0;
	struct http_status http;

	memcpy(&now, data, size < sizeof now ? size : sizeof now);
	http = http_status_parse(bytes, size, false, now);
	check(&http);
	http = http_status_parse(bytes, size, false, 1787407200 * NANOS_SECOND);
	check(&http);
	http = http_status_parse(bytes, size, true, now);
	check(&http);
	return 0;
}
