/*
 * pump: the one wait of retry. Whatever it waits for, signals are heard, and
 * what is to be read or written without blocking flows.
 */
#ifndef PUMP_H
#define PUMP_H

#include "lines.h"
#include "budget.h"
#include "signals.h"
#include "streams.h"

struct pump {
	struct signals signals;
	struct lines lines;
	struct streams streams;
	struct budget budget;
};

/* Waits for a signal or for nap to pass, 30 s at most. */
struct wakeup pump_wait(struct pump *pump, nanos nap);

#endif
