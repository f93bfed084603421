#include "attempt/event_loop.h"

#include "sys/sys.h"
#include "text/number.h"

/* The lesser of nap and the time until the probe's lease is to be renewed. */
static nanos
until_renewal(const struct pump *pump, nanos nap)
{
	if (pump->budget.caller.lease == 0)
		return nap;
	return number_lesser(
	    nap, budget_nap(&pump->budget, context_now(CLOCK_BOOTTIME)));
}

struct wakeup
pump_wait_room(struct pump *pump, int fd, nanos nap)
{
	struct pollfd fds[3 + PLUMBING_POLLED];
	struct wakeup wakeup;
	size_t count;

	fds[1] = lines_pollfd(&pump->lines);
	fds[2] = (struct pollfd){ .fd = fd, .events = POLLOUT };
	count = 3 + plumbing_poll(&pump->plumbing, fds + 3);
	wakeup =
	    signals_wait(&pump->signals, fds, count, until_renewal(pump, nap));
	if (pump->budget.caller.lease != 0)
		budget_renew(&pump->budget, context_now(CLOCK_BOOTTIME));
	if (fds[1].revents != 0)
		lines_flush(&pump->lines);
	plumbing_serve(&pump->plumbing, fds + 3);
	return wakeup;
}

struct wakeup
pump_wait(struct pump *pump, nanos nap)
{
	return pump_wait_room(pump, -1, nap);
}
