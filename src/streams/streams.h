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

#define PLUMBING_POLLED (STREAMS_POLLED + 3)

struct plumbing {
	struct input input;
	struct hold out, err;
	struct streams streams;
	bool terminal; /* --replay-stdin was given, and is of no use */
};

/* Opens what the policy asks for. False, with errno. */
bool plumbing_open(struct plumbing *plumbing, struct policy *policy);

/* Makes what the attempt that is about to begin needs. False, with errno. */
bool plumbing_begin(struct plumbing *plumbing);

/* In the child, before exec, false with errno; in the parent, after fork. */
bool plumbing_attach(const struct plumbing *plumbing);
void plumbing_forked(struct plumbing *plumbing);

/* Whether an attempt has written more than may be held; when to ask again. */
bool plumbing_overrun(const struct plumbing *plumbing);
nanos plumbing_nap(const struct plumbing *plumbing);

/*
 * What hold has of the latest attempt begins its way out. Where the relay could
 * not write all of it into the spool, that is the hold's error.
 */
void plumbing_release(struct plumbing *plumbing, struct hold *hold);

/* Fills fds, of PLUMBING_POLLED elements, and returns how many. */
size_t plumbing_poll(const struct plumbing *plumbing, struct pollfd *fds);

/* Does what poll found possible; fds as plumbing_poll has filled it. */
void plumbing_serve(struct plumbing *plumbing, const struct pollfd *fds);

#endif
