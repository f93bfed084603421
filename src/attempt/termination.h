/*
 * termination: how an attempt or a hook ends that does not end by itself: all of its
 * processes get a signal, later KILL, and are watched until they are gone.
 */
#ifndef TERMINATION_H
#define TERMINATION_H

#include <stdbool.h>
#include "text/duration.h"
#include "output/log.h"
#include "attempt/proctree.h"

enum limit_stage {
	LIMIT_AHEAD, /* none was reached */
	LIMIT_ASKED, /* the signal is sent */
	LIMIT_KILLED,
	LIMIT_STUCK, /* KILL did not help, or may not be sent */
	LIMIT_LEFT, /* past the deadline: given up */
};

struct limit {
	enum limit_stage stage;
	pid_t child;
	bool dead; /* the child; not yet reaped once a limit was reached */
	bool named; /* who holds things up was told */
	nanos next; /* on CLOCK_MONOTONIC: when the stage is over */
	struct tree tree; /* the child's tree */
};

/* What a limit needs to know of its surroundings. */
struct limit_means {
	int signal; /* to begin with, and how long before KILL */
	nanos kill_after;
	struct muster *muster;
	struct lines *lines;
	const char *what, *label; /* "attempt ", "2/4": whose, in messages */
};

/* The limit is reached. now: CLOCK_MONOTONIC. */
void
limit_reach(struct limit *limit, const struct limit_means *means, nanos now);

/*
 * Does what is due at a later time, or after a child of ours has died. late:
 * the deadline is past.
 */
void limit_press(
    struct limit *limit, const struct limit_means *means, nanos now, bool late);

/* How long to wait before limit_press is due again; NANOS_MAX: it is not. */
nanos limit_nap(const struct limit *limit, nanos now);

/* Whether the attempt is over. */
bool limit_over(const struct limit *limit);

#endif
