#include "output/nonblock.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>
#include "sys/procfs.h"

/*
 * O_NONBLOCK belongs to the open file description, which retry shares with the
 * command and with its caller. A pipe or a terminal can be opened again through
 * /proc, which makes a new description. This must not be done for a descriptor
 * that is open for reading only: the new one could write.
 */
struct nonblock
nonblock_open(int fd)
{
	struct nonblock nonblock = { NONBLOCK_PLAIN, fd, NULL };
	struct stat stat;
	int flags = fcntl(fd, F_GETFL), reopened = -1;

	if (flags == -1 || (flags & O_ACCMODE) == O_RDONLY ||
	    fstat(fd, &stat) == -1 || S_ISREG(stat.st_mode))
		return nonblock;
	nonblock.way =
	    S_ISSOCK(stat.st_mode) ? NONBLOCK_SOCKET : NONBLOCK_CAREFUL;
	/* Opening /dev/ptmx would create a new terminal. */
	if (S_ISFIFO(stat.st_mode) ||
	    (S_ISCHR(stat.st_mode) && stat.st_rdev != makedev(5, 2)))
		reopened = procfs_reopen(fd, O_WRONLY | O_NONBLOCK | O_NOCTTY);
	if (reopened != -1)
		nonblock = (struct nonblock){ NONBLOCK_PLAIN, reopened, NULL };
	return nonblock;
}

ssize_t
nonblock_put(const struct nonblock *nonblock, const char *bytes, size_t length)
{
	struct pollfd room = { .fd = nonblock->fd, .events = POLLOUT };
	ssize_t put;

	if (nonblock->way == NONBLOCK_CAREFUL) {
		if (poll(&room, 1, 0) == 0) {
			errno = EAGAIN;
			return -1;
		}
		/* A pipe with room takes PIPE_BUF bytes, but perhaps not more.
		 */
		if (length > PIPE_BUF)
			length = PIPE_BUF;
	}
	put = nonblock->way == NONBLOCK_SOCKET
	    ? send(nonblock->fd, bytes, length, MSG_DONTWAIT | MSG_NOSIGNAL)
	    : write(nonblock->fd, bytes, length);
	if (put > 0 && nonblock->midline != NULL)
		*nonblock->midline = bytes[put - 1] != '\n';
	return put;
}
