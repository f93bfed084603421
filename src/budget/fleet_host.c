#include "budget/fleet_host.h"

#include <string.h>
#include "text/hash.h"
#include "text/number.h"

/* The parts of the words, as fleet_host.h has them: where each begins, or how
 * many bits it has. */
#define TAG_AT 48
#define TURN_AT 52
#define WAITING_BITS 12
#define FAILURE_BITS 8
#define UNTIL_BITS 40
#define LEFT_BITS 16
#define EPOCH_BITS 32

/* The greatest number of so many bits. */
#define MOST(bits) ((UINT64_C(1) << (bits)) - 1)

#define ONE_WAITING (UINT64_C(1) << UNTIL_BITS)
#define ALL_WAITING (MOST(WAITING_BITS) << UNTIL_BITS)
#define ONE_LEFT (UINT64_C(1) << EPOCH_BITS)

/* The random factor makes a pause longer by a half at most. */
#define LONGEST (FLEET_HOST_PAUSE_MOST + FLEET_HOST_PAUSE_MOST / 2)

/* A process that was stopped after it had read the clock is behind by less. */
#define BEHIND NANOS_MINUTE

/*
 * The parts of words
 */

uint16_t
fleet_host_tag(const char *server)
{
	uint64_t hash = hash_add(HASH_NONE, server, strlen(server));

	return (uint16_t)(hash ^ hash >> 16 ^ hash >> 32 ^ hash >> 48);
}

uint64_t
fleet_host_tagged(uint16_t tag, uint64_t rest)
{
	return (uint64_t)tag << TAG_AT | rest;
}

uint64_t
fleet_host_rest(uint16_t tag, uint64_t word)
{
	return word >> TAG_AT == tag ? word & MOST(TAG_AT) : 0;
}

/* The greatest number of so many bits, or number >= 0 if that is less. */
static uint64_t
fit(int64_t number, int bits)
{
	return (uint64_t)number_lesser(number, (int64_t)MOST(bits));
}

/* The until of an instant, rounded up. */
static uint64_t
until_of(nanos instant)
{
	return fit(instant / NANOS_MS + (instant % NANOS_MS > 0), UNTIL_BITS);
}

/* The instant of a word's until. */
static nanos
instant_of(uint64_t word)
{
	return (nanos)(word & MOST(UNTIL_BITS)) * NANOS_MS;
}

/* How long it is to the instant of a word; 0 if it is past, or corrupt. A
 * process writes an instant that is at most longest away. */
static nanos
left_of(uint64_t word, nanos longest, nanos now)
{
	nanos left = instant_of(word) - now;

	return left > 0 && left <= longest + BEHIND ? left : 0;
}

static nanos
window_of(nanos slice)
{
	return number_multiply(slice, WINDOW_SLICES);
}

/* A pause times a random factor from a half to one and a half. */
static nanos
randomize(nanos pause, uint64_t random)
{
	int64_t factor = (int64_t)(random >> 48); /* in 65536ths */

	return number_add(pause / 2, number_multiply(pause, factor) / 65536);
}

/*
 * The server
 */

/* Stores what is known now. If another process has changed the word since, then
 * that process knows as much. */
static void
learn(_Atomic uint64_t *at, uint64_t known)
{
	uint64_t word = atomic_load(at);

	if (word != known)
		atomic_compare_exchange_strong(at, &word, known);
}

/* The offset is as if the server had read its clock when the question was
 * asked. The server read it later, so the offset is never too small. */
void
fleet_host_learn_time(
    struct fleet_host *host, uint16_t tag, nanos time, nanos asked)
{
	int64_t ms = time > asked ? (time - asked) / NANOS_MS + 1 : 0;

	learn(&host->offset, fleet_host_tagged(tag, fit(ms, TAG_AT)));
}

void
fleet_host_learn(struct fleet_host *host, uint16_t tag,
    const struct fleet_answer *answer, nanos asked)
{
	uint64_t link = atomic_load(&host->link);

	fleet_host_learn_time(host, tag, answer->now, asked);
	learn(&host->hosts, fleet_host_tagged(tag, fit(answer->hosts, TAG_AT)));
	learn(&host->used,
	    fit(answer->retries, 32) << 32 | fit(answer->limit, 32));
	if (fleet_host_rest(tag, link) != 0)
		atomic_compare_exchange_strong(&host->link, &link, 0);
}

int64_t
fleet_host_hosts(const struct fleet_host *host, uint16_t tag)
{
	return (int64_t)fleet_host_rest(tag, atomic_load(&host->hosts));
}

/* How many failures in a row there were; 0 if the last one was long ago. If
 * there were any, nobody should rely on an answer. */
static uint64_t
failures_of(uint16_t tag, uint64_t link, nanos now)
{
	uint64_t rest = fleet_host_rest(tag, link);
	nanos over = now - instant_of(rest);

	if (over > FLEET_HOST_PAUSE_MOST ||
	    (over < 0 && left_of(rest, LONGEST, now) == 0))
		return 0;
	return rest >> UNTIL_BITS;
}

/* How long the pause after no answer still lasts. */
static nanos
pause_of(uint16_t tag, uint64_t link, nanos now)
{
	return left_of(fleet_host_rest(tag, link), LONGEST, now);
}

/*
 * The lease
 */

static uint64_t
turn_of(uint64_t lease)
{
	return lease >> TURN_AT;
}

static int64_t
waiting_of(uint64_t lease)
{
	return (int64_t)((lease & ALL_WAITING) / ONE_WAITING);
}

/* Ends a lease, unless it has ended and another process has taken it. */
static void
release(_Atomic uint64_t *lease, uint64_t taken, nanos now)
{
	uint64_t ended = (uint64_t)(now / NANOS_MS);
	uint64_t word, rest;

	do {
		word = atomic_load(lease);
		rest = word & ~MOST(UNTIL_BITS);
		if (((word ^ taken) & ~ALL_WAITING) != 0 ||
		    instant_of(word) <= now)
			return;
	} while (!atomic_compare_exchange_strong(lease, &word, rest | ended));
}

/*
 * A retry is due
 */

/* Decides without the server. lasts: after which time somebody may ask it. */
static struct host_step
go_alone(struct fleet_host *host, const struct host_config *config, nanos lasts,
    nanos now)
{
	int64_t epoch = window_epoch(config->slice, now), slices;
	int64_t hosts = fleet_host_hosts(host, config->tag);
	struct host_step step = { .decision = HOST_DENIED, .silent = true };
	struct terms limits = { 0, config->share, 0 };
	struct window_sums sums;

	if (config->share < 0)
		limits.min = hosts == 0
		    ? 1
		    : number_greater(1, config->terms.min / hosts);
	step.share = limits.min;
	switch (window_withdraw(&host->alone, &limits, epoch, &sums)) {
	case WINDOW_GRANTED:
		step.decision = HOST_ALONE;
		return step;
	case WINDOW_CORRUPT:
		step.decision = HOST_CORRUPT;
		return step;
	default:
		break;
	}
	slices = window_next(&host->alone, &limits, epoch, &sums);
	step.next = slices == WINDOW_NEVER
	    ? lasts
	    : number_lesser(
		  lasts, slices * config->slice - now % config->slice);
	return step;
}

/*
 * How long to wait for the opening. If all was quiet for a while, this process
 * sets the opening. -1: another process was faster. quiet: when the last
 * question, denial or pause ended.
 */
static nanos
wait_for_opening(struct fleet_host *host, const struct host_config *config,
    nanos quiet, nanos now, uint64_t random)
{
	nanos most =
	    number_lesser(FLEET_HOST_SPREAD_MOST, window_of(config->slice));
	nanos spread =
	    number_lesser(number_multiply(fleet_host_hosts(host, config->tag),
			      FLEET_HOST_SPREAD),
		most);
	nanos part, left;
	uint64_t word, rest;

	if (spread < FLEET_HOST_LOOK)
		return 0;
	word = atomic_load(&host->opening);
	rest = fleet_host_rest(config->tag, word);
	left = left_of(rest, FLEET_HOST_SPREAD_MOST, now);
	if (left > 0 || now - quiet <= spread ||
	    (rest != 0 && now - instant_of(rest) <= spread))
		return left;
	part = number_multiply(spread, (int64_t)(random >> 48)) / 65536;
	rest = until_of(number_add(now, part));
	return atomic_compare_exchange_strong(
		   &host->opening, &word, fleet_host_tagged(config->tag, rest))
	    ? instant_of(rest) - now
	    : -1;
}

struct host_step
fleet_host_ask(struct fleet_host *host, const struct host_config *config,
    struct fleet_wait *wait, int64_t most, nanos now, uint64_t random,
    struct fleet_question *question)
{
	/* Begins anew if another process has changed what was read. */
	for (;;) {
		/*
		 * The lease is read first. A process stores an answer before it
		 * releases the lease: so who reads that the lease is free, sees
		 * the answer; and who has read it before, does not get the
		 * lease.
		 */
		uint64_t lease = atomic_load(&host->lease), seen = lease;
		uint64_t denied = atomic_load(&host->denied);
		uint64_t credit = atomic_load(&host->credit);
		uint64_t link = atomic_load(&host->link);
		uint64_t rest = fleet_host_rest(config->tag, credit);
		bool taken = instant_of(lease) > now &&
		    !(wait->waits && now - wait->since >= config->timeout);
		bool counted = wait->waits && wait->turn == turn_of(lease);
		struct host_step step = { .decision = HOST_DENIED };
		int64_t wanted = 1;
		nanos alone, until;

		step.next = left_of(fleet_host_rest(config->tag, denied),
		    window_of(config->slice), now);
		if (step.next > 0)
			return step;

		/* A retry that was granted in this slice is left over. */
		if (rest >= ONE_LEFT &&
		    (int64_t)(rest % ONE_LEFT) ==
			window_epoch(config->slice, now)) {
			step.decision = HOST_GRANTED;
			if (atomic_compare_exchange_strong(
				&host->credit, &credit, credit - ONE_LEFT))
				return step;
			continue;
		}

		/* If the last question failed, one process may ask again, and
		 * the others are alone meanwhile. */
		alone = pause_of(config->tag, link, now);
		if (alone == 0 && taken &&
		    failures_of(config->tag, link, now) > 0)
			alone = instant_of(lease) - now;
		if (alone > 0)
			return go_alone(host, config, alone, now);

		/* Another process asks: this one is counted as one that waits.
		 */
		step.decision = HOST_WAIT;
		step.next = FLEET_HOST_LOOK;
		if (taken && !counted) {
			if ((lease & ALL_WAITING) != ALL_WAITING)
				lease += ONE_WAITING;
			if (!atomic_compare_exchange_strong(
				&host->lease, &seen, lease))
				continue;
			if (!wait->waits)
				wait->since = now;
			wait->waits = true;
			wait->turn = turn_of(lease);
		}
		if (taken)
			return step;
		step.next = wait_for_opening(host, config,
		    number_greater(instant_of(lease),
			number_greater(instant_of(denied), instant_of(link))),
		    now, random);
		if (step.next > 0)
			return step;
		if (step.next < 0)
			continue;

		/*
		 * Takes the lease, rather for too long than too short a time:
		 * the answer has to be stored, too. The question is for the
		 * other processes that waited in the last turn as well.
		 */
		until = number_add(
		    now, number_add(config->timeout, FLEET_HOST_LOOK));
		if (waiting_of(lease) > 0 &&
		    now - instant_of(lease) <= FLEET_HOST_RECENT)
			wanted = waiting_of(lease) + (counted ? 0 : 1);
		*question = fleet_host_question(host, config, now);
		question->wanted = number_lesser(wanted, most);
		question->lease =
		    (turn_of(lease) + 1) << TURN_AT | until_of(until);
		step.decision = HOST_ASK;
		if (atomic_compare_exchange_strong(
			&host->lease, &seen, question->lease)) {
			*wait = (struct fleet_wait){ .waits = false };
			return step;
		}
	}
}

struct fleet_question
fleet_host_question(
    const struct fleet_host *host, const struct host_config *config, nanos now)
{
	uint64_t ms = fleet_host_rest(config->tag, atomic_load(&host->offset));
	struct fleet_question question = { .key = config->key,
		.terms = config->terms,
		.asked = now,
		.until = number_add(now, 2 * config->timeout) };
	nanos time = number_add(number_multiply((int64_t)ms, NANOS_MS), now);

	/* The time may be late, but by less than the timeout of a question. */
	if (ms != 0)
		question.by = number_add(time, config->timeout);
	return question;
}

/*
 * After a question
 */

struct host_step
fleet_host_answered(struct fleet_host *host, const struct host_config *config,
    const struct fleet_question *question, const struct fleet_answer *answer,
    nanos now, uint64_t random)
{
	uint64_t epoch = (uint64_t)window_epoch(config->slice, question->asked);
	int64_t more = number_lesser(answer->granted, question->wanted) - 1;
	struct host_step step = { .decision = HOST_GRANTED };
	uint64_t word, rest, left, next;
	nanos longest = window_of(config->slice);

	fleet_host_learn(host, config->tag, answer, question->asked);
	if (answer->granted <= 0) {
		step.decision = HOST_DENIED;
		step.next = number_lesser(longest,
		    number_greater(
			randomize(answer->pause, random), FLEET_HOST_LOOK));
	}

	/* Leaves what was granted beyond one retry to other processes. */
	while (more > 0) {
		word = atomic_load(&host->credit);
		rest = fleet_host_rest(config->tag, word);
		if (rest % ONE_LEFT > epoch)
			break;
		left = rest % ONE_LEFT == epoch ? rest / ONE_LEFT : 0;
		left = fit((int64_t)left + more, LEFT_BITS);
		next = fleet_host_tagged(config->tag, left * ONE_LEFT | epoch);
		if (atomic_compare_exchange_strong(&host->credit, &word, next))
			break;
	}

	/* Denies retries, unless they are denied for longer. */
	next = fleet_host_tagged(
	    config->tag, until_of(number_add(now, step.next)));
	while (step.next > 0) {
		word = atomic_load(&host->denied);
		rest = fleet_host_rest(config->tag, word);
		if (left_of(rest, longest, now) >= step.next ||
		    atomic_compare_exchange_strong(&host->denied, &word, next))
			break;
	}

	/* This comes last: see fleet_host_ask(). */
	release(&host->lease, question->lease, now);
	return step;
}

void
fleet_host_fail(struct fleet_host *host, const struct host_config *config,
    const struct fleet_question *question, nanos now, uint64_t random)
{
	uint64_t link, failures, next;
	nanos pause;

	do {
		link = atomic_load(&host->link);
		if (pause_of(config->tag, link, now) > 0)
			break;
		failures = failures_of(config->tag, link, now);
		if (failures < MOST(FAILURE_BITS))
			failures++;
		pause = FLEET_HOST_PAUSE;
		for (uint64_t i = 1;
		     i < failures && pause < FLEET_HOST_PAUSE_MOST; i++)
			pause *= 2;
		pause = randomize(
		    number_lesser(pause, FLEET_HOST_PAUSE_MOST), random);
		next =
		    failures << UNTIL_BITS | until_of(number_add(now, pause));
	} while (!atomic_compare_exchange_strong(
	    &host->link, &link, fleet_host_tagged(config->tag, next)));
	release(&host->lease, question->lease, now);
}

void
fleet_host_drop(
    struct fleet_host *host, const struct fleet_question *question, nanos now)
{
	release(&host->lease, question->lease, now);
}

struct host_view
fleet_host_look(const struct fleet_host *host, nanos slice, nanos now)
{
	uint64_t denied = atomic_load(&host->denied);
	uint64_t link = atomic_load(&host->link);
	uint64_t used = atomic_load(&host->used);

	return (struct host_view){
		.denied = left_of(denied, window_of(slice), now),
		.down = left_of(link, LONGEST, now),
		.hosts = (int64_t)(atomic_load(&host->hosts) & MOST(TAG_AT)),
		.retries = (int64_t)(used >> 32),
		.limit = (int64_t)(used & UINT32_MAX),
		.alone =
		    window_look(&host->alone, window_epoch(slice, now)).retries,
	};
}
