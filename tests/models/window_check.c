/*
 * Covers budget/window.
 *
 * window_check [large]: tries every interleaving of a few processes that use a small window, with
 * the code of src/budget/window.c itself.
 *
 * Two actors withdraw and two deposit. One that has withdrawn may pay its retry back, at any
 * time. They take their steps in any order; each step is one access to the window. An actor may
 * begin with any time: the clock may have moved, or the actor was stopped after it had read the
 * clock, or its clock is behind. An actor that takes no more steps stands for a process that was
 * killed or stopped.
 *
 * The check keeps its own count of each slice, and verifies after each step:
 *
 * - for every slice with a retry, the window that ends with it has no more retries than its
 *   successes allow, without those that were paid back;
 * - each word of the window agrees with the count of its slice, and a sealed word loses retries
 *   at most;
 * - no word is of a slice in the future, or goes back to an earlier slice;
 * - no step leaves all as it was, so that each question is answered after finitely many steps:
 *   words of the window only grow, but for a retry that is paid back once.
 *
 * tests/models/broken breaks withdrawals and refunds; each must be found.
 */
#ifndef WINDOW_SLICES
#define WINDOW_SLICES 2
#endif
#include <err.h>
#include <string.h>
#include "budget/window.h"
#include "explore.h"

#include "accesses.h"

#include "budget/window.c"

enum {
	EACH = 2, /* actors of each kind */
	ACTORS = 2 * EACH,
	EPOCHS = 7,
	/* The most words that an actor reads, however often it starts again. */
	READS = 22,
};

enum operation { IDLE, WITHDRAW, DEPOSIT, REFUND, OPERATIONS };

static const char *const names_of[OPERATIONS] = { "nothing", "withdraw", "deposit", "refund" };

/* A process. States are compared as bytes. */
struct actor {
	uint16_t reads[READS]; /* the words that it has read so far */
	uint8_t count; /* of reads */
	uint8_t left; /* questions after this one */
	uint8_t operation;
	uint8_t epoch; /* at which its question began */
	uint8_t paid; /* 1 + the epoch that counts its last retry; 0: none */
	uint8_t spare;
};

struct state {
	uint16_t words[WINDOW_WORDS]; /* of the window */
	struct actor actors[ACTORS]; /* those that withdraw come first */
	/* The check's own count of each slice. */
	struct {
		uint8_t retries, successes;
	} truth[EPOCHS];
	uint8_t clock; /* the latest epoch at which a question began */
	uint8_t spare[7 - (WINDOW_WORDS * 2 + ACTORS * 50 + EPOCHS * 2) % 8];
};

/* How often each actor acts, and the last slice; 0 in the row after all. */
struct trial {
	uint8_t left[ACTORS];
	uint8_t last;
	struct terms limits;
};

#define HALF (WINDOW_RATIO_ONE / 2)
#define ONE WINDOW_RATIO_ONE

static const struct trial small[] = {
	{ { 1, 1, 1, 1 }, 3, { ONE, 1, 0 } },
	{ { 2, 1, 1, 1 }, 2, { ONE, 1, 0 } },
	{ { 2, 1, 1, 0 }, 4, { HALF, 1, 0 } },
	{ .last = 0 },
};

static const struct trial larger[] = {
	{ { 2, 1, 1, 1 }, 5, { ONE, 1, 0 } },
	{ { 2, 2, 1, 1 }, 4, { ONE, 1, 0 } },
	{ { 2, 2, 1, 0 }, 6, { ONE, 1, 0 } },
	{ { 1, 1, 2, 1 }, 5, { HALF, 0, 0 } },
	{ { 3, 1, 0, 0 }, 6, { 0, 1, 0 } },
	{ .last = 0 },
};

static struct {
	const struct trial *trial;
	/* The present step. */
	struct window window;
	struct actor *actor;
	int read; /* the number of the next one */
	int64_t counted; /* the epoch in which the actor has counted */
} run;

/* A word of the window in ten bits, and back. */
static uint16_t shorten(uint64_t word) {
	if (epoch_of(word) >= EPOCHS || successes_of(word) > 7 || retries_of(word) > 7)
		errx(2, "not a word of a small window");
	return (uint16_t)(epoch_of(word) << 7 | sealed(word) << 6 | successes_of(word) << 3 |
	    retries_of(word));
}

static uint64_t lengthen(uint16_t word) {
	return (uint64_t)(word >> 7) << 33 | (uint64_t)(word >> 6 & 1) << 32 |
	    (uint64_t)(word >> 3 & 7) << 16 | (word & 7);
}

/* Accesses */

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

/* What the word is after this access replaces what the actor has read before:
 * so it need not be swapped again, nor fail again. */
static bool exchange(_Atomic uint64_t *at, uint64_t *expected, uint64_t desired) {
	uint64_t was = word_at(epoch_of(desired), *expected);
	bool counts = desired == was + RETRY || desired == was + SUCCESS || desired == was - RETRY;
	bool swapped = *at == *expected;

	explore_access();
	if (swapped)
		*at = desired;
	else
		*expected = *at;
	if (swapped && counts)
		run.counted = epoch_of(desired);
	else
		run.actor->reads[run.read - 1] = shorten(swapped ? desired : *expected);
	return swapped;
}

/* Invariants */

void check_examine(const struct state *s) {
	const struct terms *limits = &run.trial->limits;

	for (int end = 0; end < EPOCHS; end++) {
		int retries = 0, successes = 0, least;

		for (int i = end; i >= 0 && i >= end - WINDOW_SLICES; i--) {
			retries += s->truth[i].retries;
			if (i > end - WINDOW_SLICES)
				successes += s->truth[i].successes;
		}
		least = (int)(successes * limits->ratio / WINDOW_RATIO_ONE);
		explore_expect(s->truth[end].retries == 0 || retries <= least ||
			retries <= limits->min,
		    "a window with too many retries");
	}
}

static void judge_word(const struct state *s, uint16_t was, uint16_t is) {
	uint64_t before = lengthen(was), word = lengthen(is);

	if (word == 0)
		return;
	explore_expect(epoch_of(word) <= s->clock, "a word of a future slice");
	explore_expect(epoch_of(word) >= epoch_of(before), "a word that goes back in time");
	explore_expect(epoch_of(word) != epoch_of(before) || !sealed(before) || word == before ||
		word == before - RETRY,
	    "a sealed word that changes");
	explore_expect(retries_of(word) == s->truth[epoch_of(word)].retries &&
		successes_of(word) == s->truth[epoch_of(word)].successes,
	    "a word that differs from the count");
}

/* Steps */

void check_operate(struct state *s, struct actor *actor) {
	const struct terms *limits = &run.trial->limits;
	struct window_sums sums;
	enum window_answer answer = WINDOW_DENIED;
	uint8_t paid = actor->paid;

	if (actor->operation == WITHDRAW) {
		answer = window_withdraw(&run.window, limits, actor->epoch, &sums);
		paid = answer == WINDOW_GRANTED ? (uint8_t)(sums.epoch + 1) : 0;
	} else if (actor->operation == DEPOSIT) {
		answer = window_deposit(&run.window, actor->epoch);
	} else {
		window_refund(&run.window, paid - 1);
		paid = 0;
	}
	/* Only an actor whose clock is a window behind may take the window for corrupt. */
	explore_expect(answer != WINDOW_CORRUPT || s->clock > actor->epoch + WINDOW_WORDS,
	    "a sound window is taken for corrupt");
	/* Of an idle actor, only what is left to do matters. */
	*actor = (struct actor){ .left = actor->left, .paid = paid };
}

void check_make(struct state *s, int who, int what, int now) {
	const struct state before = *s;
	struct actor *actor = &s->actors[who];
	int refund; /* the slice that it takes a retry from; -1: none */

	if (what != EXPLORE_STEP) {
		if (what != REFUND)
			actor->left--;
		actor->operation = (uint8_t)what;
		actor->epoch = (uint8_t)now;
		s->clock = (uint8_t)number_greater(s->clock, now);
	}
	for (int i = 0; i < WINDOW_WORDS; i++) run.window.words[i] = lengthen(s->words[i]);
	run.actor = actor;
	run.read = 0;
	run.counted = -1;
	refund = actor->operation == REFUND ? actor->paid - 1 : -1;
	explore_operate(s, actor);
	for (int i = 0; i < WINDOW_WORDS; i++) s->words[i] = shorten(run.window.words[i]);
	if (run.counted >= 0 && who >= EACH)
		s->truth[run.counted].successes++;
	else if (run.counted >= 0 && refund >= 0)
		s->truth[refund].retries--;
	else if (run.counted >= 0)
		s->truth[run.counted].retries++;
	for (int i = 0; i < WINDOW_WORDS; i++) judge_word(s, before.words[i], s->words[i]);
	explore_expect(memcmp(s, &before, sizeof before) != 0, "a step that never ends");
}

void check_normalise(struct state *s) {
	explore_sort(s->actors, EACH);
	explore_sort(s->actors + EACH, ACTORS - EACH);
}

/* The clock moves only when a question begins: before, nobody would notice. */
bool check_may(const struct state *s, int who, int what, int *first, int *last) {
	const struct actor *actor = &s->actors[who];

	*first = *last = 0;
	if (what == EXPLORE_STEP)
		return actor->operation != IDLE;
	if (what == REFUND)
		return actor->operation == IDLE && actor->paid > 0;
	*last = run.trial->last;
	return what == (who < EACH ? WITHDRAW : DEPOSIT) && actor->operation == IDLE &&
	    actor->left > 0;
}

bool check_begin(struct state *first, int trial, bool large) {
	run.trial = large ? &larger[trial] : &small[trial];
	for (int i = 0; i < ACTORS; i++) first->actors[i].left = run.trial->left[i];
	return run.trial->last > 0;
}

EXPLORER("window_check");
