/*
 * resp and question, row by row; and replies that are cut off at each byte,
 * or of random bytes.
 */
#include "unit.h"
#include "fleet/question.h"
#include "fleet/resp.h"

#define RANDOM_REPLIES 200000

/*
 * resp
 */

/* The bytes in a block of exactly their size, so that a read past it shows. */
static enum resp_state
read_copy(const char *bytes, size_t length, struct resp_reply *reply)
{
	char *copy = malloc(length > 0 ? length : 1);
	enum resp_state state;

	if (copy == NULL)
		abort();
	memcpy(copy, bytes, length);
	state = resp_read((struct strview){ copy, length }, reply);
	/* The text of a reply is where its bytes were. */
	if (state == RESP_WHOLE && reply->text.length > 0)
		reply->text.at = bytes + (reply->text.at - copy);
	free(copy);
	return state;
}

static const struct {
	const char *bytes;
	enum resp_type type;
	const char *text; /* NULL: numbers */
	int64_t numbers[3];
	size_t count;
} replies[] = {
	{ "+OK\r\n", RESP_SIMPLE, "OK", { 0 }, 0 },
	{ "+\r\n", RESP_SIMPLE, "", { 0 }, 0 },
	{ "-ERR unknown command 'X'\r\n", RESP_ERROR, "ERR unknown command 'X'",
	    { 0 }, 0 },
	{ "-\r\n", RESP_ERROR, "", { 0 }, 0 },
	{ ":0\r\n", RESP_INTEGER, NULL, { 0 }, 1 },
	{ ":-12\r\n", RESP_INTEGER, NULL, { -12 }, 1 },
	{ ":999999999999999999\r\n", RESP_INTEGER, NULL, { 999999999999999999 },
	    1 },
	{ "$0\r\n\r\n", RESP_BULK, "", { 0 }, 0 },
	{ "$5\r\nab\r\nc\r\n", RESP_BULK, "ab\r\nc", { 0 }, 0 },
	{ "$-1\r\n", RESP_NULL, NULL, { 0 }, 0 },
	{ "*-1\r\n", RESP_NULL, NULL, { 0 }, 0 },
	{ "*0\r\n", RESP_ARRAY, NULL, { 0 }, 0 },
	{ "*3\r\n:1\r\n:-2\r\n:3\r\n", RESP_ARRAY, NULL, { 1, -2, 3 }, 3 },
	/* as TIME answers */
	{ "*2\r\n$10\r\n1787407200\r\n$6\r\n012345\r\n", RESP_ARRAY, NULL,
	    { 1787407200, 12345 }, 2 },
};

static void
test_replies_are_read(void)
{
	for (size_t i = 0; i < LENGTH(replies); i++) {
		const char *row = replies[i].bytes, *text = replies[i].text;
		struct resp_reply reply = { 0 };

		EQUAL(row, read_copy(row, strlen(row), &reply), RESP_WHOLE);
		EQUAL(row, reply.type, replies[i].type);
		EQUAL(row, (int64_t)reply.length, (int64_t)strlen(row));
		EQUAL(row, (int64_t)reply.count, (int64_t)replies[i].count);
		for (size_t j = 0; j < replies[i].count; j++)
			EQUAL(row, reply.numbers[j], replies[i].numbers[j]);
		if (text != NULL)
			EQUAL(row, (int64_t)reply.text.length,
			    (int64_t)strlen(text));
		if (reply.text.length > 0 && text != NULL)
			HOLDS(row,
			    strncmp(reply.text.at, text, strlen(text)) == 0);
	}
}

/* A reply is partial until its last byte, and ends there. */
static void
test_replies_come_in_parts(void)
{
	char two[256];

	for (size_t i = 0; i < LENGTH(replies); i++) {
		const char *row = replies[i].bytes;
		size_t length = strlen(row);
		struct resp_reply reply = { .length = 77 };

		for (size_t part = 0; part < length; part++)
			EQUAL(row, read_copy(row, part, &reply), RESP_PARTIAL);
		EQUAL(row, (int64_t)reply.length, 77);
		memcpy(two, row, length);
		memcpy(two + length, "!!", 2);
		EQUAL(row, read_copy(two, length + 2, &reply), RESP_WHOLE);
		EQUAL(row, (int64_t)reply.length, (int64_t)length);
	}
}

static void
test_what_is_no_reply(void)
{
	static const char *const rows[] = { "HTTP/1.1 400 Bad Request\r\n",
		"\r\n", "SSH-2.0-OpenSSH_9.2\r\n", "%1\r\n", "_\r\n", "#t\r\n",
		",1.5\r\n", "(1\r\n", "=5\r\ntxt:a\r\n", ">1\r\n", "~1\r\n",
		"!5\r\nERR a\r\n", "+OK\n", "+O\rK\r\n", "-ERR a\nb\r\n",
		":\r\n", ":-\r\n", ":--1\r\n", ":+1\r\n", ": 1\r\n", ":1 \r\n",
		":1.0\r\n", ":1e3\r\n", ":0x1\r\n", ":nan\r\n",
		":1000000000000000000\r\n", ":99999999999999999999\r\n",
		"$\r\n", "$-2\r\n", "$a\r\n", "$4097\r\n",
		"$99999999999999999999\r\n", "$1\r\nab", "$1\r\na\rb", "*\r\n",
		"*-2\r\n", "*17\r\n", "*99999999999999999999\r\n",
		"*1\r\n+OK\r\n", "*1\r\n-ERR\r\n", "*1\r\n*0\r\n",
		"*1\r\n$-1\r\n", "*1\r\n$2\r\nab\r\n", "*1\r\n$0\r\n\r\n",
		"*1\r\n:x\r\n" };

	for (size_t i = 0; i < LENGTH(rows); i++) {
		struct resp_reply reply = { .length = 77 };

		EQUAL(rows[i], read_copy(rows[i], strlen(rows[i]), &reply),
		    RESP_INVALID);
		EQUAL(rows[i], (int64_t)reply.length, 77);
	}
}

/* A text, and then as many bytes c as it takes to have length bytes. */
static enum resp_state
read_filled(const char *start, char c, size_t length, const char *end)
{
	static char bytes[2 * RESP_REPLY];
	struct resp_reply reply;

	memset(bytes, c, sizeof bytes);
	memcpy(bytes, start, strlen(start));
	memcpy(bytes + length - strlen(end), end, strlen(end));
	return read_copy(bytes, length, &reply);
}

static void
test_replies_have_a_bound(void)
{
	EQUAL("line", read_filled("+", 'a', RESP_REPLY, "\r\n"), RESP_WHOLE);
	EQUAL("line", read_filled("+", 'a', RESP_REPLY - 1, ""), RESP_PARTIAL);
	EQUAL("line", read_filled("+", 'a', RESP_REPLY, ""), RESP_INVALID);
	EQUAL("line", read_filled("+", 'a', RESP_REPLY + 1, "\r\n"),
	    RESP_INVALID);
	EQUAL("bulk", read_filled("$4087\r\n", 'a', 4096, "\r\n"), RESP_WHOLE);
	EQUAL(
	    "bulk", read_filled("$4088\r\n", 'a', 4097, "\r\n"), RESP_INVALID);
	EQUAL("digits", read_filled(":", '1', RESP_REPLY, ""), RESP_INVALID);
}

/* xorshift64*: the same numbers in each run. */
static uint64_t
draw(void)
{
	static uint64_t state = UINT64_C(88172645463325252);

	state ^= state >> 12;
	state ^= state << 25;
	state ^= state >> 27;
	return state * UINT64_C(2685821657736338717) >> 16;
}

static void
test_replies_of_any_bytes(void)
{
	static const char marks[] = "+-:$*\r\n0123456789-$:\r\n\r\n\r\nab\xff";
	char bytes[24];

	for (int i = 0; i < RANDOM_REPLIES; i++) {
		size_t length = draw() % sizeof bytes;
		struct resp_reply reply = { 0 };
		enum resp_state state;

		for (size_t j = 0; j < length; j++)
			bytes[j] = marks[draw() % sizeof marks];
		state = read_copy(bytes, length, &reply);
		if (state == RESP_WHOLE &&
		    (reply.length > length || reply.count > RESP_NUMBERS))
			HOLDS("any bytes", false);
		/* What is invalid does not become valid by more bytes. */
		if (state == RESP_INVALID && length < sizeof bytes) {
			bytes[length] = '\n';
			if (read_copy(bytes, length + 1, &reply) !=
			    RESP_INVALID)
				HOLDS("any bytes", false);
		}
	}
	HOLDS("any bytes", true);
}

static void
test_requests_are_written(void)
{
	static const char want[] = "*2\r\n$4\r\nAUTH\r\n$0\r\n\r\n"
				   "*2\r\n$3\r\na\0b\r\n$2\r\n-7\r\n";
	char buffer[sizeof want];
	struct resp_request request = { buffer, sizeof want - 1, 0 };

	resp_put(&request, (const char *const[]){ "AUTH", "" }, 2);
	resp_open(&request, 2);
	resp_add(&request, (struct strview){ "a\0b", 3 });
	resp_add_number(&request, -7);
	EQUAL(
	    "whole", (int64_t)resp_length(&request), (int64_t)sizeof want - 1);
	HOLDS("whole", memcmp(buffer, want, sizeof want - 1) == 0);
}

/* In a buffer of each smaller size nothing is written behind its end. */
static void
test_requests_that_do_not_fit(void)
{
	static const char want[] = "*2\r\n$6\r\nSELECT\r\n$1\r\n7\r\n";

	for (size_t size = 0; size < sizeof want - 1; size++) {
		char *buffer = malloc(size + 1);
		struct resp_request request;

		if (buffer == NULL)
			abort();
		buffer[size] = '!';
		request = (struct resp_request){ buffer, size, 0 };
		resp_put(&request, (const char *const[]){ "SELECT", "7" }, 2);
		EQUAL("too small", (int64_t)resp_length(&request), 0);
		HOLDS("too small", buffer[size] == '!');
		free(buffer);
	}
}

/*
 * question
 */

#define MICRO INT64_C(1000)

static const struct fleet_question usual = {
	.key = "api",
	.terms = { .ratio = 200000, .min = 10, .window = NANOS_MINUTE },
	.wanted = 5,
};

/* The words of a request after the first three, separated by spaces. */
static const char *
words_of(const struct fleet_question *question, bool whole)
{
	static char text[FLEET_REQUEST], bytes[FLEET_REQUEST];
	struct resp_request request = { bytes, sizeof bytes, 0 };
	char *from, *at = text;
	long count, length;

	question_write(&request, question, whole);
	if (resp_length(&request) == 0)
		return "too long";
	count = strtol(bytes + 1, &from, 10);
	for (from += 2; count-- > 0; from += length + 2) {
		length = strtol(from + 1, &from, 10);
		from += 2;
		memcpy(at, from, (size_t)length);
		at += length;
		*at++ = ' ';
	}
	at[-1] = '\0';
	return text;
}

static void
test_questions(void)
{
	struct fleet_question question = usual;
	char text[FLEET_REQUEST];

	snprintf(text, sizeof text, "EVALSHA %s 1 retry:1:api %s",
	    question_script_sha1, "1000000 200000 10 5 0 0 ");
	SAME("usual", words_of(&question, false), text);
	question.by = 1787407200123456 * MICRO;
	question.first = true;
	question.now = 1787407200000001 * MICRO;
	question.count = 2;
	question.told[0] = (struct fleet_row){ 0, 7, 0 };
	question.told[1] = (struct fleet_row){ NANOS_MINUTE + 1, 8, 9 };
	snprintf(text, sizeof text, "EVAL %s 1 retry:1:api %s", question_script,
	    "1000000 200000 10 5 1787407200123456 1 1787407200000001 "
	    "0 7 0 60000001 8 9");
	SAME("all", words_of(&question, true), text);
}

/* A slice is long enough for the window, and an age is never too small. */
static void
test_times_are_rounded_up(void)
{
	struct fleet_question question = usual;
	char text[FLEET_REQUEST];

	question.terms.window = NANOS_SECOND;
	question.by = 1999;
	question.count = 2;
	question.told[0] = (struct fleet_row){ 1, 1, 0 };
	question.told[1] = (struct fleet_row){ -1, 1, 0 };
	snprintf(text, sizeof text, "EVALSHA %s 1 retry:1:api %s",
	    question_script_sha1, "16667 200000 10 5 1 0  1 1 0 0 1 0");
	SAME("rounded", words_of(&question, false), text);
}

/* The longest question fits into FLEET_REQUEST. */
static void
test_longest_question(void)
{
	static char key[SEGMENT_KEY + 2];
	struct fleet_question question = {
		.key = key,
		.terms = { SEGMENT_RATIO_MOST, SEGMENT_MIN_MOST,
		    SEGMENT_WINDOW_MOST },
		.wanted = FLEET_WANTED,
		.by = NANOS_MAX,
		.now = NANOS_MAX,
		.count = FLEET_ROWS,
	};
	char bytes[FLEET_REQUEST];
	struct resp_request request = { bytes, sizeof bytes, 0 };

	memset(key, 'k', sizeof key - 1);
	for (size_t i = 0; i < FLEET_ROWS; i++)
		question.told[i] =
		    (struct fleet_row){ NANOS_MAX, INT32_MAX, INT32_MAX };
	question_write(&request, &question, true);
	HOLDS("longest", resp_length(&request) > 0);
	question.count++;
	request.length = 0;
	question_write(&request, &question, true);
	HOLDS("a row more", resp_length(&request) > 0);
}

static void
test_forgetting(void)
{
	static const char want[] =
	    "*3\r\n$7\r\nPEXPIRE\r\n$12\r\nretry:1:{a}b\r\n$1\r\n0\r\n";
	char bytes[sizeof want] = "";
	struct resp_request request = { bytes, sizeof bytes, 0 };

	question_forget(&request, "{a}b");
	SAME("forget", bytes, want);
}

/* An answer as the script gives it, with one number changed; at -1: none. */
static bool
read_changed(const struct fleet_question *question, int at, int64_t number,
    struct fleet_answer *answer)
{
	struct resp_reply reply = {
		.type = RESP_ARRAY,
		.count = 12,
		.numbers = { 1, 5, 25, 40, 200, 30000000, 1001500,
		    1787407200000001, 3, 200000, 10, 60000000 },
	};

	if (at >= 0)
		reply.numbers[at] = number;
	memset(answer, 0, sizeof *answer);
	return question_read(&reply, question, answer);
}

static void
test_answers(void)
{
	struct fleet_answer answer;

	HOLDS("granted", read_changed(&usual, -1, 0, &answer));
	EQUAL("granted", answer.code, FLEET_GRANTED);
	EQUAL("granted", answer.granted, 5);
	EQUAL("granted", answer.retries, 25);
	EQUAL("granted", answer.limit, 40);
	EQUAL("granted", answer.successes, 200);
	EQUAL("granted", answer.next, 30 * NANOS_SECOND);
	EQUAL("granted", answer.pause, 1001500 * MICRO);
	EQUAL("granted", answer.now, 1787407200000001 * MICRO);
	EQUAL("granted", answer.hosts, 3);
	EQUAL("granted", answer.terms.ratio, 200000);
	EQUAL("granted", answer.terms.min, 10);
	EQUAL("granted", answer.terms.window, NANOS_MINUTE);
	HOLDS("a window of 1s", read_changed(&usual, 11, 1000020, &answer));
	EQUAL("a window of 1s", answer.terms.window, NANOS_SECOND);
}

/* Each number at the ends of its range, and beyond. */
static void
test_limits_of_belief(void)
{
	static const struct {
		const char *name;
		int at;
		int64_t number;
		bool believed;
	} rows[] = {
		{ "code", 0, -1, false },
		{ "denied with a grant", 0, 0, false },
		{ "told only, though it wanted", 0, 2, false },
		{ "stale, without a by", 0, 3, false },
		{ "code", 0, 4, false },
		{ "granted nothing", 1, 0, false },
		{ "granted less", 1, 1, true },
		{ "granted more than wanted", 1, 6, false },
		{ "granted", 1, -1, false },
		{ "retries", 2, -1, false },
		{ "retries", 2, 0, true },
		{ "limit", 3, -1, false },
		{ "limit", 3, INT64_C(1) << 53, true },
		{ "limit", 3, (INT64_C(1) << 53) + 1, false },
		{ "successes", 4, -1, false },
		{ "next", 5, -1, false },
		{ "pause", 6, -1, false },
		{ "now", 7, 0, false },
		{ "now", 7, -5, false },
		{ "now", 7, INT64_C(1) << 53, true },
		{ "now", 7, (INT64_C(1) << 53) + 1, false },
		{ "hosts", 8, -1, false },
		{ "ratio", 9, -1, false },
		{ "ratio", 9, SEGMENT_RATIO_MOST, true },
		{ "ratio", 9, SEGMENT_RATIO_MOST + 1, false },
		{ "min", 10, -1, false },
		{ "min", 10, SEGMENT_MIN_MOST, true },
		{ "min", 10, SEGMENT_MIN_MOST + 1, false },
		{ "window", 11, 999999, false },
		{ "window", 11, 1000020, true },
		{ "window", 11, INT64_C(86400000000), true },
		{ "window", 11, INT64_C(86400000061), false },
	};

	for (size_t i = 0; i < LENGTH(rows); i++) {
		struct fleet_answer answer;

		EQUAL(rows[i].name,
		    read_changed(&usual, rows[i].at, rows[i].number, &answer),
		    rows[i].believed);
	}
}

/* Whatever the server says, next and pause are a window and a slice at most. */
static void
test_times_of_answers_are_bounded(void)
{
	struct fleet_answer answer;

	HOLDS("next", read_changed(&usual, 5, INT64_C(1) << 53, &answer));
	EQUAL("next", answer.next, 61 * NANOS_SECOND);
	HOLDS("pause", read_changed(&usual, 6, 61000001, &answer));
	EQUAL("pause", answer.pause, 61 * NANOS_SECOND);
}

static void
test_other_answers(void)
{
	struct fleet_question question = usual;
	struct fleet_answer answer;
	struct resp_reply reply = { .type = RESP_ARRAY, .count = 12 };

	question.wanted = 0;
	reply.numbers[0] = 2;
	reply.numbers[7] = 1787407200000001;
	reply.numbers[11] = 60000000;
	HOLDS("noted", question_read(&reply, &question, &answer));
	EQUAL("noted", answer.code, FLEET_NOTED);
	reply.numbers[0] = 0;
	HOLDS("denied nothing", !question_read(&reply, &question, &answer));
	question.wanted = 1;
	HOLDS("denied", question_read(&reply, &question, &answer));
	EQUAL("denied", answer.code, FLEET_DENIED);

	question.by = 1;
	reply.numbers[0] = 3;
	reply.numbers[11] = 0;
	HOLDS("stale", question_read(&reply, &question, &answer));
	EQUAL("stale", answer.code, FLEET_STALE);
	EQUAL("stale", answer.now, 1787407200000001 * MICRO);
	EQUAL("stale", answer.granted, 0);
	reply.numbers[7] = 0;
	HOLDS("stale at 0", !question_read(&reply, &question, &answer));
	reply.numbers[7] = 1;
	reply.count = 11;
	HOLDS("11 numbers", !question_read(&reply, &question, &answer));
	reply.count = 13;
	HOLDS("13 numbers", !question_read(&reply, &question, &answer));
	reply.count = 12;
	reply.type = RESP_BULK;
	HOLDS("a text", !question_read(&reply, &question, &answer));
}

int
main(void)
{
	static void (*const tests[])(void) = {
		test_replies_are_read,
		test_replies_come_in_parts,
		test_what_is_no_reply,
		test_replies_have_a_bound,
		test_replies_of_any_bytes,
		test_requests_are_written,
		test_requests_that_do_not_fit,
		test_questions,
		test_times_are_rounded_up,
		test_longest_question,
		test_forgetting,
		test_answers,
		test_limits_of_belief,
		test_times_of_answers_are_bounded,
		test_other_answers,
	};

	return unit_run(tests, LENGTH(tests));
}
