#include "budget/snapshot.h"

#include <string.h>
#include "text/number.h"

/* The counters have not been checked, because nothing depends on them. */
static int64_t
count(const _Atomic uint64_t *counter)
{
	uint64_t value = atomic_load(counter);

	return value > INT64_MAX ? INT64_MAX : (int64_t)value;
}

void
snapshot_clear(struct snapshot *snapshot, const char *key)
{
	/* Each number is SNAPSHOT_NONE, which is -1. */
	memset(snapshot, 0xff, sizeof *snapshot);
	snapshot->file[0] = '\0';
	snapshot->length = strlen(key);
	memcpy(snapshot->key, key, snapshot->length);
	snapshot->idle = snapshot->guarded = false;
	snapshot->fleet = (struct host_view){ .denied = 0 };
}

bool
snapshot_is_known(const struct snapshot *snapshot)
{
	return snapshot->limit != SNAPSHOT_NONE;
}

bool
snapshot_take(struct snapshot *snapshot, const struct segment *segment,
    const struct header *header, nanos now)
{
	struct terms terms = segment_terms(segment, header);
	nanos age = segment_age(header, now);
	struct breaker_view view;
	struct window_sums sums;
	int64_t attempts, firsts;
	bool abandoned;

	snapshot->length = header->length;
	memcpy(snapshot->key, header->key, sizeof snapshot->key);
	if (terms.ratio < 0 ||
	    !window_is_sound(
		&segment->window, window_epoch(header->slice, age)))
		return false;
	snapshot->next =
	    window_next(&segment->window, &terms, header->slice, age, &sums);
	snapshot->ratio = terms.ratio;
	snapshot->min = terms.min;
	snapshot->retries = sums.retries;
	snapshot->successes = sums.successes;
	snapshot->limit = window_limit(&terms, sums.successes);
	snapshot->left = number_greater(snapshot->limit - sums.retries, 0);
	snapshot->window = terms.window;
	snapshot->cooldown = hold_left(&segment->cooldown, age);
	snapshot->held = hold_left(&segment->hold, age);
	if (snapshot->next == NANOS_MAX)
		snapshot->next = SNAPSHOT_NONE;
	else
		snapshot->next = number_greater(snapshot->next,
		    number_greater(snapshot->cooldown, snapshot->held));

	view = breaker_look(&segment->breaker, age);
	snapshot->guarded =
	    view.state != BREAKER_CLOSED || atomic_load(&segment->guarded) != 0;
	snapshot->breaker = view.state;
	snapshot->failures = view.failures;
	snapshot->probe = snapshot->rate = SNAPSHOT_NONE;
	if (view.state == BREAKER_RECOVERING)
		snapshot->rate = view.rate;
	else if (view.state != BREAKER_CLOSED)
		snapshot->probe = view.next;
	snapshot->hosts = SNAPSHOT_NONE;
	snapshot->fleet = fleet_host_look(&segment->fleet, header->slice, age);

	/* If a probe has been due for longer than any pause, then no process
	 * waits to make it. */
	abandoned = view.next == 0 && age >= BREAKER_PAUSE_MOST &&
	    breaker_look(&segment->breaker, age - BREAKER_PAUSE_MOST).next == 0;
	snapshot->idle = snapshot->retries == 0 && snapshot->successes == 0 &&
	    snapshot->cooldown == 0 && snapshot->held == 0 &&
	    snapshot->fleet.denied == 0 && snapshot->fleet.down == 0 &&
	    snapshot->fleet.alone == 0 &&
	    (snapshot->breaker == BREAKER_CLOSED || abandoned);

	snapshot->all_firsts = count(&segment->firsts);
	snapshot->all_successes = count(&segment->successes);
	snapshot->all_retries = count(&segment->retries);
	snapshot->all_denied = count(&segment->denied);
	snapshot->all_probes = count(&segment->probes);
	snapshot->all_turns = count(&segment->turns);
	snapshot->all_limited = count(&segment->limited);
	snapshot->all_throttled = count(&segment->throttled);
	snapshot->all_rescued = count(&segment->rescued);
	snapshot->all_gave_up = count(&segment->gave_up);
	snapshot->all_attempts =
	    number_add(number_add(snapshot->all_firsts, snapshot->all_retries),
		number_add(snapshot->all_limited,
		    number_add(snapshot->all_probes, snapshot->all_turns)));

	/* In millionths, to the nearest. Half of the attempts by half of the
	 * firsts is nearly the same. */
	attempts = snapshot->all_attempts;
	firsts = snapshot->all_firsts;
	snapshot->amplification = SNAPSHOT_NONE;
	for (; firsts > INT64_MAX / WINDOW_RATIO_ONE; firsts /= 2)
		attempts /= 2;
	if (firsts > 0)
		snapshot->amplification = number_add(
		    number_multiply(attempts / firsts, WINDOW_RATIO_ONE),
		    number_add(
			attempts % firsts * WINDOW_RATIO_ONE, firsts / 2) /
			firsts);
	return true;
}

int
snapshot_compare(const void *a, const void *b)
{
	const struct snapshot *left = a, *right = b;
	size_t both =
	    left->length < right->length ? left->length : right->length;
	int order = memcmp(left->key, right->key, both);

	if (order == 0 && left->length != right->length)
		return left->length < right->length ? -1 : 1;
	return order != 0 ? order : strcmp(left->file, right->file);
}
