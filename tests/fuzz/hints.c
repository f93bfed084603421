/*
 * Any pattern and any output: however the output is cut into chunks, the same
 * wait is found in it. A text of ordinary units is read as duration.h reads it.
 */
#include "fuzz.h"
#include "match/pattern.h"

#define NOW (1795341600 * NANOS_SECOND)

/* The wait in text, cut into chunks, or the time of the day; -1: none. */
static nanos find(struct pattern_hint *hint, const uint8_t *text, size_t size, size_t chunk) {
	struct clock clock;
	nanos wait;

	pattern_hint_start(hint);
	for (size_t at = 0; at < size;)
		at += pattern_hint_feed(hint, text + at, size - at < chunk ? size - at : chunk);
	switch (pattern_hint_end(hint, NOW, &wait, &clock)) {
	case PATTERN_WAIT: return wait;
	case PATTERN_CLOCK:
		fuzz_never(clock.second < 0 || clock.second >= 86400);
		return clock.second + (nanos)strlen(clock.zone);
	default: return -1;
	}
}

/* In a message a point behind a unit ends the sentence. */
static bool ends_sentence(const uint8_t *text, size_t size) {
	for (size_t i = 0; i < size; i++)
		if (text[i] == '.' && (i == 0 || text[i - 1] < '0' || text[i - 1] > '9'))
			return true;
	return false;
}

/* A time that a user may type, "1h30m", means the same in a message. */
static void check_typed(struct pattern_hint *hint, const uint8_t *text, size_t size) {
	struct pattern_error error;
	nanos typed;

	if (!duration_parse((const char *)text, size, &typed) || size >= 16 || text[0] == '.' ||
	    ends_sentence(text, size) || memchr(text, 's', size) == NULL)
		return;
	pattern_compile(&hint->pattern, "^", 1, &error);
	fuzz_never(find(hint, text, size, size) != typed);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	static struct pattern_hint hint = { .unit = NANOS_SECOND };
	const uint8_t *end = memchr(data, '\n', size);
	struct pattern_error error;
	nanos wait;

	check_typed(&hint, data, size);
	if (end == NULL ||
	    !pattern_compile(&hint.pattern, (const char *)data, (size_t)(end - data), &error))
		return 0;
	size -= (size_t)(end + 1 - data);
	wait = find(&hint, end + 1, size, size + 1);
	fuzz_never(wait < -1);
	for (size_t chunk = 1; chunk < 6; chunk++)
		fuzz_never(find(&hint, end + 1, size, chunk) != wait);
	return 0;
}
