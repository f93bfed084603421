#include "cli/option_table.h"

#include <stddef.h>
#include <string.h>
#include "sys/sys.h"
#include "cli/help.h"
#include "output/log.h"
#include "cli/option_rules.h"
#include "policy/policy.h"
#include "cli/policy_file.h"
#include "cli/option_values.h"

/* A file that asks for a list would keep its command from ever being run. */
static void
take_preset(const struct option *option, const char *text, void *policy)
{
	if (option->location != NULL && strcmp(text, "list") == 0)
		optparse_refuse(
		    option, "only allowed on the command line", text);
	option_rules_preset(option, text, policy);
}

static void
take_help(const struct option *option, const char *text, void *policy);

static void
take_version(const struct option *option, const char *text, void *policy)
{
	(void)option;
	(void)text;
	(void)policy;
	/* Always "retry", by whatever name it was called: GNU Coding
	 * Standards, "--version". */
	help_text("retry " VERSION "\n");
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

/* What a row says of its argument. The field is a member of struct policy. */
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
#define FILE_NAME(member) TEXT(member, "not a file name")
#define KEY(member, why) TEXT(member, why), .most = SEGMENT_KEY
#define SPECIAL(function, member) \
	.type = OPTION_SPECIAL, AT(member), .take = (function)

static const struct option options[OPTIONS] = {
	[OPT_ATTEMPTS] = { "attempts", 'n', "N",
	    "attempts in all, or inf (default 5; with -T, inf)",
	    .type = OPTION_LIMIT, AT(attempts), .least = 1,
	    .refusal = "not a number of attempts" },
	[OPT_RETRIES] = { "retries", '\0', "N",
	    "the same limit, less the first attempt", .type = OPTION_LIMIT,
	    AT(attempts), .least = 0, .refusal = "not a number of retries" },
	[OPT_DEADLINE] = { "deadline", 'T', "DUR",
	    "time for everything, delays too (default: none)", SPAN(deadline) },
	[OPT_TIMEOUT] = { "timeout", 't', "DUR",
	    "time for one attempt (default: none)", SPAN(timeout) },
	[OPT_SIGNAL] = { "signal", 's', "SIG",
	    "what ends an attempt at a limit (default TERM)",
	    .type = OPTION_SIGNAL, AT(signal), .refusal = "not a signal" },
	[OPT_KILL_AFTER] = { "kill-after", 'k', "DUR",
	    "then KILL, this much later (default 5s)", SPAN(kill_after) },

	[OPT_DELAY] = { "delay", 'd', "DUR[,DUR...]",
	    "base delay (default 1s), or a list of delays,\n"
	    "whose last repeats or, with -b, grows",
	    SPECIAL(option_values_delays, backoff) },
	[OPT_BACKOFF] = { "backoff", 'b', "KIND",
	    "how delays grow: exponential (default), linear,\n"
	    "constant, fibonacci",
	    CHOICE(backoff.kind, backoff_kinds,
		"not exponential, linear, constant or fibonacci") },
	[OPT_FACTOR] = { "factor", '\0', "X",
	    "of exponential backoff, 1 or more (default 2)",
	    .type = OPTION_DECIMAL, AT(backoff.factor),
	    .least = BACKOFF_FACTOR_ONE,
	    .refusal = "not a number of 1 or more" },
	[OPT_MAX_DELAY] = { "max-delay", '\0', "DUR",
	    "cap (default 30s, or the largest -d if more)", SPAN(backoff.cap) },
	[OPT_MIN_DELAY] = { "min-delay", '\0', "DUR", "floor (default 0)",
	    SPAN(backoff.floor) },
	[OPT_JITTER] = { "jitter", 'j', "KIND",
	    "full (default), equal, decorrelated, none: -d 10\n"
	    "alone waits a random time in [0, 10s] before the\n"
	    "first retry, with -j none exactly that",
	    CHOICE(backoff.jitter, jitters,
		"not full, equal, decorrelated or none") },
	[OPT_SEED] = { "seed", '\0', "N",
	    "make the delays repeatable (default: random)",
	    SPECIAL(option_values_seed, seed) },
	[OPT_RESET_AFTER] = { "reset-after", '\0', "DUR",
	    "start the delays anew after an attempt that ran\n"
	    "this long (default: never)",
	    SPAN(reset_after) },
	[OPT_SPLAY] = { "splay", '\0', "DUR",
	    "wait a random time in [0, DUR] before the first\n"
	    "attempt (default 0)",
	    SPAN(splay) },

	[OPT_RETRY_ON] = { "retry-on", '\0', "LIST",
	    "retry only these failures (default: any)",
	    SPECIAL(option_rules_list, rules.retry_on) },
	[OPT_STOP_ON] = { "stop-on", '\0', "LIST",
	    "never retry these; wins over all other rules",
	    SPECIAL(option_rules_list, rules.stop_on) },
	[OPT_FAIL_ON] = { "fail-on", '\0', "LIST",
	    "failures although COMMAND exited 0",
	    SPECIAL(option_rules_list, rules.fail_on) },
	[OPT_SUCCESS_ON] = { "success-on", '\0', "LIST",
	    "successes too; COMMAND's exit status is kept",
	    SPECIAL(option_rules_list, rules.success_on) },
	[OPT_PRESET] = { "preset", '\0', "NAME[,NAME]",
	    "what is known of a tool: curl, ssh, git, apt...;\n"
	    "auto: of COMMAND; list: print them",
	    SPECIAL(take_preset, preset) },

	[OPT_HTTP] = { "http", '\0', NULL,
	    "judge by the HTTP status: curl is told where to\n"
	    "leave it, other commands by $RETRY_HTTP_STATUS",
	    FLAG(http) },
	[OPT_HTTP_STATUS] = { "http-status", '\0', "FILE",
	    "the same, from a file that COMMAND writes",
	    FILE_NAME(http_status) },
	[OPT_MAX_RETRY_AFTER] = { "max-retry-after", '\0', "DUR",
	    "give up if the server asks for more (default 5m)",
	    SPAN(max_retry_after) },
	[OPT_METHOD] = { "method", '\0', "M",
	    "the request's method; POST and its like are\n"
	    "refused without a key",
	    SPECIAL(option_values_method, method) },
	[OPT_IDEMPOTENCY_KEY] = { "idempotency-key", '\0', "KEY",
	    "the same for each attempt; auto: a new one",
	    SPECIAL(option_values_header, key) },

	[OPT_REPLAY_STDIN] = { "replay-stdin", 'I', NULL,
	    "give each attempt the same input, read before the\n"
	    "first; a regular file is rewound in any case",
	    FLAG(replay) },
	[OPT_STDIN_MAX] = { "stdin-max", '\0', "SIZE",
	    "...if it is no more than this (default 1G)", SIZE(stdin_max) },
	[OPT_HOLD_STDOUT] = { "hold-stdout", 'O', NULL,
	    "write the output of the attempt that succeeds, and\n"
	    "of no other",
	    FLAG(hold_out) },
	[OPT_HOLD_STDERR] = { "hold-stderr", 'E', NULL,
	    "write error output, retry's own too, only on final\n"
	    "failure: the last attempt's, and the last line",
	    FLAG(hold_err) },
	[OPT_HOLD_MAX] = { "hold-max", '\0', "SIZE",
	    "fail where either is more than this (default 1G)",
	    SIZE(hold_max) },

	[OPT_BUDGET] = { "budget", 'B', "KEY",
	    "share an allowance of retries with all that name\n"
	    "KEY; '': none (default: $RETRY_BUDGET)",
	    KEY(share.key, NULL) },
	[OPT_BUDGET_RATIO] = { "budget-ratio", '\0', "R",
	    "retries for each success (default 0.2)", .type = OPTION_RATIO,
	    AT(share.terms.ratio), .most = SEGMENT_RATIO_MOST,
	    .refusal = "not a ratio from 0 to 1000" },
	[OPT_BUDGET_MIN] = { "budget-min", '\0', "N",
	    "retries in any case (default 10)...", .type = OPTION_WHOLE,
	    AT(share.terms.min), .most = SEGMENT_MIN_MOST,
	    .refusal = "not a whole number up to 1000000" },
	[OPT_BUDGET_WINDOW] = { "budget-window", '\0', "DUR",
	    "...in this time, 1s to 24h (default 60s)", .type = OPTION_SPAN,
	    AT(share.terms.window), .least = SEGMENT_WINDOW_LEAST,
	    .most = SEGMENT_WINDOW_MOST,
	    .refusal = "not a time from 1s to 24h" },
	[OPT_BUDGET_WAIT] = { "budget-wait", '\0', "DUR",
	    "wait for allowance (default 0; without a limit\n"
	    "of attempts, until the deadline)",
	    SPAN(share.wait) },
	[OPT_BUDGET_COOLDOWN] = { "budget-cooldown", '\0', "DUR",
	    "no retries for this long once one was denied", .type = OPTION_SPAN,
	    AT(share.cooldown), .most = NANOS_DAY,
	    .refusal = "not a time up to 24h" },
	[OPT_BUDGET_DIR] = { "budget-dir", '\0', "DIR",
	    "where budgets live (default /dev/shm)",
	    FILE_NAME(share.directory) },
	[OPT_BUDGET_REQUIRED] = { "budget-required", '\0', NULL,
	    "do not run if the budget cannot be used", FLAG(share.required) },
	[OPT_BREAKER] = { "breaker", '\0', "N,DUR[,MAX]",
	    "after N failures in a row hold all attempts for\n"
	    "DUR (doubling, up to MAX); on: 20,10s,60s",
	    SPECIAL(option_values_breaker, share.breaker) },
	[OPT_BUDGET_STATUS] = { "budget-status", '\0', "KEY",
	    "show a budget, or all", KEY(subject, "must not be empty") },
	[OPT_JSON] = { "json", '\0', NULL, "...as JSON", .type = OPTION_GIVEN },
	[OPT_PROM] = { "prom", '\0', NULL, "...as metrics for Prometheus",
	    .type = OPTION_GIVEN },
	[OPT_BUDGET_RESET] = { "budget-reset", '\0', "KEY",
	    "forget all that it counted", KEY(subject, "must not be empty") },
	[OPT_BUDGET_GC] = { "budget-gc", '\0', NULL,
	    "remove budgets that nobody uses", .type = OPTION_GIVEN },
	[OPT_NESTED] = { "nested", '\0', "KIND",
	    "below another retry: share its budget (default);\n"
	    "add: no retries while it is on one; once: none",
	    CHOICE(nested, nested_kinds, "not share, add or once") },

	[OPT_QUIET] = { "quiet", 'q', NULL,
	    "say nothing, unless retry itself fails", .type = OPTION_CONSTANT,
	    AT(loudness), .least = LOUDNESS_QUIET },
	[OPT_VERBOSE] = { "verbose", 'v', NULL,
	    "say more: also successes, and how it ended",
	    .type = OPTION_CONSTANT, AT(loudness), .least = LOUDNESS_VERBOSE },
	[OPT_LOG_FORMAT] = { "log-format", '\0', "FORMAT",
	    "of its own lines: text (default), json, github",
	    CHOICE(log_format, log_formats, "not text, json or github") },
	[OPT_REPORT] = { "report", '\0', "FILE",
	    "write what became of each attempt, as JSON;\n"
	    "-: on standard error",
	    FILE_NAME(report) },
	[OPT_METRICS] = { "metrics", '\0', "FILE",
	    "write how it ended, as metrics for Prometheus",
	    FILE_NAME(metrics) },
	[OPT_ON_RETRY] = { "on-retry", '\0', "CMD",
	    "have sh run this once a retry is decided", TEXT(on_retry, NULL) },
	[OPT_ON_GIVE_UP] = { "on-give-up", '\0', "CMD",
	    "have sh run this once retry has given up",
	    TEXT(on_give_up, NULL) },
	[OPT_PROGRESS] = { "progress", '\0', "WHEN",
	    "count down waits of over a second: auto (default;\n"
	    "on a terminal), always, never",
	    CHOICE(progress, progress_times, "not auto, always or never") },

	[OPT_DRY_RUN] = { "dry-run", '\0', NULL,
	    "print the delays and the worst case; run nothing",
	    .type = OPTION_GIVEN },
	[OPT_POLICY] = { "policy", '\0', "NAME|FILE",
	    "options from a file, one a line without dashes;\n"
	    "those on the command line win",
	    .type = OPTION_GIVEN },
	[OPT_HELP] = { "help", 'h', NULL, "print this and exit",
	    .type = OPTION_SPECIAL, .take = take_help },
	[OPT_VERSION] = { "version", 'V', NULL, "print the version and exit",
	    .type = OPTION_SPECIAL, .take = take_version },
};

static const struct heading headings[] = {
	{ OPT_ATTEMPTS, "Limits" },
	{ OPT_DELAY, "Delays" },
	{ OPT_RETRY_ON, "What to retry" },
	{ OPT_HTTP, "HTTP" },
	{ OPT_REPLAY_STDIN, "Streams" },
	{ OPT_BUDGET, "Budget" },
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

static const struct variable variables[] = {
	{ OPT_BUDGET, "RETRY_BUDGET" },
	{ OPT_BUDGET_RATIO, "RETRY_BUDGET_RATIO" },
	{ OPT_BUDGET_MIN, "RETRY_BUDGET_MIN" },
	{ OPT_BUDGET_WINDOW, "RETRY_BUDGET_WINDOW" },
	{ OPT_BUDGET_DIR, "RETRY_BUDGET_DIR" },
	{ OPT_NESTED, "RETRY_NESTED" },
	{ 0, NULL },
};

/*
 * Options that a file must not have: they run no command, which nobody expects
 * who only names the file.
 */
static const size_t command_line_only[] = {
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
	.variables = variables,
	.command_line_only = command_line_only,
	.first_exit = OPT_HELP,
	.file = OPT_POLICY,
	.read_file = policy_file_read,
	.store = option_values_store,
};

static void
take_help(const struct option *option, const char *text, void *policy)
{
	const char *program = sys_program();

	(void)option;
	(void)text;
	(void)policy;
	help_options(&option_table,
	    STRINGS("Usage: ", program,
		" [OPTION]... [--] COMMAND [ARG]...\n"
		"Run COMMAND until it succeeds, or until one more attempt would"
		" do more harm\nthan good.\n"),
	    STRINGS(
		"\n"
		"DUR is a time in seconds or with units: 2, 0.5, 500ms, 1h30m."
		" LIST is, with\ncommas between them, exit statuses (7), ranges"
		" (64-78), signals (SEGV), signal\n(any), timeout, fail (any"
		" failure), http:503, http:5xx; or a pattern in\n"
		"COMMAND's output: stderr:ERE, stdout:ERE, to the end of the"
		" argument. SIZE\nis a number of bytes, or with k, M, G or T:"
		" 64k, 1.5G.\n"
		"\n"
		"Exit status: COMMAND's; if a signal killed it, retry dies of"
		" that too. 1 if it\nexited 0 but failed, 69 if a required"
		" budget cannot be used, 75 if the breaker\nheld the first"
		" attempt, 124 if a limit of time ended it, 125 if retry itself"
		"\nfailed, 126 if COMMAND cannot be executed, 127 if it is not"
		" found.\n"
		"\n"
		"Examples:\n  ",
		program, " -n 5 -d 1 -- curl -fsS https://example.org/\n  ",
		program, " -T 1m -- pg_isready -q\n"));
}
