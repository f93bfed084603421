/*
 * fleet_dialogue: which requests a question needs, and what follows from each
 * reply.
 *
 * All requests that do not depend on a reply are sent together: AUTH, SELECT
 * and the question. Some errors lead to another way to ask (fleet_error.h);
 * each way is tried once.
 */
#ifndef FLEET_DIALOGUE_H
#define FLEET_DIALOGUE_H

#include "fleet/fleet_auth.h"
#include "fleet/fleet_error.h"
#include "fleet/fleet_script.h"

/* The most replies that are awaited at a time. */
#define FLEET_REPLIES 4

enum fleet_purpose {
	FLEET_PURPOSE_GREET, /* only AUTH and SELECT */
	FLEET_PURPOSE_ASK,
	FLEET_PURPOSE_FORGET, /* the budget of question.key */
};

enum fleet_move {
	FLEET_MOVE_READ, /* read the next reply */
	FLEET_MOVE_WRITE, /* write and send what fleet_dialogue_write() says */
	FLEET_MOVE_REDIRECT, /* the same over a connection to another server */
	FLEET_MOVE_END, /* the last reply was the answer */
	FLEET_MOVE_REFUSED, /* the reply is an error that says why */
	FLEET_MOVE_INVALID, /* the reply is not that of such a server */
};

/* What a reply has to be. */
enum fleet_awaited {
	FLEET_AWAITED_OK,
	FLEET_AWAITED_TIME,
	FLEET_AWAITED_ANSWER,
};

struct fleet_dialogue {
	const struct fleet_auth *auth; /* its password "": none */
	int db;
	enum fleet_purpose purpose;
	struct fleet_question question;
	struct fleet_answer answer; /* after FLEET_MOVE_END; FLEET_STALE: there
				       was only that one */
	bool greeted; /* AUTH and SELECT have been sent */
	bool asking; /* ASKING stands before each command */
	bool whole; /* the server may not know the script */
	bool timed; /* the script may not ask for the time: send TIME before */
	nanos offset; /* if timed: the server's clock less that of retry */
	unsigned tried; /* a bit for each way that was tried */
	enum fleet_awaited awaited[FLEET_REPLIES];
	size_t next, count; /* of awaited */
};

/* Begins to talk to a server. */
void fleet_dialogue_open(
    struct fleet_dialogue *dialogue, const struct fleet_auth *auth, int db);

/* From now on, the requests are those that have this purpose. */
void fleet_dialogue_begin(struct fleet_dialogue *dialogue,
    enum fleet_purpose purpose, const struct fleet_question *question);

/* There is a new connection, to which nothing has been sent. */
void fleet_dialogue_connected(struct fleet_dialogue *dialogue);

/* Writes all that is to be sent now. False if there is nothing. */
bool fleet_dialogue_write(
    struct fleet_dialogue *dialogue, struct resp_request *request);

/*
 * Takes the next reply. now is on the clock of retry, and left is how long the
 * question may still take. *to is set for FLEET_MOVE_REDIRECT.
 */
enum fleet_move fleet_dialogue_take(struct fleet_dialogue *dialogue,
    const struct resp_reply *reply, nanos now, nanos left,
    struct fleet_redirect *to);

#endif
