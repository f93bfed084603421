/*
 * signals: blocks all signals and reads them from a signalfd in the one wait.
 *
 * So no signal is lost between two system calls, and no disposition has to be
 * changed and restored.
 */
#ifndef SIGNALS_H
#define SIGNALS_H

#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include "text/duration.h"

/* The most signals that one wait reads. However many come, the clock is looked
 * at then. */
#define SIGNALS_READ 64

struct signals {
	int fd;
	pid_t self; /* the process of retry */
	sigset_t heard; /* blocked, and read from fd */
	sigset_t inherited; /* the mask that the command gets */
	sigset_t early; /* pending before the command was forked */
	bool accompanied; /* a command runs: the caller decides on stops */
	bool child_ignored; /* SIGCHLD was ignored on entry */
	bool continued; /* CONT was read since the instant awake */
	nanos awake; /* CLOCK_MONOTONIC; what was stopped before it is known */
	nanos stopped; /* how long retry itself was stopped, in all */
};

/* Why a wait ended. */
struct wakeup {
	int signal; /* 0: none */
	int code; /* its si_code */
	pid_t sender; /* its si_pid */
	int value; /* the value sent with it, if code is SI_QUEUE */
	bool ignored; /* on entry; then it is for the command alone */
};

/*
 * Blocks all signals but ABRT and faults (SEGV and the like), and opens the
 * signalfd. What is pending because the caller has blocked it counts as sent to
 * retry now. False, with errno, if the kernel refuses.
 */
bool signals_open(struct signals *signals);

/* CLOCK_MONOTONIC without the time for which retry itself was stopped. */
nanos signals_now(struct signals *signals);

/*
 * Waits for a signal, for nap to pass, 30 s at most, or for events of fds, as
 * poll(2), which fills in revents; an fd of -1 is nothing to wait for. fds[0]
 * is filled in here. With a nap of 0 or less it does not wait. TSTP, TTIN and
 * TTOU stop retry here, as any program; where accompanied, they are returned
 * like other signals, and so are signals that were ignored on entry.
 */
struct wakeup signals_wait(
    struct signals *signals, struct pollfd *fds, size_t count, nanos nap);

/*
 * In the child: restores dispositions, then the mask, as they were on entry. In
 * this order each signal has the disposition that the caller has set.
 */
void signals_restore(const struct signals *signals);

/*
 * In a child of vfork(2), before signals_restore(): the signals that stop it
 * are held until it has executed a program, which has their dispositions of
 * before; for its parent waits until then, and could not stop, too. And in the
 * parent: sends the one that was held to the child.
 */
void signals_hold_stops(void);
void signals_stop_late(pid_t child);

/* Whether a signal waits to be read. */
bool signals_pend(void);

/*
 * To be called right before a fork: notes which signals are pending. Even if
 * they were sent to the whole process group, the child did not get them.
 * Returns signals_now().
 */
nanos signals_note(struct signals *signals);

/* Whether signals_note has noted this signal; true once. */
bool signals_early(struct signals *signals, int signal);

/*
 * In the child that parent has just forked: the child gets this signal when
 * parent dies. Ends the child if parent is dead already.
 */
void signals_die_with(pid_t parent, int signal);

/* Whether a signal stops a job: TSTP, TTIN or TTOU. */
bool signals_stops(int signal);

/*
 * Stops retry by this signal until CONT. It has no effect in an orphaned
 * process group, in process 1, or if CONT is pending.
 */
void signals_stop(const struct signals *signals, int signal);

/* Whether a signal ends the series: HUP, INT, QUIT or TERM, or ALRM of a timer,
 * which a program can have inherited only: alarm(2). */
bool signals_end_series(const struct wakeup *wakeup);

/*
 * Dies of a signal, without a core file, so that the caller sees how the
 * command died. Process 1 does not die of signals: it exits with 128 + signal.
 */
_Noreturn void signals_die(int signal);

#endif
