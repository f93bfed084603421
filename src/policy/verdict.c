#include "policy/verdict.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include "exit_status.h"
#include "tools/curl.h"
#include "text/number.h"
#include "text/signame.h"

/* The HTTP status of a request that came too slowly (RFC 9110). */
#define REQUEST_TIMEOUT 408

/* With a key: the first request is still being served (section 2.7 of
 * draft-ietf-httpapi-idempotency-key-header-07). */
#define CONFLICT 409

/* Text within the rows needs no relocations at start-up. */
const struct verdict_text verdict_reasons[] = {
	[REASON_NONE] = { "none", "none" },
	[REASON_INTERNAL] = { "internal", "internal error" },
	[REASON_INTERRUPTED] = { "interrupted", "interrupted" },
	[REASON_NOT_EXECUTABLE] = { "not-executable", "not executable" },
	[REASON_SUCCEEDED] = { "succeeded", "succeeded" },
	[REASON_STOP_RULE] = { "stop-rule", "stop rule" },
	[REASON_NOT_RETRYABLE] = { "not-retryable", "not retryable" },
	[REASON_NOT_IDEMPOTENT] = { "not-idempotent", "not idempotent" },
	[REASON_INPUT_CONSUMED] = { "input-consumed",
	    "input was already consumed" },
	[REASON_ATTEMPTS] = { "attempts", "attempts exhausted" },
	[REASON_LIMIT] = { "limit", "--limit reached" },
	[REASON_RETRY_AFTER] = { "retry-after", "Retry-After too long" },
	[REASON_DEADLINE] = { "deadline", "deadline" },
	[REASON_RETRY_IF] = { "retry-if", "--retry-if said no" },
	[REASON_BREAKER] = { "breaker", "breaker open" },
	[REASON_BUDGET] = { "budget", "budget exhausted" },
	[REASON_RATE] = { "rate", "no place at --rate" },
};

const char verdict_names[][8] = {
	[VERDICT_DONE] = "done",
	[VERDICT_RETRY] = "retry",
	[VERDICT_STOP] = "stop",
	[VERDICT_REPEAT] = "repeat",
};

const struct verdict_text verdict_ends[] = {
	[END_EXITED] = { "exited", "exit " },
	[END_SIGNALED] = { "killed", "killed by " },
	[END_TIMED_OUT] = { "timed-out", "timed out" },
	[END_IDLE] = { "idle", "ended without output" },
	[END_DEADLINE] = { "deadline", "ended by the deadline" },
	[END_NOT_STARTED] = { "not-started", "not started" },
};

static bool
is_zero(const struct outcome *outcome)
{
	return outcome->end == END_EXITED && outcome->code == 0;
}

/* Whether an outcome meets a condition on how, or when, the command ended. */
static bool
meets_end(const struct conditions *conditions, const struct outcome *outcome)
{
	const struct condition_set *set =
	    conditions_at(conditions, outcome->again);
	enum end end = outcome->end;

	if (end != END_NOT_STARTED &&
	    conditions_has_time(set, outcome->duration))
		return true;
	if (end == END_EXITED || end == END_NOT_STARTED)
		return conditions_has_exit(set, verdict_status(outcome));
	if (end == END_SIGNALED)
		return set->any_signal ||
		    conditions_names_signal(set, outcome->code);
	/* A limit of time has ended it, whatever its exit status. */
	return set->timeout || (set->idle && end == END_IDLE) ||
	    conditions_has_exit(set, EXIT_STATUS_TIMEOUT);
}

/* Whether an outcome meets any condition, "fail" excluded. */
static bool
meets(const struct conditions *conditions, const struct outcome *outcome)
{
	const struct condition_set *set =
	    conditions_at(conditions, outcome->again);

	return (set->watches & outcome->seen) != 0 ||
	    (outcome->http.code > 0 &&
		conditions_has_http(set, outcome->http.code)) ||
	    meets_end(conditions, outcome);
}

bool
verdict_fails_by(const struct conditions *set, const struct outcome *outcome)
{
	return conditions_at(set, outcome->again)->fail || meets(set, outcome);
}

bool
verdict_goes_on(const struct rules *rules, const struct outcome *outcome)
{
	/* A LIST of the user that names the end allows both at once. */
	return meets_end(&rules->unfinished, outcome) &&
	    !verdict_fails_by(&rules->retry_on, outcome) &&
	    !verdict_fails_by(&rules->file.retry_on, outcome);
}

bool
verdict_retries_by(const struct conditions *set, const struct outcome *outcome)
{
	const struct condition_set *now = conditions_at(set, outcome->again);
	int code = outcome->http.code;

	if (code >= 400)
		return (now->watches & outcome->seen) != 0 ||
		    conditions_has_http(now, code);
	return verdict_fails_by(set, outcome);
}

bool
verdict_under_way(const struct request *request, const struct http_status *http)
{
	return http->code == CONFLICT && request->keyed;
}

/*
 * Whether the command died by INT, QUIT or PIPE: a user at a keyboard, or a
 * reader that closed its pipe, ended it on purpose.
 */
static bool
is_meant(const struct outcome *outcome)
{
	return outcome->end == END_SIGNALED &&
	    (outcome->code == SIGINT || outcome->code == SIGQUIT ||
		outcome->code == SIGPIPE);
}

static struct judgement
stop(enum reason reason, const char *rule)
{
	return (struct judgement){ VERDICT_STOP, reason, rule };
}

static struct judgement
decide(bool retry, const char *rule)
{
	return retry ? (struct judgement){ VERDICT_RETRY, REASON_NONE, rule }
		     : stop(REASON_NOT_RETRYABLE, rule);
}

/* Whether a LIST of successes names an outcome. */
static bool
succeeds_by(const struct conditions *set, const struct outcome *outcome)
{
	/* Without --fail-on, which --success-on fail reverses: both together
	 * want the command to fail. */
	bool failed = !is_zero(outcome) || outcome->http.code >= 400;

	return outcome->end != END_NOT_STARTED &&
	    (meets(set, outcome) ||
		(conditions_at(set, outcome->again)->fail && failed));
}

/* Judges a failure with an HTTP status that is an error, by the table. */
static struct judgement
judge_status(const struct rules *rules, const struct request *request,
    const struct outcome *outcome)
{
	const struct http_status *http = &outcome->http;
	bool again = outcome->again;

	if (!http->after.wanted &&
	    conditions_has_http(
		conditions_at(&rules->file.stop_on, again), http->code))
		return decide(false, "preset");
	if (!http->after.wanted &&
	    conditions_has_http(
		conditions_at(&rules->file.retry_on, again), http->code))
		return decide(true, "preset");
	return decide(http_status_judge(http) == HTTP_STATUS_SAYS_RETRY ||
		verdict_under_way(request, http),
	    "http");
}

/* Judges a failure by its cause: the server knows best, then the user, then a
 * preset. */
static struct judgement
judge_cause(const struct rules *rules, const struct request *request,
    const struct outcome *outcome)
{
	const struct conditions *retry_on = &rules->retry_on;
	const struct file_rules *file = &rules->file;
	const struct http_status *http = &outcome->http;
	bool again = outcome->again;
	/* What a server refuses because of a limit is not final. */
	bool fatal =
	    !outcome->preset_limit && verdict_fails_by(&rules->fatal, outcome);
	bool listed = !conditions_empty(retry_on);
	bool filed = !conditions_empty(&file->retry_on);
	bool transient = verdict_fails_by(&rules->transient, outcome) ||
	    (meets_end(&rules->tool_exits, outcome) &&
		meets(&rules->tool_transient, outcome));

	/* The deadline says nothing about the command. */
	if (outcome->end == END_DEADLINE)
		return decide(true, "deadline");
	if (is_meant(outcome)) {
		if (conditions_names_signal(
			conditions_at(retry_on, again), outcome->code))
			return decide(true, "retry-on");
		if (conditions_names_signal(
			conditions_at(&file->retry_on, again), outcome->code))
			return decide(true, "preset");
		/* A peer that closes the connection kills a tool, too, which
		 * may still have said so. */
		if (fatal)
			return decide(false, "preset");
		if (outcome->code == SIGPIPE &&
		    (rules->transient.later.watches & outcome->seen) != 0)
			return decide(true, "preset");
		return decide(false, "signal");
	}

	/* gRPC refuses a retry in a response with status 200. */
	if (http->after.never)
		return decide(false, "http");
	if (verdict_retries_by(retry_on, outcome))
		return decide(true, "retry-on");
	/* http: items of a list stand in place of the table of statuses; but
	 * with -w a list does not restrict what is retried. */
	if (http->code >= 400 &&
	    (http->after.wanted || rules->waits ||
		(!conditions_has_http(conditions_at(retry_on, again), 0) &&
		    !conditions_has_http(
			conditions_at(&file->retry_on, again), 0))))
		return judge_status(rules, request, outcome);
	if (verdict_fails_by(&file->stop_on, outcome))
		return decide(false, "preset");
	if (verdict_fails_by(&file->retry_on, outcome))
		return decide(true, "preset");
	if (fatal)
		return decide(false, "preset");
	/* A preset says nothing of what --fail-on alone names. */
	if (!listed && is_zero(outcome) && meets(&rules->fail_on, outcome))
		return decide(true, "fail-on");
	if (!listed && !filed && is_zero(outcome) &&
	    meets(&file->fail_on, outcome))
		return decide(true, "preset");
	if (transient)
		return decide(true, "preset");

	/* If there are lists or presets, and none names the outcome, retry
	 * stops; but with -w it goes on. */
	if (!rules->waits &&
	    (listed || filed || !conditions_empty(&rules->transient) ||
		!conditions_empty(&rules->tool_transient)))
		return decide(false, listed ? "retry-on" : "preset");
	if (request->curl && outcome->end == END_EXITED &&
	    curl_distrusts(outcome->code))
		return decide(false, "http");
	return decide(true, "default");
}

struct judgement
verdict_of(const struct rules *rules, const struct request *request,
    const struct outcome *outcome)
{
	bool failed = !is_zero(outcome) || outcome->http.code >= 400;
	struct judgement judgement;
	bool unsent; /* no request was sent at all */

	/* Even after a success, some of the output would be missing. */
	if (outcome->overrun)
		return stop(REASON_INTERNAL, "hold-max");
	if (succeeds_by(&rules->success_on, outcome) ||
	    /* What no LIST of the user names. */
	    (succeeds_by(&rules->file.success_on, outcome) &&
		!meets(&rules->retry_on, outcome) &&
		!meets(&rules->stop_on, outcome) &&
		!meets(&rules->fail_on, outcome)))
		return (struct judgement){ VERDICT_DONE, REASON_SUCCEEDED,
			"success-on" };
	if (!failed && !meets(&rules->fail_on, outcome) &&
	    !meets(&rules->file.fail_on, outcome) &&
	    !meets(&rules->tool_failed, outcome))
		return (struct judgement){ VERDICT_DONE, REASON_SUCCEEDED,
			"exit-status" };

	if (outcome->interrupted != 0)
		return stop(REASON_INTERRUPTED, "interrupted");
	/* ETXTBSY, while another process writes the program, and a failed fork
	 * may be over in a moment: a retry makes sense. */
	if (outcome->end == END_NOT_STARTED && outcome->lacking == NULL &&
	    outcome->error != ETXTBSY)
		return stop(REASON_NOT_EXECUTABLE, "not-executable");
	if (verdict_fails_by(&rules->stop_on, outcome))
		return stop(REASON_STOP_RULE, "stop-on");
	judgement = judge_cause(rules, request, outcome);
	unsent = outcome->end == END_NOT_STARTED ||
	    (outcome->end == END_EXITED && !request->several &&
		curl_never_sent(outcome->code) && !outcome->http.unread &&
		outcome->http.code <= 0);
	if (judgement.verdict == VERDICT_RETRY && request->method != NULL &&
	    !unsent)
		return stop(REASON_NOT_IDEMPOTENT, "idempotency");
	if (judgement.verdict == VERDICT_RETRY &&
	    outcome->end != END_DEADLINE && verdict_goes_on(rules, outcome))
		return stop(REASON_NOT_IDEMPOTENT, "idempotency");
	return judgement;
}

/*
 * Whether a failure is a limit of the server, which is well but serves no more
 * for now: HTTP status 429, or 403 with a wait; without a status, words that
 * say so. The user and presets may know more, but a 5xx is none.
 */
static bool
is_limit(const struct rules *rules, const struct outcome *outcome)
{
	const struct http_status *http = &outcome->http;

	if (outcome->limit && http->code < 500)
		return true;
	/* A 403 that names a wait is that of an API, as of GitHub's. */
	if (http->code > 0)
		return http->code == VERDICT_TOO_MANY_REQUESTS ||
		    (http->code == 403 && http->after.given);
	return (rules->limited.later.watches & outcome->seen) != 0;
}

enum attempt_result
verdict_result(const struct rules *rules, const struct judgement *judgement,
    const struct outcome *outcome)
{
	enum reason reason = judgement->reason;

	if (judgement->verdict == VERDICT_DONE ||
	    judgement->verdict == VERDICT_REPEAT)
		return RESULT_SUCCESS;
	/* A failure says nothing about the dependency if the deadline of retry,
	 * a signal or a closed pipe ended the attempt. */
	if (outcome->end == END_NOT_STARTED || outcome->end == END_DEADLINE ||
	    outcome->interrupted != 0 ||
	    (reason == REASON_NOT_RETRYABLE && is_meant(outcome)))
		return RESULT_IGNORED;
	if (is_limit(rules, outcome))
		return RESULT_LIMIT;
	return reason == REASON_STOP_RULE || reason == REASON_NOT_RETRYABLE
	    ? RESULT_HEALTHY
	    : RESULT_FAILURE;
}

enum pace_event_kind
verdict_pace(const struct rules *rules, const struct judgement *judgement,
    const struct outcome *outcome)
{
	enum attempt_result result = verdict_result(rules, judgement, outcome);
	bool waits = verdict_wait(outcome) > 0;
	int code = outcome->http.code;

	if (result == RESULT_SUCCESS)
		return PACE_SERVED;
	if (result == RESULT_IGNORED || outcome->end != END_EXITED)
		return PACE_UNKNOWN;
	/* What the server's own 409 waits for is one request, no limit. */
	if (code == CONFLICT && strcmp(judgement->rule, "http") == 0)
		waits = false;
	if (result == RESULT_LIMIT ||
	    (waits && (result == RESULT_FAILURE || code >= 500)))
		return PACE_REFUSED;
	if (result == RESULT_HEALTHY ||
	    (code > 0 && code < 500 && code != REQUEST_TIMEOUT))
		return PACE_SERVED;
	return PACE_UNKNOWN;
}

int
verdict_status(const struct outcome *outcome)
{
	if (outcome->overrun || outcome->lacking != NULL)
		return EXIT_STATUS_FAILED;
	if (outcome->end == END_NOT_STARTED)
		return outcome->error == ENOENT ? EXIT_STATUS_NOT_FOUND
						: EXIT_STATUS_NOT_EXECUTABLE;
	if (outcome->end == END_SIGNALED)
		return EXIT_STATUS_SIGNAL + outcome->code;
	return outcome->end == END_EXITED || outcome->preserved
	    ? outcome->code
	    : EXIT_STATUS_TIMEOUT;
}

nanos
verdict_named(const struct outcome *outcome)
{
	return number_greater(outcome->has_hint ? outcome->hint : -1,
	    outcome->http.after.given ? outcome->http.after.wait : -1);
}

nanos
verdict_wait(const struct outcome *outcome)
{
	return number_greater(verdict_named(outcome),
	    outcome->known == NULL ? -1 : outcome->known_wait);
}

char *
verdict_put_end(char room[VERDICT_END_ROOM], const struct outcome *outcome)
{
	char detail[NUMBER_ROOM] = "";

	if (outcome->end == END_EXITED)
		number_put(detail, outcome->code);
	else if (outcome->end == END_SIGNALED)
		signame_put(detail, outcome->code);
	snprintf(room, VERDICT_END_ROOM, "%s%s",
	    verdict_ends[outcome->end].words, detail);
	return room;
}
