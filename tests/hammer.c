/*
 * hammer [SECONDS]: 64 processes at one ring with slices of a millisecond. Some
 * have clocks two slices behind; all give way to others between any two steps;
 * they are killed, stopped and continued at random. Then for a few seconds
 * each the same with withdrawals that are broken, which must be found out.
 *
 * What is checked, and why a violation is one:
 *
 * The ledger, in memory that all share, has four counts for each slice there
 * ever is. A process adds to "begun" before the step that may count a retry (or
 * a success) in that slice, takes that back if it did not, and adds to "done"
 * if it did. Who is killed in between leaves one begun that is not done. So
 * whatever happens
 *
 *     done <= what was counted in that slice <= begun
 *
 * and a window has too many retries for sure if those done are more than the
 * successes begun allow. When all have ended, every window that ends at a slice
 * with a retry is checked like this. None is missed, and it misses an overshoot
 * only where that many processes were killed between two instructions.
 *
 * The sampler does not ask those who count. It copies the words again and
 * again. A sealed word may never change; its counts must lie between done and
 * begun; and where all words of a window that ends at a retry were seen sealed,
 * that window too must have no more retries than its successes allow. It sees
 * no window of a breed that does not seal.
 */
#include <err.h>
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "window_broken.h"

enum {
	WORKERS = 64,
	BEHIND = 2, /* slices, the clocks of some */
	PAUSE = 300000, /* ns, of the parent between two looks */
	STOP_MOST = 150, /* slices */
	BROKEN_SECONDS = 5,
	SLACK = 10000, /* slices that a run may last longer */
};

#define SLICE INT64_C(1000000)
#define SECOND INT64_C(1000000000)

static const struct window_limits limits = { WINDOW_RATIO_ONE / 5, 10 };

struct count {
	_Atomic uint32_t begun, done;
};

/* What the processes say that they did in a slice. */
struct entry {
	struct count retries, successes;
};

struct shared {
	struct window window;
	_Atomic uint64_t questions;
	struct entry ledger[];
};

struct worker {
	pid_t pid;
	int64_t until; /* stopped until this slice; 0: it runs */
};

struct totals {
	uint64_t questions, retries, successes;
	int kills, stops, windows, violated, seen;
};

struct run {
	enum breed breed;
	int64_t base; /* when epoch 0 began */
	int64_t slices; /* in the ledger */
	uint32_t seed;
	struct shared *shared;
	struct worker workers[WORKERS];
	uint64_t *sealed; /* of each slice, as it was seen; 0: never */
	struct totals totals;
	const char *wrong; /* anything but a window, or NULL */
};

static int64_t
now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * SECOND + ts.tv_nsec;
}

static void
rest(int64_t time)
{
	nanosleep(&(struct timespec){ 0, (long)time }, NULL);
}

/* 0 to most. */
static uint32_t
draw(uint32_t *seed, uint32_t most)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 17;
	*seed ^= *seed << 5;
	return *seed % (most + 1);
}

static int64_t
epoch_now(const struct run *run)
{
	return (now() - run->base) / SLICE;
}

/*
 * A worker
 */

static struct entry *
entry_of(const struct run *run, int64_t epoch)
{
	if (epoch >= run->slices)
		_exit(EXIT_FAILURE);
	return &run->shared->ledger[epoch];
}

/* Around the step that may count; it did if the answer is that. */
static void
settle(struct count *count, enum window_answer answer)
{
	if (answer == WINDOW_GRANTED)
		atomic_fetch_add(&count->done, 1);
	else
		atomic_fetch_sub(&count->begun, 1);
}

/* Most of all between a look at the ring and what comes of it. */
static void
give_way(struct run *run, bool counts)
{
	if (counts && draw(&run->seed, 7) == 0)
		rest(draw(&run->seed, 4 * SLICE));
	else if (draw(&run->seed, 255) == 0)
		sched_yield();
}

static void
withdraw(struct run *run, int64_t epoch)
{
	struct window *window = &run->shared->window;
	struct withdrawal w = window_ask(epoch);

	while (w.answer == WINDOW_PENDING) {
		struct count *count = &entry_of(run, w.epoch)->retries;
		bool counts = broken_commits(&w);

		if (counts)
			atomic_fetch_add(&count->begun, 1);
		give_way(run, counts);
		broken_step(window, &limits, &w, run->breed);
		if (counts)
			settle(count, w.answer);
	}
}

static void
deposit(struct run *run, int64_t epoch)
{
	struct window *window = &run->shared->window;
	struct deposit d = window_offer(epoch);

	while (d.answer == WINDOW_PENDING) {
		struct count *count = &entry_of(run, d.epoch)->successes;
		bool counts = d.read;

		if (counts)
			atomic_fetch_add(&count->begun, 1);
		give_way(run, counts);
		window_deposit_step(window, &d);
		if (counts)
			settle(count, d.answer);
	}
}

/* Successes are frequent for a while, then rare, then there are none. */
static bool
is_success(struct run *run, int64_t epoch)
{
	static const uint32_t one_in[] = { 16, 512, 0 };
	uint32_t most = one_in[epoch / (2 * WINDOW_SLICES) % 3];

	return most > 0 && draw(&run->seed, most - 1) == 0;
}

static void
work(struct run *run, int who, pid_t parent)
{
	int64_t behind = who % 8 == 0 ? BEHIND : 0;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(EXIT_FAILURE);
	for (;;) {
		int64_t epoch = epoch_now(run) - behind;

		if (is_success(run, epoch))
			deposit(run, epoch);
		else
			withdraw(run, epoch);
		atomic_fetch_add(&run->shared->questions, 1);
		if (draw(&run->seed, 63) == 0)
			rest(SLICE / 2);
	}
}

/*
 * The parent
 */

static void
start(struct run *run, int who)
{
	pid_t parent = getpid(), pid;

	draw(&run->seed, 1);
	pid = fork();
	if (pid == -1)
		err(2, "fork");
	if (pid == 0) {
		run->seed += (uint32_t)who + 1;
		work(run, who, parent);
	}
	run->workers[who] = (struct worker){ .pid = pid };
}

/* Whoever has ended is replaced. Nobody ends but by our hand. */
static void
reap(struct run *run)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL)
			run->wrong = "a process ended by itself";
		for (int i = 0; i < WORKERS; i++)
			if (run->workers[i].pid == pid)
				start(run, i);
	}
}

static void
disturb(struct run *run)
{
	int64_t slice = epoch_now(run);
	struct worker *one = &run->workers[draw(&run->seed, WORKERS - 1)];

	if (draw(&run->seed, 5) == 0) {
		kill(one->pid, SIGKILL);
		run->totals.kills++;
	} else if (draw(&run->seed, 5) == 0 && one->until == 0) {
		kill(one->pid, SIGSTOP);
		one->until = slice + 1 + draw(&run->seed, STOP_MOST - 1);
		run->totals.stops++;
	}
	for (int i = 0; i < WORKERS; i++)
		if (run->workers[i].until > 0 &&
		    run->workers[i].until <= slice) {
			kill(run->workers[i].pid, SIGCONT);
			run->workers[i].until = 0;
		}
}

static void
sample(struct run *run)
{
	for (int i = 0; i < WINDOW_WORDS; i++) {
		uint64_t word = atomic_load(&run->shared->window.words[i]);
		uint64_t *seen;

		if (WORD_EPOCH(word) >= run->slices)
			run->wrong = "a word of a slice that has not come";
		if (!WORD_SEALED(word) || run->wrong != NULL)
			continue;
		seen = &run->sealed[WORD_EPOCH(word)];
		if (*seen != 0 && *seen != word)
			run->wrong = "a sealed word that changed";
		*seen = word;
	}
}

static void
end_all(struct run *run)
{
	for (int i = 0; i < WORKERS; i++)
		kill(run->workers[i].pid, SIGKILL);
	while (wait(NULL) != -1 || errno == EINTR)
		;
}

/*
 * The checks
 */

static bool
between(const struct count *count, int64_t counted)
{
	return count->done <= counted && counted <= count->begun;
}

/* A sealed word against what they say who counted. */
static void
check_word(struct run *run, int64_t slice)
{
	const struct entry *entry = &run->shared->ledger[slice];
	uint64_t word = run->sealed[slice];

	if (word != 0 &&
	    (!between(&entry->retries, WORD_RETRIES(word)) ||
		!between(&entry->successes, WORD_SUCCESSES(word))))
		run->wrong = "a word that says what was not counted";
}

static bool
allowed(const struct window_sums *sums)
{
	return sums->retries <= window_limit(&limits, sums->successes);
}

/* The window that ends at a slice, as the ledger has it. */
static bool
ledger_holds(const struct run *run, int64_t end)
{
	const struct entry *ledger = run->shared->ledger;
	struct window_sums sums = { 0, 0 };

	for (int64_t i = end; i >= 0 && i >= end - WINDOW_SLICES; i--) {
		sums.retries += ledger[i].retries.done;
		if (i > end - WINDOW_SLICES)
			sums.successes += ledger[i].successes.begun;
	}
	return allowed(&sums);
}

/* The same by the words, if they were all seen. */
static bool
words_hold(const struct run *run, int64_t end, int *seen)
{
	struct window_sums sums = { 0, 0 };

	for (int64_t i = end; i >= 0 && i >= end - WINDOW_SLICES; i--) {
		uint64_t word = run->sealed[i];

		if (word == 0)
			return true;
		sums.retries += WORD_RETRIES(word);
		if (i > end - WINDOW_SLICES)
			sums.successes += WORD_SUCCESSES(word);
	}
	++*seen;
	return allowed(&sums);
}

static void
check(struct run *run)
{
	struct totals *totals = &run->totals;

	for (int64_t end = 0; end < run->slices; end++) {
		const struct entry *entry = &run->shared->ledger[end];

		check_word(run, end);
		totals->retries += entry->retries.done;
		totals->successes += entry->successes.done;
		if (entry->retries.done == 0)
			continue;
		totals->windows++;
		if (!ledger_holds(run, end) ||
		    !words_hold(run, end, &totals->seen))
			totals->violated++;
	}
	totals->questions = run->shared->questions;
}

/* Once it is wrong it is; but of a broken one that was to be expected. */
static bool
ended(const struct run *run)
{
	return run->breed == BREED_SOUND && run->wrong != NULL;
}

static void *
memory(size_t size)
{
	void *at = mmap(NULL, size, PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (at == MAP_FAILED)
		err(2, "mmap");
	return at;
}

static struct run
hammer(enum breed breed, int64_t seconds)
{
	struct run run = { .breed = breed, .seed = 1 + (uint32_t)getpid() };
	size_t size, sealed;

	run.slices = seconds * (SECOND / SLICE) + SLACK;
	size = sizeof *run.shared +
	    (size_t)run.slices * sizeof run.shared->ledger[0];
	sealed = (size_t)run.slices * sizeof *run.sealed;
	run.shared = memory(size);
	run.sealed = memory(sealed);
	run.base = now() - BEHIND * SLICE;
	for (int i = 0; i < WORKERS; i++)
		start(&run, i);
	while (now() - run.base < seconds * SECOND && !ended(&run)) {
		sample(&run);
		disturb(&run);
		reap(&run);
		rest(PAUSE);
	}
	end_all(&run);
	sample(&run);
	check(&run);
	munmap(run.shared, size);
	munmap(run.sealed, sealed);
	return run;
}

int
main(int argc, char **argv)
{
	int64_t seconds = argc > 1 ? strtol(argv[1], NULL, 10) : 60;
	struct run sound, unsealed, adding;

	if (seconds < 1 || seconds > 86400)
		errx(2, "usage: hammer [SECONDS]");
	sound = hammer(BREED_SOUND, seconds);
	unsealed = hammer(BREED_UNSEALED, BROKEN_SECONDS);
	adding = hammer(BREED_ADDING, BROKEN_SECONDS);
	if (sound.wrong != NULL)
		printf("hammer: %s\n", sound.wrong);
	printf("hammer: %d processes, %d kills, %d stops, %llu questions, "
	       "%llu retries, %llu successes; %d of %d windows violated "
	       "(%d seen by the sampler too); without sealing: %d of %d; "
	       "check-then-add: %d of %d\n",
	    WORKERS, sound.totals.kills, sound.totals.stops,
	    (unsigned long long)sound.totals.questions,
	    (unsigned long long)sound.totals.retries,
	    (unsigned long long)sound.totals.successes, sound.totals.violated,
	    sound.totals.windows, sound.totals.seen, unsealed.totals.violated,
	    unsealed.totals.windows, adding.totals.violated,
	    adding.totals.windows);
	return sound.wrong != NULL || sound.totals.violated > 0 ||
	    sound.totals.seen == 0 || unsealed.totals.violated == 0 ||
	    adding.totals.violated == 0;
}
