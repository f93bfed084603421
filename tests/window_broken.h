/*
 * Broken variants of a withdrawal, each with one mistake, to show that a test
 * would catch it.
 */
#ifndef WINDOW_BROKEN_H
#define WINDOW_BROKEN_H

#include "budget/window.h"

/* The fields of a word, written from window.h and not from window.c. */
#define WORD_RETRIES(word) ((int64_t)((word)&0xffff))
#define WORD_SUCCESSES(word) ((int64_t)((word) >> 16 & 0xffff))
#define WORD_SEALED(word) (((word) >> 32 & 1) != 0)
#define WORD_EPOCH(word) ((int64_t)((word) >> 33))

enum variant {
	VARIANT_SOUND,
	VARIANT_UNSEALED, /* does not seal past slices before it counts them */
	VARIANT_ADDING, /* adds to a word that may have changed since it was
			   read */
};

/* Whether the next step may count the retry. */
static inline bool
broken_commits(const struct withdrawal *w)
{
	return w->answer == WINDOW_PENDING && w->read && w->slice == w->epoch;
}

/* window_step of a variant. */
static inline void
broken_step(struct window *window, const struct window_limits *limits,
    struct withdrawal *w, enum variant variant)
{
	bool same = WORD_EPOCH(w->word) == w->slice;

	if (variant == VARIANT_UNSEALED && w->read && w->slice < w->epoch) {
		if (same) {
			w->sums.retries += WORD_RETRIES(w->word);
			w->sums.successes += w->slice > w->epoch - WINDOW_SLICES
			    ? WORD_SUCCESSES(w->word)
			    : 0;
		}
		w->slice++;
		w->read = false;
	} else if (variant == VARIANT_ADDING && broken_commits(w) && same) {
		atomic_fetch_add(&window->words[w->slice % WINDOW_WORDS], 1);
		w->answer = WINDOW_GRANTED;
	} else {
		window_step(window, limits, w);
	}
}

#endif
