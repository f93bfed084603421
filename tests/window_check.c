/*
 * window_check [large]: tries every interleaving of a few processes that use a
 * small window, with the code of src/budget/window.c itself.
 *
 * Two actors withdraw and two deposit. They take their steps in any order; each
 * step is one access to the window. The clock moves at any moment, and an actor
 * may begin with any time up to the present: because it was stopped after it
 * had read the clock, or because its clock is behind. An actor that takes no
 * more steps stands for a process that was killed or stopped.
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
 * "window_check broken" tries broken variants of a withdrawal instead; both
 * must be caught.
 */
#ifndef WINDOW_SLICES
#define WINDOW_SLICES 2
#endif
#include "budget/window.c"

#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "explore.h"
#include "window_broken.h"

enum { ACTORS = 2, EPOCHS = 7 };

struct withdrawer {
	int left; /* withdrawals after this one */
	bool busy;
	struct withdrawal w;
};

struct depositor {
	int left;
	bool busy;
	struct deposit d;
};

/* The check's own count of a slice. */
struct truth {
	int retries, successes;
};

struct state {
	struct window window;
	struct withdrawer withdrawers[ACTORS];
	struct depositor depositors[ACTORS];
	int64_t clock;
	struct truth truth[EPOCHS];
};

/* How often each actor acts, and the last slice. */
struct trial {
	int withdrawals[ACTORS], deposits[ACTORS];
	int64_t last;
	struct window_limits limits;
};

#define HALF (WINDOW_RATIO_ONE / 2)
#define ONE WINDOW_RATIO_ONE

static const struct trial small[] = {
	{ { 1, 1 }, { 1, 1 }, 5, { ONE, 1 } },
	{ { 2, 1 }, { 1, 1 }, 3, { ONE, 1 } },
	{ { 2, 1 }, { 1, 0 }, 5, { HALF, 1 } },
};

static const struct trial large[] = {
	{ { 2, 1 }, { 1, 1 }, 5, { ONE, 1 } },
	{ { 2, 2 }, { 1, 1 }, 4, { ONE, 1 } },
	{ { 2, 2 }, { 1, 0 }, 6, { ONE, 1 } },
	{ { 1, 1 }, { 2, 1 }, 5, { HALF, 0 } },
	{ { 3, 1 }, { 0, 0 }, 6, { 0, 1 } },
};

/* A state without what no step depends on: equal keys have equal futures. */
enum { KEY_WORDS = 3 };

struct key {
	uint64_t bits[KEY_WORDS];
};

enum step_kind { STEP_CLOCK, STEP_WITHDRAWER, STEP_DEPOSITOR };

static struct {
	struct explorer explorer;
	const struct trial *trial;
	enum variant variant;
	bool printed; /* the path to the violation */
	size_t states; /* of all trials with the sound withdrawal */
} run = { .explorer = { .name = "window_check", .size = sizeof(struct key) } };

/*
 * Keys
 */

struct packer {
	struct key key;
	unsigned at;
};

static void
put(struct packer *p, uint64_t value, unsigned bits)
{
	unsigned word = p->at / 64, shift = p->at % 64;

	if (value >> bits != 0 || p->at + bits > 64 * KEY_WORDS)
		errx(2, "%llu does not fit into a key",
		    (unsigned long long)value);
	p->key.bits[word] |= value << shift;
	if (shift + bits > 64)
		p->key.bits[word + 1] |= value >> (64 - shift);
	p->at += bits;
}

/* A word of the window in ten bits. */
static uint64_t
short_word(uint64_t word)
{
	if (WORD_EPOCH(word) >= EPOCHS || WORD_SUCCESSES(word) > 7 ||
	    WORD_RETRIES(word) > 7)
		errx(2, "not a word of a small window");
	return (uint64_t)WORD_EPOCH(word) << 7 |
	    (uint64_t)WORD_SEALED(word) << 6 |
	    (uint64_t)WORD_SUCCESSES(word) << 3 | (uint64_t)WORD_RETRIES(word);
}

/* Of an idle actor, only what is left to do matters. */
static uint64_t
withdrawer_key(const struct withdrawer *one)
{
	struct packer p = { .at = 0 };

	put(&p, (uint64_t)one->left, 2);
	put(&p, one->busy, 1);
	if (!one->busy)
		return p.key.bits[0];
	put(&p, (uint64_t)one->w.epoch, 3);
	put(&p, (uint64_t)one->w.latest, 4);
	put(&p, (uint64_t)one->w.slice, 3);
	put(&p, (uint64_t)one->w.sums.retries, 3);
	put(&p, (uint64_t)one->w.sums.successes, 3);
	put(&p, one->w.read, 1);
	put(&p, one->w.read ? short_word(one->w.word) : 0, 10);
	return p.key.bits[0];
}

static uint64_t
depositor_key(const struct depositor *one)
{
	struct packer p = { .at = 0 };

	put(&p, (uint64_t)one->left, 2);
	put(&p, one->busy, 1);
	if (!one->busy)
		return p.key.bits[0];
	put(&p, (uint64_t)one->d.epoch, 3);
	put(&p, (uint64_t)one->d.latest, 4);
	put(&p, one->d.read, 1);
	put(&p, one->d.read ? short_word(one->d.word) : 0, 10);
	return p.key.bits[0];
}

/* The order of two actors does not matter: the greater key comes first. */
static void
put_two(struct packer *p, uint64_t a, uint64_t b, unsigned bits)
{
	put(p, a > b ? a : b, bits);
	put(p, a > b ? b : a, bits);
}

static struct key
key_of(const struct state *s)
{
	struct packer p = { .at = 0 };

	for (int i = 0; i < WINDOW_WORDS; i++)
		put(&p, short_word(s->window.words[i]), 10);
	put_two(&p, withdrawer_key(&s->withdrawers[0]),
	    withdrawer_key(&s->withdrawers[1]), 30);
	put_two(&p, depositor_key(&s->depositors[0]),
	    depositor_key(&s->depositors[1]), 21);
	put(&p, (uint64_t)s->clock, 3);
	for (int i = 0; i < EPOCHS; i++) {
		put(&p, (uint64_t)s->truth[i].retries, 3);
		put(&p, (uint64_t)s->truth[i].successes, 3);
	}
	return p.key;
}

/*
 * Invariants
 */

static bool
windows_hold(const struct state *s, const struct window_limits *limits)
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
word_wrong(const struct state *s, uint64_t before, uint64_t word)
{
	const struct truth *truth = &s->truth[WORD_EPOCH(word)];

	if (word == 0)
		return NULL;
	if (WORD_EPOCH(word) > s->clock)
		return "a word of a future slice";
	if (WORD_EPOCH(word) < WORD_EPOCH(before))
		return "a word that goes back in time";
	if (WORD_EPOCH(word) == WORD_EPOCH(before) && WORD_SEALED(before) &&
	    word != before)
		return "a sealed word that changes";
	if (WORD_RETRIES(word) != truth->retries ||
	    WORD_SUCCESSES(word) != truth->successes)
		return "a word that differs from the count";
	return NULL;
}

static const char *
words_wrong(const struct state *before, const struct state *s)
{
	const char *wrong = NULL;

	for (int i = 0; i < WINDOW_WORDS && wrong == NULL; i++)
		wrong =
		    word_wrong(s, before->window.words[i], s->window.words[i]);
	return wrong;
}

static const char too_many[] = "a window with too many retries";
static const char corrupt[] = "a sound window is taken for corrupt";

/* A broken variant has to be caught by too many retries, and only by them. */
static void
violated(const char *what)
{
	if (run.variant == VARIANT_SOUND || what == too_many)
		explore_violated(&run.explorer, what);
}

/* The words are the first bits of a key: epoch, sealed, successes, retries. */
static void
print_step(const struct step_from *step, const void *state)
{
	static const char *const kinds[] = { "clock", "withdrawer",
		"depositor" };
	const struct key *key = state;

	printf("\t%s %d", kinds[step->what], step->who);
	for (int i = 0; i < WINDOW_WORDS && key != NULL; i++) {
		unsigned word = (unsigned)(key->bits[0] >> 10 * i) & 1023;

		printf("  %u%s:%u/%u", word >> 7, word >> 6 & 1 ? "s" : "",
		    word & 7, word >> 3 & 7);
	}
	putchar('\n');
}

/*
 * Steps
 */

/* Only an actor whose clock is a window behind may take it for corrupt. */
static void
withdraw(struct state *s, struct withdrawer *one)
{
	const struct window_limits *limits = &run.trial->limits;

	broken_step(&s->window, limits, &one->w, run.variant);
	one->busy = one->w.answer == WINDOW_PENDING;
	if (one->w.answer == WINDOW_CORRUPT && s->clock <= one->w.latest)
		violated(corrupt);
	if (one->w.answer == WINDOW_GRANTED) {
		s->truth[one->w.epoch].retries++;
		if (!windows_hold(s, limits))
			violated(too_many);
	}
}

static void
deposit(struct state *s, struct depositor *one)
{
	window_deposit_step(&s->window, &one->d);
	one->busy = one->d.answer == WINDOW_PENDING;
	if (one->d.answer == WINDOW_CORRUPT && s->clock <= one->d.latest)
		violated(corrupt);
	if (one->d.answer == WINDOW_GRANTED)
		s->truth[one->d.epoch].successes++;
}

static void explore(const struct state *s, uint32_t number);

/* A step has led from one state to the next. */
static void
follow(
    const struct state *before, const struct state *next, struct step_from step)
{
	const char *wrong = words_wrong(before, next);
	struct key key = key_of(next);
	uint32_t number;

	if (wrong != NULL)
		violated(wrong);
	if (run.explorer.wrong == NULL) {
		if (explore_add(&run.explorer, &key, step, &number)) {
			explore(next, number);
			return;
		}
		if (explore_step(&run.explorer, number)->open)
			violated("a state that comes again after itself");
	}
	if (run.explorer.wrong != NULL && !run.printed) {
		run.printed = true;
		if (run.variant == VARIANT_SOUND)
			explore_print(&run.explorer, step, print_step);
	}
}

/* The next step of an actor; if it is idle, the first one, begun at epoch. */
static void
withdrawer_acts(const struct state *s, uint32_t number, int i, int64_t epoch)
{
	struct state next = *s;
	struct withdrawer *one = &next.withdrawers[i];

	if (!one->busy) {
		one->left--;
		one->w = window_ask(epoch);
	}
	withdraw(&next, one);
	follow(s, &next,
	    (struct step_from){ number, STEP_WITHDRAWER, (int8_t)i, false });
}

static void
depositor_acts(const struct state *s, uint32_t number, int i, int64_t epoch)
{
	struct state next = *s;
	struct depositor *one = &next.depositors[i];

	if (!one->busy) {
		one->left--;
		one->d = window_offer(epoch);
	}
	deposit(&next, one);
	follow(s, &next,
	    (struct step_from){ number, STEP_DEPOSITOR, (int8_t)i, false });
}

/* Everything that the i-th actor of each kind can do next. */
static void
explore_actors(const struct state *s, uint32_t number, int i)
{
	const struct withdrawer *w = &s->withdrawers[i];
	const struct depositor *d = &s->depositors[i];

	for (int64_t epoch = 0; epoch <= s->clock; epoch++) {
		if (w->busy ? epoch == 0 : w->left > 0)
			withdrawer_acts(s, number, i, epoch);
		if (d->busy ? epoch == 0 : d->left > 0)
			depositor_acts(s, number, i, epoch);
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
	for (int i = 0; i < ACTORS && run.explorer.wrong == NULL; i++)
		explore_actors(s, number, i);
	explore_step(&run.explorer, number)->open = false;
}

/* Tries all that can happen in a trial: true if nothing is violated. */
static bool
holds(const struct trial *trial, enum variant variant)
{
	struct state first = { .clock = 0 };
	struct key key;
	uint32_t number;

	run.trial = trial;
	run.variant = variant;
	run.printed = false;
	explore_start(&run.explorer, 1 << 20);
	for (int i = 0; i < ACTORS; i++) {
		first.withdrawers[i].left = trial->withdrawals[i];
		first.depositors[i].left = trial->deposits[i];
	}
	key = key_of(&first);
	explore_add(&run.explorer, &key, (struct step_from){ 0 }, &number);
	explore(&first, number);
	if (variant == VARIANT_SOUND)
		run.states += run.explorer.count;
	return run.explorer.wrong == NULL;
}

static int
try_variants(void)
{
	bool unsealed = holds(&small[0], VARIANT_UNSEALED);
	bool adding = holds(&small[0], VARIANT_ADDING);

	printf("window_check: without sealing: %s; check-then-add: %s\n",
	    unsealed ? "not noticed" : "violated",
	    adding ? "not noticed" : "violated");
	explore_end(&run.explorer);
	return unsealed || adding;
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

	if (strcmp(which, "broken") == 0)
		return try_variants();
	for (size_t i = 0; i < count; i++)
		violations += !holds(&trials[i], VARIANT_SOUND);
	printf("window_check: %zu states, %d violations\n", run.states,
	    violations);
	explore_end(&run.explorer);
	return violations > 0;
}
