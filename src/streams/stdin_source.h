/*
 * stdin_source: the command's standard input, the same for every attempt.
 *
 * The offset of a file is moved back to where it was before the first attempt.
 * With --replay-stdin each attempt opens the file again. If that is impossible,
 * or for a pipe or socket, which has no offset, the bytes are copied to a
 * temporary file first, which each attempt reads from the start. Without
 * --replay-stdin retry never takes bytes out of a pipe or socket, but only
 * watches it: if an attempt has read bytes that the next attempt would miss,
 * there is no next attempt.
 */
#ifndef STDIN_SOURCE_H
#define STDIN_SOURCE_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include "policy/policy.h"

/* What waits in a pipe or socket. */
struct waiting {
	int bytes; /* -1: no attempt was made yet */
	bool ended; /* its other end is closed */
};

enum stdin_source_kind {
	STDIN_SOURCE_UNTOUCHED, /* a terminal, /dev/null, or closed */
	STDIN_SOURCE_FILE, /* it has an offset, which is moved back */
	STDIN_SOURCE_REOPENED, /* a file, opened anew for each attempt */
	STDIN_SOURCE_GUARDED, /* a pipe or socket, without --replay-stdin */
	STDIN_SOURCE_COPIED, /* copied to a file first */
	STDIN_SOURCE_UNKNOWN, /* nothing tells whether an attempt has read it */
};

struct stdin_source {
	enum stdin_source_kind kind;
	bool socket;
	const char *unreplayed; /* what it is, if --replay-stdin is in vain */
	off_t start; /* of a file: the offset before the first attempt; or -1 */
	/* FILE: */
	off_t ended; /* the offset at the end of the latest attempt, or start */
	bool judged; /* it is known that only this attempt has moved it */
	/* COPIED: */
	int from; /* to be read without blocking; -1: the attempts may begin */
	int file; /* the copy */
	int64_t most; /* the most bytes to copy */
	off_t length;
	int error; /* errno if it could not be copied: see stdin_source_open;
		    * EFBIG if there were more than most bytes */
	bool unread; /* standard input is to blame for that, not the copy */
	/* REOPENED, COPIED: */
	int sink; /* the descriptor for the child of this attempt, or -1 */
	/* GUARDED: */
	int inotify; /* a descriptor that reports a read, or -1 */
	struct waiting waiting; /* at the latest look */
	bool consumed; /* a process has read bytes */
};

/*
 * Finds out what standard input is; before a plain attempt that is one system
 * call or three, and none if there is only one attempt. If error is set
 * afterwards, nothing may be run, whatever the kind.
 */
void stdin_source_open(struct stdin_source *input, const struct policy *policy);

/* What poll(2) should wait for: fd is -1 if there is nothing. */
struct pollfd stdin_source_pollfd(const struct stdin_source *input);

/* Reads, as poll allows; never blocks. */
void stdin_source_serve(struct stdin_source *input, short revents);

/*
 * Before an attempt: moves the offset back, or makes a descriptor for the
 * child. False, with errno.
 */
bool stdin_source_begin(struct stdin_source *input);

/* In the child, before exec, false with errno; in the parent, after fork. */
bool stdin_source_attach(const struct stdin_source *input);
void stdin_source_forked(struct stdin_source *input);

/* Directly after an attempt: notes the offset. If the offset changes later,
 * another process has moved it. */
void stdin_source_ended(struct stdin_source *input);

/*
 * Before a retry: the reason why the retry could not read the same input as the
 * last attempt, or REASON_NONE. For a file the reason is that another process
 * may have moved the offset.
 */
enum reason stdin_source_lost(struct stdin_source *input);

#endif
