#include "plan.h"

#include "number.h"

enum { STATUS_DEADLINE = 124 };

/* The end of it all, with what the last attempt left. */
static struct step
end(const struct history *history, enum reason reason)
{
	const struct outcome *last = &history->last;
	struct step step = { .reason = reason, .attempt = history->made };

	if (history->made == 0) {
		step.status = STATUS_DEADLINE;
		return step;
	}
	step.status = verdict_status(last);
	if (last->end == END_SIGNALED)
		step.signal = last->code;
	/* No process to be had: our failure, however often we tried. */
	if (last->end == END_NOT_STARTED && !last->forked)
		step.reason = REASON_INTERNAL;
	return step;
}

static struct step
again(const struct history *history, nanos now, nanos delay)
{
	return (struct step){ .again = true,
		.at = number_add(now, delay),
		.delay = delay,
		.attempt = history->made };
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
	nanos own = policy->deadline == 0 ? NANOS_MAX
					  : number_add(began, policy->deadline);

	return (struct history){ .began = began,
		.deadline = own < inherited ? own : inherited,
		.schedule = schedule_start(seed) };
}

struct step
plan_first(const struct policy *policy, struct history *history, nanos now)
{
	nanos left = time_left(history, now);
	nanos most = policy->splay < left / 2 ? policy->splay : left / 2;

	if (left == 0)
		return end(history, REASON_DEADLINE);
	return again(history, now, backoff_splay(&history->schedule, most));
}

struct step
plan_next(const struct policy *policy, struct history *history,
    const struct outcome *outcome, nanos now)
{
	struct judgement judgement = verdict_of(&policy->rules, outcome);
	nanos left = time_left(history, now), delay;

	history->last = *outcome;
	if (judgement.verdict != VERDICT_RETRY)
		return end(history, judgement.reason);
	if (history->made >= policy->attempts)
		return end(history, REASON_ATTEMPTS);
	if (outcome->end == END_DEADLINE || left == 0)
		return end(history, REASON_DEADLINE);
	if (policy->reset_after != 0 && outcome->elapsed >= policy->reset_after)
		schedule_reset(&history->schedule);
	delay = backoff_next(&policy->backoff, &history->schedule, left);
	if (delay >= left)
		return end(history, REASON_DEADLINE);
	return again(history, now, delay);
}

struct step
plan_wake(struct history *history, const struct step *step, nanos now)
{
	struct step late;

	if (time_left(history, now) > 0) {
		history->made++;
		return *step;
	}
	late = end(history, REASON_DEADLINE);
	late.attempt = 0;
	return late;
}
