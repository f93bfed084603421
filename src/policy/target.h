/*
 * target: what -w waits for by itself, in place of a command.
 *
 *	tcp:HOST:PORT		a port accepts a connection; also tcp://
 *	unix:PATH		a socket accepts one; also unix:///PATH
 *	file:PATH		a file exists; also file:///PATH
 *	http://HOST[:PORT][/PATH]
 *				a page answers with 2xx or 3xx
 *
 * An IPv6 address is in brackets.
 */
#ifndef TARGET_H
#define TARGET_H

#include <stdbool.h>
#include "policy/url.h"

/* The most targets of one invocation. */
#define TARGET_MOST 64

/* The most bytes of a URL: a request with it fits into a new socket. */
#define TARGET_URL 2000

/* An https: is read, but cannot be looked at. */
enum target_kind {
	TARGET_TCP,
	TARGET_UNIX,
	TARGET_FILE,
	TARGET_HTTP,
	TARGET_HTTPS,
	TARGET_NONE
};

struct target {
	const char *text; /* the word */
	enum target_kind kind;
	char host[URL_HOST_ROOM]; /* of a port or a page, without brackets */
	int port;
	const char *path; /* of a socket or a file */
	/* Of a page, in the word: host and port; path and query, perhaps "". */
	struct strview authority, page;
};

/* What a word begins as. */
enum target_kind target_kind(const char *word);

/* Reads a target. Returns NULL, or why the word is none. */
const char *target_parse(const char *word, struct target *target);

#endif
