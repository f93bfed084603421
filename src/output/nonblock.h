/*
 * nonblock: a descriptor that was given to us for output, and how to write to it
 * without ever blocking and without changing what others see of it.
 */
#ifndef NONBLOCK_H
#define NONBLOCK_H

#include <stddef.h>
#include <sys/types.h>

enum outlet_way {
	OUTLET_PLAIN, /* it never blocks: a regular file, or closed */
	OUTLET_PRIVATE, /* through a description of our own */
	OUTLET_SOCKET,
	OUTLET_CAREFUL, /* once poll says that there is room */
};

struct outlet {
	enum outlet_way way;
	int fd; /* to write to, and to poll for POLLOUT */
};

/* Finds the way for descriptor fd. */
struct outlet outlet_open(int fd);

/*
 * One write(2) that does not block: the number of bytes that went, or -1 with
 * errno, EAGAIN where there is no room now. SIGPIPE must be blocked.
 */
ssize_t
outlet_put(const struct outlet *outlet, const char *bytes, size_t length);

#endif
