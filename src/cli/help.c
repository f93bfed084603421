#include "cli/help.h"

#include <string.h>
#include <unistd.h>
#include "attempt/termination.h"
#include "cli/config.h"
#include "exit_status.h"
#include "output/writer.h"
#include "sys/sys.h"
#include "version.h"

/* The column of the help texts: two blanks after the longest option. */
#define HELP_COLUMN 30

/* The column of what a preset knows; every name of a preset is shorter. */
#define LIST_COLUMN 17

#define SYNOPSIS " [OPTION]... [--] COMMAND [ARG]...\n"
#define TARGETS " -w DUR [OPTION]... TARGET... [-- COMMAND [ARG]...]\n"

/* A line of these texts is a line of the output. */
/* clang-format off */
static const char first_options[] =
"Run COMMAND until it succeeds, or until retry gives up.\n"
"\n"
"  -n, --attempts N      most attempts, or inf (default 5; with -T, inf)\n"
"  -T, --deadline DUR    time for all attempts and delays: 90s, 10m, 1h30m\n"
"  -a, --auto            know which failures of curl, git, ssh, apt... to retry\n"
"  -w, --wait DUR        wait for tcp:HOST:PORT, unix:, file:, http: or COMMAND\n"
"  -t, --timeout DUR     time for one attempt\n"
"  -d, --delay DUR       first delay at most (default 1s), or each one: 1,5,30\n"
"  -j, --jitter none     wait exactly the delays, not random times up to them\n"
"      --retry-on LIST   retry only these failures: 75,timeout,stderr:locked\n"
"      --stop-on LIST    never retry these: 2,SEGV,stderr:denied\n"
"      --http            judge curl by the HTTP status, and obey Retry-After\n"
"  -I, --replay-stdin    give each attempt the whole input from a pipe\n"
"  -O, --hold-stdout     write the output only of the attempt that succeeds\n"
"  -E, --hold-stderr     write the last error output, and only if all fail\n"
"      --chronic         write only what the last wrote if all fail: for cron\n"
"  -B, --budget KEY      share a budget of retries with all that give this KEY\n"
"  -v, --verbose         report every attempt\n"
"      --dry-run         print delays, worst case and rules, and run nothing\n";

static const char purpose[] =
"Run COMMAND until it succeeds, or until one more attempt would do more harm\n"
"than good.\n";

static const char notations[] =
"\n"
"DUR is a time in seconds or with units: 2, 0.5, 500ms, 1h30m. SIZE is a number\n"
"of bytes, or with k, M, G or T: 64k, 1.5G.\n"
"\n"
"LIST has, separated by commas, exit statuses (7), ranges (64-78), signals\n"
"(SEGV), signal (any), timeout, idle (no output), fail (any failure), http:503,\n"
"http:5xx, over:5m or under:2s (the time that it ran); it may end with a pattern\n"
"in the output: stderr:ERE or stdout:ERE. again:ITEM: from the second attempt on.\n"
"\n"
"--no-NAME takes back an option without an argument, an empty argument a LIST,\n"
"NAME, HINT, CMD, KEY, TEXT, URL, breaker, rate, exhausted status or file.\n";

static const char statuses[] =
"\n"
"The exit status is 0 after a success. After a failure it is COMMAND's; if a\n"
"signal killed COMMAND, retry dies of that too. It is 1 if COMMAND exited 0 but\n"
"failed, 69 if a required budget cannot be used, 75 if a breaker or a limit held\n"
"back the first attempt, 124 at a time limit, 125 if retry itself failed, 126 if\n"
"COMMAND cannot be executed, 127 if it is not found.\n";
/* clang-format on */

/*
 * Writes the rest of a text to standard output, which is the writer's
 * descriptor, and exits: with 0, or with EXIT_STATUS_FAILED and a message where
 * not all of the text could be written.
 */
static _Noreturn void
finish(struct writer *writer)
{
	_exit(writer_deliver(writer) ? 0 : EXIT_STATUS_FAILED);
}

void
help_options(const struct option *table, bool all)
{
	struct writer writer = { .to = STDOUT_FILENO };
	const char *program = sys_program();

	writer_put_all(&writer, STRINGS("Usage: ", program, SYNOPSIS));
	if (!all) {
		writer_put_all(&writer,
		    STRINGS(first_options, "\nExample: ", program,
			" -a -T 10m -- curl -fsSO https://example.org/file\n'",
			program, " --help' prints all options, and 'man ",
			program, "' explains them.\n"));
		finish(&writer);
	}

	writer_put_all(&writer, STRINGS("       ", program, TARGETS, purpose));
	for (const struct option *o = table; o->name[0] != '\0'; o++) {
		const char letter[] = { '-', o->letter, ',', ' ', '\0' };

		if (o->heading[0] != '\0')
			writer_put_all(
			    &writer, STRINGS("\n", o->heading, ":\n"));
		writer_put_all(&writer,
		    STRINGS("  ", o->letter != '\0' ? letter : "    ", "--",
			o->name, o->argument[0] != '\0' ? " " : "",
			o->argument));
		for (const char *c = o->help; *c != '\0'; c++) {
			writer_pad(&writer, HELP_COLUMN);
			writer_put_bytes(&writer, c, 1);
		}
		writer_put(&writer, "\n");
	}
	writer_put_all(&writer,
	    STRINGS(notations, statuses, "\nExamples:\n  ", program,
		" -a -T 10m -- curl -fsSO https://example.org/file\n  ",
		program, " -w 1m -- pg_isready -q\n"));
	finish(&writer);
}

void
help_version(void)
{
	struct writer writer = { .to = STDOUT_FILENO };

	/* Always "retry", by whatever name it was called: GNU Coding
	 * Standards, "--version". Debian has another retry. */
	writer_put_all(&writer,
	    STRINGS("retry ", VERSION, "\n",
		"Runs a command until it succeeds; not Debian's package retry.",
		" See 'man ", sys_program(), "'.\n"));
	writer_format(&writer,
	    "A time limit ends up to %d processes of an attempt.\n",
	    TERMINATION_MOST);
	finish(&writer);
}

/*
 * Puts the items of one rule, a line each, as --stop-on, --retry-on and
 * --fail-on take them. An alternative outside of brackets is an item.
 */
static void
put_alternatives(
    struct writer *writer, const char *stream, const char *items, char by)
{
	int depth = 0;
	size_t end;

	while (items != NULL && *items != '\0') {
		for (end = 0; items[end] != '\0'; end++) {
			if (items[end] == by && depth == 0)
				break;
			depth += items[end] == '(' ? 1 : 0;
			depth -= items[end] == ')' ? 1 : 0;
			if (items[end] == '[')
				end += 1 + strcspn(items + end + 2, "]") + 1;
			else if (items[end] == '\\')
				end++;
		}
		writer_put_all(writer, STRINGS("  ", stream));
		writer_put_bytes(writer, items, end);
		writer_put(writer, "\n");
		items += end + (items[end] == by ? 1 : 0);
	}
}

/* Puts the lines of one rule, and above them what they mean. */
static void
put_rule(
    struct writer *writer, const char *means, const char *err, const char *out)
{
	if (err != NULL || out != NULL)
		writer_put(writer, means);
	put_alternatives(writer, "stderr:", err, '|');
	put_alternatives(writer, "stdout:", out, '|');
}

/* Puts the items of all LISTs that a file gives for an option, a line each, and
 * above them what they mean. */
static void
put_file_rule(struct writer *writer, const struct given *rules,
    const char *option, const char *means)
{
	for (; rules != NULL; rules = rules->next) {
		const char *item = rules->text;

		if (strcmp(rules->option, option) != 0)
			continue;
		writer_put(writer, means);
		means = "";
		for (size_t length; *item != '\0';
		     item += length + (item[length] == ',' ? 1 : 0)) {
			length = conditions_item(item);
			writer_put(writer, "  ");
			writer_put_escaped(writer, ESCAPE_PLAIN, item, length);
			writer_put(writer, "\n");
		}
	}
}

static void
put_file(
    struct writer *writer, const struct tool *tool, const struct given *rules)
{
	writer_put_escaped(
	    writer, ESCAPE_PLAIN, tool->name, strlen(tool->name));
	writer_put(writer, ": ");
	writer_put_escaped(
	    writer, ESCAPE_PLAIN, tool->path, strlen(tool->path));
	writer_put(writer, "\n");
	put_file_rule(writer, rules, "success-on", "a success:\n");
	put_file_rule(
	    writer, rules, "fail-on", "a failure, even with exit status 0:\n");
	put_file_rule(writer, rules, "stop-on", "a failure that stays:\n");
	put_file_rule(writer, rules, "retry-on", "a failure that passes:\n");
	put_file_rule(
	    writer, rules, "retry-after", "the time to wait is behind:\n");
	put_file_rule(writer, rules, "preset", "and what is known of:\n");
}

static void
put_preset(struct writer *writer, const struct preset *preset)
{
	const struct preset_lines *err = &preset->err, *out = &preset->out;
	char span[DURATION_ROOM];

	writer_put_all(writer,
	    STRINGS(preset->name, ": ", preset->knows,
		"\nfacts from: ", preset->source, "\n"));
	if (preset->screen != NULL)
		writer_put_all(writer,
		    STRINGS("standard output is searched unless it is a "
			    "terminal, which keeps:\n  ",
			preset->screen, "\n"));
	put_rule(writer, "a failure, even with exit status 0:\n", err->failed,
	    out->failed);
	put_rule(writer, "a failure that stays:\n", err->fatal, out->fatal);
	if (preset->because != NULL)
		writer_put_all(writer, STRINGS("as ", preset->because, "\n"));
	writer_put(writer, "a failure that passes:\n");
	put_alternatives(writer, "", preset->codes, ',');
	if (preset->elsewhere != NULL)
		writer_put_all(writer,
		    STRINGS("but not a time limit that ended: ",
			preset->elsewhere, "\n"));
	if (preset->own != NULL)
		writer_put_all(writer,
		    STRINGS("and, with exit status ", preset->own, ":\n"));
	put_rule(writer, "", err->transient, out->transient);
	put_rule(writer, "the same, with the time to wait behind:\n",
	    preset->wait, preset->out_wait);
	if (preset->limit != NULL)
		writer_put_all(writer,
		    STRINGS("the same, after a wait of ",
			duration_format(span, preset->limit_wait),
			", doubled each time:\n"));
	put_alternatives(writer, "stderr:", preset->limit, '|');
}

void
help_preset(const struct preset *preset, const struct tool *tool,
    const struct given *rules)
{
	struct writer writer = { .to = STDOUT_FILENO };

	if (tool != NULL)
		put_file(&writer, tool, rules);
	if (preset != NULL)
		put_preset(&writer, preset);
	finish(&writer);
}

static void
put_tool(void *to, const char *name, const char *path)
{
	struct writer *writer = to;

	writer_put_escaped(writer, ESCAPE_PLAIN, name, strlen(name));
	writer_put(writer, " ");
	writer_pad(writer, LIST_COLUMN);
	writer_put_escaped(writer, ESCAPE_PLAIN, path, strlen(path));
	writer_put(writer, "\n");
}

void
help_presets(void)
{
	struct writer writer = { .to = STDOUT_FILENO };
	struct preset preset;

	for (size_t i = 0; preset_at(i, &preset); i++) {
		bool tool = *preset.programs != '\0';

		writer_put(&writer, preset.name);
		writer_pad(&writer, LIST_COLUMN);
		writer_put_all(&writer,
		    STRINGS(preset.knows, tool ? " (" : "",
			tool ? preset.programs : "", tool ? ")\n" : "\n"));
	}
	config_tools(put_tool, &writer);
	finish(&writer);
}
