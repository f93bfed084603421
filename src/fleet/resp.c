#include "fleet/resp.h"

#include <stdio.h>
#include <string.h>
#include "text/number.h"

/* A number of more digits may be too large for 64 bits. */
#define DIGITS_MOST 18

static void
put(struct resp_request *request, const char *bytes, size_t length)
{
	request->length += length;
	if (length > 0 && request->length <= request->size)
		memcpy(
		    request->bytes + request->length - length, bytes, length);
}

/* Writes a line of a mark and a number. */
static void
put_line(struct resp_request *request, char mark, size_t number)
{
	char line[NUMBER_ROOM + 3];

	put(request, line,
	    (size_t)snprintf(line, sizeof line, "%c%zu\r\n", mark, number));
}

void
resp_open(struct resp_request *request, size_t count)
{
	put_line(request, '*', count);
}

void
resp_add(struct resp_request *request, struct strview word)
{
	put_line(request, '$', word.length);
	put(request, word.at, word.length);
	put(request, "\r\n", 2);
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
	return request->length <= request->size ? request->length : 0;
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

/* Cuts length bytes off rest, and the CR LF that has to follow them. */
static enum resp_state
cut(struct strview *rest, size_t length, struct strview *text)
{
	struct strview end;

	if (rest->length < length)
		return RESP_PARTIAL;
	*text = (struct strview){ rest->at, length };
	end = strview_after(*rest, length);
	if ((end.length > 0 && end.at[0] != '\r') ||
	    (end.length > 1 && end.at[1] != '\n'))
		return RESP_INVALID;
	if (end.length < 2)
		return RESP_PARTIAL;
	*rest = strview_after(end, 2);
	return RESP_WHOLE;
}

/*
 * Cuts off rest a line that begins with one of these marks, and the bytes of a
 * bulk string behind it. The text is that of the line, or these bytes. The
 * number is that in the line, unless it is a simple string or an error.
 */
static enum resp_state
cut_value(struct strview *rest, const char *marks, char *mark,
    struct strview *text, int64_t *number)
{
	enum resp_state state;
	size_t length = 0;

	if (rest->length == 0)
		return RESP_PARTIAL;
	*mark = rest->at[0];
	if (memchr(marks, *mark, strlen(marks)) == NULL)
		return RESP_INVALID;
	*rest = strview_after(*rest, 1);
	/* Neither CR nor LF occurs in a line. */
	while (length < rest->length && rest->at[length] != '\r' &&
	    rest->at[length] != '\n')
		length++;
	state = cut(rest, length, text);
	if (state != RESP_WHOLE || *mark == RESP_SIMPLE || *mark == RESP_ERROR)
		return state;
	if (!read_number(*text, number))
		return RESP_INVALID;
	if (*mark != RESP_BULK || *number == -1)
		return RESP_WHOLE;
	if (*number < 0 || *number > RESP_REPLY)
		return RESP_INVALID;
	return cut(rest, (size_t)*number, text);
}

enum resp_state
resp_read(struct strview bytes, struct resp_reply *reply)
{
	struct resp_reply found = { .count = 0 };
	struct strview rest = bytes, item;
	enum resp_state state;
	int64_t number = 0;
	char mark;

	/* What is behind RESP_REPLY bytes cannot belong to this reply. */
	if (rest.length > RESP_REPLY)
		rest.length = RESP_REPLY;
	found.length = rest.length;
	state = cut_value(&rest, "+-:$*", &mark, &found.text, &number);
	if (state == RESP_WHOLE)
		found.type = (enum resp_type)mark;
	if (found.type == RESP_INTEGER)
		found.numbers[found.count++] = number;
	else if (number == -1)
		found.type = RESP_NULL;
	else if (number < 0 ||
	    (found.type == RESP_ARRAY && number > RESP_NUMBERS))
		state = RESP_INVALID;
	while (state == RESP_WHOLE && found.type == RESP_ARRAY &&
	    found.count < (size_t)number) {
		int64_t *element = &found.numbers[found.count++];

		state = cut_value(&rest, ":", &mark, &item, element);
	}
	if (state == RESP_PARTIAL && bytes.length >= RESP_REPLY)
		return RESP_INVALID;
	found.length -= rest.length;
	if (state == RESP_WHOLE)
		*reply = found;
	return state;
}
