#include "policy/plan.h"

#include "exit_status.h"
#include "policy/backoff.h"
#include "text/number.h"

/* So short before the deadline retry does not ask for admission again. */
#define ASK_LEAST (20 * NANOS_MS)

/* Whether a reason is a limit of what the user, or others, allow. */
static bool
is_limit(enum reason reason)
{
	return reason == REASON_ATTEMPTS || reason == REASON_LIMIT ||
	    reason == REASON_RETRY_AFTER || reason == REASON_DEADLINE ||
	    reason == REASON_BREAKER || reason == REASON_BUDGET ||
	    reason == REASON_RATE;
}

struct step
plan_end(const struct history *history, enum reason reason)
{
	enum admission_answer answer = history->admission.answer;
	const struct outcome *last = &history->last;
	struct step step = { .reason = reason };

	if (history->made == 0) {
		step.status =
		    answer != ADMISSION_GRANTED && answer != ADMISSION_PENDING
		    ? EXIT_STATUS_HELD
		    : EXIT_STATUS_TIMEOUT;
		return step;
	}
	step.status = history->status;
	if (last->end == END_SIGNALED && !last->overrun && step.status != 0)
		step.signal = last->code;
	else if (history->judgement.verdict == VERDICT_REPEAT)
		step.signal = last->interrupted;
	/* A success, but one of too few in a row. */
	if (history->judgement.verdict == VERDICT_REPEAT && step.status == 0)
		step.status = EXIT_STATUS_UNSUCCESSFUL;
	if (history->exhausted != 0 && is_limit(reason)) {
		step.status = history->exhausted;
		step.signal = 0;
	}
	/* fork failed: that is a failure of retry itself. */
	if (last->lacking != NULL)
		step.reason = REASON_INTERNAL;
	return step;
}

/* The end, because a delay would not end before the deadline. */
static struct step
end_before(const struct history *history, enum reason reason, nanos delay)
{
	struct step step = plan_end(history, reason);

	step.delay = delay;
	return step;
}

static struct step
again(nanos now, nanos delay)
{
	return (struct step){
		.again = true, .at = number_add(now, delay), .delay = delay
	};
}

static nanos
time_left(const struct history *history, nanos now)
{
	if (history->deadline == NANOS_MAX)
		return NANOS_MAX;
	return history->deadline > now ? history->deadline - now : 0;
}

struct history
plan_start(
    const struct policy *policy, nanos began, nanos inherited, uint64_t seed)
{
	nanos deadline = policy->deadline == 0
	    ? NANOS_MAX
	    : number_add(began, policy->deadline);

	return (struct history){ .began = began,
		.deadline = number_lesser(deadline, inherited),
		.schedule.random = seed };
}

struct step
plan_first(const struct policy *policy, struct history *history, nanos now)
{
	nanos left = time_left(history, now);
	nanos most = number_lesser(policy->splay, left / 2);

	if (left == 0)
		return plan_end(history, REASON_DEADLINE);
	return again(now, backoff_splay(&history->schedule, most));
}

/* Whether the limit names the last attempt, a failure that may be retried. */
static bool
limits_last(const struct limit *limit, const struct history *history)
{
	return history->judgement.verdict == VERDICT_RETRY &&
	    verdict_fails_by(&limit->failures, &history->last);
}

void
plan_judge(const struct policy *policy, struct history *history,
    const struct outcome *outcome)
{
	struct judgement *judgement = &history->judgement;
	struct outcome *last = &history->last;
	bool succeeded, may_help;

	*last = *outcome;
	last->again = history->made > 1;
	known_wait_find(policy->known_waits, last, &history->preset_limits);
	*judgement = verdict_of(&policy->rules, &history->request, last);
	succeeded = judgement->verdict == VERDICT_DONE;
	if (succeeded) {
		last->limit = false;
		last->known = NULL;
		history->preset_limits = 0;
	}
	if (succeeded || history->vague)
		last->vague = NULL;
	history->vague |= last->vague != NULL;
	history->successes = succeeded ? history->successes + 1 : 0;
	if (succeeded && history->successes < policy->consecutive) {
		judgement->verdict = VERDICT_REPEAT;
		judgement->reason = REASON_NONE;
	}
	/* 0 after a success, and never after a failure. With --keep-status it
	 * is the command's own. */
	history->status = verdict_status(outcome);
	if (!policy->keep_status && succeeded)
		history->status = 0;
	else if (!policy->keep_status && history->status == 0)
		history->status = EXIT_STATUS_UNSUCCESSFUL;
	/* Who runs retry again must not start twice what may still run. */
	may_help = judgement->verdict == VERDICT_REPEAT ||
	    (judgement->verdict == VERDICT_RETRY &&
		outcome->end != END_NOT_STARTED &&
		!verdict_goes_on(&policy->rules, &history->last));
	history->exhausted = may_help ? (int)policy->exhausted_status : 0;
	history->limit = NULL;
	for (int i = 0; i < policy->limits && history->limit == NULL; i++)
		if (history->limited[i] >= policy->limit[i]->retries &&
		    limits_last(policy->limit[i], history))
			history->limit = policy->limit[i];
}

/* Whether the user has chosen how long the server is left alone: that is not
 * bound by max_retry_after. */
static bool
has_chosen(const struct outcome *outcome)
{
	return outcome->known != NULL && outcome->known->preset == NULL;
}

/* The wait that is bound by it. */
static nanos
bound_wait(const struct outcome *outcome)
{
	return has_chosen(outcome) ? verdict_named(outcome)
				   : verdict_wait(outcome);
}

/* Why there is no other attempt, whatever the time; REASON_NONE: there may be.
 */
static enum reason
why_end(const struct policy *policy, const struct history *history)
{
	const struct outcome *last = &history->last;
	bool repeats = history->judgement.verdict == VERDICT_REPEAT;
	int64_t wanted = policy->consecutive - history->successes;

	if (!repeats && history->judgement.verdict != VERDICT_RETRY)
		return history->judgement.reason;
	if (repeats && last->interrupted != 0)
		return REASON_INTERRUPTED;
	if (repeats && history->request.method != NULL)
		return REASON_NOT_IDEMPOTENT;
	/* More attempts, or the input, would not have helped. */
	if (last->end == END_DEADLINE)
		return REASON_DEADLINE;
	if (last->lost != REASON_NONE)
		return last->lost;
	if (history->made > policy->attempts - wanted)
		return REASON_ATTEMPTS;
	return history->limit != NULL ? REASON_LIMIT : REASON_NONE;
}

struct step
plan_next(const struct policy *policy, struct history *history, nanos now)
{
	const struct outcome *outcome = &history->last;
	const struct backoff *backoff = &policy->backoff;
	struct schedule *schedule = &history->schedule;
	nanos left = time_left(history, now), wait = verdict_wait(outcome);
	bool repeats = history->judgement.verdict == VERDICT_REPEAT;
	enum reason reason = why_end(policy, history);
	struct step step;
	bool asked;
	nanos delay;

	if (reason != REASON_NONE)
		return plan_end(history, reason);
	if (left == 0)
		return plan_end(history, REASON_DEADLINE);
	if (repeats ||
	    (policy->reset_after != 0 &&
		outcome->elapsed >= policy->reset_after))
		schedule->n = 0;
	/* The server asks for a longer wait than the user allows. */
	if (bound_wait(outcome) > policy->max_retry_after)
		return plan_end(history, REASON_RETRY_AFTER);
	if (left != NANOS_MAX && wait >= left)
		return end_before(history, REASON_RETRY_AFTER, wait);
	delay = backoff_next(backoff, schedule, left);
	asked = wait > delay;
	/* A 429 need not have a Retry-After (RFC 6585). */
	if (history->paced && !backoff->given &&
	    backoff->jitter != JITTER_NONE &&
	    verdict_pace(&policy->rules, &history->judgement, outcome) ==
		PACE_REFUSED)
		delay = backoff_paced(schedule, number_greater(wait, 0));
	else if (wait >= 0)
		delay = backoff_after(backoff, schedule, delay, wait, left);
	else if (outcome->http.code == VERDICT_TOO_MANY_REQUESTS)
		delay = number_greater(delay, backoff_base(backoff));
	/* The first delay of a retry is still to come. */
	if (repeats)
		schedule->n = 0;
	if (left != NANOS_MAX && delay >= left)
		return end_before(history, REASON_DEADLINE, delay);
	for (int i = 0; i < policy->limits; i++)
		if (limits_last(policy->limit[i], history))
			history->limited[i]++;
	step = again(now, delay);
	step.asked = asked;
	return step;
}

struct step
plan_refused(struct history *history)
{
	history->judgement = (struct judgement){ VERDICT_STOP, REASON_RETRY_IF,
		verdict_reasons[REASON_RETRY_IF].name };
	return plan_end(history, REASON_RETRY_IF);
}

struct step
plan_wake(struct history *history, const struct step *step, nanos now)
{
	enum admission_answer answer = history->admission.answer;

	if (time_left(history, now) > 0)
		return *step;
	return plan_end(history,
	    answer == ADMISSION_CLOSED     ? REASON_RETRY_AFTER
		: answer == ADMISSION_RATE ? REASON_RATE
					   : REASON_DEADLINE);
}

struct attempt_end
plan_tell(const struct policy *policy, const struct history *history,
    const struct step *step)
{
	const struct outcome *last = &history->last;
	const struct judgement *judgement = &history->judgement;
	struct attempt_end end = {
		.result = verdict_result(&policy->rules, judgement, last),
		.completed = judgement->verdict == VERDICT_DONE,
		.pace = verdict_pace(&policy->rules, judgement, last),
		.wait =
		    number_lesser(bound_wait(last), policy->max_retry_after),
		/* It is the server's documentation that names such a wait. */
		.strict = last->known != NULL && last->known->preset != NULL &&
		    last->known_wait > verdict_named(last),
		.own = step->again ? step->delay : 0,
		.delay = -1,
	};

	end.wait =
	    number_greater(end.wait, has_chosen(last) ? last->known_wait : 0);
	end.rescued = end.completed && history->made > history->successes;
	return end;
}

bool
plan_is_rescued(const struct history *history, enum reason reason)
{
	return reason == REASON_SUCCEEDED && history->made > history->successes;
}

bool
plan_gives_up(const struct history *history, const struct step *step)
{
	return step->reason != REASON_SUCCEEDED &&
	    step->reason != REASON_INTERRUPTED &&
	    (history->made == 0 ||
		history->judgement.verdict == VERDICT_RETRY ||
		history->judgement.verdict == VERDICT_REPEAT);
}

/* Whether an attempt has waited for a closed key for as long as the user
 * allows. If not, adds the nap, and cuts it off there. */
static bool
is_closed_too_long(const struct policy *policy, struct history *history,
    const struct admission *admission, nanos left, nanos *nap)
{
	nanos most = number_greater(
	    policy->max_retry_after, known_wait_longest(policy->known_waits));
	bool endless =
	    left != NANOS_MAX || policy->attempts == POLICY_UNLIMITED;

	if (endless && admission->pace.held <= most)
		return false;
	if (history->held >= most)
		return true;
	*nap = number_lesser(*nap, most - history->held);
	history->held += *nap;
	return false;
}

struct step
plan_denied(const struct policy *policy, struct history *history,
    const struct admission *admission, nanos now)
{
	nanos left = time_left(history, now), nap = admission->nap;
	bool budget = admission->answer == ADMISSION_BREAKER ||
	    admission->answer == ADMISSION_BUDGET;

	history->admission = *admission;
	if (admission->answer == ADMISSION_CLOSED &&
	    is_closed_too_long(policy, history, admission, left, &nap))
		return plan_end(history, REASON_RETRY_AFTER);
	if (admission->answer == ADMISSION_RATE && admission->next >= left)
		return end_before(history, REASON_RATE, admission->next);
	if (!budget)
		return again(now, number_lesser(nap, left));
	if (history->waits_until == 0)
		history->waits_until = number_add(now, policy->budget.wait);
	if (now >= history->waits_until || admission->never)
		return plan_end(history,
		    admission->answer == ADMISSION_BREAKER ? REASON_BREAKER
							   : REASON_BUDGET);
	nap = number_lesser(nap, history->waits_until - now);
	if (nap >= left) {
		if (left <= ASK_LEAST)
			return plan_end(history, REASON_DEADLINE);
		nap = left / 2;
	}
	return again(now, nap);
}

bool
plan_is_retry(const struct history *history)
{
	return history->made > 0 &&
	    history->judgement.verdict != VERDICT_REPEAT;
}

nanos
plan_timeout(const struct policy *policy, int64_t attempt)
{
	const struct spans *timeouts = &policy->timeouts;

	if (timeouts->count == 0)
		return 0;
	return timeouts->list[number_lesser(attempt, timeouts->count) - 1];
}

void
plan_begin(struct history *history)
{
	history->made++;
	history->waits_until = history->held = 0;
	history->admission.answer = ADMISSION_GRANTED;
}
