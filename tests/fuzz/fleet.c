/*
 * What a fleet's server may send, and what a user may type as its URL and its
 * password: any bytes. Reading them ends, reads no byte behind the last, and
 * returns only what the headers promise.
 */
#include "fuzz.h"
#include "policy/url.h"
#include "fleet/resp.h"
#include "fleet/talk.h"

static bool is_within(struct strview part, struct strview whole) {
	return part.length == 0 ||
	    (part.at >= whole.at && part.at + part.length <= whole.at + whole.length);
}

static const struct fleet_question question = {
	.key = "api",
	.terms = { 200000, 10, NANOS_MINUTE },
	.wants = true,
	.by = NANOS_SECOND,
};

/* A conversation ends, whatever the server says. */
static void check_talk(struct strview bytes) {
	static const struct url_auth auth = { "", "word" };
	static const struct url server = { .host = "host", .db = 1 };
	static struct talk talk;
	struct fleet_question asked = question;
	struct strview in = { talk.in, sizeof talk.in };
	enum talk_move move;

	talk_open(&talk, &auth, &server);
	talk_ask(&talk, &asked, bytes.length % 2 == 1);
	talk_write(&talk);
	if (bytes.length > sizeof talk.in)
		bytes.length = sizeof talk.in;
	if (bytes.length > 0)
		memcpy(talk.in, bytes.at, bytes.length);
	talk.received = bytes.length;
	move = talk_take(&talk, NANOS_DAY, NANOS_SECOND);
	fuzz_never(talk.received > bytes.length || talk.length == 0 ||
	    talk.length > sizeof talk.out);
	fuzz_never(move == TALK_REFUSED && !is_within(talk.words, in) &&
	    !strview_is(talk.words, "NOAUTH Authentication required"));
	fuzz_never(move == TALK_REDIRECTED &&
	    (talk.url.port < 1 || talk.url.port > 65535 ||
		!url_is_host(strview_of(talk.url.host))));
}

static void check_answer(const struct resp_reply *reply) {
	struct fleet_answer answer;

	if (!question_read(reply, &question, &answer))
		return;
	fuzz_never(answer.now <= 0 || answer.code == FLEET_NOTED);
	fuzz_never(answer.next < 0 || answer.next > 61 * NANOS_SECOND || answer.pause < 0 ||
	    answer.pause > 61 * NANOS_SECOND);
}

/* A reply is the same with fewer bytes behind it, and partial without its last
 * byte. */
static void check_reply(struct strview bytes) {
	struct resp_reply reply, again;
	enum resp_state state = resp_read(bytes, &reply);

	if (state != RESP_WHOLE)
		return;
	fuzz_never(reply.length == 0 || reply.length > bytes.length || reply.length > RESP_REPLY ||
	    reply.count > RESP_NUMBERS || !is_within(reply.text, bytes));
	bytes.length = reply.length;
	fuzz_never(resp_read(bytes, &again) != RESP_WHOLE || again.length != reply.length);
	bytes.length--;
	fuzz_never(resp_read(bytes, &again) != RESP_PARTIAL);
	check_answer(&reply);
}

/* text ends in NUL. */
static void check_url(const char *text) {
	char room[URL_ROOM];
	struct url url;
	const char *refusal = url_parse(text, &url);

	fuzz_never(refusal != NULL && strlen(refusal) == 0);
	fuzz_never(refusal == NULL && (url.path[0] == '\0') != (url.port > 0));
	fuzz_never(refusal == NULL && url.path[0] == '\0' && !url_is_host(strview_of(url.host)));
	fuzz_never(strlen(url_show(text, room)) > strlen(text) + 3);
}

static void check_auth(struct strview text) {
	struct url_auth auth;

	if (url_parse_auth(text, "", &auth) != NULL)
		return;
	fuzz_never(auth.password[0] == '\0' || strchr(auth.user, ':') != NULL ||
	    strlen(auth.user) + strlen(auth.password) > text.length);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	struct strview bytes = { (const char *)data, size };
	char *text = fuzz_text(data, size);

	check_reply(bytes);
	check_talk(bytes);
	check_url(text);
	check_auth(bytes);
	free(text);
	return 0;
}
