/*
 * Covers budget/hold.
 *
 * A hold that another process extends before any access of ours. hold.c changes one word, by one
 * compare-and-swap in a loop: so all that others do to it comes before one of its accesses.
 */
#include "unit.h"
#include "budget/hold.h"

#define hold_left raced_left
#define hold_extend raced_extend
nanos raced_left(const struct hold *hold, nanos now);
void raced_extend(struct hold *hold, nanos wait, nanos now);

#define NOW HOLD_MOST

static struct hold shared;
static int left; /* accesses before the other process extends it */
static nanos ahead, other; /* by its clock, for so long */

static void race(void);

static uint64_t load(const _Atomic uint64_t *at) {
	race();
	return atomic_load(at);
}

static bool exchange(_Atomic uint64_t *at, uint64_t *expected, uint64_t desired) {
	race();
	return atomic_compare_exchange_strong(at, expected, desired);
}

#undef atomic_load
#undef atomic_compare_exchange_strong
#define atomic_load(at) load(at)
#define atomic_compare_exchange_strong(at, expected, desired) exchange(at, expected, desired)
#include "budget/hold.c"

static void race(void) {
	if (left-- == 0 && left_of(shared.until, NOW + ahead) < other)
		shared.until = (uint64_t)(NOW + ahead + other);
}

TEST(the_longest_of_all_extensions_lasts) {
	static const nanos times[] = { 0, 1, 5, HOLD_MOST - 1, HOLD_MOST };

	for (int i = 0; i < 2 * 5 * 5 * 6 * 4; i++) {
		nanos wait = times[i / 2 % 5], before = 0, longest;

		ahead = i % 2 * HOLD_BEHIND;
		other = times[i / 10 % 5];
		shared.until = UINT64_MAX; /* corrupt */
		if (i / 50 % 6 < 5) {
			before = times[i / 50 % 6];
			shared.until = (uint64_t)(NOW + before);
		}
		left = i / 300;
		raced_extend(&shared, wait, NOW);
		while (left >= 0)
			race();
		longest = number_greater(before, wait);
		longest = number_greater(longest, other > 0 ? ahead + other : 0);
		EQUAL("longest", raced_left(&shared, NOW), longest);
	}
}
