#include "attempt/event_loop.h"

#include <sys/wait.h>
#include "sys/sys.h"
#include "text/number.h"

bool
event_loop_open(struct event_loop *loop)
{
	loop->child = 0;
	loop->stopped = 0;
	loop->link = NULL;
	return signals_open(&loop->signals);
}

nanos
event_loop_now(const struct event_loop *loop)
{
	return sys_now(CLOCK_MONOTONIC) - loop->stopped;
}

/* The lesser of nap and the time until the probe's lease is to be renewed, or
 * until a question to the fleet's server is over. */
static nanos
until_due(const struct event_loop *loop, nanos nap)
{
	if (loop->budget.caller.lease != 0)
		nap = number_lesser(nap,
		    budget_client_nap(&loop->budget, sys_now(CLOCK_BOOTTIME)));
	if (loop->link != NULL)
		nap = number_lesser(
		    nap, fleet_link_nap(loop->link, sys_now(CLOCK_BOOTTIME)));
	return nap;
}

static struct wakeup
hear(struct event_loop *loop, int fd, nanos nap)
{
	struct pollfd fds[4 + STREAMS_POLLED];
	_Static_assert(sizeof fds / sizeof *fds <= SIGNALS_POLLED, "too many");
	struct wakeup wakeup;
	size_t count;

	fds[1] = log_pollfd(&loop->log);
	fds[2] = (struct pollfd){ .fd = fd, .events = POLLOUT };
	fds[3] = (struct pollfd){ .fd = -1 };
	if (loop->link != NULL)
		fds[3] = fleet_link_pollfd(loop->link);
	count = 4 + streams_poll(&loop->streams, fds + 4);
	wakeup = signals_wait(&loop->signals, fds, count, until_due(loop, nap));
	loop->stopped = number_add(loop->stopped, wakeup.stopped);
	if (loop->budget.caller.lease != 0)
		budget_client_renew(&loop->budget, sys_now(CLOCK_BOOTTIME));
	if (fds[1].revents != 0)
		log_flush(&loop->log);
	if (loop->link != NULL)
		fleet_link_serve(
		    loop->link, fds[3].revents, sys_now(CLOCK_BOOTTIME));
	streams_serve(&loop->streams, fds + 4);
	return wakeup;
}

struct wakeup
event_loop_hear(struct event_loop *loop, nanos nap)
{
	return hear(loop, -1, nap);
}

int
event_loop_wait_room(struct event_loop *loop, int fd, nanos nap)
{
	int number = hear(loop, fd, nap).signal;

	/* A signal that ends the series may come right behind another one. */
	while (number != 0 && !signals_end_series(number)) {
		if (number == SIGCHLD)
			event_loop_reap(loop);
		number = hear(loop, fd, 0).signal;
	}
	return number;
}

int
event_loop_wait(struct event_loop *loop, nanos nap)
{
	return event_loop_wait_room(loop, -1, nap);
}

int
event_loop_await_input(struct event_loop *loop, nanos deadline)
{
	nanos left = 1;
	int number = 0;

	while (number == 0 && left > 0 &&
	    !stdin_source_ready(&loop->streams.input)) {
		left = deadline - sys_now(CLOCK_BOOTTIME);
		number = event_loop_wait(loop, left);
	}
	return number;
}

int
event_loop_await_budget(struct event_loop *loop)
{
	int number = 0;
	nanos nap;

	while (number == 0 && (nap = budget_client_settle(&loop->budget)) > 0)
		number = event_loop_wait(loop, nap);
	return number;
}

int
event_loop_await_link(struct event_loop *loop)
{
	int number = 0;

	while (number == 0 && loop->link->end == FLEET_LINK_PENDING)
		number = event_loop_wait(loop, NANOS_MAX);
	return number;
}

int
event_loop_await_log(struct event_loop *loop, nanos patience)
{
	nanos until = event_loop_now(loop) + patience, left;
	int number = 0;

	while (number == 0 && loop->log.length > 0 &&
	    (left = until - event_loop_now(loop)) > 0)
		number = event_loop_wait(loop, left);
	return number;
}

void
event_loop_stop(struct event_loop *loop, int number)
{
	loop->stopped =
	    number_add(loop->stopped, signals_stop(&loop->signals, number));
}

void
event_loop_reap(const struct event_loop *loop)
{
	siginfo_t info;

	for (;;) {
		info.si_pid = 0;
		if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) ==
			-1 ||
		    info.si_pid == 0 || info.si_pid == loop->child)
			return;
		waitid(P_PID, (id_t)info.si_pid, NULL, WEXITED | WNOHANG);
		if (loop->link != NULL)
			fleet_link_reaped(loop->link, info.si_pid);
	}
}
