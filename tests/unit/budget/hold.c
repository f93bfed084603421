/*
 * hold, used by one process: what extends it, when it ends, what is corrupt.
 * Several processes at once are raced_hold's.
 */
#include "unit.h"
#include "script.h"
#include "budget/hold.h"

#define NOW SECONDS(100)

/* A word, a wait from NOW on, and how long the hold lasts before and after. */
static const struct {
	const char *row;
	uint64_t until;
	nanos wait, before, after;
} extensions[] = {
	{ "none yet", 0, SECONDS(3), 0, SECONDS(3) },
	{ "a shorter one lasts", SECONDS(102), SECONDS(3), SECONDS(2), SECONDS(3) },
	{ "a longer one lasts", SECONDS(105), SECONDS(3), SECONDS(5), SECONDS(5) },
	{ "one that is past", SECONDS(99), SECONDS(3), 0, SECONDS(3) },
	{ "one that ends now", NOW, SECONDS(1), 0, SECONDS(1) },
	{ "no wait", 0, 0, 0, 0 },
	{ "nothing was said", SECONDS(102), -1, SECONDS(2), SECONDS(2) },
	{ "the longest", 0, HOLD_MOST, 0, HOLD_MOST },
	{ "longer than that", 0, NANOS_MAX, 0, HOLD_MOST },
	{ "set by a clock that is ahead", NOW + HOLD_MOST + NANOS_MINUTE, 0,
	    HOLD_MOST + NANOS_MINUTE, HOLD_MOST + NANOS_MINUTE },
	{ "corrupt", NOW + HOLD_MOST + NANOS_MINUTE + 1, SECONDS(3), 0, SECONDS(3) },
	{ "corrupt", UINT64_MAX, SECONDS(3), 0, SECONDS(3) },
};

TEST(extend) {
	for (size_t i = 0; i < LENGTH(extensions); i++) {
		struct hold hold = { extensions[i].until };

		EQUAL(extensions[i].row, hold_left(&hold, NOW), extensions[i].before);
		hold_extend(&hold, extensions[i].wait, NOW);
		EQUAL(extensions[i].row, hold_left(&hold, NOW), extensions[i].after);
	}
}
