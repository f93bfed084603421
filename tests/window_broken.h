/*
 * Withdrawals that are nearly right, to see that a test would notice: each does
 * what ring.c does but for one thing.
 */
#ifndef RING_BROKEN_H
#define RING_BROKEN_H

#include "budget/window.h"

/* The parts of a word, read from ring.h and not from ring.c. */
#define WORD_RETRIES(word) ((int64_t)((word)&0xffff))
#define WORD_SUCCESSES(word) ((int64_t)((word) >> 16 & 0xffff))
#define WORD_SEALED(word) (((word) >> 32 & 1) != 0)
#define WORD_EPOCH(word) ((int64_t)((word) >> 33))

enum breed {
	BREED_SOUND,
	BREED_UNSEALED, /* believes what it saw in a slice that is over */
	BREED_ADDING, /* looks whether there is room, then adds */
};

/* Whether the next step is to count the retry. */
static inline bool
broken_commits(const struct withdrawal *w)
{
	return w->answer == WINDOW_PENDING && w->read && w->slice == w->epoch;
}

/* window_step, by one of them. */
static inline void
broken_step(struct window *window, const struct window_limits *limits,
    struct withdrawal *w, enum breed breed)
{
	bool same = WORD_EPOCH(w->word) == w->slice;

	if (breed == BREED_UNSEALED && w->read && w->slice < w->epoch) {
		if (same) {
			w->sums.retries += WORD_RETRIES(w->word);
			w->sums.successes += w->slice > w->epoch - WINDOW_SLICES
			    ? WORD_SUCCESSES(w->word)
			    : 0;
		}
		w->slice++;
		w->read = false;
	} else if (breed == BREED_ADDING && broken_commits(w) && same) {
		atomic_fetch_add(&window->words[w->slice % WINDOW_WORDS], 1);
		w->answer = WINDOW_GRANTED;
	} else {
		window_step(window, limits, w);
	}
}

#endif
