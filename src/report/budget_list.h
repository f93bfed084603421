/*
 * budget_list: what is shown of budgets, and what each number is called.
 */
#ifndef BUDGET_LIST_H
#define BUDGET_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include "budget/snapshot.h"
#include "policy/policy.h"
#include "text/number.h"

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

enum kind {
	KIND_COUNT,
	KIND_PARTS, /* millionths */
	KIND_SPAN, /* nanoseconds */
	KIND_NEXT, /* nanoseconds; 0 is shown as "now" */
	KIND_STATE, /* enum breaker_state */
};

/* Whose budgets have a field. */
enum scope {
	SCOPE_ANY,
	SCOPE_HOST,
	SCOPE_FLEET,
};

/* A field of a snapshot and its names. NULL: the field is not in that format.
 */
struct budget_field {
	size_t at;
	enum scope scope;
	enum kind kind;
	const char *title; /* in the table */
	const char *object; /* in JSON, the member that has it; NULL: none */
	const char *name; /* in JSON */
	const char *metric, *type, *help; /* in Prometheus */
};

#define BUDGET_FIELDS 22

extern const struct budget_field budget_fields[BUDGET_FIELDS];

/* Whether the budgets of this scope have a field. */
bool budget_list_has(enum scope scope, const struct budget_field *field);

/* A value for programs; none stands for SNAPSHOT_NONE. */
const char *
budget_list_exact(char room[NUMBER_ROOM], const struct snapshot *snapshot,
    const struct budget_field *field, const char *none);

/* A value for people. */
const char *budget_list_rounded(char room[DURATION_ROOM],
    const struct snapshot *snapshot, const struct budget_field *field);

/* The name of the breaker's state. */
const char *budget_list_state(const struct snapshot *snapshot);

#endif
