#include "policy/verdict.h"

#include <errno.h>
#include <signal.h>
#include "exit_status.h"
#include "http/curl.h"
#include "text/number.h"

static const struct {
	const char *name, *words;
} reasons[] = {
	[REASON_NONE] = { "none", "none" },
	[REASON_INTERNAL] = { "internal", "internal error" },
	[REASON_INTERRUPTED] = { "interrupted", "interrupted" },
	[REASON_NOT_EXECUTABLE] = { "not-executable", "not executable" },
	[REASON_SUCCEEDED] = { "succeeded", "succeeded" },
	[REASON_STOP_RULE] = { "stop-rule", "stop rule" },
	[REASON_NOT_RETRYABLE] = { "not-retryable", "not retryable" },
	[REASON_NOT_IDEMPOTENT] = { "not-idempotent", "not idempotent" },
	[REASON_INPUT_CONSUMED] = { "input-consumed",
	    "standard input was already consumed: use -I or </dev/null" },
	[REASON_INPUT_RESET] = { "input-reset",
	    "standard input was reset by its other end" },
	[REASON_ATTEMPTS] = { "attempts", "attempts exhausted" },
	[REASON_LIMIT] = { "limit", "--limit reached" },
	[REASON_RETRY_AFTER] = { "retry-after", "Retry-After too long" },
	[REASON_DEADLINE] = { "deadline", "deadline" },
	[REASON_BREAKER] = { "breaker", "breaker open" },
	[REASON_BUDGET] = { "budget", "budget exhausted" },
};

static const char *const verdict_names[] = {
	[VERDICT_DONE] = "done",
	[VERDICT_RETRY] = "retry",
	[VERDICT_STOP] = "stop",
	[VERDICT_REPEAT] = "repeat",
};

enum rule {
	RULE_HOLD_MAX,
	RULE_SUCCESS_ON,
	RULE_EXIT_STATUS,
	RULE_INTERRUPTED,
	RULE_NOT_EXECUTABLE,
	RULE_STOP_ON,
	RULE_PRESET,
	RULE_DEADLINE,
	RULE_SIGNAL,
	RULE_HTTP,
	RULE_RETRY_ON,
	RULE_FAIL_ON,
	RULE_IDEMPOTENCY,
	RULE_DEFAULT,
};

static const char *const rule_names[] = {
	[RULE_HOLD_MAX] = "hold-max",
	[RULE_SUCCESS_ON] = "success-on",
	[RULE_EXIT_STATUS] = "exit-status",
	[RULE_INTERRUPTED] = "interrupted",
	[RULE_NOT_EXECUTABLE] = "not-executable",
	[RULE_STOP_ON] = "stop-on",
	[RULE_PRESET] = "preset",
	[RULE_DEADLINE] = "deadline",
	[RULE_SIGNAL] = "signal",
	[RULE_HTTP] = "http",
	[RULE_RETRY_ON] = "retry-on",
	[RULE_FAIL_ON] = "fail-on",
	[RULE_IDEMPOTENCY] = "idempotency",
	[RULE_DEFAULT] = "default",
};

static bool
is_zero(const struct outcome *outcome)
{
	return outcome->end == END_EXITED && outcome->code == 0;
}

/* Whether an outcome has an exit status, signal or limit that the set names. */
static bool
ends_as(const struct conditions *set, const struct outcome *outcome)
{
	switch (outcome->end) {
	case END_EXITED:
	case END_NOT_STARTED:
		return conditions_has_exit(set, verdict_status(outcome));
	case END_SIGNALED:
		return set->any_signal ||
		    conditions_names_signal(set, outcome->code);
	case END_TIMED_OUT:
	case END_IDLE:
	case END_DEADLINE:
		return set->timeout ||
		    (set->idle && outcome->end == END_IDLE) ||
		    conditions_has_exit(set, EXIT_STATUS_TIMEOUT);
	}
	return false;
}

/* Whether an outcome meets a condition on how, or when, the command ended. */
static bool
meets_end(const struct conditions *set, const struct outcome *outcome)
{
	return ends_as(set, outcome) ||
	    (outcome->end != END_NOT_STARTED &&
		conditions_has_time(set, outcome->duration));
}

/* Whether an outcome meets any condition, "fail" excluded. */
static bool
meets(const struct conditions *set, const struct outcome *outcome)
{
	return (set->watches & outcome->seen) != 0 ||
	    (outcome->http.known && outcome->http.code != 0 &&
		conditions_has_http(set, outcome->http.code)) ||
	    meets_end(set, outcome);
}

bool
verdict_fails_by(const struct conditions *set, const struct outcome *outcome)
{
	return set->fail || meets(set, outcome);
}

/*
 * Whether the command can never be executed. ETXTBSY, while another process
 * writes the program, and a failed fork may be over in a moment: a retry makes
 * sense.
 */
static bool
not_executable(const struct outcome *outcome)
{
	return outcome->end == END_NOT_STARTED && outcome->forked &&
	    outcome->error != ETXTBSY;
}

bool
verdict_meant(const struct outcome *outcome)
{
	return outcome->end == END_SIGNALED &&
	    (outcome->code == SIGINT || outcome->code == SIGQUIT ||
		outcome->code == SIGPIPE);
}

static bool
named_success(const struct rules *rules, const struct outcome *outcome)
{
	if (outcome->end == END_NOT_STARTED)
		return false;
	return meets(&rules->success_on, outcome) ||
	    (rules->success_on.fail && !is_zero(outcome));
}

static bool
plain_success(const struct rules *rules, const struct outcome *outcome)
{
	return is_zero(outcome) && !meets(&rules->fail_on, outcome) &&
	    (!outcome->http.known || outcome->http.code < 400);
}

static struct judgement
judge(enum verdict verdict, enum reason reason, enum rule rule)
{
	return (struct judgement){ verdict, reason, rule_names[rule] };
}

static struct judgement
judge_again(bool again, enum rule rule)
{
	return again ? judge(VERDICT_RETRY, REASON_NONE, rule)
		     : judge(VERDICT_STOP, REASON_NOT_RETRYABLE, rule);
}

/* What the server's answer means; *by_user: --retry-on has decided. */
static enum http_status_meaning
answer(const struct rules *rules, const struct outcome *outcome, bool *by_user)
{
	const struct http_status *http = &outcome->http;

	*by_user = false;
	/* gRPC refuses a retry in a response with status 200. */
	if (http->never)
		return HTTP_STATUS_SAYS_STOP;
	if (!http->known || http->code < 400 ||
	    !conditions_has_http(&rules->retry_on, 0))
		return http_status_judge(http);
	*by_user = true;
	return conditions_has_http(&rules->retry_on, http->code)
	    ? HTTP_STATUS_SAYS_RETRY
	    : HTTP_STATUS_SAYS_STOP;
}

/* Judges a failure by --retry-on and presets. If there are any, and none names
 * the outcome, retry stops. */
static struct judgement
judge_lists(const struct rules *rules, const struct outcome *outcome)
{
	bool listed = !conditions_empty(&rules->retry_on);

	if (!listed && conditions_empty(&rules->transient) &&
	    conditions_empty(&rules->own_transient)) {
		if (outcome->curl && outcome->end == END_EXITED &&
		    curl_distrusts(outcome->code))
			return judge_again(false, RULE_HTTP);
		return judge_again(
		    true, is_zero(outcome) ? RULE_FAIL_ON : RULE_DEFAULT);
	}
	if (verdict_fails_by(&rules->retry_on, outcome))
		return judge_again(true, RULE_RETRY_ON);
	if (verdict_fails_by(&rules->transient, outcome) ||
	    (meets_end(&rules->own, outcome) &&
		meets(&rules->own_transient, outcome)))
		return judge_again(true, RULE_PRESET);
	return judge_again(false, listed ? RULE_RETRY_ON : RULE_PRESET);
}

/* Judges a failure by its cause. */
static struct judgement
judge_cause(const struct rules *rules, const struct outcome *outcome)
{
	bool by_user, named;
	enum http_status_meaning meaning = answer(rules, outcome, &by_user);

	/* The deadline says nothing about the command. */
	if (outcome->end == END_DEADLINE)
		return judge_again(true, RULE_DEADLINE);
	if (verdict_meant(outcome)) {
		named =
		    conditions_names_signal(&rules->retry_on, outcome->code);
		return judge_again(named, named ? RULE_RETRY_ON : RULE_SIGNAL);
	}
	if (meaning != HTTP_STATUS_SAYS_NOTHING)
		return judge_again(meaning == HTTP_STATUS_SAYS_RETRY,
		    by_user ? RULE_RETRY_ON : RULE_HTTP);
	return judge_lists(rules, outcome);
}

/* Whether no request was sent at all. */
static bool
never_sent(const struct outcome *outcome)
{
	if (outcome->end == END_NOT_STARTED)
		return true;
	return outcome->end == END_EXITED && !outcome->several &&
	    curl_never_sent(outcome->code) && !outcome->http.unread &&
	    (!outcome->http.known || outcome->http.code == 0);
}

static struct judgement
judge_failure(const struct rules *rules, const struct outcome *outcome)
{
	struct judgement judgement;

	if (outcome->interrupted != 0)
		return judge(
		    VERDICT_STOP, REASON_INTERRUPTED, RULE_INTERRUPTED);
	if (not_executable(outcome))
		return judge(
		    VERDICT_STOP, REASON_NOT_EXECUTABLE, RULE_NOT_EXECUTABLE);
	if (verdict_fails_by(&rules->stop_on, outcome))
		return judge(VERDICT_STOP, REASON_STOP_RULE, RULE_STOP_ON);
	if (verdict_fails_by(&rules->fatal, outcome))
		return judge_again(false, RULE_PRESET);
	judgement = judge_cause(rules, outcome);
	if (judgement.verdict == VERDICT_RETRY && outcome->once &&
	    !never_sent(outcome))
		return judge(
		    VERDICT_STOP, REASON_NOT_IDEMPOTENT, RULE_IDEMPOTENCY);
	return judgement;
}

struct judgement
verdict_of(const struct rules *rules, const struct outcome *outcome)
{
	/* Even after a success, some of the output would be missing. */
	if (outcome->overrun)
		return judge(VERDICT_STOP, REASON_INTERNAL, RULE_HOLD_MAX);
	if (named_success(rules, outcome))
		return judge(VERDICT_DONE, REASON_SUCCEEDED, RULE_SUCCESS_ON);
	if (plain_success(rules, outcome))
		return judge(VERDICT_DONE, REASON_SUCCEEDED, RULE_EXIT_STATUS);
	return judge_failure(rules, outcome);
}

int
verdict_status(const struct outcome *outcome)
{
	if (outcome->overrun)
		return EXIT_STATUS_FAILED;
	switch (outcome->end) {
	case END_EXITED:
		return outcome->code;
	case END_SIGNALED:
		return EXIT_STATUS_SIGNAL + outcome->code;
	case END_TIMED_OUT:
	case END_IDLE:
	case END_DEADLINE:
		return outcome->preserved ? outcome->code : EXIT_STATUS_TIMEOUT;
	case END_NOT_STARTED:
		if (!outcome->forked)
			return EXIT_STATUS_FAILED;
		return outcome->error == ENOENT ? EXIT_STATUS_NOT_FOUND
						: EXIT_STATUS_NOT_EXECUTABLE;
	}
	return EXIT_STATUS_FAILED;
}

nanos
verdict_wait(const struct outcome *outcome)
{
	return number_greater(outcome->has_hint ? outcome->hint : -1,
	    outcome->http.has_wait ? outcome->http.wait : -1);
}

const char *
verdict_name(enum verdict verdict)
{
	return verdict_names[verdict];
}

const char *
verdict_reason_name(enum reason reason)
{
	return reasons[reason].name;
}

const char *
verdict_reason_words(enum reason reason)
{
	return reasons[reason].words;
}
