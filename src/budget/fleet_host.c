#include "budget/fleet_host.h"

#include <string.h>
#include "text/hash.h"
#include "text/number.h"

/*
 * The parts of words
 */

/* A process that was stopped after it had read the clock is behind by less. */
#define BEHIND NANOS_MINUTE

uint16_t
fleet_word_tag(const char *server)
{
	uint64_t hash = hash_add(HASH_NONE, server, strlen(server));

	return (uint16_t)(hash ^ hash >> 16 ^ hash >> 32 ^ hash >> 48);
}

uint64_t
fleet_word_tagged(uint16_t tag, uint64_t rest)
{
	return (uint64_t)tag << FLEET_TAG_AT | rest;
}

uint64_t
fleet_word_rest(uint16_t tag, uint64_t word)
{
	return word >> FLEET_TAG_AT == tag ? word & FLEET_MOST(FLEET_TAG_AT)
					   : 0;
}

uint64_t
fleet_word_number(int64_t number, int bits)
{
	return (uint64_t)number_lesser(number, (int64_t)FLEET_MOST(bits));
}

uint64_t
fleet_word_until(nanos instant)
{
	return fleet_word_number(
	    instant / NANOS_MS + (instant % NANOS_MS > 0), FLEET_UNTIL_BITS);
}

nanos
fleet_word_instant(uint64_t word)
{
	return (nanos)(word & FLEET_MOST(FLEET_UNTIL_BITS)) * NANOS_MS;
}

nanos
fleet_word_left(uint64_t word, nanos longest, nanos now)
{
	nanos left = fleet_word_instant(word) - now;

	return left > 0 && left <= longest + BEHIND ? left : 0;
}

int64_t
fleet_word_epoch(nanos slice, nanos now)
{
	return number_lesser(now / slice, WINDOW_EPOCHS - 1);
}

/*
 * The lease
 */

#define WAITING_BITS 12
#define TURN_AT (FLEET_UNTIL_BITS + WAITING_BITS)

#define ONE_WAITING (UINT64_C(1) << FLEET_UNTIL_BITS)
#define ALL_WAITING (FLEET_MOST(WAITING_BITS) << FLEET_UNTIL_BITS)

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

static bool
is_counted(const struct fleet_wait *wait, uint64_t lease)
{
	return wait->waits && wait->turn == turn_of(lease);
}

bool
fleet_lease_is_taken(
    uint64_t seen, const struct fleet_wait *wait, nanos timeout, nanos now)
{
	return fleet_word_instant(seen) > now &&
	    !(wait->waits && now - wait->since >= timeout);
}

bool
fleet_lease_join(
    _Atomic uint64_t *lease, uint64_t seen, struct fleet_wait *wait, nanos now)
{
	uint64_t joined = seen;

	if (is_counted(wait, seen))
		return true;
	if ((seen & ALL_WAITING) != ALL_WAITING)
		joined += ONE_WAITING;
	if (!atomic_compare_exchange_strong(lease, &seen, joined))
		return false;
	if (!wait->waits)
		wait->since = now;
	wait->waits = true;
	wait->turn = turn_of(seen);
	return true;
}

static int64_t
wanted_after(const struct fleet_wait *wait, uint64_t seen, nanos now)
{
	int64_t waiting = waiting_of(seen);

	if (waiting == 0 || now - fleet_word_instant(seen) > FLEET_LEASE_RECENT)
		return 1;
	return waiting + (is_counted(wait, seen) ? 0 : 1);
}

uint64_t
fleet_lease_take(_Atomic uint64_t *lease, uint64_t seen,
    struct fleet_wait *wait, nanos timeout, nanos now, int64_t *wanted)
{
	/* Rather too long than too short: the answer has to be stored, too. */
	nanos until = number_add(now, number_add(timeout, FLEET_LEASE_LOOK));
	uint64_t taken =
	    (turn_of(seen) + 1) << TURN_AT | fleet_word_until(until);

	*wanted = wanted_after(wait, seen, now);
	if (!atomic_compare_exchange_strong(lease, &seen, taken))
		return 0;
	*wait = (struct fleet_wait){ .waits = false };
	return taken;
}

void
fleet_lease_release(_Atomic uint64_t *lease, uint64_t taken, nanos now)
{
	uint64_t ended = (uint64_t)(now / NANOS_MS);
	uint64_t word, rest;

	do {
		word = atomic_load(lease);
		rest = word & ~FLEET_MOST(FLEET_UNTIL_BITS);
		if (((word ^ taken) & ~ALL_WAITING) != 0 ||
		    fleet_word_instant(word) <= now)
			return;
	} while (!atomic_compare_exchange_strong(lease, &word, rest | ended));
}

/*
 * The server
 */

#define FAILURE_BITS 8

/* The random factor makes a pause longer by a half at most. */
#define LONGEST (FLEET_SERVER_PAUSE_MOST + FLEET_SERVER_PAUSE_MOST / 2)

/* Stores what is known now. If another process has changed the word since, then
 * that process knows as much. */
static void
learn(_Atomic uint64_t *at, uint64_t known)
{
	uint64_t word = atomic_load(at);

	if (word != known)
		atomic_compare_exchange_strong(at, &word, known);
}

/* As if the server had read its clock when the question was asked: it was
 * later, so the offset is too large and never too small. */
void
fleet_server_learn_time(
    struct fleet_server *server, uint16_t tag, nanos time, nanos asked)
{
	int64_t ms = time > asked ? (time - asked) / NANOS_MS + 1 : 0;

	learn(&server->offset,
	    fleet_word_tagged(tag, fleet_word_number(ms, FLEET_TAG_AT)));
}

void
fleet_server_learn(struct fleet_server *server, uint16_t tag,
    const struct fleet_numbers *numbers, nanos asked)
{
	uint64_t hosts = fleet_word_number(numbers->hosts, FLEET_TAG_AT);
	uint64_t link = atomic_load(&server->link);

	fleet_server_learn_time(server, tag, numbers->time, asked);
	learn(&server->hosts, fleet_word_tagged(tag, hosts));
	learn(&server->used,
	    fleet_word_number(numbers->retries, 32) << 32 |
		fleet_word_number(numbers->limit, 32));
	if (fleet_word_rest(tag, link) != 0)
		atomic_compare_exchange_strong(&server->link, &link, 0);
}

nanos
fleet_server_time(const struct fleet_server *server, uint16_t tag, nanos now)
{
	uint64_t ms = fleet_word_rest(tag, atomic_load(&server->offset));

	return ms == 0
	    ? 0
	    : number_add(number_multiply((int64_t)ms, NANOS_MS), now);
}

int64_t
fleet_server_hosts(const struct fleet_server *server, uint16_t tag)
{
	return (int64_t)fleet_word_rest(tag, atomic_load(&server->hosts));
}

/* How many failures in a row there were; 0 if the last one was long ago. */
static uint64_t
failures_of(uint16_t tag, uint64_t link, nanos now)
{
	uint64_t rest = fleet_word_rest(tag, link);
	nanos over = now - fleet_word_instant(rest);

	if (over > FLEET_SERVER_PAUSE_MOST ||
	    (over < 0 && fleet_word_left(rest, LONGEST, now) == 0))
		return 0;
	return rest >> FLEET_UNTIL_BITS;
}

static nanos
pause_after(uint64_t failures)
{
	nanos pause = FLEET_SERVER_PAUSE;

	for (; failures > 1 && pause < FLEET_SERVER_PAUSE_MOST; failures--)
		pause *= 2;
	return number_lesser(pause, FLEET_SERVER_PAUSE_MOST);
}

nanos
fleet_server_randomize(nanos pause, uint64_t random)
{
	int64_t factor = (int64_t)(random >> 48); /* in 65536ths */

	return number_add(pause / 2, number_multiply(pause, factor) / 65536);
}

void
fleet_server_fail(
    struct fleet_server *server, uint16_t tag, nanos now, uint64_t random)
{
	uint64_t link, failures;
	nanos until;

	do {
		link = atomic_load(&server->link);
		if (fleet_server_pause(tag, link, now) > 0)
			return;
		failures = failures_of(tag, link, now);
		if (failures < FLEET_MOST(FAILURE_BITS))
			failures++;
		until = number_add(
		    now, fleet_server_randomize(pause_after(failures), random));
	} while (!atomic_compare_exchange_strong(&server->link, &link,
	    fleet_word_tagged(
		tag, failures << FLEET_UNTIL_BITS | fleet_word_until(until))));
}

nanos
fleet_server_pause(uint16_t tag, uint64_t link, nanos now)
{
	return fleet_word_left(fleet_word_rest(tag, link), LONGEST, now);
}

bool
fleet_server_is_doubtful(uint16_t tag, uint64_t link, nanos now)
{
	return failures_of(tag, link, now) > 0;
}

#define EPOCH_BITS 32
#define LEFT_BITS 16
#define ONE_LEFT (UINT64_C(1) << EPOCH_BITS)

static nanos
window_of(nanos slice)
{
	return number_multiply(slice, WINDOW_SLICES);
}

/*
 * Alone
 */

/* How many retries a host may make alone in a window. */
static int64_t
share_of(const struct fleet_host *host, const struct host_config *config)
{
	int64_t hosts = fleet_server_hosts(&host->server, config->tag);

	if (config->alone >= 0)
		return config->alone;
	return hosts == 0 ? 1 : number_greater(1, config->min / hosts);
}

/* How long until the window of retries made alone grants one. */
static nanos
next_alone(const struct fleet_host *host, const struct host_config *config,
    const struct window_limits *limits, nanos now)
{
	struct window_sums sums;
	int64_t slices = window_next(
	    &host->alone, limits, fleet_word_epoch(config->slice, now), &sums);

	return slices == WINDOW_NEVER
	    ? NANOS_MAX
	    : slices * config->slice - now % config->slice;
}

/* Decides without the server. lasts: after which time somebody may ask it. */
static struct host_step
go_alone(struct fleet_host *host, const struct host_config *config, nanos lasts,
    nanos now)
{
	struct window_limits limits = { 0, share_of(host, config) };
	struct host_step step = {
		.decision = HOST_DENIED, .alone = true, .share = limits.min
	};
	struct window_sums sums;

	switch (window_withdraw(&host->alone, &limits,
	    fleet_word_epoch(config->slice, now), &sums)) {
	case WINDOW_GRANTED:
		step.decision = HOST_ALONE;
		break;
	case WINDOW_CORRUPT:
		step.decision = HOST_CORRUPT;
		break;
	default:
		step.next = number_lesser(
		    lasts, next_alone(host, config, &limits, now));
	}
	return step;
}

/*
 * A retry is due
 */

/* All that a decision depends on. */
struct reading {
	uint64_t lease, denied, credit, link;
};

/*
 * Reads the lease first. A process stores an answer before it releases the
 * lease: so who reads that the lease is free, sees the answer; and who has read
 * it before, does not get the lease.
 */
static struct reading
read_words(struct fleet_host *host)
{
	struct reading seen = { .lease = atomic_load(&host->lease) };

	seen.denied = atomic_load(&host->denied);
	seen.credit = atomic_load(&host->credit);
	seen.link = atomic_load(&host->server.link);
	return seen;
}

/* Whether a retry is left over that was granted in this slice. */
static bool
has_credit(const struct host_config *config, uint64_t credit, nanos now)
{
	uint64_t rest = fleet_word_rest(config->tag, credit);

	return rest >= ONE_LEFT &&
	    (int64_t)(rest % ONE_LEFT) == fleet_word_epoch(config->slice, now);
}

static nanos
denied_for(const struct host_config *config, uint64_t denied, nanos now)
{
	return fleet_word_left(fleet_word_rest(config->tag, denied),
	    window_of(config->slice), now);
}

/*
 * How long the host is alone. 0: this process may ask the server, or has to
 * wait for another one that asks. If the last question failed, one process may
 * ask again, and the others are alone meanwhile.
 */
static nanos
alone_for(const struct host_config *config, const struct reading *seen,
    const struct fleet_wait *wait, nanos now)
{
	nanos pause = fleet_server_pause(config->tag, seen->link, now);

	if (pause == 0 &&
	    fleet_server_is_doubtful(config->tag, seen->link, now) &&
	    fleet_lease_is_taken(seen->lease, wait, config->timeout, now))
		pause = fleet_word_instant(seen->lease) - now;
	return pause;
}

struct host_question
fleet_host_tell(
    const struct fleet_host *host, const struct host_config *config, nanos now)
{
	nanos time = fleet_server_time(&host->server, config->tag, now);

	/* time may be late, but by less than the timeout of a question. */
	return (struct host_question){ .asked = now,
		.by = time == 0 ? 0 : number_add(time, config->timeout),
		.until = number_add(now, 2 * config->timeout) };
}

/* Over which time the first questions of all hosts are spread, or 0. */
static nanos
spread_of(const struct fleet_host *host, const struct host_config *config)
{
	int64_t hosts = fleet_server_hosts(&host->server, config->tag);
	nanos most =
	    number_lesser(FLEET_HOST_SPREAD_MOST, window_of(config->slice));
	nanos spread =
	    number_lesser(number_multiply(hosts, FLEET_HOST_SPREAD), most);

	return spread < FLEET_LEASE_LOOK ? 0 : spread;
}

/* When the last question, denial or pause ended. */
static nanos
quiet_since(const struct reading *seen)
{
	return number_greater(fleet_word_instant(seen->lease),
	    number_greater(fleet_word_instant(seen->denied),
		fleet_word_instant(seen->link)));
}

/*
 * How long to wait for the opening. If all was quiet for a while, this process
 * sets the opening. -1: another process was faster.
 */
static nanos
wait_for_opening(struct fleet_host *host, const struct host_config *config,
    const struct reading *seen, nanos now, uint64_t random)
{
	nanos spread = spread_of(host, config), part, left;
	uint64_t word, rest;

	if (spread == 0)
		return 0;
	word = atomic_load(&host->opening);
	rest = fleet_word_rest(config->tag, word);
	left = fleet_word_left(rest, FLEET_HOST_SPREAD_MOST, now);
	if (left > 0 || now - quiet_since(seen) <= spread ||
	    (rest != 0 && now - fleet_word_instant(rest) <= spread))
		return left;
	part = number_multiply(spread, (int64_t)(random >> 48)) / 65536;
	rest = fleet_word_until(number_add(now, part));
	return atomic_compare_exchange_strong(
		   &host->opening, &word, fleet_word_tagged(config->tag, rest))
	    ? fleet_word_instant(rest) - now
	    : -1;
}

/* False: another process was faster. */
static bool
begin_question(struct fleet_host *host, const struct host_config *config,
    struct fleet_wait *wait, uint64_t seen, int64_t most,
    struct host_step *step, nanos now)
{
	struct host_question question = fleet_host_tell(host, config, now);

	question.lease = fleet_lease_take(
	    &host->lease, seen, wait, config->timeout, now, &question.wanted);
	question.wanted = number_lesser(question.wanted, most);
	step->decision = HOST_ASK;
	step->question = question;
	return question.lease != 0;
}

/* Asks the server, or waits until it may be asked. False: another process was
 * faster. */
static bool
seek_answer(struct fleet_host *host, const struct host_config *config,
    struct fleet_wait *wait, const struct reading *seen, int64_t most,
    struct host_step *step, nanos now, uint64_t random)
{
	step->decision = HOST_WAIT;
	step->next = FLEET_LEASE_LOOK;
	if (fleet_lease_is_taken(seen->lease, wait, config->timeout, now))
		return fleet_lease_join(&host->lease, seen->lease, wait, now);
	step->next = wait_for_opening(host, config, seen, now, random);
	if (step->next != 0)
		return step->next > 0;
	return begin_question(host, config, wait, seen->lease, most, step, now);
}

/* False: another process has changed what was read. */
static bool
decide(struct fleet_host *host, const struct host_config *config,
    struct fleet_wait *wait, int64_t most, struct host_step *step, nanos now,
    uint64_t random)
{
	struct reading seen = read_words(host);
	nanos alone = alone_for(config, &seen, wait, now);

	*step = (struct host_step){ .decision = HOST_DENIED,
		.next = denied_for(config, seen.denied, now) };
	if (step->next > 0)
		return true;
	if (has_credit(config, seen.credit, now)) {
		step->decision = HOST_GRANTED;
		return atomic_compare_exchange_strong(
		    &host->credit, &seen.credit, seen.credit - ONE_LEFT);
	}
	if (alone > 0) {
		*step = go_alone(host, config, alone, now);
		return true;
	}
	return seek_answer(host, config, wait, &seen, most, step, now, random);
}

struct host_step
fleet_host_ask(struct fleet_host *host, const struct host_config *config,
    struct fleet_wait *wait, int64_t most, nanos now, uint64_t random)
{
	struct host_step step;

	while (!decide(host, config, wait, most, &step, now, random))
		;
	return step;
}

/*
 * After a question
 */

/* Leaves what was granted beyond one retry to other processes. */
static void
leave_credit(struct fleet_host *host, const struct host_config *config,
    const struct host_question *question, int64_t granted)
{
	int64_t more = number_lesser(granted, question->wanted) - 1;
	uint64_t epoch =
	    (uint64_t)fleet_word_epoch(config->slice, question->asked);
	uint64_t word, rest, left;

	if (more <= 0)
		return;
	do {
		word = atomic_load(&host->credit);
		rest = fleet_word_rest(config->tag, word);
		if (rest % ONE_LEFT > epoch)
			return;
		left = rest % ONE_LEFT == epoch ? rest / ONE_LEFT : 0;
		left = fleet_word_number((int64_t)left + more, LEFT_BITS);
	} while (!atomic_compare_exchange_strong(&host->credit, &word,
	    fleet_word_tagged(config->tag, left * ONE_LEFT | epoch)));
}

/* Denies retries for a time, unless they are denied for longer. */
static void
deny(struct fleet_host *host, const struct host_config *config, nanos span,
    nanos now)
{
	uint64_t until = fleet_word_until(number_add(now, span));
	uint64_t word;

	do {
		word = atomic_load(&host->denied);
		if (denied_for(config, word, now) >= span)
			return;
	} while (!atomic_compare_exchange_strong(
	    &host->denied, &word, fleet_word_tagged(config->tag, until)));
}

struct host_step
fleet_host_settle(struct fleet_host *host, const struct host_config *config,
    const struct host_question *question, const struct host_answer *answer,
    nanos now, uint64_t random)
{
	struct host_step step = { .decision = HOST_GRANTED };

	fleet_server_learn(
	    &host->server, config->tag, &answer->numbers, question->asked);
	if (answer->granted > 0) {
		leave_credit(host, config, question, answer->granted);
	} else {
		step.decision = HOST_DENIED;
		step.next = fleet_server_randomize(answer->pause, random);
		step.next = number_greater(step.next, FLEET_LEASE_LOOK);
		step.next = number_lesser(step.next, window_of(config->slice));
		deny(host, config, step.next, now);
	}
	/* This comes last (read_words). */
	fleet_lease_release(&host->lease, question->lease, now);
	return step;
}

void
fleet_host_fail(struct fleet_host *host, const struct host_config *config,
    const struct host_question *question, nanos now, uint64_t random)
{
	fleet_server_fail(&host->server, config->tag, now, random);
	fleet_lease_release(&host->lease, question->lease, now);
}

void
fleet_host_drop(
    struct fleet_host *host, const struct host_question *question, nanos now)
{
	fleet_lease_release(&host->lease, question->lease, now);
}

struct host_view
fleet_host_look(const struct fleet_host *host, nanos slice, nanos now)
{
	uint64_t denied = atomic_load(&host->denied);
	uint64_t link = atomic_load(&host->server.link);
	uint64_t hosts = atomic_load(&host->server.hosts);
	uint64_t used = atomic_load(&host->server.used);

	return (struct host_view){
		.denied = fleet_word_left(denied, window_of(slice), now),
		.down = fleet_server_pause(
		    (uint16_t)(link >> FLEET_TAG_AT), link, now),
		.hosts = (int64_t)(hosts & FLEET_MOST(FLEET_TAG_AT)),
		.retries = (int64_t)(used >> 32),
		.limit = (int64_t)(used & UINT32_MAX),
		.alone = window_look(&host->alone, fleet_word_epoch(slice, now))
			     .retries,
	};
}
