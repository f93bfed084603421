#include "pump.h"

struct wakeup
pump_wait(struct pump *pump, nanos nap)
{
	struct pollfd fds[2 + STREAMS_POLLED];
	struct wakeup wakeup;
	size_t count;

	fds[1] = lines_pollfd(&pump->lines);
	count = 2 + streams_poll(&pump->streams, fds + 2);
	wakeup = signals_wait(&pump->signals, fds, count, nap);
	if (fds[1].revents != 0)
		lines_flush(&pump->lines);
	streams_serve(&pump->streams, fds + 2);
	return wakeup;
}
