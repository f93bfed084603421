/*
 * fleet_link: asks a fleet's server, and tells it of successes, in the one
 * wait.
 *
 * A question has a deadline, which includes the connection. It ends with an
 * answer, or with a reason why there is none. Whatever a server does, nothing
 * here blocks, and the question ends at its deadline. No descriptor of the link
 * is inherited by a command.
 *
 * The connection of a question stays open after an answer, so that the success
 * of the retry can be told with one send(2). All times are on CLOCK_BOOTTIME.
 *
 * A link may start a process (helper.h). So call fleet_link_ask(),
 * fleet_link_forget() and fleet_link_connect() only while no attempt and no
 * hook runs: processes that are older than the attempt are not part of it.
 */
#ifndef FLEET_LINK_H
#define FLEET_LINK_H

#include <poll.h>
#include <stdbool.h>
#include "fleet/fleet_dialogue.h"
#include "link/connection.h"
#include "link/exchange.h"

/* How many bytes of a server's own words are shown, escaped. */
#define FLEET_LINK_WORDS 80

/* How the server is reached. */
struct fleet_access {
	struct fleet_url url;
	struct fleet_auth auth; /* its password "": none */
	const char *via; /* --fleet-via, or NULL */
	nanos timeout; /* of a question in all */
	bool verbose;
};

enum fleet_link_stage {
	FLEET_LINK_CLOSED,
	FLEET_LINK_CONNECTING,
	FLEET_LINK_ASKING, /* replies are awaited */
	FLEET_LINK_READY, /* connected, and nothing is awaited */
};

enum fleet_link_end {
	FLEET_LINK_NONE, /* nothing was asked */
	FLEET_LINK_PENDING,
	FLEET_LINK_ANSWERED,
	FLEET_LINK_FAILED,
};

struct fleet_link {
	const struct fleet_access *access;
	struct transport transport;
	enum fleet_link_stage stage;
	enum fleet_link_end end;
	char reason[FLEET_LINK_WORDS + 64]; /* if it failed: why */

	struct fleet_dialogue dialogue; /* has the question, and its answer */

	/* What follows is for fleet_link.c only. */
	struct connection connection;
	struct fleet_url url; /* of the server that is asked */
	nanos until;
	struct exchange exchange;
};

/* Sets the link up; opens nothing. */
void fleet_link_open(struct fleet_link *link, const struct fleet_access *access,
    const struct signals *signals);

/*
 * Begins to ask. It is over when link->end is not FLEET_LINK_PENDING. If the
 * server runs the script after question->by, then by is corrected, and the
 * server is asked once more.
 */
void fleet_link_ask(
    struct fleet_link *link, const struct fleet_question *question, nanos now);

/* The same for the request that forgets the budget of key. */
void fleet_link_forget(struct fleet_link *link, const char *key, nanos now);

/* Begins to connect, so that a success can be told later. Nobody waits. */
void fleet_link_connect(struct fleet_link *link, nanos now);

/*
 * Sends a question whose answer nobody reads, if the link is ready, and closes
 * the connection. Returns whether it was sent.
 */
bool fleet_link_tell(
    struct fleet_link *link, const struct fleet_question *question, nanos now);

/* For the one wait: what to wait for, how long at most, and what to do then. */
struct pollfd fleet_link_pollfd(const struct fleet_link *link);
nanos fleet_link_nap(const struct fleet_link *link, nanos now);
void fleet_link_serve(struct fleet_link *link, short events, nanos now);

/* A child of retry was reaped: its number may belong to another process now. */
void fleet_link_reaped(struct fleet_link *link, pid_t pid);

/* Closes the connection and ends its helper. A question ends unanswered. */
void fleet_link_close(struct fleet_link *link);

#endif
