/*
 * proc: what /proc tells of processes, read without allocating.
 */
#ifndef PROC_H
#define PROC_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct proc {
	pid_t parent, session;
	int64_t start; /* in ticks since boot; with the pid, an identity */
	bool dead; /* and not yet buried */
};

enum proc_look {
	PROC_GONE,
	PROC_HIDDEN, /* it is there, but /proc does not show it */
	PROC_SEEN,
};

/* Looks a process up. Hidden ones have a session and nothing else. */
enum proc_look proc_look(struct proc *proc, pid_t pid);

/*
 * Calls each for every child of a process, whichever of its threads has it;
 * the children of one thread come in order of birth or adoption. Returns
 * false if they cannot be known.
 */
bool proc_children(
    pid_t parent, void (*each)(void *to, pid_t pid, pid_t parent), void *to);

/* Whether /proc can tell who our own children are. */
bool proc_visible(void);

#endif
