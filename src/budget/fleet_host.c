#include "budget/fleet_host.h"

#include "text/number.h"

/* The parts of the words, as fleet_host.h has them: how many bits each has, or
 * where it begins. */
#define UNTIL_BITS 40
#define FAILURE_BITS 24
#define COUNT_BITS 16
#define EPOCH_AT 32

/* The most bits of a number, which may be corrupt: nothing overflows. */
#define NUMBER_BITS 48

/* So many make any pause as long as the longest one. */
#define DOUBLINGS 5

/* The random factor makes a pause longer by a half at most. */
#define LONGEST (FLEET_HOST_PAUSE_MOST + FLEET_HOST_PAUSE_MOST / 2)

/* A process that was stopped after it had read the clock is behind by less. */
#define BEHIND NANOS_MINUTE

/*
 * The parts of words
 */

/* A word that is a number. */
static int64_t
number_of(uint64_t word)
{
	return (int64_t)(word & NUMBER_MOST(NUMBER_BITS));
}

/* The greatest number of so many bits, or number >= 0 if that is less. */
static uint64_t
fit(int64_t number, int bits)
{
	return (uint64_t)number_lesser(number, (int64_t)NUMBER_MOST(bits));
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
	return (nanos)(word & NUMBER_MOST(UNTIL_BITS)) * NANOS_MS;
}

/* How long it is to the instant of a word; 0 if it is past, or corrupt. A
 * process writes an instant that is at most longest away. */
static nanos
left_of(uint64_t word, nanos longest, nanos now)
{
	nanos left = instant_of(word) - now;

	return left > 0 && left <= longest + BEHIND ? left : 0;
}

/* A random part of a whole. */
static int64_t
part_of(int64_t whole, uint64_t random)
{
	return number_multiply(whole, (int64_t)(random >> 48)) / 65536;
}

/* How many failures in a row there were; 0 if the last one was long ago. If
 * there were any, nobody should rely on an answer. */
static uint64_t
failures_of(uint64_t silence, nanos now)
{
	nanos over = now - instant_of(silence);

	if (over > FLEET_HOST_PAUSE_MOST ||
	    (over < 0 && left_of(silence, LONGEST, now) == 0))
		return 0;
	return silence >> UNTIL_BITS;
}

/* The epoch of a mark. */
static int64_t
marked(uint64_t mark)
{
	return (int64_t)(mark >> EPOCH_AT);
}

int64_t
fleet_host_hosts(const struct fleet_host *host)
{
	return number_of(atomic_load(&host->hosts));
}

/*
 * A retry is due
 */

/* Decides without the server. lasts: after which time somebody may ask it. */
static struct host_step
go_alone(struct fleet_host *host, const struct fleet_caller *caller,
    nanos lasts, nanos now)
{
	const struct fleet_config *config = caller->config;
	int64_t hosts = fleet_host_hosts(host);
	struct host_step step = { .decision = HOST_ALONE, .silent = true };
	struct terms limits = { 0, config->alone, 0 };
	struct window *window = &host->alone;
	struct window_sums sums;
	nanos next;

	if (config->alone < 0)
		limits.min = hosts == 0
		    ? 1
		    : number_greater(1, config->terms.min / hosts);
	step.share = limits.min;
	if (window_withdraw(window, &limits, window_epoch(caller->slice, now),
		&sums) == WINDOW_GRANTED)
		return step;
	step.decision = HOST_DENIED;
	next = window_next(window, &limits, caller->slice, now, &sums);
	/* A window that is corrupt grants nothing. */
	step.next = next < 0 ? lasts : number_lesser(lasts, next);
	return step;
}

/*
 * How long to wait for the opening. If all was quiet for a while, this process
 * sets the opening. -1: another process was faster. quiet: when the last
 * question, denial or pause ended.
 */
static nanos
wait_for_opening(struct fleet_host *host, const struct fleet_caller *caller,
    nanos quiet, nanos now)
{
	nanos most =
	    number_lesser(FLEET_HOST_SPREAD_MOST, window_length(caller->slice));
	nanos spread = number_lesser(
	    most, number_multiply(fleet_host_hosts(host), FLEET_HOST_SPREAD));
	uint64_t word, next;
	nanos left;

	if (spread < FLEET_HOST_LOOK)
		return 0;
	word = atomic_load(&host->opening);
	left = left_of(word, FLEET_HOST_SPREAD_MOST, now);
	if (left > 0 || now - quiet <= spread ||
	    (word != 0 && now - instant_of(word) <= spread))
		return left;
	next = until_of(number_add(now, part_of(spread, caller->random)));
	return atomic_compare_exchange_strong(&host->opening, &word, next)
	    ? instant_of(next) - now
	    : -1;
}

/* The caller then has a question that asks for no retry and tells nothing. */
static void
begin_question(
    const struct fleet_host *host, struct fleet_caller *caller, nanos now)
{
	int64_t ms = number_of(atomic_load(&host->offset));
	nanos timeout = caller->config->timeout;
	nanos time = number_add(number_multiply(ms, NANOS_MS), now);

	caller->question = (struct fleet_question){ .key = caller->key,
		.terms = caller->config->terms,
		.asked = now,
		.until = number_add(now, 2 * timeout) };
	caller->question.terms.window = window_length(caller->slice);
	/* The time may be late, but by less than the timeout of a question. */
	if (ms != 0)
		caller->question.by = number_add(time, timeout);
}

/* If the decision is HOST_ASK, there is a question, which tells nothing. */
static struct host_step
decide(struct fleet_host *host, struct fleet_caller *caller, nanos now)
{
	struct fleet_question *question = &caller->question;
	nanos timeout = caller->config->timeout;

	/* Begins anew if another process has changed what was read. */
	for (;;) {
		/*
		 * The lease is read first. A process stores an answer before it
		 * releases the lease: so who reads that the lease is free, sees
		 * the answer; and who has read it before, does not get the
		 * lease.
		 */
		uint64_t lease = atomic_load(&host->lease);
		uint64_t denied = atomic_load(&host->denied);
		uint64_t silence = atomic_load(&host->silence);
		bool patient = !caller->waits || now - caller->since < timeout;
		bool taken = instant_of(lease) > now && patient;
		struct host_step step = { .decision = HOST_DENIED };
		nanos alone;

		/* Has the fleet denied a retry? */
		step.next = left_of(denied, window_length(caller->slice), now);
		if (step.next > 0)
			return step;

		/* Is the host alone? If the last question failed, one process
		 * may ask again, and the others are alone meanwhile. */
		alone = left_of(silence, LONGEST, now);
		if (alone == 0 && taken && failures_of(silence, now) > 0)
			alone = instant_of(lease) - now;
		if (alone > 0)
			return go_alone(host, caller, alone, now);

		/* Does another process ask? */
		step.decision = HOST_WAIT;
		step.next = FLEET_HOST_LOOK;
		if (taken) {
			caller->since = caller->waits ? caller->since : now;
			caller->waits = true;
			return step;
		}

		/* Would many hosts ask at once? */
		step.next = wait_for_opening(host, caller,
		    number_greater(instant_of(lease),
			number_greater(
			    instant_of(denied), instant_of(silence))),
		    now);
		if (step.next > 0)
			return step;
		if (step.next < 0)
			continue;

		/* Takes the lease, rather for too long than too short a time:
		 * the answer has to be stored, too. */
		begin_question(host, caller, now);
		question->wants = true;
		question->lease = ((lease >> UNTIL_BITS) + 1) << UNTIL_BITS |
		    until_of(
			number_add(now, number_add(timeout, FLEET_HOST_LOOK)));
		step.decision = HOST_ASK;
		if (atomic_compare_exchange_strong(
			&host->lease, &lease, question->lease)) {
			caller->waits = false;
			return step;
		}
	}
}

/*
 * What the server is told
 */

/* A mark in a slice, up to these counts. */
static uint64_t
mark_at(int64_t epoch, int64_t second, int64_t first)
{
	return (uint64_t)epoch << EPOCH_AT | (uint64_t)second << COUNT_BITS |
	    (uint64_t)first;
}

/* How many of the count in a slice are not before the mark, whose count begins
 * at this bit. */
static int64_t
untold(uint64_t mark, int at, int64_t epoch, int64_t count)
{
	if (epoch == marked(mark))
		count -= (int64_t)(mark >> at & NUMBER_MOST(COUNT_BITS));
	return epoch < marked(mark) ? 0 : number_greater(count, 0);
}

/*
 * Claims all successes and all retries paid back that the server has not been
 * told of, and finds the retries made alone: the question tells of all three.
 * If the marks are corrupt, there are no rows.
 */
static void
claim_untold(struct fleet_host *host, const struct window *window,
    struct fleet_caller *caller, nanos now)
{
	static const struct terms none = { 0, 0, 0 };
	struct fleet_question *question = &caller->question;
	nanos slice = caller->slice;
	int64_t present = window_epoch(slice, now), last, epoch;
	int64_t counted = number_of(atomic_load(&host->counted));
	int64_t since = present - (counted - 1);
	uint64_t told, next, alone;
	struct window_sums sums;

	question->first =
	    counted == 0 || since >= WINDOW_SLICES || since < -WINDOW_WORDS;
	question->counted = (uint64_t)present + 1;
	do {
		told = next = atomic_load(&host->told);
		alone = question->alone = atomic_load(&host->alone_told);
		/* Clocks of other processes may be ahead. */
		last = number_greater(
		    present, number_greater(marked(told), marked(alone)));
		question->count = 0;
		if (last - present > WINDOW_WORDS || last >= WINDOW_EPOCHS)
			break;

		/* Seals the slices before the last one, so that no retry can be
		 * counted in them after they were told. A success that is
		 * counted so late is lost. */
		window_withdraw(&host->alone, &none, last, &sums);

		epoch = number_greater(last - WINDOW_SLICES, 0);
		for (; epoch <= last; epoch++) {
			nanos age = question->until - epoch * slice;
			struct fleet_row row = { .age =
						     number_greater(age, 0) };
			int64_t successes =
			    window_slice(window, epoch).successes;

			sums = window_slice(&host->alone, epoch);
			row.successes = untold(told, 0, epoch, successes);
			row.rescued =
			    untold(told, COUNT_BITS, epoch, sums.successes);
			row.alone = untold(alone, 0, epoch, sums.retries);
			if (row.successes > 0 || row.rescued > 0)
				next =
				    mark_at(epoch, sums.successes, successes);
			if (row.alone > 0)
				question->alone =
				    mark_at(epoch, 0, sums.retries);
			if (row.successes > 0 || row.alone > 0 ||
			    row.rescued > 0)
				question->told[question->count++] = row;
		}
	} while (next != told &&
	    !atomic_compare_exchange_strong(&host->told, &told, next));
	question->alone_was = alone;
	if (question->by == 0 && question->count > 0)
		question->by = FLEET_BY_PAST;
}

struct host_step
fleet_host_ask(struct fleet_host *host, const struct window *window,
    struct fleet_caller *caller, nanos now)
{
	struct host_step step = decide(host, caller, now);

	caller->asked = now;
	if (step.decision == HOST_ASK)
		claim_untold(host, window, caller, now);
	return step;
}

void
fleet_host_claim(struct fleet_host *host, const struct window *window,
    struct fleet_caller *caller, nanos now)
{
	begin_question(host, caller, now);
	claim_untold(host, window, caller, now);
}

void
fleet_host_rescue(
    struct fleet_host *host, const struct fleet_caller *caller, nanos now)
{
	int64_t present = window_epoch(caller->slice, now);

	if (present - window_epoch(caller->slice, caller->asked) <
	    FLEET_HOST_RESCUE)
		window_note(&host->alone, present);
}

/*
 * After a question
 */

/* Stores that the fleet denies retries for a while. */
static void
begin_denial(struct fleet_host *host, const struct fleet_caller *caller,
    nanos pause, nanos now)
{
	nanos longest = window_length(caller->slice);
	uint64_t word, next;

	pause = number_add(pause / 2, part_of(pause, caller->random));
	pause = number_lesser(longest, number_greater(pause, FLEET_HOST_LOOK));
	next = until_of(number_add(now, pause));
	do {
		word = atomic_load(&host->denied);
		/* Retries may be denied for longer. */
		if (left_of(word, longest, now) >= pause)
			return;
	} while (!atomic_compare_exchange_strong(&host->denied, &word, next));
}

/* Stores that there was no answer, unless a pause has begun. */
static void
begin_pause(
    struct fleet_host *host, const struct fleet_caller *caller, nanos now)
{
	uint64_t silence, failures, next;
	nanos pause;

	do {
		silence = atomic_load(&host->silence);
		if (left_of(silence, LONGEST, now) > 0)
			return;
		failures =
		    fit((int64_t)failures_of(silence, now) + 1, FAILURE_BITS);
		pause = FLEET_HOST_PAUSE
		    << number_lesser((int64_t)failures - 1, DOUBLINGS);
		pause = number_lesser(pause, FLEET_HOST_PAUSE_MOST);
		pause = number_add(pause / 2, part_of(pause, caller->random));
		next =
		    failures << UNTIL_BITS | until_of(number_add(now, pause));
	} while (
	    !atomic_compare_exchange_strong(&host->silence, &silence, next));
}

/* Ends a lease, unless it has ended and another process has taken it. */
static void
release(_Atomic uint64_t *lease, uint64_t taken, nanos now)
{
	uint64_t ended = (uint64_t)(now / NANOS_MS);
	uint64_t turn = taken & ~NUMBER_MOST(UNTIL_BITS);

	if (instant_of(taken) > now)
		atomic_compare_exchange_strong(lease, &taken, turn | ended);
}

void
fleet_host_store(struct fleet_host *host, const struct fleet_caller *caller,
    const struct fleet_answer *answer, nanos now)
{
	const struct fleet_question *question = &caller->question;
	bool answered = answer->code <= FLEET_NOTED;
	bool known = answered || answer->code == FLEET_SENT;
	bool noted = question->wants || question->count > 0;
	uint64_t word = question->alone_was;
	int64_t ms;

	/* The server knows the rows of the question. */
	if (known)
		atomic_compare_exchange_strong(
		    &host->alone_told, &word, question->alone);
	if (known && noted && question->first)
		host->counted = question->counted;

	/* The offset is as if the server had read its clock when the question
	 * was asked. The server read it later, so the offset is never too
	 * small. */
	if (answer->now > 0) {
		ms = answer->now - question->asked;
		host->offset = fit(ms > 0 ? ms / NANOS_MS + 1 : 0, NUMBER_BITS);
	}
	if (answered) {
		host->hosts = fit(answer->hosts, NUMBER_BITS);
		host->used =
		    fit(answer->retries, 32) << 32 | fit(answer->limit, 32);
		word = atomic_load(&host->silence);
		if (word != 0)
			atomic_compare_exchange_strong(
			    &host->silence, &word, 0);
	}
	if (answer->code == FLEET_DENIED)
		begin_denial(host, caller, answer->pause, now);
	if (answer->code == FLEET_SILENT)
		begin_pause(host, caller, now);

	/* This comes last: see decide(). */
	if (question->lease != 0)
		release(&host->lease, question->lease, now);
}

struct host_view
fleet_host_look(const struct fleet_host *host, nanos slice, nanos now)
{
	uint64_t used = atomic_load(&host->used);
	struct window_sums alone;

	window_next(
	    &host->alone, &(struct terms){ 0, 0, 0 }, slice, now, &alone);
	return (struct host_view){
		.denied = left_of(
		    atomic_load(&host->denied), window_length(slice), now),
		.down = left_of(atomic_load(&host->silence), LONGEST, now),
		.hosts = fleet_host_hosts(host),
		.retries = (int64_t)(used >> 32),
		.limit = (int64_t)(used & UINT32_MAX),
		.alone = alone.retries,
	};
}
