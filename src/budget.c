#include "budget.h"

#include <errno.h>
#include <string.h>
#include "context.h"
#include "number.h"

/* How often to look for a segment that is removed under us. */
#define TRIES 3

/* A longer pause after a denial is nonsense, and not observed. */
#define COOLDOWN_MOST NANOS_DAY

/* One look into the segment, and what came of it. */
struct visit {
	struct budget *budget;
	nanos now;
	bool differs; /* others say other numbers */
	bool spoilt; /* there is no sense in its words */
	/* to ask */
	bool retry;
	struct admission admission;
	/* to tell */
	enum gate_news news;
	bool succeeded, deposits;
};

void
budget_start(struct budget *budget, const struct share *share,
    const char *admitted, struct lines *lines)
{
	budget->minds_gate = admitted == NULL || share->key == NULL ||
	    strcmp(admitted, share->key) != 0;
	budget->share = share;
	budget->lines = lines;
	budget->alone = budget->warned = budget->counted = false;
	budget->waits = budget->outrun = false;
	budget->store.fd = -1;
	budget->lease = 0;
}

/* Goes on with a segment that nobody else sees, and says why. */
static void
go_alone(struct budget *budget, const char *why, int error)
{
	const struct share *share = budget->share;
	struct origin origin = { .base = context_now(CLOCK_BOOTTIME) };
	bool reasoned = error != 0;

	store_close(&budget->store);
	budget->alone = true;
	segment_make(&budget->own, share->key, &share->terms, &origin);
	if (budget->warned)
		return;
	budget->warned = true;
	lines_say(budget->lines,
	    share->required ? LOUDNESS_QUIET : LOUDNESS_PLAIN,
	    STRINGS("budget '", share->key, "': cannot be used: ", why,
		reasoned ? ": " : "", reasoned ? strerror(error) : "", ", in ",
		share->directory,
		share->required ? "" : "; counting for this command alone"));
}

static bool
open_shared(struct budget *budget)
{
	const struct share *share = budget->share;
	const char *why = store_open(
	    &budget->store, share->directory, share->key, &share->terms, true);

	if (why != NULL)
		go_alone(budget, why, errno);
	return why == NULL;
}

/*
 * Does work with the segment, whichever it is. Should that be taken away, work
 * may be broken off anywhere and is done anew with another one: so it begins by
 * setting what it sets of the visit and of the budget, and what it leaves in
 * the one that is lost does not matter.
 */
static void
use(struct budget *budget,
    void (*work)(struct segment *, const struct header *, void *), void *with)
{
	for (int i = 0; i < TRIES && !budget->alone; i++) {
		if (budget->store.fd == -1 && !open_shared(budget))
			break;
		if (store_use(&budget->store, work, with))
			return;
	}
	if (!budget->alone)
		go_alone(budget, "removed again and again", 0);
	work(&budget->own, &budget->own.header, with);
}

/* Says that the numbers are not those that this invocation asked for. */
static void
say_differs(struct budget *budget, const struct admission *admission)
{
	char ratio[NUMBER_ROOM], min[NUMBER_ROOM], window[NUMBER_ROOM];

	if (budget->warned)
		return;
	budget->warned = true;
	lines_say(budget->lines, LOUDNESS_PLAIN,
	    STRINGS("budget '", budget->share->key,
		"': shared with other numbers: ratio ",
		number_put_decimal(
		    ratio, admission->limits.ratio, RING_RATIO_ONE),
		", min ", number_put(min, admission->limits.min), ", window ",
		number_put_decimal(window, admission->window, NANOS_SECOND),
		"s hold"));
}

/*
 * The same, for a visit. Words that make no sense may only be from long after
 * our clock was read, because we were stopped meanwhile: once more, then.
 */
static void
pay(struct visit *visit,
    void (*work)(struct segment *, const struct header *, void *))
{
	struct budget *budget = visit->budget;

	use(budget, work, visit);
	if (visit->spoilt) {
		visit->now = context_now(CLOCK_BOOTTIME);
		use(budget, work, visit);
	}
	if (visit->spoilt && !budget->alone) {
		go_alone(budget, "no sense in its words", 0);
		use(budget, work, visit);
	}
	if (visit->differs)
		say_differs(budget, &visit->admission);
}

static void
add_one(_Atomic uint64_t *counter)
{
	atomic_fetch_add(counter, 1);
}

/* Brings our numbers and the segment's together. False: it has none. */
static bool
enter(struct visit *visit, struct segment *segment, const struct header *header)
{
	struct admission *admission = &visit->admission;
	bool differs;

	admission->window = segment_window(header);
	admission->limits =
	    segment_agree(segment, &visit->budget->share->terms, &differs);
	visit->differs = differs;
	visit->spoilt = admission->limits.ratio < 0;
	return !visit->spoilt;
}

/* Whether there is sense in the ring. Where no retry is allowed, none counts.
 */
static void
look(struct segment *segment, const struct header *header, void *with)
{
	static const struct ring_limits none = { 0, 0 };
	struct visit *visit = with;
	struct ring_sums sums;

	if (enter(visit, segment, header))
		visit->spoilt = ring_withdraw(&segment->ring, &none,
				    segment_epoch(header, visit->now),
				    &sums) == RING_SPOILT;
}

bool
budget_ready(struct budget *budget)
{
	struct visit visit = { .budget = budget,
		.now = context_now(CLOCK_BOOTTIME) };

	if (!budget->share->required)
		return true;
	pay(&visit, look);
	return !budget->alone;
}

/* What is left of the pause after a denial. */
static nanos
cooldown_left(const struct segment *segment, nanos age)
{
	nanos until = (nanos)(atomic_load(&segment->cooldown) & INT64_MAX);

	return until > age && until - age <= COOLDOWN_MOST ? until - age : 0;
}

/* Begins that pause, unless a longer one is on. */
static void
cool_down(struct segment *segment, nanos age, nanos span)
{
	uint64_t until = (uint64_t)(age + span);
	uint64_t was = atomic_load(&segment->cooldown);

	while (cooldown_left(segment, age) < span &&
	    !atomic_compare_exchange_weak(&segment->cooldown, &was, until))
		;
}

/* When to ask the ring again: what it says itself, or a longer pause. */
static void
find_next(struct visit *visit, const struct segment *segment,
    const struct header *header)
{
	struct admission *admission = &visit->admission;
	const struct ring_limits *limits = &admission->limits;
	nanos age = segment_age(header, visit->now), pause;
	int64_t epoch = segment_epoch(header, visit->now);
	int64_t slices =
	    ring_next(&segment->ring, limits, epoch, &admission->sums);

	admission->denied = REASON_BUDGET;
	admission->never = limits->ratio == 0 && limits->min == 0;
	pause = cooldown_left(segment, age);
	if (slices == RING_NEVER)
		admission->next = NANOS_MAX;
	else if (slices > 0)
		admission->next = header->slice * (epoch + slices) - age;
	if (pause > admission->next)
		admission->next = pause;
}

/* Asks the ring, whose answer is the only one that counts a retry. */
static void
ask_ring(
    struct visit *visit, struct segment *segment, const struct header *header)
{
	struct admission *admission = &visit->admission;
	nanos age = segment_age(header, visit->now);
	nanos cooldown = visit->budget->share->cooldown;
	int64_t epoch = segment_epoch(header, visit->now);
	enum ring_answer answer = RING_DENIED;

	admission->cooling = cooldown_left(segment, age) > 0;
	if (!admission->cooling) {
		answer = ring_withdraw(&segment->ring, &admission->limits,
		    epoch, &admission->sums);
		if (answer == RING_DENIED && cooldown > 0)
			cool_down(segment, age, cooldown);
	}
	if (answer == RING_GRANTED)
		add_one(&segment->retries);
	else if (answer == RING_DENIED)
		find_next(visit, segment, header);
	else
		visit->spoilt = true;
}

/* Whether the breaker lets the attempt through. */
static bool
ask_gate(struct visit *visit, struct segment *segment, nanos age)
{
	struct budget *budget = visit->budget;
	struct admission *admission = &visit->admission;
	struct gate_view view;

	if (!budget->minds_gate || budget->share->breaker.failures == 0 ||
	    gate_enter(&segment->gate, age, &budget->lease, &view) != GATE_HELD)
		return true;
	admission->denied = REASON_BREAKER;
	admission->next = view.next;
	admission->failures = view.failures;
	admission->probing = view.state == GATE_HALF_OPEN;
	return false;
}

static void
ask(struct segment *segment, const struct header *header, void *with)
{
	struct visit *visit = with;
	struct budget *budget = visit->budget;
	nanos age = segment_age(header, visit->now);

	visit->admission = (struct admission){ .denied = REASON_NONE };
	budget->lease = 0;
	if (!enter(visit, segment, header))
		return;
	if (ask_gate(visit, segment, age) && visit->retry)
		ask_ring(visit, segment, header);
	if (visit->admission.denied == REASON_NONE && !visit->spoilt)
		return;
	if (!budget->waits && !visit->spoilt)
		add_one(&segment->denied);
	if (budget->lease != 0) /* a probe that the ring did not allow */
		gate_probed(&segment->gate, &budget->share->breaker,
		    GATE_NO_NEWS, budget->lease, age);
	budget->lease = 0;
}

struct admission
budget_admit(struct budget *budget, bool retry, nanos now)
{
	struct visit visit = { .budget = budget, .now = now, .retry = retry };

	budget->outrun = false;
	/* A first attempt is nobody's business but the breaker's. */
	if (budget->share->key == NULL ||
	    (!retry && budget->share->breaker.failures == 0))
		return visit.admission;
	pay(&visit, ask);
	budget->waits = visit.admission.denied != REASON_NONE;
	budget->renewal = now + GATE_RENEWAL;
	return visit.admission;
}

/*
 * What an attempt says of the dependency. The deadline that cut it says
 * something of us, and so does a reader or somebody at a keyboard who ended it.
 */
static enum gate_news
news_of(enum reason reason, const struct outcome *outcome)
{
	if (reason == REASON_SUCCEEDED)
		return GATE_WELL;
	if (outcome->end == END_NOT_STARTED || outcome->end == END_DEADLINE ||
	    outcome->interrupted != 0)
		return GATE_NO_NEWS;
	if (reason == REASON_STOP_RULE)
		return GATE_WELL;
	if (reason == REASON_NOT_RETRYABLE)
		return verdict_meant(outcome) ? GATE_NO_NEWS : GATE_WELL;
	return GATE_ILL;
}

static void
tell(struct segment *segment, const struct header *header, void *with)
{
	struct visit *visit = with;
	struct budget *budget = visit->budget;
	const struct breaker *breaker = &budget->share->breaker;
	nanos age = segment_age(header, visit->now);

	if (!enter(visit, segment, header))
		return;
	/* First, since all of this may have to be done anew. */
	if (visit->succeeded && visit->deposits &&
	    ring_deposit(&segment->ring, segment_epoch(header, visit->now)) ==
		RING_SPOILT) {
		visit->spoilt = true;
		return;
	}
	if (budget->lease != 0)
		gate_probed(
		    &segment->gate, breaker, visit->news, budget->lease, age);
	else if (budget->minds_gate && !budget->outrun)
		gate_tell(&segment->gate, breaker, visit->news,
		    visit->succeeded, age);
	if (!budget->counted)
		add_one(&segment->firsts);
	if (visit->succeeded)
		add_one(&segment->successes);
}

void
budget_tell(struct budget *budget, enum reason reason,
    const struct outcome *outcome, bool deposits, nanos now)
{
	struct visit visit = { .budget = budget,
		.now = now,
		.news = news_of(reason, outcome),
		.succeeded = reason == REASON_SUCCEEDED,
		.deposits = deposits };

	if (budget->share->key == NULL)
		return;
	pay(&visit, tell);
	budget->counted = true;
	budget->lease = 0;
}

static void
renew(struct segment *segment, const struct header *header, void *with)
{
	struct visit *visit = with;

	gate_renew(&segment->gate, &visit->budget->lease,
	    segment_age(header, visit->now));
}

nanos
budget_nap(const struct budget *budget, nanos now)
{
	if (budget->lease == 0)
		return NANOS_MAX;
	return budget->renewal > now ? budget->renewal - now : 0;
}

void
budget_renew(struct budget *budget, nanos now)
{
	struct visit visit = { .budget = budget, .now = now };

	if (budget_nap(budget, now) > 0)
		return;
	use(budget, renew, &visit);
	budget->outrun = budget->lease == 0;
	budget->renewal = now + GATE_RENEWAL;
}
