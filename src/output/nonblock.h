/*
 * nonblock: writes to an inherited descriptor without ever blocking.
 *
 * O_NONBLOCK is not set on the descriptor, because other processes share its
 * open file description.
 */
#ifndef NONBLOCK_H
#define NONBLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum nonblock_way {
	NONBLOCK_PLAIN, /* write: a regular file, or retry's own O_NONBLOCK */
	NONBLOCK_SOCKET, /* send with MSG_DONTWAIT */
	NONBLOCK_CAREFUL, /* write after poll has reported room */
};

struct nonblock {
	enum nonblock_way way;
	int fd; /* to write to and to poll */
	bool *midline; /* whether the last byte put is no newline; or NULL */
};

/* Finds out how to write to descriptor fd. */
struct nonblock nonblock_open(int fd);

/*
 * Writes once without blocking. Returns the number of bytes written, or -1 with
 * errno, which is EAGAIN if there is no room now. SIGPIPE must be blocked.
 */
ssize_t
nonblock_put(const struct nonblock *nonblock, const char *bytes, size_t length);

#endif
