#include "queue.h"

#include <err.h>
#include <stdlib.h>

void
queue_start(struct queue *queue)
{
	*queue = (struct queue){ 0 };
}

void
queue_end(struct queue *queue)
{
	for (size_t i = 0; i < QUEUE_RANKS; i++)
		free(queue->ranks[i].events);
	queue_start(queue);
}

static size_t
rank_of(nanos at, nanos last)
{
	uint64_t differs = (uint64_t)(at ^ last);

	return differs == 0
	    ? 0
	    : (size_t)(64 - __builtin_clzll((unsigned long long)differs));
}

static void
append(struct rank *rank, const struct event *event)
{
	if (rank->count == rank->room) {
		rank->room = rank->room == 0 ? 256 : 2 * rank->room;
		rank->events =
		    realloc(rank->events, rank->room * sizeof *rank->events);
		if (rank->events == NULL)
			err(1, "queue");
	}
	rank->events[rank->count++] = *event;
}

void
queue_put(struct queue *queue, struct event event)
{
	append(&queue->ranks[rank_of(event.at, queue->last)], &event);
}

static nanos
earliest(const struct rank *rank)
{
	nanos at = NANOS_MAX;

	for (size_t i = 0; i < rank->count; i++)
		if (rank->events[i].at < at)
			at = rank->events[i].at;
	return at;
}

/*
 * Time goes on to the next event. Those of the lowest rank move to lower ones
 * still; to all others the new time is as far as the old one was.
 */
static bool
move_on(struct queue *queue)
{
	struct rank *rank = NULL;

	queue->ranks[0].count = queue->taken = 0;
	for (size_t i = 1; i < QUEUE_RANKS && rank == NULL; i++)
		if (queue->ranks[i].count > 0)
			rank = &queue->ranks[i];
	if (rank == NULL)
		return false;
	queue->last = earliest(rank);
	for (size_t i = 0; i < rank->count; i++)
		queue_put(queue, rank->events[i]);
	rank->count = 0;
	return true;
}

bool
queue_take(struct queue *queue, struct event *event)
{
	struct rank *now = &queue->ranks[0];

	if (queue->taken == now->count && !move_on(queue))
		return false;
	*event = now->events[queue->taken++];
	return true;
}
