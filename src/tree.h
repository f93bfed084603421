/*
 * tree: the processes of an attempt: the child, even in a session of its own,
 * what descends from it, and the orphans that came to us since. Spared are the
 * processes that we had before it, with what descends from them, and whatever
 * has left both our session and the child's: daemons.
 */
#ifndef TREE_H
#define TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* The most processes that one look takes in. */
#define TREE_MOST 1024

/* One process, whoever has its number later. */
struct member {
	pid_t pid;
	int64_t start; /* see proc.h; 0: not known */
};

struct members {
	size_t count;
	struct member list[TREE_MOST];
};

/* Room for whom sweeps find, and have to spare: too much for a stack. */
struct muster {
	struct members spared, found, told;
};

/* What is left of an attempt, the child not counted. */
struct tree {
	int living;
	bool unsure; /* somebody came or went while we looked: look again */
	pid_t one; /* of the living, or 0 */
	pid_t refused; /* one that may not be signalled, or 0 */
};

/*
 * Makes orphans of our descendants our own children from now on, so that they
 * can be found. PR_SET_CHILD_SUBREAPER in prctl(2).
 */
void tree_adopt(void);

/*
 * Notes, before an attempt begins, whom it has to spare: should one of them be
 * orphaned meanwhile it comes to us, and looks like the attempt's.
 */
void tree_note(struct members *spared);

/*
 * Sends a signal, and CONT after it, to each process of the attempt whose
 * child is given (alive, or dead and not yet reaped), once; with 0 only looks.
 * Dead orphans are reaped. Where /proc shows nothing, only the child is
 * signalled.
 */
struct tree tree_sweep(struct muster *muster, pid_t child, int number);

#endif
