/*
 * known_wait: how long to wait after a limit of a server that names no time.
 *
 * --retry-after DUR:LIST and presets know that of some failures, which are
 * limits of the server then. If the server has named a time, in its response or
 * in words, what a preset knows does not count.
 */
#ifndef KNOWN_WAIT_H
#define KNOWN_WAIT_H

#include <stdbool.h>
#include <stdint.h>
#include "policy/verdict.h"

struct known_wait {
	struct conditions failures;
	nanos least; /* of a preset doubled with each further limit */
	const char *text; /* as it was given: "60:http:429"; of a preset NULL */
	const char *location; /* "FILE:LINE"; NULL: the command line */
	const char *preset; /* that knows it; NULL: the user */
	struct known_wait *next;
};

/*
 * Fills in what is known of a new outcome: whether it is a limit, which wait
 * counts, the longest of the user or else of presets, and how long that is.
 * limits: how many failures before were limits that presets know; this one is
 * added.
 */
void known_wait_find(
    const struct known_wait *waits, struct outcome *outcome, int64_t *limits);

/* The longest wait of the user; 0: there is none. */
nanos known_wait_longest(const struct known_wait *waits);

#endif
