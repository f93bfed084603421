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
#define RELAY_SOURCES 64

/* Of standard output and standard error: what comes, and where it goes. */
#define RELAY_POLLED (2 * (RELAY_SOURCES + 1))

/* Our end of the pipe that the command of an attempt was given. */
struct source {
	int fd;
	bool matched; /* it is the attempt's that is being judged */
	size_t owed; /* of what stood in the pipe when the command ended */
};

struct stream {
	int fd; /* the command's: 1 or 2 */
	struct nonblock nonblock;
	bool held; /* outlet is the spool of the latest attempt */
	int sink; /* what the child gets as fd, or -1 */
	int error; /* of the write that failed, or 0 */
	size_t count; /* of sources, the oldest first */
	struct source sources[RELAY_SOURCES];
	char *bytes; /* what is read and not yet written: */
	size_t start, length;
};

struct relay {
	const struct watches *watches; /* their patterns are the relay's */
	struct stream list[2];
	size_t count;
};

/*
 * Opens the streams that the watches name, which have patterns already. Without
 * any, does nothing. False, with errno, if the kernel refuses.
 */
bool relay_open(struct relay *relay, const struct watches *watches);

/*
 * What comes by fd, 1 or 2, from the attempt that is about to begin goes into
 * its spool; what still comes from earlier ones goes nowhere.
 */
void relay_hold(struct relay *relay, int fd, int spool);

/* Makes the pipes of an attempt that is about to begin. False, with errno. */
bool relay_begin(struct relay *relay);

/* In the child, before exec. False, with errno. */
bool relay_attach(const struct relay *relay);

/* In the parent, after fork. */
void relay_forked(struct relay *relay);

/* Fills fds, which has RELAY_POLLED elements, and returns how many. */
size_t relay_poll(const struct relay *relay, struct pollfd *fds);

/* Relays what poll found possible; fds as relay_poll has filled it. */
void relay_serve(struct relay *relay, const struct pollfd *fds);

/* The child has ended: what stands in its pipes now will be relayed. */
void relay_ended(struct relay *relay);

/* How much of an ended attempt's output may still come. */
enum relay_rest {
	RELAY_OWED, /* what it wrote is not all delivered */
	RELAY_STRAGGLING, /* somebody else holds its pipe open */
	RELAY_OVER,
};

enum relay_rest relay_rest(struct relay *relay);

/*
 * The attempt is over. Its pipes are relayed on, unmatched: whoever still
 * writes to one must not die of it while we live. Returns the bits of the
 * watches that were seen.
 */
uint64_t relay_finish(struct relay *relay);

/* Whether what comes by fd, 1 or 2, is relayed. */
bool relay_relay(const struct relay *relay, int fd);

/*
 * The errno with which what came by fd, relayed, could not be written; 0 if it
 * could, or if only its reader had gone; ETIMEDOUT if it took too long.
 */
int relay_error(const struct relay *relay, int fd);

#endif
