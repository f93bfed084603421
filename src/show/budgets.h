/*
 * budgets: shows, resets or removes budgets instead of running a command.
 *
 * They are shown as a table for people, or as JSON or in the text format of
 * Prometheus for programs. A key may hold any bytes, but the output is UTF-8
 * without control bytes: bytes that are not UTF-8, and outside of JSON control
 * bytes too, are shown as \xff. Showing them changes nothing, and does not
 * disturb the processes that use them.
 */
#ifndef BUDGETS_H
#define BUDGETS_H

#include "policy/policy.h"

/*
 * Carries out policy->action and returns the exit status: 0; BUDGETS_NONE if
 * there is no such budget or a file cannot be used; EXIT_STATUS_FAILED if
 * memory or descriptors ran out, or the output could not be written. Closes
 * standard output.
 */
#define BUDGETS_NONE 1

int budgets_run(const struct policy *policy);

#endif
