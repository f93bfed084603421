#include "report/messages.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "exit_status.h"
#include "sys/error.h"
#include "report/advice.h"
#include "report/cause.h"
#include "report/message.h"
#include "text/number.h"

char *
messages_label(
    char room[MESSAGES_ROOM], const struct policy *policy, int64_t attempt)
{
	char *end = strchr(number_put(room, attempt), '\0');

	if (policy->attempts != POLICY_UNLIMITED) {
		*end = '/';
		number_put(end + 1, policy->attempts);
	}
	return room;
}

/* Whether the invocation succeeded without a failed attempt. */
static bool
never_failed(const struct message *message)
{
	enum reason reason = message->step->reason;

	return reason == REASON_SUCCEEDED &&
	    !plan_is_rescued(message->history, reason);
}

/*
 * Writes a message with its fields in JSON. It is the one about the end of the
 * invocation, unless another attempt or line follows, or every attempt was a
 * success.
 */
static void
say(struct message *message)
{
	const struct step *step = message->step;
	const struct history *history = message->history;
	struct fact facts[4] = { { "attempt", NULL, history->made } };
	struct fact *fact = &facts[1];
	struct report *report = message->report;

	if (report != NULL && message->attempted)
		message_keep(report_latest(report)->message, message);
	if (report != NULL && !step->again) {
		message_keep(report->message, message);
		report->said = step->reason;
	}

	if (history->made > 0)
		*fact++ = (struct fact){ "status", NULL, history->status };
	if (step->again)
		*fact =
		    (struct fact){ "delay_ms", NULL, step->delay / NANOS_MS };
	else
		*fact = (struct fact){ "reason",
			verdict_reasons[step->reason].name, 0 };
	log_tell(&message->loop->log,
	    &(struct line){ .least = message->least,
		.last = !step->again && !message->continues &&
		    !never_failed(message),
		.rescued = step->reason == REASON_SUCCEEDED,
		.strings = message->parts,
		.facts = facts });
	message_clear(message);
}

/* Adds how an attempt ended: " failed (exit 22, HTTP 503)". */
static void
add_end(struct message *message, bool succeeded)
{
	const struct policy *policy = message->policy;
	const struct outcome *outcome = &message->history->last;
	const char *words = verdict_ends[outcome->end].words;
	nanos after = outcome->elapsed;
	char room[DURATION_ROOM], end[VERDICT_END_ROOM];

	if (outcome->end == END_EXITED) {
		message_put(message, " %s (%s",
		    succeeded ? "succeeded" : "failed",
		    verdict_put_end(end, outcome));
		if (outcome->http.code > 0)
			message_put(message, ", HTTP %d", outcome->http.code);
		message_put(message, ")");
	} else if (outcome->end == END_SIGNALED) {
		message_put(message, " %s", verdict_put_end(end, outcome));
	} else if (outcome->end == END_NOT_STARTED) {
		message_put(message, " %s (%s%s%s)", words,
		    outcome->lacking == NULL ? "" : outcome->lacking,
		    outcome->lacking == NULL ? "" : ": ",
		    error_words(outcome->error));
	} else if (outcome->end == END_IDLE) {
		message_put(message, " ended after %s without output",
		    duration_format(room, policy->idle_timeout));
	} else {
		if (outcome->end == END_TIMED_OUT)
			after = plan_timeout(policy, message->history->made);
		message_put(message, " %s after %s", words,
		    duration_format(room, after));
	}
}

/* Adds who asks for the delay, and the rule by which there is a retry. */
static void
add_why(struct message *message)
{
	const struct outcome *last = &message->history->last;
	const struct known_wait *known = last->known;
	bool output = last->has_hint &&
	    !(last->http.after.given && last->http.after.wait >= last->hint);
	int count;

	if (known != NULL && last->known_wait <= verdict_named(last))
		known = NULL;
	if (message->step->asked && known != NULL)
		message_put(message, ", as %s%s asks",
		    known->preset != NULL ? "preset " : "--retry-after ",
		    known->preset != NULL ? known->preset : known->text);
	else if (message->step->asked)
		message_put(message, "%s",
		    output ? ", as the output asks" : ", as Retry-After asks");
	message_put(message, ": ");
	count = message->count;
	cause_add_judgement(message);
	/* Any failure is retried: there is no more to say. */
	if (message->count == count)
		message->parts[--message->count] = NULL;
}

/* Says "attempt 2/4 failed (exit 7), retrying in 2s" and the like. */
static void
say_attempt(struct message *message)
{
	const struct policy *policy = message->policy;
	const struct history *history = message->history;
	const struct outcome *outcome = &history->last;
	const struct step *step = message->step;
	bool succeeded = history->successes > 0;
	char label[MESSAGES_ROOM], span[DURATION_ROOM];

	/* With --log-format github a success after retries is shown without -v
	 * too, as the annotation. A failure of retry itself is shown with -q
	 * too. */
	if (step->reason == REASON_SUCCEEDED
		? policy->log_format != LOG_GITHUB || never_failed(message)
		: step->again && succeeded)
		message->least = LOUDNESS_VERBOSE;
	else if (step->reason != REASON_SUCCEEDED && !step->again &&
	    (outcome->end == END_NOT_STARTED ||
		step->reason == REASON_INTERNAL))
		message->least = LOUDNESS_QUIET;
	/* Most successes are not said, so their text is not made. */
	if (policy->loudness < message->least && message->report == NULL)
		return;

	message_put(message, "attempt %s",
	    messages_label(label, policy, history->made));
	add_end(message, succeeded);
	if (succeeded && outcome->end != END_EXITED)
		message_put(message, ": succeeded");
	if (succeeded && strcmp(history->judgement.rule, "success-on") == 0) {
		message_put(message, " by ");
		cause_add_item(message, history->judgement.rule);
	}
	if (succeeded && policy->consecutive > 1)
		message_put(message, ", %" PRId64 " of %" PRId64 " in a row",
		    history->successes, policy->consecutive);
	if (step->again) {
		message_put(message, "%s in %s",
		    succeeded ? ", next" : ", retrying",
		    duration_format(span, step->delay));
		/* Others may use the budget up during the delay. */
		if (!succeeded && policy->budget.key != NULL)
			message_put(message, " if the budget allows");
		if (!succeeded && policy->loudness == LOUDNESS_VERBOSE)
			add_why(message);
	} else if (step->reason != REASON_SUCCEEDED) {
		message_put(message, ", giving up: ");
		cause_add(message);
	}
	cause_add_vague(message);
	say(message);
}

/* Adds "; this host alone, 1 retry in 60s". */
static void
add_alone(struct message *message, const struct admission *admission)
{
	int64_t share = admission->fleet.share;
	char window[NUMBER_ROOM];

	number_put_decimal(window, admission->terms.window, NANOS_SECOND);
	message_put(message, "; this host alone, %" PRId64 " %s in %ss", share,
	    share == 1 ? "retry" : "retries", window);
}

/* Adds why the breaker admits no attempt at present. */
static void
add_breaker(struct message *message)
{
	const struct breaker_view *breaker =
	    &message->history->admission.breaker;

	if (breaker->state == BREAKER_RECOVERING)
		message_put(message,
		    "recovering, %" PRId64 " attempts a second, ask again in ",
		    breaker->rate);
	else
		message_put(message, "open after %" PRId64 "%s, %s in ",
		    breaker->failures,
		    breaker->failures == 1 ? " failure"
					   : " consecutive failures",
		    breaker->state == BREAKER_HALF_OPEN
			? "probe under way, ask again"
			: "probe");
}

/* Adds why the fleet denies a retry: what it has used up, or its server is
 * silent and this host has used up its share. */
static void
add_fleet(struct message *message, const char *window)
{
	const struct admission *admission = &message->history->admission;
	const struct host_view *view = &admission->view;
	const char *silence = admission->silence;

	if (admission->fleet.silent) {
		message_put(message, "%s",
		    silence != NULL ? silence : "no answer lately");
		add_alone(message, admission);
	} else {
		message_put(message,
		    "exhausted, %" PRId64 " of %" PRId64
		    " retries used in %ss by %" PRId64 "%s",
		    view->retries, view->limit, window, view->hosts,
		    view->hosts == 1 ? " host" : " hosts");
	}
	message_put(message, ", ask again in about ");
}

/* Adds why the budget of this host denies a retry. */
static void
add_budget(struct message *message, const char *window)
{
	const struct admission *admission = &message->history->admission;
	const struct terms *terms = &admission->terms;
	int64_t successes = admission->sums.successes;
	char ratio[NUMBER_ROOM];

	number_put_decimal(ratio, terms->ratio, WINDOW_RATIO_ONE);
	if (admission->cooling)
		message_put(message, "no retries after a denial, next ");
	else
		message_put(message,
		    "exhausted, %" PRId64 " of %" PRId64
		    " retries used in %ss (%" PRId64
		    "%s, ratio %s, min %" PRId64 "), next ",
		    admission->sums.retries, window_limit(terms, successes),
		    window, successes,
		    successes == 1 ? " success" : " successes", ratio,
		    terms->min);
	if (admission->next < NANOS_MAX)
		message_put(message, "in about ");
}

/* Adds how the server limits its clients, and begins to say what retry does. */
static void
add_pace(struct message *message)
{
	const struct pace_view *pace = &message->history->admission.pace;
	char number[NUMBER_ROOM], span[DURATION_ROOM];
	int scale = pace->rate < 1 ? 1000 : 10;

	if (pace->quota > 0)
		message_put(message, "the server limits: %" PRId64 " in %s",
		    pace->quota, duration_format(span, pace->period));
	else if (pace->rate > 0)
		message_put(message, "the server limits: about %s a second",
		    number_put_decimal(
			number, (int64_t)(pace->rate * scale + 0.5), scale));
	else
		message_put(message, "the server limits");
	if (message->step->again)
		message_put(message, "; waiting ");
}

/* Says why the next attempt may not begin, and what retry does now. */
static void
say_denied(struct message *message, bool attempted)
{
	const struct policy *policy = message->policy;
	const struct admission *admission = &message->history->admission;
	bool fleet = admission->fleet.decision == HOST_DENIED;
	const char *then = "; giving up", *next;
	char window[NUMBER_ROOM], span[DURATION_ROOM], rate[RATE_ROOM];

	if (message->step->again)
		then = "; waiting";
	else if (message->history->made == 0)
		then = "; command not run";
	number_put_decimal(window, admission->terms.window, NANOS_SECOND);
	next = duration_format(span, admission->next);
	if (fleet) {
		message_put(message, "fleet '%s", policy->fleet.text);
		message_put(message, "': ");
	}
	/* A silent server has not denied the retry of this budget. */
	if (!fleet || !admission->fleet.silent) {
		message_put(message, "%s '%s",
		    admission->answer == ADMISSION_BREAKER ? "breaker"
							   : "budget",
		    policy->budget.key);
		message_put(message, "': ");
	}
	if (admission->answer == ADMISSION_CLOSED ||
	    admission->answer == ADMISSION_PACE) {
		add_pace(message);
		next = "";
		if (message->step->again) {
			next = duration_format(span, admission->next);
			then = "";
		}
	} else if (admission->answer == ADMISSION_RATE) {
		message_put(message, "a place at --rate %s in ",
		    rate_put(rate, &admission->rate));
	} else if (admission->answer == ADMISSION_BREAKER) {
		add_breaker(message);
	} else if (fleet) {
		add_fleet(message, window);
	} else {
		add_budget(message, window);
		if (admission->next == NANOS_MAX)
			next = admission->never && !admission->cooling
			    ? "never"
			    : "after a success";
	}
	message_put(message, "%s%s%s", next, then,
	    attempted ? "" : cause_remedy(message));
	say(message);
}

void
messages_step(struct event_loop *loop, const struct history *history,
    const struct step *step, bool attempted, struct report *report)
{
	/* Most steps say nothing, and touch no page of it. */
	static char text[MESSAGE_TEXT + 1];
	const struct policy *policy = loop->log.policy;
	const struct outcome *last = &history->last;
	bool held = history->admission.answer == ADMISSION_CLOSED;
	bool denied = step->again ? !attempted
				  : step->reason == REASON_BREAKER ||
		step->reason == REASON_BUDGET || step->reason == REASON_RATE ||
		(step->reason == REASON_RETRY_AFTER && held);
	struct message message = { .loop = loop,
		.policy = policy,
		.history = history,
		.step = step,
		.report = policy->report != NULL ? report : NULL,
		.least = LOUDNESS_PLAIN,
		.attempted = attempted,
		.continues = denied && attempted,
		.text = text };
	char advice[ADVICE_ROOM];

	if (attempted && message.report != NULL) {
		cause_add_judgement(&message);
		message_keep(report_latest(report)->why, &message);
		message_clear(&message);
	}
	if (policy->waits && policy->label == NULL && !step->again &&
	    step->reason != REASON_NOT_EXECUTABLE)
		message_put(&message, "waited for %s: ", policy->program);
	if (attempted && step->reason == REASON_NOT_EXECUTABLE) {
		message.least = LOUDNESS_QUIET;
		message_put(&message, "cannot run '%s", policy->command[0]);
		message_put(&message, "': %s", error_words(last->error));
		say(&message);
		message.report = NULL;
		/* A whole shell line may be too long for a name. */
		if ((verdict_status(last) == EXIT_STATUS_NOT_FOUND ||
			last->error == ENAMETOOLONG) &&
		    advice_find(advice, policy->command)) {
			message_put(&message, "%s", advice);
			say(&message);
		}
	} else if (attempted) {
		say_attempt(&message);
	} else if (!denied) {
		message_put(&message, "giving up before attempt %" PRId64 ": ",
		    history->made + 1);
		if (step->reason == REASON_INPUT_CONSUMED)
			cause_add(&message);
		else
			message_put(&message, "%s",
			    verdict_reasons[step->reason].words);
		say(&message);
	}
	message.continues = message.attempted = false;
	if (denied)
		say_denied(&message, attempted);

	/* While lines are held, the advice would replace the one above. */
	if (!loop->log.holding && attempted && history->made == 1 &&
	    history->successes == 0 && step->reason != REASON_NOT_EXECUTABLE &&
	    advice_on_rules(advice, policy, step->again))
		log_say(&loop->log,
		    policy->given == NULL && !policy->automatic
			? LOUDNESS_VERBOSE
			: LOUDNESS_PLAIN,
		    STRINGS(advice));
}

void
messages_alone(struct log *log, const struct admission *admission)
{
	char text[MESSAGE_TEXT + 1];
	struct message message = { .policy = log->policy, .text = text };

	if (admission->fleet.decision != HOST_ALONE)
		return;
	message_put(&message, "fleet '%s", log->policy->fleet.text);
	message_put(&message, "': %s", admission->silence);
	add_alone(&message, admission);
	log_warn(log, message.parts);
}

void
messages_end(struct log *log, const struct history *history, enum reason reason,
    nanos now)
{
	const struct policy *policy = log->policy;
	bool last = policy->log_format == LOG_GITHUB && !log->concluded &&
	    reason != REASON_SUCCEEDED;
	enum loudness least = last ? LOUDNESS_PLAIN : LOUDNESS_VERBOSE;
	char text[128], span[DURATION_ROOM], attempts[48] = "";

	/* Nearly always it is not said, so its text is not made. */
	if (policy->loudness < least)
		return;
	duration_format(span, now - history->began);
	if (policy->targets == NULL)
		snprintf(attempts, sizeof attempts,
		    " after %" PRId64 " attempt%s", history->made,
		    history->made == 1 ? "" : "s");
	snprintf(text, sizeof text, "ended%s in %s: %s%s", attempts, span,
	    verdict_reasons[reason].name,
	    plan_is_rescued(history, reason) ? ", rescued by a retry" : "");
	log_tell(log,
	    &(struct line){
		.least = least, .last = last, .strings = STRINGS(text) });
}
