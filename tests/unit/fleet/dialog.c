/*
 * Covers fleet/question.
 *
 * A dialog, row by row: a conversation with a server, whose replies are given, and of each
 * request its command; what errors mean, and which words of theirs are shown.
 */
#include "unit.h"
#include "script.h"
#include "fleet/question.h"

#define LEFT (200 * NANOS_MS)
#define ANSWER \
	"*11\r\n:1\r\n:1\r\n:10\r\n:0\r\n:9\r\n:0\r\n:7000\r\n:1\r\n" \
	":200000\r\n:10\r\n:60000000\r\n"
#define STALE \
	"*11\r\n:3\r\n:0\r\n:0\r\n:0\r\n:0\r\n:0\r\n:7000\r\n:0\r\n" \
	":0\r\n:0\r\n:0\r\n"

/* What a server replies, by the words of a conversation. */
static const struct {
	char word[12];
	const char *bytes;
} replies[] = { { "OK", "+OK\r\n" }, { "QUEUED", "+QUEUED\r\n" }, { "0", ":0\r\n" },
	{ "1", ":1\r\n" }, { "answer", ANSWER }, { "stale", STALE },
	{ "no-script", "-NOSCRIPT no\r\n" }, { "no-password", "-WRONGPASS no\r\n" },
	{ "no-db", "-ERR DB index\r\n" }, { "moved", "-MOVED 1 b:2\r\n" },
	{ "ask", "-ASK 1 b:2\r\n" }, { "moved-b/c", "-MOVED 1 b/c:2\r\n" } };

/*
 * Conversations: with a user, a password, a database, over a socket, or to forget the fleet;
 * then in turns the commands that are sent, in capitals, all replies to them,
 * and behind "->" what follows from the last one.
 */
static const char *const conversations[] = {
	"EVALSHA answer -> answered",
	"password db 3: AUTH:p SELECT EVALSHA OK OK answer -> answered",
	"password db 3: AUTH:p SELECT EVALSHA no-password -> refused",
	"password db 3: AUTH:p SELECT EVALSHA OK no-db -> refused",
	/* Not OK. */
	"password: AUTH:p EVALSHA no-script -> refused",
	"user password: AUTH:ci:p EVALSHA OK answer -> answered",
	"password: AUTH:p EVALSHA QUEUED -> invalid",
	"password: AUTH:p EVALSHA 1 -> invalid",
	"EVALSHA OK -> invalid",
	"password: AUTH:p EVALSHA OK no-script -> waits, EVAL answer -> answered",
	"EVALSHA no-script -> waits, EVAL no-script -> waits, EVAL no-script -> waits, "
	"EVAL no-script -> refused",
	/* A redirection is followed, but not for ever. */
	"password db 1: AUTH:p SELECT EVALSHA OK OK moved -> redirected, "
	"AUTH:p SELECT EVALSHA OK OK answer -> answered",
	"EVALSHA moved -> redirected, EVALSHA no-script -> waits, EVAL answer -> answered",
	"EVALSHA moved -> redirected, EVALSHA stale -> waits, EVALSHA ask -> redirected, "
	"ASKING EVALSHA OK moved -> refused",
	"password: AUTH:p EVALSHA OK ask -> redirected, AUTH:p ASKING EVALSHA "
	"OK OK no-script -> waits, ASKING EVAL OK answer -> answered",
	"EVALSHA moved-b/c -> refused",
	/* Behind a socket there is one server. */
	"socket: EVALSHA moved -> refused",
	"EVALSHA stale -> waits, EVALSHA answer -> answered",
	"EVALSHA stale -> waits, EVALSHA stale -> waits, EVALSHA stale -> waits, "
	"EVALSHA stale -> invalid",
	"forget db 2: SELECT PEXPIRE OK 1 -> answered",
	"forget: PEXPIRE ask -> redirected, ASKING PEXPIRE OK 0 -> answered",
	"forget: PEXPIRE OK -> invalid",
	/* A second question over the same connection greets nobody, and may be asked as often. */
	"password: AUTH:p EVALSHA OK no-script -> waits, EVAL answer -> "
	"answered ; EVAL no-script -> waits, EVAL answer -> answered",
};

/* Writes the first word of each request in out, all words of AUTH with colons
 * between, and a blank after each. */
static void list_commands(const struct dialog *dialog, char *list) {
	const char *at = dialog->out;

	while (at < dialog->out + dialog->length) {
		int words = (int)strtol(at + 1, NULL, 10);
		bool auth = false;

		at = strstr(at, "\r\n") + 2;
		for (int i = 0; i < words; i++) {
			size_t length = strtoul(at + 1, NULL, 10);

			at = strstr(at, "\r\n") + 2;
			if (i == 0 || auth) {
				memcpy(list, at, length);
				list += length;
				auth = strncmp(at - 1, "\nAUTH", 5) == 0 || (auth && i < words - 1);
				*list++ = auth ? ':' : ' ';
			}
			at += length + 2;
		}
	}
	*list = '\0';
}

/* Receives bytes in two parts: at first so many. Returns what follows. */
static enum question_move
receive(const char *row, struct dialog *dialog, const char *bytes, size_t first) {
	size_t length = strlen(bytes);

	memcpy(dialog->in + dialog->received, bytes, first);
	dialog->received += first;
	if (first < length) {
		EQUAL(row, question_take(dialog, LEFT), QUESTION_WAITS);
		bytes += first;
		memcpy(dialog->in + dialog->received, bytes, length - first);
		dialog->received += length - first;
	}
	return question_take(dialog, LEFT);
}

static const struct fleet_question usual = {
	.key = "k", .terms = { 200000, 10, 60 * NANOS_SECOND }, .wants = true, .by = NANOS_SECOND
};

static const struct url server = { .host = "a" };
static const struct url_auth nobody;
static struct dialog dialog;
static struct fleet_question question;

/* Begins to ask the usual question, or to forget the budget of its key. */
static void ask(bool forgets) {
	question = usual;
	question.forgets = forgets;
	question_ask(&dialog, &question);
}

/* Plays the turns up to the end, or to ";"; split: all replies of a turn come in two parts. */
static void converse(struct script *script, bool anew, bool split) {
	static const char moves[][12] = {
		[QUESTION_WAITS] = "waits",
		[QUESTION_ANSWERED] = "answered",
		[QUESTION_REDIRECTED] = "redirected",
		[QUESTION_REFUSED] = "refused",
		[QUESTION_INVALID] = "invalid",
	};
	const char *row = script->row;

	question_write(&dialog, anew);
	while (script_next(script) && !script_is(script, ";")) {
		char commands[64] = "", wanted[64] = "", bytes[512] = "";
		enum question_move move;

		if (script_is(script, ","))
			script_next(script);
		while (!script_is(script, "->")) {
			size_t i = 0;

			while (i < LENGTH(replies) && !script_is(script, replies[i].word)) i++;
			if (i < LENGTH(replies))
				strcat(bytes, replies[i].bytes);
			else
				strcat(strcat(wanted, script->word), " ");
			script_next(script);
		}
		script_next(script);
		list_commands(&dialog, commands);
		SAME(row, commands, wanted);
		dialog.sent = dialog.length;
		move = receive(row, &dialog, bytes, strlen(bytes) - split);
		SAME(row, moves[move], script->word);
		if (move == QUESTION_REDIRECTED) {
			EQUAL(row, dialog.url.port, 2);
			question_write(&dialog, true);
		}
		if (move == QUESTION_WAITS)
			EQUAL(row, (int64_t)dialog.sent, 0);
		if (move == QUESTION_ANSWERED)
			EQUAL(row, (int64_t)dialog.received, 0);
	}
}

TEST(conversations) {
	for (size_t i = 0; i < 2 * LENGTH(conversations); i++) {
		const char *row = conversations[i / 2];
		const char *colon = strchr(row, ':');
		struct script script = script_of(row);
		struct url_auth auth = { "", "" };
		struct url url = server;
		bool forgets = false;

		while (colon != NULL && script.rest <= colon) {
			script_next(&script);
			if (strncmp(script.word, "password", 8) == 0)
				strcpy(auth.password, "p");
			else if (script_is(&script, "user"))
				strcpy(auth.user, "ci");
			else if (strncmp(script.word, "socket", 6) == 0)
				url.host[0] = '\0';
			else if (strncmp(script.word, "forget", 6) == 0)
				forgets = true;
			else if (!script_is(&script, "db"))
				url.db = atoi(script.word);
		}
		question_open(&dialog, &auth, &url);
		ask(forgets);
		converse(&script, true, i % 2 == 1);
		while (script_is(&script, ";")) {
			ask(forgets);
			converse(&script, false, i % 2 == 1);
		}
	}
}

/* The time of a stale answer is not that of a later question. */
TEST(a_question_forgets_the_answer_before) {
	question_open(&dialog, &nobody, &server);
	ask(false);
	question_write(&dialog, true);
	receive("stale", &dialog, STALE, strlen(STALE));
	EQUAL("stale", dialog.answer.code, FLEET_STALE);
	ask(false);
	EQUAL("another", dialog.answer.code, FLEET_CUT);
	EQUAL("another", dialog.answer.now, 0);
}

/* A stale answer corrects the time by which the question is answered. */
TEST(times) {
	struct script script = script_of("EVALSHA stale -> waits, EVALSHA answer -> answered");

	question_open(&dialog, &nobody, &server);
	ask(false);
	converse(&script, true, false);
	EQUAL("by", question.by, 7 * NANOS_MS + LEFT);
	EQUAL("answer", dialog.answer.code, FLEET_GRANTED);
}

enum meaning { REFUSED, WHOLE, MOVED, ASK };

/* What an error in the place of the answer means. */
static enum meaning meaning_of(const char *text) {
	char reply[1024];
	enum question_move move;

	snprintf(reply, sizeof reply, "-%s\r\n", text);
	question_open(&dialog, &nobody, &server);
	ask(false);
	question_write(&dialog, true);
	dialog.url.port = -1;
	move = receive(text, &dialog, reply, strlen(reply));
	if (move == QUESTION_REDIRECTED)
		return dialog.asking ? ASK : MOVED;
	EQUAL(text, dialog.url.port, -1);
	EQUAL(text, move, dialog.whole ? QUESTION_WAITS : QUESTION_REFUSED);
	return dialog.whole ? WHOLE : REFUSED;
}

/* An error, what it means, and its words as they are shown. */
TEST(errors) {
#define SCRIPT " script: 06fb355e432df853c2279165741d8026f9f42d3f, on @user_script:83."
	static const struct {
		enum meaning meaning;
		const char *text, *words;
	} rows[] = { { WHOLE, "NOSCRIPT No matching script.", "NOSCRIPT No matching script" },
		{ REFUSED, "OOM not allowed when used memory > 'maxmemory'." SCRIPT,
		    "OOM not allowed when used memory > 'maxmemory'" },
		{ REFUSED, "READONLY You can't write." SCRIPT, "READONLY You can't write" },
		{ REFUSED, "ERR ACL failure in script: User ro can't." SCRIPT,
		    "ERR ACL failure in script: User ro can't" },
		{ REFUSED, "ERR ACL failure in script: User ro can't",
		    "ERR ACL failure in script: User ro can't" },
		{ REFUSED, "ERR Unknown command called from script script: on @user_script:9.",
		    "ERR Unknown command called from script" },
		{ REFUSED, "ERR unknown command 'EVALSHA', with args beginning with: '7e' ",
		    "ERR unknown command 'EVALSHA'" },
		{ REFUSED, SCRIPT, "" }, { REFUSED, "", "" }, { REFUSED, "NOSCRIPT", "NOSCRIPT" },
		{ REFUSED, "NOSCRIPTS ", "NOSCRIPTS " },
		/* These say in other words what is missing. */
		{ REFUSED, "ERR Protocol error: unauthenticated multibulk length",
		    "NOAUTH Authentication required" },
		{ REFUSED, "ERR Protocol error: unauthenticated bulk length",
		    "NOAUTH Authentication required" } };

	for (size_t i = 0; i < LENGTH(rows); i++) {
		char words[256];

		EQUAL(rows[i].text, meaning_of(rows[i].text), rows[i].meaning);
		snprintf(words, sizeof words, "%.*s", (int)dialog.words.length, dialog.words.at);
		SAME(rows[i].text, words, rows[i].words);
	}
}

#define TEN "abcdefghi."
#define HUNDRED TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN

/* Where an error redirects to. */
static const char *target_of(const char *error) {
	static const char *const names[] = { [MOVED] = "moved", [ASK] = "ask" };
	static char room[300];
	enum meaning meaning = meaning_of(error);

	if (meaning == REFUSED)
		return "refused";
	snprintf(room, sizeof room, "%s %s:%d", names[meaning], dialog.url.host, dialog.url.port);
	return room;
}

TEST(redirects) {
#define LONGEST HUNDRED HUNDRED TEN TEN TEN TEN TEN "123"
	static const char *const rows[][12] = {
		{ "moved 127.0.0.1:6381", "MOVED 3999 127.0.0.1:6381" },
		{ "ask node-2.example.com:1", "ASK 3999 node-2.example.com:1" },
		{ "moved ::1:65535", "MOVED 3999 ::1:65535" },
		{ "moved a:6381", "MOVED 3999 :6381" },
		{ "ask a:6381", "ASK 3999 ?:6381" },
		{ "moved 3999:1", "MOVED ASK 3999:1" },
		{ "moved " LONGEST ":1", "MOVED 1 " LONGEST ":1" },
		{ "refused", "MOVED 1 " LONGEST "4:1", "MOVED", "MOVED 3999 host",
		    "MOVED 3999 host:", "MOVED 3999 host:0", "MOVED 3999 host:65536",
		    "MOVED 3999 -x:1", "MOVED 3999 a\tb:1", "ASK 3999 a b:1" },
	};

	ALIKE(rows, target_of);
}
