#include "policy/admission.h"

#include "text/number.h"

/* A longer pause after a denial is nonsense, and not observed. */
#define COOLDOWN_MOST NANOS_DAY

static void
add_one(_Atomic uint64_t *counter)
{
	atomic_fetch_add(counter, 1);
}

/* Brings our numbers and the segment's together. */
static struct footing
agree(const struct caller *caller, struct segment *segment,
    const struct header *header)
{
	struct footing footing = { .window = segment_window(header) };

	footing.limits =
	    segment_agree(segment, &caller->share->terms, &footing.differs);
	footing.spoilt = footing.limits.ratio < 0;
	return footing;
}

struct footing
admission_look(const struct caller *caller, struct segment *segment,
    const struct header *header, nanos now)
{
	/* Where no retry is allowed, none is counted. */
	static const struct ring_limits none = { 0, 0 };
	struct footing footing = agree(caller, segment, header);
	struct ring_sums sums;

	if (!footing.spoilt)
		footing.spoilt =
		    ring_withdraw(&segment->ring, &none,
			segment_epoch(header, now), &sums) == RING_SPOILT;
	return footing;
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
deny_retry(struct admission *admission, const struct segment *segment,
    const struct header *header, nanos now)
{
	const struct ring_limits *limits = &admission->footing.limits;
	nanos age = segment_age(header, now);
	nanos pause = cooldown_left(segment, age);
	int64_t epoch = segment_epoch(header, now);
	int64_t slices =
	    ring_next(&segment->ring, limits, epoch, &admission->sums);

	admission->denied = REASON_BUDGET;
	admission->never = limits->ratio == 0 && limits->min == 0;
	if (slices == RING_NEVER)
		admission->next = NANOS_MAX;
	else if (slices > 0)
		admission->next = header->slice * (epoch + slices) - age;
	if (pause > admission->next)
		admission->next = pause;
}

/* Asks the ring, whose answer is the only one that charges a retry to it. */
static void
ask_ring(const struct caller *caller, struct admission *admission,
    struct segment *segment, const struct header *header, nanos now)
{
	enum ring_answer answer = RING_DENIED;
	nanos cooldown = caller->share->cooldown;
	nanos age = segment_age(header, now);

	admission->cooling = cooldown_left(segment, age) > 0;
	if (!admission->cooling)
		answer =
		    ring_withdraw(&segment->ring, &admission->footing.limits,
			segment_epoch(header, now), &admission->sums);
	if (answer == RING_GRANTED)
		add_one(&segment->retries);
	else if (answer == RING_SPOILT)
		admission->footing.spoilt = true;
	else {
		if (cooldown > 0 && !admission->cooling)
			cool_down(segment, age, cooldown);
		deny_retry(admission, segment, header, now);
	}
}

/* How the breaker lets the attempt in, or that it does not. */
static enum gate_pass
ask_gate(struct caller *caller, struct admission *admission,
    struct segment *segment, nanos age)
{
	enum gate_pass pass = GATE_PASSED;

	if (caller->minds_gate && caller->share->breaker.failures > 0)
		pass = gate_enter(
		    &segment->gate, age, &caller->lease, &admission->gate);
	if (pass == GATE_HELD) {
		admission->denied = REASON_BREAKER;
		admission->next = admission->gate.next;
	}
	return pass;
}

/*
 * Both of them: the breaker; and for a retry the ring, unless the breaker has
 * let it in of its own accord. Only its answer tells that: whatever is looked
 * at before or after may be another state of it, and what is passed then is
 * paid by nobody.
 */
static void
ask_both(struct caller *caller, struct admission *admission,
    struct segment *segment, const struct header *header, bool retry, nanos now)
{
	enum gate_pass pass =
	    ask_gate(caller, admission, segment, segment_age(header, now));

	if (!retry)
		return;
	switch (pass) {
	case GATE_PASSED:
		ask_ring(caller, admission, segment, header, now);
		break;
	case GATE_TURN:
		add_one(&segment->turns);
		break;
	case GATE_PROBE:
		add_one(&segment->probes);
		break;
	case GATE_HELD:
		break;
	}
}

bool
admission_concerns(struct caller *caller, bool retry, nanos now)
{
	const struct share *share = caller->share;

	caller->began = now;
	caller->outrun = false;
	return share->key != NULL && (retry || share->breaker.failures > 0);
}

struct admission
admission_ask(struct caller *caller, struct segment *segment,
    const struct header *header, bool retry, nanos now)
{
	struct admission admission = { .denied = REASON_NONE };
	bool waited = caller->waits;

	caller->began = now;
	caller->renewal = now + GATE_RENEWAL;
	caller->lease = 0;
	caller->outrun = caller->waits = false;
	admission.footing = agree(caller, segment, header);
	if (admission.footing.spoilt)
		return admission;
	ask_both(caller, &admission, segment, header, retry, now);
	caller->waits = admission.denied != REASON_NONE;
	if (caller->waits && !waited)
		add_one(&segment->denied);
	return admission;
}

/*
 * What an attempt says of the dependency. The deadline that cut it says
 * something of us, and so does a reader or somebody at a keyboard who ended it.
 */
static enum gate_news
gate_news(enum reason reason, const struct outcome *outcome)
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

struct news
admission_news(enum reason reason, const struct outcome *outcome, bool deposits)
{
	return (struct news){ .gate = gate_news(reason, outcome),
		.succeeded = reason == REASON_SUCCEEDED,
		.deposits = deposits };
}

/* To the breaker. Who was the probe until another took the lease is silent. */
static void
tell_gate(const struct caller *caller, struct segment *segment,
    const struct header *header, const struct news *news, nanos now)
{
	const struct breaker *breaker = &caller->share->breaker;
	nanos age = segment_age(header, now);

	if (caller->lease != 0)
		gate_probed(
		    &segment->gate, breaker, news->gate, caller->lease, age);
	else if (caller->minds_gate && !caller->outrun)
		gate_tell(&segment->gate, breaker, news->gate, news->succeeded,
		    segment_age(header, caller->began), age);
}

struct footing
admission_tell(struct caller *caller, struct segment *segment,
    const struct header *header, const struct news *news, nanos now)
{
	struct footing footing = agree(caller, segment, header);

	if (footing.spoilt)
		return footing;
	/* First, since all of this may have to be done anew. */
	if (news->succeeded && news->deposits &&
	    ring_deposit(&segment->ring, segment_epoch(header, now)) ==
		RING_SPOILT) {
		footing.spoilt = true;
		return footing;
	}
	tell_gate(caller, segment, header, news, now);
	if (!caller->counted)
		add_one(&segment->firsts);
	if (news->succeeded)
		add_one(&segment->successes);
	caller->counted = true;
	caller->lease = 0;
	return footing;
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
	gate_renew(&segment->gate, &caller->lease, segment_age(header, now));
	caller->outrun = caller->lease == 0;
	caller->renewal = now + GATE_RENEWAL;
}
