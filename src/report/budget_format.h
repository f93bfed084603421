/*
 * budget_format: accounts of budgets, for people (a table) and for programs
 * (JSON, the text format of Prometheus).
 *
 * A key is any bytes, but what is written here is text in UTF-8 without
 * control bytes. Those, and bytes that are not UTF-8, are shown as \xff, as
 * retry's lines do; in JSON only the latter.
 */
#ifndef BUDGET_FORMAT_H
#define BUDGET_FORMAT_H

#include "budget/snapshot.h"
#include "output/writer.h"
#include "policy/policy.h"

struct budget_format {
	enum format format;
	const char *directory; /* of all the accounts */
	const struct snapshot *snapshots;
	size_t count;
	bool one; /* one was asked for: in JSON no array */
};

/* Writes them to page, which the caller closes. */
void
budget_format_put(const struct budget_format *tables, struct writer *writer);

#endif
