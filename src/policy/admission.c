#include "policy/admission.h"

#include "text/number.h"

static void
add_one(_Atomic uint64_t *counter)
{
	atomic_fetch_add(counter, 1);
}

/* Agrees with the segment on the limits that are in force from now on. */
static struct effective_limits
agree(const struct caller *caller, struct segment *segment,
    const struct header *header)
{
	struct effective_limits effective;

	effective.limits = segment_agree(
	    segment, header, &caller->config->terms, &effective.differs);
	effective.corrupt = effective.limits.ratio < 0;
	return effective;
}

struct effective_limits
admission_look(const struct caller *caller, struct segment *segment,
    const struct header *header, nanos now)
{
	/* A withdrawal that is always denied, and so counts nothing. */
	static const struct terms none = { 0, 0, 0 };
	struct effective_limits effective = agree(caller, segment, header);
	struct window_sums sums;

	if (!effective.corrupt)
		effective.corrupt =
		    window_withdraw(&segment->window, &none,
			segment_epoch(header, now), &sums) == WINDOW_CORRUPT;
	return effective;
}

/* Denies a retry, for next or until the pause after a denial is over. Begins
 * that pause, unless a longer one has begun. */
static void
deny_retry(const struct caller *caller, struct admission *admission,
    struct segment *segment, nanos next, nanos age)
{
	nanos cooldown = caller->config->cooldown;
	uint64_t was = atomic_load(&segment->cooldown);

	while (cooldown > 0 && !admission->cooling &&
	    segment_cooldown(segment, age) < cooldown &&
	    !atomic_compare_exchange_weak(
		&segment->cooldown, &was, (uint64_t)(age + cooldown)))
		;
	admission->denied = REASON_BUDGET;
	admission->next = number_greater(next, segment_cooldown(segment, age));
}

/*
 * Asks the fleet for a retry that the window would grant. Returns whether the
 * window has to decide now.
 */
static bool
ask_fleet(const struct caller *caller, struct admission *admission,
    struct segment *segment, const struct header *header, nanos now)
{
	nanos age = segment_age(header, now);
	struct window_sums sums =
	    window_look(&segment->window, segment_epoch(header, now));
	int64_t left =
	    window_limit(&admission->effective.limits, sums.successes) -
	    sums.retries;

	if (left <= 0)
		return true;
	admission->fleet =
	    fleet_caller_ask(caller->fleet, segment, header, left, now);
	switch (admission->fleet.decision) {
	case HOST_GRANTED:
	case HOST_ALONE:
		return true;
	case HOST_DENIED:
		admission->view =
		    fleet_host_look(&segment->fleet, header->slice, age);
		deny_retry(
		    caller, admission, segment, admission->fleet.next, age);
		return false;
	case HOST_CORRUPT:
		admission->effective.corrupt = true;
		return false;
	case HOST_WAIT:
	case HOST_ASK:
		break;
	}
	return false;
}

/* Asks the fleet and the window, which limit a retry. The window counts a retry
 * that it grants. */
static void
limit_retry(const struct caller *caller, struct admission *admission,
    struct segment *segment, const struct header *header, nanos now)
{
	const struct terms *limits = &admission->effective.limits;
	const struct fleet_caller *fleet = caller->fleet;
	enum window_answer answer = WINDOW_DENIED;
	nanos age = segment_age(header, now), next;

	admission->cooling = segment_cooldown(segment, age) > 0;
	if (fleet != NULL && !fleet->granted && !admission->cooling &&
	    !ask_fleet(caller, admission, segment, header, now))
		return;
	if (!admission->cooling)
		answer = window_withdraw(&segment->window, limits,
		    segment_epoch(header, now), &admission->sums);
	switch (answer) {
	case WINDOW_GRANTED:
		add_one(&segment->retries);
		break;
	case WINDOW_DENIED:
		admission->never = limits->ratio == 0 && limits->min == 0;
		next = segment_next(
		    &segment->window, header, limits, now, &admission->sums);
		deny_retry(caller, admission, segment, next, age);
		break;
	case WINDOW_CORRUPT:
		admission->effective.corrupt = true;
		break;
	}
	admission->by_fleet = fleet != NULL &&
	    admission->denied == REASON_NONE &&
	    admission->fleet.decision == HOST_GRANTED;
}

/*
 * Whether a first attempt has to leave the probe to a retry that waits. A look
 * at the breaker is enough to hold an attempt back. The word may hold anything.
 */
static bool
yields(struct admission *admission, const struct segment *segment, nanos age)
{
	struct breaker_view *view = &admission->breaker;
	nanos asked = (nanos)atomic_load(&segment->waiting);

	if (asked <= 0 || asked - age >= ADMISSION_WAITING ||
	    age - asked >= ADMISSION_WAITING)
		return false;
	*view = breaker_look(&segment->breaker, age);
	view->next = number_greater(
	    view->next, ADMISSION_WAITING - number_greater(age - asked, 0));
	return view->state == BREAKER_OPEN || view->state == BREAKER_HALF_OPEN;
}

/* Asks the breaker, if there is one. */
static enum breaker_pass
ask_breaker(struct caller *caller, struct admission *admission,
    struct segment *segment, bool retry, nanos age)
{
	enum breaker_pass pass = BREAKER_HELD;

	if (!caller->uses_breaker || caller->config->breaker.failures == 0)
		return BREAKER_PASSED;
	if (retry || !yields(admission, segment, age))
		pass = breaker_enter(&segment->breaker, age, &caller->lease,
		    &admission->breaker);
	if (pass != BREAKER_HELD)
		return pass;
	admission->denied = REASON_BREAKER;
	admission->next = admission->breaker.next;
	if (retry && caller->config->wait > 0)
		atomic_store(&segment->waiting, (uint64_t)age);
	return pass;
}

bool
admission_is_open(const struct admission *admission)
{
	return admission->fleet.decision == HOST_ASK ||
	    admission->fleet.decision == HOST_WAIT;
}

bool
admission_concerns(struct caller *caller, bool retry, nanos now)
{
	const struct budget_config *config = caller->config;

	caller->began = now;
	caller->lost_lease = false;
	return config->key != NULL && (retry || config->breaker.failures > 0);
}

struct admission
admission_ask(struct caller *caller, struct segment *segment,
    const struct header *header, bool retry, nanos now)
{
	struct admission admission = { .denied = REASON_NONE };
	bool waited = caller->waits;
	enum breaker_pass pass;

	caller->began = now;
	caller->renewal = now + BREAKER_RENEWAL;
	caller->lease = 0;
	caller->lost_lease = caller->waits = false;
	admission.effective = agree(caller, segment, header);
	if (admission.effective.corrupt)
		return admission;
	pass = ask_breaker(
	    caller, &admission, segment, retry, segment_age(header, now));
	/*
	 * Only pass tells whether the budget has to limit the retry. The state
	 * of the breaker may have been different a moment before, and may have
	 * changed since.
	 */
	if (retry && pass == BREAKER_PASSED)
		limit_retry(caller, &admission, segment, header, now);
	else if (retry && pass == BREAKER_TURN)
		add_one(&segment->turns);
	else if (retry && pass == BREAKER_PROBE)
		add_one(&segment->probes);
	/* A grant is for the retry that is due now, and a wait ends with its
	 * decision. */
	if (caller->fleet != NULL) {
		caller->fleet->granted = false;
		if (!admission_is_open(&admission))
			caller->fleet->wait = (struct fleet_wait){ 0 };
	}
	caller->waits = admission_is_open(&admission)
	    ? waited
	    : admission.denied != REASON_NONE;
	if (caller->waits && !waited)
		add_one(&segment->denied);
	return admission;
}

struct admission
admission_foresee(const struct caller *caller, struct segment *segment,
    const struct header *header, nanos delay, nanos now)
{
	const struct budget_config *config = caller->config;
	struct admission admission = { .denied = REASON_NONE };
	const struct terms *limits = &admission.effective.limits;
	nanos age = segment_age(header, now), next, window;
	int64_t coming;

	if (config->wait > 0 ||
	    (caller->uses_breaker && config->breaker.failures > 0))
		return admission;
	admission.effective = agree(caller, segment, header);
	if (admission.effective.corrupt)
		return admission;
	next = segment_next(
	    &segment->window, header, limits, now, &admission.sums);
	/* Rounded up; in milliseconds, so that the product has room. */
	window = admission.effective.limits.window / NANOS_MS;
	coming = (number_multiply(admission.sums.successes, delay / NANOS_MS) +
		     window - 1) /
	    window;
	admission.cooling = segment_cooldown(segment, age) > delay;
	if (!admission.cooling &&
	    (next <= delay ||
		window_limit(limits, admission.sums.successes + coming) >
		    admission.sums.retries))
		return admission;
	admission.never = limits->ratio == 0 && limits->min == 0;
	deny_retry(caller, &admission, segment, next, age);
	add_one(&segment->denied);
	return admission;
}

struct attempt_effect
admission_effect(const struct judgement *judgement,
    const struct outcome *outcome, bool deposits)
{
	bool completed = judgement->verdict == VERDICT_DONE;
	struct attempt_effect effect = { .result = RESULT_FAILURE,
		.succeeded = completed || judgement->verdict == VERDICT_REPEAT,
		.completed = completed,
		.deposits = deposits };

	/* A failure says nothing about the dependency if the deadline of retry,
	 * a signal or a closed pipe ended the attempt. */
	if (!effect.succeeded &&
	    (outcome->end == END_NOT_STARTED || outcome->end == END_DEADLINE ||
		outcome->interrupted != 0 ||
		(judgement->reason == REASON_NOT_RETRYABLE &&
		    verdict_meant(outcome))))
		effect.result = RESULT_IGNORED;
	else if (effect.succeeded || judgement->reason == REASON_STOP_RULE ||
	    judgement->reason == REASON_NOT_RETRYABLE)
		effect.result = RESULT_HEALTHY;
	return effect;
}

struct effective_limits
admission_tell(struct caller *caller, struct segment *segment,
    const struct header *header, const struct attempt_effect *effect, nanos now)
{
	struct effective_limits effective = agree(caller, segment, header);
	const struct breaker_config *breaker = &caller->config->breaker;
	const struct fleet_caller *fleet = caller->fleet;
	nanos age = segment_age(header, now);
	int64_t hosts = fleet == NULL
	    ? 0
	    : fleet_host_hosts(&segment->fleet, fleet->config.tag);

	if (effective.corrupt)
		return effective;
	/* The deposit comes first: if it fails, the caller tells all of it once
	 * more. */
	if (effect->completed && effect->deposits &&
	    window_deposit(&segment->window, segment_epoch(header, now)) ==
		WINDOW_CORRUPT) {
		effective.corrupt = true;
		return effective;
	}
	/* The result of a probe that lost its lease is ignored. */
	if (caller->lease != 0)
		breaker_probed(&segment->breaker, breaker, effect->result,
		    caller->lease, hosts, age);
	else if (caller->uses_breaker && !caller->lost_lease)
		breaker_tell(&segment->breaker, breaker, effect->result,
		    effect->succeeded, segment_age(header, caller->began), age);
	if (!caller->counted)
		add_one(&segment->firsts);
	if (effect->completed)
		add_one(&segment->successes);
	caller->counted = true;
	caller->lease = 0;
	return effective;
}

nanos
admission_nap(const struct caller *caller, nanos now)
{
	if (caller->lease == 0)
		return NANOS_MAX;
	return caller->renewal > now ? caller->renewal - now : 0;
}

void
admission_renew(struct caller *caller, struct segment *segment,
    const struct header *header, nanos now)
{
	breaker_renew(
	    &segment->breaker, &caller->lease, segment_age(header, now));
	caller->lost_lease = caller->lease == 0;
	caller->renewal = now + BREAKER_RENEWAL;
}
