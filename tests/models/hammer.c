/*
 * hammer [SECONDS]: 64 processes use one window with slices of a millisecond.
 * Some have clocks that are two slices behind; all pause between any two steps,
 * and are killed, stopped and continued at random. tests/models/broken breaks a
 * withdrawal in two ways, which must be found.
 *
 * The tally, in shared memory, has four counts for each slice. A process adds
 * to "begun" before a step that may count a retry (or a success) in that slice.
 * After the step it adds to "done" if the step did, and else takes one from
 * "begun". So done <= what was counted in that slice <= begun, wherever a
 * process is killed, and a window certainly has too many retries if those done
 * are more than the successes begun allow. At the end every window that ends
 * with a retry is checked so; each process killed there may hide one retry.
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

#include "accesses.h"

#include "budget/window.c"

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

/* One for all: a worker has a copy from its fork on. */
static struct {
	int64_t base; /* when epoch 0 began */
	int64_t slices; /* in the tally */
	uint32_t seed;
	bool works; /* this is a worker */
	struct shared *shared;
	struct worker workers[WORKERS];
	uint64_t *sealed; /* the sealed word of each slice; 0: never seen */
	uint64_t retries, successes; /* in all */
	int kills, stops, windows, violated, seen;
	const char *wrong; /* a violation other than of a window, or NULL */
} run;

static int64_t now(void) {
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * SECOND + ts.tv_nsec;
}

static void rest(int64_t time) {
	nanosleep(&(struct timespec){ 0, (long)time }, NULL);
}

/* 0 to most. */
static uint32_t draw(uint32_t most) {
	run.seed ^= run.seed << 13;
	run.seed ^= run.seed >> 17;
	run.seed ^= run.seed << 5;
	return run.seed % (most + 1);
}

static int64_t epoch_now(void) {
	return (now() - run.base) / SLICE;
}

/*
 * A worker
 */

/* Pauses, above all between the read of a word and its change. */
static void give_way(bool counts) {
	if (counts && draw(7) == 0)
		rest(draw(4 * SLICE));
	else if (draw(255) == 0)
		sched_yield();
}

static uint64_t load(const _Atomic uint64_t *at) {
	if (run.works)
		give_way(false);
	return *at;
}

static bool exchange(_Atomic uint64_t *at, uint64_t *expected, uint64_t desired) {
	uint64_t was = word_at(epoch_of(desired), *expected);
	bool retry = desired == was + RETRY;
	bool counts = retry || desired == was + SUCCESS, swapped;
	struct entry *entry = &run.shared->tally[epoch_of(desired)];
	struct count *count = retry ? &entry->retries : &entry->successes;

	if (epoch_of(desired) >= run.slices)
		_exit(EXIT_FAILURE);
	if (counts)
		count->begun++;
	give_way(counts);
	swapped = atomic_compare_exchange_strong_explicit(at, expected, desired,
	    memory_order_seq_cst, memory_order_seq_cst);
	if (counts && swapped)
		count->done++;
	else if (counts)
		count->begun--;
	return swapped;
}

static void work(int who, pid_t parent) {
	/* Successes are frequent for a while, then rare, then there are none.
	 */
	static const uint32_t one_in[] = { 16, 512, 0 };
	int64_t behind = who % 8 == 0 ? BEHIND : 0;
	struct window *window = &run.shared->window;
	struct window_sums sums;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(EXIT_FAILURE);
	run.works = true;
	run.seed += (uint32_t)who + 1;
	for (;;) {
		int64_t epoch = epoch_now() - behind;
		uint32_t most = one_in[epoch / (2 * WINDOW_SLICES) % 3];

		if (most > 0 && draw(most - 1) == 0)
			window_deposit(window, epoch);
		else
			window_withdraw(window, &limits, epoch, &sums);
		run.shared->questions++;
		if (draw(63) == 0)
			rest(SLICE / 2);
	}
}

/*
 * The parent
 */

static void start(int who) {
	pid_t parent = getpid(), pid;

	draw(1);
	pid = fork();
	if (pid == -1)
		err(2, "fork");
	if (pid == 0)
		work(who, parent);
	run.workers[who] = (struct worker){ .pid = pid };
}

/* Replaces processes that have been killed; none may end otherwise. */
static void reap(void) {
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL)
			run.wrong = "a process ended by itself";
		for (int i = 0; i < WORKERS; i++)
			if (run.workers[i].pid == pid)
				start(i);
	}
}

static void disturb(void) {
	int64_t slice = epoch_now();
	struct worker *one = &run.workers[draw(WORKERS - 1)];

	if (draw(5) == 0) {
		kill(one->pid, SIGKILL);
		run.kills++;
	} else if (draw(5) == 0 && one->until == 0) {
		kill(one->pid, SIGSTOP);
		one->until = slice + 1 + draw(STOP_MOST - 1);
		run.stops++;
	}
	for (int i = 0; i < WORKERS; i++)
		if (run.workers[i].until > 0 && run.workers[i].until <= slice) {
			kill(run.workers[i].pid, SIGCONT);
			run.workers[i].until = 0;
		}
}

static void sample(void) {
	for (int i = 0; i < WINDOW_WORDS; i++) {
		uint64_t word = run.shared->window.words[i];
		uint64_t *seen;

		if (epoch_of(word) >= run.slices)
			run.wrong = "a word of a future slice";
		if (!sealed(word) || run.wrong != NULL)
			continue;
		seen = &run.sealed[epoch_of(word)];
		if (*seen != 0 && *seen != word)
			run.wrong = "a sealed word that changed";
		*seen = word;
	}
}

/*
 * The checks
 */

static bool between(const struct count *count, int64_t counted) {
	return count->done <= counted && counted <= count->begun;
}

/*
 * Whether the window that ends at a slice is within its limit, by the tally or
 * by the sealed words, if all were seen.
 */
static bool holds(int64_t end, bool words) {
	struct window_sums sums = { .retries = 0 };

	for (int64_t i = end; i >= 0 && i >= end - WINDOW_SLICES; i--) {
		const struct entry *entry = &run.shared->tally[i];
		uint64_t word = run.sealed[i];

		if (words && word == 0)
			return true;
		sums.retries += words ? retries_of(word) : entry->retries.done;
		if (i > end - WINDOW_SLICES)
			sums.successes += words ? successes_of(word) : entry->successes.begun;
	}
	run.seen += words;
	return sums.retries <= window_limit(&limits, sums.successes);
}

static void check(void) {
	for (int64_t end = 0; end < run.slices; end++) {
		const struct entry *entry = &run.shared->tally[end];
		uint64_t word = run.sealed[end];

		if (word != 0 &&
		    (!between(&entry->retries, retries_of(word)) ||
			!between(&entry->successes, successes_of(word))))
			run.wrong = "a word that differs from the tally";
		run.retries += entry->retries.done;
		run.successes += entry->successes.done;
		if (entry->retries.done == 0)
			continue;
		run.windows++;
		if (!holds(end, false) || !holds(end, true))
			run.violated++;
	}
}

static void *memory(size_t size) {
	void *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (at == MAP_FAILED)
		err(2, "mmap");
	return at;
}

int main(int argc, char **argv) {
	int64_t seconds = argc > 1 ? strtol(argv[1], NULL, 10) : 60;

	if (seconds < 1 || seconds > 86400)
		errx(2, "usage: hammer [SECONDS]");
	run.seed = 1 + (uint32_t)getpid();
	run.slices = seconds * (SECOND / SLICE) + SLACK;
	run.shared = memory(sizeof *run.shared + (size_t)run.slices * sizeof run.shared->tally[0]);
	run.sealed = memory((size_t)run.slices * sizeof *run.sealed);
	run.base = now() - BEHIND * SLICE;
	for (int i = 0; i < WORKERS; i++)
		start(i);
	while (now() - run.base < seconds * SECOND && run.wrong == NULL) {
		sample();
		disturb();
		reap();
		rest(PAUSE);
	}
	for (int i = 0; i < WORKERS; i++)
		kill(run.workers[i].pid, SIGKILL);
	while (wait(NULL) != -1 || errno == EINTR)
		;
	sample();
	check();
	if (run.wrong != NULL)
		printf("hammer: %s\n", run.wrong);
	printf("hammer: %d processes, %d kills, %d stops, %llu questions, "
	       "%llu retries, %llu successes; %d of %d windows violated "
	       "(%d seen by the sampler too)\n",
	    WORKERS, run.kills, run.stops, (unsigned long long)run.shared->questions,
	    (unsigned long long)run.retries, (unsigned long long)run.successes, run.violated,
	    run.windows, run.seen);
	if (run.wrong != NULL || run.violated > 0)
		return 1;
	return run.seen == 0 ? 2 : 0;
}
