#include "tools/preset.h"

#include <stdint.h>
#include <string.h>
#include "text/strview.h"
#include "tools/command_line.h"
#include "tools/launcher.h"

/* The texts of a row: where each begins in the block of all texts; 0: none. */
struct row {
	uint32_t knows, codes, own, elsewhere, screen, because, source;
	uint32_t err_failed, err_fatal, err_transient, err_wait, err_limit,
	    out_wait;
	uint32_t out_failed, out_fatal, out_transient;
};

/*
 * The table: names[] has the name of each row, its programs and its packages,
 * one behind the other. A search reads them alone, which lie together, and of
 * the texts only those of the row that it finds are touched.
 */
#include "presets.inc"

/* The names of a row. */
struct names {
	const char *name, *programs, *packages;
	size_t index; /* of the row */
};

/* Goes on to the names of the next row, or to the first one from all zero.
 * False behind the last one. */
static bool
next_row(struct names *row)
{
	const char *at = names;

	if (row->name != NULL) {
		at = row->packages + strlen(row->packages) + 1;
		row->index++;
	}
	if (row->index == sizeof rows / sizeof *rows)
		return false;
	row->name = at;
	row->programs = at += strlen(at) + 1;
	row->packages = at + strlen(at) + 1;
	return true;
}

static const char *
text_at(uint32_t place)
{
	return place == 0 ? NULL : texts + place;
}

static struct preset
read_row(const struct names *found)
{
	const struct row *row = &rows[found->index];

	return (struct preset){
		.name = found->name,
		.knows = text_at(row->knows),
		.programs = found->programs,
		.codes = text_at(row->codes),
		.own = text_at(row->own),
		.elsewhere = text_at(row->elsewhere),
		.screen = text_at(row->screen),
		.err = { .fatal = text_at(row->err_fatal),
		    .transient = text_at(row->err_transient),
		    .failed = text_at(row->err_failed) },
		.out = { .fatal = text_at(row->out_fatal),
		    .transient = text_at(row->out_transient),
		    .failed = text_at(row->out_failed) },
		.wait = text_at(row->err_wait),
		.out_wait = text_at(row->out_wait),
		.limit = text_at(row->err_limit),
		.limit_wait = row->err_limit == 0 ? 0 : NANOS_MINUTE,
		.because = text_at(row->because),
		.source = text_at(row->source),
	};
}

bool
preset_at(size_t index, struct preset *preset)
{
	struct names row = { 0 };

	while (next_row(&row))
		if (row.index == index) {
			*preset = read_row(&row);
			return true;
		}
	return false;
}

/* It is the row of the longest name that has at most a version behind it. */
bool
preset_for_program(struct strview name, struct preset *preset)
{
	struct names row = { 0 }, found = { 0 };
	size_t longest = 0;

	while (next_row(&row)) {
		struct strview rest = strview_of(row.programs), word;

		while (strview_cut(&rest, ' ', &word)) {
			const char *version = name.at + word.length;

			if (word.length > longest &&
			    word.length <= name.length &&
			    strncmp(name.at, word.at, word.length) == 0 &&
			    strspn(version, "0123456789.") >=
				name.length - word.length) {
				longest = word.length;
				found = row;
			}
		}
	}
	if (longest > 0)
		*preset = read_row(&found);
	return longest > 0;
}

bool
preset_find(const char *name, size_t length, struct preset *preset)
{
	struct names row = { 0 };

	while (next_row(&row))
		if (strlen(row.name) == length &&
		    strncmp(row.name, name, length) == 0) {
			*preset = read_row(&row);
			return true;
		}
	return preset_for_program((struct strview){ name, length }, preset);
}

bool
preset_for_command(char *const command[], struct preset *preset)
{
	return preset_for_program(
	    strview_of(command_line_program(*command)), preset);
}

enum preset_launch
preset_launched(char *const command[], struct preset *preset)
{
	struct names row = { 0 };
	struct strview tool;

	if (!launcher_read(command, &tool))
		return PRESET_LAUNCH_NONE;
	while (next_row(&row)) {
		struct strview rest = strview_of(row.packages), word;

		while (strview_cut(&rest, ' ', &word))
			if (word.length == tool.length &&
			    memcmp(word.at, tool.at, tool.length) == 0) {
				*preset = read_row(&row);
				return PRESET_LAUNCH_KNOWN;
			}
	}
	return preset_for_program(tool, preset) ? PRESET_LAUNCH_KNOWN
						: PRESET_LAUNCH_UNKNOWN;
}

/* Whether a list of words, separated by blanks, has this one. */
static bool
has_word(const char *list, const char *word)
{
	struct strview rest = strview_of(list), one;

	while (strview_cut(&rest, ' ', &one))
		if (strlen(word) == one.length &&
		    memcmp(word, one.at, one.length) == 0)
			return true;
	return false;
}

const char *
preset_unfinished(const struct preset *preset, char *const command[])
{
	char *const *client = command + command_line_unwrap(command).command;
	/* Of docker and terragrunt, they have subcommands of their own. */
	static const char groups[] = "compose container run-all run";
	const char *name = command_line_program(*client), *list = "timeout";
	bool found;

	if (preset->elsewhere == NULL)
		return NULL;
	if (!has_word(preset->programs, name))
		name = preset->name;
	found = has_word(preset->elsewhere, name);
	/* The subcommand is the first word that is no option, and not certainly
	 * another word; one behind an option may be its argument. */
	for (char *const *word = client + 1; *word != NULL && !found; word++) {
		bool option = **word == '-', behind = word[-1][0] == '-';

		if (has_word(preset->programs, *word))
			continue;
		found = !option && has_word(preset->elsewhere, *word);
		if (!option && !behind && !has_word(groups, *word))
			break;
	}
	/* timeout(1) ends the client, too. */
	for (; command < client; command++)
		if (strcmp(command_line_program(*command), "timeout") == 0)
			list = "timeout,124";
	return found ? list : NULL;
}
