/*
 * nonblock: a descriptor that was given to us for output, and how to write to
 * it without ever blocking and without changing what others see of it.
 */
#ifndef NONBLOCK_H
#define NONBLOCK_H

#include <stddef.h>
#include <sys/types.h>

enum nonblock_way {
	NONBLOCK_PLAIN, /* it never blocks: a regular file, or closed */
	NONBLOCK_PRIVATE, /* through a description of our own */
	NONBLOCK_SOCKET,
	NONBLOCK_CAREFUL, /* once poll says that there is room */
};

struct nonblock {
	enum nonblock_way way;
	int fd; /* to write to, and to poll for POLLOUT */
};

/* Finds the way for descriptor fd. */
struct nonblock nonblock_open(int fd);

/*
 * One write(2) that does not block: the number of bytes that went, or -1 with
 * errno, EAGAIN where there is no room now. SIGPIPE must be blocked.
 */
ssize_t
nonblock_put(const struct nonblock *nonblock, const char *bytes, size_t length);

#endif
