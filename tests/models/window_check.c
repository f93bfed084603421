/*
 * window_check [large]: tries every interleaving of a few processes that use a
 * small window, with the code of src/budget/window.c itself.
 *
 * Two actors withdraw and two deposit. They take their steps in any order; each
 * step is one access to the window. The clock moves at any moment, and an actor
 * may begin with any time up to the present: because it was stopped after it
 * had read the clock, or because its clock is behind. An actor that takes no
 * more steps stands for a process that was killed or stopped. It has no saved
 * registers: to continue, the check calls the function again from its
 * beginning, and gives it the words that it has read before.
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
	ACTORS = 2,
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

/* The check's own count of a slice. */
struct truth {
	uint8_t retries, successes;
};

struct state {
	uint16_t words[WINDOW_WORDS]; /* of the window */
	struct actor withdrawers[ACTORS], depositors[ACTORS];
	struct truth truth[EPOCHS];
	uint8_t clock;
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

enum step_kind { STEP_CLOCK, STEP_WITHDRAWER, STEP_DEPOSITOR };

static struct {
	struct explorer explorer;
	const struct trial *trial;
	bool printed; /* the path to the violation */
	size_t states; /* of all trials */

	/* The present step. */
	struct window window;
	struct actor *actor;
	int read; /* the number of the next one */
	bool stepped;
	int64_t counted; /* the epoch in which the actor has counted */
	jmp_buf leave;
} run = { .explorer = {
	      .name = "window_check", .size = sizeof(struct state) } };

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

static const char *
word_wrong(const struct state *s, uint16_t was, uint16_t is)
{
	uint64_t before = lengthen(was), word = lengthen(is);
	const struct truth *truth = &s->truth[epoch_of(word)];

	if (word == 0)
		return NULL;
	if (epoch_of(word) > s->clock)
		return "a word of a future slice";
	if (epoch_of(word) < epoch_of(before))
		return "a word that goes back in time";
	if (epoch_of(word) == epoch_of(before) && sealed(before) &&
	    word != before)
		return "a sealed word that changes";
	if (retries_of(word) != truth->retries ||
	    successes_of(word) != truth->successes)
		return "a word that differs from the count";
	return NULL;
}

static const char too_many[] = "a window with too many retries";
static const char corrupt[] = "a sound window is taken for corrupt";

/* Each word as epoch, sealed, successes, retries. */
static void
print_step(const struct step_from *step, const void *state)
{
	static const char *const kinds[] = { "clock", "withdrawer",
		"depositor" };
	const struct state *s = state;

	printf("\t%s %d", kinds[step->what], step->who);
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
	/* Only an actor whose clock is a window behind may take the window for
	 * corrupt. */
	bool late = s->clock > actor->epoch + WINDOW_WORDS;
	enum window_answer answer;
	struct window_sums sums;

	for (int i = 0; i < WINDOW_WORDS; i++)
		run.window.words[i] = lengthen(s->words[i]);
	run.actor = actor;
	run.read = 0;
	run.stepped = false;
	run.counted = -1;
	if (setjmp(run.leave) == 0) {
		answer = withdraws
		    ? window_withdraw(&run.window, limits, actor->epoch, &sums)
		    : window_deposit(&run.window, actor->epoch);
		if (answer == WINDOW_CORRUPT && !late)
			explore_violated(&run.explorer, corrupt);
		/* Of an idle actor, only what is left to do matters. */
		*run.actor = (struct actor){ .left = run.actor->left };
	}
	for (int i = 0; i < WINDOW_WORDS; i++)
		s->words[i] = shorten(run.window.words[i]);
	if (run.counted < 0)
		return;
	if (!withdraws) {
		s->truth[run.counted].successes++;
		return;
	}
	s->truth[run.counted].retries++;
	if (!windows_hold(s, limits))
		explore_violated(&run.explorer, too_many);
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

static void explore(const struct state *s, uint32_t number);

/* A step has led from one state to the next. */
static void
follow(const struct state *before, struct state *next, struct step_from step)
{
	const char *wrong = NULL;
	uint32_t number;

	for (int i = 0; i < WINDOW_WORDS && wrong == NULL; i++)
		wrong = word_wrong(next, before->words[i], next->words[i]);
	if (wrong != NULL)
		explore_violated(&run.explorer, wrong);
	sort(next->withdrawers);
	sort(next->depositors);
	if (run.explorer.wrong == NULL) {
		if (explore_add(&run.explorer, next, step, &number)) {
			explore(next, number);
			return;
		}
		if (explore_step(&run.explorer, number)->open)
			explore_violated(&run.explorer,
			    "a state that comes again after itself");
	}
	if (run.explorer.wrong != NULL && !run.printed) {
		run.printed = true;
		explore_print(&run.explorer, step, print_step);
	}
}

/* Everything that an actor can do next: its next access; if it is idle, the
 * first one of a question that begins at any epoch up to the present. */
static void
explore_actor(const struct state *s, uint32_t number, int i, bool withdraws)
{
	int last = s->clock;
	enum step_kind kind = withdraws ? STEP_WITHDRAWER : STEP_DEPOSITOR;

	for (int epoch = 0; epoch <= last; epoch++) {
		struct state next = *s;
		struct actor *actor =
		    withdraws ? &next.withdrawers[i] : &next.depositors[i];

		if (actor->busy ? epoch > 0 : actor->left == 0)
			return;
		if (!actor->busy) {
			actor->left--;
			actor->busy = true;
			actor->epoch = (uint8_t)epoch;
		}
		take_step(&next, actor, withdraws);
		follow(s, &next,
		    (struct step_from){
			number, (int8_t)kind, (int8_t)i, false });
	}
}

/* Everything that can come after a state, which has this number. */
static void
explore(const struct state *s, uint32_t number)
{
	explore_step(&run.explorer, number)->open = true;
	if (s->clock < run.trial->last) {
		struct state next = *s;

		next.clock++;
		follow(s, &next,
		    (struct step_from){ number, STEP_CLOCK, 0, false });
	}
	for (int i = 0; i < 2 * ACTORS && run.explorer.wrong == NULL; i++)
		explore_actor(s, number, i / 2, i % 2 == 0);
	explore_step(&run.explorer, number)->open = false;
}

/* Tries all that can happen in a trial: true if nothing is violated. */
static bool
holds(const struct trial *trial)
{
	struct state first;
	uint32_t number;

	run.trial = trial;
	run.printed = false;
	explore_start(&run.explorer, 1 << 20);
	memset(&first, 0, sizeof first);
	for (int i = 0; i < ACTORS; i++) {
		first.withdrawers[i].left = trial->withdrawals[i];
		first.depositors[i].left = trial->deposits[i];
	}
	explore_add(&run.explorer, &first, (struct step_from){ 0 }, &number);
	explore(&first, number);
	run.states += run.explorer.count;
	return run.explorer.wrong == NULL;
}

int
main(int argc, char **argv)
{
	const char *which = argc > 1 ? argv[1] : "";
	bool more = strcmp(which, "large") == 0;
	const struct trial *trials = more ? large : small;
	size_t count =
	    more ? sizeof large / sizeof *large : sizeof small / sizeof *small;
	int violations = 0;

	for (size_t i = 0; i < count; i++)
		violations += !holds(&trials[i]);
	printf("window_check: %zu states, %d violations\n", run.states,
	    violations);
	explore_end(&run.explorer);
	return violations > 0;
}
