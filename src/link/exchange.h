/*
 * exchange: sends requests over a connection, and reads their replies.
 */
#ifndef EXCHANGE_H
#define EXCHANGE_H

#include "fleet/fleet_auth.h"
#include "fleet/fleet_script.h"
#include "link/connection.h"

struct exchange {
	size_t sent, length; /* of request */
	size_t taken; /* of reply: bytes of replies that have been read */
	size_t received; /* of reply */
	char request[FLEET_REQUEST + 2 * FLEET_PASSWORD_ROOM];
	char reply[RESP_REPLY];
};

enum exchange_state {
	EXCHANGE_WAITING, /* for the connection, or for a reply */
	EXCHANGE_DONE, /* all is sent, or a reply is read */
	EXCHANGE_CLOSED, /* by the other end */
	EXCHANGE_FAILED, /* with errno */
	EXCHANGE_INVALID, /* what came is no reply */
};

/* Forgets what was sent and received over another connection. */
void exchange_reset(struct exchange *exchange);

/* Begins to write the requests that are to be sent next. */
struct resp_request exchange_write(struct exchange *exchange);

/* Sends them, or the rest of them, as far as the connection takes them now. If
 * request is not NULL, it has just been written. */
enum exchange_state exchange_send(struct exchange *exchange,
    const struct resp_request *request, const struct connection *connection);

/* Receives what has come so far: EXCHANGE_DONE if that is anything. */
enum exchange_state exchange_receive(
    struct exchange *exchange, const struct connection *connection);

/* Reads the next reply. Its text is valid until the next call. */
enum exchange_state
exchange_read(struct exchange *exchange, struct resp_reply *reply);

/* Whether more has come than the replies that were read. */
bool exchange_has_more(const struct exchange *exchange);

#endif
