#include "preset/command_line.h"

#include <string.h>

/* Whether a word of the options has this letter. */
static bool
has_letter(struct strview word, char letter)
{
	return word.length > 2 && word.at[1] == ',' && word.at[0] == letter;
}

/*
 * Finds the option with a letter, or, if that is NUL, with a name or the start
 * of a name. Sets its whole name and its mark; the name is empty if there is no
 * such option, or more than one that begins like that.
 */
static void
find(struct command_line *line, char letter, struct strview typed)
{
	struct strview rest = strview_of(line->options), word;
	bool whole = false;
	int found = 0;

	line->name.length = 0;
	line->mark = ' ';
	for (bool exact = false; strview_cut(&rest, ' ', &word);) {
		struct strview name = word;
		char mark = ' ';

		if (strview_is(word, "|")) {
			exact = true;
			continue;
		}
		if (name.length > 2 && name.at[1] == ',')
			name = strview_after(name, 2);
		if (strchr("=?!", name.at[name.length - 1]) != NULL)
			mark = name.at[--name.length];
		if (letter != '\0' ? !has_letter(word, letter)
				   : !strview_begins(name, typed))
			continue;
		whole = letter != '\0' || name.length == typed.length;
		if (exact && !whole)
			continue;
		found++;
		line->name = name;
		line->mark = mark;
		if (whole)
			break;
	}
	if (!whole && (found != 1 || typed.length == 0)) {
		line->name.length = 0;
		line->mark = ' ';
	}
}

bool
command_line_next(struct command_line *line)
{
	const char *word = line->argv[line->at], *next, *rest;
	struct strview typed;

	if (word != NULL && !line->ended && strcmp(word, "--") == 0) {
		line->ended = true;
		word = line->argv[++line->at];
	}
	if (word == NULL)
		return false;
	next = line->argv[line->at + 1];
	line->off = false;
	line->operand = line->ended || word[0] != '-' || word[1] == '\0';
	if (line->operand) {
		line->name.length = 0;
		line->argument = word;
		line->at++;
		return true;
	}
	if (word[1] != '-') {
		rest = word + 2 + line->letter;
		find(line, rest[-1], (struct strview){ NULL, 0 });
		line->argument = NULL;
		line->letter++;
		if (line->mark == '=') {
			line->argument = *rest != '\0' ? rest : next;
			line->at += *rest == '\0' && next != NULL ? 2 : 1;
			line->letter = 0;
		} else if (*rest == '\0') {
			line->at++;
			line->letter = 0;
		}
		return true;
	}
	typed = strview_of(word + 2);
	line->off = line->negates && strview_starts(typed, "no-");
	if (line->off)
		typed = strview_after(typed, strlen("no-"));
	else if (line->negates && strview_starts(typed, "expand-"))
		typed = strview_after(typed, strlen("expand-"));
	rest = strchr(word, '=');
	if (rest != NULL)
		typed.length = (size_t)(rest - typed.at);
	find(line, '\0', typed);
	line->argument = rest != NULL ? rest + 1 : NULL;
	line->at++;
	if (line->mark == '=' && rest == NULL && next != NULL) {
		line->argument = next;
		line->at++;
	}
	return true;
}
