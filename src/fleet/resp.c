#include "fleet/resp.h"

#include <stdio.h>
#include <string.h>
#include "text/number.h"

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
	int length = snprintf(line, sizeof line, "%c%zu\r\n", mark, number);

	put(request, line, (size_t)length);
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

/* Cuts off rest a line that begins with one of these marks; the text is what
 * stands between the mark and CR LF. */
static enum resp_state
cut_line(struct strview *rest, const char *marks, struct strview *text)
{
	const char *line = rest->at;
	const char *end = memmem(line, rest->length, "\r\n", 2);

	if (rest->length > 0 && memchr(marks, line[0], strlen(marks)) == NULL)
		return RESP_INVALID;
	if (end == NULL)
		return RESP_PARTIAL;
	*text = (struct strview){ line + 1, (size_t)(end - line) - 1 };
	*rest = strview_after(*rest, (size_t)(end - line) + 2);
	return RESP_WHOLE;
}

enum resp_state
resp_read(struct strview bytes, struct resp_reply *reply)
{
	struct resp_reply found = { .count = 0 };
	struct strview rest = bytes, *text = &found.text, item;
	enum resp_state state;
	int64_t items = 0;
	bool valid = true;

	/* What is behind RESP_REPLY bytes cannot belong to this reply. */
	if (rest.length > RESP_REPLY)
		rest.length = RESP_REPLY;
	found.length = rest.length;
	state = cut_line(&rest, "+-:*", text);
	if (state == RESP_WHOLE)
		found.type = (enum resp_type)text->at[-1];
	if (found.type == RESP_INTEGER)
		valid = number_whole(
		    text->at, text->length, &found.numbers[found.count++]);
	if (found.type == RESP_ARRAY)
		valid = number_whole(text->at, text->length, &items) &&
		    items <= RESP_NUMBERS;
	while (valid && state == RESP_WHOLE && (int64_t)found.count < items) {
		state = cut_line(&rest, ":", &item);
		valid = state != RESP_WHOLE ||
		    number_whole(
			item.at, item.length, &found.numbers[found.count++]);
	}
	if (!valid || (state == RESP_PARTIAL && bytes.length >= RESP_REPLY))
		return RESP_INVALID;
	found.length -= rest.length;
	if (state == RESP_WHOLE)
		*reply = found;
	return state;
}
