#include "sys/signals.h"

#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "exit_status.h"
#include "sys/sys.h"
#include "text/number.h"

#define LONGEST_NAP (30 * NANOS_SECOND)
/* From which on few pages matter more than the time for a system call. */
#define LONG_NAP NANOS_SECOND
#define STACK_PAGES 16
/* So far below its variables a function that calls nothing may use the stack.
 */
#define RED_ZONE 512
/* How long to wait where the kernel refuses to wait for events. */
#define RETRIED_NAP (10 * NANOS_MS)

/* A shorter stop does not count: a flood of CONT would stop the clock. */
#define SHORTEST_STOP (5 * NANOS_MS)

/* getppid(2) returns it where the parent is in an outer PID namespace. */
#define OTHER_NAMESPACE 0

/* The call that takes times of 64 bits on machines of 32 bits as well. */
#ifdef SYS_ppoll_time64
#define PPOLL SYS_ppoll_time64
#else
#define PPOLL SYS_ppoll
#endif

/*
 * Not blocked: ABRT and faults are meant for retry itself, and the kernel kills
 * a process that blocks them.
 */
static const int unblocked[] = { SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL,
	SIGTRAP, SIGSYS };

/*
 * A libc keeps some signals to itself: glibc 32 and 33, musl 32 to 34. Its
 * functions leave them out of masks, and refuse to tell or change what they do.
 * To retry they are signals like others, so it asks the kernel: this is the
 * kernel's struct sigaction, as far as it has no handler.
 */
struct action {
#ifdef __mips__
	unsigned flags;
	void (*handler)(int);
#else
	void (*handler)(int);
	unsigned long flags;
#endif
	unsigned long rest[4];
};

#define MASK_SIZE ((size_t)_NSIG / 8)

/* False, with errno, if the kernel refuses. */
static bool
set_mask(const sigset_t *mask, sigset_t *before)
{
	return syscall(SYS_rt_sigprocmask, SIG_SETMASK, mask, before,
		   MASK_SIZE) == 0;
}

/* Takes a signal out of a set, in which libc may not count it. */
static void
exclude(sigset_t *set, int signal)
{
	const unsigned bits = 8 * sizeof(unsigned long);
	unsigned bit = (unsigned)signal - 1;

	((unsigned long *)set)[bit / bits] &= ~(1UL << bit % bits);
}

static bool
ignored(int signal)
{
	struct action action;

	return syscall(SYS_rt_sigaction, signal, NULL, &action, MASK_SIZE) ==
	    0 &&
	    action.handler == SIG_IGN;
}

bool
signals_open(struct signals *signals)
{
	sigset_t *heard = &signals->heard;

	signals->self = getpid();
	memset(heard, ~0, sizeof *heard);
	for (size_t i = 0; i < sizeof unblocked / sizeof *unblocked; i++)
		exclude(heard, unblocked[i]);
	if (!set_mask(heard, &signals->inherited))
		return false;
	signals->accompanied = signals->continued = false;
	signals->awake = sys_now(CLOCK_MONOTONIC);
	signals->stopped = 0;
	/* If CHLD is ignored, children leave no exit status. */
	signals->child_ignored = ignored(SIGCHLD);
	if (signals->child_ignored)
		sigaction(SIGCHLD, &(struct sigaction){ .sa_handler = SIG_DFL },
		    NULL);
	signals->fd =
	    sys_move_up(signalfd(-1, heard, SFD_CLOEXEC | SFD_NONBLOCK));
	return signals->fd != -1;
}

/*
 * Polls for nap and returns how long, without the time for which retry was
 * stopped; -1 after an error. It makes the system call itself, which writes
 * back the time that is left, and continues with that time after a stop; libc's
 * function hides it.
 */
static nanos
sleep_in_poll(struct pollfd *fds, nfds_t count, nanos nap)
{
	struct {
		int64_t seconds, nanos;
	} left = { nap / NANOS_SECOND, nap % NANOS_SECOND };

	if (syscall(PPOLL, fds, count, &left, NULL, (size_t)0) == -1)
		return -1;
	return nap - (left.seconds * NANOS_SECOND + left.nanos);
}

/*
 * Waits as signals_wait does. The kernel takes no more entries than descriptors
 * may be open. If that are too few, or if it has no memory, each entry is
 * polled by itself after a short nap.
 */
static nanos
wait_for_any(struct pollfd *fds, size_t count, nanos nap)
{
	nanos slept = sleep_in_poll(fds, count, nap);

	if (slept != -1)
		return slept;
	slept = sleep_in_poll(NULL, 0, number_lesser(nap, RETRIED_NAP));
	for (size_t i = 0; i < count; i++)
		if (poll(&fds[i], 1, 0) == -1)
			fds[i].revents = 0;
	fds[0].revents = POLLIN; /* even a single entry may be too many */
	return slept;
}

bool
signals_pend(void)
{
	sigset_t pending;

	sigemptyset(&pending);
	return sigpending(&pending) == 0 && !sigisemptyset(&pending);
}

/*
 * Each stop ends with CONT, which stays pending until it is read. So if there
 * was one since the last look, retry was stopped for the time since then in
 * which it has not slept: what it does itself takes next to no time. If CONT
 * may have come after the clock was read, the clock is read again, so that the
 * instant is behind the stop.
 */
static nanos
look_for_stop(struct signals *signals, nanos slept)
{
	nanos now = sys_now(CLOCK_MONOTONIC);
	sigset_t pending;

	sigemptyset(&pending);
	sigpending(&pending);
	if (signals->continued || sigismember(&pending, SIGCONT) == 1) {
		nanos stop;

		now = sys_now(CLOCK_MONOTONIC);
		stop = now - signals->awake - slept;
		if (stop >= SHORTEST_STOP)
			signals->stopped += stop;
	}
	signals->awake = now;
	signals->continued = false;
	return now - signals->stopped;
}

nanos
signals_now(struct signals *signals)
{
	return look_for_stop(signals, 0);
}

nanos
signals_note(struct signals *signals)
{
	nanos now = signals_now(signals);

	sigemptyset(&signals->early);
	sigpending(&signals->early);
	return now;
}

bool
signals_stops(int signal)
{
	return signal == SIGTSTP || signal == SIGTTIN || signal == SIGTTOU;
}

/*
 * The kernel drops a pending CONT when a stop is sent, and a pending stop when
 * CONT is sent. A CONT that comes from now on continues retry; but a CONT that
 * has come before would be lost, and nothing would continue retry. The signal
 * stops retry when a mask without this signal is set.
 */
void
signals_stop(const struct signals *signals, int signal)
{
	sigset_t others = signals->heard, pending;

	if (sigpending(&pending) == 0 && sigismember(&pending, SIGCONT) == 1)
		return;
	kill(signals->self, signal);
	exclude(&others, signal);
	set_mask(&others, NULL);
	set_mask(&signals->heard, NULL);
}

/*
 * Reads the next signal, if there is one. What was ignored on entry is for a
 * command alone, which may have a handler for it; CHLD and CONT have an effect
 * even so.
 */
static void
next_signal(struct signals *signals, struct wakeup *wakeup)
{
	struct signalfd_siginfo info;
	int reads = 0;

	while (reads++ < SIGNALS_READ &&
	    read(signals->fd, &info, sizeof info) == sizeof info) {
		int signal = (int)info.ssi_signo;

		if (signal == SIGCONT)
			signals->continued = true;
		wakeup->ignored =
		    signal != SIGCHLD && signal != SIGCONT && ignored(signal);
		if (wakeup->ignored && !signals->accompanied)
			continue;
		wakeup->signal = signal;
		wakeup->code = info.ssi_code;
		wakeup->sender = (pid_t)info.ssi_pid;
		wakeup->value = info.ssi_int;
		return;
	}
}

/*
 * Gives back the pages below the stack that is in use: what came before the
 * wait needed more of them, and thousands may wait. They are empty when they
 * are used again. Below all that a program can have no mapping of another kind.
 */
static void
release_stack(void)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	uintptr_t end = ((uintptr_t)&page - RED_ZONE) / page * page;

	madvise((void *)(end - STACK_PAGES * page), STACK_PAGES * page,
	    MADV_DONTNEED);
}

struct wakeup
signals_wait(
    struct signals *signals, struct pollfd *fds, size_t count, nanos nap)
{
	struct wakeup wakeup = { 0 };

	if (nap > LONGEST_NAP)
		nap = LONGEST_NAP;
	fds[0] = (struct pollfd){ .fd = signals->fd, .events = POLLIN };
	if (nap >= LONG_NAP && !signals->accompanied)
		release_stack();
	signals_now(signals);
	look_for_stop(signals, wait_for_any(fds, count, nap > 0 ? nap : 0));
	if (fds[0].revents != 0)
		next_signal(signals, &wakeup);
	while (signals_stops(wakeup.signal) && !signals->accompanied) {
		signals_stop(signals, wakeup.signal);
		wakeup.signal = 0;
		next_signal(signals, &wakeup);
	}
	return wakeup;
}

void
signals_restore(const struct signals *signals)
{
	if (signals->child_ignored)
		sigaction(SIGCHLD, &(struct sigaction){ .sa_handler = SIG_IGN },
		    NULL);
	set_mask(&signals->inherited, NULL);
}

/* What would have stopped a child of vfork(2), which has written it here. Being
 * not 0, it is on a page that every start needs. */
#define NO_STOP (-1)
static volatile sig_atomic_t stop_held = NO_STOP;

static void
hold(int signal)
{
	stop_held = signal;
}

void
signals_hold_stops(void)
{
	static const int stops[] = { SIGTSTP, SIGTTIN, SIGTTOU };
	struct sigaction caught = { .sa_handler = hold }, before;

	for (size_t i = 0; i < sizeof stops / sizeof *stops; i++)
		if (sigaction(stops[i], &caught, &before) == 0 &&
		    before.sa_handler == SIG_IGN)
			sigaction(stops[i], &before, NULL);
}

void
signals_stop_late(pid_t child)
{
	if (stop_held == NO_STOP)
		return;
	if (child > 0)
		kill(child, stop_held);
	stop_held = NO_STOP;
}

void
signals_die_with(pid_t parent, int signal)
{
	/* If retry is killed, nothing else ends its child. A parent that is
	 * dead already sends no signal, so look. */
	prctl(PR_SET_PDEATHSIG, signal);
	if (getppid() != parent && getppid() != OTHER_NAMESPACE)
		_exit(EXIT_STATUS_NOT_FOUND);
}

bool
signals_early(struct signals *signals, int signal)
{
	bool early = sigismember(&signals->early, signal) == 1;

	sigdelset(&signals->early, signal);
	return early;
}

bool
signals_end_series(const struct wakeup *wakeup)
{
	int signal = wakeup->signal;

	return !wakeup->ignored &&
	    (signal == SIGHUP || signal == SIGINT || signal == SIGQUIT ||
		signal == SIGTERM ||
		(signal == SIGALRM && wakeup->code == SI_KERNEL));
}

_Noreturn void
signals_die(int signal)
{
	sigset_t others;

	prctl(PR_SET_DUMPABLE, 0);
	syscall(SYS_rt_sigaction, signal,
	    &(struct action){ .handler = SIG_DFL }, NULL, MASK_SIZE);
	kill(getpid(), signal);
	memset(&others, ~0, sizeof others);
	exclude(&others, signal);
	set_mask(&others, NULL);
	_exit(EXIT_STATUS_SIGNAL + signal);
}
