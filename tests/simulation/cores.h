/*
 * cores: which process runs when several want the cores of a machine, in
 * virtual time.
 *
 * A core does each piece of work without a break. There are two kinds of work.
 * As long as a process waits that has slept, no other one gets a core: that is
 * what schedulers do for those that have used least of it. So if a thousand
 * retries are due, all of them fork before the first of their commands runs.
 * Work of one kind is done in the order in which it came.
 */
#ifndef CORES_H
#define CORES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "text/duration.h"

enum kind {
	KIND_WOKEN, /* of a process that has slept */
	KIND_BEGUN, /* of one that a process has just started */
	KINDS,
};

struct piece {
	nanos cost; /* of one core */
	uint32_t who, what;
};

/* Pieces that wait, the oldest one first; a ring. */
struct line {
	struct piece *pieces;
	size_t first, count, room;
};

struct cores {
	int64_t idle;
	struct line lines[KINDS];
};

/* Memory that cannot be had ends the program. */
void cores_start(struct cores *cores, int64_t count);
void cores_end(struct cores *cores);

/* True: a core begins with the piece now. Else it waits. */
bool
cores_offer(struct cores *cores, enum kind kind, const struct piece *piece);

/* A core has ended its piece. True if it begins with another one now. */
bool cores_next(struct cores *cores, struct piece *piece);

#endif
