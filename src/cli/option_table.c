#include "cli/option_table.h"

#include <stddef.h>
#include <string.h>
#include "cli/allowance.h"
#include "sys/sys.h"
#include "cli/delays.h"
#include "cli/help.h"
#include "output/log.h"
#include "version.h"
#include "cli/option_rules.h"
#include "policy/policy.h"
#include "cli/policy_file.h"
#include "cli/option_values.h"

/* Of which all that counts is that it was said. */
static void
take_nothing(const struct row *row, const char *text, void *field)
{
	(void)row;
	(void)text;
	(void)field;
}

static void
take_quiet(const struct row *row, const char *text, void *field)
{
	enum loudness *loudness = field;

	(void)row;
	(void)text;
	*loudness = LOUDNESS_QUIET;
}

static void
take_verbose(const struct row *row, const char *text, void *field)
{
	enum loudness *loudness = field;

	(void)row;
	(void)text;
	*loudness = LOUDNESS_VERBOSE;
}

/* A file that asks for a list would keep its command from ever being run. */
static void
take_preset(const struct row *row, const char *text, void *field)
{
	if (row->letter == ':' && strcmp(text, "list") == 0)
		optparse_refuse(row, "only on a command line", text);
	option_rules_preset(row, text, field);
}

static void take_help(const struct row *row, const char *text, void *field);

static void
take_version(const struct row *row, const char *text, void *field)
{
	(void)row;
	(void)text;
	(void)field;
	/* The canonical name, whatever this one is: GNU standards, --version.
	 */
	help_text("retry " VERSION "\n");
}

#define AT(member) offsetof(struct policy, member)

static const struct row rows[OPTIONS] = {
	[OPT_ATTEMPTS] = { "attempts", 'n', "N", option_values_attempts,
	    AT(attempts), "attempts in all, or inf (default 5; with -T, inf)" },
	[OPT_RETRIES] = { "retries", '\0', "N", option_values_retries,
	    AT(attempts), "the same limit, less the first attempt" },
	[OPT_DEADLINE] = { "deadline", 'T', "DUR", option_values_span,
	    AT(deadline), "time for everything, delays too (default: none)" },
	[OPT_TIMEOUT] = { "timeout", 't', "DUR", option_values_span,
	    AT(timeout), "time for one attempt (default: none)" },
	[OPT_SIGNAL] = { "signal", 's', "SIG", option_values_signal, AT(signal),
	    "what ends an attempt at a limit (default TERM)" },
	[OPT_KILL_AFTER] = { "kill-after", 'k', "DUR", option_values_span,
	    AT(kill_after), "then KILL, this much later (default 5s)" },

	[OPT_DELAY] = { "delay", 'd', "DUR[,DUR...]", option_values_delays,
	    AT(backoff),
	    "base delay (default 1s), or a list of delays,\n"
	    "whose last repeats or, with -b, grows" },
	[OPT_BACKOFF] = { "backoff", 'b', "KIND", option_values_backoff,
	    AT(backoff.kind),
	    "how delays grow: exponential (default), linear,\n"
	    "constant, fibonacci" },
	[OPT_FACTOR] = { "factor", '\0', "X", option_values_factor,
	    AT(backoff.factor),
	    "of exponential backoff, 1 or more (default 2)" },
	[OPT_MAX_DELAY] = { "max-delay", '\0', "DUR", option_values_span,
	    AT(backoff.cap), "cap (default 30s, or the largest -d if more)" },
	[OPT_MIN_DELAY] = { "min-delay", '\0', "DUR", option_values_span,
	    AT(backoff.floor), "floor (default 0)" },
	[OPT_JITTER] = { "jitter", 'j', "KIND", option_values_jitter,
	    AT(backoff.jitter),
	    "full (default), equal, decorrelated, none: -d 10\n"
	    "alone waits a random time in [0, 10s] before the\n"
	    "first retry, with -j none exactly that" },
	[OPT_SEED] = { "seed", '\0', "N", option_values_seed, 0,
	    "make the delays repeatable (default: random)" },
	[OPT_RESET_AFTER] = { "reset-after", '\0', "DUR", option_values_span,
	    AT(reset_after),
	    "start the delays anew after an attempt that ran\n"
	    "this long (default: never)" },
	[OPT_SPLAY] = { "splay", '\0', "DUR", option_values_span, AT(splay),
	    "wait a random time in [0, DUR] before the first\n"
	    "attempt (default 0)" },

	[OPT_RETRY_ON] = { "retry-on", '\0', "LIST", option_rules_retry_on, 0,
	    "retry only these failures (default: any)" },
	[OPT_STOP_ON] = { "stop-on", '\0', "LIST", option_rules_stop_on, 0,
	    "never retry these; wins over all other rules" },
	[OPT_FAIL_ON] = { "fail-on", '\0', "LIST", option_rules_fail_on, 0,
	    "failures although COMMAND exited 0" },
	[OPT_SUCCESS_ON] = { "success-on", '\0', "LIST",
	    option_rules_success_on, 0,
	    "successes too; COMMAND's exit status is kept" },
	[OPT_PRESET] = { "preset", '\0', "NAME[,NAME]", take_preset, 0,
	    "what is known of a tool: curl, ssh, git, apt...;\n"
	    "auto: of COMMAND; list: print them" },

	[OPT_HTTP] = { "http", '\0', NULL, option_values_flag, AT(http),
	    "judge by the HTTP status: curl is told where to\n"
	    "leave it, other commands by $RETRY_HTTP_STATUS" },
	[OPT_HTTP_STATUS] = { "http-status", '\0', "FILE", option_values_path,
	    AT(http_status), "the same, from a file that COMMAND writes" },
	[OPT_MAX_RETRY_AFTER] = { "max-retry-after", '\0', "DUR",
	    option_values_span, AT(max_retry_after),
	    "give up if the server asks for more (default 5m)" },
	[OPT_METHOD] = { "method", '\0', "M", option_values_method, AT(method),
	    "the request's method; POST and its like are\n"
	    "refused without a key" },
	[OPT_IDEMPOTENCY_KEY] = { "idempotency-key", '\0', "KEY",
	    option_values_header, AT(key),
	    "the same for each attempt; auto: a new one" },

	[OPT_REPLAY_STDIN] = { "replay-stdin", 'I', NULL, option_values_flag,
	    AT(replay),
	    "give each attempt the same input, read before the\n"
	    "first; a regular file is rewound in any case" },
	[OPT_STDIN_MAX] = { "stdin-max", '\0', "SIZE", option_values_size,
	    AT(stdin_max), "...if it is no more than this (default 1G)" },
	[OPT_HOLD_STDOUT] = { "hold-stdout", 'O', NULL, option_values_flag,
	    AT(hold_out),
	    "write the output of the attempt that succeeds, and\n"
	    "of no other" },
	[OPT_HOLD_STDERR] = { "hold-stderr", 'E', NULL, option_values_flag,
	    AT(hold_err),
	    "write error output, retry's own too, only on final\n"
	    "failure: the last attempt's, and the last line" },
	[OPT_HOLD_MAX] = { "hold-max", '\0', "SIZE", option_values_size,
	    AT(hold_max), "fail where either is more than this (default 1G)" },

	[OPT_BUDGET] = { "budget", 'B', "KEY", option_values_key, AT(share.key),
	    "share an allowance of retries with all that name\n"
	    "KEY; '': none (default: $RETRY_BUDGET)" },
	[OPT_BUDGET_RATIO] = { "budget-ratio", '\0', "R", option_values_ratio,
	    AT(share.terms.ratio), "retries for each success (default 0.2)" },
	[OPT_BUDGET_MIN] = { "budget-min", '\0', "N", option_values_min,
	    AT(share.terms.min), "retries in any case (default 10)..." },
	[OPT_BUDGET_WINDOW] = { "budget-window", '\0', "DUR",
	    option_values_window, AT(share.terms.window),
	    "...in this time, 1s to 24h (default 60s)" },
	[OPT_BUDGET_WAIT] = { "budget-wait", '\0', "DUR", option_values_span,
	    AT(share.wait),
	    "wait for allowance (default 0; without a limit\n"
	    "of attempts, until the deadline)" },
	[OPT_BUDGET_COOLDOWN] = { "budget-cooldown", '\0', "DUR",
	    option_values_cooldown, AT(share.cooldown),
	    "no retries for this long once one was denied" },
	[OPT_BUDGET_DIR] = { "budget-dir", '\0', "DIR", option_values_path,
	    AT(share.directory), "where budgets live (default /dev/shm)" },
	[OPT_BUDGET_REQUIRED] = { "budget-required", '\0', NULL,
	    option_values_flag, AT(share.required),
	    "do not run if the budget cannot be used" },
	[OPT_BREAKER] = { "breaker", '\0', "N,DUR[,MAX]", option_values_breaker,
	    AT(share.breaker),
	    "after N failures in a row hold all attempts for\n"
	    "DUR (doubling, up to MAX); on: 20,10s,60s" },
	[OPT_BUDGET_STATUS] = { "budget-status", '\0', "KEY",
	    option_values_subject, AT(subject), "show a budget, or all" },
	[OPT_JSON] = { "json", '\0', NULL, take_nothing, 0, "...as JSON" },
	[OPT_PROM] = { "prom", '\0', NULL, take_nothing, 0,
	    "...as metrics for Prometheus" },
	[OPT_BUDGET_RESET] = { "budget-reset", '\0', "KEY",
	    option_values_subject, AT(subject), "forget all that it counted" },
	[OPT_BUDGET_GC] = { "budget-gc", '\0', NULL, take_nothing, 0,
	    "remove budgets that nobody uses" },
	[OPT_NESTED] = { "nested", '\0', "KIND", option_values_nested,
	    AT(nested),
	    "below another retry: share its budget (default);\n"
	    "add: no retries while it is on one; once: none" },

	[OPT_QUIET] = { "quiet", 'q', NULL, take_quiet, AT(loudness),
	    "say nothing, unless retry itself fails" },
	[OPT_VERBOSE] = { "verbose", 'v', NULL, take_verbose, AT(loudness),
	    "say more: also successes, and how it ended" },
	[OPT_LOG_FORMAT] = { "log-format", '\0', "FORMAT",
	    option_values_log_format, AT(log_format),
	    "of its own lines: text (default), json, github" },
	[OPT_REPORT] = { "report", '\0', "FILE", option_values_path, AT(report),
	    "write what became of each attempt, as JSON;\n"
	    "-: on standard error" },
	[OPT_METRICS] = { "metrics", '\0', "FILE", option_values_path,
	    AT(metrics), "write how it ended, as metrics for Prometheus" },
	[OPT_ON_RETRY] = { "on-retry", '\0', "CMD", option_values_line,
	    AT(on_retry), "have sh run this once a retry is decided" },
	[OPT_ON_GIVE_UP] = { "on-give-up", '\0', "CMD", option_values_line,
	    AT(on_give_up), "have sh run this once retry has given up" },
	[OPT_PROGRESS] = { "progress", '\0', "WHEN", option_values_progress,
	    AT(progress),
	    "count down waits of over a second: auto (default;\n"
	    "on a terminal), always, never" },

	[OPT_DRY_RUN] = { "dry-run", '\0', NULL, take_nothing, 0,
	    "print the delays and the worst case; run nothing" },
	[OPT_POLICY] = { "policy", '\0', "NAME|FILE", take_nothing, 0,
	    "options from a file, one a line without dashes;\n"
	    "those on the command line win" },
	[OPT_HELP] = { "help", 'h', NULL, take_help, 0, "print this and exit" },
	[OPT_VERSION] = { "version", 'V', NULL, take_version, 0,
	    "print the version and exit" },
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

/* Other tools' names, for those who come from there. */
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

/* What a file of options would do to whoever only named it. */
static const size_t typed[] = {
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
	.rows = rows,
	.count = OPTIONS,
	.headings = headings,
	.aliases = aliases,
	.variables = variables,
	.typed = typed,
	.last = OPT_HELP,
	.file = OPT_POLICY,
	.follow = policy_file_follow,
};

static void
take_help(const struct row *row, const char *text, void *field)
{
	const char *program = sys_program();

	(void)row;
	(void)text;
	(void)field;
	help_rows(&option_table,
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
