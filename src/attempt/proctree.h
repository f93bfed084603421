/*
 * proctree: finds and signals all processes of an attempt, or of a hook.
 *
 * These are the child, its descendants in any session, and the orphans that
 * retry has adopted since the child began. Excluded are older children of
 * retry, and daemons, both with their descendants. A daemon is an orphan in a
 * session in which all processes of the attempt are orphans.
 */
#ifndef PROCTREE_H
#define PROCTREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* How many processes a list has room for before it has to grow. */
#define PROCTREE_FIRST 256

/* One process. A later process with the same number has another start. */
struct member {
	pid_t pid, session;
	int64_t start; /* see procfs.h; 0: not known */
};

/* A list that grows in mappings of its own, which end with retry. */
struct members {
	size_t count, room;
	struct member *list; /* first, or a mapping */
	struct member first[PROCTREE_FIRST];
};

/*
 * Lists for sweeps, too large for a stack: processes not to be signalled, those
 * known to be of the attempt, those just found, and those signalled already.
 */
struct sweep {
	struct members excluded, known, found, signalled;
	int number; /* the signal of the limit */
	int64_t reached; /* when the limit was reached, as a start */
};

/* What a sweep found of an attempt, the child not counted. */
struct proctree {
	int living;
	bool unsure; /* processes came or went meanwhile: look again */
	pid_t one; /* a living process, or 0 */
	pid_t refused; /* a process that may not be signalled, or 0 */
};

/* Makes the lists empty, before anything else. */
void proctree_start(struct sweep *sweep);

/*
 * From now on retry adopts orphans among its descendants, so that it can find
 * them: PR_SET_CHILD_SUBREAPER in prctl(2).
 */
void proctree_adopt(void);

/*
 * Excludes, before an attempt begins, the descendants that retry has now: if
 * such a process becomes an orphan later, retry adopts it, and it would look
 * like one of the attempt.
 */
void proctree_exclude(struct sweep *sweep);

/*
 * Excludes the daemons of an attempt. To be called when a limit is reached,
 * before any process is signalled: a process that becomes an orphan after that
 * lost its parent to the signal, and is no daemon.
 */
void proctree_exclude_daemons(struct sweep *sweep, pid_t child);

/*
 * Sends a signal, and then CONT, once to each process of the attempt of child.
 * If number is 0, only those get it, as the last signal, that were there when
 * the limit was reached and that no sweep has found yet. child must not be
 * reaped yet. Reaps dead orphans. Without /proc, signals the child only.
 */
struct proctree proctree_sweep(struct sweep *sweep, pid_t child, int number);

#endif
