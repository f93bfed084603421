/*
 * window: a sliding window that limits retries to a share of recent successes.
 *
 * The window is divided into slices of equal length. Slice e, where e is its
 * epoch, is the e-th since the segment was made. For each slice one 64-bit word
 * counts the retries and the successes in it:
 *
 *     [epoch:31 | sealed:1 | successes:16 | retries:16]
 *
 * The words form a ring: the word of epoch e is number e mod WINDOW_WORDS,
 * which is one word more than a window has slices. When a new epoch needs a
 * word, it overwrites the counts of the old one, so that nothing has to be
 * cleared in time.
 *
 * A withdrawal asks for one retry. It adds up the words from the oldest slice
 * to the present one, and then counts the retry in the present word, if the
 * limit allows it. Before it adds a word of the past, it seals that word, so
 * that no other process can count anything more there: until a later epoch
 * overwrites a sealed word, it only loses retries. A deposit counts one success
 * in the present word. A process that finds the present word sealed has a clock
 * that is behind, and continues with the next epoch.
 *
 * A retry that succeeds is paid back: a refund takes it out of the slice that
 * counted it. So only what is wasted counts: retries that failed, and those
 * that still run. A withdrawal that has read the word before a refund is only
 * stricter.
 *
 * Any number of processes change the words at once. Every change is one
 * compare-and-swap, and nothing is ever locked: a process may be killed or
 * stopped at any instruction. A retry of which nobody tells how it ended stays
 * counted.
 *
 * Guarantee, under any interleaving, for every window that ends with a granted
 * retry:
 *
 *     retries that have not succeeded <= max(min, ratio * successes)
 *
 * A retry belongs to the slice in which it was counted. The window begins
 * within its oldest slice: all retries of this slice count, and none of its
 * successes. Retries that the breaker admits, or that follow a limit, are not
 * counted here (admission.h). tests/models/window_check.c tries all
 * interleavings of small windows.
 */
#ifndef WINDOW_H
#define WINDOW_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include "text/duration.h"

/* Slices of a window. tests/models/window_check.c has fewer. */
#ifndef WINDOW_SLICES
#define WINDOW_SLICES 60
#endif
#define WINDOW_WORDS (WINDOW_SLICES + 1)

/* A ratio of one in struct terms. */
#define WINDOW_RATIO_ONE 1000000

/* All epochs are less than this; a segment that is too old is replaced. */
#define WINDOW_EPOCHS (INT64_C(1) << 31)

/* All zero: nothing has happened yet. */
struct window {
	_Atomic uint64_t words[WINDOW_WORDS];
};

/* The limits that a user asks for (-1: not given), or that are in force. */
struct terms {
	int64_t ratio; /* retries that a success pays for, in millionths: 0 to
			  SEGMENT_RATIO_MOST */
	int64_t min; /* retries that are free in every window: 0 to
			SEGMENT_MIN_MOST */
	nanos window; /* SEGMENT_WINDOW_LEAST to SEGMENT_WINDOW_MOST; a window
			 itself does not use it */
};

struct window_sums {
	int64_t retries; /* in the window and the slice before it, without
			    those that were paid back */
	int64_t successes; /* in the window */
	int64_t epoch; /* at which the window ends: the present one */
};

enum window_answer {
	WINDOW_GRANTED, /* the retry is counted, in the slice sums.epoch; or
			   the success is */
	WINDOW_DENIED,
	WINDOW_CORRUPT, /* corrupt: an epoch far in the future, or in a word
			  that is not its own */
};

/* The epoch of an age, less than WINDOW_EPOCHS; slice: its length. */
int64_t window_epoch(nanos slice, nanos age);

/* The length of the window that the user asked for, to the microsecond. */
nanos window_length(nanos slice);

/* How many retries a window with so many successes may have; saturates. */
int64_t window_limit(const struct terms *terms, int64_t successes);

/*
 * Asks for a retry at an epoch in [0, WINDOW_EPOCHS), and counts it if it is
 * granted. If a word has a later epoch than this one, then another process has
 * a clock that is ahead, and the later epoch counts as the present. *sums
 * becomes the sums behind the answer, with the retry if it was granted.
 */
enum window_answer window_withdraw(struct window *window,
    const struct terms *terms, int64_t epoch, struct window_sums *sums);

/*
 * Counts a success: WINDOW_GRANTED, or WINDOW_CORRUPT (as above). A success
 * that a word has no room for is not counted, so fewer retries are granted.
 */
enum window_answer window_deposit(struct window *window, int64_t epoch);

/* The same in the slice of this epoch alone: WINDOW_DENIED if that is over. */
enum window_answer window_note(struct window *window, int64_t epoch);

/*
 * Pays back a retry that was counted in the slice of this epoch and has
 * succeeded. Does nothing if the slice has gone.
 */
void window_refund(struct window *window, int64_t epoch);

/* What was counted in one slice; 0 if it is too old, or of the future. */
struct window_sums window_slice(const struct window *window, int64_t epoch);

/*
 * How long until a retry would be granted if nothing else happened; NANOS_MAX:
 * only after a success; -1: a word is corrupt. Then read the clock and look
 * again: to a process that was stopped for a whole window after it had read the
 * clock, a sound window looks corrupt, too. *sums becomes what counts at that
 * age. Changes nothing in the window.
 */
nanos window_next(const struct window *window, const struct terms *terms,
    nanos slice, nanos age, struct window_sums *sums);

#endif
