/*
 * streams: the command's standard input, output and error, whatever is done
 * to them: read again, held back, looked at. What nothing is done to stays the
 * caller's own.
 */
#ifndef STREAMS_H
#define STREAMS_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include "streams/capture.h"
#include "streams/stdin_source.h"
#include "policy/policy.h"
#include "streams/relay.h"

#define STREAMS_POLLED (RELAY_POLLED + 3)

struct streams {
	struct stdin_source input;
	struct capture out, err;
	struct relay streams;
	bool terminal; /* --replay-stdin was given, and is of no use */
};

/* Opens what the policy asks for. False, with errno. */
bool streams_open(struct streams *streams, const struct policy *policy);

/* Makes what the attempt that is about to begin needs. False, with errno. */
bool streams_begin(struct streams *streams);

/* In the child, before exec, false with errno; in the parent, after fork. */
bool streams_attach(const struct streams *streams);
void streams_forked(struct streams *streams);

/* Whether an attempt has written more than may be held; when to ask again. */
bool streams_overrun(const struct streams *streams);
nanos streams_nap(const struct streams *streams);

/*
 * What hold has of the latest attempt begins its way out. Where the relay could
 * not write all of it into the spool, that is the hold's error.
 */
void streams_release(struct streams *streams, struct capture *capture);

/* Fills fds, of STREAMS_POLLED elements, and returns how many. */
size_t streams_poll(const struct streams *streams, struct pollfd *fds);

/* Does what poll found possible; fds as streams_poll has filled it. */
void streams_serve(struct streams *streams, const struct pollfd *fds);

#endif
