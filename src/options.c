#include "options.h"

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include "backoff.h"
#include "codes.h"
#include "curl.h"
#include "delays.h"
#include "duration.h"
#include "lists.h"
#include "number.h"
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
	OPT_QUIET,
	OPT_VERBOSE,
	OPT_HELP,
	OPT_VERSION,
	OPTIONS,
};

static void
take_attempts(const struct row *row, const char *text, void *field)
{
	int64_t *attempts = field;

	if (strcmp(text, "inf") == 0)
		*attempts = POLICY_UNLIMITED;
	else if (!number_whole(text, strlen(text), attempts) || *attempts == 0)
		words_refuse(row, "not a number of attempts", text);
}

static void
take_retries(const struct row *row, const char *text, void *field)
{
	int64_t *attempts = field;

	if (strcmp(text, "inf") == 0)
		*attempts = POLICY_UNLIMITED;
	else if (number_whole(text, strlen(text), attempts))
		*attempts = number_add(*attempts, 1);
	else
		words_refuse(row, "not a number of retries", text);
}

static void
take_span(const struct row *row, const char *text, void *field)
{
	if (!duration_parse(text, strlen(text), field))
		words_refuse(row, "not a time", text);
}

static void
take_signal(const struct row *row, const char *text, void *field)
{
	int *number = field;

	*number = codes_signal(text, strlen(text));
	if (*number == 0)
		words_refuse(row, "not a signal", text);
}

static void
take_http(const struct row *row, const char *text, void *field)
{
	bool *http = field;

	(void)row;
	(void)text;
	*http = true;
}

static void
take_path(const struct row *row, const char *text, void *field)
{
	const char **path = field;

	if (*text == '\0')
		words_refuse(row, "not a file name", text);
	*path = text;
}

/* RFC 9110, section 5.6.2. */
static void
take_method(const struct row *row, const char *text, void *field)
{
	const char **method = field;
	size_t length = strspn(text,
	    "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyz"
	    "ABCDEFGHIJKLMNOPQRSTUVWXYZ");

	if (length == 0 || text[length] != '\0')
		words_refuse(row, "not an HTTP method", text);
	*method = text;
}

/* It becomes a line of a header, and no more than one. */
static void
take_key(const struct row *row, const char *text, void *field)
{
	const char **key = field;

	for (const char *c = text; *c != '\0'; c++)
		if ((unsigned char)*c < 0x20 || *c == 0x7f)
			words_refuse(row, "a control character in", text);
	/* curl would not send a header that holds nothing. */
	if (text[strspn(text, " ")] == '\0')
		words_refuse(row, "empty", text);
	*key = text;
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

#define AT(member) offsetof(struct policy, member)

static const struct row rows[OPTIONS] = {
	[OPT_ATTEMPTS] = { "attempts", 'n', "N", take_attempts, AT(attempts),
	    "attempts in all, or inf (default 4; with -T, inf)" },
	[OPT_RETRIES] = { "retries", '\0', "N", take_retries, AT(attempts),
	    "the same limit, less the first attempt" },
	[OPT_DEADLINE] = { "deadline", 'T', "DUR", take_span, AT(deadline),
	    "time for everything, delays too (default: none)" },
	[OPT_TIMEOUT] = { "timeout", 't', "DUR", take_span, AT(timeout),
	    "time for one attempt (default: none)" },
	[OPT_SIGNAL] = { "signal", 's', "SIG", take_signal, AT(signal),
	    "what ends an attempt at a limit (default TERM)" },
	[OPT_KILL_AFTER] = { "kill-after", 'k', "DUR", take_span,
	    AT(kill_after), "then KILL, this much later (default 5s)" },

	[OPT_DELAY] = { "delay", 'd', "DUR[,DUR...]", delays_list, AT(backoff),
	    "base delay (default 500ms), or a list of delays,\n"
	    "whose last repeats or, with -b, grows" },
	[OPT_BACKOFF] = { "backoff", 'b', "KIND", delays_kind, AT(backoff.kind),
	    "how delays grow: exponential (default), linear,\n"
	    "constant, fibonacci" },
	[OPT_FACTOR] = { "factor", '\0', "X", delays_factor, AT(backoff.factor),
	    "of exponential backoff, 1 or more (default 2)" },
	[OPT_MAX_DELAY] = { "max-delay", '\0', "DUR", take_span,
	    AT(backoff.cap), "cap (default 30s, or the largest -d if more)" },
	[OPT_MIN_DELAY] = { "min-delay", '\0', "DUR", take_span,
	    AT(backoff.floor), "floor (default 0)" },
	[OPT_JITTER] = { "jitter", 'j', "KIND", delays_jitter,
	    AT(backoff.jitter),
	    "full (default), equal, decorrelated, none: -d 10\n"
	    "alone waits a random time in [0, 10s] before the\n"
	    "first retry, with -j none exactly that" },
	[OPT_SEED] = { "seed", '\0', "N", delays_seed, 0,
	    "make the delays repeatable (default: random)" },
	[OPT_RESET_AFTER] = { "reset-after", '\0', "DUR", take_span,
	    AT(reset_after),
	    "start the delays anew after an attempt that ran\n"
	    "this long (default: never)" },
	[OPT_SPLAY] = { "splay", '\0', "DUR", take_span, AT(splay),
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

	[OPT_HTTP] = { "http", '\0', NULL, take_http, AT(http),
	    "judge by the HTTP status: curl is told where to\n"
	    "leave it, other commands by $RETRY_HTTP_STATUS" },
	[OPT_HTTP_STATUS] = { "http-status", '\0', "FILE", take_path,
	    AT(http_status), "the same, from a file that COMMAND writes" },
	[OPT_MAX_RETRY_AFTER] = { "max-retry-after", '\0', "DUR", take_span,
	    AT(max_retry_after),
	    "give up if the server asks for more (default 5m)" },
	[OPT_METHOD] = { "method", '\0', "M", take_method, AT(method),
	    "the request's method; POST and its like are\n"
	    "refused without a key" },
	[OPT_IDEMPOTENCY_KEY] = { "idempotency-key", '\0', "KEY", take_key,
	    AT(key), "the same for each attempt; auto: a new one" },

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

static const struct words words = { rows, OPTIONS, headings, aliases };

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
	    " too. 1 if it\nexited 0 but failed, 124 if a limit of time ended"
	    " it, 125 if retry itself\nfailed, 126 if COMMAND cannot be"
	    " executed, 127 if it is not found.\n"
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
		.loudness = LOUDNESS_PLAIN,
	};

	/* execve allows a caller to leave out even argv[0]. */
	if (argc > 0)
		policy.command = words_take(&words, argv, &policy, said);
	if (policy.command == NULL || *policy.command == NULL)
		words_refuse_all("no command given");
	settle_attempts(&policy, said);
	delays_settle(&policy.backoff, said[OPT_BACKOFF] != NULL,
	    &(struct delays_said){ &rows[OPT_JITTER], said[OPT_JITTER] },
	    &(struct delays_said){ &rows[OPT_MAX_DELAY], said[OPT_MAX_DELAY] });
	lists_settle(&policy, &rows[OPT_PRESET]);
	settle_http(&policy, said);
	return policy;
}
