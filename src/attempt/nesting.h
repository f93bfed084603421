/*
 * nesting: reads what an outer retry wrote into the environment, and writes it.
 *
 * The variables of an outer retry count only while it lives: a daemon that was
 * once started under a retry must not pass on the deadline of that retry.
 */
#ifndef NESTING_H
#define NESTING_H

#include <stdbool.h>
#include <stddef.h>
#include "sys/sys.h"
#include "policy/plan.h"

/* What the outer retry wrote. */
struct outer {
	bool alive; /* if not, the other fields mean nothing */
	nanos deadline; /* on CLOCK_BOOTTIME; NANOS_MAX: none */
	int64_t depth; /* the number of outer retries */
	bool retrying; /* an outer retry is past its first attempt */
	const char *id; /* RETRY_ID, or NULL */
	const char *admitted; /* RETRY_ADMITTED, the key of a budget, or NULL */
};

/* The most variables that nesting adds to an environment. */
#define NESTING_OWN 23
#define NESTING_HANDED 4

/* Room for a variable that is a number, an id or a deadline. */
#define NESTING_ROOM 112

/* With more variables than this, which is rare, memory is allocated. */
#define NESTING_FEW 256

/* The environment of the attempts. */
struct nesting {
	char **env; /* NULL-terminated, for execve */
	char **next; /* in env: where the variables that change begin */
	char *few[NESTING_FEW];
	void *heap; /* in place of few, or NULL */
	bool retrying; /* an outer retry is past its first attempt */
	char attempt[NESTING_ROOM], most[NESTING_ROOM], depth[NESTING_ROOM],
	    deadline[NESTING_ROOM], last[NESTING_ROOM], parent[NESTING_ROOM],
	    id[NESTING_ROOM];
};

/*
 * Reads RETRY_PARENT, "pid.instant", and the other variables if that process
 * lived at that instant of CLOCK_BOOTTIME, in nanoseconds, and lives now. What
 * is malformed, or of another boot or time namespace, is ignored.
 */
struct outer nesting_outer(void);

/*
 * How many of the policy's attempts --nested allows, given an outer retry: if
 * none may be a retry, only the successes in a row that are wanted.
 */
int64_t
nesting_attempts(const struct policy *policy, const struct outer *outer);

/*
 * Finds the id of the invocation: that of the outer retry, or a new one. This
 * comes before the other functions.
 */
void nesting_start(struct nesting *nesting, const struct outer *outer);

/*
 * Begins the environment of the attempts: that of retry, without what
 * nesting_tell adds, and with handed, at most NESTING_HANDED variables and
 * NULL, which replace others of their names. A name without "=" only removes
 * the variable. False, with errno, if there is no memory.
 */
bool nesting_open(struct nesting *nesting, char *const *handed,
    const struct policy *policy, const struct outer *outer);

/* Frees what nesting_open() allocated. */
void nesting_close(struct nesting *nesting);

/*
 * Writes the variables for the attempt that is about to begin: RETRY_ATTEMPT,
 * RETRY_MAX_ATTEMPTS; RETRY_DEADLINE if there is one; RETRY_LAST_STATUS after
 * the first attempt; RETRY_ANCESTOR_RETRY=1 if this or an outer retry is past
 * its first attempt. If over is true, the variables are for a hook: the attempt
 * is over, and RETRY_LAST_STATUS says how it ended.
 */
void nesting_tell(struct nesting *nesting, const struct policy *policy,
    const struct history *history, bool over);

/* The value of RETRY_ID. */
const char *nesting_id(const struct nesting *nesting);

#endif
