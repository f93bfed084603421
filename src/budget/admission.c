#include "budget/admission.h"

#include <assert.h>
#include "budget/ramp.h"
#include "text/number.h"

/* The shortest mean time between the looks of a process that waits for a turn,
 * and the bounds of it for one that waits for the breaker or the budget. */
#define LOOK_TURN (50 * NANOS_MS)
#define LOOK_LEAST (20 * NANOS_MS)
#define LOOK_MOST NANOS_SECOND
/* Nobody sleeps longer. */
#define LOOK_SOON (30 * NANOS_SECOND)
/* If nobody knows when a retry may be made, or in a long time. */
#define LOOK_UNKNOWN (16 * LOOK_MOST)

static_assert(LOOK_MOST + LOOK_MOST / 2 < ADMISSION_WAITING,
    "a retry that waits asks again while it counts as one");

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
		segment_cool(segment, config->cooldown, age);
	if (has_breaker(visit->caller))
		breaker_starve(&segment->breaker, &config->breaker, age);
	admission->answer = ADMISSION_BUDGET;
	admission->never =
	    admission->terms.ratio == 0 && admission->terms.min == 0;
	admission->next = number_greater(next, segment_cooldown(segment, age));
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
	admission->cooling = segment_cooldown(segment, age) > 0;
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

/* When the caller looks again, which *admission says then. */
static void
nap(const struct visit *visit, struct admission *admission,
    struct traffic *traffic, uint64_t *random)
{
	enum admission_answer answer = admission->answer;
	const struct breaker_view *breaker = &admission->breaker;
	nanos least = LOOK_TURN, next = admission->next;
	double turns = admission->pace.rate;

	if (answer == ADMISSION_BREAKER || answer == ADMISSION_BUDGET) {
		next = number_lesser(next, LOOK_UNKNOWN);
		least =
		    number_greater(number_lesser(next, LOOK_MOST), LOOK_LEAST);
	}
	/* Turns come soon after a probe, but none before it is due; the next
	 * step has twice as many. */
	if (answer == ADMISSION_BREAKER && admission->next < LOOK_SOON)
		turns = 2 * RAMP_FIRST * (double)NANOS_SECOND / RAMP_STEP;
	if (answer == ADMISSION_BREAKER && (double)breaker->rate > turns)
		turns = (double)breaker->rate;
	admission->nap =
	    pace_nap(&traffic->looks, visit->age, next, least, turns, random);
	if (answer != ADMISSION_CLOSED && answer != ADMISSION_PACE)
		return;
	pace_use(&traffic->pace, visit->age, admission->nap);
	/* About so long until its turn comes, for people. */
	if (answer == ADMISSION_PACE)
		admission->next += (nanos)((traffic->looks.waiting - 1) /
		    turns * (double)NANOS_SECOND);
	else
		admission->next = number_greater(next, admission->pace.held);
}

/* The same for one that the breaker or the budget has denied. */
static void
look_again(const struct visit *visit, struct admission *admission)
{
	struct traffic traffic;
	uint64_t change, random;

	do {
		change = segment_read(visit->segment, visit->age, &traffic);
		random = visit->caller->random;
		nap(visit, admission, &traffic, &random);
	} while (!segment_replace(visit->segment, change, &traffic));
	visit->caller->random = random;
}

/*
 * Asks the pace and --rate. If both say yes, and only if begins, an attempt
 * begins with that; else this is only a look. If one says no, *admission says
 * so, and when to look again.
 */
static void
ask_server(const struct visit *visit, struct admission *admission, bool begins)
{
	const struct pace_event event = { .kind = PACE_ASKED,
		.now = visit->age };
	struct caller *caller = visit->caller;
	struct traffic traffic, before;
	struct pace_attempt attempt = { .began = 0 };
	uint64_t change, random;
	nanos age = visit->age;
	bool denied;

	/* It is a part of an attempt with the same key, which has begun. */
	if (caller->nested && !caller->counted) {
		caller->attempt = (struct pace_attempt){ .began = age + 1 };
		return;
	}
	do {
		change = segment_read(visit->segment, age, &traffic);
		random = caller->random;
		caller->outpaced =
		    rate_agree(&traffic.rate, &caller->config->rate, age);
		before = traffic;
		admission->next =
		    pace_step(&traffic.pace, &attempt, &event, &random);
		admission->pace = pace_look(&traffic.pace, age);
		denied = admission->next > 0;
		if (denied) {
			admission->answer = admission->pace.closed
			    ? ADMISSION_CLOSED
			    : ADMISSION_PACE;
		} else {
			admission->next = rate_take(&traffic.rate, age);
			denied = admission->next > 0;
			if (denied) {
				admission->answer = ADMISSION_RATE;
				traffic = before;
			}
		}
		if (denied)
			nap(visit, admission, &traffic, &random);
	} while ((denied || begins) &&
	    !segment_replace(visit->segment, change, &traffic));
	admission->rate = caller->rate = before.rate.terms;
	admission->paced = admission->pace.closed || admission->pace.rate > 0;
	caller->random = random;
	caller->attempt = attempt;
}

/* Gives back what the breaker and the window have granted. */
static void
give_back(const struct visit *visit)
{
	struct caller *caller = visit->caller;
	struct segment *segment = visit->segment;

	if (caller->lease != 0)
		breaker_probed(&segment->breaker, &caller->config->breaker,
		    RESULT_IGNORED, caller->lease, 0, visit->age);
	if (caller->paid > 0)
		window_refund(&segment->window, caller->paid - 1);
	caller->lease = 0;
	caller->paid = 0;
}

/*
 * Asks the breaker, and then the window and the fleet, which may deny a retry.
 * Returns what counts the retry, or TOTALS.
 */
static enum total
ask_budget(const struct visit *visit, struct admission *admission, bool retry,
    bool granted)
{
	struct caller *caller = visit->caller;
	struct segment *segment = visit->segment;
	enum breaker_pass pass = BREAKER_PASSED;
	nanos age = visit->age;

	if (has_breaker(caller)) {
		/* Read first: a write would contend for the cache line. */
		if (atomic_load(&segment->guarded) == 0)
			atomic_store(&segment->guarded, 1);
		pass = BREAKER_REFUSED;
		if (retry || !yields(admission, segment, age))
			pass = breaker_enter(&segment->breaker, age,
			    &caller->lease, &admission->breaker);
	}
	if (pass == BREAKER_REFUSED) {
		admission->answer = ADMISSION_BREAKER;
		admission->next = admission->breaker.next;
		if (retry && caller->config->wait > 0)
			atomic_store(&segment->waiting, (uint64_t)age);
	}
	/*
	 * Only pass tells whether the budget has to limit the retry. The state
	 * of the breaker may have been different a moment before, and may have
	 * changed since.
	 */
	if (!retry || pass == BREAKER_REFUSED)
		return TOTALS;
	if (pass == BREAKER_TURN)
		return TOTAL_TURNS;
	if (pass == BREAKER_PROBE)
		return TOTAL_PROBES;
	if (caller->limited)
		return TOTAL_LIMITED;
	limit_retry(visit, admission, granted);
	return TOTAL_RETRIES;
}

/* Whether the breaker or the window is seen to deny an attempt. */
static bool
is_denied(const struct visit *visit, bool retry)
{
	const struct caller *caller = visit->caller;

	if (has_breaker(caller) &&
	    breaker_look(&visit->segment->breaker, visit->age).next > 0)
		return true;
	return retry && !caller->limited && visit->next > 0;
}

struct admission
admission_ask(const struct visit *visit, bool retry, bool granted)
{
	struct caller *caller = visit->caller;
	struct segment *segment = visit->segment;
	struct admission admission = { .answer = ADMISSION_GRANTED,
		.terms = visit->terms };
	enum total total = TOTALS;
	bool throttled;

	caller->began = visit->now;
	caller->renewal = number_add(visit->now, BREAKER_RENEWAL);
	caller->lease = 0;
	caller->paid = 0;
	caller->lost_lease = false;
	ask_server(visit, &admission, false);
	if (admission.answer == ADMISSION_RATE && is_denied(visit, retry))
		admission.answer = ADMISSION_GRANTED;
	if (admission.answer == ADMISSION_GRANTED) {
		total = ask_budget(visit, &admission, retry, granted);
		if (admission.answer == ADMISSION_PENDING)
			return admission;
		if (admission.answer == ADMISSION_GRANTED)
			ask_server(visit, &admission, true);
		else
			look_again(visit, &admission);
	}
	if (caller->fleet != NULL)
		caller->fleet->waits = false;
	throttled = admission.answer == ADMISSION_CLOSED ||
	    admission.answer == ADMISSION_PACE ||
	    admission.answer == ADMISSION_RATE;
	if (throttled) {
		give_back(visit);
		if (!caller->throttled)
			segment_count(segment, TOTAL_THROTTLED);
	} else if (admission.answer != ADMISSION_GRANTED) {
		if (!caller->waits)
			segment_count(segment, TOTAL_DENIED);
	} else if (total != TOTALS) {
		segment_count(segment, total);
	}
	caller->throttled = throttled;
	caller->waits = !throttled && admission.answer != ADMISSION_GRANTED;
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
	struct traffic traffic;
	nanos age = visit->age;

	if (delay < 0 || caller->config->wait > 0 || has_breaker(caller) ||
	    caller->limited)
		return admission;
	segment_read(segment, age, &traffic);
	delay = number_greater(delay, pace_look(&traffic.pace, age).held);
	admission.sums = visit->sums;
	admission.cooling = segment_cooldown(segment, age) > delay;
	if (!admission.cooling &&
	    (visit->next <= delay ||
		(visit->sums.successes > 0 && visit->terms.ratio > 0)))
		return admission;
	deny(visit, &admission, visit->next);
	segment_count(segment, TOTAL_DENIED);
	return admission;
}

/* Tells the pace how the attempt ended. */
static void
tell_server(const struct visit *visit, const struct attempt_end *end)
{
	const struct pace_event event = { .kind = end->pace,
		.now = visit->age,
		.wait = end->wait,
		.strict = end->strict,
		.own = end->own };
	struct caller *caller = visit->caller;
	struct pace_attempt attempt;
	struct traffic traffic;
	uint64_t change, random;

	do {
		change = segment_read(visit->segment, visit->age, &traffic);
		random = caller->random;
		attempt = caller->attempt;
		pace_step(&traffic.pace, &attempt, &event, &random);
	} while (!segment_replace(visit->segment, change, &traffic));
	caller->random = random;
	caller->attempt = attempt;
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
	tell_server(visit, end);
	caller->limited = result == RESULT_LIMIT;
	if (caller->limited)
		result = RESULT_IGNORED;
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
