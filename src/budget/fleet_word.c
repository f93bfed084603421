#include "budget/fleet_word.h"

#include <string.h>
#include "text/hash.h"
#include "text/number.h"
#include "budget/window.h"

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
