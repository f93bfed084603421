#include "verdict.h"

#include <errno.h>
#include <signal.h>

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
	[REASON_ATTEMPTS] = { "attempts", "attempts exhausted" },
	[REASON_DEADLINE] = { "deadline", "deadline" },
};

/* Whether a failure meets one of the conditions. */
static bool
meets(const struct codes *set, const struct outcome *outcome)
{
	if (set->fail)
		return true;
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

/* Somebody at a keyboard, or a reader that has seen enough. */
static bool
meant_to_end(const struct outcome *outcome)
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
	if (outcome->end == END_EXITED && outcome->code == 0)
		return true;
	return meets(&rules->success_on, outcome);
}

static bool
retryable(const struct rules *rules, const struct outcome *outcome)
{
	/* What the deadline ends says nothing about the command. */
	if (outcome->end == END_DEADLINE)
		return true;
	if (meant_to_end(outcome))
		return codes_names_signal(&rules->retry_on, outcome->code);
	return codes_empty(&rules->retry_on) ||
	    meets(&rules->retry_on, outcome);
}

struct judgement
verdict_of(const struct rules *rules, const struct outcome *outcome)
{
	if (succeeded(rules, outcome))
		return (struct judgement){ VERDICT_DONE, REASON_SUCCEEDED };
	if (outcome->interrupted != 0)
		return (struct judgement){ VERDICT_STOP, REASON_INTERRUPTED };
	if (not_executable(outcome))
		return (
		    struct judgement){ VERDICT_STOP, REASON_NOT_EXECUTABLE };
	if (meets(&rules->stop_on, outcome))
		return (struct judgement){ VERDICT_STOP, REASON_STOP_RULE };
	if (!retryable(rules, outcome))
		return (struct judgement){ VERDICT_STOP, REASON_NOT_RETRYABLE };
	return (struct judgement){ VERDICT_RETRY, REASON_NONE };
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
