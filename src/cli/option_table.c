#include "cli/option_table.h"

#include <stddef.h>
#include <string.h>
#include "cli/help.h"
#include "output/log.h"
#include "output/writer.h"
#include "sys/sys.h"
#include "version.h"
#include "cli/option_rules.h"
#include "policy/policy.h"
#include "cli/policy_file.h"
#include "cli/option_values.h"
#include "cli/usage.h"

/* With "preset=list" or "preset=show:NAME" in a file its users could never run
 * a command. */
static void
take_preset(const struct option *option, const char *text, void *policy)
{
	if (option->location != NULL &&
	    (strcmp(text, "list") == 0 || strncmp(text, "show:", 5) == 0))
		optparse_refuse(
		    option, "only allowed on the command line", text);
	option_rules_preset(option, text, policy);
}

/* With the word as it was typed: "-h", "-qh" or "--help". */
static void
take_help(const struct option *option, const char *text, void *policy)
{
	(void)option;
	(void)policy;
	if (text[1] == '-')
		usage_all(&option_table);
	usage_first();
}

static void
take_version(const struct option *option, const char *text, void *policy)
{
	(void)option;
	(void)text;
	(void)policy;
	/* Always "retry", by whatever name it was called: GNU Coding
	 * Standards, "--version". Debian has another retry. */
	help_text(STRINGS("retry ", VERSION, "\n",
	    "Runs a command until it succeeds; not Debian's package retry. ",
	    "See 'man ", sys_program(), "'.\n"));
}

static const char *const backoff_kinds[] = {
	[BACKOFF_EXPONENTIAL] = "exponential",
	[BACKOFF_LINEAR] = "linear",
	[BACKOFF_CONSTANT] = "constant",
	[BACKOFF_FIBONACCI] = "fibonacci",
	NULL,
};

static const char *const jitters[] = {
	[JITTER_FULL] = "full",
	[JITTER_EQUAL] = "equal",
	[JITTER_DECORRELATED] = "decorrelated",
	[JITTER_NONE] = "none",
	NULL,
};

static const char *const nested_kinds[] = {
	[NESTED_SHARE] = "share",
	[NESTED_ADD] = "add",
	[NESTED_ONCE] = "once",
	NULL,
};

static const char *const log_formats[] = {
	[LOG_TEXT] = "text",
	[LOG_JSON] = "json",
	[LOG_GITHUB] = "github",
	NULL,
};

static const char *const progress_times[] = {
	[SHOWING_AUTO] = "auto",
	[SHOWING_ALWAYS] = "always",
	[SHOWING_NEVER] = "never",
	NULL,
};

/* Types of arguments; the field is a member of struct policy. */
#define AT(member) .field = offsetof(struct policy, member)
#define FLAG(member) .type = OPTION_FLAG, AT(member)
#define CHOICE(member, names, why) \
	.type = OPTION_CHOICE, AT(member), .choices = (names), .refusal = (why)
#define SPAN(member) \
	.type = OPTION_SPAN, AT(member), .refusal = DURATION_REFUSAL
#define SIZE(member) \
	.type = OPTION_SIZE, AT(member), .least = 1, \
	.refusal = "not a size in bytes, k, M, G or T"
#define TEXT(member, why) .type = OPTION_TEXT, AT(member), .refusal = (why)
#define FILE_NAME(member) TEXT(member, "not a file name"), .is_path = true
#define KEY(member, why) TEXT(member, why), .most = SEGMENT_KEY
#define SPECIAL(function, member) \
	.type = OPTION_SPECIAL, AT(member), .take = (function)

static const struct option options[OPTIONS] = {
	[OPT_ATTEMPTS] = { "attempts", 'n', .argument = "N",
	    "most attempts, or inf (default 5; with -T, inf)",
	    .type = OPTION_LIMIT, AT(attempts), .least = 1,
	    .refusal = "not a number of attempts" },
	[OPT_RETRIES] = { "retries", '\0', .argument = "N",
	    "the same limit, without the first attempt", .type = OPTION_LIMIT,
	    AT(attempts), .least = 0, .refusal = "not a number of retries" },
	[OPT_LIMIT] = { "limit", '\0', .argument = "N:LIST",
	    "most retries after these failures",
	    SPECIAL(option_rules_limit, limit) },
	[OPT_DEADLINE] = { "deadline", 'T', .argument = "DUR",
	    "time for all attempts and delays (default: none)",
	    SPAN(deadline) },
	[OPT_TIMEOUT] = { "timeout", 't', .argument = "DUR[,DUR...]",
	    "time for one attempt, or a list (default: none)",
	    SPECIAL(option_values_timeouts, timeouts),
	    .refusal = "more than 64 timeouts" },
	[OPT_IDLE_TIMEOUT] = { "idle-timeout", '\0', .argument = "DUR",
	    "end an attempt that writes nothing for this long",
	    SPAN(idle_timeout) },
	[OPT_SIGNAL] = { "signal", 's', .argument = "SIG",
	    "signal that ends a late attempt (default TERM)",
	    .type = OPTION_SIGNAL, AT(signal), .refusal = "not a signal" },
	[OPT_KILL_AFTER] = { "kill-after", 'k', .argument = "DUR",
	    "send KILL this long after that signal (default 5s)",
	    SPAN(kill_after) },
	[OPT_PRESERVE_STATUS] = { "preserve-status", '\0', .argument = NULL,
	    "after a limit of time exit as COMMAND did, not 124",
	    FLAG(preserve_status) },

	[OPT_DELAY] = { "delay", 'd', .argument = "DUR[,DUR...]",
	    "base delay (default 1s), or a list of delays,\n"
	    "whose last repeats or, with -b, grows",
	    SPECIAL(option_values_delays, backoff),
	    .refusal = "more than 64 delays" },
	[OPT_BACKOFF] = { "backoff", 'b', .argument = "KIND",
	    "how delays grow: exponential (default), linear,\n"
	    "constant, fibonacci",
	    CHOICE(backoff.kind, backoff_kinds,
		"not exponential, linear, constant or fibonacci") },
	[OPT_FACTOR] = { "factor", '\0', .argument = "X",
	    "growth of exponential, 1 or more (default 2)",
	    .type = OPTION_DECIMAL, AT(backoff.factor),
	    .least = BACKOFF_FACTOR_ONE,
	    .refusal = "not a number of 1 or more" },
	[OPT_MAX_DELAY] = { "max-delay", '\0', .argument = "DUR",
	    "longest delay (default 30s, or a larger -d)", SPAN(backoff.cap) },
	[OPT_MIN_DELAY] = { "min-delay", '\0', .argument = "DUR",
	    "shortest delay (default 0)", SPAN(backoff.floor) },
	[OPT_JITTER] = { "jitter", 'j', .argument = "KIND",
	    "full (default), equal, decorrelated, none: -d 10\n"
	    "alone waits a random time in [0, 10s] before the\n"
	    "first retry, with -j none exactly that",
	    CHOICE(backoff.jitter, jitters,
		"not full, equal, decorrelated or none") },
	[OPT_SEED] = { "seed", '\0', .argument = "N",
	    "make the same random delays for the same N",
	    SPECIAL(option_values_seed, seed) },
	[OPT_RESET_AFTER] = { "reset-after", '\0', .argument = "DUR",
	    "begin with the first delay again after an attempt\n"
	    "that ran this long (default: never)",
	    SPAN(reset_after) },
	[OPT_SPLAY] = { "splay", '\0', .argument = "DUR",
	    "random wait of up to DUR before the first attempt", SPAN(splay) },
	[OPT_RETRY_AFTER] = { "retry-after", '\0', .argument = "HINT",
	    "wait at least the time that the output has behind\n"
	    "a match of HINT, stderr:ERE or stdout:ERE",
	    SPECIAL(option_rules_retry_after, watches) },

	[OPT_RETRY_ON] = { "retry-on", '\0', .argument = "LIST",
	    "retry only these failures (default: any)",
	    SPECIAL(option_rules_list, rules.retry_on) },
	[OPT_STOP_ON] = { "stop-on", '\0', .argument = "LIST",
	    "never retry these; wins over all other rules",
	    SPECIAL(option_rules_list, rules.stop_on) },
	[OPT_FAIL_ON] = { "fail-on", '\0', .argument = "LIST",
	    "count these as failures although COMMAND exited 0",
	    SPECIAL(option_rules_list, rules.fail_on) },
	[OPT_SUCCESS_ON] = { "success-on", '\0', .argument = "LIST",
	    "count these as successes, and exit with 0",
	    SPECIAL(option_rules_list, rules.success_on) },
	[OPT_CONSECUTIVE] = { "consecutive", '\0', .argument = "N",
	    "succeed after N successes in a row, with the first\n"
	    "delay between them (default 1)",
	    .type = OPTION_WHOLE, AT(consecutive), .least = 1,
	    .refusal = "not a number of successes" },
	[OPT_KEEP_STATUS] = { "keep-status", '\0', .argument = NULL,
	    "exit as COMMAND did, however that was judged", FLAG(keep_status) },
	[OPT_PRESET] = { "preset", '\0', .argument = "NAME[,NAME]",
	    "rules for a tool; auto: for that of COMMAND;\n"
	    "list: print all names; show:NAME: print one",
	    SPECIAL(take_preset, preset) },

	[OPT_HTTP] = { "http", '\0', .argument = NULL,
	    "judge by the HTTP status: curl is made to write it\n"
	    "to a file, others write it to $RETRY_HTTP_STATUS",
	    FLAG(http) },
	[OPT_HTTP_STATUS] = { "http-status", '\0', .argument = "FILE",
	    "the same, from this file, which COMMAND writes",
	    FILE_NAME(http_status) },
	[OPT_MAX_RETRY_AFTER] = { "max-retry-after", '\0', .argument = "DUR",
	    "give up if the server asks for more (default 5m)",
	    SPAN(max_retry_after) },
	[OPT_METHOD] = { "method", '\0', .argument = "M",
	    "the method of the request; one that is not\n"
	    "idempotent, such as POST, needs a key",
	    SPECIAL(option_values_method, method) },
	[OPT_IDEMPOTENCY_KEY] = { "idempotency-key", '\0', .argument = "KEY",
	    "send KEY with each attempt; auto: a random key",
	    SPECIAL(option_values_header, key) },

	[OPT_REPLAY_STDIN] = { "replay-stdin", 'I', .argument = NULL,
	    "give each attempt the same input: a pipe is read\n"
	    "before the first, a file is opened anew for each",
	    FLAG(replay) },
	[OPT_STDIN_MAX] = { "stdin-max", '\0', .argument = "SIZE",
	    "...and fail if it is more than this (default 1G)",
	    SIZE(stdin_max) },
	[OPT_HOLD_STDOUT] = { "hold-stdout", 'O', .argument = NULL,
	    "write the output only of the attempt that succeeds",
	    FLAG(hold_out) },
	[OPT_HOLD_STDERR] = { "hold-stderr", 'E', .argument = NULL,
	    "write error output only after the final failure:\n"
	    "the last attempt's, and retry's last message",
	    FLAG(hold_err) },
	[OPT_CHRONIC] = { "chronic", '\0', .argument = NULL,
	    "write only what the last wrote, if all have failed",
	    FLAG(chronic) },
	[OPT_HOLD_MAX] = { "hold-max", '\0', .argument = "SIZE",
	    "fail if a held output is larger (default 1G)", SIZE(hold_max) },

	[OPT_BUDGET] = { "budget", 'B', .argument = "KEY",
	    "share a budget of retries with all commands that\n"
	    "give this KEY; '': none (default: $RETRY_BUDGET)",
	    KEY(budget.key, NULL), .variable = "RETRY_BUDGET" },
	[OPT_BUDGET_RATIO] = { "budget-ratio", '\0', .argument = "R",
	    "allow R retries for each success (default 0.2)",
	    .type = OPTION_RATIO, AT(budget.terms.ratio),
	    .most = SEGMENT_RATIO_MOST, .refusal = "not a ratio from 0 to 1000",
	    .variable = "RETRY_BUDGET_RATIO" },
	[OPT_BUDGET_MIN] = { "budget-min", '\0', .argument = "N",
	    "allow N retries in any case (default 10)...", .type = OPTION_WHOLE,
	    AT(budget.terms.min), .most = SEGMENT_MIN_MOST,
	    .refusal = "not a whole number up to 1000000",
	    .variable = "RETRY_BUDGET_MIN" },
	[OPT_BUDGET_WINDOW] = { "budget-window", '\0', .argument = "DUR",
	    "...in this time, 1s to 24h (default 60s)", .type = OPTION_SPAN,
	    AT(budget.terms.window), .least = SEGMENT_WINDOW_LEAST,
	    .most = SEGMENT_WINDOW_MOST, .refusal = "not a time from 1s to 24h",
	    .variable = "RETRY_BUDGET_WINDOW" },
	[OPT_BUDGET_WAIT] = { "budget-wait", '\0', .argument = "DUR",
	    "wait this long for the budget (default 0; without\n"
	    "a limit of attempts, until the deadline)",
	    SPAN(budget.wait) },
	[OPT_BUDGET_COOLDOWN] = { "budget-cooldown", '\0', .argument = "DUR",
	    "after a denial allow no retry for this long", .type = OPTION_SPAN,
	    AT(budget.cooldown), .most = NANOS_DAY,
	    .refusal = "not a time up to 24h" },
	[OPT_BUDGET_DIR] = { "budget-dir", '\0', .argument = "DIR",
	    "directory of budgets (default /dev/shm)",
	    FILE_NAME(budget.directory), .variable = "RETRY_BUDGET_DIR" },
	[OPT_BUDGET_REQUIRED] = { "budget-required", '\0', .argument = NULL,
	    "run nothing if the budget cannot be used", FLAG(budget.required) },
	[OPT_BREAKER] = { "breaker", '\0', .argument = "N,DUR[,MAX]",
	    "after N failures in a row allow no attempt for DUR\n"
	    "(doubled each time up to MAX); on: 20,10s,60s",
	    SPECIAL(option_values_breaker, budget.breaker) },
	[OPT_BUDGET_STATUS] = { "budget-status", '\0', .argument = "[KEY]",
	    "show a budget, or all of them", KEY(subject, "must not be empty"),
	    .alone = "all" },
	[OPT_JSON] = { "json", '\0', .argument = NULL, "...as JSON",
	    .type = OPTION_GIVEN },
	[OPT_PROM] = { "prom", '\0', .argument = NULL,
	    "...as metrics for Prometheus", .type = OPTION_GIVEN },
	[OPT_BUDGET_RESET] = { "budget-reset", '\0', .argument = "KEY",
	    "forget what a budget has counted",
	    KEY(subject, "must not be empty") },
	[OPT_BUDGET_GC] = { "budget-gc", '\0', .argument = NULL,
	    "remove budgets that nobody uses", .type = OPTION_GIVEN },
	[OPT_NESTED] = { "nested", '\0', .argument = "KIND",
	    "within another retry: share its budget (default);\n"
	    "add: no retries during a retry of it; once: none",
	    CHOICE(nested, nested_kinds, "not share, add or once"),
	    .variable = "RETRY_NESTED" },

	[OPT_FLEET] = { "fleet", '\0', .argument = "URL",
	    "share the budget with other hosts by a server of\n"
	    "Valkey or Redis (default: $RETRY_FLEET)",
	    SPECIAL(option_values_fleet, fleet), .variable = "RETRY_FLEET" },
	[OPT_FLEET_AUTH] = { "fleet-auth", '\0', .argument = "FILE",
	    "file with its password, or with user:password",
	    FILE_NAME(fleet.auth_file), .variable = "RETRY_FLEET_AUTH_FILE" },
	[OPT_FLEET_VIA] = { "fleet-via", '\0', .argument = "CMD",
	    "connect by what sh runs: ssh -W HOST:6379 GATE",
	    TEXT(fleet.via, NULL), .variable = "RETRY_FLEET_VIA" },
	[OPT_FLEET_TIMEOUT] = { "fleet-timeout", '\0', .argument = "DUR",
	    "time for one question (default 250ms; 1s with TLS\n"
	    "or --fleet-via)",
	    .type = OPTION_SPAN, AT(fleet.timeout), .least = 1,
	    .most = NANOS_MINUTE, .refusal = "not a time above 0, up to 1m",
	    .variable = "RETRY_FLEET_TIMEOUT" },
	[OPT_FLEET_MIN] = { "fleet-min", '\0', .argument = "N",
	    "allow all hosts together N retries in any case\n"
	    "(default: as --budget-min)",
	    .type = OPTION_WHOLE, AT(fleet.terms.min), .most = SEGMENT_MIN_MOST,
	    .refusal = "not a whole number up to 1000000",
	    .variable = "RETRY_FLEET_MIN" },
	[OPT_FLEET_RATIO] = { "fleet-ratio", '\0', .argument = "R",
	    "...and R for each success (as --budget-ratio)",
	    .type = OPTION_RATIO, AT(fleet.terms.ratio),
	    .most = SEGMENT_RATIO_MOST, .refusal = "not a ratio from 0 to 1000",
	    .variable = "RETRY_FLEET_RATIO" },
	[OPT_FLEET_ALONE] = { "fleet-alone", '\0', .argument = "N",
	    "without the server allow this host N retries\n"
	    "(default: its share of --fleet-min)",
	    .type = OPTION_WHOLE, AT(fleet.alone), .most = SEGMENT_MIN_MOST,
	    .refusal = "not a whole number up to 1000000",
	    .variable = "RETRY_FLEET_ALONE" },

	[OPT_QUIET] = { "quiet", 'q', .argument = NULL,
	    "no messages, unless retry itself fails", .type = OPTION_CONSTANT,
	    AT(loudness), .least = LOUDNESS_QUIET },
	[OPT_VERBOSE] = { "verbose", 'v', .argument = NULL,
	    "more messages: successes, and how it ended",
	    .type = OPTION_CONSTANT, AT(loudness), .least = LOUDNESS_VERBOSE },
	[OPT_LABEL] = { "label", '\0', .argument = "TEXT",
	    "begin each message with this: retry: TEXT: ...",
	    SPECIAL(option_values_label, label) },
	[OPT_LOG_FORMAT] = { "log-format", '\0', .argument = "FORMAT",
	    "format of messages: text (default), json, github",
	    CHOICE(log_format, log_formats, "not text, json or github") },
	[OPT_REPORT] = { "report", '\0', .argument = "FILE",
	    "write how each attempt ended, as JSON (-: stderr)",
	    FILE_NAME(report) },
	[OPT_METRICS] = { "metrics", '\0', .argument = "FILE",
	    "write how it ended, as metrics for Prometheus",
	    FILE_NAME(metrics) },
	[OPT_TRACE] = { "trace", '\0', .argument = "FILE",
	    "add a trace of the attempts, for OpenTelemetry\n"
	    "(default: $RETRY_TRACE)",
	    FILE_NAME(trace), .variable = "RETRY_TRACE" },
	[OPT_ON_RETRY] = { "on-retry", '\0', .argument = "CMD",
	    "run this with sh before each retry", TEXT(on_retry, NULL) },
	[OPT_ON_GIVE_UP] = { "on-give-up", '\0', .argument = "CMD",
	    "run this with sh after giving up", TEXT(on_give_up, NULL) },
	[OPT_PROGRESS] = { "progress", '\0', .argument = "WHEN",
	    "show how long a wait still takes: auto (default;\n"
	    "in the foreground of a terminal), always, never",
	    CHOICE(progress, progress_times, "not auto, always or never") },

	[OPT_DRY_RUN] = { "dry-run", '\0', .argument = NULL,
	    "print delays, worst case and rules; run nothing",
	    .type = OPTION_GIVEN },
	[OPT_POLICY] = { "policy", '\0', .argument = "NAME|FILE",
	    "read options from a file, one a line, no dashes;\n"
	    "the command line wins (default: $RETRY_POLICY)",
	    .type = OPTION_GIVEN, .variable = "RETRY_POLICY" },
	[OPT_HELP] = { "help", 'h', .argument = NULL,
	    "print this and exit; -h: the first options",
	    .type = OPTION_SPECIAL, .take = take_help },
	[OPT_VERSION] = { "version", 'V', .argument = NULL,
	    "print the version and exit", .type = OPTION_SPECIAL,
	    .take = take_version },
};

static const struct heading headings[] = {
	{ OPT_ATTEMPTS, "Limits" },
	{ OPT_DELAY, "Delays" },
	{ OPT_RETRY_ON, "What to retry" },
	{ OPT_HTTP, "HTTP" },
	{ OPT_REPLAY_STDIN, "Streams" },
	{ OPT_BUDGET, "Budget" },
	{ OPT_FLEET, "Fleet" },
	{ OPT_QUIET, "Messages and reports" },
	{ OPT_DRY_RUN, "General" },
	{ OPTIONS, NULL },
};

/* Names that these options have in other tools. */
static const struct alias aliases[] = {
	{ "retry", "attempts" },
	{ "tries", "attempts" },
	{ "times", "attempts" },
	{ "max-attempts", "attempts" },
	{ "max-time", "deadline" },
	{ "total-timeout", "deadline" },
	{ "sleep", "delay" },
	{ "interval", "delay" },
	{ NULL, NULL },
};

/* Options that a file must not have: with these retry runs no command, or one
 * that a user who only named the file would not expect. */
static const size_t command_line_only[] = {
	OPT_FLEET_VIA,
	OPT_BUDGET_STATUS,
	OPT_JSON,
	OPT_PROM,
	OPT_BUDGET_RESET,
	OPT_BUDGET_GC,
	OPT_DRY_RUN,
	OPT_POLICY,
	OPT_HELP,
	OPT_VERSION,
	OPTIONS,
};

const struct optparse option_table = {
	.options = options,
	.count = OPTIONS,
	.headings = headings,
	.aliases = aliases,
	.command_line_only = command_line_only,
	.first_exit = OPT_HELP,
	.file = OPT_POLICY,
	.read_file = policy_file_read,
	.store = option_values_store,
};
