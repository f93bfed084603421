#include "sys/signals.h"

#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "exit_status.h"
#include "sys/sys.h"
#include "text/number.h"

#define KERNEL_MASK_SIZE ((size_t)8)
#define LONGEST_NAP (30 * NANOS_SECOND)
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
 * A libc reserves some signals (32, 33, and musl 34) and refuses them in sets
 * and calls, but the caller and the command may use them. So the system call
 * itself is made where one of these may be meant. A sigset_t begins like the
 * kernel's set. The kernel's struct sigaction fits into DISPOSITION_WORDS; its
 * handler is one of the first two, and all zeros are the default.
 */
#define WORD_BITS (8 * (int)sizeof(unsigned long))
#define DISPOSITION_WORDS 32
#ifdef __mips__
#define HANDLER 1
#else
#define HANDLER 0
#endif

static void
leave_out(sigset_t *set, int signal)
{
	unsigned long *words = (unsigned long *)(void *)set;
	int bit = signal - 1;

	words[bit / WORD_BITS] &= ~(1UL << (bit % WORD_BITS));
}

/* glibc's sigisemptyset() does not see signals above 32. */
static bool
is_empty(const sigset_t *set)
{
	static const unsigned char none[KERNEL_MASK_SIZE];

	return memcmp(set, none, sizeof none) == 0;
}

static bool
ignored(int signal)
{
	unsigned long words[DISPOSITION_WORDS] = { 0 };

	return syscall(SYS_rt_sigaction, signal, NULL, words,
		   KERNEL_MASK_SIZE) == 0 &&
	    words[HANDLER] == (unsigned long)SIG_IGN;
}

static long
set_mask(const sigset_t *mask, sigset_t *before)
{
	return syscall(
	    SYS_rt_sigprocmask, SIG_SETMASK, mask, before, KERNEL_MASK_SIZE);
}

bool
signals_open(struct signals *signals)
{
	static const struct timespec at_once;
	static siginfo_t received[SIGNALS_PENDING];
	sigset_t *heard = &signals->heard, pending;

	signals->self = getpid();
	memset(heard, 0xff, sizeof *heard);
	for (size_t i = 0; i < sizeof unblocked / sizeof *unblocked; i++)
		leave_out(heard, unblocked[i]);
	sigemptyset(&signals->inherited);
	signals->pending = received;
	signals->count = 0;
	if (syscall(SYS_rt_sigprocmask, SIG_BLOCK, heard, &signals->inherited,
		KERNEL_MASK_SIZE) == -1)
		return false;

	/* Takes the signals that are pending because the caller has blocked
	 * them: the command inherits this mask. Others are for retry, and
	 * those beyond SIGNALS_PENDING stay pending. */
	if (!is_empty(&signals->inherited)) {
		sigemptyset(&pending);
		if (sigpending(&pending) == 0)
			sigandset(&pending, &pending, &signals->inherited);
		while (signals->count < SIGNALS_PENDING &&
		    sigtimedwait(&pending, &signals->pending[signals->count],
			&at_once) > 0)
			signals->count++;
		set_mask(heard, NULL);
	}

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
	return sigpending(&pending) == 0 && !is_empty(&pending);
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
	leave_out(&others, signal);
	set_mask(&others, NULL);
	set_mask(&signals->heard, NULL);
}

/*
 * Reads the next signal that was not ignored on entry, if there is one. CHLD
 * and CONT have an effect even where they are ignored.
 */
static void
next_signal(struct signals *signals, struct wakeup *wakeup)
{
	struct signalfd_siginfo info;

	for (int i = 0; i < SIGNALS_READ &&
	     read(signals->fd, &info, sizeof info) == sizeof info;
	     i++) {
		int signal = (int)info.ssi_signo;

		if (signal == SIGCONT)
			signals->continued = true;
		if (signal != SIGCHLD && signal != SIGCONT && ignored(signal))
			continue;
		wakeup->signal = signal;
		wakeup->code = info.ssi_code;
		wakeup->sender = (pid_t)info.ssi_pid;
		wakeup->value = info.ssi_int;
		return;
	}
}

struct wakeup
signals_wait(
    struct signals *signals, struct pollfd *fds, size_t count, nanos nap)
{
	struct wakeup wakeup = { 0 };

	if (nap > LONGEST_NAP)
		nap = LONGEST_NAP;
	fds[0] = (struct pollfd){ .fd = signals->fd, .events = POLLIN };
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

	leave_out(&signals->early, signal);
	return early;
}

void
signals_hand_on(const struct signals *signals)
{
	for (size_t i = 0; i < signals->count; i++) {
		const siginfo_t *info = &signals->pending[i];
		pid_t self = getpid();

		/* A process may send itself a signal with any si_code. */
		if (syscall(SYS_rt_sigqueueinfo, self, info->si_signo, info) ==
		    -1)
			kill(self, info->si_signo);
	}
}

int
signals_handed_on(struct signals *signals)
{
	int end = 0;

	for (size_t i = 0; i < signals->count; i++) {
		int signal = signals->pending[i].si_signo;

		if (end == 0 && signals_end_series(signal) && !ignored(signal))
			end = signal;
	}
	signals->count = 0;
	return end;
}

bool
signals_end_series(int signal)
{
	return signal == SIGHUP || signal == SIGINT || signal == SIGQUIT ||
	    signal == SIGTERM;
}

_Noreturn void
signals_die(int signal)
{
	static const unsigned long words[DISPOSITION_WORDS];
	sigset_t others;

	prctl(PR_SET_DUMPABLE, 0);
	syscall(SYS_rt_sigaction, signal, words, NULL, KERNEL_MASK_SIZE);
	kill(getpid(), signal);
	memset(&others, 0xff, sizeof others);
	leave_out(&others, signal);
	set_mask(&others, NULL);
	_exit(EXIT_STATUS_SIGNAL + signal);
}
