/*
 * event_loop: the one wait of retry, and the signal that ends the series.
 *
 * In each wait, for any event, the loop also reads signals, passes input and
 * output on, writes log lines, reaps orphans, renews the lease of the breaker's
 * probe and serves the link to the fleet's server.
 */
#ifndef EVENT_LOOP_H
#define EVENT_LOOP_H

#include "attempt/lookout.h"
#include "fleet/link.h"
#include "store/budget_client.h"
#include "output/log.h"
#include "streams/streams.h"
#include "sys/signals.h"

struct event_loop {
	struct fleet_link *fleet; /* NULL: no fleet shares the budget */
	struct lookout *lookout; /* NULL: targets are not waited for */
	pid_t child; /* reaped by the attempt or hook that it is; 0: none */
	/* The first signal that has ended a wait (HUP, INT, QUIT or TERM), of
	 * which retry dies in the end; 0: none. */
	int ending_signal;
	struct signals signals;
	struct log log;
	struct streams streams;
	struct budget_client budget;
};

/* Opens the signals. False, with errno, if the kernel refuses. */
bool event_loop_open(struct event_loop *loop);

/*
 * Waits for a signal, for input or output that can be passed on, for room to
 * write to fd (-1: no fd), or for nap to pass, 30 s at most; with 0 or less it
 * does not wait. False if a signal that ends the series has ended the wait;
 * loop->ending_signal keeps the first one. Other signals have no effect: they
 * are for the command, which does not run now.
 */
bool event_loop_wait(struct event_loop *loop, int fd, nanos nap);

/*
 * Waits until due() returns 0, or until the deadline on CLOCK_BOOTTIME. Any
 * other value of due() is how long to wait before it is called again. False if
 * a signal has ended the wait.
 */
bool event_loop_await(struct event_loop *loop,
    nanos (*due)(struct event_loop *loop), nanos deadline);

/* For event_loop_await(): until standard input is ready for the command; until
 * no other process creates the file of the budget, which is opened; until the
 * log's lines are written. */
nanos event_loop_input(struct event_loop *loop);
nanos event_loop_budget(struct event_loop *loop);
nanos event_loop_log(struct event_loop *loop);

/*
 * For --budget-required: asks the fleet's server whether it answers and could
 * grant a retry, and waits for that until the deadline. If not, this says why,
 * and the budget is not ready. False if a signal has ended the wait.
 */
bool event_loop_await_greeting(struct event_loop *loop, nanos deadline);

/*
 * Asks the budget, and the fleet that shares it, whether the next attempt may
 * begin, and waits for the answer until the deadline: then *admission may say
 * nothing yet. False if a signal has ended the wait.
 */
bool event_loop_await_admission(struct event_loop *loop, bool retry,
    nanos deadline, struct admission *admission);

/*
 * As event_loop_wait(), while the command runs: returns any signal, which
 * the caller may have to pass on to the command. Reaps no orphans.
 */
struct wakeup event_loop_hear(struct event_loop *loop, int fd, nanos nap);

/*
 * Reaps all dead children but loop->child. They may be orphans of attempts, if
 * retry is process 1 or has a limit of time, or if the caller has set
 * PR_SET_CHILD_SUBREAPER (prctl(2)), which outlasts an exec. Or they may be
 * children that retry had before its own exec; without retry, the command would
 * have had them.
 */
void event_loop_reap(const struct event_loop *loop);

#endif
