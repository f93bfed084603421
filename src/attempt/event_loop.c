#include "attempt/event_loop.h"

#include <sys/wait.h>
#include "sys/sys.h"
#include "text/number.h"

bool
event_loop_open(struct event_loop *loop)
{
	loop->child = 0;
	loop->link = NULL;
	return signals_open(&loop->signals);
}

nanos
event_loop_now(struct event_loop *loop)
{
	return signals_now(&loop->signals);
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
		    nap, link_nap(loop->link, sys_now(CLOCK_BOOTTIME)));
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
		fds[3] = link_pollfd(loop->link);
	count = 4 + streams_poll(&loop->streams, fds + 4);
	wakeup = signals_wait(&loop->signals, fds, count, until_due(loop, nap));
	if (loop->budget.caller.lease != 0)
		budget_client_renew(&loop->budget, sys_now(CLOCK_BOOTTIME));
	if (fds[1].revents != 0)
		log_flush(&loop->log);
	if (loop->link != NULL)
		link_serve(loop->link, fds[3].revents, sys_now(CLOCK_BOOTTIME));
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

	while (number == 0 && (nap = budget_client_open(&loop->budget)) > 0)
		number = event_loop_wait(loop, nap);
	return number;
}

int
event_loop_await_link(struct event_loop *loop, nanos deadline)
{
	nanos left = 1;
	int number = 0;

	while (number == 0 && left > 0 && loop->link->end == LINK_PENDING) {
		left = deadline - sys_now(CLOCK_BOOTTIME);
		number = event_loop_wait(loop, left);
	}
	return number;
}

/* Asks the fleet's server, and stores what comes of that. */
static int
ask_fleet(struct event_loop *loop, struct fleet_client *fleet, nanos deadline)
{
	int number;

	fleet_client_ask(fleet, sys_now(CLOCK_BOOTTIME));
	number = event_loop_await_link(loop, deadline);
	fleet_client_store(fleet, sys_now(CLOCK_BOOTTIME));
	return number;
}

int
event_loop_await_admission(struct event_loop *loop, struct fleet_client *fleet,
    bool retry, nanos deadline, struct admission *admission)
{
	nanos now = sys_now(CLOCK_BOOTTIME);
	int number = 0;

	if (admission_concerns(&loop->budget.caller, retry, now))
		number = event_loop_await_budget(loop);
	if (number != 0)
		return number;
	do {
		now = sys_now(CLOCK_BOOTTIME);
		*admission = fleet != NULL
		    ? fleet_client_admit(fleet, retry, now)
		    : budget_client_admit(&loop->budget, retry, now);
		if (!admission_is_open(admission))
			return 0;
		number = admission->fleet.decision == HOST_ASK
		    ? ask_fleet(loop, fleet, deadline)
		    : event_loop_wait(loop, admission->fleet.next);
	} while (number == 0 && sys_now(CLOCK_BOOTTIME) < deadline);
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
			link_reaped(loop->link, info.si_pid);
	}
}
