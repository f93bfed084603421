/*
 * read_watch: notices when a process reads a pipe or a socket, and peeks at it.
 *
 * Neither takes bytes out of the pipe or socket.
 */
#ifndef READ_WATCH_H
#define READ_WATCH_H

#include <stdbool.h>
#include <sys/types.h>

/* The most bytes of a peek. */
#define READ_WATCH_PEEK 512

/* A watch (inotify) that reports the next read of fd's file, or -1. */
int read_watch_open(int fd);

/* Whether the watch has reported a read. False if watch is -1. */
bool read_watch_told(int watch);

/*
 * Whether a watch also reports tee(2), with which read_watch_peek() reads a
 * pipe: kernels that report splice(2) do. True if no watch can be made to find
 * out.
 */
bool read_watch_tells_of_tee(void);

/* Copies the bytes that the next read would get; 0 at the end, -1 with errno.
 */
ssize_t read_watch_peek(int fd, bool socket, char bytes[READ_WATCH_PEEK]);

#endif
