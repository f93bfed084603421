/*
 * job_control: when retry stops because the command has stopped.
 *
 * The command decides whether and when it stops, so retry waits until it has.
 * If retry got no signal to stop, it stops only if a shell waits for that: no
 * other process would continue it, and no limit would act any more. A command
 * in another process group does not get the signals of the terminal: then retry
 * stops alone.
 */
#ifndef JOB_CONTROL_H
#define JOB_CONTROL_H

#include <stdbool.h>
#include <sys/types.h>
#include "sys/signals.h"

/* Of one attempt; zero at its start. */
struct job_control {
	bool halted; /* retry got a signal to stop, as the command did */
};

/*
 * After each wait: the signal by which retry has to stop now, or 0. dead: the
 * child is dead.
 */
int job_control_stops(struct job_control *job, const struct wakeup *wakeup,
    pid_t child, bool dead);

#endif
