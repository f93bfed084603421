/*
 * budget_show: shows budgets as a table, as JSON or as metrics.
 *
 * The table is for people; JSON and the text format of Prometheus are for
 * programs. A key may hold any bytes, but the output is UTF-8 without control
 * bytes: bytes that are not UTF-8, and outside of JSON control bytes too, are
 * shown as \xff.
 */
#ifndef BUDGET_SHOW_H
#define BUDGET_SHOW_H

#include <stdbool.h>
#include <stddef.h>
#include "budget/segment.h"
#include "fleet/link.h"
#include "policy/policy.h"

/* The budgets to show. */
struct budget_list {
	const struct policy *policy; /* which asks for them, and for a format */
	const struct snapshot *snapshots;
	/* What the fleet's server knows of the same budgets, if it answered;
	 * NULL: nobody asked it. */
	const struct snapshot *fleets;
	const char *error; /* why the server did not answer */
	size_t count;
};

/* Writes the list to standard output, which it closes. False, after a message
 * on standard error, if not all bytes could be written. */
bool budget_show(const struct budget_list *list);

/* Room for the reason why a server does not answer, and the closing NUL. */
#define BUDGET_SHOW_REASON (LINK_WORDS + 64)

/*
 * Asks the server of the policy's fleet what it knows of these budgets, and
 * fills in fleets; that takes and changes nothing on the server. If fleets is
 * NULL, the server is to forget the budgets. False, with the reason, if it does
 * not answer: it is not asked again then.
 *
 * Meanwhile all signals are blocked, and retry dies of one that ends a series.
 */
bool
budget_show_ask(const struct policy *policy, const struct snapshot *budgets,
    size_t count, struct snapshot *fleets, char reason[BUDGET_SHOW_REASON]);

#endif
