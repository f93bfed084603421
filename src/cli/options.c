#include "cli/options.h"

#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "policy/backoff.h"
#include "http/curl.h"
#include "text/number.h"
#include "text/duration.h"
#include "cli/option_rules.h"
#include "cli/option_table.h"
#include "cli/optparse.h"
#include "cli/password.h"
#include "preset/wrapper.h"

#define DEFAULT_ATTEMPTS 5
#define DEFAULT_KILL_AFTER (5 * NANOS_SECOND)
#define DEFAULT_DELAY NANOS_SECOND
#define DEFAULT_CAP (30 * NANOS_SECOND)
#define DEFAULT_FACTOR (INT64_C(2) * BACKOFF_FACTOR_ONE)
#define DEFAULT_MAX_RETRY_AFTER (5 * NANOS_MINUTE)
#define DEFAULT_FLEET_TIMEOUT (250 * NANOS_MS)
#define DEFAULT_FLEET_TIMEOUT_VIA NANOS_SECOND
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

/* Nothing is written after a success, or after a failure, but not both. */
static void
settle_streams(struct policy *policy, const char *const given[])
{
	if (!policy->chronic)
		return;
	if (policy->hold_out)
		refuse(OPT_CHRONIC, "not with --hold-stdout", given);
	policy->hold_out = policy->hold_err = true;
}

/*
 * A request that is not idempotent must not be sent twice without a key. Only
 * --http sends the key, and only curl can take it without the user's help.
 */
static void
settle_http(struct policy *policy, const char *const given[])
{
	char **command = policy->command;

	if (policy->http && policy->http_status != NULL)
		refuse(OPT_HTTP_STATUS, "not with --http", given);
	if (policy->key != NULL && policy->http_status == NULL &&
	    !policy->http && command != NULL) {
		policy->http =
		    curl_named(command[wrapper_look(command).command]);
		/* No message shows the key. */
		if (!policy->http)
			optparse_refuse_all(
			    "--idempotency-key: only with curl, or with --http "
			    "and a command that sends "
			    "$RETRY_IDEMPOTENCY_KEY");
	}
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

/* Finds the password, and refuses a user without one. */
static void
settle_password(struct fleet_policy *fleet, const char *const given[])
{
	struct option url = option_table.options[OPT_FLEET];
	struct option file = option_table.options[OPT_FLEET_AUTH];

	url.by_variable = given[OPT_FLEET] == NULL;
	file.by_variable = given[OPT_FLEET_AUTH] == NULL;
	if (!password_find(&file, fleet) && fleet->url->user[0] != '\0')
		optparse_refuse(
		    &url, "a user, and no --fleet-auth", fleet->text);
}

/* Completes the numbers of the fleet: those not given are the budget's. */
static void
settle_terms(struct policy *policy)
{
	const struct terms defaults = { SEGMENT_RATIO, SEGMENT_MIN,
		SEGMENT_WINDOW };
	const struct terms *own = &policy->budget.terms;
	struct terms *terms = &policy->fleet.terms;

	if (terms->ratio == -1)
		terms->ratio = own->ratio == -1 ? defaults.ratio : own->ratio;
	if (terms->min == -1)
		terms->min = own->min == -1 ? defaults.min : own->min;
	terms->window = own->window == -1 ? defaults.window : own->window;
}

/*
 * Completes the fleet of the budget that has this key; without a budget there
 * is no fleet. Refuses what needs a budget or a fleet.
 */
static void
settle_fleet(struct policy *policy, const char *key, const char *const given[])
{
	static const enum option_id needing[] = {
		OPT_FLEET_AUTH,
		OPT_FLEET_VIA,
		OPT_FLEET_TIMEOUT,
		OPT_FLEET_MIN,
		OPT_FLEET_RATIO,
		OPT_FLEET_ALONE,
	};
	struct fleet_policy *fleet = &policy->fleet;

	for (size_t i = 0; i < COUNT(needing); i++)
		if (fleet->text == NULL && given[OPT_FLEET] == NULL &&
		    given[needing[i]] != NULL)
			refuse(needing[i], "only with --fleet", given);
	if (fleet->text != NULL && key == NULL && given[OPT_FLEET] != NULL)
		refuse(OPT_FLEET, "only with --budget", given);
	if (key == NULL)
		fleet->text = NULL;
	if (fleet->text == NULL)
		return;
	settle_password(fleet, given);
	settle_terms(policy);
	if (fleet->timeout == 0)
		fleet->timeout = fleet->via != NULL || fleet->url->tls
		    ? DEFAULT_FLEET_TIMEOUT_VIA
		    : DEFAULT_FLEET_TIMEOUT;
}

/* Refuses what needs a budget. */
static void
settle_budget(struct policy *policy, const char *const given[])
{
	static const enum option_id needing[] = {
		OPT_BUDGET_WAIT,
		OPT_BUDGET_COOLDOWN,
		OPT_BUDGET_REQUIRED,
		OPT_BREAKER,
	};
	for (size_t i = 0; i < COUNT(needing); i++)
		if (policy->budget.key == NULL && given[needing[i]] != NULL)
			refuse(needing[i], "only with --budget", given);
	/* If only time limits the attempts, only time limits the wait for a
	 * budget. */
	if (policy->attempts == POLICY_UNLIMITED &&
	    given[OPT_BUDGET_WAIT] == NULL)
		policy->budget.wait = NANOS_MAX;
}

/*
 * A relative path is handed on as an absolute one, even if it comes from the
 * environment: the command may change the working directory.
 */
static const char *
make_absolute(const struct option *option, const char *path)
{
	char directory[PATH_MAX], *absolute;

	if (path[0] == '/' || strcmp(path, "-") == 0 ||
	    getcwd(directory, sizeof directory) == NULL)
		return path;
	absolute = malloc(strlen(directory) + 1 + strlen(path) + 1);
	if (absolute == NULL)
		optparse_refuse(option, "no memory for", path);
	stpcpy(stpcpy(stpcpy(absolute, directory), "/"), path);
	return absolute;
}

/* Notes what a retry within the command takes over. */
static void
hand_on(struct policy *policy, const char *const given[])
{
	struct handed *handed = policy->handed;

	for (size_t i = 0; i < OPTIONS; i++) {
		const struct option *option = &option_table.options[i];
		const char *text = given[i];

		if (option->variable == NULL || i == OPT_POLICY)
			continue;
		if (text == NULL && option->is_path)
			text = getenv(option->variable);
		/* An empty variable counts as unset. */
		if (text == NULL || (given[i] == NULL && *text == '\0'))
			continue;
		if (option->is_path)
			text = make_absolute(option, text);
		*handed++ = (struct handed){ option->variable, text };
	}
}

struct policy
options_parse(int argc, char **argv)
{
	/* Beside the policy: they are large, and few invocations use them. */
	static struct watch watches[CONDITIONS_WATCHES];
	static struct url url;
	static struct url_auth auth;
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
		.budget = {
			.directory = SEGMENT_DIRECTORY,
			.terms = { -1, -1, -1 },
		},
		.fleet = {
			.terms = { -1, -1, -1 },
			.alone = -1,
			.url = &url,
			.auth = &auth,
		},
		.watches = { .list = watches },
		.loudness = LOUDNESS_PLAIN,
		.log_format = LOG_TEXT,
		.progress = SHOWING_AUTO,
	};

	/* execve(2) allows an empty argv, without even argv[0]. */
	if (argc > 0)
		policy.command =
		    optparse_parse(&option_table, argv, &policy, given);
	if (settle_action(&policy, given)) {
		if (policy.action != ACTION_GC)
			settle_fleet(&policy, policy.subject, given);
		return policy;
	}
	settle_attempts(&policy, given);
	settle_delays(&policy.backoff, given);
	settle_rules(&policy);
	settle_streams(&policy, given);
	settle_http(&policy, given);
	settle_budget(&policy, given);
	settle_fleet(&policy, policy.budget.key, given);
	hand_on(&policy, given);
	return policy;
}
