/*
 * lookout: looks again and again whether targets have arrived, each in a
 * helper.
 *
 * A helper is a process for one look, because the lookup of a name and the path
 * of a file may take as long as they like. It has no descriptor of retry or its
 * caller, dies with retry, and tells what it has found in memory that both
 * share. Its end is a SIGCHLD, so it ends the one wait.
 */
#ifndef LOOKOUT_H
#define LOOKOUT_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include "policy/policy.h"
#include "sys/signals.h"

/* Room for why a target is missing. */
#define LOOKOUT_WHY 80

/* What is known of one target. Instants are on CLOCK_BOOTTIME. */
struct look {
	const struct target *target;
	nanos arrived; /* at the first success; 0: it is missing */
	int64_t count; /* looks so far */
	char why[LOOKOUT_WHY]; /* the last one that is over did not succeed */
	bool told; /* the user knows that it has arrived */
	bool hopeless; /* it cannot even be looked at */

	/* What follows is for lookout.c only. */
	struct schedule schedule;
	nanos began, until; /* the last look */
	nanos next;
	pid_t helper; /* 0: none */
	int *found; /* shared with it */
};

struct lookout {
	const struct policy *policy;
	const struct signals *signals;
	int count, missing;
	bool hopeless; /* one of the targets is */
	struct look list[TARGET_MOST];
};

/* Sets up the looks at the targets of the policy. False, with errno. */
bool lookout_open(struct lookout *lookout, const struct policy *policy,
    const struct signals *signals, uint64_t random);

/* Begins the looks that are due, and ends those that take too long. Returns how
 * long to wait before it is called again, unless a helper ends before. */
nanos lookout_go_on(struct lookout *lookout, nanos now);

/* A child of retry was reaped, which may be a helper. */
void lookout_reaped(struct lookout *lookout, const siginfo_t *info);

/* Ends the helpers that are left: there are none once all have arrived. */
void lookout_close(struct lookout *lookout, nanos now);

#endif
