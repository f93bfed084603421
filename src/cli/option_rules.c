#include "cli/option_rules.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "cli/help.h"
#include "match/pattern.h"
#include "preset/preset.h"
#include "preset/wrapper.h"

static struct pattern *
allocate(const struct row *row, const struct watch *watch)
{
	struct pattern *pattern = malloc(sizeof *pattern);

	if (pattern == NULL)
		optparse_refuse(row, "no memory for", watch->text);
	return pattern;
}

/* Makes patterns of the texts that were added last, from number first on. */
static void
compile(struct watches *watches, int first, const struct row *row)
{
	for (int i = first; i < watches->count; i++) {
		struct watch *watch = &watches->list[i];
		struct pattern_error error;
		size_t length = strlen(watch->text);

		watch->pattern = allocate(row, watch);
		if (pattern_compile(
			watch->pattern, watch->text, length, &error))
			continue;
		if (error.at == length)
			optparse_refuse(row, error.why, watch->text);
		optparse_refuse_item(row, error.why, watch->text + error.at,
		    length - error.at, watch->text);
	}
}

/*
 * Whether the watch could join the latest pattern that is of presets and on its
 * stream. What the user has typed has been compiled, and stays by itself.
 */
static bool
join(struct watches *watches, struct watch *watch)
{
	for (struct watch *other = watch; other-- > watches->list;) {
		if (other->fd != watch->fd || !other->preset)
			continue;
		if (!pattern_add(other->pattern, watch->text))
			return false;
		watch->pattern = other->pattern;
		watch->number = other->number + 1;
		return true;
	}
	return false;
}

/* The same of texts of presets, which are compiled once there is a need. */
static void
gather(struct watches *watches, int first, const struct row *row)
{
	for (int i = first; i < watches->count; i++) {
		struct watch *watch = &watches->list[i];

		watch->preset = true;
		if (join(watches, watch))
			continue;
		watch->pattern = allocate(row, watch);
		pattern_gather(watch->pattern);
		pattern_add(watch->pattern, watch->text);
	}
}

static void
add(struct policy *policy, struct conditions *set, const struct row *row,
    const char *text)
{
	struct conditions_error error;
	int first = policy->watches.count;

	if (!conditions_parse(set, &policy->watches, text, &error))
		optparse_refuse_item(
		    row, error.why, error.item, error.length, text);
	compile(&policy->watches, first, row);
}

static void
watch(struct policy *policy, struct conditions *set, const struct row *row,
    int fd, const char *text)
{
	if (text != NULL && !conditions_watch(set, &policy->watches, fd, text))
		optparse_refuse(row, "more than 64 patterns", text);
}

static void
add_lines(struct policy *policy, const struct row *row, int fd,
    const struct preset *preset, const struct preset_lines *lines)
{
	struct rules *rules = &policy->rules;
	struct conditions *transient =
	    preset->own == NULL ? &rules->transient : &rules->own_transient;

	watch(policy, &rules->fatal, row, fd, lines->fatal);
	watch(policy, transient, row, fd, lines->transient);
	watch(policy, &rules->fail_on, row, fd, lines->failed);
}

static void
add_preset(
    struct policy *policy, const struct row *row, const struct preset *preset)
{
	int first = policy->watches.count;

	add(policy, &policy->rules.transient, row, preset->codes);
	if (preset->own != NULL)
		add(policy, &policy->rules.own, row, preset->own);
	add_lines(policy, row, STDOUT_FILENO, preset, &preset->out);
	add_lines(policy, row, STDERR_FILENO, preset, &preset->err);
	gather(&policy->watches, first, row);
}

/* Where the programs stand; no name is as long. */
#define LIST_COLUMN ((size_t)14)

static _Noreturn void
list_presets(void)
{
	char text[8192], *at = text;

	for (size_t i = 0; i < preset_count(); i++) {
		const struct preset *preset = preset_at(i);
		size_t name = strlen(preset->name);
		size_t programs = strlen(preset->programs);

		if ((size_t)(text + sizeof text - at) <
		    name + programs + 2 * LIST_COLUMN)
			break;
		memcpy(at, preset->name, name);
		memset(at + name, ' ', LIST_COLUMN);
		memcpy(at + LIST_COLUMN, preset->programs, programs);
		at += programs == 0 ? name : LIST_COLUMN + programs;
		*at++ = '\n';
	}
	*at = '\0';
	help_text(text);
}

/*
 * The preset called name; "auto" is that of the command, behind what may stand
 * in front of it.
 */
static const struct preset *
find(const struct row *row, const char *name, size_t length, const char *text,
    char *const *command)
{
	const struct preset *preset;
	const char *program;

	if (length != 4 || strncmp(name, "auto", 4) != 0) {
		preset = preset_find(name, length);
		if (preset == NULL)
			optparse_refuse_item(
			    row, "no such preset", name, length, text);
		return preset;
	}
	program = command[wrapper_look(command).command];
	preset = preset_for_program(program);
	if (preset == NULL)
		optparse_refuse(row, "auto knows no preset for", program);
	return preset;
}

void
option_rules_settle(struct policy *policy, const struct row *row)
{
	for (int i = 0; i < policy->presets; i++) {
		const char *text = policy->preset[i], *name = text;

		for (;; name++) {
			size_t length = strcspn(name, ",");

			add_preset(policy, row,
			    find(row, name, length, text, policy->command));
			name += length;
			if (*name == '\0')
				break;
		}
	}
}

void
option_rules_preset(const struct row *row, const char *text, void *field)
{
	struct policy *policy = field;

	if (strcmp(text, "list") == 0)
		list_presets();
	if (policy->presets == POLICY_PRESETS)
		optparse_refuse(row, "given more than 8 times", text);
	policy->preset[policy->presets++] = text;
}

void
option_rules_retry_on(const struct row *row, const char *text, void *field)
{
	struct policy *policy = field;

	add(policy, &policy->rules.retry_on, row, text);
	if (conditions_has_exit(&policy->rules.retry_on, 0))
		optparse_refuse(
		    row, "0 is a success, not a failure (see --fail-on)", text);
}

void
option_rules_stop_on(const struct row *row, const char *text, void *field)
{
	struct policy *policy = field;

	add(policy, &policy->rules.stop_on, row, text);
}

void
option_rules_fail_on(const struct row *row, const char *text, void *field)
{
	struct policy *policy = field;

	add(policy, &policy->rules.fail_on, row, text);
}

void
option_rules_success_on(const struct row *row, const char *text, void *field)
{
	struct policy *policy = field;

	add(policy, &policy->rules.success_on, row, text);
}
