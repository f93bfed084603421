/*
 * lookout: looks again and again whether targets have arrived, each in a
 * helper.
 *
 * A helper is a process for one look, because the lookup of a name and the path
 * of a file may take as long as they like. It has no descriptor of retry or its
 * caller, dies with retry, and tells why it has found nothing in memory that
 * both share. Its end is a SIGCHLD, so it ends the one wait.
 */
#ifndef LOOKOUT_H
#define LOOKOUT_H

#include <signal.h>
#include "policy/policy.h"
#include "sys/signals.h"

/* Room for why a target is missing. */
#define LOOKOUT_WHY 64

/* What is known of one target. Instants are on CLOCK_BOOTTIME. */
struct look {
	const struct target *target;
	nanos arrived; /* 0: it is missing */
	bool hopeless; /* it cannot even be looked at */
	bool told; /* the user knows that it has arrived */
	int64_t count; /* looks so far */

	/* What follows is for lookout.c only. */
	char why[LOOKOUT_WHY]; /* as the last look that is over has found it */
	char *doing; /* the helper writes that, and what it is at, here */
	pid_t helper; /* 0 or less: none */
	nanos until; /* when the helper is ended, or the next one begins */
	struct schedule schedule;
};

struct lookout {
	const struct policy *policy;
	const struct signals *signals;
	int missing;
	bool hopeless; /* one of them is */
	struct look list[TARGET_MOST];
};

/* Sets up the looks at the targets of the policy. False, with errno. */
bool lookout_open(struct lookout *lookout, const struct policy *policy,
    const struct signals *signals, uint64_t random);

/* Begins the looks that are due, and ends those that take too long. Returns how
 * long to wait before it is called again, unless a helper ends before. */
nanos lookout_go_on(struct lookout *lookout, nanos now);

/* A child of retry was reaped, which may be a helper: so all helpers are reaped
 * when nothing is missing. */
void lookout_reaped(struct lookout *lookout, const siginfo_t *info);

/* Why a target is missing. A look that is cut off does not hide what the one
 * before it has found. */
const char *lookout_why(const struct look *look);

#endif
