/*
 * capture: keeps an attempt's output in a file until the attempt is judged.
 *
 * The command gets a temporary file as its standard output or error and writes
 * to it directly. Each attempt has a new file, so that a process that an
 * attempt left behind cannot write into the file of the next attempt. If the
 * output is wanted, it is copied to the real descriptor in the end; else it is
 * dropped.
 */
#ifndef CAPTURE_H
#define CAPTURE_H

#include <poll.h>
#include <stdbool.h>
#include <sys/types.h>
#include "text/duration.h"
#include "output/nonblock.h"

enum capture_kind {
	CAPTURE_WHOLE, /* it is delivered whole or not at all */
	CAPTURE_PART, /* even if bytes are missing, the others are delivered */
	CAPTURE_BOTH, /* the same, and descriptor 1 gets the file of 2, too */
};

struct capture {
	int fd; /* 1 or 2; -1: nothing is captured */
	enum capture_kind kind;
	int file; /* of the latest attempt; -1: none */
	off_t most; /* the most bytes that the file may have */
	off_t ended; /* the bytes at the end of the attempt; -1: not ended */
	int before; /* the file of the attempt before, if it is kept; or -1 */
	bool keeps; /* it is, for capture_fall_back() */
	bool fresh; /* no attempt has used the file yet */
	bool relayed; /* the relay writes to the file, not the command */
	bool delivering; /* until all is delivered, or error is set */
	struct nonblock output; /* to which the file is delivered */
	bool *midline; /* of output */
	off_t sent, length; /* bytes delivered so far, and in all */
	int error; /* errno, if not all could be delivered, or 0 */
};

/*
 * Captures up to most bytes of fd; nothing if fd is -1 or closed. Makes the
 * first file, so that an error shows before anything runs: false, with errno.
 */
bool capture_open(
    struct capture *capture, int fd, enum capture_kind kind, off_t most);

/* Makes the file for the attempt that is about to begin. False, with errno. */
bool capture_begin(struct capture *capture);

/* In the child, before exec. False, with errno. */
bool capture_attach(const struct capture *capture);

/* In the parent after fork. */
void capture_forked(struct capture *capture);

/*
 * Whether the latest attempt has written more than most bytes. The command
 * writes to the file itself, so this has to be asked again and again;
 * capture_nap() says after what time, NANOS_MAX if never.
 */
bool capture_overrun(const struct capture *capture);
nanos capture_nap(const struct capture *capture);

/*
 * The latest attempt has ended: notes, at the first call, how much it has
 * written. Whether that is more than most bytes.
 */
bool capture_ended(struct capture *capture);

/* If the latest attempt has written nothing, the one before it counts instead.
 */
void capture_fall_back(struct capture *capture);

/* Whether a process still has the latest attempt's file open for writing. */
bool capture_written(const struct capture *capture);

/*
 * Begins to deliver what the latest attempt has written up to now; the event
 * loop does the rest. If only other processes have gone above most bytes, since
 * the attempt's end, delivers what there was then. It is an error if a part of
 * the output is missing: there was too much, the disk is full, or the file is
 * as long as a file may be. error is the relay's errno if the relay could not
 * write all output into the file, or 0. After an error nothing is delivered of
 * CAPTURE_WHOLE.
 */
void capture_release(struct capture *capture, int error);

/* What poll(2) should wait for: fd is -1 if nothing is being delivered. */
struct pollfd capture_pollfd(const struct capture *capture);
void capture_serve(struct capture *capture, short revents);

#endif
