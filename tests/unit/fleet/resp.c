/* resp, row by row; and replies that are cut off at each byte, or of random bytes. */
#include "unit.h"
#include "fleet/resp.h"
#include "text/hash.h"

#define RANDOM_REPLIES 40000

/* The bytes in a block of exactly their size, so that a read past it shows. */
static enum resp_state read_copy(const char *bytes, size_t length, struct resp_reply *reply) {
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

/* A reply, and what it says: its type, and its text or its numbers. */
static const char *const replies[][2] = { { "+OK\r\n", "simple OK" }, { "+\r\n", "simple " },
	{ "-ERR unknown command 'X'\r\n", "error ERR unknown command 'X'" }, { "-\r\n", "error " },
	{ ":0\r\n", "integer 0" }, { ":12\r\n", "integer 12" },
	{ ":999999999999999999\r\n", "integer 999999999999999999" },
	{ ":99999999999999999999\r\n", "integer 9223372036854775807" }, { "*0\r\n", "array" },
	{ "*3\r\n:1\r\n:2\r\n:3\r\n", "array 1 2 3" } };

/* A reply is partial until its last byte, and ends there. */
TEST(replies) {
	static const char *const types[] = { [RESP_SIMPLE] = "simple ",
		[RESP_ERROR] = "error ",
		[RESP_INTEGER] = "integer",
		[RESP_ARRAY] = "array" };

	for (size_t i = 0; i < LENGTH(replies); i++) {
		const char *row = replies[i][0];
		size_t length = strlen(row);
		struct resp_reply reply = { .length = 77 };
		char bytes[256], got[256], number[32];

		for (size_t part = 0; part < length; part++)
			EQUAL(row, read_copy(row, part, &reply), RESP_PARTIAL);
		EQUAL(row, (int64_t)reply.length, 77);
		snprintf(bytes, sizeof bytes, "%s!!", row);
		EQUAL(row, read_copy(bytes, length + 2, &reply), RESP_WHOLE);
		EQUAL(row, (int64_t)reply.length, (int64_t)length);
		if (strchr(types[reply.type], ' ') == NULL)
			reply.text.length = 0;
		snprintf(got, sizeof got, "%s%.*s", types[reply.type], (int)reply.text.length,
		    reply.text.at);
		for (size_t j = 0; j < reply.count; j++) {
			snprintf(number, sizeof number, " %" PRId64, reply.numbers[j]);
			strcat(got, number);
		}
		SAME(row, got, replies[i][1]);
	}
}

TEST(what_is_no_reply) {
	static const char *const rows[] = { "HTTP/1.1 400 Bad Request\r\n", "\r\n",
		"SSH-2.0-OpenSSH_9.2\r\n", "%1\r\n", "_\r\n", "#t\r\n", ",1.5\r\n", "(1\r\n",
		"=5\r\ntxt:a\r\n", ">1\r\n", "~1\r\n", "!5\r\nERR a\r\n", ":\r\n", ":-1\r\n",
		":+1\r\n", ": 1\r\n", ":1 \r\n", ":1.0\r\n", ":1e3\r\n", ":0x1\r\n", ":nan\r\n",
		"$0\r\n\r\n", "$-1\r\n", "*\r\n", "*-1\r\n", "*17\r\n", "*99999999999999999999\r\n",
		"*1\r\n+OK\r\n", "*1\r\n-ERR\r\n", "*1\r\n*0\r\n", "*1\r\n$-1\r\n",
		"*1\r\n$2\r\n12\r\n", "*1\r\n$0\r\n\r\n", "*1\r\n:x\r\n" };

	for (size_t i = 0; i < LENGTH(rows); i++) {
		struct resp_reply reply = { .length = 77 };

		EQUAL(rows[i], read_copy(rows[i], strlen(rows[i]), &reply), RESP_INVALID);
		EQUAL(rows[i], (int64_t)reply.length, 77);
	}
}

/* A text, and then as many bytes c as it takes to have length bytes. */
static enum resp_state read_filled(const char *start, char c, size_t length, const char *end) {
	static char bytes[2 * RESP_REPLY];
	struct resp_reply reply;

	memset(bytes, c, sizeof bytes);
	memcpy(bytes, start, strlen(start));
	memcpy(bytes + length - strlen(end), end, strlen(end));
	return read_copy(bytes, length, &reply);
}

TEST(replies_have_a_bound) {
	EQUAL("line", read_filled("+", 'a', RESP_REPLY, "\r\n"), RESP_WHOLE);
	EQUAL("line", read_filled("+", 'a', RESP_REPLY - 1, ""), RESP_PARTIAL);
	EQUAL("line", read_filled("+", 'a', RESP_REPLY, ""), RESP_INVALID);
	EQUAL("line", read_filled("+", 'a', RESP_REPLY + 1, "\r\n"), RESP_INVALID);
	EQUAL("digits", read_filled(":", '1', RESP_REPLY, ""), RESP_INVALID);
}

TEST(replies_of_any_bytes) {
	static const char marks[] = "+-:$*\r\n0123456789-$:\r\n\r\n\r\nab\xff";
	uint64_t seed = 1;
	char bytes[24];

	for (int i = 0; i < RANDOM_REPLIES; i++) {
		size_t length = hash_draw(&seed) % sizeof bytes;
		struct resp_reply reply = { 0 };
		enum resp_state state;

		for (size_t j = 0; j < length; j++)
			bytes[j] = marks[hash_draw(&seed) % sizeof marks];
		state = read_copy(bytes, length, &reply);
		if (state == RESP_WHOLE && (reply.length > length || reply.count > RESP_NUMBERS))
			HOLDS("any bytes", false);
		/* What is invalid does not become valid by more bytes. */
		if (state == RESP_INVALID && length < sizeof bytes) {
			bytes[length] = '\n';
			if (read_copy(bytes, length + 1, &reply) != RESP_INVALID)
				HOLDS("any bytes", false);
		}
	}
	HOLDS("any bytes", true);
}

TEST(requests_are_written) {
	static const char want[] = "*2\r\n$4\r\nAUTH\r\n$0\r\n\r\n"
				   "*2\r\n$3\r\na\0b\r\n$2\r\n-7\r\n";
	char buffer[sizeof want];
	struct resp_request request = { buffer, sizeof want - 1, 0 };

	resp_put(&request, (const char *const[]){ "AUTH", "" }, 2);
	resp_open(&request, 2);
	resp_add(&request, (struct strview){ "a\0b", 3 });
	resp_add_number(&request, -7);
	EQUAL("whole", (int64_t)resp_length(&request), (int64_t)sizeof want - 1);
	HOLDS("whole", memcmp(buffer, want, sizeof want - 1) == 0);
}

/* In a buffer of each smaller size nothing is written behind its end. */
TEST(requests_that_do_not_fit) {
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
