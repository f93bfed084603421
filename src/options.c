#include "options.h"

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include "backoff.h"
#include "codes.h"
#include "duration.h"
#include "number.h"
#include "words.h"

#ifndef VERSION
#define VERSION "0.1.0"
#endif

#define DEFAULT_ATTEMPTS 4
#define DEFAULT_KILL_AFTER (5 * NANOS_SECOND)
#define DEFAULT_DELAY (500 * NANOS_MS)
#define DEFAULT_FACTOR (INT64_C(2) * BACKOFF_FACTOR_ONE)
#define DEFAULT_CAP (30 * NANOS_SECOND)

#define COUNT(array) (sizeof(array) / sizeof *(array))

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
	OPT_SUCCESS_ON,
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
take_delays(const struct row *row, const char *text, void *field)
{
	struct backoff *backoff = field;
	const char *item = text;

	for (backoff->count = 0;; item++) {
		size_t length = strcspn(item, ",");

		if (backoff->count == BACKOFF_DELAYS)
			words_refuse(row, "more than 64 delays", text);
		if (length == 0)
			words_refuse_item(row, "empty item", item, 0, text);
		if (!duration_parse(
			item, length, &backoff->delays[backoff->count++]))
			words_refuse_item(
			    row, "not a time", item, length, text);
		item += length;
		if (*item == '\0')
			return;
	}
}

/* The index of text among names, or -1. */
static int
choice(const char *const *names, size_t count, const char *text)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(names[i], text) == 0)
			return (int)i;
	return -1;
}

static void
take_backoff(const struct row *row, const char *text, void *field)
{
	static const char *const kinds[] = {
		[BACKOFF_EXPONENTIAL] = "exponential",
		[BACKOFF_LINEAR] = "linear",
		[BACKOFF_CONSTANT] = "constant",
		[BACKOFF_FIBONACCI] = "fibonacci",
	};
	enum backoff_kind *kind = field;
	int found = choice(kinds, COUNT(kinds), text);

	if (found == -1)
		words_refuse(row,
		    "not exponential, linear, constant or fibonacci", text);
	*kind = (enum backoff_kind)found;
}

static void
take_jitter(const struct row *row, const char *text, void *field)
{
	static const char *const kinds[] = {
		[JITTER_FULL] = "full",
		[JITTER_EQUAL] = "equal",
		[JITTER_DECORRELATED] = "decorrelated",
		[JITTER_NONE] = "none",
	};
	enum jitter *jitter = field;
	int found = choice(kinds, COUNT(kinds), text);

	if (found == -1)
		words_refuse(
		    row, "not full, equal, decorrelated or none", text);
	*jitter = (enum jitter)found;
}

static void
take_factor(const struct row *row, const char *text, void *field)
{
	int64_t *factor = field;

	if (!number_decimal(text, strlen(text), BACKOFF_FACTOR_ONE, factor) ||
	    *factor < BACKOFF_FACTOR_ONE)
		words_refuse(row, "not a number of 1 or more", text);
}

/* Not number_whole, which saturates: two large seeds are not one seed. */
static bool
seed_parse(const char *text, uint64_t *seed)
{
	const char *c = text;

	for (*seed = 0; *c >= '0' && *c <= '9'; c++) {
		uint64_t digit = (uint64_t)(*c - '0');

		if (*seed > (UINT64_MAX - digit) / 10)
			return false;
		*seed = *seed * 10 + digit;
	}
	return c != text && *c == '\0';
}

static void
take_seed(const struct row *row, const char *text, void *field)
{
	struct policy *policy = field;

	if (!seed_parse(text, &policy->seed))
		words_refuse(row, "not a whole number below 2^64", text);
	policy->seeded = true;
}

static void
take_list(const struct row *row, const char *text, void *field)
{
	struct codes_error error;

	if (!codes_parse(field, text, &error))
		words_refuse_item(
		    row, error.why, error.item, error.length, text);
}

static void
take_retry_on(const struct row *row, const char *text, void *field)
{
	take_list(row, text, field);
	if (codes_has_exit(field, 0))
		words_refuse(row, "0 is a success, not a failure", text);
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

	[OPT_DELAY] = { "delay", 'd', "DUR[,DUR...]", take_delays, AT(backoff),
	    "base delay (default 500ms), or a list of delays,\n"
	    "whose last repeats or, with -b, grows" },
	[OPT_BACKOFF] = { "backoff", 'b', "KIND", take_backoff,
	    AT(backoff.kind),
	    "how delays grow: exponential (default), linear,\n"
	    "constant, fibonacci" },
	[OPT_FACTOR] = { "factor", '\0', "X", take_factor, AT(backoff.factor),
	    "of exponential backoff, 1 or more (default 2)" },
	[OPT_MAX_DELAY] = { "max-delay", '\0', "DUR", take_span,
	    AT(backoff.cap), "cap (default 30s, or the largest -d if more)" },
	[OPT_MIN_DELAY] = { "min-delay", '\0', "DUR", take_span,
	    AT(backoff.floor), "floor (default 0)" },
	[OPT_JITTER] = { "jitter", 'j', "KIND", take_jitter, AT(backoff.jitter),
	    "full (default), equal, decorrelated, none: -d 10\n"
	    "alone waits a random time in [0, 10s] before the\n"
	    "first retry, with -j none exactly that" },
	[OPT_SEED] = { "seed", '\0', "N", take_seed, 0,
	    "make the delays repeatable (default: random)" },
	[OPT_RESET_AFTER] = { "reset-after", '\0', "DUR", take_span,
	    AT(reset_after),
	    "start the delays anew after an attempt that ran\n"
	    "this long (default: never)" },
	[OPT_SPLAY] = { "splay", '\0', "DUR", take_span, AT(splay),
	    "wait a random time in [0, DUR] before the first\n"
	    "attempt (default 0)" },

	[OPT_RETRY_ON] = { "retry-on", '\0', "LIST", take_retry_on,
	    AT(rules.retry_on), "retry only these failures (default: any)" },
	[OPT_STOP_ON] = { "stop-on", '\0', "LIST", take_list, AT(rules.stop_on),
	    "never retry these; wins over --retry-on" },
	[OPT_SUCCESS_ON] = { "success-on", '\0', "LIST", take_list,
	    AT(rules.success_on),
	    "successes too; COMMAND's exit status is kept" },

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
	    " (64-78), signals (SEGV) and\nthe words signal (any signal),"
	    " timeout and fail (any failure).\n"
	    "\n"
	    "Exit status: COMMAND's; if a signal killed it, retry dies of that"
	    " too. 124 if a\nlimit of time ended it, 125 if retry itself"
	    " failed, 126 if COMMAND cannot be\nexecuted, 127 if it is not"
	    " found.\n"
	    "\n"
	    "Examples:\n"
	    "  retry -n 5 -d 1 -- curl -fsS https://example.org/\n"
	    "  retry -T 1m -- pg_isready -q\n");
}

static nanos
largest_delay(const struct backoff *backoff)
{
	nanos largest = 0;

	for (int i = 0; i < backoff->count; i++)
		if (backoff->delays[i] > largest)
			largest = backoff->delays[i];
	return largest;
}

/* What depends on more than one option. */
static void
settle_backoff(struct backoff *backoff, const char *const said[])
{
	bool list = backoff->count > 1;

	backoff->grows = !list || said[OPT_BACKOFF] != NULL;
	if (backoff->jitter == JITTER_DECORRELATED && list)
		words_refuse(&rows[OPT_JITTER], "not with a list of delays",
		    said[OPT_JITTER]);
	if (said[OPT_MAX_DELAY] == NULL) {
		nanos largest = largest_delay(backoff);

		backoff->cap = largest > DEFAULT_CAP ? largest : DEFAULT_CAP;
		if (backoff->cap < backoff->floor)
			backoff->cap = backoff->floor;
	} else if (backoff->cap < backoff->floor) {
		words_refuse(&rows[OPT_MAX_DELAY], "below --min-delay",
		    said[OPT_MAX_DELAY]);
	}
}

/* -T 0 is no limit, and must not lift the other one. */
static void
settle_attempts(struct policy *policy, const char *const said[])
{
	if (policy->deadline > 0 && said[OPT_ATTEMPTS] == NULL &&
	    said[OPT_RETRIES] == NULL)
		policy->attempts = POLICY_UNLIMITED;
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
		.loudness = LOUDNESS_PLAIN,
	};

	/* execve allows a caller to leave out even argv[0]. */
	if (argc > 0)
		policy.command = words_take(&words, argv, &policy, said);
	if (policy.command == NULL || *policy.command == NULL)
		words_refuse_all("no command given");
	settle_attempts(&policy, said);
	settle_backoff(&policy.backoff, said);
	return policy;
}
