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

/* How an attempt ended, in words: " failed (exit ", "22", ", HTTP ", ... */
struct phrase {
	const char *strings[5];
	char number[NUMBER_ROOM], http[NUMBER_ROOM];
	char name[CODES_SIGNAL_ROOM], span[DURATION_ROOM];
};

static void
phrase_exit(
    struct phrase *phrase, const struct outcome *outcome, bool succeeded)
{
	const char **strings = phrase->strings;

	*strings++ = succeeded ? " succeeded (exit " : " failed (exit ";
	*strings++ = number_put(phrase->number, outcome->code);
	if (outcome->http.known && outcome->http.code != 0) {
		*strings++ = ", HTTP ";
		*strings++ = number_put(phrase->http, outcome->http.code);
	}
	*strings = ")";
}

static void
phrase_outcome(struct phrase *phrase, const struct policy *policy,
    const struct outcome *outcome, bool succeeded)
{
	const char **strings = phrase->strings;

	switch (outcome->end) {
	case END_EXITED:
		phrase_exit(phrase, outcome, succeeded);
		break;
	case END_SIGNALED:
		strings[0] = " killed by ";
		strings[1] = codes_signal_name(phrase->name, outcome->code);
		break;
	case END_TIMED_OUT:
		strings[0] = " timed out after ";
		strings[1] = duration_format(phrase->span, policy->timeout);
		break;
	case END_DEADLINE:
		strings[0] = " ended by the deadline after ";
		strings[1] = duration_format(phrase->span, outcome->elapsed);
		break;
	case END_NOT_STARTED:
		strings[0] = " not started (";
		strings[1] = strerror(outcome->error);
		strings[2] = ")";
		break;
	}
}

/* Says "attempt 2/4 failed (exit 7)" and so on, and what follows. */
static void
say_attempt(struct lines *lines, const struct policy *policy,
    const struct history *history, const struct step *step)
{
	const struct outcome *outcome = &history->last;
	bool succeeded = step->reason == REASON_SUCCEEDED;
	enum loudness least = LOUDNESS_PLAIN;
	char label[REPORT_ROOM], span[DURATION_ROOM];
	const char *next = ", giving up: ", *detail = "", *close = "";
	struct phrase phrase = { .strings = { "", "", "", "", "" } };

	phrase_outcome(&phrase, policy, outcome, succeeded);
	if (step->again) {
		next = ", retrying in ";
		detail = duration_format(span, step->delay);
	} else if (succeeded) {
		next = outcome->end == END_EXITED ? "" : ": succeeded";
		least = LOUDNESS_VERBOSE;
	} else {
		detail = verdict_reason_words(step->reason);
		/* That retry itself failed is never hidden. */
		if (outcome->end == END_NOT_STARTED)
			least = LOUDNESS_QUIET;
	}
	if (step->reason == REASON_RETRY_AFTER) {
		next = ", giving up: Retry-After too long (";
		detail = duration_format(span, outcome->http.hint);
		close = ")";
	}
	lines_say(lines, least,
	    STRINGS("attempt ", report_label(label, policy, history),
		phrase.strings[0], phrase.strings[1], phrase.strings[2],
		phrase.strings[3], phrase.strings[4], next, detail, close));
}

/* "12 of 12 retries used in 60s (61 successes, ratio 0.2, min 10)" */
static void
say_exhausted(struct lines *lines, const char *key,
    const struct admission *admission, const char *next, const char *then)
{
	char used[NUMBER_ROOM], limit[NUMBER_ROOM], window[NUMBER_ROOM],
	    successes[NUMBER_ROOM], ratio[NUMBER_ROOM], min[NUMBER_ROOM];
	const struct ring_sums *sums = &admission->sums;
	const struct ring_limits *limits = &admission->limits;
	bool paid = admission->next == NANOS_MAX;

	lines_say(lines, LOUDNESS_PLAIN,
	    STRINGS("budget '", key, "': exhausted, ",
		number_put(used, sums->retries), " of ",
		number_put(limit, ring_limit(limits, sums->successes)),
		" retries used in ",
		number_put_decimal(window, admission->window, NANOS_SECOND),
		"s (", number_put(successes, sums->successes),
		sums->successes == 1 ? " success" : " successes", ", ratio ",
		number_put_decimal(ratio, limits->ratio, RING_RATIO_ONE),
		", min ", number_put(min, limits->min), "), next ",
		admission->never ? "never"
		    : paid       ? "after a success"
				 : "in about ",
		paid ? "" : next, then));
}

static void
say_held(struct lines *lines, const char *key,
    const struct admission *admission, const char *next, const char *then)
{
	char failures[NUMBER_ROOM];

	lines_say(lines, LOUDNESS_PLAIN,
	    STRINGS("breaker '", key, "': open after ",
		number_put(failures, admission->failures),
		admission->failures == 1 ? " failure" : " consecutive failures",
		admission->probing ? ", probe under way, ask again in "
				   : ", probe in ",
		next, then));
}

/* Says why the next attempt may not begin now, and what follows from that. */
static void
say_denied(struct lines *lines, const struct policy *policy,
    const struct history *history, const struct step *step)
{
	const struct admission *admission = &history->admission;
	const char *key = policy->share.key, *then = "; giving up";
	char span[DURATION_ROOM];
	const char *next = duration_format(span, admission->next);

	if (step->again)
		then = "; waiting";
	else if (history->made == 0)
		then = "; command not run";
	if (admission->denied == REASON_BREAKER)
		say_held(lines, key, admission, next, then);
	else if (!admission->cooling)
		say_exhausted(lines, key, admission, next, then);
	else
		lines_say(lines, LOUDNESS_PLAIN,
		    STRINGS("budget '", key,
			"': no retries after a denial, next in about ", next,
			then));
}

void
report_step(struct lines *lines, const struct policy *policy,
    const struct history *history, const struct step *step)
{
	char number[NUMBER_ROOM];

	bool denied = step->again
	    ? step->attempt == 0
	    : step->reason == REASON_BREAKER || step->reason == REASON_BUDGET;

	if (denied)
		say_denied(lines, policy, history, step);
	else if (step->attempt == 0)
		lines_say(lines, LOUDNESS_PLAIN,
		    STRINGS("giving up before attempt ",
			number_put(number, history->made + 1), ": ",
			verdict_reason_words(step->reason)));
	else if (step->reason == REASON_NOT_EXECUTABLE)
		say_not_executable(lines, policy, &history->last);
	else
		say_attempt(lines, policy, history, step);
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
