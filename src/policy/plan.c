#include "policy/plan.h"

#include "exit_status.h"
#include "policy/backoff.h"
#include "text/number.h"

/* The least and the most time before retry asks for admission again. */
#define ASK_LEAST (20 * NANOS_MS)
#define ASK_MOST NANOS_SECOND

/*
 * While a breaker recovers, it admits one attempt at a time, and a thousand
 * processes may wait for admission. So a process does not ask for each turn,
 * but after this time or, if the user's wait is shorter, a part of the wait.
 */
#define ASK_RECOVERING (500 * NANOS_MS)
#define ASK_PARTS 4

/* How long a process that waits for a hold sleeps at most before it looks at it
 * again: the budget may have been reset. */
#define HOLD_LOOK (5 * NANOS_SECOND)

/*
 * The most that it waits at random beyond the hold; half of a short hold, and
 * half of the time from there to the deadline, so that the attempt has the
 * rest. If all came back at once, a fixed window of the server would refuse as
 * many as without the hold. But after the first refusal the others wait again.
 */
#define HOLD_SPREAD (2 * NANOS_SECOND)

_Static_assert(ASK_MOST + ASK_MOST / 2 < ADMISSION_WAITING,
    "a retry that waits asks again while it counts as one");

struct step
plan_end(const struct history *history, enum reason reason)
{
	const struct outcome *last = &history->last;
	struct step step = { .reason = reason };

	if (history->made == 0) {
		step.status = history->admission.answer == ADMISSION_BREAKER ||
			history->admission.answer == ADMISSION_HOLD
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
	bool succeeded;

	history->last = *outcome;
	*judgement = verdict_of(&policy->rules, &history->request, outcome);
	succeeded = judgement->verdict == VERDICT_DONE;
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
	history->limit = NULL;
	for (int i = 0; i < policy->limits && history->limit == NULL; i++)
		if (history->limited[i] >= policy->limit[i]->retries &&
		    limits_last(policy->limit[i], history))
			history->limit = policy->limit[i];
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
	if (wait > policy->max_retry_after)
		return plan_end(history, REASON_RETRY_AFTER);
	if (left != NANOS_MAX && wait >= left)
		return end_before(history, REASON_RETRY_AFTER, wait);
	delay = backoff_next(backoff, schedule, left);
	/* A 429 need not have a Retry-After (RFC 6585). */
	if (wait >= 0)
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
	return again(now, delay);
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
	return time_left(history, now) > 0 ? *step
					   : plan_end(history, REASON_DEADLINE);
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
		.delay = -1,
	};

	end.rescued = end.completed && history->made > history->successes;
	if (end.result == RESULT_SUCCESS)
		return end;
	end.hold = verdict_wait(last);
	if (end.result == RESULT_LIMIT && end.hold < 0 && step->again)
		end.hold = step->delay;
	end.hold = number_lesser(end.hold, policy->max_retry_after);
	return end;
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

/* What happens while a server's hold lasts. */
static struct step
wait_for_hold(
    const struct policy *policy, struct history *history, nanos hold, nanos now)
{
	nanos left = time_left(history, now), most = policy->max_retry_after;
	nanos spread =
	    number_lesser(number_lesser(hold, left - hold) / 2, HOLD_SPREAD);
	bool endless =
	    left != NANOS_MAX || policy->attempts == POLICY_UNLIMITED;

	if (history->held_since == 0)
		history->held_since = now;
	if (hold > most ||
	    (!endless && now - history->held_since > most - hold))
		return plan_end(history, REASON_RETRY_AFTER);
	if (hold >= left)
		return end_before(history, REASON_RETRY_AFTER, hold);
	/* The last look is so early that what is left is spread widely. */
	if (hold > HOLD_LOOK + HOLD_SPREAD)
		return again(now, HOLD_LOOK);
	return again(now, hold + backoff_splay(&history->schedule, spread));
}

struct step
plan_denied(const struct policy *policy, struct history *history,
    const struct admission *admission, nanos now)
{
	nanos left = time_left(history, now), least = ASK_LEAST, nap;

	history->admission = *admission;
	if (admission->answer == ADMISSION_HOLD)
		return wait_for_hold(policy, history, admission->next, now);
	if (history->waits_until == 0)
		history->waits_until = number_add(now, policy->budget.wait);
	if (now >= history->waits_until || admission->never)
		return plan_end(history,
		    admission->answer == ADMISSION_BREAKER ? REASON_BREAKER
							   : REASON_BUDGET);
	if (admission->answer == ADMISSION_BREAKER &&
	    admission->breaker.state == BREAKER_RECOVERING)
		least = number_greater(least,
		    number_lesser(
			policy->budget.wait / ASK_PARTS, ASK_RECOVERING));
	nap = number_lesser(number_greater(admission->next, least), ASK_MOST);
	/* Random from half to one and a half times nap: the mean is nap. */
	nap = nap / 2 + backoff_splay(&history->schedule, nap);
	if (nap > history->waits_until - now)
		nap = history->waits_until - now;
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
	history->waits_until = history->held_since = 0;
	history->admission.answer = ADMISSION_GRANTED;
}
