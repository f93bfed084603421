#include "cli/option_rules.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "cli/help.h"
#include "match/hint.h"
#include "tools/preset.h"
#include "tools/command_line.h"
#include "text/number.h"

#define STREAM_LENGTH (sizeof "stderr:" - 1)
/* --preset show:NAME prints the rules of a preset. */
#define SHOW "show:"
/* How often --preset may be given. */
#define PRESETS 8
/* A longer item that is refused is not shown as a pattern, too. */
#define HINT_MOST 100
/* The column of what a preset knows; every name of a preset is shorter. */
#define LIST_COLUMN 15

/* Compiles the text of a watch into its pattern. */
static void
compile(const struct watch *watch, const struct argument *argument)
{
	struct argument pattern = *argument;
	struct pattern_error error;
	size_t length = strlen(watch->text);

	pattern.text = watch->text;
	if (pattern_compile(watch->pattern, watch->text, length, &error))
		return;
	if (error.at == length)
		option_refuse(&pattern, "%s", error.why);
	option_refuse_item(&pattern, error.why, watch->text + error.at,
	    length - error.at, NULL);
}

/* Adds a LIST, which is the end of the argument's text, to the set. */
static void
add(struct policy *policy, struct conditions *set,
    const struct argument *argument, const char *list)
{
	struct watches *watches = &policy->watches;
	char pattern[HINT_MOST + sizeof "stderr:"];
	struct conditions_error error;
	int first = watches->count;

	if (!conditions_parse(set, watches, list, &error)) {
		/* A word is mostly meant as one of the output. */
		bool word = isalpha((unsigned char)*error.item) &&
		    memchr(error.item, ':', error.length) == NULL &&
		    error.length <= HINT_MOST;

		snprintf(pattern, sizeof pattern, "stderr:%.*s",
		    (int)error.length, error.item);
		option_refuse_item(argument, error.why, error.item,
		    error.length, word ? pattern : NULL);
	}
	for (int i = first; i < watches->count; i++) {
		struct watch *watch = &watches->list[i];

		watch->pattern =
		    option_allocate(argument, sizeof *watch->pattern);
		compile(watch, argument);
	}
}

/* Adds a pattern behind whose matches a time to wait is. */
static void
add_hint(struct policy *policy, const struct argument *argument, int fd,
    const char *ere)
{
	struct watches *watches = &policy->watches;
	struct watch *watch;

	if (watches->count == CONDITIONS_WATCHES)
		option_refuse(argument, "more than 64 patterns");
	watch = conditions_new_watch(watches, fd, ere);
	watch->hint = option_allocate(argument, sizeof *watch->hint);
	watch->hint->unit =
	    strstr(ere, "_ms") != NULL ? NANOS_MS : NANOS_SECOND;
	watch->pattern = &watch->hint->pattern;
	compile(watch, argument);
	watches->hints = true;
}

/* Adds a preset's pattern, unless it is NULL; it is not compiled yet. */
static void
add_pattern(struct policy *policy, struct conditions *set,
    const struct argument *argument, int fd, const char *text)
{
	struct argument pattern = *argument;

	pattern.text = text;
	if (text != NULL && !conditions_watch(set, &policy->watches, fd, text))
		option_refuse(&pattern, "more than 64 patterns");
}

/*
 * Adds the text of a preset to the last pattern of presets on its stream. False
 * where there is none, or it is full. Patterns of the user are not joined.
 */
static bool
join(struct watches *watches, struct watch *watch)
{
	for (struct watch *other = watch; other-- > watches->list;) {
		if (other->fd != watch->fd || other->preset == NULL)
			continue;
		if (!pattern_add(other->pattern, watch->text))
			return false;
		watch->pattern = other->pattern;
		watch->number = other->number + 1;
		return true;
	}
	return false;
}

static void
add_preset(struct policy *policy, const struct argument *argument,
    const struct preset *preset)
{
	struct watches *watches = &policy->watches;
	struct rules *rules = &policy->rules;
	struct conditions *transient =
	    preset->own == NULL ? &rules->transient : &rules->tool_transient;
	int first = watches->count;

	add(policy, &rules->transient, argument, preset->codes);
	if (preset->own != NULL)
		add(policy, &rules->tool_exits, argument, preset->own);
	for (int fd = STDOUT_FILENO; fd <= STDERR_FILENO; fd++) {
		const struct preset_lines *lines =
		    fd == STDOUT_FILENO ? &preset->out : &preset->err;

		add_pattern(policy, &rules->fatal, argument, fd, lines->fatal);
		add_pattern(policy, transient, argument, fd, lines->transient);
		add_pattern(
		    policy, &rules->tool_failed, argument, fd, lines->failed);
	}
	if (preset->wait != NULL) {
		add_pattern(policy, &rules->transient, argument, STDERR_FILENO,
		    preset->wait);
		add_hint(policy, argument, STDERR_FILENO, preset->wait);
	}

	/* Only a budget tells a limit of the server from other failures. */
	if (policy->budget.key != NULL)
		add_pattern(policy, &rules->limited, argument, STDERR_FILENO,
		    PRESET_LIMIT);

	/* Patterns on the same stream are compiled as one, and only when they
	 * are needed. */
	for (int i = first; i < watches->count; i++) {
		struct watch *watch = &watches->list[i];

		if (watch->hint != NULL)
			continue;
		watch->preset = preset->name;
		if (join(watches, watch))
			continue;
		watch->pattern =
		    option_allocate(argument, sizeof *watch->pattern);
		pattern_gather(watch->pattern);
		pattern_add(watch->pattern, watch->text);
	}
}

/*
 * Reads the preset of length bytes at name, a part of the argument's text.
 * "auto" is the one for the command, behind wrappers such as env or sudo. False
 * if it has none; with --dry-run there may be no command.
 */
static bool
find_preset(struct policy *policy, const struct argument *argument,
    const char *name, size_t length, struct preset *preset)
{
	char **command = policy->command;

	if (length == 4 && strncmp(name, "auto", 4) == 0) {
		policy->automatic = true;
		if (command != NULL)
			command += command_line_unwrap(command).command;
		return command != NULL && preset_for_command(command, preset);
	}
	if (!preset_find(name, length, preset))
		option_refuse_item(
		    argument, "no such preset", name, length, NULL);
	return true;
}

void
option_rules_presets(struct policy *policy, const struct option *option)
{
	struct given **at = &policy->given, *given, *one;

	while ((given = *at) != NULL) {
		struct argument argument = { option, given->text,
			.location = given->location };
		const char *name = given->text;

		if (strcmp(given->option, option->name) != 0) {
			at = &given->next;
			continue;
		}
		/* Each preset gets an element of its own in place of this. */
		*at = given->next;
		for (;; name++) {
			size_t length = strcspn(name, ",");
			struct preset preset;

			argument.text = given->text;
			if (find_preset(
				policy, &argument, name, length, &preset)) {
				argument.text = preset.name;
				add_preset(policy, &argument, &preset);
				one = option_allocate(&argument, sizeof *one);
				*one = (struct given){ option->name,
					preset.name, given->location, *at };
				*at = one;
				at = &one->next;
			}
			name += length;
			if (*name == '\0')
				break;
		}
		free(given);
	}
}

/*
 * Puts the items of one rule, a line each, as --stop-on, --retry-on and
 * --fail-on take them. An alternative outside of brackets is an item.
 */
static void
put_items(struct writer *writer, const char *stream, const char *items, char by)
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
	put_items(writer, "stderr:", err, '|');
	put_items(writer, "stdout:", out, '|');
}

/* Prints a preset: what it knows and from where, and its rules in the order in
 * which they are judged. */
static _Noreturn void
show_preset(const struct preset *preset)
{
	struct writer writer = { .to = STDOUT_FILENO };
	const struct preset_lines *err = &preset->err, *out = &preset->out;

	writer_put_all(&writer,
	    STRINGS(preset->name, ": ", preset->knows,
		"\nfacts from: ", preset->source, "\n"));
	put_rule(&writer, "a failure, even with exit status 0:\n", err->failed,
	    out->failed);
	put_rule(&writer, "a failure that stays:\n", err->fatal, out->fatal);
	writer_put(&writer, "a failure that passes:\n");
	put_items(&writer, "", preset->codes, ',');
	if (preset->own != NULL)
		writer_put_all(&writer,
		    STRINGS("and, with exit status ", preset->own, ":\n"));
	put_rule(&writer, "", err->transient, out->transient);
	put_rule(&writer, "the same, with the time to wait behind:\n",
	    preset->wait, NULL);
	help_finish(&writer);
}

/* Prints all names; each line has what the preset knows, and the programs. */
static _Noreturn void
list_presets(void)
{
	struct writer writer = { .to = STDOUT_FILENO };
	struct preset preset;

	for (size_t i = 0; preset_at(i, &preset); i++) {
		bool tool = preset.programs != NULL;

		writer_put(&writer, preset.name);
		writer_pad(&writer, LIST_COLUMN);
		writer_put_all(&writer,
		    STRINGS(preset.knows, tool ? " (" : "",
			tool ? preset.programs : "", tool ? ")\n" : "\n"));
	}
	help_finish(&writer);
}

/* Reads "list" and "show:NAME", which print presets and exit. */
static void
print_presets(const struct argument *argument)
{
	const char *text = argument->text, *shown = NULL;
	struct preset preset;

	if (strncmp(text, SHOW, sizeof SHOW - 1) == 0)
		shown = text + sizeof SHOW - 1;
	if (shown == NULL && strcmp(text, "list") != 0)
		return;
	/* With one of these in a file its users could never run a command. */
	if (argument->location != NULL)
		option_refuse(argument, "only allowed on the command line");
	if (shown == NULL)
		list_presets();
	else if (!preset_find(shown, strlen(shown), &preset))
		option_refuse_item(
		    argument, "no such preset", shown, strlen(shown), NULL);
	show_preset(&preset);
}

void
option_rules_note(const struct argument *argument, struct policy *policy)
{
	const char *name = argument->option->name, *text = argument->text;
	bool preset = argument->option->special == SPECIAL_PRESET;
	bool alone = argument->option->special == SPECIAL_CONDITION;
	bool none = *text == '\0' || (preset && strcmp(text, "none") == 0);
	struct given **at = &policy->given;

	if (preset)
		print_presets(argument);
	if (preset && none)
		policy->presets_off = true;
	/* -w, given on the command line, takes back only rules of files. */
	while (*at != NULL)
		if ((none || alone) && strcmp((*at)->option, name) == 0 &&
		    (!argument->implied || (*at)->location != NULL))
			*at = (*at)->next;
		else
			at = &(*at)->next;
	if (none)
		return;
	*at = option_allocate(argument, sizeof **at);
	**at = (struct given){ name, text, argument->location, NULL };
}

static void
add_limit(struct policy *policy, const struct argument *argument)
{
	const char *text = argument->text;
	size_t length = strcspn(text, ":");
	struct limit *limit;

	if (policy->limits == POLICY_LIMITS)
		option_refuse(argument, "given more than 16 times");
	limit = option_allocate(argument, sizeof *limit);
	*limit = (struct limit){ .text = text, .location = argument->location };
	if (text[length] == '\0' ||
	    !number_whole(text, length, &limit->retries))
		option_refuse(argument, "not N:LIST");
	add(policy, &limit->failures, argument, text + length + 1);
	policy->limit[policy->limits++] = limit;
}

static void
add_stream_hint(struct policy *policy, const struct argument *argument)
{
	const char *text = argument->text;
	int fd = 0;

	if (strncmp(text, "stdout:", STREAM_LENGTH) == 0)
		fd = STDOUT_FILENO;
	else if (strncmp(text, "stderr:", STREAM_LENGTH) == 0)
		fd = STDERR_FILENO;
	else
		option_refuse(argument, "neither stderr:ERE nor stdout:ERE");
	add_hint(policy, argument, fd, text + STREAM_LENGTH);
	if (policy->budget.key != NULL)
		add(policy, &policy->rules.limited, argument,
		    fd == STDOUT_FILENO ? "stdout:" PRESET_LIMIT
					: "stderr:" PRESET_LIMIT);
}

void
option_rules_lists(struct policy *policy, const struct option *table)
{
	struct given **at = &policy->given, *given;
	int presets = 0;

	while ((given = *at) != NULL) {
		const struct option *option =
		    option_find(table, given->option, strlen(given->option));
		struct argument argument = { option, given->text,
			.location = given->location };
		struct conditions *set = option_field(&argument, policy);

		if (option->special == SPECIAL_LIST)
			add(policy, set, &argument, given->text);
		else if (option->special == SPECIAL_LIMIT)
			add_limit(policy, &argument);
		else if (option->special == SPECIAL_RETRY_AFTER)
			add_stream_hint(policy, &argument);
		else if (option->special == SPECIAL_PRESET &&
		    presets++ == PRESETS)
			option_refuse(&argument, "given more than 8 times");
		if (set == &policy->rules.retry_on &&
		    conditions_has_exit(set, 0))
			option_refuse(&argument,
			    "0 is a success, not a failure (see --fail-on)");
		/* A limit and a hint are no rules that messages name. */
		if (option->special == SPECIAL_LIMIT ||
		    option->special == SPECIAL_RETRY_AFTER) {
			*at = given->next;
			free(given);
		} else {
			at = &given->next;
		}
	}
}
