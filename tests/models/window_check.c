/*
 * window_check [large]: tries every interleaving of a few processes that use a
 * small window, with the code of src/budget/window.c itself.
 *
 * Two actors withdraw and two deposit. They take their steps in any order; each
 * step is one access to the window. An actor may begin with any time: the clock
 * may have moved, or the actor was stopped after it had read the clock, or its
 * clock is behind. An actor that takes no more steps
 * stands for a process that was killed or stopped. It has no saved registers:
 * to continue, the check calls the function again from its beginning, and gives
 * it the words that it has read before.
 *
 * The check keeps its own count of each slice, and verifies after each step:
 *
 * - for every slice with a retry, the window that ends with it has no more
 *   retries than its successes allow;
 * - each word of the window agrees with the count of its slice, and a sealed
 *   word does not change;
 * - no word is of a slice in the future, or goes back to an earlier slice;
 * - no state comes again after itself, so that each question is answered after
 *   finitely many steps.
 *
 * tests/models/broken breaks a withdrawal in two ways; both must be found.
 */
#ifndef WINDOW_SLICES
#define WINDOW_SLICES 2
#endif
#include <err.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "explore.h"
#include "budget/window.h"

/* The window gets these in place of the atomic accesses. */
#undef atomic_load
#undef atomic_compare_exchange_strong
static uint64_t load(const _Atomic uint64_t *at);
static bool
exchange(_Atomic uint64_t *at, uint64_t *expected, uint64_t desired);
#define atomic_load(at) load(at)
#define atomic_compare_exchange_strong(at, expected, desired) \
	exchange(at, expected, desired)

#include "budget/window.c"

enum {
	ACTORS = 2, /* of each kind */
	EPOCHS = 7,
	/* The most words that an actor reads, however often it starts again. */
	READS = 22,
};

/* A process that withdraws, or that deposits. States are compared as bytes. */
struct actor {
	uint16_t reads[READS]; /* the words that it has read so far */
	uint8_t count; /* of reads */
	uint8_t left; /* questions after this one */
	uint8_t busy;
	uint8_t epoch; /* at which its question began */
};

struct state {
	uint16_t words[WINDOW_WORDS]; /* of the window */
	struct actor withdrawers[ACTORS], depositors[ACTORS];
	/* The check's own count of each slice. */
	struct {
		uint8_t retries, successes;
	} truth[EPOCHS];
	uint8_t clock; /* the latest epoch at which a question began */
	uint8_t spare[7 - (WINDOW_WORDS * 2 + ACTORS * 96 + EPOCHS * 2) % 8];
};

/* How often each actor acts, and the last slice. */
struct trial {
	uint8_t withdrawals[ACTORS], deposits[ACTORS];
	uint8_t last;
	struct terms limits;
};

#define HALF (WINDOW_RATIO_ONE / 2)
#define ONE WINDOW_RATIO_ONE

static const struct trial small[] = {
	{ { 1, 1 }, { 1, 1 }, 5, { ONE, 1, 0 } },
	{ { 2, 1 }, { 1, 1 }, 3, { ONE, 1, 0 } },
	{ { 2, 1 }, { 1, 0 }, 5, { HALF, 1, 0 } },
};

static const struct trial large[] = {
	{ { 2, 1 }, { 1, 1 }, 5, { ONE, 1, 0 } },
	{ { 2, 2 }, { 1, 1 }, 4, { ONE, 1, 0 } },
	{ { 2, 2 }, { 1, 0 }, 6, { ONE, 1, 0 } },
	{ { 1, 1 }, { 2, 1 }, 5, { HALF, 0, 0 } },
	{ { 3, 1 }, { 0, 0 }, 6, { 0, 1, 0 } },
};

static struct {
	const struct trial *trial;
	bool printed; /* the path to the violation */

	/* The present step. */
	struct window window;
	struct actor *actor;
	int read; /* the number of the next one */
	bool stepped;
	int64_t counted; /* the epoch in which the actor has counted */
	jmp_buf leave;
} run;

/* A word of the window in ten bits, and back. */
static uint16_t
shorten(uint64_t word)
{
	if (epoch_of(word) >= EPOCHS || successes_of(word) > 7 ||
	    retries_of(word) > 7)
		errx(2, "not a word of a small window");
	return (uint16_t)(epoch_of(word) << 7 | sealed(word) << 6 |
	    successes_of(word) << 3 | retries_of(word));
}

static uint64_t
lengthen(uint16_t word)
{
	return (uint64_t)(word >> 7) << 33 | (uint64_t)(word >> 6 & 1) << 32 |
	    (uint64_t)(word >> 3 & 7) << 16 | (word & 7);
}

/*
 * Accesses
 */

static uint64_t
load(const _Atomic uint64_t *at)
{
	struct actor *actor = run.actor;

	if (run.read == actor->count) {
		if (run.stepped)
			longjmp(run.leave, 1);
		if (actor->count == READS)
			errx(2, "READS is too small");
		run.stepped = true;
		actor->reads[actor->count++] = shorten(*at);
	}
	return lengthen(actor->reads[run.read++]);
}

/* What the word is after this access replaces what the actor has read before:
 * so it need not be swapped again, nor fail again. */
static bool
exchange(_Atomic uint64_t *at, uint64_t *expected, uint64_t desired)
{
	uint64_t was = word_at(epoch_of(desired), *expected);
	bool counts = desired == was + RETRY || desired == was + SUCCESS;
	bool swapped = *at == *expected;

	if (run.stepped)
		longjmp(run.leave, 1);
	run.stepped = true;
	if (swapped)
		*at = desired;
	else
		*expected = *at;
	if (swapped && counts)
		run.counted = epoch_of(desired);
	else
		run.actor->reads[run.read - 1] =
		    shorten(swapped ? desired : *expected);
	return swapped;
}

/*
 * Invariants
 */

static bool
windows_hold(const struct state *s, const struct terms *limits)
{
	for (int end = 0; end < EPOCHS; end++) {
		int retries = 0, successes = 0, least;

		for (int i = end; i >= 0 && i >= end - WINDOW_SLICES; i--) {
			retries += s->truth[i].retries;
			if (i > end - WINDOW_SLICES)
				successes += s->truth[i].successes;
		}
		least = (int)(successes * limits->ratio / WINDOW_RATIO_ONE);
		if (s->truth[end].retries > 0 && retries > least &&
		    retries > limits->min)
			return false;
	}
	return true;
}

/* What is wrong about the change of a word, or NULL. */
static const char *
word_wrong(const struct state *s, uint16_t was, uint16_t is)
{
	uint64_t before = lengthen(was), word = lengthen(is);

	if (word == 0)
		return NULL;
	if (epoch_of(word) > s->clock)
		return "a word of a future slice";
	if (epoch_of(word) < epoch_of(before))
		return "a word that goes back in time";
	if (epoch_of(word) == epoch_of(before) && sealed(before) &&
	    word != before)
		return "a sealed word that changes";
	if (retries_of(word) != s->truth[epoch_of(word)].retries ||
	    successes_of(word) != s->truth[epoch_of(word)].successes)
		return "a word that differs from the count";
	return NULL;
}

/* Each word as epoch, sealed, successes, retries. */
static void
print_step(const struct step_from *step, const void *before, const void *after)
{
	const struct state *s = after;

	(void)before;
	printf(
	    "\t%s %d", step->what == 0 ? "withdrawer" : "depositor", step->who);
	for (int i = 0; i < WINDOW_WORDS && s != NULL; i++) {
		unsigned word = s->words[i];

		printf("  %u%s:%u/%u", word >> 7, word >> 6 & 1 ? "s" : "",
		    word & 7, word >> 3 & 7);
	}
	putchar('\n');
}

/*
 * Steps
 */

/* Makes the next access of an actor; after its last one, the question is
 * answered. */
static void
take_step(struct state *s, struct actor *actor, bool withdraws)
{
	const struct terms *limits = &run.trial->limits;
	const struct state before = *s;
	/* Only an actor whose clock is a window behind may take the window for
	 * corrupt. */
	const bool late = s->clock > actor->epoch + WINDOW_WORDS;
	const char *wrong;

	for (int i = 0; i < WINDOW_WORDS; i++)
		run.window.words[i] = lengthen(s->words[i]);
	run.actor = actor;
	run.read = 0;
	run.stepped = false;
	run.counted = -1;
	if (setjmp(run.leave) == 0) {
		struct window_sums sums;
		enum window_answer answer = withdraws
		    ? window_withdraw(&run.window, limits, actor->epoch, &sums)
		    : window_deposit(&run.window, actor->epoch);

		if (answer == WINDOW_CORRUPT && !late)
			explore_wrong("a sound window is taken for corrupt");
		/* Of an idle actor, only what is left to do matters. */
		*run.actor = (struct actor){ .left = run.actor->left };
	}
	for (int i = 0; i < WINDOW_WORDS; i++)
		s->words[i] = shorten(run.window.words[i]);
	wrong = NULL;
	if (run.counted >= 0 && !withdraws)
		s->truth[run.counted].successes++;
	if (run.counted >= 0 && withdraws) {
		s->truth[run.counted].retries++;
		if (!windows_hold(s, &run.trial->limits))
			wrong = "a window with too many retries";
	}
	for (int i = 0; i < WINDOW_WORDS && wrong == NULL; i++)
		wrong = word_wrong(s, before.words[i], s->words[i]);
	if (wrong != NULL)
		explore_wrong(wrong);
}

/* The order of two actors does not matter: the greater one comes first. */
static void
sort(struct actor actors[ACTORS])
{
	struct actor first = actors[0];

	if (memcmp(&actors[0], &actors[1], sizeof first) < 0) {
		actors[0] = actors[1];
		actors[1] = first;
	}
}

/*
 * Everything that can come after a state, which has this number: each actor
 * makes its next access; an idle one, the first one of a question that begins
 * at any epoch. The clock moves only then: before, nobody would notice.
 */
static void
explore(const struct state *s, uint32_t number)
{
	explore_step(number)->open = true;
	for (int i = 0; i < 2 * ACTORS * EPOCHS; i++) {
		int who = i / EPOCHS / 2, epoch = i % EPOCHS;
		bool withdraws = i / EPOCHS % 2 == 0;
		struct step_from step = { number, (int8_t)!withdraws,
			(int8_t)who, false };
		struct state next = *s;
		struct actor *actor =
		    withdraws ? &next.withdrawers[who] : &next.depositors[who];
		uint32_t reached;

		if (explorer.wrong != NULL)
			break;
		if (actor->busy ? epoch > 0
				: actor->left == 0 || epoch > run.trial->last)
			continue;
		if (!actor->busy) {
			actor->left--;
			actor->busy = true;
			actor->epoch = (uint8_t)epoch;
			next.clock = (uint8_t)number_greater(s->clock, epoch);
		}
		take_step(&next, actor, withdraws);
		sort(next.withdrawers);
		sort(next.depositors);
		if (explorer.wrong == NULL) {
			if (explore_add(&next, step, &reached)) {
				explore(&next, reached);
				continue;
			}
			if (explore_step(reached)->open)
				explore_wrong(
				    "a state that comes again after itself");
		}
		if (explorer.wrong != NULL && !run.printed) {
			run.printed = true;
			explore_print(step);
		}
	}
	explore_step(number)->open = false;
}

int
main(int argc, char **argv)
{
	bool more = argc > 1 && strcmp(argv[1], "large") == 0;
	const struct trial *trials = more ? large : small;
	size_t count =
	    more ? sizeof large / sizeof *large : sizeof small / sizeof *small;
	size_t states = 0;
	int violations = 0;

	explorer.name = "window_check";
	explorer.size = sizeof(struct state);
	explorer.print = print_step;
	for (size_t i = 0; i < count; i++) {
		struct state first;
		uint32_t number;

		run.trial = &trials[i];
		run.printed = false;
		explore_start(1 << 20);
		memset(&first, 0, sizeof first);
		for (int j = 0; j < ACTORS; j++) {
			first.withdrawers[j].left = trials[i].withdrawals[j];
			first.depositors[j].left = trials[i].deposits[j];
		}
		explore_add(&first, (struct step_from){ 0 }, &number);
		explore(&first, number);
		states += explorer.count;
		violations += explorer.wrong != NULL;
	}
	printf("window_check: %zu states, %d violations\n", states, violations);
	return violations > 0;
}
