/*
 * input: an input of the command, the same for every attempt: its standard
 * input, or a pipe that one of its words names, as <(...) of a shell does.
 *
 * The offset of a file is moved back to where it was before the first attempt.
 * With --replay-stdin each attempt opens the file again. If that is impossible,
 * or for a pipe or socket, which has no offset, the bytes are copied to a
 * temporary file first, which each attempt reads from the start. Without
 * --replay-stdin retry never takes bytes out of a pipe or socket, but only
 * watches it: if an attempt has read bytes that the next attempt would miss,
 * there is no next attempt.
 */
#ifndef INPUT_H
#define INPUT_H

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

enum input_kind {
	INPUT_UNTOUCHED, /* a terminal, /dev/null, not to be read, or closed */
	INPUT_FILE, /* it has an offset, which is moved back */
	INPUT_REOPENED, /* a file, opened anew for each attempt */
	INPUT_GUARDED, /* a pipe or socket, without --replay-stdin */
	INPUT_COPIED, /* copied to a file first */
	INPUT_UNKNOWN, /* nothing tells whether an attempt has read it */
};

struct input {
	enum input_kind kind;
	int fd; /* its number in retry and in the command */
	char name[24]; /* "standard input", or "/dev/fd/63" */
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
	int error; /* errno if it could not be copied: see input_open;
		    * EFBIG if there were more than most bytes */
	bool unread; /* the input is to blame for that, not the copy */
	/* REOPENED, COPIED: */
	int sink; /* the descriptor for the child of this attempt, or -1 */
	/* GUARDED: */
	int inotify; /* a descriptor that reports a read, or -1 */
	struct waiting waiting; /* at the latest look */
	bool consumed; /* a process has read bytes */
};

/*
 * Finds out what the input fd is; before a plain attempt that is one system
 * call or three, and none if there is only one attempt. If error is set
 * afterwards, nothing may be run, whatever the kind.
 */
void input_open(struct input *input, int fd, const struct policy *policy);

/* Makes fd another descriptor of the pipe that is an input already. */
void input_share(struct input *input, int fd, const struct input *pipe);

/* What poll(2) should wait for: fd is -1 if there is nothing. */
struct pollfd input_pollfd(const struct input *input);

/* Reads, as poll allows; never blocks. */
void input_serve(struct input *input, short revents);

/*
 * Before an attempt: moves the offset back, or makes a descriptor for the
 * child. False, with errno.
 */
bool input_begin(struct input *input);

/* In the child, before exec, false with errno; in the parent, after fork. */
bool input_attach(const struct input *input);
void input_forked(struct input *input);

/* Directly after an attempt: notes the offset. If the offset changes later,
 * another process has moved it. */
void input_ended(struct input *input);

/*
 * Before a retry: whether the retry could not read the same input as the last
 * attempt. A file is lost if another process may have moved the offset.
 */
bool input_lost(struct input *input);

#endif
