#include "budget/admission.h"

#include "budget/hold.h"
#include "text/number.h"

/* Whether the caller asks a breaker. */
static bool
has_breaker(const struct caller *caller)
{
	return caller->uses_breaker && caller->config->breaker.failures > 0;
}

/* Denies a retry, for next or until the pause after a denial is over. Begins
 * that pause, unless a longer one has begun, and may open the breaker. */
static void
deny(const struct visit *visit, struct admission *admission, nanos next)
{
	struct segment *segment = visit->segment;
	const struct budget_config *config = visit->caller->config;
	nanos age = visit->age;

	if (!admission->cooling)
		hold_extend(&segment->cooldown, config->cooldown, age);
	if (has_breaker(visit->caller))
		breaker_starve(&segment->breaker, &config->breaker, age);
	admission->answer = ADMISSION_BUDGET;
	admission->never =
	    admission->terms.ratio == 0 && admission->terms.min == 0;
	admission->next =
	    number_greater(next, hold_left(&segment->cooldown, age));
}

/* Asks the window and then the fleet, which limit a retry. The window counts a
 * retry that it grants. granted: the fleet has granted it. */
static void
limit_retry(
    const struct visit *visit, struct admission *admission, bool granted)
{
	struct caller *caller = visit->caller;
	struct segment *segment = visit->segment;
	struct window *window = &segment->window;
	const struct terms *terms = &admission->terms;
	struct host_step *fleet = &admission->fleet;
	nanos slice = visit->header->slice, age = visit->age;
	nanos next = visit->next;

	admission->sums = visit->sums;
	admission->cooling = hold_left(&segment->cooldown, age) > 0;
	if (granted)
		fleet->decision = HOST_GRANTED;
	else if (caller->fleet != NULL && !admission->cooling && next == 0)
		*fleet =
		    fleet_host_ask(&segment->fleet, window, caller->fleet, age);
	if (fleet->decision == HOST_WAIT || fleet->decision == HOST_ASK) {
		admission->answer = ADMISSION_PENDING;
		return;
	}
	if (fleet->decision == HOST_DENIED) {
		admission->view = fleet_host_look(&segment->fleet, slice, age);
		next = fleet->next;
	} else if (!admission->cooling && next == 0) {
		if (window_withdraw(window, terms, window_epoch(slice, age),
			&admission->sums) == WINDOW_GRANTED) {
			segment_count(segment, TOTAL_RETRIES);
			caller->paid = admission->sums.epoch + 1;
			return;
		}
		/* Another process was faster. */
		next = window_next(window, terms, slice, age, &admission->sums);
	}
	deny(visit, admission, next);
}

/*
 * Whether a first attempt has to leave the probe to a retry that waits. A look
 * at the breaker is enough to hold an attempt back. segment->waiting may be
 * corrupt.
 */
static bool
yields(struct admission *admission, const struct segment *segment, nanos age)
{
	struct breaker_view *view = &admission->breaker;
	nanos asked = (nanos)atomic_load(&segment->waiting);

	if (asked <= 0 || asked - ADMISSION_WAITING >= age ||
	    age - asked >= ADMISSION_WAITING)
		return false;
	*view = breaker_look(&segment->breaker, age);
	view->next = number_greater(
	    view->next, ADMISSION_WAITING - number_greater(age - asked, 0));
	return view->state == BREAKER_OPEN || view->state == BREAKER_HALF_OPEN;
}

struct admission
admission_ask(const struct visit *visit, bool retry, bool granted)
{
	struct caller *caller = visit->caller;
	struct segment *segment = visit->segment;
	struct admission admission = { .answer = ADMISSION_GRANTED,
		.terms = visit->terms };
	enum breaker_pass pass = BREAKER_PASSED;
	nanos age = visit->age;

	caller->began = visit->now;
	caller->renewal = number_add(visit->now, BREAKER_RENEWAL);
	caller->lease = 0;
	caller->paid = 0;
	caller->lost_lease = false;
	/* The hold comes first: nothing is counted for an attempt that waits.
	 */
	admission.next = hold_left(&segment->hold, age);
	if (admission.next > 0) {
		admission.answer = ADMISSION_HOLD;
		if (!caller->held)
			segment_count(segment, TOTAL_THROTTLED);
		caller->held = true;
		return admission;
	}
	caller->held = false;

	if (has_breaker(caller)) {
		/* Read first: a write would contend for the cache line. */
		if (atomic_load(&segment->guarded) == 0)
			atomic_store(&segment->guarded, 1);
		pass = BREAKER_REFUSED;
		if (retry || !yields(&admission, segment, age))
			pass = breaker_enter(&segment->breaker, age,
			    &caller->lease, &admission.breaker);
	}
	if (pass == BREAKER_REFUSED) {
		admission.answer = ADMISSION_BREAKER;
		admission.next = admission.breaker.next;
		if (retry && caller->config->wait > 0)
			atomic_store(&segment->waiting, (uint64_t)age);
	}
	/*
	 * Only pass tells whether the budget has to limit the retry. The state
	 * of the breaker may have been different a moment before, and may have
	 * changed since.
	 */
	if (retry && pass == BREAKER_PASSED && caller->limited)
		segment_count(segment, TOTAL_LIMITED);
	else if (retry && pass == BREAKER_PASSED)
		limit_retry(visit, &admission, granted);
	else if (retry && pass == BREAKER_TURN)
		segment_count(segment, TOTAL_TURNS);
	else if (retry && pass == BREAKER_PROBE)
		segment_count(segment, TOTAL_PROBES);

	if (admission.answer == ADMISSION_PENDING)
		return admission;
	if (caller->fleet != NULL)
		caller->fleet->waits = false;
	if (admission.answer != ADMISSION_GRANTED && !caller->waits)
		segment_count(segment, TOTAL_DENIED);
	caller->waits = admission.answer != ADMISSION_GRANTED;
	return admission;
}

/*
 * The window has none left, and will have none: no slice that leaves it frees
 * one, and no success has come lately that could pay for one. A caller that may
 * wait for the budget, or that asks the breaker, is never denied here.
 */
struct admission
admission_foresee(const struct visit *visit, nanos delay)
{
	const struct caller *caller = visit->caller;
	struct segment *segment = visit->segment;
	struct admission admission = { .answer = ADMISSION_GRANTED,
		.terms = visit->terms };
	nanos age = visit->age;

	if (delay < 0 || caller->config->wait > 0 || has_breaker(caller) ||
	    caller->limited)
		return admission;
	delay = number_greater(delay, hold_left(&segment->hold, age));
	admission.sums = visit->sums;
	admission.cooling = hold_left(&segment->cooldown, age) > delay;
	if (!admission.cooling &&
	    (visit->next <= delay ||
		(visit->sums.successes > 0 && visit->terms.ratio > 0)))
		return admission;
	deny(visit, &admission, visit->next);
	segment_count(segment, TOTAL_DENIED);
	return admission;
}

struct admission
admission_tell(const struct visit *visit, const struct attempt_end *end)
{
	struct caller *caller = visit->caller;
	struct segment *segment = visit->segment;
	const struct header *header = visit->header;
	const struct breaker_config *breaker = &caller->config->breaker;
	enum attempt_result result = end->result;
	nanos age = visit->age;
	int64_t hosts = 0;

	if (end->completed)
		window_deposit(
		    &segment->window, window_epoch(header->slice, age));
	if (end->hold >= HOLD_LEAST)
		hold_extend(&segment->hold, end->hold, age);
	caller->limited = result == RESULT_LIMIT && end->hold >= HOLD_LEAST;
	if (result == RESULT_LIMIT)
		result = caller->limited ? RESULT_IGNORED : RESULT_FAILURE;
	if (result == RESULT_SUCCESS && caller->paid > 0) {
		window_refund(&segment->window, caller->paid - 1);
		if (caller->fleet != NULL)
			fleet_host_rescue(&segment->fleet, caller->fleet, age);
	}
	if (caller->fleet != NULL)
		hosts = fleet_host_hosts(&segment->fleet);
	/* The result of a probe that lost its lease is ignored. */
	if (caller->lease != 0)
		breaker_probed(&segment->breaker, breaker, result,
		    caller->lease, hosts, age);
	else if (caller->uses_breaker && !caller->lost_lease)
		breaker_tell(&segment->breaker, breaker, result,
		    segment_age(header, caller->began), age);
	if (!caller->counted)
		segment_count(segment, TOTAL_FIRSTS);
	if (end->completed)
		segment_count(segment, TOTAL_SUCCESSES);
	if (end->rescued)
		segment_count(segment, TOTAL_RESCUED);
	caller->counted = true;
	caller->lease = 0;
	caller->paid = 0;
	return admission_foresee(visit, end->delay);
}

nanos
admission_nap(const struct caller *caller, nanos now)
{
	if (caller->lease == 0)
		return NANOS_MAX;
	return caller->renewal > now ? caller->renewal - now : 0;
}

void
admission_renew(const struct visit *visit)
{
	struct caller *caller = visit->caller;

	breaker_renew(&visit->segment->breaker, &caller->lease, visit->age);
	caller->lost_lease = caller->lease == 0;
	caller->renewal = number_add(visit->now, BREAKER_RENEWAL);
}
