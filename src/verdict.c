#include "verdict.h"

#include <errno.h>
#include <signal.h>
#include "curl.h"

enum {
	STATUS_TIMEOUT = 124,
	STATUS_INTERNAL = 125,
	STATUS_NOT_EXECUTABLE = 126,
	STATUS_NOT_FOUND = 127,
	STATUS_SIGNAL = 128, /* and the signal's number */
};

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
	[REASON_ATTEMPTS] = { "attempts", "attempts exhausted" },
	[REASON_RETRY_AFTER] = { "retry-after", "Retry-After too long" },
	[REASON_DEADLINE] = { "deadline", "deadline" },
	[REASON_BREAKER] = { "breaker", "breaker open" },
	[REASON_BUDGET] = { "budget", "budget exhausted" },
};

static bool
is_zero(const struct outcome *outcome)
{
	return outcome->end == END_EXITED && outcome->code == 0;
}

/* Whether an outcome meets one of the conditions on how it ended. */
static bool
meets_end(const struct codes *set, const struct outcome *outcome)
{
	switch (outcome->end) {
	case END_EXITED:
	case END_NOT_STARTED:
		return codes_has_exit(set, verdict_status(outcome));
	case END_SIGNALED:
		return set->any_signal ||
		    codes_names_signal(set, outcome->code);
	case END_TIMED_OUT:
	case END_DEADLINE:
		return set->timeout || codes_has_exit(set, STATUS_TIMEOUT);
	}
	return false;
}

/* Whether it meets any, "fail" aside. */
static bool
meets(const struct codes *set, const struct outcome *outcome)
{
	return (set->watches & outcome->seen) != 0 ||
	    (outcome->http.known && outcome->http.code != 0 &&
		codes_has_http(set, outcome->http.code)) ||
	    meets_end(set, outcome);
}

/* The same of an outcome that was judged a failure. */
static bool
fails_by(const struct codes *set, const struct outcome *outcome)
{
	return set->fail || meets(set, outcome);
}

/*
 * What another attempt cannot cure. A program that is being written (ETXTBSY)
 * and a fork that found no room can both be different in a moment.
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
succeeded(const struct rules *rules, const struct outcome *outcome)
{
	if (outcome->end == END_NOT_STARTED)
		return false;
	/* A timeout is a failure, whatever was printed or answered before. */
	if (outcome->end == END_TIMED_OUT || outcome->end == END_DEADLINE)
		return rules->success_on.fail ||
		    meets_end(&rules->success_on, outcome);
	if (meets(&rules->success_on, outcome) ||
	    (rules->success_on.fail && !is_zero(outcome)))
		return true;
	return is_zero(outcome) && !meets(&rules->fail_on, outcome) &&
	    (!outcome->http.known || outcome->http.code < 400);
}

/* What the server's answer means, and what the user has to say of it. */
static enum http_meaning
answer(const struct rules *rules, const struct outcome *outcome)
{
	const struct http *http = &outcome->http;

	/* gRPC asks for no retry in a response with status 200. */
	if (http->never)
		return HTTP_SAYS_STOP;
	if (!http->known || http->code < 400 ||
	    !codes_has_http(&rules->retry_on, 0))
		return http_judge(http);
	return codes_has_http(&rules->retry_on, http->code) ? HTTP_SAYS_RETRY
							    : HTTP_SAYS_STOP;
}

static bool
retryable(const struct rules *rules, const struct outcome *outcome)
{
	enum http_meaning meaning = answer(rules, outcome);

	/* What the deadline ends says nothing about the command. */
	if (outcome->end == END_DEADLINE)
		return true;
	if (verdict_meant(outcome))
		return codes_names_signal(&rules->retry_on, outcome->code);
	if (meaning != HTTP_SAYS_NOTHING)
		return meaning == HTTP_SAYS_RETRY;
	if (codes_empty(&rules->retry_on) && codes_empty(&rules->transient) &&
	    codes_empty(&rules->gated))
		return true;
	return fails_by(&rules->retry_on, outcome) ||
	    fails_by(&rules->transient, outcome) ||
	    (meets_end(&rules->own, outcome) && meets(&rules->gated, outcome));
}

/* Whether a request that must not be sent twice was not sent at all. */
static bool
never_sent(const struct rules *rules, const struct outcome *outcome)
{
	if (outcome->end == END_NOT_STARTED)
		return true;
	return outcome->end == END_EXITED && !rules->several &&
	    curl_never_sent(outcome->code) && !outcome->http.unread &&
	    (!outcome->http.known || outcome->http.code == 0);
}

static enum reason
stops(const struct rules *rules, const struct outcome *outcome)
{
	if (outcome->interrupted != 0)
		return REASON_INTERRUPTED;
	if (not_executable(outcome))
		return REASON_NOT_EXECUTABLE;
	if (fails_by(&rules->stop_on, outcome))
		return REASON_STOP_RULE;
	if (fails_by(&rules->fatal, outcome) || !retryable(rules, outcome))
		return REASON_NOT_RETRYABLE;
	if (rules->once && !never_sent(rules, outcome))
		return REASON_NOT_IDEMPOTENT;
	return REASON_NONE;
}

struct judgement
verdict_of(const struct rules *rules, const struct outcome *outcome)
{
	enum reason reason;

	if (succeeded(rules, outcome))
		return (struct judgement){ VERDICT_DONE, REASON_SUCCEEDED };
	reason = stops(rules, outcome);
	return (struct judgement){
		reason == REASON_NONE ? VERDICT_RETRY : VERDICT_STOP, reason
	};
}

int
verdict_status(const struct outcome *outcome)
{
	switch (outcome->end) {
	case END_EXITED:
		return outcome->code;
	case END_SIGNALED:
		return STATUS_SIGNAL + outcome->code;
	case END_TIMED_OUT:
	case END_DEADLINE:
		return STATUS_TIMEOUT;
	case END_NOT_STARTED:
		if (!outcome->forked)
			return STATUS_INTERNAL;
		return outcome->error == ENOENT ? STATUS_NOT_FOUND
						: STATUS_NOT_EXECUTABLE;
	}
	return STATUS_INTERNAL;
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
