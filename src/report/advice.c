#include "report/advice.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>
#include "preset/preset.h"
#include "preset/wrapper.h"
#include "text/escape.h"
#include "text/number.h"

/* Words of sh(1) that are not programs. */
static const char *const shell_words[] = { "!", ".", ":", "alias", "bg", "case",
	"cd", "command", "eval", "exec", "exit", "export", "fc", "fg", "for",
	"getopts", "hash", "if", "jobs", "read", "readonly", "return", "set",
	"shift", "times", "trap", "type", "ulimit", "umask", "unalias", "unset",
	"until", "wait", "while", "{", NULL };

/* Words of bash(1) that are not programs and not in every sh. */
static const char *const bash_words[] = { "[[", "bind", "builtin", "caller",
	"compgen", "complete", "declare", "dirs", "disown", "enable",
	"function", "history", "let", "local", "logout", "mapfile", "popd",
	"pushd", "readarray", "select", "shopt", "source", "suspend", "time",
	"typeset", NULL };

static const char letters[] =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";
static const char digits[] = "0123456789";

static bool
is_among(const char *word, const char *const words[])
{
	while (*words != NULL)
		if (strcmp(word, *words++) == 0)
			return true;
	return false;
}

/* The name, if word is an assignment to a variable, or NULL. */
static const char *
find_variable(struct advice *advice, const char *word)
{
	size_t length = strcspn(word, "=");

	if (length == 0 || length >= sizeof advice->quoted ||
	    word[length] == '\0' || strchr(digits, *word) != NULL)
		return NULL;
	for (size_t i = 0; i < length; i++)
		if (strchr(letters, word[i]) == NULL &&
		    strchr(digits, word[i]) == NULL)
			return NULL;
	memcpy(advice->quoted, word, length);
	advice->quoted[length] = '\0';
	return advice->quoted;
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

/* Whether word means itself in every shell, without quotes. */
static bool
is_plain(const char *word)
{
	for (; *word != '\0'; word++)
		if (strchr(letters, *word) == NULL &&
		    strchr(digits, *word) == NULL &&
		    strchr("-.:+@%", *word) == NULL)
			return false;
	return true;
}

/* Text to stand between single quotes; if it is too long, its beginning. */
static const char *
quote(struct advice *advice, const char *text)
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
	size_t count = 0;

	for (; strings[count] != NULL; count++)
		advice->strings[count] = strings[count];
	advice->strings[count] = NULL;
	return true;
}

#define ADVISE(...) advise(advice, (const char *const[]){ __VA_ARGS__, NULL })

bool
advice_find(struct advice *advice, char **command)
{
	const char *word = command[0], *variable, *pipe;
	bool blanks = strpbrk(word, " \t\n") != NULL,
	     alone = command[1] == NULL;
	bool bash = is_among(word, bash_words);
	int64_t number;

	if (strlen(word) < NUMBER_ROOM &&
	    number_whole(word, strlen(word), &number))
		return ADVISE("did you mean -n ", word, "?");
	if (is_exported_function(word) && is_plain(word))
		return ADVISE(
		    "not a command but a function of bash: use bash -c '", word,
		    " \"$@\"' ", word, alone ? "" : " ...");
	/* The value is not shown: it may be long, or a secret. */
	variable = blanks && alone ? NULL : find_variable(advice, word);
	if (variable != NULL)
		return ADVISE("not a command but a variable: use env ",
		    variable, "=... COMMAND");
	if (!blanks && !bash && !is_among(word, shell_words))
		return false;
	/* Without pipefail, the failure of the first command is not seen. */
	pipe = strchr(word, '|');
	if (pipe != NULL && pipe[1] != '|')
		return ADVISE("this needs a shell: use ", "bash -o pipefail",
		    " -c '", quote(advice, word), alone ? "'" : " ...'");
	return ADVISE("this needs a shell: use ", bash ? "bash" : "sh", " -c '",
	    quote(advice, word), alone ? "'" : " ...'");
}

bool
advice_on_list(struct advice *advice, const struct given *given)
{
	const char *part = NULL;

	if (strcmp(given->option, "preset") != 0)
		part = conditions_swallowed(given->text);
	return part != NULL &&
	    ADVISE("'", part, "' is part of the pattern; for more items, give ",
		"--", given->option, " again");
}

bool
advice_on_rules(struct advice *advice, const struct policy *policy)
{
	char **command = policy->command;
	struct preset preset;

	for (const struct given *given = policy->given; given != NULL;
	     given = given->next)
		if (advice_on_list(advice, given))
			return true;
	if (policy->given != NULL || policy->http ||
	    policy->http_status != NULL)
		return false;
	command += wrapper_look(command).command;
	return preset_for_program(*command, &preset) &&
	    ADVISE("preset ", preset.name, " (--preset auto) retries only ",
		"failures that a retry may cure");
}
