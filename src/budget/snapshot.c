#include "budget/snapshot.h"

#include <string.h>
#include "text/number.h"

/* The counters decide nothing, and so nobody has checked them. */
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
	/* Smaller numbers have the same quotient, near enough. */
	while (b > INT64_MAX / RING_RATIO_ONE) {
		a /= 2;
		b /= 2;
	}
	return number_add(number_multiply(a / b, RING_RATIO_ONE),
	    number_add(a % b * RING_RATIO_ONE, b / 2) / b);
}

/* What is left of a pause; one longer than can be asked for is nonsense. */
static nanos
rest(uint64_t word, nanos age)
{
	nanos until = (nanos)(word & INT64_MAX);

	return until > age && until - age <= NANOS_DAY ? until - age : 0;
}

/*
 * A probe that has been due for longer than any pause: those who would have
 * made it are gone.
 */
static bool
abandoned(const struct gate *gate, nanos age)
{
	return gate_look(gate, age).next == 0 && age >= GATE_PAUSE_MOST &&
	    gate_look(gate, age - GATE_PAUSE_MOST).next == 0;
}

/* A ring that nobody else changes. */
static void
copy(struct ring *own, const struct ring *ring)
{
	for (size_t i = 0; i < RING_WORDS; i++)
		atomic_init(&own->words[i], atomic_load(&ring->words[i]));
}

/* Whether a ring would answer; asking changes it. */
static bool
answers(struct ring *ring, int64_t epoch)
{
	static const struct ring_limits none = { 0, 0 };
	struct ring_sums sums;

	return ring_withdraw(ring, &none, epoch, &sums) != RING_SPOILT;
}

static bool
take_window(struct account *account, const struct segment *segment,
    const struct header *header, nanos now)
{
	struct ring_limits limits = segment_limits(segment);
	int64_t epoch = segment_epoch(header, now), slices;
	struct ring_sums sums;
	struct ring ring;
	nanos age = segment_age(header, now);

	copy(&ring, &segment->ring);
	if (limits.ratio < 0)
		return false;
	slices = ring_next(&ring, &limits, epoch, &sums);
	account->ratio = limits.ratio;
	account->min = limits.min;
	account->retries = sums.retries;
	account->successes = sums.successes;
	account->limit = ring_limit(&limits, sums.successes);
	account->left =
	    account->limit > sums.retries ? account->limit - sums.retries : 0;
	account->window = segment_window(header);
	account->cooldown = rest(atomic_load(&segment->cooldown), age);
	account->next = 0;
	if (slices == RING_NEVER)
		account->next = ACCOUNT_NONE;
	else if (slices > 0)
		account->next = slices * header->slice - age % header->slice;
	if (slices != RING_NEVER && account->next < account->cooldown)
		account->next = account->cooldown;
	return answers(&ring, epoch);
}

static void
take_gate(struct account *account, const struct gate *gate, nanos age)
{
	struct gate_view view = gate_look(gate, age);

	account->gate = view.state;
	account->failures = view.failures;
	account->probe = account->rate = ACCOUNT_NONE;
	if (view.state == GATE_RECOVERING)
		account->rate = view.rate;
	else if (view.state != GATE_CLOSED)
		account->probe = view.next;
}

bool
account_take(struct account *account, const struct segment *segment,
    const struct header *header, nanos now)
{
	nanos age = segment_age(header, now);

	account->length = header->length;
	memcpy(account->key, header->key, sizeof account->key);
	if (!take_window(account, segment, header, now))
		return false;
	take_gate(account, &segment->gate, age);
	account->idle = account->retries == 0 && account->successes == 0 &&
	    account->cooldown == 0 &&
	    (account->gate == GATE_CLOSED || abandoned(&segment->gate, age));
	account->all_firsts = count(&segment->firsts);
	account->all_successes = count(&segment->successes);
	account->all_retries = count(&segment->retries);
	account->all_denied = count(&segment->denied);
	account->all_probes = count(&segment->probes);
	account->all_turns = count(&segment->turns);
	account->all_attempts =
	    number_add(number_add(account->all_firsts, account->all_retries),
		number_add(account->all_probes, account->all_turns));
	account->amplification = account->all_firsts == 0
	    ? ACCOUNT_NONE
	    : quotient(account->all_attempts, account->all_firsts);
	return true;
}

int
account_compare(const void *a, const void *b)
{
	const struct account *left = a, *right = b;
	size_t both =
	    left->length < right->length ? left->length : right->length;
	int order = memcmp(left->key, right->key, both);

	if (order == 0 && left->length != right->length)
		return left->length < right->length ? -1 : 1;
	return order != 0 ? order : strcmp(left->file, right->file);
}
