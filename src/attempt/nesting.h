/*
 * nesting: what a retry around this one left for us in the environment, and
 * the environment that each attempt gets.
 *
 * What an outer retry tells counts only while it lives. A daemon that was once
 * started under a retry must not hand its dead deadline on.
 */
#ifndef NESTING_H
#define NESTING_H

#include <stdbool.h>
#include <stddef.h>
#include "sys/sys.h"
#include "policy/plan.h"

/* What the retry around this one tells. */
struct outer {
	bool alive; /* else the rest says nothing */
	nanos deadline; /* on CLOCK_BOOTTIME; NANOS_MAX: none */
	int64_t depth; /* 0: there is none */
	bool retrying; /* it, or one around it, is past its first attempt */
	const char *id; /* RETRY_ID, or NULL */
	const char *admitted; /* key of the breaker that let it run, or NULL */
};

/* The most variables that nesting adds to an environment. */
#define NESTING_OURS 15
#define NESTING_HANDED 2

/* Room for one variable that is a number or a name of ours. */
#define NESTING_ROOM 112

/* Variables for which nothing is allocated; more are rare. */
#define NESTING_FEW 256

/* The environment of the attempts. */
struct nesting {
	char **env; /* NULL-terminated, for execve */
	char **ours; /* where those that change begin in it */
	char *few[NESTING_FEW];
	void *heap; /* in place of few, or NULL */
	bool retrying; /* the retry around us is */
	char attempt[NESTING_ROOM], most[NESTING_ROOM], depth[NESTING_ROOM],
	    deadline[NESTING_ROOM], last[NESTING_ROOM], parent[NESTING_ROOM],
	    id[NESTING_ROOM];
};

/*
 * Reads RETRY_PARENT, "pid.instant", and if that process was there at that
 * instant of CLOCK_BOOTTIME, in nanoseconds, and still lives, what else it
 * told. What is malformed, or of another boot or time namespace, counts as not
 * told.
 */
struct outer nesting_outer(void);

/* How many of the policy's attempts --nested allows below a living outer. */
int64_t
nesting_attempts(const struct policy *policy, const struct outer *outer);

/*
 * Begins the environment of the attempts: that of retry, without what
 * nesting_tell adds, and with handed, at most NESTING_HANDED variables and
 * NULL, which replace others of their names. False, with errno, if there is no
 * memory.
 */
bool nesting_open(struct nesting *nesting, char *const *handed,
    const struct policy *policy, const struct outer *outer);

/* Gives back what nesting_open took. */
void nesting_close(struct nesting *nesting);

/*
 * Tells the attempt that is about to begin: RETRY_ATTEMPT, RETRY_MAX_ATTEMPTS;
 * RETRY_DEADLINE if there is one; RETRY_LAST_STATUS after the first;
 * RETRY_ANCESTOR_RETRY=1 where this or an outer retry is past its first. Or, to
 * a hook, the attempt that is over, with RETRY_LAST_STATUS for how it ended.
 */
void nesting_tell(struct nesting *nesting, const struct policy *policy,
    const struct history *history, bool over);

/* The value of RETRY_ID. */
const char *nesting_id(const struct nesting *nesting);

#endif
