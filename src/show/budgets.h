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

#include <stdbool.h>
#include <stddef.h>
#include "budget/segment.h"
#include "fleet/link.h"
#include "policy/policy.h"

/*
 * Carries out policy->action and returns the exit status: 0; BUDGETS_NONE if
 * there is no such budget or a file cannot be used; EXIT_STATUS_FAILED if
 * memory or descriptors ran out, or the output could not be written. Closes
 * standard output.
 */
#define BUDGETS_NONE 1

int budgets_run(const struct policy *policy);

/* Room for the reason why a server does not answer, and the closing NUL. */
#define BUDGETS_REASON (LINK_WORDS + 64)

/* A budget, as qsort(3) compares it by segment_compare(): by its host's part.
 */
struct budget {
	struct snapshot host;
	struct snapshot fleet; /* what the fleet's server knows of it */
};

/*
 * Asks the server of the policy's fleet what it knows of the budgets that host
 * names, and fills in fleet; that takes and changes nothing on the server. With
 * forget, the server is to forget the budgets. False, with the reason, if it
 * does not answer: it is not asked again then.
 *
 * Meanwhile all signals are blocked, and retry dies of one that ends a series.
 */
bool budgets_ask(const struct policy *policy, struct budget *budgets,
    size_t count, bool forget, char reason[BUDGETS_REASON]);

#endif
