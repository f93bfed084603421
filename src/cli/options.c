#include "cli/options.h"

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "policy/backoff.h"
#include "http/curl.h"
#include "text/number.h"
#include "text/duration.h"
#include "cli/option_rules.h"
#include "cli/option_table.h"
#include "cli/optparse.h"

#define DEFAULT_ATTEMPTS 5
#define DEFAULT_KILL_AFTER (5 * NANOS_SECOND)
#define DEFAULT_DELAY NANOS_SECOND
#define DEFAULT_CAP (30 * NANOS_SECOND)
#define DEFAULT_FACTOR (INT64_C(2) * BACKOFF_FACTOR_ONE)
#define DEFAULT_MAX_RETRY_AFTER (5 * NANOS_MINUTE)
#define DEFAULT_STDIN_MAX (INT64_C(1) << 30)
#define DEFAULT_HOLD_MAX (INT64_C(1) << 30)

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* Refuses the text that an option was given on the command line or in a file.
 */
static _Noreturn void
refuse(enum option_id id, const char *why, const char *const given[])
{
	optparse_refuse(&option_table.options[id], why, given[id]);
}

/*
 * -T 0 means no deadline, so that the limit of attempts must stay. Refuses a
 * policy that can never succeed.
 */
static void
settle_attempts(struct policy *policy, const char *const given[])
{
	if (policy->deadline > 0 && given[OPT_ATTEMPTS] == NULL &&
	    given[OPT_RETRIES] == NULL)
		policy->attempts = POLICY_UNLIMITED;
	if (policy->consecutive > policy->attempts)
		refuse(OPT_CONSECUTIVE, "more successes than attempts (see -n)",
		    given);
}

/*
 * Whether the last delay grows, and the default cap: the largest of 30 s, all
 * delays and the floor.
 */
static void
settle_delays(struct backoff *backoff, const char *const given[])
{
	bool list = backoff->count > 1;

	backoff->grows = !list || given[OPT_BACKOFF] != NULL;
	if (backoff->jitter == JITTER_DECORRELATED && list)
		refuse(OPT_JITTER, "not with a list of delays", given);
	if (given[OPT_MAX_DELAY] != NULL) {
		if (backoff->cap < backoff->floor)
			refuse(OPT_MAX_DELAY, "below --min-delay", given);
		return;
	}
	backoff->cap = number_greater(DEFAULT_CAP, backoff->floor);
	for (int i = 0; i < backoff->count; i++)
		backoff->cap = number_greater(backoff->cap, backoff->delays[i]);
}

/* With --dry-run there may be no command for "--preset auto" to look at. */
static void
settle_rules(struct policy *policy)
{
	char nothing[] = "", *none[] = { nothing, NULL };
	char **command = policy->command;

	if (command == NULL)
		policy->command = none;
	option_rules_settle(policy, &option_table.options[OPT_PRESET]);
	policy->command = command;
}

/* A request that is not idempotent must not be sent twice without a key. */
static void
settle_http(const struct policy *policy, const char *const given[])
{
	if (policy->http && policy->http_status != NULL)
		refuse(OPT_HTTP_STATUS, "not with --http", given);
	if (policy->key == NULL && !curl_idempotent(policy->method))
		refuse(OPT_METHOD, "not idempotent, and no --idempotency-key",
		    given);
}

/* Options that exclude each other, one for each value of an enum but 0. */
struct choice {
	enum option_id id;
	const char *refusal; /* of another one of them */
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

/* The value whose option was given; 0: none was. */
static size_t
choose(const struct choice *choices, size_t count, const char *const given[])
{
	size_t found = 0;

	for (size_t i = 1; i < count; i++) {
		if (given[choices[i].id] == NULL)
			continue;
		if (found != 0)
			refuse(choices[i].id, choices[found].refusal, given);
		found = i;
	}
	return found;
}

/* Finds the action. True if it is not to run a command. */
static bool
settle_action(struct policy *policy, const char *const given[])
{
	size_t action = choose(actions, COUNT(actions), given);
	size_t format = choose(formats, COUNT(formats), given);
	bool command = policy->command != NULL && *policy->command != NULL;

	policy->action = (enum action)action;
	policy->format = (enum format)format;
	if (format != FORMAT_TABLE && action != ACTION_STATUS)
		refuse(formats[format].id, "only with --budget-status", given);
	if (action == ACTION_RUN && !command)
		optparse_refuse_all("no command given");
	if (!command)
		policy->command = NULL;
	if (action == ACTION_RUN || action == ACTION_REHEARSE)
		return false;
	if (command)
		optparse_refuse(&option_table.options[actions[action].id],
		    "not with a command", *policy->command);
	return true;
}

/* Refuses what needs a budget, and notes what the command's retry inherits. */
static void
settle_budget(struct policy *policy, const char *const given[])
{
	static const enum option_id needing[] = {
		OPT_BUDGET_WAIT,
		OPT_BUDGET_COOLDOWN,
		OPT_BUDGET_REQUIRED,
		OPT_BREAKER,
	};
	static const enum option_id told[POLICY_TOLD] = {
		[TOLD_BUDGET] = OPT_BUDGET,
		[TOLD_RATIO] = OPT_BUDGET_RATIO,
		[TOLD_MIN] = OPT_BUDGET_MIN,
		[TOLD_WINDOW] = OPT_BUDGET_WINDOW,
		[TOLD_DIR] = OPT_BUDGET_DIR,
		[TOLD_NESTED] = OPT_NESTED,
	};

	for (size_t i = 0; i < COUNT(needing); i++)
		if (policy->share.key == NULL && given[needing[i]] != NULL)
			refuse(needing[i], "only with --budget", given);
	for (size_t i = 0; i < POLICY_TOLD; i++)
		policy->told[i] = given[told[i]];
	/* A relative one is handed on even if it comes from the environment:
	 * the command may change the working directory. */
	if (policy->share.directory[0] != '/')
		policy->told[TOLD_DIR] = policy->share.directory;
	/* If only time limits the attempts, only time limits the wait for a
	 * budget. */
	if (policy->attempts == POLICY_UNLIMITED &&
	    given[OPT_BUDGET_WAIT] == NULL)
		policy->share.wait = NANOS_MAX;
}

struct policy
options_parse(int argc, char **argv)
{
	const char *given[OPTIONS] = { NULL };
	struct policy policy = {
		.attempts = DEFAULT_ATTEMPTS,
		.consecutive = 1,
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

	/* execve(2) allows an empty argv, without even argv[0]. */
	if (argc > 0)
		policy.command =
		    optparse_parse(&option_table, argv, &policy, given);
	if (settle_action(&policy, given))
		return policy;
	settle_attempts(&policy, given);
	settle_delays(&policy.backoff, given);
	settle_rules(&policy);
	settle_http(&policy, given);
	settle_budget(&policy, given);
	return policy;
}
