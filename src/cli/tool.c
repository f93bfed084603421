#include "cli/tool.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include "cli/config.h"
#include "tools/preset.h"

/* What may stand at the end of a program's name. */
#define VERSION "0123456789."

/* A copy that is never freed. */
static char *
copy(const struct argument *argument, const char *text, size_t length)
{
	char *room = option_allocate(argument, length + 1);

	memcpy(room, text, length);
	room[length] = '\0';
	return room;
}

bool
tool_find(struct tool *tool, const struct argument *argument,
    struct strview name, bool program)
{
	static const char words[][8] = { "list", "none", "auto" };
	char path[PATH_MAX], *text;

	if (name.length == 0 || name.length > NAME_MAX ||
	    memchr(name.at, '/', name.length) != NULL)
		return false;
	text = copy(argument, name.at, name.length);
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (strcmp(text, words[i]) == 0)
			return false;
	while (!config_find(path, CONFIG_TOOL, text)) {
		size_t bare = strlen(text);

		while (bare > 0 && strchr(VERSION, text[bare - 1]) != NULL)
			bare--;
		if (!program || bare == 0 || text[bare] == '\0')
			return false;
		text[bare] = '\0';
	}
	*tool = (struct tool){ text, copy(argument, path, strlen(path)) };
	return true;
}

static void
append(struct policy *policy, const struct argument *line, const char *text)
{
	struct given **at = &policy->given;

	while (*at != NULL)
		at = &(*at)->next;
	*at = option_allocate(line, sizeof **at);
	**at = (struct given){ .option = line->option->name,
		.text = text,
		.location = line->location };
}

/* Adds a line of the file, whose options are few: nothing that it has may run
 * a command, or have a file written. */
static void
store_line(
    const struct argument *line, struct policy *policy, struct argument given[])
{
	enum option_special special = line->option->special;
	struct strview rest = strview_of(line->text);

	(void)given;
	if (special != SPECIAL_LIST && special != SPECIAL_RETRY_AFTER &&
	    special != SPECIAL_PRESET)
		option_refuse(line, "not in the file of a tool");
	if (special != SPECIAL_PRESET || strcmp(line->text, "none") == 0) {
		append(policy, line, line->text);
		return;
	}
	do {
		struct strview name = strview_part(&rest, ',');
		struct preset preset;

		if (!preset_find(name.at, name.length, &preset))
			option_refuse_item(
			    line, "no such preset", name.at, name.length, NULL);
		append(policy, line, preset.name);
	} while (rest.length > 0);
}

bool
tool_read(const struct tool *tool, const struct argument *argument,
    const struct option *table, struct policy *policy)
{
	struct argument file = *argument;
	struct given **at = &policy->given, *given;
	bool beside = true;

	while (*at != NULL)
		at = &(*at)->next;
	file.text = tool->path;
	option_parse_file(table, store_line, &file, policy, NULL);
	while ((given = *at) != NULL) {
		given->tool = tool->name;
		if (strcmp(given->option, "preset") != 0 ||
		    strcmp(given->text, "none") != 0) {
			at = &given->next;
			continue;
		}
		beside = false;
		*at = given->next;
		free(given);
	}
	return beside;
}
