/*
 * capture: output of an attempt that nobody is to see before the attempt is
 * judged. It goes to a spool, which the command gets for its own descriptor: a
 * fresh one for each attempt, so that a straggler cannot write into the next
 * one's. What is not released is never seen.
 */
#ifndef CAPTURE_H
#define CAPTURE_H

#include <poll.h>
#include <stdbool.h>
#include <sys/types.h>
#include "text/duration.h"
#include "output/nonblock.h"

struct capture {
	int fd; /* 1 or 2; -1: nothing is held */
	int spool; /* of the latest attempt; -1: none */
	off_t most; /* bytes that it may have */
	bool fresh; /* no attempt has had it */
	bool delivering;
	struct nonblock nonblock; /* where it goes in the end */
	off_t sent, length; /* of what is to be delivered */
	int error; /* why not all of it could be, or 0 */
};

/*
 * Holds most bytes of fd, unless that is -1 or closed. Makes the first spool,
 * so that what is wrong is known before anything runs: false, with errno.
 */
bool capture_open(struct capture *capture, int fd, off_t most);

/* Whether a file is what it could not have. */
bool capture_lacks_file(const struct capture *capture);

/* A fresh spool for the attempt that is about to begin; false, with errno. */
bool capture_begin(struct capture *capture);

/* In the child, before exec. False, with errno. */
bool capture_attach(const struct capture *capture);

/* In the parent, where the command alone writes to the spool. */
void capture_forked(struct capture *capture);

/*
 * Whether the latest attempt has written more than may be held: the command
 * writes the spool itself, so this is to be asked again and again; and after
 * what time, NANOS_MAX where there is no need.
 */
bool capture_overrun(const struct capture *capture);
nanos capture_nap(const struct capture *capture);

/* Whether somebody has the spool of the latest attempt still to write to. */
bool capture_written(const struct capture *capture);

/*
 * What the latest attempt has written up to now begins its way out, through the
 * one wait. Where that is too much, the spool's disk is full, or the spool as
 * long as a file may be, some of it may be missing: that is an error, as what
 * could not be relayed into it is, for which error is errno, or 0. Standard
 * output gets nothing then.
 */
void capture_release(struct capture *capture, int error);

/* What poll should wait for: fd -1 when nothing is under way. */
struct pollfd capture_pollfd(const struct capture *capture);
void capture_serve(struct capture *capture, short revents);

/* Whether all is delivered, or cannot be (error). */
bool capture_done(const struct capture *capture);

#endif
