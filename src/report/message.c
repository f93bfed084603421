#include "report/message.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "text/escape.h"
#include "text/number.h"

/* The most bytes of a part of a message, one more than the log shows. */
#define PART 1001

void
message_put(struct message *message, const char *format, ...)
{
	char *at = message->text + message->used;
	int64_t room = number_lesser(MESSAGE_TEXT - message->used, PART + 1);
	va_list values;
	int length;

	va_start(values, format);
	length = vsnprintf(at, (size_t)room, format, values);
	va_end(values);
	message->used += number_lesser(length + 1, room);
	message->parts[message->count++] = at;
	message->parts[message->count] = NULL;
}

void
message_keep(char room[REPORT_TEXT + 4], const struct message *message)
{
	size_t used = 0;

	for (int i = 0; i < message->count; i++) {
		const char *part = message->parts[i];
		size_t length = strlen(part);
		size_t fits = escape_cut(part, length, REPORT_TEXT - used);

		memcpy(room + used, part, fits);
		used += fits;
		if (fits < length) {
			used = (size_t)(stpcpy(room + used, "...") - room);
			break;
		}
	}
	room[used] = '\0';
}

void
message_clear(struct message *message)
{
	message->used = message->count = 0;
	message->parts[0] = NULL;
}
