/*
 * Any text as TRACEPARENT: what is accepted is written and read again, and is
 * the same. Any text as a list of attributes: all of them are in the room for
 * the list, each has a key, and no two keys are equal.
 */
#include "fuzz.h"
#include "attempt/trace.h"

static void check_parent(const char *text) {
	static const uint64_t random[3] = { 1, 2, 3 };
	char room[TRACE_ROOM];
	struct trace trace, again;

	trace_start(&trace, text, NULL, random);
	if (!trace.on)
		return;
	fuzz_never((trace.id[0] | trace.id[1]) == 0 || trace.span == 0);
	trace_begin(&trace, trace.parent);
	trace_put(room, &trace);
	trace_start(&again, room, NULL, random);
	fuzz_never(strlen(room) != sizeof room - 1 || !again.on ||
	    (trace.parent != 0 && memcmp(room + 2, text + 2, sizeof room - 5) != 0) ||
	    again.parent != trace.attempt);
}

static void check_inside(struct strview text, const char *room, size_t size) {
	fuzz_never(text.length > 0 &&
	    (text.at < room || text.length > (size_t)(room + size - text.at)));
}

static void check_list(struct strview list) {
	static struct trace_resource resource;
	char *room = malloc(list.length + 1);

	fuzz_never(room == NULL);
	fuzz_never(!trace_resource_parse(&resource, list, room) && resource.count != 0);
	fuzz_never(resource.count > TRACE_ATTRIBUTES);
	for (size_t i = 0; i < resource.count; i++) {
		struct strview key = resource.attributes[i].key;

		check_inside(key, room, list.length);
		check_inside(resource.attributes[i].value, room, list.length);
		fuzz_never(key.length == 0);
		for (size_t j = 0; j < i; j++) {
			struct strview other = resource.attributes[j].key;

			fuzz_never(other.length == key.length &&
			    memcmp(other.at, key.at, key.length) == 0);
		}
	}
	free(room);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	char *text = fuzz_text(data, size);

	check_parent(text);
	check_list((struct strview){ text, size });
	free(text);
	return 0;
}
