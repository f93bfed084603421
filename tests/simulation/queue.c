#include "queue.h"

#include <err.h>
#include <stdlib.h>

static bool
is_before(const struct event *a, const struct event *b)
{
	return a->at != b->at ? a->at < b->at : a->number < b->number;
}

void
queue_put(struct queue *queue, nanos at, uint32_t who, uint32_t what)
{
	const struct event event = { at, who, what, queue->put++ };
	struct event *events = queue->events;
	size_t to = queue->count++;

	if (to == queue->room) {
		queue->room = to == 0 ? 256 : 2 * to;
		events = realloc(events, queue->room * sizeof *events);
		if (events == NULL)
			err(1, "queue");
		queue->events = events;
	}
	for (; to > 0 && is_before(&event, &events[(to - 1) / 2]);
	     to = (to - 1) / 2)
		events[to] = events[(to - 1) / 2];
	events[to] = event;
}

bool
queue_take(struct queue *queue, struct event *event)
{
	struct event *events = queue->events;
	size_t at = 0, next;
	struct event last;

	if (queue->count == 0)
		return false;
	*event = events[0];
	last = events[--queue->count];
	while ((next = 2 * at + 1) < queue->count) {
		if (next + 1 < queue->count &&
		    is_before(&events[next + 1], &events[next]))
			next++;
		if (!is_before(&events[next], &last))
			break;
		events[at] = events[next];
		at = next;
	}
	events[at] = last;
	return true;
}
