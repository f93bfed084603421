#include "budget/window.h"

#include "text/number.h"

/* The parts of a word. */
#define RETRY UINT64_C(1)
#define SUCCESS (UINT64_C(1) << 16)
#define COUNT_MOST 0xffff
#define SEALED (UINT64_C(1) << 32)
#define EPOCH (UINT64_C(1) << 33)

static int64_t
retries_of(uint64_t word)
{
	return (int64_t)(word / RETRY % (COUNT_MOST + 1));
}

static int64_t
successes_of(uint64_t word)
{
	return (int64_t)(word / SUCCESS % (COUNT_MOST + 1));
}

static int64_t
epoch_of(uint64_t word)
{
	return (int64_t)(word / EPOCH);
}

static bool
sealed(uint64_t word)
{
	return (word & SEALED) != 0;
}

/* Whether a word is corrupt: its epoch does not belong into the word of this
 * one. */
static bool
is_strange(uint64_t word, int64_t epoch)
{
	return word != 0 &&
	    epoch_of(word) % WINDOW_WORDS != epoch % WINDOW_WORDS;
}

/* The word of an epoch; empty if an older epoch is still there. */
static uint64_t
word_at(int64_t epoch, uint64_t word)
{
	return epoch_of(word) == epoch ? word : (uint64_t)epoch * EPOCH;
}

static size_t
index_of(int64_t epoch)
{
	return (uint32_t)epoch % WINDOW_WORDS;
}

/* The oldest slice of which retries count at an epoch. */
static int64_t
oldest(int64_t epoch)
{
	return epoch < WINDOW_SLICES ? 0 : epoch - WINDOW_SLICES;
}

/*
 * Adds a slice to the sums. The window that ends now began within the oldest
 * slice: the worst case is that all retries of this slice are in the window,
 * and that all its successes came before the window.
 */
static void
add(struct window_sums *sums, int64_t epoch, int64_t slice, uint64_t word)
{
	sums->retries += retries_of(word);
	if (slice > epoch - WINDOW_SLICES)
		sums->successes += successes_of(word);
}

/* Whether one more retry may be counted in word. sums include this word. */
static bool
affordable(
    const struct terms *terms, const struct window_sums *sums, uint64_t word)
{
	return retries_of(word) < COUNT_MOST &&
	    sums->retries < window_limit(terms, sums->successes);
}

int64_t
window_epoch(nanos slice, nanos age)
{
	return number_lesser(age / slice, WINDOW_EPOCHS - 1);
}

nanos
window_length(nanos slice)
{
	nanos all = number_multiply(slice, WINDOW_SLICES);

	/* Rounding up made it longer by less than 60 ns. */
	return all - all % 1000;
}

int64_t
window_limit(const struct terms *terms, int64_t successes)
{
	/* In two parts: the whole product may be too large for 64 bits. */
	int64_t whole =
	    number_multiply(successes / WINDOW_RATIO_ONE, terms->ratio);
	int64_t rest =
	    number_multiply(successes % WINDOW_RATIO_ONE, terms->ratio);
	int64_t paid = number_add(whole, rest / WINDOW_RATIO_ONE);

	return paid > terms->min ? paid : terms->min;
}

/* The last epoch that another clock may have reached if epoch is the present.
 */
static int64_t
latest(int64_t epoch)
{
	int64_t last = epoch + WINDOW_WORDS;

	return last < WINDOW_EPOCHS ? last : WINDOW_EPOCHS - 1;
}

/*
 * Seals and adds the past slices, and counts a retry in the present one, if the
 * limits allow it. If a word shows that the present is later, then *present
 * becomes that, and the answer means nothing.
 */
static enum window_answer
withdraw_at(struct window *window, const struct terms *terms, int64_t *present,
    struct window_sums *sums)
{
	int64_t epoch = *present;
	struct window_sums all;

	*sums = (struct window_sums){ .epoch = epoch };
	for (int64_t slice = oldest(epoch); slice <= epoch; slice++) {
		_Atomic uint64_t *at = &window->words[index_of(slice)];
		uint64_t word = atomic_load(at), next;

		do {
			next = word_at(slice, word);
			all = *sums;
			add(&all, epoch, slice, next);
			if (is_strange(word, slice))
				return WINDOW_CORRUPT;
			if (epoch_of(word) > slice) {
				*present = epoch_of(word);
				return WINDOW_DENIED;
			}
			if (slice < epoch) {
				next |= SEALED;
			} else if (sealed(next)) {
				/* Another process has seen the next slice. */
				*present = epoch + 1;
				return WINDOW_DENIED;
			} else if (!affordable(terms, &all, next)) {
				*sums = all;
				return WINDOW_DENIED;
			} else {
				next += RETRY;
				all.retries++;
			}
		} while (next != word &&
		    !atomic_compare_exchange_strong(at, &word, next));
		*sums = all;
	}
	return WINDOW_GRANTED;
}

enum window_answer
window_withdraw(struct window *window, const struct terms *terms, int64_t epoch,
    struct window_sums *sums)
{
	int64_t last = latest(epoch), present = epoch;

	*sums = (struct window_sums){ .epoch = epoch };
	while (present <= last) {
		enum window_answer answer =
		    withdraw_at(window, terms, &present, sums);

		if (present == epoch)
			return answer;
		epoch = present;
	}
	return WINDOW_CORRUPT;
}

enum window_answer
window_note(struct window *window, int64_t epoch)
{
	_Atomic uint64_t *at = &window->words[index_of(epoch)];
	uint64_t word = atomic_load(at), next;

	do {
		next = word_at(epoch, word);
		if (is_strange(word, epoch))
			return WINDOW_CORRUPT;
		if (epoch_of(word) > epoch || sealed(next))
			return WINDOW_DENIED;
	} while (successes_of(next) < COUNT_MOST &&
	    !atomic_compare_exchange_strong(at, &word, next + SUCCESS));
	return WINDOW_GRANTED;
}

enum window_answer
window_deposit(struct window *window, int64_t epoch)
{
	enum window_answer answer = WINDOW_DENIED;
	int64_t last = latest(epoch);

	/* If a slice is over, another process has a clock that is ahead. */
	for (; answer == WINDOW_DENIED && epoch <= last; epoch++)
		answer = window_note(window, epoch);
	return answer == WINDOW_DENIED ? WINDOW_CORRUPT : answer;
}

void
window_refund(struct window *window, int64_t epoch)
{
	_Atomic uint64_t *at = &window->words[index_of(epoch)];
	uint64_t word = atomic_load(at);

	while (epoch_of(word) == epoch && retries_of(word) > 0 &&
	    !atomic_compare_exchange_strong(at, &word, word - RETRY))
		;
}

struct window_sums
window_slice(const struct window *window, int64_t epoch)
{
	uint64_t word =
	    word_at(epoch, atomic_load(&window->words[index_of(epoch)]));

	return (struct window_sums){ .retries = retries_of(word),
		.successes = successes_of(word),
		.epoch = epoch };
}

/* The word of an epoch, among copies of all words. */
static uint64_t
copied(const uint64_t words[WINDOW_WORDS], int64_t epoch)
{
	return word_at(epoch, words[index_of(epoch)]);
}

/* The sums of a window that ends at an epoch. */
static struct window_sums
count(const uint64_t words[WINDOW_WORDS], int64_t epoch)
{
	struct window_sums sums = { .epoch = epoch };

	for (int64_t slice = oldest(epoch); slice <= epoch; slice++)
		add(&sums, epoch, slice, copied(words, slice));
	return sums;
}

/*
 * Copies the words while other processes may change them. Returns the present
 * epoch, which is later than epoch if another clock is ahead; -1: a word is
 * corrupt.
 */
static int64_t
copy(const struct window *window, int64_t epoch, uint64_t words[WINDOW_WORDS])
{
	int64_t present = epoch;

	for (int64_t i = 0; i < WINDOW_WORDS; i++) {
		uint64_t word = words[i] = atomic_load(&window->words[i]);

		if (is_strange(word, i))
			return -1;
		present =
		    number_greater(present, epoch_of(word) + sealed(word));
	}
	return present <= latest(epoch) ? present : -1;
}

nanos
window_next(const struct window *window, const struct terms *terms, nanos slice,
    nanos age, struct window_sums *sums)
{
	uint64_t words[WINDOW_WORDS];
	int64_t present = copy(window, window_epoch(slice, age), words);

	*sums = (struct window_sums){ .epoch = present };
	if (present < 0)
		return -1;
	*sums = count(words, present);
	for (int64_t wait = 0; wait <= WINDOW_WORDS; wait++) {
		struct window_sums left = count(words, present + wait);

		if (affordable(terms, &left, copied(words, present + wait)))
			return wait == 0 ? 0 : wait * slice - age % slice;
	}
	return NANOS_MAX;
}
