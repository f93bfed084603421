/*
 * fleet_inquiry: asks a fleet's server when no command is run.
 *
 * A question takes nothing and changes nothing on the server.
 */
#ifndef FLEET_INQUIRY_H
#define FLEET_INQUIRY_H

#include "budget/snapshot.h"
#include "link/link.h"
#include "policy/policy.h"
#include "sys/signals.h"

struct fleet_inquiry {
	const struct fleet_policy *fleet;
	struct signals signals;
	struct fleet_link link;
	const char *error; /* why the server did not answer; NULL: it did */
};

/*
 * Sets the inquiry up for the server of a policy. All signals are blocked until
 * fleet_inquiry_close(), and retry dies of those that end a series.
 */
void
fleet_inquiry_open(struct fleet_inquiry *inquiry, const struct policy *policy);

/*
 * Fills in what the server knows of the budget of key. False if it does not
 * answer: then inquiry->error says why, and it is not asked again.
 */
bool fleet_inquiry_look(
    struct fleet_inquiry *inquiry, const char *key, struct snapshot *snapshot);

/* Fills in fleets, what the server knows of the same budgets as snapshots. */
void fleet_inquiry_look_all(struct fleet_inquiry *inquiry,
    const struct snapshot *snapshots, size_t count, struct snapshot *fleets);

/* Makes the server forget the budget of key. False as above. */
bool fleet_inquiry_forget(struct fleet_inquiry *inquiry, const char *key);

/* Closes the connection, and lets signals through again. */
void fleet_inquiry_close(struct fleet_inquiry *inquiry);

#endif
