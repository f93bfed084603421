/*
 * event_loop: the one wait of retry. Whatever it waits for, signals are heard, and
 * what is to be read or written without blocking flows.
 */
#ifndef EVENT_LOOP_H
#define EVENT_LOOP_H

#include "store/budget_client.h"
#include "output/log.h"
#include "streams/streams.h"
#include "sys/signals.h"

struct pump {
	struct signals signals;
	struct lines lines;
	struct plumbing plumbing;
	struct budget budget;
};

/* Waits for a signal or for nap to pass, 30 s at most; with 0 or less looks. */
struct wakeup pump_wait(struct pump *pump, nanos nap);

/* The same, and no longer than until fd has room for something. */
struct wakeup pump_wait_room(struct pump *pump, int fd, nanos nap);

#endif
