/*
 * queue: the events of a simulation, by time; those of one instant in the order
 * in which they were put there. A radix heap (Ahuja,
 * Mehlhorn, Orlin, Tarjan, "Faster algorithms for the shortest path problem",
 * 1990): nothing is ever put before what was taken last, and so an event moves
 * a few times within arrays instead of up and down a tree.
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
};

/* Events whose time differs from the last one's in bit n - 1 and none above. */
struct rank {
	struct event *events;
	size_t count, room;
};

#define QUEUE_RANKS 64

struct queue {
	nanos last; /* when what was taken last was due */
	size_t taken; /* of rank 0 */
	struct rank ranks[QUEUE_RANKS];
};

/* Memory that cannot be had ends the program. */
void queue_start(struct queue *queue);
void queue_end(struct queue *queue);

/* event.at: at least 0, and not before the event that was taken last. */
void queue_put(struct queue *queue, struct event event);

/* False: the queue is empty. */
bool queue_take(struct queue *queue, struct event *event);

#endif
