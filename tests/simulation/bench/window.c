/*
 * window: the cost of a withdrawal and of a deposit while 1, 64 or 1,000
 * processes do nothing else, compared with the same counters under an fcntl
 * lock. Prints for each: a name; nanoseconds per operation, of all processes
 * together, so the cost to the host; and that divided by the lock's. All
 * withdrawals are granted. Slices last a millisecond, so that sealing is part
 * of the cost.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include "bench.h"
#include "budget/window.h"

enum { MOST = 1000 };

#define SLICE 1000000 /* ns */
#define TIME (250 * SLICE)

/* Granted as long as the word can count them. */
static const struct terms limits = { 0, INT64_MAX, 0 };

/* The counters of a slice, protected by the lock. */
struct slice {
	int64_t epoch, retries, successes;
};

struct shared {
	struct window window;
	struct slice slices[WINDOW_WORDS];
	_Atomic int64_t epoch;
	struct {
		_Alignas(64) _Atomic int64_t done;
	} workers[MOST];
};

struct bench {
	struct shared *shared;
	int fd; /* of the lock */
};

static void
withdraw(struct bench *bench, int64_t epoch)
{
	struct window_sums sums;

	window_withdraw(&bench->shared->window, &limits, epoch, &sums);
}

static void
deposit(struct bench *bench, int64_t epoch)
{
	window_deposit(&bench->shared->window, epoch);
}

static void
lock(struct bench *bench, short type)
{
	struct flock all = { .l_type = type, .l_whence = SEEK_SET };

	while (fcntl(bench->fd, F_SETLKW, &all) == -1)
		if (errno != EINTR)
			err(1, "fcntl");
}

static struct slice *
slice_of(struct bench *bench, int64_t epoch)
{
	struct slice *slice = &bench->shared->slices[epoch % WINDOW_WORDS];

	if (slice->epoch != epoch)
		*slice = (struct slice){ .epoch = epoch };
	return slice;
}

static void
locked_withdraw(struct bench *bench, int64_t epoch)
{
	struct window_sums sums = { 0, 0 };

	lock(bench, F_WRLCK);
	for (int64_t e = epoch - WINDOW_SLICES; e <= epoch; e++) {
		struct slice *slice = slice_of(bench, e);

		sums.retries += slice->retries;
		if (e > epoch - WINDOW_SLICES)
			sums.successes += slice->successes;
	}
	if (sums.retries < window_limit(&limits, sums.successes))
		slice_of(bench, epoch)->retries++;
	lock(bench, F_UNLCK);
}

static void
locked_deposit(struct bench *bench, int64_t epoch)
{
	lock(bench, F_WRLCK);
	slice_of(bench, epoch)->successes++;
	lock(bench, F_UNLCK);
}

/* A worker: begins when the pipe is closed, and is ended by a signal. */
static void
work(struct bench *bench, void (*act)(struct bench *, int64_t), int who,
    int begin, pid_t parent)
{
	_Atomic int64_t *done = &bench->shared->workers[who].done;
	char byte;

	nice(10); /* so that the parent can end the workers in time */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent || read(begin, &byte, 1) != 0)
		_exit(EXIT_FAILURE);
	for (int64_t i = 1;; i++) {
		act(bench, bench->shared->epoch);
		atomic_store_explicit(done, i, memory_order_relaxed);
	}
}

static int64_t
total(const struct bench *bench, int workers)
{
	int64_t sum = 0;

	for (int i = 0; i < workers; i++)
		sum += bench->shared->workers[i].done;
	return sum;
}

static void
rest(void)
{
	nanosleep(&(struct timespec){ 0, SLICE }, NULL);
}

/* Nanoseconds per operation. */
static double
measure(void (*act)(struct bench *, int64_t), int workers)
{
	struct bench bench = { .fd = memfd_create("window", MFD_CLOEXEC) };
	pid_t parent = getpid(), pids[MOST];
	int begin[2];
	double began, ns;

	bench.shared = mmap(NULL, sizeof *bench.shared, PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (bench.fd == -1 || bench.shared == MAP_FAILED || pipe(begin) == -1)
		err(1, "memory");
	bench.shared->epoch = WINDOW_WORDS;
	for (int i = 0; i < workers; i++) {
		pids[i] = fork();
		if (pids[i] == -1)
			err(1, "fork");
		if (pids[i] == 0) {
			close(begin[1]);
			work(&bench, act, i, begin[0], parent);
		}
	}
	close(begin[1]);
	began = now();
	do {
		rest();
		bench.shared->epoch++;
		ns = 1e3 * (now() - began);
	} while (ns < TIME);
	ns /= (double)total(&bench, workers);
	for (int i = 0; i < workers; i++)
		kill(pids[i], SIGKILL);
	while (wait(NULL) != -1 || errno == EINTR)
		;
	close(begin[0]);
	close(bench.fd);
	munmap(bench.shared, sizeof *bench.shared);
	return ns;
}

int
main(void)
{
	static const int workers[] = { 1, 64, MOST };

	for (size_t i = 0; i < sizeof workers / sizeof *workers; i++) {
		int n = workers[i];
		double taken = measure(locked_withdraw, n);
		double given = measure(locked_deposit, n);
		double ns = measure(withdraw, n);

		printf("withdraw-%d-lock\t%.0f\t1.000\n", n, taken);
		printf("withdraw-%d\t%.0f\t%.3f\n", n, ns, ns / taken);
		ns = measure(deposit, n);
		printf("deposit-%d-lock\t%.0f\t1.000\n", n, given);
		printf("deposit-%d\t%.0f\t%.3f\n", n, ns, ns / given);
	}
	return 0;
}
