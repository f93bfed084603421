/*
 * read_guard: whether bytes of standard input were read that a retry would
 * miss.
 *
 * retry never takes bytes out of a pipe or a socket, but peeks at it, and
 * inotify reports reads. For a file, it asks which processes share its offset.
 */
#ifndef READ_GUARD_H
#define READ_GUARD_H

#include <stdbool.h>
#include <stddef.h>
#include "policy/verdict.h"

/* The most bytes of a peek. */
#define READ_GUARD_PEEK 512

/* What is known about reads by an attempt. */
enum guard {
	GUARD_NONE, /* no attempt was made yet */
	GUARD_UNSEEN, /* it was empty: look when poll(2) finds bytes */
	GUARD_HEAD, /* head is still in front if no process has read */
	GUARD_INOTIFY, /* only inotify can show a read, if it is there */
	GUARD_EATEN, /* a process has read bytes */
	GUARD_RESET, /* the next read gets only an error, once */
};

/* The guard of a pipe or a socket; begins as { .inotify = -1 }. */
struct read_guard {
	enum guard known;
	bool socket;
	int inotify; /* a descriptor that reports a read, or -1 */
	bool unread; /* a socket's other end has not read all that was sent */
	size_t length_of_head;
	char head[READ_GUARD_PEEK];
};

/* Before the first attempt: opens inotify, and peeks if that is not enough. */
void read_guard_begin(struct read_guard *guard, bool socket);

/* Peeks. revents is from poll(2), or 0. Never blocks. */
void read_guard_look(struct read_guard *guard, short revents);

/* The reason why a retry could not read the same, or REASON_NONE. */
enum reason read_guard_lost(struct read_guard *guard);

/*
 * Whether another process may have moved the offset of the file fd during an
 * attempt that is over now. Processes that inherited a descriptor share one
 * open file description, and so one offset. True if any other process has the
 * same open file, except ancestors that wait for retry, as a shell waits for a
 * foreground command. Processes of other users cannot be seen, and count as not
 * having it. True if there is no /proc. This takes long, as it reads all of
 * /proc.
 */
bool read_guard_shared(int fd);

#endif
