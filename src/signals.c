#include "signals.h"

#include <errno.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "context.h"

#define KERNEL_MASK_SIZE ((size_t)8)
#define LONGEST_NAP (30 * NANOS_SECOND)

/* The call that takes times of 64 bits, on machines of 32 bits too. */
#ifdef SYS_ppoll_time64
#define PPOLL SYS_ppoll_time64
#else
#define PPOLL SYS_ppoll
#endif

/*
 * What must not wait for us: ABRT and faults, which are meant for us alone and
 * of which the kernel makes death if they are blocked; and what stops us.
 */
static const int unblocked[] = { SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL,
	SIGTRAP, SIGSYS, SIGTSTP, SIGTTIN, SIGTTOU };

static bool
ignored(int number)
{
	struct sigaction action;

	return sigaction(number, NULL, &action) == 0 &&
	    action.sa_handler == SIG_IGN;
}

static void
set_disposition(int number, void (*handler)(int))
{
	struct sigaction action = { .sa_handler = handler };

	sigaction(number, &action, NULL);
}

/*
 * The system call itself: a libc keeps some signals for its own use, and would
 * lose them from the mask that we hand on. Its sigset_t begins as the kernel's.
 */
static long
set_mask(const sigset_t *mask, sigset_t *before)
{
	return syscall(
	    SYS_rt_sigprocmask, SIG_SETMASK, mask, before, KERNEL_MASK_SIZE);
}

bool
signals_open(struct signals *signals)
{
	sigset_t heard;

	/* All of them: libc's sigfillset leaves out what it keeps for itself.
	 */
	memset(&heard, 0xff, sizeof heard);
	for (size_t i = 0; i < sizeof unblocked / sizeof *unblocked; i++)
		sigdelset(&heard, unblocked[i]);
	if (set_mask(&heard, &signals->inherited) == -1)
		return false;
	/* Where it is ignored children vanish and leave no status. */
	signals->child_ignored = ignored(SIGCHLD);
	if (signals->child_ignored)
		set_disposition(SIGCHLD, SIG_DFL);
	signals->fd =
	    context_move_up(signalfd(-1, &heard, SFD_CLOEXEC | SFD_NONBLOCK));
	return signals->fd != -1;
}

/*
 * The system call itself, because it writes back what was left of the time
 * when a stop interrupted it, and goes on with that; libc's hides it. Returns
 * how long we slept, stops not included.
 */
static nanos
sleep_in_poll(struct pollfd *fds, nfds_t count, nanos nap)
{
	struct {
		int64_t seconds, nanos;
	} left = { nap / NANOS_SECOND, nap % NANOS_SECOND };

	if (syscall(PPOLL, fds, count, &left, NULL, (size_t)0) == -1)
		while (count > 0)
			fds[--count].revents = 0;
	return nap - (left.seconds * NANOS_SECOND + left.nanos);
}

/*
 * Whether somebody has let us go on. Otherwise a late wake-up only means that
 * the machine is busy.
 */
static bool
continued(void)
{
	sigset_t pending;

	return sigpending(&pending) == 0 && sigismember(&pending, SIGCONT) == 1;
}

/* The next signal that was sent and not ignored on entry, if there is one. */
static void
next_signal(const struct signals *signals, struct wakeup *wakeup)
{
	struct signalfd_siginfo info;

	while (read(signals->fd, &info, sizeof info) == sizeof info) {
		int number = (int)info.ssi_signo;

		if (number != SIGCHLD && ignored(number))
			continue;
		wakeup->signal = number;
		wakeup->code = info.ssi_code;
		wakeup->sender = (pid_t)info.ssi_pid;
		wakeup->value = info.ssi_int;
		return;
	}
}

struct wakeup
signals_wait(
    const struct signals *signals, struct pollfd *fds, size_t count, nanos nap)
{
	struct wakeup wakeup = { 0 };
	nanos before = context_now(CLOCK_MONOTONIC), slept, late;

	if (nap > LONGEST_NAP)
		nap = LONGEST_NAP;
	fds[0] = (struct pollfd){ .fd = signals->fd, .events = POLLIN };
	slept = sleep_in_poll(fds, count, nap > 0 ? nap : 0);
	late = context_now(CLOCK_MONOTONIC) - before - slept;
	if (late > NANOS_MS && continued())
		wakeup.stopped = late;
	if (fds[0].revents != 0)
		next_signal(signals, &wakeup);
	return wakeup;
}

void
signals_restore(const struct signals *signals)
{
	if (signals->child_ignored)
		set_disposition(SIGCHLD, SIG_IGN);
	set_mask(&signals->inherited, NULL);
}

bool
signals_end_series(int number)
{
	return number == SIGHUP || number == SIGINT || number == SIGQUIT ||
	    number == SIGTERM;
}

_Noreturn void
signals_die(int number)
{
	sigset_t only;

	prctl(PR_SET_DUMPABLE, 0);
	set_disposition(number, SIG_DFL);
	sigemptyset(&only);
	sigaddset(&only, number);
	raise(number);
	sigprocmask(SIG_UNBLOCK, &only, NULL);
	_exit(128 + number);
}
