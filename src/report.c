#include "report.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "number.h"

/* Words that a shell would understand and execve cannot: sh(1), bash(1). */
static const char *const shell_words[] = { "!", ".", ":", "[[", "alias", "bg",
	"bind", "builtin", "caller", "case", "cd", "command", "compgen",
	"complete", "declare", "dirs", "disown", "enable", "eval", "exec",
	"exit", "export", "fc", "fg", "for", "function", "getopts", "hash",
	"history", "if", "jobs", "let", "local", "logout", "mapfile", "popd",
	"pushd", "read", "readarray", "readonly", "return", "select", "set",
	"shift", "shopt", "source", "suspend", "times", "trap", "type",
	"typeset", "ulimit", "umask", "unalias", "unset", "until", "wait",
	"while", "{" };

char *
report_label(char room[REPORT_ROOM], const struct policy *policy,
    const struct history *history)
{
	char *end;

	number_put(room, history->made);
	if (policy->attempts == POLICY_UNLIMITED)
		return room;
	end = room + strlen(room);
	*end = '/';
	number_put(end + 1, policy->attempts);
	return room;
}

/* A function that bash has put into the environment: BASH_FUNC_name%%=... */
static bool
is_exported_function(const char *word)
{
	static const char prefix[] = "BASH_FUNC_";
	size_t length = strlen(word);

	for (char **at = environ; at != NULL && *at != NULL; at++) {
		const char *name = *at + sizeof prefix - 1;

		if (strncmp(*at, prefix, sizeof prefix - 1) == 0 &&
		    strncmp(name, word, length) == 0 &&
		    strncmp(name + length, "%%=", 3) == 0)
			return true;
	}
	return false;
}

static bool
is_shell_line(const char *word)
{
	for (size_t i = 0; i < sizeof shell_words / sizeof *shell_words; i++)
		if (strcmp(word, shell_words[i]) == 0)
			return true;
	return strpbrk(word, " \t\n") != NULL || is_exported_function(word);
}

static void
say_not_executable(struct lines *lines, const struct policy *policy,
    const struct outcome *outcome)
{
	const char *word = policy->command[0];
	int64_t number;

	lines_say(lines, LOUDNESS_QUIET,
	    STRINGS("cannot run '", word, "': ", strerror(outcome->error)));
	if (verdict_status(outcome) != 127)
		return;
	if (number_whole(word, strlen(word), &number))
		lines_say(lines, LOUDNESS_QUIET,
		    STRINGS("did you mean -n ", word, "?"));
	else if (is_shell_line(word))
		lines_say(lines, LOUDNESS_QUIET,
		    STRINGS("not a shell line: use sh -c '", word,
			policy->command[1] == NULL ? "'" : " ...'"));
}

/* Says "attempt 2/4 failed (exit 7)" and so on, and what follows. */
static void
say_outcome(struct lines *lines, enum loudness least, const char *label,
    const struct policy *policy, const struct outcome *outcome,
    const char *next, const char *detail)
{
	char number[NUMBER_ROOM], name[CODES_SIGNAL_ROOM], span[DURATION_ROOM];
	const char *how = "", *what = "", *close = "";

	switch (outcome->end) {
	case END_EXITED:
		how = detail == NULL ? " succeeded (exit " : " failed (exit ";
		what = number_put(number, outcome->code);
		close = ")";
		break;
	case END_SIGNALED:
		how = " killed by ";
		what = codes_signal_name(name, outcome->code);
		break;
	case END_TIMED_OUT:
		how = " timed out after ";
		what = duration_format(span, policy->timeout);
		break;
	case END_DEADLINE:
		how = " ended by the deadline after ";
		what = duration_format(span, outcome->elapsed);
		break;
	case END_NOT_STARTED:
		how = " not started (";
		what = strerror(outcome->error);
		close = ")";
		break;
	}
	lines_say(lines, least,
	    STRINGS("attempt ", label, how, what, close, next,
		detail == NULL ? "" : detail));
}

void
report_step(struct lines *lines, const struct policy *policy,
    const struct history *history, const struct step *step)
{
	const struct outcome *outcome = &history->last;
	char label[REPORT_ROOM], span[DURATION_ROOM], number[NUMBER_ROOM];
	/* That retry itself failed is never hidden. */
	enum loudness least = outcome->end == END_NOT_STARTED && !step->again
	    ? LOUDNESS_QUIET
	    : LOUDNESS_PLAIN;

	report_label(label, policy, history);
	if (step->attempt == 0)
		lines_say(lines, LOUDNESS_PLAIN,
		    STRINGS("giving up before attempt ",
			number_put(number, history->made + 1), ": ",
			verdict_reason_words(step->reason)));
	else if (step->reason == REASON_NOT_EXECUTABLE)
		say_not_executable(lines, policy, outcome);
	else if (step->reason == REASON_SUCCEEDED)
		say_outcome(lines, LOUDNESS_VERBOSE, label, policy, outcome,
		    outcome->end == END_EXITED ? "" : ": succeeded", NULL);
	else if (step->again)
		say_outcome(lines, least, label, policy, outcome,
		    ", retrying in ", duration_format(span, step->delay));
	else
		say_outcome(lines, least, label, policy, outcome,
		    ", giving up: ", verdict_reason_words(step->reason));
}

void
report_end(struct lines *lines, const struct history *history,
    enum reason reason, nanos now)
{
	char number[NUMBER_ROOM], span[DURATION_ROOM];

	lines_say(lines, LOUDNESS_VERBOSE,
	    STRINGS("ended after ", number_put(number, history->made),
		history->made == 1 ? " attempt in " : " attempts in ",
		duration_format(span, now - history->began), ": ",
		verdict_reason_name(reason)));
}
