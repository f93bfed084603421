/*
 * Any text as a LIST of conditions: a refusal changes nothing and points into
 * the list; the items one by one give the same set as all at once, and twice as
 * once.
 */
#include "fuzz.h"
#include "policy/conditions.h"

struct state {
	struct conditions set;
	struct watches watches;
	struct watch room[CONDITIONS_WATCHES];
};

static void start(struct state *state) {
	memset(state, 0, sizeof *state); /* padding too: it is compared */
	state->watches.list = state->room;
}

static bool parse(struct state *state, const char *list) {
	struct state before = *state;
	struct conditions_error error;

	if (conditions_parse(&state->set, &state->watches, list, &error)) {
		fuzz_never(conditions_empty(&state->set));
		return true;
	}
	fuzz_never(memcmp(state, &before, sizeof before) != 0);
	fuzz_never(error.why == NULL || error.item < list || error.length > strlen(list) ||
	    error.item + error.length > list + strlen(list));
	return false;
}

static bool parse_items(struct state *state, char *list) {
	while (list != NULL) {
		const char *item = strncmp(list, "again:", 6) == 0 ? list + 6 : list;
		bool pattern = strncmp(item, "stderr:", 7) == 0 || strncmp(item, "stdout:", 7) == 0;
		char *comma = pattern ? NULL : strchr(list, ',');

		if (comma != NULL)
			*comma++ = '\0';
		if (!parse(state, list))
			return false;
		list = comma;
	}
	return true;
}

static bool same(const struct state *a, const struct state *b) {
	return memcmp(&a->set, &b->set, sizeof a->set) == 0 && a->watches.count == b->watches.count;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	char *list = fuzz_text(data, size), *items = fuzz_text(data, size);
	struct state whole, parts, twice;
	bool accepted;

	start(&whole);
	start(&parts);
	accepted = parse(&whole, list);
	fuzz_never(parse_items(&parts, items) != accepted);
	fuzz_never(accepted && !same(&whole, &parts));
	twice = whole;
	twice.watches.list = twice.room;
	fuzz_never(accepted && (!parse(&twice, list) || !same(&whole, &twice)));
	free(list);
	free(items);
	return 0;
}
