/*
 * hold: what extends it, when it ends, what is corrupt; and one that another process extends
 * before any access of ours. hold.c changes one word, by one compare-and-swap in a loop: so all
 * that others do to it comes before one of its accesses.
 */
#include "unit.h"
#include "script.h"
#include "budget/hold.h"

#define hold_left raced_left
#define hold_extend raced_extend
nanos raced_left(const struct hold *hold, nanos now);
void raced_extend(struct hold *hold, nanos wait, nanos now);

#define NOW SECONDS(100)

static struct hold shared;
static int left = -1; /* accesses before the other process extends it; -1: never */
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
		while (left >= 0) race();
		longest = number_greater(before, wait);
		longest = number_greater(longest, other > 0 ? ahead + other : 0);
		EQUAL("longest", raced_left(&shared, NOW), longest);
	}
}

/* A word, a wait from NOW on, and how long the hold lasts before and after. */
static const struct {
	const char *row;
	uint64_t until;
	nanos wait, before, after;
} extensions[] = {
	{ "none yet", 0, SECONDS(3), 0, SECONDS(3) },
	{ "one that is past", SECONDS(99), SECONDS(3), 0, SECONDS(3) },
	{ "nothing was said", SECONDS(102), -1, SECONDS(2), SECONDS(2) },
	{ "longer than the longest", 0, NANOS_MAX, 0, HOLD_MOST },
	{ "set by a clock that is ahead", NOW + HOLD_MOST + NANOS_MINUTE, 0,
	    HOLD_MOST + NANOS_MINUTE, HOLD_MOST + NANOS_MINUTE },
	{ "corrupt", NOW + HOLD_MOST + NANOS_MINUTE + 1, SECONDS(3), 0, SECONDS(3) },
};

TEST(extend) {
	for (size_t i = 0; i < LENGTH(extensions); i++) {
		struct hold hold = { extensions[i].until };

		EQUAL(extensions[i].row, raced_left(&hold, NOW), extensions[i].before);
		raced_extend(&hold, extensions[i].wait, NOW);
		EQUAL(extensions[i].row, raced_left(&hold, NOW), extensions[i].after);
	}
}
