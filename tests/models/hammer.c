/*
 * hammer [SECONDS]: 64 processes use one window with slices of a millisecond.
 * Some have clocks that are two slices behind; all pause between any two steps,
 * and are killed, stopped and continued at random. tests/models/broken breaks a
 * withdrawal in two ways, which must be found.
 *
 * There are two checks.
 *
 * The tally, in shared memory, has four counts for each slice. A process adds
 * to "begun" before a step that may count a retry (or a success) in that slice.
 * After the step it adds to "done" if the step did, and else takes one from
 * "begun". A process that is killed in between leaves one begun but not done.
 * So it always holds that
 *
 *     done <= what was counted in that slice <= begun
 *
 * and a window certainly has too many retries if those done are more than the
 * successes begun allow. At the end every window that ends with a retry is
 * checked so. The check misses an excess only if as many processes were killed
 * just between such a step and the change of the tally.
 *
 * The sampler copies the words again and again. A sealed word may never change.
 * Its counts must lie between done and begun. And if all words of a window that
 * ends with a retry were seen sealed, then the retries of that window must be
 * within its limit. If it sees no such window, the status is 2.
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
#include "budget/window.h"

/* The window gets these in place of the atomic accesses. */
#undef atomic_load
#undef atomic_compare_exchange_strong
static uint64_t load(const _Atomic uint64_t *at);
static bool
exchange(_Atomic uint64_t *at, uint64_t *expected, uint64_t desired);
#define atomic_load(at) load(at)
#define atomic_compare_exchange_strong(at, expected, desired) \
	exchange(at, expected, desired)

#include "budget/window.c"

#undef atomic_load

enum {
	WORKERS = 64,
	BEHIND = 2, /* slices, of some clocks */
	PAUSE = 300000, /* ns, between two samples */
	STOP_MOST = 150, /* slices */
	SLACK = 10000, /* slices that a run may last longer */
};

#define SLICE INT64_C(1000000)
#define SECOND INT64_C(1000000000)

static const struct terms limits = { WINDOW_RATIO_ONE / 5, 10, 0 };

struct count {
	_Atomic uint32_t begun, done;
};

/* What the processes have counted in a slice. */
struct entry {
	struct count retries, successes;
};

struct shared {
	struct window window;
	_Atomic uint64_t questions;
	struct entry tally[];
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
	int64_t base; /* when epoch 0 began */
	int64_t slices; /* in the tally */
	uint32_t seed;
	struct shared *shared;
	struct worker workers[WORKERS];
	uint64_t *sealed; /* the sealed word of each slice; 0: never seen */
	struct totals totals;
	const char *wrong; /* a violation other than of a window, or NULL */
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
	return &run->shared->tally[epoch];
}

/* The run of a worker; NULL in the parent. */
static struct run *self;

/* Pauses, above all between the read of a word and its change. */
static void
give_way(struct run *run, bool counts)
{
	if (counts && draw(&run->seed, 7) == 0)
		rest(draw(&run->seed, 4 * SLICE));
	else if (draw(&run->seed, 255) == 0)
		sched_yield();
}

static uint64_t
load(const _Atomic uint64_t *at)
{
	if (self != NULL)
		give_way(self, false);
	return *at;
}

static bool
exchange(_Atomic uint64_t *at, uint64_t *expected, uint64_t desired)
{
	uint64_t was = word_at(epoch_of(desired), *expected);
	bool retry = desired == was + RETRY;
	bool counts = retry || desired == was + SUCCESS;
	struct entry *entry = entry_of(self, epoch_of(desired));
	struct count *count = retry ? &entry->retries : &entry->successes;
	bool swapped;

	if (counts)
		atomic_fetch_add(&count->begun, 1);
	give_way(self, counts);
	swapped = atomic_compare_exchange_strong_explicit(
	    at, expected, desired, memory_order_seq_cst, memory_order_seq_cst);
	if (counts && swapped)
		atomic_fetch_add(&count->done, 1);
	else if (counts)
		atomic_fetch_sub(&count->begun, 1);
	return swapped;
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
	struct window_sums sums;

	self = run;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(EXIT_FAILURE);
	for (;;) {
		int64_t epoch = epoch_now(run) - behind;

		if (is_success(run, epoch))
			window_deposit(&run->shared->window, epoch);
		else
			window_withdraw(
			    &run->shared->window, &limits, epoch, &sums);
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

/* Replaces processes that have been killed; none may end otherwise. */
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
		uint64_t word = run->shared->window.words[i];
		uint64_t *seen;

		if (epoch_of(word) >= run->slices)
			run->wrong = "a word of a future slice";
		if (!sealed(word) || run->wrong != NULL)
			continue;
		seen = &run->sealed[epoch_of(word)];
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

/* Compares a sealed word with the tally. */
static void
check_word(struct run *run, int64_t slice)
{
	const struct entry *entry = &run->shared->tally[slice];
	uint64_t word = run->sealed[slice];

	if (word != 0 &&
	    (!between(&entry->retries, retries_of(word)) ||
		!between(&entry->successes, successes_of(word))))
		run->wrong = "a word that differs from the tally";
}

static bool
allowed(const struct window_sums *sums)
{
	return sums->retries <= window_limit(&limits, sums->successes);
}

/* Whether the window that ends at a slice is within its limit by the tally. */
static bool
tally_holds(const struct run *run, int64_t end)
{
	const struct entry *tally = run->shared->tally;
	struct window_sums sums = { 0, 0 };

	for (int64_t i = end; i >= 0 && i >= end - WINDOW_SLICES; i--) {
		sums.retries += tally[i].retries.done;
		if (i > end - WINDOW_SLICES)
			sums.successes += tally[i].successes.begun;
	}
	return allowed(&sums);
}

/* The same by the sealed words, if all were seen. */
static bool
words_hold(const struct run *run, int64_t end, int *seen)
{
	struct window_sums sums = { 0, 0 };

	for (int64_t i = end; i >= 0 && i >= end - WINDOW_SLICES; i--) {
		uint64_t word = run->sealed[i];

		if (word == 0)
			return true;
		sums.retries += retries_of(word);
		if (i > end - WINDOW_SLICES)
			sums.successes += successes_of(word);
	}
	++*seen;
	return allowed(&sums);
}

static void
check(struct run *run)
{
	struct totals *totals = &run->totals;

	for (int64_t end = 0; end < run->slices; end++) {
		const struct entry *entry = &run->shared->tally[end];

		check_word(run, end);
		totals->retries += entry->retries.done;
		totals->successes += entry->successes.done;
		if (entry->retries.done == 0)
			continue;
		totals->windows++;
		if (!tally_holds(run, end) ||
		    !words_hold(run, end, &totals->seen))
			totals->violated++;
	}
	totals->questions = run->shared->questions;
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
hammer(int64_t seconds)
{
	struct run run = { .seed = 1 + (uint32_t)getpid() };
	size_t size, sealed;

	run.slices = seconds * (SECOND / SLICE) + SLACK;
	size = sizeof *run.shared +
	    (size_t)run.slices * sizeof run.shared->tally[0];
	sealed = (size_t)run.slices * sizeof *run.sealed;
	run.shared = memory(size);
	run.sealed = memory(sealed);
	run.base = now() - BEHIND * SLICE;
	for (int i = 0; i < WORKERS; i++)
		start(&run, i);
	while (now() - run.base < seconds * SECOND && run.wrong == NULL) {
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
	struct run run;

	if (seconds < 1 || seconds > 86400)
		errx(2, "usage: hammer [SECONDS]");
	run = hammer(seconds);
	if (run.wrong != NULL)
		printf("hammer: %s\n", run.wrong);
	printf("hammer: %d processes, %d kills, %d stops, %llu questions, "
	       "%llu retries, %llu successes; %d of %d windows violated "
	       "(%d seen by the sampler too)\n",
	    WORKERS, run.totals.kills, run.totals.stops,
	    (unsigned long long)run.totals.questions,
	    (unsigned long long)run.totals.retries,
	    (unsigned long long)run.totals.successes, run.totals.violated,
	    run.totals.windows, run.totals.seen);
	if (run.wrong != NULL || run.totals.violated > 0)
		return 1;
	return run.totals.seen == 0 ? 2 : 0;
}
