/*
 * dry_run: prints the delays and the worst case of a policy, for --dry-run.
 */
#ifndef DRY_RUN_H
#define DRY_RUN_H

#include "policy/policy.h"

/*
 * Prints the forecast of the policy and returns the exit status: 0, or
 * EXIT_STATUS_FAILED if standard output cannot be written to.
 */
int dry_run_show(const struct policy *policy);

#endif
