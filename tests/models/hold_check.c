/*
 * Covers budget/hold.
 *
 * hold_check: tries every interleaving of a few processes that use a hold, with the code of
 * src/budget/hold.c itself.
 *
 * Two actors extend the hold, for a short or a long time, and two look at it. Each step is one
 * access to the word. An actor may begin with any time: the clock may have moved, or the actor
 * was stopped after it had read the clock. An actor that takes no more steps stands for a process
 * that was killed. The word may be corrupt at first. The check verifies that
 *
 * - when an extension is over, the hold lasts for what it was told at least;
 * - a look finds the hold that lasted when it began, and nothing longer than the longest one, so
 *   that nobody waits for ever;
 * - the word goes back in time only if it was corrupt, and each step changes the state, so that
 *   each operation ends.
 *
 * An actor that was stopped for longer than HOLD_BEHIND may take a hold for corrupt, but no hold
 * that is shorter than HOLD_MOST by as much again.
 *
 * No operation uses a word of the window or the breaker, or the other way round, so what their
 * checks prove holds beside it.
 */
#define HOLD_LEAST 1
#define HOLD_MOST 4
#define HOLD_BEHIND 2
#include <err.h>
#include <string.h>
#include "budget/hold.h"
#include "explore.h"

#include "accesses.h"

#include "budget/hold.c"

enum {
	EACH = 2, /* actors of each kind */
	ACTORS = 2 * EACH,
	CORRUPT = 255,
	READS = 11, /* the most, even of a module that is broken on purpose */
	/* An actor that is further behind may take the longest hold here for corrupt. */
	LAG = HOLD_BEHIND + 1,
};

enum operation { IDLE, SHORT, LONG, LOOK, OPERATIONS };

static const char *const names_of[OPERATIONS] = { "nothing", "extend by 1", "extend by 3", "look" };
static const int waits[OPERATIONS] = { [SHORT] = 1, [LONG] = 3 };

struct actor {
	uint8_t operation;
	uint8_t now; /* when it began */
	uint8_t told; /* until when the hold lasted then */
	uint8_t left; /* operations after this one */
	uint8_t count; /* of reads */
	uint8_t reads[READS]; /* what it has read so far */
};

struct state {
	uint8_t word;
	uint8_t told; /* until when the hold has to last */
	uint8_t clock; /* the latest time at which an operation began */
	uint8_t spare[5];
	struct actor actors[ACTORS]; /* those that extend come first */
};

static const struct trial {
	uint8_t left[ACTORS], word, last;
} trials[] = {
	{ { 2, 1, 2, 1 }, 0, 5 },
	{ { 2, 1, 1, 1 }, CORRUPT, 4 },
	{ { 2, 2, 1, 0 }, 0, 6 },
};

static struct {
	const struct trial *trial;
	struct hold hold;
	struct actor *actor;
	int read; /* the number of the next one */
} run;

static uint8_t shorten(uint64_t word) {
	return word < CORRUPT ? (uint8_t)word : CORRUPT;
}

static uint64_t lengthen(uint8_t word) {
	return word == CORRUPT ? UINT64_MAX : word;
}

static uint64_t load(const _Atomic uint64_t *at) {
	struct actor *actor = run.actor;

	if (run.read == actor->count) {
		explore_access();
		if (actor->count == READS)
			errx(2, "READS is too small");
		actor->reads[actor->count++] = shorten(*at);
	}
	return lengthen(actor->reads[run.read++]);
}

/* What the word is after this access replaces what the actor has read. */
static bool exchange(_Atomic uint64_t *at, uint64_t *expected, uint64_t desired) {
	bool swapped = *at == *expected;

	explore_access();
	if (swapped)
		*at = desired;
	else
		*expected = *at;
	run.actor->reads[run.read - 1] = shorten(*at);
	return swapped;
}

void check_examine(const struct state *s) {
	(void)s;
}

void check_operate(struct state *s, struct actor *actor) {
	bool behind = s->clock > actor->now + LAG;
	nanos wait = waits[actor->operation], left;

	if (actor->operation == LOOK) {
		left = hold_left(&run.hold, actor->now);
		explore_expect(behind || left >= actor->told - actor->now,
		    "a hold that is not seen");
		explore_expect(left <= HOLD_MOST + HOLD_BEHIND, "a hold that lasts for too long");
	} else {
		hold_extend(&run.hold, wait, actor->now);
		s->told = (uint8_t)number_greater(s->told, actor->now + wait);
	}
	*actor = (struct actor){ .left = actor->left };
}

void check_make(struct state *s, int who, int what, int now) {
	const struct state before = *s;
	struct actor *actor = &s->actors[who];
	int began;

	if (what != EXPLORE_STEP) {
		actor->left--;
		actor->operation = (uint8_t)what;
		actor->now = (uint8_t)now;
		actor->told = s->told;
		s->clock = (uint8_t)number_greater(s->clock, now);
	}
	began = actor->now;
	run.hold.until = lengthen(s->word);
	run.actor = actor;
	run.read = 0;
	explore_operate(s, actor);
	s->word = shorten(run.hold.until);
	if (s->clock > began + LAG && s->word < s->told)
		s->told = s->word; /* it took the hold for corrupt */
	explore_expect(s->word >= before.word || before.word == CORRUPT || s->clock > began + LAG,
	    "a hold that becomes shorter");
	explore_expect(s->word == CORRUPT || s->word >= s->told, "a hold that is not there");
	explore_expect(s->word != CORRUPT || s->told == 0,
	    "an extension of a corrupt hold is lost");
	explore_expect(memcmp(s, &before, sizeof before) != 0, "a step that never ends");
}

void check_normalise(struct state *s) {
	explore_sort(s->actors, EACH);
	explore_sort(s->actors + EACH, ACTORS - EACH);
}

bool check_may(const struct state *s, int who, int what, int *first, int *last) {
	const struct actor *actor = &s->actors[who];

	*first = *last = 0;
	if (what == EXPLORE_STEP)
		return actor->operation != IDLE;
	*last = run.trial->last;
	return actor->operation == IDLE && actor->left > 0 &&
	    (who < EACH ? what == SHORT || what == LONG : what == LOOK);
}

bool check_begin(struct state *first, int trial, bool large) {
	(void)large;
	if ((size_t)trial >= sizeof trials / sizeof *trials)
		return false;
	run.trial = &trials[trial];
	first->word = run.trial->word;
	for (int i = 0; i < ACTORS; i++)
		first->actors[i].left = run.trial->left[i];
	return true;
}

EXPLORER("hold_check");
