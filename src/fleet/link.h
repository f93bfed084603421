/*
 * link: asks a fleet's server, and tells it of successes, in the one wait.
 *
 * The story of a retry that is due is in fleet_host.h, which decides what is
 * asked and told. Here that is sent, and what came of it is stored in the
 * segment of the budget.
 *
 * A question has a deadline, which includes the connection. It ends with an
 * answer, or with a reason why there is none. Whatever a server does, nothing
 * here blocks, and the question ends at its deadline. No descriptor of the link
 * is inherited by a command.
 *
 * A socket needs no process. For TCP there is a helper until the connection is
 * made, and for TLS there is one until it is closed.
 *
 * The connection of a question stays open if a retry was granted, so that its
 * success can be told with one send(2). All other successes are told with the
 * next question. All times are on CLOCK_BOOTTIME.
 *
 * A link may start a process (helper.h). So call link_ask() only while no
 * attempt and no hook runs: processes that are older than the attempt are not
 * part of it.
 */
#ifndef LINK_H
#define LINK_H

#include <poll.h>
#include <stdbool.h>
#include <sys/types.h>
#include "budget/fleet_host.h"
#include "fleet/question.h"
#include "policy/policy.h"
#include "store/budget_client.h"
#include "sys/signals.h"

/* How many bytes of a server's own words are shown, escaped: Redis up to 6 puts
 * 116 before the reason, and the longest of its reasons has 344. */
#define LINK_WORDS 512

enum link_stage {
	LINK_CLOSED,
	LINK_READY, /* connected, and nothing is awaited */
	LINK_RESOLVING, /* a helper looks up the host */
	LINK_CONNECTING, /* it has found the host, and connects */
	LINK_ASKING, /* a connection or replies are awaited */
};

struct fleet_link {
	const struct fleet_policy *policy; /* how the server is reached */
	bool verbose; /* the errors of openssl are shown */
	const struct signals *signals;
	enum link_stage stage;
	nanos until; /* of the last question */
	struct dialog dialog; /* its answer: FLEET_SILENT if there was none */
	char reason[LINK_WORDS + 64]; /* then: why */

	/* If it serves a budget: */
	struct budget_client *budget;
	struct fleet_caller caller; /* has the question */
	bool late; /* retry came too late to see an answer to the last one */
	bool said; /* the user was told that the server does not answer */

	/* What follows is for link.c only. */
	int fd; /* unless the link is closed */
	pid_t helper; /* 0: none */
};

/* Sets the link up; opens nothing. */
void link_start(struct fleet_link *link, const struct fleet_policy *policy,
    bool verbose, const struct signals *signals);

/* The budget that the fleet shares; its caller asks the fleet from now on.
 * seed: random. */
void link_share(
    struct fleet_link *link, struct budget_client *budget, uint64_t seed);

/*
 * Begins to ask. Until link_asks() is false the question must stay. If the
 * server runs the script after question->by, then by is corrected, and the
 * server is asked once more.
 */
void
link_ask(struct fleet_link *link, struct fleet_question *question, nanos now);

/* Whether a question is under way. */
bool link_asks(const struct fleet_link *link);

/*
 * Ends the question of the budget's caller, and stores what came of it:
 * FLEET_SILENT or FLEET_CUT if there was no answer. Returns whether a retry is
 * granted; if not, the connection is closed.
 */
bool link_settle(struct fleet_link *link, nanos now);

/* Asks the server whether it answers, and tells what there is to tell. */
void link_greet(struct fleet_link *link, nanos now);

/* To be called when an attempt has ended: if it was granted, and has succeeded,
 * tells what there is to tell. Closes the connection. */
void link_report(struct fleet_link *link, bool succeeded, nanos now);

/*
 * Sends a question whose answer nobody reads, if the link is ready, and closes
 * the connection. Returns whether it was sent.
 */
bool link_tell(struct fleet_link *link, struct fleet_question *question);

/* For the one wait: what to wait for, how long at most, and what to do then. */
struct pollfd link_pollfd(const struct fleet_link *link);
nanos link_nap(const struct fleet_link *link, nanos now);
void link_serve(struct fleet_link *link, short events, nanos now);

/* A child of retry was reaped: its number may belong to another process now. */
void link_reaped(struct fleet_link *link, pid_t pid);

/* Closes the connection and ends its helper. A question ends unanswered. */
void link_close(struct fleet_link *link);

#endif
