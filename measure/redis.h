/*
 * redis: the server of a fleet in a storm, a real Redis or Valkey, and how it
 * fails.
 *
 * It listens on a socket in a directory, and keeps nothing on disk. Each host
 * has a symbolic link to that socket, so that some hosts can lose their way to
 * the server: their links then lead to a socket at which nobody answers. That
 * is a partition for all connections that are made from then on. A process
 * that was granted a retry before keeps its connection, over which it tells of
 * a success.
 */
#ifndef REDIS_H
#define REDIS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include "text/duration.h"

/* How it fails. */
enum redis_fault {
	REDIS_SOUND,
	REDIS_KILLED,
	REDIS_STOPPED, /* by SIGSTOP, for REDIS_STOP */
	REDIS_PARTED, /* from each second host */
};

/* When it fails: some clients have asked it by then, and others have not. */
#define REDIS_FAULT (NANOS_SECOND / 4)
#define REDIS_STOP (5 * NANOS_SECOND)

/* A pid of 0: there is no such server. */
struct redis {
	const char *directory;
	int64_t hosts;
	enum redis_fault fault;
	nanos due; /* when something is done to it; NANOS_MAX: nothing is */
	nanos failed, back; /* when it failed, and when it went on; 0: never */
	pid_t pid;
	int nowhere; /* the socket at which nobody answers; 0: none */
	int64_t questions; /* that it was asked */
	nanos cpu; /* that it used */
};

/* Room for the URL of the server. */
#define REDIS_URL 96

/* Starts the program in the directory, and returns when the server answers. If
 * that takes long, it ends the driver. */
void redis_start(struct redis *redis, const char *program);

/* The storm has begun: the fault comes after REDIS_FAULT. */
void redis_begin(struct redis *redis, nanos start);

/* The address of the server, for the processes of a host. */
void redis_url(const struct redis *redis, int64_t host, char url[REDIS_URL]);

/* Does what is due. */
void redis_look(struct redis *redis, nanos now);

/* Ends the server, and counts questions and CPU time. */
void redis_end(struct redis *redis);

#endif
