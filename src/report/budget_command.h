/*
 * budget_command: what is done with budgets instead of running a command: they
 * are shown, one is reset, or those that nobody uses are removed. To show them
 * changes nothing: whoever is using one does not notice.
 */
#ifndef BUDGET_COMMAND_H
#define BUDGET_COMMAND_H

#include "policy/policy.h"

/*
 * Does what the policy says and returns the exit status: 0; BUDGET_COMMAND_NONE
 * where there is no such budget, or the kernel refuses; 125 if it has not the
 * memory or the descriptors, or the output could not be delivered. Standard
 * output is closed.
 */
#define BUDGET_COMMAND_NONE 1

int budget_command_run(const struct policy *policy);

#endif
