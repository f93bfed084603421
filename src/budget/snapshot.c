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

/* a / b in millionths, to the nearest. */
static int64_t
quotient(int64_t a, int64_t b)
{
	/* Half of a by half of b is nearly the same quotient. */
	while (b > INT64_MAX / WINDOW_RATIO_ONE) {
		a /= 2;
		b /= 2;
	}
	return number_add(number_multiply(a / b, WINDOW_RATIO_ONE),
	    number_add(a % b * WINDOW_RATIO_ONE, b / 2) / b);
}

void
snapshot_clear(struct snapshot *snapshot, const char *key)
{
	const int64_t none = SNAPSHOT_NONE;
	size_t length = strlen(key);

	*snapshot = (struct snapshot){
		.length = length,
		.retries = none,
		.successes = none,
		.limit = none,
		.left = none,
		.next = none,
		.window = none,
		.cooldown = none,
		.ratio = none,
		.min = none,
		.all_firsts = none,
		.all_successes = none,
		.all_denied = none,
		.all_retries = none,
		.all_probes = none,
		.all_turns = none,
		.all_attempts = none,
		.amplification = none,
		.breaker = none,
		.failures = none,
		.probe = none,
		.rate = none,
		.hosts = none,
	};
	memcpy(snapshot->key, key, length);
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
	static const struct terms none = { 0, 0, 0 };
	struct terms limits = segment_terms(segment, header);
	nanos age = segment_age(header, now);
	struct breaker_view view;
	struct window_sums sums;
	struct window window;
	bool abandoned;

	snapshot->length = header->length;
	memcpy(snapshot->key, header->key, sizeof snapshot->key);
	/* Nothing changes the copy while it is read. */
	for (size_t i = 0; i < WINDOW_WORDS; i++)
		atomic_init(
		    &window.words[i], atomic_load(&segment->window.words[i]));
	if (limits.ratio < 0)
		return false;
	snapshot->next = segment_next(&window, header, &limits, now, &sums);
	snapshot->ratio = limits.ratio;
	snapshot->min = limits.min;
	snapshot->retries = sums.retries;
	snapshot->successes = sums.successes;
	snapshot->limit = window_limit(&limits, sums.successes);
	snapshot->left = number_greater(snapshot->limit - sums.retries, 0);
	snapshot->window = limits.window;
	snapshot->cooldown = segment_cooldown(segment, age);
	if (snapshot->next == NANOS_MAX)
		snapshot->next = SNAPSHOT_NONE;
	else if (snapshot->next < snapshot->cooldown)
		snapshot->next = snapshot->cooldown;
	/* This changes the copy. */
	if (window_withdraw(&window, &none, segment_epoch(header, now),
		&sums) == WINDOW_CORRUPT)
		return false;

	view = breaker_look(&segment->breaker, age);
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
	    snapshot->cooldown == 0 && snapshot->fleet.denied == 0 &&
	    snapshot->fleet.down == 0 && snapshot->fleet.alone == 0 &&
	    (snapshot->breaker == BREAKER_CLOSED || abandoned);

	snapshot->all_firsts = count(&segment->firsts);
	snapshot->all_successes = count(&segment->successes);
	snapshot->all_retries = count(&segment->retries);
	snapshot->all_denied = count(&segment->denied);
	snapshot->all_probes = count(&segment->probes);
	snapshot->all_turns = count(&segment->turns);
	snapshot->all_attempts =
	    number_add(number_add(snapshot->all_firsts, snapshot->all_retries),
		number_add(snapshot->all_probes, snapshot->all_turns));
	snapshot->amplification = snapshot->all_firsts == 0
	    ? SNAPSHOT_NONE
	    : quotient(snapshot->all_attempts, snapshot->all_firsts);
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
