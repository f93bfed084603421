#include "cli/options.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "cli/help.h"
#include "cli/option.h"
#include "cli/tool.h"
#include "exit_status.h"
#include "match/pattern.h"
#include "policy/conditions.h"
#include "text/escape.h"
#include "text/number.h"
#include "tools/command_line.h"
#include "tools/curl.h"
#include "tools/launcher.h"
#include "tools/preset.h"

/* The variable with the password for a fleet's server. */
#define PASSWORD "RETRY_FLEET_AUTH"

/* Room for the longest line with a password, and for one byte too many. */
#define PASSWORD_ROOM (URL_USER_ROOM + URL_PASSWORD_ROOM + 2)

/* --preset show:NAME prints the rules of a preset. */
#define SHOW "show:"
/* How often --preset may be given. */
#define PRESETS 8
/* A longer item that is refused is not shown as a pattern, too. */
#define HINT_MOST 100

/*
 * The table of options, in the order of --help, the manual and the completions
 */

/* Types of arguments; the field is a member of struct policy. */
#define AT(member) .field = offsetof(struct policy, member)
#define FLAG(member) .type = OPTION_FLAG, AT(member)
#define CONSTANT(member, value, otherwise) \
	.type = OPTION_CONSTANT, AT(member), .least = (value), \
	.most = (otherwise)
#define CHOICE(member, words) \
	.type = OPTION_CHOICE, AT(member), .choices = words
#define SPAN(member) \
	.type = OPTION_SPAN, AT(member), .refusal = DURATION_REFUSAL
#define SIZE(member) \
	.type = OPTION_SIZE, AT(member), .least = 1, \
	.refusal = "not a size in bytes, k, M, G or T"
#define RETRIES(member) \
	.type = OPTION_WHOLE, AT(member), .most = SEGMENT_MIN_MOST, \
	.refusal = "not a whole number up to 1000000"
#define RATIO(member) \
	.type = OPTION_RATIO, AT(member), .most = SEGMENT_RATIO_MOST, \
	.refusal = "not a ratio from 0 to 1000"
#define TEXT(member, why) .type = OPTION_TEXT, AT(member), .refusal = why
#define FILE_NAME(member, why) TEXT(member, why), .is_path = true
#define NO_FILE "not a file name"
#define KEY(member, why) TEXT(member, why), .most = SEGMENT_KEY
#define SPECIAL(kind) .special = (kind)
#define LIST(member) SPECIAL(SPECIAL_LIST), AT(member)
#define SPANS(member) SPECIAL(SPECIAL_SPANS), AT(member)

static const struct option table[] = {
	{ "attempts", 'n', "N",
	    "most attempts, or inf (default 5; with -T, inf)",
	    .type = OPTION_LIMIT, AT(attempts), .least = 1,
	    .refusal = "not a number of attempts", .heading = "Limits",
	    .aliases = "retry tries times max-attempts" },
	{ "retries", '\0', "N", "the same limit, without the first attempt",
	    .type = OPTION_LIMIT, AT(attempts), .least = 0,
	    SPECIAL(SPECIAL_RETRIES), .refusal = "not a number of retries" },
	{ "limit", '\0', "N:LIST", "most retries after these failures",
	    SPECIAL(SPECIAL_LIMIT) },
	{ "deadline", 'T', "DUR",
	    "time for all attempts and delays (default: none)", SPAN(deadline),
	    .aliases = "max-time total-timeout" },
	{ "wait", 'w', "DUR",
	    "wait for targets, or until COMMAND succeeds, as by\n"
	    "-T DUR -d 1 -b constant -t 5 -E; retry any failure",
	    .type = OPTION_WAIT, SPECIAL(SPECIAL_WAIT), .aliases = "wait-for" },
	{ "timeout", 't', "DUR[,DUR...]",
	    "time for one attempt, or a list (default: none)", SPANS(timeouts),
	    .refusal = DURATION_REFUSAL },
	{ "idle-timeout", '\0', "DUR",
	    "end an attempt that writes nothing for this long",
	    SPAN(idle_timeout) },
	{ "signal", 's', "SIG",
	    "signal that ends a late attempt (default TERM)",
	    .type = OPTION_SIGNAL, AT(signal), .refusal = "not a signal" },
	{ "kill-after", 'k', "DUR",
	    "send KILL this long after that signal (default 5s)",
	    SPAN(kill_after) },
	{ "kill-orphans", '\0', "",
	    "end what a failed attempt left in the background",
	    FLAG(kill_orphans) },
	{ "preserve-status", '\0', "",
	    "after a time limit exit as COMMAND did, not 124",
	    FLAG(preserve_status) },

	{ "delay", 'd', "DUR[,DUR...]",
	    "base delay (default 1s), or a list of delays,\n"
	    "whose last repeats or, with -b, grows",
	    SPANS(backoff.delays), .refusal = DURATION_REFUSAL,
	    .heading = "Delays", .aliases = "sleep interval" },
	{ "backoff", 'b', "KIND",
	    "how delays grow: exponential (default), linear,\n"
	    "constant, fibonacci",
	    CHOICE(
		backoff.kind, "exponential, linear, constant or fibonacci") },
	{ "factor", '\0', "X", "growth of exponential, 1 or more (default 2)",
	    .type = OPTION_DECIMAL, AT(backoff.factor),
	    .least = BACKOFF_FACTOR_ONE,
	    .refusal = "not a number of 1 or more" },
	{ "max-delay", '\0', "DUR",
	    "longest delay (default 30s, or a larger -d)", SPAN(backoff.cap) },
	{ "min-delay", '\0', "DUR", "shortest delay (default 0)",
	    SPAN(backoff.floor) },
	{ "jitter", 'j', "KIND",
	    "full (default), equal, decorrelated, none: -d 10\n"
	    "alone waits a random time in [0, 10s] before the\n"
	    "first retry, with -j none exactly that",
	    CHOICE(backoff.jitter, "full, equal, decorrelated or none") },
	{ "seed", '\0', "N", "make the same random delays for the same N",
	    SPECIAL(SPECIAL_SEED) },
	{ "reset-after", '\0', "DUR",
	    "begin with the first delay again after an attempt\n"
	    "that ran this long (default: never)",
	    SPAN(reset_after) },
	{ "splay", '\0', "DUR",
	    "random wait of up to DUR before the first attempt", SPAN(splay) },
	{ "retry-after", '\0', "HINT",
	    "wait at least the time that follows HINT in the\n"
	    "output: stderr:ERE or stdout:ERE; or, by\n"
	    "DUR:LIST, DUR after these limits of a server",
	    SPECIAL(SPECIAL_RETRY_AFTER) },

	{ "retry-on", '\0', "LIST", "retry only these failures (default: any)",
	    LIST(rules.retry_on), .heading = "What to retry" },
	{ "retry-if", '\0', "CMD",
	    "retry only if this, run with sh, exits with 0", TEXT(retry_if, ""),
	    .special = SPECIAL_CONDITION },
	{ "stop-on", '\0', "LIST",
	    "never retry these; only --success-on wins over it",
	    LIST(rules.stop_on) },
	{ "fail-on", '\0', "LIST",
	    "count these as failures although COMMAND exited 0",
	    LIST(rules.fail_on) },
	{ "success-on", '\0', "LIST",
	    "count these as successes, and exit with 0",
	    LIST(rules.success_on) },
	{ "consecutive", '\0', "N",
	    "succeed after N successes in a row (default 1)",
	    .type = OPTION_WHOLE, AT(consecutive), .least = 1,
	    .refusal = "not a number of successes" },
	{ "keep-status", '\0', "",
	    "exit as COMMAND did, however that was judged", FLAG(keep_status) },
	{ "exhausted-status", '\0', "N",
	    "exit with N if only a limit has ended the retries",
	    .type = OPTION_WHOLE, SPECIAL(SPECIAL_STATUS), AT(exhausted_status),
	    .least = 1, .most = EXIT_STATUS_TIMEOUT - 1,
	    .refusal = "not a status from 1 to 123" },
	{ "auto", 'a', "", "the preset for COMMAND; judge curl as with --http",
	    SPECIAL(SPECIAL_AUTO) },
	{ "preset", '\0', "NAME[,NAME]",
	    "rules for a tool; auto: for that of COMMAND;\n"
	    "list: print all names; show:NAME: print one",
	    SPECIAL(SPECIAL_PRESET) },

	{ "http", '\0', "",
	    "judge by the HTTP status: curl is made to write it\n"
	    "to a file, others write it to $RETRY_HTTP_STATUS",
	    FLAG(http), .special = SPECIAL_HTTP, .heading = "HTTP" },
	{ "http-status", '\0', "FILE",
	    "the same, from this file, which COMMAND writes",
	    FILE_NAME(http_status, NO_FILE) },
	{ "max-retry-after", '\0', "DUR",
	    "give up if the server asks for more (default 5m)",
	    SPAN(max_retry_after) },
	{ "method", '\0', "M",
	    "the method of the request; one that is not\n"
	    "idempotent, such as POST, needs a key",
	    TEXT(method, ""), .special = SPECIAL_METHOD },
	{ "idempotency-key", '\0', "KEY",
	    "send KEY with each attempt; auto: a random one,\n"
	    "\"auto\": one in quotes, as the draft wants it",
	    TEXT(key, ""), .special = SPECIAL_HEADER },

	{ "replay-stdin", 'I', "",
	    "give each attempt the same input: a pipe is read\n"
	    "before the first, a file is opened anew for each",
	    FLAG(replay), .heading = "Streams" },
	{ "stdin-max", '\0', "SIZE",
	    "...and fail if it is more than this (default 1G)",
	    SIZE(stdin_max) },
	{ "hold-stdout", 'O', "",
	    "write the output only of the attempt that succeeds",
	    FLAG(hold_out) },
	{ "hold-stderr", 'E', "",
	    "write error output only after the final failure:\n"
	    "the last attempt's, and retry's last message",
	    FLAG(hold_err) },
	{ "chronic", '\0', "",
	    "write only what the last wrote, if all have failed",
	    FLAG(chronic) },
	{ "hold-max", '\0', "SIZE",
	    "fail if a held output is larger (default 1G)", SIZE(hold_max) },

	{ "budget", 'B', "KEY",
	    "share a budget of retries with all commands that\n"
	    "give this KEY; '': none (default: $RETRY_BUDGET)",
	    KEY(budget.key, ""), .variable = "RETRY_BUDGET",
	    .heading = "Budget" },
	{ "budget-ratio", '\0', "R",
	    "allow R retries for each success (default 0.2)",
	    RATIO(budget.terms.ratio), .variable = "RETRY_BUDGET_RATIO" },
	{ "budget-min", '\0', "N",
	    "allow N retries in any case (default 10)...",
	    RETRIES(budget.terms.min), .variable = "RETRY_BUDGET_MIN" },
	{ "budget-window", '\0', "DUR",
	    "...in this time, 1s to 24h (default 10s)", .type = OPTION_SPAN,
	    AT(budget.terms.window), .least = SEGMENT_WINDOW_LEAST,
	    .most = SEGMENT_WINDOW_MOST, .refusal = "not a time from 1s to 24h",
	    .variable = "RETRY_BUDGET_WINDOW" },
	{ "budget-wait", '\0', "DUR",
	    "wait this long for the budget (default 0; without\n"
	    "a limit of attempts, until the deadline)",
	    SPAN(budget.wait), .needs = "budget" },
	{ "budget-cooldown", '\0', "DUR",
	    "after a denial allow no retry for this long", .type = OPTION_SPAN,
	    AT(budget.cooldown), .most = NANOS_DAY,
	    .refusal = "not a time up to 24h", .needs = "budget" },
	{ "rate", '\0', "N/DUR",
	    "begin at most N attempts in any DUR (10/s, 5000/h)",
	    SPECIAL(SPECIAL_RATE), .needs = "budget" },
	{ "budget-dir", '\0', "DIR", "directory of budgets (default /dev/shm)",
	    FILE_NAME(budget.directory, NO_FILE),
	    .variable = "RETRY_BUDGET_DIR" },
	{ "budget-required", '\0', "",
	    "run nothing if the budget cannot be used", FLAG(budget.required),
	    .needs = "budget" },
	{ "breaker", '\0', "N,DUR[,MAX]",
	    "after N failures in a row allow no attempt for DUR\n"
	    "(doubled each time up to MAX); on: 20,10s,60s",
	    SPECIAL(SPECIAL_BREAKER), .least = 1, .most = BREAKER_PAUSE_MOST,
	    .refusal = "not a time above 0, up to 24h", .needs = "budget" },
	{ "budget-status", '\0', "[KEY]", "show a budget, or all of them",
	    KEY(subject, "must not be empty"), .implied = "all",
	    .command_line = true },
	{ "json", '\0', "", "...as JSON",
	    CONSTANT(format, FORMAT_JSON, FORMAT_TABLE),
	    .needs = "budget-status", .command_line = true },
	{ "prom", '\0', "", "...as metrics for Prometheus",
	    CONSTANT(format, FORMAT_PROM, FORMAT_TABLE),
	    .needs = "budget-status", .command_line = true },
	{ "budget-reset", '\0', "KEY", "forget what a budget has counted",
	    KEY(subject, "must not be empty"), .command_line = true },
	{ "budget-gc", '\0', "", "remove budgets that nobody uses",
	    .command_line = true },
	{ "nested", '\0', "KIND",
	    "within another retry: share its budget (default);\n"
	    "once: no retries; add: none while that one retries",
	    CHOICE(nested, "share, add or once"), .variable = "RETRY_NESTED" },

	{ "fleet", '\0', "URL",
	    "share the budget with other hosts by a server of\n"
	    "Valkey or Redis (default: $RETRY_FLEET)",
	    SPECIAL(SPECIAL_FLEET), .variable = "RETRY_FLEET",
	    .heading = "Fleet" },
	{ "fleet-auth", '\0', "FILE",
	    "file with its password, or with user:password",
	    FILE_NAME(fleet.auth_file, NO_FILE),
	    .variable = "RETRY_FLEET_AUTH_FILE", .needs = "fleet" },
	{ "fleet-timeout", '\0', "DUR",
	    "time for one question (default 250ms; 1s with TLS)",
	    .type = OPTION_SPAN, AT(fleet.config.timeout), .least = 1,
	    .most = NANOS_MINUTE, .refusal = "not a time above 0, up to 1m",
	    .variable = "RETRY_FLEET_TIMEOUT", .needs = "fleet" },
	{ "fleet-min", '\0', "N",
	    "allow all hosts N retries (default: --budget-min)",
	    RETRIES(fleet.config.terms.min), .variable = "RETRY_FLEET_MIN",
	    .needs = "fleet" },
	{ "fleet-ratio", '\0', "R",
	    "...and R for each success (as --budget-ratio)",
	    RATIO(fleet.config.terms.ratio), .variable = "RETRY_FLEET_RATIO",
	    .needs = "fleet" },
	{ "fleet-alone", '\0', "N",
	    "without the server allow this host N retries\n"
	    "(default: its share of --fleet-min)",
	    RETRIES(fleet.config.alone), .variable = "RETRY_FLEET_ALONE",
	    .needs = "fleet" },

	{ "quiet", 'q', "", "no messages, unless retry itself fails",
	    CONSTANT(loudness, LOUDNESS_QUIET, LOUDNESS_PLAIN),
	    .heading = "Messages and reports" },
	{ "verbose", 'v', "", "more messages: successes, and how it ended",
	    CONSTANT(loudness, LOUDNESS_VERBOSE, LOUDNESS_PLAIN) },
	{ "label", '\0', "TEXT",
	    "begin each message with this: retry: TEXT: ...", TEXT(label, ""),
	    .special = SPECIAL_LABEL },
	{ "log-format", '\0', "FORMAT",
	    "format of messages: text (default), json, github",
	    CHOICE(log_format, "text, json or github") },
	{ "report", '\0', "FILE",
	    "write the attempts as JSON; *.jsonl: add a line",
	    FILE_NAME(report, "") },
	{ "metrics", '\0', "FILE",
	    "write how it ended, as metrics for Prometheus",
	    FILE_NAME(metrics, "") },
	{ "trace", '\0', "FILE",
	    "add a trace of the attempts, for OpenTelemetry\n"
	    "(default: $RETRY_TRACE)",
	    FILE_NAME(trace, ""), .variable = "RETRY_TRACE" },
	{ "on-retry", '\0', "CMD", "run this with sh before each retry",
	    TEXT(on_retry, "") },
	{ "on-give-up", '\0', "CMD", "run this with sh after giving up",
	    TEXT(on_give_up, "") },
	{ "progress", '\0', "WHEN",
	    "show how long a wait still takes: auto (default;\n"
	    "in the foreground of a terminal), always, never",
	    CHOICE(progress, "auto, always or never") },

	{ "dry-run", '\0', "",
	    "print delays, worst case and rules; run nothing",
	    .heading = "General", .command_line = true },
	{ "policy", '\0', "NAME|FILE",
	    "read options from a file, one a line, no dashes;\n"
	    "the command line wins (default: $RETRY_POLICY)",
	    .type = OPTION_FILE, .variable = "RETRY_POLICY",
	    .command_line = true },
	{ "help", 'h', "", "print this and exit; -h: the first options",
	    .type = OPTION_PRINT, SPECIAL(SPECIAL_HELP), .command_line = true },
	{ "version", 'V', "", "print the version and exit",
	    .type = OPTION_PRINT, SPECIAL(SPECIAL_VERSION),
	    .command_line = true },
	{ .name = "" },
};

#define OPTIONS (sizeof table / sizeof *table - 1)

static const struct option *
row(const char *name)
{
	return option_find(table, name, strlen(name));
}

/* How an option was given; its text is NULL where it was not. */
static struct argument *
given_of(struct argument given[], const char *name)
{
	return &given[row(name) - table];
}

/*
 * Arguments of a special type
 */

/* The length of the item of a list that begins at item. */
static size_t
length_of(const struct argument *argument, const char *item)
{
	size_t length = strcspn(item, ",");

	if (length == 0)
		option_refuse_item(argument, "empty item", item, 0, NULL);
	return length;
}

/* Reads times within the bounds of the option, from item to the end of the
 * text. */
static void
take_spans(
    const struct argument *argument, const char *item, struct spans *spans)
{
	const struct option *option = argument->option;

	for (spans->count = 0;; item++) {
		nanos *span = &spans->list[spans->count];
		size_t length;

		if (spans->count++ == SPANS_MOST)
			option_refuse(
			    argument, "more than 64 %ss", option->name);
		length = length_of(argument, item);
		if (!duration_parse(item, length, span) ||
		    *span < option->least ||
		    (option->most != 0 && *span > option->most))
			option_refuse_item(
			    argument, option->refusal, item, length, NULL);
		item += length;
		if (*item == '\0')
			return;
	}
}

static void
take_seed(const struct argument *argument, struct policy *policy)
{
	char *end;

	errno = 0;
	policy->seed = strtoull(argument->text, &end, 10);
	if (!isdigit((unsigned char)*argument->text) || *end != '\0' ||
	    errno != 0)
		option_refuse(argument, "not a whole number below 2^64");
	policy->seeded = true;
}

/* "on" or N,DUR[,MAX]; an empty text takes back another one. */
static void
take_breaker(const struct argument *argument, struct breaker_config *breaker)
{
	const char *text = argument->text, *last;
	struct spans pauses;
	size_t length;

	*breaker = (struct breaker_config){ .failures = 0 };
	if (*text == '\0')
		return;
	*breaker =
	    (struct breaker_config){ 20, 10 * NANOS_SECOND, 60 * NANOS_SECOND };
	if (strcmp(text, "on") == 0)
		return;
	if (strchr(text, ',') == NULL)
		option_refuse(argument, "neither on nor N,DUR[,MAX]");
	length = length_of(argument, text);
	if (!number_whole(text, length, &breaker->failures) ||
	    breaker->failures < 1 || breaker->failures > 1000000)
		option_refuse_item(argument, "not a number from 1 to 1000000",
		    text, length, NULL);
	take_spans(argument, text + length + 1, &pauses);
	if (pauses.count > 2)
		option_refuse(argument, "more items than N,DUR,MAX");
	breaker->pause = pauses.list[0];
	breaker->most = pauses.count == 2
	    ? pauses.list[1]
	    : number_greater(breaker->most, breaker->pause);
	last = strrchr(text, ',') + 1;
	if (breaker->most < breaker->pause)
		option_refuse_item(argument, "shorter than the time before it",
		    last, strlen(last), NULL);
}

/* An empty text means no fleet. */
static void
take_fleet(const struct argument *argument, struct fleet_policy *fleet)
{
	struct argument shown = *argument;
	char room[URL_ROOM];
	const char *why;

	fleet->text = NULL;
	if (*argument->text == '\0')
		return;
	why = url_parse(argument->text, fleet->url);
	/* The message goes to a log, which must not get a password. */
	shown.text = url_show(argument->text, room);
	if (why != NULL)
		option_refuse(&shown, "%s", why);
	fleet->text = argument->text;
}

/* The value of a header field; an empty one takes back another. */
static void
check_header(const struct argument *argument)
{
	const char *text = argument->text;

	/* A newline could begin another header. */
	for (const char *c = text; *c != '\0'; c++)
		if (iscntrl((unsigned char)*c))
			option_refuse(argument, "contains a control character");
	/* curl does not send a header whose value is empty. */
	if (*text != '\0' && text[strspn(text, " ")] == '\0')
		option_refuse(argument, "must not be blank");
}

/* With an escape in it the label would not be what the user looks for. */
static void
check_label(const struct argument *argument)
{
	const char *text = argument->text, *end;
	char shown[POLICY_LABEL];
	size_t length = strlen(text);

	if (length > sizeof shown)
		option_refuse(argument, "longer than 255 bytes");
	end =
	    escape_put(ESCAPE_PLAIN, shown, shown + sizeof shown, text, length);
	if ((size_t)(end - shown) != length || memcmp(shown, text, length) != 0)
		option_refuse(
		    argument, "contains a control character, or is not UTF-8");
}

/*
 * Notes a LIST, a limit, a hint or a preset, which become rules when all
 * options are known, or a condition, of which the last one counts. An empty
 * text takes back what was noted of the same option.
 */
static void
note(const struct argument *argument, struct policy *policy)
{
	const char *name = argument->option->name, *text = argument->text;
	bool alone = argument->option->special == SPECIAL_CONDITION;
	struct given **at = &policy->given;

	while (*at != NULL)
		if ((*text == '\0' || alone) &&
		    strcmp((*at)->option, name) == 0)
			*at = (*at)->next;
		else
			at = &(*at)->next;
	if (*text == '\0')
		return;
	*at = option_allocate(argument, sizeof **at);
	**at = (struct given){
		.option = name, .text = text, .location = argument->location
	};
}

/* The preset of that name, a part of the argument's text. */
static struct preset
find_preset(const struct argument *argument, const char *name, size_t length)
{
	struct preset preset;

	if (!preset_find(name, length, &preset))
		option_refuse_item(
		    argument, "no such preset", name, length, NULL);
	return preset;
}

static void add_rules(struct policy *policy);

/* Prints the rules that a name stands for: those of a file, and behind them
 * those of a preset. */
static _Noreturn void
show_preset(const struct argument *argument, const char *name)
{
	static struct watch watches[CONDITIONS_WATCHES];
	struct policy checked = { .watches = { .list = watches } };
	struct policy shown = { .given = NULL };
	struct tool tool;
	struct preset preset;
	bool beside;

	if (!tool_find(&tool, argument, strview_of(name), false)) {
		preset = find_preset(argument, name, strlen(name));
		help_preset(&preset, NULL, NULL);
	}
	beside = tool_read(&tool, argument, table, &checked);
	add_rules(&checked);
	tool_read(&tool, argument, table, &shown);
	beside &= preset_find(name, strlen(name), &preset);
	help_preset(beside ? &preset : NULL, &tool, shown.given);
}

/*
 * Notes each preset of the text; the one of the command stays "auto", and
 * "none" takes back those before. "list" prints the names of all presets and
 * exits, "show:NAME" the rules of one.
 */
static void
take_presets(const struct argument *argument, struct policy *policy)
{
	const char *text = argument->text;
	bool list = strcmp(text, "list") == 0;
	bool show = strncmp(text, SHOW, sizeof SHOW - 1) == 0;
	struct argument one = *argument;

	/* With one of these in a file its users could never run a command. */
	if ((list || show) && argument->location != NULL)
		option_refuse(argument, "only allowed on the command line");
	if (list)
		help_presets();
	if (show)
		show_preset(argument, text + sizeof SHOW - 1);
	if (*text == '\0' || strcmp(text, "none") == 0) {
		policy->presets_off = true;
		one.text = "";
		note(&one, policy);
		return;
	}
	for (;; text++) {
		const char *end = strchrnul(text, ',');
		struct strview name = { text, (size_t)(end - text) };
		struct tool tool;

		/* A file counts before the preset of its name. */
		one.text = name.length == 4 && strncmp(text, "auto", 4) == 0
		    ? "auto"
		    : tool_find(&tool, argument, name, false)
		    ? tool.name
		    : find_preset(argument, text, name.length).name;
		note(&one, policy);
		text = end;
		if (*text == '\0')
			break;
	}
}

static option_storing store;

/* Whether what a policy gives of an option counts beside its -w. If not, the
 * option is not given. */
static bool
is_kept(struct argument given[], const char *name, const struct argument *wait)
{
	struct argument *same = given_of(given, name);

	if (same->text != NULL && wait->location != NULL)
		return true;
	same->text = NULL;
	return false;
}

/*
 * Stores what -w stands for, before the other options of the command line.
 * Every failure means "not yet", whatever a policy knows of others.
 */
static void
take_wait(
    const struct argument *wait, struct policy *policy, struct argument given[])
{
	static const char options[][2][16] = { { "attempts", "inf" },
		{ "delay", "1" }, { "backoff", "constant" }, { "timeout", "5" },
		{ "hold-stderr", "" }, { "min-delay", "0" },
		{ "max-delay", "0" }, { "jitter", "full" }, { "splay", "0" },
		{ "http", "no-" }, { "idempotency-key", "" },
		{ "retry-if", "" }, { "retry-after", "" }, { "preset", "" },
		{ "retry-on", "" }, { "fail-on", "" }, { "limit", "" } };
	nanos span;

	if (!duration_parse(wait->text, strlen(wait->text), &span))
		option_refuse(wait, DURATION_REFUSAL);
	/* A deadline of 0 would be none. */
	if (span == 0)
		option_refuse(wait, "not a time above 0");
	policy->waits = policy->rules.waits = true;
	if (!is_kept(given, "deadline", wait)) {
		policy->deadline = span;
		*given_of(given, "deadline") = *wait;
	}
	if (!is_kept(given, "method", wait))
		policy->method = NULL;
	for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
		const char *name = options[i][0], *text = options[i][1];
		struct argument other = { row(name), .text = text,
			.off = *text == 'n' };
		bool rules = other.option->type == OPTION_NONE && *text == '\0';

		if (!is_kept(given, name, wait) || rules)
			store(&other, policy, given);
	}
}

/* Checks or stores what is special, and stores any other argument. */
static void
store(const struct argument *argument, struct policy *policy,
    struct argument given[])
{
	/* A token: RFC 9110, section 5.6.2. */
	static const char token[] =
	    "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyz"
	    "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	const char *text = argument->text, *why;

	switch (argument->option->special) {
	case SPECIAL_HELP:
		help_options(table, text[1] == '-');
	case SPECIAL_VERSION:
		help_version();
	case SPECIAL_WAIT:
		take_wait(argument, policy, given);
		break;
	case SPECIAL_RETRIES:
		/* The later one of the two counts. */
		*given_of(given, "attempts") = *argument;
		break;
	case SPECIAL_METHOD:
		if (*text == '\0' || text[strspn(text, token)] != '\0')
			option_refuse(argument, "not an HTTP method");
		break;
	case SPECIAL_HEADER:
		check_header(argument);
		break;
	case SPECIAL_LABEL:
		check_label(argument);
		break;
	case SPECIAL_SPANS:
		take_spans(argument, text, option_field(argument, policy));
		break;
	case SPECIAL_SEED:
		take_seed(argument, policy);
		break;
	case SPECIAL_HTTP:
		/* --no-http takes back a status file, too. */
		if (argument->off)
			policy->http_status = NULL;
		break;
	case SPECIAL_LIMIT:
	case SPECIAL_RETRY_AFTER:
	case SPECIAL_LIST:
	case SPECIAL_CONDITION:
		note(argument, policy);
		break;
	case SPECIAL_STATUS:
		if (*text == '\0') {
			policy->exhausted_status = 0;
			return;
		}
		break;
	case SPECIAL_PRESET:
		take_presets(argument, policy);
		break;
	case SPECIAL_BREAKER:
		take_breaker(argument, &policy->budget.breaker);
		break;
	case SPECIAL_RATE:
		why = rate_parse(text, &policy->budget.rate);
		if (why != NULL)
			option_refuse(argument, "%s", why);
		break;
	case SPECIAL_FLEET:
		take_fleet(argument, &policy->fleet);
		break;
	case SPECIAL_AUTO:
		take_presets(&(struct argument){ row("preset"),
				 .text = argument->off ? "none" : "auto",
				 .location = argument->location },
		    policy);
		break;
	case SPECIAL_NONE:
		break;
	}
	option_store(argument, policy);
}

/*
 * LISTs and presets become rules and compiled patterns
 */

/* Compiles the text of a watch into its pattern. */
static void
compile(const struct watch *watch, const struct argument *argument)
{
	struct argument pattern = *argument;
	struct pattern_error error;
	size_t length = strlen(watch->text);

	pattern.text = watch->text;
	if (pattern_compile(watch->pattern, watch->text, length, &error))
		return;
	if (error.at == length)
		option_refuse(&pattern, "%s", error.why);
	option_refuse_item(&pattern, error.why, watch->text + error.at,
	    length - error.at, NULL);
}

/* Adds a LIST, which is the end of the argument's text, to the set. */
static void
add_list(struct policy *policy, struct conditions *set,
    const struct argument *argument, const char *list)
{
	struct watches *watches = &policy->watches;
	char pattern[HINT_MOST + sizeof "stderr:"];
	struct conditions_error error;
	int first = watches->count;

	if (!conditions_parse(set, watches, list, &error)) {
		/* A word is mostly meant as one of the output. */
		bool word = isalpha((unsigned char)*error.item) &&
		    memchr(error.item, ':', error.length) == NULL &&
		    error.length <= HINT_MOST;

		snprintf(pattern, sizeof pattern, "stderr:%.*s",
		    (int)error.length, error.item);
		option_refuse_item(argument, error.why, error.item,
		    error.length, word ? pattern : NULL);
	}
	for (int i = first; i < watches->count; i++) {
		struct watch *watch = &watches->list[i];

		watch->pattern =
		    option_allocate(argument, sizeof *watch->pattern);
		compile(watch, argument);
	}
}

/* Adds a pattern to the set, or to none if that is NULL; it is not compiled
 * yet. */
static struct watch *
add_pattern(struct policy *policy, struct conditions *set,
    const struct argument *argument, int fd, const char *ere)
{
	struct watch *watch = conditions_watch(set, &policy->watches, fd, ere);

	if (watch == NULL)
		option_refuse(argument, "more than 64 patterns");
	return watch;
}

/* Adds a pattern behind whose matches a time to wait is. */
static void
add_hint(struct policy *policy, const struct argument *argument, int fd,
    const char *ere)
{
	struct watch *watch = add_pattern(policy, NULL, argument, fd, ere);

	watch->hint = option_allocate(argument, sizeof *watch->hint);
	watch->hint->unit =
	    strstr(ere, "_ms") != NULL ? NANOS_MS : NANOS_SECOND;
	watch->pattern = &watch->hint->pattern;
	compile(watch, argument);
	policy->watches.hints = true;
}

/* Adds a wait that the user or a preset knows, behind the others. */
static struct known_wait *
add_known_wait(
    struct policy *policy, const struct argument *argument, nanos least)
{
	struct known_wait **at = &policy->known_waits;

	while (*at != NULL)
		at = &(*at)->next;
	*at = option_allocate(argument, sizeof **at);
	**at = (struct known_wait){ .least = least };
	return *at;
}

/*
 * Adds the text of a preset to the last pattern of presets on its stream. False
 * where there is none, or it is full. Patterns of the user are not joined.
 */
static bool
join(struct watches *watches, struct watch *watch)
{
	struct pattern_error error;

	for (struct watch *other = watch; other-- > watches->list;) {
		if (other->fd != watch->fd || other->preset == NULL)
			continue;
		if (!pattern_add(other->pattern, watch->text,
			strlen(watch->text), &error))
			return false;
		watch->pattern = other->pattern;
		watch->number = other->number + 1;
		return true;
	}
	return false;
}

static void
add_preset_rules(struct policy *policy, const struct argument *argument,
    const struct preset *preset)
{
	struct watches *watches = &policy->watches;
	struct rules *rules = &policy->rules;
	struct conditions *transient =
	    preset->own == NULL ? &rules->transient : &rules->tool_transient;
	int first = watches->count;

	add_list(policy, &rules->transient, argument, preset->codes);
	if (preset->own != NULL)
		add_list(policy, &rules->tool_exits, argument, preset->own);
	/* Where it tells nothing elsewhere, nobody knows what passes. */
	if (preset->screen != NULL && !policy->hold_out &&
	    isatty(STDOUT_FILENO)) {
		policy->unsearched = preset->name;
		if (preset->err.transient == NULL)
			add_list(policy, &rules->transient, argument, "fail");
	}
	for (int fd = STDOUT_FILENO; fd <= STDERR_FILENO; fd++) {
		const struct preset_lines *lines =
		    fd == STDOUT_FILENO ? &preset->out : &preset->err;

		if (fd == STDOUT_FILENO && policy->unsearched == preset->name)
			continue;
		if (lines->fatal != NULL)
			add_pattern(
			    policy, &rules->fatal, argument, fd, lines->fatal);
		if (lines->transient != NULL)
			add_pattern(
			    policy, transient, argument, fd, lines->transient);
		if (lines->failed != NULL)
			add_pattern(policy, &rules->tool_failed, argument, fd,
			    lines->failed);
		/* Only a budget tells a limit from other failures. */
		if (policy->budget.key != NULL &&
		    (fd == STDERR_FILENO || lines->transient != NULL))
			add_pattern(policy, &rules->limited, argument, fd,
			    PRESET_LIMIT);
	}
	if (preset->wait != NULL) {
		add_pattern(policy, &rules->transient, argument, STDERR_FILENO,
		    preset->wait);
		add_hint(policy, argument, STDERR_FILENO, preset->wait);
	}
	if (preset->out_wait != NULL && policy->unsearched != preset->name) {
		add_pattern(policy, &rules->transient, argument, STDOUT_FILENO,
		    preset->out_wait);
		add_hint(policy, argument, STDOUT_FILENO, preset->out_wait);
	}
	if (preset->limit != NULL) {
		struct known_wait *known =
		    add_known_wait(policy, argument, preset->limit_wait);

		known->preset = preset->name;
		add_pattern(policy, &known->failures, argument, STDERR_FILENO,
		    preset->limit);
		add_pattern(policy, &rules->transient, argument, STDERR_FILENO,
		    preset->limit);
	}

	/* Patterns on the same stream are compiled as one. */
	for (int i = first; i < watches->count; i++) {
		struct watch *watch = &watches->list[i];

		if (watch->hint != NULL)
			continue;
		watch->preset = preset->name;
		if (join(watches, watch))
			continue;
		watch->pattern =
		    option_allocate(argument, sizeof *watch->pattern);
		compile(watch, argument);
	}
}

/* Notes another preset behind one, of a launcher such as npx and of the tool
 * which it runs. */
static void
note_beside(
    struct given *given, const char *preset, const struct argument *argument)
{
	struct given *other;

	if (strcmp(preset, given->text) == 0)
		return;
	other = option_allocate(argument, sizeof *other);
	*other = *given;
	other->text = preset;
	other->launched = true;
	given->next = other;
}

/*
 * Behind the preset of a launcher such as npx notes that of the tool which it
 * runs. Where there is none, any failure is retried that the launcher's preset
 * does not call fatal.
 */
static void
add_launched(struct policy *policy, struct given *launcher,
    const struct argument *argument, char *const program[])
{
	struct preset preset;

	switch (preset_launched(program, &preset)) {
	case PRESET_LAUNCH_KNOWN:
		note_beside(launcher, preset.name, argument);
		break;
	case PRESET_LAUNCH_UNKNOWN:
		policy->launched = true;
		add_list(policy, &policy->rules.transient, argument, "fail");
		break;
	case PRESET_LAUNCH_NONE:
		break;
	}
}

/*
 * Adds the rules of the preset that was noted, or of the command's, which is
 * behind wrappers such as env or sudo. Those of the file of that name, or of
 * what a launcher runs, follow it in the list. False if the command has
 * neither; with --dry-run there may be no command.
 */
static bool
add_preset(
    struct policy *policy, struct given *given, const struct argument *argument)
{
	bool automatic = strcmp(given->text, "auto") == 0;
	struct strview name = strview_of(given->text), runs;
	char **command = policy->command, **program = command;
	bool filed, known, launched = false;
	const char *unfinished;
	struct preset preset;
	struct tool tool;

	if (automatic) {
		policy->automatic = true;
		if (command == NULL)
			return false;
		program = command + command_line_unwrap(command).command;
		name = strview_of(command_line_program(*program));
		launched = given->tool == NULL &&
		    launcher_read(program, &runs) &&
		    tool_find(&tool, argument, runs, true);
	}
	known = automatic ? preset_for_program(name, &preset)
			  : preset_find(name.at, name.length, &preset);
	filed = launched ||
	    (given->tool == NULL &&
		(tool_find(&tool, argument, name, automatic) ||
		    (known && !strview_is(name, preset.name) &&
			tool_find(
			    &tool, argument, strview_of(preset.name), false))));
	if (automatic && !filed && !known)
		return false;
	given->text = known ? preset.name : given->text;
	if (filed) {
		policy->has_tool |= automatic;
		given->text = tool.name;
		if (launched && known)
			note_beside(given, preset.name, argument);
		if (launched)
			known = preset_launched(program, &preset) ==
			    PRESET_LAUNCH_KNOWN;
		known &= tool_read(&tool, argument, table, policy);
	} else if (automatic) {
		add_launched(policy, given, argument, program);
	}
	given->replaced = !known;
	if (!known)
		return true;
	add_preset_rules(policy, argument, &preset);
	/* With -w a limit of an attempt that hangs means "not yet", too. */
	unfinished = command == NULL || policy->waits
	    ? NULL
	    : preset_unfinished(&preset, command);
	if (unfinished != NULL)
		add_list(
		    policy, &policy->rules.unfinished, argument, unfinished);
	return true;
}

static void
add_limit(struct policy *policy, const struct argument *argument)
{
	const char *text = argument->text;
	size_t length = strcspn(text, ":");
	struct limit *limit;

	if (policy->limits == POLICY_LIMITS)
		option_refuse(argument, "given more than 16 times");
	limit = option_allocate(argument, sizeof *limit);
	*limit = (struct limit){ .text = text, .location = argument->location };
	if (text[length] == '\0' ||
	    !number_whole(text, length, &limit->retries))
		option_refuse(argument, "not N:LIST");
	add_list(policy, &limit->failures, argument, text + length + 1);
	policy->limit[policy->limits++] = limit;
}

/* Adds DUR:LIST. */
static void
add_users_wait(struct policy *policy, const struct argument *argument)
{
	const char *text = argument->text, *colon = strchrnul(text, ':');
	struct known_wait *known;
	nanos least;

	if (*colon == '\0' ||
	    !duration_parse(text, (size_t)(colon - text), &least))
		option_refuse(argument, "not DUR:LIST");
	known = add_known_wait(policy, argument, least);
	known->text = text;
	known->location = argument->location;
	add_list(policy, &known->failures, argument, colon + 1);
	if (!conditions_said(&known->failures))
		option_refuse(argument,
		    "not a LIST of statuses, http: items and patterns");
}

static void
add_stream_hint(struct policy *policy, const struct argument *argument)
{
	int fd = conditions_stream(argument->text);

	if (fd == 0)
		option_refuse(
		    argument, "neither DUR:LIST, stderr:ERE nor stdout:ERE");
	add_hint(policy, argument, fd, argument->text + CONDITIONS_STREAM);
	if (policy->budget.key != NULL)
		add_list(policy, &policy->rules.limited, argument,
		    fd == STDOUT_FILENO ? "stdout:" PRESET_LIMIT
					: "stderr:" PRESET_LIMIT);
}

/* The set for a LIST, which is that of the user, or of the file of a tool. */
static struct conditions *
set_of(const struct given *given, struct rules *rules, struct conditions *set)
{
	struct file_rules *file = &rules->file;

	if (given->tool == NULL)
		return set;
	return set == &rules->retry_on  ? &file->retry_on
	    : set == &rules->stop_on    ? &file->stop_on
	    : set == &rules->fail_on    ? &file->fail_on
	    : set == &rules->success_on ? &file->success_on
					: set;
}

/* Turns what was noted into rules, limits and hints, or refuses it. */
static void
add_rules(struct policy *policy)
{
	struct rules *rules = &policy->rules;
	struct given **at = &policy->given, *given;
	int presets = 0;

	while ((given = *at) != NULL) {
		const struct option *option = row(given->option);
		struct argument argument = { option, given->text,
			.location = given->location };
		struct conditions *set =
		    set_of(given, rules, option_field(&argument, policy));
		bool rule = true; /* that messages may name */

		if (option->special == SPECIAL_LIST) {
			add_list(policy, set, &argument, given->text);
		} else if (option->special == SPECIAL_PRESET) {
			if (!given->launched && presets++ == PRESETS)
				option_refuse(
				    &argument, "given more than 8 times");
			rule = add_preset(policy, given, &argument);
		} else if (option->special == SPECIAL_LIMIT) {
			add_limit(policy, &argument);
			rule = false;
		} else if (option->special == SPECIAL_RETRY_AFTER) {
			if (isdigit((unsigned char)*given->text))
				add_users_wait(policy, &argument);
			else
				add_stream_hint(policy, &argument);
			rule = false;
		}
		if ((set == &rules->retry_on || set == &rules->file.retry_on) &&
		    conditions_has_exit(&set->later, 0))
			option_refuse(&argument,
			    "0 is a success, not a failure (see --fail-on)");
		if (rule) {
			at = &given->next;
		} else {
			*at = given->next;
			free(given);
		}
	}
}

/*
 * What depends on several options
 */

static _Noreturn void
refuse(struct argument given[], const char *name, const char *why,
    const char *other)
{
	struct argument argument = *given_of(given, name);

	/* A mistake in a combination is not that of a line in a file. */
	argument.location = NULL;
	option_refuse(&argument, "%s%s", why, other);
}

/* Whether an option was given, and not taken back: not by its variable. */
static bool
is_given(const struct argument *argument)
{
	return argument->text != NULL && *argument->text != '\0' &&
	    !argument->off && !argument->by_variable;
}

/* Refuses an option that was given beside another one. */
static void
exclude(struct argument given[], const char *name, const char *other)
{
	if (is_given(given_of(given, name)) && is_given(given_of(given, other)))
		refuse(given, name, "not with --", other);
}

/* Refuses the options that need another one, which was not given. */
static void
refuse_needing(struct argument given[], const char *needed)
{
	for (size_t i = 0; i < OPTIONS; i++) {
		const struct option *option = given[i].option;

		if (is_given(&given[i]) && strcmp(option->needs, needed) == 0)
			refuse(given, option->name, "only with --", needed);
	}
}

/* Finds what is to be done, and whether there is a command. */
static void
find_action(struct policy *policy, struct argument given[])
{
	static const char actions[][16] = {
		[ACTION_STATUS] = "budget-status",
		[ACTION_RESET] = "budget-reset",
		[ACTION_GC] = "budget-gc",
		[ACTION_REHEARSE] = "dry-run",
	};
	char **command = policy->command;

	for (size_t i = 1; i < sizeof actions / sizeof *actions; i++) {
		if (!is_given(given_of(given, actions[i])))
			continue;
		if (policy->action != ACTION_RUN)
			exclude(given, actions[i], actions[policy->action]);
		policy->action = (enum action)i;
	}
	/* This is not the key of --budget-status=all. */
	if (policy->subject == row("budget-status")->implied)
		policy->subject = NULL;
	exclude(given, "prom", "json");
	if (policy->action != ACTION_STATUS)
		refuse_needing(given, "budget-status");

	if (command != NULL && *command == NULL)
		policy->command = command = NULL;
	if (policy->action == ACTION_RUN && command == NULL)
		option_fail("no command given");
	if (policy->action != ACTION_RUN && policy->action != ACTION_REHEARSE &&
	    command != NULL)
		option_refuse(&(struct argument){ row(actions[policy->action]),
				  .text = *command },
		    "not with a command");
}

/* Whether the command is a curl that --http can tell what to write. No other
 * user may see the key. */
static bool
runs_curl(const struct policy *policy)
{
	char **command = policy->command;
	struct wrapped found;

	if (command == NULL)
		return false;
	found = command_line_unwrap(command);
	if (!curl_named(command[found.command]))
		return false;
	if (found.alien && policy->key != NULL)
		option_fail("--idempotency-key: curl under sudo does not get "
			    "it: put sudo in front of retry");
	return !found.alien;
}

/* What the report tells of a limit: the option that has set it, or its default.
 */
static struct given
by_of(struct argument given[], const char *name, const char *otherwise)
{
	const struct argument *argument = given_of(given, name);

	if (argument->text == NULL)
		return (struct given){ .option = name, .text = otherwise };
	return (struct given){ .option = argument->option->name,
		.text = argument->text,
		.location = argument->location };
}

/* Completes what one option says by what others say, and refuses policies that
 * contradict themselves. */
static void
complete(struct policy *policy, struct argument given[])
{
	struct backoff *backoff = &policy->backoff;
	bool list = backoff->delays.count > 1;
	int timeouts = 0;

	policy->attempts_by = by_of(given, "attempts", "5 (default)");
	policy->deadline_by = by_of(given, "deadline", NULL);
	policy->max_retry_after_by =
	    by_of(given, "max-retry-after", "5m (default)");
	/* -T 0 means no deadline, so that the limit of attempts must stay. */
	if (policy->deadline > 0 && given_of(given, "attempts")->text == NULL)
		policy->attempts = POLICY_UNLIMITED;
	if (policy->consecutive > policy->attempts)
		refuse(given, "consecutive",
		    "more successes than attempts (see -n)", "");

	/* Timeouts that are all 0 are none. */
	while (timeouts < policy->timeouts.count &&
	    policy->timeouts.list[timeouts] == 0)
		timeouts++;
	if (timeouts == policy->timeouts.count)
		policy->timeouts.count = 0;

	/* The last delay of a list repeats, unless it is to grow. */
	if (list && given_of(given, "backoff")->text == NULL)
		backoff->kind = BACKOFF_CONSTANT;
	if (backoff->jitter == JITTER_DECORRELATED && list)
		refuse(given, "jitter", "not with a list of delays", "");
	if (given_of(given, "max-delay")->text == NULL) {
		backoff->cap =
		    number_greater(30 * NANOS_SECOND, backoff->floor);
		for (int i = 0; i < backoff->delays.count; i++)
			backoff->cap = number_greater(
			    backoff->cap, backoff->delays.list[i]);
	}
	if (backoff->cap < backoff->floor)
		refuse(given, "max-delay", "below --min-delay", "");

	backoff->given = given_of(given, "delay")->text != NULL ||
	    given_of(given, "min-delay")->text != NULL;

	/* The command line counts more than a policy. */
	if (is_given(given_of(given, "keep-status")) &&
	    given_of(given, "keep-status")->location == NULL &&
	    given_of(given, "exhausted-status")->location != NULL) {
		given_of(given, "exhausted-status")->text = NULL;
		policy->exhausted_status = 0;
	}
	exclude(given, "exhausted-status", "keep-status");
	exclude(given, "chronic", "hold-stdout");
	if (policy->chronic)
		policy->hold_out = policy->hold_err = true;

	if (policy->http_status != NULL)
		exclude(given, "http-status", "http");
	else if (policy->automatic && given_of(given, "http")->text == NULL)
		policy->http = policy->http_unasked = runs_curl(policy);
	/*
	 * A request that is not idempotent must not be sent twice without a
	 * key. Only --http sends the key, and only curl can take it without the
	 * user's help. A key in a file is not meant for other commands.
	 */
	if (policy->key != NULL && policy->http_status == NULL &&
	    policy->command != NULL) {
		policy->http |= runs_curl(policy);
		if (!policy->http &&
		    given_of(given, "idempotency-key")->location != NULL)
			policy->key = NULL;
		/* No message shows the key. */
		else if (!policy->http)
			option_fail(
			    "--idempotency-key: only with curl, or with --http "
			    "and a command that sends $RETRY_IDEMPOTENCY_KEY");
	}
	if (policy->key == NULL && !curl_idempotent(policy->method))
		refuse(given, "method",
		    "not idempotent, and no --idempotency-key", "");

	if (policy->budget.key == NULL)
		refuse_needing(given, "budget");
	/* If only time limits the attempts, only time limits the wait for a
	 * budget. */
	if (policy->attempts == POLICY_UNLIMITED &&
	    given_of(given, "budget-wait")->text == NULL)
		policy->budget.wait = NANOS_MAX;
}

/*
 * Reads the password from the file that was named, or else from its variable.
 * False if there is neither. No message shows the password.
 */
static bool
find_password(struct fleet_policy *fleet, struct argument given[])
{
	const struct option variable = { .variable = PASSWORD };
	struct argument argument = *given_of(given, "fleet-auth");
	const char *value = getenv(PASSWORD), *why;
	static char room[PASSWORD_ROOM]; /* few touch these pages */
	struct strview text = { room, 0 };

	argument.location = NULL;
	if (fleet->auth_file != NULL) {
		text.length =
		    option_read_file(&argument, room, sizeof room, true);
	} else if (value != NULL && *value != '\0') {
		text = strview_of(value);
		argument =
		    (struct argument){ &variable, "***", .by_variable = true };
	} else {
		return false;
	}
	why = url_parse_auth(text, fleet->url->user, fleet->auth);
	if (why != NULL)
		option_refuse(&argument, "%s", why);
	return true;
}

/*
 * Completes the fleet of the budget; without a budget there is no fleet.
 * Numbers that were not given are the budget's.
 */
static void
complete_fleet(struct policy *policy, bool has_budget, struct argument given[])
{
	const struct terms *budget = &policy->budget.terms;
	struct fleet_policy *fleet = &policy->fleet;
	const struct argument *argument = given_of(given, "fleet");

	if (argument->text == NULL)
		refuse_needing(given, "fleet");
	if (is_given(argument) && !has_budget)
		refuse(given, "fleet", "only with --", "budget");
	if (!has_budget)
		fleet->text = NULL;
	if (fleet->text == NULL)
		return;
	if (!find_password(fleet, given) && fleet->url->user[0] != '\0')
		refuse(given, "fleet", "a user, and no --fleet-auth", "");

	if (fleet->config.terms.ratio == -1)
		fleet->config.terms.ratio =
		    budget->ratio == -1 ? SEGMENT_RATIO : budget->ratio;
	if (fleet->config.terms.min == -1)
		fleet->config.terms.min =
		    budget->min == -1 ? SEGMENT_MIN : budget->min;
	fleet->config.terms.window =
	    budget->window == -1 ? SEGMENT_WINDOW : budget->window;
	if (fleet->config.timeout == 0)
		fleet->config.timeout =
		    fleet->url->tls ? NANOS_SECOND : 250 * NANOS_MS;
}

/* Notes what a retry within the command takes over. */
static void
hand_on(struct policy *policy, struct argument given[])
{
	struct handed *handed = policy->handed;

	for (size_t i = 0; i < OPTIONS; i++) {
		const char *variable = table[i].variable, *text = given[i].text;
		char *directory = NULL;

		if (text == NULL || *variable == '\0' ||
		    table[i].type == OPTION_FILE ||
		    (given[i].by_variable && !table[i].is_path))
			continue;
		/* The command may change the working directory. So a relative
		 * path, even of the environment, becomes an absolute one. But
		 * where --trace has "-", that is standard error. */
		if (table[i].is_path && *text != '/' && *text != '\0' &&
		    (strcmp(text, "-") != 0 ||
			table[i].field != offsetof(struct policy, trace)))
			directory = getcwd(NULL, 0);
		if (directory != NULL) {
			size_t size = strlen(directory) + strlen(text) + 2;
			char *absolute = option_allocate(&given[i], size);

			snprintf(absolute, size, "%s/%s", directory, text);
			free(directory);
			text = absolute;
		}
		*handed++ = (struct handed){ variable, text };
	}
}

/*
 * Reads targets in the place of the command. Of the options that do not apply
 * to them, those of the command line are refused, and those of files and
 * variables count as not given.
 */
static void
take_targets(struct policy *policy, struct argument given[])
{
	static const char suits[][12] = { "deadline", "wait", "timeout",
		"delay", "backoff", "factor", "max-delay", "min-delay",
		"jitter", "seed", "quiet", "verbose", "label", "log-format",
		"report", "metrics", "trace", "on-give-up", "progress",
		"dry-run", "policy" };
	static struct target targets[TARGET_MOST];
	struct argument word = { row("wait"), .text = NULL };
	char **next = policy->command;
	const char *why;

	for (size_t i = 0, j; i < OPTIONS; i++) {
		struct argument refused = { &table[i], .text = NULL };

		for (j = 0; j < sizeof suits / sizeof *suits; j++)
			if (strcmp(suits[j], table[i].name) == 0)
				break;
		if (j < sizeof suits / sizeof *suits)
			continue;
		if (is_given(&given[i]) && given[i].location == NULL)
			option_refuse(&refused, "not with targets");
		given[i].text = NULL;
	}
	policy->given = NULL;
	policy->budget.key = policy->fleet.text = policy->http_status =
	    policy->method = policy->key = NULL;
	policy->budget.required = policy->http = policy->replay =
	    policy->hold_out = policy->hold_err = policy->chronic = false;
	policy->kill_orphans = false;
	policy->idle_timeout = policy->kill_after = policy->splay = 0;
	policy->exhausted_status = 0;
	policy->consecutive = 1;
	if (given_of(given, "jitter")->text == NULL)
		policy->backoff.jitter = JITTER_NONE;

	policy->targets = targets;
	for (; *next != NULL && strcmp(*next, "--") != 0; next++) {
		word.text = *next;
		if (policy->target_count == TARGET_MOST)
			option_refuse(&word, "more than 64 targets");
		why = target_parse(*next, &targets[policy->target_count++]);
		/* It may have a password. */
		if (strchr(*next, '@') != NULL)
			word.text = "***";
		if (why != NULL)
			option_refuse(&word, "%s", why);
		if (target_kind(*next) == TARGET_HTTPS)
			option_refuse(&word,
			    "no TLS; use retry -w 60 -- curl -fsS "
			    "-o /dev/null '%s'",
			    *next);
	}
	policy->then = *next == NULL ? NULL : next + 1;
	if (policy->then != NULL && *policy->then == NULL)
		option_fail("no command given");
}

void
options_parse(int argc, char **argv, struct policy *policy)
{
	/* Beside the policy: they are large, and few invocations use them. */
	static struct watch watches[CONDITIONS_WATCHES];
	static struct url url;
	static struct url_auth auth;
	struct argument given[OPTIONS] = { { .text = NULL } };
	bool runs;

	*policy = (struct policy){
		.attempts = 5,
		.consecutive = 1,
		.signal = SIGTERM,
		.kill_after = 5 * NANOS_SECOND,
		.backoff = {
			.kind = BACKOFF_EXPONENTIAL,
			.jitter = JITTER_FULL,
			.factor = INT64_C(2) * BACKOFF_FACTOR_ONE,
			.delays = { { NANOS_SECOND }, 1 },
		},
		.max_retry_after = 5 * NANOS_MINUTE,
		.stdin_max = INT64_C(1) << 30,
		.hold_max = INT64_C(1) << 30,
		.budget = {
			.directory = SEGMENT_DIRECTORY,
			.terms = { -1, -1, -1 },
		},
		.fleet = {
			.url = &url,
			.auth = &auth,
			.config = { .terms = { -1, -1, -1 }, .alone = -1 },
		},
		.watches = { .list = watches },
		.loudness = LOUDNESS_PLAIN,
		.log_format = LOG_TEXT,
		.progress = SHOWING_AUTO,
	};

	/* execve(2) allows an empty argv, without even argv[0]. */
	if (argc > 0)
		policy->command =
		    option_parse(table, store, argv, policy, given);
	if (policy->waits && !policy->dashed && *policy->command != NULL &&
	    target_kind(*policy->command) != TARGET_NONE)
		take_targets(policy, given);
	find_action(policy, given);
	add_rules(policy);
	runs =
	    policy->action == ACTION_RUN || policy->action == ACTION_REHEARSE;
	if (runs)
		complete(policy, given);
	if (policy->command != NULL)
		policy->program = policy->targets != NULL
		    ? "targets"
		    : command_line_program(*policy->command);
	if (policy->action != ACTION_GC)
		complete_fleet(
		    policy, !runs || policy->budget.key != NULL, given);
	if (runs)
		hand_on(policy, given);
}
