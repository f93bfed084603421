/*
 * link: a connection to a fleet's server that waits for each reply.
 *
 * Errors of the kernel end the program.
 */
#ifndef LINK_H
#define LINK_H

#include "fleet/resp.h"

struct link {
	int fd;
	struct resp_request out; /* what the next link_flush() sends */
	char sent[1 << 18];
	char in[1 << 16];
	size_t start, end; /* of the bytes of in that are not read */
	bool broken; /* a reply was not RESP2: all later ones are errors */
};

/* Connects to a server's Unix socket. */
void link_open(struct link *link, const char *path);
void link_close(struct link *link);

/* Sends all requests that were written to link->out. */
void link_flush(struct link *link);

/* Waits for the next reply. Its text is valid until the next call. */
struct resp_reply link_reply(struct link *link);

/* Sends a request of words that are strings; the last is NULL. */
struct resp_reply link_ask(struct link *link, const char *const words[]);
#define LINK_ASK(link, ...) \
	link_ask(link, (const char *const[]){ __VA_ARGS__, NULL })

#endif
