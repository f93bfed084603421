/*
 * signals: the one place where retry waits, and what it hears there. Every
 * signal that can be is blocked from signals_open on and read from a signalfd
 * in the wait, so none can fall between two system calls, and no disposition
 * has to be changed and put back.
 */
#ifndef SIGNALS_H
#define SIGNALS_H

#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include "text/duration.h"

/* So many pending signals go to the command; more are heard as if sent now. */
#define SIGNALS_PENDING 32

struct signals {
	int fd;
	sigset_t heard; /* what we hear */
	sigset_t inherited; /* the mask that the command gets */
	sigset_t early; /* what was sent before the command was there */
	bool accompanied; /* there is a command, and who waits decides on stops
			   */
	bool child_ignored; /* SIGCHLD was ignored on entry */
	size_t count; /* of what was pending on entry: */
	siginfo_t pending[SIGNALS_PENDING];
};

/* Why a wait ended. */
struct wakeup {
	int signal; /* 0: none */
	int code; /* its si_code */
	pid_t sender; /* its si_pid */
	int value; /* what it carried, where code is SI_QUEUE */
	nanos stopped; /* how long retry itself was stopped meanwhile */
};

/*
 * Blocks and opens. False, with errno, if the kernel refuses. Faults (SIGSEGV
 * and its like) are left alone.
 */
bool signals_open(struct signals *signals);

/*
 * Waits for a signal, for nap to pass, 30 s at most, or for what fds ask of
 * poll(2), which is answered there; fds[0] is ours to fill in. With a nap of 0
 * or less only looks. A signal that was ignored on entry is not heard. One of
 * job control stops retry here, as it stops any program; where accompanied, it
 * is a signal like any.
 */
struct wakeup signals_wait(
    const struct signals *signals, struct pollfd *fds, size_t count, nanos nap);

/*
 * In the child: dispositions and mask as we found them, in this order, so that
 * no signal meets a disposition that was never meant for it.
 */
void signals_restore(const struct signals *signals);

/*
 * Notes, right before a fork, what is pending: whoever has sent it to all of
 * the process group could not mean the child.
 */
void signals_note(struct signals *signals);

/* Whether a signal that is heard was noted so; the next one was not. */
bool signals_early(struct signals *signals, int number);

/*
 * In the first child that is to become the command, after signals_restore: what
 * was pending when we started, blocked, is pending there.
 */
void signals_hand_on(const struct signals *signals);

/*
 * That child was forked: there is nothing more to hand on. Returns a signal of
 * these that ends the series, or 0.
 */
int signals_handed_on(struct signals *signals);

/* Whether a signal is one of job control that stops: TSTP, TTIN or TTOU. */
bool signals_stops(int number);

/*
 * Stops as by this signal, until somebody continues us. Returns for how long
 * that was: 0 where it stops nobody, as in an orphaned process group or process
 * 1, and where somebody continues us just now.
 */
nanos signals_stop(const struct signals *signals, int number);

/* Whether a signal ends the series: HUP, INT, QUIT or TERM. */
bool signals_end_series(int number);

/*
 * Dies of a signal, without a core, so that the caller sees how the command
 * died. As PID 1, which cannot, exits with 128 + number.
 */
_Noreturn void signals_die(int number);

#endif
