/*
 * What a fleet's server may send, and what a user may type as its URL and its
 * password: any bytes. Reading them ends, reads no byte behind the last, and
 * returns only what the headers promise.
 */
#include "fuzz.h"
#include "policy/url.h"
#include "fleet/resp.h"
#include "fleet/question.h"

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
	static struct dialog dialog;
	struct fleet_question asked = question;
	struct strview in = { dialog.in, sizeof dialog.in };
	enum question_move move;

	question_open(&dialog, &auth, &server);
	asked.forgets = bytes.length % 2 == 1;
	question_ask(&dialog, &asked);
	question_write(&dialog, true);
	if (bytes.length > sizeof dialog.in)
		bytes.length = sizeof dialog.in;
	if (bytes.length > 0)
		memcpy(dialog.in, bytes.at, bytes.length);
	dialog.received = bytes.length;
	move = question_take(&dialog, NANOS_SECOND);
	fuzz_never(dialog.received > bytes.length || dialog.length == 0 ||
	    dialog.length > sizeof dialog.out);
	fuzz_never(move == QUESTION_REFUSED && !is_within(dialog.words, in) &&
	    !strview_is(dialog.words, "NOAUTH Authentication required"));
	fuzz_never(move == QUESTION_REDIRECTED &&
	    (dialog.url.port < 1 || dialog.url.port > 65535 ||
		!url_is_host(strview_of(dialog.url.host))));
}

static void check_answer(const struct resp_reply *reply) {
	struct fleet_answer answer;

	if (!question_read(reply, &question, &answer))
		return;
	fuzz_never(answer.now < 0 || answer.code == FLEET_NOTED);
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
