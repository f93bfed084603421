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

/* How a word relates to the epoch that is expected in it. */
enum age {
	AGE_SAME,
	AGE_OLDER, /* or unused: nothing has happened in the epoch so far */
	AGE_NEWER,
	AGE_STRANGE, /* of an epoch that belongs into another word */
};

static enum age
age_of(uint64_t word, int64_t epoch)
{
	int64_t found = epoch_of(word);

	if (found == epoch)
		return AGE_SAME;
	if (word != 0 && found % WINDOW_WORDS != epoch % WINDOW_WORDS)
		return AGE_STRANGE;
	return found < epoch ? AGE_OLDER : AGE_NEWER;
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
affordable(const struct window_limits *limits, const struct window_sums *sums,
    uint64_t word)
{
	return retries_of(word) < COUNT_MOST &&
	    sums->retries < window_limit(limits, sums->successes);
}

int64_t
window_epoch(nanos slice, nanos age)
{
	return number_lesser(age / slice, WINDOW_EPOCHS - 1);
}

int64_t
window_limit(const struct window_limits *limits, int64_t successes)
{
	/* In two parts: the whole product may be too large for 64 bits. */
	int64_t whole =
	    number_multiply(successes / WINDOW_RATIO_ONE, limits->ratio);
	int64_t rest =
	    number_multiply(successes % WINDOW_RATIO_ONE, limits->ratio);
	int64_t paid = number_add(whole, rest / WINDOW_RATIO_ONE);

	return paid > limits->min ? paid : limits->min;
}

/* The last epoch that another clock may have reached if epoch is the present.
 */
static int64_t
latest(int64_t epoch)
{
	int64_t last = epoch + WINDOW_WORDS;

	return last < WINDOW_EPOCHS ? last : WINDOW_EPOCHS - 1;
}

/* Starts again, with this epoch as the present. */
static void
begin(struct withdrawal *w, int64_t epoch)
{
	if (epoch > w->latest) {
		w->answer = WINDOW_CORRUPT;
		return;
	}
	w->epoch = epoch;
	w->slice = oldest(epoch);
	w->sums = (struct window_sums){ 0, 0 };
	w->read = false;
}

struct withdrawal
window_ask(int64_t epoch)
{
	struct withdrawal w = { .latest = latest(epoch) };

	begin(&w, epoch);
	return w;
}

/* Whether the word that was read is of a past slice, and sealed. */
static inline bool
settled(const struct withdrawal *w)
{
	return w->slice < w->epoch &&
	    w->word / SEALED == (uint64_t)w->slice * 2 + 1;
}

/* Adds the slice, and goes on to the next one. */
static inline void
pass(struct withdrawal *w)
{
	add(&w->sums, w->epoch, w->slice, w->word);
	w->slice++;
	w->read = false;
}

/*
 * Decides what follows from the word that was read: an answer, a new start, or
 * else a change of the word in the next step. If the present slice is sealed,
 * then another process has already seen the next one.
 */
static void
judge(const struct window_limits *limits, struct withdrawal *w)
{
	enum age age = age_of(w->word, w->slice);
	uint64_t word = word_at(w->slice, w->word);
	struct window_sums sums = w->sums;

	if (age == AGE_STRANGE) {
		w->answer = WINDOW_CORRUPT;
	} else if (age == AGE_NEWER) {
		begin(w, epoch_of(w->word));
	} else if (w->slice < w->epoch) {
		return;
	} else if (sealed(word)) {
		begin(w, w->epoch + 1);
	} else {
		add(&sums, w->epoch, w->slice, word);
		if (affordable(limits, &sums, word))
			return;
		w->sums = sums;
		w->answer = WINDOW_DENIED;
	}
}

/*
 * Changes the word: counts a retry in the present slice, or seals a past one.
 * False if another process has changed the word since it was read; w->word is
 * the new one then.
 */
static bool
swap(_Atomic uint64_t *at, struct withdrawal *w)
{
	uint64_t next = word_at(w->slice, w->word);

	next = w->slice == w->epoch ? next + RETRY : next | SEALED;
	if (!atomic_compare_exchange_strong(at, &w->word, next))
		return false;
	w->word = next;
	return true;
}

static inline void
step(struct window *window, const struct window_limits *limits,
    struct withdrawal *w)
{
	_Atomic uint64_t *at = &window->words[index_of(w->slice)];

	if (!w->read) {
		w->word = atomic_load(at);
		w->read = true;
	} else if (swap(at, w) && w->slice == w->epoch) {
		add(&w->sums, w->epoch, w->slice, w->word);
		w->answer = WINDOW_GRANTED;
		return;
	}
	if (settled(w))
		pass(w);
	else
		judge(limits, w);
}

void
window_step(struct window *window, const struct window_limits *limits,
    struct withdrawal *withdrawal)
{
	step(window, limits, withdrawal);
}

enum window_answer
window_withdraw(struct window *window, const struct window_limits *limits,
    int64_t epoch, struct window_sums *sums)
{
	struct withdrawal w = window_ask(epoch);

	while (w.answer == WINDOW_PENDING)
		step(window, limits, &w);
	*sums = w.sums;
	return w.answer;
}

/* Starts again, with this epoch as the present. */
static void
move(struct deposit *d, int64_t epoch)
{
	if (epoch > d->latest)
		d->answer = WINDOW_CORRUPT;
	d->epoch = epoch;
	d->read = false;
}

struct deposit
window_offer(int64_t epoch)
{
	struct deposit d = { .latest = latest(epoch) };

	move(&d, epoch);
	return d;
}

static inline void
deposit_step(struct window *window, struct deposit *d)
{
	_Atomic uint64_t *at = &window->words[index_of(d->epoch)];
	enum age age;

	if (!d->read) {
		d->word = atomic_load(at);
		d->read = true;
	} else if (atomic_compare_exchange_strong(
		       at, &d->word, word_at(d->epoch, d->word) + SUCCESS)) {
		d->answer = WINDOW_GRANTED;
		return;
	}
	age = age_of(d->word, d->epoch);
	if (age == AGE_STRANGE)
		d->answer = WINDOW_CORRUPT;
	else if (age == AGE_NEWER)
		move(d, epoch_of(d->word));
	else if (age == AGE_SAME && sealed(d->word))
		move(d, d->epoch + 1);
	else if (age == AGE_SAME && successes_of(d->word) == COUNT_MOST)
		d->answer = WINDOW_GRANTED;
}

void
window_deposit_step(struct window *window, struct deposit *deposit)
{
	deposit_step(window, deposit);
}

enum window_answer
window_deposit(struct window *window, int64_t epoch)
{
	struct deposit d = window_offer(epoch);

	while (d.answer == WINDOW_PENDING)
		deposit_step(window, &d);
	return d.answer;
}

struct window_sums
window_slice(const struct window *window, int64_t epoch)
{
	uint64_t word =
	    word_at(epoch, atomic_load(&window->words[index_of(epoch)]));

	return (struct window_sums){ .retries = retries_of(word),
		.successes = successes_of(word) };
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
	struct window_sums sums = { 0, 0 };

	for (int64_t slice = oldest(epoch); slice <= epoch; slice++)
		add(&sums, epoch, slice, copied(words, slice));
	return sums;
}

/* Turns the sums at an epoch into those at the next one: the oldest retries and
 * successes leave the window. */
static void
advance(
    struct window_sums *sums, const uint64_t words[WINDOW_WORDS], int64_t epoch)
{
	int64_t next = epoch + 1;

	if (oldest(next) > oldest(epoch))
		sums->retries -= retries_of(copied(words, oldest(epoch)));
	if (next >= WINDOW_SLICES)
		sums->successes -=
		    successes_of(copied(words, next - WINDOW_SLICES));
	add(sums, next, next, copied(words, next));
}

/*
 * Copies the words while other processes may change them. Returns the present
 * epoch, which is later than epoch if another clock is ahead.
 */
static int64_t
copy(const struct window *window, int64_t epoch, uint64_t words[WINDOW_WORDS])
{
	int64_t most = latest(epoch), present = epoch;

	for (int64_t i = 0; i < WINDOW_WORDS; i++) {
		uint64_t word = words[i] = atomic_load(&window->words[i]);
		int64_t reached = epoch_of(word) + (sealed(word) ? 1 : 0);

		if (epoch_of(word) % WINDOW_WORDS == i && reached <= most &&
		    reached > present)
			present = reached;
	}
	return present;
}

struct window_sums
window_look(const struct window *window, int64_t epoch)
{
	uint64_t words[WINDOW_WORDS];

	epoch = copy(window, epoch, words);
	return count(words, epoch);
}

int64_t
window_next(const struct window *window, const struct window_limits *limits,
    int64_t epoch, struct window_sums *sums)
{
	uint64_t words[WINDOW_WORDS];
	int64_t present = copy(window, epoch, words);
	struct window_sums left = count(words, present);

	*sums = left;
	for (int64_t wait = 0; wait <= WINDOW_WORDS; wait++) {
		if (affordable(limits, &left, copied(words, present + wait)))
			return wait;
		advance(&left, words, present + wait);
	}
	return WINDOW_NEVER;
}
