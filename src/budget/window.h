/*
 * window: how many retries were made lately and how many successes there were
 * to pay for them, in words that any number of processes change at once.
 *
 * Time is counted in slices; epoch e is the e-th since the segment was made. A
 * word holds what happened in one slice:
 *
 *     [epoch:31 | sealed:1 | successes:16 | retries:16]
 *
 * Epoch e lives in word e mod WINDOW_WORDS, one word more than a window has
 * slices. A sealed word never changes again, until a later epoch claims it.
 * Every change is one compare-and-swap, and nothing is ever locked, held or
 * given back: a process may be killed or stopped anywhere.
 *
 * Promise, under any interleaving, for every window that ends at a grant:
 *
 *     retries <= max(min, ratio * successes)
 *
 * where a retry belongs to the slice that it was counted in, and the window is
 * taken at its longest for retries and at its shortest for successes. A retry
 * is one that was asked for here; those that the breaker lets in are not.
 * tests/window_check.c tries all interleavings of small rings.
 */
#ifndef WINDOW_H
#define WINDOW_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* How finely a window is divided. The model check has fewer. */
#ifndef WINDOW_SLICES
#define WINDOW_SLICES 60
#endif
#define WINDOW_WORDS (WINDOW_SLICES + 1)

/* Parts of one in struct window_limits's ratio. */
#define WINDOW_RATIO_ONE 1000000

/* Epochs end before this one: a segment so old has to be made anew. */
#define WINDOW_EPOCHS (INT64_C(1) << 31)

/* More slices than it ever takes for all retries to be forgotten. */
#define WINDOW_NEVER (WINDOW_WORDS + 1)

/* All zero is a ring in which nothing has happened yet. */
struct window {
	_Atomic uint64_t words[WINDOW_WORDS];
};

struct window_limits {
	int64_t ratio; /* retries a success pays for, in millionths */
	int64_t min; /* retries that are free in every window */
};

struct window_sums {
	int64_t retries; /* in the window and the slice before it */
	int64_t successes; /* in the window */
};

enum window_answer {
	WINDOW_OPEN, /* not yet answered */
	WINDOW_GRANTED, /* and the retry is counted */
	WINDOW_DENIED,
	WINDOW_SPOILT, /* no ring of ours: an epoch far in the future, or wrong
			*/
};

/*
 * One question for a retry, step by step: each step is at most one access to
 * the ring, so that a test can put any other step in between.
 */
struct withdrawal {
	int64_t epoch; /* now, as far as is known */
	int64_t latest; /* a later epoch would be nonsense */
	int64_t slice; /* the epoch whose word is looked at */
	bool read; /* word holds what was there */
	uint64_t word;
	struct window_sums sums; /* of the slices done; answered: of all */
	enum window_answer answer;
};

/* The same for counting a success. */
struct deposit {
	int64_t epoch, latest;
	bool read;
	uint64_t word;
	enum window_answer answer; /* WINDOW_GRANTED: it is counted */
};

/* What may be retried in a window with so many successes; saturates. */
int64_t window_limit(const struct window_limits *limits, int64_t successes);

/* A question asked at an epoch in [0, WINDOW_EPOCHS). */
struct withdrawal window_ask(int64_t epoch);

/* One step towards withdrawal->answer. */
void window_step(struct window *window, const struct window_limits *limits,
    struct withdrawal *withdrawal);

/*
 * Asks for a retry, and counts it if it is granted. Seals the slices before
 * the present one, so that what was counted there is final. A word from a later
 * epoch proves that somebody's clock is ahead of ours: then that epoch is the
 * present. sums: what the answer is based on, the retry granted included.
 *
 * WINDOW_SPOILT is to be believed only the second time, with a new look at the
 * clock: whoever was stopped for a whole window meanwhile sees the future too.
 */
enum window_answer
window_withdraw(struct window *window, const struct window_limits *limits,
    int64_t epoch, struct window_sums *sums);

struct deposit window_offer(int64_t epoch);
void window_deposit_step(struct window *window, struct deposit *deposit);

/*
 * Counts a success: WINDOW_GRANTED, or WINDOW_SPOILT (as above). One too many
 * for a word is not counted, which is the safe side.
 */
enum window_answer window_deposit(struct window *window, int64_t epoch);

/*
 * In how many slices, 1 to WINDOW_WORDS, a retry would be allowed if nothing
 * else happened; sums gets what counts now. 0: now. WINDOW_NEVER: not without a
 * success. Changes nothing, and makes what it can of a spoilt ring.
 */
int64_t
window_next(const struct window *window, const struct window_limits *limits,
    int64_t epoch, struct window_sums *sums);

#endif
