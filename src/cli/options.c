#include "cli/options.h"

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "policy/backoff.h"
#include "http/curl.h"
#include "cli/delays.h"
#include "text/duration.h"
#include "cli/option_rules.h"
#include "cli/option_table.h"
#include "cli/optparse.h"

#define DEFAULT_ATTEMPTS 5
#define DEFAULT_KILL_AFTER (5 * NANOS_SECOND)
#define DEFAULT_DELAY NANOS_SECOND
#define DEFAULT_FACTOR (INT64_C(2) * BACKOFF_FACTOR_ONE)
#define DEFAULT_MAX_RETRY_AFTER (5 * NANOS_MINUTE)
#define DEFAULT_STDIN_MAX (INT64_C(1) << 30)
#define DEFAULT_HOLD_MAX (INT64_C(1) << 30)

#define COUNT(array) (sizeof(array) / sizeof *(array))

static const struct row *
row(enum option option)
{
	return &option_table.rows[option];
}

/* -T 0 is no limit, and must not lift the other one. */
static void
settle_attempts(struct policy *policy, const char *const said[])
{
	if (policy->deadline > 0 && said[OPT_ATTEMPTS] == NULL &&
	    said[OPT_RETRIES] == NULL)
		policy->attempts = POLICY_UNLIMITED;
}

/* A rehearsal may lack the command that a preset is looked up for. */
static void
settle_lists(struct policy *policy)
{
	char nothing[] = "", *none[] = { nothing, NULL };
	char **command = policy->command;

	if (command == NULL)
		policy->command = none;
	option_rules_settle(policy, row(OPT_PRESET));
	policy->command = command;
}

/* A request that is not idempotent is not sent twice unmarked. */
static void
settle_http(const struct policy *policy, const char *const said[])
{
	if (policy->http && policy->http_status != NULL)
		optparse_refuse(row(OPT_HTTP_STATUS), "not with --http",
		    said[OPT_HTTP_STATUS]);
	if (policy->key == NULL && !curl_idempotent(policy->method))
		optparse_refuse(row(OPT_METHOD),
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
	[ACTION_REHEARSE] = { OPT_DRY_RUN, "not with --dry-run" },
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
			optparse_refuse(
			    row(option), choices[found].refusal, said[option]);
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
		optparse_refuse(row(formats[format].option),
		    "only with --budget-status", said[formats[format].option]);
	if (action == ACTION_RUN && !given)
		optparse_refuse_all("no command given");
	if (!given)
		policy->command = NULL;
	if (action == ACTION_RUN || action == ACTION_REHEARSE)
		return false;
	if (given)
		optparse_refuse(row(actions[action].option),
		    "not with a command", *policy->command);
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
			optparse_refuse(row(needing[i]), "not without --budget",
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
		.stdin_max = DEFAULT_STDIN_MAX,
		.hold_max = DEFAULT_HOLD_MAX,
		.share = {
			.directory = SEGMENT_DIRECTORY,
			.terms = { -1, -1, -1 },
		},
		.loudness = LOUDNESS_PLAIN,
		.log_format = LOG_TEXT,
		.progress = SHOWING_AUTO,
	};

	/* execve allows a caller to leave out even argv[0]. */
	if (argc > 0)
		policy.command =
		    optparse_take(&option_table, argv, &policy, said);
	if (settle_action(&policy, said))
		return policy;
	settle_attempts(&policy, said);
	option_values_settle_delays(&policy.backoff, said[OPT_BACKOFF] != NULL,
	    &(struct delays_given){ row(OPT_JITTER), said[OPT_JITTER] },
	    &(struct delays_given){ row(OPT_MAX_DELAY), said[OPT_MAX_DELAY] });
	settle_lists(&policy);
	settle_http(&policy, said);
	settle_budget(&policy, said);
	return policy;
}
