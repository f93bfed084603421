#include "fleet/talk.h"

#include <string.h>
#include "text/number.h"

#define MICRO INT64_C(1000)
#define PORT_MOST 65535

/* The ways to ask that are tried once. */
enum {
	TRIED_WHOLE = 1,
	TRIED_REDIRECT = 2,
	TRIED_TIME = 4,
	TRIED_STALE = 8,
};

void
talk_open(struct talk *talk, const struct url_auth *auth, const struct url *url)
{
	talk->auth = auth;
	talk->url = *url;
	talk->asking = talk->whole = talk->timed = false;
	talk_connected(talk);
}

void
talk_ask(struct talk *talk, struct fleet_question *question, bool forgets)
{
	talk->question = question;
	talk->forgets = forgets;
	/* An answer to an earlier question must not tell the time of this. */
	talk->answer = (struct fleet_answer){ .code = FLEET_DENIED };
	talk->tried = 0;
}

void
talk_connected(struct talk *talk)
{
	talk->greeted = false;
	talk->sent = talk->length = talk->received = 0;
}

void
talk_write(struct talk *talk)
{
	struct resp_request request = { talk->out, sizeof talk->out, 0 };
	const struct url_auth *auth = talk->auth;
	char db[NUMBER_ROOM];
	const char *named[] = { "AUTH", auth->user, auth->password };
	const char *nameless[] = { "AUTH", auth->password };
	const char *database[] = { "SELECT", number_put(db, talk->url.db) };

	talk->sent = 0;
	talk->greetings = 0;
	if (!talk->greeted && auth->password[0] != '\0') {
		resp_put(&request, auth->user[0] != '\0' ? named : nameless,
		    auth->user[0] != '\0' ? 3 : 2);
		talk->greetings++;
	}
	if (!talk->greeted && talk->url.db > 0) {
		resp_put(&request, database, 2);
		talk->greetings++;
	}
	talk->greeted = true;
	talk->asks_time =
	    talk->timed && talk->question->now == 0 && !talk->forgets;
	if (talk->asking && !talk->asks_time) {
		resp_put(&request, (const char *const[]){ "ASKING" }, 1);
		talk->greetings++;
	}
	if (talk->asks_time)
		resp_put(&request, (const char *const[]){ "TIME" }, 1);
	else if (talk->forgets)
		question_forget(&request, talk->question->key);
	else
		question_write(&request, talk->question, talk->whole);
	talk->length = resp_length(&request);
}

static const char *
find(struct strview text, const char *words)
{
	return memmem(text.at, text.length, words, strlen(words));
}

static struct strview
words_of(struct strview text)
{
	static const char before[] = ": -";
	enum { SCRIPT = sizeof " script: " - 1 + 40 }; /* and its hash */
	const char *inner = find(text, before);
	const char *script = find(text, ", on @user_script:");

	/* Redis and Valkey refuse a long request before they read its command,
	 * and so without NOAUTH: "unauthenticated multibulk length". */
	if (find(text, "unauthenticated multibulk") != NULL ||
	    find(text, "unauthenticated bulk") != NULL)
		return strview_of("NOAUTH Authentication required");
	if (inner != NULL && strview_starts(text, "ERR Error running script"))
		text = strview_after(
		    text, (size_t)(inner - text.at) + strlen(before));
	else if (script != NULL && script - text.at >= SCRIPT)
		text.length = (size_t)(script - text.at) - SCRIPT;
	if (text.length > 0 && text.at[text.length - 1] == '.')
		text.length--;
	return text;
}

/*
 * Reads "SLOT HOST:PORT". A host may be an IPv6 address without brackets, and
 * empty or "?" if the server does not know its own.
 */
static bool
read_redirect(struct talk *talk, struct strview text)
{
	struct strview host = text, port;
	const char *colon;
	int64_t number;

	strview_part(&host, ' ');
	colon = memrchr(host.at, ':', host.length);
	if (colon == NULL)
		return false;
	port = strview_after(host, (size_t)(colon + 1 - host.at));
	host.length = (size_t)(colon - host.at);
	if (strview_is(host, "?"))
		host.length = 0;
	if ((host.length > 0 && !url_is_host(host)) ||
	    !number_whole(port.at, port.length, &number) || number == 0 ||
	    number > PORT_MOST)
		return false;
	if (host.length > 0) {
		memcpy(talk->url.host, host.at, host.length);
		talk->url.host[host.length] = '\0';
	}
	talk->url.port = (int)number;
	return true;
}

/* Takes an error in the place of the answer: tries another way to ask. */
static enum talk_move
take_error(struct talk *talk, struct strview text)
{
	unsigned way = 0;
	bool ask = strview_starts(text, "ASK ");

	if (strview_starts(text, "NOSCRIPT "))
		way = TRIED_WHOLE;
	else if ((ask || strview_starts(text, "MOVED ")) &&
	    read_redirect(talk, strview_after(text, ask ? 4 : 6)))
		way = TRIED_REDIRECT;
	/* TIME is the only command of the script to which this may happen. */
	else if (find(text, "not allowed from script") != NULL ||
	    find(text, "non deterministic commands") != NULL)
		way = TRIED_TIME;
	if (way == 0 || (talk->tried & way) != 0)
		return TALK_REFUSED;
	talk->tried |= way;
	if (way == TRIED_REDIRECT) {
		talk->asking = ask;
		return TALK_REDIRECTED;
	}
	talk->whole = talk->whole || way == TRIED_WHOLE;
	talk->timed = talk->timed || way == TRIED_TIME;
	talk_write(talk);
	return TALK_WAITS;
}

static enum talk_move
take_reply(
    struct talk *talk, const struct resp_reply *reply, nanos now, nanos left)
{
	struct fleet_question *question = talk->question;
	const int64_t *time = reply->numbers;

	if (reply->type == RESP_ERROR) {
		talk->words = words_of(reply->text);
		return talk->greetings > 0 || talk->asks_time
		    ? TALK_REFUSED
		    : take_error(talk, reply->text);
	}
	if (talk->greetings > 0) {
		talk->greetings--;
		return reply->type == RESP_SIMPLE &&
			strview_is(reply->text, "OK")
		    ? TALK_WAITS
		    : TALK_INVALID;
	}
	if (talk->asks_time) {
		if (reply->type != RESP_ARRAY || reply->count != 2 ||
		    time[0] <= 0 || time[0] >= NANOS_MAX / NANOS_SECOND ||
		    time[1] < 0 || time[1] >= NANOS_SECOND / MICRO)
			return TALK_INVALID;
		question->now = time[0] * NANOS_SECOND + time[1] * MICRO;
		talk->offset = question->now - now;
		talk_write(talk);
		return TALK_WAITS;
	}
	if (talk->forgets)
		return reply->type == RESP_INTEGER ? TALK_ANSWERED
						   : TALK_INVALID;
	if (!question_read(reply, question, &talk->answer))
		return TALK_INVALID;
	if (talk->answer.code != FLEET_STALE)
		return TALK_ANSWERED;
	if ((talk->tried & TRIED_STALE) != 0)
		return TALK_INVALID;
	talk->tried |= TRIED_STALE;
	question->by = number_add(talk->answer.now, number_greater(left, 0));
	if (talk->timed)
		question->now = 0;
	talk_write(talk);
	return TALK_WAITS;
}

enum talk_move
talk_take(struct talk *talk, nanos now, nanos left)
{
	struct strview rest = { talk->in, talk->received };
	enum resp_state state = RESP_WHOLE;
	enum talk_move move = TALK_WAITS;
	struct resp_reply reply;

	while (move == TALK_WAITS &&
	    (state = resp_read(rest, &reply)) == RESP_WHOLE) {
		rest = strview_after(rest, reply.length);
		move = take_reply(talk, &reply, now, left);
	}
	if (state == RESP_INVALID)
		return TALK_INVALID;
	/* words points to what was taken. */
	if (move != TALK_WAITS && move != TALK_ANSWERED)
		return move;
	memmove(talk->in, rest.at, rest.length);
	talk->received = rest.length;
	return move;
}
