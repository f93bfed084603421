#include "link/exchange.h"

#include <errno.h>
#include <string.h>

void
exchange_reset(struct exchange *exchange)
{
	exchange->sent = exchange->length = 0;
	exchange->taken = exchange->received = 0;
}

struct resp_request
exchange_write(struct exchange *exchange)
{
	return resp_begin(exchange->request, sizeof exchange->request);
}

/* What an error of send(2) or recv(2) means. */
static enum exchange_state
state_of_error(void)
{
	switch (errno) {
	case EAGAIN:
	case EINTR:
		return EXCHANGE_WAITING;
	case EPIPE:
	case ECONNRESET:
		return EXCHANGE_CLOSED;
	default:
		return EXCHANGE_FAILED;
	}
}

enum exchange_state
exchange_send(struct exchange *exchange, const struct resp_request *request,
    const struct connection *connection)
{
	ssize_t count;

	if (request != NULL) {
		exchange->sent = 0;
		exchange->length = resp_length(request);
	}
	if (exchange->sent == exchange->length)
		return EXCHANGE_DONE;
	count = connection_send(connection, exchange->request + exchange->sent,
	    exchange->length - exchange->sent);
	if (count == -1) {
		enum exchange_state state = state_of_error();

		/* What the other end has said before can still be read. */
		return state == EXCHANGE_CLOSED ? EXCHANGE_WAITING : state;
	}
	exchange->sent += (size_t)count;
	return exchange->sent == exchange->length ? EXCHANGE_DONE
						  : EXCHANGE_WAITING;
}

enum exchange_state
exchange_receive(struct exchange *exchange, const struct connection *connection)
{
	ssize_t count;

	exchange->received -= exchange->taken;
	memmove(exchange->reply, exchange->reply + exchange->taken,
	    exchange->received);
	exchange->taken = 0;
	count =
	    connection_receive(connection, exchange->reply + exchange->received,
		sizeof exchange->reply - exchange->received);
	if (count == -1)
		return state_of_error();
	exchange->received += (size_t)count;
	return count == 0 ? EXCHANGE_CLOSED : EXCHANGE_DONE;
}

enum exchange_state
exchange_read(struct exchange *exchange, struct resp_reply *reply)
{
	struct strview rest = { exchange->reply + exchange->taken,
		exchange->received - exchange->taken };

	switch (resp_read(rest, reply)) {
	case RESP_WHOLE:
		exchange->taken += reply->length;
		return EXCHANGE_DONE;
	case RESP_PARTIAL:
		if (rest.length < sizeof exchange->reply)
			return EXCHANGE_WAITING;
		break;
	case RESP_INVALID:
		break;
	}
	return EXCHANGE_INVALID;
}

bool
exchange_has_more(const struct exchange *exchange)
{
	return exchange->taken < exchange->received;
}
