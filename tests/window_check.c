/*
 * window_check [large]: every interleaving of small rings, with the code of
 * src/ring.c itself. Two that ask for retries and two that count successes take
 * their steps in any order, each step one access to the ring. Time passes at
 * any moment, and whoever begins may have read the clock at any time before, or
 * have one that is behind. Who is killed or stopped is one who takes no more
 * steps, so that is among it too.
 *
 * After each step, of what was really counted, slice by slice:
 *
 *     for every slice with a retry, the window that ends there has no more
 *     retries than its successes allow;
 *     each word of the ring says exactly what was counted in its slice, and
 *     what is sealed does not change;
 *     no word is of a slice that has not come, or of an earlier one than
 * before.
 *
 * No state can come again after itself, so that everybody has an answer after
 * finitely many steps. Withdrawals that are broken must be found out.
 */
#ifndef WINDOW_SLICES
#define WINDOW_SLICES 2
#endif
#include "budget/window.c"

#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "window_broken.h"

enum { ACTORS = 2, EPOCHS = 7, DEPTH = 1024 };

/* One who asks for retries; or who counts successes. */
struct withdrawer {
	int left; /* questions, after this one */
	bool busy;
	struct withdrawal w;
};

struct depositor {
	int left;
	bool busy;
	struct deposit d;
};

/* What was counted in a slice. */
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

/* What is tried: how often each acts, and the last slice. */
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

/* A state without what no step looks at, and two marks in the last bits. */
enum { KEY_WORDS = 3 };

#define KEY_USED (UINT64_C(1) << 63)
#define KEY_OPEN (UINT64_C(1) << 62) /* what follows is being tried */

struct key {
	uint64_t bits[KEY_WORDS];
};

/* One search. */
struct search {
	const struct trial *trial;
	enum breed breed;
	struct key *table;
	size_t size; /* of the table: a power of two */
	size_t states, all; /* in this trial, and in all */
	const char *wrong; /* what was found, or NULL */
	struct state path[DEPTH];
	int depth;
};

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

	if (value >> bits != 0 || p->at + bits > 64 * KEY_WORDS - 2)
		errx(2, "%llu does not fit into a key",
		    (unsigned long long)value);
	p->key.bits[word] |= value << shift;
	if (shift + bits > 64)
		p->key.bits[word + 1] |= value >> (64 - shift);
	p->at += bits;
}

/* A word of the ring in ten bits. */
static uint64_t
short_word(uint64_t word)
{
	if (WORD_EPOCH(word) >= EPOCHS || WORD_SUCCESSES(word) > 7 ||
	    WORD_RETRIES(word) > 7)
		errx(2, "not a word of a small ring");
	return (uint64_t)WORD_EPOCH(word) << 7 |
	    (uint64_t)WORD_SEALED(word) << 6 |
	    (uint64_t)WORD_SUCCESSES(word) << 3 | (uint64_t)WORD_RETRIES(word);
}

/* One who is not busy has nothing that counts but what is left to do. */
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

/* Who is who makes no difference: the greater key comes first. */
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
	p.key.bits[KEY_WORDS - 1] |= KEY_USED;
	return p.key;
}

/* Where a key is, or has to be put. */
static struct key *
find(const struct search *search, const struct key *key)
{
	uint64_t hash = 0, last = key->bits[KEY_WORDS - 1];
	struct key *at;

	for (int i = 0; i < KEY_WORDS; i++) {
		hash = (hash ^ key->bits[i]) * UINT64_C(0x9e3779b97f4a7c15);
		hash ^= hash >> 29;
	}
	at = search->table + (hash & (search->size - 1));
	while (at->bits[KEY_WORDS - 1] != 0) {
		if ((at->bits[KEY_WORDS - 1] & ~KEY_OPEN) == last &&
		    memcmp(at, key, sizeof *at - sizeof last) == 0)
			break;
		if (++at == search->table + search->size)
			at = search->table;
	}
	return at;
}

/*
 * What must hold
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
		return "a word of a slice that has not come";
	if (WORD_EPOCH(word) < WORD_EPOCH(before))
		return "a word that goes back in time";
	if (WORD_EPOCH(word) == WORD_EPOCH(before) && WORD_SEALED(before) &&
	    word != before)
		return "a sealed word that changes";
	if (WORD_RETRIES(word) != truth->retries ||
	    WORD_SUCCESSES(word) != truth->successes)
		return "a word that says what was not counted";
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

static void
print_path(const struct search *search)
{
	for (int i = 0; i <= search->depth; i++) {
		const struct state *s = &search->path[i];

		printf("%3d clock %d words", i, (int)s->clock);
		for (int j = 0; j < WINDOW_WORDS; j++)
			printf(" %d%s:%d/%d",
			    (int)WORD_EPOCH(s->window.words[j]),
			    WORD_SEALED(s->window.words[j]) ? "s" : "",
			    (int)WORD_RETRIES(s->window.words[j]),
			    (int)WORD_SUCCESSES(s->window.words[j]));
		for (int j = 0; j < ACTORS; j++)
			if (s->withdrawers[j].busy)
				printf(" W%d at %d in %d%s", j,
				    (int)s->withdrawers[j].w.epoch,
				    (int)s->withdrawers[j].w.slice,
				    s->withdrawers[j].w.read ? "!" : "");
		for (int j = 0; j < ACTORS; j++)
			if (s->depositors[j].busy)
				printf(" D%d at %d%s", j,
				    (int)s->depositors[j].d.epoch,
				    s->depositors[j].d.read ? "!" : "");
		putchar('\n');
	}
}

static const char too_many[] = "a window with too many retries";
static const char spoilt[] = "a ring that is said to be spoilt";

/* Of who is broken one thing is expected, and of it no more than that. */
static void
found(struct search *search, const char *what)
{
	if (search->breed != BREED_SOUND && what != too_many)
		return;
	search->wrong = what;
	if (search->breed != BREED_SOUND)
		return;
	printf("window_check: %s:\n", what);
	print_path(search);
}

/*
 * Steps
 */

/* That the ring is spoilt may seem so only to who is a window behind. */
static void
withdraw(struct search *search, struct state *s, struct withdrawer *one)
{
	const struct window_limits *limits = &search->trial->limits;

	broken_step(&s->window, limits, &one->w, search->breed);
	one->busy = one->w.answer == WINDOW_OPEN;
	if (one->w.answer == WINDOW_SPOILT && s->clock <= one->w.latest)
		found(search, spoilt);
	if (one->w.answer == WINDOW_GRANTED) {
		s->truth[one->w.epoch].retries++;
		if (!windows_hold(s, limits))
			found(search, too_many);
	}
}

static void
deposit(struct search *search, struct state *s, struct depositor *one)
{
	window_deposit_step(&s->window, &one->d);
	one->busy = one->d.answer == WINDOW_OPEN;
	if (one->d.answer == WINDOW_SPOILT && s->clock <= one->d.latest)
		found(search, spoilt);
	if (one->d.answer == WINDOW_GRANTED)
		s->truth[one->d.epoch].successes++;
}

static void explore(struct search *search);

/* The state after this one, to be changed by a step and then tried. */
static struct state *
ahead(struct search *search)
{
	if (search->depth + 1 == DEPTH)
		errx(2, "a path of more than %d steps", DEPTH);
	search->path[search->depth + 1] = search->path[search->depth];
	return &search->path[++search->depth];
}

static void
try(struct search *search)
{
	const struct state *s = &search->path[search->depth];
	const char *wrong = words_wrong(s - 1, s);

	if (search->wrong == NULL && wrong != NULL)
		found(search, wrong);
	if (search->wrong == NULL)
		explore(search);
	search->depth--;
}

/* The next step of one, which is the first of a question at epoch if idle. */
static void
withdrawer_acts(struct search *search, int i, int64_t epoch)
{
	struct state *next = ahead(search);
	struct withdrawer *one = &next->withdrawers[i];

	if (!one->busy) {
		one->left--;
		one->w = window_ask(epoch);
	}
	withdraw(search, next, one);
	try(search);
}

static void
depositor_acts(struct search *search, int i, int64_t epoch)
{
	struct state *next = ahead(search);
	struct depositor *one = &next->depositors[i];

	if (!one->busy) {
		one->left--;
		one->d = window_offer(epoch);
	}
	deposit(search, next, one);
	try(search);
}

/* Everything that the i-th of each kind can do next. */
static void
explore_actors(struct search *search, int i)
{
	const struct state *s = &search->path[search->depth];
	const struct withdrawer *w = &s->withdrawers[i];
	const struct depositor *d = &s->depositors[i];

	for (int64_t epoch = 0; epoch <= s->clock; epoch++) {
		if (w->busy ? epoch == 0 : w->left > 0)
			withdrawer_acts(search, i, epoch);
		if (d->busy ? epoch == 0 : d->left > 0)
			depositor_acts(search, i, epoch);
	}
}

/* Everything that can come after the state at the end of the path. */
static void
explore(struct search *search)
{
	struct key key = key_of(&search->path[search->depth]);
	struct key *at = find(search, &key);

	if ((at->bits[KEY_WORDS - 1] & KEY_OPEN) != 0)
		found(search, "a state that comes again after itself");
	if (at->bits[KEY_WORDS - 1] != 0)
		return;
	*at = key;
	at->bits[KEY_WORDS - 1] |= KEY_OPEN;
	if (++search->states > search->size / 4 * 3)
		errx(2, "more states than expected");
	if (search->path[search->depth].clock < search->trial->last) {
		ahead(search)->clock++;
		try(search);
	}
	for (int i = 0; i < ACTORS && search->wrong == NULL; i++)
		explore_actors(search, i);
	at->bits[KEY_WORDS - 1] &= ~KEY_OPEN;
}

/* All that can happen in a trial: true if everything holds. */
static bool
holds(struct search *search, const struct trial *trial, enum breed breed)
{
	struct state *s = &search->path[0];

	search->trial = trial;
	search->breed = breed;
	search->wrong = NULL;
	search->states = 0;
	search->depth = 0;
	memset(search->table, 0, search->size * sizeof *search->table);
	memset(s, 0, sizeof *s);
	for (int i = 0; i < ACTORS; i++) {
		s->withdrawers[i].left = trial->withdrawals[i];
		s->depositors[i].left = trial->deposits[i];
	}
	explore(search);
	if (breed == BREED_SOUND)
		search->all += search->states;
	return search->wrong == NULL;
}

int
main(int argc, char **argv)
{
	static struct search search;
	bool more = argc > 1 && strcmp(argv[1], "large") == 0;
	const struct trial *trials = more ? large : small;
	size_t count =
	    more ? sizeof large / sizeof *large : sizeof small / sizeof *small;
	bool unsealed, adding;
	int violations = 0;

	search.size = (size_t)1 << (more ? 24 : 21);
	search.table = calloc(search.size, sizeof *search.table);
	if (search.table == NULL)
		err(2, "calloc");
	for (size_t i = 0; i < count; i++)
		violations += !holds(&search, &trials[i], BREED_SOUND);
	unsealed = holds(&search, &small[0], BREED_UNSEALED);
	adding = holds(&search, &small[0], BREED_ADDING);
	printf("window_check: %zu states, %d violations; without sealing: %s; "
	       "check-then-add: %s\n",
	    search.all, violations, unsealed ? "not noticed" : "violated",
	    adding ? "not noticed" : "violated");
	free(search.table);
	return violations > 0 || unsealed || adding;
}
