/*
 * server: the server of a storm. Each connection is a request, and is answered
 * by one byte at the time that the capacity says.
 *
 * It is an abstract unix socket: there is no file to leave behind, no port that
 * lingers in TIME_WAIT after each of tens of thousands of connections, and
 * connecting takes less of the machine that a thousand processes share.
 */
#ifndef SERVER_H
#define SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include "capacity.h"

/* It ends after so many requests. */
#define SERVER_MOST (1 << 18)

struct http_request {
	nanos at; /* since the storm began */
	bool served;
	bool again; /* it is a retry */
};

/* What it has seen, in memory that it shares with its parent. */
struct record {
	size_t count;
	struct http_request requests[SERVER_MOST];
};

/* A listening socket; -1 with errno. */
int server_listen(const char *name);

/*
 * Answers until life, a descriptor, has something to read or comes to its end,
 * until the record is full, or until the instant end. start is the instant on
 * CLOCK_MONOTONIC when the storm begins.
 */
void server_run(int listener, int life, const struct capacity *capacity,
    nanos start, nanos end, struct record *record);

#endif
