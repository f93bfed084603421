/*
 * relay: the command's output, where a pattern wants to see it. Such a
 * stream goes through a pipe: it is read while our side can take it, matched,
 * and written on at once, byte for byte. A stream without a pattern stays the
 * command's own, and costs nothing.
 */
#ifndef RELAY_H
#define RELAY_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include "policy/conditions.h"
#include "output/nonblock.h"

/*
 * Attempts whose pipes are relayed: the latest, and earlier ones to which a
 * background process may still write.
 */
#define STREAMS_SOURCES 64

/* Of standard output and standard error: what comes, and where it goes. */
#define STREAMS_POLLED (2 * (STREAMS_SOURCES + 1))

/* Our end of the pipe that the command of an attempt was given. */
struct source {
	int fd;
	bool matched; /* it is the attempt's that is being judged */
	size_t owed; /* of what stood in the pipe when the command ended */
};

struct stream {
	int fd; /* the command's: 1 or 2 */
	struct outlet outlet;
	bool held; /* outlet is the spool of the latest attempt */
	int sink; /* what the child gets as fd, or -1 */
	int error; /* of the write that failed, or 0 */
	size_t count; /* of sources, the oldest first */
	struct source sources[STREAMS_SOURCES];
	char *bytes; /* what is read and not yet written: */
	size_t start, length;
};

struct streams {
	struct watches *watches;
	struct stream list[2];
	size_t count;
};

/*
 * Opens the streams that the watches name, which have patterns already. Without
 * any, does nothing. False, with errno, if the kernel refuses.
 */
bool streams_open(struct streams *streams, struct watches *watches);

/*
 * What comes by fd, 1 or 2, from the attempt that is about to begin goes into
 * its spool; what still comes from earlier ones goes nowhere.
 */
void streams_hold(struct streams *streams, int fd, int spool);

/* Makes the pipes of an attempt that is about to begin. False, with errno. */
bool streams_begin(struct streams *streams);

/* In the child, before exec. False, with errno. */
bool streams_attach(const struct streams *streams);

/* In the parent, after fork. */
void streams_forked(struct streams *streams);

/* Fills fds, which has STREAMS_POLLED elements, and returns how many. */
size_t streams_poll(const struct streams *streams, struct pollfd *fds);

/* Relays what poll found possible; fds as streams_poll has filled it. */
void streams_serve(struct streams *streams, const struct pollfd *fds);

/* The child has ended: what stands in its pipes now will be relayed. */
void streams_ended(struct streams *streams);

/* How much of an ended attempt's output may still come. */
enum streams_rest {
	STREAMS_OWED, /* what it wrote is not all delivered */
	STREAMS_STRAGGLING, /* somebody else holds its pipe open */
	STREAMS_OVER,
};

enum streams_rest streams_rest(struct streams *streams);

/*
 * The attempt is over. Its pipes are relayed on, unmatched: whoever still
 * writes to one must not die of it while we live. Returns the bits of the
 * watches that were seen.
 */
uint64_t streams_finish(struct streams *streams);

/* Whether what comes by fd, 1 or 2, is relayed. */
bool streams_relay(const struct streams *streams, int fd);

/*
 * The errno with which what came by fd, relayed, could not be written; 0 if it
 * could, or if only its reader had gone; ETIMEDOUT if it took too long.
 */
int streams_error(const struct streams *streams, int fd);

#endif
