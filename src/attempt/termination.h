/*
 * termination: how an attempt or a hook ends that does not end by itself: all
 * of its processes get a signal, later KILL, and are watched until they are
 * gone.
 */
#ifndef TERMINATION_H
#define TERMINATION_H

#include <stdbool.h>
#include "text/duration.h"
#include "output/log.h"
#include "attempt/proctree.h"

enum termination_stage {
	TERMINATION_AHEAD, /* none was reached */
	TERMINATION_ASKED, /* the signal is sent */
	TERMINATION_KILLED,
	TERMINATION_STUCK, /* KILL did not help, or may not be sent */
	TERMINATION_LEFT, /* past the deadline: given up */
};

struct termination {
	enum termination_stage stage;
	pid_t child;
	bool dead; /* the child; not yet reaped once a limit was reached */
	bool named; /* who holds things up was told */
	nanos next; /* event_loop_now: when the stage is over */
	struct proctree proctree; /* the child's tree */
};

/* What a limit needs to know of its surroundings. */
struct termination_means {
	int signal; /* to begin with, and how long before KILL */
	nanos kill_after;
	struct sweep *sweep;
	struct log *log;
	const char *what, *label; /* "attempt ", "2/4": whose, in messages */
};

/* The limit is reached. now: event_loop_now. */
void termination_reach(struct termination *limit,
    const struct termination_means *means, nanos now);

/*
 * Does what is due at a later time, or after a child of ours has died. late:
 * the deadline is past.
 */
void termination_press(struct termination *limit,
    const struct termination_means *means, nanos now, bool late);

/* How long to wait before termination_press is due again; NANOS_MAX: it is not.
 */
nanos termination_nap(const struct termination *limit, nanos now);

/* Whether the attempt is over. */
bool termination_over(const struct termination *limit);

#endif
