#include "link/fleet_link.h"

#include <errno.h>
#include <string.h>
#include "text/escape.h"
#include "text/number.h"

#define INVALID "no valid answer"

void
fleet_link_open(struct fleet_link *link, const struct fleet_access *access,
    const struct signals *signals)
{
	link->access = access;
	link->transport =
	    (struct transport){ access->via, access->verbose, signals };
	link->stage = FLEET_LINK_CLOSED;
	link->end = FLEET_LINK_NONE;
	link->connection = (struct connection){ .fd = -1 };
}

void
fleet_link_close(struct fleet_link *link)
{
	connection_close(&link->connection);
	link->stage = FLEET_LINK_CLOSED;
	if (link->end == FLEET_LINK_PENDING)
		link->end = FLEET_LINK_FAILED;
}

/* Ends the question without an answer; words may be the server's own. */
static void
fail(struct fleet_link *link, const char *what, struct strview words)
{
	char *at = stpcpy(link->reason, what);

	*escape_put(ESCAPE_PLAIN, at, at + FLEET_LINK_WORDS, words.at,
	    words.length) = '\0';
	link->end = FLEET_LINK_FAILED;
	fleet_link_close(link);
}

static void
fail_plainly(struct fleet_link *link, const char *what)
{
	fail(link, what, (struct strview){ NULL, 0 });
}

static void
fail_to_connect(struct fleet_link *link, const char *why)
{
	fail(link, "no connection: ", strview_of(why));
}

/* Ends a question whose connection has been closed by the other end. */
static void
fail_cut_off(struct fleet_link *link)
{
	if (link->access->via != NULL)
		fail_plainly(link, "the command of --fleet-via has ended");
	else if (link->url.tls)
		fail_plainly(link, "openssl s_client has ended");
	else
		fail_plainly(link, "the server has closed the connection");
}

/* Ends the question if the exchange cannot continue. */
static void
check(struct fleet_link *link, enum exchange_state state)
{
	if (state == EXCHANGE_CLOSED)
		fail_cut_off(link);
	else if (state == EXCHANGE_FAILED)
		fail_to_connect(link, strerror(errno));
	else if (state == EXCHANGE_INVALID)
		fail_plainly(link, INVALID);
}

static void
settle(struct fleet_link *link)
{
	link->end = FLEET_LINK_ANSWERED;
	link->stage = FLEET_LINK_READY;
}

/* Writes all that is to be sent now, and begins to send it. */
static void
send_requests(struct fleet_link *link)
{
	struct resp_request request = exchange_write(&link->exchange);

	link->stage = FLEET_LINK_ASKING;
	if (fleet_dialogue_write(&link->dialogue, &request))
		check(link,
		    exchange_send(
			&link->exchange, &request, &link->connection));
	else
		settle(link);
}

static void
begin_connection(struct fleet_link *link)
{
	const char *reason =
	    connection_begin(&link->connection, &link->url, &link->transport);

	link->stage = FLEET_LINK_CONNECTING;
	fleet_dialogue_connected(&link->dialogue);
	exchange_reset(&link->exchange);
	if (reason != NULL)
		fail_to_connect(link, reason);
	else if (link->connection.stage == CONNECTION_OPEN)
		send_requests(link);
}

static void
begin(struct fleet_link *link, enum fleet_purpose purpose,
    const struct fleet_question *question, nanos now)
{
	const struct fleet_access *access = link->access;

	link->until = number_add(now, access->timeout);
	link->reason[0] = '\0';
	link->end = FLEET_LINK_PENDING;
	if (link->stage == FLEET_LINK_READY) {
		fleet_dialogue_begin(&link->dialogue, purpose, question);
		send_requests(link);
		return;
	}
	connection_close(&link->connection);
	link->url = access->url;
	fleet_dialogue_open(&link->dialogue, &access->auth, access->url.db);
	fleet_dialogue_begin(&link->dialogue, purpose, question);
	begin_connection(link);
}

void
fleet_link_ask(
    struct fleet_link *link, const struct fleet_question *question, nanos now)
{
	begin(link, FLEET_PURPOSE_ASK, question, now);
}

void
fleet_link_forget(struct fleet_link *link, const char *key, nanos now)
{
	const struct fleet_question question = { .key = key };

	begin(link, FLEET_PURPOSE_FORGET, &question, now);
}

void
fleet_link_connect(struct fleet_link *link, nanos now)
{
	const struct fleet_question none = { .key = NULL };

	begin(link, FLEET_PURPOSE_GREET, &none, now);
	/* Nobody will read the answer, so nobody would see that the server does
	 * not know the script: all of it has to be sent. */
	link->dialogue.whole = true;
}

/*
 * Whether the server that an error names may be asked. Behind a command or a
 * socket there is only one server. A password that goes through a socket, to a
 * sidecar with TLS, must not go over the network without it.
 */
static bool
redirect(struct fleet_link *link, const struct fleet_redirect *to)
{
	struct fleet_url *url = &link->url;

	if (link->access->via != NULL || url->host[0] == '\0' ||
	    to->host.length >= sizeof url->host)
		return false;
	if (to->host.length > 0) {
		memcpy(url->host, to->host.at, to->host.length);
		url->host[to->host.length] = '\0';
	}
	url->port = to->port;
	connection_close(&link->connection);
	begin_connection(link);
	return true;
}

/* Takes the next reply. */
static void
take(struct fleet_link *link, const struct resp_reply *reply, nanos now)
{
	struct fleet_redirect to;

	switch (fleet_dialogue_take(
	    &link->dialogue, reply, now, link->until - now, &to)) {
	case FLEET_MOVE_READ:
		return;
	case FLEET_MOVE_WRITE:
		send_requests(link);
		return;
	case FLEET_MOVE_END:
		settle(link);
		return;
	case FLEET_MOVE_REDIRECT:
		if (redirect(link, &to))
			return;
		break;
	case FLEET_MOVE_REFUSED:
		break;
	case FLEET_MOVE_INVALID:
		fail_plainly(link, INVALID);
		return;
	}
	fail(link, "refused: ", fleet_error_words(reply->text));
}

/* Takes all replies that have been received. */
static void
take_replies(struct fleet_link *link, nanos now)
{
	enum exchange_state state = EXCHANGE_DONE;
	struct resp_reply reply;

	while (state == EXCHANGE_DONE && link->stage == FLEET_LINK_ASKING) {
		state = exchange_read(&link->exchange, &reply);
		if (state == EXCHANGE_DONE)
			take(link, &reply, now);
	}
	check(link, state);
	/* A server that says more than it was asked is not to be relied on. */
	if (link->stage == FLEET_LINK_READY &&
	    exchange_has_more(&link->exchange))
		fleet_link_close(link);
}

/* Continues to send and to receive. */
static void
continue_exchange(struct fleet_link *link, nanos now)
{
	struct exchange *exchange = &link->exchange;
	enum exchange_state state;

	check(link, exchange_send(exchange, NULL, &link->connection));
	if (link->stage != FLEET_LINK_ASKING)
		return;
	state = exchange_receive(exchange, &link->connection);
	check(link, state);
	if (state == EXCHANGE_DONE)
		take_replies(link, now);
}

static void
continue_connection(struct fleet_link *link)
{
	const char *reason = connection_serve(&link->connection);

	if (reason != NULL)
		fail_to_connect(link, reason);
	else if (link->connection.stage == CONNECTION_OPEN)
		send_requests(link);
}

static void
fail_late(struct fleet_link *link)
{
	nanos timeout = link->access->timeout;
	char span[DURATION_ROOM];

	/* duration_format() rounds more. */
	if (timeout < NANOS_SECOND)
		memcpy(strchr(number_put(span, timeout / NANOS_MS), '\0'), "ms",
		    sizeof "ms");
	else
		duration_format(span, timeout);
	fail(link, "no answer in ", strview_of(span));
}

void
fleet_link_serve(struct fleet_link *link, short events, nanos now)
{
	if (link->end == FLEET_LINK_PENDING && now >= link->until) {
		fail_late(link);
		return;
	}
	if (events == 0)
		return;
	switch (link->stage) {
	case FLEET_LINK_CLOSED:
		break;
	case FLEET_LINK_CONNECTING:
		continue_connection(link);
		break;
	case FLEET_LINK_ASKING:
		continue_exchange(link, now);
		break;
	case FLEET_LINK_READY:
		/* It is closed, or says something that nobody asked for. */
		fleet_link_close(link);
		break;
	}
}

bool
fleet_link_tell(
    struct fleet_link *link, const struct fleet_question *question, nanos now)
{
	const struct exchange *exchange = &link->exchange;
	bool told;

	if (link->stage != FLEET_LINK_READY) {
		fleet_link_close(link);
		return false;
	}
	fleet_dialogue_begin(&link->dialogue, FLEET_PURPOSE_ASK, question);
	if (link->dialogue.timed)
		link->dialogue.question.now = now + link->dialogue.offset;
	send_requests(link);
	told = link->stage == FLEET_LINK_ASKING &&
	    exchange->sent == exchange->length;
	if (told)
		connection_release(&link->connection);
	fleet_link_close(link);
	link->end = FLEET_LINK_NONE;
	return told;
}

struct pollfd
fleet_link_pollfd(const struct fleet_link *link)
{
	return connection_pollfd(
	    &link->connection, link->exchange.sent < link->exchange.length);
}

nanos
fleet_link_nap(const struct fleet_link *link, nanos now)
{
	if (link->end != FLEET_LINK_PENDING)
		return NANOS_MAX;
	return number_greater(link->until - now, 0);
}

void
fleet_link_reaped(struct fleet_link *link, pid_t pid)
{
	if (link->connection.helper == pid)
		link->connection.helper = 0;
}
