/*
 * forwarding: passes on to the command the signals that only retry gets.
 */
#ifndef FORWARDING_H
#define FORWARDING_H

#include <sys/types.h>
#include "sys/signals.h"

/*
 * Sends the signal of wakeup to the child, unless the child has it already:
 * from its own call, or because the sender has signalled the process group. The
 * child must not be reaped yet. signals are those of retry.
 */
void forwarding_pass(
    struct signals *signals, const struct wakeup *wakeup, pid_t child);

#endif
