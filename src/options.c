#include "options.h"

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include "allowance.h"
#include "backoff.h"
#include "curl.h"
#include "delays.h"
#include "duration.h"
#include "lists.h"
#include "values.h"
#include "words.h"

#ifndef VERSION
#define VERSION "0.1.0"
#endif

#define DEFAULT_ATTEMPTS 4
#define DEFAULT_KILL_AFTER (5 * NANOS_SECOND)
#define DEFAULT_DELAY (500 * NANOS_MS)
#define DEFAULT_FACTOR (INT64_C(2) * BACKOFF_FACTOR_ONE)
#define DEFAULT_MAX_RETRY_AFTER (5 * NANOS_MINUTE)

/* In the order of --help, the manual and the completions. */
enum option {
	OPT_ATTEMPTS,
	OPT_RETRIES,
	OPT_DEADLINE,
	OPT_TIMEOUT,
	OPT_SIGNAL,
	OPT_KILL_AFTER,
	OPT_DELAY,
	OPT_BACKOFF,
	OPT_FACTOR,
	OPT_MAX_DELAY,
	OPT_MIN_DELAY,
	OPT_JITTER,
	OPT_SEED,
	OPT_RESET_AFTER,
	OPT_SPLAY,
	OPT_RETRY_ON,
	OPT_STOP_ON,
	OPT_FAIL_ON,
	OPT_SUCCESS_ON,
	OPT_PRESET,
	OPT_HTTP,
	OPT_HTTP_STATUS,
	OPT_MAX_RETRY_AFTER,
	OPT_METHOD,
	OPT_IDEMPOTENCY_KEY,
	OPT_BUDGET,
	OPT_BUDGET_RATIO,
	OPT_BUDGET_MIN,
	OPT_BUDGET_WINDOW,
	OPT_BUDGET_WAIT,
	OPT_BUDGET_COOLDOWN,
	OPT_BUDGET_DIR,
	OPT_BUDGET_REQUIRED,
	OPT_BREAKER,
	OPT_BUDGET_STATUS,
	OPT_JSON,
	OPT_PROM,
	OPT_BUDGET_RESET,
	OPT_BUDGET_GC,
	OPT_NESTED,
	OPT_QUIET,
	OPT_VERBOSE,
	OPT_HELP,
	OPT_VERSION,
	OPTIONS,
};

/* Of which all that counts is that it was said. */
static void
take_nothing(const struct row *row, const char *text, void *field)
{
	(void)row;
	(void)text;
	(void)field;
}

static void
take_loudness(const struct row *row, const char *text, void *field)
{
	enum loudness *loudness = field;

	(void)text;
	*loudness = row->letter == 'q' ? LOUDNESS_QUIET : LOUDNESS_VERBOSE;
}

static void take_help(const struct row *row, const char *text, void *field);

static void
take_version(const struct row *row, const char *text, void *field)
{
	(void)row;
	(void)text;
	(void)field;
	words_show("retry " VERSION "\n");
}

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define AT(member) offsetof(struct policy, member)

static const struct row rows[OPTIONS] = {
	[OPT_ATTEMPTS] = { "attempts", 'n', "N", values_attempts, AT(attempts),
	    "attempts in all, or inf (default 4; with -T, inf)" },
	[OPT_RETRIES] = { "retries", '\0', "N", values_retries, AT(attempts),
	    "the same limit, less the first attempt" },
	[OPT_DEADLINE] = { "deadline", 'T', "DUR", values_span, AT(deadline),
	    "time for everything, delays too (default: none)" },
	[OPT_TIMEOUT] = { "timeout", 't', "DUR", values_span, AT(timeout),
	    "time for one attempt (default: none)" },
	[OPT_SIGNAL] = { "signal", 's', "SIG", values_signal, AT(signal),
	    "what ends an attempt at a limit (default TERM)" },
	[OPT_KILL_AFTER] = { "kill-after", 'k', "DUR", values_span,
	    AT(kill_after), "then KILL, this much later (default 5s)" },

	[OPT_DELAY] = { "delay", 'd', "DUR[,DUR...]", delays_list, AT(backoff),
	    "base delay (default 500ms), or a list of delays,\n"
	    "whose last repeats or, with -b, grows" },
	[OPT_BACKOFF] = { "backoff", 'b', "KIND", delays_kind, AT(backoff.kind),
	    "how delays grow: exponential (default), linear,\n"
	    "constant, fibonacci" },
	[OPT_FACTOR] = { "factor", '\0', "X", delays_factor, AT(backoff.factor),
	    "of exponential backoff, 1 or more (default 2)" },
	[OPT_MAX_DELAY] = { "max-delay", '\0', "DUR", values_span,
	    AT(backoff.cap), "cap (default 30s, or the largest -d if more)" },
	[OPT_MIN_DELAY] = { "min-delay", '\0', "DUR", values_span,
	    AT(backoff.floor), "floor (default 0)" },
	[OPT_JITTER] = { "jitter", 'j', "KIND", delays_jitter,
	    AT(backoff.jitter),
	    "full (default), equal, decorrelated, none: -d 10\n"
	    "alone waits a random time in [0, 10s] before the\n"
	    "first retry, with -j none exactly that" },
	[OPT_SEED] = { "seed", '\0', "N", delays_seed, 0,
	    "make the delays repeatable (default: random)" },
	[OPT_RESET_AFTER] = { "reset-after", '\0', "DUR", values_span,
	    AT(reset_after),
	    "start the delays anew after an attempt that ran\n"
	    "this long (default: never)" },
	[OPT_SPLAY] = { "splay", '\0', "DUR", values_span, AT(splay),
	    "wait a random time in [0, DUR] before the first\n"
	    "attempt (default 0)" },

	[OPT_RETRY_ON] = { "retry-on", '\0', "LIST", lists_retry_on, 0,
	    "retry only these failures (default: any)" },
	[OPT_STOP_ON] = { "stop-on", '\0', "LIST", lists_stop_on, 0,
	    "never retry these; wins over all other rules" },
	[OPT_FAIL_ON] = { "fail-on", '\0', "LIST", lists_fail_on, 0,
	    "failures although COMMAND exited 0" },
	[OPT_SUCCESS_ON] = { "success-on", '\0', "LIST", lists_success_on, 0,
	    "successes too; COMMAND's exit status is kept" },
	[OPT_PRESET] = { "preset", '\0', "NAME[,NAME]", lists_preset, 0,
	    "what is known of a tool: curl, ssh, git, apt...;\n"
	    "auto: of COMMAND; list: print them" },

	[OPT_HTTP] = { "http", '\0', NULL, values_flag, AT(http),
	    "judge by the HTTP status: curl is told where to\n"
	    "leave it, other commands by $RETRY_HTTP_STATUS" },
	[OPT_HTTP_STATUS] = { "http-status", '\0', "FILE", values_path,
	    AT(http_status), "the same, from a file that COMMAND writes" },
	[OPT_MAX_RETRY_AFTER] = { "max-retry-after", '\0', "DUR", values_span,
	    AT(max_retry_after),
	    "give up if the server asks for more (default 5m)" },
	[OPT_METHOD] = { "method", '\0', "M", values_method, AT(method),
	    "the request's method; POST and its like are\n"
	    "refused without a key" },
	[OPT_IDEMPOTENCY_KEY] = { "idempotency-key", '\0', "KEY", values_header,
	    AT(key), "the same for each attempt; auto: a new one" },

	[OPT_BUDGET] = { "budget", 'B', "KEY", allowance_key, AT(share.key),
	    "share an allowance of retries with all that name\n"
	    "KEY; '': none (default: $RETRY_BUDGET)" },
	[OPT_BUDGET_RATIO] = { "budget-ratio", '\0', "R", allowance_ratio,
	    AT(share.terms.ratio), "retries for each success (default 0.2)" },
	[OPT_BUDGET_MIN] = { "budget-min", '\0', "N", allowance_min,
	    AT(share.terms.min), "retries in any case (default 10)..." },
	[OPT_BUDGET_WINDOW] = { "budget-window", '\0', "DUR", allowance_window,
	    AT(share.terms.window),
	    "...in this time, 1s to 24h (default 60s)" },
	[OPT_BUDGET_WAIT] = { "budget-wait", '\0', "DUR", values_span,
	    AT(share.wait),
	    "wait for allowance (default 0; without a limit\n"
	    "of attempts, until the deadline)" },
	[OPT_BUDGET_COOLDOWN] = { "budget-cooldown", '\0', "DUR",
	    allowance_cooldown, AT(share.cooldown),
	    "no retries for this long once one was denied" },
	[OPT_BUDGET_DIR] = { "budget-dir", '\0', "DIR", values_path,
	    AT(share.directory), "where budgets live (default /dev/shm)" },
	[OPT_BUDGET_REQUIRED] = { "budget-required", '\0', NULL, values_flag,
	    AT(share.required), "do not run if the budget cannot be used" },
	[OPT_BREAKER] = { "breaker", '\0', "N,DUR[,MAX]", allowance_breaker,
	    AT(share.breaker),
	    "after N failures in a row hold all attempts for\n"
	    "DUR (doubling, up to MAX); on: 20,10s,60s" },
	[OPT_BUDGET_STATUS] = { "budget-status", '\0', "KEY", allowance_subject,
	    AT(subject), "show a budget, or all" },
	[OPT_JSON] = { "json", '\0', NULL, take_nothing, 0, "...as JSON" },
	[OPT_PROM] = { "prom", '\0', NULL, take_nothing, 0,
	    "...as metrics for Prometheus" },
	[OPT_BUDGET_RESET] = { "budget-reset", '\0', "KEY", allowance_subject,
	    AT(subject), "forget all that it counted" },
	[OPT_BUDGET_GC] = { "budget-gc", '\0', NULL, take_nothing, 0,
	    "remove budgets that nobody uses" },
	[OPT_NESTED] = { "nested", '\0', "KIND", allowance_nested, AT(nested),
	    "below another retry: share its budget (default);\n"
	    "add: no retries while it is on one; once: none" },

	[OPT_QUIET] = { "quiet", 'q', NULL, take_loudness, AT(loudness),
	    "say nothing, unless retry itself fails" },
	[OPT_VERBOSE] = { "verbose", 'v', NULL, take_loudness, AT(loudness),
	    "say more: also successes, and how it ended" },
	[OPT_HELP] = { "help", 'h', NULL, take_help, 0, "print this and exit" },
	[OPT_VERSION] = { "version", 'V', NULL, take_version, 0,
	    "print the version and exit" },
};

static const struct heading headings[] = {
	{ OPT_ATTEMPTS, "Limits" },
	{ OPT_DELAY, "Delays" },
	{ OPT_RETRY_ON, "What to retry" },
	{ OPT_HTTP, "HTTP" },
	{ OPT_BUDGET, "Budget" },
	{ OPT_QUIET, "Messages" },
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

static const struct words words = { rows, OPTIONS, headings, aliases,
	variables };

static void
take_help(const struct row *row, const char *text, void *field)
{
	(void)row;
	(void)text;
	(void)field;
	words_show_rows(&words,
	    "Usage: retry [OPTION]... [--] COMMAND [ARG]...\n"
	    "Run COMMAND until it succeeds, or until one more attempt would do"
	    " more harm\nthan good.\n",
	    "\n"
	    "DUR is a time in seconds or with units: 2, 0.5, 500ms, 1h30m."
	    " LIST is, with\ncommas between them, exit statuses (7), ranges"
	    " (64-78), signals (SEGV), signal\n(any), timeout, fail (any"
	    " failure), http:503, http:5xx; or a pattern in\n"
	    "COMMAND's output: stderr:ERE, stdout:ERE, to the end of the"
	    " argument.\n"
	    "\n"
	    "Exit status: COMMAND's; if a signal killed it, retry dies of that"
	    " too. 1 if it\nexited 0 but failed, 69 if a required budget cannot"
	    " be used, 75 if the breaker\nheld the first attempt, 124 if a"
	    " limit of time ended it, 125 if retry itself\nfailed, 126 if"
	    " COMMAND cannot be executed, 127 if it is not found.\n"
	    "\n"
	    "Examples:\n"
	    "  retry -n 5 -d 1 -- curl -fsS https://example.org/\n"
	    "  retry -T 1m -- pg_isready -q\n");
}

/* -T 0 is no limit, and must not lift the other one. */
static void
settle_attempts(struct policy *policy, const char *const said[])
{
	if (policy->deadline > 0 && said[OPT_ATTEMPTS] == NULL &&
	    said[OPT_RETRIES] == NULL)
		policy->attempts = POLICY_UNLIMITED;
}

/* A request that is not idempotent is not sent twice unmarked. */
static void
settle_http(const struct policy *policy, const char *const said[])
{
	if (policy->http && policy->http_status != NULL)
		words_refuse(&rows[OPT_HTTP_STATUS], "not with --http",
		    said[OPT_HTTP_STATUS]);
	if (policy->key == NULL && !curl_idempotent(policy->method))
		words_refuse(&rows[OPT_METHOD],
		    "not idempotent, and no --idempotency-key", policy->method);
}

/* Options of which one may be said, each for one value of an enum. */
struct choice {
	enum option option;
	const char *refusal; /* of another beside it */
};

static const struct choice actions[] = {
	[ACTION_STATUS] = { OPT_BUDGET_STATUS, "not with --budget-status" },
	[ACTION_RESET] = { OPT_BUDGET_RESET, "not with --budget-reset" },
	[ACTION_GC] = { OPT_BUDGET_GC, "not with --budget-gc" },
};

static const struct choice formats[] = {
	[FORMAT_JSON] = { OPT_JSON, "not with --json" },
	[FORMAT_PROM] = { OPT_PROM, "not with --prom" },
};

/* The value that was said, 0 if none was. */
static size_t
choose(const struct choice *choices, size_t count, const char *const said[])
{
	size_t found = 0;

	for (size_t i = 1; i < count; i++) {
		enum option option = choices[i].option;

		if (said[option] == NULL)
			continue;
		if (found != 0)
			words_refuse(&rows[option], choices[found].refusal,
			    said[option]);
		found = i;
	}
	return found;
}

/* Whether there is something to do instead of running a command. */
static bool
settle_action(struct policy *policy, const char *const said[])
{
	size_t action = choose(actions, COUNT(actions), said);
	size_t format = choose(formats, COUNT(formats), said);
	bool given = policy->command != NULL && *policy->command != NULL;

	policy->action = (enum action)action;
	policy->format = (enum format)format;
	if (format != FORMAT_TABLE && action != ACTION_STATUS)
		words_refuse(&rows[formats[format].option],
		    "only with --budget-status", said[formats[format].option]);
	if (action == ACTION_RUN && !given)
		words_refuse_all("no command given");
	if (action == ACTION_RUN)
		return false;
	if (given)
		words_refuse(&rows[actions[action].option],
		    "not with a command", *policy->command);
	policy->command = NULL;
	return true;
}

/* What only a budget gives a meaning, and what is handed on. */
static void
settle_budget(struct policy *policy, const char *const said[])
{
	static const enum option needing[] = {
		OPT_BUDGET_WAIT,
		OPT_BUDGET_COOLDOWN,
		OPT_BUDGET_REQUIRED,
		OPT_BREAKER,
	};
	static const enum option told[POLICY_TOLD] = {
		[TOLD_BUDGET] = OPT_BUDGET,
		[TOLD_RATIO] = OPT_BUDGET_RATIO,
		[TOLD_MIN] = OPT_BUDGET_MIN,
		[TOLD_WINDOW] = OPT_BUDGET_WINDOW,
		[TOLD_DIR] = OPT_BUDGET_DIR,
		[TOLD_NESTED] = OPT_NESTED,
	};

	for (size_t i = 0; i < COUNT(needing); i++)
		if (policy->share.key == NULL && said[needing[i]] != NULL)
			words_refuse(&rows[needing[i]], "not without --budget",
			    said[needing[i]]);
	for (size_t i = 0; i < POLICY_TOLD; i++)
		policy->told[i] = said[told[i]];
	/* From the environment too: the command may go elsewhere. */
	if (policy->share.directory[0] != '/')
		policy->told[TOLD_DIR] = policy->share.directory;
	/* Who has no limit but time waits as long as it takes. */
	if (policy->attempts == POLICY_UNLIMITED &&
	    said[OPT_BUDGET_WAIT] == NULL)
		policy->share.wait = NANOS_MAX;
}

struct policy
options_parse(int argc, char **argv)
{
	const char *said[OPTIONS] = { NULL };
	struct policy policy = {
		.attempts = DEFAULT_ATTEMPTS,
		.signal = SIGTERM,
		.kill_after = DEFAULT_KILL_AFTER,
		.backoff = {
			.kind = BACKOFF_EXPONENTIAL,
			.jitter = JITTER_FULL,
			.factor = DEFAULT_FACTOR,
			.delays = { DEFAULT_DELAY },
			.count = 1,
		},
		.max_retry_after = DEFAULT_MAX_RETRY_AFTER,
		.share = {
			.directory = SEGMENT_DIRECTORY,
			.terms = { -1, -1, -1 },
		},
		.loudness = LOUDNESS_PLAIN,
	};

	/* execve allows a caller to leave out even argv[0]. */
	if (argc > 0)
		policy.command = words_take(&words, argv, &policy, said);
	if (settle_action(&policy, said))
		return policy;
	settle_attempts(&policy, said);
	delays_settle(&policy.backoff, said[OPT_BACKOFF] != NULL,
	    &(struct delays_said){ &rows[OPT_JITTER], said[OPT_JITTER] },
	    &(struct delays_said){ &rows[OPT_MAX_DELAY], said[OPT_MAX_DELAY] });
	lists_settle(&policy, &rows[OPT_PRESET]);
	settle_http(&policy, said);
	settle_budget(&policy, said);
	return policy;
}
