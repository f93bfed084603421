/*
 * proctree: the processes of an attempt: the child, what descends from it, in
 * whatever session, and the orphans that came to us since. Spared are the
 * processes that we had before it, and daemons, each with what descends from
 * them. A daemon is an orphan in a session in which nobody is of the attempt
 * who is no orphan.
 */
#ifndef PROCTREE_H
#define PROCTREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* The most processes that one look takes in. */
#define PROCTREE_MOST 1024

/* One process, whoever has its number later. */
struct member {
	pid_t pid, session;
	int64_t start; /* see proc.h; 0: not known */
};

struct members {
	size_t count;
	struct member list[PROCTREE_MOST];
};

/*
 * Room for whom sweeps have to spare, whom they know to be of the attempt, and
 * whom they find: too much for a stack.
 */
struct sweep {
	struct members spared, known, found, told;
};

/* What is left of an attempt, the child not counted. */
struct proctree {
	int living;
	bool unsure; /* somebody came or went while we looked: look again */
	pid_t one; /* of the living, or 0 */
	pid_t refused; /* one that may not be signalled, or 0 */
};

/*
 * Makes orphans of our descendants our own children from now on, so that they
 * can be found. PR_SET_CHILD_SUBREAPER in prctl(2).
 */
void proctree_adopt(void);

/*
 * Notes, before an attempt begins, whom it has to spare: should one of them be
 * orphaned meanwhile it comes to us, and looks like the attempt's.
 */
void proctree_note(struct members *spared);

/*
 * Notes, as a limit is reached and before it has ended anybody, which daemons
 * there are, to be spared. Who becomes an orphan later does so because a parent
 * who waited for it was told to end, and is no daemon.
 */
void proctree_settle(struct sweep *sweep, pid_t child);

/*
 * Sends a signal, and CONT after it, to each process of the attempt whose
 * child is given (alive, or dead and not yet reaped), once; with 0 only looks.
 * Dead orphans are reaped. Where /proc shows nothing, only the child is
 * signalled.
 */
struct proctree proctree_sweep(struct sweep *sweep, pid_t child, int number);

#endif
