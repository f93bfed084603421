/*
 * procfs: reads processes and descriptors from /proc, without allocating.
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
	pid_t foreground; /* group of its terminal; 0 or less: none is known */
	int64_t start; /* in ticks since boot; with the pid, an identity */
	bool dead; /* the process is a zombie */
};

enum procfs_look {
	PROCFS_GONE,
	PROCFS_HIDDEN, /* it exists, but /proc does not show it */
	PROCFS_SEEN,
};

/* Room for the name of a descriptor, the closing NUL included. */
#define PROCFS_NAME (sizeof "/proc/self/fd/" + NUMBER_ROOM)

/* Looks up a process. Of a hidden process only the session is known. */
enum procfs_look procfs_look(struct procfs *proc, pid_t pid);

/* Whether there is a /proc whose numbers are those of this PID namespace. */
bool procfs_is_ours(void);

/*
 * Calls each, if not NULL, for every child of all threads of a process. The
 * children of one thread come in order of birth or adoption. False if they
 * cannot be read, and in a PID namespace without a /proc of its own, where the
 * numbers in /proc mean other processes.
 */
bool procfs_children(
    pid_t parent, void (*each)(void *to, pid_t pid, pid_t parent), void *to);

/* Whether /proc shows the children of this process, by their own numbers. */
bool procfs_visible(void);

/*
 * Whether another process may have moved the offset of the file fd during an
 * attempt that is over now. Processes that inherited a descriptor share one
 * open file description, and so one offset. True if any other process has the
 * same open file, except ancestors that wait for retry, as a shell waits for a
 * foreground command. Processes of other users cannot be seen, and count as not
 * having it. True if there is no /proc. This takes long, as it reads all of
 * /proc.
 */
bool procfs_shares_offset(int fd);

/* Writes a path that opens the file behind a descriptor once more. */
char *procfs_name(char room[PROCFS_NAME], int fd);

/*
 * Opens the file of fd anew, with an offset and flags (O_RDONLY, say) of its
 * own, close-on-exec: a process that an attempt left behind, and that moves the
 * offset of fd, cannot move the new offset. -1 with errno, as without /proc.
 */
int procfs_reopen(int fd, int flags);

/*
 * An inotify descriptor, which does not block, that reports these events
 * (IN_ACCESS, say) of the file behind fd; -1 with errno.
 */
int procfs_watch(int fd, uint32_t events);

/* Whether it has reported any since the last call. */
bool procfs_noticed(int inotify);

/* The descriptor that a path names (/dev/stdin, /dev/fd/3, ...), or -1. */
int procfs_descriptor(const char *path);

#endif
