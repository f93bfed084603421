#include "asked.h"
#include "unit.h"

enum type { NUMBER, SPAN, SPANS, KIND, JITTER, FACTOR, LIMIT, LIST };

static const struct {
	char name[16];
	enum type type;
	size_t offset;
} options[] = {
#define AT(field) offsetof(struct policy, field)
	{ "attempts", NUMBER, AT(attempts) }, { "consecutive", NUMBER, AT(consecutive) },
	{ "deadline", SPAN, AT(deadline) }, { "reset-after", SPAN, AT(reset_after) },
	{ "max-retry-after", SPAN, AT(max_retry_after) }, { "splay", SPAN, AT(splay) },
	{ "min-delay", SPAN, AT(backoff.floor) }, { "max-delay", SPAN, AT(backoff.cap) },
	{ "budget-wait", SPAN, AT(budget.wait) }, { "delay", SPANS, AT(backoff.delays) },
	{ "timeout", SPANS, AT(timeouts) }, { "backoff", KIND, 0 }, { "jitter", JITTER, 0 },
	{ "factor", FACTOR, 0 }, { "limit", LIMIT, 0 }, { "retry", LIST, AT(rules.retry_on) },
	{ "stop", LIST, AT(rules.stop_on) }, { "fail", LIST, AT(rules.fail_on) },
	{ "success", LIST, AT(rules.success_on) }, { "transient", LIST, AT(rules.transient) },
	{ "fatal", LIST, AT(rules.fatal) }
};

static const char kinds[][16] = {
	[BACKOFF_EXPONENTIAL] = "exponential",
	[BACKOFF_LINEAR] = "linear",
	[BACKOFF_CONSTANT] = "constant",
	[BACKOFF_FIBONACCI] = "fibonacci",
};

static const char jitters[][16] = {
	[JITTER_FULL] = "full",
	[JITTER_EQUAL] = "equal",
	[JITTER_DECORRELATED] = "decorrelated",
	[JITTER_NONE] = "none",
};

static struct conditions conditions_of(const char *list, struct watches *watches) {
	struct conditions set = { .fail = false };
	struct conditions_error error = { "", "", 0 };

	HOLDS(list, conditions_parse(&set, watches, list, &error));
	SAME(list, error.why, "");
	return set;
}

/* Reads "1s,2s". */
static void read_spans(char *text, struct spans *spans) {
	char *part;

	spans->count = 0;
	while ((part = strsep(&text, ",")) != NULL) {
		struct script script = script_of(part);

		spans->list[spans->count++] = script_span(&script);
	}
}

static void read_value(struct script *script, struct asked *asked, char *text) {
	struct policy *policy = &asked->policy;
	struct script value = script_of(text);
	struct limit *limit = &asked->limits[policy->limits];
	int i = SCRIPT_NAME(script, options);
	void *field = (char *)policy + options[i].offset;

	switch (options[i].type) {
	case NUMBER:
		*(int64_t *)field =
		    strcmp(text, "inf") == 0 ? POLICY_UNLIMITED : script_number(&value);
		break;
	case SPAN:
		*(nanos *)field = script_span(&value);
		break;
	case SPANS:
		read_spans(text, field);
		break;
	case KIND:
		script_next(&value);
		policy->backoff.grows = true;
		policy->backoff.kind = (enum backoff_kind)SCRIPT_NAME(&value, kinds);
		break;
	case JITTER:
		script_next(&value);
		policy->backoff.jitter = (enum jitter)SCRIPT_NAME(&value, jitters);
		break;
	case FACTOR:
		policy->backoff.factor = strcmp(text, "ever") == 0
		    ? INT64_MAX
		    : (int64_t)(strtod(text, NULL) * BACKOFF_FACTOR_ONE + 0.5);
		break;
	case LIMIT:
		policy->limit[policy->limits++] = limit;
		limit->retries = strtoll(text, &text, 10);
		limit->failures = conditions_of(text + 1, NULL);
		break;
	case LIST:
		text = strcpy(asked->lists[asked->count++], text);
		*(struct conditions *)field = conditions_of(text, &policy->watches);
		break;
	}
}

void asked_read(struct script *script, struct asked *asked) {
	struct script before = *script;

	*asked = (struct asked){ .policy = { .attempts = 9,
				     .consecutive = 1,
				     .backoff = { .jitter = JITTER_NONE,
					 .factor = INT64_C(2) * BACKOFF_FACTOR_ONE,
					 .delays = { { NANOS_SECOND }, 1 },
					 .cap = 30 * NANOS_SECOND },
				     .max_retry_after = 5 * NANOS_MINUTE } };
	asked->policy.watches.list = asked->watches;
	for (; script_next(script); before = *script) {
		char *value = strchr(script->word, '=');

		if (value != NULL) {
			*value = '\0';
			read_value(script, asked, value + 1);
		} else if (script_is(script, "keep-status")) {
			asked->policy.keep_status = true;
		} else {
			*script = before;
			break;
		}
	}
}

struct policy asked_policy(const char *text) {
	struct script script = script_of(text);
	struct asked asked;

	asked_read(&script, &asked);
	asked.policy.watches.list = NULL;
	if (script_next(&script) || asked.count > 0 || asked.policy.limits > 0)
		script_refuse(&script);
	return asked.policy;
}
