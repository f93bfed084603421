/*
 * talk, row by row: a conversation with a server, whose replies are given, and
 * of each request its command; what errors mean, and which words of theirs are
 * shown.
 */
#include "unit.h"
#include "fleet/talk.h"

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
	enum talk_move move; /* that follows from the last reply */
};

static const struct {
	const char *name, *user, *password;
	int db;
	bool forgets;
	struct turn turns[4];
} conversations[] = {
	{ "question", "", "", 0, false,
	    { { "EVALSHA ", ANSWER, TALK_ANSWERED } } },
	{ "all at once", "u", "p", 3, false,
	    { { "AUTH SELECT EVALSHA ", "+OK\r\n+OK\r\n" ANSWER,
		TALK_ANSWERED } } },
	{ "password refused", "", "p", 3, false,
	    { { "AUTH SELECT EVALSHA ", "-WRONGPASS no\r\n", TALK_REFUSED } } },
	{ "database refused", "", "p", 3, false,
	    { { "AUTH SELECT EVALSHA ", "+OK\r\n-ERR DB index\r\n",
		TALK_REFUSED } } },
	{ "no script is no reply to AUTH", "", "p", 0, false,
	    { { "AUTH EVALSHA ", "-NOSCRIPT no\r\n", TALK_REFUSED } } },
	{ "not OK", "", "p", 0, false,
	    { { "AUTH EVALSHA ", "+QUEUED\r\n", TALK_INVALID } } },
	{ "a number for OK", "", "p", 0, false,
	    { { "AUTH EVALSHA ", ":1\r\n", TALK_INVALID } } },
	{ "no script", "", "p", 0, false,
	    { { "AUTH EVALSHA ", "+OK\r\n-NOSCRIPT no\r\n", TALK_WAITS },
		{ "EVAL ", ANSWER, TALK_ANSWERED } } },
	{ "no script twice", "", "", 0, false,
	    { { "EVALSHA ", "-NOSCRIPT no\r\n", TALK_WAITS },
		{ "EVAL ", "-NOSCRIPT no\r\n", TALK_REFUSED } } },
	{ "moved", "", "p", 1, false,
	    { { "AUTH SELECT EVALSHA ", "+OK\r\n+OK\r\n-MOVED 1 b:2\r\n",
		  TALK_REDIRECTED },
		{ "AUTH SELECT EVALSHA ", "+OK\r\n+OK\r\n" ANSWER,
		    TALK_ANSWERED } } },
	{ "moved, no script", "", "", 0, false,
	    { { "EVALSHA ", "-MOVED 1 b:2\r\n", TALK_REDIRECTED },
		{ "EVALSHA ", "-NOSCRIPT no\r\n", TALK_WAITS },
		{ "EVAL ", ANSWER, TALK_ANSWERED } } },
	{ "moved twice", "", "", 0, false,
	    { { "EVALSHA ", "-MOVED 1 b:2\r\n", TALK_REDIRECTED },
		{ "EVALSHA ", "-ASK 1 b:2\r\n", TALK_REFUSED } } },
	{ "ask", "", "p", 0, false,
	    { { "AUTH EVALSHA ", "+OK\r\n-ASK 1 b:2\r\n", TALK_REDIRECTED },
		{ "AUTH ASKING EVALSHA ", "+OK\r\n+OK\r\n-NOSCRIPT no\r\n",
		    TALK_WAITS },
		{ "ASKING EVAL ", "+OK\r\n" ANSWER, TALK_ANSWERED } } },
	{ "a host that is none", "", "", 0, false,
	    { { "EVALSHA ", "-MOVED 1 b/c:2\r\n", TALK_REFUSED } } },
	{ "stale", "", "", 0, false,
	    { { "EVALSHA ", STALE, TALK_WAITS },
		{ "EVALSHA ", ANSWER, TALK_ANSWERED } } },
	{ "stale twice", "", "", 0, false,
	    { { "EVALSHA ", STALE, TALK_WAITS },
		{ "EVALSHA ", STALE, TALK_INVALID } } },
	{ "time", "", "p", 0, false,
	    { { "AUTH EVALSHA ", "+OK\r\n" TIME_REFUSED, TALK_WAITS },
		{ "TIME ", TIME_REPLY, TALK_WAITS },
		{ "EVALSHA ", ANSWER, TALK_ANSWERED } } },
	{ "time, stale", "", "", 0, false,
	    { { "EVALSHA ", TIME_REFUSED, TALK_WAITS },
		{ "TIME ", TIME_REPLY, TALK_WAITS },
		{ "EVALSHA ", STALE, TALK_WAITS },
		{ "TIME ", TIME_REPLY, TALK_WAITS } } },
	{ "time twice", "", "", 0, false,
	    { { "EVALSHA ", TIME_REFUSED, TALK_WAITS },
		{ "TIME ", TIME_REPLY, TALK_WAITS },
		{ "EVALSHA ", TIME_REFUSED, TALK_REFUSED } } },
	{ "time that is none", "", "", 0, false,
	    { { "EVALSHA ", TIME_REFUSED, TALK_WAITS },
		{ "TIME ", "*2\r\n:1\r\n:1000000\r\n", TALK_INVALID } } },
	{ "time before 1970", "", "", 0, false,
	    { { "EVALSHA ", TIME_REFUSED, TALK_WAITS },
		{ "TIME ", "*2\r\n:-1\r\n:0\r\n", TALK_INVALID } } },
	{ "time after 2262", "", "", 0, false,
	    { { "EVALSHA ", TIME_REFUSED, TALK_WAITS },
		{ "TIME ", "*2\r\n:9223372037\r\n:0\r\n", TALK_INVALID } } },
	{ "time in one number", "", "", 0, false,
	    { { "EVALSHA ", TIME_REFUSED, TALK_WAITS },
		{ "TIME ", ":1787407200\r\n", TALK_INVALID } } },
	{ "no answer", "", "", 0, false,
	    { { "EVALSHA ", "+OK\r\n", TALK_INVALID } } },
	{ "forget", "", "", 2, true,
	    { { "SELECT PEXPIRE ", "+OK\r\n:1\r\n", TALK_ANSWERED } } },
	{ "forget, ask", "", "", 0, true,
	    { { "PEXPIRE ", "-ASK 1 b:2\r\n", TALK_REDIRECTED },
		{ "ASKING PEXPIRE ", "+OK\r\n:0\r\n", TALK_ANSWERED } } },
	{ "forget, no number", "", "", 0, true,
	    { { "PEXPIRE ", "+OK\r\n", TALK_INVALID } } },
};

/* Writes the first word of each request in out, and a blank after each. */
static void
list_commands(const struct talk *talk, char *list)
{
	const char *at = talk->out;

	while (at < talk->out + talk->length) {
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

/* Receives bytes in two parts: at first so many. Returns what follows. */
static enum talk_move
receive(const char *row, struct talk *talk, const char *bytes, size_t first)
{
	size_t length = strlen(bytes);

	memcpy(talk->in + talk->received, bytes, first);
	talk->received += first;
	if (first < length) {
		EQUAL(row, talk_take(talk, NOW, LEFT), TALK_WAITS);
		bytes += first;
		memcpy(talk->in + talk->received, bytes, length - first);
		talk->received += length - first;
	}
	return talk_take(talk, NOW, LEFT);
}

/* split: all replies of a turn come in two parts. */
static void
converse(
    const char *name, struct talk *talk, const struct turn turns[4], bool split)
{
	talk_write(talk);
	for (size_t i = 0; i < 4 && turns[i].sent != NULL; i++) {
		const char *replies = turns[i].replies;
		size_t first = strlen(replies) - (split ? 1 : 0);
		char commands[64];

		list_commands(talk, commands);
		SAME(name, commands, turns[i].sent);
		talk->sent = talk->length;
		EQUAL(name, receive(name, talk, replies, first), turns[i].move);
		if (turns[i].move == TALK_REDIRECTED) {
			EQUAL(name, talk->url.port, 2);
			talk_connected(talk);
			talk_write(talk);
		}
		if (turns[i].move == TALK_WAITS)
			EQUAL(name, (int64_t)talk->sent, 0);
		if (turns[i].move == TALK_ANSWERED)
			EQUAL(name, (int64_t)talk->received, 0);
	}
}

static const struct fleet_question question = { .key = "k",
	.terms = { 200000, 10, 60 * NANOS_SECOND },
	.wanted = 1,
	.by = NANOS_SECOND };

static const struct url server; /* of no host */
static struct talk talk;

static void
test_rows(void)
{
	for (size_t i = 0; i < 2 * LENGTH(conversations); i++) {
		size_t row = i / 2;
		struct url_auth auth = { "", "" };

		strncpy(
		    auth.user, conversations[row].user, sizeof auth.user - 1);
		strncpy(auth.password, conversations[row].password,
		    sizeof auth.password - 1);
		talk_open(
		    &talk, &auth, &(struct url){ .db = conversations[row].db });
		talk_ask(&talk, &question, conversations[row].forgets);
		converse(conversations[row].name, &talk,
		    conversations[row].turns, i % 2 == 1);
	}
}

/* The request AUTH. */
static void
test_auth(void)
{
	static const struct {
		struct url_auth auth;
		const char *want;
	} auths[] = {
		{ { "", "pw" }, "*2\r\n$4\r\nAUTH\r\n$2\r\npw\r\n*" },
		{ { "ci", "p:w" },
		    "*3\r\n$4\r\nAUTH\r\n$2\r\nci\r\n$3\r\np:w\r\n*" },
	};

	for (size_t i = 0; i < LENGTH(auths); i++) {
		const char *want = auths[i].want;
		char got[64] = "";

		talk_open(&talk, &auths[i].auth, &server);
		talk_ask(&talk, &question, false);
		talk_write(&talk);
		memcpy(got, talk.out, strlen(want));
		SAME("auth", got, want);
	}
}

/* Bytes behind the answer stay: nobody has asked for them. */
static void
test_more_than_the_answer(void)
{
	struct url_auth auth = { "", "" };

	talk_open(&talk, &auth, &server);
	talk_ask(&talk, &question, false);
	talk_write(&talk);
	EQUAL("answered",
	    receive("more", &talk, ANSWER "+", strlen(ANSWER "+")),
	    TALK_ANSWERED);
	EQUAL("more", (int64_t)talk.received, 1);
}

/* The time of a stale answer is not that of a later question. */
static void
test_a_question_forgets_the_answer_before(void)
{
	struct url_auth auth = { "", "" };

	talk_open(&talk, &auth, &server);
	talk_ask(&talk, &question, false);
	talk_write(&talk);
	receive("stale", &talk, STALE, strlen(STALE));
	EQUAL("stale", talk.answer.code, FLEET_STALE);
	talk_ask(&talk, &question, false);
	EQUAL("another", talk.answer.code, FLEET_DENIED);
	EQUAL("another", talk.answer.now, 0);
}

/* What a stale answer and TIME change in the question. */
static void
test_times(void)
{
	static const struct turn stale[4] = {
		{ "EVALSHA ", STALE, TALK_WAITS },
		{ "EVALSHA ", TIME_REFUSED, TALK_WAITS },
		{ "TIME ", TIME_REPLY, TALK_WAITS },
		{ "EVALSHA ", ANSWER, TALK_ANSWERED },
	};
	struct url_auth auth = { "", "" };
	nanos time = 1787407200 * NANOS_SECOND + 12345 * INT64_C(1000);

	talk_open(&talk, &auth, &server);
	talk_ask(&talk, &question, false);
	converse("times", &talk, stale, false);
	EQUAL("by", talk.question.by, 7 * NANOS_MS + LEFT);
	EQUAL("now", talk.question.now, time);
	EQUAL("offset", talk.offset, time - NOW);
	EQUAL("answer", talk.answer.granted, 1);
}

/* A second question over the same connection greets nobody, and may try each
 * way again. */
static void
test_again(void)
{
	static const struct turn turns[2][4] = {
		{ { "AUTH EVALSHA ", "+OK\r\n-NOSCRIPT no\r\n", TALK_WAITS },
		    { "EVAL ", ANSWER, TALK_ANSWERED } },
		{ { "EVAL ", "-NOSCRIPT no\r\n", TALK_WAITS },
		    { "EVAL ", ANSWER, TALK_ANSWERED } },
	};
	struct url_auth auth = { "", "p" };

	talk_open(&talk, &auth, &server);
	for (int i = 0; i < 2; i++) {
		talk_ask(&talk, &question, false);
		converse("again", &talk, turns[i], false);
	}
}

/*
 * Errors
 */

enum meaning { REFUSED, WHOLE, TIME, MOVED, ASK };

/* What an error in the place of the answer means. */
static enum meaning
meaning_of(const char *text)
{
	static const struct url_auth none;
	char reply[1024];
	enum talk_move move;

	snprintf(reply, sizeof reply, "-%s\r\n", text);
	talk_open(&talk, &none, &server);
	talk_ask(&talk, &question, false);
	talk_write(&talk);
	talk.url.port = -1;
	move = receive(text, &talk, reply, strlen(reply));
	if (move == TALK_REDIRECTED)
		return talk.asking ? ASK : MOVED;
	EQUAL(text, talk.url.port, -1);
	EQUAL(text, move, talk.whole || talk.timed ? TALK_WAITS : TALK_REFUSED);
	return talk.whole ? WHOLE : talk.timed ? TIME : REFUSED;
}

#define NUMBERS \
	" script: 06fb355e432df853c2279165741d8026f9f42d3f, on " \
	"@user_script:83."
#define OLD(words) \
	"ERR Error running script (call to f_06fb355e432df853c2279165741d80" \
	"26f9f42d3f): @user_script:83: @user_script: 83: " words

static void
test_errors(void)
{
	static const struct {
		const char *text;
		enum meaning meaning;
		const char *words; /* NULL: text, without a full stop */
	} rows[] = {
		/* Redis 7.0 */
		{ "NOSCRIPT No matching script. Please use EVAL.", WHOLE,
		    NULL },
		{ "WRONGPASS invalid username-password pair or user is "
		  "disabled.",
		    REFUSED, NULL },
		{ "NOAUTH Authentication required.", REFUSED, NULL },
		{ "ERR AUTH <password> called without any password configured "
		  "for the default user. Are you sure your configuration is "
		  "correct?",
		    REFUSED, NULL },
		{ "ERR DB index is out of range", REFUSED, NULL },
		{ "NOPERM this user has no permissions to run the 'eval' "
		  "command",
		    REFUSED, NULL },
		{ "ERR The user executing the script can't run this command or "
		  "subcommand" NUMBERS,
		    REFUSED,
		    "ERR The user executing the script can't run this command "
		    "or subcommand" },
		{ "OOM command not allowed when used memory > "
		  "'maxmemory'." NUMBERS,
		    REFUSED,
		    "OOM command not allowed when used memory > 'maxmemory'" },
		{ "READONLY You can't write against a read only "
		  "replica." NUMBERS,
		    REFUSED,
		    "READONLY You can't write against a read only replica" },
		{ "MASTERDOWN Link with MASTER is down and "
		  "replica-serve-stale-data is set to 'no'.",
		    REFUSED, NULL },
		{ "NOREPLICAS Not enough good replicas to write." NUMBERS,
		    REFUSED, "NOREPLICAS Not enough good replicas to write" },
		{ "ERR max number of clients reached", REFUSED, NULL },
		{ "ERR Protocol error: unauthenticated multibulk length",
		    REFUSED, "NOAUTH Authentication required" },
		{ "ERR Protocol error: unauthenticated bulk length", REFUSED,
		    "NOAUTH Authentication required" },
		{ "BUSY Redis is busy running a script. You can only call "
		  "SCRIPT KILL or SHUTDOWN NOSAVE.",
		    REFUSED, NULL },
		{ "LOADING Redis is loading the dataset in memory", REFUSED,
		    NULL },
		{ "CLUSTERDOWN Hash slot not served", REFUSED, NULL },
		{ "WRONGTYPE Operation against a key holding the wrong kind of "
		  "value" NUMBERS,
		    REFUSED,
		    "WRONGTYPE Operation against a key holding the wrong kind "
		    "of value" },
		{ "ERR This Redis command is not allowed from script" NUMBERS,
		    TIME, "ERR This Redis command is not allowed from script" },
		{ "ERR ACL failure in script: User poor has no permissions to "
		  "run the 'time' command" NUMBERS,
		    REFUSED,
		    "ERR ACL failure in script: User poor has no permissions "
		    "to run the 'time' command" },
		/* Redis 6 and before */
		{ OLD("-READONLY You can't write against a read only "
		      "replica."),
		    REFUSED,
		    "READONLY You can't write against a read only replica" },
		{ OLD("-NOPERM this user has no permissions"), REFUSED,
		    "NOPERM this user has no permissions" },
		{ OLD("This Redis command is not allowed from scripts"), TIME,
		    NULL },
		{ OLD("Write commands not allowed after non deterministic "
		      "commands. Call redis.replicate_commands() at the start "
		      "of your script"),
		    TIME, NULL },
		/* anything */
		{ "", REFUSED, NULL },
		{ "NOSCRIPT", REFUSED, NULL },
		{ "NOSCRIPTS ", REFUSED, NULL },
		{ "ERR Error running script", REFUSED, NULL },
		{ "ERR Error running script: -", REFUSED, "" },
		{ NUMBERS, REFUSED, "" },
		{ ", on @user_script:1", REFUSED, NULL },
	};

	for (size_t i = 0; i < LENGTH(rows); i++) {
		const char *row = rows[i].text;
		char copy[256], want[256];
		size_t length;

		EQUAL(row, meaning_of(row), rows[i].meaning);
		snprintf(copy, sizeof copy, "%.*s", (int)talk.words.length,
		    talk.words.at);
		length = (size_t)snprintf(want, sizeof want, "%s",
		    rows[i].words == NULL ? row : rows[i].words);
		if (length > 0 && want[length - 1] == '.')
			want[length - 1] = '\0';
		SAME(row, copy, want);
	}
}

#define TEN "abcdefghij"
#define HUNDRED TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN

static void
test_redirects(void)
{
	static const struct {
		const char *text;
		enum meaning meaning;
		const char *host;
		int port;
	} rows[] = {
		{ "MOVED 3999 127.0.0.1:6381", MOVED, "127.0.0.1", 6381 },
		{ "ASK 3999 node-2.example.com:1", ASK, "node-2.example.com",
		    1 },
		{ "MOVED 3999 ::1:65535", MOVED, "::1", 65535 },
		{ "MOVED 3999 :6381", MOVED, "", 6381 },
		{ "ASK 3999 ?:6381", ASK, "", 6381 },
		{ "MOVED", REFUSED, "", -1 },
		{ "MOVED 3999", REFUSED, "", -1 },
		{ "MOVED 3999 host", REFUSED, "", -1 },
		{ "MOVED 3999 host:", REFUSED, "", -1 },
		{ "MOVED 3999 host:0", REFUSED, "", -1 },
		{ "MOVED 3999 host:65536", REFUSED, "", -1 },
		{ "MOVED 3999 host:99999999999999999999", REFUSED, "", -1 },
		{ "MOVED 3999 -x:1", REFUSED, "", -1 },
		{ "MOVED 3999 a\tb:1", REFUSED, "", -1 },
		{ "ASK 3999 a b:1", REFUSED, "", -1 },
		{ "MOVED ASK 3999:1", MOVED, "3999", 1 },
		{ "MOVED 1 " HUNDRED HUNDRED TEN TEN TEN TEN TEN "123:1", MOVED,
		    HUNDRED HUNDRED TEN TEN TEN TEN TEN "123", 1 },
		{ "MOVED 1 " HUNDRED HUNDRED TEN TEN TEN TEN TEN "1234:1",
		    REFUSED, "", -1 },
	};

	for (size_t i = 0; i < LENGTH(rows); i++) {
		const char *row = rows[i].text;

		EQUAL(row, meaning_of(row), rows[i].meaning);
		if (rows[i].meaning == REFUSED)
			continue;
		EQUAL(row, talk.url.port, rows[i].port);
		SAME(row, talk.url.host, rows[i].host);
	}
}

static void (*const tests[])(void) = {
	test_rows,
	test_auth,
	test_more_than_the_answer,
	test_a_question_forgets_the_answer_before,
	test_times,
	test_again,
	test_errors,
	test_redirects,
};

UNIT(tests);
