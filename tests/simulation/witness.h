/*
 * witness: what the log of a storm's server says about promises of a budget.
 *
 * A process that was stopped after it had asked its budget makes its attempt
 * when it goes on. And what it hears it tells its budget later, or never if it
 * is killed. So the log alone does not show who kept a promise.
 */
#ifndef WITNESS_H
#define WITNESS_H

#include <stdbool.h>
#include <stddef.h>
#include "budget/window.h"

/* For so long after an answer a process may need to tell its budget, and from
 * that to an attempt, on a machine that is busy. */
#define WITNESS_SLACK (NANOS_SECOND / 2)

/* A request, since the storm began. */
struct request {
	nanos at;
	int status; /* of HTTP */
	nanos wait; /* that was asked for; 0: none */
	bool again; /* it is a retry */
	int by; /* pid of its retry */
	int64_t host; /* that it comes from; -1: unknown */
	/* When its retry was stopped or killed, 0: never; and when it went on,
	 * NANOS_MAX: never. */
	nanos hurt, resumed;
};

/*
 * How many came while the server had asked a process of that host to wait.
 * Without those that come within WITNESS_SLACK after that answer, or after
 * their own process went on. *holds: how often it was asked.
 */
size_t
witness_early(const struct request *requests, size_t count, size_t *holds);

/*
 * How many retries failed that are more than a budget for each host allows in
 * the window before. A 429 counts neither way.
 */
size_t witness_excess(
    const struct request *requests, size_t count, const struct terms *limits);

#endif
