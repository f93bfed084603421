#include "budget/fleet_server.h"

#include "text/number.h"
#include "budget/fleet_word.h"

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
