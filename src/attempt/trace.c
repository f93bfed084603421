#include "attempt/trace.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Where the fields of a TRACEPARENT are, and how long it is. */
#define TRACE_AT 3
#define SPAN_AT 36
#define FLAGS_AT 53
#define LENGTH 55

#define SAMPLED 1

/* The value of so many hexadecimal digits. */
static uint64_t
hex(const char *text, size_t count)
{
	uint64_t value = 0;

	for (size_t i = 0; i < count; i++)
		value = value << 4 | (uint64_t)strview_hex(text[i]);
	return value;
}

/* Reads all of a TRACEPARENT. Digits are in lower case in all versions. */
static bool
parse(struct trace *trace, const char *text)
{
	uint64_t version;

	for (size_t i = 0; i < LENGTH; i++) {
		bool dash =
		    i + 1 == TRACE_AT || i + 1 == SPAN_AT || i + 1 == FLAGS_AT;

		if (text[i] == '\0' ||
		    strchr(dash ? "-" : "0123456789abcdef", text[i]) == NULL)
			return false;
	}
	/* Version 00 has four fields, a later one at least these. Version ff is
	 * invalid. */
	version = hex(text, 2);
	if (version == 0xff ||
	    (text[LENGTH] != '\0' && (version == 0 || text[LENGTH] != '-')))
		return false;
	trace->id[0] = hex(text + TRACE_AT, 16);
	trace->id[1] = hex(text + TRACE_AT + 16, 16);
	trace->parent = hex(text + SPAN_AT, 16);
	trace->on = (hex(text + FLAGS_AT, 2) & SAMPLED) != 0;
	return (trace->id[0] | trace->id[1]) != 0 && trace->parent != 0;
}

/* An id of a random number. */
static uint64_t
id(uint64_t random)
{
	return random != 0 ? random : 1;
}

void
trace_start(struct trace *trace, const char *parent, const char *state,
    const uint64_t random[3])
{
	trace->state = state != NULL && *state != '\0' ? state : NULL;
	if (parent == NULL || !parse(trace, parent)) {
		/* The state belongs to another trace: Trace Context, sections
		 * 4.2 and 4.3. */
		*trace = (struct trace){ .on = true,
			.id = { id(random[0]), random[1] } };
	}
	trace->span = trace->attempt = id(random[2]);
}

void
trace_begin(struct trace *trace, uint64_t random)
{
	trace->attempt = id(random);
}

char *
trace_put(char room[TRACE_ROOM], const struct trace *trace)
{
	/* Level 1 knows no flag but SAMPLED, and has the others set to zero. */
	snprintf(room, TRACE_ROOM,
	    "00-%016" PRIx64 "%016" PRIx64 "-%016" PRIx64 "-%02x", trace->id[0],
	    trace->id[1], trace->attempt, SAMPLED);
	return room;
}

/* Decodes text, without the blanks around it, at *room, and moves *room behind
 * it. */
static bool
decode(struct strview *text, char **room)
{
	struct strview decoded = { *room, 0 }, coded = strview_trim(*text);

	if (!strview_unescape(coded, *room, coded.length, &decoded.length))
		return false;
	*room += decoded.length;
	*text = decoded;
	return true;
}

static bool
same(struct strview a, struct strview b)
{
	return a.length == b.length &&
	    (a.length == 0 || memcmp(a.at, b.at, a.length) == 0);
}

struct strview *
trace_resource_value(struct trace_resource *resource, struct strview key)
{
	size_t i = 0;

	while (i < resource->count && !same(resource->attributes[i].key, key))
		i++;
	if (i == resource->count)
		resource->attributes[resource->count++] =
		    (struct trace_attribute){ .key = key };
	return &resource->attributes[i].value;
}

bool
trace_resource_parse(
    struct trace_resource *resource, struct strview list, char *room)
{
	resource->count = 0;
	while (list.length > 0) {
		struct strview value = strview_part(&list, ',');
		struct strview key = strview_part(&value, '=');
		/* If there is no '=', the key was the whole member. */
		bool pair = value.at != key.at + key.length;
		bool good = !pair && strview_trim(key).length == 0;

		if (pair && decode(&key, &room) && key.length > 0 &&
		    decode(&value, &room)) {
			*trace_resource_value(resource, key) = value;
			good = resource->count <= TRACE_ATTRIBUTES;
		}
		if (!good) {
			resource->count = 0;
			return false;
		}
	}
	return true;
}
