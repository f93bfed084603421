/*
 * fleet_client: asks a fleet for a retry that is due, tells it of successes.
 *
 * The story of a retry that is due is in fleet_host.h. Here its questions are
 * sent, over a link that is served in the one wait, and what came of them is
 * stored in the segment of the budget. Nothing here waits.
 *
 * A success is told by one send(2), by a process that has a connection because
 * the server has granted it the retry that succeeded. All others are told with
 * the next question.
 */
#ifndef FLEET_CLIENT_H
#define FLEET_CLIENT_H

#include <stdbool.h>
#include "budget/fleet_host.h"
#include "fleet/link.h"
#include "output/log.h"
#include "store/budget_client.h"

struct fleet_client {
	struct budget_client *budget;
	struct fleet_link link;
	struct fleet_caller caller;
	bool late; /* retry came too late to see an answer to the last one */
	bool silent; /* the last question got no answer: link.reason */
	bool said; /* the user was told so */
};

/* Sets the client up, for the fleet that shares the budget. Opens nothing:
 * link_close() is all that it takes to close it. seed: random. */
void fleet_client_start(struct fleet_client *fleet,
    const struct fleet_policy *policy, struct budget_client *budget,
    const struct signals *signals, uint64_t seed);

/* If the decision about a retry is HOST_ASK: sends the question, which is over
 * when link.end is not LINK_PENDING. */
void fleet_client_ask(struct fleet_client *fleet, nanos now);

/*
 * Stores what came of the last question, if that was not done yet. If the
 * server has answered nothing so far, the question is cut off, and nobody is to
 * blame.
 */
void fleet_client_store(struct fleet_client *fleet, nanos now);

/*
 * To be called when it is decided whether an attempt may begin. Adds to the
 * admission why the server is silent, if nobody was told so.
 */
void fleet_client_end(struct fleet_client *fleet, struct admission *admission);

/* If the server has to answer (--budget-required): sends a question that wants
 * nothing. */
void fleet_client_greet(struct fleet_client *fleet, nanos now);

/* Whether the question is over that --budget-required asks. If retry came too
 * late to see an answer to it, it is asked once more. */
bool fleet_client_greeted(struct fleet_client *fleet, nanos now);

/* Whether the server has answered; if not, says why the command is not run. */
bool fleet_client_ready(struct fleet_client *fleet, nanos now);

/* To be called when an attempt has ended: tells what there is to tell, and
 * closes the connection. */
void fleet_client_tell(struct fleet_client *fleet, bool succeeded, nanos now);

#endif
