#include "pump.h"

struct wakeup
pump_wait(struct pump *pump, nanos nap)
{
	struct pollfd fds[] = { { 0 }, lines_pollfd(&pump->lines) };
	struct wakeup wakeup =
	    signals_wait(&pump->signals, fds, sizeof fds / sizeof *fds, nap);

	if (fds[1].revents != 0)
		lines_flush(&pump->lines);
	return wakeup;
}
