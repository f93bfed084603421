#include "cli/option_rules.h"

#include <ctype.h>
#include <string.h>
#include <unistd.h>
#include "cli/help.h"
#include "match/hint.h"
#include "preset/preset.h"
#include "preset/wrapper.h"
#include "text/number.h"

#define STREAM_LENGTH (sizeof "stderr:" - 1)
/* --preset show:NAME prints the rules of a preset. */
#define SHOW "show:"
/* A longer item that is refused is not shown as a pattern, too. */
#define HINT_MOST 100

/* Notes a LIST or the name of a preset for messages. */
static void
note(struct policy *policy, const struct option *option, const char *text)
{
	struct given **end = &policy->given;
	char *location = NULL;

	while (*end != NULL)
		end = &(*end)->next;
	*end = optparse_allocate(option, sizeof **end, text);
	/* The one in option is lost with the next line of the file. */
	if (option->location != NULL) {
		location = optparse_allocate(
		    option, strlen(option->location) + 1, text);
		memcpy(
		    location, option->location, strlen(option->location) + 1);
	}
	**end = (struct given){ option->name, text, location, NULL };
}

/* Compiles the text of a watch into its pattern. */
static void
compile(const struct watch *watch, const struct option *option)
{
	struct pattern_error error;
	size_t length = strlen(watch->text);

	if (pattern_compile(watch->pattern, watch->text, length, &error))
		return;
	if (error.at == length)
		optparse_refuse(option, error.why, watch->text);
	optparse_refuse_item(option, error.why, watch->text + error.at,
	    length - error.at, watch->text);
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

/* Joins the patterns of a preset, which are compiled only when needed. */
static void
gather(struct watches *watches, int first, const struct option *option,
    const char *preset)
{
	for (int i = first; i < watches->count; i++) {
		struct watch *watch = &watches->list[i];

		if (watch->hint != NULL)
			continue;
		watch->preset = preset;
		if (join(watches, watch))
			continue;
		watch->pattern = optparse_allocate(
		    option, sizeof *watch->pattern, watch->text);
		pattern_gather(watch->pattern);
		pattern_add(watch->pattern, watch->text);
	}
}

/* Adds a LIST to the set. It is refused as a part of text. */
static void
add(struct policy *policy, struct conditions *set, const struct option *option,
    const char *list, const char *text)
{
	struct watches *watches = &policy->watches;
	struct conditions_error error;
	int first = watches->count;

	if (!conditions_parse(set, watches, list, &error)) {
		/* A word is mostly meant as one of the output. */
		if (isalpha((unsigned char)*error.item) &&
		    memchr(error.item, ':', error.length) == NULL &&
		    error.length <= HINT_MOST)
			optparse_refuse_word(option, error.why, error.item,
			    error.length, text, "; as a pattern: 'stderr:");
		optparse_refuse_item(
		    option, error.why, error.item, error.length, text);
	}
	for (int i = first; i < watches->count; i++) {
		struct watch *watch = &watches->list[i];

		watch->pattern = optparse_allocate(
		    option, sizeof *watch->pattern, watch->text);
		compile(watch, option);
	}
}

static void
watch(struct policy *policy, struct conditions *set,
    const struct option *option, int fd, const char *text)
{
	if (text != NULL && !conditions_watch(set, &policy->watches, fd, text))
		optparse_refuse(option, "more than 64 patterns", text);
}

static void
add_lines(struct policy *policy, const struct option *option, int fd,
    const struct preset *preset, const struct preset_lines *lines)
{
	struct rules *rules = &policy->rules;
	struct conditions *transient =
	    preset->own == NULL ? &rules->transient : &rules->own_transient;

	watch(policy, &rules->fatal, option, fd, lines->fatal);
	watch(policy, transient, option, fd, lines->transient);
	watch(policy, &rules->fail_on, option, fd, lines->failed);
}

/* Adds a pattern behind whose matches a time to wait is. */
static void
add_hint(struct policy *policy, const struct option *option, int fd,
    const char *ere, const char *text)
{
	struct watches *watches = &policy->watches;
	struct watch *watch;

	if (watches->count == CONDITIONS_WATCHES)
		optparse_refuse(option, "more than 64 patterns", text);
	watch = conditions_new_watch(watches, fd, ere);
	watch->hint = optparse_allocate(option, sizeof *watch->hint, text);
	watch->pattern = &watch->hint->pattern;
	compile(watch, option);
	watches->hints = true;
}

static void
add_preset(struct policy *policy, const struct option *option,
    const struct preset *preset)
{
	int first = policy->watches.count;

	add(policy, &policy->rules.transient, option, preset->codes,
	    preset->codes);
	if (preset->own != NULL)
		add(policy, &policy->rules.own, option, preset->own,
		    preset->own);
	add_lines(policy, option, STDOUT_FILENO, preset, &preset->out);
	add_lines(policy, option, STDERR_FILENO, preset, &preset->err);
	if (preset->wait != NULL) {
		watch(policy, &policy->rules.transient, option, STDERR_FILENO,
		    preset->wait);
		add_hint(
		    policy, option, STDERR_FILENO, preset->wait, preset->name);
	}
	gather(&policy->watches, first, option, preset->name);
}

/* The column of what a preset knows; every name of a preset is shorter. */
#define LIST_COLUMN 15

/* Each line has the name, what the preset knows, and the programs. */
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
	if (err->failed != NULL || out->failed != NULL)
		writer_put(&writer, "a failure, even with exit status 0:\n");
	put_items(&writer, "stderr:", err->failed, '|');
	put_items(&writer, "stdout:", out->failed, '|');
	if (err->fatal != NULL || out->fatal != NULL)
		writer_put(&writer, "a failure that stays:\n");
	put_items(&writer, "stderr:", err->fatal, '|');
	put_items(&writer, "stdout:", out->fatal, '|');
	writer_put(&writer, "a failure that passes:\n");
	put_items(&writer, "", preset->codes, ',');
	if (preset->own != NULL)
		writer_put_all(&writer,
		    STRINGS("and, with exit status ", preset->own, ":\n"));
	put_items(&writer, "stderr:", err->transient, '|');
	put_items(&writer, "stdout:", out->transient, '|');
	if (preset->wait != NULL)
		writer_put(
		    &writer, "the same, with the time to wait behind:\n");
	put_items(&writer, "stderr:", preset->wait, '|');
	help_finish(&writer);
}

/*
 * Reads the preset with this name. "auto" is the one for the command, behind
 * wrappers such as env or sudo.
 */
static void
find_preset(const struct option *option, const char *name, size_t length,
    const char *text, char *const *command, struct preset *preset)
{
	const char *program;

	if (length != 4 || strncmp(name, "auto", 4) != 0) {
		if (!preset_find(name, length, preset))
			optparse_refuse_item(
			    option, "no such preset", name, length, text);
		return;
	}
	program = command[wrapper_look(command).command];
	if (!preset_for_program(program, preset))
		optparse_refuse(option, "auto found no preset for", program);
}

void
option_rules_settle(struct policy *policy, const struct option *option)
{
	for (int i = 0; i < policy->presets; i++) {
		const char *text = policy->preset[i], *name = text;
		struct option given = *option;

		given.location = policy->preset_location[i];
		for (;; name++) {
			size_t length = strcspn(name, ",");
			struct preset preset;

			find_preset(&given, name, length, text, policy->command,
			    &preset);
			add_preset(policy, &given, &preset);
			note(policy, &given, preset.name);
			name += length;
			if (*name == '\0')
				break;
		}
	}
}

void
option_rules_preset(const struct option *option, const char *text, void *into)
{
	struct policy *policy = into;
	struct preset preset;

	if (strcmp(text, "list") == 0)
		list_presets();
	if (strncmp(text, SHOW, sizeof SHOW - 1) == 0) {
		const char *name = text + sizeof SHOW - 1;

		if (!preset_find(name, strlen(name), &preset))
			optparse_refuse_item(
			    option, "no such preset", name, strlen(name), text);
		show_preset(&preset);
	}
	if (policy->presets == POLICY_PRESETS)
		optparse_refuse(option, "given more than 8 times", text);
	/* The name is looked up after all lines have been read. */
	if (option->location != NULL) {
		size_t size = strlen(option->location) + 1;
		char *copy = optparse_allocate(option, size, text);

		memcpy(copy, option->location, size);
		policy->preset_location[policy->presets] = copy;
	}
	policy->preset[policy->presets++] = text;
}

void
option_rules_list(const struct option *option, const char *text, void *into)
{
	struct policy *policy = into;
	struct conditions *set =
	    (struct conditions *)((char *)into + option->field);

	add(policy, set, option, text, text);
	if (set == &policy->rules.retry_on && conditions_has_exit(set, 0))
		optparse_refuse(option,
		    "0 is a success, not a failure (see --fail-on)", text);
	note(policy, option, text);
}

void
option_rules_limit(const struct option *option, const char *text, void *into)
{
	struct policy *policy = into;
	struct limit *limit;
	size_t length = strcspn(text, ":");

	if (policy->limits == POLICY_LIMITS)
		optparse_refuse(option, "given more than 16 times", text);
	limit = optparse_allocate(option, sizeof *limit, text);
	*limit = (struct limit){ .text = text };
	if (text[length] == '\0' ||
	    !number_whole(text, length, &limit->retries))
		optparse_refuse(option, "not N:LIST", text);
	add(policy, &limit->failures, option, text + length + 1, text);
	policy->limit[policy->limits++] = limit;
}

void
option_rules_retry_after(
    const struct option *option, const char *text, void *into)
{
	int fd = 0;

	if (strncmp(text, "stdout:", STREAM_LENGTH) == 0)
		fd = STDOUT_FILENO;
	else if (strncmp(text, "stderr:", STREAM_LENGTH) == 0)
		fd = STDERR_FILENO;
	else
		optparse_refuse(
		    option, "neither stderr:ERE nor stdout:ERE", text);
	add_hint(into, option, fd, text + STREAM_LENGTH, text);
}
