/*
 * Any pattern and any output: however the output is cut into chunks, the same
 * wait is found in it. A text of ordinary units is read as duration.h reads it.
 */
#include "fuzz.h"
#include "match/hint.h"

/* Finds the wait in text, cut into chunks. */
static void
find(struct hint *hint, const uint8_t *text, size_t size, size_t chunk)
{
	hint_start(hint);
	for (size_t at = 0; at < size;)
		at += hint_feed(
		    hint, text + at, size - at < chunk ? size - at : chunk);
	hint_end(hint);
}

/* In a message a point behind a unit ends the sentence. */
static bool
ends_sentence(const uint8_t *text, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if (text[i] == '.' &&
		    (i == 0 || text[i - 1] < '0' || text[i - 1] > '9'))
			return true;
	return false;
}

/* A time that a user may type, "1h30m", means the same in a message. */
static void
check_typed(const uint8_t *text, size_t size)
{
	struct duration_reader reader = { .reads = false };
	nanos typed, told = -1;
	bool read = false;

	if (!duration_parse((const char *)text, size, &typed) || size >= 16 ||
	    ends_sentence(text, size) || memchr(text, 's', size) == NULL)
		return;
	duration_start(&reader, ' ');
	for (size_t i = 0; i < size && !read; i++)
		read = duration_take(&reader, text[i], &told);
	fuzz_never(
	    read || !duration_take(&reader, '\n', &told) || told != typed);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct hint hint;
	const uint8_t *end = memchr(data, '\n', size);
	struct pattern_error error;
	bool given;
	nanos wait;

	check_typed(data, size);
	if (end == NULL ||
	    !pattern_compile(&hint.pattern, (const char *)data,
		(size_t)(end - data), &error))
		return 0;
	size -= (size_t)(end + 1 - data);
	find(&hint, end + 1, size, size + 1);
	given = hint.given;
	wait = hint.wait;
	fuzz_never(given && wait < 0);
	for (size_t chunk = 1; chunk < 6; chunk++) {
		find(&hint, end + 1, size, chunk);
		fuzz_never(hint.given != given || (given && hint.wait != wait));
	}
	return 0;
}
