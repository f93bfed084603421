/*
 * tree: the processes of an attempt, as /proc shows them: the child, even in a
 * session of its own, what descends from it, and the orphans that came to us
 * since. Spared are children that we had before it, and whatever has left both
 * our session and the child's: daemons.
 */
#ifndef TREE_H
#define TREE_H

#include <stdbool.h>
#include <sys/types.h>

/* What an attempt consists of, the child not counted. */
struct tree {
	int living; /* or about to: more than 0 while any may be left */
	pid_t one; /* of them; 0: none is known by its number */
	pid_t refused; /* one that may not be signalled, or 0 */
};

/*
 * Makes orphans of our descendants our own children from now on, so that they
 * can be found. PR_SET_CHILD_SUBREAPER in prctl(2).
 */
void tree_adopt(void);

/* Whether /proc tells who our children are. */
bool tree_visible(void);

/*
 * Sends a signal, 0 for none, to each living process of the attempt whose
 * child is given (alive, or dead and not yet reaped), CONT after it; dead
 * orphans are reaped. Returns what is left of it, and is to be called again
 * while that is more than nothing. Without /proc only the child is signalled.
 */
struct tree tree_signal(pid_t child, int number);

#endif
