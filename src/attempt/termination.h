/*
 * termination: ends an attempt or a hook, with all of its processes.
 *
 * These are the child, its descendants in any session, and the orphans that
 * retry has adopted since the child began. Excluded are older children of
 * retry, and daemons, both with their descendants. A daemon is an orphan in a
 * session in which all processes of the attempt are orphans.
 *
 * All processes get a signal, and later KILL. They are watched until they are
 * gone.
 */
#ifndef TERMINATION_H
#define TERMINATION_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "attempt/event_loop.h"
#include "text/duration.h"

/* For how many processes there is room. Others are not found. */
#define TERMINATION_MOST 65536

enum termination_stage {
	TERMINATION_NONE, /* no limit was reached */
	TERMINATION_SIGNALLED, /* the signal was sent */
	TERMINATION_KILLED, /* KILL was sent */
	TERMINATION_UNKILLABLE, /* KILL did not help, or may not be sent */
	TERMINATION_ABANDONED, /* the child lives, past the deadline */
};

/* A process. A later process with the same number has another start. */
struct member {
	pid_t pid, session;
	int64_t start; /* see procfs.h; 0: not known */
	bool excluded; /* it must not be signalled */
	bool found; /* by the latest look: it is of the attempt, and lives */
	bool known; /* found by the last look for daemons */
	bool daemon; /* perhaps: an orphan that may not be of the attempt */
	bool listed; /* its children have been looked at */
	bool signalled; /* it got the latest signal */
};

struct termination {
	struct event_loop *loop;
	int signal; /* the first one */
	nanos kill_after; /* the time from signal to KILL */
	const char *what, *label; /* in messages: "attempt ", "2/4" */

	enum termination_stage stage;
	pid_t child;
	bool dead; /* the child is dead; after a limit it is not reaped yet */
	siginfo_t info; /* how the child ended, once it is dead */
	bool
	    keeps; /* a dead child is not reaped: its orphans may have to end */
	bool named; /* a message has named the child, which does not end */
	nanos next; /* when the stage is over, by signals_now */

	/* What the latest looks found, the child not counted: */
	int living;
	bool unsure; /* processes came or went meanwhile: look again */

	pid_t sessions[2]; /* of retry and of the child */
	bool sorted; /* daemons are excluded: all others are of the attempt */
	int64_t reached; /* when the latest signal was sent, as a start */

	size_t count; /* of the list, which is NULL until it has one */
	struct member *list;
};

/* Fills it in, for all attempts or hooks. */
void termination_open(struct termination *tree, struct event_loop *loop,
    int signal, nanos kill_after);

/*
 * To be called before a child is forked. may_end: the child may have to be
 * ended. The descendants that retry has now are excluded then: if one of them
 * becomes an orphan later, retry adopts it, and it would look like one of the
 * attempt.
 */
void termination_prepare(struct termination *tree, const char *what,
    const char *label, bool may_end);

/*
 * Looks whether the child is dead. One that is kept, or that a limit has ended,
 * is not reaped before its tree is gone: until then no other process gets its
 * number.
 */
bool termination_reap(struct termination *tree);

/*
 * Begins, because a limit is reached, or because the child is dead, and what it
 * has left has to end. From now on retry adopts orphans among its descendants.
 */
void termination_start(struct termination *tree);

/*
 * Does what is due; to be called when termination_nap is over or a child of
 * retry has died. late: the deadline is past.
 */
void termination_advance(struct termination *tree, bool late);

/* How long until termination_advance() is due again; NANOS_MAX: never. */
nanos termination_nap(const struct termination *tree);

/*
 * Whether there is no more to wait for: the child is dead and its tree is gone
 * or cannot be killed, or the child is abandoned.
 */
bool termination_over(const struct termination *tree);

#endif
