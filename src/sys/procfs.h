/*
 * procfs: what /proc tells of processes, read without allocating, and the names
 * that it has for our descriptors.
 */
#ifndef PROCFS_H
#define PROCFS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include "text/number.h"

struct procfs {
	pid_t parent, session;
	int64_t start; /* in ticks since boot; with the pid, an identity */
	bool dead; /* and not yet buried */
};

enum procfs_look {
	PROCFS_GONE,
	PROCFS_HIDDEN, /* it is there, but /proc does not show it */
	PROCFS_SEEN,
};

/* Room for the name of a descriptor, the closing NUL included. */
#define PROCFS_NAME (sizeof "/proc/self/fd/" + NUMBER_ROOM)

/* Looks a process up. Hidden ones have a session and nothing else. */
enum procfs_look procfs_look(struct procfs *proc, pid_t pid);

/*
 * The number that /proc has for the process that is pid to us: another one in
 * a namespace that was given no /proc of its own. 0 where /proc does not show
 * it, or that cannot be known.
 */
pid_t procfs_number(pid_t pid);

/*
 * Whether a process, by its number in /proc, has our CLOCK_BOOTTIME, on which
 * /proc tells us when it began. One of another user does not say; but out of
 * the first time namespace the way leads only downwards.
 */
bool procfs_same_clock(pid_t pid);

/*
 * Calls each for every child of a process, whichever of its threads has it;
 * the children of one thread come in order of birth or adoption. Returns
 * false if they cannot be known.
 */
bool procfs_children(
    pid_t parent, void (*each)(void *to, pid_t pid, pid_t parent), void *to);

/* Whether /proc can tell who our own children are. */
bool procfs_visible(void);

/*
 * The process group in the foreground of our terminal; -1 where there is none,
 * or nothing is known.
 */
pid_t procfs_foreground(void);

/*
 * Calls each for the names in a directory, until it returns false. Whether it
 * never did, and all could be read.
 */
bool
procfs_list(int directory, bool (*each)(void *to, const char *name), void *to);

/* Opens the directory of a process's descriptors, or -1. */
int procfs_open_descriptors(pid_t pid);

/*
 * Writes where a descriptor of a process stands in its file, as a line of text
 * to be compared. False where that is not to be known.
 */
bool procfs_position(char *room, size_t size, pid_t pid, int fd);

/* The file behind a descriptor of ours, by a name that opens it once more. */
char *procfs_name(char room[PROCFS_NAME], int fd);

/* The descriptor of ours that a path is such a name of, or -1. */
int procfs_descriptor(const char *path);

#endif
