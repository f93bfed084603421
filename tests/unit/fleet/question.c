/* question, row by row. */
#include "unit.h"
#include "fleet/question.h"

#define MICRO INT64_C(1000)

static const struct fleet_question usual = {
	.key = "api",
	.terms = { .ratio = 200000, .min = 10, .window = NANOS_MINUTE },
	.wants = true,
};

/* The words of a request after the first three, separated by spaces. */
static const char *words_of(const struct fleet_question *question, bool whole) {
	static char text[FLEET_REQUEST], bytes[FLEET_REQUEST];
	struct resp_request request = { bytes, sizeof bytes, 0 };
	char *from, *at = text;
	long count, length;

	question_put(&request, question, whole);
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

/* Compares a question with its words; whole, with that of its script. */
static void check(const struct fleet_question *question, bool whole, const char *numbers) {
	char want[FLEET_REQUEST];

	snprintf(want, sizeof want, "%s %s 1 retry:1:api %s", whole ? "EVAL" : "EVALSHA",
	    whole ? question_script : question_script_sha1, numbers);
	SAME(numbers, words_of(question, whole), want);
}

TEST(questions) {
	struct fleet_question question = usual;

	check(&question, false, "1000000 200000 10 1 0 0");
	question.by = 1787407200123456 * MICRO;
	question.first = true;
	question.count = 2;
	question.told[0] = (struct fleet_row){ 0, 7, 0, 3 };
	question.told[1] = (struct fleet_row){ NANOS_MINUTE + 1, 8, 9, 0 };
	check(&question, true, "1000000 200000 10 1 1787407200123456 1 0 7 0 3 60000001 8 9 0");
	/* A slice is long enough for the window, and an age is never too small. */
	question = usual;
	question.terms.window = NANOS_SECOND;
	question.by = 1999;
	question.count = 2;
	question.told[0] = (struct fleet_row){ 1, 1, 0, 0 };
	question.told[1] = (struct fleet_row){ -1, 1, 0, 0 };
	check(&question, false, "16667 200000 10 1 1 0 1 1 0 0 0 1 0 0");
}

/* The longest question fits into FLEET_REQUEST. */
TEST(longest_question) {
	static char key[SEGMENT_KEY + 2];
	struct fleet_question question = {
		.key = key,
		.terms = { SEGMENT_RATIO_MOST, SEGMENT_MIN_MOST, SEGMENT_WINDOW_MOST },
		.wants = true,
		.by = NANOS_MAX,
		.count = FLEET_ROWS,
	};
	char bytes[FLEET_REQUEST];
	struct resp_request request = { bytes, sizeof bytes, 0 };

	memset(key, 'k', sizeof key - 1);
	for (size_t i = 0; i < FLEET_ROWS; i++)
		question.told[i] =
		    (struct fleet_row){ NANOS_MAX, UINT16_MAX, UINT16_MAX, UINT16_MAX };
	question_put(&request, &question, true);
	HOLDS("longest", resp_length(&request) > 0);
	question.count++;
	request.length = 0;
	question_put(&request, &question, true);
	HOLDS("a row more", resp_length(&request) > 0);
}

TEST(forgetting) {
	static const char want[] = "*3\r\n$7\r\nPEXPIRE\r\n$12\r\nretry:1:{a}b\r\n$1\r\n0\r\n";
	char bytes[sizeof want] = "";
	struct resp_request request = { bytes, sizeof bytes, 0 };

	question_put(&request, &(struct fleet_question){ .key = "{a}b", .forgets = true }, false);
	SAME("forget", bytes, want);
}

/* An answer as the script gives it, with one number changed; at -1: none. */
static bool read_changed(const struct fleet_question *question, int at, int64_t number,
    struct fleet_answer *answer) {
	struct resp_reply reply = {
		.type = RESP_ARRAY,
		.count = 11,
		.numbers = { 1, 25, 40, 200, 30000000, 1001500, 1787407200000001, 3, 200000, 10,
		    60000000 },
	};

	if (at >= 0)
		reply.numbers[at] = number;
	memset(answer, 0, sizeof *answer);
	return question_read(&reply, question, answer);
}

TEST(answers) {
	struct fleet_answer answer;

	HOLDS("granted", read_changed(&usual, -1, 0, &answer));
	EQUAL("granted", answer.code, FLEET_GRANTED);
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
	HOLDS("a window of 1s", read_changed(&usual, 10, 1000020, &answer));
	EQUAL("a window of 1s", answer.terms.window, NANOS_SECOND);
}

/* Each number at the ends of its range, and beyond. */
TEST(limits_of_belief) {
#define MOST (INT64_C(1) << 53)
	static const struct {
		const char *name;
		int at;
		int64_t good[2], bad[2];
	} rows[] = {
		/* Noted though it wanted a retry, stale by nobody, and one that
		 * is granted in its low bits. */
		{ "code", 0, { 0, 1 }, { 2, 3 } },
		{ "code", 0, { 0, 1 }, { -1, (INT64_C(1) << 32) + 1 } },
		{ "retries", 1, { 0, 1 }, { -1, -2 } },
		{ "limit", 2, { 0, MOST }, { -1, MOST + 1 } },
		{ "successes", 3, { 0, 1 }, { -1, -2 } },
		{ "next", 4, { 0, 1 }, { -1, -2 } },
		{ "pause", 5, { 0, 1 }, { -1, -2 } },
		{ "now", 6, { 1, MOST }, { -1, MOST + 1 } },
		{ "hosts", 7, { 0, 1 }, { -1, -2 } },
		{ "ratio", 8, { 0, MOST }, { -1, MOST + 1 } },
		{ "min", 9, { 0, MOST }, { -1, MOST + 1 } },
		{ "window", 10, { 1000020, MOST }, { -1, MOST + 1 } },
	};
	struct fleet_answer answer;

	for (size_t i = 0; i < LENGTH(rows); i++)
		for (int j = 0; j < 2; j++) {
			HOLDS(rows[i].name,
			    read_changed(&usual, rows[i].at, rows[i].good[j], &answer));
			HOLDS(rows[i].name,
			    !read_changed(&usual, rows[i].at, rows[i].bad[j], &answer));
		}
}

/* Whatever the server says, next and pause are a window and a slice at most. */
TEST(times_of_answers_are_bounded) {
	struct fleet_answer answer;

	HOLDS("next", read_changed(&usual, 4, INT64_C(1) << 53, &answer));
	EQUAL("next", answer.next, 61 * NANOS_SECOND);
	HOLDS("pause", read_changed(&usual, 5, 61000001, &answer));
	EQUAL("pause", answer.pause, 61 * NANOS_SECOND);
}

TEST(other_answers) {
	static const struct {
		const char *row;
		bool wants;
		int64_t code, now, window;
		size_t count;
		enum resp_type type;
		int want; /* -1: it is no answer */
	} rows[] = {
#define WINDOW 60000000
		{ "noted", false, 2, 5, WINDOW, 11, RESP_ARRAY, FLEET_NOTED },
		{ "denied nothing", false, 0, 5, WINDOW, 11, RESP_ARRAY, -1 },
		{ "denied", true, 0, 5, WINDOW, 11, RESP_ARRAY, FLEET_DENIED },
		{ "stale", true, 3, 5, 0, 11, RESP_ARRAY, FLEET_STALE },
		{ "10 numbers", true, 3, 5, 0, 10, RESP_ARRAY, -1 },
		{ "12 numbers", true, 3, 5, 0, 12, RESP_ARRAY, -1 },
		{ "a text", true, 3, 5, 0, 11, RESP_SIMPLE, -1 },
	};

	for (size_t i = 0; i < LENGTH(rows); i++) {
		struct fleet_question question = usual;
		struct fleet_answer answer = { .now = 0 };
		struct resp_reply reply = { .type = rows[i].type, .count = rows[i].count };
		bool read;

		question.wants = rows[i].wants;
		question.by = rows[i].window == 0;
		reply.numbers[0] = rows[i].code;
		reply.numbers[6] = rows[i].now;
		reply.numbers[10] = rows[i].window;
		read = question_read(&reply, &question, &answer);
		EQUAL(rows[i].row, read ? (int)answer.code : -1, rows[i].want);
		HOLDS(rows[i].row, !read || answer.now == 5 * MICRO);
	}
}
