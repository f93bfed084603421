/*
 * context: what surrounds an invocation: clocks, chance, the environment that
 * each attempt gets, and what an outer retry left in ours.
 */
#ifndef CONTEXT_H
#define CONTEXT_H

#include <stdint.h>
#include <time.h>
#include "plan.h"

/* The most variables that context adds to an environment. */
#define CONTEXT_OURS 5
#define CONTEXT_HANDED 2

/* Room for one variable, its name included. */
#define CONTEXT_ROOM 112

/* The environment of the attempts. */
struct context {
	char **env; /* NULL-terminated, for execve */
	char **ours; /* where ours begin in it */
	char attempt[CONTEXT_ROOM], most[CONTEXT_ROOM], depth[CONTEXT_ROOM],
	    deadline[CONTEXT_ROOM], last[CONTEXT_ROOM];
};

/* The time on a clock, in nanoseconds. */
nanos context_now(clockid_t clock);

/* A number that nobody can guess, from the kernel. */
uint64_t context_seed(void);

/*
 * The instant on CLOCK_BOOTTIME at which an outer retry's deadline ends, as
 * RETRY_DEADLINE tells; NANOS_MAX if there is none, if it is malformed, or of
 * another boot or time namespace.
 */
nanos context_deadline(void);

/* The elements that context_open needs: those of environ, ours, and NULL. */
size_t context_elements(void);

/*
 * Fills env, which has context_elements() elements and must live as long as
 * context, with our environment, less what of it was ours to set, and with
 * handed, at most CONTEXT_HANDED variables and NULL, which replace others of
 * their names.
 */
void context_open(struct context *context, char **env, char *const *handed);

/*
 * Tells the attempt that is about to begin: RETRY_ATTEMPT, RETRY_MAX_ATTEMPTS,
 * RETRY_DEPTH; RETRY_DEADLINE if there is one; RETRY_LAST_STATUS after the
 * first.
 */
void context_tell(struct context *context, const struct policy *policy,
    const struct history *history);

/*
 * Moves a descriptor to 10 or above, out of the way of those that shell
 * scripts number by hand, and returns the new number. Where the limit of open
 * files leaves no such room, it goes at least above 2, if it can. It stays
 * close-on-exec.
 */
int context_move_up(int fd);

#endif
