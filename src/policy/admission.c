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
	struct effective_limits effective = { .window =
						  segment_window(header) };

	effective.limits =
	    segment_agree(segment, &caller->share->terms, &effective.differs);
	effective.corrupt = effective.limits.ratio < 0;
	return effective;
}

struct effective_limits
admission_look(const struct caller *caller, struct segment *segment,
    const struct header *header, nanos now)
{
	/* A withdrawal that is always denied, and so counts nothing. */
	static const struct window_limits none = { 0, 0 };
	struct effective_limits effective = agree(caller, segment, header);
	struct window_sums sums;

	if (!effective.corrupt)
		effective.corrupt =
		    window_withdraw(&segment->window, &none,
			segment_epoch(header, now), &sums) == WINDOW_CORRUPT;
	return effective;
}

/* Begins the pause after a denial, unless a longer one has begun. */
static void
cool_down(struct segment *segment, nanos age, nanos span)
{
	uint64_t until = (uint64_t)(age + span);
	uint64_t was = atomic_load(&segment->cooldown);

	while (segment_cooldown(segment, age) < span &&
	    !atomic_compare_exchange_weak(&segment->cooldown, &was, until))
		;
}

/* Denies a retry, for next or until the pause after a denial is over. */
static void
deny_retry(const struct caller *caller, struct admission *admission,
    struct segment *segment, nanos next, nanos age)
{
	nanos cooldown = caller->share->cooldown;

	if (cooldown > 0 && !admission->cooling)
		cool_down(segment, age, cooldown);
	admission->denied = REASON_BUDGET;
	admission->next = number_greater(next, segment_cooldown(segment, age));
}

/* Asks the window, which counts a retry that it grants. */
static void
ask_window(const struct caller *caller, struct admission *admission,
    struct segment *segment, const struct header *header, nanos now)
{
	const struct window_limits *limits = &admission->effective.limits;
	enum window_answer answer = WINDOW_DENIED;

	if (!admission->cooling)
		answer = window_withdraw(&segment->window, limits,
		    segment_epoch(header, now), &admission->sums);
	if (answer == WINDOW_GRANTED) {
		add_one(&segment->retries);
	} else if (answer == WINDOW_CORRUPT) {
		admission->effective.corrupt = true;
	} else {
		admission->never = limits->ratio == 0 && limits->min == 0;
		deny_retry(caller, admission, segment,
		    segment_next(&segment->window, header, limits, now,
			&admission->sums),
		    segment_age(header, now));
	}
}

/* How many retries the window would grant now. */
static int64_t
left_in_window(const struct admission *admission, const struct segment *segment,
    const struct header *header, nanos now)
{
	struct window_sums sums =
	    window_look(&segment->window, segment_epoch(header, now));

	return window_limit(&admission->effective.limits, sums.successes) -
	    sums.retries;
}

/*
 * Asks the fleet, if there is one, for a retry that the window would grant.
 * Returns whether the window has to decide now.
 */
static bool
ask_fleet(const struct caller *caller, struct admission *admission,
    struct segment *segment, const struct header *header, nanos now)
{
	struct fleet_caller *fleet = caller->fleet;
	nanos age = segment_age(header, now);
	int64_t left;

	if (fleet == NULL || fleet->granted || admission->cooling)
		return true;
	left = left_in_window(admission, segment, header, now);
	if (left <= 0)
		return true;
	admission->fleet = fleet_caller_ask(fleet, segment, header, left, now);
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

/* Asks the fleet and the window, which limit a retry. */
static void
limit_retry(const struct caller *caller, struct admission *admission,
    struct segment *segment, const struct header *header, nanos now)
{
	nanos age = segment_age(header, now);

	admission->cooling = segment_cooldown(segment, age) > 0;
	if (!ask_fleet(caller, admission, segment, header, now))
		return;
	ask_window(caller, admission, segment, header, now);
	admission->by_fleet = caller->fleet != NULL &&
	    admission->denied == REASON_NONE &&
	    admission->fleet.decision == HOST_GRANTED;
}

/*
 * For how long the probe is left to a retry that waits; 0 if none does. The
 * word may hold anything.
 */
static nanos
reserved(const struct segment *segment, nanos age)
{
	nanos asked = (nanos)atomic_load(&segment->waiting);

	if (asked <= 0 || asked - age >= ADMISSION_WAITING ||
	    age - asked >= ADMISSION_WAITING)
		return 0;
	return ADMISSION_WAITING - number_greater(age - asked, 0);
}

/*
 * Whether a first attempt has to leave the probe to a retry. A look at the
 * breaker is enough to hold an attempt back.
 */
static bool
yields(struct admission *admission, const struct segment *segment, nanos age)
{
	struct breaker_view *view = &admission->breaker;
	nanos rest = reserved(segment, age);

	if (rest == 0)
		return false;
	*view = breaker_look(&segment->breaker, age);
	view->next = number_greater(view->next, rest);
	return view->state == BREAKER_OPEN || view->state == BREAKER_HALF_OPEN;
}

/* Asks the breaker, if there is one. */
static enum breaker_pass
ask_breaker(struct caller *caller, struct admission *admission,
    struct segment *segment, bool retry, nanos age)
{
	enum breaker_pass pass = BREAKER_HELD;

	if (!caller->uses_breaker || caller->share->breaker.failures == 0)
		return BREAKER_PASSED;
	if (retry || !yields(admission, segment, age))
		pass = breaker_enter(&segment->breaker, age, &caller->lease,
		    &admission->breaker);
	if (pass != BREAKER_HELD)
		return pass;
	admission->denied = REASON_BREAKER;
	admission->next = admission->breaker.next;
	if (retry && caller->share->wait > 0)
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
	const struct share *share = caller->share;

	caller->began = now;
	caller->lost_lease = false;
	return share->key != NULL && (retry || share->breaker.failures > 0);
}

/* A grant is for the retry that is due now, and a wait ends with its decision.
 */
static void
finish_retry(struct fleet_caller *fleet, const struct admission *admission)
{
	fleet->granted = false;
	if (!admission_is_open(admission))
		fleet->wait = (struct fleet_wait){ .waits = false };
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
	if (caller->fleet != NULL)
		finish_retry(caller->fleet, &admission);
	if (admission_is_open(&admission))
		caller->waits = waited;
	else
		caller->waits = admission.denied != REASON_NONE;
	if (caller->waits && !waited)
		add_one(&segment->denied);
	return admission;
}

/*
 * What a failure says about the dependency: nothing, if the deadline of retry,
 * a signal or a closed pipe ended the attempt.
 */
static enum attempt_result
attempt_result(enum reason reason, const struct outcome *outcome)
{
	if (outcome->end == END_NOT_STARTED || outcome->end == END_DEADLINE ||
	    outcome->interrupted != 0)
		return RESULT_IGNORED;
	if (reason == REASON_STOP_RULE)
		return RESULT_HEALTHY;
	if (reason == REASON_NOT_RETRYABLE)
		return verdict_meant(outcome) ? RESULT_IGNORED : RESULT_HEALTHY;
	return RESULT_FAILURE;
}

struct attempt_effect
admission_effect(const struct judgement *judgement,
    const struct outcome *outcome, bool deposits)
{
	bool completed = judgement->verdict == VERDICT_DONE;
	bool succeeded = completed || judgement->verdict == VERDICT_REPEAT;

	return (struct attempt_effect){ .result = succeeded
		    ? RESULT_HEALTHY
		    : attempt_result(judgement->reason, outcome),
		.succeeded = succeeded,
		.completed = completed,
		.deposits = deposits };
}

/* Tells the breaker the result, but not that of a probe that lost its lease. */
static void
tell_breaker(const struct caller *caller, struct segment *segment,
    const struct header *header, const struct attempt_effect *effect, nanos now)
{
	const struct breaker_config *breaker = &caller->share->breaker;
	const struct fleet_caller *fleet = caller->fleet;
	nanos age = segment_age(header, now);
	int64_t hosts = 0;

	if (fleet != NULL)
		hosts = fleet_host_hosts(&segment->fleet, fleet->config.tag);
	if (caller->lease != 0)
		breaker_probed(&segment->breaker, breaker, effect->result,
		    caller->lease, hosts, age);
	else if (caller->uses_breaker && !caller->lost_lease)
		breaker_tell(&segment->breaker, breaker, effect->result,
		    effect->succeeded, segment_age(header, caller->began), age);
}

struct effective_limits
admission_tell(struct caller *caller, struct segment *segment,
    const struct header *header, const struct attempt_effect *effect, nanos now)
{
	struct effective_limits effective = agree(caller, segment, header);

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
	tell_breaker(caller, segment, header, effect, now);
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
