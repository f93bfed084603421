#include "report/advice.h"

#include <ctype.h>
#include <string.h>
#include <unistd.h>
#include "output/writer.h"
#include "tools/preset.h"
#include "tools/command_line.h"
#include "text/escape.h"
#include "text/number.h"

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
quote_for_shell(struct advice *advice, const char *text)
{
	static const char quoted[] = "'\\''", cut[] = "...";
	char *at = advice->quoted;
	const char *start = text,
		   *limit = at + sizeof advice->quoted - sizeof cut;

	for (; *text != '\0'; text++) {
		size_t length = *text == '\'' ? sizeof quoted - 1 : 1;

		if ((size_t)(limit - at) < length)
			break;
		memcpy(at, length == 1 ? text : quoted, length);
		at += length;
	}
	at -= (size_t)(text - start) -
	    escape_cut(start, strlen(start), (size_t)(text - start));
	memcpy(at, *text == '\0' ? "" : cut, *text == '\0' ? 1 : sizeof cut);
	return advice->quoted;
}

static bool
advise(struct advice *advice, const char *const strings[])
{
	const char **to = advice->strings;

	while (*strings != NULL)
		*to++ = *strings++;
	*to = NULL;
	return true;
}

bool
advice_find(struct advice *advice, char **command)
{
	const char *word = command[0], *pipe;
	bool blanks = strpbrk(word, " \t\n") != NULL, bare = command[1] == NULL;
	bool bash = is_among(word, bash_words);
	size_t name = strspn(word, NAME);
	int64_t number;

	if (strlen(word) < NUMBER_ROOM &&
	    number_whole(word, strlen(word), &number))
		return advise(advice, STRINGS("did you mean -n ", word, "?"));
	if (is_exported_function(word) && word[strspn(word, PLAIN)] == '\0')
		return advise(advice,
		    STRINGS("not a command but a function of bash: use ",
			"bash -euo pipefail -c '", word, " \"$@\"' ", word,
			bare ? "" : " ..."));
	/* The value is not shown: it may be long, or a secret. */
	if (!(blanks && bare) && name > 0 && name < sizeof advice->quoted &&
	    word[name] == '=' && !isdigit((unsigned char)*word)) {
		memcpy(advice->quoted, word, name);
		advice->quoted[name] = '\0';
		return advise(advice,
		    STRINGS("not a command but a variable: use env ",
			advice->quoted, "=... COMMAND"));
	}
	if (!blanks && !bash && !is_among(word, shell_words))
		return false;
	/* Without pipefail, the failure of the first command is not seen. */
	pipe = strchr(word, '|');
	if (pipe != NULL && pipe[1] != '|')
		return advise(advice,
		    STRINGS("this needs a shell: use bash -o pipefail -c '",
			quote_for_shell(advice, word), bare ? "'" : " ...'"));
	return advise(advice,
	    STRINGS("this needs a shell: use ", bash ? "bash" : "sh", " -c '",
		quote_for_shell(advice, word), bare ? "'" : " ...'"));
}

bool
advice_on_list(struct advice *advice, const struct given *given)
{
	const char *part = NULL;

	if (strcmp(given->option, "preset") != 0 &&
	    strcmp(given->option, "retry-if") != 0)
		part = conditions_swallowed(given->text);
	return part != NULL &&
	    advise(advice,
		STRINGS("'", part,
		    "' is part of the pattern; for more items, give --",
		    given->option, " again"));
}

bool
advice_on_rules(struct advice *advice, const struct policy *policy)
{
	char **command = policy->command;
	struct preset preset;
	bool known;

	for (const struct given *given = policy->given; given != NULL;
	     given = given->next)
		if (advice_on_list(advice, given))
			return true;
	if (policy->loudness < LOUDNESS_VERBOSE)
		return false;
	command += command_line_unwrap(command).command;
	known = preset_for_command(command, &preset);
	if (policy->automatic && !known)
		return advise(advice,
		    STRINGS("no preset for '",
			quote_for_shell(advice, *command), "' (-a)",
			policy->given == NULL ? ": every failure is retried"
					      : NULL));
	if (policy->given != NULL || policy->presets_off || policy->http ||
	    policy->http_status != NULL)
		return false;
	return known &&
	    advise(advice,
		STRINGS("preset ", preset.name,
		    " (-a) retries only failures that a retry may cure"));
}
