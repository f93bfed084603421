/*
 * termination: ends an attempt or a hook.
 *
 * All processes get a signal, and later KILL. They are watched until they are
 * gone.
 */
#ifndef TERMINATION_H
#define TERMINATION_H

#include <stdbool.h>
#include "text/duration.h"
#include "output/log.h"
#include "attempt/proctree.h"

enum termination_stage {
	TERMINATION_NONE, /* no limit was reached */
	TERMINATION_SIGNALLED, /* the signal was sent */
	TERMINATION_KILLED, /* KILL was sent */
	TERMINATION_UNKILLABLE, /* KILL did not help, or may not be sent */
	TERMINATION_ABANDONED, /* the child lives, past the deadline */
};

struct termination {
	enum termination_stage stage;
	pid_t child;
	bool dead; /* the child is dead; after a limit it is not reaped yet */
	bool named; /* a message has named a process that does not end */
	nanos next; /* when the stage is over, by event_loop_now */
	struct proctree proctree; /* what the latest sweep found */
};

/* How an attempt or a hook is to be ended. */
struct termination_means {
	int signal; /* the first one */
	nanos kill_after; /* the time from signal to KILL */
	struct sweep *sweep;
	struct log *log;
	const char *what, *label; /* in messages: "attempt ", "2/4" */
};

/* Begins, because a limit is reached. now: event_loop_now. */
void termination_start(struct termination *limit,
    const struct termination_means *means, nanos now);

/*
 * Does what is due by now; to be called when termination_nap is over or a child
 * of retry has died. late: the deadline is past.
 */
void termination_advance(struct termination *limit,
    const struct termination_means *means, nanos now, bool late);

/* How long until termination_advance() is due again; NANOS_MAX: never. */
nanos termination_nap(const struct termination *limit, nanos now);

/*
 * Whether there is no more to wait for: the child is dead and its tree is gone
 * or cannot be killed, or the child is abandoned.
 */
bool termination_over(const struct termination *limit);

#endif
