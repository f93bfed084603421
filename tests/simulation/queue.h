/*
 * queue: the events of a simulation, by time; those of one instant in the order
 * in which they were put there. A binary heap.
 */
#ifndef QUEUE_H
#define QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "text/duration.h"

struct event {
	nanos at;
	uint32_t who;
	uint32_t what;
	uint64_t number; /* so many were put before */
};

/* All zero: empty. Who has no more use for it frees the events. */
struct queue {
	struct event *events;
	size_t count, room;
	uint64_t put; /* how many were, until now */
};

/* Memory that cannot be had ends the program. */
void queue_put(struct queue *queue, nanos at, uint32_t who, uint32_t what);

/* False: the queue is empty. */
bool queue_take(struct queue *queue, struct event *event);

#endif
