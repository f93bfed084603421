#include "fleet/resp.h"

#include <stdio.h>
#include <string.h>
#include "text/number.h"

/* A number of more digits may be too large for 64 bits. */
#define DIGITS_MOST 18

struct resp_request
resp_begin(char *buffer, size_t size)
{
	return (struct resp_request){ buffer, buffer, buffer + size, false };
}

static void
put(struct resp_request *request, struct strview bytes)
{
	size_t room = (size_t)(request->limit - request->at);

	if (bytes.length > room || request->overflow) {
		request->overflow = true;
	} else if (bytes.length > 0) {
		memcpy(request->at, bytes.at, bytes.length);
		request->at += bytes.length;
	}
}

/* Writes a line of a mark and a number. */
static void
put_header(struct resp_request *request, char mark, size_t number)
{
	char room[NUMBER_ROOM + 3];

	snprintf(room, sizeof room, "%c%zu\r\n", mark, number);
	put(request, strview_of(room));
}

void
resp_open(struct resp_request *request, size_t count)
{
	put_header(request, '*', count);
}

void
resp_add(struct resp_request *request, struct strview word)
{
	put_header(request, '$', word.length);
	put(request, word);
	put(request, strview_of("\r\n"));
}

void
resp_add_number(struct resp_request *request, int64_t number)
{
	char room[NUMBER_ROOM];

	resp_add(request, strview_of(number_put(room, number)));
}

void
resp_put(struct resp_request *request, const char *const words[], size_t count)
{
	resp_open(request, count);
	for (size_t i = 0; i < count; i++)
		resp_add(request, strview_of(words[i]));
}

size_t
resp_length(const struct resp_request *request)
{
	return request->overflow ? 0 : (size_t)(request->at - request->start);
}

/* Reads exactly the whole text as a number that may be negative. */
static bool
read_number(struct strview text, int64_t *number)
{
	bool negative = text.length > 0 && text.at[0] == '-';

	if (negative)
		text = strview_after(text, 1);
	if (text.length > DIGITS_MOST ||
	    !number_whole(text.at, text.length, number))
		return false;
	if (negative)
		*number = -*number;
	return true;
}

/*
 * Cuts a line off rest; *line is that line without its CR LF. Neither byte
 * occurs in a line.
 */
static enum resp_state
cut_line(struct strview *rest, struct strview *line)
{
	size_t end = 0;

	while (end < rest->length && rest->at[end] != '\r' &&
	    rest->at[end] != '\n')
		end++;
	if (end < rest->length && rest->at[end] == '\n')
		return RESP_INVALID;
	if (end + 1 >= rest->length)
		return RESP_PARTIAL;
	if (rest->at[end + 1] != '\n')
		return RESP_INVALID;
	*line = (struct strview){ rest->at, end };
	*rest = strview_after(*rest, end + 2);
	return RESP_WHOLE;
}

/* Cuts a line off rest that is a number. */
static enum resp_state
cut_number(struct strview *rest, int64_t *number)
{
	struct strview line;
	enum resp_state state = cut_line(rest, &line);

	if (state == RESP_WHOLE && !read_number(line, number))
		state = RESP_INVALID;
	return state;
}

/* Cuts a bulk string off rest, whose mark is cut off already. */
static enum resp_state
cut_bulk(struct strview *rest, struct resp_reply *reply)
{
	int64_t length;
	enum resp_state state = cut_number(rest, &length);
	struct strview end;
	size_t have;

	if (state != RESP_WHOLE)
		return state;
	reply->type = length == -1 ? RESP_NULL : RESP_BULK;
	if (length == -1)
		return RESP_WHOLE;
	if (length < 0 || length > RESP_REPLY)
		return RESP_INVALID;
	if (rest->length < (size_t)length)
		return RESP_PARTIAL;
	reply->text = (struct strview){ rest->at, (size_t)length };
	end = strview_after(*rest, (size_t)length);
	have = end.length < 2 ? end.length : 2;
	if (have > 0 && memcmp(end.at, "\r\n", have) != 0)
		return RESP_INVALID;
	if (have < 2)
		return RESP_PARTIAL;
	*rest = strview_after(end, 2);
	return RESP_WHOLE;
}

/* The same for an array of numbers, each an integer or a bulk string. */
static enum resp_state
cut_array(struct strview *rest, struct resp_reply *reply)
{
	int64_t count;
	enum resp_state state = cut_number(rest, &count);
	struct resp_reply bulk;

	if (state != RESP_WHOLE)
		return state;
	reply->type = count == -1 ? RESP_NULL : RESP_ARRAY;
	if (count == -1)
		return RESP_WHOLE;
	if (count < 0 || count > RESP_NUMBERS)
		return RESP_INVALID;
	reply->count = (size_t)count;
	for (size_t i = 0; i < reply->count && state == RESP_WHOLE; i++) {
		char mark;

		if (rest->length == 0)
			return RESP_PARTIAL;
		mark = rest->at[0];
		*rest = strview_after(*rest, 1);
		if (mark != ':' && mark != '$')
			return RESP_INVALID;
		state = mark == ':' ? cut_number(rest, &reply->numbers[i])
				    : cut_bulk(rest, &bulk);
		if (mark == '$' && state == RESP_WHOLE &&
		    (bulk.type != RESP_BULK ||
			!read_number(bulk.text, &reply->numbers[i])))
			return RESP_INVALID;
	}
	return state;
}

enum resp_state
resp_read(struct strview bytes, struct resp_reply *reply)
{
	struct resp_reply found = { 0 };
	struct strview rest = bytes;
	enum resp_state state = RESP_INVALID;
	size_t length;

	if (bytes.length == 0)
		return RESP_PARTIAL;
	/* What is behind RESP_REPLY bytes cannot belong to this reply. */
	if (rest.length > RESP_REPLY)
		rest.length = RESP_REPLY;
	length = rest.length;
	rest = strview_after(rest, 1);
	switch (bytes.at[0]) {
	case '+':
	case '-':
		found.type = bytes.at[0] == '+' ? RESP_SIMPLE : RESP_ERROR;
		state = cut_line(&rest, &found.text);
		break;
	case ':':
		found.type = RESP_INTEGER;
		found.count = 1;
		state = cut_number(&rest, &found.numbers[0]);
		break;
	case '$':
		state = cut_bulk(&rest, &found);
		break;
	case '*':
		state = cut_array(&rest, &found);
		break;
	}
	if (state == RESP_PARTIAL && bytes.length >= RESP_REPLY)
		return RESP_INVALID;
	found.length = length - rest.length;
	if (state == RESP_WHOLE)
		*reply = found;
	return state;
}
