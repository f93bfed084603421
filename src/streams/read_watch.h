/*
 * read_watch: whether somebody reads a pipe or a socket, and what he would
 * read: told without taking anything.
 */
#ifndef READ_WATCH_H
#define READ_WATCH_H

#include <stdbool.h>
#include <sys/types.h>

/* What a peek takes in. */
#define READ_WATCH_PEEK 512

/* Tells once that a descriptor's file is read; or -1. */
int read_watch_open(int fd);

/* Whether the watch has seen anybody read. */
bool read_watch_told(int watch);

/*
 * Whether a watch tells of tee(2), as kernels do since they tell of splice(2).
 * Where none can be had to find out, it is taken to.
 */
bool read_watch_tells_of_tee(void);

/* The bytes that would be read next, and stay; 0 at the end, -1 with errno. */
ssize_t read_watch_peek(int fd, bool socket, char bytes[READ_WATCH_PEEK]);

#endif
