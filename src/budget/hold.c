#include "budget/hold.h"

#include "text/number.h"

static nanos
left_of(uint64_t until, nanos now)
{
	uint64_t present = (uint64_t)now;

	return until > present && until - present <= HOLD_MOST + HOLD_BEHIND
	    ? (nanos)(until - present)
	    : 0;
}

nanos
hold_left(const struct hold *hold, nanos now)
{
	return left_of(atomic_load(&hold->until), now);
}

void
hold_extend(struct hold *hold, nanos wait, nanos now)
{
	uint64_t until = atomic_load(&hold->until);

	wait = number_lesser(wait, HOLD_MOST);
	while (left_of(until, now) < wait &&
	    !atomic_compare_exchange_strong(
		&hold->until, &until, (uint64_t)number_add(now, wait)))
		;
}
