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
#include "duration.h"

/* So many pending signals go to the command; more are heard as if sent now. */
#define SIGNALS_PENDING 32

struct signals {
	int fd;
	sigset_t inherited; /* the mask that the command gets */
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
 * and its like) are left alone, and so are the signals of job control, which
 * stop retry as they stop any program.
 */
bool signals_open(struct signals *signals);

/*
 * Waits for a signal, for nap to pass, 30 s at most, or for what fds ask of
 * poll(2), which is answered there; fds[0] is ours to fill in. With a nap of 0
 * or less only looks. A signal that was ignored on entry is not heard.
 */
struct wakeup signals_wait(
    const struct signals *signals, struct pollfd *fds, size_t count, nanos nap);

/*
 * In the child: dispositions and mask as we found them, in this order, so that
 * no signal meets a disposition that was never meant for it.
 */
void signals_restore(const struct signals *signals);

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

/* Whether a signal ends the series: HUP, INT, QUIT or TERM. */
bool signals_end_series(int number);

/*
 * Dies of a signal, without a core, so that the caller sees how the command
 * died. As PID 1, which cannot, exits with 128 + number.
 */
_Noreturn void signals_die(int number);

#endif
