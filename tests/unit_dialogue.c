/*
 * fleet_dialogue, row by row: a conversation with a server, whose replies are
 * given, and of each request its command.
 */
#include "unit.h"
#include "fleet/fleet_dialogue.h"

#define NOW (1000 * NANOS_SECOND)
#define LEFT (200 * NANOS_MS)
#define TIME_REFUSED "-ERR command not allowed from script\r\n"
#define TIME_REPLY "*2\r\n$10\r\n1787407200\r\n$6\r\n012345\r\n"
#define ANSWER \
	"*12\r\n:1\r\n:1\r\n:1\r\n:10\r\n:0\r\n:9\r\n:0\r\n:7000\r\n:1\r\n" \
	":200000\r\n:10\r\n:60000000\r\n"
#define STALE \
	"*12\r\n:3\r\n:0\r\n:0\r\n:0\r\n:0\r\n:0\r\n:0\r\n:7000\r\n:0\r\n" \
	":0\r\n:0\r\n:0\r\n"

/* The turns of a conversation; a turn is what is sent, then all replies. */
struct turn {
	const char *sent; /* the commands, a blank after each; NULL: none */
	const char *replies;
	enum fleet_move move; /* that follows from the last reply */
};

static const struct {
	const char *name, *user, *password;
	int db;
	enum fleet_purpose purpose;
	struct turn turns[4];
} rows[] = {
	{ "question", "", "", 0, FLEET_PURPOSE_ASK,
	    { { "EVALSHA ", ANSWER, FLEET_MOVE_END } } },
	{ "all at once", "u", "p", 3, FLEET_PURPOSE_ASK,
	    { { "AUTH SELECT EVALSHA ", "+OK\r\n+OK\r\n" ANSWER,
		FLEET_MOVE_END } } },
	{ "password refused", "", "p", 3, FLEET_PURPOSE_ASK,
	    { { "AUTH SELECT EVALSHA ", "-WRONGPASS no\r\n",
		FLEET_MOVE_REFUSED } } },
	{ "database refused", "", "p", 3, FLEET_PURPOSE_ASK,
	    { { "AUTH SELECT EVALSHA ", "+OK\r\n-ERR DB index\r\n",
		FLEET_MOVE_REFUSED } } },
	{ "no script is no reply to AUTH", "", "p", 0, FLEET_PURPOSE_ASK,
	    { { "AUTH EVALSHA ", "-NOSCRIPT no\r\n", FLEET_MOVE_REFUSED } } },
	{ "not OK", "", "p", 0, FLEET_PURPOSE_ASK,
	    { { "AUTH EVALSHA ", "+QUEUED\r\n", FLEET_MOVE_INVALID } } },
	{ "a number for OK", "", "p", 0, FLEET_PURPOSE_ASK,
	    { { "AUTH EVALSHA ", ":1\r\n", FLEET_MOVE_INVALID } } },
	{ "no script", "", "p", 0, FLEET_PURPOSE_ASK,
	    { { "AUTH EVALSHA ", "+OK\r\n-NOSCRIPT no\r\n", FLEET_MOVE_WRITE },
		{ "EVAL ", ANSWER, FLEET_MOVE_END } } },
	{ "no script twice", "", "", 0, FLEET_PURPOSE_ASK,
	    { { "EVALSHA ", "-NOSCRIPT no\r\n", FLEET_MOVE_WRITE },
		{ "EVAL ", "-NOSCRIPT no\r\n", FLEET_MOVE_REFUSED } } },
	{ "moved", "", "p", 1, FLEET_PURPOSE_ASK,
	    { { "AUTH SELECT EVALSHA ", "+OK\r\n+OK\r\n-MOVED 1 b:2\r\n",
		  FLEET_MOVE_REDIRECT },
		{ "AUTH SELECT EVALSHA ", "+OK\r\n+OK\r\n" ANSWER,
		    FLEET_MOVE_END } } },
	{ "moved, no script", "", "", 0, FLEET_PURPOSE_ASK,
	    { { "EVALSHA ", "-MOVED 1 b:2\r\n", FLEET_MOVE_REDIRECT },
		{ "EVALSHA ", "-NOSCRIPT no\r\n", FLEET_MOVE_WRITE },
		{ "EVAL ", ANSWER, FLEET_MOVE_END } } },
	{ "moved twice", "", "", 0, FLEET_PURPOSE_ASK,
	    { { "EVALSHA ", "-MOVED 1 b:2\r\n", FLEET_MOVE_REDIRECT },
		{ "EVALSHA ", "-ASK 1 b:2\r\n", FLEET_MOVE_REFUSED } } },
	{ "ask", "", "p", 0, FLEET_PURPOSE_ASK,
	    { { "AUTH EVALSHA ", "+OK\r\n-ASK 1 b:2\r\n", FLEET_MOVE_REDIRECT },
		{ "AUTH ASKING EVALSHA ", "+OK\r\n+OK\r\n-NOSCRIPT no\r\n",
		    FLEET_MOVE_WRITE },
		{ "ASKING EVAL ", "+OK\r\n" ANSWER, FLEET_MOVE_END } } },
	{ "a host that is none", "", "", 0, FLEET_PURPOSE_ASK,
	    { { "EVALSHA ", "-MOVED 1 b/c:2\r\n", FLEET_MOVE_REFUSED } } },
	{ "stale", "", "", 0, FLEET_PURPOSE_ASK,
	    { { "EVALSHA ", STALE, FLEET_MOVE_WRITE },
		{ "EVALSHA ", ANSWER, FLEET_MOVE_END } } },
	{ "stale twice", "", "", 0, FLEET_PURPOSE_ASK,
	    { { "EVALSHA ", STALE, FLEET_MOVE_WRITE },
		{ "EVALSHA ", STALE, FLEET_MOVE_INVALID } } },
	{ "time", "", "p", 0, FLEET_PURPOSE_ASK,
	    { { "AUTH EVALSHA ", "+OK\r\n" TIME_REFUSED, FLEET_MOVE_WRITE },
		{ "TIME ", TIME_REPLY, FLEET_MOVE_WRITE },
		{ "EVALSHA ", ANSWER, FLEET_MOVE_END } } },
	{ "time, stale", "", "", 0, FLEET_PURPOSE_ASK,
	    { { "EVALSHA ", TIME_REFUSED, FLEET_MOVE_WRITE },
		{ "TIME ", TIME_REPLY, FLEET_MOVE_WRITE },
		{ "EVALSHA ", STALE, FLEET_MOVE_WRITE },
		{ "TIME ", TIME_REPLY, FLEET_MOVE_WRITE } } },
	{ "time twice", "", "", 0, FLEET_PURPOSE_ASK,
	    { { "EVALSHA ", TIME_REFUSED, FLEET_MOVE_WRITE },
		{ "TIME ", TIME_REPLY, FLEET_MOVE_WRITE },
		{ "EVALSHA ", TIME_REFUSED, FLEET_MOVE_REFUSED } } },
	{ "time that is none", "", "", 0, FLEET_PURPOSE_ASK,
	    { { "EVALSHA ", TIME_REFUSED, FLEET_MOVE_WRITE },
		{ "TIME ", "*2\r\n:1\r\n:1000000\r\n", FLEET_MOVE_INVALID } } },
	{ "time before 1970", "", "", 0, FLEET_PURPOSE_ASK,
	    { { "EVALSHA ", TIME_REFUSED, FLEET_MOVE_WRITE },
		{ "TIME ", "*2\r\n:-1\r\n:0\r\n", FLEET_MOVE_INVALID } } },
	{ "time after 2262", "", "", 0, FLEET_PURPOSE_ASK,
	    { { "EVALSHA ", TIME_REFUSED, FLEET_MOVE_WRITE },
		{ "TIME ", "*2\r\n:9223372037\r\n:0\r\n",
		    FLEET_MOVE_INVALID } } },
	{ "time in one number", "", "", 0, FLEET_PURPOSE_ASK,
	    { { "EVALSHA ", TIME_REFUSED, FLEET_MOVE_WRITE },
		{ "TIME ", ":1787407200\r\n", FLEET_MOVE_INVALID } } },
	{ "no answer", "", "", 0, FLEET_PURPOSE_ASK,
	    { { "EVALSHA ", "+OK\r\n", FLEET_MOVE_INVALID } } },
	{ "forget", "", "", 2, FLEET_PURPOSE_FORGET,
	    { { "SELECT PEXPIRE ", "+OK\r\n:1\r\n", FLEET_MOVE_END } } },
	{ "forget, ask", "", "", 0, FLEET_PURPOSE_FORGET,
	    { { "PEXPIRE ", "-ASK 1 b:2\r\n", FLEET_MOVE_REDIRECT },
		{ "ASKING PEXPIRE ", "+OK\r\n:0\r\n", FLEET_MOVE_END } } },
	{ "forget, no number", "", "", 0, FLEET_PURPOSE_FORGET,
	    { { "PEXPIRE ", "+OK\r\n", FLEET_MOVE_INVALID } } },
	{ "greeting", "u", "p", 2, FLEET_PURPOSE_GREET,
	    { { "AUTH SELECT ", "+OK\r\n+OK\r\n", FLEET_MOVE_END } } },
	{ "greeting refused", "u", "p", 2, FLEET_PURPOSE_GREET,
	    { { "AUTH SELECT ", "-WRONGPASS no\r\n", FLEET_MOVE_REFUSED } } },
	{ "nothing to greet with", "", "", 0, FLEET_PURPOSE_GREET, { { 0 } } },
};

static char bytes[FLEET_REQUEST];

/* Writes the first word of each request, and a blank after each. */
static void
list_commands(const struct resp_request *request, char *list)
{
	const char *at = request->start;

	while (at < request->at) {
		int words = (int)strtol(at + 1, NULL, 10);

		at = strstr(at, "\r\n") + 2;
		for (int i = 0; i < words; i++) {
			size_t length = strtoul(at + 1, NULL, 10);

			at = strstr(at, "\r\n") + 2;
			if (i == 0) {
				memcpy(list, at, length);
				list += length;
				*list++ = ' ';
			}
			at += length + 2;
		}
	}
	*list = '\0';
}

/* Gives the dialogue all replies; returns what follows from the last. */
static enum fleet_move
take_all(struct fleet_dialogue *dialogue, const char *replies,
    struct fleet_redirect *to)
{
	struct strview rest = strview_of(replies);
	enum fleet_move move = FLEET_MOVE_READ;

	while (rest.length > 0 && move == FLEET_MOVE_READ) {
		struct resp_reply reply;

		if (resp_read(rest, &reply) != RESP_WHOLE)
			abort();
		rest = strview_after(rest, reply.length);
		move = fleet_dialogue_take(dialogue, &reply, NOW, LEFT, to);
	}
	return move;
}

static void
converse(const char *name, struct fleet_dialogue *dialogue,
    const struct turn turns[4])
{
	for (size_t i = 0; i < 4 && turns[i].sent != NULL; i++) {
		struct resp_request request = resp_begin(bytes, sizeof bytes);
		struct fleet_redirect to = { .port = 0 };
		char commands[64];

		HOLDS(name, fleet_dialogue_write(dialogue, &request));
		list_commands(&request, commands);
		SAME(name, commands, turns[i].sent);
		EQUAL(name, take_all(dialogue, turns[i].replies, &to),
		    turns[i].move);
		if (turns[i].move == FLEET_MOVE_REDIRECT) {
			EQUAL(name, to.port, 2);
			fleet_dialogue_connected(dialogue);
		}
	}
}

static const struct fleet_question question = { .key = "k",
	.terms = { 200000, 10, 60 * NANOS_SECOND },
	.wanted = 1,
	.by = NANOS_SECOND };

static void
test_rows(void)
{
	for (size_t i = 0; i < LENGTH(rows); i++) {
		struct resp_request request = resp_begin(bytes, sizeof bytes);
		struct fleet_dialogue dialogue;
		struct fleet_auth auth = { "", "" };

		strncpy(auth.user, rows[i].user, sizeof auth.user - 1);
		strncpy(
		    auth.password, rows[i].password, sizeof auth.password - 1);
		fleet_dialogue_open(&dialogue, &auth, rows[i].db);
		fleet_dialogue_begin(&dialogue, rows[i].purpose, &question);
		converse(rows[i].name, &dialogue, rows[i].turns);
		if (rows[i].turns[0].sent == NULL)
			HOLDS(rows[i].name,
			    !fleet_dialogue_write(&dialogue, &request));
	}
}

/* What a stale answer and TIME change in the question. */
static void
test_times(void)
{
	static const struct turn stale[4] = {
		{ "EVALSHA ", STALE, FLEET_MOVE_WRITE },
		{ "EVALSHA ", TIME_REFUSED, FLEET_MOVE_WRITE },
		{ "TIME ", TIME_REPLY, FLEET_MOVE_WRITE },
		{ "EVALSHA ", ANSWER, FLEET_MOVE_END },
	};
	struct fleet_dialogue dialogue;
	struct fleet_auth auth = { "", "" };
	nanos time = 1787407200 * NANOS_SECOND + 12345 * INT64_C(1000);

	fleet_dialogue_open(&dialogue, &auth, 0);
	fleet_dialogue_begin(&dialogue, FLEET_PURPOSE_ASK, &question);
	converse("times", &dialogue, stale);
	EQUAL("by", dialogue.question.by, 7 * NANOS_MS + LEFT);
	EQUAL("now", dialogue.question.now, time);
	EQUAL("offset", dialogue.offset, time - NOW);
	EQUAL("answer", dialogue.answer.granted, 1);
}

/* A second question over the same connection greets nobody, and may try each
 * way again. */
static void
test_again(void)
{
	static const struct turn turns[2][4] = {
		{ { "AUTH EVALSHA ", "+OK\r\n-NOSCRIPT no\r\n",
		      FLEET_MOVE_WRITE },
		    { "EVAL ", ANSWER, FLEET_MOVE_END } },
		{ { "EVAL ", "-NOSCRIPT no\r\n", FLEET_MOVE_WRITE },
		    { "EVAL ", ANSWER, FLEET_MOVE_END } },
	};
	struct fleet_dialogue dialogue;
	struct fleet_auth auth = { "", "p" };

	fleet_dialogue_open(&dialogue, &auth, 0);
	for (int i = 0; i < 2; i++) {
		fleet_dialogue_begin(&dialogue, FLEET_PURPOSE_ASK, &question);
		converse("again", &dialogue, turns[i]);
	}
}

int
main(void)
{
	static void (*const tests[])(
	    void) = { test_rows, test_times, test_again };

	return unit_run(tests, LENGTH(tests));
}
