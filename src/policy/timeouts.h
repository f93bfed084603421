/*
 * timeouts: the time limit of each attempt, for --timeout.
 */
#ifndef TIMEOUTS_H
#define TIMEOUTS_H

#include <stdbool.h>
#include <stdint.h>
#include "text/duration.h"

/* The most elements of a list of timeouts. */
#define TIMEOUTS_MOST 64

/* Each element is the limit of one attempt, the last one of all later ones. */
struct timeouts {
	nanos list[TIMEOUTS_MOST]; /* 0: this attempt has no limit */
	int count; /* elements of list; 0: no attempt has a limit */
};

/* The limit of attempt number attempt, from 1; 0: it has none. */
nanos timeouts_of(const struct timeouts *timeouts, int64_t attempt);

/* Whether any attempt has a limit. */
bool timeouts_any(const struct timeouts *timeouts);

/* Whether each of the attempts from 1 to this number has a limit. */
bool timeouts_all(const struct timeouts *timeouts, int64_t attempts);

/*
 * The sum of the limits of the attempts from 1 to this number. It saturates. It
 * is NANOS_MAX if one of these attempts has no limit.
 */
nanos timeouts_sum(const struct timeouts *timeouts, int64_t attempts);

#endif
