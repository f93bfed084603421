/*
 * dry_run: --dry-run: how long a policy would have everybody wait, as a page
 * for people. Nothing is run.
 */
#ifndef DRY_RUN_H
#define DRY_RUN_H

#include "policy/policy.h"

/* Returns the exit status: EXIT_STATUS_FAILED where the page cannot be
 * delivered. */
int dry_run_show(const struct policy *policy);

#endif
