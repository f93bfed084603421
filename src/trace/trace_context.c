#include "trace/trace_context.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>
#include "text/strview.h"

/* How many digits the version and the flags have. */
#define BYTE 2

/* How many digits the id of a span has, and each half of the id of a trace. */
#define WORD 16

/* Where the fields of a text are, and how long it is. */
#define TRACE_AT 3
#define SPAN_AT 36
#define FLAGS_AT 53
#define LENGTH 55

#define SAMPLED 1

/* Reads so many digits, which are lower case in all versions. */
static bool
read_hex(const char *text, size_t count, uint64_t *value)
{
	*value = 0;
	for (size_t i = 0; i < count; i++) {
		int digit = strview_hex(text[i]);

		if (digit == -1 || isupper((unsigned char)text[i]))
			return false;
		*value = *value << 4 | (uint64_t)digit;
	}
	return true;
}

/*
 * Whether a text may have this length: version 00 has four fields, a later one
 * at least these. Version ff is invalid.
 */
static bool
fits(const char *text, uint64_t version)
{
	size_t length = strlen(text);

	return version != 0xff &&
	    (length == LENGTH ||
		(version > 0 && length > LENGTH && text[LENGTH] == '-'));
}

bool
trace_context_parse(const char *text, struct trace_context *context)
{
	uint64_t version, flags;

	if (strlen(text) < LENGTH || !read_hex(text, BYTE, &version) ||
	    !fits(text, version) || text[TRACE_AT - 1] != '-' ||
	    text[SPAN_AT - 1] != '-' || text[FLAGS_AT - 1] != '-' ||
	    !read_hex(text + TRACE_AT, WORD, &context->trace[0]) ||
	    !read_hex(text + TRACE_AT + WORD, WORD, &context->trace[1]) ||
	    !read_hex(text + SPAN_AT, WORD, &context->span) ||
	    !read_hex(text + FLAGS_AT, BYTE, &flags))
		return false;
	context->sampled = (flags & SAMPLED) != 0;
	return (context->trace[0] | context->trace[1]) != 0 &&
	    context->span != 0;
}

char *
trace_context_put(
    char room[TRACE_CONTEXT_ROOM], const struct trace_context *context)
{
	char *at = strview_put_hex(room, BYTE, 0);

	*at++ = '-';
	at = strview_put_hex(strview_put_hex(at, WORD, context->trace[0]), WORD,
	    context->trace[1]);
	*at++ = '-';
	at = strview_put_hex(at, WORD, context->span);
	*at++ = '-';
	/* Level 1 knows no other flag, and has them set to zero. */
	strview_put_hex(at, BYTE, context->sampled ? SAMPLED : 0);
	return room;
}

char *
trace_context_put_trace(
    char room[TRACE_CONTEXT_TRACE], const struct trace_context *context)
{
	strview_put_hex(strview_put_hex(room, WORD, context->trace[0]), WORD,
	    context->trace[1]);
	return room;
}

char *
trace_context_put_span(char room[TRACE_CONTEXT_SPAN], uint64_t span)
{
	strview_put_hex(room, WORD, span);
	return room;
}
