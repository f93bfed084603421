/*
 * budget_show: writes budgets as a table, as JSON or as metrics.
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
#include "budget/snapshot.h"
#include "output/writer.h"
#include "policy/policy.h"

/* The budgets to show. */
struct budget_list {
	enum format format;
	const char *directory; /* of all these budgets */
	const struct snapshot *snapshots;
	/* What the fleet's server knows of the same budgets, if it answered;
	 * NULL: nobody asked it. */
	const struct snapshot *fleets;
	const char *url; /* of the server */
	const char *error; /* why the server did not answer */
	size_t count;
	bool one; /* one key was asked for: JSON is an object, no array */
};

/* Writes the list; the caller flushes the writer. */
void budget_show(const struct budget_list *list, struct writer *writer);

#endif
