#include "streams/read_watch.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/socket.h>
#include <unistd.h>
#include "sys/procfs.h"

int
read_watch_open(int fd)
{
	char name[PROCFS_NAME];
	int watch = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);

	if (watch == -1)
		return -1;
	if (inotify_add_watch(
		watch, procfs_name(name, fd), IN_ACCESS | IN_ONESHOT) != -1)
		return watch;
	close(watch);
	return -1;
}

bool
read_watch_told(int watch)
{
	struct inotify_event event;
	char bytes[256];

	if (watch == -1 ||
	    read(watch, bytes, sizeof bytes) < (ssize_t)sizeof event)
		return false;
	memcpy(&event, bytes, sizeof event);
	return (event.mask & IN_ACCESS) != 0;
}

/* A pipe has no MSG_PEEK: tee(2) copies its bytes into a second pipe. */
static ssize_t
peek_pipe(int pipe, char bytes[READ_WATCH_PEEK])
{
	int ends[2], error;
	ssize_t got;

	if (pipe2(ends, O_CLOEXEC) == -1)
		return -1;
	got = tee(pipe, ends[1], READ_WATCH_PEEK, SPLICE_F_NONBLOCK);
	if (got > 0)
		got = read(ends[0], bytes, READ_WATCH_PEEK);
	error = errno;
	close(ends[0]);
	close(ends[1]);
	errno = error;
	return got;
}

ssize_t
read_watch_peek(int fd, bool socket, char bytes[READ_WATCH_PEEK])
{
	if (!socket)
		return peek_pipe(fd, bytes);
	return recv(fd, bytes, READ_WATCH_PEEK, MSG_PEEK | MSG_DONTWAIT);
}

bool
read_watch_tells_of_tee(void)
{
	char bytes[READ_WATCH_PEEK];
	int ends[2], watch;
	bool told = true;

	if (pipe2(ends, O_CLOEXEC) == -1)
		return true;
	watch = read_watch_open(ends[0]);
	if (watch != -1 && write(ends[1], "", 1) == 1 &&
	    peek_pipe(ends[0], bytes) == 1)
		told = read_watch_told(watch);
	if (watch != -1)
		close(watch);
	close(ends[0]);
	close(ends[1]);
	return told;
}
