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
#include "text/strview.h"

/* The most targets of one invocation. */
#define TARGET_MOST 64

/* The most bytes of a URL: with what a request adds, they fit into a socket
 * that is new. */
#define TARGET_URL 2000

/* Room for why a word is no target. */
#define TARGET_HINT 600

enum target_kind {
	TARGET_TCP,
	TARGET_UNIX,
	TARGET_FILE,
	TARGET_HTTP,
	TARGET_HTTPS, /* only refused */
};

struct target {
	const char *text; /* the word */
	enum target_kind kind;
	struct strview host; /* of a port or a page, without brackets */
	int port;
	/* Of a socket or a file, up to the NUL; of a page, what follows host
	 * and port. */
	struct strview path;
};

/* Whether a word begins as a target does. */
bool target_named(const char *word);

/* Reads a target, whose parts are in the word. False if it is none: then hint
 * says why, with the word, unless that may have a password. */
bool target_parse(
    const char *word, struct target *target, char hint[TARGET_HINT]);

/* Writes the target that a word may mean that is none, as "db:5432" does, and
 * returns room; NULL: it means none. */
const char *target_meant(const char *word, char room[TARGET_HINT]);

#endif
