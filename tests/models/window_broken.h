/*
 * Broken variants of a withdrawal, each with one mistake, to show that a test
 * would catch it.
 */
#ifndef WINDOW_BROKEN_H
#define WINDOW_BROKEN_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

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

/* Whether a change of a word counts a retry, or a success: else it seals. */
static inline bool
counts_retry(uint64_t expected, uint64_t desired)
{
	bool same = WORD_EPOCH(expected) == WORD_EPOCH(desired);

	return WORD_RETRIES(desired) > (same ? WORD_RETRIES(expected) : 0);
}

static inline bool
counts_success(uint64_t expected, uint64_t desired)
{
	bool same = WORD_EPOCH(expected) == WORD_EPOCH(desired);

	return WORD_SUCCESSES(desired) > (same ? WORD_SUCCESSES(expected) : 0);
}

/* The compare-and-swap of a variant. */
static inline bool
broken_exchange(_Atomic uint64_t *at, uint64_t *expected, uint64_t desired,
    enum variant variant)
{
	if (variant == VARIANT_UNSEALED && WORD_SEALED(desired))
		return true;
	if (variant == VARIANT_ADDING && counts_retry(*expected, desired) &&
	    WORD_EPOCH(*expected) == WORD_EPOCH(desired)) {
		atomic_fetch_add(at, 1);
		return true;
	}
	return atomic_compare_exchange_strong(at, expected, desired);
}

#endif
