/*
 * event_loop: the one wait of retry. Whatever it waits for, signals are heard,
 * and what is to be read or written without blocking flows.
 */
#ifndef EVENT_LOOP_H
#define EVENT_LOOP_H

#include "store/budget_client.h"
#include "output/log.h"
#include "streams/streams.h"
#include "sys/signals.h"

struct event_loop {
	struct signals signals;
	struct log log;
	struct streams streams;
	struct budget_client budget;
};

/* Waits for a signal or for nap to pass, 30 s at most; with 0 or less looks. */
struct wakeup event_loop_wait(struct event_loop *loop, nanos nap);

/* The same, and no longer than until fd has room for something. */
struct wakeup event_loop_wait_room(struct event_loop *loop, int fd, nanos nap);

#endif
