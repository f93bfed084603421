#include "report/advice.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "tools/preset.h"
#include "tools/command_line.h"
#include "text/escape.h"
#include "text/number.h"

/* Room for text that is quoted for a shell. */
#define QUOTED 512

/* Room for a word in these lists, which end with "". */
#define WORD 12

/* Words of sh(1) that are not programs. */
static const char shell_words[][WORD] = { "!", ".", ":", "alias", "bg", "case",
	"cd", "command", "eval", "exec", "exit", "export", "fc", "fg", "for",
	"getopts", "hash", "if", "jobs", "read", "readonly", "return", "set",
	"shift", "times", "trap", "type", "ulimit", "umask", "unalias", "unset",
	"until", "wait", "while", "{", "" };

/* Words of bash(1) that are not programs and not in every sh. */
static const char bash_words[][WORD] = { "[[", "bind", "builtin", "caller",
	"compgen", "complete", "declare", "dirs", "disown", "enable",
	"function", "history", "let", "local", "logout", "mapfile", "popd",
	"pushd", "readarray", "select", "shopt", "source", "suspend", "time",
	"typeset", "" };

/* What names of variables are made of, and what words that mean themselves in
 * every shell, without quotes, may have besides. */
#define NAME "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789"
#define PLAIN NAME "-.:+@%"

static bool
is_among(const char *word, const char words[][WORD])
{
	while (**words != '\0')
		if (strcmp(word, *words++) == 0)
			return true;
	return false;
}

/*
 * Whether word is a function that bash has exported, as BASH_FUNC_name%%=... or
 * in older versions BASH_FUNC_name()=....
 */
static bool
is_exported_function(const char *word)
{
	static const char prefix[] = "BASH_FUNC_";
	size_t length = strlen(word);

	for (char **at = environ; at != NULL && *at != NULL; at++) {
		const char *name = *at + sizeof prefix - 1;

		if (strncmp(*at, prefix, sizeof prefix - 1) == 0 &&
		    strncmp(name, word, length) == 0 &&
		    (strncmp(name + length, "%%=", 3) == 0 ||
			strncmp(name + length, "()=", 3) == 0))
			return true;
	}
	return false;
}

/* Text to stand between single quotes; if it is too long, its beginning. */
static const char *
quote_for_shell(char room[QUOTED], const char *text)
{
	static const char quoted[] = "'\\''", cut[] = "...";
	size_t used = 0, read = 0;

	for (; text[read] != '\0'; read++) {
		bool quote = text[read] == '\'';
		size_t length = quote ? sizeof quoted - 1 : 1;

		if (used + length > QUOTED - sizeof cut)
			break;
		memcpy(room + used, quote ? quoted : text + read, length);
		used += length;
	}
	used -= read - escape_cut(text, strlen(text), read);
	stpcpy(room + used, text[read] == '\0' ? "" : cut);
	return room;
}

static bool __attribute__((format(printf, 2, 3)))
advise(char text[ADVICE_ROOM], const char *format, ...)
{
	va_list values;

	va_start(values, format);
	vsnprintf(text, ADVICE_ROOM, format, values);
	va_end(values);
	return true;
}

bool
advice_find(char text[ADVICE_ROOM], char **command)
{
	const char *word = command[0], *pipe, *shell = "sh";
	bool blanks = strpbrk(word, " \t\n") != NULL, bare = command[1] == NULL;
	bool bash = is_among(word, bash_words);
	bool whole = target_kind(word) != TARGET_NONE;
	size_t name = strspn(word, NAME);
	struct target target;
	char quoted[QUOTED];
	int64_t number;

	if (strlen(word) < NUMBER_ROOM &&
	    number_whole(word, strlen(word), &number))
		return advise(text, "did you mean -n %s?", word);
	snprintf(quoted, sizeof quoted, "%s%s", whole ? "" : "tcp:", word);
	if (target_parse(quoted, &target) == NULL)
		return advise(text, "did you mean -w 60 %s%s?", quoted,
		    whole ? ", without --" : "");
	if (is_exported_function(word) && word[strspn(word, PLAIN)] == '\0')
		return advise(text,
		    "not a command but a function of bash: use "
		    "bash -euo pipefail -c '%s \"$@\"' %s%s",
		    word, word, bare ? "" : " ...");
	/* The value is not shown: it may be long, or a secret. */
	if (!(blanks && bare) && name > 0 && name < QUOTED &&
	    word[name] == '=' && !isdigit((unsigned char)*word))
		return advise(text,
		    "not a command but a variable: use env %.*s=... COMMAND",
		    (int)name, word);
	if (!blanks && !bash && !is_among(word, shell_words))
		return false;
	/* Without pipefail, the failure of the first command is not seen. */
	pipe = strchr(word, '|');
	if (pipe != NULL && pipe[1] != '|')
		shell = "bash -o pipefail";
	else if (bash)
		shell = "bash";
	return advise(text, "this needs a shell: use %s -c '%s%s", shell,
	    quote_for_shell(quoted, word), bare ? "'" : " ...'");
}

bool
advice_on_list(char text[ADVICE_ROOM], const struct given *given)
{
	const char *part = NULL;

	if (strcmp(given->option, "preset") != 0 &&
	    strcmp(given->option, "retry-if") != 0)
		part = conditions_swallowed(given->text);
	return part != NULL &&
	    advise(text,
		"'%s' is part of the pattern; for more items, give --%s again",
		part, given->option);
}

bool
advice_on_rules(
    char text[ADVICE_ROOM], const struct policy *policy, bool retried)
{
	char **command = policy->command, quoted[QUOTED];
	const struct given *given = policy->given;
	struct preset preset;
	bool known;

	for (; given != NULL; given = given->next)
		if (advice_on_list(text, given))
			return true;
	if (!policy->automatic && policy->loudness < LOUDNESS_VERBOSE)
		return false;
	if (policy->unsearched != NULL)
		return advise(text,
		    "preset %s: standard output is a terminal, and is not "
		    "searched%s",
		    policy->unsearched,
		    policy->rules.transient.later.fail
			? ": any failure is retried"
			: "");
	command += command_line_unwrap(command).command;
	if (policy->launched)
		return advise(text,
		    "no preset for what '%s' runs (-a): any failure of it is "
		    "retried",
		    quote_for_shell(quoted, *command));
	known = preset_for_command(command, &preset);
	if (policy->automatic && !known)
		return retried && !policy->has_tool &&
		    advise(text, "no preset for '%s'%s",
			quote_for_shell(quoted, *command),
			policy->given == NULL ? ": any failure is retried"
					      : "");
	if (policy->loudness < LOUDNESS_VERBOSE || policy->given != NULL ||
	    policy->presets_off || policy->http || policy->http_status != NULL)
		return false;
	return known &&
	    advise(text,
		"preset %s (-a) retries only failures that a retry may cure",
		preset.name);
}
