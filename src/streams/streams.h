/*
 * streams: the command's inputs, its standard output and error, all together.
 *
 * Each may be read again (input.h), captured (capture.h) or searched
 * (relay.h). A stream with which nothing is done stays the caller's own.
 *
 * For --idle-timeout retry notices that the command writes. How depends on what
 * the output is. A pipe or a stream socket is relayed (relay.h), so that only
 * what the attempt itself writes counts. A file is looked at from time to time.
 * A terminal or another device is watched with inotify: in place of a terminal,
 * a pipe would make the command keep its output back. Of these, what any other
 * process writes counts, too.
 */
#ifndef STREAMS_H
#define STREAMS_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>
#include "streams/capture.h"
#include "streams/input.h"
#include "policy/policy.h"
#include "streams/relay.h"

/* The most inputs: standard input, and pipes that words of the command name. */
#define STREAMS_INPUTS 64

#define STREAMS_POLLED (STREAMS_INPUTS + 2 + RELAY_POLLED)

/* How long other processes may write to the command's output after its end. */
#define STREAMS_STRAGGLERS (100 * NANOS_MS)

/* How it is noticed that the command writes. */
enum activity {
	ACTIVITY_NEVER, /* the output is closed, or not open for writing */
	ACTIVITY_RELAYED, /* relay_active() tells */
	ACTIVITY_FILE, /* the file's size and time tell */
	ACTIVITY_DEVICE, /* inotify tells */
	ACTIVITY_UNKNOWN, /* it cannot be noticed */
};

struct streams {
	struct input *inputs; /* standard input is the first */
	size_t input_count;
	bool crowded; /* there are more, which are not watched */
	/* What streams_lost() has found lost; NULL: one that is not watched. */
	const struct input *lost;
	struct capture out, err;
	struct relay relay;
	/* For --idle-timeout: */
	nanos look; /* the time between two looks; NANOS_MAX: never look */
	int unwatched; /* the descriptor that cannot be watched, or -1 */
	struct output {
		enum activity activity;
		int inotify; /* it reports writes to the device */
		struct stat before; /* of the file, at the last look */
	} outputs[2]; /* standard output, standard error */
};

/* The capture of fd, 1 or 2, which may be that of both. */
struct capture *streams_capture(struct streams *streams, int fd);

/*
 * Opens what the policy asks for. False, with errno. Then unwatched is the
 * descriptor that --idle-timeout cannot watch, or -1. What is passed on to the
 * place of standard error says in *midline if a line has begun there.
 */
bool streams_open(
    struct streams *streams, const struct policy *policy, bool *midline);

/* Whether an input is still read, so that no attempt may begin. */
bool streams_reads(const struct streams *streams);

/* The input that cannot be had, so that nothing may be run, or NULL: its error
 * says why. */
const struct input *streams_refused(const struct streams *streams);

/*
 * Makes what the attempt that is about to begin needs. False, with errno;
 * *lacking says what could not be made.
 */
bool streams_begin(struct streams *streams, const char **lacking);

/* In the child, before exec, false with errno; in the parent, after fork. */
bool streams_attach(const struct streams *streams);
void streams_forked(struct streams *streams);

/*
 * Whether an attempt has written more than may be captured; after what time to
 * ask again.
 */
bool streams_overrun(const struct streams *streams);
nanos streams_nap(const struct streams *streams);

/*
 * The attempt has ended, and the relay has its output: notes how much is
 * captured, at the first call. Whether that is more than may be.
 */
bool streams_ended(struct streams *streams);

/*
 * Whether the attempt has written anything since the last call, or its output
 * waits for a reader. streams_nap() is also the time until this must be asked.
 */
bool streams_active(struct streams *streams);

/*
 * Why another attempt would be of no use: it could not read what the last one
 * could (input_lost), or output is lost already (REASON_INTERNAL). Else
 * REASON_NONE. This may take a while.
 */
enum reason streams_lost(struct streams *streams);

/*
 * Begins to deliver what a capture has of the latest attempt. If the relay
 * could not write all of it into the capture's file, that is an error.
 */
void streams_release(struct streams *streams, struct capture *capture);

/* Fills fds, of STREAMS_POLLED elements, and returns how many it used. */
size_t streams_poll(const struct streams *streams, struct pollfd *fds);

/* Does what poll found possible in fds, as streams_poll has filled it. */
void streams_serve(struct streams *streams, const struct pollfd *fds);

#endif
