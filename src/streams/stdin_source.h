/*
 * stdin_source: the command's standard input, the same for every attempt.
 * Nothing is ever taken from it that the command would have had, unless
 * --replay-stdin says so.
 */
#ifndef STDIN_SOURCE_H
#define STDIN_SOURCE_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include "policy/verdict.h"
#include "streams/read_watch.h"

enum stdin_source_kind {
	STDIN_SOURCE_LEFT, /* a terminal, a device, closed: no business of ours
			    */
	STDIN_SOURCE_FILE, /* what has an offset: goes back to where it stood */
	STDIN_SOURCE_OWN, /* the same, opened anew for each attempt */
	STDIN_SOURCE_GUARDED, /* a pipe or socket that an attempt may eat up */
	STDIN_SOURCE_SPOOLED, /* a pipe or socket, read into a file first */
};

/* Whether an attempt has read what the next one would need. */
enum guard {
	GUARD_NONE, /* no attempt was made yet */
	GUARD_WATCHED, /* only the watch tells, where there is one */
	GUARD_UNSEEN, /* nothing has come; what comes is looked at */
	GUARD_HEAD, /* what comes next is head, until somebody reads */
	GUARD_EATEN, /* there was something, and somebody has read it */
	GUARD_RESET, /* there was nothing but an error, for who reads first */
};

struct stdin_source {
	enum stdin_source_kind kind;
	bool socket;
	bool begun; /* there was an attempt */
	/* STDIN_SOURCE_FILE, STDIN_SOURCE_OWN */
	off_t start;
	off_t ended; /* where the latest attempt has left it */
	bool judged; /* that it was the attempt alone that moved it */
	/* STDIN_SOURCE_SPOOLED */
	int from; /* what is read, without blocking; -1: all is read */
	int spool;
	int64_t most;
	off_t length;
	int error; /* why it could not be, or 0: see stdin_source_open */
	bool too_long; /* more than --stdin-max */
	/* STDIN_SOURCE_OWN, STDIN_SOURCE_SPOOLED: what the child of this
	 * attempt gets, or -1
	 */
	int sink;
	/* STDIN_SOURCE_GUARDED */
	int watch; /* tells of whoever reads it, or -1 */
	enum guard guard;
	size_t length_of_head;
	char head[READ_WATCH_PEEK];
};

/*
 * What there is; on the way to a plain attempt one system call or two. most: of
 * bytes to be spooled. *terminal: --replay-stdin was given, and is of no use.
 * Where error is set then, nothing must be run, whatever the kind.
 */
void stdin_source_open(
    struct stdin_source *input, bool replay, int64_t most, bool *terminal);

/* What poll should wait for: fd -1 when nothing. */
struct pollfd stdin_source_pollfd(const struct stdin_source *input);

/* Reads or peeks, as poll says; never blocks. */
void stdin_source_serve(struct stdin_source *input, short revents);

/* Whether the first attempt may begin: all is spooled, or went wrong. */
bool stdin_source_ready(const struct stdin_source *input);

/*
 * Before an attempt: rewinds, or makes the child's own descriptor. False, with
 * errno.
 */
bool stdin_source_begin(struct stdin_source *input);

/* In the child, false with errno; and in the parent after fork. */
bool stdin_source_attach(const struct stdin_source *input);
void stdin_source_forked(struct stdin_source *input);

/* After an attempt, at once: what moves from now on is none of its doing. */
void stdin_source_ended(struct stdin_source *input);

/*
 * Before a retry: why it could not read what the last attempt could,
 * REASON_NONE if it can. Of a file, that somebody else may have moved what we
 * would have to move back.
 */
enum reason stdin_source_lost(struct stdin_source *input);

#endif
