#include "unit.h"

static int passed, failed;
static struct unit_test *tests; /* by file and line */
static struct unit_place current; /* the row of TEST_ROWS */

void unit_begin_row(const char *file, const char *row) {
	current.file = file;
	current.row = row;
}

/* A row as the source has it, from its quotation mark on, as far as it surely stands
 * on one line. */
static void put_source(char room[64], const char *row) {
	static const char plain[] = "\"\\\n\t\r", escaped[] = "\"\\ntr";
	char *to = room;

	for (*to++ = '"'; row != NULL && *row >= '\t' && *row <= '~' && to < room + 40; row++) {
		const char *at = strchr(plain, *row);

		if (at != NULL)
			*to++ = '\\';
		*to++ = at != NULL ? escaped[at - plain] : *row;
	}
	*to = '\0';
}

/* The line with the row of a check: the last one before it, or else the next one; 0: none. */
static int line_of_row(const struct unit_place *at) {
	FILE *file = fopen(at->file, "r");
	char line[512], source[64];
	int found = 0;

	put_source(source, at->row);
	for (int i = 1; file != NULL && fgets(line, sizeof line, file) != NULL; i++)
		if (source[1] != '\0' && (i <= at->line || found == 0) &&
		    strstr(line, source) != NULL)
			found = i;
	if (file != NULL)
		fclose(file);
	return found;
}

/* The line of the current row: the one with the longest text that the row has, too. */
static int line_of_current(void) {
	FILE *file = fopen(current.file, "r");
	char line[512], *rest, *text;
	size_t longest = 0;
	int found = 0;

	for (int i = 1; file != NULL && fgets(line, sizeof line, file) != NULL; i++)
		for (rest = line; (text = strsep(&rest, "\"")) != NULL;)
			if (text != line && strlen(text) > longest && strstr(current.row, text)) {
				longest = strlen(text);
				found = i;
			}
	if (file != NULL)
		fclose(file);
	return found;
}

/* Counts a check; true if it failed and the caller has more to say of it. */
static bool fails(bool value, const struct unit_place *at) {
	const char *file = at->file;
	int line;

	if (value) {
		passed++;
		return false;
	}
	failed++;
	line = line_of_row(at);
	if (line == 0 && current.row != NULL) {
		line = line_of_current();
		file = current.file;
	}
	printf("%s:%d: [%s] %s, line %d", file, line == 0 ? at->line : line, at->row, at->what,
	    at->line);
	return true;
}

void unit_holds(struct unit_place at, bool value) {
	if (fails(value, &at))
		printf(": does not hold\n");
}

void unit_equal(struct unit_place at, int64_t got, int64_t want) {
	if (fails(got == want, &at))
		printf(": got %" PRId64 ", want %" PRId64 "\n", got, want);
}

void unit_same(struct unit_place at, const char *got, const char *want) {
	got = got == NULL ? "(none)" : got;
	want = want == NULL ? "(none)" : want;
	if (fails(strcmp(got, want) == 0, &at))
		printf(": got \"%s\", want \"%s\"\n", got, want);
}

void unit_alike(struct unit_place at, const char *const *texts, size_t most,
    const char *(*show)(const char *text)) {
	for (size_t i = 1; i < most && texts[i] != NULL; i++) {
		at.row = texts[i];
		unit_same(at, show(texts[i]), texts[0]);
	}
}

size_t unit_member(const char *line, const char *name, char *room) {
	char quoted[32], end, *to = room;
	const char *at;

	snprintf(quoted, sizeof quoted, "\"%s\": ", name);
	at = strstr(line, quoted);
	at = at == NULL ? "\"\"" : at + strlen(quoted);
	end = *at == '"' ? *at++ : ',';
	for (; *at != end && *at != '\0'; at++, to++) {
		unsigned int code;

		*to = *at;
		if (*at != '\\')
			continue;
		at++;
		*to = *at == 'n' ? '\n' : *at == 'r' ? '\r' : *at == 't' ? '\t' : *at;
		if (sscanf(at, "u%4x", &code) == 1) {
			*to = (char)code;
			at += 4;
		}
	}
	*to = '\0';
	return (size_t)(to - room);
}

void unit_add(struct unit_test *test) {
	struct unit_test **at = &tests;
	int order;

	for (; *at != NULL; at = &(*at)->next) {
		order = strcmp((*at)->file, test->file);
		if (order > 0 || (order == 0 && (*at)->line > test->line))
			break;
	}
	test->next = *at;
	*at = test;
}

static bool is_wanted(const struct unit_test *test, char **words) {
	if (*words == NULL)
		return true;
	for (; *words != NULL; words++)
		if (strstr(test->file, *words) != NULL)
			return true;
	return false;
}

int unit_failures(void) { return failed; }

int unit_run(char **words) {
	for (const struct unit_test *test = tests; test; test = test->next)
		if (is_wanted(test, words))
			test->run();
	printf("unit: %d passed, %d failed\n", passed, failed);
	return failed == 0 && passed > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
