#include "attempt/event_loop.h"

#include <signal.h>
#include <sys/wait.h>
#include "sys/sys.h"
#include "text/number.h"

bool
event_loop_open(struct event_loop *loop)
{
	loop->child = loop->ending_signal = 0;
	loop->fleet = NULL;
	loop->lookout = NULL;
	return signals_open(&loop->signals);
}

static void
renew(const struct visit *visit, void *unused)
{
	(void)unused;
	admission_renew(visit);
}

struct wakeup
event_loop_hear(struct event_loop *loop, int fd, nanos nap)
{
	struct pollfd fds[4 + STREAMS_POLLED];
	const struct caller *caller = &loop->budget.caller;
	nanos now = sys_now(CLOCK_BOOTTIME);
	struct wakeup wakeup;
	size_t count;

	nap = number_lesser(nap, admission_nap(caller, now));
	fds[1] = log_pollfd(&loop->log);
	fds[2] = (struct pollfd){ .fd = fd, .events = POLLOUT };
	fds[3] = (struct pollfd){ .fd = -1 };
	if (loop->fleet != NULL) {
		nap = number_lesser(nap, link_nap(loop->fleet, now));
		fds[3] = link_pollfd(loop->fleet);
	}
	count = 4 + streams_poll(&loop->streams, fds + 4);
	if (relay_matches(&loop->streams.relay))
		nap = 0;
	wakeup = signals_wait(&loop->signals, fds, count, nap);
	now = sys_now(CLOCK_BOOTTIME);
	if (admission_nap(caller, now) == 0)
		budget_client_visit(&loop->budget, now, renew, NULL);
	if (fds[1].revents != 0)
		log_flush(&loop->log);
	if (loop->fleet != NULL)
		link_serve(loop->fleet, fds[3].revents, now);
	streams_serve(&loop->streams, fds + 4);
	return wakeup;
}

bool
event_loop_wait(struct event_loop *loop, int fd, nanos nap)
{
	/* A signal that ends the series may come right behind another one. But
	 * others may come so fast that reading them has no end. */
	for (int i = 0; i < SIGNALS_READ; i++) {
		struct wakeup wakeup =
		    event_loop_hear(loop, fd, i == 0 ? nap : 0);

		if (wakeup.signal == 0)
			return true;
		if (wakeup.signal == SIGCHLD)
			event_loop_reap(loop);
		if (!signals_end_series(&wakeup))
			continue;
		if (loop->ending_signal == 0)
			loop->ending_signal = wakeup.signal;
		return false;
	}
	return true;
}

bool
event_loop_await(struct event_loop *loop, nanos (*due)(struct event_loop *loop),
    nanos deadline)
{
	nanos left = 1, nap;

	while (left > 0 && (nap = due(loop)) > 0) {
		left = deadline - sys_now(CLOCK_BOOTTIME);
		if (!event_loop_wait(loop, -1, number_lesser(nap, left)))
			return false;
	}
	return true;
}

nanos
event_loop_input(struct event_loop *loop)
{
	return streams_reads(&loop->streams) ? NANOS_MAX : 0;
}

nanos
event_loop_budget(struct event_loop *loop)
{
	return budget_client_open(&loop->budget);
}

/* For event_loop_await(): until the question to the fleet's server is over. */
static nanos
wait_for_link(struct event_loop *loop)
{
	return link_asks(loop->fleet) ? NANOS_MAX : 0;
}

nanos
event_loop_log(struct event_loop *loop)
{
	return loop->log.length > 0 ? NANOS_MAX : 0;
}

bool
event_loop_await_greeting(struct event_loop *loop, nanos deadline)
{
	struct fleet_link *link = loop->fleet;
	bool calm;

	if (link == NULL || loop->budget.private)
		return true;
	do {
		link_greet(link, sys_now(CLOCK_BOOTTIME));
		calm = event_loop_await(loop, wait_for_link, deadline);
		link_settle(link, sys_now(CLOCK_BOOTTIME));
	} while (link->late);
	if (calm && link->dialog.answer.code == FLEET_SILENT) {
		log_say(&loop->log, LOUDNESS_QUIET,
		    STRINGS("fleet '", loop->log.policy->fleet.text,
			"': ", link->reason, "; command not run"));
		loop->budget.private = true;
	}
	return calm;
}

/* A question to the budget, and its answer. */
struct question {
	bool retry, granted; /* granted: by the fleet */
	struct admission *admission;
};

static void
ask(const struct visit *visit, void *with)
{
	struct question *question = with;

	*question->admission =
	    admission_ask(visit, question->retry, question->granted);
}

bool
event_loop_await_admission(struct event_loop *loop, bool retry, nanos deadline,
    struct admission *admission)
{
	struct fleet_link *link = loop->fleet;
	struct question question = { .retry = retry, .admission = admission };
	bool calm = true;

	*admission = (struct admission){ .answer = ADMISSION_GRANTED };
	if (loop->budget.caller.config->key == NULL)
		return true;
	if (!event_loop_await(loop, event_loop_budget, NANOS_MAX))
		return false;
	do {
		nanos now = sys_now(CLOCK_BOOTTIME);

		budget_client_visit(&loop->budget, now, ask, &question);
		question.granted = false;
		if (admission->answer != ADMISSION_PENDING)
			break;
		if (admission->fleet.decision == HOST_ASK) {
			link_ask(link, &link->caller.question, now);
			calm = event_loop_await(loop, wait_for_link, deadline);
			now = sys_now(CLOCK_BOOTTIME);
			/* If the server is silent, that is stored: with the
			 * next pass fleet_host_ask() decides without it. */
			question.granted = link_settle(link, now);
		} else {
			calm = event_loop_wait(loop, -1, admission->fleet.next);
		}
	} while (calm && sys_now(CLOCK_BOOTTIME) < deadline);

	/* The user is told once why the server does not answer. */
	if (admission->fleet.silent && !link->said &&
	    link->dialog.answer.code == FLEET_SILENT) {
		admission->silence = link->reason;
		link->said = true;
	}
	if (link != NULL && admission->answer != ADMISSION_GRANTED)
		link_close(link);
	return calm;
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
		if (loop->fleet != NULL)
			link_reaped(loop->fleet, info.si_pid);
		if (loop->lookout != NULL)
			lookout_reaped(loop->lookout, &info);
	}
}
