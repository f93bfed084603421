/*
 * preset: the table against lines that tools print; tests/tools/replay has
 * whole captures.
 */
#include "unit.h"
#include "policy/conditions.h"
#include "match/pattern.h"
#include "preset/preset.h"

static struct watch watch_room[CONDITIONS_WATCHES];

static struct pattern pattern; /* too large for the stack */

/* How a failure is judged by a preset alone. */
enum means { SUCCESS, STOP, RETRY, NEITHER };

static const char *const words[] = { "success", "stop", "retry", "neither" };

static bool
matches(const char *ere, const char *text, size_t length)
{
	struct pattern_error error;

	if (ere == NULL)
		return false;
	if (!pattern_compile(&pattern, ere, strlen(ere), &error))
		return false;
	pattern_start(&pattern);
	pattern_feed(&pattern, text, length);
	return pattern_end(&pattern);
}

static bool
either(const char *err, const char *out, const char *on_err, const char *on_out)
{
	return matches(err, on_err, strlen(on_err)) ||
	    matches(out, on_out, strlen(on_out));
}

static enum means
judge(const struct preset *p, int status, const char *err, const char *out)
{
	struct conditions codes = { 0 };
	struct watches watches = {
		.list = watch_room
	}; /* codes of presets are plain */
	struct conditions_error error;

	if (status == 0 && !either(p->err.failed, p->out.failed, err, out))
		return SUCCESS;
	if (either(p->err.fatal, p->out.fatal, err, out))
		return STOP;
	if (!conditions_parse(&codes, &watches, p->codes, &error))
		return STOP;
	if (conditions_has_exit(&codes, status) ||
	    either(p->err.transient, p->out.transient, err, out))
		return RETRY;
	return NEITHER;
}

/*
 * Takes the lines of a text apart, into two rooms of the same size: a line
 * behind "> " is on standard output, any other on standard error.
 */
static void
split(const char *text, char *err, char *out, size_t size)
{
	size_t used[2] = { 0, 0 };

	*err = *out = '\0';
	for (size_t length; *text != '\0'; text += length) {
		bool on_out = strncmp(text, "> ", 2) == 0;
		const char *end = strstr(text, "\\n");
		size_t *at = &used[on_out];

		text += on_out ? 2 : 0;
		length = end == NULL ? strlen(text) : (size_t)(end - text);
		*at += (size_t)snprintf((on_out ? out : err) + *at, size - *at,
		    "%s%.*s", *at > 0 ? "\n" : "", (int)length, text);
		length += end == NULL ? 0 : 2;
	}
}

static void
test_lines(void)
{
	FILE *file = fopen("tests/fixtures/tools/lines", "r");
	char row[512], name[32], means[16], err[512], out[512];
	int status, rows = 0;

	if (file == NULL)
		perror("tests/fixtures/tools/lines");
	while (file != NULL && fgets(row, sizeof row, file) != NULL) {
		const char *text = strstr(row, ": ");
		struct preset preset;

		row[strcspn(row, "\n")] = '\0';
		if (row[0] == '#')
			continue;
		rows++;
		EQUAL(row,
		    sscanf(row, "%31s %d %15[a-z]", name, &status, means), 3);
		HOLDS(row, preset_find(name, strlen(name), &preset));
		split(text == NULL ? "" : text + 2, err, out, sizeof err);
		SAME(row, words[judge(&preset, status, err, out)], means);
	}
	HOLDS("rows", rows > 400);
	if (file != NULL)
		fclose(file);
}

/*
 * The table itself
 */

/* The name of the row that a name or a program finds. */
static const char *
found(const char *name)
{
	struct preset row;

	return preset_find(name, strlen(name), &row) ? row.name : NULL;
}

static void
check_pattern(const char *name, const char *ere)
{
	struct pattern_error error = { "", 0 };

	if (ere == NULL)
		return;
	HOLDS(ere, pattern_compile(&pattern, ere, strlen(ere), &error));
	SAME(ere, error.why, "");
	pattern_start(&pattern);
	HOLDS(name, !pattern_feed(&pattern, "\n\n", 2)); /* matches anything */
	HOLDS(name, strncmp(ere, "(?i)", 4) != 0);
}

static void
test_rows_are_whole(void)
{
	char before[32] = "";
	struct preset row, *p = &row;

	for (size_t i = 0; preset_at(i, p); i++) {
		struct conditions codes = { 0 };
		struct watches watches = { .list = watch_room };
		struct conditions_error error = { "", "", 0 };

		HOLDS(p->name,
		    conditions_parse(&codes, &watches, p->codes, &error));
		SAME(p->name, error.why, "");
		HOLDS(p->name, codes.timeout);
		HOLDS(p->name, !codes.fail);
		HOLDS(p->name, !conditions_has_exit(&codes, 0));
		EQUAL(p->name, watches.count, 0);
		HOLDS(p->name, *p->source != '\0');
		HOLDS(p->name, *p->knows != '\0');
		HOLDS(p->name, strcmp(before, p->name) < 0);
		snprintf(before, sizeof before, "%s", p->name);
		SAME(p->name, found(p->name), p->name);
		check_pattern(p->name, p->err.fatal);
		check_pattern(p->name, p->err.transient);
		check_pattern(p->name, p->err.failed);
		check_pattern(p->name, p->out.fatal);
		check_pattern(p->name, p->out.transient);
		check_pattern(p->name, p->out.failed);
		check_pattern(p->name, p->wait);
	}
}

/* Each program has one row, and its row finds it. */
static void
test_programs_have_one_row(void)
{
	char word[64];

	struct preset row, other;

	for (size_t i = 0; preset_at(i, &row); i++) {
		const char *at = row.programs;

		while (at != NULL && *at != '\0') {
			size_t end = strcspn(at, " ");

			snprintf(word, sizeof word, "%.*s", (int)end, at);
			HOLDS(word, preset_for_program(word, &other));
			SAME(word, other.name, row.name);
			at += end + (at[end] == ' ');
			HOLDS(word, *at != ' ');
		}
	}
}

static const struct {
	const char *path, *name;
} programs[] = {
	{ "curl", "curl" },
	{ "/usr/bin/curl", "curl" },
	{ "./apt-get", "apt" },
	{ "pip3.11", "pip" },
	{ "/x/wget2", "wget2" },
	{ "sqlite3", "sqlite3" },
	{ "go1.22.1", "go" },
	{ "mariadb-dump", "mysql" },
	{ "pg_restore", "psql" },
	{ "podman", "docker" },
	{ "net", NULL },
	{ "sysexits", NULL },
	{ "redis", NULL },
	{ "curlx", NULL },
	{ "cur", NULL },
	{ "curl ", NULL },
	{ "gofmt", NULL },
	{ "curl/", NULL },
	{ "", NULL },
	{ "7", NULL },
	{ "sh", NULL },
};

static void
test_programs(void)
{
	for (size_t i = 0; i < LENGTH(programs); i++) {
		struct preset row;
		bool known = preset_for_program(programs[i].path, &row);

		SAME(programs[i].path, known ? row.name : NULL,
		    programs[i].name);
	}
	SAME("aptx", found("aptx"), NULL);
	SAME("apt-get", found("apt-get"), "apt");
	SAME("sqlite", found("sqlite"), "sqlite3");
	SAME("", found(""), NULL);
	SAME("list", found("list"), NULL);
	SAME("auto", found("auto"), NULL);
}

static void (*const tests[])(void) = {
	test_lines,
	test_rows_are_whole,
	test_programs_have_one_row,
	test_programs,
};

UNIT(tests);
