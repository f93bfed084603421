#include "attempt/forwarding.h"

#include <signal.h>
#include <unistd.h>

/* Whether the kernel sends such a signal to a whole process group, because of
 * what happens at a terminal: see tty(4). */
static bool
is_of_terminal(int number)
{
	switch (number) {
	case SIGHUP:
		/* The leader of a session gets it alone. */
		return getsid(0) != getpid();
	case SIGINT:
	case SIGQUIT:
	case SIGTSTP:
	case SIGTTIN:
	case SIGTTOU:
	case SIGWINCH:
	case SIGCONT:
		return true;
	default:
		return false;
	}
}

/* Whether the kernel has sent a signal to retry and the child, as parts of one
 * process group. A signal from before the fork did not reach the child. */
static bool
reached_both(struct signals *signals, const struct wakeup *wakeup, pid_t child)
{
	return !signals_early(signals, wakeup->signal) &&
	    wakeup->code == SI_KERNEL && is_of_terminal(wakeup->signal) &&
	    getpgid(child) == getpgrp();
}

void
forwarding_pass(
    struct signals *signals, const struct wakeup *wakeup, pid_t child)
{
	union sigval value = { .sival_int = wakeup->value };

	/* XCPU of the kernel is for processor time that retry itself used. */
	if (wakeup->sender == child ||
	    (wakeup->signal == SIGXCPU && wakeup->code == SI_KERNEL) ||
	    reached_both(signals, wakeup, child))
		return;
	if (wakeup->code == SI_QUEUE)
		sigqueue(child, wakeup->signal, value);
	else
		kill(child, wakeup->signal);
}
