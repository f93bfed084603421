/*
 * environment: reads what an outer retry wrote into the environment, and makes
 * the environment of the attempts.
 *
 * The variables of an outer retry count only while it lives: a daemon that was
 * once started under a retry must not pass on the deadline of that retry.
 */
#ifndef ENVIRONMENT_H
#define ENVIRONMENT_H

#include <stdbool.h>
#include "sys/sys.h"
#include "policy/plan.h"
#include "attempt/trace.h"
#include "store/budget_client.h"

/* What the outer retry wrote. */
struct outer {
	bool alive; /* if not, the other fields mean nothing */
	nanos deadline; /* on CLOCK_BOOTTIME; NANOS_MAX: none */
	int64_t depth; /* the number of outer retries */
	bool retrying; /* an outer retry is past its first attempt */
	const char *id; /* RETRY_ID, or NULL */
	struct budget_outer budget; /* RETRY_ADMITTED and RETRY_PACED */
};

/* Room for a variable that is a number, an id or a deadline. */
#define ENVIRONMENT_ROOM 112

/* With more variables than this, which is rare, memory is allocated. */
#define ENVIRONMENT_FEW 256
#define ENVIRONMENT_TEXTS 320

/* The environment of the attempts. That of retry itself stays as it is: the
 * ways to a fleet's server have it. */
struct environment {
	char **list; /* NULL-terminated, for execve */
	char **next; /* in list: where the variables that change begin */
	bool retrying; /* an outer retry is past its first attempt */
	struct trace trace; /* whose spans the attempts get as TRACEPARENT */
	char traceparent[sizeof "TRACEPARENT=" + TRACE_ROOM];
	char next_step[ENVIRONMENT_ROOM], attempt[ENVIRONMENT_ROOM],
	    most[ENVIRONMENT_ROOM], depth[ENVIRONMENT_ROOM],
	    deadline[ENVIRONMENT_ROOM], last[ENVIRONMENT_ROOM],
	    last_http[ENVIRONMENT_ROOM], parent[ENVIRONMENT_ROOM],
	    id[ENVIRONMENT_ROOM];
	char texts[ENVIRONMENT_TEXTS]; /* variables that stay as they are */
	size_t written; /* how much of it */
	char *few[ENVIRONMENT_FEW]; /* list, unless it is longer */
};

/*
 * Reads RETRY_PARENT, "pid.instant", and the other variables if that process
 * lived at that instant of CLOCK_BOOTTIME, in nanoseconds, and lives now. What
 * is malformed is ignored.
 */
struct outer environment_outer(void);

/*
 * How many of the policy's attempts --nested allows, given an outer retry: if
 * none may be a retry, only the successes in a row that are wanted.
 */
int64_t
environment_attempts(const struct policy *policy, const struct outer *outer);

/*
 * Begins the environment of the attempts: that of retry, with the options that
 * an inner retry takes over, and the variables by which it knows this one.
 * deadline is on CLOCK_BOOTTIME, NANOS_MAX if there is none. The id of the
 * invocation is that of the outer retry, or made of random numbers, as are
 * those of the trace that begins with --trace. False, with errno, if there is
 * no memory.
 */
bool
environment_open(struct environment *environment, const struct policy *policy,
    const struct outer *outer, nanos deadline, const uint64_t random[5]);

/*
 * Puts a copy of "NAME=text" in place of any variable of this name. Before the
 * first environment_write(), and at most ENVIRONMENT_PUT times. False, with
 * errno, if there is no memory.
 */
#define ENVIRONMENT_PUT 4
bool environment_set(
    struct environment *environment, const char *name, const char *text);

/*
 * Writes the variables that change for the attempt that is about to begin:
 * RETRY_ATTEMPT; after the first attempt RETRY_LAST_STATUS and, if it is known,
 * RETRY_LAST_HTTP_STATUS;
 * RETRY_ANCESTOR_RETRY=1 if this or an outer retry is past its first attempt;
 * TRACEPARENT, with a span of the attempt's own, if there is a trace. With a
 * step the variables are for a hook: the attempt, if there was one, is over,
 * RETRY_LAST_STATUS says how it ended, and RETRY_DELAY_MS or RETRY_REASON what
 * follows.
 */
void environment_write(struct environment *environment,
    const struct history *history, const struct step *step);

/* The value of RETRY_ID. */
const char *environment_id(const struct environment *environment);

#endif
