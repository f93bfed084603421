/*
 * talk: what is said to a fleet's server, and what follows from its replies,
 * without the connection.
 *
 * All requests that do not depend on a reply are sent together: AUTH, SELECT
 * and the question. Some errors lead to another way to ask; each way is tried
 * once in a question. All other errors mean that this host has to do without
 * the server for a while.
 */
#ifndef TALK_H
#define TALK_H

#include "policy/url.h"
#include "fleet/question.h"

enum talk_move {
	TALK_WAITS, /* until out is sent, or for more of in */
	TALK_ANSWERED,
	TALK_REDIRECTED, /* ask the same over a connection to url */
	TALK_REFUSED, /* words: why */
	TALK_INVALID, /* the reply is not that of such a server */
};

struct talk {
	const struct url_auth *auth; /* its password "": none */
	struct url url; /* of the server; TALK_REDIRECTED changes it */
	struct fleet_question *question; /* by and now may change */
	struct fleet_answer answer; /* after TALK_ANSWERED; FLEET_STALE: there
				       was only that one */
	/*
	 * The part of an error that says why: without the numbers of the
	 * script, and without the words "Error running script" that older
	 * servers put before it, and without a full stop, since a message
	 * continues after them. If the server wants a password, the words are
	 * those of NOAUTH, whatever it says.
	 */
	struct strview words;

	bool forgets; /* the question is to forget the budget of its key */
	bool greeted; /* AUTH and SELECT have been sent */
	bool asking; /* ASKING stands before each command */
	bool whole; /* the server may not know the script */
	bool timed; /* the script may not ask for the time: send TIME before */
	nanos offset; /* if timed: the server's clock less that of retry */
	unsigned tried; /* a bit for each way that was tried */
	int greetings; /* replies that have to be OK, before the last one: */
	bool asks_time; /* it is that to TIME, and not the answer */

	size_t sent, length; /* of out */
	size_t received; /* of in */
	char out[FLEET_REQUEST + 2 * URL_PASSWORD_ROOM];
	char in[RESP_REPLY];
};

/* Begins to talk to a server. */
void talk_open(
    struct talk *talk, const struct url_auth *auth, const struct url *url);

/* Begins a question, or forgets the budget of its key. Writes nothing yet. */
void talk_ask(struct talk *talk, struct fleet_question *question, bool forgets);

/* There is a new connection, to which nothing has been sent. */
void talk_connected(struct talk *talk);

/* Writes to out all that can be sent now. */
void talk_write(struct talk *talk);

/*
 * Takes the replies in in, and writes to out what is to be sent because of
 * them. now is on the clock of retry, and left is how long the question may
 * still take. words points into in, and is valid until the next call.
 */
enum talk_move talk_take(struct talk *talk, nanos now, nanos left);

#endif
