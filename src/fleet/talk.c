#include "fleet/talk.h"

#include <string.h>
#include "fleet/url.h"
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
talk_open(struct talk *talk, const struct url_auth *auth, int db)
{
	talk->auth = auth;
	talk->db = db;
	talk->asking = talk->whole = talk->timed = false;
	talk_connected(talk);
}

void
talk_ask(struct talk *talk, const struct fleet_question *question, bool forgets)
{
	talk->question = *question;
	talk->forgets = forgets;
	/* An answer to an earlier question must not tell the time of this. */
	talk->answer = (struct fleet_answer){ .code = FLEET_DENIED };
	talk->tried = 0;
}

void
talk_connected(struct talk *talk)
{
	talk->greeted = false;
	talk->next = talk->count = 0;
	talk->sent = talk->length = talk->received = 0;
}

/* Writes a command of one word or of two, whose reply has to be so. */
static void
put(struct talk *talk, struct resp_request *request, enum talk_reply reply,
    const char *command, const char *word)
{
	const char *words[] = { command, word };

	resp_put(request, words, word == NULL ? 1 : 2);
	talk->awaited[talk->count++] = reply;
}

void
talk_write(struct talk *talk)
{
	struct resp_request request = resp_begin(talk->out, sizeof talk->out);
	const struct url_auth *auth = talk->auth;
	char db[NUMBER_ROOM];

	talk->next = talk->count = talk->sent = 0;
	if (!talk->greeted && auth->password[0] != '\0') {
		const char *words[] = { "AUTH", auth->user, auth->password };
		const char *nameless[] = { "AUTH", auth->password };

		resp_put(&request, auth->user[0] != '\0' ? words : nameless,
		    auth->user[0] != '\0' ? 3 : 2);
		talk->awaited[talk->count++] = TALK_OK;
	}
	if (!talk->greeted && talk->db > 0)
		put(talk, &request, TALK_OK, "SELECT",
		    number_put(db, talk->db));
	talk->greeted = true;
	if (talk->timed && talk->question.now == 0 && !talk->forgets) {
		put(talk, &request, TALK_TIME, "TIME", NULL);
	} else {
		if (talk->asking)
			put(talk, &request, TALK_OK, "ASKING", NULL);
		if (talk->forgets)
			question_forget(&request, talk->question.key);
		else
			question_write(&request, &talk->question, talk->whole);
		talk->awaited[talk->count++] = TALK_ANSWER;
	}
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
	const char *inner = find(text, before);
	const char *script = find(text, " script: ");

	/* Redis and Valkey refuse a long request before they read its command,
	 * and so without NOAUTH: "unauthenticated multibulk length". */
	if (find(text, "unauthenticated multibulk") != NULL ||
	    find(text, "unauthenticated bulk") != NULL)
		return strview_of("NOAUTH Authentication required");
	if (inner != NULL && strview_starts(text, "ERR Error running script"))
		text = strview_after(
		    text, (size_t)(inner - text.at) + strlen(before));
	else if (script != NULL)
		text.length = (size_t)(script - text.at);
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
	const char *space = memchr(text.at, ' ', text.length), *colon;
	struct strview host, port;
	int64_t number;

	if (space == NULL)
		return false;
	text = strview_after(text, (size_t)(space - text.at) + 1);
	colon = memrchr(text.at, ':', text.length);
	if (colon == NULL)
		return false;
	host = (struct strview){ text.at, (size_t)(colon - text.at) };
	port = strview_after(text, host.length + 1);
	if (strview_is(host, "?"))
		host.length = 0;
	if ((host.length > 0 && !url_is_host(host)) ||
	    !number_whole(port.at, port.length, &number) || number == 0 ||
	    number > PORT_MOST)
		return false;
	talk->host = host;
	talk->port = (int)number;
	return true;
}

static enum talk_move
write_again(struct talk *talk)
{
	talk_write(talk);
	return TALK_WAITS;
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
	return write_again(talk);
}

static enum talk_move
take_time(struct talk *talk, const struct resp_reply *reply, nanos now)
{
	const int64_t *numbers = reply->numbers;

	if (reply->type != RESP_ARRAY || reply->count != 2 || numbers[0] <= 0 ||
	    numbers[0] >= NANOS_MAX / NANOS_SECOND || numbers[1] < 0 ||
	    numbers[1] >= NANOS_SECOND / MICRO)
		return TALK_INVALID;
	talk->question.now = numbers[0] * NANOS_SECOND + numbers[1] * MICRO;
	talk->offset = talk->question.now - now;
	return write_again(talk);
}

static enum talk_move
take_answer(struct talk *talk, const struct resp_reply *reply, nanos left)
{
	struct fleet_question *question = &talk->question;

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
	return write_again(talk);
}

static enum talk_move
take_reply(
    struct talk *talk, const struct resp_reply *reply, nanos now, nanos left)
{
	enum talk_reply awaited = talk->awaited[talk->next++];

	if (reply->type == RESP_ERROR) {
		talk->words = words_of(reply->text);
		return awaited == TALK_ANSWER ? take_error(talk, reply->text)
					      : TALK_REFUSED;
	}
	if (awaited == TALK_TIME)
		return take_time(talk, reply, now);
	if (awaited == TALK_ANSWER)
		return take_answer(talk, reply, left);
	return reply->type == RESP_SIMPLE && strview_is(reply->text, "OK")
	    ? TALK_WAITS
	    : TALK_INVALID;
}

enum talk_move
talk_take(struct talk *talk, nanos now, nanos left)
{
	struct strview rest = { talk->in, talk->received };
	enum resp_state state = RESP_WHOLE;
	enum talk_move move = TALK_WAITS;
	struct resp_reply reply;

	while (move == TALK_WAITS && talk->next < talk->count &&
	    (state = resp_read(rest, &reply)) == RESP_WHOLE) {
		rest = strview_after(rest, reply.length);
		move = take_reply(talk, &reply, now, left);
	}
	if (state == RESP_INVALID)
		return TALK_INVALID;
	/* words and host point to what was taken. */
	if (move != TALK_WAITS && move != TALK_ANSWERED)
		return move;
	memmove(talk->in, rest.at, rest.length);
	talk->received = rest.length;
	return move;
}
