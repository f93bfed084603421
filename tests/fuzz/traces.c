/*
 * Any text as TRACEPARENT: what is accepted is written and read again, and is
 * the same. Any text as a list of attributes: all of them are in the room for
 * the list, each has a key, and no two keys are equal.
 */
#include "fuzz.h"
#include "trace/trace.h"

static void
check_parent(const char *text)
{
	static const uint64_t random[3] = { 1, 2, 3 };
	char room[TRACE_ROOM];
	struct trace trace, again;

	trace_start(&trace, text, NULL, random);
	if (!trace.on)
		return;
	if ((trace.id[0] | trace.id[1]) == 0 || trace.span == 0)
		abort();
	trace_begin(&trace, trace.parent);
	trace_put(room, &trace);
	trace_start(&again, room, NULL, random);
	if (strlen(room) != sizeof room - 1 || !again.on ||
	    (trace.parent != 0 &&
		memcmp(room + 2, text + 2, sizeof room - 5) != 0) ||
	    again.parent != trace.attempt)
		abort();
}

static void
check_inside(struct strview text, const char *room, size_t size)
{
	if (text.length > 0 &&
	    (text.at < room || text.length > (size_t)(room + size - text.at)))
		abort();
}

static void
check_list(struct strview list)
{
	static struct trace_resource resource;
	char *room = malloc(list.length + 1);

	if (room == NULL)
		abort();
	if (!trace_resource_parse(&resource, list, room) && resource.count != 0)
		abort();
	if (resource.count > TRACE_ATTRIBUTES)
		abort();
	for (size_t i = 0; i < resource.count; i++) {
		struct strview key = resource.attributes[i].key;

		check_inside(key, room, list.length);
		check_inside(resource.attributes[i].value, room, list.length);
		if (key.length == 0)
			abort();
		for (size_t j = 0; j < i; j++) {
			struct strview other = resource.attributes[j].key;

			if (other.length == key.length &&
			    memcmp(other.at, key.at, key.length) == 0)
				abort();
		}
	}
	free(room);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = fuzz_text(data, size);

	check_parent(text);
	check_list((struct strview){ text, size });
	free(text);
	return 0;
}
