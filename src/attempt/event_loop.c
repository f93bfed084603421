#include "attempt/event_loop.h"

#include "sys/sys.h"
#include "text/number.h"

/* The lesser of nap and the time until the probe's lease is to be renewed. */
static nanos
until_renewal(const struct event_loop *loop, nanos nap)
{
	if (loop->budget.caller.lease == 0)
		return nap;
	return number_lesser(
	    nap, budget_client_nap(&loop->budget, sys_now(CLOCK_BOOTTIME)));
}

struct wakeup
event_loop_wait_room(struct event_loop *loop, int fd, nanos nap)
{
	struct pollfd fds[3 + STREAMS_POLLED];
	struct wakeup wakeup;
	size_t count;

	fds[1] = log_pollfd(&loop->log);
	fds[2] = (struct pollfd){ .fd = fd, .events = POLLOUT };
	count = 3 + streams_poll(&loop->streams, fds + 3);
	wakeup =
	    signals_wait(&loop->signals, fds, count, until_renewal(loop, nap));
	if (loop->budget.caller.lease != 0)
		budget_client_renew(&loop->budget, sys_now(CLOCK_BOOTTIME));
	if (fds[1].revents != 0)
		log_flush(&loop->log);
	streams_serve(&loop->streams, fds + 3);
	return wakeup;
}

struct wakeup
event_loop_wait(struct event_loop *loop, nanos nap)
{
	return event_loop_wait_room(loop, -1, nap);
}
