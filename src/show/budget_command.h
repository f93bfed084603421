/*
 * budget_command: shows, resets or removes budgets instead of running a
 * command.
 *
 * Showing them changes nothing, and does not disturb the processes that use
 * them.
 */
#ifndef BUDGET_COMMAND_H
#define BUDGET_COMMAND_H

#include "policy/policy.h"

/*
 * Carries out policy->action and returns the exit status: 0;
 * BUDGET_COMMAND_NONE if there is no such budget or a file cannot be used;
 * EXIT_STATUS_FAILED if memory or descriptors ran out, or the output could not
 * be written. Closes standard output.
 */
#define BUDGET_COMMAND_NONE 1

int budget_command_run(const struct policy *policy);

#endif
